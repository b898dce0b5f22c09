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
from .interpolation import CURVES, TruePositives, cells_of, points_of
from .numbers import RATES, Number, Numbers, limits_of
from .protocol_entries import Protocol
from .scopes import Matches, Scope

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
        How often each detection counts, (D,); None if each counts once.
    within
        How many detections count within the scope before each one, (D + 1,).
    starts
        The first detection of each category, and the end, (K + 1,).
    n_truth, n_predicted
        How many truths and detections of each category count, (K,).
    n_frames
        How many frames count.
    """

    weight: np.ndarray | None
    within: np.ndarray
    starts: np.ndarray
    n_truth: np.ndarray
    n_predicted: np.ndarray
    n_frames: float


def averages_of(
    detections: Detections,
    scope: Scope,
    matches: Matches,
    numbers: Numbers,
    protocol: Protocol,
    weights: np.ndarray | None = None,
    *,
    recalls: np.ndarray | None = None,
) -> Averages:
    """What numbers of a protocol are means of within a scope, from the pairs that are matched there.

    `weights` (frames,) say how often each frame counts, as integers of type float64; by default once. `recalls` are
    recall points in place of the protocol's.
    """
    counted = _counted(detections, scope, weights)
    curve = CURVES[protocol.interpolation]
    curve = curve if recalls is None else curve._replace(recalls=recalls)
    true = true_positives(detections, scope, matches, counted)
    shape, kinds = (-1, len(counted.n_truth)), {number.of for number in numbers.values()}
    found = dict[str, np.ndarray]()
    if "precision" in kinds:
        together = len(counted.n_truth) <= MOST_TOGETHER
        found["precision"] = cells_of(true, curve, protocol.min_recall, protocol.min_precision, together=together)
    if "recall" in kinds:
        found["recall"] = _recalls(true, detections.rank, limits_of(numbers))
    by_score = [number for number in numbers.values() if number.of == "sensitivity" or number.of in FURTHER]
    if by_score:
        last, at_scores = _at_scores(detections, scope, matches, counted, true)
    if "sensitivity" in kinds:
        found["sensitivity"] = _sensitivities(at_scores, counted.n_frames)
    for number in by_score:
        if number.of in FURTHER:
            known = _known(detections, protocol, last, number.point)
            found[f"{number.of} {number.point}"] = FURTHER[number.of].compute(at_scores, known)[:, None]
    values = {kind: of.reshape(*shape, of.shape[1]).swapaxes(1, 2) for kind, of in found.items()}
    for of in values.values():
        of[..., counted.n_truth == 0] = np.nan
    return Averages(values, limits_of(numbers), counted.n_truth, counted.n_predicted)


def _known(detections: Detections, protocol: Protocol, last: np.ndarray, share: float | None) -> Known:
    """What further numbers follow from, besides the true positives."""
    own, others = protocol.by_category, protocol.thresholds[0]
    limit = np.array([own.get(name, others) for name in detections.categories], np.float64)
    return Known(
        detections.score,
        last,
        np.tile(limit, len(protocol.thresholds)),
        protocol.by_distance,
        np.nan if share is None else share,
    )


def _at_scores(
    detections: Detections, scope: Scope, matches: Matches, counted: _Counted, true: TruePositives
) -> tuple[np.ndarray, TruePositives]:
    """For each true positive the last one of equal score, (N,), and the counts once all detections of its score are in.

    A score threshold does not part equal scores, so at each all detections count that have its category and score.
    """
    is_last = (np.diff(detections.score) != 0) | (np.diff(detections.category) != 0)
    ends = np.append(np.flatnonzero(is_last) + 1, len(detections.score))
    threshold, category = np.divmod(true.ranking, len(counted.n_truth))
    start, end = counted.starts[category], ends[np.searchsorted(ends, true.detection, side="right")]
    first = threshold * (len(detections.score) + 1)  # which tells the detections of thresholds apart
    last = np.searchsorted(first + true.detection, first + end) - 1
    pairs = matches.similar.take(matches.chosen)
    matched = _matched_before(scope, pairs, counted)
    place_of_pair = matches.threshold * (len(detections.score) + 1) + pairs.prediction
    at_start, at_end = (
        counted.within[place] - matched[np.searchsorted(place_of_pair, first + place)] for place in (start, end)
    )
    return last, true._replace(tp=true.tp[last], fp=at_end - at_start)


def curves_of(detections: Detections, scope: Scope, matches: Matches, numbers: Numbers, protocol: Protocol) -> Curves:
    """Precision over recall within a scope, from the pairs that are matched there."""
    counted = _counted(detections, scope, None)
    curve, n_thresholds = CURVES[protocol.interpolation], len(protocol.thresholds)
    true = true_positives(detections, scope, matches, counted)
    precisions = np.zeros((len(true.n_truth), len(curve.recalls)))
    scores = np.full(precisions.shape, np.nan)
    for part, points in points_of(true, curve):
        reached = points.at >= 0
        precisions[part] = points.precision
        scores[part][reached] = detections.score[points.at[reached]]
    recalls = _recalls(true, detections.rank, limits_of(numbers))
    precision, score, recall = (of.reshape(n_thresholds, -1, of.shape[1]) for of in (precisions, scores, recalls))
    has_detections = counted.n_predicted > 0
    if curve.recalls[0] == 0:
        # The first detection, right or wrong, reaches the recall 0.
        score[:, has_detections, 0] = detections.score[counted.starts[:-1][has_detections]]
    empty = counted.n_truth == 0
    precision[:, empty], score[:, empty] = np.nan, np.nan
    return Curves(precision, score, recall)


def _recalls(true: TruePositives, rank: np.ndarray | None, limits: Sequence[int | None]) -> np.ndarray:
    """The recall that each limit reaches in each ranking, (T * K, M); null without truths."""
    found, rank = [], None if rank is None else rank.take(true.detection)
    for limit in limits:
        weight = true.weight
        if limit is not None:
            assert rank is not None  # a protocol whose numbers have limits has one itself
            weight = weight * (rank < limit)
        found.append(arrays.added_at(true.ranking, weight, len(true.n_truth)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(true.n_truth > 0, np.array(found) / true.n_truth, np.nan).T


def _sensitivities(true: TruePositives, n_frames: float) -> np.ndarray:
    """The share of truths that are found with at most as many false alarms a frame as each rate says, (T * K, F)."""
    found = [
        arrays.added_at(true.ranking, true.weight * (true.fp <= rate * n_frames), len(true.n_truth)) for rate in RATES
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        return (np.array(found) / true.n_truth).T


def _counted(detections: Detections, scope: Scope, weights: np.ndarray | None) -> _Counted:
    """What counts within a scope, where frames count with these weights."""
    n_frames, starts, n_categories = len(detections.aligned.frames), detections.starts, len(detections.categories)
    if weights is None:
        n_truth = np.bincount(detections.truth_category[scope.counts], minlength=n_categories).astype(np.float64)
        return _Counted(
            None, _before(scope.within), starts, n_truth, np.diff(starts).astype(np.float64), float(n_frames)
        )
    of_truth = weights[detections.aligned.truth.frame] * scope.counts
    n_truth = arrays.added_at(detections.truth_category, of_truth, n_categories)
    weight = weights[detections.frame]
    n_predicted = np.diff(_before(weight)[starts])
    return _Counted(weight, _before(weight * scope.within), starts, n_truth, n_predicted, float(weights.sum()))


def _before(weights: np.ndarray) -> np.ndarray:
    """The sums of the weights before each of N places, and of all, (N + 1,)."""
    sums = np.zeros(len(weights) + 1)
    np.cumsum(weights, out=sums[1:])
    return sums


def is_right(detections: Detections, scope: Scope, pairs: Pairs, threshold: np.ndarray | int = 0) -> np.ndarray:
    """Marks the matched pairs whose detection is right: the truth counts, and no surer one has found its group.

    `threshold` is the position of each pair's threshold, if they are of several.
    """
    counts = scope.counts.take(pairs.truth)
    of_groups = np.flatnonzero(counts & detections.is_crowd.take(pairs.truth))
    if len(of_groups):
        _, first = np.unique((pairs.truth + threshold * len(scope.counts))[of_groups], return_index=True)
        counts[np.delete(of_groups, first)] = False
    return counts


def true_positives(detections: Detections, scope: Scope, matches: Matches, counted: _Counted) -> TruePositives:
    """The true positives among matched pairs, threshold by threshold."""
    pairs, threshold = matches.similar.take(matches.chosen), matches.threshold
    n_thresholds, n_categories = len(matches.starts) - 1, len(counted.n_truth)
    category = detections.category.take(pairs.prediction)
    ranking = threshold * n_categories + category
    of_pair = None if counted.weight is None else counted.weight.take(pairs.prediction)
    is_true = is_right(detections, scope, pairs, threshold)
    # Detections before each pair that are wrong: within the scope, and not matched.
    matched = _matched_before(scope, pairs, counted)
    bounds, of_categories = _firsts_of(ranking, n_thresholds * n_categories), counted.within[counted.starts]
    n_wrong = np.tile(np.diff(of_categories), n_thresholds) - np.diff(matched[bounds])
    right = np.flatnonzero(is_true if of_pair is None else is_true & (of_pair > 0))
    detection, measure = pairs.prediction.take(right), pairs.measure.take(right)
    category, ranking = category.take(right), ranking.take(right)
    wrong = counted.within.take(detection) - matched.take(right)
    fp = wrong - (of_categories.take(category) - matched.take(bounds).take(ranking))
    weight = np.ones(len(right)) if of_pair is None else of_pair.take(right)
    found, first = np.cumsum(weight), _firsts_of(ranking, n_thresholds * n_categories)
    tp = found - _before(weight)[first].take(ranking)
    n_truth = np.tile(counted.n_truth, n_thresholds)
    return TruePositives(detection, ranking, weight, found, tp, fp, measure, first, n_truth, n_wrong)


def _matched_before(scope: Scope, pairs: Pairs, counted: _Counted) -> np.ndarray:
    """How many detections of the pairs before each count within the scope, and of all, (N + 1,)."""
    within = scope.within.take(pairs.prediction)
    return _before(within if counted.weight is None else counted.weight.take(pairs.prediction) * within)


def _firsts_of(ranking: np.ndarray, n_rankings: int) -> np.ndarray:
    """The position of the first of each ranking, and the end, (T * K + 1,)."""
    return np.searchsorted(ranking, np.arange(n_rankings + 1))
