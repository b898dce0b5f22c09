"""Keeps freed memory for the next arrays, instead of giving it back to the system after each one.

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
from threading import Lock
from typing import Any

import numpy as np

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
