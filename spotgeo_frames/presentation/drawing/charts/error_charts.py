"""Charts of the kinds of error."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..display import words
from ..drawn_tables import TOGETHER
from ..metric_text import title
from .encodings import (
    OF_SUBMISSION,
    POINTS,
    SERIES,
    Drawing,
    by_submission,
    mse_tooltip,
    submission_tooltip,
    tooltips,
)
from .names import Rows, short_names, with_short_names


def error_costs(table: pd.DataFrame, names: Sequence[str], metric: str = "f1") -> Drawing | None:
    """The chart of what correcting each kind of error alone would gain in a metric; None where no gain is known.

    `table` has one row for each submission and kind, as `error_costs` returns it.
    """
    costs = _gains(with_short_names(table, names), metric)
    if not any(np.isfinite(row["gain"]) for row in costs):
        return None
    return _error_costs(costs, short_names(names), str(title(metric)), table.attrs.get("unit"))


def _error_costs(costs: Rows, names: Sequence[str], name: str, unit: str | None) -> Drawing:
    """The chart of rows of gains in a metric of this name; `unit` is that of distances, None for px."""
    kinds = list(dict.fromkeys(row["kind"] for row in costs))
    chart = (
        alt.Chart(alt.NamedData("costs"))
        .mark_bar(color=SERIES[0])
        .encode(
            x=alt.X("gain:Q", stack=False, title=f"{name} gained, points", axis=alt.Axis(tickCount=6, format=POINTS)),
            y=alt.Y("kind:N", sort=None, title=None, axis=alt.Axis(labelLimit=160)),
            tooltip=tooltips(
                *submission_tooltip(names),
                ("kind:N", "kind", ""),
                ("gain:Q", f"{name} gained", "+.2%"),
                ("misses:Q", "misses", ","),
                ("alarms:Q", "false alarms", ","),
                *([("breaks:Q", "breaks of tracks", ",")] if "breaks" in costs[0] else []),
                *mse_tooltip(costs, "mse gained", unit),
            ),
        )
    )
    if len(names) > 1:
        chart = chart.encode(yOffset=alt.YOffset("place:O", sort="ascending"))
    height = len(kinds) * max(26, 10 * len(names) + 8)
    about = f"{name} gained if one kind of error alone were corrected, by kind"
    filters = [OF_SUBMISSION, {"column": "kind", "is": "kind"}]
    return Drawing(by_submission(chart, names), {"costs": costs}, about, height, filters=filters)


def _gains(costs: pd.DataFrame, metric: str) -> Rows:
    """The gain of correcting each kind of error alone, one row for each submission and kind."""
    known = costs[~costs["kind"].isin(TOGETHER)]
    return [
        {
            "submission": str(row["submission"]),
            "place": place,
            "kind": words(row["kind"]),
            "gain": row[f"{metric}_gain"],
            "misses": int(row["n_misses"]),
            "alarms": int(row["n_false_alarms"]),
        }
        | ({"breaks": int(row["n_breaks"])} if "n_breaks" in row else {})
        | ({"mse": row["mse_gain"]} if "mse_gain" in row else {})
        for place, row in zip(known["submission"].cat.codes.tolist(), known.to_dict("records"), strict=True)
    ]
