"""From precision over recall to the average: the recall points of each protocol, and what is taken there.

Precision falls between true positives, so every value follows from these alone: how many detections of the category
are right up to and including each, and how many before it are wrong.

    101 points  COCO, LVIS: the highest precision at 101 recalls or beyond, averaged (cocoeval.py, accumulate)
    40 points   KITTI: the same at 1/40, 2/40 ... 1
    11 points   VOC until 2009: the same at 0, 0.1 ... 1 as MATLAB's 0:0.1:1 has them, so 0.3 is a little above 3/10
    area        VOC since 2010, Open Images: the area under the highest precision at each recall or beyond
    linear      nuScenes: precision itself, linear between detections, at 101 recalls; 0 beyond the last
    trapezoid   Ultralytics up to 8.4.36: the highest precision beyond each of 101 recalls, and from the last detection
                on a line to precision 0 at recall 1; integrated by trapezoids
    cut trapezoid  Ultralytics since 8.4.37: the same, but 0 from the last detection on
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...support import arrays

# The recall points.
RECALLS = np.linspace(0.0, 1.0, 101)

# How many rankings are looked at together; the arrays of their recall points fit a processor's cache.
PART = 1 << 10

# What pycocotools and lvis add to the denominator of precision.
SPACING = float(np.spacing(1))


class TruePositives(NamedTuple):
    """The N detections that are right, threshold by threshold, in the order of the detections, each (N,).

    At each of T thresholds the detections of each of K categories are a ranking: there are R = T * K.

    Attributes
    ----------
    detection, ranking, weight
        The position of each among the detections, its ranking, and how often it counts.
    found
        How many are right from the first ranking on, up to and including this one.
    tp, fp
        How many detections of its ranking are right up to and including this one, and how many before it are wrong.
    measure
        The similarity of each to its truth, or how far it is off.
    first
        The first of each ranking, and the end, (R + 1,).
    n_truth, n_wrong
        How many truths and how many wrong detections each ranking has, (R,).
    """

    detection: np.ndarray
    ranking: np.ndarray
    weight: np.ndarray
    found: np.ndarray
    tp: np.ndarray
    fp: np.ndarray
    measure: np.ndarray
    first: np.ndarray
    n_truth: np.ndarray
    n_wrong: np.ndarray


class Points(NamedTuple):
    """Precision at the X recall points of R rankings, and the detection that reaches each point, -1 where none does.

    Both are (R, X).
    """

    precision: np.ndarray
    at: np.ndarray


class Curve(NamedTuple):
    """The recall points (X,) of an interpolation, what is taken there, and how it is averaged.

    `taken` is the "highest" precision at that recall or beyond, the highest "beyond" it alone, the same but "falling"
    from the last detection to 0 at a recall of 1, or the one that is "linear" between detections. `spacing` is added to
    the denominator of precision.
    """

    recalls: np.ndarray
    taken: str = "highest"
    averaged: str = "mean"
    spacing: float = 0.0


CURVES = {
    "101 points": Curve(RECALLS, spacing=SPACING),
    "40 points": Curve(np.arange(1, 41) / 40),
    "11 points": Curve(np.arange(0.0, 1.1, 0.1)),
    "area": Curve(RECALLS, averaged="area"),
    "linear": Curve(RECALLS, taken="linear"),
    "trapezoid": Curve(RECALLS, taken="falling", averaged="trapezoid"),
    "cut trapezoid": Curve(RECALLS, taken="beyond", averaged="trapezoid"),
}

# The interpolations that are an area, and have no recall points to leave out.
AREAS_UNDER = tuple(name for name, curve in CURVES.items() if curve.averaged != "mean")


def cells_of(
    true: TruePositives, curve: Curve, min_recall: float = 0.0, min_precision: float = 0.0, *, together: bool = True
) -> np.ndarray:
    """The numbers that average precision is the mean of, (R, X): one a recall point, or one where it is an area.

    Unless they are kept `together`, there is only the mean of each ranking, (R, 1).
    """
    if curve.averaged == "area":
        return _area(true)[:, None]
    recalls = curve.recalls[curve.recalls > min_recall] if min_recall else curve.recalls
    parts = []
    for _, points in points_of(true, curve._replace(recalls=recalls)):
        cells = points.precision
        if curve.averaged == "trapezoid":
            cells = np.trapezoid(cells, recalls, axis=1)[:, None]
        elif min_precision:
            cells = np.maximum(cells - min_precision, 0.0) / (1.0 - min_precision)
        parts.append(cells if together else cells.mean(axis=1, keepdims=True))
    return np.concatenate(parts)


def points_of(true: TruePositives, curve: Curve) -> Iterator[tuple[slice, Points]]:
    """Yields ranges of rankings with precision at the recall points of the curve."""
    precision = true.tp / (true.fp + true.tp + curve.spacing)
    take = {"highest": _highest, "beyond": _beyond, "falling": _falling, "linear": _linear}[curve.taken]
    for low in range(0, len(true.n_truth), PART):
        part = slice(low, min(low + PART, len(true.n_truth)))
        yield part, take(true, precision, part, curve.recalls)


def _highest(true: TruePositives, precision: np.ndarray, part: slice, recalls: np.ndarray) -> Points:
    """The highest precision at each recall or beyond, and 0 where that is not reached."""
    return _from(true, precision, part, _needed(true.n_truth[part], recalls))


def _beyond(true: TruePositives, precision: np.ndarray, part: slice, recalls: np.ndarray) -> Points:
    """The highest precision beyond each recall, and 0 from the last detection on."""
    return _from(true, precision, part, _within(true.n_truth[part], recalls) + 1.0)


def _falling(true: TruePositives, precision: np.ndarray, part: slice, recalls: np.ndarray) -> Points:
    """The highest precision beyond each recall; from the last detection on it falls to 0 at a recall of 1."""
    n_truth = true.n_truth[part]
    within = _within(n_truth, recalls)
    points = _from(true, precision, part, within + 1.0)
    n_found = _counts(true, part)
    count = np.where(n_truth > 0, n_truth, 1.0)
    last, end = n_found / count, n_found / np.maximum(n_found + true.n_wrong[part], 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        falling = (-end / (1.0 - last))[:, None] * (recalls - last[:, None]) + end[:, None]
    is_after = (within >= n_found[:, None]) & ((n_found > 0) & (last < 1.0))[:, None]
    return points._replace(precision=np.where(is_after, falling, points.precision))


def _linear(true: TruePositives, precision: np.ndarray, part: slice, recalls: np.ndarray) -> Points:
    """Precision between the detections before and after each recall; 0 beyond the last."""
    n_truth, first = true.n_truth[part], true.first[part.start : part.stop + 1]
    n_found, count = _counts(true, part), np.where(n_truth > 0, n_truth, 1.0)[:, None]
    before = _found_before(true, first)
    right = np.searchsorted(true.found, before[:-1, None] + _within(n_truth, recalls), side="right")
    right = np.minimum(right, first[1:, None])  # the true positive after the recall; the end where there is none
    is_last = right == first[1:, None]
    there, left = np.minimum(right, max(len(precision) - 1, 0)), right - 1
    if not len(precision):
        return Points(np.zeros(right.shape), np.full(right.shape, -1))
    # Before the first true positive stands a false alarm, with recall and precision 0, or nothing.
    is_first = right == first[:-1, None]
    tp = np.where(is_first, 0.0, true.tp[left])
    wrong = np.where(is_last, true.n_wrong[part][:, None], true.fp[there])
    y = tp / np.maximum(tp + wrong, 1.0)
    x, next_x, next_y = tp / count, true.tp[there] / count, precision[there]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (next_y - y) / (next_x - x) * (recalls - x) + y
    value = np.where(is_first & (true.fp[there] == 0), next_y, value)
    value = np.where(is_last, np.where((recalls == x) & (n_found > 0)[:, None], y, 0.0), value)
    return Points(value, np.where(is_last, -1, true.detection[there]))


def _from(true: TruePositives, precision: np.ndarray, part: slice, needed: np.ndarray) -> Points:
    """The highest precision from the needed true positive on, and the detection that is needed; 0 where there is none.

    `precision` is that at each of the true positives. `needed` (R, X) is how many of them reach each point.
    """
    first = true.first[part.start : part.stop + 1]
    before = _found_before(true, first)
    reached = needed <= np.diff(before)[:, None]
    filled = np.diff(first) > 0
    values, at = np.zeros(needed.shape), np.full(needed.shape, -1)
    if filled.any():
        position = _position(true, before[:-1, None] + needed)
        position = np.minimum(position, first[1:, None] - 1)[filled]
        # Where each ranking ends stands a point of its own, so that the last point takes nothing of the next ranking.
        ends = np.column_stack([position, first[1:][filled]]) - first[0]
        of_part = np.append(precision[first[0] : first[-1]], 0.0)
        highest = np.maximum.reduceat(of_part, ends.ravel()).reshape(ends.shape)[:, :-1]
        highest = np.maximum.accumulate(highest[:, ::-1], axis=1)[:, ::-1]
        values[filled] = np.where(reached[filled], highest, 0.0)
        at[filled] = np.where(reached[filled], true.detection[position], -1)
    return Points(values, at)


def _area(true: TruePositives) -> np.ndarray:
    """The area under the highest precision at each recall or beyond, (R,)."""
    precision = true.tp / (true.fp + true.tp)
    # The highest from each on: ranks are whole numbers, so rankings can be told apart without rounding.
    values, rank = np.unique(precision, return_inverse=True)
    shifted = rank + (len(true.n_truth) - true.ranking) * (len(values) + 1)
    highest = np.maximum.accumulate(shifted[::-1])[::-1] % (len(values) + 1) if len(values) else rank
    count = np.where(true.n_truth > 0, true.n_truth, 1.0)
    recall = true.tp / count[true.ranking]
    step = np.diff(recall, prepend=0.0)
    starts = true.first[:-1][np.diff(true.first) > 0]
    step[starts] = recall[starts]
    return arrays.added_at(true.ranking, step * values[highest], len(true.n_truth))


def _found_before(true: TruePositives, first: np.ndarray) -> np.ndarray:
    """How many true positives there are before each of these positions."""
    return np.where(first > 0, true.found[first - 1], 0.0) if len(true.found) else np.zeros(len(first))


def _position(true: TruePositives, found: np.ndarray) -> np.ndarray:
    """The position of the true positive at which the running weight first reaches `found`."""
    if len(true.found) and true.found[-1] == len(true.found):  # each counts once
        return found.astype(np.int64) - 1
    return np.searchsorted(true.found, found)


def _counts(true: TruePositives, part: slice) -> np.ndarray:
    """How many true positives each ranking of a part has, (R,)."""
    return np.diff(_found_before(true, true.first[part.start : part.stop + 1]))


def _needed(n_truth: np.ndarray, recalls: np.ndarray) -> np.ndarray:
    """How many true positives reach each recall point, (R, X), at least 1: the least n with n / n_truth >= recall."""
    count = np.where(n_truth > 0, n_truth, 1.0)[:, None]
    needed = np.ceil(recalls * count)
    needed -= (needed - 1) / count >= recalls
    needed += needed / count < recalls
    return np.maximum(needed, 1.0)


def _within(n_truth: np.ndarray, recalls: np.ndarray) -> np.ndarray:
    """How many true positives stay within each recall point, (R, X): the largest n with n / n_truth <= recall."""
    count = np.where(n_truth > 0, n_truth, 1.0)[:, None]
    within = np.floor(recalls * count)
    within += (within + 1) / count <= recalls
    within -= within / count > recalls
    return within
