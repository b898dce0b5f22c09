"""Turns key columns (integers or strings) into integers that sort as the columns do, so that the rest is arithmetic.

`ordinals` numbers the values of one column, over several tables at once; `pack` joins several such columns into a
single integer a row. Both keep the order of the values, so sorting by the result sorts by the columns.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

# Codes below this are packed without a second look: two of them still fit an int64.
WIDEST = 1 << 31


def ordinals(columns: Sequence[pd.Series]) -> tuple[list[np.ndarray], int]:
    """Numbers the values of one key column that several tables share.

    Returns one int64 array a table, and an upper bound of the numbers in them (exclusive, at least 1). Small integers
    stay as they are and those that span little are only shifted, which costs next to nothing; everything else is
    numbered by its sorted distinct values. Null becomes the highest number.
    """
    filled = [column for column in columns if len(column)]
    if not filled:
        return [np.zeros(0, np.int64) for _ in columns], 1
    if all(isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" for column in filled):
        numbers = [column.to_numpy() for column in columns]
        low = min(int(column.min()) for column in numbers if len(column))
        high = max(int(column.max()) for column in numbers if len(column))
        if low >= 0 and high + 1 < WIDEST:
            return [column.astype(np.int64, copy=False) for column in numbers], high + 1
        if high - low + 1 < WIDEST:
            return [column.astype(np.int64, copy=False) - low for column in numbers], high - low + 1
    codes, values = pd.factorize(pd.concat(filled, ignore_index=True), sort=True)
    codes = np.where(codes < 0, len(values), codes)
    ends = np.cumsum([len(column) for column in columns])
    return np.split(codes.astype(np.int64, copy=False), ends[:-1]), len(values) + 1


def pack(codes: Sequence[np.ndarray], spans: Sequence[int]) -> np.ndarray:
    """One int64 a row for several columns of codes, most significant first; `spans` bounds each column's codes."""
    packed, width = codes[0], spans[0]
    for code, span in zip(codes[1:], spans[1:], strict=True):
        if width * span >= 1 << 62:
            distinct, packed = np.unique(packed, return_inverse=True)
            width = len(distinct)
        packed = packed * span
        packed += code
        width *= span
    return packed


def row_keys(table: pd.DataFrame | Mapping[str, pd.Series], columns: Sequence[str]) -> np.ndarray:
    """One int64 a row of `table` that is equal and ordered as the named columns are."""
    numbered = [ordinals([table[column]]) for column in columns]
    return pack([codes[0] for codes, _ in numbered], [span for _, span in numbered])


def frame_keys(tables: Sequence[pd.DataFrame]) -> list[np.ndarray]:
    """One int64 a row of each table, the same in all of them for the same (sequence, frame), and in its order."""
    sequences, sequence_span = ordinals([table["sequence"] for table in tables])
    frames, frame_span = ordinals([table["frame"] for table in tables])
    return [pack(codes, [sequence_span, frame_span]) for codes in zip(sequences, frames, strict=True)]


def stable_order(codes: np.ndarray, span: int) -> np.ndarray:
    """The order that sorts codes below `span` and leaves equals as they come."""
    if span <= 1 << 16:  # of short integers NumPy sorts by their digits, which is many times faster
        codes = codes.astype(np.uint16)
    return np.argsort(codes, kind="stable")


def in_order(keys: np.ndarray) -> bool:
    """Whether no key is less than the one before."""
    return bool(np.all(keys[1:] >= keys[:-1]))


def repeated(keys: np.ndarray) -> np.ndarray:
    """Marks the keys that occur more than once."""
    # Most tables are in order; and to sort integers is much faster than to hash them.
    if np.all(keys[1:] > keys[:-1]) or not np.any(np.diff(np.sort(keys)) == 0):
        return np.zeros(len(keys), bool)
    return np.asarray(pd.Index(keys).duplicated(keep=False))


def distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted distinct keys, and the first row of each; keys in order, or densely together, need no sort."""
    if in_order(keys):
        first = np.flatnonzero(np.concatenate([np.ones(min(len(keys), 1), bool), keys[1:] > keys[:-1]]))
        return keys[first], first
    low, span = int(keys.min()), int(keys.max()) - int(keys.min()) + 1
    if _dense(span, len(keys)):
        first_row = np.full(span, -1, np.int64)
        first_row[keys[::-1] - low] = np.arange(len(keys) - 1, -1, -1)  # the last to be written is the first row
        values = np.flatnonzero(first_row >= 0)
        return values + low, first_row[values]
    return np.unique(keys, return_index=True)


def positions(keys: np.ndarray, values: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The position of each key among the `values` and their `first` rows that `distinct` gave for these keys."""
    if in_order(keys):
        return np.repeat(np.arange(len(values)), np.diff(first, append=len(keys)))
    return locate(values, keys)


def locate(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The position of each key in `values` (sorted, distinct), or -1 where it is not among them."""
    return locator(values, len(keys))(keys)


def locator(values: np.ndarray, n_keys: int) -> Callable[[np.ndarray], np.ndarray]:
    """`locate` for the same values again and again, about `n_keys` keys in all: what can be prepared is, once."""
    if len(values) == 0:
        return lambda keys: np.full(len(keys), -1, np.int64)
    low, span = int(values[0]), int(values[-1]) - int(values[0]) + 1
    if not _dense(span, len(values) + n_keys):
        return partial(_searched, values)
    position = np.full(span, -1, np.int64)
    position[values - low] = np.arange(len(values))
    return partial(_looked_up, position, low)


def _looked_up(position: np.ndarray, low: int, keys: np.ndarray) -> np.ndarray:
    if len(keys) == 0 or (keys.min() >= low and keys.max() < low + len(position)):
        return position[keys - low]
    inside = (keys >= low) & (keys < low + len(position))
    return np.where(inside, position[np.where(inside, keys - low, 0)], -1)


def _searched(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    position = np.minimum(np.searchsorted(values, keys), len(values) - 1)
    return np.where(values[position] == keys, position, -1)


def _dense(span: int, count: int) -> bool:
    """Whether a table over the whole span of keys is small enough that looking up beats sorting and searching."""
    return span <= 4 * count + 1024
