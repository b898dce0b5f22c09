"""Cuts long work into chunks that fit in memory."""

from collections.abc import Iterator

import numpy as np


def chunks(sizes: np.ndarray, at_once: int) -> Iterator[tuple[int, int]]:
    """Ranges [first, last) of neighbours whose sizes add up to at most `at_once`, or of a single larger item.

    >>> list(chunks(np.array([3, 4, 9, 1, 1]), 8))
    [(0, 2), (2, 3), (3, 5)]
    """
    ends = np.cumsum(sizes)
    first = 0
    while first < len(ends):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + at_once, side="right")))
        yield first, last
        first = last
