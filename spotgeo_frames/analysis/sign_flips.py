"""Tests of many sums together, by flipping the signs of what each sequence contributes.

If a sum differs from 0 by chance only, each sequence could as well have contributed the opposite. So the signs of
sequences are flipped at random, the same ones for all sums, which keeps what the sums have in common. Each sum is taken
in units of what is exceeded in one flip of 1,000: the flips of a sum that rests on few sequences go less far than
those of a sum of many, and would otherwise never be among the largest. The largest of all sums in each flip says how
far the largest goes by chance (max-T of Westfall and Young, 1993): a p-value that allows for all sums is the share of
flips in which the largest is at least as large, and intervals that hold together reach as far as 95% of the largest.

This is done in one step, not step by step from the largest, so that an interval excludes 0 just where its p-value says.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..support.chunks import chunks
from ..support.progress import progress_bar
from .resampling import BLUR

# How often signs are flipped, and how many of the flips go further than a unit.
FLIPS, FURTHER = 10_000, 10

# How far a sum goes in one flip of 1,000, in units of the root of the sum of squares, if it is a sum of many.
OF_MANY = 3.29

# The count of numbers in memory at once, 8 bytes each.
NUMBERS_AT_ONCE = 1 << 22


class FlipTests(NamedTuple):
    """The tests of sums, each array (sums,).

    Attributes
    ----------
    p_value
        The share of flips in which the sum is at least as far from 0, the observed arrangement counted.
    p_adjusted
        The same for all sums together.
    reach
        Half the width of intervals that hold together; null where no sequence contributes anything.
    """

    p_value: np.ndarray
    p_adjusted: np.ndarray
    reach: np.ndarray


def flip_tests(contributions: np.ndarray, confidence: float, seed: int) -> FlipTests:
    """Tests whether the sums over sequences of contributions (sequences, sums) differ from 0."""
    observed = np.abs(contributions.sum(axis=0))
    least = observed * (1 - BLUR)
    with progress_bar(2 * FLIPS, "signs flipped", " flips") as advance:
        n_as_large, furthest = np.ones(len(observed)), observed[None]
        for flipped in _flipped(contributions, seed):
            n_as_large += np.count_nonzero(flipped >= least, axis=0)
            furthest = _furthest(furthest, flipped)
            advance(len(flipped))
        unit = _units(contributions, furthest[0])
        known = unit > 0
        per_unit = np.where(known, 1 / np.where(known, unit, 1.0), 0.0)
        largest = [(observed * per_unit).max(keepdims=True)]
        for flipped in _flipped(contributions, seed):
            largest.append((flipped * per_unit).max(axis=1))
            advance(len(flipped))
    ordered = np.sort(np.concatenate(largest))
    p_adjusted = (len(ordered) - np.searchsorted(ordered, least * per_unit)) / len(ordered)
    quantile = ordered[len(ordered) - 1 - int((1 - confidence) * len(ordered) + BLUR)]
    return FlipTests(n_as_large / len(ordered), p_adjusted, np.where(known, quantile * unit, np.nan))


def _flipped(contributions: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """The sums' distances from 0 after flips, (some flips, sums) at a time; equal seeds give equal flips."""
    random = np.random.default_rng([seed, 2])
    n_sequences = len(contributions)
    for first, last in chunks(np.full(FLIPS, sum(contributions.shape)), NUMBERS_AT_ONCE):
        drawn = random.integers(0, 256, (last - first, -(-n_sequences // 8)), np.uint8)
        signs = np.unpackbits(drawn, axis=1)[:, :n_sequences] * 2.0 - 1.0
        yield np.abs(signs @ contributions)


def _furthest(before: np.ndarray, flipped: np.ndarray) -> np.ndarray:
    """The largest of both, (up to FURTHER, sums), the least of them first."""
    both = np.concatenate([before, flipped])
    if len(both) > FURTHER:
        both = np.partition(both, -FURTHER, axis=0)[-FURTHER:]
    return np.sort(both, axis=0)


def _units(contributions: np.ndarray, furthest: np.ndarray) -> np.ndarray:
    """What each sum exceeds in one flip of 1,000, (sums,); of a sum of too few sequences, what one of many would.

    So few that more than one flip in 1,000 goes as far as any would otherwise often be the largest.
    """
    too_few = 2.0 ** (1 - np.count_nonzero(contributions, axis=0)) > FURTHER / FLIPS
    return np.where(too_few, OF_MANY * np.sqrt((contributions**2).sum(axis=0)), furthest)
