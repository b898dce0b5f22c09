"""Charts of average precision."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..drawn_tables import THRESHOLDS
from .encodings import DASHES, INK, SERIES, Drawing, by_submission, cycled, share_axis, tooltips
from .names import Rows, short_names, with_short_names

ABOUT = "Precision over recall, the mean over categories"
OF_THRESHOLD = "similarity from"


def precision_curve(curve: pd.DataFrame, names: Sequence[str]) -> Drawing | None:
    """The chart of precision over recall at two thresholds of the similarity; None where there are no truths.

    `curve` has one row for each submission, `threshold` and `recall`, with the `precision`.
    """
    is_drawn = np.isclose(curve["threshold"].to_numpy()[:, None], THRESHOLDS).any(axis=1)
    drawn = with_short_names(curve[is_drawn & curve["precision"].notna()], names)
    rows = [
        {
            "submission": str(row["submission"]),
            "threshold": f"{row['threshold']:.2f}",
            "recall": row["recall"],
            "precision": row["precision"],
        }
        for row in drawn.to_dict("records")
    ]
    lines = [f"{threshold:.2f}" for threshold in THRESHOLDS]
    return precision_lines(rows, short_names(names), lines, ABOUT) if rows else None


def precision_lines(
    rows: Rows,
    names: Sequence[str],
    lines: Sequence[str],
    about: str,
    titles: tuple[str, str] = ("submission", OF_THRESHOLD),
) -> Drawing:
    """The chart of rows of lines: `names` have a colour each, in the field `submission`, and `lines` have dashes.

    The field of `lines` is `threshold`, and `titles` are those of the two fields. Fields that are the same everywhere
    are left out.
    """
    has = {"submission": len(names) > 1, "threshold": len(lines) > 1}
    told = [(f"{field}:N", text, "") for (field, there), text in zip(has.items(), titles, strict=True) if there]
    base = alt.Chart(alt.NamedData("precision")).encode(
        x=share_axis(alt.X, "recall", "recall"), y=share_axis(alt.Y, "precision", "precision")
    )
    drawn = base.mark_line(color=SERIES[0], strokeWidth=1.8).encode(detail="threshold:N")
    if has["threshold"]:
        dashes = alt.Scale(domain=list(lines), range=cycled(DASHES, len(lines)))
        legend = alt.Legend(symbolType="stroke", symbolSize=400, symbolStrokeColor=INK)
        drawn = drawn.encode(strokeDash=alt.StrokeDash("threshold:N", title=titles[1], scale=dashes, legend=legend))
    points = base.mark_point(filled=True, opacity=0).encode(
        tooltip=tooltips(*told, ("recall:Q", "recall", ".0%"), ("precision:Q", "precision", ".2%"))
    )
    chart = by_submission(drawn, names, of_lines=True) + points
    return Drawing(chart, {"precision": rows}, about, zooms=True)
