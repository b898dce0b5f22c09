"""Columns whose values are lists of numbers, taken apart: boxes, corners and keypoints as other packages keep them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..support import InputError
from .messages import first_keys
from .schema import OBJECT_KEY


def holds_lists(values: pd.Series) -> bool:
    """Whether a column holds lists, by its type or its first value."""
    if isinstance(values.dtype, pd.ArrowDtype):
        kind = values.dtype.pyarrow_dtype
        return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
    return values.dtype == object and len(values) > 0 and isinstance(values.iloc[0], list | tuple | np.ndarray)


def holds_dicts(values: pd.Series) -> bool:
    """Whether a column holds dicts of numbers by name, or structs as Arrow has them, by its type or its first value."""
    if isinstance(values.dtype, pd.ArrowDtype):
        return bool(pa.types.is_struct(values.dtype.pyarrow_dtype))
    return values.dtype == object and len(values) > 0 and isinstance(values.iloc[0], dict)


def as_columns(given: pd.DataFrame, column: str) -> pd.DataFrame:
    """The dicts of a column as a table with a column for each of their keys.

    Raises InputError, which names the first row, if a value is no dict.
    """
    values = given[column]
    is_struct = isinstance(values.dtype, pd.ArrowDtype)
    cells = [] if is_struct else values.tolist()
    wrong = values.isna().to_numpy() if is_struct else np.array([not isinstance(cell, dict) for cell in cells], bool)
    if wrong.any():
        row = int(np.argmax(wrong))
        problem = f"dicts are needed, and there is {None if is_struct else cells[row]!r}"
        raise InputError(f"tidy: table: column {column}: {problem}: row {row}")
    return values.struct.explode() if is_struct else pd.DataFrame(cells, index=given.index)


def as_matrix(given: pd.DataFrame, column: str, lengths: Sequence[int] | None = None) -> np.ndarray:
    """The lists of a column as an array of float64 (N, K); lists of lists are taken one after another.

    Raises InputError, which names the first rows, if a value is no list of numbers, or is not as long as the first one,
    or as one of `lengths`.
    """
    values = given[column]
    if not len(values):
        return np.zeros((0, min(lengths or [0])))
    if isinstance(values.dtype, pd.ArrowDtype):
        whole = _whole_matrix(values)
        if whole is not None and (not lengths or whole.shape[1] in lengths):
            return whole
        values = pd.Series(values.to_list(), dtype=object)
    first = _numbers(values.iloc[0])
    n = 0 if first is None else len(first)
    if first is None or (lengths and n not in lengths):
        wanted = f"lists of {' or '.join(map(str, lengths))} numbers" if lengths else "lists of numbers"
        raise InputError(
            f"tidy: table: column {column}: {wanted} are needed, and the first is {_shown(values.iloc[0])}"
        )
    try:
        cells = values.tolist()
        flat = np.fromiter(chain.from_iterable(cells), np.float64)
        if len(flat) == n * len(values) and set(map(len, cells)) == {n}:
            return flat.reshape(len(values), n)
    except (TypeError, ValueError):
        pass  # lists of lists, or something else
    rows = [_numbers(value) for value in values]
    wrong = np.array([row is None or len(row) != n for row in rows])
    if wrong.any():
        shown = _shown(values.iloc[int(np.argmax(wrong))])
        keys = first_keys(given, wrong, [name for name in OBJECT_KEY if name in given])
        problem = f"lists of {n} numbers are needed, and there is {shown}"
        raise InputError(f"tidy: table: column {column}: {problem}: {keys or f'row {int(np.argmax(wrong))}'}")
    return np.stack([row for row in rows if row is not None])


def _whole_matrix(values: pd.Series) -> np.ndarray | None:
    """The lists of a column of Arrow as float64 (N, K), without a look at single rows, which takes 30 times as long.

    None where a list or a number is null, or lists have other lengths or no numbers.
    """
    cells = values.array.__arrow_array__()
    while pa.types.is_nested(cells.type):
        if pa.types.is_struct(cells.type) or cells.null_count or not len(cells):
            return None
        lengths = pc.min_max(pc.list_value_length(cells))
        if lengths["min"] != lengths["max"]:
            return None
        cells = pc.list_flatten(cells)
    is_number = pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)
    if not is_number or cells.null_count or not len(cells):
        return None
    return cells.to_numpy().astype(np.float64).reshape(len(values), -1)


def _numbers(value: Any) -> np.ndarray | None:
    """The numbers of a list, or of a list of lists; None if it is neither."""
    if not isinstance(value, list | tuple | np.ndarray):
        return None
    try:
        return np.asarray(value, np.float64).ravel()
    except (TypeError, ValueError):
        return None


def _shown(value: Any) -> str:
    """A value in a message, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
