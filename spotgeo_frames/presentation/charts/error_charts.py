"""Charts of the kinds of error."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..display import words
from ..metric_text import title
from .encodings import (
    OF_SUBMISSION,
    POINTS,
    SERIES,
    Spec,
    by_submission,
    finished,
    mse_tooltip,
    submission_tooltip,
    tooltips,
)
from .names import Rows, short_names, shortened


def error_costs(table: pd.DataFrame, names: Sequence[str], metric: str = "f1") -> Spec | None:
    """The chart of what correcting each kind of error alone would gain in a metric; None where no gain is known.

    `table` has one row for each submission and kind, as `error_costs` returns it.
    """
    costs = _gains(shortened(table, names), metric)
    if not any(np.isfinite(row["gain"]) for row in costs):
        return None
    return _error_costs(costs, short_names(names), str(title(metric)))


def _error_costs(costs: Rows, names: Sequence[str], name: str) -> Spec:
    """The chart of rows of gains in a metric of this name."""
    kinds = list(dict.fromkeys(row["kind"] for row in costs))
    chart = (
        alt.Chart(alt.NamedData("costs"))
        .mark_bar(color=SERIES[0])
        .encode(
            x=alt.X("gain:Q", title=f"{name} gained, points", axis=alt.Axis(tickCount=6, format=POINTS)),
            y=alt.Y("kind:N", sort=kinds, title=None, axis=alt.Axis(labelLimit=160)),
            tooltip=tooltips(
                *submission_tooltip(names),
                ("kind:N", "kind", ""),
                ("gain:Q", f"{name} gained", "+.2%"),
                ("misses:Q", "misses", ","),
                ("alarms:Q", "false alarms", ","),
                *([("breaks:Q", "breaks of tracks", ",")] if "breaks" in costs[0] else []),
                *mse_tooltip(costs, "mse gained, px²"),
            ),
        )
    )
    if len(names) > 1:
        chart = chart.encode(yOffset=alt.YOffset("submission:N", sort=list(names)), color=by_submission(names))
    height = len(kinds) * max(26, 10 * len(names) + 8)
    about = f"{name} gained if one kind of error alone were corrected, by kind"
    return finished(chart, {"costs": costs}, about, height, filters=[OF_SUBMISSION, {"column": "kind", "is": "kind"}])


def _gains(costs: pd.DataFrame, metric: str) -> Rows:
    """The gain of correcting each kind of error alone, one row for each submission and kind."""
    return [
        {
            "submission": str(row["submission"]),
            "kind": words(row["kind"]),
            "gain": row[f"{metric}_gain"],
            "misses": int(row["n_misses"]),
            "alarms": int(row["n_false_alarms"]),
        }
        | ({"breaks": int(row["n_breaks"])} if "n_breaks" in row else {})
        | ({"mse": row["mse_gain"]} if "mse_gain" in row else {})
        for row in costs[costs["kind"] != "all"].to_dict("records")
    ]
