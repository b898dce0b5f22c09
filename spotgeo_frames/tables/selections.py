"""Selects rows of a table: columns to group by, bins of numbers, and sequences to leave out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, Union

import numpy as np

from ..support import InputError, SliceError, arrays, is_text
from .binning import Bins, CheckedBins, checked_bins, in_bins, ordered_values, quantile_edges
from .columns import Columns, among, array_of
from .table import ArrowStream, is_polars

if TYPE_CHECKING:
    import pandas as pd


class Expression(Protocol):
    """An expression of polars over the columns of a table."""

    @property
    def meta(self) -> Any: ...

    def alias(self, name: str) -> Any: ...


# A column; its values: a Series of pandas or polars, an array of pyarrow, or, for a table of polars, an expression; a
# list of these; or a dict from column to how it is cut into bins.
ByKey = Union[str, "pd.Series", ArrowStream, Expression]
By = ByKey | Sequence[ByKey] | Mapping[str, Bins]

# A DataFrame or Columns.
Rows = TypeVar("Rows", "pd.DataFrame", Columns)

# The most sequences that a warning names.
MOST_NAMED = 5


class GroupKey(NamedTuple):
    """A key to group rows by: a Series, or a column in `bins` (None: its values as they are)."""

    name: str
    bins: CheckedBins = None
    series: pd.Series | ArrowStream | None = None


def group_keys(by: By | None) -> list[GroupKey]:
    """The keys that `by` asks for, in its order.

    Raises InputError if `by` is or contains anything but columns and Series, or if bins are not possible.
    """
    if by is None:
        return []
    if isinstance(by, Mapping):
        return [GroupKey(_key(name).name, checked_bins(name, bins)) for name, bins in by.items()]
    import pandas as pd
    import pyarrow as pa

    given: Any = by
    alone = isinstance(by, str | ArrowStream | pd.Series | pd.DataFrame | pa.Array) or not isinstance(by, Collection)
    return [_key(key) for key in ([given] if alone else given)]


def column_bins(by: By | None) -> dict[str, CheckedBins]:
    """The columns that `by` names, each with its bins, for functions that take no Series.

    Raises InputError if `by` is or contains anything but columns, names a column twice, or has bins that are not
    possible.
    """
    keys = group_keys(by)
    series = [key.name for key in keys if key.series is not None]
    if series:
        what = "the expression" if any(is_polars(key.series, "Expr") for key in keys) else "the Series"
        raise InputError(f"by: is or holds {what} {series[0]}; here names of columns are needed")
    names = [key.name for key in keys]
    if len({*names}) < len(names):
        raise InputError(f"by: {', '.join(names)}: a name is there twice")
    return {key.name: key.bins for key in keys}


def slicings(by: Any) -> list[dict[str, CheckedBins]]:
    """The columns with their bins of each slicing that `by` asks for.

    A column, or a dict from columns to bins, asks for each column on its own. The entries of a list are
    columns, or lists and dicts of columns that are crossed. Raises InputError as `column_bins` does, and if two of them
    have the same columns.
    """
    if not isinstance(by, list | tuple):
        return [{column: bins} for column, bins in column_bins(by).items()]
    asked = [columns for columns in map(column_bins, by) if columns]
    names = [" and ".join(columns) for columns in asked]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"by: {repeated[0]}: this slicing is there twice; give it once")
    return asked


def _key(given: Any) -> GroupKey:
    """The key that a column's name or a Series stands for; a Series without a name is called "by"."""
    if isinstance(given, str):
        return GroupKey(given)
    if _is_series(given):
        name = getattr(given, "name", None)
        return GroupKey("by" if name in (None, "") else str(name), series=given)
    if is_polars(given, "Expr"):  # of a table of polars, `same_kind_as` has made Series of them
        return GroupKey(str(given), series=given)
    raise InputError(f"by: is or holds a {type(given).__name__}; names of columns, or Series, are needed")


