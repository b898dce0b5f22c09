"""Which truth and prediction of a frame are near enough to be compared.

Frames are taken so many at a time that what a step touches fits the processor's cache; what it leaves are the near
pairs only. Boxes are looked up by columns of the image: each box meets only those that begin in the columns it covers,
so that most of what lies apart is never looked at.
"""

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .alignment import Aligned, Side
from .errors import InputError
from .runs import runs
from .similarity import Measure, difference, iou, point_distance, point_similarity
from .tables import source

# The similarity of each pair of a row of truth and one of predictions.
RowMeasure = Callable[[np.ndarray, np.ndarray], np.ndarray]

# Truth-prediction pairs looked at in one step.
PAIRS_AT_ONCE = 1 << 16

# The same where most pairs are not even looked at, since only boxes that lie near each other are.
SIMILAR_AT_ONCE = 1 << 19

# Edges of boxes are searched up to here (px); beyond, they count as here, which finds more and misses none.
FARTHEST = 1e12

# Searches reach farther by this share, more than any rounding, so that they miss nothing.
ROOM = 1e-12

# Columns of the image, to look up boxes by, for each box of a frame.
COLUMNS = 4


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
    return parts[0] if len(parts) == 1 else Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def frame_chunks(truth: Side, predictions: Side, at_once: int = PAIRS_AT_ONCE) -> Iterator[tuple[int, int]]:
    """Ranges of frames [first, last) with about `at_once` pairs and rows each, or one frame with more."""
    n_truth, n_predicted = truth.counts, predictions.counts
    return runs(n_truth * n_predicted + n_truth + n_predicted, at_once)


def all_near_points(aligned: Aligned, tau: float | np.ndarray) -> Pairs:
    """What near_points finds in all frames, with bounded memory beside the answer."""
    runs = frame_chunks(aligned.truth, aligned.predictions)
    return join_pairs([near_points(aligned, *run, tau) for run in runs])


def near_points(aligned: Aligned, first: int, last: int, tau: float | np.ndarray) -> Pairs:
    """The pairs of the frames [first, last) that are at most `tau` pixels apart, sorted by prediction, then truth.

    `tau` may be another for each row of truth. It is the distance that is compared, not its square. Where both sides
    have categories, only equal ones are near.
    """
    truth, predictions = aligned.truth, aligned.predictions

    def reach(truth_rows: np.ndarray) -> float | np.ndarray:
        return tau[truth_rows] if isinstance(tau, np.ndarray) else tau

    parts = []
    for some_predictions, n_pairs, some_truths in _all_pairs(aligned, first, last):
        dx = difference(np.repeat(predictions.xy[0][some_predictions], n_pairs), truth.xy[0][some_truths])
        # |dx| > tau alone is too far (rounding keeps order), so most pairs need no second coordinate.
        maybe = np.flatnonzero(np.abs(dx) <= reach(some_truths))
        rows, truth_rows = np.repeat(some_predictions, n_pairs)[maybe], some_truths[maybe]
        distance = point_distance(dx[maybe], difference(predictions.xy[1][rows], truth.xy[1][truth_rows]))
        close = (distance <= reach(truth_rows)) & _same_category(aligned, rows, truth_rows)
        parts.append(Pairs(rows, truth_rows, distance).take(np.flatnonzero(close)))
    return join_pairs(parts)


def near_keypoints(aligned: Aligned, head_size: np.ndarray, most: float, first: int, last: int) -> Pairs:
    """The pairs of joints in the frames [first, last) whose distance is `most` or less, sorted by truth.

    They are measured in head sizes: `head_size` is that of each row of truth, in pixels.
    """
    near = near_points(aligned, first, last, head_size * (most * (1 + ROOM)))
    with np.errstate(divide="ignore", invalid="ignore"):  # of a head without a size, 0 / 0 is near to nothing
        distance = near.measure / head_size[near.truth]
    pairs = near._replace(measure=distance).take(np.flatnonzero(distance <= most))
    return pairs.take(np.argsort(pairs.truth, kind="stable"))


