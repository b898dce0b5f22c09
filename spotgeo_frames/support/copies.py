"""Local copies of files and folders that are at addresses, for the readers of whole files.

What is on this machine is read where it is. What an address or wildcards name is fetched once into a temporary folder,
and removed when it has been read.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from .addresses import Storage, address_text, is_address
from .errors import InputError

# The files of a folder that readers may need; a folder of MOTChallenge may have pictures as well.
ENDINGS = (".parquet", ".json", ".txt", ".ini")


class Copy(NamedTuple):
    """A file or folder of this machine, and its name in messages: what the caller wrote, without secrets.

    `temporary` says whether it was fetched, and is there only for a while.
    """

    path: Path
    name: str
    temporary: bool = False


# The copies that are kept until a command ends, by their address; None outside of a command.
_KEPT: ContextVar[tuple[dict[str, Copy], ExitStack] | None] = ContextVar("kept copies", default=None)


@contextmanager
def copies_kept() -> Iterator[None]:
    """A context at whose end the copies are removed that were made in it, so that each is made once."""
    with ExitStack() as stack:
        token = _KEPT.set(({}, stack))
        try:
            yield
        finally:
            _KEPT.reset(token)


@contextmanager
def local_copy(name: str | Path, storage: Storage | None = None) -> Iterator[Copy]:
    """A context that gives a file or folder of this machine: the one of this name, or a copy of what the name reaches.

    `name` may be an address such as s3://bucket/truth.json, begin with ~, or have wildcards (*, ?, [...], **). These
    stand for one file, or for a folder with all that matches. Errors of reading, raised within the context, name the
    file as the caller does. Raises InputError if there is nothing, or if it cannot be fetched.
    """
    if (storage is None or storage.filesystem is None) and not is_address(name):
        path = Path(os.path.expanduser(name))
        if not any(mark in str(path) for mark in "*?[") or os.path.lexists(path):
            yield Copy(path, os.fspath(name))
            return
    kept = _KEPT.get()
    with ExitStack() as stack:
        key = address_text(name)
        if kept is None:
            copy = _fetched(name, storage, stack)
        else:
            copies, until = kept
            if key not in copies:
                copies[key] = _fetched(name, storage, until)
            copy = copies[key]
        try:
            yield copy
        except InputError as error:
            inside = str(copy.path)
            raise InputError([problem.replace(inside, copy.name) for problem in error.problems]) from None


@contextmanager
def local_copies(names: Sequence[str | Path], storage: Storage | None = None) -> Iterator[list[Copy]]:
    """A context that gives a file or folder of this machine for each name, as `local_copy` does."""
    with ExitStack() as stack:
        yield [stack.enter_context(local_copy(name, storage)) for name in names]


def _link(path: str, target: Path) -> None:
    """Makes a link to a file of this machine, or a copy where no links can be made, as for most users of Windows."""
    try:
        os.symlink(path, target)
    except (OSError, NotImplementedError):
        shutil.copyfile(path, target)


def _fetched(name: str | Path, storage: Storage | None, stack: ExitStack) -> Copy:
    """A copy of what a name reaches, in a temporary folder that is removed with the stack."""
    from concurrent.futures import ThreadPoolExecutor  # imported here, as the others: little of what is read is fetched
    from tempfile import TemporaryDirectory

    from .storage import Listed, Place, bytes_of, found_at, is_local, place_of
    from .work import AT_ONCE
    from .writing import writable

    def fetch(file: Listed, target: Path) -> None:
        if is_local(file.place):
            _link(file.place.path, target)
            return
        with target.open("wb") as stream:
            for content in bytes_of(file.place):
                stream.write(content)

    place = place_of(name, storage)
    folder, files = found_at(place, ENDINGS)
    above: Place = folder or files[0].place
    parent = Path(stack.enter_context(TemporaryDirectory(prefix="spotgeo_frames-")))
    last = above.name.rstrip("/").rpartition("/")[2]  # a path may have the query of an address
    whole = parent / ("files" if last in ("", ".", "..") else last)
    inside = [file.place.path[len(above.path) :].strip("/").split("/") for file in files]
    if any(".." in parts for parts in inside):
        raise InputError(f"{place.name}: has files whose paths leave the folder")
    _check_room(place.name, sum(file.size for file in files if not is_local(file.place)))
    targets = [whole.joinpath(*parts) for parts in inside] if folder else [whole]
    if folder:
        whole.mkdir()
    with writable(parent):
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(fetch, files, targets))
    return Copy(whole, place.name, temporary=True)


def _check_room(name: str, n_bytes: int) -> None:
    """Raises InputError if a copy of this size does not fit the folder for temporary files."""
    import shutil
    from tempfile import gettempdir

    free = shutil.disk_usage(gettempdir()).free
    if n_bytes > free:
        sizes = f"{n_bytes >> 20:,} MiB, and {gettempdir()} has {free >> 20:,} MiB free"
        advice = "set TMPDIR to another folder; datasets of Parquet are evaluated where they are by score_dataset"
        raise InputError(f"{name}: cannot be fetched: it has {sizes}; {advice}")
