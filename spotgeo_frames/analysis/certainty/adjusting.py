"""p-values of several tests together: how often chance alone makes any of them as small.

Tests of the same sequences depend on each other, and swaps of sequences keep what they have in common. The two
functions for swaps go step by step from the strongest test (Westfall and Young, 1993), each over the tests that are
left.
"""

import numpy as np

from .resampling import BLUR


def by_largest(statistics: np.ndarray) -> np.ndarray:
    """The adjusted p-values (tests,) of statistics (swaps, tests), the observed ones first: the share of largest ones.

    >>> by_largest(np.array([[3.0, 1.0], [2.0, 4.0], [0.0, 0.5], [1.0, 1.0]])).tolist()
    [0.5, 0.75]
    """
    order = np.argsort(statistics[0], kind="stable")  # the least first
    largest = np.maximum.accumulate(statistics[:, order], axis=1)
    together = np.count_nonzero(largest >= statistics[0, order] * (1 - BLUR), axis=0) / len(statistics)
    return _rising(together[::-1], order[::-1])


def by_least(p_values: np.ndarray, of_swaps: np.ndarray) -> np.ndarray:
    """The adjusted p-values (tests,) of p-values: the share of swaps whose least p-value is at most as large.

    `of_swaps` (swaps, tests) are the p-values that each swap would have if it were observed.
    """
    order = np.argsort(-p_values, kind="stable")  # the largest first
    least = np.minimum.accumulate(of_swaps[:, order], axis=1)
    together = np.count_nonzero(least <= p_values[order] * (1 + BLUR), axis=0) / len(of_swaps)
    return np.fmax(_rising(together[::-1], order[::-1]), p_values)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjusts p-values (tests,) by Holm's method (1979), whatever they have in common; null ones are not counted.

    >>> holm(np.array([0.01, 0.04, 0.03, np.nan])).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    order = np.argsort(p_values)  # null last
    left = np.maximum(np.count_nonzero(~np.isnan(p_values)) - np.arange(len(p_values)), 1)
    return np.minimum(_rising(p_values[order] * left, order), 1.0)


def p_values_of_swaps(statistics: np.ndarray) -> np.ndarray:
    """The p-value that each swap would have if it were observed, from its statistics, both (swaps, tests)."""
    answer = np.empty(statistics.shape)
    for of, t in zip(answer.T, statistics.T, strict=True):
        of[:] = len(t) - np.searchsorted(np.sort(t), t * (1 - BLUR))
    return answer / len(statistics)


def _rising(ordered: np.ndarray, order: np.ndarray) -> np.ndarray:
    """p-values in the order of their tests, from `ordered` ones, made to rise."""
    answer = np.empty_like(ordered)
    answer[order] = np.maximum.accumulate(ordered)
    return answer
