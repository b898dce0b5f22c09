"""How messages name rows, keys and counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support import is_text, plain_value
from .columns import Columns, columns_of
from .schema import OWN_COLUMNS, PREFIXES

if TYPE_CHECKING:
    import pandas as pd

# The most rows that a message names.
MOST_KEYS = 3

# The most names that `first_listed` gives.
MOST_NAMED = 5

# How similar a name must be to be told as what a missing column may be called, as a ratio of SequenceMatcher.
LEAST_SIMILAR = 0.7


def several(count: int, noun: str) -> str:
    """A count of things.

    >>> several(1, "crowd"), several(3000, "crowd")
    ('1 crowd', '3,000 crowds')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def counted(count: int, noun: str) -> str:
    """A count of things as the beginning of a sentence.

    >>> counted(1, "row"), counted(3, "row")
    ('1 row is', '3 rows are')
    """
    return f"1 {noun} is" if count == 1 else f"{count} {noun}s are"


def listed(names: Iterable[Hashable]) -> str:
    """Names with commas between them, or `none`."""
    return ", ".join(map(str, names)) or "none"


def first_listed(names: Iterable[Hashable]) -> str:
    """The first few of many names with commas between them, and `...` if there are more."""
    texts = [*map(str, names)]
    return ", ".join([*texts[:MOST_NAMED], *(["..."] if len(texts) > MOST_NAMED else [])])


def missing(name: str, column: str, there: Iterable[Hashable], why: str = "") -> str:
    """The problem of a table without a column: `why` it is needed, and the names most similar to it, if any are.

    >>> missing("truth", "w", ["x", "y", "width"], "boxes need w and h")
    'truth: column w is missing; boxes need w and h; did you mean width?'
    """
    return "; ".join(part for part in (f"{name}: column {column} is missing", why, meant([column], there)) if part)


def meant(columns: Iterable[str], there: Iterable[Hashable]) -> str:
    """The question whether columns that are missing have similar names; empty if no column that is there has one.

    Columns that tables of this package have are no misspellings of each other, so they are not named.

    >>> meant(["w", "h"], ["x", "y", "width", "height"])
    'did you mean width or height?'
    """
    others = [other for other in map(str, there) if other not in OWN_COLUMNS]
    near = dict.fromkeys(other for column in columns for other in others if _is_similar(column, other))
    return f"did you mean {' or '.join(near)}?" if near else ""


def _is_similar(column: str, other: str) -> bool:
    """Whether a column may be another one with a misspelt, a longer or a shorter name."""
    import difflib  # imported here, because few processes have a column missing

    prefix = next((start for start in PREFIXES.values() if column.startswith(start) and other.startswith(start)), "")
    short, long = sorted((name.removeprefix(prefix).casefold() for name in (column, other)), key=len)
    if not short:
        return False
    ends = long.endswith(short if len(short) > 1 else f"_{short}")  # many names end in an x
    return long.startswith(short) or ends or difflib.SequenceMatcher(None, short, long).ratio() >= LEAST_SIMILAR


def first_keys(table: pd.DataFrame | Columns, marked: np.ndarray, key: Sequence[str]) -> str:
    """The keys of the first few marked rows as text: `sequence 1, frame 2; sequence 1, frame 3; ...`.

    Columns of the key that the table does not have are left out.
    """
    rows = np.flatnonzero(marked)
    keys = columns_of(table).select([column for column in key if column in table]).take(rows[:MOST_KEYS])
    texts = [row_text(row) for row in keys.records()]
    return "; ".join([*texts, "..."] if len(rows) > MOST_KEYS else texts)


def no_text(table: pd.DataFrame, column: str, key: Sequence[str]) -> str:
    """The problem of a column of which some names hold half of a surrogate pair, as a file in another encoding may."""
    wrong = np.array([isinstance(name, str) and not is_text(name) for name in table[column]])
    problem = f"{counted(int(wrong.sum()), 'row')} no text that UTF-8 can hold: {first_keys(table, wrong, key)}"
    advice = "read it in the encoding that it has, or make it text by name.encode('utf-8', 'replace').decode()"
    return f"{problem}; {advice}".encode("utf-8", "backslashreplace").decode()


def row_text(row: Mapping[Any, Any]) -> str:
    """A key as text: `sequence 1, frame 2`.

    >>> row_text({"sequence": "a", "frame": None})
    'sequence a, frame null'
    """
    plain = {column: plain_value(value) for column, value in row.items()}
    return ", ".join(f"{column} {'null' if value is None else value}" for column, value in plain.items())


def several_thresholds(name: str, how: str) -> str:
    """The problem of a table that would count each object once a threshold, and how to solve it."""
    return f"{name}: it holds the match tables of several thresholds, which count each object several times; {how}"
