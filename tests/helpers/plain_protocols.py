"""Average precision by other protocols than COCO's, one detection after another, as their kits are written.

Each function takes tables of objects that are sorted by frame, and gives the AP of each category that has truths.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

Rows = list[dict[str, Any]]
TEN = np.linspace(0.5, 0.95, 10)


def iou(truth: dict[str, Any], found: dict[str, Any]) -> float:
    across = min(truth["x"] + truth["w"], found["x"] + found["w"]) - max(truth["x"], found["x"])
    down = min(truth["y"] + truth["h"], found["y"] + found["h"]) - max(truth["y"], found["y"])
    shared = max(across, 0.0) * max(down, 0.0)
    return float(shared / (truth["w"] * truth["h"] + found["w"] * found["h"] - shared))


def covered(truth: dict[str, Any], found: dict[str, Any]) -> float:
    across = min(truth["x"] + truth["w"], found["x"] + found["w"]) - max(truth["x"], found["x"])
    down = min(truth["y"] + truth["h"], found["y"] + found["h"]) - max(truth["y"], found["y"])
    return float(max(across, 0.0) * max(down, 0.0) / (found["w"] * found["h"]))


def away(truth: dict[str, Any], found: dict[str, Any]) -> float:
    return float(np.hypot(truth["x"] - found["x"], truth["y"] - found["y"]))


def by_category(truth: pd.DataFrame, found: pd.DataFrame, of_one: Callable[[Rows, Rows], float]) -> dict[Any, float]:
    answer = {}
    for category, known in truth.groupby("category", sort=True):
        claims = found[found["category"] == category]
        answer[category] = of_one(known.to_dict("records"), claims.to_dict("records"))
    return answer


def surest_first(found: Rows) -> Rows:
    return sorted(found, key=lambda row: -row["score"])


def voc_marks(truth: Rows, found: Rows, threshold: float = 0.5) -> list[tuple[float, int]]:
    """The score of each detection that counts, and 1 if it is right, 0 if it is wrong."""
    taken, marks = set(), []
    for row in surest_first(found):
        here = [(number, known) for number, known in enumerate(truth) if known["frame"] == row["frame"]]
        overlaps = [iou(known, row) for _, known in here]
        best = int(np.argmax(overlaps)) if overlaps else -1
        if best < 0 or overlaps[best] < threshold:
            marks.append((row["score"], 0))
        elif not here[best][1].get("ignore", False):
            marks.append((row["score"], int(here[best][0] not in taken)))
            taken.add(here[best][0])
    return marks


def curve(marks: Iterable[tuple[float, int]], n_truth: int) -> tuple[np.ndarray, np.ndarray]:
    right = np.cumsum([mark for _, mark in marks])
    wrong = np.cumsum([1 - mark for _, mark in marks])
    return right / n_truth, right / np.maximum(right + wrong, np.finfo(float).eps)


def n_counting(truth: Rows) -> int:
    return sum(not row.get("ignore", False) for row in truth)


def eleven_points(recall: np.ndarray, precision: np.ndarray) -> float:
    highest = [precision[recall >= t].max() if (recall >= t).any() else 0.0 for t in np.arange(0.0, 1.1, 0.1)]
    return float(np.mean(highest))


def area(recall: np.ndarray, precision: np.ndarray) -> float:
    x, y = np.concatenate([[0.0], recall, [1.0]]), np.concatenate([[0.0], precision, [0.0]])
    y = np.maximum.accumulate(y[::-1])[::-1]
    steps = np.flatnonzero(x[1:] != x[:-1])
    return float(np.sum((x[steps + 1] - x[steps]) * y[steps + 1]))


def forty_points(recall: np.ndarray, precision: np.ndarray) -> float:
    points = np.arange(1, 41) / 40
    return float(np.mean([precision[recall >= t].max() if (recall >= t).any() else 0.0 for t in points]))


def voc(year: int) -> Callable[[Rows, Rows], float]:
    average = eleven_points if year == 2007 else area
    return lambda truth, found: average(*curve(voc_marks(truth, found), n_counting(truth)))


def ultralytics_average(recall: np.ndarray, precision: np.ndarray) -> float:
    x, y = np.concatenate([[0.0], recall, [1.0]]), np.concatenate([[1.0], precision, [0.0]])
    y = np.flip(np.maximum.accumulate(np.flip(y)))
    at = np.linspace(0, 1, 101)
    return float(np.trapezoid(np.interp(at, x, y), at))


def ultralytics_cut_average(recall: np.ndarray, precision: np.ndarray) -> float:
    x, y = np.concatenate([[0.0], recall, [recall[-1]], [1.0]]), np.concatenate([[1.0], precision, [0.0], [0.0]])
    y = np.flip(np.maximum.accumulate(np.flip(y)))
    at = np.linspace(0, 1, 101)
    return float(np.trapezoid(np.interp(at, x, y), at))


Average = Callable[[np.ndarray, np.ndarray], float]
OF_ULTRALYTICS: dict[str, Average] = {"ultralytics": ultralytics_average, "ultralytics_cut": ultralytics_cut_average}


def ultralytics(average: Average, truth: Rows, found: Rows) -> float:
    """Matching as its validator does: all pairs by overlap, then one of each detection, then one of each truth."""
    if not found:
        return 0.0
    order = surest_first(found)
    overlaps = np.array([[iou(t, f) if t["frame"] == f["frame"] else 0.0 for f in order] for t in truth])
    averages = []
    for threshold in TEN:
        right = np.zeros(len(order))
        pairs = np.array(np.nonzero(overlaps >= threshold)).T
        if len(pairs):
            pairs = pairs[overlaps[pairs[:, 0], pairs[:, 1]].argsort(kind="stable")[::-1]]
            pairs = pairs[np.unique(pairs[:, 1], return_index=True)[1]]
            pairs = pairs[np.unique(pairs[:, 0], return_index=True)[1]]
            right[pairs[:, 1]] = 1
        found_so_far = np.cumsum(right)
        precision = found_so_far / np.arange(1, len(order) + 1)
        averages.append(average(found_so_far / (len(truth) + 1e-16), precision))
    return float(np.mean(averages))


def nuscenes(truth: Rows, found: Rows) -> float:
    return float(np.mean([_nuscenes_at(truth, found, tau) for tau in (0.5, 1.0, 2.0, 4.0)]))


def _nuscenes_at(truth: Rows, found: Rows, tau: float) -> float:
    order = [place for _, place in sorted((row["score"], place) for place, row in enumerate(found))][::-1]
    taken, right, wrong = set(), [], []
    for place in order:
        nearest, least = None, np.inf
        for number, known in enumerate(truth):
            if known["frame"] == found[place]["frame"] and number not in taken and away(known, found[place]) < least:
                nearest, least = number, away(known, found[place])
        right.append(float(least < tau))
        wrong.append(float(least >= tau))
        taken |= {nearest} if least < tau else set()
    if not any(right):
        return 0.0
    tp, fp = np.cumsum(right), np.cumsum(wrong)
    points = np.linspace(0, 1, 101)
    precision = np.interp(points, tp / len(truth), tp / (fp + tp), right=0)
    precision = np.clip(precision[11:] - 0.1, 0, None)
    return float(np.mean(precision)) / 0.9


def free_marks(truth: Rows, found: Rows, threshold: float) -> list[tuple[float, int]]:
    """COCO's matching: the most similar truth that is free; of equal ones the last."""
    taken, marks = set(), []
    for row in surest_first(found):
        best, most = None, threshold
        for number, known in enumerate(truth):
            if known["frame"] == row["frame"] and number not in taken and iou(known, row) >= most:
                best, most = number, iou(known, row)
        taken |= set() if best is None else {best}
        marks.append((row["score"], int(best is not None)))
    return marks


