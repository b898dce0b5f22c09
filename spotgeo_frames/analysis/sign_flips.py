"""Tests of many sums together, by flipping the signs of what each sequence contributes.

If a sum differs from 0 by chance only, each sequence could as well have contributed the opposite. So the signs of
sequences are flipped at random, the same ones for all sums, which keeps what the sums have in common. Each sum is taken
in units of the root of the sum of its squared contributions, which no flip changes; so all flips are one product of
signs and a matrix. The largest of all in each flip says how far the largest goes by chance (max-T of Westfall and
Young, 1993): a p-value that allows for all sums is the share of flips in which the largest is at least as large, and
sums less far away than 95% of the largest ones are inside intervals that hold together.

This is done in one step, not step by step from the largest, so that an interval excludes 0 just where its p-value says.
"""

from typing import NamedTuple

import numpy as np

from ..support.chunks import chunks
from ..support.progress import progress_bar
from .resampling import BLUR

# How often signs are flipped.
FLIPS = 10_000

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
    scale = np.sqrt((contributions**2).sum(axis=0))
    units = contributions / np.where(scale > 0, scale, 1.0)
    observed = np.abs(units.sum(axis=0))
    least = observed * (1 - BLUR)
    random = np.random.default_rng([seed, 2])
    n_as_large, largest = np.ones(len(scale)), [observed.max(keepdims=True)]
    with progress_bar(FLIPS, "signs flipped", " flips") as advance:
        for first, last in chunks(np.full(FLIPS, sum(units.shape)), NUMBERS_AT_ONCE):
            flipped = np.abs(_signs(random, last - first, len(units)) @ units)
            n_as_large += np.count_nonzero(flipped >= least, axis=0)
            largest.append(flipped.max(axis=1))
            advance(last - first)
    ordered = np.sort(np.concatenate(largest))
    p_adjusted = 1 - np.searchsorted(ordered, least) / len(ordered)
    quantile = ordered[len(ordered) - 1 - int((1 - confidence) * len(ordered) + BLUR)]
    return FlipTests(n_as_large / len(ordered), p_adjusted, np.where(scale > 0, quantile * scale, np.nan))


def _signs(random: np.random.Generator, n_flips: int, n_sequences: int) -> np.ndarray:
    """Random signs (flips, sequences), 1.0 or -1.0."""
    drawn = random.integers(0, 256, (n_flips, -(-n_sequences // 8)), np.uint8)
    return np.unpackbits(drawn, axis=1)[:, :n_sequences] * 2.0 - 1.0
