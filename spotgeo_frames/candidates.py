"""Which truth and prediction of a frame are near enough to be compared.

Frames are taken a few thousand rows at a time: what a step touches then fits the processor's cache, and memory does
not grow with the data.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .alignment import Aligned, Side

# Truth-prediction pairs looked at in one step.
PAIRS_AT_ONCE = 1 << 16


class Pairs(NamedTuple):
    """Near pairs: rows of the two sides in frame order, and how far apart they are (px).

    Sorted by prediction, then truth, so by frame first.
    """

    prediction: np.ndarray
    truth: np.ndarray
    distance: np.ndarray


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
    """The pairs of the frames [first, last) that are at most `tau` pixels apart.

    The distance is sqrt(dx*dx + dy*dy) in float64, and it is the distance that is compared, not its square. Where
    both sides have categories, only equal ones are near.
    """
    rows = slice(*aligned.predictions.starts[[first, last]])
    n_truth = aligned.truth.counts[aligned.predictions.frame[rows]]
    ends = np.cumsum(n_truth)
    parts = []
    row, done = 0, 0
    while row < len(n_truth):  # one turn, unless a single frame holds more pairs than that
        stop = max(row + 1, int(np.searchsorted(ends, done + 2 * PAIRS_AT_ONCE, side="right")))
        parts.append(_near_rows(aligned, rows.start + row, rows.start + stop, tau))
        row, done = stop, int(ends[stop - 1])
    if len(parts) == 1:
        return parts[0]
    return Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True))) if parts else no_pairs()


def no_pairs() -> Pairs:
    return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def _near_rows(aligned: Aligned, first: int, last: int, tau: float) -> Pairs:
    """The near pairs of the predictions [first, last), each compared with every truth of its frame."""
    truth, predictions = aligned.truth, aligned.predictions
    frame = predictions.frame[first:last]
    n_truth = truth.counts[frame]
    # A prediction's pairs stand together: their truths are its frame's first, its second, ...
    rows = np.repeat(np.arange(len(frame)), n_truth)
    truth_rows = (truth.starts[frame] - np.cumsum(n_truth) + n_truth)[rows] + np.arange(len(rows))
    with np.errstate(over="ignore"):
        dx = predictions.xy[0][first:last][rows] - truth.xy[0][truth_rows]
        # |dx| > tau alone is too far (rounding keeps order), so most pairs need no second coordinate.
        maybe = np.flatnonzero(np.abs(dx) <= tau)
        dx, truth_rows, rows = dx[maybe], truth_rows[maybe], rows[maybe] + first
        dy = predictions.xy[1][rows] - truth.xy[1][truth_rows]
        distance = np.sqrt(dx * dx + dy * dy)
    close = distance <= tau
    if truth.category is not None and predictions.category is not None:
        close &= predictions.category[rows] == truth.category[truth_rows]
    near = np.flatnonzero(close)
    return Pairs(rows[near], truth_rows[near], distance[near])