def check_measure(similarity: str | Measure, tau: float) -> None:
    """Raises ValueError where `similar_pairs` could not work with these."""
    if similarity not in ("iou", "point") and not callable(similarity):
        raise ValueError(f"similarity is {similarity!r}; 'iou', 'point' or a function is needed")
    if similarity == "point" and not 0 < tau < np.inf:
        raise ValueError(f"tau is {tau}; a distance above 0 is needed, in pixels")


def check_measured(aligned: Aligned, similarity: str | Measure) -> None:
    """Raises InputError where columns lack that `similar_pairs` needs; warns of boxes of zero or negative size."""
    if similarity != "iou":
        return
    tables = {"truth": aligned.truth.table, "predictions": aligned.predictions.table}
    problems = [
        f"{source(table, name)}: column {column} is missing; boxes have w and h ('point' is of points, 'oks' of poses)"
        for name, table in tables.items()
        for column in ("w", "h")
        if column not in table
    ]
    if problems:
        raise InputError(problems)
    n_flat = {name: int(((table["w"] <= 0) | (table["h"] <= 0)).sum()) for name, table in tables.items()}
    if any(n_flat.values()):
        what = " and ".join(f"{number} of the {name}" for name, number in n_flat.items() if number)
        warnings.warn(f"boxes of zero or negative size, which overlap with nothing: {what}", stacklevel=4)


def made_with(similarity: str | Measure, threshold: float, tau: float = np.nan) -> dict[Hashable, Any]:
    """What results say of how they were made."""
    name = similarity if isinstance(similarity, str) else getattr(similarity, "__name__", type(similarity).__name__)
    notes: dict[Hashable, Any] = {"rule": name if name is similarity else f"function {name}", "threshold": threshold}
    return notes | ({"tau": tau} if similarity == "point" else {})


def similar_pairs(
    aligned: Aligned, similarity: str | Measure, tau: float = np.nan, least: float = 0.0
) -> Callable[[int, int], Pairs]:
    """A function that gives the pairs of the frames [first, last) whose similarity is above 0, and `least` or more.

    They are sorted by truth, then prediction. `similarity` is "iou" for boxes, "point" for
    max(0, 1 - distance / (2 tau)), or a measure of the caller's. Where both sides have categories, only equal ones are
    similar. `check_measure` and `check_measured` have to come before; the pairs of a measure of the caller's raise
    InputError where it returns something else than similarities.
    """
    if similarity == "iou":
        truth_boxes, predicted_boxes = (
            np.stack([side.table[column].to_numpy() for column in ("x", "y", "w", "h")])
            for side in (aligned.truth, aligned.predictions)
        )
        return partial(_overlapping, aligned, truth_boxes, predicted_boxes, least)
    if callable(similarity):
        return partial(measured_pairs, aligned, partial(_called, aligned, similarity), least)
    return partial(_similar_points, aligned, tau, least)


def _similar_points(aligned: Aligned, tau: float, least: float, first: int, last: int) -> Pairs:
    near = near_points(aligned, first, last, 2.0 * tau)
    return _in_order(near._replace(measure=point_similarity(near.measure, 2.0 * tau)), least)


def measured_pairs(aligned: Aligned, measure: RowMeasure, least: float, first: int, last: int) -> Pairs:
    """The pairs that `similar_pairs` gives for the frames [first, last), by a measure of rows."""
    parts = []
    for some_predictions, n_pairs, truth_rows in _all_pairs(aligned, first, last):
        prediction_rows = np.repeat(some_predictions, n_pairs)
        same = _same_category(aligned, prediction_rows, truth_rows)
        parts.append(Pairs(prediction_rows, truth_rows, measure(truth_rows, prediction_rows) * same))
    return _in_order(join_pairs(parts), least)


