"""The charts of the page, from the report's tables, as Vega-Lite specifications made with Altair.

Fields have names of our own, and names of the user's are only ever data or titles, never part of an expression.
Colours are variables of the page's style, so that charts follow light and dark without being drawn again. `usermeta`
tells the page's script the ratio of height to width where both axes are pixels.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..diagnosis import KINDS
from ..image_plane import recall_grid
from ..tables import TP
from .evaluation import Evaluation

# Bins of the histogram of distances, and along each axis of residuals; columns of the map of recall.
DISTANCE_BINS, RESIDUAL_BINS, MAP_COLUMNS = 40, 41, 16

HEIGHT = 260

# As many series as the page's style has colours for; more take them again, with other dashes.
SERIES = [f"var(--series-{number})" for number in range(1, 7)]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]

MARKS = ["found truth", "missed truth", "right prediction", "false prediction"]
MARK_SHAPES = ["circle", "circle", "cross", "M-0.6,-0.6L0.6,0.6M-0.6,0.6L0.6,-0.6"]
MARK_COLORS = ["var(--found)", "var(--missed)", "var(--right)", "var(--false)"]

# What lies behind a map where it has no value.
NOTHING = "var(--nothing)"

INK = {"labelColor": "var(--ink)", "titleColor": "var(--ink)", "labelFontSize": 12, "titleFontSize": 12}
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "axis": INK | {"gridColor": "var(--line)", "domainColor": "var(--faint)", "tickColor": "var(--faint)"},
    "legend": INK | {"orient": "bottom", "columns": 2, "labelLimit": 260, "symbolSize": 90},
    "view": {"stroke": None},
    "aria": False,  # a chart is one thing with a description; its tables have every number
}

Spec = dict[str, Any]


def charts(evaluation: Evaluation, tau: float, epsilon: float) -> dict[str, Spec]:
    """The charts that the tables allow, by name."""
    matches, names = evaluation.matches, evaluation.names
    found = {
        "differences": None if evaluation.pairs is None else differences(evaluation.pairs),
        "costs": error_costs(evaluation.costs, names),
        "recall_map": recall_map(matches, names),
        "distances": distances(matches, names, tau, epsilon),
        "residuals": residuals(matches, names, tau),
    }
    if evaluation.sweep is not None:
        found["f1_by_threshold"], found["precision_by_recall"] = sweep_curves(evaluation.sweep)
    return {name: spec for name, spec in found.items() if spec is not None}


def differences(pairs: pd.DataFrame) -> Spec | None:
    """Differences of F1 with their intervals, a row a pair."""
    import altair as alt

    rows = pairs[(pairs["metric"] == "f1") & pairs["estimate"].notna()]
    if not len(rows):
        return None
    data = [
        {"pair": f"{a} − {b}", "estimate": estimate, "low": _known(low), "high": _known(high), "p": _known(p)}
        for a, b, estimate, low, high, p in rows[["a", "b", "estimate", "low", "high", "p_adjusted"]].itertuples(
            index=False
        )
    ]
    tooltip = [
        alt.Tooltip("pair:N", title="pair"),
        alt.Tooltip("estimate:Q", title="difference of F1", format="+.4f"),
        alt.Tooltip("low:Q", title="from", format="+.4f"),
        alt.Tooltip("high:Q", title="to", format="+.4f"),
        alt.Tooltip("p:Q", title="adjusted p-value", format=".3~g"),
    ]
    base = alt.Chart(_values(data)).encode(
        y=alt.Y("pair:N", sort=None, title=None, axis=alt.Axis(labelLimit=220)), tooltip=tooltip
    )
    zero = alt.Chart(_values([{"zero": 0}])).mark_rule(color="var(--faint)", strokeDash=[4, 3]).encode(x="zero:Q")
    bars = base.mark_rule(strokeWidth=2, color=SERIES[0]).encode(
        x=alt.X("low:Q", title="difference of F1", axis=alt.Axis(tickCount=6)), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=80, opacity=1, color=SERIES[0]).encode(x="estimate:Q")
    height = 34 * len(data) + 10
    return _finished(zero + bars + points, "Differences of F1 between submissions, with 95% intervals", height)


def error_costs(costs: pd.DataFrame, names: Sequence[str]) -> Spec:
    """What mending each kind of error alone would add to F1."""
    import altair as alt

    rows = costs[costs["kind"] != "all"]
    data = [
        {
            "submission": str(row.submission),
            "kind": str(row.kind).replace("_", " "),
            "gain": _known(row.f1_gain),
            "misses": row.n_misses,
            "alarms": row.n_false_alarms,
            "mse": _known(row.mse_gain),
        }
        for row in rows.itertuples(index=False)
    ]
    tooltip = [
        *_submission_tooltip(names),
        alt.Tooltip("kind:N", title="kind"),
        alt.Tooltip("gain:Q", title="F1 gained", format=".4f"),
        alt.Tooltip("misses:Q", title="misses", format=","),
        alt.Tooltip("alarms:Q", title="false alarms", format=","),
        alt.Tooltip("mse:Q", title="mse gained, px²", format=".2f"),
    ]
    kinds = [kind.replace("_", " ") for kind in KINDS]
    chart = (
        alt.Chart(_values(data))
        .mark_bar(color=SERIES[0])
        .encode(
            x=alt.X("gain:Q", title="F1 gained if it alone were mended", axis=alt.Axis(tickCount=6)),
            y=alt.Y("kind:N", sort=kinds, title=None, axis=alt.Axis(labelLimit=160)),
            tooltip=tooltip,
        )
    )
    if len(names) > 1:
        chart = chart.encode(yOffset=alt.YOffset("submission:N", sort=list(names)), color=_by_submission(names))
    height = len(kinds) * max(26, 10 * len(names) + 8)
    return _finished(chart, "F1 gained if one kind of error alone were mended, by kind", height)


def recall_map(matches: pd.DataFrame, names: Sequence[str]) -> Spec | None:
    """Recall over the image plane."""
    import altair as alt

    data, ratio = [], 1.0
    for name, rows in _each(matches, names):
        grid = recall_grid(rows, MAP_COLUMNS)
        if grid is None:
            return None
        ratio = float(np.ptp(grid.y_edges) / np.ptp(grid.x_edges))
        for column, row in np.argwhere(grid.n_truth > 0).tolist():
            n_truth, n_found = int(grid.n_truth[column, row]), int(grid.n_found[column, row])
            data.append(
                {
                    "submission": name,
                    **_box(grid.x_edges, grid.y_edges, column, row),
                    "recall": n_found / n_truth,
                    "found": n_found,
                    "truths": n_truth,
                }
            )
    chart = (
        alt.Chart(_values(data))
        .mark_rect(stroke=None)
        .encode(
            x=_pixels(alt.X, "x", "x, px"),
            x2="x2:Q",
            y=_pixels(alt.Y, "y", "y, px", reverse=True),
            y2="y2:Q",
            color=alt.Color(
                "recall:Q",
                title="recall",
                scale=alt.Scale(scheme="viridis", domain=[0, 1]),
                legend=alt.Legend(format=".0%", gradientLength=200),
            ),
            tooltip=[
                alt.Tooltip("recall:Q", title="recall", format=".1%"),
                alt.Tooltip("found:Q", title="found", format=","),
                alt.Tooltip("truths:Q", title="truths", format=","),
                alt.Tooltip("x:Q", title="x from, px", format=".1f"),
                alt.Tooltip("y:Q", title="y from, px", format=".1f"),
            ],
        )
    )
    return _finished(_picked(chart, names), "Recall over the image plane", HEIGHT, min(max(ratio, 0.2), 2.0), NOTHING)


def distances(matches: pd.DataFrame, names: Sequence[str], tau: float, epsilon: float) -> Spec | None:
    """The distances of the true positives, epsilon and tau marked."""
    import altair as alt

    data = []
    for name, rows in _each(matches, names):
        values = rows["distance"].dropna().to_numpy(np.float64)
        counts, edges = np.histogram(values, bins=DISTANCE_BINS, range=(0.0, tau))
        data += [
            {"submission": name, "from": low, "to": high, "n": n}
            for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        ]
    if not any(row["n"] for row in data):
        return None
    bars = (
        alt.Chart(_values(data))
        .mark_bar(color=SERIES[0], binSpacing=1)
        .encode(
            x=alt.X("from:Q", bin="binned", title="distance, px", scale=alt.Scale(domain=[0, tau * 1.02], nice=False)),
            x2="to:Q",
            y=alt.Y("n:Q", title="true positives"),
            tooltip=[
                alt.Tooltip("from:Q", title="from, px", format=".2f"),
                alt.Tooltip("to:Q", title="to, px", format=".2f"),
                alt.Tooltip("n:Q", title="true positives", format=","),
            ],
        )
    )
    marks: list[dict[str, Any]] = [
        {"at": epsilon, "what": f"epsilon, {epsilon:g} px: errors up to it count as 0"},
        {"at": tau, "what": f"tau, {tau:g} px: farther is no hit"},
    ]
    limits = [mark["what"] for mark in marks]
    rules = (
        alt.Chart(_values(marks))
        .mark_rule(strokeWidth=2)
        .encode(
            x="at:Q",
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=limits, range=["var(--series-2)", "var(--series-4)"]),
                legend=alt.Legend(columns=1, symbolType="stroke"),
            ),
            strokeDash=alt.StrokeDash("what:N", title=None, scale=alt.Scale(domain=limits, range=[[5, 3], [1, 0]])),
            tooltip=alt.Tooltip("what:N", title="limit"),
        )
    )
    return _finished(_picked(bars, names) + rules, "Distances of the true positives", HEIGHT)


def residuals(matches: pd.DataFrame, names: Sequence[str], tau: float) -> Spec | None:
    """Predicted less true coordinates of the true positives, as counts, with their mean and tau as a circle."""
    import altair as alt

    edges = np.linspace(-tau, tau, RESIDUAL_BINS + 1)
    cells: list[dict[str, Any]] = []
    means: list[dict[str, Any]] = []
    for name, rows in _each(matches, names):
        hits = rows[rows["outcome"].array.codes == TP]
        dx, dy = (
            (hits[f"predicted_{axis}"] - hits[f"truth_{axis}"]).to_numpy(np.float64, na_value=np.nan) for axis in "xy"
        )
        if not len(dx):
            continue
        counts, _, _ = np.histogram2d(dx, dy, bins=[edges, edges])
        cells += [
            {"submission": name, **_box(edges, edges, column, row), "n": int(counts[column, row])}
            for column, row in np.argwhere(counts > 0).tolist()
        ]
        means.append({"submission": name, "x": float(dx.mean()), "y": float(dy.mean())})
    if not cells:
        return None
    angles = np.linspace(0, 2 * np.pi, 73)
    circle = [{"x": float(tau * np.cos(a)), "y": float(tau * np.sin(a)), "order": i} for i, a in enumerate(angles)]
    x, y = _pixels(alt.X, "x", "predicted − true x, px"), _pixels(alt.Y, "y", "predicted − true y, px", reverse=True)
    heat = (
        alt.Chart(_values(cells))
        .mark_rect(stroke=None)
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            y2="y2:Q",
            color=alt.Color(
                "n:Q",
                title="true positives",
                scale=alt.Scale(type="sqrt", scheme="viridis"),
                legend=alt.Legend(gradientLength=200),
            ),
            tooltip=[
                alt.Tooltip("n:Q", title="true positives", format=","),
                alt.Tooltip("x:Q", title="x from, px", format="+.2f"),
                alt.Tooltip("y:Q", title="y from, px", format="+.2f"),
            ],
        )
    )
    ring = alt.Chart(_values(circle)).mark_line(color="var(--ink)", strokeWidth=1).encode(x=x, y=y, order="order:Q")
    mean = (
        alt.Chart(_values(means))
        .mark_point(shape="cross", filled=True, size=160, opacity=1, color="var(--series-4)", stroke="white")
        .encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("x:Q", title="mean in x, px", format="+.3f"),
                alt.Tooltip("y:Q", title="mean in y, px", format="+.3f"),
            ],
        )
    )
    chart = _picked(heat + mean, names) + ring if len(names) > 1 else heat + ring + mean
    return _finished(chart, "Predicted less true coordinates of the true positives, and tau", HEIGHT, 1.0, NOTHING)


def sweep_curves(sweep: pd.DataFrame) -> tuple[Spec, Spec]:
    """F1 by the threshold of the score, and precision by recall."""
    import altair as alt

    names = [str(name) for name in sweep["submission"].cat.categories]
    data = [
        {
            "submission": str(row.submission),
            "threshold": row.threshold,
            "f1": _known(row.f1),
            "precision": _known(row.precision),
            "recall": _known(row.recall),
            "mse": _known(row.mse),
        }
        for row in sweep.itertuples(index=False)
    ]
    tooltip = [
        *_submission_tooltip(names),
        alt.Tooltip("threshold:Q", title="score threshold", format=".4~g"),
        alt.Tooltip("f1:Q", title="F1", format=".2%"),
        alt.Tooltip("precision:Q", title="precision", format=".2%"),
        alt.Tooltip("recall:Q", title="recall", format=".2%"),
        alt.Tooltip("mse:Q", title="mse, px²", format=".2f"),
    ]
    point = alt.OverlayMarkDef(size=22, filled=True)
    base = alt.Chart(_values(data)).mark_line(color=SERIES[0], point=point).encode(tooltip=tooltip, order="threshold:Q")
    if len(names) > 1:
        base = base.encode(
            color=_by_submission(names),
            strokeDash=alt.StrokeDash(
                "submission:N",
                title=None,
                scale=alt.Scale(domain=names, range=_cycled(DASHES, len(names), len(SERIES))),
            ),
        )
    share = alt.Scale(domain=[0, 1])
    percent = alt.Axis(format=".0%")
    f1 = base.encode(
        x=alt.X("threshold:Q", title="score threshold", scale=alt.Scale(zero=False, nice=False)),
        y=alt.Y("f1:Q", title="F1", scale=share, axis=percent),
    )
    curve = base.encode(
        x=alt.X("recall:Q", title="recall", scale=share, axis=percent),
        y=alt.Y("precision:Q", title="precision", scale=share, axis=percent),
    )
    return (
        _finished(f1, "F1 at every threshold of the score", HEIGHT),
        _finished(curve, "Precision by recall, over thresholds of the score", HEIGHT),
    )


def frame_chart(extent: tuple[float, float, float, float], picture: tuple[int, int] | None) -> Spec:
    """One frame: the page's script puts its marks, links and picture in, as the data called so."""
    import altair as alt

    left, right, top, bottom = extent
    if picture is not None:  # the centre of the first pixel is at 0
        left, right = min(left, -0.5), max(right, picture[0] - 0.5)
        top, bottom = min(top, -0.5), max(bottom, picture[1] - 0.5)
    x = alt.X("x:Q", title="x, px", scale=alt.Scale(domain=[left, right], nice=False, zero=False))
    y = alt.Y("y:Q", title="y, px", scale=alt.Scale(domain=[bottom, top], nice=False, zero=False))
    behind = (
        alt.Chart(alt.NamedData(name="picture"))
        .mark_image(aspect=False, clip=True)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", url="url:N")
    )
    links = (
        alt.Chart(alt.NamedData(name="links"))
        .mark_rule(color="var(--ink)", strokeWidth=1.5, clip=True)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q")
    )
    marks = (
        alt.Chart(alt.NamedData(name="marks"))
        .mark_point(size=150, strokeWidth=2.2, opacity=1, clip=True)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape("mark:N", title=None, scale=alt.Scale(domain=MARKS, range=MARK_SHAPES)),
            color=alt.Color("mark:N", title=None, scale=alt.Scale(domain=MARKS, range=MARK_COLORS)),
            tooltip=[
                alt.Tooltip("mark:N", title="mark"),
                alt.Tooltip("object:N", title="object"),
                alt.Tooltip("kind:N", title="kind of error"),
                alt.Tooltip("x:Q", title="x, px", format=".2f"),
                alt.Tooltip("y:Q", title="y, px", format=".2f"),
                alt.Tooltip("distance:Q", title="distance, px", format=".2f"),
            ],
        )
    )
    ratio = min(max((bottom - top) / (right - left), 0.2), 2.0)
    return _finished(behind + links + marks, "Truths and predictions of one frame; listed below", HEIGHT, ratio)


