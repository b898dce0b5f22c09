"""Arrays: key columns as sortable integers, ranges, chunks, exponentials and logarithms, and what becomes an array.

`ordinals` turns the values of a key column (integers or strings) into integers that sort as they do, over several
tables at once. `pack` joins several such columns into a single integer for each row. Both keep the order of the values,
so sorting by the result sorts by the columns.

`exp`, `log` and `log10` have the same last bit on processors with AVX-512 and without. NumPy has code of its own for
float64 on processors with AVX-512, and elsewhere calls the C library, which rounds differently: of a million
exponentials, one in twenty differs in the last bit. It calls the C library everywhere for complex numbers, and so does
Python.

`as_array` takes arrays, lists and tensors of torch on any device. Tensors are told by what they can do, so torch is
never imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError, check_memory
from .scipy_special import special_functions

if TYPE_CHECKING:
    from .coded_text import TextCodes

# Codes below this are packed without checking: two of them fit in an int64.
WIDEST = 1 << 31

# Up to so many values, Python numbers text faster than pandas.
SHORT = 500


def ordinals(columns: Sequence[Any]) -> tuple[list[np.ndarray], int]:
    """Turns the values of one key column that several tables share into codes: integers from 0 on in the same order.

    Returns one int64 array for each table, and an exclusive upper bound of all codes, at least 1. Small integers stay
    as they are, and integers of a small range are only shifted, which is fast. All other values become their position
    among the sorted distinct values. Null becomes the largest code. A column is an array, a Series, or the codes of
    text (`TextCodes`).

    >>> codes, bound = ordinals([np.array(["b", "a"]), np.array(["c", "b"])])
    >>> [code.tolist() for code in codes], bound
    ([[1, 0], [2, 1]], 4)
    """
    filled = [column for column in columns if len(column)]
    if not filled:
        return [np.zeros(0, np.int64) for _ in columns], 1
    if all(_holds_integers(column) for column in filled):
        integers = [np.asarray(column) for column in columns]
        low = min(int(column.min()) for column in integers if len(column))
        high = max(int(column.max()) for column in integers if len(column))
        if low >= 0 and high + 1 < WIDEST:
            return [column.astype(np.int64, copy=False) for column in integers], high + 1
        if high - low + 1 < WIDEST:
            shift = np.array(low).astype(np.int64)  # both wrap around beyond 63 bits, their difference does not
            return [column.astype(np.int64, copy=False) - shift for column in integers], high - low + 1
    short = _codes_of_short_text(columns)
    if short is not None:
        return short
    coded = _text_codes(filled)
    if coded is not None:
        from .coded_text import joined

        codes, n_values = joined(coded)
        of_filled = iter(codes)
        return [next(of_filled) if len(column) else np.zeros(0, np.int64) for column in columns], n_values + 1
    import pandas as pd

    series = [pd.Series(column, dtype=column.dtype, copy=False) for column in filled]
    numbers, distinct_values = pd.factorize(pd.concat(series, ignore_index=True), sort=True)
    numbers = np.where(numbers < 0, len(distinct_values), numbers).astype(np.int64, copy=False)
    ends = np.cumsum([len(column) for column in columns])
    return np.split(numbers, ends[:-1]), len(distinct_values) + 1


def _codes_of_short_text(columns: Sequence[Any]) -> tuple[list[np.ndarray], int] | None:
    """What `ordinals` returns of text in a few rows, which takes pandas longer; None for other columns."""
    from .pandas_tables import TEXT

    if sum(map(len, columns)) > SHORT or not all(_is_of(TEXT, column) for column in columns if len(column)):
        return None
    listed = [list(column) if len(column) else [] for column in columns]
    code = {name: place for place, name in enumerate(sorted({one for of in listed for one in of if type(one) is str}))}
    codes = [np.array([code.get(one, len(code)) for one in of], np.int64) for of in listed]
    return codes, len(code) + 1


def _holds_integers(column: Any) -> bool:
    """Whether a column is of integers of NumPy."""
    kind = getattr(column, "dtype", None)
    return isinstance(kind, np.dtype) and kind.kind in "iu"


def _is_of(kind: Any, column: Any) -> bool:
    """Whether a column is of a type; one of codes has none."""
    return bool(getattr(column, "dtype", None) == kind)


def _text_codes(columns: Sequence[Any]) -> list[TextCodes] | None:
    """The codes of each column; None unless all are text."""
    from .coded_text import TextCodes, text_codes
    from .pandas_tables import TEXT

    if not all(isinstance(column, TextCodes) or _is_of(TEXT, column) for column in columns):
        return None
    return [
        column if isinstance(column, TextCodes) else text_codes(getattr(column, "array", column)) for column in columns
    ]


def pack(codes: Sequence[np.ndarray], spans: Sequence[int]) -> np.ndarray:
    """Joins several columns of codes into one int64 for each row, the most significant column first.

    `spans` are the exclusive upper bounds of each column's codes.
    """
    packed, width = codes[0], spans[0]
    for code, span in zip(codes[1:], spans[1:], strict=True):
        if width * span >= 1 << 62:
            distinct, packed = np.unique(packed, return_inverse=True)
            width = len(distinct)
        packed = packed * span
        packed += code
        width *= span
    return packed


def row_keys(table: Any, columns: Sequence[str]) -> np.ndarray:
    """One int64 for each row of `table`, equal and ordered as the values of the named columns.

    `table` is a DataFrame, Columns, or a dict of columns; so are the tables of `frame_keys`.
    """
    numbered = [ordinals([_keys_of(table, column)]) for column in columns]
    return pack([codes[0] for codes, _ in numbered], [span for _, span in numbered])


def frame_keys(tables: Sequence[Any]) -> list[np.ndarray]:
    """One int64 for each row of each table, equal and ordered, over all tables, as (sequence, frame)."""
    sequences, sequence_span = ordinals([_keys_of(table, "sequence") for table in tables])
    frames, frame_span = ordinals([table["frame"] for table in tables])
    return [pack(codes, [sequence_span, frame_span]) for codes in zip(sequences, frames, strict=True)]


def _keys_of(table: Any, column: str) -> Any:
    """A key column of a table: its codes where the table knows them, else its values."""
    return getattr(table, "text_codes", {}).get(column, table[column])


def stable_order(codes: np.ndarray, span: int) -> np.ndarray:
    """The order that sorts integers from 0 to below `span`, with equal ones in the order they come in."""
    # NumPy sorts short integers by radix, which is many times faster, so longer ones are sorted by their digits.
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    for shift in range(16, (span - 1).bit_length(), 16):
        digit = (codes >> shift).astype(np.uint16)
        order = order.take(np.argsort(digit.take(order), kind="stable"))
    return order


def falling_order(values: np.ndarray) -> np.ndarray:
    """The order that sorts numbers from the greatest down, with equal ones in the order they come in.

    >>> falling_order(np.array([0.5, 0.9, -1.0, 0.5])).tolist()
    [1, 0, 3, 2]
    """
    if not len(values):
        return np.zeros(0, np.int64)
    bits = (0.0 - np.asarray(values, np.float64)).view(np.int64)  # no -0, which equals 0 and has other bits
    # As integers, the bits of positive numbers rise with these, and those of negative ones fall.
    codes = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
    low, high = int(codes.min()), int(codes.max())
    if high - low >= 1 << 62:
        return np.argsort(-values, kind="stable")
    return stable_order(codes - low, high - low + 1)


def ranks(keys: np.ndarray) -> np.ndarray:
    """The place of each key among those that equal it, in the order they come in, from 0.

    >>> ranks(np.array([7, 4, 7, 7])).tolist()
    [0, 0, 1, 2]
    """
    order = slice(None) if in_order(keys) else np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(keys)])
    answer = np.empty(len(keys), np.int64)
    answer[order] = np.arange(len(keys)) - np.repeat(first, np.diff(first, append=len(keys)))
    return answer


def in_order(keys: np.ndarray) -> bool:
    """Whether no key is less than the one before."""
    return bool(np.all(keys[1:] >= keys[:-1]))


def ascend(columns: Sequence[Any]) -> bool:
    """Whether all columns are of integers, and the values of each row are greater than those of the row before.

    The first column in which two rows differ decides. This is several times faster than making keys of the columns.
    """
    if not all(_holds_integers(column) for column in columns):
        return False
    greater = np.zeros(max(len(columns[0]) - 1, 0), bool)
    for column in reversed(columns):
        values = np.asarray(column)
        greater &= values[1:] == values[:-1]
        greater |= values[1:] > values[:-1]
    return bool(greater.all())


def repeated(keys: np.ndarray) -> np.ndarray:
    """Marks the keys that occur more than once."""
    # Most tables are in order, and sorting integers is much faster than hashing them.
    if np.all(keys[1:] > keys[:-1]) or not np.any(np.diff(np.sort(keys)) == 0):
        return np.zeros(len(keys), bool)
    _, of_row, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[of_row] > 1


def distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted distinct keys, and the first row of each; sorted keys and keys of a small range need no sorting."""
    differ = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=differ[1:])
    first = np.flatnonzero(differ)
    values = keys[first]
    if in_order(values):
        return values, first
    low, span = int(keys.min()), int(keys.max()) - int(keys.min()) + 1
    if _dense(span, len(keys)):
        first_row = np.full(span, -1, np.int64)
        first_row[keys[::-1] - low] = np.arange(len(keys) - 1, -1, -1)  # the last to be written is the first row
        values = np.flatnonzero(first_row >= 0)
        return values + low, first_row[values]
    return np.unique(keys, return_index=True)