def _is_series(given: Any) -> bool:
    """Whether this is a Series of pandas, an array of pyarrow, or a Series of polars: an Arrow stream with a name."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(given, pd.Series | pa.Array | pa.ChunkedArray):
        return True
    is_other = isinstance(given, ArrowStream) and isinstance(getattr(given, "name", None), str)
    return is_other and not isinstance(given, pd.DataFrame)


def by_columns(
    table: pd.DataFrame,
    by: By | None,
    taken: Sequence[str],
    name: str = "match table",
    rows: np.ndarray | None = None,
) -> dict[str, Any]:
    """The columns to group by, as arrays by name; messages call the table `name`.

    Of `rows`, which are positions, if they are given: others count in no bin. Raises InputError if `by` does not fit
    the table, or if two columns would have the same name or one that is `taken`.
    """
    keys = group_keys(by)
    rows = np.arange(len(table)) if rows is None else rows
    left = table.take(rows)
    columns = [
        binned(left, key.name, key.bins, name)
        if key.series is None
        else _aligned(table, key.name, key.series, name).take(rows)
        for key in keys
    ]
    names = [key.name for key in keys]
    if len({*names, *taken}) < len(names) + len(taken):
        raise InputError(f"by: {', '.join(names)}: a name occurs twice, or is that of a metric; rename the Series")
    return {name: array_of(column) for name, column in zip(names, columns, strict=True)}


def _aligned(table: pd.DataFrame, name: str, series: pd.Series | ArrowStream, of: str) -> pd.Series:
    """A Series as a column of the table: of pandas by its index, of polars and pyarrow by position.

    Messages call the table `of`.
    """
    import pandas as pd
    import pyarrow as pa

    from ..support import pandas_tables
    from .arrow import arrow_to_pandas

    if is_polars(series, "Expr"):
        how = "give the table as polars, or the name of a column, or a Series"
        raise InputError(f"by: {name} is an expression of polars, and the table is none of polars; {how}")
    if isinstance(series, pd.Series):
        if not series.index.equals(table.index):
            raise InputError(f"by: the Series {name} does not have the index of the {of}")
        return pandas_tables.as_text(series.rename(name))
    values = series if isinstance(series, pa.Array) else pa.chunked_array(series)
    column = arrow_to_pandas(pa.table({name: values}), "by")[name]
    if len(column) != len(table):
        raise InputError(f"by: the Series {name} has {len(column):,} values; the {of} has {len(table):,} rows")
    return column.set_axis(table.index)


def binned(table: pd.DataFrame, column: str, bins: CheckedBins, name: str = "match table") -> pd.Series:
    """A column of a table to group by: in bins, or its values as they are if `bins` is None.

    A count asks for quantile bins, those of `pandas.qcut`, over the values of all rows that are not null. A column with
    a single value, which cannot be divided, stays as it is then. Raises SliceError if there is no such column, or if a
    column to bin has others than finite numbers or times, or others than its edges.
    """
    check_column(table, column, name)
    return _cut(table[column], bins)


def binned_together(
    tables: Mapping[str, pd.DataFrame], columns: Mapping[str, CheckedBins]
) -> dict[str, list[pd.Series]]:
    """The columns of each table as `binned` makes them; all tables share their bins.

    A column that has the same values in all tables, as one of the truth has, gets the quantile bins that each table
    alone would have; another column gets those of the rows of all tables together.
    """
    import pandas as pd

    if not columns:
        return {name: [] for name in tables}
    together = pd.concat({name: table[[*columns]] for name, table in tables.items()})
    answer = []
    for column, bins in columns.items():
        values = together[column]
        ordered = None
        if isinstance(bins, int):
            of_each = [np.sort(ordered_values(values.loc[name])) for name in tables]
            equal = all(np.array_equal(of, of_each[0]) for of in of_each)
            ordered = of_each[0] if equal else np.concatenate(of_each)
        answer.append(_cut(values, bins, ordered))
    return {name: [values.loc[name] for values in answer] for name in tables}


def _cut(values: pd.Series, bins: CheckedBins, ordered: np.ndarray | None = None) -> pd.Series:
    """A column in bins; quantile bins are those of the `ordered` values where they are given."""
    if bins is None:
        return values
    edges = quantile_edges(values, bins, ordered) if isinstance(bins, int) else bins
    return values if edges is None else in_bins(values, edges)


def check_column(table: pd.DataFrame | Columns, column: str, name: str = "match table") -> None:
    """Raises SliceError, with the most similar names, if the table, called `name`, has no such column."""
    if column not in table:
        import difflib

        names = [str(name) for name in table.columns]
        near = difflib.get_close_matches(column, names, cutoff=0.5) + [name for name in names if column in name]
        hint = f"; did you mean {' or '.join(dict.fromkeys(near))}?" if near else f"; there are {', '.join(names)}"
        of_sides = [name for name in ("truth_category", "predicted_category") if name in names]
        if column == "category" and len(of_sides) == 1:
            hint = f"; it takes categories on both sides, and there is only {of_sides[0]}"
        elif column == "category" and "outcome" not in names:
            hint = "; track(by='category') makes it"
        raise SliceError(f"{name}: there is no column {column}{hint}")


def number_groups(groups: Mapping[str, Any], n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The group of each row, as a position among the sorted groups, and the first row of each group."""
    if not groups:
        return np.zeros(n_rows, np.int64), np.zeros(0, np.int64)
    try:
        numbered = [arrays.ordinals([group]) for group in groups.values()]
    except (TypeError, ValueError, NotImplementedError) as error:  # lists and other values that cannot be compared
        raise SliceError(f"by: {', '.join(groups)} cannot be grouped by: {error}") from None
    return arrays.grouped(arrays.pack([codes[0] for codes, _ in numbered], [span for _, span in numbered]))


