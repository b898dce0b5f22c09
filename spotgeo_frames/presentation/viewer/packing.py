"""Packs columns into bytes, and tells where and how each column lies, so that JavaScript can read it.

A column is an array of numbers (float64, null as NaN) or a Text. Numbers become integers of 8, 16 or 32 bits with a
count of decimals where these are exact or a count of decimals is asked for, else float32 or float64. The bytes of an
array are stored plane by plane (the first byte of every number, then the second ...), which compresses much better.
"""

import base64
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...support import bins_as_text, is_binned, label
from ...tables import as_numbers, schema

INTEGERS = [np.dtype(name) for name in ("<i1", "<i2", "<i4")]

# The user's numbers are stored as integers if they are exact with at most this many decimals. Whether they can be is
# looked at in the first few first.
MOST_DECIMALS = 6
FEW = 1000

# Every array begins at a multiple of this, so that JavaScript can view it as numbers.
ALIGNED = 8

# Higher levels take several times as long and save some percent.
LEVEL = 1


class Text(NamedTuple):
    """A column of text: `codes` (N,) are positions in `values`, -1 for null."""

    codes: np.ndarray
    values: list[str]


Column = np.ndarray | Text


def column_of(values: pd.Series) -> Column | None:
    """A column of a DataFrame as numbers or text; None if it cannot be shown, because it holds lists or the like.

    Integers that no float64 can hold become text.
    """
    if pd.api.types.is_any_real_numeric_dtype(values.dtype) and not _is_too_large(values):
        return as_numbers(values)
    try:
        codes, different = _factorized(values)
    except (TypeError, NotImplementedError):  # what lists of Python and of Arrow raise
        return None
    if any(map(pd.api.types.is_list_like, different)):
        return None
    return Text(codes, [valid_text(label(value)) for value in different])


def valid_text(text: str) -> str:
    """Text that JSON can hold: half a surrogate pair becomes its code."""
    return text.encode("utf-8", "backslashreplace").decode()


def taken(column: Column, rows: np.ndarray) -> Column:
    """The values of a column at these rows; null where a row is -1."""
    values, null = (column.codes, -1) if isinstance(column, Text) else (column, np.nan)
    answer = np.append(values, null)[rows]  # the row -1 is the last
    return Text(answer, column.values) if isinstance(column, Text) else answer


def same(one: Column, other: Column) -> bool:
    """Whether two columns taken from the same one have the same values."""
    if isinstance(one, Text) and isinstance(other, Text):
        return np.array_equal(one.codes, other.codes)
    return np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True)


def used(column: Text) -> Text:
    """The column with only those values that occur."""
    occurs = np.bincount(column.codes + 1, minlength=len(column.values) + 1)[1:] > 0
    if occurs.all():
        return column
    places = np.append(np.cumsum(occurs) - 1, -1)  # the code -1 is the last
    return Text(places[column.codes], [value for value, is_used in zip(column.values, occurs, strict=True) if is_used])


def packed_table(columns: Mapping[str, Column], content: bytearray, decimals: Mapping[str, int]) -> dict[str, Any]:
    """Appends the arrays of a table, which has a column, to `content`; returns what JavaScript needs to read it.

    `decimals` says to how many decimals some columns of numbers are rounded.
    """
    lengths = {len(column.codes if isinstance(column, Text) else column) for column in columns.values()}
    [n_rows] = lengths
    listed = [_packed(name, column, content, decimals.get(name)) for name, column in columns.items()]
    return {"n": n_rows, "columns": listed}


def packed_masks(lengths: np.ndarray, text: bytes, content: bytearray) -> dict[str, Any]:
    """Appends run lengths of masks to `content`: the characters of all masks, and how many each row has.

    A row without a mask has 0 of them, and -1 where it has a mask that is not there.
    """
    listed = _packed("lengths", lengths.astype(np.float64), content, 0)
    return {"lengths": listed, "text": _appended(np.frombuffer(text, np.uint8), content)["offset"]}


def compressed(content: bytes) -> str:
    """Bytes compressed by zlib, as base64."""
    return base64.b64encode(zlib.compress(content, LEVEL)).decode()


def _packed(name: str, column: Column, content: bytearray, decimals: int | None) -> dict[str, Any]:
    """Appends the array of a column to `content`; returns where and how it lies."""
    if isinstance(column, Text):
        text = used(column)
        array = text.codes.astype(_form(len(text.values)))
        return {"name": name, **_appended(array, content), "values": text.values}
    known = _exact_decimals(column) if decimals is None else decimals
    whole = None if known is None else _integers(column, known)
    if whole is not None:
        array = whole
    else:  # large coordinates need their decimals, which float32 has not
        array, known = (_floats(column), None) if decimals is None else (column.astype("<f8"), decimals)
    return {"name": name, **_appended(array, content)} | ({} if known is None else {"decimals": known})


def _appended(array: np.ndarray, content: bytearray) -> dict[str, Any]:
    """Appends an array to `content`, plane by plane; returns its form and its offset."""
    offset = len(content)
    size = array.dtype.itemsize
    content += np.ascontiguousarray(array).view(np.uint8).reshape(-1, size).T.tobytes()
    content += bytes(-len(content) % ALIGNED)
    return {"form": array.dtype.name, "offset": offset}


def _exact_decimals(values: np.ndarray) -> int | None:
    """The fewest decimals at which rounding changes no value; None if MOST_DECIMALS are too few."""
    known = values[~np.isnan(values)]
    with np.errstate(over="ignore", invalid="ignore"):
        for decimals in range(MOST_DECIMALS + 1):
            scale = 10.0**decimals
            if all(np.array_equal(np.rint(some * scale) / scale, some) for some in (known[:FEW], known)):
                return decimals
    return None


def _integers(values: np.ndarray, decimals: int) -> np.ndarray | None:
    """The values times 10^decimals as the shortest integers, whose lowest is null; None if 32 bits cannot hold them."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.rint(values * 10.0**decimals)
    is_null = np.isnan(values)
    largest = float(np.abs(scaled).max(initial=0, where=~is_null))
    form = _form(largest) if largest <= np.iinfo(INTEGERS[-1]).max else None
    if form is None:
        return None
    return np.where(is_null, np.iinfo(form).min, scaled).astype(form)


def _form(largest: float) -> np.dtype[Any]:
    """The shortest integers that hold numbers up to `largest` and down to its negative."""
    return next(form for form in INTEGERS if largest <= np.iinfo(form).max)


def _floats(values: np.ndarray) -> np.ndarray:
    """The values as float32, which has more than 6 digits; as float64 where they are whole, too large or too small."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    bounds = np.finfo(np.float32)
    is_short = np.all((sizes >= bounds.tiny) & (sizes <= bounds.max)) and not np.array_equal(sizes, np.rint(sizes))
    return values.astype("<f4" if is_short else "<f8")


def _factorized(values: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """The different values of a column, bins as text, and the position of each row's value among them."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        categories = values.cat.categories
        if is_binned(values):
            each = pd.Series(pd.Categorical(categories, categories=categories))
            categories = pd.Index(bins_as_text(each.to_frame("bin"))["bin"])
        return values.cat.codes.to_numpy(np.int64), categories
    codes, different = pd.factorize(values)
    return codes.astype(np.int64), pd.Index(different)


def _is_too_large(values: pd.Series) -> bool:
    """Whether there are integers that float64 cannot hold exactly."""
    if not pd.api.types.is_integer_dtype(values.dtype):
        return False
    known = values.dropna()
    return not known.between(-schema.LARGEST_EXACT_INTEGER, schema.LARGEST_EXACT_INTEGER).all()
