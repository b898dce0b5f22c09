"""Tests of differences between pairs of submissions, by leaving out one sequence at a time.

The difference D of a metric changes by d_i = d_i(a) - d_i(b) without sequence i, and its standard error s is that of
the jackknife, s² = (n - 1) / n * sum of d_i². D / s has Student's distribution, with the degrees of freedom of Bell and
McCaffrey, corrected for skewness (see `jackknife.py`).

That trusts what the sequences have shown. It is not enough where few of them show anything:

- If few sequences differ at all, nothing tells by how much others would. The difference is then at most the share of
  sequences that may favour one side (Clopper and Pearson, 1934), times the range of the metric.
- If fewer than FEWEST_OFF sequences are not perfect in one submission, or not hopeless, others may be so altogether.
  The interval then also allows for the share of such that there may be.
"""

from typing import NamedTuple

import numpy as np

from ...scoring import NamedSums
from ...support import special_functions
from .jackknife import (
    ROUNDING,
    Functions,
    clopper_pearson,
    degrees_of_freedom,
    left_out,
    reaches,
    skewness_of,
    transformed,
)
from .reasons import ALL_DIFFER_ALIKE, NOT_DEFINED_FOR_ONE, NOT_DEFINED_WITHOUT_ONE, first_reasons

# With fewer sequences off an end of a metric's range, nothing tells how far off others may be.
FEWEST_OFF = 4


class LeftOut(NamedTuple):
    """What C sequences do to M metrics of one submission.

    Attributes
    ----------
    value
        The metrics of all sequences, (M,).
    changes
        How they change without each sequence, (C, M).
    own
        The metrics of each sequence by itself, (C, M), null where undefined; of a total, times the count of sequences.
    weights
        The weight of each sequence, (C, M).
    least, greatest
        The range of each metric, (M,).
    """

    value: np.ndarray
    changes: np.ndarray
    own: np.ndarray
    weights: np.ndarray
    least: np.ndarray
    greatest: np.ndarray


class PairTests(NamedTuple):
    """The tests of M differences, each array (M,).

    Attributes
    ----------
    estimate
        The metrics of the first minus those of the second.
    low, high
        Their bounds; null where nothing is known of them.
    p_value
        Of a two-sided test that the difference is 0.
    most
        How far from 0 a difference may be; infinite where nothing limits it.
    reason
        Why bounds are null; None where they are not.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    most: np.ndarray
    reason: np.ndarray


def left_out_of(sums: NamedSums, functions: Functions) -> LeftOut:
    """What sequences do to metrics, from their sums, (C, ...) by name."""
    n_cells = len(next(iter(sums.values())))
    scale = np.where(functions.totals, n_cells, 1.0)
    with np.errstate(all="ignore"):
        value, changes, weights = left_out(sums, np.zeros(n_cells, np.int64), 1, functions)
        own = functions.values(sums) * scale
    return LeftOut(value[0], changes, own, weights, functions.least * scale, functions.greatest * scale)


def least_p_value(n_differ: np.ndarray) -> np.ndarray:
    """The least p-value of a test that swaps sequences of which so many differ: all on one side, or on the other."""
    return np.minimum(np.ldexp(1.0, 1 - n_differ), 1.0)


def pair_tests(a: LeftOut, b: LeftOut, confidence: float, *, is_alone: bool = False) -> PairTests:
    """Tests the differences of two submissions on the same sequences.

    A test that `is_alone`, without one of swaps beside it, counts only where it holds without the correction for
    skewness, too: in simulations, it is wrong too often otherwise.
    """
    with np.errstate(all="ignore"):
        estimate, width = a.value - b.value, a.greatest - a.least
        shares = (np.nan_to_num(_shares(a)) + np.nan_to_num(_shares(b))) / 2
        n = (shares > 0).sum(axis=0)
        changes = np.where(shares > 0, a.changes - b.changes, 0.0)
        squares = (changes**2).sum(axis=0)
        error = np.sqrt((n - 1) / n * squares)
        error[error <= ROUNDING * np.where(np.isfinite(width), width, np.abs(estimate))] = 0.0
        freedom = degrees_of_freedom(shares, np.zeros(len(shares), np.int64), 1)[0]
        k = skewness_of(squares, (changes**2 * changes).sum(axis=0), freedom)
        low, high, p_value = _student(estimate, error, freedom, k, confidence)
        if is_alone:
            plain = _student(estimate, error, freedom, np.zeros_like(k), confidence)
            low, high, p_value = np.fmin(low, plain[0]), np.fmax(high, plain[1]), np.fmax(p_value, plain[2])
        for of, sign in ((a, 1.0), (b, -1.0)):
            low, high, p_value = _allowing_for_unseen(of, sign, estimate, (low, high, p_value), confidence)
        ahead, behind = _sides(a, b)
        n_differ = (ahead | behind).sum(axis=0)
        few = least_p_value(n_differ) > 1 - confidence
        n_effective = 1 / (shares**2).sum(axis=0)
        most = [clopper_pearson((shares * side).sum(axis=0), n_effective, confidence)[1] for side in (behind, ahead)]
        low = np.where(few, np.fmin(low, -width * most[0]), low)
        high = np.where(few, np.fmax(high, width * most[1]), high)
        unlimited = ~np.isfinite(width)
    only = [f"only {few_of} of {of} sequences differ" for few_of, of in zip(n_differ, n, strict=True)]
    sequences = ["1 sequence is" if of == 1 else f"{of} sequences are" for of in n]
    small = [f"swapping gives no p-value below {p:.2g}" for p in least_p_value(n)]
    conditions = [
        (np.isnan(estimate), NOT_DEFINED_FOR_ONE),
        (np.isnan(error) & (n > 1), NOT_DEFINED_WITHOUT_ONE),
        (
            least_p_value(n) > 1 - confidence,
            [f"{which} too few: {p}" for which, p in zip(sequences, small, strict=True)],
        ),
        (few & unlimited, [f"{which}, and nothing limits by how much others do" for which in only]),
        ((error == 0) & (estimate != 0), ALL_DIFFER_ALIKE),
    ]
    reason = first_reasons(np.full(len(n), None, object), conditions)
    known = np.array([text is None for text in reason], bool)
    low, high = (np.where(known, np.clip(bound, -width, width), np.nan) for bound in (low, high))
    untested = np.isnan(estimate) | (np.isnan(error) & (n > 1))
    p_value = np.where(untested, np.nan, np.fmax(p_value, least_p_value(n_differ)))
    return PairTests(estimate, low, high, p_value, width, reason)


def none_of(found: PairTests) -> PairTests:
    """The tests of submissions that are the same: differences of 0 where the metrics are defined."""
    none = np.where(np.isnan(found.estimate), np.nan, 0.0)
    reason = found.reason.copy()
    reason[none == 0] = None
    return PairTests(none, none, none, none + 1.0, found.most, reason)


def _shares(of: LeftOut) -> np.ndarray:
    """The weights of sequences as shares of all, (C, M)."""
    return of.weights / of.weights.sum(axis=0)


def _student(
    estimate: np.ndarray, error: np.ndarray, freedom: np.ndarray, k: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bounds and p-values of Student's t, corrected for skewness."""
    special = special_functions()
    below, above = reaches(special.stdtrit(freedom, (1 + confidence) / 2), k)
    p_value = 2 * special.stdtr(freedom, -np.abs(transformed(estimate / error, k)))
    p_value = np.where(error == 0, np.where(estimate == 0, 1.0, 0.0), p_value)
    return estimate - below * error, estimate + above * error, np.where(estimate == 0, 1.0, p_value)


