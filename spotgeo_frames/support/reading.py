"""Reads files that may be compressed or hostile, with bounded memory.

Unpacking stops after LARGEST_UNPACKED bytes, whatever a header promises. An archive must contain exactly one file
unless the caller asks for more; each is read to the size that the archive declares for it, and one that has more is
refused. No name inside an archive is ever used as a path.

What unpacks is imported where something is packed, since it takes a while.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

from .errors import InputError, check_memory, first_line

if TYPE_CHECKING:
    import gzip
    import zipfile

    import pyarrow as pa

LARGEST_UNPACKED = 1 << 30

# The endings of the names of files that are unpacked.
PACKED = (".gz", ".zip")

# The most files of an archive. Each takes about a millisecond to evaluate as a sequence.
MOST_MEMBERS = 1 << 16

# What an .ini holds is a few lines.
LARGEST_INI = 1 << 20

# How many bytes of a member that is packed by bzip2 or LZMA are asked for at once. zipfile then unpacks about as many
# packed bytes as a whole, which is at most 100 MB.
STEP = 1 << 12

# How many bytes of a file of bounded size are asked for at first. Most have no more, and memory for the largest would
# take longer than reading them.
AT_FIRST = 1 << 14


def read_bytes(path: Path, largest: int | None = None, advice: str = "is this the right file?") -> bytes:
    """The content of a file, unpacked where its name ends in .gz or .zip.

    Raises InputError if it cannot be read, is damaged, unpacks to more than LARGEST_UNPACKED bytes, or is an archive
    that does not contain exactly one file; also if a file that is not packed has more than `largest` bytes, with
    `advice` on what to do.
    """
    with readable(path):
        check_regular(path)
        match path.suffix.lower():
            case ".gz":
                import gzip

                with gzip.open(path) as stream:
                    return _bounded(stream, path)
            case ".zip":
                return _unzipped(path)
            case _ if largest is None:
                return path.read_bytes()
            case _:
                with path.open("rb") as stream:
                    content = stream.read(AT_FIRST)
                    content += stream.read(max(0, largest + 1 - AT_FIRST)) if len(content) == AT_FIRST else b""
                if len(content) > largest:
                    raise InputError(f"{path}: has more than {largest >> 20} MiB; {advice}")
                return content


@contextmanager
def readable(name: str | Path) -> Iterator[None]:
    """Turns errors of reading a file into an InputError that begins with the file's name.

    If memory ran out, that is a MemoryError.
    """
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file") from None
    except Exception as error:
        check_memory(error, name)
        if not isinstance(error, _unreadable()):
            raise
        raise InputError(f"{name}: cannot be read: {first_line(error)}") from None


def _unreadable() -> tuple[type[Exception], ...]:
    """The errors that reading a damaged file may raise."""
    import lzma
    import zipfile
    import zlib

    from pyarrow import ArrowException

    plain = OSError, EOFError, ValueError, RuntimeError
    return *plain, zlib.error, lzma.LZMAError, zipfile.BadZipFile, ArrowException


def files_below(folder: Path, *endings: str) -> list[Path]:
    """The files below a folder whose names have one of these endings, in small or capital letters, in order.

    Links to folders are followed. Raises OSError where a folder cannot be read, and InputError where a link leads to a
    folder that is read already. `Path.rglob` would leave out both, and nobody would know.
    """

    def refuse(error: OSError) -> None:
        raise error

    found: list[str] = []
    known: dict[str, str] = {}
    for parent, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        folders.sort()
        first = known.setdefault(os.path.realpath(parent), parent)
        if first != parent:
            raise InputError(f"{parent}: is the same folder as {first}, by a link; remove the link")
        found += [os.path.join(parent, name) for name in names if name.lower().endswith(endings)]
    return [Path(path) for path in sorted(found, key=lambda path: path.split(os.sep))]


def check_regular(path: Path) -> None:
    """Raises InputError unless a path is a regular file; reading a pipe, for one, could wait forever."""
    if not path.is_file() and path.exists():
        raise InputError(f"{path}: is no regular file")


def read_archive(path: Path, ending: str) -> dict[str, bytes]:
    """The names and contents of the files in a .zip whose names have this ending.

    Raises InputError if it cannot be read, is damaged, or unpacks to more than LARGEST_UNPACKED bytes.
    """
    import zipfile

    with readable(path):
        check_regular(path)
        with zipfile.ZipFile(path) as archive:
            wanted = [member for member in _members(archive, path) if member.filename.endswith(ending)]
            return _contents(archive, wanted, path)


def archive_names(path: Path) -> list[str]:
    """The names of the files in a .zip; none where it is no archive that can be read."""
    import zipfile

    try:
        check_regular(path)
        with zipfile.ZipFile(path) as archive:
            return [member.filename for member in _members(archive, path)]
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile):
        return []  # what reads it says what is wrong


def check_no_nul(content: bytes, name: str) -> None:
    """Raises InputError with the line of the first NUL byte; a text file with NUL bytes is damaged, or UTF-16."""
    position = content.find(b"\0")
    if position >= 0:
        line = len(content[: position + 1].splitlines())
        raise InputError(f"{name}, line {line}: holds a NUL byte; text in UTF-8 is needed")


def utf8_text(content: bytes, name: str, needed: str) -> str:
    """The text of a small file; raises InputError, with what is `needed`, if it has a NUL byte or is no UTF-8."""
    check_no_nul(content, name)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name}: is no text in UTF-8; {needed} is needed") from None


def check_utf8(content: bytes, name: str) -> None:
    """Raises InputError with the line and the byte of a text file that is in another encoding than UTF-8."""
    if content.isascii():  # which is found out in a fraction of the time
        return
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start} is 0x{content[error.start]:02x}, which is no UTF-8; is the text in Latin-1?"
        advice = "iconv -f LATIN1 -t UTF-8 makes it UTF-8, or read it by pandas.read_csv(..., encoding='latin-1')"
        raise InputError(f"{name}, line {line}: {what} {advice}") from None


def arrow_buffer(content: bytes) -> pa.Buffer:
    """The content of a file in memory that is pyarrow's own, as its parsers need it.

    A thread of pyarrow may let go of the content after the interpreter has ended, which aborts where Python owns it.
    """
    import pyarrow as pa  # not all readers need it

    owned = pa.BufferOutputStream()
    owned.write(content)
    return owned.getvalue()


def ini_section(path: Path, section: str) -> Mapping[str, str]:
    """The values in a section of an .ini, by names in any case; none where there is no such file or section."""
    import configparser

    try:
        if path.stat().st_size > LARGEST_INI:
            return {}
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read_string(path.read_text("utf-8-sig", "replace"))
        return parser[section]
    except (OSError, ValueError, KeyError, configparser.Error):
        return {}


def _unzipped(path: Path) -> bytes:
    """The content of the only file in an archive."""
    import zipfile

    with zipfile.ZipFile(path) as archive:
        members = _members(archive, path)
        if len(members) != 1:
            named = " and ".join(repr(member.filename) for member in members[:2])
            there = f"{len(members)} files{', such as ' if len(members) > 2 else ': ' if members else ''}{named}"
            raise InputError(f"{path}: holds {there}; exactly one is needed")
        [content] = _contents(archive, members, path).values()
        return content


def _members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """The files of an archive.

    Raises InputError if there are more than MOST_MEMBERS, or if a name is missing, leaves the archive or occurs twice.
    """
    n_members = len(archive.infolist())
    if n_members > MOST_MEMBERS:
        raise InputError(f"{path}: holds {n_members:,} files; at most {MOST_MEMBERS:,} are read, so unpack it yourself")
    if not all(member.filename for member in archive.infolist()):  # zipfile cuts names at a NUL byte
        raise InputError(f"{path}: holds a file without a name; pack it again")
    members = [m for m in archive.infolist() if not m.is_dir() and not _is_of_macos(m.filename)]
    for member in members:
        inner = PureWindowsPath(member.filename)  # knows both kinds of separators, and drives
        if inner.drive or inner.root or ".." in inner.parts:
            raise InputError(f"{path}: holds a file with a path outside the archive, {member.filename!r}")
    if len({member.filename for member in members}) < len(members):
        raise InputError(f"{path}: holds files of the same name")
    return members


def _is_of_macos(name: str) -> bool:
    """Whether a file of an archive is one that macOS adds, which is no content."""
    *folders, last = name.split("/")
    return "__MACOSX" in folders or last == ".DS_Store" or last.startswith("._")


def _contents(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], path: Path) -> dict[str, bytes]:
    """The content of each member, by name; all together declare at most LARGEST_UNPACKED bytes."""
    if sum(member.file_size for member in members) > LARGEST_UNPACKED:
        raise _too_large(path)
    return {member.filename: _declared(archive, member, path) for member in members}


def _declared(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> bytes:
    """The content of a member; raises InputError as soon as it turns out to have more bytes than it declares."""
    import zipfile

    declared = member.file_size
    member.file_size = LARGEST_UNPACKED + 1  # zipfile would silently leave out what lies beyond the declared size
    # zipfile never unpacks more of the usual methods than it is asked for.
    at_once = declared + 1 if member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) else STEP
    pieces, n_left = [], declared + 1
    with archive.open(member) as stream:
        while n_left > 0 and (piece := stream.read(at_once)):
            pieces.append(piece)
            n_left -= len(piece)
    if n_left <= 0:
        raise InputError(f"{path}: {member.filename!r} unpacks to more than the {declared:,} bytes that it declares")
    return b"".join(pieces)


def _bounded(stream: gzip.GzipFile, path: Path) -> bytes:
    """The whole content of a stream; raises InputError if it has more than LARGEST_UNPACKED bytes."""
    content = stream.read(LARGEST_UNPACKED + 1)
    if len(content) > LARGEST_UNPACKED:
        raise _too_large(path)
    return content


def _too_large(path: Path) -> InputError:
    return InputError(f"{path}: unpacks to more than {LARGEST_UNPACKED >> 20} MiB; if you trust it, unpack it yourself")
