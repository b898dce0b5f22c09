"""Files and folders on any file system that pyarrow reaches, by path or URI.

A file is written under a temporary name and then moved into place, so that no other process sees half of it. On a local
disk it is synchronised first, so that a power cut leaves no half of it either.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from .errors import InputError, first_line
from .reading import readable
from .secrets import without_secrets
from .temporary import synchronise_folder, temporary_name
from .writing import writable


class Place(NamedTuple):
    """A file or a folder: its file system, its path there, and its name in messages and files.

    The name is what the caller wrote, without the user name, the password and the query of a URI.
    """

    filesystem: Any
    path: str
    name: str

    @property
    def base_name(self) -> str:
        """Its name within its folder."""
        return self.path.rpartition("/")[2]

    def inside(self, *names: str) -> "Place":
        """A place below this folder."""
        return Place(self.filesystem, "/".join([self.path.rstrip("/"), *names]), "/".join([self.name, *names]))


def place_of(name: str | Path) -> Place:
    """The place of a path, or of a URI such as s3://bucket/folder; raises InputError if pyarrow cannot reach it."""
    from pyarrow import fs  # imported only here: it takes a while, and little needs it

    text = os.fspath(name)
    if "://" not in text:
        return Place(fs.LocalFileSystem(), os.path.abspath(text), text)
    try:
        filesystem, path = fs.FileSystem.from_uri(text)
    except (pa.ArrowException, OSError, ImportError, ValueError) as error:
        raise InputError(f"{text}: cannot be reached: {first_line(error)}") from None
    return Place(filesystem, path, without_secrets(text))


def local_paths(places: Iterable[Place]) -> list[Path]:
    """The paths of those places that are on a file system of this machine, as the caller wrote them if possible."""
    from pyarrow import fs

    here = [place for place in places if isinstance(place.filesystem, fs.LocalFileSystem)]
    return [Path(place.path if "://" in place.name else place.name) for place in here]


def parquet_files(folder: Place) -> list[Place]:
    """All Parquet files below a folder, in the order of their names; raises InputError if there are none."""
    from pyarrow import fs

    with readable(folder.name):
        infos = folder.filesystem.get_file_info(fs.FileSelector(folder.path, recursive=True))
        names = [
            info.path[len(folder.path) :].strip("/").split("/")
            for info in infos
            if info.type == fs.FileType.File and info.path.endswith(".parquet")
        ]
    if not names:
        raise InputError(f"{folder.name}: is a folder without Parquet files")
    return [folder.inside(*parts) for parts in sorted(names)]


class Digest(NamedTuple):
    """What proves that a file is the one that was written: its size in bytes, and its SHA-256."""

    size: int
    sha256: str


class Output:
    """A stream to write a file with, which counts and digests what is written."""

    closed = False

    def __init__(self, stream: Any):
        self._stream, self._size, self._sha256 = stream, 0, hashlib.sha256()

    def write(self, content: Any) -> int:
        """Writes bytes, or anything with their layout; returns how many."""
        self._stream.write(content)
        self._sha256.update(content)
        n_bytes = memoryview(content).nbytes
        self._size += n_bytes
        return n_bytes

    def flush(self) -> None:
        """Passes on what is buffered."""
        self._stream.flush()

    @property
    def digest(self) -> Digest:
        """The digest of what has been written so far."""
        return Digest(self._size, self._sha256.hexdigest())


@contextmanager
def written(place: Place, owner: str = "", check: Callable[[], None] | None = None) -> Iterator[Output]:
    """A context that gives a stream to write a file with; the file appears once it is complete.

    On a local disk, its content is on the disk before it is moved into place, and its name before the context ends.
    `owner` is the identity of the run that writes, for the temporary name, and `check` is called before the move.
    Raises InputError if the file cannot be written.
    """
    folder, _, name = place.path.rpartition("/")
    temporary = f"{folder}/{temporary_name(name, owner)}"
    try:
        with writable(place.name):
            with open(temporary, "xb") if is_local(place) else place.filesystem.open_output_stream(temporary) as stream:
                yield Output(stream)
                if is_local(place):
                    stream.flush()
                    os.fsync(stream.fileno())
            if check is not None:
                check()
            if is_local(place):
                os.replace(temporary, place.path)
                synchronise_folder(folder)
            else:
                place.filesystem.move(temporary, place.path)
    finally:
        with suppress(OSError):  # it was moved, or the disk is gone
            place.filesystem.delete_file(temporary)


def is_local(place: Place) -> bool:
    """Whether a place is on a file system of this machine, so that Python reaches it by its path."""
    return bool(place.filesystem.type_name == "local")


def digest_of(place: Place) -> Digest:
    """The digest of a file as it is now; raises InputError if it cannot be read."""
    sha256, size = hashlib.sha256(), 0
    with readable(place.name), place.filesystem.open_input_stream(place.path) as stream:
        while content := stream.read(1 << 20):
            sha256.update(content)
            size += len(content)
    return Digest(size, sha256.hexdigest())


def read_all(place: Place) -> bytes:
    """The whole content of a file; raises InputError if it cannot be read."""
    with readable(place.name), place.filesystem.open_input_stream(place.path) as stream:
        return bytes(stream.read())


def write_all(place: Place, content: bytes) -> None:
    """Writes a file as `written` does; raises InputError if it cannot be written."""
    with written(place) as stream:
        stream.write(content)


def make_folder(place: Place) -> None:
    """Makes a folder and its parents, and waits until their names are on the disk; raises InputError if that fails."""
    with writable(place.name):
        parents = [Path(place.path), *Path(place.path).parents] if is_local(place) else []
        there = next((position for position, path in enumerate(parents) if path.exists()), 0)
        place.filesystem.create_dir(place.path, recursive=True)
        for path in parents[1 : there + 1]:
            synchronise_folder(path)


def sizes(folder: Place) -> dict[str, int]:
    """The names and sizes (bytes) of the files in a folder without the hidden ones; empty if there is no folder."""
    from pyarrow import fs

    with readable(folder.name):
        infos = folder.filesystem.get_file_info(fs.FileSelector(folder.path, allow_not_found=True))
    return {
        info.base_name: info.size
        for info in infos
        if info.type == fs.FileType.File and not info.base_name.startswith(".")
    }


def remove_temporary(folder: Place, owner: str = "") -> None:
    """Removes unfinished files from a folder: those of the run with the identity `owner`, or all. It raises nothing."""
    from pyarrow import fs

    with suppress(OSError):  # the disk is gone, or another process was faster
        for info in folder.filesystem.get_file_info(fs.FileSelector(folder.path, allow_not_found=True)):
            if info.base_name.startswith(".") and info.base_name.endswith(".tmp") and owner in info.base_name:
                with suppress(OSError):
                    folder.filesystem.delete_file(info.path)
