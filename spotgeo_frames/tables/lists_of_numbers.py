"""Columns whose cells hold several numbers, taken apart: boxes, corners and keypoints as other packages keep them.

Cells are lists, arrays, dicts, structs of Arrow, or lists as text, as a CSV has them. Arrow takes a whole column in one
pass. Where it cannot, each cell is looked at by itself, so that the first that is wrong is named.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..support import InputError
from .messages import first_keys
from .schema import OBJECT_KEY

NUMBERS = pa.list_(pa.float64())


def holds_lists(values: pd.Series) -> bool:
    """Whether a column holds lists, or lists as text, by its type or its first value."""
    if isinstance(values.dtype, pd.ArrowDtype):
        kind = values.dtype.pyarrow_dtype
        return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
    first = values.iloc[0] if len(values) else None
    if not isinstance(first, str):
        return isinstance(first, list | tuple | np.ndarray)
    text = first.strip()  # compressed run lengths may begin with [, and have no comma
    return text.startswith(("[", "(")) and text.endswith(("]", ")")) and "," in text


def holds_dicts(values: pd.Series) -> bool:
    """Whether a column holds dicts of numbers by name, or structs as Arrow has them, by its type or its first value."""
    if isinstance(values.dtype, pd.ArrowDtype):
        return bool(pa.types.is_struct(values.dtype.pyarrow_dtype))
    return values.dtype == object and len(values) > 0 and isinstance(values.iloc[0], dict)


def inner_length(values: pd.Series) -> int | None:
    """How many numbers each list has within the lists of a column, by its first value; None where these are flat."""
    first = _parsed(values.iloc[0]) if len(values) else None
    inner = first[0] if isinstance(first, list | tuple | np.ndarray) and len(first) else None
    return len(inner) if isinstance(inner, list | tuple | np.ndarray) else None


def keys_of_dicts(values: pd.Series) -> list[str]:
    """The keys of the dicts of a column, by its type or its first value."""
    if isinstance(values.dtype, pd.ArrowDtype):
        return [field.name for field in values.dtype.pyarrow_dtype]
    return [str(key) for key in values.iloc[0]]


def numbers_of_dicts(given: pd.DataFrame, column: str, keys: Sequence[str]) -> list[np.ndarray]:
    """The numbers that the dicts of a column have under these keys, float64 (N,) each, NaN where they are null.

    Raises InputError, which names the first row, if a value is no dict, lacks a key, or has no number under one.
    """
    cells = _structs(given[column], keys)
    names = [] if cells is None else [field.name for field in cells.type]
    fields = [] if cells is None else [pc.struct_field(cells, [names.index(key)]) for key in keys]
    is_whole = cells is not None and not cells.null_count and all(map(_is_number, fields))
    # A null may be a key that is not there, unless the type says that it is.
    if is_whole and (isinstance(given[column].dtype, pd.ArrowDtype) or not any(field.null_count for field in fields)):
        return [field.cast(pa.float64()).to_numpy(zero_copy_only=False) for field in fields]
    return _dicts_one_by_one(given, column, keys)


def _structs(values: pd.Series, keys: Sequence[str]) -> pa.StructArray | None:
    """The dicts of a column as structs of numbers with these keys; None where a value is none."""
    if isinstance(values.dtype, pd.ArrowDtype):
        return _in_one_piece(values)
    try:
        return pa.array(values.to_numpy(), pa.struct([(key, pa.float64()) for key in keys]))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _in_one_piece(values: pd.Series) -> pa.Array:
    """The values of a column of Arrow as one array."""
    cells = values.array.__arrow_array__()
    return cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells


def _dicts_one_by_one(given: pd.DataFrame, column: str, keys: Sequence[str]) -> list[np.ndarray]:
    """The numbers of dicts, as `numbers_of_dicts` has them, with the first row that is wrong."""
    rows = []
    for row, cell in enumerate(given[column].tolist()):
        if not isinstance(cell, dict):
            problem = f"dicts are needed, and there is {_shown(None if cell is pd.NA else cell)}"
            raise InputError(f"tidy: table: column {column}: {problem}: row {row}")
        lacking = [key for key in keys if key not in cell]
        if lacking:
            raise InputError(f"tidy: table: column {column}: {_shown(cell)} has no {', '.join(lacking)}: row {row}")
        values = [np.nan if cell[key] is None else cell[key] for key in keys]
        numbers = None if any(isinstance(value, str) for value in values) else _numbers(values)
        if numbers is None or len(numbers) != len(keys):
            problem = f"numbers are needed as {', '.join(keys)}, and there is {_shown(cell)}"
            raise InputError(f"tidy: table: column {column}: {problem}: row {row}")
        rows.append(numbers)
    return list(np.stack(rows, axis=1))


def as_matrix(given: pd.DataFrame, column: str, lengths: Sequence[int] | None = None) -> np.ndarray:
    """The lists of a column as an array of float64 (N, K); lists of lists are taken one after another.

    Raises InputError, which names the first rows, if a value is no list of numbers, or is not as long as the first one,
    or as one of `lengths`.
    """
    values = given[column]
    if not len(values):
        return np.zeros((0, min(lengths or [0])))
    for cells in _lists(values):
        whole = None if cells is None else _whole_matrix(cells)
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
    rows = [_numbers(value) for value in values]
    wrong = np.array([row is None or len(row) != n for row in rows])
    if wrong.any():
        shown = _shown(values.iloc[int(np.argmax(wrong))])
        keys = first_keys(given, wrong, [name for name in OBJECT_KEY if name in given])
        problem = f"lists of {n} numbers are needed, and there is {shown}"
        raise InputError(f"tidy: table: column {column}: {problem}: {keys or f'row {int(np.argmax(wrong))}'}")
    return np.stack([row for row in rows if row is not None])


def _lists(values: pd.Series) -> Any:
    """The lists of a column as arrays of Arrow in the forms that they may have, None where they have not."""
    if isinstance(values.dtype, pd.ArrowDtype):
        yield _in_one_piece(values)
    elif isinstance(values.iloc[0], str):
        yield _of_text(values)
    else:
        for kind in (NUMBERS, pa.list_(NUMBERS)):
            try:
                yield pa.array(values.to_numpy(), kind)
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                yield None


def _of_text(values: pd.Series) -> pa.Array | None:
    """Text such as [1.0, 2.0] as lists of numbers; None where some is something else."""
    try:
        text = pc.utf8_trim(pc.replace_substring_regex(pa.array(values, pa.large_string()), r"\s", ""), "[]()")
        return pc.split_pattern(text, ",").cast(pa.large_list(pa.float64()))
    except (pa.ArrowException, TypeError, ValueError):
        return None


def _whole_matrix(cells: pa.Array) -> np.ndarray | None:
    """Lists as float64 (N, K), without a look at single rows, which takes 30 times as long.

    None where a list or a number is null, or lists have other lengths or no numbers.
    """
    n = len(cells)
    while pa.types.is_nested(cells.type):
        if pa.types.is_struct(cells.type) or cells.null_count or not len(cells):
            return None
        lengths = pc.min_max(pc.list_value_length(cells))
        if lengths["min"] != lengths["max"]:
            return None
        cells = pc.list_flatten(cells)
    if not _is_number(cells) or cells.null_count or not len(cells):
        return None
    return cells.to_numpy().astype(np.float64, copy=False).reshape(n, -1)


def _is_number(cells: pa.Array) -> bool:
    """Whether the values of an array of Arrow are numbers, or all null."""
    kind = cells.type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind))


def _parsed(value: Any) -> Any:
    """A list that is text as a list, and any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value.replace("(", "[").replace(")", "]"))
    except (ValueError, RecursionError):
        return value


def _numbers(value: Any) -> np.ndarray | None:
    """The numbers of a list, of a list of lists, or of such a list as text; None if it is none of them."""
    parsed = _parsed(value)
    if not (isinstance(parsed, list | tuple) or (hasattr(type(parsed), "__array__") and np.ndim(parsed))):
        return None  # arrays may be those of other packages
    try:
        return np.asarray(parsed, np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        return None


def _shown(value: Any) -> str:
    """A value in a message, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
