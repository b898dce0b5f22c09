"""The charts of the page as Vega-Lite specifications, made with Altair from the rows of chart_data.py.

The names of fields are fixed here. Names from the user's data appear only as data or options, never in an expression
that Vega evaluates. Where both axes are pixels, `usermeta` of a specification tells the page's script the ratio of
height to width.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ...matching.rule import Rule
from ..metric_text import title
from . import chart_data
from .chart_data import Rows
from .encodings import (
    DASHES,
    HEIGHT,
    NOTHING,
    SERIES,
    Spec,
    bounded,
    by_submission,
    cycled,
    finished,
    mse_tooltip,
    of_picked,
    picked,
    pixel_axis,
    share_axis,
    submission_tooltip,
    tooltips,
)
from .evaluation import COMBINED, CONFIDENCE, Evaluation, rows_of
from .rule_texts import measure_limits, measure_name, measure_range, measure_title

# The format of axes of differences. It names no decimals, so Vega writes as many as distinct ticks need.
POINTS = "+%"


def charts(evaluation: Evaluation) -> dict[str, Spec]:
    """Makes the charts for which the report has data, by name; they use the short names of submissions."""
    rule = evaluation.rule
    names = chart_data.short_names(evaluation.names)
    short = dict(zip(evaluation.names, names, strict=True))

    def shortened(table: pd.DataFrame) -> pd.DataFrame:
        return table.assign(submission=table["submission"].cat.rename_categories(short))

    matches = shortened(evaluation.matches)
    found = {}
    costs = chart_data.error_costs(shortened(evaluation.costs))
    if any(np.isfinite(row["gain"]) for row in costs):
        found["costs"] = error_costs(costs, names)
    metric = evaluation.headline[0]
    if evaluation.compared is not None:
        combined = rows_of(evaluation.compared.pairs, COMBINED)
        if pairs := chart_data.differences(combined, evaluation.names, metric, CONFIDENCE):
            found["differences"] = differences(pairs, str(title(metric)))
    places, ratio = chart_data.recall_map(matches, names)
    if places:
        found["recall_map"] = recall_map(places, ratio, names)
    if hits := chart_data.measures(matches, names, rule):
        found["measures"] = measures(hits, names, rule)
    if hits and rule.by_distance:
        tau = rule.largest_cost
        found["residuals"] = residuals(*chart_data.residuals(matches, names, tau), names, tau)
    if evaluation.sweep is not None:
        rows, best = (chart_data.sweep(shortened(table)) for table in evaluation.sweep)
        scored = [name for name in names if any(row["submission"] == name for row in rows)]
        found["by_threshold"] = by_threshold(rows, best, scored, metric)
        found["precision_by_recall"] = by_recall(rows, scored)
    return found


def differences(pairs: Rows, name: str) -> Spec:
    """The chart of differences of a metric of this name, with their intervals, one line for each pair."""
    # Few sequences have no intervals, and Vega would warn of bars without any bound.
    has_bars = any(np.isfinite(row["low"]) for row in pairs)
    bounds = [("low:Q", "from", "+.2%"), ("high:Q", "to", "+.2%")] if has_bars else []
    base = alt.Chart(alt.NamedData("pairs")).encode(
        y=alt.Y("pair:N", sort=None, title=None, axis=alt.Axis(labelLimit=260)),
        tooltip=tooltips(
            ("pair:N", "pair", ""),
            ("estimate:Q", f"difference of {name}", "+.2%"),
            *bounds,
            ("p:Q", "adjusted p-value", ".3~g"),
        ),
    )
    title_of_x, axis = f"difference of {name}, points", alt.Axis(tickCount=6, format=POINTS)
    zero = alt.Chart(alt.NamedData("zero")).mark_rule(color="var(--faint)", strokeDash=[4, 3]).encode(x="zero:Q")
    bars = base.mark_rule(strokeWidth=2, color=SERIES[0]).encode(
        x=alt.X("low:Q", title=title_of_x, axis=axis), x2="high:Q"
    )
    filled = alt.Scale(domain=["yes", "no"], range=[SERIES[0], "var(--paper)"])
    points = base.mark_point(filled=True, size=90, opacity=1, stroke=SERIES[0]).encode(
        x=alt.X("estimate:Q", title=title_of_x, axis=axis),
        fill=alt.Fill("sure:N", title=f"adjusted p < {1 - CONFIDENCE:.2g}", scale=filled),
    )
    about = f"Differences of {name} between submissions, with {CONFIDENCE:.0%} intervals"
    layers = zero + bars + points if has_bars else zero + points
    return finished(layers, {"pairs": pairs, "zero": [{"zero": 0}]}, about, 34 * len(pairs) + 10)


def error_costs(costs: Rows, names: Sequence[str]) -> Spec:
    """The chart of the F1 that correcting each kind of error alone would gain."""
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


def recall_map(places: Rows, ratio: float, names: Sequence[str]) -> Spec:
    """The map of recall over the image plane."""
    scale = alt.Scale(scheme="viridis", domain=[0, 1])
    legend = alt.Legend(format=".0%", gradientLength=200, values=[0, 0.25, 0.5, 0.75, 1])
    chart = (
        alt.Chart(alt.NamedData("places"))
        .mark_rect()
        .encode(
            x=pixel_axis(alt.X, "x", "x, px"),
            x2="x2:Q",
            y=pixel_axis(alt.Y, "y", "y, px", reverse=True),
            y2="y2:Q",
            color=alt.Color("recall:Q", title="recall", scale=scale, legend=legend),
            tooltip=tooltips(
                ("recall:Q", "recall", ".1%"),
                ("found:Q", "found", ","),
                ("truths:Q", "truths", ","),
                ("x:Q", "x from, px", ".5~g"),
                ("x2:Q", "x to, px", ".5~g"),
                ("y:Q", "y from, px", ".5~g"),
                ("y2:Q", "y to, px", ".5~g"),
            ),
        )
    )
    return finished(
        picked(chart, names), {"places": places}, "Recall over the image plane", HEIGHT, bounded(ratio), NOTHING
    )


def measures(hits: Rows, names: Sequence[str], rule: Rule) -> Spec:
    """The histogram of the distances, or of the similarities, of the true positives, with their limits marked."""
    title, (low, high) = measure_title(rule), measure_range(rule)
    unit = ", px" if rule.by_distance else ""
    bars = (
        alt.Chart(alt.NamedData("hits"))
        .mark_bar(color=SERIES[0])
        .encode(
            x=alt.X(
                "from:Q",
                bin="binned",
                title=title,
                scale=alt.Scale(domain=[low, low + (high - low) * 1.02], nice=False),
            ),
            x2="to:Q",
            y=alt.Y("n:Q", title="true positives", axis=alt.Axis(tickMinStep=1)),
            tooltip=tooltips(
                ("from:Q", f"from{unit}", ".4~g"), ("to:Q", f"to{unit}", ".4~g"), ("n:Q", "true positives", ",")
            ),
        )
    )
    limits = [{"at": at, "limit": text} for at, text in measure_limits(rule)]
    texts = [text for _, text in measure_limits(rule)]
    colors = alt.Scale(domain=texts, range=["var(--series-2)", "var(--series-4)"][-len(texts) :])
    dashes = alt.Scale(domain=texts, range=[[5, 3], [1, 0]][-len(texts) :])
    legend = alt.Legend(columns=1, symbolType="stroke")
    rules = (
        alt.Chart(alt.NamedData("limits"))
        .mark_rule(strokeWidth=2)
        .encode(
            x="at:Q",
            color=alt.Color("limit:N", title=None, scale=colors, legend=legend),
            strokeDash=alt.StrokeDash("limit:N", title=None, scale=dashes),
            tooltip=alt.Tooltip("limit:N", title="limit"),
        )
    )
    about = f"The true positives by their {measure_name(rule)}"
    return finished(picked(bars, names) + rules, {"hits": hits, "limits": limits}, about, HEIGHT)


def residuals(cells: Rows, means: Rows, names: Sequence[str], tau: float) -> Spec:
    """The map of predicted minus true coordinates of the true positives, with their mean, and tau as a circle."""
    x = pixel_axis(alt.X, "x", "predicted − true x, px")
    y = pixel_axis(alt.Y, "y", "predicted − true y, px", reverse=True)
    scale, legend = alt.Scale(type="sqrt", scheme="viridis"), alt.Legend(gradientLength=200)
    heat = (
        alt.Chart(alt.NamedData("cells"))
        .mark_rect()
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            y2="y2:Q",
            color=alt.Color("n:Q", title="true positives", scale=scale, legend=legend),
            tooltip=tooltips(
                ("n:Q", "true positives", ","),
                ("x:Q", "x from, px", "+.3~g"),
                ("x2:Q", "x to, px", "+.3~g"),
                ("y:Q", "y from, px", "+.3~g"),
                ("y2:Q", "y to, px", "+.3~g"),
            ),
        )
    )
    mean = (
        alt.Chart(alt.NamedData("means"))
        .mark_point(shape="cross", filled=True, size=160, opacity=1, color="var(--series-4)", stroke="white")
        .encode(x=x, y=y, tooltip=tooltips(("x:Q", "mean in x, px", "+.3~g"), ("y:Q", "mean in y, px", "+.3~g")))
    )
    ring = alt.Chart(alt.NamedData("ring")).mark_line(color="var(--ink)", strokeWidth=1)
    chart = picked(heat, names) + of_picked(mean, names) + ring.encode(x=x, y=y, order="order:Q")
    about = "Predicted minus true coordinates of the true positives, and tau"
    data = {"cells": cells, "means": means, "ring": chart_data.circle(tau)}
    return finished(chart, data, about, HEIGHT, 1.0, NOTHING)


def by_threshold(rows: Rows, best: Rows, names: Sequence[str], metric: str) -> Spec:
    """The chart of a metric over the score threshold, with the best threshold marked."""
    x = alt.X("score_threshold:Q", title="score threshold", scale=alt.Scale(zero=False, nice=False))
    y = share_axis(alt.Y, metric, str(title(metric)))
    at_best = alt.Chart(alt.NamedData("best")).mark_point(filled=True, size=110, opacity=1, color=SERIES[0])
    if len(names) > 1:
        at_best = at_best.encode(color=by_submission(names))
    chart = _sweep_lines(rows, names).encode(x=x, y=y) + at_best.encode(x=x, y=y)
    return finished(
        chart, {"sweep": rows, "best": best}, f"{title(metric)} by the threshold of the score, the best marked", HEIGHT
    )


def by_recall(rows: Rows, names: Sequence[str]) -> Spec:
    """The chart of precision over recall, over score thresholds."""
    chart = _sweep_lines(rows, names).encode(
        x=share_axis(alt.X, "recall", "recall"), y=share_axis(alt.Y, "precision", "precision")
    )
    return finished(chart, {"sweep": rows}, "Precision by recall, over thresholds of the score", HEIGHT)


def _sweep_lines(rows: Rows, names: Sequence[str]) -> Any:
    """The lines of a sweep, one for each submission, without axes."""
    tooltip = tooltips(
        *submission_tooltip(names),
        ("score_threshold:Q", "score threshold", ".4~g"),
        ("f1:Q", "F1", ".2%"),
        ("precision:Q", "precision", ".2%"),
        ("recall:Q", "recall", ".2%"),
        *mse_tooltip(rows, "mse, px²"),
    )
    lines = alt.Chart(alt.NamedData("sweep")).mark_line(color=SERIES[0], strokeWidth=1.8, point="transparent")
    lines = lines.encode(tooltip=tooltip, order="score_threshold:Q")
    if len(names) < 2:
        return lines
    dashes = alt.Scale(domain=list(names), range=cycled(DASHES, len(names), len(SERIES)))
    return lines.encode(color=by_submission(names), strokeDash=alt.StrokeDash("submission:N", title=None, scale=dashes))
