"""Memory is kept while it is needed, whatever the environment says, and given back as the environment says."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from helpers.reference import PROJECT
from spotgeo_frames.support import memory
from spotgeo_frames.support.memory import keeping_freed_memory

needs_library = pytest.mark.skipif(memory._library() is None, reason="needs Linux with the GNU C library")

# Makes and frees arrays of 1 MiB, 256 pages each, and prints how many pages the system had to fill meanwhile. Larger
# arrays might get huge pages, which are counted as one each.
PROGRAM = """
from resource import RUSAGE_SELF, getrusage
import numpy as np
from spotgeo_frames.support.memory import keeping_freed_memory

def filled(n_arrays: int = 200) -> int:
    before = getrusage(RUSAGE_SELF).ru_minflt
    for _ in range(n_arrays):
        np.ones(1 << 17)
    return getrusage(RUSAGE_SELF).ru_minflt - before

outside = filled()
with keeping_freed_memory():
    filled(1)
    inside = filled()
print(outside, inside, filled())
"""


@needs_library
@pytest.mark.parametrize(
    "environment",
    [
        {"MALLOC_TRIM_THRESHOLD_": "65536"},  # as Dask sets it
        {"MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "1048576"},
        {"MALLOC_MMAP_THRESHOLD_": "65536"},
    ],
)
def test_arrays_get_memory_that_was_freed(environment: dict[str, str]) -> None:
    outside, inside, after = pages_filled(environment)
    assert inside < 50 < 40_000 < min(outside, after)


@needs_library
def test_the_library_keeps_memory_by_itself_by_default() -> None:
    _, inside, after = pages_filled({})
    assert max(inside, after) < 2_000


def pages_filled(environment: dict[str, str]) -> list[int]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    known |= {"PYTHONPATH": str(PROJECT)} | environment
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=known, capture_output=True, text=True, check=True)
    return [int(count) for count in ran.stdout.split()]


class Library:
    """Notes what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, ...]] = []

    def mallopt(self, parameter: int, value: int) -> int:
        self.calls.append((parameter, value))
        return 1

    def malloc_trim(self, pad: int) -> int:
        self.calls.append((pad,))
        return 1


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    library = Library()
    monkeypatch.setattr(memory, "_library", lambda: library)
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)
    return library


BEGUN = [(memory.TRIM_THRESHOLD, 1 << 26), (memory.MMAP_THRESHOLD, 1 << 25)]
ENDED = [(memory.TRIM_THRESHOLD, 65536), (memory.MMAP_THRESHOLD, 1 << 17), (0,)]


def test_what_the_environment_asks_for_holds_again_after_an_error(library: Library) -> None:
    @keeping_freed_memory()
    def fail() -> None:
        assert library.calls == BEGUN
        raise InterruptedError

    with pytest.raises(InterruptedError):
        fail()
    assert library.calls == BEGUN + ENDED


def test_the_last_of_several_threads_gives_memory_back(library: Library) -> None:
    together = Barrier(4)

    @keeping_freed_memory()
    def work() -> None:
        together.wait()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work) for _ in range(4)]:
            done.result()
    assert library.calls == BEGUN + ENDED


@pytest.mark.parametrize("value", ["", "many", "-1"])
def test_values_that_the_library_ignores(value: str, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", value)
    with keeping_freed_memory():
        pass
    assert library.calls == []


def test_other_systems_have_no_such_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_library", lambda: None)
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with keeping_freed_memory():
        pass
