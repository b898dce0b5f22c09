"""Charts over thresholds of the score."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..metric_text import title
from .encodings import (
    OF_SUBMISSION,
    SERIES,
    Condition,
    Drawing,
    by_submission,
    dashed,
    mse_tooltip,
    share_axis,
    submission_tooltip,
    tooltips,
)
from .names import Rows, short_names, with_short_names

# The predictions that are left at the threshold of a mark.
FROM_THRESHOLD: list[Condition] = [OF_SUBMISSION, {"column": "predicted_score", "from": "score_threshold"}]


def by_threshold(curve: pd.DataFrame, best: pd.DataFrame, names: Sequence[str], metric: str) -> Drawing:
    """The chart of a metric over the score threshold, with the best threshold marked.

    `curve` and `best` are what `sweep` returns, of all submissions that have scores.
    """
    # A score may be infinite, which no axis has a place for.
    finite = (table[np.isfinite(table["score_threshold"])] for table in (curve, best))
    rows, chosen = (_sweep(with_short_names(table, names)) for table in finite)
    names = _swept(rows, names)
    x = alt.X("score_threshold:Q", title="score threshold", scale=alt.Scale(zero=False, nice=False))
    y = share_axis(alt.Y, metric, str(title(metric)))
    at_best = alt.Chart(alt.NamedData("best")).mark_point(filled=True, size=110, opacity=1, color=SERIES[0])
    at_best = by_submission(at_best, names, selects=False)
    chart = _sweep_lines(rows, names, curve.attrs.get("unit")).encode(x=x, y=y)
    if chosen:
        chart += at_best.encode(x=x, y=y)
    about = f"{title(metric)} by the threshold of the score, the best marked"
    return Drawing(chart, {"sweep": rows, "best": chosen}, about, filters=FROM_THRESHOLD, zooms=True)


def by_recall(curve: pd.DataFrame, names: Sequence[str]) -> Drawing:
    """The chart of precision over recall, over score thresholds; `curve` is what `sweep` returns."""
    rows = _sweep(with_short_names(curve, names))
    names = _swept(rows, names)
    chart = _sweep_lines(rows, names, curve.attrs.get("unit")).encode(
        x=share_axis(alt.X, "recall", "recall"), y=share_axis(alt.Y, "precision", "precision")
    )
    about = "Precision by recall, over thresholds of the score"
    return Drawing(chart, {"sweep": rows}, about, filters=FROM_THRESHOLD, zooms=True)


def _swept(rows: Rows, names: Sequence[str]) -> list[str]:
    """The short names of the submissions that have rows, in the order of `names`."""
    having = {row["submission"] for row in rows}
    return [name for name in short_names(names) if name in having]


def _sweep_lines(rows: Rows, names: Sequence[str], unit: str | None) -> Any:
    """The lines of a sweep, one for each submission, without axes; `unit` is that of distances, None for px."""
    tooltip = tooltips(
        *submission_tooltip(names),
        ("score_threshold:Q", "score threshold", ".4~g"),
        ("f1:Q", "F1", ".2%"),
        ("precision:Q", "precision", ".2%"),
        ("recall:Q", "recall", ".2%"),
        *mse_tooltip(rows, "mse", unit),
    )
    lines = alt.Chart(alt.NamedData("sweep")).mark_line(color=SERIES[0], strokeWidth=1.8, point="transparent")
    lines = lines.encode(tooltip=tooltip, order="score_threshold:Q", **dashed(names))
    return by_submission(lines, names, of_lines=True)


def _sweep(table: pd.DataFrame) -> Rows:
    """The metrics at each row of a table of a sweep."""
    names = [name for name in ("score_threshold", "HOTA", "f1", "precision", "recall", "mse") if name in table]
    return [
        {"submission": str(row["submission"])} | {name: row[name] for name in names} for row in table.to_dict("records")
    ]
