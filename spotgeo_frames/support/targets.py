"""Checks before any work that what will be written neither replaces an input nor becomes a part of one.

Paths are compared by what they lead to, so links, mounts and other spellings of a name do not pass.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from .errors import InputError
from .reading import readable
from .writing import check_folder_writable, writable


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
