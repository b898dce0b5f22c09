"""Recall in the cells of a grid over the image, from which maps of recall are drawn."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ...geometries.points import centres, offsets
from ...matching.rule import Rule
from ...scoring.registry import values_of
from ...tables.match_sides import check_coordinates
from ...tables.schema import FN, PREFIXES, TP


class RecallGrid(NamedTuple):
    """Counts in the cells of a grid over the image.

    Attributes
    ----------
    x_edges, y_edges
        The edges of the columns and of the rows (px), (columns + 1,) and (rows + 1,).
    n_truth, n_found
        The count of truths in each cell, and of those that are found, (columns, rows).
    """

    x_edges: np.ndarray
    y_edges: np.ndarray
    n_truth: np.ndarray
    n_found: np.ndarray

    @property
    def recall(self) -> np.ndarray:
        """The share of truths that are found, (columns, rows); null where there is no truth."""
        return values_of({"tp": self.n_found, "fn": self.n_truth - self.n_found}, ["recall"])["recall"]


def recall_grid(table: pd.DataFrame, columns: int) -> RecallGrid | None:
    """Counts the truths of a checked match table in a grid of square cells, `columns` wide; None without truths.

    Boxes count where their centres are. Truths with null or infinite coordinates have no place, so they do not count.
    Raises InputError where the table has no coordinates of truths (`truth_x`, `truth_y`).
    """
    check_coordinates(table, ["truth"])
    outcome = table["outcome"].array.codes
    x, y = centres(table, PREFIXES["truth"])
    rows = np.isin(outcome, [TP, FN]) & np.isfinite(x) & np.isfinite(y)
    x, y = x[rows], y[rows]
    if not len(x):
        return None
    width, height = max(np.ptp(x), 1e-9), max(np.ptp(y), 1e-9)
    n_rows = int(np.clip(round(columns * height / width), 1, 4 * columns))
    n_truth, x_edges, y_edges = np.histogram2d(x, y, bins=[columns, n_rows])
    found = outcome[rows] == TP
    n_found, _, _ = np.histogram2d(x[found], y[found], bins=[x_edges, y_edges])
    return RecallGrid(x_edges, y_edges, n_truth, n_found)


def offset_reach(matches: pd.DataFrame, rule: Rule) -> float:
    """How far predicted minus true coordinates are drawn: tau (px), or the farthest where a caller's distance measures.

    The rule is by distance.
    """
    if not rule.own_distance:
        return rule.largest_cost
    dx, dy = offsets(matches)
    return float(np.nanmax(np.abs([dx, dy]), initial=0.0)) or 1.0