def kitti(thresholds: dict[str, float], others: float) -> Callable[[Rows, Rows], float]:
    def of_one(truth: Rows, found: Rows) -> float:
        threshold = thresholds.get(truth[0]["category"], others)
        return forty_points(*curve(free_marks(truth, found, threshold), len(truth)))

    return of_one


def open_images(truth: Rows, found: Rows) -> float:
    """Groups are found by the surest detection in them; others in them do not count."""
    single, groups = [t for t in truth if not t["crowd"]], [t for t in truth if t["crowd"]]
    taken, seen, marks = set(), set(), []
    for row in surest_first(found):
        here = [(number, known) for number, known in enumerate(single) if known["frame"] == row["frame"]]
        overlaps = [iou(known, row) for _, known in here]
        best = int(np.argmax(overlaps)) if overlaps else -1
        if best >= 0 and overlaps[best] >= 0.5 and here[best][0] not in taken:
            taken.add(here[best][0])
            marks.append((row["score"], 1))
            continue
        within = [
            (covered(known, row), -number) for number, known in enumerate(groups) if known["frame"] == row["frame"]
        ]
        share, number = max(within, default=(0.0, 0))
        if share < 0.5:
            marks.append((row["score"], 0))
        elif number not in seen:
            seen.add(number)
            marks.append((row["score"], 1))
    return area(*curve(marks, len(truth))) if marks else 0.0


