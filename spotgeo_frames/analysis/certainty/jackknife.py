"""Confidence intervals by leaving out one sequence at a time, for every group and metric at once.

A metric R is a ratio of sums over sequences, weighted by its denominator w. Leaving out sequence i changes it by d_i;
for a ratio of sums of y and w this is -(y_i - R w_i) / (W - w_i), W being the sum of w. The variance of R is
V = (n - 1) / n * sum of d_i² over the n sequences with w > 0. The interval of a share is that of its logit,
logit R ± t sqrt(V) / (R (1 - R)), so it stays between 0 and 1. The logit is that of the estimate: with rare errors the
metric without one sequence is often exactly 1, whose logit is infinite. A metric with one end, such as an error from 0
on, has the interval of the logarithm of its distance from that end. t has the degrees of freedom of Bell and McCaffrey
(2002, Survey Methodology 28, 169-181), which count how many sequences the variance really rests on. Where the estimate
is 0 or 1, or all sequences agree, the bounds are those of Clopper and Pearson (1934, doi:10.1093/biomet/26.4.404) with
n units (after Korn and Graubard, 1998, Survey Methodology 24, 193-201).

Where large sequences are harder, R is skewed, and most intervals that miss the true number are too good. So each bound
also reaches as far as that of Hall's correction for skewness. Of a share, that goes no further than if the sequences
that are not perfect, as large a share of all as they may be (Clopper and Pearson), had found nothing.

Student's t is corrected for skewness by the cubic transformation of Hall (1992, J. R. Stat. Soc. B 54, 221-228). Of a
mean of n numbers with the standardised third moment g, t = (mean - true mean) / standard error is skewed the other
way. With k = g / sqrt(n), the transformed x = t + k t² / 3 + k² t³ / 27 + k / 6 nearly has Student's distribution. It
rises with t throughout, so bounds come from its inverse, t = 3 / k ((1 + k (x - k / 6))^(1/3) - 1).

k comes from the changes d when a sequence is left out: -(sum of d³) / (sum of d²)^1.5. Its size is at most MOST / t, t
being that of a 95% interval: beyond, the cube root takes reaches to many standard errors at once, and in simulations
intervals hold no more often.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...scoring import NamedSums, sequence_sums
from ...support import arrays, special_functions

# Standard errors up to this share of the metric's scale are rounding, because leaving out changes sums by rounding.
ROUNDING = 1e-9

# A function from sums.
Function = Callable[[NamedSums], np.ndarray]

# The largest size of the skewness that is corrected for, times the t of a 95% interval.
MOST = 0.8

# Below this size there is nothing to correct, and the formulas divide by it.
LEAST = 1e-8


class Functions(NamedTuple):
    """M metrics that are functions of the same sums.

    Attributes
    ----------
    values
        A function from sums, arrays of any leading shape by name, to the metrics, (..., M); null where undefined.
    weights
        A function from the sums of sequences to the weight of each in each metric, its denominator, (..., M). Of a
        total, the weight of every sequence is 1.
    least, greatest
        The range of each metric, (M,); infinite where it is not known. Of a total, that of one sequence.
    totals
        Whether each metric is a total over sequences, (M,), as kelvins_mse is.
    """

    values: Function
    weights: Function
    least: np.ndarray
    greatest: np.ndarray
    totals: np.ndarray


def single_share(value: Function, weight: Function) -> Functions:
    """A single metric from 0 to 1, as `value` and `weight` have it, without an axis of metrics."""
    return Functions(
        lambda sums: value(sums)[..., None],
        lambda sums: weight(sums)[..., None],
        np.zeros(1),
        np.ones(1),
        np.zeros(1, bool),
    )


class Intervals(NamedTuple):
    """The intervals of G groups and M metrics, each array (G, M).

    Attributes
    ----------
    estimate, low, high
        The metrics and their bounds; the bounds are null where they are not known.
    error
        The standard error.
    n_weighted
        The count of sequences with a weight above 0.
    n_effective
        (sum of w)² / sum of w²: of as many equal sequences the weights would be as even.
    degrees_of_freedom
        Those of the t distribution.
    largest_share
        The greatest weight of a sequence, as a share of all.
    skewness
        k of the correction for skewness.
    reason
        Why bounds are null; None where they are not, and until somebody says it.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    error: np.ndarray
    n_weighted: np.ndarray
    n_effective: np.ndarray
    degrees_of_freedom: np.ndarray
    largest_share: np.ndarray
    skewness: np.ndarray
    reason: np.ndarray


