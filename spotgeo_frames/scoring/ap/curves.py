"""Precision over recall of each category, for any weights of the frames.

Detections are counted from the highest score down. The precision at a recall point is the highest one there or at any
higher recall (cocoeval.py, accumulate). It is found from the true positives alone, since precision falls between them.

A scope says what counts: all truths, those of an area range, or those with an attribute. Truths outside it are ignored,
as pycocotools ignores truths outside an area range: a detection that is matched with one of them counts neither as
right nor as wrong. A detection without a match is wrong only if it is within the scope itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...matching import Pairs, greedy
from ...support import arrays
from .detections import Detections
from .numbers import AREAS

# The recall points.
RECALLS = np.linspace(0.0, 1.0, 101)

# How many categories are looked at together; the arrays of their recall points fit a processor's cache.
PART = 1 << 10

# What pycocotools adds to the denominator of precision.
SPACING = np.spacing(1)

# A threshold of 1 is lowered by this much (cocoeval.py, evaluateImg).
ALMOST_ONE = 1 - 1e-10


class Averages(NamedTuple):
    """Precision and recall of K categories at T thresholds; null for categories without truths.

    Attributes
    ----------
    precision
        The mean of the precision at the recall points, (T, K).
    recall
        The recall of the M limits to the detections of a frame and category, (T, K, M).
    n_truth, n_predicted
        How many truths and detections count, (K,).
    """

    precision: np.ndarray
    recall: np.ndarray
    n_truth: np.ndarray
    n_predicted: np.ndarray


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
    """

    weight: np.ndarray
    claimed: np.ndarray
    within: np.ndarray
    starts: np.ndarray
    n_truth: np.ndarray
    n_predicted: np.ndarray


def averages_of(
    detections: Detections,
    scope: Scope,
    matched: Sequence[Pairs],
    limits: Sequence[int],
    weights: np.ndarray | None = None,
    recalls: np.ndarray = RECALLS,
) -> Averages:
    """Mean precision and recall within a scope, from the pairs that are matched there at each threshold.

    `limits` are how many detections of a frame and category count, rising; precision is that of the last. `weights`
    (frames,) say how often each frame counts, as integers of type float64; by default once. `recalls` (R,) are the
    recall points. Curves of all categories together would take 16 kB for each, so they are averaged in parts.
    """
    counted = _counted(detections, scope, weights)
    shape = len(matched), len(counted.n_truth)
    precision, recall = np.zeros(shape), np.zeros((*shape, len(limits)))
    for t, pairs in enumerate(matched):
        true = _true_positives(detections, scope, pairs, counted)
        for part, reached, highest, _ in _points(true, counted, recalls):
            cells = np.zeros(reached.shape)
            cells[reached] = highest
            precision[t, part] = cells.mean(axis=1)
        recall[t] = _recalls(true, detections.rank, counted.n_truth, limits)
    precision[:, counted.n_truth == 0] = np.nan
    return Averages(precision, recall, counted.n_truth, counted.n_predicted)


def curves_of(detections: Detections, scope: Scope, matched: Sequence[Pairs], limits: Sequence[int]) -> Curves:
    """Precision over recall within a scope, from the pairs that are matched there at each threshold."""
    counted = _counted(detections, scope, None)
    shape = len(matched), len(counted.n_truth), len(RECALLS)
    precision, score, recall = np.zeros(shape), np.full(shape, np.nan), np.zeros((*shape[:2], len(limits)))
    for t, pairs in enumerate(matched):
        true = _true_positives(detections, scope, pairs, counted)
        for part, reached, highest, at in _points(true, counted, RECALLS):
            precision[t, part][reached], score[t, part][reached] = highest, detections.score[at]
        recall[t] = _recalls(true, detections.rank, counted.n_truth, limits)
    has_detections = counted.n_predicted > 0
    # The first detection, right or wrong, reaches the recall 0.
    first = np.searchsorted(counted.claimed, counted.claimed[counted.starts[:-1]], side="right") - 1
    score[:, has_detections, 0] = detections.score[first[has_detections]]
    empty = counted.n_truth == 0
    precision[:, empty], score[:, empty] = np.nan, np.nan
    return Curves(precision, score, recall)