def sensitivities(truth: Rows, found: Rows, tau: float, n_frames: int) -> list[float]:
    """The share of truths found where at most 1/8 ... 8 false alarms a frame are accepted."""
    taken, marks = set(), []
    for row in surest_first(found):
        near = [
            (away(known, row), -number)
            for number, known in enumerate(truth)
            if known["frame"] == row["frame"] and number not in taken and away(known, row) <= tau
        ]
        taken |= {-min(near)[1]} if near else set()
        marks.append((row["score"], int(bool(near))))
    answer = []
    for rate in (0.125, 0.25, 0.5, 1, 2, 4, 8):
        n_right = 0
        for least in {score for score, _ in marks}:
            above = [mark for score, mark in marks if score >= least]
            if len(above) - sum(above) <= rate * n_frames:
                n_right = max(n_right, sum(above))
        answer.append(n_right / len(truth))
    return answer


def lvis(truth: pd.DataFrame, found: pd.DataFrame, lists: dict[str, list[list[str]]]) -> dict[Any, float]:
    """Of one sequence whose frames are numbered from 1; `lists` are the columns of frames."""
    place = found.assign(place=range(len(found))).sort_values(
        ["frame", "score", "place"], ascending=[True, False, True]
    )
    found = found.loc[place[place.groupby("frame").cumcount() < 300].index].sort_index()
    positive = {*zip(truth["frame"], truth["category"], strict=True)}
    negative, partly = (
        {(frame, name) for frame, names in enumerate(lists[column], 1) for name in names}
        for column in ("negative_categories", "not_exhaustive_categories")
    )
    keys = [*zip(found["frame"], found["category"], strict=True)]
    found = found[[key in positive | negative for key in keys]]

    def of_one(known: Rows, claims: Rows) -> float:
        averages = []
        for threshold in TEN:
            marks = free_marks(known, claims, threshold)
            order = surest_first(claims)
            excused = [(row["frame"], row["category"]) in partly for row in order]
            left = [mark for mark, is_excused in zip(marks, excused, strict=True) if mark[1] or not is_excused]
            averages.append(coco_average(*curve(left, len(known))) if left else 0.0)
        return float(np.mean(averages))

    return by_category(truth, found, of_one)


def coco_average(recall: np.ndarray, precision: np.ndarray) -> float:
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    at = np.searchsorted(recall, np.linspace(0, 1, 101), side="left")
    return float(np.mean(np.append(highest, 0.0)[at]))
