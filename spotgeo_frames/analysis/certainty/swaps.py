"""Tests of differences between pairs of submissions, by swapping what they made of whole sequences.

If two submissions are equally good, swapping their results for some sequences changes their difference by chance only.
The difference of a metric is taken in units of its standard error, which is computed again after each swap: t = D / s
(Janssen, 1997, doi:10.1016/S0167-7152(97)00043-6; Chung and Romano, 2013, doi:10.1214/13-AOS1090). Without that, two
submissions that are equal in the metric but not in how much they predict differ too often. s is linearised: with the
gradients g of the metric by the sums, at the sums a and b of both, sequence i contributes z_i = g(a) a_i - g(b) b_i,
and s² = n / (n - 1) * (sum of z² - (sum of z)² / n).

With a_i + b_i = c_i, which no swap changes, and a_i - b_i = d_i, whose sign a swap changes, the sum of z² is
1/4 (g- C g- + 2 g- X g+ + g+ D g+), where g- and g+ are the difference and the sum of both gradients, C and D are the
constant sums of c_i c_i' and d_i d_i', and X is the sum of c_i d_i', each with the sign of its sequence. So all that
swaps need are sums with signs, which `ways.py` has, as the swapped sums themselves are.

With few sequences, or where errors are rare, few swaps change t, and t hardly: swaps alone then call a t of 1 small. So
a p-value is never below that of leaving out one sequence at a time, and an interval never narrower (see
`left_out_pairs.py`). docs/uncertainty.md has what that is worth.

p-values of several tests together say how often chance alone makes any of them as small. Tests of the same sequences
depend on each other, and swaps of sequences keep what they have in common. The two functions for swaps go step by step
from the strongest test (Westfall and Young, 1993), each over the tests that are left.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from ...scoring import NamedSums
from ...support import arrays
from ...tracking import track_sums
from .left_out_pairs import PairTests
from .resampling import BLUR, Matrix
from .ways import Group, Listed, ways_of

# Squared standard errors up to this share of what they are the sum of are rounding.
ROUNDING = 1e-12

# The step of numeric gradients, as a share of each sum.
STEP = 1e-5

# The count of numbers in memory at once, 8 bytes each.
NUMBERS_AT_ONCE = 1 << 21

# Up to this many sums, products of sums are added up; of more, the contribution of each sequence is computed.
MOST_SUMS = 16

# A function from sums, arrays of any leading shape by name, to M metrics, each (..., K): the metric is the mean over K
# without nulls. A sum that has K numbers, such as one for each threshold, changes only the one at its own place.
Curves = Callable[[NamedSums], Sequence[np.ndarray]]


class SwapTests(NamedTuple):
    """The tests of P pairs and M metrics, each array (P, M).

    Attributes
    ----------
    estimate
        The metric of the first minus that of the second.
    low, high
        The differences that neither test rejects; null where leaving out knows none.
    p_value
        The share of swaps with a t at least as large, the observed arrangement counted; or that of leaving out, if it
        is larger.
    p_adjusted
        The same for all pairs and metrics together (Westfall and Young, 1993).
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray


class Pair(NamedTuple):
    """The sums of a pair of submissions.

    Attributes
    ----------
    shapes
        The shape of each sum by its name: () for a number, or (K,).
    n_sequences
        How many sequences the pair has.
    both
        The sums of both together, (sequences, S); 0 for sequences of other pairs only.
    apart
        Those of the first minus those of the second, (sequences that differ, S).
    differs
        Whether each sequence differs in any pair, (sequences,).
    """

    shapes: Mapping[str, tuple[int, ...]]
    n_sequences: int
    both: np.ndarray
    apart: np.ndarray
    differs: np.ndarray


