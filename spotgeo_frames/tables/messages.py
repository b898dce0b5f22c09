"""How messages name rows, keys and counts."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ..support.names import plain_value
from .columns import columns_of


def counted(count: int, noun: str) -> str:
    """A count of things as the beginning of a sentence.

    >>> counted(1, "row"), counted(3, "row")
    ('1 row is', '3 rows are')
    """
    return f"1 {noun} is" if count == 1 else f"{count} {noun}s are"


def listed(names: Iterable[Hashable]) -> str:
    """Names with commas between them, or `none`."""
    return ", ".join(map(str, names)) or "none"


def first_keys(given: Any, marked: np.ndarray, key: list[str]) -> str:
    """The keys of the first few marked rows of a DataFrame or of Columns, as text."""
    return key_text(given, [column for column in key if column in given], np.flatnonzero(marked))


def key_text(table: Any, key: list[str], rows: np.ndarray, most: int = 3) -> str:
    """The keys of the first few of these rows as text: `sequence 1, frame 2; sequence 1, frame 3; ...`."""
    keys = columns_of(table).select(key).take(rows[:most])
    texts = [row_text(row) for row in keys.records()]
    return "; ".join([*texts, "..."] if len(rows) > most else texts)


def row_text(row: Mapping[Any, Any]) -> str:
    """A key as text: `sequence 1, frame 2`.

    >>> row_text({"sequence": "a", "frame": None})
    'sequence a, frame null'
    """
    plain = {column: plain_value(value) for column, value in row.items()}
    return ", ".join(f"{column} {'null' if value is None else value}" for column, value in plain.items())
