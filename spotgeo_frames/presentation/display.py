"""How the project's tables read: null as a dash, shares in percent, other numbers rounded.

In Jupyter every table that the project made (its attrs tell) is shown so as it is, up to as many rows and columns as
pandas would show. The tables themselves stay what they are: only what is seen is rounded.
"""

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from ..support.labels import DASH, label

# Columns and metrics that are shares of 1.
SHARES = {
    *("precision", "recall", "f1", "one_minus_f1", "det_a", "loc_a", "average_precision"),
    *("f1_low", "f1_high", "f1_gain", "f1_corrected", "found_share", "tracked_share", "matched_share"),
    *("HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA"),
    *("MOTA", "MOTP", "MODA", "IDF1", "IDP", "IDR"),
}

# Columns whose numbers are those of the metric that their row names.
OF_METRIC = ("estimate", "low", "high", "value", "rest")

# Integers that name something rather than count it.
IDENTIFIERS = ("sequence", "frame", "object", "joint", "category", "rank", "track")


def texts(table: pd.DataFrame) -> pd.DataFrame:
    """The table as strings, with its index; columns have the names of the given ones."""
    # In a long table the row says what is a share, and in one that is laid on its side, too.
    of_metric = table["metric"].isin(SHARES).to_numpy() if "metric" in table else np.zeros(len(table), bool)
    on_its_side = not any(is_share(name) for name in table.columns)
    of_label = np.array([on_its_side and is_share(name) for name in table.index], bool)
    columns = []
    for position, name in enumerate(table.columns):
        shares = is_share(name) | of_label | (of_metric & (name in OF_METRIC))
        columns.append(_texts(table.iloc[:, position], shares, _is_identifier(name), _is_carried(name)))
    answer = pd.DataFrame(dict(enumerate(columns)), index=table.index, dtype="object")
    answer.columns = table.columns
    return answer


def words(name: str) -> str:
    """A name of a kind or a column as one reads it aloud."""
    return name.replace("_", " ")


def is_share(name: Hashable) -> bool:
    """Whether numbers called so are shares of 1."""
    return name in SHARES or str(name).startswith("chance_of_rank_")


def number_text(value: float, share: bool = False) -> str:
    """A number as it is shown: `87.34%`, `1,234.50`, `0.123`, `0.00012`, or a dash for null."""
    if np.isnan(value):
        return DASH
    if share:
        return f"{value:.2%}"
    size = abs(value)
    if size >= 1e15:
        return f"{value:.6g}"
    if size >= 1 or size == 0:
        return f"{value:,.2f}"
    return f"{value:.3f}" if size >= 0.001 else f"{value:.2g}"


def _is_identifier(name: Hashable) -> bool:
    return str(name).rpartition("_")[2] in IDENTIFIERS and not str(name).startswith("n_")


def _is_carried(name: Hashable) -> bool:
    """Whether a column may be the user's own: whole numbers in it are shown as they are, since they may be names."""
    return str(name).startswith(("truth_", "predicted_", "frame_")) or name in ("tau", "epsilon")


def _texts(values: pd.Series, shares: np.ndarray, is_identifier: bool, is_carried: bool) -> list[str]:
    null = values.isna().to_numpy(bool)
    if pd.api.types.is_float_dtype(values.dtype):
        numbers = values.to_numpy(np.float64, na_value=np.nan)
        if np.any(numbers[shares] > 1 + 1e-9):  # what somebody made of shares: counts, ranks, percents
            shares = np.zeros(len(values), bool)
        if is_carried and np.all((numbers == np.rint(numbers)) & (np.abs(numbers) < 1e15) | null):
            return [DASH if gone else f"{int(value)}" for value, gone in zip(numbers.tolist(), null, strict=True)]
        values = pd.Series(numbers)
    rows = zip(values, shares, null, strict=True)
    return [DASH if gone else _text(value, share, is_identifier) for value, share, gone in rows]


def _text(value: Any, share: bool, is_identifier: bool) -> str:
    """A value that is not null."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value}" if is_identifier else f"{value:,}"
    return number_text(value, share) if isinstance(value, float) else label(value)


def as_html(table: pd.DataFrame) -> str:
    """The table as HTML for a notebook: its first and last rows where it is long, as pandas would have it."""
    size = f"<p>{len(table):,} rows × {table.shape[1]:,} columns</p>"
    limit = pd.get_option("display.max_rows") or len(table)
    shown, n_shown = table, len(table)
    if len(table) > limit:
        half = max(min(pd.get_option("display.min_rows") or limit, limit) // 2, 1)
        n_shown = 2 * half
        shown = pd.concat([table.head(half + 1), table.tail(half)])  # one more than is shown: pandas marks the gap
    body = texts(shown).to_html(max_rows=n_shown, max_cols=pd.get_option("display.max_columns"))
    return f"<div>\n{body}\n{size}\n</div>"


def register() -> None:
    """Has IPython show the project's tables so, where it runs; all other tables stay as pandas shows them."""
    if "IPython" not in sys.modules:
        return
    from IPython import get_ipython  # there already

    shell = get_ipython()
    formatter = shell.display_formatter.formatters["text/html"] if shell and shell.display_formatter else None
    if formatter is not None:
        formatter.for_type(pd.DataFrame, _shown)


def _shown(table: pd.DataFrame) -> Any:
    # What was pivoted or joined from our tables keeps their attrs, but not what their columns mean.
    ours = {"rule", "version"} <= {*table.attrs} and table.columns.nlevels == 1 and table.columns.is_unique
    return as_html(table) if ours and pd.get_option("display.notebook_repr_html") else table._repr_html_()  # type: ignore[operator]
