"""The caller's own functions of pairs, a similarity or a distance: how they are called, and what they may return."""

from __future__ import annotations

import numpy as np

from ..support.errors import InputError
from ..tables.columns import Columns, dataframe_of
from ..tables.messages import first_keys
from ..tables.schema import FRAME_KEY
from .alignment import Aligned
from .similarity import Measure


def name_of(measure: Measure) -> str:
    """The name of a caller's function, in messages and notes."""
    return str(getattr(measure, "__name__", type(measure).__name__))


def called(
    aligned: Aligned, measure: Measure, truth_rows: np.ndarray, prediction_rows: np.ndarray, word: str, largest: float
) -> np.ndarray:
    """What the caller's function returns for P pairs of rows, (P,) float64 from 0 to `largest`.

    `word` is the argument that the function was given as. Raises InputError, naming the function and the first pair, if
    it returns anything else.
    """
    sides = (aligned.truth.table, truth_rows), (aligned.predictions.table, prediction_rows)
    answer = np.asarray(measure(*(dataframe_of(table.take(rows)) for table, rows in sides)))
    returned = f"{word}: the function {name_of(measure)} returned"

    def pair(place: int) -> str:
        truth, prediction = (_row(table, int(rows[place])) for table, rows in sides)
        return f"the truth of {truth} and the prediction of {prediction}"

    if answer.shape != truth_rows.shape or answer.dtype.kind not in "fiub":
        needed = f"a number for each of {len(truth_rows)} pairs is needed, the first of which is {pair(0)}"
        raise InputError(f"{returned} shape {answer.shape} and type {answer.dtype}; {needed}")
    values = answer.astype(np.float64)
    wrong = np.flatnonzero(~((values >= 0) & (values <= largest)))
    if len(wrong):
        needed = "0 to 1 is needed" if largest == 1 else "0 or more is needed"
        raise InputError(f"{returned} {_number(values[wrong[0]])} for {pair(wrong[0])}; {needed}")
    return values


def _number(value: float) -> str:
    return "NaN" if np.isnan(value) else f"{value:g}"


def _row(table: Columns, row: int) -> str:
    """The key of a row as text."""
    marked = np.zeros(len(table), bool)
    marked[row] = True
    return first_keys(table, marked, [*FRAME_KEY, "object", "joint"])
