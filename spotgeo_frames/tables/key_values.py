"""Values of keys that are written as something else: whole numbers as floats, and days and times as dates.

A key is int64 or text. 1.0 is the integer 1, which is what many programs make of it once a column had a null. A day is
the text 2024-01-01, and a time of a day 2024-01-01T12:30:00, in UTC where a time zone is known. Midnight without a time
zone is the day itself, so a column of days has the same names whether a library keeps it as days or as times.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..support import is_text, pandas_tables

# What pandas finds in columns of Python objects that stand for days and times.
OF_DATES = ("date", "datetime", "datetime64", "time")


def fractions(values: pd.Series) -> np.ndarray | None:
    """Marks the values of a column of floats that are no integers, or too large to tell; None for other columns."""
    if not pd.api.types.is_float_dtype(values.dtype):
        return None
    numbers = values.to_numpy(np.float64)
    exact = 2.0 ** (np.finfo(getattr(values.dtype, "numpy_dtype", values.dtype)).nmant + 1)
    return ~((numbers == np.floor(numbers)) & (np.abs(numbers) <= exact))


def dates_as_text(values: pd.Series) -> pd.Series:
    """A column of days or times as text; any other column as it is."""
    if not _holds_dates(values):
        return values
    codes, different = pd.factorize(values)
    texts = pd.array([date_text(value) for value in different], dtype=pandas_tables.TEXT)
    return pd.Series(texts.take(codes), index=values.index)


def holds_text(values: pd.Series | pd.Index) -> bool:
    """Whether UTF-8 can hold all the text among a column's Python objects; others tell of what is no text at all."""
    known = values.dtype.categories if isinstance(values.dtype, pd.CategoricalDtype) else values
    if known.dtype != object:
        return True
    try:
        return all(is_text(value) for value in pd.unique(known) if isinstance(value, str))
    except TypeError:  # lists and the like
        return True


def _holds_dates(values: pd.Series) -> bool:
    """Whether a column holds days or times."""
    kind = values.dtype
    if isinstance(kind, pd.ArrowDtype):
        return is_date(kind.pyarrow_dtype)
    if pd.api.types.is_object_dtype(kind):
        return pd.api.types.infer_dtype(values, skipna=False) in OF_DATES
    return pd.api.types.is_datetime64_any_dtype(kind)


def is_date(kind: pa.DataType) -> bool:
    """Whether a type of Arrow is one of days or times."""
    return pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind)


def date_text(value: date | time) -> str:
    """A day or a time as text, as ISO 8601 has it.

    >>> date_text(datetime(2024, 1, 31, 12, 30)), date_text(datetime(2024, 1, 31)), date_text(date(2024, 1, 31))
    ('2024-01-31T12:30:00', '2024-01-31', '2024-01-31')
    """
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            return value.astimezone(UTC).isoformat()
        if value.time() == time() and not getattr(value, "nanosecond", 0):
            return value.date().isoformat()
    return str(value.isoformat())


def may_be_whole(kind: pa.DataType) -> bool:
    """Whether the values of a type of Arrow that is none of integers may be integers all the same."""
    return pa.types.is_floating(kind) or (pa.types.is_decimal(kind) and kind.scale == 0)


def arrow_key(values: Any, kind: pa.DataType) -> Any:
    """A key column of Arrow as integers or text, `kind`; raises an error of Arrow if a float is no whole number."""
    if pa.types.is_string(kind) and is_date(values.type):
        different = values.unique()
        texts = pa.array([None if value is None else date_text(value) for value in different.to_pylist()], kind)
        return texts.take(pc.index_in(values, different))
    try:
        return values.cast(kind)
    except pa.ArrowInvalid:
        if not (pa.types.is_integer(kind) and pa.types.is_floating(values.type)):
            raise
        first = next(value for value in values.to_pylist() if value is not None and not value.is_integer())
        raise pa.ArrowInvalid(f"{first} is no whole number; integers are needed") from None
