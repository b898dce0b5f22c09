"""Finds rows of match tables again by their keys: sequence, frame, joint, and the objects of both sides."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...support.errors import InputError
from ...support.keys import ordinals, pack
from ...tables.arrow import as_pandas
from ...tables.columns import as_numbers
from ...tables.messages import missing
from ...tables.schema import frame_columns
from ..drawing.drawn_tables import together
from .contents import Contents
from .given import OBJECTS


def row_keys_of(contents: Contents) -> pd.DataFrame:
    """The keys of all rows; with a column `submission` where there are several match tables."""
    tables = {name: one.matches[[*frame_columns(one.matches), *OBJECTS]] for name, one in contents.given.items()}
    keys = together(tables)
    return keys.drop(columns="submission") if len(tables) == 1 else keys


def keys_in(table: Any, keys: pd.DataFrame, name: str) -> pd.DataFrame:
    """The keys in a table, in the types of `keys`; raises InputError, which begins with `name`, if they do not fit."""
    given = as_pandas(table, name)
    lacking = [column for column in map(str, keys) if column not in given]
    if lacking:
        raise InputError([missing(name, column, given.columns, "rows are found by it") for column in lacking])
    columns = {}
    for column in map(str, keys):
        kind = keys[column].dtype
        kind = kind.categories.dtype if isinstance(kind, pd.CategoricalDtype) else kind
        columns[column] = _as_type(given[column], kind)
        if columns[column] is None:
            problem = f"column {column} is of type {given[column].dtype}; that of the match table is {kind}"
            raise InputError(f"{name}: {problem}, which cannot hold its values")
    return pd.DataFrame(columns)


def _as_type(values: pd.Series, kind: Any) -> pd.Series | None:
    """A column as another type; None if that changes or cannot hold its values."""
    try:
        answer = values.astype(kind)
    except (ValueError, TypeError):
        return None
    if pd.api.types.is_float_dtype(values.dtype) and pd.api.types.is_integer_dtype(answer.dtype):
        return answer if np.array_equal(as_numbers(values), as_numbers(answer), equal_nan=True) else None
    return answer


def packed(tables: Sequence[pd.DataFrame]) -> list[np.ndarray]:
    """One integer for each row of several tables of keys; those of equal keys are equal, and nulls equal nulls."""
    columns, spans = [], []
    for column in tables[0]:
        sides = [table[column] for table in tables]
        sides = [side.astype(side.cat.categories.dtype) if hasattr(side, "cat") else side for side in sides]
        codes, span = ordinals(sides)
        columns.append(codes)
        spans.append(span)
    return [pack(codes, spans) for codes in zip(*columns, strict=True)]