def _called(aligned: Aligned, measure: Measure, truth_rows: np.ndarray, prediction_rows: np.ndarray) -> np.ndarray:
    """What the caller's measure says of pairs of rows, checked."""
    tables = aligned.truth.table.iloc[truth_rows], aligned.predictions.table.iloc[prediction_rows]
    answer = np.asarray(measure(*(table.reset_index(drop=True) for table in tables)))
    if answer.shape != truth_rows.shape or answer.dtype.kind not in "fiub":
        what = f"shape {answer.shape} and type {answer.dtype}"
        raise InputError(f"similarity: the function returned {what}; a number for each of {len(truth_rows)} pairs")
    answer = answer.astype(np.float64)
    if not np.all((answer >= 0) & (answer <= 1)):
        raise InputError("similarity: the function returned values outside 0 to 1, or NaN")
    return answer


def _in_order(pairs: Pairs, least: float) -> Pairs:
    """The pairs that are similar enough, sorted by truth; they are sorted by prediction."""
    pairs = pairs.take(np.flatnonzero((pairs.measure > 0) & (pairs.measure >= least)))
    return pairs.take(np.argsort(pairs.truth, kind="stable"))


def _overlapping(
    aligned: Aligned, truth_boxes: np.ndarray, predicted_boxes: np.ndarray, least: float, first: int, last: int
) -> Pairs:
    """The pairs of boxes, (4, N) on both sides, that overlap enough."""
    start, end = aligned.truth.starts[[first, last]].tolist()
    predicted = slice(*aligned.predictions.starts[[first, last]].tolist())
    # A single frame may have more pairs than can be looked at at once: some truths after the other.
    n_predicted = aligned.predictions.counts.take(aligned.truth.frame[start:end])
    parts = [slice(start + begin, start + stop) for begin, stop in runs(n_predicted, 2 * SIMILAR_AT_ONCE)]
    return join_pairs(
        [_overlapping_rows(aligned, truth_boxes, predicted_boxes, least, rows, predicted) for rows in parts]
    )


def _overlapping_rows(
    aligned: Aligned,
    truth_boxes: np.ndarray,
    predicted_boxes: np.ndarray,
    least: float,
    truth_rows: slice,
    predicted_rows: slice,
) -> Pairs:
    """The same of some truths and all predictions of their frames."""
    truth_boxes, predicted_boxes = truth_boxes[:, truth_rows], predicted_boxes[:, predicted_rows]
    frames = aligned.truth.frame[truth_rows], aligned.predictions.frame[predicted_rows]
    first = min(side.min(initial=len(aligned.frames)) for side in frames)
    truth, prediction = _perhaps_overlapping(truth_boxes, predicted_boxes, frames[0] - first, frames[1] - first, least)
    key = (truth << 32) | prediction  # one sort of integers is faster than any of two columns
    key.sort()
    truth, prediction = key >> 32, key & 0xFFFFFFFF
    overlap = iou([side.take(truth) for side in truth_boxes], [side.take(prediction) for side in predicted_boxes])
    pairs = Pairs(prediction + predicted_rows.start, truth + truth_rows.start, overlap)
    enough = (overlap > 0) & (overlap >= least) & _same_category(aligned, pairs.prediction, pairs.truth)
    return pairs.take(np.flatnonzero(enough))


