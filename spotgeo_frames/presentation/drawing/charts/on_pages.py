"""Charts of the page: specifications of Vega-Lite in the colours of the page, as wide as their places."""

from typing import Any

import altair as alt

from .encodings import FAINT, HOLLOW, INK, NOTHING, SERIES, Drawing

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
