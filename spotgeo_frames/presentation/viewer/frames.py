"""The frames of match tables in the order in which the viewer has them: by sequence, then by number."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...support.arrays import grouped, row_keys
from ...tables.schema import FRAME_KEY


class Frames(NamedTuple):
    """The frames of the N rows of match tables.

    Attributes
    ----------
    of_row
        (N,), the position of each row's frame.
    first
        For each frame, the first of its rows.
    sequence
        For each frame, the position of its sequence in `sequences`.
    sequences
        The names of the sequences.
    """

    of_row: np.ndarray
    first: np.ndarray
    sequence: np.ndarray
    sequences: list[Any]


def frames_of(matches: pd.DataFrame, sequences: Sequence[Any] | None = None) -> Frames:
    """The frames of match tables, which all joints of a frame share.

    `sequences` are all their sequences in the order to show them, None for the order of their names.
    """
    keys = matches[FRAME_KEY]
    frame, first = grouped(row_keys(keys, FRAME_KEY))
    sequence, first_frame = grouped(row_keys(keys.take(first), ["sequence"]))
    names = keys["sequence"].take(first[first_frame]).tolist()
    if sequences is None:
        return Frames(frame, first, sequence, names)
    shown = {name: position for position, name in enumerate(sequences)}
    sequence = np.array([shown[name] for name in names], np.int64)[sequence]
    order = np.argsort(sequence, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return Frames(place[frame], first[order], sequence[order], list(sequences))
