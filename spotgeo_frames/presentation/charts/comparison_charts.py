"""Charts of comparisons of submissions."""

from collections.abc import Sequence
from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd

from ..metric_text import title
from .encodings import FAINT, HOLLOW, POINTS, SERIES, Drawing, tooltips
from .names import Rows, short_names

# With more submissions than this, only differences between neighbours on the leaderboard are drawn.
MOST_PAIRED = 4


def differences(table: pd.DataFrame, names: Sequence[str], metric: str, confidence: float) -> Drawing | None:
    """The chart of differences of a metric between submissions, with their intervals, one line for each pair.

    `table` has one row for each pair and metric, as `compare` returns it. None where no difference is known.
    """
    pairs = _pairs(table, names, metric, confidence)
    return _differences(pairs, str(title(metric)), confidence) if pairs else None


def _differences(pairs: Rows, name: str, confidence: float) -> Drawing:
    """The chart of rows of differences of a metric of this name."""
    # Few sequences have no intervals, and Vega would warn of bars without any bound.
    has_bars = any(np.isfinite(row["low"]) for row in pairs)
    bounds = [("low:Q", "from", "+.2%"), ("high:Q", "to", "+.2%")] if has_bars else []
    base = alt.Chart(alt.NamedData("pairs")).encode(
        y=alt.Y("pair:N", sort=None, title=None, axis=alt.Axis(labelLimit=260)),
        tooltip=tooltips(
            ("pair:N", "pair", ""),
            ("estimate:Q", f"difference of {name}", "+.2%"),
            *bounds,
            ("p:Q", "adjusted p-value", ".3~g"),
        ),
    )
    title_of_x, axis = f"difference of {name}, points", alt.Axis(tickCount=6, format=POINTS)
    zero = alt.Chart(alt.NamedData("zero")).mark_rule(color=FAINT, strokeDash=[4, 3]).encode(x="zero:Q")
    bars = base.mark_rule(strokeWidth=2, color=SERIES[0]).encode(
        x=alt.X("low:Q", title=title_of_x, axis=axis), x2="high:Q"
    )
    filled = alt.Scale(domain=["yes", "no"], range=[SERIES[0], HOLLOW])
    points = base.mark_point(filled=True, size=90, opacity=1, stroke=SERIES[0]).encode(
        x=alt.X("estimate:Q", title=title_of_x, axis=axis),
        fill=alt.Fill("sure:N", title=f"adjusted p < {1 - confidence:.2g}", scale=filled),
    )
    about = f"Differences of {name} between submissions, with {confidence:.0%} intervals"
    layers = zero + bars + points if has_bars else zero + points
    return Drawing(layers, {"pairs": pairs, "zero": [{"zero": 0}]}, about, 34 * len(pairs) + 10)


def _pairs(pairs: pd.DataFrame, names: Sequence[str], metric: str, confidence: float) -> Rows:
    """The differences of a metric with their intervals, one row a pair; of many submissions only of neighbours.

    `pairs` has one row for each pair and metric.
    """
    known = pairs[(pairs["metric"] == metric) & pairs["estimate"].notna()]
    if len(names) > MOST_PAIRED:
        neighbours = {*pairwise(names)}
        known = known[[pair in neighbours for pair in zip(known["a"], known["b"], strict=True)]]
    short = dict(zip(names, short_names(names), strict=True))
    return [
        {
            "pair": f"{short[row['a']]} − {short[row['b']]}",
            "sure": "yes" if row["p_adjusted"] < 1 - confidence else "no",
            "estimate": row["estimate"],
            "low": row["low"],
            "high": row["high"],
            "p": row["p_adjusted"],
        }
        for row in known.to_dict("records")
    ]
