"""The names of submissions as charts show them: short, and unlike any property that JavaScript's objects have."""

import re
from collections.abc import Iterator, Sequence
from os.path import commonprefix
from typing import Any

import pandas as pd

from ....scoring.registry import own_metrics
from ..metric_text import title

Rows = list[dict[str, Any]]

# The longest name of a submission that charts have room for, in characters.
LONGEST_NAME = 18


def short_names(names: Sequence[str]) -> list[str]:
    """Shortens long names: first their common beginning is cut off, then their middle; equal results are numbered.

    Each name is as `shown_name` returns it.
    """
    half = LONGEST_NAME // 2
    shared = commonprefix(list(names))  # noqa: RUF071 - names, not paths
    shared = re.sub(r"[a-zA-Z0-9]*$", "", shared)  # whole words only
    if len(names) > 1 and max(map(len, names)) > LONGEST_NAME and shared:
        names = [f"…{name.removeprefix(shared)}" for name in names]
    short = [name if len(name) <= LONGEST_NAME else f"{name[: half - 2]}…{name[-half - 1 :]}" for name in names]
    numbered = [f"{place} {name}" if short.count(name) > 1 else name for place, name in enumerate(short, 1)]
    return [shown_name(name) for name in numbered]


def shown_name(name: str) -> str:
    """A name from the user's data as the value of a category of a chart: it begins with a space of no width.

    Without it, Vega would take a name such as "constructor" for a property that every JavaScript object has.
    """
    return f"\u200b{name}"


def title_of(metric: str, table: pd.DataFrame) -> str:
    """The label of a metric with its unit; of the user's own, and of one that is not known, as `shown_name`.

    The notes of the table that has its values tell the unit of distances.
    """
    known = title(metric, table.attrs.get("unit"))
    return known if known and metric not in own_metrics() else shown_name(known or metric)


def with_short_names(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A table whose column `submission`, with these names as categories, has their short names instead."""
    short = dict(zip(names, short_names(names), strict=True))
    return table.assign(submission=table["submission"].cat.rename_categories(short))


def by_name(table: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each submission of a table, with its short name; `names` are the categories of `submission`."""
    codes = table["submission"].cat.codes.to_numpy()
    return ((name, table[codes == code]) for code, name in enumerate(short_names(names)))
