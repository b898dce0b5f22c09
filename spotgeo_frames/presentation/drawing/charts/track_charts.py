"""Charts of tracks."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from ..metric_text import title
from .encodings import SERIES, Drawing, by_submission, dashed, share_axis, tooltips
from .names import Rows, short_names, with_short_names

# The metrics over alpha that the charts draw, one each.
METRICS = ["HOTA", "DetA", "AssA"]

# Those of one submission, which share a chart.
OF_ONE = [*METRICS, "LocA"]


def hota_curve(curve: pd.DataFrame, names: Sequence[str], metric: str) -> Drawing:
    """The chart of HOTA, DetA or AssA over alpha, the similarity from which on pairs count.

    `curve` has one row for each submission and `alpha`, with the combined numbers.
    """
    named = with_short_names(curve, names).astype({"submission": "str"})
    rows = named[["submission", "alpha", *METRICS]].to_dict("records")
    told = [(name, str(title(name))) for name in METRICS]
    data: Rows = [{str(name): value for name, value in row.items()} for row in rows]
    return _over_alpha(data, short_names(names), metric, str(title(metric)), told)


def metrics_over_alpha(curve: pd.DataFrame) -> Drawing:
    """The chart of HOTA and its parts of one submission over alpha, one line each, named by its mean."""
    lines = {f"{title(metric)}, mean {curve[metric].mean():.2f}": curve[metric] for metric in OF_ONE}
    alphas = curve["alpha"].tolist()
    data: Rows = [
        {"submission": name, "alpha": alpha, "share": value}
        for name, line in lines.items()
        for alpha, value in zip(alphas, line.tolist(), strict=True)
    ]
    return _over_alpha(data, list(lines), "share", "HOTA and its parts", [("share", "share")], "metric")


def _over_alpha(
    rows: Rows,
    names: Sequence[str],
    field: str,
    name: str,
    told: Sequence[tuple[str, str]],
    of: str = "submission",
) -> Drawing:
    """The chart of a field over alpha; tooltips tell these fields with their titles, and `of` titles that of lines."""
    whose = [("submission:N", of, "")] if len(names) > 1 else []
    lines = (
        alt.Chart(alt.NamedData("curve"))
        .mark_line(color=SERIES[0], strokeWidth=1.8, point="transparent")
        .encode(
            x=alt.X("alpha:Q", title="alpha", scale=alt.Scale(domain=[0, 1])),
            y=share_axis(alt.Y, field, name),
            tooltip=tooltips(*whose, ("alpha:Q", "alpha", ".2f"), *((f"{part}:Q", text, ".2%") for part, text in told)),
            **dashed(names),
        )
    )
    return Drawing(by_submission(lines, names, of_lines=True), {"curve": rows}, f"{name} by alpha")
