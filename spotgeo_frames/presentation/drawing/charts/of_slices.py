"""Charts of differences between submissions by slices."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..wording import is_share
from .of_tables import HIGHEST, LABELS, LINE, rows_of
from .parts import (
    FAINT,
    HOLLOW,
    POINTS,
    SERIES,
    Drawing,
    cycled,
    short_names,
    shown_name,
    title_of,
    tooltips,
)


def differences(
    table: pd.DataFrame, names: Sequence[str], slices: Sequence[str], columns: str, metric: str, confidence: float
) -> Drawing | None:
    """The chart of differences of a metric in each slice with their intervals; None where no difference is known.

    `table` has a row for each slice and pair of submissions, as `compare` returns it, and `slices` are the names of its
    slices. Marks are filled where the adjusted p-value is below 1 - `confidence`. With more than two submissions each
    has its colour, and its difference is that from the first.
    """
    known = table.assign(slice=[*slices])[table["estimate"].notna().to_numpy(bool)]
    if not len(known):
        return None
    short = dict(zip(names, short_names(names), strict=True))
    sure = np.where(known["p_adjusted"].to_numpy(np.float64) < 1 - confidence, "yes", "no").tolist()
    pairs = [f"{short[a]} − {short[b]}" for a, b in zip(known["a"], known["b"], strict=True)]
    place = [names.index(a) for a in known["a"]]
    fields = {"slice": "slice", "pair": pairs, "place": place, "sure": sure}
    fields |= {"estimate": "estimate", "low": "low", "high": "high", "p": "p_adjusted"}
    rows = rows_of(known, fields)
    name, form = title_of(metric, table), "+.2%" if is_share(metric) else "+.4~g"
    # Few sequences have no intervals, and Vega would warn of bars without any bound.
    has_bars = any(np.isfinite(row["low"]) for row in rows)
    bounds = [("low:Q", "from", form), ("high:Q", "to", form)] if has_bars else []
    told = [("pair:N", "pair", ""), ("slice:N", "slice", ""), ("estimate:Q", "difference", form), *bounds]
    several = len({*pairs}) > 1
    offset: dict[str, Any] = {"yOffset": alt.YOffset("place:O", sort="ascending")} if several else {}
    base = alt.Chart(alt.NamedData("slices")).encode(
        y=alt.Y("slice:N", sort=None, title=shown_name(columns), axis=LABELS),
        **offset,
        tooltip=tooltips(*told, ("p:Q", "adjusted p-value", ".3~g")),
    )
    if several:
        of = dict(zip(pairs, place, strict=True))
        colours = cycled(SERIES, len(names))
        scale = alt.Scale(domain=[*of], range=[colours[position] for position in of.values()])
        base = base.encode(color=alt.Color("pair:N", title=None, scale=scale))
    unit, ticks = (", points", POINTS) if is_share(metric) else ("", "+~g")
    axis: dict[str, Any] = {"title": f"difference of {name}{unit}", "axis": alt.Axis(tickCount=6, format=ticks)}
    zero = alt.Chart(alt.NamedData("zero")).mark_rule(color=FAINT, strokeDash=[4, 3]).encode(x="zero:Q")
    mark: dict[str, Any] = {"strokeWidth": 2} | ({} if several else {"color": SERIES[0]})
    bars = base.mark_rule(**mark).encode(x=alt.X("low:Q", **axis), x2="high:Q")
    shape: dict[str, Any] = {"size": 80, "opacity": 1} | ({} if several else {"color": SERIES[0]})
    points = base.encode(x=alt.X("estimate:Q", **axis))
    shown = [
        points.transform_filter(alt.FieldEqualPredicate(of, "sure")).mark_point(**shape, **style)
        for of, style in (("yes", {"filled": True}), ("no", {"fill": HOLLOW}))
        if of in sure
    ]
    layers = [zero, *([bars] if has_bars else []), *shown]
    filled = f"; filled: adjusted p < {1 - confidence:.2g}"
    height = min(len({*known["slice"]}) * max(LINE, 12 * len({*pairs})), HIGHEST)
    data = {"slices": rows, "zero": [{"zero": 0}]}
    return Drawing(alt.layer(*layers), data, f"Differences of {name} by slice{filled}", height)
