"""What a table needs beside its Parquet file to come back as it was: its kind, its notes and its categories.

Parquet keeps numbers, nulls and text. It drops the categories of columns without rows and those that are not text, the
notes that pandas calls attrs, and whether the table was of pandas, polars or pyarrow.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..support import InputError, bins_as_text, check_memory, first_line, is_text, memory, pandas_tables
from .arrow import as_pandas
from .provenance import SOURCE
from .table import Table, collected
from .table_kinds import TableKind, as_kind, categorical_columns, check_kind, kind_of


class Categories(msgspec.Struct):
    """The categories of a column in their order, and the pandas type of these."""

    values: list[Any]
    dtype: str
    ordered: bool


class TableForm(msgspec.Struct):
    """What a table needs beside its Parquet file.

    `rows` counts them, `kind` is the library, `notes` are the attrs, and `categories` belong to the columns of pandas
    by name. `categorical` are the columns that are Categorical in polars, where the others with categories are Enum.
    """

    rows: int
    kind: TableKind
    notes: dict[str, Any]
    categories: dict[str, Categories]
    categorical: list[str]


def table_and_form(table: Table, name: str) -> tuple[pd.DataFrame, TableForm]:
    """The table as pandas, with bins as text and its rows numbered anew, and its form.

    Raises InputError, which `name` begins, if it is no table, or if Parquet or JSON would give back something else.
    """
    kind, table = kind_of(table), collected(table, name)
    frame = bins_as_text(as_pandas(table, name)).reset_index(drop=True)
    if len(frame) and not len(frame.columns):  # whose rows Parquet does not count
        raise InputError(f"{name}: has rows and no columns; give it a column, or drop the rows")
    _check_objects(frame, name)
    of_table = {key: value for key, value in frame.attrs.items() if key != SOURCE}
    notes = _plain(of_table, f"{name}: notes (attrs)")
    frame.attrs = dict(notes)
    categorical = [column for column in categorical_columns(table) if column in frame]
    return frame, TableForm(len(frame), kind, notes, _categories(frame, name), categorical)


def _check_objects(frame: pd.DataFrame, name: str) -> None:
    """Raises InputError if a column of Python objects would come back as another type."""
    for column in [column for column in frame if frame[column].dtype == object]:
        try:
            back = pa.array(frame[column], from_pandas=True).to_pandas().dtype
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            check_memory(error, name)
            raise InputError(f"{name}: column {column}: cannot be kept: {first_line(error)}; drop it") from None
        if not pd.api.types.is_object_dtype(back):
            problem = f"has Python objects, which would come back as {back}"
            raise InputError(f"{name}: column {column}: {problem}; give it a type, such as by convert_dtypes()")


def _plain(note: Any, place: str) -> Any:
    """A note as JSON holds it, numbers of NumPy as those of Python; raises InputError if JSON does not know it."""
    if isinstance(note, np.generic):
        note = note.item()
    if isinstance(note, Mapping) and all(isinstance(key, str) and is_text(key) for key in note):
        return {key: _plain(value, f"{place}: {key}") for key, value in note.items()}
    if isinstance(note, list):
        return [_plain(value, place) for value in note]
    is_number = isinstance(note, bool | int) or (isinstance(note, float) and math.isfinite(note))
    if note is None or is_number or (isinstance(note, str) and is_text(note)):
        return note
    raise InputError(f"{place}: {note!r} cannot be kept; make it text, a finite number, or a list or dict of these")


def _categories(frame: pd.DataFrame, name: str) -> dict[str, Categories]:
    """The categories of each column that has some; raises InputError if they are neither text nor numbers."""
    found = {}
    for column, kind in frame.dtypes.items():
        if isinstance(kind, pd.CategoricalDtype):
            place = f"{name}: column {column}: categories"
            values = _plain(kind.categories.tolist(), place)
            found[str(column)] = Categories(values, str(kind.categories.dtype), bool(kind.ordered))
    return found


def table_of(content: bytes, form: TableForm, path: Path, kind: TableKind) -> Any:
    """The table in the content of a Parquet file, of a kind, with the notes and categories that its form tells.

    Raises InputError, which names the file at `path`, if it is no such table, or if the memory would not hold it;
    ImportError if the kind is polars, which is not installed.
    """
    check_kind(kind)
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        n_rows, n_columns = file.metadata.num_rows, file.metadata.num_columns
        if n_rows == form.rows:
            memory.check_at_hand(str(path), "the table", 8.0 * n_rows * n_columns)
            frame = _frame(file.read(use_threads=False), form)
    except InputError:
        raise
    except Exception as error:  # whatever a library raises of a file that somebody made up
        check_memory(error, path)
        raise InputError(f"{path}: cannot be read: {first_line(error)}") from None
    if n_rows != form.rows:
        raise InputError(f"{path}: has {n_rows:,} rows, and {form.rows:,} were saved; save the result again")
    return as_kind(frame, kind, form.categorical)


def _frame(arrow: pa.Table, form: TableForm) -> pd.DataFrame:
    """The pandas table of an Arrow table."""
    frame = pandas_tables.own_copy(arrow.to_pandas())
    for field in arrow.schema:
        holds_text = pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        if holds_text and frame[field.name].dtype == object:  # as which pandas 2.3 reads it
            frame[field.name] = frame[field.name].astype(pandas_tables.TEXT)
    for column, categories in form.categories.items():
        frame[column] = _categorical(arrow.column(column), categories)
    frame.attrs = dict(form.notes.items())
    return frame


def _categorical(values: pa.ChunkedArray, categories: Categories) -> pd.Categorical:
    """A column with its categories, those included that no row has."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    codes = pc.index_in(values, value_set=pa.array(categories.values, values.type)).fill_null(-1)
    kind = pandas_tables.TEXT if categories.dtype == str(pandas_tables.TEXT) else categories.dtype
    dtype = pd.CategoricalDtype(pd.Index(categories.values, dtype=kind), categories.ordered)
    return pd.Categorical.from_codes(codes.to_numpy(), dtype=dtype)
