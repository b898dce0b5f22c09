"""Tables as text: the titles of their columns, the order in which these sort, and their cells."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ...drawing.display import texts, words
from ...drawing.metric_text import title, with_unit
from ...drawing.rule_texts import unit_of_distances
from .blocks import Table

# The titles of columns that belong to no metric.
TITLES = {
    "threshold": "least similarity",
    "score_threshold": "best threshold",
    "p_value": "p-value",
    "p_adjusted": "adjusted p-value",
    "low": "from",
    "high": "to",
    "estimate": "difference",
    "a": "submission",
    "b": "minus",
    "aggregate": "aggregate",
    "apart_from_next": "differs from the next",
    "gap": "gap, frames",
    "nearest_truth": "nearest truth, px",
}


def table_of(name: str, caption: str, table: pd.DataFrame, filters: Mapping[str, str] | None = None) -> Table:
    """Makes a table of the page from all columns of a DataFrame.

    `filters` are the columns of the match table whose values cells are, by their column of the DataFrame.
    """
    by_position = {place: column for place, name in enumerate(table) if (column := (filters or {}).get(str(name)))}
    unit = table.attrs.get("unit")
    titles = [column_title(str(column), unit) for column in table]
    cells = texts(table)
    if "metric" in table:  # only now, since the names of metrics tell which numbers are shares
        cells["metric"] = [column_title(metric, unit) for metric in table["metric"]]
    return Table(name, caption, titles, sorting(table), cells.to_numpy().tolist(), filters=by_position)


def having(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The columns of a table that it has, of those named."""
    return table[[column for column in columns if column in table]]


def column_title(column: str, unit: str | None = None) -> str:
    """The title of a column; `unit` is that of distances in the notes of its table, None for px."""
    if column == "tau":
        return with_unit("tau", unit_of_distances(unit))
    return TITLES.get(column) or title(column, unit) or words(column.removeprefix("n_"))


def sorting(table: pd.DataFrame) -> list[str]:
    """How each column sorts: as number or as text."""
    return ["number" if pd.api.types.is_any_real_numeric_dtype(table[column].dtype) else "text" for column in table]
