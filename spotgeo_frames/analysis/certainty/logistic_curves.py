"""Logistic curves of recall, for all groups at once: the fit, where it has a given height, and whether it bends.

The curve is logit(recall) = intercept + slope * value, by maximum likelihood over all truths of a group. Each sequence
is left out once: with A the information of all truths, A_i and s_i those of sequence i, and s_i its score, one Newton
step from the curve of all gives the coefficients without it, d_i = -(A - A_i)^-1 s_i. The jackknife covariance of the
coefficients is V = (n - 1) / n * sum of d_i d_i' over n sequences. Refitting all the way instead changes hardly any
interval.

The curve has the height p at the value v where intercept + slope * v = logit p. The interval holds each v at which a t
test does not tell the curve from p (Fieller, 1954, doi:10.1111/j.2517-6161.1954.tb00159.x). If the slope cannot be told
from 0, no v is ruled out on at least one side. t has the degrees of freedom of Bell and McCaffrey (2002, Survey
Methodology 28, 169-181), with the information of each sequence on the curve at v as its weight.

If the curve is logistic, no other function of the value adds to the logit. The one tried is the squared normal score of
the value's rank, which is large at both ends. Of normal values it is the square; of values with a long tail, whose
squares rest on a few truths, it tells more. The score of such a term, made orthogonal to intercept and slope, is a sum
over sequences, and a t test with n - 1 degrees of freedom tells their mean from 0.
"""

from typing import NamedTuple

import numpy as np

from ...scoring import sequence_sums
from ...support import arrays, special_functions
from .jackknife import ROUNDING, degrees_of_freedom

# Newton's method ends where no coefficient moves by more than this, or after so many steps, each halved so many times.
CLOSE, MOST_STEPS, MOST_HALVINGS = 1e-8, 50, 20

# Below this share of its largest possible value, a determinant is rounding: one sequence has all that tells the slope.
SINGULAR = 1e-10


class Truths(NamedTuple):
    """N truths in G groups; each sequence of a group is one of C cells.

    Attributes
    ----------
    value, found
        The value (N,) on which recall may depend, finite; and 1.0 where the truth was found, 0.0 where it was missed.
    group, cell
        The group and the cell of each truth, (N,).
    group_of_cell
        The group of each cell, (C,).
    n_groups
        G.
    """

    value: np.ndarray
    found: np.ndarray
    group: np.ndarray
    cell: np.ndarray
    group_of_cell: np.ndarray
    n_groups: int


class Curves(NamedTuple):
    """The curves of G groups, with intervals at each of P heights; null where there is no curve.

    Attributes
    ----------
    intercept, slope
        The coefficients (G,) of logit(recall) = intercept + slope * value.
    recall
        What the curve says of each truth, (N,).
    crossing, low, high
        The value where the curve has each height, and the bounds of its interval, (G, P); a bound is infinite where no
        value is ruled out on its side. The bounds are equal where all sequences agree.
    is_sloped
        Whether the slope can be told from 0, (G, P), by the same t as the interval.
    degrees_of_freedom
        Those of t, (G, P).
    bend_p_value
        The p-value of a bend of the logit, (G,).
    """

    intercept: np.ndarray
    slope: np.ndarray
    recall: np.ndarray
    crossing: np.ndarray
    low: np.ndarray
    high: np.ndarray
    is_sloped: np.ndarray
    degrees_of_freedom: np.ndarray
    bend_p_value: np.ndarray