def jackknife(
    sums: NamedSums,
    group: np.ndarray,
    n_groups: int,
    functions: Functions,
    confidence: float = 0.95,
    further: np.ndarray | float = 0.0,
) -> Intervals:
    """Computes the intervals of each group and metric.

    `sums` are those of each sequence within each group, arrays (C, ...) by name; `group` is the group of each of these,
    from 0 to n_groups - 1. `confidence` is the share of such intervals that hold the true value. `further` (G, M) is
    another standard error, of what sequences do not tell.
    """
    with np.errstate(all="ignore"):
        estimate, changes, weights = left_out(sums, group, n_groups, functions)
        n_weighted = sequence_sums.added_rows(weights > 0, group, n_groups)
        squares = sequence_sums.added_rows(changes**2, group, n_groups)
        error = np.hypot(np.sqrt((n_weighted - 1) / n_weighted * squares), further)
        freedom = degrees_of_freedom(weights, group, n_groups)
        skewness = skewness_of(squares, sequence_sums.added_rows(changes**2 * changes, group, n_groups), freedom)
        total = sequence_sums.added_rows(weights, group, n_groups)
        n_effective = total**2 / sequence_sums.added_rows(weights**2, group, n_groups)
        largest = np.zeros_like(total)
        np.maximum.at(largest, group, weights)
        scale = np.where(functions.totals, n_weighted, 1.0)
        ends = functions.least * scale, functions.greatest * scale
        low, high = bounds(estimate, error, freedom, n_weighted, *ends, confidence)
        own = estimate[group] - changes * (total[group] - weights) / weights  # of each sequence by itself
        furthest = _furthest(own, weights, total, group, n_effective, *ends, skewness, confidence)
        skewed = _scaled(estimate, error, freedom, *ends, confidence, skewness)
        is_known = (error > 0) & ~np.isnan(low)
        low = np.where(is_known, np.fmin(low, np.fmax(skewed[0], furthest[0])), low)
        high = np.where(is_known, np.fmax(high, np.fmin(skewed[1], furthest[1])), high)
        share, reason = largest / total, np.full(estimate.shape, None, object)
        return Intervals(estimate, low, high, error, n_weighted, n_effective, freedom, share, skewness, reason)


