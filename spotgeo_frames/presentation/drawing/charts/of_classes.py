"""The chart of classes that are taken for classes: a square, in the colours of shares."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...theme import SEQUENTIAL
from ..drawn_confusion import MOST_WRITTEN, shares_of_rows
from .parts import NOTHING, SHARES, Drawing, Rows, of_picked, short_names, shown_name, submission_tooltip, tooltips
from .vega_lite import channel, layered, marks

# Names of classes are cut off at this width (px).
LABELS = {"labelLimit": 140}
SLANTED = {"labelLimit": 140, "labelAngle": -45}

# Classes are in the order of the square, though not every cell is a mark.
ROW, COLUMN = ({"field": name, "op": "min"} for name in ("row", "column"))


def confusion(squares: Mapping[str, pd.DataFrame], names: Sequence[str]) -> Drawing:
    """The chart of squares of counts, one submission at a time; empty cells show the background."""
    picks = short_names(names)
    drawn = zip(picks, squares.values(), strict=True)
    rows = [row | {"submission": pick} for pick, square in drawn for row in _cells(square)]
    channels: dict[str, Any] = {
        "x": channel("predicted:N", sort=COLUMN, title="predicted category", axis=SLANTED),
        "y": channel("truth:N", sort=ROW, title="true category", axis=LABELS),
        "tooltip": tooltips(
            *submission_tooltip(names),
            ("truth:N", "true category", ""),
            ("predicted:N", "predicted category", ""),
            ("count:Q", "count", ","),
            ("share:Q", "share of the row", ".2%"),
        ),
    }
    scale = {"scheme": SEQUENTIAL, "domain": [0, 1]}
    color = channel("share:Q", title="share of the row", scale=scale, legend=SHARES)
    chart = of_picked(marks("cells", "rect", **channels, color=color), names)
    if max(map(len, squares.values())) - 1 <= MOST_WRITTEN:
        light = {"gt": 0.5, "field": "share"}
        ink = {"condition": {"test": light, "value": "black"}, "value": "white"}
        text = channel("count:Q", format=",")
        chart = layered(chart, of_picked(marks("cells", "text", **channels, text=text, color=ink), names))
    about = "What each category is detected as"
    return Drawing(chart, {"cells": rows}, about, ratio=1.0, background=NOTHING, picks=picks)


def _cells(square: pd.DataFrame) -> Rows:
    """A row for each cell of a square that counts anything, with its place; others would be most of many classes."""
    names = [shown_name(str(name)) for name in square.index]
    counts, shares = square.to_numpy(np.int64), shares_of_rows(square)
    return [
        {"truth": names[i], "predicted": names[j], "row": int(i), "column": int(j)}
        | {"count": int(counts[i, j]), "share": float(shares[i, j])}
        for i, j in np.argwhere(counts > 0)
    ]
