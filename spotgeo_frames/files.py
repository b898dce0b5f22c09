"""Files in and out: bounded reading of what may be compressed, writing that never leaves half a file, and
names and values as files can hold them.

Input is taken as hostile. What is compressed is unpacked no further than LARGEST_UNPACKED bytes whatever its header
says, an archive holds exactly one file unless more are asked for, and no name inside it is ever used as a path.
"""

import errno
import gzip
import hashlib
import io
import json
import lzma
import math
import os
import re
import zipfile
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PureWindowsPath
from typing import IO, Any
from uuid import uuid4

import pandas as pd
import pyarrow as pa

from .errors import InputError

LARGEST_UNPACKED = 1 << 30

# What readers read of a folder: the first of these that it has.
READ_IN_FOLDERS = ("*/gt/gt.txt", "*.txt", "**/*.parquet", "*.json")

# What reading a file, damaged or not, may raise.
UNREADABLE = (OSError, EOFError, ValueError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked where its name ends in .gz or .zip.

    Raises InputError where it cannot be read, is damaged, unpacks to more than LARGEST_UNPACKED bytes, or is an
    archive of anything but one file.
    """
    with readable(path):
        _check_regular(path)
        match path.suffix.lower():
            case ".gz":
                with gzip.open(path) as stream:
                    return _bounded(stream, path, LARGEST_UNPACKED)
            case ".zip":
                return _unzipped(path)
            case _:
                return path.read_bytes()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns whatever reading `path` may raise into an InputError that names it."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except UNREADABLE as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _check_regular(path: Path) -> None:
    """Refuses what would never end, or never begin, such as a pipe."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is no regular file")


def read_archive(path: Path, ending: str) -> dict[str, bytes]:
    """The names and contents of the files in a .zip whose names end so; raises InputError as `read_bytes` does."""
    with readable(path):
        _check_regular(path)
        with zipfile.ZipFile(path) as archive:
            wanted = [member for member in _members(archive, path) if member.filename.endswith(ending)]
            return _contents(archive, wanted, path)


def _unzipped(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        members = _members(archive, path)
        if len(members) != 1:
            raise InputError(f"{path}: holds {len(members)} files; exactly one is needed")
        [content] = _contents(archive, members, path).values()
        return content


def _members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    # Folders, and what macOS adds of its own, are not content.
    members = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
    for member in members:
        inner = PureWindowsPath(member.filename)  # knows both kinds of separators, and drives
        if inner.drive or inner.root or ".." in inner.parts:
            raise InputError(f"{path}: holds a file with a path outside the archive, {member.filename!r}")
    if len({member.filename for member in members}) < len(members):
        raise InputError(f"{path}: holds files of the same name")
    return members


def _contents(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], path: Path) -> dict[str, bytes]:
    left = LARGEST_UNPACKED
    if sum(member.file_size for member in members) > left:
        raise _too_large(path)
    contents: dict[str, bytes] = {}
    for member in members:
        with archive.open(member) as stream:
            contents[member.filename] = _bounded(stream, path, left)
        left -= len(contents[member.filename])
    return contents


def _bounded(stream: IO[bytes] | gzip.GzipFile, path: Path, most: int) -> bytes:
    content = stream.read(most + 1)
    if len(content) > most:
        raise _too_large(path)
    return content


def _too_large(path: Path) -> InputError:
    return InputError(f"{path}: unpacks to more than {LARGEST_UNPACKED >> 20} MiB; unpack it yourself if it is sound")


