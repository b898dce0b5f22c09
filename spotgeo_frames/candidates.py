"""Which truth and prediction of a frame are near enough to be compared.

Frames are taken so many at a time that what a step touches fits the processor's cache; what it leaves are the near
pairs only.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .alignment import Aligned, Side
from .similarity import difference, point_distance

# Truth-prediction pairs looked at in one step.
PAIRS_AT_ONCE = 1 << 16


class Pairs(NamedTuple):
    """Pairs of a prediction and a truth: their rows in the two sides, in frame order, and their distance (px)."""

    prediction: np.ndarray
    truth: np.ndarray
    distance: np.ndarray

    def take(self, chosen: np.ndarray) -> "Pairs":
        """The pairs that are marked or numbered."""
        return Pairs(self.prediction[chosen], self.truth[chosen], self.distance[chosen])


def join_pairs(parts: Sequence[Pairs]) -> Pairs:
    """All pairs of the parts, in their order; no parts are no pairs."""
    if not parts:
        return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def frame_chunks(truth: Side, predictions: Side) -> Iterator[tuple[int, int]]:
    """Ranges of frames [first, last) with about PAIRS_AT_ONCE pairs and rows each, or one frame with more."""
    n_truth, n_predicted = truth.counts, predictions.counts
    work = np.cumsum(n_truth * n_predicted + n_truth + n_predicted)
    first = 0
    while first < len(work):
        done = work[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(work, done + PAIRS_AT_ONCE, side="right")))
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
        close = distance <= tau
        if truth.category is not None and predictions.category is not None:
            close &= predictions.category[rows] == truth.category[truth_rows]
        parts.append(Pairs(rows, truth_rows, distance).take(np.flatnonzero(close)))
    return join_pairs(parts)


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
