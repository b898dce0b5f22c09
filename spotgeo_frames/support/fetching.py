"""Calls a function in threads, for some of the next arguments already: over a network, most of the time is waiting."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Generic, TypeVar

# How many files are read, or calls made, at once: over a network most of the time is spent waiting.
AT_ONCE = 8

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(AT_ONCE)


class Fetching(Generic[Item, Result]):
    """The results of a function of named items, which are asked for in about their order.

    As each is taken, a further one begins, so that no more than AT_ONCE are kept.
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
