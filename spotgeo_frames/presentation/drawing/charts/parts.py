"""What charts share: colours, axes, tooltips and names of submissions; and a chart as the page shows it.

The page has a chart in its colours, as wide as its place. Names from the user's data appear only as data or options of
a chart, never in an expression that Vega evaluates. So no channel is sorted by a list of them, which Vega-Lite would
write as an expression, nor has an offset a domain of them. They are in the order of the rows, or in that of a field of
positions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from os.path import commonprefix
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from ....scoring import registry
from ..wording import title, with_unit

Rows = list[dict[str, Any]]

# A `column` of the viewer, and which fields of a mark have its value (`is`), or its least and greatest (`from`, `to`).
Condition = Mapping[str, str]
OF_SUBMISSION: Condition = {"column": "submission", "is": "submission"}

HEIGHT = 260

# Of equal lightness, about halfway between white and black, so that they stand out from either; a page has its own.
# Further submissions reuse them with other dashes.
SERIES = ["#2b87c8", "#c17a00", "#129a72", "#dd5f1e", "#9a6fc8", "#7f8a96", "#cf559a", "#7d9720"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]

# The colours of lines as dark as text, of lines that stand back, of the inside of hollow marks, and of the background
# of a map, which shows where the map has no value.
INK, FAINT, HOLLOW, NOTHING = "#7c7c7c", "#8c8c8d", "#ffffff", "rgba(128, 128, 128, 0.2)"

# The legend of colours that are shares.
SHARES = alt.Legend(format=".0%", gradientLength=200, values=[0, 0.25, 0.5, 0.75, 1])

# How much of the colour remains of what is not highlighted.
PALE = 0.15

# The format of axes of differences. It names no decimals, so Vega writes as many as distinct ticks need.
POINTS = "+%"

Spec = dict[str, Any]

# Colours become variables of the page's style, so charts follow a switch between light and dark without being redrawn.
VARIABLES = {color: f"var(--series-{position})" for position, color in enumerate(SERIES, 1)}
VARIABLES |= {INK: "var(--ink)", FAINT: "var(--faint)", HOLLOW: "var(--paper)", NOTHING: "var(--nothing)"}

# The properties that hold colours; whatever else is equal to one, such as a name, is none.
COLORED = ("color", "fill", "stroke", "range", "symbolStrokeColor")

TEXT = {"labelColor": "var(--ink)", "titleColor": "var(--ink)", "labelFontSize": 12, "titleFontSize": 12}
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "axis": TEXT | {"gridColor": "var(--line)", "domainColor": "var(--faint)", "tickColor": "var(--faint)"},
    "legend": TEXT
    | {"orient": "bottom", "columns": 2, "labelLimit": 260, "titleLimit": 400, "symbolSize": 90, "symbolLimit": 0},
    "view": {"stroke": None},
    "aria": False,  # to a screen reader a chart is one picture; the page's tables have its numbers
}

# The longest name of a submission that charts have room for, in characters.
LONGEST_NAME = 18


class Drawing(NamedTuple):
    """A chart without sizes and data, which the page and notebooks add, each in their way.

    Attributes
    ----------
    chart
        The chart, of Altair; its layers name their rows.
    data
        The rows by these names.
    title
        What the chart shows, in one line.
    height
        Its height, px.
    ratio
        The ratio of height to width where both axes are pixels; otherwise None.
    background
        The colour behind the marks; None for that of the surroundings.
    picks
        The submissions of a chart that shows one at a time: of several, the reader picks one, the parameter `picked`.
    filters
        Which rows of the match table a mark counts: on the page, a click on it shows these in the viewer.
    zooms
        Whether a closer look at parts of it is of use.
    """

    chart: Any
    data: Mapping[str, Rows]
    title: str
    height: int = HEIGHT
    ratio: float | None = None
    background: str | None = None
    picks: Sequence[str] = ()
    filters: Sequence[Condition] = ()
    zooms: bool = False


def tooltips(*fields: tuple[str, str, str]) -> list[alt.Tooltip]:
    """Makes tooltips of (field, title, format); an empty format leaves the value as it is."""
    plain = ((alt.Tooltip(field, title=title), form) for field, title, form in fields)
    return [tooltip.format(form) if form else tooltip for tooltip, form in plain]


def submission_tooltip(names: Sequence[str]) -> list[tuple[str, str, str]]:
    """The field of the submission's name for `tooltips`; none if there is only one submission."""
    return [("submission:N", "submission", "")] if len(names) > 1 else []


