"""Temporary files and folders, written beside their target and then moved into place.

A process holds a lock on each temporary file while it writes, and the system releases the locks of a process that ends,
however it ends. So the next writer of the same target can tell the files that a killed process left from those that a
living one still writes.
"""

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from uuid import uuid4

# On Windows a file that is open can be neither moved nor removed, and a folder cannot be moved onto an empty one.
WINDOWS = os.name == "nt"

# What a folder that cannot be synchronised answers; some network file systems and Windows know no such call.
UNSYNCHRONISED = {errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EACCES, errno.EPERM}


def temporary_name(name: str, owner: str = "") -> str:
    """A hidden name that no other process uses, for what becomes `name`; `owner` is the identity of a run, if any."""
    shortened = name[:40]  # since systems limit a name's length
    return ".".join(["", shortened, *([owner] if owner else []), uuid4().hex, "tmp"])


def lock(descriptor: int) -> bool | None:
    """Takes the lock of an open file or folder; returns False if another process has it, None if there are no locks.

    The lock is released when the descriptor is closed, or when the process ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def synchronise_folder(folder: str | Path) -> None:
    """Waits until the names in a folder are on the disk; raises OSError if the disk fails."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in UNSYNCHRONISED:
            raise
    finally:
        _close(descriptor)


def move_folder(folder: Path, to: Path) -> None:
    """Moves a folder to a path where nothing is, or an empty folder; raises OSError if something else is there."""
    if WINDOWS:
        with suppress(FileNotFoundError):
            to.rmdir()
    folder.replace(to)


@contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """A context that gives a temporary file beside `path`, to write to and to move into place; removed at the end.

    Call `remove_stale` before, so that files of killed processes do not pile up. Raises OSError if it cannot be made.
    """
    with _made_beside(path, _make_file, Path.unlink) as temporary:
        yield temporary


@contextmanager
def kept_beside(path: Path) -> Iterator[Path | None]:
    """A context that gives a temporary name under which the file at `path` is kept, too; removed at the end.

    It gives None if there is no file. Raises OSError if it cannot be kept.
    """
    try:
        os.lstat(path)
    except FileNotFoundError:
        yield None
        return
    with _made_beside(path, partial(_link, path), Path.unlink) as temporary:
        yield temporary


@contextmanager
def temporary_folder_beside(path: Path) -> Iterator[Path]:
    """A context that gives a temporary folder beside `path`; removed at the end with all that is in it.

    Those that killed processes left beside `path` are removed first. Raises OSError if it cannot be made.
    """
    remove_stale(path.parent, [path.name])
    with _made_beside(path, Path.mkdir, partial(shutil.rmtree, ignore_errors=True)) as temporary:
        yield temporary


def _make_file(path: Path) -> None:
    """Makes an empty file."""
    path.touch(exist_ok=False)


def _link(path: Path, other: Path) -> None:
    """Gives a file another name, or makes a copy on a file system without links."""
    try:
        os.link(path, other)
    except OSError:
        shutil.copyfile(path, other)


@contextmanager
def _made_beside(path: Path, make: Callable[[Path], None], remove: Callable[[Path], None]) -> Iterator[Path]:
    """A context that makes a temporary file or folder beside `path` and holds its lock; removed at the end.

    Raises OSError, which names `path` as the caller knows it, if it cannot be made.
    """
    temporary = path.with_name(temporary_name(path.name))
    descriptor = None
    try:
        try:
            while True:
                make(temporary)
                descriptor = _opened(temporary)
                if descriptor is not None:
                    lock(descriptor)
                if not _is_removed(temporary):
                    break
                _close(descriptor)  # until it was locked, another process took it for stale
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        yield temporary
    finally:
        with suppress(OSError):  # it was moved, or the disk is gone
            remove(temporary)
        _close(descriptor)


def _is_removed(path: Path) -> bool:
    """Whether a file or folder is certainly not there."""
    try:
        os.lstat(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


def _close(descriptor: int | None) -> None:
    """Closes a descriptor that nothing was written to, so that no error matters."""
    if descriptor is not None:
        with suppress(OSError):
            os.close(descriptor)


def _opened(path: Path) -> int | None:
    """A descriptor of a file or folder to lock; None where the system has no locks, or it cannot be opened."""
    if WINDOWS:  # it could not be moved while it is open
        return None
    with suppress(OSError):
        return os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    return None


def remove_stale(folder: Path, names: Iterable[str]) -> None:
    """Removes the temporary files and folders that killed processes left in `folder` for targets of these names."""
    shortened = "|".join(re.escape(name[:40]) for name in names)
    stale = re.compile(rf"\.(?:{shortened})\.[0-9a-f]{{32}}\.tmp")
    with suppress(OSError):  # what is written next says what is wrong with the folder
        for name in os.listdir(folder):
            if stale.fullmatch(name):
                _remove_unlocked(folder / name)


def _remove_unlocked(path: Path) -> None:
    """Removes a temporary file or folder unless a living process holds its lock, or nothing tells."""
    descriptor = _opened(path)
    if descriptor is None:
        return
    try:
        if lock(descriptor):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
    finally:
        _close(descriptor)
