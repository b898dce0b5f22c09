"""The data of the page's charts: rows of plain values, counted and averaged from the report's tables."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from os.path import commonprefix
from typing import Any

import numpy as np
import pandas as pd

from ...matching.rule import Rule
from ...scoring.match_sums import share
from ...tables.match_sides import offsets
from ...tables.schema import TP, measure_of
from ..display import words
from ..image_plane import recall_grid
from .rule_texts import measure_range

Rows = list[dict[str, Any]]

# The counts of bins of the histogram of distances or similarities, of bins along each axis of residuals, and of columns
# of the map.
MEASURE_BINS, RESIDUAL_BINS, MAP_COLUMNS = 40, 41, 16

# The longest name of a submission that charts have room for, in characters.
LONGEST_NAME = 18

# With more submissions than this, only differences between neighbours on the leaderboard are drawn.
MOST_PAIRED = 4


def short_names(names: Sequence[str]) -> list[str]:
    """Shortens long names: first their common beginning is cut off, then their middle; equal results are numbered.

    Each name begins with a space of no width. Without it, Vega would take a name such as "constructor" for a property
    that every JavaScript object has.
    """
    half = LONGEST_NAME // 2
    shared = commonprefix(list(names))  # noqa: RUF071 - names, not paths
    shared = re.sub(r"[a-zA-Z0-9]*$", "", shared)  # whole words only
    if len(names) > 1 and max(map(len, names)) > LONGEST_NAME and shared:
        names = [f"…{name.removeprefix(shared)}" for name in names]
    short = [name if len(name) <= LONGEST_NAME else f"{name[: half - 2]}…{name[-half - 1 :]}" for name in names]
    numbered = [f"{place} {name}" if short.count(name) > 1 else name for place, name in enumerate(short, 1)]
    return [f"\u200b{name}" for name in numbered]


def differences(pairs: pd.DataFrame, names: Sequence[str], metric: str, confidence: float) -> Rows:
    """The differences of a metric with their intervals, one row a pair; of many submissions only of neighbours.

    `pairs` has one row for each pair and metric.
    """
    known = pairs[(pairs["metric"] == metric) & pairs["estimate"].notna()]
    if len(names) > MOST_PAIRED:
        neighbours = {*pairwise(names)}
        known = known[[pair in neighbours for pair in zip(known["a"], known["b"], strict=True)]]
    short = dict(zip(names, short_names(names), strict=True))
    return [
        {
            "pair": f"{short[row['a']]} − {short[row['b']]}",
            "sure": "yes" if row["p_adjusted"] < 1 - confidence else "no",
            "estimate": row["estimate"],
            "low": row["low"],
            "high": row["high"],
            "p": row["p_adjusted"],
        }
        for row in known.to_dict("records")
    ]


def error_costs(costs: pd.DataFrame) -> Rows:
    """The gain of correcting each kind of error alone, one row for each submission and kind."""
    return [
        {
            "submission": str(row["submission"]),
            "kind": words(row["kind"]),
            "gain": row["f1_gain"],
            "misses": int(row["n_misses"]),
            "alarms": int(row["n_false_alarms"]),
        }
        | ({"mse": row["mse_gain"]} if "mse_gain" in row else {})
        for row in costs[costs["kind"] != "all"].to_dict("records")
    ]


def recall_map(matches: pd.DataFrame, names: Sequence[str]) -> tuple[Rows, float]:
    """Recall in each cell of the image that has truths, and the ratio of the image's height to its width."""
    rows, ratio = [], 1.0
    for name, table in _each(matches, names):
        grid = recall_grid(table, MAP_COLUMNS)
        if grid is None:
            continue
        ratio = float(share(np.ptp(grid.y_edges), np.ptp(grid.x_edges), nothing=1.0))
        recall = grid.recall
        for column, row in np.argwhere(grid.n_truth > 0).tolist():
            n_truth, n_found = int(grid.n_truth[column, row]), int(grid.n_found[column, row])
            numbers = {"recall": float(recall[column, row]), "found": n_found, "truths": n_truth}
            rows.append({"submission": name, **_box(grid.x_edges, grid.y_edges, column, row), **numbers})
    return rows, ratio


def measures(matches: pd.DataFrame, names: Sequence[str], rule: Rule) -> Rows:
    """The histogram of distances (px), or of similarities, of true positives; no rows if there are none."""
    rows = []
    for name, table in _each(matches, names):
        values = table[measure_of(table)].dropna().to_numpy(np.float64)
        counts, edges = np.histogram(values, bins=MEASURE_BINS, range=measure_range(rule))
        rows += [
            {"submission": name, "from": low, "to": high, "n": n}
            for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        ]
    return rows if any(row["n"] for row in rows) else []


def residuals(matches: pd.DataFrame, names: Sequence[str], tau: float) -> tuple[Rows, Rows]:
    """Counts of true positives by predicted minus true coordinates (px), and the mean of each submission.

    The coordinates of boxes are those of their centres.
    """
    edges = np.linspace(-tau, tau, RESIDUAL_BINS + 1)
    cells: Rows = []
    means: Rows = []
    for name, table in _each(matches, names):
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


def circle(radius: float) -> Rows:
    """The points of a circle around 0, 0, in order."""
    angles = np.linspace(0, 2 * np.pi, 73)
    points = zip((radius * np.cos(angles)).tolist(), (radius * np.sin(angles)).tolist(), strict=True)
    return [{"x": x, "y": y, "order": order} for order, (x, y) in enumerate(points)]


def sweep(table: pd.DataFrame) -> Rows:
    """The metrics at each row of a table of a sweep."""
    names = [name for name in ("score_threshold", "HOTA", "f1", "precision", "recall", "mse") if name in table]
    return [
        {"submission": str(row["submission"])} | {name: row[name] for name in names} for row in table.to_dict("records")
    ]


def _box(x_edges: np.ndarray, y_edges: np.ndarray, column: int, row: int) -> dict[str, float]:
    """The sides (px) of one cell of a grid."""
    sides = x_edges[column], x_edges[column + 1], y_edges[row], y_edges[row + 1]
    return {name: float(f"{side:.6g}") for name, side in zip(("x", "x2", "y", "y2"), sides, strict=True)}


def _each(matches: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The match table of each submission, with its name."""
    codes = matches["submission"].cat.codes.to_numpy()
    return ((name, matches[codes == code]) for code, name in enumerate(names))
