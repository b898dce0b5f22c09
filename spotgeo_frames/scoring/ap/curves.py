"""Precision over recall of each category, for any weights of the frames, and the averages that follow.

Detections are counted from the highest score down. What is taken of the curve at which recall is the protocol's; see
`interpolation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...matching import Pairs
from ...support import arrays
from .detections import Detections
from .further import FURTHER, Known
from .interpolation import CURVES, Curve, TruePositives, cells_of, points_of
from .numbers import RATES, Number, Numbers, limits_of
from .protocol_entries import Protocol
from .scopes import Scope

# Up to so many categories, means are added up in pycocotools' order, which takes all precisions at once (8 kB each).
MOST_TOGETHER = 1 << 12


class Averages(NamedTuple):
    """What the numbers of K categories at T thresholds are means of; null for categories without truths.

    Attributes
    ----------
    values
        By the kind of number: the precision at X recall points, the recall of X limits to the detections of a frame and
        category, or the sensitivity at X rates of false alarms; (T, X, K).
    limits
        The limits of recall, (X,).
    n_truth, n_predicted
        How many truths and detections count, (K,).
    """

    values: Mapping[str, np.ndarray]
    limits: Sequence[int | None]
    n_truth: np.ndarray
    n_predicted: np.ndarray

    def cells(self, number: Number) -> np.ndarray:
        """What a number is the mean of, (T, X, K)."""
        if number.of in FURTHER:
            return self.values[f"{number.of} {number.point}"]
        of = self.values[number.of]
        if number.of == "recall":
            return of[:, [self.limits.index(number.limit)]]
        return of if number.point is None else of[:, [RATES.index(number.point)]]


class Curves(NamedTuple):
    """Precision and recall of K categories at T thresholds and R recall points; null for categories without truths.

    Attributes
    ----------
    precision
        The precision at each recall point, (T, K, R).
    score
        The score of the detection at which each recall point is reached, (T, K, R); null where it is not.
    recall
        The recall of the M limits to the detections of a frame and category, (T, K, M).
    """

    precision: np.ndarray
    score: np.ndarray
    recall: np.ndarray


class _Counted(NamedTuple):
    """What counts within a scope.

    Attributes
    ----------
    weight
        How often each detection counts, (D,).
    claimed, within
        How many detections count, and how many of them within the scope, before each one, (D + 1,).
    starts
        The first detection of each category, and the end, (K + 1,).
    n_truth, n_predicted
        How many truths and detections of each category count, (K,).
    n_frames
        How many frames count.
    """

    weight: np.ndarray
    claimed: np.ndarray
    within: np.ndarray
    starts: np.ndarray
    n_truth: np.ndarray
    n_predicted: np.ndarray
    n_frames: float


def averages_of(
    detections: Detections,
    scope: Scope,
    matched: Sequence[Pairs],
    numbers: Numbers,
    protocol: Protocol,
    weights: np.ndarray | None = None,
    *,
    recalls: np.ndarray | None = None,
) -> Averages:
    """What numbers of a protocol are means of within a scope, from the pairs that are matched there at each threshold.

    `weights` (frames,) say how often each frame counts, as integers of type float64; by default once. `recalls` are
    recall points in place of the protocol's.
    """
    counted = _counted(detections, scope, weights)
    curve = CURVES[protocol.interpolation]
    curve = curve if recalls is None else curve._replace(recalls=recalls)
    of_thresholds = [
        _values(detections, true_positives(detections, scope, pairs, counted), counted, numbers, protocol, curve)
        for pairs in matched
    ]
    values = {kind: np.stack([of[kind] for of in of_thresholds]) for kind in of_thresholds[0]}
    for of in values.values():
        of[..., counted.n_truth == 0] = np.nan
    return Averages(values, limits_of(numbers), counted.n_truth, counted.n_predicted)


def _values(
    detections: Detections, true: TruePositives, counted: _Counted, numbers: Numbers, protocol: Protocol, curve: Curve
) -> dict[str, np.ndarray]:
    """What numbers of each kind are means of at one threshold, (X, K)."""
    kinds, answer = {number.of for number in numbers.values()}, {}
    if "precision" in kinds:
        cells = cells_of(true, curve, protocol.min_recall, protocol.min_precision)
        answer["precision"] = (cells if len(cells) <= MOST_TOGETHER else cells.mean(axis=1, keepdims=True)).T
    if "recall" in kinds:
        answer["recall"] = _recalls(true, detections.rank, limits_of(numbers)).T
    if "sensitivity" in kinds:
        answer["sensitivity"] = _sensitivities(true, counted.n_frames)
    for number in numbers.values():
        if number.of in FURTHER:
            known = _known(detections, protocol, number.point)
            answer[f"{number.of} {number.point}"] = FURTHER[number.of].compute(true, known)[None]
    return answer


def _known(detections: Detections, protocol: Protocol, share: float | None) -> Known:
    """What further numbers follow from, besides the true positives."""
    own, others = protocol.by_category, protocol.thresholds[0]
    limit = np.array([own.get(name, others) for name in detections.categories], np.float64)
    return Known(detections.score, limit, protocol.by_distance, np.nan if share is None else share)


def curves_of(
    detections: Detections, scope: Scope, matched: Sequence[Pairs], numbers: Numbers, protocol: Protocol
) -> Curves:
    """Precision over recall within a scope, from the pairs that are matched there at each threshold."""
    counted = _counted(detections, scope, None)
    curve, limits = CURVES[protocol.interpolation], limits_of(numbers)
    shape = len(matched), len(counted.n_truth), len(curve.recalls)
    precision, score = np.zeros(shape), np.full(shape, np.nan)
    recall = np.zeros((*shape[:2], len(limits)))
    for t, pairs in enumerate(matched):
        true = true_positives(detections, scope, pairs, counted)
        for part, points in points_of(true, curve):
            reached = points.at >= 0
            precision[t, part] = points.precision
            score[t, part][reached] = detections.score[points.at[reached]]
        recall[t] = _recalls(true, detections.rank, limits)
    has_detections = counted.n_predicted > 0
    if curve.recalls[0] == 0:
        # The first detection, right or wrong, reaches the recall 0.
        first = np.searchsorted(counted.claimed, counted.claimed[counted.starts[:-1]], side="right") - 1
        score[:, has_detections, 0] = detections.score[first[has_detections]]
    empty = counted.n_truth == 0
    precision[:, empty], score[:, empty] = np.nan, np.nan
    return Curves(precision, score, recall)


def _recalls(true: TruePositives, rank: np.ndarray | None, limits: Sequence[int | None]) -> np.ndarray:
    """The recall that each limit reaches, (K, M); null without truths."""
    found = []
    for limit in limits:
        weight = true.weight
        if limit is not None:
            assert rank is not None  # a protocol whose numbers have limits has one itself
            weight = weight * (rank[true.detection] < limit)
        found.append(arrays.added_at(true.category, weight, len(true.n_truth)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(true.n_truth > 0, np.array(found) / true.n_truth, np.nan).T


def _sensitivities(true: TruePositives, n_frames: float) -> np.ndarray:
    """The share of truths that are found with at most as many false alarms a frame as each rate says, (F, K)."""
    found = [
        arrays.added_at(true.category, true.weight * (true.fp <= rate * n_frames), len(true.n_truth)) for rate in RATES
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array(found) / true.n_truth


def _counted(detections: Detections, scope: Scope, weights: np.ndarray | None) -> _Counted:
    """What counts within a scope, where frames count with these weights."""
    n_frames, starts = len(detections.aligned.frames), detections.starts
    weights = np.ones(n_frames) if weights is None else weights
    of_truth = weights[detections.aligned.truth.frame] * scope.counts
    n_truth = arrays.added_at(detections.truth_category, of_truth, len(detections.categories))
    weight = weights[detections.frame]
    claimed = _before(weight)
    within = _before(weight * scope.within)
    return _Counted(weight, claimed, within, starts, n_truth, np.diff(claimed[starts]), float(weights.sum()))


def _before(weights: np.ndarray) -> np.ndarray:
    """The sums of the weights before each of N places, and of all, (N + 1,)."""
    return np.concatenate([[0.0], np.cumsum(weights)])


def is_right(detections: Detections, scope: Scope, pairs: Pairs) -> np.ndarray:
    """Marks the matched pairs whose detection is right: the truth counts, and no surer one has found its group."""
    counts = scope.counts[pairs.truth]
    of_groups = np.flatnonzero(counts & detections.is_crowd[pairs.truth])
    if len(of_groups):
        _, first = np.unique(pairs.truth[of_groups], return_index=True)
        counts[np.delete(of_groups, first)] = False
    return counts


def true_positives(detections: Detections, scope: Scope, pairs: Pairs, counted: _Counted) -> TruePositives:
    """The true positives among matched pairs."""
    starts, within, of_pair = counted.starts, counted.within, counted.weight[pairs.prediction]
    is_true = is_right(detections, scope, pairs) & (of_pair > 0)
    # Detections before each pair that are wrong: within the scope, and not matched.
    matched = _before(of_pair * scope.within[pairs.prediction])
    wrong = within[pairs.prediction] - matched[:-1]
    at_start = within[starts] - matched[np.searchsorted(pairs.prediction, starts)]
    detection, n, measure = pairs.prediction[is_true], of_pair[is_true], pairs.measure[is_true]
    category = detections.category[detection]
    found = np.cumsum(n)
    first = np.searchsorted(detection, starts)
    before = _before(n)[first]
    tp, fp = found - before[category], wrong[is_true] - at_start[category]
    return TruePositives(detection, category, n, found, tp, fp, measure, first, counted.n_truth, np.diff(at_start))
