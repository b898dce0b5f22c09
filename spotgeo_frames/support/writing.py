"""Writing that never leaves half a file: everything is written beside its place and moved there when it is whole."""

import errno
import gzip
import io
import json
import os
import zipfile
from collections.abc import Hashable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pyarrow as pa

from .errors import InputError, first_line


def check_folder_writable(folder: Path) -> None:
    """Raises InputError where `folder` could not be made and written to; makes nothing yet."""
    _check_name(folder)
    try:
        ancestor = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    except (OSError, ValueError) as error:  # a name too long or none, or a folder that may not be looked into
        raise InputError(f"{folder}: cannot be written: {first_line(error)}") from None
    if not ancestor.is_dir():
        raise InputError(f"{folder}: cannot be written: {ancestor} is not a folder")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written: there is no permission to write to {ancestor}")


def check_file_writable(path: Path) -> None:
    """Raises InputError where a file could not be written at `path`, in folders made for it; makes nothing yet."""
    try:
        is_folder, is_other = path.is_dir(), path.exists() and not path.is_file()
    except (OSError, ValueError) as error:  # a name too long, or one that no file can have
        raise InputError(f"{path}: cannot be written: {first_line(error)}") from None
    if is_other:
        raise InputError(f"{path}: cannot be written: it is {'a folder' if is_folder else 'no regular file'}")
    _check_name(path)
    check_folder_writable(path.parent)


def _check_name(path: Path) -> None:
    if "\0" in str(path):
        raise InputError(f"{path}: cannot be written: no name has a null character")


@contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to and then to move into place; what is left there is removed at the end."""
    temporary = path.with_name(f".{path.name[:40]}.{uuid4().hex}.tmp")  # no longer than a name may be
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file, packed where its name ends in .gz or .zip; equal content gives an equal file.

    Raises InputError where it cannot be written.
    """
    match path.suffix.lower():
        case ".gz":
            content = gzip.compress(content, mtime=0)
        case ".zip":
            content = _zipped({path.stem if path.stem.endswith(".json") else f"{path.stem}.json": content})
    replace_with(path, content)


def replace_with(path: Path, content: bytes) -> None:
    """Writes a file beside and moves it into place; raises InputError where that cannot be."""
    try:
        with temporary_beside(path) as temporary:
            temporary.write_bytes(content)
            temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None


def write_text(path: Path, text: str) -> None:
    """Writes a file as `replace_with` does; what is no text, as a name on disk may be, becomes question marks."""
    replace_with(path, text.encode("utf-8", "replace"))


def _zipped(contents: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # without the time of day
    return packed.getvalue()


def write_files(contents: Mapping[str, bytes], folder: Path) -> None:
    """Writes files of these relative paths into `folder`, or into one archive where its name ends in .zip.

    Raises InputError where that cannot be.
    """
    if folder.suffix.lower() == ".zip":
        replace_with(folder, _zipped(contents))
        return
    for name, content in contents.items():
        path = folder / name
        make_folder(path.parent)
        replace_with(path, content)


def make_folder(folder: Path) -> None:
    """Makes a folder and those it is in; raises InputError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path, notes: Mapping[str, str]) -> None:
    """Writes tables as `folder`/NAME.parquet, NaN as null.

    Each table's attrs go into its metadata, with the `notes`, such as which inputs it was made from. All are
    written beside first, and moved into place only then. Raises InputError where that cannot be, and then leaves
    nothing behind.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            moves = {}
            for name, table in tables.items():
                path = folder / f"{name}.parquet"
                if path.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
                temporary = stack.enter_context(temporary_beside(path))
                _write_parquet(table, temporary, dict(notes) | table.attrs)
                moves[temporary] = path
            for temporary, path in moves.items():
                temporary.replace(path)
    except OSError as error:
        raise _unwritable(Path(error.filename or folder), error) from None
    except (pa.ArrowException, UnicodeError) as error:  # a column Parquet knows no type for, a name that is no text
        raise InputError(f"{folder}: cannot be written: {first_line(error)}") from None
    finally:
        for path in made:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()


def _write_parquet(table: pd.DataFrame, path: Path, attrs: Mapping[Hashable, Any]) -> None:
    import pyarrow.parquet as pq  # takes a while, and scoring for the terminal never needs it

    pq.write_table(as_arrow(table, attrs), path)


def as_arrow(table: pd.DataFrame, attrs: Mapping[Hashable, Any], schema: pa.Schema | None = None) -> pa.Table:
    """A table as Parquet keeps it, NaN as null, with `attrs` in its metadata, for people and for pandas.

    Where there is no `schema`, types follow from pandas' types, or from the values where these do not tell.
    """
    # More threads are no faster here, and processes that share the cores would start them all.
    arrow = pa.Table.from_pandas(table, schema, preserve_index=False, nthreads=1)
    notes = {str(key): str(value) for key, value in attrs.items()}
    # PANDAS_ATTRS is where pandas looks for attrs when it reads the file.
    metadata = {**(arrow.schema.metadata or {}), **notes, "PANDAS_ATTRS": json.dumps(attrs)}
    return arrow.replace_schema_metadata(metadata)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be written: {first_line(error)}")
