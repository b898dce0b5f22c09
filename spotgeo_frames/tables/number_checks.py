"""What is wrong with columns of numbers: coordinates, sizes and scores. Arrays of NumPy are checked without pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support import InputError
from .columns import Columns, as_numbers, null_rows
from .messages import counted, first_keys, missing
from .other_words import way_out
from .schema import FRAME_KEY, LARGEST_COORDINATE, OBJECT_KEY

if TYPE_CHECKING:
    import pandas as pd


def far_text(values: np.ndarray, table: pd.DataFrame | Columns, key: Sequence[str], largest: float) -> str | None:
    """What is wrong with coordinates or sizes (px) of a table: not finite, or too large; None where nothing is.

    The text continues "column NAME".
    """
    bad = ~np.isfinite(values)
    if bad.any():
        return f": {counted(int(bad.sum()), 'row')} not finite: {first_keys(table, bad, key)}"
    far = np.abs(values) > largest
    if far.any():
        problem = f"{counted(int(far.sum()), 'row')} beyond {largest:g} px, too large to be squared"
        return f": {problem}: {first_keys(table, far, key)}"
    return None


def coordinate_problems(objects: Columns, columns: Sequence[str], name: str) -> list[str]:
    """The problems of columns of coordinates and sizes (px), which are float64: not finite, or too large."""
    key = [column for column in (*OBJECT_KEY, "joint") if column in objects]
    found = {column: far_text(objects[column], objects, key, LARGEST_COORDINATE) for column in columns}
    return [f"{name}: column {column}{text}" for column, text in found.items() if text is not None]


def size_problems(objects: pd.DataFrame | Columns, column: str, name: str, why: str) -> list[str]:
    """The problem of a column of sizes: missing (then `why` it is needed), no numbers, null, negative or too large."""
    if column not in objects:
        return [missing(name, column, objects.columns, why)]
    if not is_number(objects[column]):
        return [f"{name}: column {column} is of type {objects[column].dtype}; numbers are needed"]
    size = as_numbers(objects[column])
    largest = LARGEST_COORDINATE ** (2 if column == "area" else 1)
    wrong = ~((size >= 0) & (size <= largest))
    if not wrong.any():
        return []
    keys = first_keys(objects, wrong, [*FRAME_KEY, "object", "joint"])
    problem = f"{counted(int(wrong.sum()), 'row')} null, negative or beyond {largest:g}"
    return [f"{name}: column {column}: {problem}: {keys}"]


def check_scores(predictions: pd.DataFrame | Columns, name: str, function: str) -> None:
    """Raises InputError unless every prediction has a score; messages say that `function` needs it."""
    if "score" not in predictions:
        why = way_out(f"{function}() needs the score of each prediction", predictions.columns, "score", ["score"])
        raise InputError(missing(name, "score", predictions.columns, why))
    null = null_rows(predictions["score"])
    if null.any():
        keys = first_keys(predictions, null, OBJECT_KEY)
        problem = f"{counted(int(null.sum()), 'row')} null: {keys}; give each prediction a score, or leave it out"
        raise InputError(f"{name}: column score: {problem}")


def is_number(values: Any) -> bool:
    """Whether the type of a column says that its values are real numbers."""
    if isinstance(values.dtype, np.dtype):
        return values.dtype.kind in "iuf"
    import pandas as pd

    return pd.api.types.is_any_real_numeric_dtype(values.dtype)
