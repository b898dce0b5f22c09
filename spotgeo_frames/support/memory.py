"""How much memory is at hand, as far as Linux tells; work that would need more is refused before it starts.

`keeping_freed_memory` keeps freed memory for the next arrays, instead of giving it back to the system after each one.
By default the C library of Linux gives the memory of each large array back when it is freed. The system has to fill it
with zeros when it is asked for it again, which took a fifth of the time. On Dask it took more than half: Dask sets
`MALLOC_TRIM_THRESHOLD_`, so that its workers give back smaller pieces, too.
"""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from .errors import InputError

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")

# Work that needs fewer bytes is not checked, since even that takes time.
LEAST_CHECKED = 1 << 28

# What to do where a frame has too many predictions.
FEWER_PREDICTIONS = "keep fewer of its predictions, the ones with the best scores, say"

# The files of a memory cgroup: its limit, what it uses, and what its statistics call the cache that can be given back.
FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}


def check_at_hand(name: str, work: str, n_bytes: float, advice: str = FEWER_PREDICTIONS) -> None:
    """Raises InputError, from `name` to `advice`, if `work` would need more bytes of memory than are at hand."""
    at_hand = limit_of(n_bytes)
    if at_hand is not None and n_bytes > at_hand:
        raise too_much(name, work, n_bytes, at_hand, advice)


def limit_of(n_bytes: float) -> int | None:
    """The memory at hand (bytes) for work that may need `n_bytes`; None if these are few, or if it is not known."""
    return memory_at_hand() if n_bytes >= LEAST_CHECKED else None


def too_much(name: str, work: str, n_bytes: float, at_hand: int, advice: str = FEWER_PREDICTIONS) -> InputError:
    """The error of work that would need more memory than is at hand, with advice on what to do."""
    sizes = [f"{size / (1 << 30):.1f} GiB" for size in (n_bytes, at_hand)]
    choice = f"{advice}, or use a machine with more memory"
    return InputError(f"{name}: {work} would need {sizes[0]} of memory, and {sizes[1]} are at hand; {choice}")


def memory_at_hand() -> int | None:
    """How many more bytes of memory this process can use, or None if that is not known.

    It is the least of what the machine has left without swapping, and of what the limits of the process (`ulimit`) and
    of its cgroups (containers, batch systems) leave.
    """
    return min([*_of_machine(), *_of_limits(), *_of_cgroups()], default=None)


def _of_machine() -> Iterator[int]:
    """What the machine has left."""
    values = _table(PROC / "meminfo")
    if "MemAvailable:" in values:
        yield values["MemAvailable:"] << 10


def _of_limits() -> Iterator[int]:
    """What the limits of the address space and of the data of this process leave."""
    try:
        import resource

        pages = [int(field) for field in (PROC / "self/statm").read_text().split()]
    except (ImportError, OSError, ValueError):  # another system than Linux
        return
    for limit, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
        most, _ = resource.getrlimit(limit)
        if most != resource.RLIM_INFINITY:
            yield max(most - used * resource.getpagesize(), 0)


def _of_cgroups() -> Iterator[int]:
    """What the memory cgroups of this process leave: its own and those around it, of version 1 and 2."""
    for line in _text(PROC / "self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers not in ("", "memory"):
            continue
        version, root = (2, CGROUPS) if controllers == "" else (1, CGROUPS / "memory")
        limit, usage, cache = FILES[version]
        own = root / path.lstrip("/")
        # Within a container the path may be that outside, but its own cgroup is then the root.
        for folder in (own, *own.parents):
            most, used = _text(folder / limit).strip(), _text(folder / usage).strip()
            if most.isdigit() and used.isdigit():
                yield max(int(most) - int(used) + _table(folder / "memory.stat").get(cache, 0), 0)
            if folder == root:
                break


def _text(path: Path) -> str:
    """The text of a file of the system; empty if it is not there, or may not be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _table(path: Path) -> dict[str, int]:
    """The names and numbers in a file of the system that has a pair of them in each line."""
    pairs = [line.split()[:2] for line in _text(path).splitlines()]
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


# A little less than the largest block after which the C library still changes its ways (32 MiB).
FREED = (1 << 25) - (1 << 13)

# The parameters of `man mallopt`: free memory beyond the first is given back; larger arrays get memory of their own
# from the system, and give it back. For each, the name in the environment that sets it, its default, and its value here
# (the second is the largest that is allowed).
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
PARAMETERS = {
    TRIM_THRESHOLD: ("MALLOC_TRIM_THRESHOLD_", 1 << 17, 1 << 26),
    MMAP_THRESHOLD: ("MALLOC_MMAP_THRESHOLD_", 1 << 17, 1 << 25),
}

_lock, _users = Lock(), 0


@contextmanager
def keeping_freed_memory() -> Iterator[None]:
    """A context, or decorator, in which this process keeps freed memory of up to 64 MiB for its next arrays.

    If the environment sets when memory is given back, that holds again at the end of the last such context of all
    threads, and the memory that is free by then is given back. Otherwise the C library keeps memory by itself once a
    large array was freed, here and afterwards, as in any program. On systems other than Linux with the GNU C library,
    this does nothing.
    """
    asked = _asked_for()
    if not asked:
        # The library then adapts to the size of what is freed ("dynamic mmap threshold" in `man mallopt`). Setting a
        # parameter would end that for good. Nothing is filled here, so this takes microseconds.
        np.empty(FREED, np.uint8)
        yield
        return
    _begin()
    try:
        yield
    finally:
        _end(asked)


def _begin() -> None:
    """Sets the parameters, unless another thread has done so."""
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _set({parameter: here for parameter, (_, _, here) in PARAMETERS.items()})


def _end(asked: dict[int, int]) -> None:
    """Sets the parameters to what the environment asks for, unless another thread still needs memory."""
    global _users
    with _lock:
        _users -= 1
        if not _users:
            _set(asked)
            _library().malloc_trim(0)


def _set(values: dict[int, int]) -> None:
    for parameter, value in values.items():
        _library().mallopt(parameter, value)


def _asked_for() -> dict[int, int]:
    """The parameters as the environment sets them; empty if it sets none, or if this library knows none."""
    given = {parameter: os.environ.get(name, "") for parameter, (name, _, _) in PARAMETERS.items()}
    if _library() is None or not any(text.isdecimal() for text in given.values()):
        return {}
    return {parameter: int(text) if text.isdecimal() else PARAMETERS[parameter][1] for parameter, text in given.items()}


@cache
def _library() -> Any:
    """The GNU C library of this process; None elsewhere."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
