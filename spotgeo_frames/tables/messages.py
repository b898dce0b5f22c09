"""How messages name rows, keys and counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.names import plain_value
from .columns import Columns, columns_of

if TYPE_CHECKING:
    import pandas as pd

# The most rows that a message names.
MOST_KEYS = 3


def counted(count: int, noun: str) -> str:
    """A count of things as the beginning of a sentence.

    >>> counted(1, "row"), counted(3, "row")
    ('1 row is', '3 rows are')
    """
    return f"1 {noun} is" if count == 1 else f"{count} {noun}s are"


def listed(names: Iterable[Hashable]) -> str:
    """Names with commas between them, or `none`."""
    return ", ".join(map(str, names)) or "none"


def first_keys(table: pd.DataFrame | Columns, marked: np.ndarray, key: Sequence[str]) -> str:
    """The keys of the first few marked rows as text: `sequence 1, frame 2; sequence 1, frame 3; ...`.

    Columns of the key that the table does not have are left out.
    """
    rows = np.flatnonzero(marked)
    keys = columns_of(table).select([column for column in key if column in table]).take(rows[:MOST_KEYS])
    texts = [row_text(row) for row in keys.records()]
    return "; ".join([*texts, "..."] if len(rows) > MOST_KEYS else texts)


def row_text(row: Mapping[Any, Any]) -> str:
    """A key as text: `sequence 1, frame 2`.

    >>> row_text({"sequence": "a", "frame": None})
    'sequence a, frame null'
    """
    plain = {column: plain_value(value) for column, value in row.items()}
    return ", ".join(f"{column} {'null' if value is None else value}" for column, value in plain.items())
