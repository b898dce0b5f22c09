"""Charts of comparisons of submissions."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..metric_text import is_share
from .encodings import FAINT, HOLLOW, POINTS, SERIES, Drawing, tooltips
from .names import Rows, short_names, title_of

# With more submissions than this, only differences between neighbours on the leaderboard are drawn.
MOST_PAIRED = 4


def differences(table: pd.DataFrame, names: Sequence[str], metric: str, confidence: float) -> Drawing | None:
    """The chart of differences of a metric between submissions, with their intervals, one line for each pair.

    `table` has one row for each pair and metric, as `compare` returns it; of many submissions only those of neighbours
    are drawn. None where no difference is known.
    """
    known = table[table["metric"] == metric]
    if len(names) > MOST_PAIRED:
        neighbours = {*pairwise(names)}
        known = known[[pair in neighbours for pair in zip(known["a"], known["b"], strict=True)]]
    short = dict(zip(names, short_names(names), strict=True))
    pairs = [f"{short[a]} − {short[b]}" for a, b in zip(known["a"], known["b"], strict=True)]
    return forest(known, pairs, metric, confidence)


def forest(table: pd.DataFrame, pairs: Sequence[str], metric: str, confidence: float) -> Drawing | None:
    """The chart of the differences of a metric that a table tells of these pairs, one for each row; None without any.

    Marks are filled where the adjusted p-value is below 1 - `confidence`.
    """
    rows = _rows(table.assign(pair=pairs), confidence)
    if not rows:
        return None
    name, form = title_of(metric, table), "+.2%" if is_share(metric) else "+.4~g"
    # Few sequences have no intervals, and Vega would warn of bars without any bound.
    has_bars = any(np.isfinite(row["low"]) for row in rows)
    bounds = [("low:Q", "from", form), ("high:Q", "to", form)] if has_bars else []
    base = alt.Chart(alt.NamedData("pairs")).encode(
        y=alt.Y("pair:N", sort=None, title=None, axis=alt.Axis(labelLimit=260)),
        tooltip=tooltips(
            ("pair:N", "pair", ""),
            ("estimate:Q", "difference", form),
            *bounds,
            ("p:Q", "adjusted p-value", ".3~g"),
        ),
    )
    unit, ticks = (", points", POINTS) if is_share(metric) else ("", "+~g")
    axis: dict[str, Any] = {"title": f"difference of {name}{unit}", "axis": alt.Axis(tickCount=6, format=ticks)}
    zero = alt.Chart(alt.NamedData("zero")).mark_rule(color=FAINT, strokeDash=[4, 3]).encode(x="zero:Q")
    bars = base.mark_rule(strokeWidth=2, color=SERIES[0]).encode(x=alt.X("low:Q", **axis), x2="high:Q")
    filled = alt.Scale(domain=["yes", "no"], range=[SERIES[0], HOLLOW])
    points = base.mark_point(filled=True, size=90, opacity=1, stroke=SERIES[0]).encode(
        x=alt.X("estimate:Q", **axis),
        fill=alt.Fill("sure:N", title=f"adjusted p < {1 - confidence:.2g}", scale=filled),
    )
    layers = zero + bars + points if has_bars else zero + points
    data = {"pairs": rows, "zero": [{"zero": 0}]}
    return Drawing(layers, data, f"Differences of {name} between submissions", 34 * len(rows) + 10)


def _rows(table: pd.DataFrame, confidence: float) -> Rows:
    """The known differences of a table with their intervals, and whether each is sure."""
    return [
        {
            "pair": row["pair"],
            "sure": "yes" if row["p_adjusted"] < 1 - confidence else "no",
            "estimate": row["estimate"],
            "low": row["low"],
            "high": row["high"],
            "p": row["p_adjusted"],
        }
        for row in table[table["estimate"].notna()].to_dict("records")
    ]