def swap_tests(
    sums: Matrix,
    pairs: Sequence[tuple[int, int]],
    n_sequences: np.ndarray,
    curves: Curves,
    leaving_out: PairTests,
    n_swaps: int,
    seed: int,
    confidence: float = 0.95,
) -> SwapTests:
    """Tests each pair and metric.

    The values of `sums` are (sequences, submissions, S); `pairs` are positions of submissions, and
    `n_sequences` says how many sequences each pair has; `leaving_out` are the tests (P, M) by leaving out sequences.
    `n_swaps` is how many ways to swap there are to be, where sequences are many (see `ways.py`).
    """
    of_side = sums.values.astype(np.float64)
    apart = [of_side[:, a] - of_side[:, b] for a, b in pairs]
    differs = np.any([difference.any(axis=1) for difference in apart], axis=0)
    ways = ways_of(differs, n_swaps, seed)
    with np.errstate(all="ignore"):
        found = [
            _statistics(Pair(sums.shapes, n, of_side[:, a] + of_side[:, b], rows[differs], differs), ways, curves)
            for (a, b), n, rows in zip(pairs, n_sequences, apart, strict=True)
        ]
    estimate, error = (np.stack([of_pair[part] for of_pair in found]) for part in (0, 1))
    statistics = np.stack([of_pair[2] for of_pair in found], axis=1)  # (swaps, pairs, metrics), the observed one first
    unknown = np.isnan(estimate)
    of_swaps = np.count_nonzero(statistics >= statistics[0] * (1 - BLUR), axis=0) / len(statistics)
    p_value = np.where(unknown, np.nan, np.maximum(of_swaps, leaving_out.p_value))
    adjusted = np.full(p_value.shape, np.nan)
    known = ~np.isnan(p_value)
    adjusted[known] = _together(statistics[:, known], p_value[known])
    reach = _reach(error, statistics, 1 - confidence)
    low = np.maximum(np.minimum(estimate - reach, leaving_out.low), -leaving_out.most)
    high = np.minimum(np.maximum(estimate + reach, leaving_out.high), leaving_out.most)
    kept = p_value > 1 - confidence + BLUR
    low, high = np.where(kept, np.minimum(low, 0), low), np.where(kept, np.maximum(high, 0), high)
    return SwapTests(estimate, low, high, p_value, adjusted)


def _statistics(pair: Pair, ways: Listed | Group, curves: Curves) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The observed difference and its standard error, (M,), and |t| of each swap, (swaps, M)."""
    n_sums = pair.both.shape[1]
    columns: list[Iterable[np.ndarray]] = [pair.apart.T]
    if n_sums <= MOST_SUMS:
        columns.append(_products(pair))
    at_once = max(ways.n_signs, n_sums**2) if n_sums <= MOST_SUMS else 16 * n_sums
    sums_of = ways.adder(columns)
    parts = []
    for first, last in arrays.chunks(np.full(ways.n_ways, at_once), NUMBERS_AT_ONCE):
        moved, *cross = sums_of(first, last)
        swapped = cross[0] if cross else ways.signs(first, last)
        parts.append(_chunk_statistics(pair, moved, swapped, curves))
    difference, error, t = (np.concatenate(column) for column in zip(*parts, strict=True))
    return difference[0], error[0], t


def _products(pair: Pair) -> Iterator[np.ndarray]:
    """The products of each sum of both together and each of the first minus the second, (sequences that differ,)."""
    return (a * b for a, b in product(pair.both[pair.differs].T, pair.apart.T))


def _chunk_statistics(
    pair: Pair, moved: np.ndarray, swapped: np.ndarray, curves: Curves
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The differences, their standard errors and |t| of some swaps, each (swaps, M).

    `moved` (swaps, S) are the swapped sums of the first minus the second, and `swapped` those of products, or signs.
    """
    total = pair.both.sum(axis=0)
    sums = np.stack([total + moved, total - moved], axis=1) / 2  # (swaps, 2, S)
    named = Matrix(sums, pair.shapes).named
    metrics = np.stack([track_sums.mean_of_known(curve) for curve in curves(named(sums))], axis=-1)
    difference = metrics[:, 0] - metrics[:, 1]
    difference[np.abs(difference) <= BLUR * np.abs(metrics).max(axis=1)] = 0.0
    gradient = gradients(named(sums), curves)
    minus, plus = gradient[:, 0] - gradient[:, 1], gradient[:, 0] + gradient[:, 1]  # (swaps, M, S)
    squares = (_added_products if len(total) <= MOST_SUMS else _added_contributions)(pair, swapped, minus, plus)
    scale = (minus**2 @ (pair.both**2).sum(axis=0) + plus**2 @ (pair.apart**2).sum(axis=0)) / 4
    centre = (minus @ total + np.einsum("nms,ns->nm", plus, moved)) / 2
    squares = (squares - centre**2 / pair.n_sequences) * (pair.n_sequences / max(pair.n_sequences - 1, 1))
    error = np.sqrt(np.where(squares <= ROUNDING * scale, 0.0, squares))
    t = np.abs(difference) / error
    return difference, error, np.where(difference == 0, 0.0, np.where(np.isnan(t), np.inf, t))


