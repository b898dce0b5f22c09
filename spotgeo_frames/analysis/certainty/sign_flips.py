"""Tests of many sums together, by flipping the signs of what each sequence contributes.

If a sum differs from 0 by chance only, each sequence could as well have contributed the opposite. So the signs of
sequences are flipped at random, the same ones for all sums, which keeps what the sums have in common. Each sum is taken
in units of what is exceeded in one flip of 1,000: the flips of a sum that rests on few sequences go less far than
those of a sum of many, and would otherwise never be among the largest. The largest of all sums in each flip says how
far the largest goes by chance (max-T of Westfall and Young, 1993): a p-value that allows for all sums is the share of
flips in which the largest is at least as large, and intervals that hold together reach as far as 95% of the largest.

This is done in one step, not step by step from the largest, so that an interval excludes 0 just where its p-value says.
"""

from typing import NamedTuple

import numpy as np

from ...scoring.match_sums import share
from ...support.arrays import chunks
from ...support.work import progress_bar
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
    n_sequences, n_sums = contributions.shape
    bits = np.random.default_rng([seed, 2]).integers(0, 256, (FLIPS, -(-n_sequences // 8)), np.uint8)
    observed = np.abs(contributions.sum(axis=0))
    least = observed * (1 - BLUR)
    n_as_large, unit, largest = np.ones(n_sums), np.zeros(n_sums), np.zeros(FLIPS + 1)
    with progress_bar(n_sums, "signs flipped", " tests") as advance:
        for first, last in chunks(np.full(n_sums, FLIPS), NUMBERS_AT_ONCE):
            part = contributions[:, first:last]
            flipped = np.concatenate(
                [observed[None, first:last], _flipped(part, bits)]
            )  # (flips, sums), observed first
            n_as_large[first:last] += np.count_nonzero(flipped[1:] >= least[first:last], axis=0)
            unit[first:last] = _units(part, np.partition(flipped, -FURTHER, axis=0)[-FURTHER])
            largest = np.maximum(largest, share(flipped, unit[first:last], nothing=0.0).max(axis=1))
            advance(last - first)
    ordered = np.sort(largest)
    p_adjusted = (len(ordered) - np.searchsorted(ordered, share(least, unit, nothing=0.0))) / len(ordered)
    quantile = ordered[len(ordered) - 1 - int((1 - confidence) * len(ordered) + BLUR)]
    return FlipTests(n_as_large / len(ordered), p_adjusted, np.where(unit > 0, quantile * unit, np.nan))


def _flipped(contributions: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """How far the sums of contributions (sequences, sums) are from 0 after flips, (flips, sums).

    `bits` has a bit for the sign of each sequence in each flip; all signs at once would take eight times the memory.
    """
    n_sequences = len(contributions)
    answer = np.empty((len(bits), contributions.shape[1]))
    for first, last in chunks(np.full(len(bits), n_sequences), NUMBERS_AT_ONCE):
        signs = np.unpackbits(bits[first:last], axis=1)[:, :n_sequences] * 2.0 - 1.0
        np.matmul(signs, contributions, out=answer[first:last])
    return np.abs(answer, out=answer)


def _units(contributions: np.ndarray, furthest: np.ndarray) -> np.ndarray:
    """What each sum exceeds in one flip of 1,000, (sums,); of a sum of too few sequences, what one of many would.

    So few that more than one flip in 1,000 goes as far as any would otherwise often be the largest.
    """
    too_few = 2.0 ** (1 - np.count_nonzero(contributions, axis=0)) > FURTHER / FLIPS
    return np.where(too_few, OF_MANY * np.sqrt((contributions**2).sum(axis=0)), furthest)
