"""What is taken as a table: DataFrames of pandas and polars, LazyFrames, what exports an Arrow stream, and datasets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol, Union, runtime_checkable

from ..support import InputError, check_memory, first_line

if TYPE_CHECKING:
    import pandas as pd


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that exports an Arrow stream: polars, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@runtime_checkable
class LazyTable(Protocol):
    """A table that is computed when it is collected: a LazyFrame of polars."""

    def collect(self) -> ArrowStream: ...

    def collect_schema(self) -> Any: ...


class ScannedTable(Protocol):
    """A dataset or a scanner of pyarrow, whose rows are read when they are needed."""

    def to_table(self, *args: Any, **kwargs: Any) -> Any: ...

    def count_rows(self, *args: Any, **kwargs: Any) -> int: ...


Table = Union["pd.DataFrame", ArrowStream, LazyTable, ScannedTable]


def is_scanned(given: object) -> bool:
    """Whether this is a dataset or a scanner of pyarrow."""
    if "pyarrow.dataset" not in sys.modules:  # so nothing can be of it
        return False
    import pyarrow.dataset as ds

    return isinstance(given, ds.Dataset | ds.Scanner)


def as_stream(table: Any) -> Any:
    """A dataset or a scanner of pyarrow as a reader of its rows, which exports an Arrow stream; all else as it is."""
    if not is_scanned(table):
        return table
    return table.to_reader() if hasattr(table, "to_reader") else table.scanner().to_reader()


def is_polars(given: object, name: str = "DataFrame") -> bool:
    """Whether this is of polars' class `name`: "DataFrame", "LazyFrame", "Series" or "Expr"."""
    if "polars" not in sys.modules:  # so nothing can be of it; pandas users never wait for narwhals
        return False
    from narwhals.dependencies import get_polars

    polars = get_polars()
    return polars is not None and isinstance(given, getattr(polars, name))


def collected(table: Any, name: str) -> Any:
    """A LazyFrame as a DataFrame, anything else as it is; raises InputError where polars cannot collect it."""
    if not is_polars(table, "LazyFrame"):
        return table
    try:
        return table.collect()
    except Exception as error:  # what the user's own query, files and functions raise
        check_memory(error, name)
        raise InputError(f"{name}: the LazyFrame cannot be collected: {first_line(error)}") from None
