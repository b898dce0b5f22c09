"""Finds the boxes of a frame that overlap.

The image is divided into columns. Each box is compared only with boxes that begin in the columns that it covers, so
most pairs of boxes that lie apart are never compared.
"""

from collections.abc import Callable, Iterator

import numpy as np

from ..support.arrays import chunks, ranges
from .alignment import Aligned
from .pairs import ROOM, SIMILAR_AT_ONCE, Pairs, gathered, same_category
from .similarity import Boxes, iou

# Edges of boxes farther out than this (px) are moved here for the search, which finds more pairs and misses none.
FARTHEST = 1e12

# A function from the boxes of N truths and of N predictions to how much each pair overlaps, from 0 to 1.
BoxMeasure = Callable[[Boxes, Boxes], np.ndarray]

# Columns into which the image is divided, for each box of a frame.
COLUMNS = 4


def overlapping(
    aligned: Aligned,
    truth_boxes: np.ndarray,
    predicted_boxes: np.ndarray,
    least: float,
    first: int,
    last: int,
    measure: BoxMeasure = iou,
) -> Pairs:
    """The pairs of the frames [first, last) of an equal category whose IoU is above 0, and at least `least`.

    The boxes of a side are an array (4, N): left, top, width and height (px) of the side's rows. A `measure` that may
    be larger than the IoU needs a `least` of 0.
    """
    start, end = aligned.truth.starts[[first, last]].tolist()
    predicted = slice(*aligned.predictions.starts[[first, last]].tolist())
    # A single frame may have more pairs than fit in memory, so its truths are taken in several chunks.
    n_predicted = aligned.predictions.counts.take(aligned.truth.frame[start:end])

    def parts() -> Iterator[tuple[int, Pairs]]:
        for begin, stop in chunks(n_predicted, 2 * SIMILAR_AT_ONCE):
            rows = slice(start + begin, start + stop)
            pairs = _overlapping_rows(aligned, truth_boxes, predicted_boxes, least, rows, predicted, measure)
            yield int(n_predicted[begin:stop].sum()), pairs

    return gathered(aligned, first, last, parts())


def _overlapping_rows(
    aligned: Aligned,
    truth_boxes: np.ndarray,
    predicted_boxes: np.ndarray,
    least: float,
    truth_rows: slice,
    predicted_rows: slice,
    measure: BoxMeasure,
) -> Pairs:
    """The overlapping pairs of a range of truth rows and a range of prediction rows."""
    truth_boxes, predicted_boxes = truth_boxes[:, truth_rows], predicted_boxes[:, predicted_rows]
    frames = aligned.truth.frame[truth_rows], aligned.predictions.frame[predicted_rows]
    first = min(side.min(initial=len(aligned.frames)) for side in frames)
    truth, prediction = _perhaps_overlapping(truth_boxes, predicted_boxes, frames[0] - first, frames[1] - first, least)
    key = (truth << 32) | prediction  # one sort of integers is faster than any of two columns
    key.sort()
    truth, prediction = key >> 32, key & 0xFFFFFFFF
    overlap = measure([side.take(truth) for side in truth_boxes], [side.take(prediction) for side in predicted_boxes])
    pairs = Pairs(prediction + predicted_rows.start, truth + truth_rows.start, overlap)
    enough = (overlap > 0) & (overlap >= least) & same_category(aligned, pairs.prediction, pairs.truth)
    return pairs.take(enough)


def _perhaps_overlapping(
    truth: np.ndarray, predictions: np.ndarray, truth_frames: np.ndarray, predicted_frames: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """The positions of pairs of boxes (4, N) of one frame that may have an IoU of `least`: all that do, and few others.

    Two boxes with an IoU of `least` share at least that part of the width of each. So the left edge of the box further
    right lies within the first 1 - least of the other box's width. The same holds from top to bottom.
    """
    truth, predictions = _early_parts(truth, least), _early_parts(predictions, least)
    begins, ends, n_columns = _image_columns((truth, predictions), (truth_frames, predicted_frames))
    rows, others = _beginning_within(begins[0], ends[0], begins[1], n_columns)
    late = predictions[0].take(others) > truth[0].take(rows)
    others_too, rows_too = _beginning_within(begins[1], ends[1], begins[0], n_columns)
    not_late = predictions[0].take(others_too) <= truth[0].take(rows_too)  # the late ones are there already
    rows = np.concatenate([rows[late], rows_too[not_late]])
    others = np.concatenate([others[late], others_too[not_late]])
    with np.errstate(over="ignore"):
        level = (truth[1] + truth[3]).take(rows) > predictions[1].take(others)
        level &= (predictions[1] + predictions[3]).take(others) > truth[1].take(rows)
    crossing = np.flatnonzero(level)
    return rows[crossing], others[crossing]


def _early_parts(boxes: np.ndarray, least: float) -> np.ndarray:
    """The boxes with only the first 1 - least of their sizes, and a little more, since far edges are rounded."""
    corners, sizes = boxes[:2], boxes[2:]
    with np.errstate(over="ignore"):
        return np.concatenate([corners, (1.0 - least) * sizes + ROOM * (np.abs(corners) + np.abs(sizes))])


def _image_columns(
    sides: tuple[np.ndarray, np.ndarray], frames: tuple[np.ndarray, np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """The image column of each left and of each right edge, counted through all frames; and how many columns exist."""
    with np.errstate(over="ignore"):
        edges = [np.clip([left, left + width], -FARTHEST, FARTHEST) for left, _, width, _ in sides]
    low, high = min(side.min(initial=0.0) for side in edges), max(side.max(initial=0.0) for side in edges)
    n_frames = max(int(side.max(initial=0)) for side in frames) + 1
    n_columns = min(max(COLUMNS * sum(map(len, frames)) // n_frames, 8), 1024)
    scale = n_columns / (high - low + 1.0)
    columns = [
        ((side - low) * scale).astype(np.int64) + n_columns * frame for side, frame in zip(edges, frames, strict=True)
    ]
    return [side[0] for side in columns], [side[1] for side in columns], n_columns * n_frames


def _beginning_within(
    begins: np.ndarray, ends: np.ndarray, others: np.ndarray, n_columns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a box and another that begins in one of its columns: the positions of both.

    `begins` and `ends` are the first and the last column of each box, `others` the first column of each other box.
    """
    order = np.argsort(others)
    starts = np.cumsum(np.bincount(others + 1, minlength=n_columns + 1))
    first = starts[begins]
    counts = np.maximum(starts[ends + 1] - first, 0)
    box, within = ranges(first, counts)
    return box, order.take(within)
