"""Gives each object of a sequence an integer, so that its rows can be followed from frame to frame.

An identity belongs to one sequence: the same name in two sequences means two objects.
"""

from typing import Any, NamedTuple

import numpy as np

from ..matching.alignment import Aligned, Side, select_rows
from ..support.arrays import added_at, grouped, ordinals, pack
from ..support.errors import InputError
from ..tables.columns import Columns, null_rows
from ..tables.inputs import source
from ..tables.messages import counted, first_keys
from ..tables.schema import FRAME_KEY, OBJECT_KEY
from .sequences import Sequences, by_class, by_sequence


class Identities(NamedTuple):
    """The identities of one side, counted from 0 in the order of sequence and name.

    `of_row` is the identity of each row. For each identity, `sequence` is the position of its sequence, `first_row` its
    first row, and `n_rows` how many rows it has. Its name is in the column `column` of the side's table.
    """

    column: str
    of_row: np.ndarray
    sequence: np.ndarray
    first_row: np.ndarray
    n_rows: np.ndarray

    @property
    def n_identities(self) -> int:
        """How many identities there are."""
        return len(self.n_rows)


class Tracks(NamedTuple):
    """Two aligned sides with their identities.

    `labels` has one row a sequence, in order, with its name in the column `sequence`. If it also has a column `joint`
    or `category`, each joint or class of a sequence counts as a sequence of its own. `n_frames` is how many frames each
    has, and `frame_sequence` the position of each aligned frame's sequence.
    """

    aligned: Aligned
    labels: Columns
    n_frames: np.ndarray
    frame_sequence: np.ndarray
    truth: Identities
    predictions: Identities

    @property
    def n_sequences(self) -> int:
        return len(self.labels)

    @property
    def n_truth(self) -> np.ndarray:
        """How many rows of truth each sequence has."""
        return self._rows(self.aligned.truth)

    @property
    def n_predicted(self) -> np.ndarray:
        """How many rows of predictions each sequence has."""
        return self._rows(self.aligned.predictions)

    def _rows(self, side: Side) -> np.ndarray:
        return added_at(self.frame_sequence, side.counts, self.n_sequences).astype(np.int64)

    def per_sequence(self, frames: np.ndarray) -> np.ndarray:
        """How often each sequence occurs among the sequences of the given frames, which may repeat."""
        return np.bincount(self.frame_sequence[frames], minlength=self.n_sequences)

    def joint_keys(self, truth_rows: np.ndarray, prediction_rows: np.ndarray) -> np.ndarray:
        """One integer for each pair of rows, which stands for both identities and sorts as they do."""
        keys = self.truth.of_row.take(truth_rows)
        keys *= self.predictions.n_identities
        keys += self.predictions.of_row.take(prediction_rows)
        return keys

    def split_keys(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The identities of truth and of predictions that keys of `joint_keys` stand for."""
        truth, prediction = np.divmod(keys, max(self.predictions.n_identities, 1))
        return truth, prediction


def identify(aligned: Aligned, identity: str, by: str | None = None) -> Tracks:
    """The identities of both sides, from the column `identity` if a side has it, and otherwise from `object`.

    With `by`, which can only be "category", an identity belongs to one class of its sequence.

    Raises InputError if neither side has such a column, or if an identity is null or occurs twice in a frame.
    """
    if identity in (*FRAME_KEY, "joint"):
        raise InputError(f"identity: {identity} does not name an object")
    if identity != "object" and identity not in aligned.truth.table and identity not in aligned.predictions.table:
        raise InputError(f"identity: neither truth nor predictions have a column {identity}")
    laid = by_sequence(aligned) if by is None else by_class(aligned)
    sides = {"truth": laid.aligned.truth, "predictions": laid.aligned.predictions}
    named = [_identities(side, identity, laid, name) for name, side in sides.items()]
    return Tracks(*laid, *named)


def with_predictions(tracks: Tracks, kept: np.ndarray) -> Tracks:
    """The same frames and truths with only the marked predictions."""
    everything, whole = np.ones(len(tracks.aligned.truth.frame), bool), tracks.predictions
    of_row, first = grouped(whole.of_row[kept])
    sequence = whole.sequence[whole.of_row[kept][first]]
    left = Identities(whole.column, of_row, sequence, first, np.bincount(of_row, minlength=len(first)))
    return tracks._replace(aligned=select_rows(tracks.aligned, everything, kept), predictions=left)


def _identities(side: Side, identity: str, laid: Sequences, name: str) -> Identities:
    """The identities of one side; `name` names it in messages if it was not read from a file."""
    column = identity if identity in side.table else "object"
    codes, span = _codes(side.table, column, source(side.table, name))
    sequence = laid.frame_sequence[side.frame]
    of_row, first = grouped(pack([sequence, codes], [len(laid.labels), span]))
    if column != "object":
        from ..tables.checks import repetitions

        # `object` needs no check, because every table of objects is refused where it is not unique in its frame.
        key = [*dict.fromkeys([*FRAME_KEY, *laid.labels, column])]
        problems = repetitions(side.table, key, source(side.table, name))
        if problems:
            raise InputError(problems)
    return Identities(column, of_row, sequence[first], first, np.bincount(of_row, minlength=len(first)))


def _codes(table: Columns, column: str, name: str) -> tuple[np.ndarray, int]:
    """The identities as integers of the same order, and their exclusive upper bound."""
    values = table[column]
    null = null_rows(values)
    if null.any():
        keys = first_keys(table, null, OBJECT_KEY)
        raise InputError(f"{name}: column {column}: {counted(int(null.sum()), 'row')} null: {keys}")
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        [codes], span = ordinals([values])
        return codes, span
    import pandas as pd

    from ..tables.checks import decoded

    try:
        [codes], span = ordinals([decoded(pd.Series(values, dtype=values.dtype, copy=False))])
    except TypeError as error:
        raise InputError(f"{name}: column {column}: its values cannot be identities: {error}") from None
    return codes, span


def with_nulls(values: Any, n_rows: int) -> Any:
    """The values, nullable, then nulls, `n_rows` in all; a null stands for all of them together."""
    import pandas as pd

    names = pd.Series(values, copy=False)
    names = names.astype("Int64") if names.dtype == np.int64 else names
    return names.reindex(range(n_rows)).array
