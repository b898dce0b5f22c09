"""How results of several tables show: a few lines as text, and HTML that fits the screen of a notebook.

The HTML begins with the headline and the tables that say most, a few rows of each. All tables follow, folded, with
their names, sizes and columns. It has no scripts and no colours of its own, so it is the same in light and dark.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from .pandas_tables import html_formatter, html_of
from .texts import DASH, bins_as_text, interval_text, label, number_text

# The most rows of a headline.
MOST_ROWS = 3

# The most rows and columns of a table that stands unfolded, and the most rows of a folded one.
MOST_SHOWN = 6
MOST_COLUMNS = 12
MOST_FOLDED = 5

# The most columns that are named, and how long a cell may be.
MOST_NAMED = 60
LONGEST = 60


class Entry(Protocol):
    """The entry of a metric, which says how its values are written: as a "share", a "count" or a "decimal"."""

    @property
    def written(self) -> str: ...


# Finds the entry of a metric by its name; None for other columns.
Known = Callable[[str], Entry | None]


class Tables(Protocol):
    """A result of several tables, such as a NamedTuple of them."""

    def _asdict(self) -> dict[str, Any]: ...


class Front(NamedTuple):
    """A table that stands unfolded: the field that it is, its columns, and the entries of those that are metrics.

    `columns` are shown if the table has them, None for the first ones. In rows of all sequences or classes the columns
    `keys` are null. Rows are sorted so that totals come first: by the last key known or null, then the one before it.
    A table that `is_own`, of the user, has no bounds and reasons of ours, whatever its columns are called.
    """

    field: str
    columns: Sequence[str] | None = None
    keys: Sequence[str] = ()
    known: Known = lambda _: None
    is_own: bool = False


def headline(table: Any, names: Sequence[str], null: Sequence[str] = ()) -> list[str]:
    """The first rows of a table as lines such as `HOTA 0.7238, MOTA 0.878`.

    `names` are the columns to show if the table has them. Only rows count in which the columns `null` are null. There
    are no lines if it is no table.
    """
    rows = _columns(table, [*names, *null])
    if rows is None:
        return []
    rows = rows[rows[[name for name in null if name in rows]].isna().all(axis=1)]
    known = [name for name in names if name in rows]
    records = rows[known].head(MOST_ROWS).to_dict("records") if known else []
    return [", ".join(f"{name} {_short(value)}" for name, value in row.items()) for row in records]


def result_as_text(result: Tables, lines: Sequence[str] = ()) -> str:
    """The name of the result, the lines of its headline, and a line for each table with its name and size."""
    tables = result._asdict()
    width = max(map(len, tables))
    sizes = [f"{name:<{width}}  {_size(table)}" for name, table in tables.items()]
    return "\n  ".join([type(result).__name__, *lines, *sizes])


def result_as_html(
    result: Tables, lines: Sequence[str] = (), fronts: Sequence[Front] = (), curve: str = ""
) -> str | None:
    """The name of the result, its headline, a curve as HTML, the first rows of some tables, and all tables folded.

    None if a table has no HTML, for example because the option `display.notebook_repr_html` of pandas is off. A
    notebook then shows the text.
    """
    tables = result._asdict()
    folded = [_folded(name, table) for name, table in tables.items()]
    shown = [_front_as_html(front, tables[front.field]) for front in fronts]
    if None in folded or None in shown:
        return None
    head = "<br>".join([f"<b>{type(result).__name__}</b>", *map(escape, lines)])
    blocks = [f"<div>{head}</div>", curve, *map(str, shown), *map(str, folded)]
    style = "font-variant-numeric:tabular-nums;overflow-x:auto"
    return f'<div style="{style}">\n' + "\n".join(filter(None, blocks)) + "\n</div>"


def sparkline(values: Sequence[float], title: str) -> str:
    """A curve of shares of 1 from left to right as a small picture, with its title as text beside it; HTML."""
    width, height = 120, 28
    step = width / max(len(values) - 1, 1)
    points = " ".join(
        f"{place * step:.1f},{(1 - value) * height:.1f}" for place, value in enumerate(values) if value == value
    )
    if " " not in points:  # a single point is no curve
        return ""
    return (
        f'<div style="margin-top:4px"><svg width="{width}" height="{height}" viewBox="-1 -1 {width + 2} {height + 2}" '
        f'role="img" aria-hidden="true" style="vertical-align:middle;display:inline"><path d="M0 0V{height}H{width}" '
        f'fill="none" stroke="currentColor" stroke-opacity="0.35"/><polyline points="{points}" fill="none" '
        f'stroke="currentColor" stroke-width="1.5"/></svg> <small>{escape(title)}</small></div>'
    )


def _columns(table: Any, names: Sequence[str]) -> pd.DataFrame | None:
    """The columns of a table of any kind that it has, of those named, as a DataFrame; None if it is no table."""
    names = list(dict.fromkeys(names))
    if isinstance(table, pd.DataFrame):
        return table[[name for name in names if name in table]]
    if not hasattr(table, "__arrow_c_stream__"):
        return None
    import pyarrow as pa  # it is loaded already, since the table is not of pandas

    arrow = pa.table(table)
    arrow = arrow.select([name for name in names if name in arrow.column_names])
    return arrow.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)


def _front_as_html(front: Front, table: Any) -> str | None:
    """The first rows of a table; nothing without rows, and None if a notebook shows no HTML of such tables."""
    all_names = _names(table)
    if not all(isinstance(name, str) for name in all_names) or len({*all_names}) < len(all_names):
        return ""  # such columns are no metrics, and cannot be taken by their names
    names = [name for name in front.columns or all_names if name in all_names]
    beside = [] if front.is_own else [name for name in all_names if _is_beside(name, all_names)]
    names = [name for name in names if name not in beside][:MOST_COLUMNS]
    rows = _columns(table, [*names, *front.keys, *beside])
    if rows is None or not len(rows):
        return ""
    shown = [name for name in names if not rows[name].isna().all() or name in front.keys]
    left_out = {"row": len(rows) - MOST_SHOWN, "column": len({*all_names} - {*shown} - {*beside})}
    rows = rows.iloc[_places(rows, [key for key in front.keys if key in rows])[:MOST_SHOWN]]
    formatter = html_formatter()
    if formatter is not None and pd.DataFrame in formatter.type_printers:
        # Tables show another way than pandas', by show_tables() or by a function of the user's, so this one does too.
        html = html_of(rows.dropna(axis="columns", how="all"))
    else:
        html = _rows_as_html(rows, shown, front)
    more = " and ".join(f"{count:,} more {what}{'s' * (count > 1)}" for what, count in left_out.items() if count > 0)
    named = f"<small>{f'{more} in ' if more else ''}<code>.{escape(front.field)}</code></small>"
    return None if html is None else f"<div>{html}{named}</div>"


def _is_beside(name: str, names: Sequence[str]) -> bool:
    """Whether a column is shown within another: a bound with its number, a reason as a title."""
    if name == "reason":
        return True
    base, _, end = name.rpartition("_")
    return end in ("low", "high") and (base or "estimate") in names


def _places(rows: pd.DataFrame, keys: Sequence[str]) -> list[int]:
    """The positions of rows, those with the fewest keys first."""
    weight = sum((rows[key].notna().to_numpy() * 2**place for place, key in enumerate(keys)), np.zeros(len(rows)))
    return [int(place) for place in np.argsort(weight, kind="stable")]


def _rows_as_html(rows: pd.DataFrame, names: Sequence[str], front: Front) -> str:
    """Rows as a table of HTML: numbers at the right, null keys as `all`, null as a dash with its reason as a title."""
    sides = ["right" if pd.api.types.is_any_real_numeric_dtype(rows[name].dtype) else "left" for name in names]
    styles = {name: f'style="text-align:{side};white-space:nowrap"' for name, side in zip(names, sides, strict=True)}
    head = "".join(f"<th {style}>{escape(name)}</th>" for name, style in styles.items())
    lines = []
    for row in bins_as_text(rows).to_dict("records"):
        cells = [f"<td {style}{_cell(row, name, front)}</td>" for name, style in styles.items()]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _cell(row: Mapping[Any, Any], name: str, front: Front) -> str:
    """The rest of a cell of HTML from the end of its attributes on: perhaps a title, and the text."""
    value = row[name]
    is_null = bool(pd.api.types.is_scalar(value) and pd.isna(value))
    if is_null and name in front.keys:
        return "><i>all</i>"
    entry = front.known(str(row.get("metric")) if name == "estimate" else name)
    written = None if entry is None else entry.written
    low, high = ("low", "high") if name == "estimate" else (f"{name}_low", f"{name}_high")
    has_bounds = (low in row or high in row) and not front.is_own
    if has_bounds and not is_null:
        ends = [math.nan if pd.isna(row.get(bound)) else float(row[bound]) for bound in (low, high)]
        text = interval_text(float(value), ends[0], ends[1], written == "share")
    else:
        text = DASH if is_null else _value_text(value, written)
    reason, is_unknown = None if front.is_own else row.get("reason"), is_null or (has_bounds and pd.isna(row.get(low)))
    title = f' title="{escape(reason)}"' if is_unknown and isinstance(reason, str) else ""
    return f"{title}>{escape(text)}"


def _value_text(value: Any, written: str | None) -> str:
    """A value that is not null; whole numbers that are no counts may be names, so they have no separators."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if written == "count" else f"{value}"
    if isinstance(value, float):
        if written is None:
            return f"{value:.4g}" if abs(value) < 1 else f"{value:.6g}"
        return number_text(value, written == "share", percent=False)
    text = label(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _folded(name: str, table: Any) -> str | None:
    """A table folded under its name, size and columns: its first rows; None if it has no HTML."""
    head = f"<code>.{escape(name)}</code>: {_size(table)}"
    if table is None:
        return f"<div>{head}</div>"
    if not hasattr(table, "head") and not hasattr(table, "slice"):  # it is no table
        return None
    first = table.head(MOST_FOLDED) if hasattr(table, "head") else table.slice(0, MOST_FOLDED)
    html = html_of(first)
    if html is None:
        return None
    columns = list(map(str, _names(table)))
    named = ", ".join(columns[:MOST_NAMED]) + (", …" if len(columns) > MOST_NAMED else "")
    n_rows = len(first)
    of = f"The first {n_rows} rows; columns: " if n_rows < table.shape[0] else "Columns: "
    about = f"<small>{of}{escape(named)}</small>"
    return f'<details><summary>{head}</summary>{about}<div style="overflow-x:auto">{html}</div></details>'


def _names(table: Any) -> list[Any]:
    """The names of a table's columns, which may be no text; none of what is no table."""
    names = getattr(table, "column_names", None)  # of pyarrow
    return list(getattr(table, "columns", ()) if names is None else names)


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
