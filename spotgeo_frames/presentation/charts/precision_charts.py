"""Charts of average precision."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from .encodings import HEIGHT, SERIES, Spec, by_submission, finished, share_axis, submission_tooltip, tooltips
from .names import short_names, shortened

# The thresholds of the similarity that are drawn.
DRAWN = [0.5, 0.75]


def precision_curve(curve: pd.DataFrame, names: Sequence[str]) -> Spec | None:
    """The chart of precision over recall at two thresholds of the similarity; None where there are no truths.

    `curve` has one row for each submission, `threshold` and `recall`, with the `precision`.
    """
    is_drawn = np.isclose(curve["threshold"].to_numpy()[:, None], DRAWN).any(axis=1)
    drawn = shortened(curve[is_drawn & curve["precision"].notna()], names)
    if not len(drawn):
        return None
    rows = [
        {
            "submission": str(row["submission"]),
            "threshold": f"{row['threshold']:.2f}",
            "recall": row["recall"],
            "precision": row["precision"],
        }
        for row in drawn.to_dict("records")
    ]
    dashes = alt.Scale(domain=[f"{threshold:.2f}" for threshold in DRAWN], range=[[1, 0], [5, 3]])
    legend = alt.Legend(symbolType="stroke", symbolSize=400, symbolStrokeColor="var(--ink)")
    base = alt.Chart(alt.NamedData("precision")).encode(
        x=share_axis(alt.X, "recall", "recall"), y=share_axis(alt.Y, "precision", "precision")
    )
    if len(names) > 1:
        base = base.encode(color=by_submission(short_names(names)))
    lines = base.mark_line(color=SERIES[0], strokeWidth=1.8).encode(
        strokeDash=alt.StrokeDash("threshold:N", title="similarity from", scale=dashes, legend=legend)
    )
    points = base.mark_point(filled=True, opacity=0).encode(
        tooltip=tooltips(
            *submission_tooltip(names),
            ("threshold:N", "similarity from", ""),
            ("recall:Q", "recall", ".0%"),
            ("precision:Q", "precision", ".2%"),
        )
    )
    about = "Precision over recall, the mean over categories"
    return finished(lines + points, {"precision": rows}, about, HEIGHT)
