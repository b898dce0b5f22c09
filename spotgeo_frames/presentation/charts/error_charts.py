"""Charts of the kinds of error."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..display import words
from .encodings import POINTS, SERIES, Spec, by_submission, finished, mse_tooltip, submission_tooltip, tooltips
from .names import Rows, short_names, shortened


def error_costs(table: pd.DataFrame, names: Sequence[str]) -> Spec | None:
    """The chart of the F1 that correcting each kind of error alone would gain; None where no gain is known.

    `table` has one row for each submission and kind, as `error_costs` returns it.
    """
    costs = _gains(shortened(table, names))
    return _error_costs(costs, short_names(names)) if any(np.isfinite(row["gain"]) for row in costs) else None


def _error_costs(costs: Rows, names: Sequence[str]) -> Spec:
    """The chart of rows of gains."""
    kinds = list(dict.fromkeys(row["kind"] for row in costs))
    chart = (
        alt.Chart(alt.NamedData("costs"))
        .mark_bar(color=SERIES[0])
        .encode(
            x=alt.X("gain:Q", title="F1 gained, points", axis=alt.Axis(tickCount=6, format=POINTS)),
            y=alt.Y("kind:N", sort=kinds, title=None, axis=alt.Axis(labelLimit=160)),
            tooltip=tooltips(
                *submission_tooltip(names),
                ("kind:N", "kind", ""),
                ("gain:Q", "F1 gained", "+.2%"),
                ("misses:Q", "misses", ","),
                ("alarms:Q", "false alarms", ","),
                *mse_tooltip(costs, "mse gained, px²"),
            ),
        )
    )
    if len(names) > 1:
        chart = chart.encode(yOffset=alt.YOffset("submission:N", sort=list(names)), color=by_submission(names))
    height = len(kinds) * max(26, 10 * len(names) + 8)
    return finished(chart, {"costs": costs}, "F1 gained if one kind of error alone were corrected, by kind", height)


def _gains(costs: pd.DataFrame) -> Rows:
    """The gain of correcting each kind of error alone, one row for each submission and kind."""
    return [
        {
            "submission": str(row["submission"]),
            "kind": words(row["kind"]),
            "gain": row["f1_gain"],
            "misses": int(row["n_misses"]),
            "alarms": int(row["n_false_alarms"]),
        }
        | ({"mse": row["mse_gain"]} if "mse_gain" in row else {})
        for row in costs[costs["kind"] != "all"].to_dict("records")
    ]
