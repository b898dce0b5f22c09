"""What is evaluated as a sequence of its own: each sequence, each of its joints, or each of its classes.

A class of a sequence has only the frames in which a side has an object of the class, since no other frame changes a
pair or a sum. How many frames the sequence has is known beside them.
"""

from typing import NamedTuple

import numpy as np

from ..matching.alignment import Aligned, side_of
from ..matching.layout import joined_categories
from ..support.arrays import distinct, grouped, locate, row_keys
from ..tables.columns import Columns, array_of
from ..tables.schema import FRAME_KEY


class Sequences(NamedTuple):
    """Two aligned sides, whose frames are those of N sequences, in order.

    `labels` has the key of each sequence: `sequence`, and `joint` or `category` where each of these counts as a
    sequence. `n_frames` is how many frames each has, and `frame_sequence` the position of each aligned frame's
    sequence.
    """

    aligned: Aligned
    labels: Columns
    n_frames: np.ndarray
    frame_sequence: np.ndarray


def by_sequence(aligned: Aligned) -> Sequences:
    """The sequences as they are; each joint of a sequence where there are joints."""
    key = [column for column in ("sequence", "joint") if column in aligned.frames]
    frame_sequence, first = grouped(row_keys(aligned.frames, key))
    labels = aligned.frames.select(key).take(first)
    return Sequences(aligned, labels, np.bincount(frame_sequence, minlength=len(first)), frame_sequence)


def by_class(aligned: Aligned) -> Sequences:
    """Every class of every sequence, by sequence, then class; both sides must have categories.

    The classes are those that occur on either side in any sequence.
    """
    whole = by_sequence(aligned)
    sides = aligned.truth, aligned.predictions
    category, first = grouped(np.concatenate([side.category for side in sides if side.category is not None]))
    names = array_of(joined_categories([side.table["category"] for side in sides])).take(first)
    sequence, of_class = np.divmod(np.arange(len(whole.labels) * len(names)), max(len(names), 1))
    labels = whole.labels.take(sequence).assign({"category": names.take(of_class)})

    # A frame of a class is numbered by its sequence, then its class, then the frame.
    frame = np.concatenate([side.frame for side in sides])
    keys = (whole.frame_sequence[frame] * len(names) + category) * len(aligned.frames) + frame
    listed, _ = distinct(keys)
    frame_sequence, original = np.divmod(listed, max(len(aligned.frames), 1))
    truth, predictions = (
        side_of(side.table, side.row, position, None, len(listed))
        for side, position in zip(sides, np.split(locate(listed, keys), [len(aligned.truth.frame)]), strict=True)
    )
    frames = aligned.frames.select(FRAME_KEY).take(original)
    laid = aligned._replace(frames=frames, truth=truth, predictions=predictions)
    return Sequences(laid, labels, whole.n_frames[sequence], frame_sequence)


def rows_in(aligned: Aligned, laid: Aligned) -> tuple[np.ndarray, np.ndarray]:
    """For each row of the truth and of the predictions as they are laid out, its position in `aligned`."""
    sides = (aligned.truth, laid.truth), (aligned.predictions, laid.predictions)
    truth, predictions = (_places(side.row)[other.row] for side, other in sides)
    return truth, predictions


def _places(row: np.ndarray) -> np.ndarray:
    """The position of each row of a table among those that are left, some of which may be left out."""
    places = np.zeros(row.max(initial=-1) + 1, np.int64)
    places[row] = np.arange(len(row))
    return places
