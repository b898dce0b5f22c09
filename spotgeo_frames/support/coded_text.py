"""Text as integers that sort as it does, with as little hashing and sorting as the text allows.

Rows of a table often have the same name as the row before, and names are often in order. So runs of equal text are
found first, by comparing neighbours, and only the first row of each run is looked at. What is left is numbered by a
hash, or, where hardly a text occurs twice, by sorting eight bytes at a time as integers. The bytes of UTF-8 sort as the
characters do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Columns from this length on are searched for runs of equal values, as are so many of their first values before.
LONG = 10_000

# Longer text (bytes) is not sorted eight bytes at a time, since that takes two passes each.
SORTED_BYTES = 64

# Of text that a hash numbers fast, a sample of this size has at least this many repetitions.
SAMPLE, REPEATED = 4096, 40


@dataclass(frozen=True)
class TextCodes:
    """A column of text in numbers: the position (int64) of each row's text in `names`, which are sorted and distinct.

    `names` is an Array of Arrow, and may have some that no row has. The code of null is the count of names.
    """

    codes: np.ndarray
    names: Any

    def __len__(self) -> int:
        return len(self.codes)


def text_codes(values: Any) -> TextCodes:
    """The codes of a column of text, an array of pandas.

    >>> import pandas as pd
    >>> coded = text_codes(pd.array(["b", "a", None, "b"], dtype="string"))
    >>> coded.codes.tolist(), coded.names.to_pylist()
    ([1, 0, 2, 1], ['a', 'b'])
    """
    text = pa.array(values)
    text = (text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text).cast(pa.large_string())
    if not text.null_count:
        return codes_of(text)
    known = codes_of(text.drop_null())
    codes = np.full(len(text), len(known.names))
    codes[text.is_valid().to_numpy(zero_copy_only=False)] = known.codes
    return TextCodes(codes, known.names)


def codes_of(text: Any) -> TextCodes:
    """The codes of an Array of large strings without nulls."""
    begins = run_begins(text)
    if begins is None:
        return _numbered(text)
    heads = _numbered(text.take(pa.array(begins)))
    return TextCodes(heads.codes.repeat(np.diff(begins, append=len(text))), heads.names)


def joined(columns: Sequence[TextCodes]) -> tuple[list[np.ndarray], int]:
    """The codes of several columns in the names of all of them together, and how many names these are."""
    names = columns[0].names
    if all(column.names is names or column.names.equals(names) for column in columns[1:]):
        return [column.codes for column in columns], len(names)
    together = codes_of(pa.concat_arrays([column.names for column in columns]))
    n_names = len(together.names)
    places = np.split(together.codes, np.cumsum([len(column.names) for column in columns])[:-1])
    codes = [np.append(place, n_names).take(column.codes) for place, column in zip(places, columns, strict=True)]
    return codes, n_names


def run_begins(values: Any) -> np.ndarray | None:
    """Where runs of equal values begin, found by comparing neighbours; None where there are too many of them.

    `values` is an Array of Arrow, or an array of NumPy.
    """
    if len(values) < LONG or len(_begins(values[:LONG])) > LONG // 4:
        return None
    begins = _begins(values)
    return begins if 4 * len(begins) < len(values) else None


def _begins(values: Any) -> np.ndarray:
    """The positions of values that differ from the one before."""
    differ = np.ones(len(values), bool)
    if isinstance(values, np.ndarray):
        differ[1:] = values[1:] != values[:-1]
    else:
        differ[1:] = pc.not_equal(values[1:], values[:-1]).to_numpy(zero_copy_only=False)
    return np.flatnonzero(differ)


def _numbered(text: Any) -> TextCodes:
    """The codes of text of which each value may be another."""
    if pc.all(pc.less(text[:-1], text[1:])).as_py() is not False:
        return TextCodes(np.arange(len(text)), text)
    codes = codes_by_bytes(text) if _hardly_repeats(text) else None
    if codes is not None:
        first = np.empty(int(codes.max()) + 1, np.int64)
        first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
        return TextCodes(codes, text.take(pa.array(first)))
    encoded = text.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    place = np.empty(len(order), np.int64)
    place[order.to_numpy()] = np.arange(len(order))
    return TextCodes(place.take(encoded.indices.to_numpy()), encoded.dictionary.take(order))


def _hardly_repeats(text: Any) -> bool:
    """Whether a column is so long, and has so few repetitions in a sample, that sorting it is faster than a hash."""
    if len(text) < LONG:
        return False
    sample = text.take(pa.array(np.linspace(0, len(text) - 1, SAMPLE).astype(np.int64)))
    return SAMPLE - len(sample.unique()) < REPEATED


def codes_by_bytes(text: Any) -> np.ndarray | None:
    """The position of each text among the sorted distinct ones, found by sorting eight bytes at a time as integers.

    None for long text, and for text with the character 0, which shorter text is filled with.
    """
    offsets = np.frombuffer(text.buffers()[1], np.int64)[text.offset : text.offset + len(text) + 1]
    lengths, begins = np.diff(offsets), offsets[:-1] - offsets[0]
    longest = int(lengths.max(initial=0))
    data = np.frombuffer(text.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    if longest > SORTED_BYTES or not data.all():
        return None
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    words = np.ndarray(len(data) + 1, ">u8", padded.data, strides=(1,))  # those that begin at each byte
    codes = np.zeros(len(text), np.int64)
    for first in range(0, longest, 8):
        word = words[np.minimum(begins + first, len(data))].astype(np.uint64)
        beyond = 8 * (8 - np.clip(lengths - first, 0, 8)).astype(np.uint64)  # bits of the next text
        word = (word >> beyond) << beyond
        if (word == word[0]).all():
            continue
        within = _ranked(word)
        codes = _ranked(codes * (int(within.max()) + 1) + within) if codes.any() else within
        if int(codes.max()) == len(codes) - 1:
            break
    return codes


def _ranked(values: np.ndarray) -> np.ndarray:
    """The position of each integer among the sorted distinct ones."""
    order = np.argsort(values)  # equal ones get the same position, whatever their order
    ordered = values[order]
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.cumsum(np.append(False, ordered[1:] != ordered[:-1]))
    return ranks
