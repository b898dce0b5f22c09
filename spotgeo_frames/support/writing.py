"""Writes files under a temporary name and moves them into place, so that an error never leaves half a file."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Hashable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError, check_memory, first_line
from .temporary import remove_stale, temporary_beside

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def check_folder_writable(folder: Path) -> None:
    """Raises InputError if `folder` cannot be made or written to; makes nothing yet."""
    _check_name(folder)
    try:
        ancestor = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    except (OSError, ValueError) as error:  # a name that is too long or empty, or a folder without permission
        raise InputError(f"{folder}: cannot be written: {first_line(error)}") from None
    if not ancestor.is_dir():
        raise InputError(f"{folder}: cannot be written: {ancestor} is not a folder")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written: there is no permission to write to {ancestor}")


def check_file_writable(path: Path) -> None:
    """Raises InputError if a file at `path` cannot be written, even if its folders were made; makes nothing yet."""
    try:
        is_folder, is_other = path.is_dir(), path.exists() and not path.is_file()
    except (OSError, ValueError) as error:  # a name too long, or one that no file can have
        raise InputError(f"{path}: cannot be written: {first_line(error)}") from None
    if is_other:
        raise InputError(f"{path}: cannot be written: it is {'a folder' if is_folder else 'no regular file'}")
    _check_name(path)
    check_folder_writable(path.parent)


def _check_name(path: Path) -> None:
    """Raises InputError if a path contains a null character."""
    if "\0" in str(path):
        raise InputError(f"{path}: cannot be written: its name contains a null character")


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file, packed if its name ends in .gz or .zip; equal content gives an equal file.

    Raises InputError if it cannot be written.
    """
    match path.suffix.lower():
        case ".gz":
            import gzip  # imported only here, as zipfile is: they take a while

            content = gzip.compress(content, mtime=0)
        case ".zip":
            content = _zipped({path.stem if path.stem.endswith(".json") else f"{path.stem}.json": content})
    replace_with(path, content)


def replace_with(path: Path, content: bytes) -> None:
    """Writes a temporary file and moves it into place; raises InputError if that fails."""
    remove_stale(path.parent, [path.name])
    _replace_with(path, content)


def _replace_with(path: Path, content: bytes) -> None:
    """Writes a temporary file and moves it into place; leaves alone what killed processes left."""
    try:
        with temporary_beside(path) as temporary:
            temporary.write_bytes(content)
            temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None


def write_text(path: Path, text: str) -> None:
    """Writes a text file in UTF-8; characters that UTF-8 cannot encode become question marks.

    Raises InputError if it cannot be written.
    """
    replace_with(path, text.encode("utf-8", "replace"))


def _zipped(contents: Mapping[str, bytes]) -> bytes:
    """An archive of these contents by name."""
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # ZipInfo has a fixed time
    return packed.getvalue()


def write_files(contents: Mapping[str, bytes], folder: Path) -> None:
    """Writes files of these relative paths into `folder`, or into one archive if its name ends in .zip.

    Raises InputError if one cannot be written.
    """
    if folder.suffix.lower() == ".zip":
        replace_with(folder, _zipped(contents))
        return
    inside: dict[Path, list[str]] = {}
    for name in contents:
        inside.setdefault((folder / name).parent, []).append((folder / name).name)
    for parent, names in inside.items():
        make_folder(parent)
        remove_stale(parent, names)
    for name, content in contents.items():
        _replace_with(folder / name, content)


def make_folder(folder: Path) -> None:
    """Makes a folder and its parents; raises InputError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None


def write_tables(
    tables: Mapping[str, pd.DataFrame], folder: Path, notes: Mapping[str, str], texts: Mapping[str, str] | None = None
) -> None:
    """Writes tables as `folder`/NAME.parquet, NaN as null, and `texts` as files of their names.

    The metadata of each table's file gets the table's attrs and the `notes`, for example the names of the inputs. All
    files are written before any is moved into place. Raises InputError if one cannot be written, and then leaves no
    file or folder behind.
    """
    import pyarrow as pa

    contents = {f"{name}.parquet": table for name, table in tables.items()} | dict(texts or {})
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_stale(folder, contents)
        with ExitStack() as stack:
            moves = {}
            for name, content in contents.items():
                path = folder / name
                if path.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
                temporary = stack.enter_context(temporary_beside(path))
                if isinstance(content, str):
                    temporary.write_text(content, "utf-8")
                else:
                    _write_parquet(content, temporary, dict(notes) | content.attrs)
                moves[temporary] = path
            for temporary, path in moves.items():
                temporary.replace(path)
    except OSError as error:
        raise _unwritable(Path(error.filename or folder), error) from None
    except (pa.ArrowException, UnicodeError) as error:  # a type unknown to Parquet, or a name that is not text
        check_memory(error, folder)
        raise InputError(f"{folder}: cannot be written: {first_line(error)}") from None
    finally:
        for path in made:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()


def _write_parquet(table: pd.DataFrame, path: Path, attrs: Mapping[Hashable, Any]) -> None:
    """Writes a table as Parquet, with `attrs` in its metadata."""
    import pyarrow.parquet as pq  # imported only here: it takes a while, and scoring for the terminal needs none

    pq.write_table(as_arrow(table, attrs), path, write_page_checksum=True)


def as_arrow(table: pd.DataFrame, attrs: Mapping[Hashable, Any], schema: pa.Schema | None = None) -> pa.Table:
    """A table in the form of a Parquet file: NaN as null, and `attrs` in its metadata, for people and for pandas.

    Without a `schema`, types follow from the pandas types, or from the values of columns of Python objects.
    """
    import json

    import pyarrow as pa

    # More threads are no faster here, and each of several processes would start as many.
    arrow = pa.Table.from_pandas(table, schema, preserve_index=False, nthreads=1)
    notes = {str(key): str(value) for key, value in attrs.items()}
    # pandas reads attrs from the key PANDAS_ATTRS.
    metadata = {**(arrow.schema.metadata or {}), **notes, "PANDAS_ATTRS": json.dumps(attrs, default=_plain)}
    return arrow.replace_schema_metadata(metadata)


def _plain(value: Any) -> Any:
    """A value of a note that JSON does not know: a number of NumPy as one of Python, anything else as text."""
    return value.item() if isinstance(value, np.generic) else str(value)


def _unwritable(path: Path, error: OSError) -> InputError:
    """The error of a file that cannot be written."""
    return InputError(f"{path}: cannot be written: {first_line(error)}")
