"""Tables of each kind, and what a table of any kind holds, to compare them."""

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import spotgeo_frames as sf
from spotgeo_frames import Annotations
from spotgeo_frames.support.texts import bins_as_text, is_binned

Plain = dict[str, tuple[str, list[Any]]]


def to_pyarrow(table: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(table, preserve_index=False)


# What makes a table of each kind from one of pandas. A LazyFrame comes back as a DataFrame, and a dataset as a Table.
CONVERTERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": pl.from_pandas,
    "lazy": lambda table: pl.from_pandas(table).lazy(),
    "pyarrow": to_pyarrow,
    "dataset": lambda table: ds.dataset(to_pyarrow(table)),
}
CLASSES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.DataFrame,
    "pyarrow": pa.Table,
    "dataset": pa.Table,
}


def of_kind(given: Any, kind: str) -> Any:
    """Pandas tables, also in tuples and dicts, as tables of `kind`."""
    if isinstance(given, pd.DataFrame):
        return given if kind == "pandas" else CONVERTERS[kind](given)
    if isinstance(given, Annotations):
        return Annotations(*(of_kind(part, kind) for part in given))
    if isinstance(given, tuple):
        return tuple(of_kind(part, kind) for part in given)
    if isinstance(given, dict):
        return {name: of_kind(part, kind) for name, part in given.items()}
    return given


def plain(table: Any) -> Plain:
    """The type of each column, in words that all kinds share, and its values, with None for null."""
    if isinstance(table, pd.DataFrame):
        return _plain_pandas(table)
    if isinstance(table, pl.DataFrame):
        return {column.name: (_polars_word(column.dtype), column.to_list()) for column in table.get_columns()}
    return {name: (_arrow_word(table.schema.field(name).type), table[name].to_pylist()) for name in table.column_names}


def _plain_pandas(table: pd.DataFrame) -> Plain:
    texts = bins_as_text(table)
    return {
        str(name): (
            "text" if is_binned(table[name]) else _pandas_word(table[name].dtype),
            [None if pd.isna(value) else value for value in texts[name].tolist()],
        )
        for name in table
    }


def _pandas_word(kind: Any) -> str:
    if isinstance(kind, pd.CategoricalDtype):
        return "category"
    for word, holds in (
        ("flag", pd.api.types.is_bool_dtype),
        ("integer", pd.api.types.is_integer_dtype),
        ("number", pd.api.types.is_float_dtype),
        ("text", pd.api.types.is_string_dtype),
    ):
        if holds(kind):
            return word
    return str(kind)


def _polars_word(kind: Any) -> str:
    words = {
        pl.Enum: "category",
        pl.Categorical: "category",
        pl.Boolean: "flag",
        pl.Int64: "integer",
        pl.Float64: "number",
        pl.String: "text",
    }
    return words.get(kind.base_type(), str(kind))


def _arrow_word(kind: Any) -> str:
    if pa.types.is_dictionary(kind):
        return "category"
    if pa.types.is_large_string(kind):
        return "text"
    return {pa.bool_(): "flag", pa.int64(): "integer", pa.float64(): "number", pa.string(): "text"}.get(kind, str(kind))


def tables_of(result: Any) -> list[Any]:
    """The tables of a result, which may be one itself."""
    if isinstance(result, tuple):
        return [table for part in result for table in tables_of(part)]
    return [result] if isinstance(result, pd.DataFrame | pl.DataFrame | pa.Table) else []


def read_as(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every reader of the package read tables of `kind`."""
    for name in sf.__all__:
        if name.startswith("read_"):
            monkeypatch.setattr(sf, name, partial(getattr(sf, name), table=kind))


def run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    """Runs code with these names; returns the value of every statement that only gives one, by its text."""
    values = {}
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.Expr):
            values[ast.unparse(statement)] = eval(ast.unparse(statement), names)
        else:
            exec(ast.unparse(statement), names)
    return values
