"""Charts of the tables that were computed from match tables: slices, comparisons, errors, thresholds, tracks, AP."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ....scoring import rests_on_few
from .. import drawn_results
from ..display import words
from ..drawn_tables import HOTA_PARTS, THRESHOLDS, TOGETHER
from ..wording import difference, is_share, title
from .parts import (
    DASHES,
    FAINT,
    HOLLOW,
    INK,
    OF_SUBMISSION,
    POINTS,
    SERIES,
    Condition,
    Drawing,
    Rows,
    by_submission,
    cycled,
    dashed,
    label_of_metric,
    mse_tooltip,
    shaped,
    share_axis,
    short_names,
    shown_name,
    submission_tooltip,
    title_of,
    tooltips,
    with_short_names,
)
from .vega_lite import Spec, channel, encoded, layered, marks

# How high the line of a slice is, and the chart of many at most (px).
LINE, HIGHEST = 24, 1_200

# Names of slices are cut off at this width (px). The axis may be wider, or its title would be written over them.
LABELS = {"labelLimit": 260, "maxExtent": 300}
SMALL_LABELS = {"labelLimit": 90, "maxExtent": 100}

# With more submissions than this, only differences between neighbours on the leaderboard are drawn.
MOST_PAIRED = 4

# The predictions that are left at the threshold of a mark.
FROM_THRESHOLD: list[Condition] = [OF_SUBMISSION, {"column": "predicted_score", "from": "score_threshold"}]

# The metrics over alpha that the charts of several submissions draw, one each.
METRICS = HOTA_PARTS[:3]

OF_THRESHOLD = "similarity from"

# Lines, whose transparent points have the tooltips.
LINES: dict[str, Any] = {"color": SERIES[0], "strokeWidth": 1.8, "point": "transparent"}


def rows_of(table: pd.DataFrame, fields: Mapping[str, Any]) -> Rows:
    """The rows of a table as plain values.

    Each field has the values of the column of that name, if there is one, or the values that are given instead.
    """
    columns = {
        field: table[of].tolist() if isinstance(of, str) else list(of)
        for field, of in fields.items()
        if not isinstance(of, str) or of in table
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def estimates_by_slice(
    table: pd.DataFrame,
    names: Sequence[str],
    slices: Sequence[str],
    columns: str,
    metric: str,
    domain: tuple[float, float] | None = None,
) -> Drawing:
    """The chart of a metric of each slice with its interval; those of few sequences are hollow.

    `table` is a table of intervals with the rows of the metric, `slices` are the names of their slices, and `columns`
    names the columns that make slices. `domain` is the range of the axis, by default that of the values; charts that
    share one are small.
    """
    name, form = title_of(metric, table), ".2%" if is_share(metric) else ".4~g"
    table, drawn = with_short_names(table, names), short_names(names)
    few = np.where(rests_on_few(table), "yes", "no").tolist()
    fields = {"submission": "submission", "place": table["submission"].cat.codes.tolist(), "slice": slices}
    fields |= {"estimate": "estimate", "low": "low", "high": "high", "few": few, "sequences": "n_sequences"}
    rows = rows_of(table, fields)
    labels = LABELS if domain is None else SMALL_LABELS
    line = channel("slice:N", sort=None, title=shown_name(columns) if columns else None, axis=labels)
    place = {"yOffset": channel("place:O", sort="ascending")} if len(names) > 1 else {}
    tooltip = tooltips(
        *submission_tooltip(names),
        ("slice:N", "slice", ""),
        ("estimate:Q", "estimate", form),
        ("low:Q", "from", form),
        ("high:Q", "to", form),
        *([("sequences:Q", "sequences", ",")] if "n_sequences" in table else []),
    )
    channels: dict[str, Any] = {"y": line, **place, "tooltip": tooltip}
    ticks = {"tickCount": 6 if domain is None else 4, "format": "%" if is_share(metric) else ".4~g"}
    scale = {"zero": False} if domain is None else {"domain": [*domain], "nice": False}
    low, estimate = (channel(end, scale=scale, title=name, axis=ticks) for end in ("low:Q", "estimate:Q"))
    bars = marks("slices", "rule", {"strokeWidth": 2, "color": SERIES[0]}, **channels, x=low, x2="high")
    look = {"size": 70 if domain is None else 40, "color": SERIES[0], "opacity": 1}
    sure, hollow = (
        marks("slices", "point", look | filled, {"equal": of, "field": "few"}, **channels, x=estimate, **shaped(drawn))
        for of, filled in (("no", {"filled": True}), ("yes", {}))
    )
    # Vega would warn of bars without any bound, and of points without any number.
    has_bars = any(np.isfinite(row["low"]) for row in rows)
    there = {row["few"] for row in rows if np.isfinite(row["estimate"])}
    layers = [bars] if has_bars else []
    layers += [layer for layer, of in ((sure, "no"), (hollow, "yes")) if of in there]
    first, *others = layers or [sure]
    layers = [by_submission(first, drawn), *(by_submission(layer, drawn, selects=False) for layer in others)]
    # Vega drops null numbers before it looks for slices, so this layer, which is not to be seen, names all in order.
    every = marks("slices", "point", {"opacity": 0, "size": 0}, y=line, x={"value": 0})
    layers = [every, *layers]
    about = drawn_results.slices_title(label_of_metric(metric), has_bars, "yes" in few)
    height = min(len({*slices}) * max(LINE, 12 * len(names)), HIGHEST)
    return Drawing(layered(*layers), {"slices": rows}, about, height)


def differences(table: pd.DataFrame, names: Sequence[str], metric: str, confidence: float) -> Drawing | None:
    """The chart of differences of a metric between submissions, with their intervals, one line for each pair.

    `table` has one row for each pair and metric, as `compare` returns it; of many submissions only those of neighbours
    are drawn. None where no difference is known.
    """
    known = table[table["metric"] == metric]
    if len(names) > MOST_PAIRED:
        neighbours = {*pairwise(names)}
        known = known[[pair in neighbours for pair in zip(known["a"], known["b"], strict=True)]]
    short = dict(zip(names, short_names(names), strict=True))
    pairs = [f"{short[a]} − {short[b]}" for a, b in zip(known["a"], known["b"], strict=True)]
    return forest(known, pairs, metric, confidence)


def forest(table: pd.DataFrame, pairs: Sequence[str], metric: str, confidence: float) -> Drawing | None:
    """The chart of the differences of a metric that a table tells of these pairs, one for each row; None without any.

    Marks are filled where the adjusted p-value is below 1 - `confidence`.
    """
    known = table.assign(pair=pairs)[table["estimate"].notna()]
    sure = np.where(known["p_adjusted"].to_numpy(np.float64) < 1 - confidence, "yes", "no").tolist()
    fields = {"pair": "pair", "sure": sure, "estimate": "estimate", "low": "low", "high": "high", "p": "p_adjusted"}
    rows = rows_of(known, fields)
    if not rows:
        return None
    name, form = title_of(metric, table), "+.2%" if is_share(metric) else "+.4~g"
    # Few sequences have no intervals, and Vega would warn of bars without any bound.
    has_bars = any(np.isfinite(row["low"]) for row in rows)
    bounds = [("low:Q", "from", form), ("high:Q", "to", form)] if has_bars else []
    told = [("pair:N", "pair", ""), ("estimate:Q", "difference", form), *bounds, ("p:Q", "adjusted p-value", ".3~g")]
    line, tooltip = channel("pair:N", sort=None, title=None, axis={"labelLimit": 260}), tooltips(*told)
    ticks = {"tickCount": 6, "format": POINTS if is_share(metric) else "+.4~g"}
    axis = {"title": difference(name, metric), "axis": ticks}
    zero = marks("zero", "rule", {"color": FAINT, "strokeDash": [4, 3]}, x="zero:Q")
    low, estimate = (channel(end, **axis) for end in ("low:Q", "estimate:Q"))
    bars = marks("pairs", "rule", {"strokeWidth": 2, "color": SERIES[0]}, y=line, tooltip=tooltip, x=low, x2="high")
    scale = {"domain": ["yes", "no"], "range": [SERIES[0], HOLLOW]}
    filled = channel("sure:N", title=f"adjusted p < {1 - confidence:.2g}", scale=scale)
    look = {"filled": True, "size": 90, "opacity": 1, "stroke": SERIES[0]}
    points = marks("pairs", "point", look, y=line, tooltip=tooltip, x=estimate, fill=filled)
    layers = layered(zero, bars, points) if has_bars else layered(zero, points)
    data = {"pairs": rows, "zero": [{"zero": 0}]}
    return Drawing(layers, data, drawn_results.differences_title(label_of_metric(metric)), 34 * len(rows) + 10)


def error_costs(table: pd.DataFrame, names: Sequence[str], metric: str = "f1") -> Drawing | None:
    """The chart of what correcting each kind of error alone would gain in a metric; None where no gain is known.

    `table` has one row for each submission and kind, as `error_costs` returns it.
    """
    known = with_short_names(table[~table["kind"].isin(TOGETHER)], names)
    kinds, gain = known["kind"].map(words), f"{metric}_gain"
    fields = {"submission": "submission", "place": known["submission"].cat.codes, "kind": kinds, "gain": gain}
    fields |= {"misses": "n_misses", "alarms": "n_false_alarms", "breaks": "n_breaks", "mse": "mse_gain"}
    costs, name = rows_of(known, fields), str(title(metric))
    if not any(np.isfinite(row["gain"]) for row in costs):
        return None
    told = [
        *submission_tooltip(names),
        ("kind:N", "kind", ""),
        ("gain:Q", f"{name} gained", "+.2%"),
        ("misses:Q", "misses", ","),
        ("alarms:Q", "false alarms", ","),
        *([("breaks:Q", "breaks of tracks", ",")] if "breaks" in costs[0] else []),
        *mse_tooltip(costs, "mse gained", table.attrs.get("unit")),
    ]
    chart = marks(
        "costs",
        "bar",
        {"color": SERIES[0]},
        x=channel("gain:Q", stack=False, title=f"{name} gained, points", axis={"tickCount": 6, "format": POINTS}),
        y=channel("kind:N", sort=None, title=None, axis={"labelLimit": 160}),
        tooltip=tooltips(*told),
    )
    if len(names) > 1:
        chart = encoded(chart, yOffset=channel("place:O", sort="ascending"))
    height = len({*kinds}) * max(26, 10 * len(names) + 8)
    about = drawn_results.costs_title(name)
    filters = [OF_SUBMISSION, {"column": "kind", "is": "kind"}]
    return Drawing(by_submission(chart, short_names(names)), {"costs": costs}, about, height, filters=filters)


def by_threshold(curve: pd.DataFrame, best: pd.DataFrame, names: Sequence[str], metric: str) -> Drawing:
    """The chart of a metric over the score threshold, with the best threshold marked.

    `curve` and `best` are what `sweep` returns, of all submissions that have scores.
    """
    # A score may be infinite, which no axis has a place for.
    curve, best = (table[np.isfinite(table["score_threshold"])] for table in (curve, best))
    x = channel("score_threshold:Q", title="score threshold", scale={"zero": False, "nice": False})
    y = share_axis(metric, str(title(metric)))
    lines, rows, swept = _sweep_lines(curve, names)
    chart, chosen = encoded(lines, x=x, y=y), _sweep_rows(best, names)
    if chosen:
        look = {"filled": True, "size": 110, "opacity": 1, "color": SERIES[0]}
        at_best = marks("best", "point", look, x=x, y=y, **shaped(swept))
        chart = layered(chart, by_submission(at_best, swept, selects=False))
    about, _ = drawn_results.sweep_titles(str(title(metric)))
    return Drawing(chart, {"sweep": rows, "best": chosen}, about, filters=FROM_THRESHOLD, zooms=True)


def by_recall(curve: pd.DataFrame, names: Sequence[str]) -> Drawing:
    """The chart of precision over recall, over score thresholds; `curve` is what `sweep` returns."""
    lines, rows, _ = _sweep_lines(curve, names)
    chart = encoded(lines, x=share_axis("recall", "recall"), y=share_axis("precision", "precision"))
    _, about = drawn_results.sweep_titles("")
    return Drawing(chart, {"sweep": rows}, about, filters=FROM_THRESHOLD, zooms=True)


def _sweep_lines(curve: pd.DataFrame, names: Sequence[str]) -> tuple[Spec, Rows, list[str]]:
    """The lines of a sweep, one for each submission, without axes; their rows, and the short names that have some."""
    rows = _sweep_rows(curve, names)
    having = {row["submission"] for row in rows}
    short = [name for name in short_names(names) if name in having]
    tooltip = tooltips(
        *submission_tooltip(short),
        ("score_threshold:Q", "score threshold", ".4~g"),
        ("f1:Q", "F1", ".2%"),
        ("precision:Q", "precision", ".2%"),
        ("recall:Q", "recall", ".2%"),
        *mse_tooltip(rows, "mse", curve.attrs.get("unit")),
    )
    lines = marks("sweep", "line", LINES, tooltip=tooltip, order="score_threshold:Q", **dashed(short))
    return by_submission(lines, short, of_lines=True), rows, short


def _sweep_rows(table: pd.DataFrame, names: Sequence[str]) -> Rows:
    """The metrics at each row of a table of a sweep."""
    fields = ("submission", "score_threshold", "HOTA", "f1", "precision", "recall", "mse")
    return rows_of(with_short_names(table, names), {name: name for name in fields})


def hota_curve(curve: pd.DataFrame, names: Sequence[str], metric: str) -> Drawing:
    """The chart of HOTA, DetA or AssA over alpha, the similarity from which on pairs count.

    `curve` has one row for each submission and `alpha`, with the combined numbers.
    """
    rows = rows_of(with_short_names(curve, names), {name: name for name in ("submission", "alpha", *METRICS)})
    told = [(name, str(title(name))) for name in METRICS]
    return _over_alpha(rows, short_names(names), metric, str(title(metric)), told)


def metrics_over_alpha(curve: pd.DataFrame) -> Drawing:
    """The chart of HOTA and its parts of one submission over alpha, one line each, named by its mean."""
    names = [f"{title(metric)}, mean {curve[metric].mean():.2f}" for metric in HOTA_PARTS]
    rows: Rows = []
    for name, metric in zip(names, HOTA_PARTS, strict=True):
        rows += rows_of(curve, {"submission": [name] * len(curve), "alpha": "alpha", "share": metric})
    return _over_alpha(rows, names, "share", "HOTA and its parts", [("share", "share")], "metric")


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
    lines = marks(
        "curve",
        "line",
        LINES,
        x=channel("alpha:Q", title="alpha", scale={"domain": [0, 1]}),
        y=share_axis(field, name),
        tooltip=tooltips(*whose, ("alpha:Q", "alpha", ".2f"), *((f"{part}:Q", text, ".2%") for part, text in told)),
        **dashed(names),
    )
    return Drawing(by_submission(lines, names, of_lines=True), {"curve": rows}, f"{name} by alpha")


def precision_curve(curve: pd.DataFrame, names: Sequence[str]) -> Drawing | None:
    """The chart of precision over recall at two thresholds of the similarity; None where there are no truths.

    `curve` has one row for each submission, `threshold` and `recall`, with the `precision`.
    """
    is_drawn = np.isclose(curve["threshold"].to_numpy()[:, None], THRESHOLDS).any(axis=1)
    drawn = with_short_names(curve[is_drawn & curve["precision"].notna()], names)
    thresholds = drawn["threshold"].map("{:.2f}".format)
    fields = {"submission": "submission", "threshold": thresholds, "recall": "recall", "precision": "precision"}
    lines = [f"{threshold:.2f}" for threshold in THRESHOLDS]
    return (
        precision_lines(rows_of(drawn, fields), short_names(names), lines, drawn_results.precision_title(None))
        if len(drawn)
        else None
    )


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
    axes = {"x": share_axis("recall", "recall"), "y": share_axis("precision", "precision")}
    drawn = marks("precision", "line", {"color": SERIES[0], "strokeWidth": 1.8}, **axes, detail="threshold:N")
    if has["threshold"]:
        scale = {"domain": list(lines), "range": cycled(DASHES, len(lines))}
        legend = {"symbolType": "stroke", "symbolSize": 400, "symbolStrokeColor": INK}
        drawn = encoded(drawn, strokeDash=channel("threshold:N", title=titles[1], scale=scale, legend=legend))
    else:
        drawn = encoded(drawn, **dashed(names))
    tooltip = tooltips(*told, ("recall:Q", "recall", ".0%"), ("precision:Q", "precision", ".2%"))
    points = marks("precision", "point", {"filled": True, "opacity": 0}, **axes, tooltip=tooltip)
    chart = layered(by_submission(drawn, names, of_lines=True), points)
    return Drawing(chart, {"precision": rows}, about, zooms=True)