def _allowing_for_unseen(
    of: LeftOut,
    sign: float,
    estimate: np.ndarray,
    found: tuple[np.ndarray, np.ndarray, np.ndarray],
    confidence: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bounds and p-values where few sequences of one submission are off an end of the range.

    `sign` is 1 for the submission whose metric the difference adds, and -1 for the other.
    """
    special = special_functions()
    low, high, p_value = found
    shares, width = _shares(of), of.greatest - of.least
    n_effective = 1 / (shares**2).sum(axis=0)
    for end, inwards in ((of.greatest, -1.0), (of.least, 1.0)):
        off = (shares > 0) & (np.abs(of.own - end) > ROUNDING * width)
        few = np.isfinite(width) & (off.sum(axis=0) < np.minimum(FEWEST_OFF, (shares > 0).sum(axis=0)))
        share = (shares * off).sum(axis=0)
        # Where the metric may be if as many as there may be are at the other end, and how far that is from where it is.
        most = end + inwards * width * clopper_pearson(share, n_effective, confidence)[1]
        shift = sign * inwards * np.maximum(inwards * (most - of.value), 0.0)
        low = np.where(few & (shift < 0), np.fmin(low, estimate + shift), low)
        high = np.where(few & (shift > 0), np.fmax(high, estimate + shift), high)
        # The chance of so few if as many are at the other end as would make both submissions equal.
        other = np.abs(of.value - sign * estimate - end) / width
        n_off = share * n_effective
        chance = np.where(
            n_off < n_effective, special.betainc(n_effective - n_off, n_off + 1, np.clip(1 - other, 0, 1)), 1.0
        )
        towards = few & (sign * inwards * estimate < 0)
        p_value = np.where(towards, np.fmax(p_value, np.minimum(2 * chance, 1.0)), p_value)
    return low, high, p_value


def _sides(a: LeftOut, b: LeftOut) -> tuple[np.ndarray, np.ndarray]:
    """In which sequences the first may be ahead, and in which behind, both (C, M); in equal ones neither is.

    A sequence in which only one of both is defined, or that has another weight in each, may be either.
    """
    tolerance = ROUNDING * np.maximum(np.abs(a.own), np.abs(b.own))
    same = (np.isnan(a.own) & np.isnan(b.own)) | (np.abs(a.own - b.own) <= tolerance)
    differ = ((a.weights > 0) | (b.weights > 0)) & ~(same & (a.weights == b.weights))
    return differ & ~(a.own < b.own - tolerance), differ & ~(a.own > b.own + tolerance)
