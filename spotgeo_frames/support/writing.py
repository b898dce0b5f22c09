"""Writes files under a temporary name and moves them into place, so that an error never leaves half a file.

What will be written neither replaces an input nor becomes a part of one, which is checked before any work. Paths are
compared by what they lead to, so links, mounts and other spellings of a name do not pass.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from .addresses import is_address, shown
from .errors import InputError, check_memory, first_line
from .reading import readable
from .temporary import kept_beside, remove_stale, temporary_beside

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@contextmanager
def writable(name: str | Path) -> Iterator[None]:
    """Turns errors of writing a file or folder into an InputError that begins with its name.

    If memory ran out, it raises MemoryError instead.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, _unwritable()):
            raise
        check_memory(error, name)
        raise InputError(f"{name}: cannot be written: {first_line(error)}") from None


def _unwritable() -> tuple[type[Exception], ...]:
    """The errors that writing may raise."""
    from pyarrow import ArrowException  # such as that of a type unknown to Parquet; imported only here, as it is slow

    return OSError, UnicodeError, NotImplementedError, ArrowException  # names and values may be no text


def check_folder_writable(folder: Path) -> None:
    """Raises InputError if `folder` cannot be made or written to; makes nothing yet."""
    _check_name(folder)
    with writable(folder):
        ancestor = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        is_folder = ancestor.is_dir()
    if not is_folder:
        raise InputError(f"{folder}: cannot be written: {ancestor} is not a folder")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written: there is no permission to write to {ancestor}")


def check_file_writable(path: Path) -> None:
    """Raises InputError if a file at `path` cannot be written, even if its folders were made; makes nothing yet."""
    _check_name(path)
    with writable(path):
        is_folder, is_other = path.is_dir(), path.exists() and not path.is_file()
    if is_other:
        raise InputError(f"{path}: cannot be written: it is {'a folder' if is_folder else 'no regular file'}")
    check_folder_writable(path.parent)


