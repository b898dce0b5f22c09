"""Colours, axes and tooltips that the page's charts share, and the step from a chart to its specification.

Colours are variables of the page's style, so charts follow a switch between light and dark without being redrawn. Names
of submissions appear only as data or options of a chart, never in an expression that Vega evaluates.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from .names import Rows

Spec = dict[str, Any]

# A `column` of the viewer, and which fields of a mark have its value (`is`), or its least and greatest (`from`, `to`).
Condition = Mapping[str, str]
OF_SUBMISSION: Condition = {"column": "submission", "is": "submission"}

HEIGHT = 260

# The page's style has eight colours; further submissions reuse them with other dashes.
SERIES = [f"var(--series-{position})" for position in range(1, 9)]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]

# The format of axes of differences. It names no decimals, so Vega writes as many as distinct ticks need.
POINTS = "+%"

# The background of a map, which shows where the map has no value.
NOTHING = "var(--nothing)"
INK = {"labelColor": "var(--ink)", "titleColor": "var(--ink)", "labelFontSize": 12, "titleFontSize": 12}
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "axis": INK | {"gridColor": "var(--line)", "domainColor": "var(--faint)", "tickColor": "var(--faint)"},
    "legend": INK | {"orient": "bottom", "columns": 2, "labelLimit": 260, "titleLimit": 400, "symbolSize": 90},
    "view": {"stroke": None},
    "aria": False,  # to a screen reader a chart is one picture; the page's tables have its numbers
}


def tooltips(*fields: tuple[str, str, str]) -> list[alt.Tooltip]:
    """Makes tooltips of (field, title, format); an empty format leaves the value as it is."""
    plain = ((alt.Tooltip(field, title=title), form) for field, title, form in fields)
    return [tooltip.format(form) if form else tooltip for tooltip, form in plain]


def submission_tooltip(names: Sequence[str]) -> list[tuple[str, str, str]]:
    """The field of the submission's name for `tooltips`; none if there is only one submission."""
    return [("submission:N", "submission", "")] if len(names) > 1 else []


def mse_tooltip(rows: Rows, title: str) -> list[tuple[str, str, str]]:
    """The field of the mean squared error for `tooltips`; none after matching by similarity."""
    return [("mse:Q", title, ".2f")] if any("mse" in row for row in rows) else []


def share_axis(channel: Any, field: str, title: str) -> Any:
    """An axis from 0% to 100%; `channel` is `alt.X` or `alt.Y`."""
    return channel(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%"))


def pixel_axis(channel: Any, field: str, title: str, reverse: bool = False) -> Any:
    """An axis of the image plane; `channel` is `alt.X` or `alt.Y`."""
    scale = alt.Scale(zero=False, nice=False, reverse=reverse)
    return channel(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(grid=False, tickCount=8))


def bounded(ratio: float) -> float:
    """The ratio of height to width, limited to what a page has room for."""
    return min(max(ratio, 0.2), 2.0)


def cycled(values: Sequence[Any], count: int, every: int = 1) -> list[Any]:
    """Repeats values cyclically up to `count`, each of them `every` times in a row."""
    return [values[position // every % len(values)] for position in range(count)]


def by_submission(names: Sequence[str]) -> alt.Color:
    """A colour for each submission."""
    scale = alt.Scale(domain=list(names), range=cycled(SERIES, len(names)))
    return alt.Color("submission:N", title=None, scale=scale)


def picked(chart: Any, names: Sequence[str]) -> Any:
    """The chart of one submission at a time; the reader picks the submission above the charts."""
    return chart if len(names) < 2 else of_picked(chart.add_params(alt.param(name="picked", value=names[0])), names)


def of_picked(chart: Any, names: Sequence[str]) -> Any:
    """A layer that follows the choice of submission made in the layer `picked`; each layer filters its own data."""
    return chart.transform_filter("datum.submission === picked") if len(names) > 1 else chart


def finished(
    chart: Any,
    data: Mapping[str, Rows],
    description: str,
    height: int,
    ratio: float | None = None,
    background: str | None = None,
    filters: Sequence[Condition] = (),
) -> Spec:
    """Makes the specification of a chart with its data, as wide as its place on the page.

    `filters` say which rows of the match table a mark counts: a click on it shows these in the viewer.
    """
    if background is not None:
        chart = chart.properties(view=alt.ViewBackground(fill=background))
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    # The user's settings of Altair are overridden, so that a report looks the same for everybody.
    with alt.data_transformers.enable("default"), alt.theme.enable("none"):
        whole = chart.properties(width="container", height=height, description=description, autosize=fit)
        spec = whole.to_dict(validate=False)
    meta: dict[str, Any] = {} if ratio is None else {"ratio": ratio}
    meta |= {"filters": list(filters)} if filters else {}
    return dict(spec) | {"config": CONFIG, "usermeta": meta, "datasets": dict(data)}
