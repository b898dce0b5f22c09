"""How the project's tables read: null as a dash, shares in percent, other numbers rounded.

The tables themselves keep their values; only what you see is rounded. The HTML page and, after `show_tables()`, Jupyter
show tables so. A page reads the same for everybody; Jupyter follows the options of pandas.
"""

from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..support.labels import DASH, label
from ..support.notebook import html_formatter
from .metric_text import reading

# Columns whose numbers are those of the metric that their row names.
OF_METRIC = ("estimate", "low", "high", "value", "rest")

# Integers that name something rather than count it.
IDENTIFIERS = ("sequence", "frame", "object", "joint", "category", "rank", "track")


def show_tables(on: bool = True) -> None:
    """Has Jupyter show the project's tables with shares in percent, rounded numbers and a dash for null.

    Other tables look as before, and no table changes its values. The options of pandas hold: `display.precision` is the
    number of decimals, of percents too (6 unless you set it), and `display.max_rows`, `display.min_rows` and
    `display.max_columns` limit what you see. Tables that were joined or pivoted so that their columns have several
    levels, or lost their notes (`attrs`), count as other tables.

    Without Jupyter or IPython the call does nothing; a second call changes nothing.

    Parameters
    ----------
    on
        False shows tables again as before the first call.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> sf.show_tables()
    >>> pd.set_option("display.precision", 2)  # 87.34% and 1,234.50
    >>> sf.show_tables(False)
    >>> pd.reset_option("display.precision")
    """
    formatter = html_formatter()
    if formatter is None:
        return
    shown = formatter.for_type(pd.DataFrame)
    is_ours = isinstance(shown, partial) and shown.func is _shown
    if on and not is_ours:
        formatter.for_type(pd.DataFrame, partial(_shown, before=shown))
    elif is_ours and not on:
        formatter.pop(pd.DataFrame)
        formatter.for_type(pd.DataFrame, shown.keywords["before"])  # None registers nothing


def texts(table: pd.DataFrame, precision: int | None = None) -> pd.DataFrame:
    """The table as strings, with the same index and column names.

    `precision` is the number of decimals; without it they are two, and three for numbers below 1 that are no shares.
    """
    # In a long table the row says what is a share, and in one that is laid on its side, too.
    named = table["metric"] if "metric" in table else [""] * len(table)
    of_metric = np.array([is_share(name) for name in named], bool)
    on_its_side = not any(is_share(name) for name in table.columns)
    of_label = np.array([on_its_side and is_share(name) for name in table.index], bool)
    columns = []
    for position, name in enumerate(table.columns):
        shares = is_share(name) | of_label | (of_metric & (name in OF_METRIC))
        columns.append(_texts(table.iloc[:, position], shares, name, precision))
    answer = pd.DataFrame(dict(enumerate(columns)), index=table.index, dtype="object")
    answer.columns = table.columns
    return answer


def words(name: str) -> str:
    """A name of a kind or a column as one reads it aloud."""
    return name.replace("_", " ")


def is_share(name: Hashable) -> bool:
    """Whether a column, or a metric, of this name holds shares of 1."""
    found = reading(str(name))
    if found is not None:
        return found.metric.written == "share"
    return str(name).startswith("chance_of_rank_") or str(name).endswith("_share")


def number_text(value: float, share: bool = False, precision: int | None = None) -> str:
    """A number as it is shown: `87.34%`, `1,234.50`, `0.123`, `0.00012`, or a dash for null.

    `precision` is the number of decimals; without it they are two, and three for numbers below 1 that are no shares.
    Where they would show zeros only, the first digits that are none are shown.
    """
    if np.isnan(value):
        return DASH
    decimals = 2 if precision is None else precision
    if share:
        return f"{value:.{decimals}%}"
    size = abs(value)
    if size >= 1e15:
        return f"{value:.6g}"
    if precision is None and 0 < size < 1:
        decimals = 3
    return f"{value:,.{decimals}f}" if size == 0 or size >= 10.0**-decimals else f"{value:.{precision or 2}g}"


def _is_identifier(name: Hashable) -> bool:
    return str(name).rpartition("_")[2] in IDENTIFIERS and not str(name).startswith("n_")


def _is_carried(name: Hashable) -> bool:
    """Whether a column may be the user's own: whole numbers in it are shown as they are, since they may be names."""
    return str(name).startswith(("truth_", "predicted_", "frame_")) or name in ("tau", "epsilon")


def _texts(values: pd.Series, shares: np.ndarray, name: Hashable, precision: int | None) -> list[str]:
    null = values.isna().to_numpy(bool)
    if pd.api.types.is_float_dtype(values.dtype):
        numbers = values.to_numpy(np.float64, na_value=np.nan)
        if np.any(numbers[shares] > 1 + 1e-9):  # counts, ranks and percents that were made of shares
            shares = np.zeros(len(values), bool)
        if _is_carried(name) and np.all((numbers == np.rint(numbers)) & (np.abs(numbers) < 1e15) | null):
            return [DASH if gone else f"{int(value)}" for value, gone in zip(numbers.tolist(), null, strict=True)]
        values = pd.Series(numbers)
    is_identifier = _is_identifier(name)
    rows = zip(values, shares, null, strict=True)
    return [DASH if gone else _text(value, share, is_identifier, precision) for value, share, gone in rows]


def _text(value: Any, share: bool, is_identifier: bool, precision: int | None) -> str:
    """A value that is not null."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value}" if is_identifier else f"{value:,}"
    return number_text(value, share, precision) if isinstance(value, float) else label(value)


def as_html(table: pd.DataFrame) -> str:
    """The table as HTML for a notebook: its first and last rows where it is long, as the options of pandas say."""
    size = f"<p>{len(table):,} rows × {table.shape[1]:,} columns</p>"
    limit = pd.get_option("display.max_rows") or len(table)
    shown, n_shown = table, len(table)
    if len(table) > limit:
        half = max(min(pd.get_option("display.min_rows") or limit, limit) // 2, 1)
        n_shown = 2 * half
        shown = pd.concat([table.head(half + 1), table.tail(half)])  # one more than is shown: pandas marks the gap
    cells = texts(shown, pd.get_option("display.precision"))
    body = cells.to_html(max_rows=n_shown, max_cols=pd.get_option("display.max_columns"))
    return f"<div>\n{body}\n{size}\n</div>"


def _shown(table: pd.DataFrame, before: Any) -> Any:
    """The HTML of a table: the project's own, or for any other table that of `before`, the formatter before ours."""
    # What was pivoted or joined from our tables keeps their attrs, but not what their columns mean.
    ours = {"rule", "version"} <= {*table.attrs} and table.columns.nlevels == 1 and table.columns.is_unique
    if ours and pd.get_option("display.notebook_repr_html"):
        return as_html(table)
    return table._repr_html_() if before is None else before(table)  # type: ignore[operator]
