"""Which truth and prediction of a frame are near enough to be compared.

Frames are taken so many at a time that what a step touches fits the processor's cache; what it leaves are the near
pairs only. Boxes are found by searching intervals: of the boxes of a frame sorted by their left edge, those that begin
within another box's width are a run, so what lies apart is never looked at.
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .alignment import Aligned, Side
from .errors import InputError
from .similarity import Measure, difference, iou, point_distance, point_similarity
from .tables import source

# Truth-prediction pairs looked at in one step.
PAIRS_AT_ONCE = 1 << 16

# Edges of boxes are searched up to here (px); beyond, they count as here, which finds more and misses none.
FARTHEST = 1e12


class Pairs(NamedTuple):
    """Pairs of a prediction and a truth: their rows in the two sides, in frame order, and their `measure`.

    That is a distance (px) where points are matched by distance, and else a similarity, 0 to 1.
    """

    prediction: np.ndarray
    truth: np.ndarray
    measure: np.ndarray

    def take(self, chosen: np.ndarray | slice) -> "Pairs":
        """The pairs that are marked or numbered."""
        return Pairs(self.prediction[chosen], self.truth[chosen], self.measure[chosen])


def join_pairs(parts: Sequence[Pairs]) -> Pairs:
    """All pairs of the parts, in their order; no parts are no pairs."""
    if not parts:
        return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def frame_chunks(truth: Side, predictions: Side, at_once: int = PAIRS_AT_ONCE) -> Iterator[tuple[int, int]]:
    """Ranges of frames [first, last) with about `at_once` pairs and rows each, or one frame with more."""
    n_truth, n_predicted = truth.counts, predictions.counts
    work = np.cumsum(n_truth * n_predicted + n_truth + n_predicted)
    first = 0
    while first < len(work):
        done = work[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(work, done + at_once, side="right")))
        yield first, last
        first = last


def near_points(aligned: Aligned, first: int, last: int, tau: float) -> Pairs:
    """The pairs of the frames [first, last) that are at most `tau` pixels apart, sorted by prediction, then truth.

    It is the distance that is compared, not its square. Where both sides have categories, only equal ones are near.
    """
    truth, predictions = aligned.truth, aligned.predictions
    parts = []
    for some_predictions, some_truths in _all_pairs(aligned, first, last):
        dx = difference(predictions.xy[0][some_predictions], truth.xy[0][some_truths])
        # |dx| > tau alone is too far (rounding keeps order), so most pairs need no second coordinate.
        maybe = np.flatnonzero(np.abs(dx) <= tau)
        rows, truth_rows = some_predictions[maybe], some_truths[maybe]
        distance = point_distance(dx[maybe], difference(predictions.xy[1][rows], truth.xy[1][truth_rows]))
        close = (distance <= tau) & _same_category(aligned, rows, truth_rows)
        parts.append(Pairs(rows, truth_rows, distance).take(np.flatnonzero(close)))
    return join_pairs(parts)


def check_similarity(aligned: Aligned, similarity: str | Measure, tau: float) -> None:
    """Raises where `similar_pairs` could not work: ValueError for the arguments, InputError for columns that lack.

    Warns, once, of boxes of zero or negative size.
    """
    if similarity not in ("iou", "point") and not callable(similarity):
        raise ValueError(f"similarity is {similarity!r}; 'iou', 'point' or a function is needed")
    if similarity == "point" and not 0 < tau < np.inf:
        raise ValueError(f"tau is {tau}; a distance above 0 is needed, in pixels")
    if similarity != "iou":
        return
    tables = {"truth": aligned.truth.table, "predictions": aligned.predictions.table}
    problems = [
        f"{source(table, name)}: column {column} is missing; boxes have w and h (similarity='point' is for points)"
        for name, table in tables.items()
        for column in ("w", "h")
        if column not in table
    ]
    if problems:
        raise InputError(problems)
    n_flat = {name: int(((table["w"] <= 0) | (table["h"] <= 0)).sum()) for name, table in tables.items()}
    if any(n_flat.values()):
        what = " and ".join(f"{number} of the {name}" for name, number in n_flat.items() if number)
        warnings.warn(f"boxes of zero or negative size, which overlap with nothing: {what}", stacklevel=3)


def rule_name(similarity: str | Measure) -> str:
    """What results say they were made with."""
    return (
        similarity if isinstance(similarity, str) else f"function {getattr(similarity, '__name__', 'without a name')}"
    )


def similar_pairs(aligned: Aligned, first: int, last: int, similarity: str | Measure, tau: float = np.nan) -> Pairs:
    """The pairs of the frames [first, last) whose similarity is above 0, sorted by truth, then prediction.

    `similarity` is "iou" for boxes, "point" for max(0, 1 - distance / (2 tau)), or a measure of the caller's. Where
    both sides have categories, only equal ones are similar. Raises InputError where the caller's measure returns
    something else; `check_similarity` has looked at everything before.
    """
    if similarity == "iou":
        return _overlapping(aligned, first, last)
    if callable(similarity):
        pairs = join_pairs([_measured(aligned, similarity, *rows) for rows in _all_pairs(aligned, first, last)])
    else:
        near = near_points(aligned, first, last, 2.0 * tau)
        pairs = near._replace(measure=point_similarity(near.measure, 2.0 * tau))
    pairs = pairs.take(np.flatnonzero(pairs.measure > 0))
    return pairs.take(np.argsort(pairs.truth, kind="stable"))


def _overlapping(aligned: Aligned, first: int, last: int) -> Pairs:
    """The pairs of boxes that overlap."""
    sides = aligned.truth, aligned.predictions
    offsets = [int(side.starts[first]) for side in sides]
    rows = [slice(int(side.starts[first]), int(side.starts[last])) for side in sides]
    truth_boxes, predicted_boxes = (_boxes(side, part) for side, part in zip(sides, rows, strict=True))
    frames = [side.frame[part] - first for side, part in zip(sides, rows, strict=True)]
    truth, prediction = _side_by_side(truth_boxes, predicted_boxes, *frames)
    key = (truth << 32) | prediction  # one sort of integers is faster than any of two columns
    key.sort()
    truth, prediction = key >> 32, key & 0xFFFFFFFF
    overlap = iou(truth_boxes[:, truth], predicted_boxes[:, prediction])
    pairs = Pairs(prediction + offsets[1], truth + offsets[0], overlap)
    return pairs.take(np.flatnonzero((overlap > 0) & _same_category(aligned, pairs.prediction, pairs.truth)))


def _side_by_side(
    truth: np.ndarray, predictions: np.ndarray, truth_frames: np.ndarray, predicted_frames: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The positions of boxes (4, N) of one frame that may overlap: all that do, and few others."""
    edges = [np.clip(boxes[[0, 0]] + [[0.0], [1.0]] * boxes[2], -FARTHEST, FARTHEST) for boxes in (truth, predictions)]
    low = min((side.min() for side in edges if side.size), default=0.0)
    high = max((side.max() for side in edges if side.size), default=0.0)
    # Frames one after the other on one line. Rounding may bring boxes nearer to each other, but keeps their order.
    for side, frames in zip(edges, (truth_frames, predicted_frames), strict=True):
        side -= low
        side += 2.0 * (high - low + 1.0) * frames
    orders = [np.argsort(side[0]) for side in edges]
    edges = [side[:, order] for side, order in zip(edges, orders, strict=True)]
    found = []
    for own, other in ((0, 1), (1, 0)):
        starts = np.searchsorted(edges[other][0], edges[own][0], side="left")
        counts = np.maximum(np.searchsorted(edges[other][0], edges[own][1], side="right") - starts, 0)
        within = np.arange(counts.sum()) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        pair = [np.repeat(orders[own], counts), orders[other][within]]
        found.append(pair[::-1] if own else pair)
    inside, outside = found  # predictions that begin within a truth, truths that begin within a prediction
    inside_only = predictions[0, inside[1]] > truth[0, inside[0]]
    keep = [inside_only, predictions[0, outside[1]] <= truth[0, outside[0]]]
    truth_rows, prediction_rows = (
        np.concatenate([pair[side][kept] for pair, kept in zip(found, keep, strict=True)]) for side in (0, 1)
    )
    level = (truth[1] + truth[3])[truth_rows] > predictions[1, prediction_rows]
    level &= (predictions[1] + predictions[3])[prediction_rows] > truth[1, truth_rows]
    return truth_rows[level], prediction_rows[level]