def ends(values: np.ndarray, group: np.ndarray, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest of the values (N,) in each group; infinite the wrong way round where it has none."""
    least, greatest = np.full(n_groups, np.inf), np.full(n_groups, -np.inf)
    np.minimum.at(least, group, values)
    np.maximum.at(greatest, group, values)
    return least, greatest


def logistic_curves(truths: Truths, is_fitted: np.ndarray, heights: np.ndarray, confidence: float) -> Curves:
    """Fits the curves of the groups that `is_fitted` marks, (G,), and reads them at the heights (P,).

    The marked groups need three values or more, and values of found and missed truths that overlap; without overlap,
    the likelihood has no maximum.
    """
    with np.errstate(all="ignore"):
        z, middle, spread = _scaled(truths)
        z = np.where(is_fitted[truths.group], z, 0.0)
        powers = np.stack([np.ones_like(z), z, z**2], axis=-1)
        coefficients = np.where(is_fitted[:, None], _fitted(truths, powers), np.nan)
        recall = _recall(coefficients, powers, truths.group)
        read = _crossings(truths, powers, recall, coefficients, heights, confidence)
        crossing, low, high = (middle[:, None] + spread[:, None] * z_of_recall for z_of_recall in read[:3])
        slope = coefficients[:, 1] / spread
        intercept = coefficients[:, 0] - slope * middle
        is_sloped, freedom = read[3:]
        bend = _bend_p_values(truths, powers, recall)
        return Curves(intercept, slope, recall, crossing, low, high, is_sloped, freedom, bend)


def _scaled(truths: Truths) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values with mean 0 and standard deviation 1 in each group, (N,); their mean and deviation before, (G,)."""
    least, greatest = ends(truths.value, truths.group, truths.n_groups)
    width = greatest - least  # the squares of large values would overflow
    share = (truths.value - least[truths.group]) / width[truths.group]
    n = np.bincount(truths.group, minlength=truths.n_groups)
    mean = arrays.added_at(truths.group, share, truths.n_groups) / n
    squares = arrays.added_at(truths.group, (share - mean[truths.group]) ** 2, truths.n_groups)
    spread = np.sqrt(squares / n)
    return (share - mean[truths.group]) / spread[truths.group], least + width * mean, width * spread


def _recall(coefficients: np.ndarray, powers: np.ndarray, group: np.ndarray) -> np.ndarray:
    """What the curves say of each truth, (N,), whose scaled value has these powers, (N, 3): 1, z and z²."""
    special = special_functions()
    return special.expit((coefficients[group] * powers[:, :2]).sum(axis=-1))


def _fitted(truths: Truths, powers: np.ndarray) -> np.ndarray:
    """The coefficients (G, 2) of the greatest likelihood, by Newton's method; null where it does not get there."""
    group, n_groups = truths.group, truths.n_groups

    def likelihood(coefficients: np.ndarray) -> np.ndarray:
        logit = (coefficients[group] * powers[:, :2]).sum(axis=-1)
        return arrays.added_at(group, truths.found * logit - np.logaddexp(0, logit), n_groups)

    coefficients = np.zeros((n_groups, 2))
    reached, moved = likelihood(coefficients), np.full(n_groups, np.inf)
    for _ in range(MOST_STEPS):
        recall = _recall(coefficients, powers, group)
        score = sequence_sums.added_rows((truths.found - recall)[:, None] * powers[:, :2], group, n_groups)
        step = _solved(sequence_sums.added_rows(_weight(recall) * powers, group, n_groups), score)
        step[~np.isfinite(step).all(axis=1)] = np.nan
        for _ in range(MOST_HALVINGS):
            new = likelihood(coefficients + step)
            fell = new < reached - CLOSE * np.abs(reached)
            if not fell.any():
                break
            step[fell] /= 2
        coefficients, reached, moved = coefficients + step, new, np.abs(step).max(axis=1)
        if not (moved > CLOSE).any():
            break
    return np.where((moved <= CLOSE)[:, None], coefficients, np.nan)


def _weight(recall: np.ndarray) -> np.ndarray:
    """The information (N, 1) of each truth on the logit of its recall."""
    return (recall * (1 - recall))[:, None]


def _solved(information: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The x (..., 2) of A x = score, A being [[i0, i1], [i1, i2]] of the information (..., 3); infinite if singular."""
    i0, i1, i2 = np.moveaxis(information, -1, 0)
    s0, s1 = np.moveaxis(score, -1, 0)
    determinant = i0 * i2 - i1**2
    is_singular = ~(determinant > SINGULAR * i0 * i2)
    x = np.stack([i2 * s0 - i1 * s1, i0 * s1 - i1 * s0], axis=-1) / determinant[..., None]
    return np.where(is_singular[..., None], np.inf, x)


def _crossings(
    truths: Truths,
    powers: np.ndarray,
    recall: np.ndarray,
    coefficients: np.ndarray,
    heights: np.ndarray,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of Curves, `crossing`, `low` and `high`, as z, `is_sloped` and `degrees_of_freedom`."""
    special = special_functions()
    of_cell, n_cells, n_groups = truths.group_of_cell, len(truths.group_of_cell), truths.n_groups
    intercept, slope = coefficients[:, [0]] - special.logit(heights), coefficients[:, [1]]
    crossing = -intercept / slope
    information = sequence_sums.added_rows(_weight(recall) * powers, truths.cell, n_cells)
    total = sequence_sums.added_rows(information, of_cell, n_groups)
    # What each sequence adds to the variance that the curve would have at this value if all truths were independent.
    x0, x1 = np.moveaxis(_solved(total[:, None], np.stack([np.ones_like(crossing), crossing], axis=-1))[of_cell], -1, 0)
    weights = (information[:, None] * np.stack([x0**2, 2 * x0 * x1, x1**2], axis=-1)).sum(axis=-1)
    freedom = degrees_of_freedom(weights, of_cell, n_groups)
    score = sequence_sums.added_rows((truths.found - recall)[:, None] * powers[:, :2], truths.cell, n_cells)
    d0, d1 = _solved(total[of_cell] - information, score).T
    n = np.bincount(of_cell, minlength=n_groups)[:, None]
    variance = (n - 1) / n * sequence_sums.added_rows(np.stack([d0**2, d0 * d1, d1**2], axis=-1), of_cell, n_groups)
    # The values v with (intercept + slope * v)² <= t² times its variance, a parabola in v.
    t2 = special.stdtrit(freedom, (1 + confidence) / 2) ** 2
    a = slope**2 - t2 * variance[:, [2]]
    b = intercept * slope - t2 * variance[:, [1]]
    c = intercept**2 - t2 * variance[:, [0]]
    is_sloped, reach = a > 0, np.sqrt(np.maximum(b**2 - a * c, 0.0))
    variance_there = variance[:, [0]] + 2 * crossing * variance[:, [1]] + crossing**2 * variance[:, [2]]
    reach = np.where(variance_there > (ROUNDING * slope) ** 2, reach, 0.0)
    low, high = np.where(is_sloped, (-b - reach) / a, -np.inf), np.where(is_sloped, (-b + reach) / a, np.inf)
    return crossing, low, high, is_sloped, freedom


def _bend_p_values(truths: Truths, powers: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """The p-values (G,) of a bend of the logit, by a t test over sequences; null where all agree."""
    special = special_functions()
    group, n_groups, of_cell = truths.group, truths.n_groups, truths.group_of_cell
    bend = special.ndtri(_rank_shares(truths)) ** 2
    weighted = _weight(recall) * powers
    total = sequence_sums.added_rows(weighted, group, n_groups)
    explained = _solved(total, sequence_sums.added_rows(weighted[:, :2] * bend[:, None], group, n_groups))
    left = bend - (explained[group] * powers[:, :2]).sum(axis=-1)
    of_truth = (truths.found - recall) * left
    score = arrays.added_at(truths.cell, of_truth, len(of_cell))
    n = np.bincount(of_cell, minlength=n_groups)
    mean = arrays.added_at(of_cell, score, n_groups) / n
    error = np.sqrt(arrays.added_at(of_cell, (score - mean[of_cell]) ** 2, n_groups) / (n - 1) / n)
    agree = error <= ROUNDING * arrays.added_at(group, np.abs(of_truth), n_groups) / n
    return np.where(agree, np.nan, 2 * special.stdtr(n - 1.0, -np.abs(mean) / error))


def _rank_shares(truths: Truths) -> np.ndarray:
    """The rank of each value in its group, (N,), as a share between 0 and 1; equal values have their mean rank."""
    order = np.lexsort([truths.value, truths.group])
    value, group = truths.value[order], truths.group[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (value[1:] != value[:-1]) | (group[1:] != group[:-1])
    starts = np.flatnonzero(is_first)
    middles = (starts + np.append(starts[1:], len(order))) / 2
    n = np.bincount(group, minlength=truths.n_groups)
    rank = middles[np.cumsum(is_first) - 1] - (np.cumsum(n) - n)[group]
    shares = np.empty(len(order))
    shares[order] = rank / n[group]
    return shares
