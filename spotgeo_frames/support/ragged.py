"""Ranges of neighbours, each of its own length, laid out one after another."""

import numpy as np


def ranges(begins: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The members of the ranges [begin, begin + count), one range after another: the position of its range, and itself.

    >>> of_range, member = ranges(np.array([7, 2, 5]), np.array([2, 0, 3]))
    >>> of_range.tolist(), member.tolist()
    ([0, 0, 2, 2, 2], [7, 8, 5, 6, 7])
    """
    ends = np.cumsum(counts)
    return np.repeat(np.arange(len(counts)), counts), np.arange(counts.sum()) + np.repeat(
        begins - ends + counts, counts
    )
