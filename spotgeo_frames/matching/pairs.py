"""Pairs of a truth and a prediction, and the chunks of frames in which they are looked for.

Frames are taken so many at a time that what a step touches fits the processor's cache; what it leaves are the near
pairs only.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..support.chunks import chunks
from .alignment import Aligned, Side

# Truth-prediction pairs looked at in one step.
PAIRS_AT_ONCE = 1 << 16

# The same where most pairs are not even looked at, since only boxes that lie near each other are.
SIMILAR_AT_ONCE = 1 << 19

# Searches reach farther by this share, more than any rounding, so that they miss nothing.
ROOM = 1e-12


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
    return chunks(n_truth * n_predicted + n_truth + n_predicted, at_once)


def same_category(aligned: Aligned, prediction_rows: np.ndarray, truth_rows: np.ndarray) -> np.ndarray | bool:
    truth, predictions = aligned.truth.category, aligned.predictions.category
    return truth is None or predictions is None or predictions[prediction_rows] == truth[truth_rows]


def all_pairs(aligned: Aligned, first: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
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
    for begin, stop in chunks(n_truth, 2 * PAIRS_AT_ONCE):
        some_truths = np.repeat(offset[begin:stop], n_truth[begin:stop])
        some_truths += np.arange(ends[begin] - n_truth[begin], ends[stop - 1])
        yield np.arange(row + begin, row + stop), n_truth[begin:stop], some_truths
