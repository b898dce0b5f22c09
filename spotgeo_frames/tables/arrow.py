"""Turns anything that exports an Arrow stream into a pandas DataFrame."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, Union, runtime_checkable

from ..support.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that exports an Arrow stream: polars, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Table = Union["pd.DataFrame", ArrowStream]


def as_pandas(table: Table, name: str) -> pd.DataFrame:
    """`table` as a DataFrame; named index levels become columns unless there is a column of that name.

    Raises InputError if it is not a table, or if a column name is not a string or occurs twice.
    """
    import pandas as pd
    import pyarrow as pa

    from ..support.pandas_versions import with_text  # imported only here: it needs pandas

    if isinstance(table, pd.DataFrame):
        frame = table
        levels = [level for level in table.index.names if level is not None and level not in table.columns]
        if levels:
            frame = table.reset_index(levels)
    elif isinstance(table, ArrowStream) and not isinstance(table, pd.Series):
        try:
            arrow = pa.table(table)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"{name}: is not a table that Arrow can read: {error}") from None
        frame = arrow_to_pandas(arrow, name)
    else:
        needed = "a pandas DataFrame or an Arrow table (polars, DuckDB) is needed"
        raise InputError(f"{name}: is of type {type(table).__name__}; {needed}")
    odd = [column for column in frame.columns if not isinstance(column, str)]
    if odd:
        raise InputError([f"{name}: column {column!r}: its name has to be a string" for column in odd])
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()].unique()
        raise InputError([f"{name}: column {column} is there more than once" for column in twice])
    return with_text(frame)


def arrow_to_pandas(table: pa.Table, name: str) -> pd.DataFrame:
    """An Arrow table as a DataFrame: decimals become int64 or float64, and columns of a pandas index are left out.

    Raises InputError with every column that pandas cannot represent: text that is not UTF-8, times out of range,
    decimals that are too large.
    """
    import pandas as pd
    import pyarrow as pa

    from ..support.pandas_versions import COPIES_ON_WRITE  # imported only here: it needs pandas

    types = pandas_types()
    columns: dict[str, pd.Series] = {}
    problems: list[str] = []
    for position, column in enumerate(table.columns):
        field = f"number {position + 1}"
        try:
            field = table.schema.field(position).name
            if field.startswith("__index_level_"):
                continue
            if field in columns:
                problems.append(f"{name}: column {field} is there more than once")
            columns[field] = _convertible(column).to_pandas(types_mapper=types.get)
        except (pa.ArrowException, ValueError, OverflowError) as error:
            problems.append(f"{name}: column {field}: cannot be read: {str(error).splitlines()[0]}")
    if problems:
        raise InputError(problems)
    return pd.DataFrame(columns, copy=not COPIES_ON_WRITE)


def _convertible(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of a type that pandas has; raises ArrowException where its values are damaged or out of range."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_decimal(kind):
        return column.cast(pa.int64() if kind.scale == 0 else pa.float64())
    if not pa.types.is_primitive(kind):
        column.validate(full=True)  # text that is not UTF-8 would otherwise fail only later
    if pa.types.is_dictionary(kind) and pa.types.is_unsigned_integer(kind.index_type):
        return column.cast(pa.dictionary(pa.int64(), kind.value_type, kind.ordered))  # older pyarrow takes no others
    return column


@cache
def pandas_types() -> dict[Any, Any]:
    """Fixed pandas types for flags and text, so that the type does not depend on whether a column has nulls."""
    import pandas as pd
    import pyarrow as pa

    from ..support.pandas_versions import TEXT

    texts = [pa.string(), pa.large_string(), pa.string_view()]
    return {pa.bool_(): pd.BooleanDtype()} | dict.fromkeys(texts, TEXT)
