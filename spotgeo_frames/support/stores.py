"""Files and folders on any file system that pyarrow reaches, by path or URI.

A file is written under a temporary name and then moved into place, so that no other process sees half of it. On a local
disk it is synchronised first, so that a power cut leaves no half of it either.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from .addresses import Storage, reached, shown
from .errors import InputError
from .reading import readable
from .temporary import synchronise_folder, temporary_name
from .writing import writable

# How many bytes are read at once: over a network, each request waits as long as a megabyte or more takes.
READ_BYTES = 1 << 23


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


def place_of(name: str | Path, storage: Storage | None = None) -> Place:
    """The place of a path, or of an address such as s3://bucket/folder.

    Raises InputError if it cannot be reached, and ImportError if what reaches it is not installed.
    """
    filesystem, path = reached(name, storage or Storage())
    return Place(filesystem, path, shown(name))


def local_paths(places: Iterable[Place]) -> list[Path]:
    """The paths of those places that are on a file system of this machine, as the caller wrote them if possible."""
    from pyarrow import fs

    here = [place for place in places if isinstance(place.filesystem, fs.LocalFileSystem)]
    return [Path(place.path if "://" in place.name else place.name) for place in here]


def is_inside(place: Place, folder: Place) -> bool:
    """Whether a place is a folder, or lies in it, by their paths."""
    inside = f"{place.path}/".startswith(f"{folder.path.rstrip('/')}/")
    return inside and bool(place.filesystem == folder.filesystem)


class Listed(NamedTuple):
    """A file with what its file system says of it: its size (bytes) and when it was changed (ns; 0 if it does not say).

    Stores say when in seconds in one answer and more exactly in another, so that theirs are whole seconds.
    """

    place: Place
    size: int
    changed: int


def listed(places: Sequence[Place]) -> list[Listed | None]:
    """What a file system says of several files on it; None for one that is not there. It costs a request each."""
    if not places:
        return []
    with readable(places[0].name):
        infos = places[0].filesystem.get_file_info([place.path for place in places])
    return [
        None if info.type.name == "NotFound" else _listed(place, info)
        for place, info in zip(places, infos, strict=True)
    ]


def _listed(place: Place, info: Any) -> Listed:
    """A file with what is in pyarrow's FileInfo of it."""
    changed = info.mtime_ns or 0
    return Listed(place, info.size or 0, changed if is_local(place) else changed // 10**9 * 10**9)


def listed_below(folder: Place, matching: Callable[[str], object] = bool) -> list[Listed]:
    """The files below a folder whose path within it is `matching`, in the order of their names, in few requests."""
    from pyarrow import fs

    with readable(folder.name):
        infos = folder.filesystem.get_file_info(fs.FileSelector(folder.path, recursive=True))
    named = [
        (info.path[len(folder.path) :].strip("/").split("/"), info) for info in infos if info.type == fs.FileType.File
    ]
    found = sorted(((parts, info) for parts, info in named if matching("/".join(parts))), key=lambda item: item[0])
    return [_listed(folder.inside(*parts), info) for parts, info in found]


def found_at(place: Place, endings: tuple[str, ...]) -> tuple[Place | None, list[Listed]]:
    """The folder at a place, or None if it is a file, and the files there that have one of these endings.

    A path may have wildcards: *, ? and [...] within a name, and ** for any folders; it then stands for the files that
    match, and for those in folders that match, all in the folder above the first wildcard. Raises InputError if there
    is nothing, or if the file system cannot be reached.
    """
    with readable(place.name):
        info = place.filesystem.get_file_info(place.path)
    if info.type.name == "Directory":
        return place, listed_below(place, lambda path: path.endswith(endings))
    if info.type.name != "NotFound":
        return None, [_listed(place, info)]
    if not has_wildcards(place.path):
        there = "file or folder" if is_local(place) else "file, folder or bucket"
        raise InputError(f"{place.name}: there is no such {there}")
    above, pattern = _divided(place)
    files = listed_below(above, lambda path: path.endswith(endings) and pattern.match(path))
    if not files:
        raise InputError(f"{place.name}: matches no file")
    return (None, files) if len(files) == 1 else (above, files)


def has_wildcards(path: str) -> bool:
    """Whether a path has *, ? or [."""
    return any(mark in path for mark in "*?[")


def _divided(place: Place) -> tuple[Place, re.Pattern[str]]:
    """The folder above the first wildcard of a place, and the expression of the paths in it that match the rest."""
    whole = place.path.rstrip("/")
    rest = whole[whole.rfind("/", 0, min(whole.index(mark) for mark in "*?[" if mark in whole)) + 1 :]
    name = place.name.rstrip("/").removesuffix(rest).rstrip("/")
    above = Place(place.filesystem, whole.removesuffix(rest).rstrip("/") or "/", name or ".")
    marks = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    tokens = re.findall(r"\*\*/?|[*?]|\[[^]]+\]|.", rest)
    sets = (token.replace("[!", "[^") if token.startswith("[") and len(token) > 1 else None for token in tokens)
    parts = [marks.get(token) or of_set or re.escape(token) for token, of_set in zip(tokens, sets, strict=True)]
    return above, re.compile("".join(parts) + "(?:/|$)")


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
    for content in bytes_of(place):
        sha256.update(content)
        size += len(content)
    return Digest(size, sha256.hexdigest())


def bytes_of(place: Place) -> Iterator[bytes]:
    """The content of a file as it is, READ_BYTES at a time, a request each; raises InputError if it cannot be read."""
    with readable(place.name), place.filesystem.open_input_stream(place.path, compression=None) as stream:
        while content := stream.read(READ_BYTES):
            yield content


def read_all(place: Place) -> bytes:
    """The whole content of a file; raises InputError if it cannot be read."""
    return b"".join(bytes_of(place))


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