def listed_sequences(exclude: Iterable[int] | Iterable[str]) -> list[int | str]:
    """The sequences to leave out as a list, each once; raises InputError unless they are strings or integers."""
    if isinstance(exclude, str | bytes) or not isinstance(exclude, Iterable):
        raise InputError(f"exclude: is {exclude!r}; a list of sequences is needed")
    names: dict[int | str, None] = {}
    for name in exclude:
        if isinstance(name, str):
            if not is_text(name):
                raise InputError(f"exclude: {name!r} is no text that UTF-8 can hold, so no sequence has this name")
            names[str(name)] = None
        elif isinstance(name, int | np.integer) and not isinstance(name, bool):
            names[int(name)] = None
        else:
            raise InputError(f"exclude: {name!r} is of type {type(name).__name__}; strings or integers are needed")
    return list(names)


def excluded_sequences(
    exclude: Iterable[int] | Iterable[str] | None, tables: Iterable[pd.DataFrame | Columns]
) -> tuple[list[int | str] | None, str | None]:
    """The sequences to leave out of tables with a column `sequence`, or None; and the text of a warning, or None.

    The warning names those that are in none of the tables. Raises InputError if `exclude` is not strings or integers,
    or not of the type of the sequences.
    """
    if exclude is None:
        return None, None
    names = listed_sequences(exclude)
    columns = [table["sequence"] for table in tables if len(table)]
    if columns:
        check_names(names, is_integer=not holds_text(columns[0]))
    known = {name for column in columns for name in column[among(column, names)].tolist()}
    return names, unknown_text(names, known)


def holds_text(values: Any) -> bool:
    """Whether keys are strings; integers may have become float64, categories or objects in a merge or elsewhere."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return False
    import pandas as pd

    is_categorical = isinstance(values.dtype, pd.CategoricalDtype)
    return bool(pd.api.types.is_string_dtype(values.dtype.categories if is_categorical else pd.Series(values)))


def check_names(names: Sequence[int | str], is_integer: bool) -> None:
    """Raises InputError if names of sequences to leave out are of another type than the sequences."""
    wrong = [name for name in names if isinstance(name, int) != is_integer]
    if wrong:
        kinds = "integers" if is_integer else "strings"
        raise InputError(f"exclude: {wrong[0]!r} is of type {type(wrong[0]).__name__}; the sequences here are {kinds}")


def unknown_text(names: Sequence[int | str], known: Collection[int | str]) -> str | None:
    """A warning that names the sequences to leave out that are not `known`; None if all are."""
    unknown = [name for name in names if name not in known]
    if not unknown:
        return None
    more = f" or {len(unknown) - MOST_NAMED:,} more" if len(unknown) > MOST_NAMED else ""
    return f"exclude: no sequence is called {', '.join(map(repr, unknown[:MOST_NAMED]))}{more}; check the names"


def without_sequences(table: Rows, names: Sequence[int | str] | None) -> Rows:
    """A table without the rows of these sequences; None leaves all rows in."""
    if names is None:
        return table
    left = table.take(np.flatnonzero(~among(table["sequence"], names)))
    return left if isinstance(left, Columns) else left.reset_index(drop=True)
