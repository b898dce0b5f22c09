"""How messages name rows, keys and counts."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd


def counted(count: int, noun: str) -> str:
    """A count of things as the beginning of a sentence.

    >>> counted(1, "row"), counted(3, "row")
    ('1 row is', '3 rows are')
    """
    return f"1 {noun} is" if count == 1 else f"{count} {noun}s are"


def listed(names: pd.Index) -> str:
    """Names with commas between them, or `none`."""
    return ", ".join(map(str, names)) or "none"


def first_keys(given: pd.DataFrame, marked: np.ndarray, key: list[str]) -> str:
    """The keys of the first few marked rows, as text."""
    return key_text(given.loc[marked, [column for column in key if column in given]])


def key_text(keys: pd.DataFrame, most: int = 3) -> str:
    """The first few rows of `keys` as text: `sequence 1, frame 2; sequence 1, frame 3; ...`."""
    rows = keys.head(most).to_dict("records")
    texts = [row_text(row) for row in rows]
    return "; ".join([*texts, "..."] if len(keys) > most else texts)


def row_text(row: Mapping[Hashable, Any]) -> str:
    """A key as text: `sequence 1, frame 2`."""
    return ", ".join(f"{column} {value}" for column, value in row.items())
