"""Precision over recall of each category, for any weights of the frames.

Detections are counted from the highest score down. The precision at a recall point is the highest one there or at any
higher recall (cocoeval.py, accumulate). It is found from the true positives alone, since precision falls between them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...matching.pairs import Pairs
from ...support.keys import added_at
from .detections import Detections
from .scopes import Scope

# The recall points.
RECALLS = np.linspace(0.0, 1.0, 101)

# What pycocotools adds to the denominator of precision.
SPACING = np.spacing(1)


class Curves(NamedTuple):
    """Precision and recall of K categories at T thresholds; null for categories without truths.

    Attributes
    ----------
    precision
        The precision at each recall point, (T, K, 101).
    score
        The score of the detection at which each recall point is reached, (T, K, 101); null where it is not.
    recall
        The recall of the M limits to the detections of a frame and category, (T, K, M).
    n_truth, n_predicted
        How many truths and detections count, (K,).
    """

    precision: np.ndarray
    score: np.ndarray
    recall: np.ndarray
    n_truth: np.ndarray
    n_predicted: np.ndarray


def curves_of(
    detections: Detections,
    scope: Scope,
    matched: Sequence[Pairs],
    limits: Sequence[int],
    weights: np.ndarray | None = None,
    recalls: np.ndarray = RECALLS,
) -> Curves:
    """Precision and recall within a scope, from the pairs that are matched there at each threshold.

    `limits` are how many detections of a frame and category count, rising; precision is that of the last. `weights`
    (frames,) say how often each frame counts, as integers of type float64; by default once. `recalls` (R,) are the
    recall points.
    """
    n_frames, n_categories = len(detections.aligned.frames), len(detections.categories)
    weights = np.ones(n_frames) if weights is None else weights
    of_truth = weights[detections.aligned.truth.frame] * scope.counts
    n_truth = added_at(detections.truth_category, of_truth, n_categories)
    weight, starts = weights[detections.frame], detections.starts
    claimed, within = _before(weight), _before(weight * scope.within)
    n_predicted = np.diff(claimed[starts])
    needed = _needed(n_truth, recalls)
    shape = len(matched), n_categories
    precision, score = np.zeros((*shape, len(recalls))), np.full((*shape, len(recalls)), np.nan)
    recall = np.zeros((*shape, len(limits)))
    for t, pairs in enumerate(matched):
        true = _true_positives(detections, scope, pairs, weight, within)
        reached, highest, at = _at_recalls(true, needed, np.searchsorted(true.detection, starts))
        precision[t][reached], score[t][reached] = highest, detections.score[at]
        rank = detections.rank[true.detection]
        for m, limit in enumerate(limits):
            recall[t, :, m] = added_at(true.category, true.weight * (rank < limit), n_categories)
    has_detections = n_predicted > 0
    # The first detection, right or wrong, reaches the recall 0.
    first = np.searchsorted(claimed, claimed[starts[:-1]], side="right") - 1
    score[:, has_detections, 0] = detections.score[first[has_detections]]
    with np.errstate(invalid="ignore", divide="ignore"):
        recall /= n_truth[:, None]
    empty = n_truth == 0
    precision[:, empty], recall[:, empty], score[:, empty] = np.nan, np.nan, np.nan
    return Curves(precision, score, recall, n_truth, n_predicted)


def _before(weights: np.ndarray) -> np.ndarray:
    """The sums of the weights before each of N places, and of all, (N + 1,)."""
    return np.concatenate([[0.0], np.cumsum(weights)])


class _TruePositives(NamedTuple):
    """The N detections that are right at one threshold, in the order of the detections, each (N,).

    Attributes
    ----------
    detection, category, weight
        The position of each among the detections, its category, and how often it counts.
    found
        How many are right from the first category on, up to and including this one.
    tp, fp
        How many detections of its category are right up to and including this one, and how many before it are wrong.
    """

    detection: np.ndarray
    category: np.ndarray
    weight: np.ndarray
    found: np.ndarray
    tp: np.ndarray
    fp: np.ndarray


def _true_positives(
    detections: Detections, scope: Scope, pairs: Pairs, weight: np.ndarray, within: np.ndarray
) -> _TruePositives:
    """The true positives among matched pairs; `within` counts the detections within the scope before each, (D + 1,)."""
    starts, of_pair = detections.starts, weight[pairs.prediction]
    is_true = scope.counts[pairs.truth] & (of_pair > 0)
    # Detections before each pair that are wrong: within the scope, and not matched.
    matched = _before(of_pair * scope.within[pairs.prediction])
    wrong = within[pairs.prediction] - matched[:-1]
    at_start = within[starts] - matched[np.searchsorted(pairs.prediction, starts)]
    detection, n = pairs.prediction[is_true], of_pair[is_true]
    category = detections.category[detection]
    found = np.cumsum(n)
    before = _before(n)[np.searchsorted(detection, starts)]
    return _TruePositives(detection, category, n, found, found - before[category], wrong[is_true] - at_start[category])


def _at_recalls(
    true: _TruePositives, needed: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which recall points are reached, (K, R); of those the highest precision from there on, and by which detection.

    `needed` (K, R) is how many true positives reach each point. `first` (K + 1,) is the first of each category.
    """
    before = np.concatenate([[0.0], true.found])[first]
    reached = needed <= np.diff(before)[:, None]
    filled = np.diff(first) > 0
    if not filled.any():
        return reached, np.zeros(0), np.zeros(0, np.int64)
    position = np.searchsorted(true.found, before[:-1, None] + needed)
    position = np.minimum(position, first[1:, None] - 1)[filled]
    precision = true.tp / (true.fp + true.tp + SPACING)
    highest = np.maximum.reduceat(precision, position.ravel()).reshape(position.shape)
    highest = np.maximum.accumulate(highest[:, ::-1], axis=1)[:, ::-1]
    return reached, highest[reached[filled]], true.detection[position[reached[filled]]]


def _needed(n_truth: np.ndarray, recalls: np.ndarray) -> np.ndarray:
    """How many true positives reach each recall point, (K, R), at least 1: the least n with n / n_truth >= recall."""
    count = np.where(n_truth > 0, n_truth, 1.0)[:, None]
    needed = np.ceil(recalls * count)
    needed -= (needed - 1) / count >= recalls
    needed += needed / count < recalls
    return np.maximum(needed, 1.0)
