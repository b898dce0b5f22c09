"""Long work: a bar that shows it, threads that work ahead of what is asked for, processes that end with their parent.

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
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds after which a bar appears.
PATIENCE = 2.0

# Counts of this size or more are shown in thousands or millions, such as 1.2M.
MANY = 10_000


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
    amount that an earlier attempt has finished, which does not count for its speed.
    """
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield lambda more: None
        return
    from tqdm import tqdm  # imported only here, since most processes write to files and show no bar

    scaled = total >= MANY
    with tqdm(total=total, initial=done, desc=description, unit=unit, unit_scale=scaled, delay=PATIENCE) as bar:
        yield bar.update


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
