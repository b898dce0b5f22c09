"""Charts of tracks."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from ..metric_text import title
from .encodings import (
    DASHES,
    HEIGHT,
    SERIES,
    Spec,
    by_submission,
    cycled,
    finished,
    share_axis,
    submission_tooltip,
    tooltips,
)
from .names import Rows, short_names, shortened

# The metrics over alpha that the charts draw, one each.
DRAWN = ["HOTA", "DetA", "AssA"]


def hota_curve(curve: pd.DataFrame, names: Sequence[str], metric: str) -> Spec:
    """The chart of HOTA, DetA or AssA over alpha, the similarity from which on pairs count.

    `curve` has one row for each submission and `alpha`, with the combined numbers.
    """
    short = short_names(names)
    rows = shortened(curve, names).astype({"submission": "str"})[["submission", "alpha", *DRAWN]].to_dict("records")
    lines = (
        alt.Chart(alt.NamedData("curve"))
        .mark_line(color=SERIES[0], strokeWidth=1.8, point="transparent")
        .encode(
            x=alt.X("alpha:Q", title="alpha", scale=alt.Scale(domain=[0, 1])),
            y=share_axis(alt.Y, metric, str(title(metric))),
            tooltip=tooltips(
                *submission_tooltip(names),
                ("alpha:Q", "alpha", ".2f"),
                *((f"{name}:Q", str(title(name)), ".2%") for name in DRAWN),
            ),
        )
    )
    if len(names) > 1:
        dashes = alt.Scale(domain=short, range=cycled(DASHES, len(short), len(SERIES)))
        dash = alt.StrokeDash("submission:N", title=None, scale=dashes)
        lines = lines.encode(color=by_submission(short), strokeDash=dash)
    data: dict[str, Rows] = {"curve": [{str(name): value for name, value in row.items()} for row in rows]}
    return finished(lines, data, f"{title(metric)} by alpha", HEIGHT)