def _check_name(path: Path) -> None:
    """Raises InputError if a path contains a null character, or is an address."""
    if is_address(path):
        advice = "give a path of this machine, and copy it there; score and track with --dataset write to addresses"
        raise InputError(f"{shown(path)}: cannot be written: is an address; {advice}")
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
    with writable(path), temporary_beside(path) as temporary:
        temporary.write_bytes(content)
        temporary.replace(path)


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

    Raises InputError if one cannot be written, or if the file system takes two of the names for one.
    """
    if folder.suffix.lower() == ".zip":
        replace_with(folder, _zipped(contents))
        return
    _check_apart([*contents], folder)
    inside: dict[Path, list[str]] = {}
    for name in contents:
        inside.setdefault((folder / name).parent, []).append((folder / name).name)
    for parent, names in inside.items():
        with writable(parent):
            parent.mkdir(parents=True, exist_ok=True)
        remove_stale(parent, names)
    for name, content in contents.items():
        _replace_with(folder / name, content)


def _check_apart(names: Sequence[str], folder: Path) -> None:
    """Raises InputError if names differ only in capital letters, and the file system does not tell these apart.

    Those of Windows and macOS do not, so the second file would replace the first.
    """
    spelled: dict[str, str] = {}
    alike = next(
        ((other, name) for name in names if (other := spelled.setdefault(name.casefold(), name)) != name), None
    )
    if alike is None:
        return
    with _folder(folder), writable(folder), temporary_beside(folder / "name") as temporary:
        is_one = temporary.with_name(temporary.name.upper()).exists()
    if is_one:
        raise InputError(f"{folder}: {alike[0]} and {alike[1]} would be the same file here; rename one of them")


# What writes a file to the path it is given.
Write = Callable[[Path], object]


def table_files(tables: Mapping[str, pd.DataFrame], folder: Path, notes: Mapping[str, str]) -> dict[Path, Write | None]:
    """For each path `folder`/NAME.parquet, what writes the table there, NaN as null, for `write_together`.

    The metadata of each file gets the table's attrs and the `notes`, for example the names of the inputs.
    """
    return {
        folder / f"{name}.parquet": partial(_write_parquet, table, attrs=dict(notes) | table.attrs)
        for name, table in tables.items()
    }


def write_together(files: Mapping[Path, Write | None]) -> None:
    """Writes files that change together: either all of them or, if there is an error, none.

    `files` has what writes each file; a file of None is removed. All are written under temporary names before the first
    is moved into place, in their order. If a move fails, the files that were moved before get their earlier content
    back. New folders are made, and removed again if they stay empty. Raises InputError, naming the file, if one cannot
    be written.
    """
    inside: dict[Path, list[str]] = {}
    for path in files:
        inside.setdefault(path.parent, []).append(path.name)
    with ExitStack() as stack:
        for folder, names in inside.items():
            stack.enter_context(_folder(folder))
            remove_stale(folder, names)
        written, earlier = {}, {}
        for path, write in files.items():
            with writable(path):
                if write is not None:
                    written[path] = stack.enter_context(temporary_beside(path))
                    write(written[path])
                earlier[path] = stack.enter_context(kept_beside(path))
        _move(written, earlier)


def text_file(text: str) -> Write:
    """For `write_together`, what writes a text file in UTF-8; what UTF-8 cannot encode becomes question marks."""
    return lambda path: path.write_bytes(text.encode("utf-8", "replace"))


@contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """A context in which there is a folder; at its end, those that were made for it are removed if they are empty."""
    with writable(folder):
        made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        with writable(folder):
            folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for path in made:
            with suppress(OSError):  # it has files
                path.rmdir()


def _move(written: Mapping[Path, Path], earlier: Mapping[Path, Path | None]) -> None:
    """Moves the files that are written into place and removes the others, or leaves all as they were earlier."""
    changed = []
    try:
        for path in earlier:
            changed.append(path)
            with writable(path):
                if path in written:
                    written[path].replace(path)
                else:
                    path.unlink(missing_ok=True)
    except BaseException:  # also where the process is told to end
        for path in changed:
            kept = earlier[path]
            with suppress(OSError):  # the disk is gone
                if kept is None:
                    path.unlink()
                else:
                    kept.replace(path)
        raise


def _write_parquet(table: pd.DataFrame, path: Path, attrs: Mapping[Hashable, Any]) -> None:
    """Writes a table as Parquet, with `attrs` in its metadata."""
    import pyarrow.parquet as pq  # imported only here: it takes a while, and scoring for the terminal needs none

    with path.open("wb") as stream:  # its errors are the system's, while Arrow's own have longer texts
        pq.write_table(as_arrow(table, attrs), stream, write_page_checksum=True)


def as_arrow(table: pd.DataFrame, attrs: Mapping[Hashable, Any], schema: pa.Schema | None = None) -> pa.Table:
    """A table in the form of a Parquet file: NaN as null, and `attrs` in its metadata, for people and for pandas.

    Without a `schema`, types follow from the pandas types, or from the values of columns of Python objects.
    """
    import pyarrow as pa

    # More threads are no faster here, and each of several processes would start as many.
    arrow = pa.Table.from_pandas(table, schema, preserve_index=False, nthreads=1)
    return arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), **metadata_of(attrs)})


def metadata_of(attrs: Mapping[Hashable, Any]) -> dict[str, str]:
    """The `attrs` of a table as metadata of Arrow: each as text, for people, and all as JSON, for pandas."""
    import json

    # pandas reads attrs from the key PANDAS_ATTRS.
    return {str(key): str(value) for key, value in attrs.items()} | {"PANDAS_ATTRS": json.dumps(attrs, default=_plain)}


def _plain(value: Any) -> Any:
    """A value of a note that JSON does not know: a number of NumPy as one of Python, anything else as text."""
    return value.item() if isinstance(value, np.generic) else str(value)


def is_within(path: Path, folder: Path) -> bool:
    """Whether a path is a file or folder, or lies in it, however both are spelled; neither need exist.

    Raises OSError if a path cannot be looked at.
    """
    try:
        there = os.stat(folder)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # there is no such folder, or no such name
        return False
    real = Path(os.path.realpath(path))
    for ancestor in (real, *real.parents):
        try:
            if os.path.samestat(os.stat(ancestor), there):
                return True
        except (FileNotFoundError, NotADirectoryError):  # it does not exist yet
            continue
    return False


def check_file_kept(out: Path, inputs: Iterable[Path]) -> None:
    """Raises InputError if the file `out` is an input, or lies in the folder of one."""
    for path in inputs:
        with writable(out):
            if is_within(out, path):
                raise InputError(f"{out}: cannot be written: it is {path}, an input, or in its folder; give another")


def check_inputs_kept(out: Path, inputs: Iterable[Path], written: Sequence[str]) -> None:
    """Raises InputError if the folder `out` lies in an input, or if an input is among the files `written` to it.

    `written` are patterns of paths within `out`, such as by_*.parquet.
    """
    for path in inputs:
        with readable(path):
            is_folder = path.is_dir()
        with writable(out):
            if is_folder and is_within(out, path):
                raise InputError(f"{out}: is in the folder of {path}, an input; give one elsewhere")
            for place in () if is_folder else _places(path):
                if is_within(place.parent, out):
                    inside = PurePath(os.path.relpath(place, os.path.realpath(out)))
                    if any(
                        len(inside.parts) == pattern.count("/") + 1 and inside.match(pattern) for pattern in written
                    ):
                        raise InputError(f"{out}: {path}, an input, would be replaced; give another folder")


def _places(path: Path) -> tuple[Path, Path]:
    """The real paths of a file: its own, and that of the link where it is one, which would be replaced as well."""
    return Path(os.path.realpath(path)), Path(os.path.realpath(path.parent), path.name)


def check_new_folder(folder: Path) -> None:
    """Raises InputError unless a whole folder can be moved to this path: nothing is there, or an empty folder."""
    advice = "give a folder that is not there, or empty"
    with writable(folder):
        if folder.is_symlink():
            raise InputError(f"{folder}: is a link; {advice}")
        if folder.name in ("", "..") or (folder.is_dir() and os.path.samefile(folder, os.curdir)):
            raise InputError(f"{folder}: is a folder that something uses; {advice}")
        if os.path.ismount(folder):
            raise InputError(f"{folder}: is where a file system is mounted; give a folder in it")
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: is there already; {advice}")
    check_folder_writable(folder)
    check_folder_writable(folder.absolute().parent)