def bounds(
    estimate: np.ndarray,
    error: np.ndarray,
    freedom: np.ndarray,
    n_units: np.ndarray,
    least: np.ndarray,
    greatest: np.ndarray,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of metrics from their standard errors, degrees of freedom and ranges; null with fewer than two units.

    All are arrays of one shape. Metrics with a range from `least` to `greatest` get the interval of their logit, those
    with one end that of the logarithm of their distance from it, others the plain one. With no error, and at the ends
    of a range, the bounds are those of a share of `n_units`; at the only end, nothing is known of them.
    """
    low, high = _scaled(estimate, error, freedom, least, greatest, confidence, np.zeros_like(error))
    width = greatest - least
    ranged, share = np.isfinite(width), np.clip((estimate - least) / width, 0.0, 1.0)
    certain = error <= ROUNDING * np.where(ranged, width, np.abs(estimate))
    certain |= ranged & ((share <= ROUNDING) | (share >= 1 - ROUNDING))
    units, start, length = (np.broadcast_to(of, share.shape)[certain] for of in (n_units, least, width))
    for bound, of_share in zip((low, high), clopper_pearson(share[certain], units, confidence), strict=True):
        bound[certain] = start + length * of_share
    unknown = np.isnan(estimate + error) | (n_units < 2) | (certain & ~ranged)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def _scaled(
    estimate: np.ndarray,
    error: np.ndarray,
    freedom: np.ndarray,
    least: np.ndarray,
    greatest: np.ndarray,
    confidence: float,
    skewness: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds on the scale that suits the range of each metric: that of the logit, of a logarithm, or its own."""
    special = special_functions()
    below, above = (reach * error for reach in reaches(special.stdtrit(freedom, (1 + confidence) / 2), skewness))
    width = greatest - least
    share = np.clip((estimate - least) / width, 0.0, 1.0)
    middle, slope = special.logit(share), width * share * (1 - share)
    over, under = estimate - least, greatest - estimate
    ranges = [np.isfinite(width), np.isfinite(least), np.isfinite(greatest)]
    of_low = [least + width * special.expit(middle - below / slope), least + over * arrays.exp(-below / over)]
    of_high = [least + width * special.expit(middle + above / slope), least + over * arrays.exp(above / over)]
    low = np.select(ranges, [*of_low, greatest - under * arrays.exp(below / under)], estimate - below)
    high = np.select(ranges, [*of_high, greatest - under * arrays.exp(-above / under)], estimate + above)
    return low, high


def _furthest(
    own: np.ndarray,
    weights: np.ndarray,
    total: np.ndarray,
    group: np.ndarray,
    n_effective: np.ndarray,
    least: np.ndarray,
    greatest: np.ndarray,
    skewness: np.ndarray,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds if sequences that are not at one end were all at the other; infinite where that limits nothing.

    `own` are the metrics of sequences by themselves and `weights` their weights, both (C, M); the rest is (G, M), such
    as the `total` of the weights. As many sequences as their shares allow for are taken to be off the end. Skewness
    moves only the bound on its side.
    """
    width = greatest - least
    tolerance = ROUNDING * width[group]

    def most_off(is_off: np.ndarray, where: np.ndarray) -> np.ndarray:
        share = sequence_sums.added_rows(weights * is_off, group, len(total)) / total
        where = where & np.isfinite(width) & (share < 1)
        most = np.full_like(share, np.inf)
        most[where] = clopper_pearson(share[where], n_effective[where], confidence)[1]
        return most

    low = greatest - width * most_off(~(own >= greatest[group] - tolerance), skewness < 0)
    high = least + width * most_off(~(own <= least[group] + tolerance), skewness > 0)
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def clopper_pearson(share: np.ndarray, n_units: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """The exact bounds of a share of `n_units` independent units; the count, share times units, may be broken."""
    special = special_functions()
    tail, found = (1 - confidence) / 2, np.round(n_units * share, 9)
    missed = n_units - found
    low = np.where(found > 0, special.betaincinv(np.where(found > 0, found, 1.0), missed + 1, tail), 0.0)
    high = np.where(missed > 0, special.betaincinv(found + 1, np.where(missed > 0, missed, 1.0), 1 - tail), 1.0)
    return low, high


def degrees_of_freedom(weights: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """The degrees of freedom of the variance of weighted means, (G, M), from the weights (C, M) of sequences.

    tr(A)² / tr(A²) of Bell and McCaffrey (2002), the mean of that under two working variances of a sequence's own
    ratio: constant, as where sequences differ, and 1 / w, as where only objects do; between 1 and n - 1.
    """
    total = sequence_sums.added_rows(weights, group, n_groups)
    leverage = np.where(weights > 0, weights / (total[group] - weights), 0.0) ** 2
    n_weighted = sequence_sums.added_rows(weights > 0, group, n_groups)
    found = [
        _satterthwaite(weights, variance, leverage, total, group, n_groups)
        for variance in (np.ones_like(weights), np.where(weights > 0, 1 / weights, 0.0))
    ]
    return np.clip((found[0] + found[1]) / 2, 1.0, np.maximum(n_weighted - 1, 1.0))


def _satterthwaite(
    weights: np.ndarray,
    variance: np.ndarray,
    leverage: np.ndarray,
    total: np.ndarray,
    group: np.ndarray,
    n_groups: int,
) -> np.ndarray:
    """tr(A)² / tr(A²) under a working variance (C, M) of each sequence's ratio.

    The residuals from the weighted mean have the covariance variance_i [i = j] - b_i - b_j + c, so both traces are sums
    over sequences and no (sequences, sequences) matrix is needed.
    """

    def added(values: np.ndarray) -> np.ndarray:
        return sequence_sums.added_rows(values, group, n_groups)

    b = weights * variance / total[group]
    c = added(weights * b) / total
    off = c[group] - 2 * b
    trace = added(leverage * (variance + off))
    sums = added(leverage), added(leverage * b), added(leverage * b**2)
    of_pairs = c**2 * sums[0] ** 2 + 2 * sums[0] * sums[2] - 4 * c * sums[0] * sums[1] + 2 * sums[1] ** 2
    return trace**2 / (added(leverage**2 * variance * (variance + 2 * off)) + of_pairs)


def left_out(
    sums: NamedSums, group: np.ndarray, n_groups: int, functions: Functions
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same as `without_each`, but rows without a weight change nothing."""
    estimate, changes, weights = without_each(sums, group, n_groups, functions)
    return estimate, np.where(weights > 0, changes, 0.0), weights


def without_each(
    sums: NamedSums, group: np.ndarray, n_groups: int, functions: Functions
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The metrics (G, M), and how each changes without each row, and the weights of rows, both (C, M)."""
    estimate, left = map(functions.values, sequence_sums.each_left_out(sums, group, n_groups))
    weights = np.where(functions.totals, 1.0, functions.weights(sums))
    n = sequence_sums.added_rows(weights > 0, group, n_groups)
    # A total without one sequence is that of n - 1 sequences.
    left = np.where(functions.totals, left * (n / (n - 1))[group], left)
    return estimate, left - estimate[group], weights


def skewness_of(squares: np.ndarray, cubes: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """k from the sums of the squared and the cubed changes when a sequence is left out; 0 where nothing changes.

    >>> skewness_of(np.array([4.0, 0.0]), np.array([-2.0, 0.0]), np.array([20.0, 20.0])).tolist()
    [0.25, 0.0]
    """
    special = special_functions()
    with np.errstate(invalid="ignore", divide="ignore"):
        k, most = -cubes / (squares * np.sqrt(squares)), MOST / special.stdtrit(freedom, 0.975)
    return np.nan_to_num(np.clip(k, -most, most), posinf=0.0, neginf=0.0)


def reaches(quantile: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far the interval reaches below and above an estimate, in standard errors; `quantile` is that of Student's t.

    >>> below, above = reaches(np.array([2.0, 2.0]), np.array([0.0, 0.3]))
    >>> below.round(2).tolist(), above.round(2).tolist()
    ([2.0, 1.66], [2.0, 2.73])
    """
    return _inverse(quantile, k), -_inverse(-quantile, k)


def transformed(t: np.ndarray, k: np.ndarray) -> np.ndarray:
    """What t is where nothing is skewed.

    >>> transformed(np.array([2.0, 2.0]), np.array([0.0, 0.3])).round(2).tolist()
    [2.0, 2.48]
    """
    kt = k * t
    return t + t * kt / 3 + t * kt**2 / 27 + k / 6  # products, since powers of three round otherwise on some processors


def _inverse(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    special = special_functions()  # whose cube root rounds alike on all processors, unlike NumPy's
    small = np.abs(k) < LEAST
    divisor = np.where(small, 1.0, k)
    return np.where(small, x, 3 / divisor * (special.cbrt(1 + k * (x - k / 6)) - 1))
