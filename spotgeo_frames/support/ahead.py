"""Works ahead: the next item is made in a thread while the caller works on the one before."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yields the items, one after the other; one more is made, or waits, while the caller has one.

    That saves time where an iterator waits for a store or works outside of Python, as readers of Parquet do. An error
    of the iterator is raised in its turn.
    """
    with ThreadPoolExecutor(1, "ahead") as pool:
        end = object()
        coming = pool.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield item  # type: ignore[misc]
            del item  # before the next one is waited for
