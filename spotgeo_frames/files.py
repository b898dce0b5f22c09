"""Files in and out: bounded reading of what may be compressed, and writing that never leaves half a file.

Input is taken as hostile. What is compressed is unpacked no further than LARGEST_UNPACKED bytes whatever its header
says, an archive has to hold exactly one file, and no name inside it is ever used as a path.
"""

import errno
import gzip
import hashlib
import io
import json
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PureWindowsPath
from typing import IO, Any
from uuid import uuid4

import pandas as pd
import pyarrow as pa

from .errors import InputError

LARGEST_UNPACKED = 1 << 30


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked where its name ends in .gz or .zip.

    Raises InputError where it cannot be read, is damaged, unpacks to more than LARGEST_UNPACKED bytes, or is an
    archive of anything but one file.
    """
    try:
        match path.suffix.lower():
            case ".gz":
                with gzip.open(path) as stream:
                    return _bounded(stream, path)
            case ".zip":
                return _unzipped(path)
            case _:
                return path.read_bytes()
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, EOFError, ValueError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _unzipped(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        # Folders, and what macOS adds of its own, are not content.
        members = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
        if len(members) != 1:
            raise InputError(f"{path}: holds {len(members)} files; exactly one is needed")
        inner = PureWindowsPath(members[0].filename)  # knows both kinds of separators, and drives
        if inner.drive or inner.root or ".." in inner.parts:
            raise InputError(f"{path}: holds a file with a path outside the archive, {members[0].filename!r}")
        if members[0].file_size > LARGEST_UNPACKED:
            raise _too_large(path)
        with archive.open(members[0]) as stream:
            return _bounded(stream, path)


def _bounded(stream: IO[bytes] | gzip.GzipFile, path: Path) -> bytes:
    content = stream.read(LARGEST_UNPACKED + 1)
    if len(content) > LARGEST_UNPACKED:
        raise _too_large(path)
    return content


def _too_large(path: Path) -> InputError:
    return InputError(f"{path}: unpacks to more than {LARGEST_UNPACKED >> 20} MiB; unpack it yourself if it is sound")


def sha256(path: Path) -> str:
    """SHA-256 of a file; of a folder, that of the names and digests of the files in it, in order."""
    if path.is_dir():
        inner = (f"{file.relative_to(path).as_posix()} {sha256(file)}\n" for file in sorted(path.rglob("*.parquet")))
        return hashlib.sha256("".join(inner).encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_folder_writable(folder: Path) -> None:
    """Raises InputError where `folder` could not be made and written to; makes nothing yet."""
    try:
        ancestor = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    except OSError as error:  # a name too long, or a folder that may not be looked into
        raise _unwritable(folder, error) from None
    if not ancestor.is_dir():
        raise InputError(f"{folder}: cannot be written: {ancestor} is not a folder")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written: there is no permission to write to {ancestor}")


@contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to and then to move into place; what is left there is removed at the end."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
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
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                inner = path.stem if path.stem.endswith(".json") else f"{path.stem}.json"
                archive.writestr(zipfile.ZipInfo(inner), content, zipfile.ZIP_DEFLATED)
            content = packed.getvalue()
    try:
        with temporary_beside(path) as temporary:
            temporary.write_bytes(content)
            temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path, inputs: Mapping[str, Path]) -> None:
    """Writes tables as `folder`/NAME.parquet, NaN as null.

    Each table's attrs go into its metadata, with the name and SHA-256 of each of the `inputs` it was made from. All are
    written beside first, and moved into place only then. Raises InputError where that cannot be, and then leaves
    nothing behind.
    """
    # A name on disk need not be text; what is kept has to be.
    notes = {role: os.fsencode(path.name).decode("utf-8", "replace") for role, path in inputs.items()}
    notes |= {f"{role}_sha256": sha256(path) for role, path in inputs.items()}
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
                _write_parquet(table, temporary, {str(key): value for key, value in table.attrs.items()} | notes)
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


def _write_parquet(table: pd.DataFrame, path: Path, attrs: Mapping[str, Any]) -> None:
    import pyarrow.parquet as pq  # takes a while, and scoring for the terminal never needs it

    arrow = pa.Table.from_pandas(table, preserve_index=False)
    notes = {key: str(value) for key, value in attrs.items()}
    # PANDAS_ATTRS is where pandas looks for attrs when it reads the file.
    metadata = {**(arrow.schema.metadata or {}), **notes, "PANDAS_ATTRS": json.dumps(attrs)}
    pq.write_table(arrow.replace_schema_metadata(metadata), path)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be written: {error.strerror or error}")