def mse_tooltip(rows: Rows, title: str, unit: str | None) -> list[tuple[str, str, str]]:
    """The field of the mean squared error for `tooltips`; none after matching by similarity.

    `unit` is that of distances in the notes of the table that has the values, None for px.
    """
    text = with_unit(title, registry.METRICS["mse"].unit_in(unit))
    return [("mse:Q", text, ".2f")] if any("mse" in row for row in rows) else []


def share_axis(channel: Any, field: str, title: str) -> Any:
    """An axis from 0% to 100%; `channel` is `alt.X` or `alt.Y`."""
    return channel(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%"))


def pixel_axis(channel: Any, field: str, title: str, reverse: bool = False, is_chart: bool = False) -> Any:
    """An axis of the image plane; `channel` is `alt.X` or `alt.Y`. That of a chart grows to the left, or up."""
    scale = alt.Scale(zero=False, nice=False, reverse=reverse)
    labels = "format(-datum.value, '.5~g')" if is_chart else alt.Undefined
    return channel(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(grid=False, tickCount=8, labelExpr=labels))


def bounded(ratio: float) -> float:
    """The ratio of height to width, limited to what a page has room for."""
    return min(max(ratio, 0.2), 2.0)


def cycled(values: Sequence[Any], count: int, every: int = 1) -> list[Any]:
    """Repeats values cyclically up to `count`, each of them `every` times in a row."""
    return [values[position // every % len(values)] for position in range(count)]


def by_submission(chart: Any, names: Sequence[str], of_lines: bool = False, selects: bool = True) -> Any:
    """The chart with a colour for each submission; one submission needs none.

    A click on a name in the legend makes the others pale. The layers of a chart share that choice: one `selects`.
    """
    if len(names) < 2:
        return chart
    scale = alt.Scale(domain=list(names), range=cycled(SERIES, len(names)))
    chosen = alt.selection_point(name="highlighted", fields=["submission"], bind="legend")
    paleness = alt.when(chosen).then(alt.value(1)).otherwise(alt.value(PALE))
    # Lines have transparent points for the tooltips, which an opacity of all that is drawn would show.
    chart = chart.encode(
        color=alt.Color("submission:N", title=None, scale=scale),
        **{"strokeOpacity" if of_lines else "opacity": paleness},
    )
    return chart.add_params(chosen) if selects else chart


def dashed(names: Sequence[str]) -> dict[str, alt.StrokeDash]:
    """The dashes of lines of more submissions than there are colours; none for one submission."""
    scale = alt.Scale(domain=list(names), range=cycled(DASHES, len(names), len(SERIES)))
    return {"strokeDash": alt.StrokeDash("submission:N", title=None, scale=scale)} if len(names) > 1 else {}


def of_picked(chart: Any, names: Sequence[str]) -> Any:
    """A layer that shows the rows of the submission that the reader picks; one submission needs no choice."""
    return chart.transform_filter("datum.submission === picked") if len(names) > 1 else chart


def page_spec(drawing: Drawing) -> Spec:
    """The specification of a chart with its data; `usermeta` tells the page's script the ratio and the filters."""
    chart = drawing.chart
    if len(drawing.picks) > 1:  # the reader picks above the charts
        chart = chart.add_params(alt.param(name="picked", value=drawing.picks[0]))
    if drawing.background is not None:
        chart = chart.properties(view=alt.ViewBackground(fill=drawing.background))
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    # The user's settings of Altair are overridden, so that a report looks the same for everybody.
    with alt.data_transformers.enable("default"), alt.theme.enable("none"):
        sized = chart.properties(width="container", height=drawing.height, description=drawing.title, autosize=fit)
        spec = _with_variables(sized.to_dict(validate=False))
    meta: dict[str, Any] = {} if drawing.ratio is None else {"ratio": drawing.ratio}
    meta |= {"filters": list(drawing.filters)} if drawing.filters else {}
    return dict(spec) | {"config": CONFIG, "usermeta": meta, "datasets": dict(drawing.data)}


def _with_variables(part: Any, name: str = "") -> Any:
    """A part of a specification, the value of the property `name`, with variables for its colours."""
    if isinstance(part, dict):
        return {key: _with_variables(value, key) for key, value in part.items()}
    if isinstance(part, list):
        return [_with_variables(value, name) for value in part]
    return VARIABLES.get(part, part) if name in COLORED and isinstance(part, str) else part


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
    return known if known and metric not in registry.own_metrics() else shown_name(known or metric)


def with_short_names(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A table whose column `submission`, with these names as categories, has their short names instead."""
    short = dict(zip(names, short_names(names), strict=True))
    return table.assign(submission=table["submission"].cat.rename_categories(short))


def by_name(table: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each submission of a table, with its short name; `names` are the categories of `submission`."""
    codes = table["submission"].cat.codes.to_numpy()
    return ((name, table[codes == code]) for code, name in enumerate(short_names(names)))
