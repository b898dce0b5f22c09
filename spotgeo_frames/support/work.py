"""Long work: bars and lines that show it, threads that work ahead, processes that end with their parent.

What makes threads is imported where they are made, since commands load this module at once.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds after which a bar appears.
PATIENCE = 2.0

# Counts of this size or more are shown in thousands or millions, such as 1.2M.
MANY = 10_000


# What is shown on standard error: whether anything is, the steps that are done within each other, with the times when
# they began, and how many bars there are.
SHOWN = SimpleNamespace(wanted=True, steps=[], n_bars=0)


@contextmanager
def quiet() -> Iterator[None]:
    """A context in which nothing is shown of work; commands leave out their warnings and hints, too."""
    wanted, SHOWN.wanted = SHOWN.wanted, False
    try:
        yield
    finally:
        SHOWN.wanted = wanted


@contextmanager
def step(description: str) -> Iterator[None]:
    """A context that shows what is done in it and for how long, on standard error, on a terminal only.

    The line appears PATIENCE seconds after the first of the steps that are within each other began, makes way for a
    bar, and goes when the step is done.
    """
    SHOWN.steps.append((description, time.monotonic()))
    done = threading.Event()
    watcher = threading.Thread(target=_show_steps, args=[done], daemon=True)
    if len(SHOWN.steps) == 1 and SHOWN.wanted and _is_watched():
        watcher.start()
    try:
        yield
    finally:
        SHOWN.steps.pop()
        done.set()
        if watcher.ident is not None:
            watcher.join()


def _is_watched() -> bool:
    """Whether standard error is a terminal; a process may have been started without one, or have closed it."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def _show_steps(done: threading.Event) -> None:
    """Writes the innermost step over the line of the one before, each second until all are done."""
    shown, pause = "", PATIENCE
    while not done.wait(pause):
        line, pause = "", 1.0
        if SHOWN.steps and not SHOWN.n_bars:
            description, began = SHOWN.steps[-1]
            line = f"{description}: {time.monotonic() - began:.0f} s"
        sys.stderr.write(f"\r{' ' * len(shown)}\r{line}")
        sys.stderr.flush()
        shown = line
    if shown:
        sys.stderr.write(f"\r{' ' * len(shown)}\r")
        sys.stderr.flush()


def progress(items: Sequence[Item], description: str, unit: str) -> Iterator[Item]:
    """Yields the items, with a bar on standard error after PATIENCE seconds, on a terminal or in Jupyter only."""
    with progress_bar(len(items), description, unit) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def progress_bar(total: int, description: str, unit: str, done: int = 0) -> Iterator[Callable[[int], object]]:
    """A context that gives a function to call with how much more of `total` is done.

    The bar appears on standard error after PATIENCE seconds, on a terminal or in Jupyter only. It begins at `done`, the
    amount that an earlier attempt has finished, which does not count for its speed. It goes when all is done, so that
    none stands still while other work goes on.
    """
    if not (SHOWN.wanted and (_is_watched() or "ipykernel" in sys.modules)):
        yield lambda more: None
        return
    from tqdm import tqdm  # imported only here, since most processes write to files and show no bar

    scaled = total >= MANY
    look: dict[str, Any] = {"desc": description, "unit": unit, "unit_scale": scaled, "delay": PATIENCE, "leave": False}
    SHOWN.n_bars += 1
    try:
        with tqdm(total=total, initial=done, **look) as bar:
            yield bar.update
    finally:
        SHOWN.n_bars -= 1


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yields the items, one after the other; one more is made, or waits, while the caller has one.

    That saves time where an iterator waits for a store or works outside of Python, as readers of Parquet do. An error
    of the iterator is raised in its turn.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "ahead") as pool:
        end = object()
        coming = pool.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield item  # type: ignore[misc]
            del item  # before the next one is waited for


# How many files are read, or calls made, at once: over a network most of the time is spent waiting.
AT_ONCE = 8


# How many items a thread takes at a time where each takes microseconds, as a small file of a local disk does.
FEW = 64


def each(
    function: Callable[[Sequence[Item]], Sequence[Result]], items: Sequence[Item], *, at_a_time: int = FEW
) -> Iterator[Result]:
    """Calls a function of items in threads, with so many at a time, and yields the result of each item in order.

    To hand over each item by itself takes longer than to read a small file.
    """
    from concurrent.futures import ThreadPoolExecutor

    runs = [items[first : first + at_a_time] for first in range(0, len(items), at_a_time)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for results in pool.map(function, runs):
            yield from results


@cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(AT_ONCE)


class Fetching(Generic[Item, Result]):
    """The results of a function of named items, called in threads and asked for in about their order.

    Over a network, most of the time is waiting. As each is taken, a further one begins, so that no more than AT_ONCE
    are kept.
    """

    def __init__(self, function: Callable[[Item], Result], items: Mapping[str, Item]) -> None:
        self._function = function
        self._coming = iter(items.items())
        self._begun: dict[str, Future[Result]] = {}
        for _ in range(AT_ONCE):
            self._begin()

    def _begin(self) -> None:
        """Begins with the next item, if there is one."""
        name, item = next(self._coming, (None, None))
        if name is not None and item is not None:
            self._begun[name] = _pool().submit(self._function, item)

    def take(self, name: str) -> Result | None:
        """The result of an item, once; None if it has not begun. Raises what the function raises."""
        begun = self._begun.pop(name, None)
        if begun is None:
            return None
        self._begin()
        return begun.result()


# Seconds after which a process sees that its parent has ended.
WATCHED = 0.1


def end_with(parent: int) -> None:
    """Ends this process soon after its parent, even one that was killed; otherwise it would do all that is queued."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCHED)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