def _recalls(true: _TruePositives, rank: np.ndarray, n_truth: np.ndarray, limits: Sequence[int]) -> np.ndarray:
    """The recall that each limit reaches, (K, M); null without truths."""
    there = rank[true.detection]
    found = [arrays.added_at(true.category, true.weight * (there < limit), len(n_truth)) for limit in limits]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(n_truth > 0, np.array(found) / n_truth, np.nan).T


def _counted(detections: Detections, scope: Scope, weights: np.ndarray | None) -> _Counted:
    """What counts within a scope, where frames count with these weights."""
    n_frames, starts = len(detections.aligned.frames), detections.starts
    weights = np.ones(n_frames) if weights is None else weights
    of_truth = weights[detections.aligned.truth.frame] * scope.counts
    n_truth = arrays.added_at(detections.truth_category, of_truth, len(detections.categories))
    weight = weights[detections.frame]
    claimed = _before(weight)
    return _Counted(weight, claimed, _before(weight * scope.within), starts, n_truth, np.diff(claimed[starts]))


def _points(
    true: _TruePositives, counted: _Counted, recalls: np.ndarray
) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
    """Yields ranges of categories with what `_at_recalls` says of them."""
    first = np.searchsorted(true.detection, counted.starts)
    precision = true.tp / (true.fp + true.tp + SPACING)
    for low in range(0, len(counted.n_truth), PART):
        part = slice(low, min(low + PART, len(counted.n_truth)))
        needed = _needed(counted.n_truth[part], recalls)
        yield part, *_at_recalls(true, precision, needed, first[part.start : part.stop + 1])


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


def _true_positives(detections: Detections, scope: Scope, pairs: Pairs, counted: _Counted) -> _TruePositives:
    """The true positives among matched pairs."""
    starts, within, of_pair = counted.starts, counted.within, counted.weight[pairs.prediction]
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
    true: _TruePositives, precision: np.ndarray, needed: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which recall points are reached, (K, R); of those the highest precision from there on, and by which detection.

    `precision` is that at each of the true positives. `needed` (K, R) is how many of them reach each point. `first`
    (K + 1,) is the first of each category.
    """
    before = np.concatenate([[0.0], true.found])[first]
    reached = needed <= np.diff(before)[:, None]
    filled = np.diff(first) > 0
    if not filled.any():
        return reached, np.zeros(0), np.zeros(0, np.int64)
    position = np.searchsorted(true.found, before[:-1, None] + needed)
    position = np.minimum(position, first[1:, None] - 1)[filled]
    highest = np.maximum.reduceat(precision[: first[-1]], position.ravel()).reshape(position.shape)
    highest = np.maximum.accumulate(highest[:, ::-1], axis=1)[:, ::-1]
    return reached, highest[reached[filled]], true.detection[position[reached[filled]]]


def _needed(n_truth: np.ndarray, recalls: np.ndarray) -> np.ndarray:
    """How many true positives reach each recall point, (K, R), at least 1: the least n with n / n_truth >= recall."""
    count = np.where(n_truth > 0, n_truth, 1.0)[:, None]
    needed = np.ceil(recalls * count)
    needed -= (needed - 1) / count >= recalls
    needed += needed / count < recalls
    return np.maximum(needed, 1.0)


class Scope(NamedTuple):
    """Marks the truths that count, (G,), and the detections that are wrong without a match, (D,)."""

    counts: np.ndarray
    within: np.ndarray


def area_scope(detections: Detections, area: str) -> Scope:
    """The scope of an area range, by its name in AREAS."""
    within = [_in_range(values, area) for values in (detections.truth_area, detections.area)]
    return Scope(within[0] & ~detections.is_ignored, within[1])


def _in_range(areas: np.ndarray, name: str) -> np.ndarray:
    low, high = AREAS[name]
    within = (areas >= low) & (areas <= high)
    return within | np.isnan(areas) if name == "all" else within


def matched_pairs(detections: Detections, scope: Scope, thresholds: np.ndarray) -> list[Pairs]:
    """The matched pairs at each of the thresholds, in the order of the detections."""
    pairs = detections.pairs
    pairs = pairs.take(greedy.preferred_order(pairs, ~scope.counts))
    matched = []
    for threshold in thresholds:
        pairs = pairs.take(np.flatnonzero(pairs.measure >= min(threshold, ALMOST_ONE)))
        matched.append(pairs.take(greedy.greedy_pairs(pairs, detections.is_crowd)))
    return matched
