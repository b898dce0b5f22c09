"""Columns of names as text, each row numbered by what its column has: codes of categories, or runs of equal text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..support import coded_text, pandas_tables
from .checks import decoded


class KeyText(NamedTuple):
    """A column of names: an array of text with its codes, or int64 without."""

    values: Any
    codes: coded_text.TextCodes | None


def key_text(values: pd.Series) -> KeyText | None:
    """A column of names as the checks would leave it; None where that takes a closer look, as it does with nulls.

    Raises InputError where the text of categories would not fit into the memory once for each row.
    """
    kind = values.dtype
    if kind == np.int64:
        return KeyText(values.to_numpy(), None)
    if not len(values):
        return None
    if isinstance(kind, pd.CategoricalDtype):
        return _of_categories(values)
    if pd.api.types.is_object_dtype(kind):
        return _of_objects(values.to_numpy())
    is_text = isinstance(kind, pd.StringDtype) or (
        isinstance(kind, pd.ArrowDtype) and kind.pyarrow_dtype in (pa.string(), pa.large_string())
    )
    if not is_text or values.hasnans:
        return None
    text = values.astype(pandas_tables.TEXT).array
    return KeyText(text, coded_text.text_codes(text))


def _of_categories(values: pd.Series) -> KeyText | None:
    """A categorical column, whose categories are numbered, and not its rows."""
    codes = values.cat.codes.to_numpy()
    if codes.min() < 0:
        return None
    known = key_text(values.cat.categories.to_series())
    if known is None:
        return None
    if known.codes is None:
        return KeyText(known.values.take(codes), None)
    text = decoded(values.cat.rename_categories(known.values)).array  # which checks the memory that it takes
    return KeyText(text, coded_text.TextCodes(known.codes.codes.take(codes), known.codes.names))


def _of_objects(values: np.ndarray) -> KeyText | None:
    """A column of objects of Python, of which only the distinct ones of each run are made text."""
    if not isinstance(values[0], str):
        return None
    begins = coded_text.run_begins(values)
    heads = values if begins is None else values[begins]
    if pd.api.types.infer_dtype(heads, skipna=False) != "string":
        return None
    numbers, different = pd.factorize(heads)
    try:
        text = pa.array(different, pa.large_string())
    except UnicodeEncodeError:  # half a surrogate pair, which the checks tell of
        return None
    known = coded_text.codes_of(text)
    if begins is not None:
        numbers = numbers.repeat(np.diff(begins, append=len(values)))
    array = pd.array(text, dtype=pandas_tables.TEXT).take(numbers)
    return KeyText(array, coded_text.TextCodes(known.codes.take(numbers), known.names))