def positions(keys: np.ndarray, values: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The position of each key among the distinct `values`, whose `first` rows speed it up; both from `distinct`."""
    if in_order(keys):
        return np.repeat(np.arange(len(values)), np.diff(first, append=len(keys)))
    return locate(values, keys)


def grouped(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Groups rows by key: the position of each row's key among the sorted distinct keys, and each key's first row.

    >>> grouped(np.array([5, 3, 5]))
    (array([1, 0, 1]), array([1, 0]))
    """
    values, first = distinct(keys)
    return positions(keys, values, first), first


def added_at(position: np.ndarray, values: Any, n_positions: int = 0) -> np.ndarray:
    """Adds up the values at each position, from 0 up to the greatest or to `n_positions` - 1: float64.

    For no values np.bincount returns integers, from which nothing broken can be taken and which hold no null.

    >>> added_at(np.array([1, 0, 1]), np.array([0.5, 1.0, 2.0]), 3)
    array([1. , 2.5, 0. ])
    """
    return np.bincount(position, values, n_positions).astype(np.float64, copy=False)


def locate(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The position of each key in `values` (sorted, distinct), or -1 if it is not among them."""
    return locator(values, len(keys))(keys)


def locator(values: np.ndarray, n_keys: int) -> Callable[[np.ndarray], np.ndarray]:
    """A function from keys to their positions in `values` (sorted, distinct), or -1 for keys that are not among them.

    Use it instead of `locate` for many calls with the same values: it prepares the search once. `n_keys` is about how
    many keys all calls have together.
    """
    if len(values) == 0:
        return lambda keys: np.full(len(keys), -1, np.int64)
    low, span = int(values[0]), int(values[-1]) - int(values[0]) + 1
    if not _dense(span, len(values) + n_keys):
        return partial(_searched, values)
    position = np.full(span, -1, np.int64)
    position[values - low] = np.arange(len(values))
    return partial(_looked_up, position, low)


def _looked_up(position: np.ndarray, low: int, keys: np.ndarray) -> np.ndarray:
    """The entries of a table of positions that begins at the key `low`; -1 for keys beyond the table."""
    if len(keys) == 0 or (keys.min() >= low and keys.max() < low + len(position)):
        return position.take(keys - low)
    inside = (keys >= low) & (keys < low + len(position))
    return np.where(inside, position[np.where(inside, keys - low, 0)], -1)


def _searched(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The positions of keys in sorted values by binary search, or -1."""
    position = np.minimum(np.searchsorted(values, keys), len(values) - 1)
    return np.where(values[position] == keys, position, -1)


def _dense(span: int, count: int) -> bool:
    """Whether a table over the whole span of keys is small enough to be faster than sorting and searching."""
    return span <= 4 * count + 1024


def ranges(begins: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The members of the ranges [begin, begin + count), one range after another: the position of its range, and itself.

    >>> of_range, member = ranges(np.array([7, 2, 5]), np.array([2, 0, 3]))
    >>> of_range.tolist(), member.tolist()
    ([0, 0, 2, 2, 2], [7, 8, 5, 6, 7])
    """
    ends = np.cumsum(counts)
    return np.repeat(np.arange(len(counts)), counts), np.arange(counts.sum()) + np.repeat(
        begins - ends + counts, counts
    )


def chunks(sizes: np.ndarray, at_once: int) -> Iterator[tuple[int, int]]:
    """Ranges [first, last) of neighbours whose sizes add up to at most `at_once`, or of a single larger item.

    >>> list(chunks(np.array([3, 4, 9, 1, 1]), 8))
    [(0, 2), (2, 3), (3, 5)]
    """
    ends = np.cumsum(sizes)
    first = 0
    while first < len(ends):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + at_once, side="right")))
        yield first, last
        first = last


_log10 = np.frompyfunc(math.log10, 1, 1)


def exp(values: np.ndarray) -> np.ndarray:
    """The exponential of each value; infinite where it is too large.

    >>> exp(np.array([-np.inf, 0.0, 1000.0])).tolist()
    [0.0, 1.0, inf]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return np.exp(values.astype(np.complex128)).real


def log(values: np.ndarray) -> np.ndarray:
    """The natural logarithm of each value, all of which are positive.

    >>> log(np.array([1.0])).tolist()
    [0.0]
    """
    return np.log(values.astype(np.complex128)).real


def sine(degrees: np.ndarray) -> np.ndarray:
    """The sine of each angle in degrees; exactly 0, 1 or -1 at multiples of 90, and the same on every machine.

    >>> sine(np.array([0.0, 90.0, 180.0, 270.0])).tolist()
    [0.0, 1.0, 0.0, -1.0]
    """
    special = special_functions()
    return np.asarray(special.sindg(degrees)) + 0.0  # no -0


def cosine(degrees: np.ndarray) -> np.ndarray:
    """The cosine of each angle in degrees; exactly 0, 1 or -1 at multiples of 90, and the same on every machine.

    >>> cosine(np.array([0.0, 90.0, 180.0, 270.0])).tolist()
    [1.0, 0.0, -1.0, 0.0]
    """
    special = special_functions()
    return np.asarray(special.cosdg(degrees)) + 0.0  # no -0


def direction(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The angle (degrees, from -180 to 180) from the x axis towards the y axis at which each place lies.

    >>> direction(np.array([0.0, 1.0, -1.0]), np.array([1.0, 1.0, 0.0])).tolist()
    [0.0, 45.0, -90.0]
    """
    with np.errstate(divide="ignore"):  # of the middle itself, whose direction is 0
        return np.degrees(np.log(np.asarray(x) + 1j * np.asarray(y)).imag)


def log10(values: np.ndarray) -> np.ndarray:
    """The decimal logarithm of each value, all of which are positive; exact for powers of ten, and slower than `log`.

    >>> log10(np.array([0.1, 1000.0])).tolist()
    [-1.0, 3.0]
    """
    return np.asarray(_log10(values), np.float64)


def as_array(value: Any, place: str) -> np.ndarray:
    """An array, a tensor on any device, a list or a single value as an array; messages call it `place`.

    Raises InputError for a tensor that requires a gradient, for masked values, for a list in which some values are text
    and others not, and for what is no array.
    """
    if getattr(value, "requires_grad", False):
        raise InputError(f"{place}: is a tensor that requires a gradient; give tensor.detach(), or use torch.no_grad()")
    if isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
        raise InputError(f"{place}: has masked values, which NumPy would take for valid ones; leave their rows out")
    try:
        array = np.asarray(_without_device(value) if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError) as error:
        check_memory(error, place)
        raise InputError(f"{place}: cannot be made an array: {error}") from None
    is_list_of_text = isinstance(value, list | tuple) and array.dtype.kind == "U" and array.ndim == 1
    if is_list_of_text and not all(isinstance(item, str) for item in value):  # NumPy made text of them
        raise InputError(f"{place}: has text beside other values; give text only, or numbers only")
    return array


def number_array(value: Any, place: str) -> np.ndarray:
    """The same, of numbers or truth values; raises InputError for what holds something else."""
    array = as_array(value, place)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{place}: is of type {array.dtype}; an array of numbers is needed")
    return array


def _without_device(tensor: Any) -> Any:
    """A tensor in the memory that NumPy sees."""
    here = tensor.cpu()
    try:
        return here.numpy()
    except TypeError:  # a type that NumPy does not have, such as bfloat16
        return here.double().numpy()
