"""Tests of differences between pairs of submissions, by swapping what they made of whole sequences.

If two submissions are equally good, swapping their results for some sequences changes their difference by chance only.
The difference of a metric is taken in units of its standard error, which is computed again after each swap: t = D / s
(Janssen, 1997, doi:10.1016/S0167-7152(97)00043-6; Chung and Romano, 2013, doi:10.1214/13-AOS1090). Without that, two
submissions that are equal in the metric but not in how much they predict differ too often. s is linearised: with the
gradients g of the metric by the sums, at the sums a and b of both, sequence i contributes z_i = g(a) a_i - g(b) b_i,
and s² = n / (n - 1) * (sum of z² - (sum of z)² / n).

With a_i + b_i = c_i, which no swap changes, and a_i - b_i = d_i, whose sign a swap changes, the sum of z² is
1/4 (g- C g- + 2 g- X g+ + g+ D g+), where g- and g+ are the difference and the sum of both gradients, C and D are the
constant sums of c_i c_i' and d_i d_i', and X is the sum of c_i d_i', each with the sign of its sequence. So the swaps
are one product of signs and a matrix, as the swapped sums themselves are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..support.chunks import chunks

# Differences and statistics are equal up to this share of them, because swapping changes the order of additions.
BLUR = 1e-9

# Squared standard errors up to this share of what they are the sum of are rounding.
ROUNDING = 1e-12

# All swaps are made of up to this many sequences; of more they are drawn.
MOST_EXACT = 12

# With fewer sequences no p-value can be 0.05, so there are no 95% intervals.
FEWEST_SEQUENCES = 6

# The step of numeric gradients, as a share of each sum.
STEP = 1e-5

# The count of signs, one for each sequence and swap, that are in memory at once, 8 bytes each.
SIGNS_AT_ONCE = 1 << 21

# Up to this many sums, products of sums are added by one product of matrices; of more, each sequence's contribution.
MOST_SUMS = 16

# A function from sums, arrays (..., K) by name, to M metrics; each (..., K), its value being the mean over K.
Curves = Callable[[Mapping[str, np.ndarray]], Sequence[np.ndarray]]


class SwapTests(NamedTuple):
    """The tests of P pairs and M metrics, each array (P, M).

    Attributes
    ----------
    estimate
        The metric of the first minus that of the second.
    low, high
        The differences that the test does not reject; null with fewer than FEWEST_SEQUENCES.
    p_value
        The share of swaps with a t at least as large, the observed arrangement counted.
    p_adjusted
        The same for all pairs and metrics together, by the largest t of each swap (Westfall and Young, 1993).
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray


class Sides(NamedTuple):
    """Both sides of a pair: sums (N, S) of each sequence, as their sum and their difference."""

    both: np.ndarray
    apart: np.ndarray


def swap_tests(
    sums: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    values: Callable[[np.ndarray], np.ndarray],
    n_swaps: int,
    seed: int,
    confidence: float = 0.95,
) -> SwapTests:
    """Tests each pair and metric.

    `sums` are (sequences, submissions, S); `pairs` are positions of submissions; `values` computes metrics (..., M) from
    sums (..., S). `n_swaps` are drawn where there are more than MOST_EXACT sequences that differ.
    """
    sides = [Sides(sums[:, a] + sums[:, b], sums[:, a] - sums[:, b]) for a, b in pairs]
    differs = np.any([side.apart.any(axis=1) for side in sides], axis=0)
    signs = _signs(int(np.count_nonzero(differs)), n_swaps, seed)
    with np.errstate(all="ignore"):
        found = [_statistics(side, differs, signs, values) for side in sides]
    estimate = np.stack([of_pair[0] for of_pair in found])
    error = np.stack([of_pair[1] for of_pair in found])
    statistics = np.stack([of_pair[2] for of_pair in found], axis=1)  # (swaps, pairs, metrics), the observed one first
    n_as_large = np.count_nonzero(statistics >= statistics[0] * (1 - BLUR), axis=0)
    p_value = n_as_large / len(statistics)
    shape = p_value.shape
    unknown = np.isnan(estimate)
    adjusted = _adjusted(statistics.reshape(len(statistics), -1), unknown.ravel()).reshape(shape)
    low, high = _inverted(estimate, error, statistics, p_value, 1 - confidence)
    few = len(sums) < FEWEST_SEQUENCES
    p_value, adjusted = (np.where(unknown, np.nan, p) for p in (p_value, adjusted))
    low, high = (np.where(unknown | few, np.nan, bound) for bound in (low, high))
    return SwapTests(estimate, low, high, p_value, adjusted)


