"""Which rows of a table are meant: columns to group by, bins, and sequences to leave out."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ..support.errors import InputError, SliceError
from ..support.keys import distinct, ordinals, pack, positions
from .arrow import Table
from .schema import check_matches

By = str | pd.Series | Sequence[str | pd.Series]


def without(matches: Table, exclude: Iterable[int] | Iterable[str]) -> pd.DataFrame:
    """The match table without the rows of some sequences; raises InputError where their type is another."""
    return without_sequences(check_matches(matches), exclude)


def without_sequences(table: pd.DataFrame, exclude: Iterable[int] | Iterable[str]) -> pd.DataFrame:
    """Any table with `sequence` without the rows of some; raises InputError where their type is another."""
    return table[~excluded_rows(table, exclude)].reset_index(drop=True)


def listed_sequences(exclude: Iterable[int] | Iterable[str]) -> list[int | str]:
    """The sequences to leave out as a list; raises InputError where it is none."""
    if isinstance(exclude, str) or not isinstance(exclude, Iterable):
        raise InputError(f"exclude: is {exclude!r}; a list of sequences is needed")
    return list(exclude)


def excluded_rows(table: pd.DataFrame, exclude: Iterable[int] | Iterable[str]) -> np.ndarray:
    names = listed_sequences(exclude)
    is_text = not pd.api.types.is_integer_dtype(table["sequence"].dtype)
    wrong = [name for name in names if isinstance(name, str) != is_text]
    if wrong and len(table):
        kind = "strings" if is_text else "integers"
        raise InputError(f"exclude: {wrong[0]!r} is a {type(wrong[0]).__name__}; the sequences here are {kind}")
    return table["sequence"].isin(names).to_numpy()


def by_columns(table: pd.DataFrame, by: By | None, taken: Sequence[str]) -> list[pd.Series]:
    """The columns to group by, each of the table's length and with a name of its own that is not `taken`."""
    if by is None:
        return []
    wanted = list(by) if isinstance(by, list | tuple) else [by]
    columns = []
    for column in wanted:
        if not isinstance(column, str | pd.Series):
            raise InputError(f"by: is or holds a {type(column).__name__}; names of columns, or Series, are needed")
        if isinstance(column, pd.Series):
            if not column.index.equals(table.index):
                raise InputError(f"by: the Series {column.name} does not have the match table's index")
            columns.append(column if column.name is not None else column.rename("by"))
        else:
            check_column(table, column)
            columns.append(table[column])
    names = [str(column.name) for column in columns]
    if len({*names, *taken}) < len(names) + len(taken):
        raise InputError(f"by: {', '.join(names)}: a name is there twice, or is that of a number; rename the Series")
    return columns


def binned(table: pd.DataFrame, column: str, bins: int | None) -> pd.Series:
    """A column of a match table to group by, its numbers in `bins` quantile bins where these are wanted.

    Raises SliceError where there is no such column, or it cannot be binned.
    """
    check_column(table, column)
    values = table[column]
    if bins is None:
        return values
    if not pd.api.types.is_any_real_numeric_dtype(values.dtype):
        raise SliceError(f"column {column} holds no numbers; it cannot be binned")
    if not np.isfinite(values.dropna().to_numpy(np.float64)).all():
        raise SliceError(f"column {column} holds infinite values; it cannot be binned")
    # A single value is parted by no quantile.
    return values if values.nunique() < 2 else pd.qcut(values, bins, duplicates="drop")


def check_column(table: pd.DataFrame, column: str) -> None:
    """Raises SliceError, with the nearest names, where the table has no such column."""
    if column not in table:
        import difflib

        names = [str(name) for name in table.columns]
        near = difflib.get_close_matches(column, names, cutoff=0.5) + [name for name in names if column in name]
        hint = f"; did you mean {' or '.join(dict.fromkeys(near))}?" if near else f"; there are {', '.join(names)}"
        raise SliceError(f"match table: there is no column {column}{hint}")


def number_groups(groups: Sequence[pd.Series], n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The group of each row, as a position in the sorted groups, and the first row of each group."""
    if not groups:
        return np.zeros(n_rows, np.int64), np.zeros(0, np.int64)
    try:
        numbered = [ordinals([group]) for group in groups]
    except TypeError as error:  # lists and other values that cannot be compared
        names = ", ".join(str(group.name) for group in groups)
        raise SliceError(f"by: {names} cannot be grouped by: {error}") from None
    keys = pack([codes[0] for codes, _ in numbered], [span for _, span in numbered])
    values, first = distinct(keys)
    return positions(keys, values, first), first
