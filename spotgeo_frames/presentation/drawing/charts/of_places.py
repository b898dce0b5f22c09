"""Charts of where objects are found, and of how near to their truths.

With several submissions, the reader picks the one whose places are shown.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....geometries import offsets
from ....matching import Rule
from ....scoring import sequence_sums
from ....tables import schema
from ...theme import SEQUENTIAL
from ..drawn_results import measure_ends, measures_title, recall_title, residuals_title
from ..drawn_tables import offset_reach, recall_grid
from ..wording import (
    Plane,
    measure_limits,
    measure_name,
    measure_range,
    measure_title,
    plane_of,
    unit_of_distances,
    with_unit,
)
from .parts import (
    INK,
    NOTHING,
    OF_SUBMISSION,
    SERIES,
    SHARES,
    Condition,
    Drawing,
    Rows,
    bounded,
    by_name,
    of_picked,
    pixel_axis,
    short_names,
    tooltips,
)
from .vega_lite import Spec, channel, layered, marks

# The counts of bins of the histogram of distances or similarities, of bins along each axis of residuals, and of columns
# of the map.
MEASURE_BINS, RESIDUAL_BINS, MAP_COLUMNS = 40, 41, 16


def recall_map(matches: pd.DataFrame, names: Sequence[str], bins: int = MAP_COLUMNS) -> Drawing | None:
    """The map of recall over the image plane, with so many columns; None without truths."""
    places, ratio = _recall_cells(matches, names, bins)
    if not places:
        return None
    scale = {"scheme": SEQUENTIAL, "domain": [0, 1]}
    color = channel("recall:Q", title="recall", scale=scale, legend=SHARES)
    told = [("recall:Q", "recall", ".1%"), ("found:Q", "found", ","), ("truths:Q", "truths", ",")]
    plane = plane_of(matches)
    axes = _axes(plane, [plane.title(axis) for axis in "xy"])
    chart = of_picked(_cells("places", *axes, color, [*told, *_sides_told(plane, ".5~g")]), names)
    filters = _within("truth_centre_x", "truth_centre_y")
    return _map(chart, {"places": places}, recall_title(plane), bounded(ratio), names, filters)


def _cells(data: str, x: Spec, y: Spec, color: Spec, told: Sequence[tuple[str, str, str]]) -> Spec:
    """The cells of a grid, in colours; `told` are the fields of tooltips."""
    return marks(data, "rect", x=x, x2="x2", y=y, y2="y2", color=color, tooltip=tooltips(*told))


def _axes(plane: Plane, titles: Sequence[str]) -> tuple[Spec, Spec]:
    """The axes of a plane whose y points down; what is not y points up."""
    x = pixel_axis("x", titles[0], is_chart=plane.is_chart)
    return x, pixel_axis("y", titles[1], reverse=not plane.is_up, is_chart=plane.is_chart)


def _sides_told(plane: Plane, form: str) -> list[tuple[str, str, str]]:
    """The sides of a cell for tooltips, with their unit."""
    ends = {"": "from", "2": "to"}
    return [
        (
            f"{axis}{end}:Q",
            with_unit(f"{name} {word}" if plane.is_chart else f"{getattr(plane, axis)} {word}", plane.unit),
            form,
        )
        for axis, name in _directions(plane).items()
        for end, word in ends.items()
    ]


def _directions(plane: Plane) -> dict[str, str]:
    """Where the places in a plane grow to, along x and y; tooltips cannot turn the numbers, as axes do."""
    return {"x": "to the right", "y": "down"} if plane.is_chart else {"x": f"in {plane.x}", "y": f"in {plane.y}"}


def _map(
    chart: Spec, data: dict[str, Rows], about: str, ratio: float, names: Sequence[str], filters: Sequence[Condition]
) -> Drawing:
    """The drawing of cells, of one submission at a time; a click on a cell shows what it counts."""
    filters = [OF_SUBMISSION, *filters]
    picks = short_names(names)
    return Drawing(chart, data, about, ratio=ratio, background=NOTHING, picks=picks, filters=filters, zooms=True)


def _within(x: str, y: str) -> list[Condition]:
    """The conditions that two columns of the viewer lie within a cell, which has the fields of `_box`."""
    return [{"column": x, "from": "x", "to": "x2"}, {"column": y, "from": "y", "to": "y2"}]


def _recall_cells(matches: pd.DataFrame, names: Sequence[str], columns: int) -> tuple[Rows, float]:
    """Recall in each cell of the image that has truths, and the ratio of the image's height to its width."""
    rows: Rows = []
    ratio = 1.0
    for name, table in by_name(matches, names):
        grid = recall_grid(table, columns)
        if grid is None:
            continue
        ratio = float(sequence_sums.share(np.ptp(grid.y_edges), np.ptp(grid.x_edges), nothing=1.0))
        x, y = (_bounds(_widened(edges)) for edges in (grid.x_edges, grid.y_edges))
        rows += [
            {
                "submission": name,
                **_box(x[at[0]], y[at[1]]),
                "recall": float(grid.recall[at]),
                "found": int(grid.n_found[at]),
                "truths": int(grid.n_truth[at]),
            }
            for at in map(tuple, np.argwhere(grid.n_truth > 0).tolist())
        ]
    return rows, ratio


