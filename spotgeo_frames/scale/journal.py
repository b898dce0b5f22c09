"""Keeps the finished parts of an evaluation, so that one that was interrupted can go on, and proves what was kept."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pyarrow as pa

from ..support import (
    Digest,
    InputError,
    Place,
    __version__,
    check_memory,
    check_none,
    stores,
    temporary,
    without_secrets,
    writing,
)
from .contents import Contents
from .folder import BUSY, RunFolder, check_own, plan_text, read_plan
from .results import Result, read_result

# Files that are read at once to prove them; digests are made without holding the interpreter.
READERS = 4

# How often to try again where a plan comes and goes, as other runs begin and folders are removed.
ATTEMPTS = 100

# The folders inside the folder of a run.
FOLDERS = ("matches", "sums")

# Why a result does not count at the end of a run.
MISSING = "is not there, though it was written; the workers must share this disk, by the same name"
REPLACED = "is not the file that this run has written; another run was here, so make the same call again"
FOREIGN = "is no file of this run; remove it, or give another folder"


@contextmanager
def begun(
    out: Place, contents: Mapping[str, Contents], options: Mapping[str, Any], n_parts: int
) -> Iterator[tuple[RunFolder, dict[int, Result], list[str]]]:
    """A context in which no other run writes to the folder, where the file system has locks.

    It gives the folder, the results that an earlier evaluation of the same has finished, by part, and texts on those
    that are damaged. `options` are those that change the results. A part is finished if its sums and its match table
    have the digests that were noted, and the run's identity. Raises InputError if another run is writing there, or if
    the folder belongs to another evaluation, has other files, or cannot be written.
    """
    plan = _plan(contents, options, n_parts)
    stores.make_folder(out)
    with _held(out, plan) as locked:
        known = read_plan(out)
        if known is None:
            raise InputError(f"{out.name}: was removed meanwhile")
        different = ", ".join(name for name in plan if known.get(name) != plan[name])
        if different:
            advice = "give another folder, or remove it"
            raise InputError(f"{out.name}: holds a run of something else ({different} differ); {advice}")
        folder = RunFolder(out, known["run"])
        for name in FOLDERS:
            stores.make_folder(out.inside(name))
        _tidy(folder, "" if locked else folder.identity)
        try:
            yield folder, *_finished(folder, n_parts)
        finally:
            _tidy(folder, folder.identity)  # the folder may be another run's by now


def _plan(contents: Mapping[str, Contents], options: Mapping[str, Any], n_parts: int) -> dict[str, Any]:
    """The plan of an evaluation: the version, the files with their states, and the options."""
    inputs = {
        side: [[without_secrets(file.place.path), *file.state] for file in dataset.files]
        for side, dataset in contents.items()
    }
    plan = {"version": __version__} | inputs | dict(options) | {"n_parts": n_parts}
    return msgspec.json.decode(msgspec.json.encode(plan, enc_hook=str))


@contextmanager
def _held(out: Place, plan: Mapping[str, Any]) -> Iterator[bool]:
    """A context that holds the lock of the plan in a folder, and gives whether there are locks.

    It writes the plan if there is none. Raises InputError if another process holds the lock.
    """
    content = plan_text({"run": uuid4().hex, **plan})
    if not stores.is_local(out):
        if read_plan(out) is None:
            _check_empty(out)
            stores.write_all(out.inside("plan.json"), content)
        yield False
        return
    descriptor = _claimed(out, content)
    try:
        yield temporary.lock(descriptor) is True  # which this descriptor has already, if there are locks
    finally:
        os.close(descriptor)


def _claimed(out: Place, content: bytes) -> int:
    """The descriptor of the plan in a local folder, with its lock; the plan is written if there is none."""
    make = _made_unlocked if temporary.WINDOWS else _made
    with writing.writable(out.name):
        for _ in range(ATTEMPTS):
            there = os.path.lexists(out.inside("plan.json").path)
            descriptor = _locked(out) if there else make(out, content)
            if descriptor is not None:
                return descriptor
    raise InputError(f"{out.name}: {BUSY}")


def _locked(out: Place) -> int | None:
    """The descriptor of the plan in a folder, with its lock; None if it has been removed meanwhile."""
    path = out.inside("plan.json").path
    descriptor = None
    try:
        descriptor = os.open(path, os.O_RDWR)
        if temporary.lock(descriptor) is False:
            raise InputError(f"{out.name}: {BUSY}")
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            found, descriptor = descriptor, None
            return found
    except FileNotFoundError:
        pass
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return None


def _made(out: Place, content: bytes) -> int | None:
    """The descriptor of a new plan, with its lock; None if another process has made one meanwhile.

    Raises InputError if the folder has results without a plan.
    """
    path = out.inside("plan.json").path
    unfinished = f"{out.path}/{temporary.temporary_name('plan.json')}"
    descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        temporary.lock(descriptor)  # before others can see it
        with open(descriptor, "wb", closefd=False) as stream:
            stream.write(content)
        os.fsync(descriptor)
        _linked(unfinished, path)
        temporary.synchronise_folder(out.path)
        try:
            _check_empty(out)
        except InputError:
            os.unlink(path)
            raise
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, FileExistsError):
            return None
        raise
    finally:
        with suppress(OSError):
            os.unlink(unfinished)
    return descriptor


def _made_unlocked(out: Place, content: bytes) -> int | None:
    """As `_made`, for Windows, which has no locks, and where a file that is open cannot be removed."""
    _check_empty(out)
    path = Path(out.inside("plan.json").path)
    try:
        with temporary.temporary_beside(path) as unfinished:
            unfinished.write_bytes(content)
            _linked(str(unfinished), str(path))
    except FileExistsError:
        return None
    return os.open(path, os.O_RDWR)


def _linked(unfinished: str, path: str) -> None:
    """Gives a file its name; raises FileExistsError if there is such a file."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links; between the two lines another process may be faster
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(unfinished, path)


