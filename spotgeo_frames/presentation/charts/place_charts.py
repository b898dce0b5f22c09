"""Charts of where objects are found, and of how near to their truths.

Where both axes are pixels, `usermeta` of a specification tells the page's script the ratio of height to width.
"""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from ...matching.rule import Rule
from ...scoring.match_sums import share
from ...tables.match_sides import offsets
from ...tables.schema import TP, measure_of
from ..image_plane import recall_grid
from ..rule_texts import measure_limits, measure_name, measure_range, measure_title
from .encodings import (
    HEIGHT,
    NOTHING,
    OF_SUBMISSION,
    SERIES,
    Condition,
    Spec,
    bounded,
    finished,
    of_picked,
    picked,
    pixel_axis,
    tooltips,
)
from .names import Rows, by_name, short_names

# The counts of bins of the histogram of distances or similarities, of bins along each axis of residuals, and of columns
# of the map.
MEASURE_BINS, RESIDUAL_BINS, MAP_COLUMNS = 40, 41, 16


def recall_map(matches: pd.DataFrame, names: Sequence[str]) -> Spec | None:
    """The map of recall over the image plane; None without truths."""
    places, ratio = _recall_cells(matches, names)
    return _recall_map(places, ratio, short_names(names)) if places else None


def _recall_map(places: Rows, ratio: float, names: Sequence[str]) -> Spec:
    """The map of cells that have truths."""
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
    about, filters = "Recall over the image plane", [OF_SUBMISSION, *_within("truth_centre_x", "truth_centre_y")]
    return finished(picked(chart, names), {"places": places}, about, HEIGHT, bounded(ratio), NOTHING, filters)


def _within(x: str, y: str) -> list[Condition]:
    """The conditions that two columns of the viewer lie within a cell, which has the fields of `_box`."""
    return [{"column": x, "from": "x", "to": "x2"}, {"column": y, "from": "y", "to": "y2"}]


def _recall_cells(matches: pd.DataFrame, names: Sequence[str]) -> tuple[Rows, float]:
    """Recall in each cell of the image that has truths, and the ratio of the image's height to its width."""
    rows, ratio = [], 1.0
    for name, table in by_name(matches, names):
        grid = recall_grid(table, MAP_COLUMNS)
        if grid is None:
            continue
        ratio = float(share(np.ptp(grid.y_edges), np.ptp(grid.x_edges), nothing=1.0))
        recall = grid.recall
        x, y = (_bounds(_widened(edges)) for edges in (grid.x_edges, grid.y_edges))
        for column, row in np.argwhere(grid.n_truth > 0).tolist():
            n_truth, n_found = int(grid.n_truth[column, row]), int(grid.n_found[column, row])
            numbers = {"recall": float(recall[column, row]), "found": n_found, "truths": n_truth}
            sides = {"x": x[column][0], "x2": x[column][1], "y": y[row][0], "y2": y[row][1]}
            rows.append({"submission": name, **sides, **numbers})
    return rows, ratio


def _widened(edges: np.ndarray) -> np.ndarray:
    """Edges of which the outer ones lie a little farther out: the viewer rounds coordinates, also those on an edge."""
    slack = 1e-3 * (edges[1] - edges[0])
    return np.concatenate([[edges[0] - slack], edges[1:-1], [edges[-1] + slack]])


def _bounds(edges: np.ndarray) -> list[list[float]]:
    """The least and the greatest value of each bin; a value on an edge between two is in the second only."""
    upper = edges[1:] - 1e-6 * np.diff(edges)
    upper[-1] = edges[-1]
    return np.column_stack([edges[:-1], upper]).tolist()


def measures(matches: pd.DataFrame, names: Sequence[str], rule: Rule) -> Spec | None:
    """The histogram of the distances, or of the similarities, of the true positives, with their limits marked.

    None without true positives.
    """
    hits = _hits(matches, names, rule)
    return _measures(hits, short_names(names), rule) if hits else None


def _measures(hits: Rows, names: Sequence[str], rule: Rule) -> Spec:
    """The histogram of counted true positives."""
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
    column = "distance" if rule.by_distance else "similarity"
    filters = [OF_SUBMISSION, {"column": column, "from": "from", "to": "to"}]
    return finished(picked(bars, names) + rules, {"hits": hits, "limits": limits}, about, HEIGHT, filters=filters)


def _hits(matches: pd.DataFrame, names: Sequence[str], rule: Rule) -> Rows:
    """The histogram of distances (px), or of similarities, of true positives; no rows if there are none."""
    rows = []
    for name, table in by_name(matches, names):
        values = table[measure_of(table)].dropna().to_numpy(np.float64)
        counts, edges = np.histogram(values, bins=MEASURE_BINS, range=measure_range(rule))
        rows += [
            {"submission": name, "from": low, "to": high, "n": n}
            for (low, high), n in zip(_bounds(edges), counts.tolist(), strict=True)
        ]
    return rows if any(row["n"] for row in rows) else []


def residuals(matches: pd.DataFrame, names: Sequence[str], tau: float) -> Spec | None:
    """The map of predicted minus true coordinates of the true positives, with their mean, and tau as a circle.

    None without true positives.
    """
    cells, means = _offset_cells(matches, names, tau)
    return _residuals(cells, means, short_names(names), tau) if cells else None


def _residuals(cells: Rows, means: Rows, names: Sequence[str], tau: float) -> Spec:
    """The map of counted true positives."""
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
    data = {"cells": cells, "means": means, "ring": _circle(tau)}
    filters = [OF_SUBMISSION, *_within("offset_x", "offset_y")]
    return finished(chart, data, about, HEIGHT, 1.0, NOTHING, filters)


def _offset_cells(matches: pd.DataFrame, names: Sequence[str], tau: float) -> tuple[Rows, Rows]:
    """Counts of true positives by predicted minus true coordinates (px), and the mean of each submission.

    The coordinates of boxes are those of their centres.
    """
    edges = np.linspace(-tau, tau, RESIDUAL_BINS + 1)
    cells: Rows = []
    means: Rows = []
    for name, table in by_name(matches, names):
        hits = table[table["outcome"].array.codes == TP]
        dx, dy = offsets(hits)
        counts, _, _ = np.histogram2d(dx, dy, bins=[edges, edges])
        cells += [
            {"submission": name, **_box(edges, edges, column, row), "n": int(counts[column, row])}
            for column, row in np.argwhere(counts > 0).tolist()
        ]
        if len(dx):
            means.append({"submission": name, "x": float(dx.mean()), "y": float(dy.mean())})
    return cells, means


def _circle(radius: float) -> Rows:
    """The points of a circle around 0, 0, in order."""
    angles = np.linspace(0, 2 * np.pi, 73)
    points = zip((radius * np.cos(angles)).tolist(), (radius * np.sin(angles)).tolist(), strict=True)
    return [{"x": x, "y": y, "order": order} for order, (x, y) in enumerate(points)]


def _box(x_edges: np.ndarray, y_edges: np.ndarray, column: int, row: int) -> dict[str, float]:
    """The sides (px) of one cell of a grid."""
    sides = x_edges[column], x_edges[column + 1], y_edges[row], y_edges[row + 1]
    return {name: float(f"{side:.6g}") for name, side in zip(("x", "x2", "y", "y2"), sides, strict=True)}