def _widened(edges: np.ndarray) -> np.ndarray:
    """Edges of which the outer ones lie a little farther out: the viewer rounds coordinates, also those on an edge."""
    slack = 1e-3 * (edges[1] - edges[0])
    return np.concatenate([[edges[0] - slack], edges[1:-1], [edges[-1] + slack]])


def _bounds(edges: np.ndarray) -> list[list[float]]:
    """The least and the greatest value of each bin; a value on an edge between two is in the second only."""
    upper = np.nextafter(edges[1:], -np.inf)
    upper[-1] = edges[-1]
    return np.column_stack([edges[:-1], upper]).tolist()


def bin_edges(matches: pd.DataFrame, names: Sequence[str], rule: Rule) -> dict[str, np.ndarray]:
    """The edges of the bins that these charts count in.

    They are those of the `measure` of pairs, of the centres of truths along `x` and `y`, and of each `offset`. What is
    shown of a bar or of a cell is what they count only if values stay in their bins when they are rounded.
    """
    edges = {"measure": _measure_edges(measure_range(rule), MEASURE_BINS)}
    if rule.by_distance:
        edges["offset"] = _offset_edges(offset_reach(matches, rule), RESIDUAL_BINS)
    grids = (recall_grid(table, MAP_COLUMNS) for _, table in by_name(matches, names))
    grid = next((grid for grid in grids if grid is not None), None)  # submissions have the same truths
    return edges if grid is None else edges | {"x": _widened(grid.x_edges), "y": _widened(grid.y_edges)}


def _measure_edges(ends: tuple[float, float], bins: int) -> np.ndarray:
    """The edges of the bins of distances or of similarities between these ends."""
    return np.linspace(*ends, bins + 1)


def _offset_edges(reach: float, bins: int) -> np.ndarray:
    """The edges of the bins of predicted minus true coordinates, the inner ones with the digits that are shown."""
    edges = np.linspace(-reach, reach, bins + 1)
    return np.array([-reach, *(float(f"{edge:.6g}") for edge in edges[1:-1]), reach])


def measures(matches: pd.DataFrame, names: Sequence[str], rule: Rule, bins: int = MEASURE_BINS) -> Drawing | None:
    """The histogram of the distances, or of the similarities, of the true positives, with their limits marked.

    What the rule does not know of its limits is left out. None without true positives.
    """
    hits = _hits(matches, names, rule, bins)
    if not hits:
        return None
    low, high = hits[0]["from"], hits[-1]["to"]
    unit = unit_of_distances(rule.unit) if rule.by_distance else ""
    scale = {"domain": [low, low + (high - low) * 1.02], "nice": False}
    told = [(f"{end}:Q", with_unit(end, unit), ".4~g") for end in ("from", "to")]
    bars = marks(
        "hits",
        "bar",
        {"color": SERIES[0]},
        x=channel("from:Q", bin="binned", title=measure_title(rule), scale=scale),
        x2="to",
        y=channel("n:Q", title="true positives", axis={"tickMinStep": 1}),
        tooltip=tooltips(*told, ("n:Q", "true positives", ",")),
    )
    limits = [{"at": at, "limit": text} for at, text in measure_limits(rule)]
    texts = [text for _, text in measure_limits(rule)]
    colors = {"domain": texts, "range": [SERIES[1], SERIES[3]][-len(texts) :]}
    dashes = {"domain": texts, "range": [[5, 3], [1, 0]][-len(texts) :]}
    legend = {"columns": 1, "symbolType": "stroke", "labelLimit": 260}
    rules = marks(
        "limits",
        "rule",
        {"strokeWidth": 2},
        x="at:Q",
        color=channel("limit:N", title=None, scale=colors, legend=legend),
        strokeDash=channel("limit:N", title=None, scale=dashes),
        tooltip=channel("limit:N", title="limit"),
    )
    column = "distance" if rule.by_distance else "similarity"
    filters = [OF_SUBMISSION, {"column": column, "from": "from", "to": "to"}]
    chart, data = layered(of_picked(bars, names), rules), {"hits": hits, "limits": limits}
    about = measures_title(measure_name(rule))
    return Drawing(chart, data, about, picks=short_names(names), filters=filters)


