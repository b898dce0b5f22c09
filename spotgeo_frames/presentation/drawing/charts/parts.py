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

import pandas as pd

from ....scoring import registry
from ...theme import BETWEEN, LOOKS
from ..wording import label_of, title, with_unit
from .vega_lite import SCHEMA, Spec, channel, encoded, filtered

Rows = list[dict[str, Any]]

# A `column` of the viewer, and which fields of a mark have its value (`is`), or its least and greatest (`from`, `to`).
Condition = Mapping[str, str]
OF_SUBMISSION: Condition = {"column": "submission", "is": "submission"}

HEIGHT = 260

# Submissions have colours, and besides them shapes and dashes, so that they can be told apart in grey.
SERIES = list(BETWEEN.series)
SHAPES, DASHES = [look.shape for look in LOOKS], [list(look.dashes) for look in LOOKS]

# The colours of lines as dark as text, of lines that stand back, of the inside of hollow marks, and of the background
# of a map, which shows where the map has no value.
INK, FAINT, HOLLOW, NOTHING = BETWEEN.ink, BETWEEN.faint, BETWEEN.paper, BETWEEN.nothing

# The legend of colours that are shares.
SHARES: Spec = {"format": ".0%", "gradientLength": 200, "values": [0, 0.25, 0.5, 0.75, 1]}

# The choice of submissions by clicks on the legend, and how much of the colour remains of what is not highlighted.
HIGHLIGHTED: Spec = {"name": "highlighted", "select": {"type": "point", "fields": ["submission"]}, "bind": "legend"}
PALE = 0.15

# The format of axes of differences. It names no decimals, so Vega writes as many as distinct ticks need.
POINTS = "+%"

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
        The specification of the chart; its layers name their rows.
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

    chart: Spec
    data: Mapping[str, Rows]
    title: str
    height: int = HEIGHT
    ratio: float | None = None
    background: str | None = None
    picks: Sequence[str] = ()
    filters: Sequence[Condition] = ()
    zooms: bool = False


def tooltips(*fields: tuple[str, str, str]) -> list[Spec]:
    """Makes tooltips of (field, title, format); an empty format leaves the value as it is."""
    plain = ((channel(field, title=title), form) for field, title, form in fields)
    return [tooltip | ({"format": form} if form else {}) for tooltip, form in plain]


def submission_tooltip(names: Sequence[str]) -> list[tuple[str, str, str]]:
    """The field of the submission's name for `tooltips`; none if there is only one submission."""
    return [("submission:N", "submission", "")] if len(names) > 1 else []


def mse_tooltip(rows: Rows, title: str, unit: str | None) -> list[tuple[str, str, str]]:
    """The field of the mean squared error for `tooltips`; none after matching by similarity.

    `unit` is that of distances in the notes of the table that has the values, None for px.
    """
    text = with_unit(title, registry.METRICS["mse"].unit_in(unit))
    return [("mse:Q", text, ".2f")] if any("mse" in row for row in rows) else []


def share_axis(field: str, title: str) -> Spec:
    """An axis from 0% to 100%."""
    return channel(f"{field}:Q", title=title, scale={"domain": [0, 1]}, axis={"format": ".0%"})


def pixel_axis(field: str, title: str, reverse: bool = False, is_chart: bool = False) -> Spec:
    """An axis of the image plane. That of a chart grows to the left, or up."""
    scale = {"zero": False, "nice": False, "reverse": reverse}
    labels = {"labelExpr": "format(-datum.value, '.5~g')"} if is_chart else {}
    return channel(f"{field}:Q", title=title, scale=scale, axis={"grid": False, "tickCount": 8, **labels})


def bounded(ratio: float) -> float:
    """The ratio of height to width, limited to what a page has room for."""
    return min(max(ratio, 0.2), 2.0)


def cycled(values: Sequence[Any], count: int) -> list[Any]:
    """Repeats values cyclically up to `count`."""
    return [values[position % len(values)] for position in range(count)]


def by_submission(chart: Spec, names: Sequence[str], of_lines: bool = False, selects: bool = True) -> Spec:
    """The chart with a colour for each submission; one submission needs none.

    A click on a name in the legend makes the others pale. The layers of a chart share that choice: one `selects`.
    """
    if len(names) < 2:
        return chart
    scale = {"domain": list(names), "range": cycled(SERIES, len(names))}
    paleness = {"condition": [{"param": HIGHLIGHTED["name"], "value": 1}], "value": PALE}
    # Lines have transparent points for the tooltips, which an opacity of all that is drawn would show.
    chart = encoded(
        chart,
        color=channel("submission:N", title=None, scale=scale),
        **{"strokeOpacity" if of_lines else "opacity": paleness},
    )
    return chart | ({"params": [HIGHLIGHTED]} if selects else {})


def dashed(names: Sequence[str]) -> dict[str, Spec]:
    """The dashes of the lines of each submission; none for one submission."""
    scale = {"domain": list(names), "range": cycled(DASHES, len(names))}
    return {"strokeDash": channel("submission:N", title=None, scale=scale)} if len(names) > 1 else {}


def shaped(names: Sequence[str]) -> dict[str, Spec]:
    """The shapes of the points of each submission; none for one submission."""
    scale = {"domain": list(names), "range": cycled(SHAPES, len(names))}
    return {"shape": channel("submission:N", title=None, scale=scale)} if len(names) > 1 else {}


def of_picked(chart: Spec, names: Sequence[str]) -> Spec:
    """A layer that shows the rows of the submission that the reader picks; one submission needs no choice."""
    return filtered(chart, "datum.submission === picked") if len(names) > 1 else chart


def page_spec(drawing: Drawing) -> Spec:
    """The specification of a chart with its data; `usermeta` tells the page's script the ratio and the filters."""
    chart: Spec = _with_variables(drawing.chart) | {"$schema": SCHEMA, "width": "container", "height": drawing.height}
    chart |= {"description": drawing.title, "autosize": {"type": "fit-x", "contains": "padding"}}
    if len(drawing.picks) > 1:  # the reader picks above the charts
        chart["params"] = [*chart.get("params", []), {"name": "picked", "value": drawing.picks[0]}]
    if drawing.background is not None:
        chart["view"] = _with_variables({"fill": drawing.background})
    meta: Spec = {} if drawing.ratio is None else {"ratio": drawing.ratio}
    meta |= {"filters": list(drawing.filters)} if drawing.filters else {}
    return chart | {"config": CONFIG, "usermeta": meta, "datasets": dict(drawing.data)}


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
    return _shown_metric(metric, title(metric, table.attrs.get("unit")))


def label_of_metric(metric: str) -> str:
    """The label of a metric without its unit, for titles of charts; as `title_of` otherwise."""
    return _shown_metric(metric, label_of(metric))


def _shown_metric(metric: str, known: str | None) -> str:
    return known if known and metric not in registry.own_metrics() else shown_name(known or metric)


def with_short_names(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A table whose column `submission`, with these names as categories, has their short names instead."""
    short = dict(zip(names, short_names(names), strict=True))
    return table.assign(submission=table["submission"].cat.rename_categories(short))


def by_name(table: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each submission of a table, with its short name; `names` are the categories of `submission`."""
    codes = table["submission"].cat.codes.to_numpy()
    return ((name, table[codes == code]) for code, name in enumerate(short_names(names)))