def _values(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.InlineData(values=rows)


def _known(value: Any) -> float | None:
    """JSON knows no NaN."""
    return float(value) if np.isfinite(value) else None


def _box(x_edges: np.ndarray, y_edges: np.ndarray, column: int, row: int) -> dict[str, float]:
    sides = x_edges[column], x_edges[column + 1], y_edges[row], y_edges[row + 1]
    return dict(zip(("x", "x2", "y", "y2"), map(float, sides), strict=True))


def _pixels(channel: Any, field: str, title: str, reverse: bool = False) -> Any:
    import altair as alt

    scale = alt.Scale(zero=False, nice=False, reverse=reverse)
    return channel(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(grid=False, tickCount=8))


def _each(matches: pd.DataFrame, names: Sequence[str]) -> Any:
    codes = matches["submission"].cat.codes.to_numpy()
    return ((name, matches[codes == number]) for number, name in enumerate(names))


def _cycled(values: Sequence[Any], number: int, every: int = 1) -> list[Any]:
    return [values[place // every % len(values)] for place in range(number)]


def _by_submission(names: Sequence[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=list(names), range=_cycled(SERIES, len(names)))
    return alt.Color("submission:N", title=None, scale=scale)


def _submission_tooltip(names: Sequence[str]) -> list[Any]:
    import altair as alt

    return [alt.Tooltip("submission:N", title="submission")] if len(names) > 1 else []


def _picked(chart: Any, names: Sequence[str]) -> Any:
    """The chart of one submission at a time, which the reader picks."""
    import altair as alt

    if len(names) < 2:
        return chart
    bind = alt.binding_select(options=list(names), name="submission ")
    return chart.add_params(alt.param(name="picked", bind=bind, value=names[0])).transform_filter(
        "datum.submission === picked"
    )


def _finished(
    chart: Any, description: str, height: int, ratio: float | None = None, background: str | None = None
) -> Spec:
    """The specification, as wide as its place on the page."""
    import altair as alt

    if background is not None:
        chart = chart.properties(view=alt.ViewBackground(fill=background))
    spec: Mapping[str, Any] = chart.properties(
        width="container",
        height=height,
        description=description,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    ).to_dict()
    # Altair adds the look of its own theme, which knows nothing of the page's.
    return dict(spec) | {"config": CONFIG, "usermeta": {} if ratio is None else {"ratio": ratio}}
