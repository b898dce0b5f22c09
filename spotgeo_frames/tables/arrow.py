"""Turns any table that comes in into a pandas DataFrame: polars, pyarrow, and whatever exports an Arrow stream."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..support import InputError, check_memory, first_line, pandas_tables
from .columns import is_wide
from .provenance import SOURCE
from .table import ArrowStream, Table, as_stream, collected, is_polars, is_scanned
from .table_kinds import kind_of

# Fixed pandas types for flags and text, so that the type does not depend on whether a column happens to have nulls.
PANDAS_TYPES: dict[Any, Any] = {pa.bool_(): pd.BooleanDtype()}
PANDAS_TYPES |= dict.fromkeys([pa.string(), pa.large_string(), pa.string_view()], pandas_tables.TEXT)

# The types of integers with nulls, which as float64 would lose what is beyond 2**53.
NULLABLE_TYPES: dict[Any, Any] = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
}

TAKEN = "a pandas DataFrame, a polars DataFrame or LazyFrame, or an Arrow table or dataset (pyarrow, DuckDB) is needed"

# What makes a table that is taken of one that is not, by the method that such tables have.
WAYS_OUT = {"compute": "dask", "toPandas": "Spark", "to_pandas": "other dataframes"}

# What pandas makes a table of: columns by name, rows, arrays with named fields or without names, and tensors.
TABLE_OF = "; pandas.DataFrame(...) makes one"
OF_ARRAY = "; pandas.DataFrame(..., columns=[...]) makes one"


def as_pandas(table: Table, name: str) -> pd.DataFrame:
    """`table` as a DataFrame; named index levels become columns unless there is a column of that name.

    The notes in the metadata of a pyarrow Table become the `attrs`. Raises InputError if it is not a table, if a
    LazyFrame cannot be collected, or if a column name is not a string or occurs twice.
    """
    table = collected(table, name)
    if isinstance(table, pd.DataFrame):
        frame = table
        levels = [level for level in table.index.names if level is not None and level not in table.columns]
        if levels:
            frame = table.reset_index(levels)
    elif (isinstance(table, ArrowStream) and not isinstance(table, pd.Series)) or is_scanned(table):
        # What comes back of polars and pyarrow is of the same kind, so pandas never has to write or show it.
        comes_back = kind_of(table) != "pandas"
        arrow = _as_arrow(table, name)
        frame = arrow_to_pandas(arrow, name, keep_types=comes_back)
        frame.attrs = _notes(arrow.schema.metadata)
    else:
        hint = next((f"; {way}() makes one ({of})" for way, of in WAYS_OUT.items() if hasattr(table, way)), "")
        hint = "; give its field matches" if hasattr(table, "matches") else hint or _made_by_pandas(table)
        package = type(table).__module__.partition(".")[0]
        kind = f"{type(table).__name__}{'' if package == 'builtins' else f' of {package}'}"
        if hasattr(table, "why_no_matches"):
            raise InputError(f"{name}: is of type {kind}; {table.why_no_matches}")
        raise InputError(f"{name}: is of type {kind}; {TAKEN}{hint}")
    names = pandas_tables.names_of(frame)
    odd = [column for column in names if not isinstance(column, str)]
    if odd:
        hint = "; table.columns.map('_'.join) makes such names" if isinstance(frame.columns, pd.MultiIndex) else ""
        raise InputError([f"{name}: column {column!r}: its name has to be a string{hint}" for column in odd])
    if len({*names}) < len(names):
        twice = frame.columns[frame.columns.duplicated()].unique()
        raise InputError([f"{name}: column {column} is there more than once" for column in twice])
    return pandas_tables.with_text(frame)


def _made_by_pandas(given: Any) -> str:
    """How pandas makes a table of what is none; empty where it does not."""
    if isinstance(given, dict | list | tuple) or getattr(getattr(given, "dtype", None), "names", None):
        return TABLE_OF
    if isinstance(given, pd.Series):
        return "; its to_frame() makes one"
    return OF_ARRAY if getattr(given, "ndim", 0) == 2 else ""


def _as_arrow(table: Any, name: str) -> pa.Table:
    """What exports an Arrow stream as a pyarrow Table; raises InputError, for polars with the columns that cannot."""
    if isinstance(table, pa.Table):  # as a stream, one without rows would lose its categories
        return table
    if is_polars(table):
        return _polars_as_arrow(table, name)
    try:
        return pa.table(as_stream(table))
    except (pa.ArrowException, TypeError, ValueError) as error:
        check_memory(error, name)
        raise InputError(f"{name}: is not a table that Arrow can read: {error}") from None


def _polars_as_arrow(table: Any, name: str) -> pa.Table:
    """A DataFrame of polars as a pyarrow Table; raises InputError with every column that Arrow does not know."""
    import polars as pl

    columns, problems = {}, []
    for column in table.get_columns():
        try:
            if column.dtype == pl.Object:  # which polars would export as the places in memory
                raise TypeError("Arrow knows no objects of Python")
            # Without the newest types of text and bytes, which pyarrow cannot take rows of.
            columns[column.name] = column.to_arrow(compat_level=pl.CompatLevel.oldest())
        except (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError) as error:
            check_memory(error, name)
            problem = f"is of type {column.dtype}, which cannot be carried ({first_line(error)})"
            problems.append(f"{name}: column {column.name} {problem}; cast it to text or numbers, or drop it")
    if problems:
        raise InputError(problems)
    return pa.table(columns)


def notes_of(table: Any) -> dict[Any, Any]:
    """The notes of a table: the `attrs` of pandas, or those in the metadata of pyarrow; polars keeps none."""
    if isinstance(table, pd.DataFrame):
        return dict(table.attrs)
    schema = getattr(table, "schema", None)
    return _notes(getattr(schema, "metadata", None))


def _notes(metadata: Mapping[bytes, bytes] | None) -> dict[Any, Any]:
    """The notes (`attrs`) in the metadata of a pyarrow Table; none where they cannot be read.

    A file that the table was read from is not among them, since nothing tells whether the rows are still the file's.
    """
    try:
        notes = json.loads((metadata or {}).get(b"PANDAS_ATTRS", b"{}"))
    except ValueError:
        return {}
    return {key: value for key, value in notes.items() if key != SOURCE} if isinstance(notes, dict) else {}


def arrow_to_pandas(table: pa.Table, name: str, *, keep_types: bool = False) -> pd.DataFrame:
    """An Arrow table as a DataFrame: decimals become int64 or float64, and columns of a pandas index are left out.

    Dates, times, bytes, lists and structs become objects of Python or, with `keep_types`, keep their Arrow type
    (`pd.ArrowDtype`; pandas cannot read files with such lists and structs again). Raises InputError with every column
    that pandas cannot represent: text that is not UTF-8, times out of range, decimals that are too large.
    """
    columns: dict[str, Any] = {}
    problems: list[str] = []
    for position, column in enumerate(table.columns):
        field = f"number {position + 1}"
        try:
            field = table.schema.field(position).name
            if field.startswith("__index_level_"):
                continue
            if field in columns:
                problems.append(f"{name}: column {field} is there more than once")
            columns[field] = _column_to_pandas(column, keep_types)
        except (pa.ArrowException, ValueError, OverflowError) as error:
            check_memory(error, name)
            problems.append(f"{name}: column {field}: cannot be read: {str(error).splitlines()[0]}")
    if problems:
        raise InputError(problems)
    index = pd.RangeIndex(table.num_rows) if columns else None
    return pd.DataFrame(columns, index, copy=not pandas_tables.COPIES_ON_WRITE or is_wide(columns, table.num_rows))


def text_bytes(values: pa.Array) -> int:
    """How many bytes the text of a column would take without a dictionary, if it has one."""
    if not pa.types.is_dictionary(values.type):
        return int(values.nbytes)
    if pa.types.is_primitive(values.type.value_type):
        return 8 * len(values)
    lengths = pc.binary_length(values.dictionary)
    return int(pc.sum(pc.cast(lengths, pa.int64()).take(values.indices)).as_py() or 0)


def _column_to_pandas(column: pa.ChunkedArray, keep_types: bool) -> pd.Series | np.ndarray:
    """A column of an Arrow table as a Series, and plain numbers, which takes a tenth of the time, as an array.

    Raises an error of Arrow, ValueError or OverflowError if it cannot.
    """
    kind = column.type
    if pa.types.is_floating(kind) or (pa.types.is_integer(kind) and not column.null_count):
        return column.to_numpy()
    if pa.types.is_decimal(kind):
        kind = pa.int64() if kind.scale == 0 else pa.float64()
        column = column.cast(kind)
    elif not pa.types.is_primitive(kind):
        column.validate(full=True)  # text that is not UTF-8 would otherwise fail only later
    if pa.types.is_dictionary(kind) and not len(column) and column.num_chunks:  # pyarrow would drop the categories
        categories = column.chunk(0).dictionary.to_pandas()  # as pandas has the categories of rows
        return pd.Series(pd.Categorical.from_codes([], categories, ordered=kind.ordered))
    if pa.types.is_dictionary(kind) and pa.types.is_unsigned_integer(kind.index_type):
        kind = pa.dictionary(pa.int64(), kind.value_type, kind.ordered)  # older pyarrow takes no others
        column = column.cast(kind)
    if column.null_count and kind in NULLABLE_TYPES:
        return column.to_pandas(types_mapper=NULLABLE_TYPES.get)
    if not (keep_types and _would_be_objects(kind)):
        return column.to_pandas(types_mapper=PANDAS_TYPES.get)
    if pa.types.is_date(kind):
        pc.min_max(column).as_py()  # dates beyond the year 9999 fail here, and not only later
    column.slice(0, 0).take(pa.array([], pa.int64()))  # a type of which Arrow cannot take rows fails here
    return column.to_pandas(types_mapper=pd.ArrowDtype)


def _would_be_objects(kind: pa.DataType) -> bool:
    """Whether a column would become objects of Python, whose type is lost with the last of them."""
    types = pa.types
    is_plain = types.is_primitive(kind) and not (types.is_time(kind) or types.is_date(kind))
    return not (is_plain or types.is_dictionary(kind) or types.is_null(kind) or kind in PANDAS_TYPES)
