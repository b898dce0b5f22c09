"""Pairs of a truth and a prediction, and the chunks of frames that are searched for them.

A chunk is so small that all its pairs fit the processor's cache. Only the near pairs of a chunk are kept.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..support.chunks import chunks
from .alignment import Aligned, Side

# Truth-prediction pairs of a chunk.
PAIRS_AT_ONCE = 1 << 16

# The same for boxes, of which only those near each other are compared at all.
SIMILAR_AT_ONCE = 1 << 19

# Searches reach farther by this share. It is larger than any rounding error, so they miss no pair.
ROOM = 1e-12


class Pairs(NamedTuple):
    """Pairs of a prediction and a truth: their rows in the two sides, and their `measure`.

    The measure is a distance (px) if the rule is by distance, and otherwise a similarity from 0 to 1.
    """

    prediction: np.ndarray
    truth: np.ndarray
    measure: np.ndarray

    def take(self, chosen: np.ndarray | slice) -> "Pairs":
        """The pairs that are marked, or whose positions are given."""
        return Pairs(self.prediction[chosen], self.truth[chosen], self.measure[chosen])


def join_pairs(parts: Sequence[Pairs]) -> Pairs:
    """All pairs of the parts, in their order."""
    if not parts:
        return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return parts[0] if len(parts) == 1 else Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def frame_chunks(truth: Side, predictions: Side, at_once: int = PAIRS_AT_ONCE) -> Iterator[tuple[int, int]]:
    """Ranges of frames [first, last), each with at most `at_once` pairs and rows, or a single frame with more."""
    n_truth, n_predicted = truth.counts, predictions.counts
    return chunks(n_truth * n_predicted + n_truth + n_predicted, at_once)


def same_category(aligned: Aligned, prediction_rows: np.ndarray, truth_rows: np.ndarray) -> np.ndarray | bool:
    """Marks the pairs of equal categories; True if a side has no categories."""
    truth, predictions = aligned.truth.category, aligned.predictions.category
    return truth is None or predictions is None or predictions[prediction_rows] == truth[truth_rows]


def all_pairs(aligned: Aligned, first: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yields prediction rows, how many pairs each has, and the truth row of every pair, for the frames [first, last).

    It yields once unless there are more than 2 * PAIRS_AT_ONCE pairs. The pairs of a prediction stand together, in the
    order of the truths of its frame.
    """
    truth, predictions = aligned.truth, aligned.predictions
    row, end = predictions.starts[[first, last]].tolist()
    frame = predictions.frame[row:end]
    n_truth = truth.counts[frame]
    ends = np.cumsum(n_truth)
    offset = truth.starts[frame] - ends + n_truth
    for begin, stop in chunks(n_truth, 2 * PAIRS_AT_ONCE):
        truth_rows = np.repeat(offset[begin:stop], n_truth[begin:stop])
        truth_rows += np.arange(ends[begin] - n_truth[begin], ends[stop - 1])
        yield np.arange(row + begin, row + stop), n_truth[begin:stop], truth_rows