def _signs(n_sequences: int, n_swaps: int, seed: int) -> np.ndarray:
    """Signs (swaps, sequences) of 1 and -1, int8: all there are of few sequences, otherwise drawn; the first has 1."""
    if n_sequences <= MOST_EXACT:
        swapped = np.arange(1 << n_sequences)[:, None] >> np.arange(n_sequences) & 1
    else:
        random = np.random.default_rng([seed, 1])
        swapped = np.unpackbits(random.integers(0, 256, (n_swaps, -(-n_sequences // 8)), np.uint8), axis=1)
        swapped = swapped[:, :n_sequences]
        swapped[0] = 0
    return 1 - 2 * swapped.astype(np.int8)


def _statistics(
    sides: Sides, differs: np.ndarray, signs: np.ndarray, values: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The observed difference and its standard error, (M,), and |t| of each swap, (swaps, M)."""
    both, apart = sides.both, sides.apart[differs]
    parts = []
    for first, last in chunks(np.full(len(signs), max(len(apart), 1)), SIGNS_AT_ONCE):
        sign = signs[first:last].astype(np.float64)
        total, moved = both.sum(axis=0), sign @ apart
        sums = np.stack([total + moved, total - moved], axis=1) / 2  # (swaps, 2, S)
        metrics = values(sums)
        difference = metrics[:, 0] - metrics[:, 1]
        difference[np.abs(difference) <= BLUR * np.abs(metrics).max(axis=1)] = 0.0
        gradient = gradients(sums, values, total)
        slopes = gradient[:, 0] - gradient[:, 1], gradient[:, 0] + gradient[:, 1]  # (swaps, M, S)
        squares, scale = _squares(both, apart, differs, sign, slopes)
        centre = (np.einsum("nms,s->nm", slopes[0], total) + np.einsum("nms,ns->nm", slopes[1], moved)) / 2
        n = len(both)
        squares = (squares - centre**2 / n) * (n / (n - 1)) if n > 1 else np.zeros_like(squares)
        error = np.sqrt(np.where(squares <= ROUNDING * scale, 0.0, squares))
        t = np.abs(difference) / error
        t = np.where(difference == 0, 0.0, np.where(np.isnan(t), np.inf, t))
        parts.append((difference, error, t))
    difference, error, t = (np.concatenate(column) for column in zip(*parts, strict=True))
    return difference[0], error[0], t


def _squares(
    both: np.ndarray,
    apart: np.ndarray,
    differs: np.ndarray,
    sign: np.ndarray,
    slopes: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """The sum of the squared contributions of all sequences, (swaps, M), and the size of what it is the sum of."""
    minus, plus = slopes
    n_sums = both.shape[1]
    of_both, of_apart = both.T @ both, apart.T @ apart
    products = (both[differs][:, :, None] * apart[:, None, :]).reshape(len(apart), -1)
    cross = (sign @ products).reshape(-1, n_sums, n_sums)
    squares = np.einsum("nms,nms->nm", minus @ of_both, minus) + np.einsum("nms,nms->nm", plus @ of_apart, plus)
    squares += 2 * np.einsum("nms,nms->nm", minus @ cross, plus)
    scale = minus**2 @ np.diag(of_both) + plus**2 @ np.diag(of_apart)
    return squares / 4, scale / 4


def gradients(sums: np.ndarray, values: Callable[[np.ndarray], np.ndarray], scale: np.ndarray) -> np.ndarray:
    """The derivatives (..., M, S) of metrics by sums (..., S), from small steps of each sum.

    `scale` (S,) says how large each sum can be. At a sum of 0 the step is upwards only, because sums are not negative.
    """
    columns = []
    for position, step in enumerate(STEP * np.where(scale == 0, 1.0, np.abs(scale))):
        above, below = sums.copy(), sums.copy()
        above[..., position] += step
        below[..., position] -= np.where(np.abs(sums[..., position]) < step, 0.0, step)
        rise = values(above) - values(below)
        columns.append(rise / (above - below)[..., position, None])
    return np.stack(columns, axis=-1)


def _adjusted(statistics: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """The p-values of statistics (swaps, tests) together, step by step from the largest (Westfall and Young, 1993)."""
    known = np.flatnonzero(~unknown)
    order = known[np.argsort(statistics[0, known], kind="stable")]  # the least first
    largest = np.maximum.accumulate(statistics[:, order], axis=1)
    p_values = np.count_nonzero(largest >= statistics[0, order] * (1 - BLUR), axis=0) / len(statistics)
    adjusted = np.full(len(unknown), np.nan)
    adjusted[order] = np.maximum.accumulate(p_values[::-1])[::-1]
    return adjusted


def _inverted(
    estimate: np.ndarray, error: np.ndarray, statistics: np.ndarray, p_value: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of differences: as far from the estimate as the test at this level does not reject."""
    n_swaps = len(statistics)
    place = n_swaps - 1 - int(level * n_swaps + BLUR)
    quantile = np.partition(statistics, place, axis=0)[place]
    reach = np.where(error > 0, quantile * error, np.where(np.isinf(quantile), np.inf, 0.0))
    low, high = estimate - reach, estimate + reach
    kept = p_value > level + BLUR
    return np.where(kept, np.minimum(low, 0), low), np.where(kept, np.maximum(high, 0), high)
