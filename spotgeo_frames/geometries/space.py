"""Points in space: `x`, `y` and `z`, in one unit, which messages call px. They are measured by their distance."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..tables import Columns
from .facts import Extents, Geometry, Offsets, Places, Rows, difference, swap_of

if TYPE_CHECKING:
    import pandas as pd

AXES = ("x", "y", "z")

# x, y and z (N,) of N rows.
Points = tuple[np.ndarray, ...]


def _prepared(table: Columns) -> Points:
    """The places of a side; a table without rows may lack their columns."""
    return tuple(np.asarray(table[name]) if name in table else np.zeros(0) for name in AXES)


def _measure(truth: Points, predictions: Points, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The distances of pairs of rows, (P,): sqrt(dx*dx + dy*dy + dz*dz) in float64; infinite if too large to square."""
    dx, dy, dz = (
        difference(claimed.take(others), true.take(rows)) for claimed, true in zip(predictions, truth, strict=True)
    )
    with np.errstate(over="ignore"):
        return np.sqrt(dx * dx + dy * dy + dz * dz)


def _reach(truth: Points, predictions: Points, farthest: float) -> tuple[Extents, Extents]:
    """The truths as they are, and the predictions with all that is as far away as `farthest` along x or y."""
    (x, y, _), (x2, y2, _) = truth, predictions
    return Extents(x, y, 0.0, 0.0), Extents(x2, y2, farthest, farthest)


def _place(rows: Rows) -> Places:
    return rows["x"], rows["y"]


def _offsets(truth: Rows, predictions: Rows) -> np.ndarray:
    """Predicted minus true places, (N, 1, 3)."""
    return np.column_stack([predictions[axis] - truth[axis] for axis in AXES])[:, None]


def _moved(predictions: pd.DataFrame, offset: np.ndarray) -> pd.DataFrame:
    """Points without an offset of each, (N, 1, 3)."""
    return predictions.assign(
        **{axis: predictions[axis] - along for axis, along in zip(AXES, offset[:, 0].T, strict=True)}
    )


SPACE = Geometry(
    "space",
    AXES,
    _prepared,
    _measure,
    _reach,
    is_distance=True,
    words="points in space",
    title="point similarity",
    place=_place,
    third="z",
    offsets=Offsets(["dx", "dy", "dz"], [""], _offsets, _moved, np.asarray),
    slips=tuple(swap_of(one, other) for one, other in combinations(AXES, 2)),
)
