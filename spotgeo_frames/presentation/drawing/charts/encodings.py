"""Colours, axes and tooltips that charts share, and what a chart is before the page or a notebook shows it.

Names from the user's data appear only as data or options of a chart, never in an expression that Vega evaluates. So no
channel is sorted by a list of them, which Vega-Lite would write as an expression, nor has an offset a domain of them.
They are in the order of the rows, or in that of a field of positions.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from ....scoring.registry import METRICS
from ..metric_text import unit_of, with_unit
from .names import Rows

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

# How much of the colour remains of what is not highlighted.
PALE = 0.15

# The format of axes of differences. It names no decimals, so Vega writes as many as distinct ticks need.
POINTS = "+%"


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
    text = with_unit(title, unit_of(METRICS["mse"], unit))
    return [("mse:Q", text, ".2f")] if any("mse" in row for row in rows) else []


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
