"""show_tables(), and the text of table cells: shares in percent, other numbers rounded, null as a dash.

Only the displayed text is rounded; the tables keep their values. The HTML report and, after `show_tables()`, Jupyter
display tables this way. The report looks the same for every reader; Jupyter follows the options of pandas.
"""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ...scoring import FEW_NOTE, few_marked
from ...support import DASH, bins_as_text, is_binned, label, number_text, pandas_tables
from ...tables import schema
from .wording import reading

# Columns whose values belong to the metric that the column `metric` names in the same row.
OF_METRIC = ("estimate", "low", "high", "value", "rest")

# Formats a number, which may be a share of 1.
Written = Callable[[float, bool], str]

# Columns whose integers are names, not counts; they get no thousands separators.
IDENTIFIERS = ("sequence", "frame", "object", "joint", "category", "rank", "track", "before", "after", "by")


def show_tables(on: bool = True) -> None:
    """Makes Jupyter display the tables of this package with shares in percent, rounded numbers and a dash for null.

    No table changes its values, and other tables look as before. A table counts as one of this package while it keeps
    its notes (`attrs`) and has a single level of unique column names. The options of pandas apply: `display.precision`
    is the count of decimals, also of percentages (6 by default), and `display.max_rows`, `display.min_rows` and
    `display.max_columns` limit the displayed rows and columns.

    Without Jupyter or IPython the call has no effect. Calling it twice is the same as calling it once.

    Parameters
    ----------
    on
        True turns this display on. False restores the display from before.

    Returns
    -------
    None.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> sf.show_tables()
    >>> pd.set_option("display.precision", 2)  # 87.34% and 1,234.50
    >>> sf.show_tables(False)
    >>> pd.reset_option("display.precision")
    """
    formatter = pandas_tables.html_formatter()
    if formatter is None:
        return
    shown = formatter.for_type(pd.DataFrame)
    is_ours = isinstance(shown, partial) and shown.func is _shown
    if on and not is_ours:
        formatter.for_type(pd.DataFrame, partial(_shown, before=shown))
    elif is_ours and not on:
        formatter.pop(pd.DataFrame)
        formatter.for_type(pd.DataFrame, shown.keywords["before"])  # None registers nothing


def texts(table: pd.DataFrame, precision: int | None = None, *, percent: bool = True) -> pd.DataFrame:
    """Converts all values of a table to text; index and column names stay.

    `precision` is the count of decimals. By default numbers have two decimals, or three if they are below 1 and are no
    shares. Without `percent`, shares stay fractions.
    """
    # In long and in transposed tables the metric is named by the row, not by the column.
    named = table["metric"] if "metric" in table else [""] * len(table)
    of_metric = np.array([is_share(name) for name in named], bool)
    on_its_side = not any(is_share(name) for name in table.columns)
    of_label = np.array([on_its_side and is_share(name) for name in table.index], bool)
    columns, written = [], partial(number_text, precision=precision, percent=percent)
    for position, name in enumerate(table.columns):
        shares = is_share(name) | of_label | (of_metric & (name in OF_METRIC))
        columns.append(_texts(table.iloc[:, position], shares, name, written))
    answer = pd.DataFrame(dict(enumerate(columns)), index=table.index, dtype="object")
    answer.columns = table.columns
    return answer


def words(name: str) -> str:
    """Replaces the underscores of a name by spaces."""
    return name.replace("_", " ")


def is_share(name: Hashable) -> bool:
    """Whether the column or metric of this name holds shares of 1."""
    known = reading(str(name))
    if known is not None:
        return known.metric.written == "share"
    return str(name).endswith("_share")


def _is_identifier(name: Hashable) -> bool:
    """Whether the integers of a column are names, not counts."""
    return str(name).rpartition("_")[2] in IDENTIFIERS and not str(name).startswith("n_")


def _is_carried(name: Hashable) -> bool:
    """Whether a column may be the user's own. Its whole numbers may be names, so they are displayed unrounded."""
    return str(name).startswith(tuple(schema.PREFIXES.values())) or name in ("tau", "epsilon")


def _texts(values: pd.Series, shares: np.ndarray, name: Hashable, written: Written) -> list[str]:
    """Formats the values of one column; `shares` marks the rows that are shares of 1."""
    if is_binned(values):
        values = bins_as_text(values.to_frame("bins"))["bins"]
    null = values.isna().to_numpy(bool)
    if pd.api.types.is_float_dtype(values.dtype):
        numbers = values.to_numpy(np.float64, na_value=np.nan)
        if np.any(numbers[shares] > 1 + 1e-9):  # counts or ranks, not shares
            shares = np.zeros(len(values), bool)
        if _is_carried(name) and np.all((numbers == np.rint(numbers)) & (np.abs(numbers) < 1e15) | null):
            return [DASH if is_null else f"{int(value)}" for value, is_null in zip(numbers.tolist(), null, strict=True)]
        values = pd.Series(numbers)
    is_identifier = _is_identifier(name)
    rows = zip(values, shares, null, strict=True)
    return [DASH if is_null else _text(value, share, is_identifier, written) for value, share, is_null in rows]


def _text(value: Any, share: bool, is_identifier: bool, written: Written) -> str:
    """Formats a value that is not null."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value}" if is_identifier else f"{value:,}"
    return written(value, share) if isinstance(value, float) else label(value)


def as_html(table: pd.DataFrame) -> str:
    """Formats a table as HTML for a notebook; of a long table only its first and last rows, as pandas does."""
    size = f"<p>{len(table):,} rows × {table.shape[1]:,} columns</p>"
    limit = pd.get_option("display.max_rows") or len(table)
    shown, n_shown = table, len(table)
    if len(table) > limit:
        half = max(min(pd.get_option("display.min_rows") or limit, limit) // 2, 1)
        n_shown = 2 * half
        shown = pd.concat([table.head(half + 1), table.tail(half)])  # one row too many, so that pandas marks the gap
    cells, any_few = few_marked(texts(shown, pd.get_option("display.precision")), shown)
    body = cells.to_html(max_rows=n_shown, max_cols=pd.get_option("display.max_columns"))
    note = f"\n<p>{FEW_NOTE}</p>" if any_few else ""
    return f"<div>\n{body}\n{size}{note}\n</div>"


def _shown(table: pd.DataFrame, before: Any) -> Any:
    """The HTML of a table of this package; other tables go to `before`, the formatter that was active before."""
    # A table that was pivoted or joined from ours keeps the attrs, but its columns have another meaning.
    ours = {"rule", "version"} <= {*table.attrs} and table.columns.nlevels == 1 and table.columns.is_unique
    if ours and pd.get_option("display.notebook_repr_html"):
        return as_html(table)
    return table._repr_html_() if before is None else before(table)  # type: ignore[operator]
