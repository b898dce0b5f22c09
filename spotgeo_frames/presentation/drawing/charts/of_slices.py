"""Charts of differences between submissions by slices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..wording import difference, is_share
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
from .vega_lite import channel, layered, marks


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
    channels: dict[str, Any] = {
        "y": channel("slice:N", sort=None, title=shown_name(columns), axis=LABELS),
        "tooltip": tooltips(*told, ("p:Q", "adjusted p-value", ".3~g")),
    }
    if several:
        of = dict(zip(pairs, place, strict=True))
        colours = cycled(SERIES, len(names))
        scale = {"domain": [*of], "range": [colours[position] for position in of.values()]}
        channels["yOffset"] = channel("place:O", sort="ascending")
        channels["color"] = channel("pair:N", title=None, scale=scale)
    ticks = {"tickCount": 6, "format": POINTS if is_share(metric) else "+~g"}
    axis: dict[str, Any] = {"title": difference(name, metric), "axis": ticks}
    zero = marks("zero", "rule", {"color": FAINT, "strokeDash": [4, 3]}, x="zero:Q")
    color = {} if several else {"color": SERIES[0]}
    low, estimate = (channel(end, **axis) for end in ("low:Q", "estimate:Q"))
    bars = marks("slices", "rule", {"strokeWidth": 2, **color}, **channels, x=low, x2="high")
    points = [
        marks(
            "slices",
            "point",
            {"size": 80, "opacity": 1, **color, **style},
            {"equal": of, "field": "sure"},
            **channels,
            x=estimate,
        )
        for of, style in (("yes", {"filled": True}), ("no", {"fill": HOLLOW}))
        if of in sure
    ]
    layers = [zero, *([bars] if has_bars else []), *points]
    filled = f"; filled: adjusted p < {1 - confidence:.2g}"
    height = min(len({*known["slice"]}) * max(LINE, 12 * len({*pairs})), HIGHEST)
    data = {"slices": rows, "zero": [{"zero": 0}]}
    return Drawing(layered(*layers), data, f"Differences of {name} by slice{filled}", height)
