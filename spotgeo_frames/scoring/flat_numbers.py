"""flat(): the numbers of a result by name, as experiment trackers log them.

A name is the metric, and for a slice its column and value: `f1.truth_category/car`. MLflow takes letters, digits, `_`,
`-`, `.`, spaces and `/` (`_VALID_PARAM_AND_METRIC_NAMES` in mlflow/utils/validation.py; on some systems `:`, too), and
its store of local files takes `/` for a folder. So the folder of slices, `f1.truth_category`, is none of the files of
metrics, such as `f1`, and no part of a name is empty or a dot alone. Other characters are written by their code, so
that no two values share a name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from ..support import DASH, InputError, bins_as_text, label
from ..tables import Table, messages
from .own_metrics import known_metrics

if TYPE_CHECKING:
    import pandas as pd

    from .ap.result import AveragePrecision

# The columns of tables that have one row for each metric.
LONG = ("metric", "estimate")
BOUNDS = ("low", "high")

# What no name of a tracker may hold, and what is written in place of it, which must not be taken for a value's own.
REFUSED = re.compile(r"[^\w. -]")
ESCAPED = re.compile(r"_x[0-9a-f]*_")

# What the column `aggregate` of intervals has where a number is that of all sequences together.
COMBINED = "combined"


def flat(result: AveragePrecision | Table | Any, prefix: str = "", *, bounds: bool = False) -> dict[str, float]:
    """The numbers of a result as a flat dict, which W&B, MLflow and TensorBoard log.

    Parameters
    ----------
    result
        What `summarize`, `combine`, `leaderboard` or `intervals` returned, the `pairs` of `compare`, a table of what
        `track`, `pose` or `average_precision` returned (`summary`, `categories`); of pandas, polars or pyarrow. Or what
        these three returned as a whole: of `average_precision` these are the numbers of its `summary`, and of `track`
        and `pose` those rows of it that combine all sequences.
    prefix
        What all names begin with, such as "val/".
    bounds
        Whether the bounds of intervals are added to their metrics, as `f1_low` and `f1_high`.

    Returns
    -------
    Finite numbers by name, each in the unit of its metric; counts are floats, too. What is null is left out. A number
    of a slice is called METRIC.COLUMN/VALUE (`f1.truth_category/car`), and where columns are crossed
    METRIC.COLUMN.COLUMN/VALUE/VALUE (`f1.night.size/3/12 to 47`); the difference of a pair METRIC.a.b/NAME/NAME. In
    tables of tracks and poses, a null `sequence`, `category` or `joint` stands for all of them, and adds nothing; in
    other tables it is called `null`. W&B, MLflow and TensorBoard take such names, all in one run: in columns and
    values, characters other than letters, digits, `_`, `-`, `.` and spaces are written by their code, `a=b` as
    `a_x3d_b`, and a metric such as `HOTA(0)` is called `HOTA_0`.

    Raises
    ------
    InputError: `result` is no such table or result, two numbers would have the same name, as those of a value `null`
        and of null, or `prefix` is no text.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 50.0], "y": 5.0})
    >>> matches = sf.match(truth.assign(size=["small", "large"]), truth.head(1))
    >>> numbers = sf.flat(sf.summarize(matches), prefix="val/")
    >>> numbers["val/recall"], numbers["val/tp"]
    (0.5, 1.0)
    >>> sf.flat(sf.summarize(matches, by="truth_size"), prefix="val/")["val/recall.truth_size/small"]
    1.0
    """
    if not isinstance(prefix, str):
        raise InputError(f"flat: prefix is {prefix!r}; text is needed, such as 'val/'")
    answer: dict[str, float] = {}
    for name, value in _numbers(_table(result), bounds):
        if f"{prefix}{name}" in answer:
            raise InputError(f"flat: two numbers would be called {prefix}{name}; rename a column, or a value in it")
        answer[f"{prefix}{name}"] = value
    return {name: value for name, value in answer.items() if math.isfinite(value)}


def _table(result: Any) -> pd.DataFrame:
    """The table that has the numbers of what `flat` was given; of tracks and poses the rows of all sequences."""
    from ..tables import arrow

    fields = getattr(type(result), "_fields", ())  # a DataFrame may have any attribute; its class has not
    summary = result.summary if "summary" in fields else None
    if summary is None:
        if fields:
            what = f"give one of its tables: {messages.listed(fields)}"
            raise InputError(f"flat: result is of type {type(result).__name__}; {what}")
        return bins_as_text(arrow.as_pandas(result, "flat: result"))
    table = bins_as_text(arrow.as_pandas(summary, "flat: summary"))
    return table[table["sequence"].isna()] if "sequence" in table else table


def _numbers(table: pd.DataFrame, bounds: bool) -> Iterator[tuple[str, float]]:
    """The name and the value of each number of a table; of a null number the value is NaN."""
    if all(column in table for column in LONG):
        yield from _of_long_table(table, bounds)
        return
    if "outcome" in table:
        raise InputError("flat: result is a match table; give what summarize() makes of it")
    known = known_metrics()
    first = next((position for position, name in enumerate(table) if name in known), None)
    if first is None:
        raise InputError(f"flat: result has no column of a metric; there are {messages.listed(table)}")
    labels = list(table.columns[:first])
    if {"rank", "name"} <= {*labels}:  # of a leaderboard, where the name says it all
        labels.remove("rank")
    metrics = [name for name in table.columns[first:] if _is_number(table[name]) and (bounds or not _is_bound(name))]
    texts = _row_labels(table, labels, null_is_all="HOTA" in table)
    for name in metrics:
        values = table[name].to_numpy(float, na_value=math.nan).tolist()
        yield from ((f"{_metric_name(name)}{text}", value) for text, value in zip(texts, values, strict=True))


def _of_long_table(table: pd.DataFrame, bounds: bool) -> Iterator[tuple[str, float]]:
    """The numbers of a table that has one row for each metric."""
    labels = list(table.columns[: list(table).index("metric")])
    texts = _row_labels(table, labels, null_is_all="aggregate" in labels)
    metrics = [_metric_name(name) for name in table["metric"]]
    for column in ("estimate", *(BOUNDS if bounds else ())):
        if column not in table:
            raise InputError(f"flat: bounds=True, and column {column} is missing; intervals() makes it")
        ending = "" if column == "estimate" else f"_{column}"
        values = table[column].to_numpy(float, na_value=math.nan).tolist()
        for metric, text, value in zip(metrics, texts, values, strict=True):
            yield f"{metric}{ending}{text}", value


def _is_number(values: pd.Series) -> bool:
    """Whether a column holds numbers, and not flags or text."""
    import pandas as pd

    return pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)


def _is_bound(name: Hashable) -> bool:
    """Whether a column is a bound of the interval of another."""
    return str(name).endswith(tuple(f"_{bound}" for bound in BOUNDS))


def _row_labels(table: pd.DataFrame, columns: list[Any], null_is_all: bool) -> list[str]:
    """What follows the metric in the names of each row, such as `.truth_category/car`."""
    heads, values = [""] * len(table), [""] * len(table)
    for column in columns:
        head = f".{_fit(str(column)).replace('.', _code('.'))}"
        for row, value in enumerate(table[column]):
            text = label(value)
            is_null = text == DASH and not isinstance(value, str)
            if (is_null and null_is_all) or (column == "aggregate" and text == COMBINED):
                continue
            heads[row] += head
            values[row] += f"/{'null' if is_null else _fit(text)}"
    return [head + value for head, value in zip(heads, values, strict=True)]


def _metric_name(name: Hashable) -> str:
    """The name of a metric with `_` for what trackers refuse; `HOTA(0)` becomes `HOTA_0`."""
    text = str(name)
    fitted = REFUSED.sub("_", text)
    return fitted if fitted == text else fitted.rstrip("_") or "_"


def _fit(text: str) -> str:
    """A text as trackers take it as a part of a name; different texts stay different.

    What trackers refuse is written by its code. In a text with such codes, or that seems to have one, underscores are
    written so, too: then a code is never one's own, and can be read back.
    """
    if text in ("", ".", ".."):
        return "".join(map(_code, text)) or _code("")
    if not REFUSED.search(text) and not ESCAPED.search(text):
        return text
    return "".join(_code(letter) if letter == "_" or REFUSED.match(letter) else letter for letter in text)


def _code(letter: str) -> str:
    """What is written in place of a letter, or of no text."""
    return f"_x{ord(letter):x}_" if letter else "_x_"
