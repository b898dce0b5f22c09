"""What is evaluated as a sequence of its own: each sequence, each of its joints, or each of its classes.

A class of a sequence has only the frames in which a side has an object of the class, since no other frame changes a
pair or a sum. How many frames the sequence has is known beside them.
"""

from typing import NamedTuple

import numpy as np

from ..matching.alignment import Aligned, side_of_rows
from ..matching.layout import joined_categories
from ..support.keys import distinct, grouped, locate, row_keys
from ..tables.columns import Columns, array_of
from ..tables.schema import FRAME_KEY


class Sequences(NamedTuple):
    """Two aligned sides, whose frames are those of N sequences, in order.

    `labels` has the key of each sequence: `sequence`, and `joint` or `category` where each of these counts as a
    sequence. `n_frames` is how many frames each has, and `frame_sequence` the position of each aligned frame's sequence.
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

    The classes are those that occur on either side in any sequence. The rows of a class keep their order.
    """
    frame_sequence, first = grouped(row_keys(aligned.frames, ["sequence"]))
    sides = aligned.truth, aligned.predictions
    of_row, first_row = grouped(np.concatenate([side.category for side in sides if side.category is not None]))
    n_frames, n_classes = len(aligned.frames), len(first_row)
    frame = np.concatenate([side.frame for side in sides])
    keys = (frame_sequence[frame] * n_classes + of_row) * n_frames + frame
    listed, _ = distinct(keys)
    of_frame, original = np.divmod(listed, max(n_frames, 1))
    places = np.split(locate(listed, keys), [len(sides[0].frame)])
    laid = [
        side_of_rows(side.table, side.row, place, None, len(listed)) for side, place in zip(sides, places, strict=True)
    ]
    names = array_of(joined_categories([side.table["category"] for side in sides]))
    sequence, category = np.divmod(np.arange(len(first) * n_classes), max(n_classes, 1))
    labels = {
        "sequence": aligned.frames["sequence"].take(first[sequence]),
        "category": names.take(first_row[category]),
    }
    frames = aligned.frames.select(FRAME_KEY).take(original)
    n_frames_of = np.bincount(frame_sequence, minlength=len(first))[sequence]
    return Sequences(Aligned(frames, *laid), Columns(labels), n_frames_of, of_frame)


def rows_in(aligned: Aligned, laid: Aligned) -> tuple[np.ndarray, np.ndarray]:
    """For each row of the truth and of the predictions as they are laid out, its position in `aligned`."""
    sides = (aligned.truth, laid.truth), (aligned.predictions, laid.predictions)
    truth, predictions = (np.argsort(side.row)[other.row] for side, other in sides)
    return truth, predictions
