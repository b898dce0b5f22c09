"""The counts of classes taken for classes, as plots and charts draw them: a square for each submission."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...analysis.errors import COLUMNS, background_of, column_of
from ...support import InputError, label
from ...tables import Table
from . import drawn_tables
from .drawn_tables import Who

# With at most so many categories, counts are written into the cells.
MOST_WRITTEN = 20

NEEDED = "the table that confusion() returned"


def squares_to_draw(counts: Table | Mapping[str, Table], who: Who) -> dict[str, pd.DataFrame]:
    """A square of counts for each submission by its name, of one table under an empty name; background is last.

    Rows are true classes, columns predicted ones, by their texts. Tables may be wide or long; several submissions are
    in a dict, or told apart by a column `submission`. Raises InputError if one is no table that `confusion` returned.
    """
    if isinstance(counts, Mapping):
        return {str(name): _square(_table(of, who), who) for name, of in counts.items()}
    table = _table(counts, who)
    if "submission" not in table or is_square(table):
        return {"": _square(table, who)}
    names = drawn_tables.names_of_rows(table, who)
    of_each = {name: table[names == name].drop(columns="submission") for name in dict.fromkeys(names)}
    # Wide tables that were put together have a column for each class of any submission.
    return {name: _square(of.dropna(axis="columns", how="all"), who) for name, of in of_each.items()}


def _table(given: Any, who: Who) -> pd.DataFrame:
    return drawn_tables.table_to_draw(given, "counts", (), NEEDED, who=who)


def is_square(table: pd.DataFrame) -> bool:
    """Whether a table has a column for each category of its rows, as a wide one has."""
    return COLUMNS[0] in table and {COLUMNS[0], *(column_of(str(name)) for name in table[COLUMNS[0]])} == {*table}


def _square(table: pd.DataFrame, who: Who) -> pd.DataFrame:
    """One table as a square."""
    if is_square(table):
        names = [str(name) for name in table[COLUMNS[0]]]
        return pd.DataFrame(table[[*map(column_of, names)]].to_numpy(np.int64), names, names)
    drawn_tables.check_columns(table, [*COLUMNS, "count"], NEEDED, who)
    texts = {side: table[side].map(label, na_action="ignore").astype(object) for side in COLUMNS}
    names = list(dict.fromkeys(name for text in texts.values() for name in text.dropna()))
    background = background_of(names)
    named = pd.DataFrame({side: text.fillna(background) for side, text in texts.items()} | {"count": table["count"]})
    square = named.pivot_table("count", index=COLUMNS[0], columns=COLUMNS[1], aggfunc="sum", fill_value=0)
    return square.reindex(index=[*names, background], columns=[*names, background], fill_value=0)


def check_one(squares: Mapping[str, pd.DataFrame]) -> None:
    """Raises InputError unless there is one square, which is what a plot draws."""
    if len(squares) != 1:
        raise InputError(f"plots: counts are of {len(squares)} submissions; give those of one, or use charts.confusion")


def shares_of_rows(square: pd.DataFrame) -> np.ndarray:
    """The counts as shares of their rows (C, C); 0 in a row without any."""
    counts = square.to_numpy()
    return counts / counts.sum(axis=1, keepdims=True).clip(min=1)
