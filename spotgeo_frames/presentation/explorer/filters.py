"""Which rows of match tables pass what `widget.filter` was set to."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...support.errors import InputError
from ...tables.messages import listed
from ...tables.table import ArrowStream, LazyTable
from .conditions import NAME, passing_condition
from .contents import Contents
from .given import Given
from .rows import keys_in, packed, row_keys_of

TAKEN = "a condition as text, a filtered table, a Series of true and false, or None is needed"


def passing_rows(contents: Contents, given: Any) -> list[np.ndarray]:
    """For each match table, which of its rows pass a filter, (rows,) each.

    Raises InputError if the filter is of no known type, or does not fit the tables.
    """
    tables = contents.given
    if isinstance(given, str):
        return passing_condition(given, {name: one.matches for name, one in tables.items()})
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in tables]
        if unknown:
            raise InputError(f"{NAME}: no match table has the name {unknown[0]!r}; the names are {listed(tables)}")
        nothing = {name: np.zeros(len(one.matches), bool) for name, one in tables.items()}
        keys = row_keys_of(contents)
        each = {name: _of_table(contents, keys, name, of_name) for name, of_name in given.items()}
        return list((nothing | each).values())
    if _is_table(given):
        keys = row_keys_of(contents)
        mine, others = packed([keys, keys_in(given, keys, NAME)])
        return np.split(np.isin(mine, others), contents.first_row[1:-1])
    if len(tables) > 1:
        raise InputError(f"{NAME}: there are {len(tables)} match tables; give a dict with a Series for each name")
    return [_flags(given, next(iter(tables.values())))]


def filter_text(given: Any) -> str:
    """What the view says of a filter."""
    return given if isinstance(given, str) else "chosen rows"


def _is_table(given: Any) -> bool:
    """Whether this is a table, and no column."""
    if isinstance(given, pd.DataFrame | LazyTable):
        return True
    return isinstance(given, ArrowStream) and not isinstance(given, pd.Series) and hasattr(given, "columns")


def _of_table(contents: Contents, keys: pd.DataFrame, name: str, given: Any) -> np.ndarray:
    """Which rows of one match table pass a filter of its own: a table or a Series."""
    place = list(contents.given).index(name)
    if not _is_table(given):
        return _flags(given, contents.given[name])
    own = keys.drop(columns="submission", errors="ignore").iloc[slice(*contents.first_row[place : place + 2])]
    mine, others = packed([own, keys_in(given, own, f"{NAME}: {name}")])
    return np.isin(mine, others)


def _flags(given: Any, of: Given) -> np.ndarray:
    """Which rows of a match table a column of true and false marks."""
    kind = type(given).__name__
    if isinstance(given, pd.Series) and not given.index.equals(of.table.index):
        raise InputError(f"{NAME}: the index of the Series is not that of the match table; make it from that table")
    try:
        values = given if isinstance(given, pd.Series) else pd.Series(given)
    except (TypeError, ValueError):
        raise InputError(f"{NAME}: is of type {kind}; {TAKEN}") from None
    if pd.api.types.infer_dtype(values, skipna=True) != "boolean" or kind == "bool":
        raise InputError(f"{NAME}: is of type {kind} with values of type {values.dtype}; {TAKEN}")
    if len(values) != len(of.matches):
        raise InputError(f"{NAME}: has {len(values):,} values; the match table has {len(of.matches):,} rows")
    return values.astype("boolean").to_numpy(bool, na_value=False)
