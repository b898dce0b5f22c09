"""Which object each row is of: identities that last through a sequence, as numbers.

An identity belongs to one sequence: the same name in two sequences is two objects.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import Aligned, Side
from ..support.errors import InputError
from ..support.keys import distinct, ordinals, pack, positions, row_keys
from ..tables.inputs import source
from ..tables.messages import counted, key_text
from ..tables.schema import FRAME_KEY, decoded, repetitions


class Identities(NamedTuple):
    """The identities of one side, numbered in the order of sequence and name.

    `of_row` is each row's identity; of each identity, `sequence` is the number of its sequence, `first_row` its first
    row and `n_rows` how many it has. Their names are in `column` of the side's table.
    """

    column: str
    of_row: np.ndarray
    sequence: np.ndarray
    first_row: np.ndarray
    n_rows: np.ndarray

    @property
    def number(self) -> int:
        """How many identities there are."""
        return len(self.n_rows)


class Tracks(NamedTuple):
    """Two aligned sides with their identities.

    Sequences are numbered as in `sequence_names` (nullable: Int64 or string); `frame_sequence` is that of each frame.
    Of keypoints, each joint of a sequence counts as a sequence by itself, and `joint_names` tells which.
    """

    aligned: Aligned
    sequence_names: pd.Series
    joint_names: pd.Series | None
    frame_sequence: np.ndarray
    truth: Identities
    predictions: Identities

    @property
    def n_sequences(self) -> int:
        return len(self.sequence_names)

    @property
    def n_truth(self) -> np.ndarray:
        """How many rows of truth each sequence has."""
        return self._rows(self.aligned.truth)

    @property
    def n_predicted(self) -> np.ndarray:
        """How many rows of predictions each sequence has."""
        return self._rows(self.aligned.predictions)

    def _rows(self, side: Side) -> np.ndarray:
        return np.bincount(self.frame_sequence, side.counts, self.n_sequences).astype(np.int64)

    def per_sequence(self, frames: np.ndarray) -> np.ndarray:
        """How many of the given frames (one for each thing counted) are of each sequence."""
        return np.bincount(self.frame_sequence[frames], minlength=self.n_sequences)

    def joint_keys(self, truth_rows: np.ndarray, prediction_rows: np.ndarray) -> np.ndarray:
        """One integer a pair of rows for the identities of both, sorted as these are."""
        keys = self.truth.of_row.take(truth_rows)
        keys *= self.predictions.number
        keys += self.predictions.of_row.take(prediction_rows)
        return keys

    def split_keys(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The identities of truth and of predictions that `joint_keys` joined."""
        truth, prediction = np.divmod(keys, max(self.predictions.number, 1))
        return truth, prediction


def identify(aligned: Aligned, identity: str) -> Tracks:
    """Numbers the identities of both sides, from the column `identity` where a side has it, else from `object`.

    Raises InputError where neither side has such a column, or an identity is null or twice in a frame.
    """
    if identity in (*FRAME_KEY, "joint"):
        raise InputError(f"identity: {identity} does not name an object")
    if identity != "object" and identity not in aligned.truth.table and identity not in aligned.predictions.table:
        raise InputError(f"identity: neither truth nor predictions have a column {identity}")
    keys = row_keys(aligned.frames, [column for column in ("sequence", "joint") if column in aligned.frames])
    values, first = distinct(keys)
    frame_sequence = positions(keys, values, first)
    sides = {"truth": aligned.truth, "predictions": aligned.predictions}
    named = [_identities(side, identity, frame_sequence, name) for name, side in sides.items()]
    names = aligned.frames["sequence"].iloc[first].reset_index(drop=True)
    names = names.astype("Int64") if names.dtype == np.int64 else names
    joints = aligned.frames["joint"].iloc[first].reset_index(drop=True) if "joint" in aligned.frames else None
    return Tracks(aligned, names, joints, frame_sequence, *named)


def _identities(side: Side, identity: str, frame_sequence: np.ndarray, name: str) -> Identities:
    column = identity if identity in side.table else "object"
    codes, span = _codes(side.table, column, source(side.table, name))
    sequence = frame_sequence[side.frame]
    keys = pack([sequence, codes], [int(frame_sequence.max(initial=-1)) + 1, span])
    values, first = distinct(keys)
    of_row = positions(keys, values, first)
    if column != "object":  # which is unique in its frame by the rules of a table of objects
        key = [key for key in (*FRAME_KEY, "joint", column) if key in side.table]
        problems = repetitions(side.table, key, source(side.table, name))
        if problems:
            raise InputError(problems)
    return Identities(column, of_row, sequence[first], first, np.bincount(of_row, minlength=len(values)))


def _codes(table: pd.DataFrame, column: str, name: str) -> tuple[np.ndarray, int]:
    """The identities as sortable numbers, and their bound."""
    values = table[column]
    null = values.isna().to_numpy()
    if null.any():
        keys = key_text(table.loc[null, [*FRAME_KEY, "object"]])
        raise InputError(f"{name}: column {column}: {counted(int(null.sum()), 'row')} null: {keys}")
    try:
        [codes], span = ordinals([decoded(values)])
    except TypeError as error:
        raise InputError(f"{name}: column {column}: its values are no identities: {error}") from None
    return codes, span
