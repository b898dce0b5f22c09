"""What the page's charts share: their colours, axes and tooltips, and how a chart becomes a specification.

Colours are variables of the page's style, so a chart follows light and dark without being drawn again. Names of
submissions are only ever data or options of a chart, never part of an expression.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from .chart_data import Rows

Spec = dict[str, Any]
HEIGHT = 260

# The page's style has eight colours; further submissions take them again, with other dashes.
SERIES = [f"var(--series-{number})" for number in range(1, 9)]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]

# The background of a map, which shows where the map has no value.
NOTHING = "var(--nothing)"
INK = {"labelColor": "var(--ink)", "titleColor": "var(--ink)", "labelFontSize": 12, "titleFontSize": 12}
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "axis": INK | {"gridColor": "var(--line)", "domainColor": "var(--faint)", "tickColor": "var(--faint)"},
    "legend": INK | {"orient": "bottom", "columns": 2, "labelLimit": 260, "titleLimit": 400, "symbolSize": 90},
    "view": {"stroke": None},
    "aria": False,  # a chart is one thing with a description; the page's tables have the numbers
}


def tooltips(*fields: tuple[str, str, str]) -> list[alt.Tooltip]:
    """Tooltips of (field, title, format); an empty format leaves a value as it is."""
    plain = ((alt.Tooltip(field, title=title), form) for field, title, form in fields)
    return [tooltip.format(form) if form else tooltip for tooltip, form in plain]


def submission_tooltip(names: Sequence[str]) -> list[tuple[str, str, str]]:
    """The field that names the submission, for `tooltips`, where there are several."""
    return [("submission:N", "submission", "")] if len(names) > 1 else []


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
    """`count` values, each `every` times in a row, from the first again after the last."""
    return [values[position // every % len(values)] for position in range(count)]


def by_submission(names: Sequence[str]) -> alt.Color:
    """A colour for each submission."""
    scale = alt.Scale(domain=list(names), range=cycled(SERIES, len(names)))
    return alt.Color("submission:N", title=None, scale=scale)


def picked(chart: Any, names: Sequence[str]) -> Any:
    """The chart of one submission at a time; the reader picks the submission above the charts."""
    return chart if len(names) < 2 else of_picked(chart.add_params(alt.param(name="picked", value=names[0])), names)


def of_picked(chart: Any, names: Sequence[str]) -> Any:
    """A further layer of a chart whose first layer is `picked`: Vega-Lite filters the data of each layer by itself."""
    return chart.transform_filter("datum.submission === picked") if len(names) > 1 else chart


def finished(
    chart: Any,
    data: Mapping[str, Rows],
    description: str,
    height: int,
    ratio: float | None = None,
    background: str | None = None,
) -> Spec:
    """The specification with its data, as wide as its place on the page."""
    if background is not None:
        chart = chart.properties(view=alt.ViewBackground(fill=background))
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    # The user's settings of Altair change nothing: a report looks the same for everybody.
    with alt.data_transformers.enable("default"), alt.theme.enable("none"):
        spec = chart.properties(width="container", height=height, description=description, autosize=fit).to_dict()
    meta = {} if ratio is None else {"ratio": ratio}
    return dict(spec) | {"config": CONFIG, "usermeta": meta, "datasets": dict(data)}