def _hits(matches: pd.DataFrame, names: Sequence[str], rule: Rule, bins: int) -> Rows:
    """The histogram of distances, or of similarities, of true positives; no rows if there are none."""
    rows, column = [], schema.measure_of(matches)
    ends = measure_ends(rule, matches[column])
    for name, table in by_name(matches, names):
        values = table[column].dropna().to_numpy(np.float64)
        counts, edges = np.histogram(values, bins=_measure_edges(ends, bins))
        rows += [
            {"submission": name, "from": low, "to": high, "n": n}
            for (low, high), n in zip(_bounds(edges), counts.tolist(), strict=True)
        ]
    return rows if any(row["n"] for row in rows) else []


def residuals(matches: pd.DataFrame, names: Sequence[str], rule: Rule, bins: int = RESIDUAL_BINS) -> Drawing | None:
    """The map of predicted minus true coordinates of the true positives, with their mean, and tau as a circle.

    There are so many bins along each axis. The rule is by distance; of a caller's distance, tau is no circle of x and
    y, and their unit is not known. None without true positives.
    """
    cells, means = _offset_cells(matches, names, _offset_edges(offset_reach(matches, rule), bins))
    if not cells:
        return None
    plane, form = plane_of(matches), "+.3~g"
    plane = plane._replace(unit="") if rule.named_distance else plane
    x, y = _axes(plane, [plane.offset_title(axis) for axis in "xy"])
    scale, legend = {"type": "sqrt", "scheme": SEQUENTIAL}, {"gradientLength": 200}
    color = channel("n:Q", title="true positives", scale=scale, legend=legend)
    heat = _cells("cells", x, y, color, [("n:Q", "true positives", ","), *_sides_told(plane, form)])
    look = {"shape": "cross", "filled": True, "size": 160, "opacity": 1, "color": SERIES[3], "stroke": "white"}
    told = [(f"{axis}:Q", with_unit(f"mean {name}", plane.unit), form) for axis, name in _directions(plane).items()]
    mean = marks("means", "point", look, x=x, y=y, tooltip=tooltips(*told))
    ring = marks("ring", "line", {"color": INK, "strokeWidth": 1}, x=x, y=y, order="order:Q")
    chart = layered(of_picked(heat, names), of_picked(mean, names), ring)
    data = {"cells": cells, "means": means, "ring": [] if rule.image_tau is None else _circle(rule.image_tau)}
    return _map(chart, data, residuals_title(), 1.0, names, _within("offset_x", "offset_y"))


def _offset_cells(matches: pd.DataFrame, names: Sequence[str], edges: np.ndarray) -> tuple[Rows, Rows]:
    """Counts of true positives in bins of predicted minus true coordinates, and the mean of each submission.

    The coordinates of boxes are those of their centres.
    """
    bounds = _bounds(edges)
    cells: Rows = []
    means: Rows = []
    for name, table in by_name(matches, names):
        hits = table[table["outcome"].array.codes == schema.TP]
        dx, dy = offsets(hits)
        counts, _, _ = np.histogram2d(dx, dy, bins=[edges, edges])
        cells += [
            {"submission": name, **_box(bounds[column], bounds[row]), "n": int(counts[column, row])}
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


def _box(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """The sides (px) of one cell of a grid."""
    return dict(zip(("x", "x2", "y", "y2"), (*x, *y), strict=True))
