"""Pairs of a truth and a prediction, and the chunks of frames that are searched for them.

Only the near pairs of a chunk are kept, so that it may have many pairs: where frames are crowded, most are never made.
Those that are made are compared so few at a time that they fit the processor's cache.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..support import arrays, memory
from .alignment import Aligned, Side

# Truth-prediction pairs of a chunk of frames, and how many of them are compared at once.
PAIRS_IN_CHUNK, PAIRS_AT_ONCE = 1 << 21, 1 << 16

# The same where frames are compared chunk by chunk more than once.
SIMILAR_AT_ONCE = 1 << 19

# The memory that a near pair takes until its frame is assigned, measured where all pairs of a frame are near (bytes).
PAIR_BYTES = 110


class Pairs(NamedTuple):
    """Pairs of a prediction and a truth: their rows in the two sides, and their `measure`.

    The measure is a distance (px) if the rule is by distance, one in head sizes if it is "keypoint", and otherwise a
    similarity from 0 to 1.
    """

    prediction: np.ndarray
    truth: np.ndarray
    measure: np.ndarray

    def take(self, chosen: np.ndarray | slice) -> "Pairs":
        """The pairs that are marked, or whose positions are given."""
        if isinstance(chosen, slice):
            return Pairs(*(column[chosen] for column in self))
        # `take` is faster than brackets, which are slowest with marks.
        positions = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        return Pairs(*(column.take(positions) for column in self))


def join_pairs(parts: Sequence[Pairs]) -> Pairs:
    """All pairs of the parts, in their order."""
    if not parts:
        return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return parts[0] if len(parts) == 1 else Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def gathered(aligned: Aligned, first: int, last: int, parts: Iterable[tuple[int, Pairs]]) -> Pairs:
    """The near pairs of the frames [first, last), which come in parts, each with how many pairs were searched for it.

    Raises InputError, naming the frame, as soon as a single frame turns out to have more near pairs than the memory at
    hand can take.
    """
    # Several frames are a chunk only if they have few pairs.
    counts = [int(side.counts[first]) if last - first == 1 else 0 for side in (aligned.truth, aligned.predictions)]
    n_pairs = counts[0] * counts[1]
    at_hand = memory.limit_of(n_pairs * PAIR_BYTES)
    found, n_searched, n_near = list[Pairs](), 0, 0
    for n_of_part, near in parts:
        found.append(near)
        n_searched += n_of_part
        n_near += len(near.truth)
        if at_hand is not None and n_near * PAIR_BYTES > at_hand:
            work = f"matching {counts[0]:,} truths with {counts[1]:,} predictions so close together"
            n_bytes = n_near * PAIR_BYTES * n_pairs / n_searched
            raise memory.too_much(aligned.names_from(first)(0), work, n_bytes, at_hand)
    return join_pairs(found)


def frame_chunks(truth: Side, predictions: Side, at_once: int = PAIRS_IN_CHUNK) -> Iterator[tuple[int, int]]:
    """Ranges of frames [first, last), each with at most `at_once` pairs and rows, or a single frame with more."""
    n_truth, n_predicted = truth.counts, predictions.counts
    return arrays.chunks(n_truth * n_predicted + n_truth + n_predicted, at_once)


def same_category(aligned: Aligned, prediction_rows: np.ndarray, truth_rows: np.ndarray) -> np.ndarray | bool:
    """Marks the pairs of equal categories, and those of a crowd of any; True if a side has no categories."""
    truth, predictions = aligned.truth.category, aligned.predictions.category
    if truth is None or predictions is None:
        return True
    of_truth = truth[truth_rows]
    return (predictions[prediction_rows] == of_truth) | (of_truth < 0)


def all_pairs(aligned: Aligned, first: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yields prediction rows, how many pairs each has, and the truth row of every pair, for the frames [first, last).

    It yields once unless there are more than 2 * PAIRS_AT_ONCE pairs. The pairs of a prediction stand together, in the
    order of the truths of its frame.
    """
    truth, predictions = aligned.truth, aligned.predictions
    row, end = predictions.starts[[first, last]].tolist()
    frame = predictions.frame[row:end]
    n_truth = truth.counts.take(frame)
    ends = np.cumsum(n_truth)
    offset = truth.starts.take(frame) - ends + n_truth
    for begin, stop in arrays.chunks(n_truth, 2 * PAIRS_AT_ONCE):
        truth_rows = np.repeat(offset[begin:stop], n_truth[begin:stop])
        truth_rows += np.arange(ends[begin] - n_truth[begin], ends[stop - 1])
        yield np.arange(row + begin, row + stop), n_truth[begin:stop], truth_rows
