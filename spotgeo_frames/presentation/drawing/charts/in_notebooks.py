"""Charts for notebooks: in sizes of their own, with their data, a title, and what a reader can do with them.

They have no settings of their own besides, so Altair joins them by `|` and `&`, and a theme of Altair, such as the dark
one, holds for them as for any other chart.
"""

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ....support.errors import InputError
from ....support.texts import label
from ....tables.messages import counted
from .encodings import FAINT, Drawing
from .names import Rows

# The width of a chart, and of one of several side by side (px).
WIDTH, NARROW = 440, 300

# The scales that a chart does not share with those beside it.
OWN_SCALES: dict[str, Any] = dict.fromkeys(["color", "fill", "strokeDash", "yOffset"], "independent")

# The most rows that Altair embeds in a chart.
MOST_ROWS = 5_000


def notebook_chart(drawing: Drawing, width: int = WIDTH, has_legend: bool = True) -> Any:
    """The chart of a drawing, with its data; raises InputError if it has too many rows.

    Its colours stay its own where Altair joins it to others. Otherwise those would share a scale of colours, be it of
    recall and of counts.
    """
    n_rows = sum(len(rows) for rows in drawing.data.values())
    if n_rows > MOST_ROWS:
        problem = f"charts: {n_rows:,} marks would be drawn; a chart takes at most {MOST_ROWS:,}"
        raise InputError(f"{problem}: give fewer rows, or fewer submissions at a time")
    chart = _with_rows(drawing.chart, drawing.data)
    if len(drawing.picks) > 1:
        choice = alt.binding_select(options=list(drawing.picks), name="submission ")
        chart = chart.add_params(alt.param(name="picked", value=drawing.picks[0], bind=choice))
    if not has_legend:
        _drop_legends(chart)
    chart = alt.layer(chart).resolve_scale(**OWN_SCALES)
    if drawing.background is not None:
        chart = chart.properties(view=alt.ViewBackground(fill=drawing.background))
    if drawing.zooms:
        # Altair makes one of selections that are alike, and maps of different things would zoom together. The wheel
        # needs a key, so that it still scrolls the notebook.
        name = re.sub(r"\W+", "_", f"zoom {drawing.title}", flags=re.ASCII)
        chart = chart.add_params(alt.selection_interval(name=name, bind="scales", zoom="wheel![event.ctrlKey]"))
    height = drawing.height if drawing.ratio is None else round(width * drawing.ratio)
    return chart.properties(width=width, height=height, title=_title(drawing))


def _title(drawing: Drawing) -> Any:
    """The title of a drawing, with the submission that is picked, since a saved picture shows no list to pick from."""
    if len(drawing.picks) < 2:
        return drawing.title
    about = json.dumps(f"{drawing.title}: ")  # ASCII with everything else escaped, so a literal of Vega's expressions
    return alt.TitleParams(text=alt.ExprRef(f"{about} + picked"))


def nothing_to_draw(why: str) -> Any:
    """An empty chart that says why it is empty."""
    said = alt.Chart(alt.InlineData(values=[{"why": why}])).mark_text(color=FAINT).encode(text="why:N")
    return said.properties(width=WIDTH, height=60)


def of_submissions(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table with its column `submission` as categories in the order of the rows, and the names of these.

    Where there is no such column, all rows are of one submission. Raises InputError if the submission of a row is null.
    """
    if "submission" not in table:
        only = pd.Categorical(["submission"] * len(table), categories=["submission"])
        return table.assign(submission=only), ["submission"]  # charts of one submission do not show its name
    if table["submission"].isna().any():
        n_rows = int(table["submission"].isna().sum())
        raise InputError(f"charts: column submission: {counted(n_rows, 'row')} null; name each submission")
    named = table["submission"].map(label).astype(object)
    names = list(dict.fromkeys(named))
    return table.assign(submission=pd.Categorical(named, categories=names)), names


def thinned(table: pd.DataFrame, kept: pd.Index) -> pd.DataFrame:
    """So many evenly spaced rows of a table that a chart takes them all, and those of the index `kept`."""
    every = -(-len(table) // max(MOST_ROWS - 2 * len(kept), 1))
    return table[table.index.isin(table.index[::every].union(kept))] if every > 1 else table


def side_by_side(drawings: Sequence[Drawing]) -> Any:
    """The charts of drawings with the same submissions, next to each other; the last one has the legend."""
    with warnings.catch_warnings():  # that they share what is highlighted, as they should
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter", UserWarning)
        return alt.hconcat(
            *(notebook_chart(drawing, NARROW, has_legend=False) for drawing in drawings[:-1]),
            notebook_chart(drawings[-1], NARROW),
        )


def _drop_legends(chart: Any) -> None:
    """Takes the legends of submissions out of a chart."""
    for layer in _units(chart):
        encoded = {} if layer.encoding is alt.Undefined else layer.encoding.to_dict(validate=False)
        for channel in encoded.keys() & {"color", "strokeDash"}:
            layer.encoding[channel] = layer.encoding[channel].legend(None)


def _units(chart: Any) -> list[Any]:
    """A chart and its layers."""
    return [chart, *(chart.layer if isinstance(chart, alt.LayerChart) else [])]


def _with_rows(chart: Any, data: Mapping[str, Rows]) -> Any:
    """A copy of a chart, or of its layers, with the rows instead of their names."""
    made = chart.copy()
    for layer in _units(made):  # layers may share their rows
        if isinstance(layer.data, alt.NamedData):
            layer.data = alt.InlineData(values=[_known(row) for row in data[layer.data.name]])
        if isinstance(layer, alt.Chart):  # else Vega-Lite writes titles of axes, which may be the user's, as code
            definition: dict[str, Any] = {"type": layer.mark} if isinstance(layer.mark, str) else layer.mark.to_dict()
            layer.mark = alt.MarkDef(**definition | {"aria": False})
    return made


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with None for what JSON has no number for."""
    return {name: value if not isinstance(value, float) or np.isfinite(value) else None for name, value in row.items()}
