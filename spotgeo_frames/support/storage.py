"""Files and folders on any file system that pyarrow reaches, by path or URI.

A file is written under a temporary name and then moved into place, so that no other process sees half of it.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pyarrow as pa

from .errors import InputError, first_line
from .reading import readable
from .secrets import without_secrets


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


@contextmanager
def written(place: Place) -> Iterator[Any]:
    """A context that gives a stream to write a file with; the file appears once it is complete.

    Raises InputError if it cannot be written.
    """
    folder, _, name = place.path.rpartition("/")
    temporary = f"{folder}/.{name[:40]}.{uuid4().hex}.tmp"
    try:
        with place.filesystem.open_output_stream(temporary) as stream:
            yield stream
        place.filesystem.move(temporary, place.path)
    except (OSError, pa.ArrowException) as error:  # an ArrowException means, for example, a type unknown to Parquet
        raise InputError(f"{place.name}: cannot be written: {first_line(error)}") from None
    finally:
        with suppress(OSError):  # it was moved, or the disk is gone
            place.filesystem.delete_file(temporary)


def make_folder(place: Place) -> None:
    """Makes a folder and its parents; raises InputError if that fails."""
    try:
        place.filesystem.create_dir(place.path, recursive=True)
    except OSError as error:
        raise InputError(f"{place.name}: cannot be written: {first_line(error)}") from None


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


def remove_temporary(folder: Place) -> None:
    """Removes the unfinished files of a killed process from a folder."""
    from pyarrow import fs

    for info in folder.filesystem.get_file_info(fs.FileSelector(folder.path, allow_not_found=True)):
        if info.base_name.startswith(".") and info.base_name.endswith(".tmp"):
            with suppress(OSError):
                folder.filesystem.delete_file(info.path)