def _perhaps_overlapping(
    truth: np.ndarray, predictions: np.ndarray, truth_frames: np.ndarray, predicted_frames: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """The positions of boxes (4, N) of the same frame that may overlap by `least`: all that do, and few others.

    If two boxes have an IoU of `least`, they share at least that part of the width of either, so that the one that
    begins further right does so within the first 1 - least of the other's. From top to bottom the same holds.
    """
    truth, predictions = _early_parts(truth, least), _early_parts(predictions, least)
    begins, ends, n_columns = _image_columns((truth, predictions), (truth_frames, predicted_frames))
    rows, others = _beginning_within(begins[0], ends[0], begins[1], n_columns)
    late = predictions[0].take(others) > truth[0].take(rows)
    others_too, rows_too = _beginning_within(begins[1], ends[1], begins[0], n_columns)
    not_late = predictions[0].take(others_too) <= truth[0].take(rows_too)  # the others are found already
    rows = np.concatenate([rows[late], rows_too[not_late]])
    others = np.concatenate([others[late], others_too[not_late]])
    with np.errstate(over="ignore"):
        level = (truth[1] + truth[3]).take(rows) > predictions[1].take(others)
        level &= (predictions[1] + predictions[3]).take(others) > truth[1].take(rows)
    some = np.flatnonzero(level)
    return rows[some], others[some]


def _early_parts(boxes: np.ndarray, least: float) -> np.ndarray:
    """The boxes with only the first 1 - least of their sizes, and some room, since their far edges are rounded."""
    corners, sizes = boxes[:2], boxes[2:]
    with np.errstate(over="ignore"):
        return np.concatenate([corners, (1.0 - least) * sizes + ROOM * (np.abs(corners) + np.abs(sizes))])


def _image_columns(
    sides: tuple[np.ndarray, np.ndarray], frames: tuple[np.ndarray, np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """The column of the image, counted on through the frames, of each left and right edge; and how many there are."""
    with np.errstate(over="ignore"):
        edges = [np.clip([left, left + width], -FARTHEST, FARTHEST) for left, _, width, _ in sides]
    low, high = min(side.min(initial=0.0) for side in edges), max(side.max(initial=0.0) for side in edges)
    n_frames = max(int(side.max(initial=0)) for side in frames) + 1
    n_columns = min(max(COLUMNS * sum(map(len, frames)) // n_frames, 8), 1024)
    scale = n_columns / (high - low + 1.0)
    columns = [
        ((side - low) * scale).astype(np.int64) + n_columns * number for side, number in zip(edges, frames, strict=True)
    ]
    return [side[0] for side in columns], [side[1] for side in columns], n_columns * n_frames


def _beginning_within(
    begins: np.ndarray, ends: np.ndarray, others: np.ndarray, n_columns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Each box with all of the `others` that begin in the columns from where it begins to where it ends."""
    order = np.argsort(others)
    starts = np.cumsum(np.bincount(others + 1, minlength=n_columns + 1))
    first = starts[begins]
    counts = np.maximum(starts[ends + 1] - first, 0)
    within = np.arange(counts.sum()) + np.repeat(first - np.cumsum(counts) + counts, counts)
    return np.repeat(np.arange(len(begins)), counts), order.take(within)


def _same_category(aligned: Aligned, prediction_rows: np.ndarray, truth_rows: np.ndarray) -> np.ndarray | bool:
    truth, predictions = aligned.truth.category, aligned.predictions.category
    return truth is None or predictions is None or predictions[prediction_rows] == truth[truth_rows]


def _all_pairs(aligned: Aligned, first: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Prediction rows, how many pairs each has, and the truth row of every pair in the frames [first, last).

    All at once, unless a single frame holds more than PAIRS_AT_ONCE. A prediction's pairs stand together: its frame's
    first truth, its second, ...
    """
    truth, predictions = aligned.truth, aligned.predictions
    row, end = predictions.starts[[first, last]].tolist()
    frame = predictions.frame[row:end]
    n_truth = truth.counts[frame]
    ends = np.cumsum(n_truth)
    offset = truth.starts[frame] - ends + n_truth
    for begin, stop in runs(n_truth, 2 * PAIRS_AT_ONCE):
        some_truths = np.repeat(offset[begin:stop], n_truth[begin:stop])
        some_truths += np.arange(ends[begin] - n_truth[begin], ends[stop - 1])
        yield np.arange(row + begin, row + stop), n_truth[begin:stop], some_truths