def _boxes(side: Side, rows: slice) -> np.ndarray:
    """Left, top, width and height of the boxes in some rows, (4, N)."""
    return np.stack([side.table[column].to_numpy()[rows] for column in ("x", "y", "w", "h")])


def _measured(aligned: Aligned, measure: Measure, prediction_rows: np.ndarray, truth_rows: np.ndarray) -> Pairs:
    """Pairs with the similarity that the caller's measure gives."""
    tables = aligned.truth.table.iloc[truth_rows], aligned.predictions.table.iloc[prediction_rows]
    answer = np.asarray(measure(*(table.reset_index(drop=True) for table in tables)))
    if answer.shape != truth_rows.shape or answer.dtype.kind not in "fiub":
        what = f"shape {answer.shape} and type {answer.dtype}"
        raise InputError(f"similarity: the function returned {what}; a number for each of {len(truth_rows)} pairs")
    answer = answer.astype(np.float64)
    if not np.all((answer >= 0) & (answer <= 1)):
        raise InputError("similarity: the function returned values outside 0 to 1, or NaN")
    return Pairs(prediction_rows, truth_rows, answer * _same_category(aligned, prediction_rows, truth_rows))


def _same_category(aligned: Aligned, prediction_rows: np.ndarray, truth_rows: np.ndarray) -> np.ndarray | bool:
    truth, predictions = aligned.truth.category, aligned.predictions.category
    return truth is None or predictions is None or predictions[prediction_rows] == truth[truth_rows]


def _all_pairs(aligned: Aligned, first: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Prediction rows and truth rows of every pair in the frames [first, last).

    All at once, unless a single frame holds more than PAIRS_AT_ONCE. A prediction's pairs stand together: its frame's
    first truth, its second, ...
    """
    truth, predictions = aligned.truth, aligned.predictions
    row, end = predictions.starts[[first, last]].tolist()
    frame = predictions.frame[row:end]
    n_truth = truth.counts[frame]
    ends = np.cumsum(n_truth)
    offset = truth.starts[frame] - ends + n_truth
    begin = 0
    while begin < len(n_truth):
        done = ends[begin] - n_truth[begin]
        stop = max(begin + 1, int(np.searchsorted(ends, done + 2 * PAIRS_AT_ONCE, side="right")))
        number = np.repeat(np.arange(begin, stop), n_truth[begin:stop])
        yield number + row, offset[number] + np.arange(done, ends[stop - 1])
        begin = stop
