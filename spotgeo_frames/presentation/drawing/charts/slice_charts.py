"""Charts of metrics by slice."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ....scoring.summary import OF_FEW, rests_on_few
from ..metric_text import is_share
from .encodings import SERIES, Drawing, by_submission, submission_tooltip, tooltips
from .names import Rows, short_names, shown_name, title_of, with_short_names

# How high the line of a slice is, and the chart of many at most (px).
LINE, HIGHEST = 24, 1_200

# Names of slices are cut off at this width (px). The axis may be wider, or its title would be written over them.
LABELS = alt.Axis(labelLimit=260, maxExtent=300)


def estimates_by_slice(
    table: pd.DataFrame, names: Sequence[str], slices: Sequence[str], columns: str, metric: str
) -> Drawing:
    """The chart of a metric of each slice with its interval; those of few sequences are hollow.

    `table` is a table of intervals with the rows of the metric, `slices` are the names of their slices, and `columns`
    names the columns that make slices.
    """
    name, form = title_of(metric, table), ".2%" if is_share(metric) else ".4~g"
    rows = _rows(with_short_names(table, names), slices)
    drawn, lines = short_names(names), {*slices}
    place: dict[str, Any] = {"yOffset": alt.YOffset("place:O", sort="ascending")} if len(names) > 1 else {}
    axis: dict[str, Any] = {"title": name, "axis": alt.Axis(tickCount=6, format="%" if is_share(metric) else "~g")}
    base = alt.Chart(alt.NamedData("slices")).encode(
        y=alt.Y("slice:N", sort=None, title=shown_name(columns) if columns else None, axis=LABELS),
        **place,
        tooltip=tooltips(
            *submission_tooltip(names),
            ("slice:N", "slice", ""),
            ("estimate:Q", "estimate", form),
            ("low:Q", "from", form),
            ("high:Q", "to", form),
            *([("sequences:Q", "sequences", ",")] if "n_sequences" in table else []),
        ),
    )
    scale = alt.Scale(zero=False)
    bars = base.mark_rule(strokeWidth=2, color=SERIES[0]).encode(x=alt.X("low:Q", scale=scale, **axis), x2="high:Q")
    points = base.mark_point(size=70, color=SERIES[0], opacity=1).encode(x=alt.X("estimate:Q", scale=scale, **axis))
    sure = points.transform_filter(alt.FieldEqualPredicate("no", "few")).mark_point(
        size=70, color=SERIES[0], filled=True, opacity=1
    )
    few = points.transform_filter(alt.FieldEqualPredicate("yes", "few"))
    layers = [by_submission(bars, drawn), *(by_submission(layer, drawn, selects=False) for layer in (sure, few))]
    has_bars = any(np.isfinite(row["low"]) for row in rows)
    if not has_bars:  # Vega would warn of bars without any bound
        layers = [by_submission(sure, drawn), by_submission(few, drawn, selects=False)]
    about_bars = ", with intervals" if has_bars else ""
    of_few = f"; hollow: {OF_FEW}" if any(row["few"] == "yes" for row in rows) else ""
    height = min(len(lines) * max(LINE, 12 * len(names)), HIGHEST)
    return Drawing(alt.layer(*layers), {"slices": rows}, f"{name} by slice{about_bars}{of_few}", height)


def _rows(table: pd.DataFrame, slices: Sequence[str]) -> Rows:
    """The estimates of a table with their intervals and the names of their slices."""
    few, places = rests_on_few(table), table["submission"].cat.codes.tolist()
    return [
        {
            "submission": str(row["submission"]),
            "place": place,
            "slice": name,
            "estimate": row["estimate"],
            "low": row["low"],
            "high": row["high"],
            "few": "yes" if is_few else "no",
        }
        | ({"sequences": int(row["n_sequences"])} if "n_sequences" in row else {})
        for name, place, is_few, row in zip(slices, places, few, table.to_dict("records"), strict=True)
    ]