def sha256(path: Path) -> str:
    """SHA-256 of a file; of a folder, that of the names and digests of the files that readers read, in order."""
    if path.is_dir():
        inner = (f"{file.relative_to(path).as_posix()} {sha256(file)}\n" for file in read_files(path))
        return hashlib.sha256("".join(inner).encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_files(folder: Path) -> list[Path]:
    """The files of a folder that readers read, in order."""
    found = ([file for file in folder.glob(pattern) if file.is_file()] for pattern in READ_IN_FOLDERS)
    files = next((files for files in found if files), [])
    return sorted(files + [file for file in folder.glob("*/seqinfo.ini") if file.is_file()])


def file_state(path: Path) -> list[str | int]:
    """What tells a file, or what readers read of a folder, from others and from what it was.

    Its absolute path, when it was last changed (ns), its size and, of a folder, how many files it has.
    """
    states = [file.stat() for file in (read_files(path) if path.is_dir() else [path])]
    changed = max((state.st_mtime_ns for state in states), default=0)
    return [str(path.absolute()), changed, sum(state.st_size for state in states), len(states)]


def check_folder_writable(folder: Path) -> None:
    """Raises InputError where `folder` could not be made and written to; makes nothing yet."""
    _check_name(folder)
    try:
        ancestor = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    except (OSError, ValueError) as error:  # a name too long or none, or a folder that may not be looked into
        raise InputError(f"{folder}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    if not ancestor.is_dir():
        raise InputError(f"{folder}: cannot be written: {ancestor} is not a folder")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written: there is no permission to write to {ancestor}")


def check_file_writable(path: Path) -> None:
    """Raises InputError where a file could not be written at `path`, in folders made for it; makes nothing yet."""
    try:
        is_folder, is_other = path.is_dir(), path.exists() and not path.is_file()
    except (OSError, ValueError) as error:  # a name too long, or one that no file can have
        raise InputError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
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


def stem(path: Path) -> str:
    """A file's name without the endings that say of what kind it is."""
    return re.sub(r"(\.(json|parquet|csv|arrow|feather|txt))?(\.(gz|zip))?$", "", path.name, flags=re.I) or path.name


def _zipped(contents: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # without the time of day
    return packed.getvalue()


def is_file_name(name: str) -> bool:
    """Whether a name can be that of a file in a folder, on any system."""
    path = PureWindowsPath(name)  # knows both kinds of separators, drives, and what Windows keeps for itself
    plain = name == path.name != "" and name.isprintable() and not set(name) & set('<>:"|?*')
    return plain and not path.is_reserved() and not name.startswith(".") and not name.endswith((".", " "))


def is_text(name: str) -> bool:
    """Whether a name that the system gave is text; on some it may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


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


def slice_files(by_slice: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The names of files for summaries by column, and the tables, as `slice_file` has them."""
    return dict(slice_file([column], table) for column, table in by_slice.items())


def slice_file(columns: Sequence[str], table: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """The name of a file for a summary by columns, and the table; intervals as text, which every reader understands."""
    odd = [column for column in columns if not pd.api.types.is_any_real_numeric_dtype(table[column].dtype)]
    name = "_".join(["by", *map(_file_name, columns)])
    return name, table.assign(**{column: table[column].map(plain_value) for column in odd})


def _file_name(column: str) -> str:
    """The column's name with what no file's name may hold as %XX, so that no two columns share one."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|%]', lambda found: f"%{ord(found[0]):02x}", column)


def plain_value(value: Any) -> Any:
    """A value that JSON and Parquet know: null for what is missing, text for intervals, times and the like."""
    if pd.isna(value):
        return None
    if hasattr(value, "item"):
        value = value.item()
    known = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    return value if known else str(value)


def input_notes(inputs: Mapping[str, Path]) -> dict[str, str]:
    """The name and SHA-256 of each file that something was made from, as `write_tables` keeps them."""
    return {role: text_name(path) for role, path in inputs.items()} | {
        f"{role}_sha256": sha256(path) for role, path in inputs.items()
    }


def text_name(path: Path) -> str:
    """A file's name as text, which on disk it need not be."""
    return os.fsencode(path.name).decode("utf-8", "replace")


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
        raise InputError(f"{folder}: cannot be written: {str(error).splitlines()[0]}") from None
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
    return InputError(f"{path}: cannot be written: {error.strerror or error}")