def _check_empty(out: Place) -> None:
    """Raises InputError if there are results in a folder that has no plan."""
    for name in FOLDERS:
        if stores.sizes(out.inside(name)):
            raise InputError(f"{out.inside(name).name}: holds files of something else; give another folder")


def _tidy(folder: RunFolder, owner: str) -> None:
    """Removes the unfinished files of killed processes: those of the run with the identity `owner`, or all."""
    for place in (folder.place, *(folder.place.inside(name) for name in FOLDERS)):
        stores.remove_temporary(place, owner)


def _finished(folder: RunFolder, n_parts: int) -> tuple[dict[int, Result], list[str]]:
    """The results of the finished parts in a folder, by part, and texts on those that are damaged."""
    present = stores.sizes(folder.place.inside("sums"))
    numbers = [number for number in range(n_parts) if folder.sums(number).base_name in present]
    with ThreadPoolExecutor(READERS) as pool:
        judged = dict(zip(numbers, pool.map(partial(_judged, folder), numbers), strict=True))
    finished = {number: result for number, result in judged.items() if isinstance(result, Result)}
    return finished, [text for text in judged.values() if isinstance(text, str)]


def _judged(folder: RunFolder, number: int) -> Result | str:
    """The result of a part from its files, or a text that says which of them is damaged."""
    try:
        result = read_result(folder, number)
        for name, digest in result.files.items():
            if stores.digest_of(folder.of(name)) != digest:
                raise InputError(f"{folder.of(name).name}: is not what was written: it is damaged or of another run")
    except InputError as error:
        return f"{error.problems[0]}; its part is evaluated again"
    return result


def check_written(folder: RunFolder, files: Mapping[str, Digest]) -> None:
    """Compares what a run has written with what is there; raises InputError if it differs, naming the files."""
    check_own(folder)
    there = {
        f"{name}/{base_name}": size
        for name in FOLDERS
        for base_name, size in stores.sizes(folder.place.inside(name)).items()
        if base_name.endswith((".parquet", ".arrow"))
    }
    with ThreadPoolExecutor(READERS) as pool:
        present = [name for name in files if name in there]
        own = pool.map(lambda name: there[name] == files[name].size and _is_own(folder, name, files[name]), present)
        replaced = [name for name, is_own in zip(present, own, strict=True) if not is_own]
    problems = {MISSING: files.keys() - there.keys(), FOREIGN: there.keys() - files.keys(), REPLACED: replaced}
    texts = [f"{folder.of(name).name}: {problem}" for problem, names in problems.items() for name in sorted(names)]
    check_none(texts)


def _is_own(folder: RunFolder, name: str, digest: Digest) -> bool:
    """Whether a file is one of this run: sums by their digest, match tables, which may be large, by their footer."""
    import pyarrow.parquet as pq

    place = folder.of(name)
    try:
        if name.startswith("sums/"):
            return stores.digest_of(place) == digest
        with place.filesystem.open_input_file(place.path) as stream:
            return (pq.read_metadata(stream).metadata or {}).get(b"run") == folder.identity.encode()
    except (InputError, OSError, pa.ArrowException) as error:
        check_memory(error, place.name)
        return False
