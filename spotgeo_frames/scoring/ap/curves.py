"""Precision over recall of each category, for any weights of the frames.

Detections are counted from the highest score down. The precision at a recall point is the highest one there or at any
higher recall (cocoeval.py, accumulate). It is found from the true positives alone, since precision falls between them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...matching.pairs import Pairs
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
    weight = weights[detections.frame]
    starts = detections.starts
    of_truth = weights[detections.aligned.truth.frame] * scope.counts
    n_truth = np.bincount(detections.truth_category, of_truth, n_categories)
    within = np.concatenate([[0.0], np.cumsum(weight * scope.within)])
    claimed = np.concatenate([[0.0], np.cumsum(weight)])
    n_predicted = np.diff(claimed[starts])
    needed = _needed(n_truth, recalls)
    shape = len(matched), n_categories
    precision, score = np.zeros((*shape, len(recalls))), np.full((*shape, len(recalls)), np.nan)
    recall = np.zeros((*shape, len(limits)))
    for t, pairs in enumerate(matched):
        of_pair = weight[pairs.prediction]
        is_true = scope.counts[pairs.truth] & (of_pair > 0)
        # Detections before each pair that are wrong: within the scope, and not matched.
        taken = np.concatenate([[0.0], np.cumsum(of_pair * scope.within[pairs.prediction])])
        wrong = within[pairs.prediction] - taken[:-1]
        at_start = within[starts] - taken[np.searchsorted(pairs.prediction, starts)]
        detection, n = pairs.prediction[is_true], of_pair[is_true]
        category = detections.category[detection]
        found = np.cumsum(n)
        first = np.searchsorted(detection, starts)
        before = np.concatenate([[0.0], found])[first]
        true = found - before[category]
        fp = wrong[is_true] - at_start[category]
        point = np.searchsorted(found, before[:-1, None] + needed)
        reached = needed <= np.diff(before)[:, None]
        filled = np.diff(first) > 0
        if filled.any():
            at_detection = true / (fp + true + SPACING)
            position = np.minimum(point, first[1:, None] - 1)[filled]
            highest = np.maximum.reduceat(at_detection, position.ravel()).reshape(position.shape)
            highest = np.maximum.accumulate(highest[:, ::-1], axis=1)[:, ::-1]
            precision[t, filled] = np.where(reached[filled], highest, 0.0)
            score[t, filled] = np.where(reached[filled], detections.score[detection[position]], np.nan)
        rank = detections.rank[detection]
        for m, limit in enumerate(limits):
            recall[t, :, m] = np.bincount(category, n * (rank < limit), n_categories)
    has_detections = n_predicted > 0
    # The first detection, right or wrong, reaches the recall 0.
    first = np.searchsorted(claimed, claimed[starts[:-1]], side="right") - 1
    score[:, has_detections, 0] = detections.score[first[has_detections]]
    with np.errstate(invalid="ignore", divide="ignore"):
        recall /= n_truth[:, None]
    empty = n_truth == 0
    precision[:, empty], recall[:, empty], score[:, empty] = np.nan, np.nan, np.nan
    return Curves(precision, score, recall, n_truth, n_predicted)


def _needed(n_truth: np.ndarray, recalls: np.ndarray) -> np.ndarray:
    """How many true positives reach each recall point, (K, R), at least 1: the least n with n / n_truth >= recall."""
    count = np.where(n_truth > 0, n_truth, 1.0)[:, None]
    needed = np.ceil(recalls * count)
    needed -= (needed - 1) / count >= recalls
    needed += needed / count < recalls
    return np.maximum(needed, 1.0)