def _added_products(pair: Pair, swapped: np.ndarray, minus: np.ndarray, plus: np.ndarray) -> np.ndarray:
    """The sum of the squared contributions of all sequences, (swaps, M), from swapped products of sums."""
    n_sums = pair.both.shape[1]
    of_both, of_apart = pair.both.T @ pair.both, pair.apart.T @ pair.apart
    cross = swapped.reshape(-1, n_sums, n_sums)
    squares = ((minus @ of_both + 2 * (plus @ cross.transpose(0, 2, 1))) * minus).sum(axis=-1)
    return (squares + ((plus @ of_apart) * plus).sum(axis=-1)) / 4


def _added_contributions(pair: Pair, signs: np.ndarray, minus: np.ndarray, plus: np.ndarray) -> np.ndarray:
    """The same, sequence by sequence and metric by metric, from the signs of the swaps."""
    answer = np.empty(minus.shape[:2])
    for metric in range(minus.shape[1]):
        contribution = minus[:, metric] @ pair.both.T  # (swaps, sequences)
        contribution[:, pair.differs] += signs * (plus[:, metric] @ pair.apart.T)
        answer[:, metric] = np.einsum("ns,ns->n", contribution, contribution) / 4
    return answer


def gradients(sums: NamedSums, curves: Curves) -> np.ndarray:
    """The derivatives (..., M, S) of metrics by each of S sums, from small steps of named sums (...) or (..., K).

    At a sum of 0 the step is upwards only, because counts are not negative.
    """
    n_known = [np.count_nonzero(~np.isnan(curve), axis=-1, keepdims=True) for curve in curves(sums)]
    leading = n_known[0].shape[:-1]
    columns = []
    for name, at in sums.items():
        step = STEP * (np.abs(at).max(initial=0) or 1.0)
        above, below = at + step, np.where(np.abs(at) < step, at, at - step)
        run = (above - below).reshape(*leading, -1)
        rises = [
            np.nan_to_num(u - v)
            for u, v in zip(curves({**sums, name: above}), curves({**sums, name: below}), strict=True)
        ]
        slopes = np.zeros((*leading, len(rises), run.shape[-1]))
        for metric, rise in enumerate(rises):
            if run.shape[-1] == 1:
                slopes[..., metric, :] = rise.sum(axis=-1, keepdims=True) / run / n_known[metric]
            elif rise.shape[-1] == run.shape[-1]:
                slopes[..., metric, :] = rise / run / n_known[metric]
        columns.append(slopes)
    return np.concatenate(columns, axis=-1)


def _together(statistics: np.ndarray, p_values: np.ndarray) -> np.ndarray:
    """The p-values (tests,) of all tests together, from |t| of swaps (swaps, tests).

    The larger p-values of leaving out are adjusted by the swaps' least p-values, or by Holm's method where p-values are
    smaller than swaps can tell. A test that all swaps answer alike, such as that of a slice in one sequence, cannot
    reject: its p-value is 1, and it says nothing of the others, whose |t| it would exceed in every swap.
    """
    observed, answer = statistics[0], np.ones(len(p_values))
    can_reject = ((statistics < observed * (1 - BLUR)) | (statistics > observed * (1 + BLUR))).any(axis=0)
    if not can_reject.any():
        return answer
    statistics, p_values = statistics[:, can_reject], p_values[can_reject]
    of_leaving_out = np.fmin(by_least(p_values, p_values_of_swaps(statistics)), holm(p_values))
    answer[can_reject] = np.fmax(by_largest(statistics), of_leaving_out)
    return answer


def _reach(error: np.ndarray, statistics: np.ndarray, level: float) -> np.ndarray:
    """How far from the estimates the swaps do not reject at this level."""
    n_swaps = len(statistics)
    place = n_swaps - 1 - int(level * n_swaps + BLUR)
    quantile = np.partition(statistics, place, axis=0)[place]
    with np.errstate(invalid="ignore"):
        return np.where(error > 0, quantile * error, np.where(np.isinf(quantile), np.inf, 0.0))


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
