"""Shows results, which have several tables, as a few lines of text and as HTML in a notebook."""

from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

import pandas as pd

from .labels import DASH
from .notebook import html_of

# The most rows of a headline.
MOST_ROWS = 3


class Tables(Protocol):
    """A result of several tables, such as a NamedTuple of them."""

    def _asdict(self) -> dict[str, Any]: ...


def headline(table: Any, names: Sequence[str], null: Sequence[str] = ()) -> list[str]:
    """The first rows of a table as lines such as `HOTA 0.7238, MOTA 0.878`.

    `names` are the columns to show if the table has them. Only rows count in which the columns `null` are null. There
    are no lines if it is no table.
    """
    if not isinstance(table, pd.DataFrame):
        if not hasattr(table, "__arrow_c_stream__"):
            return []
        import pyarrow as pa  # it is loaded already, since the table is not of pandas

        arrow = pa.table(table)
        table = arrow.select([name for name in dict.fromkeys([*names, *null]) if name in arrow.column_names])
        table = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    rows = table[table[[name for name in null if name in table]].isna().all(axis=1)]
    known = [name for name in names if name in table]
    records = rows[known].head(MOST_ROWS).to_dict("records") if known else []
    return [", ".join(f"{name} {_short(value)}" for name, value in row.items()) for row in records]


def as_text(result: Tables, lines: Sequence[str] = ()) -> str:
    """The name of the result, the lines of its headline, and a line for each table with its name and size."""
    tables = result._asdict()
    width = max(map(len, tables))
    sizes = [f"{name:<{width}}  {_size(table)}" for name, table in tables.items()]
    return "\n  ".join([type(result).__name__, *lines, *sizes])


def as_html(result: Tables, lines: Sequence[str] = ()) -> str | None:
    """The name of the result, its headline, and the HTML of each table under its name.

    None if a table has no HTML, for example because the option `display.notebook_repr_html` of pandas is off. A
    notebook then shows the text.
    """
    blocks = ["<br>".join([f"<b>{type(result).__name__}</b>", *map(escape, lines)])]
    for name, table in result._asdict().items():
        shown = f"<p>{_size(table)}</p>" if table is None else html_of(table)
        if shown is None:
            return None
        blocks.append(f"<p><b>{name}</b></p>\n{shown}")
    return "<div>\n" + "\n".join(blocks) + "\n</div>"


def _size(table: Any) -> str:
    """The size of a table as text, such as `3 rows × 5 columns`; `none` for None."""
    if table is None:
        return "none"
    shape = getattr(table, "shape", None)
    return type(table).__name__ if shape is None else f"{shape[0]:,} rows × {shape[1]:,} columns"


def _short(value: Any) -> str:
    """A value with at most four digits; a dash for null."""
    if pd.isna(value):
        return DASH
    return f"{value:.4g}" if isinstance(value, float) else str(value)
