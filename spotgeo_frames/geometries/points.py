"""Points: `x` and `y`, in pixels. They are measured by their distance, and so is any row that has a middle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..support import InputError, arrays
from ..tables import schema
from .boxes import BOXES
from .facts import SWAP, Extents, Geometry, Offsets, Places, Rows, difference, sides_of_matches
from .registered import GEOMETRIES

if TYPE_CHECKING:
    import pandas as pd


def point_distance(dx: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Euclidean distance (px) of pairs that differ by dx and dy (px): sqrt(dx*dx + dy*dy) in float64.

    The competition's numbers come from this formula; np.hypot rounds differently. Coordinates too large to be squared
    are infinitely far apart.
    """
    with np.errstate(over="ignore"):
        return np.sqrt(dx * dx + dy * dy)


def point_similarity(distance: np.ndarray, zero_distance: float) -> np.ndarray:
    """max(0, 1 - distance / zero_distance), both in one unit: trackeval's similarity of points."""
    return np.maximum(0.0, 1.0 - distance / zero_distance)


def measure(truth: Places, predictions: Places, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The distances (px) of pairs of rows of two sides of places, (P,)."""
    dx, dy = (
        difference(claimed.take(others), true.take(rows)) for claimed, true in zip(predictions, truth, strict=True)
    )
    return point_distance(dx, dy)


def reach(truth: Places, predictions: Places, farthest: float) -> tuple[Extents, Extents]:
    """The truths as they are, and the predictions with all that is as far away as `farthest` (px) along x or y."""
    return Extents(*truth, 0.0, 0.0), Extents(*predictions, farthest, farthest)


def geometry_of(columns: Any, prefix: str = "") -> Geometry:
    """The geometry of a table with these columns: one that has columns of its own, or boxes, or points.

    `prefix` is that of a match table's columns. Raises InputError where two geometries fit equally well.
    """
    name = schema.geometry_name(columns, prefix)
    return built_in_geometry(columns, prefix) if name is None else GEOMETRIES[name]


def built_in_geometry(columns: Any, prefix: str = "") -> Geometry:
    """What rows with these columns are for a built-in rule, whatever is registered: boxes or points."""
    return BOXES if BOXES.is_of(columns, prefix) else POINTS


def centres(table: Any, prefix: str = "") -> Places:
    """x and y (px) of the middles of rows, whatever their geometry; if it knows none, x and y, or else null.

    `prefix` is that of a match table's columns.
    """
    geometry, rows = geometry_of(table, prefix), Rows(table, prefix)
    if geometry.place is not None:
        return geometry.place(rows)
    if POINTS.is_of(table, prefix):
        return _place(rows)
    return np.full(len(table), np.nan), np.full(len(table), np.nan)


def with_places(matches: pd.DataFrame, axes: Any = None, who: str = "plots") -> pd.DataFrame:
    """A match table whose rows have x and y on both sides, for pictures: the middles, where a geometry has others.

    Those that are drawn as boxes have x, y, w and h of these. They are null where the geometry knows no middle. Where
    middles lie in no plane, as in the sky, the rows are then points in a chart of their sequence, and the note `chart`
    has the name of the geometry. Points in space have two of their columns, `axes`, as x and y, which the note `axes`
    names; x and y without a word. Raises InputError, which begins with `who`, if `axes` are none.
    """
    places: dict[str, np.ndarray] = {}
    geometries = [geometry_of(matches, prefix) for prefix in schema.SIDE_PREFIXES]
    if axes is not None:
        return _seen_along(matches, axes, geometries, who)
    chart = geometries[0].chart if geometries[0] is geometries[1] else None
    if chart is not None:
        sequence, _ = arrays.grouped(arrays.row_keys(matches, ["sequence"]))
        of_sides = chart(*sides_of_matches(matches), sequence)
        places = {
            f"{prefix}{axis}": along
            for prefix, side in zip(schema.SIDE_PREFIXES, of_sides, strict=True)
            for axis, along in zip("xy", side, strict=True)
        }
        charted = matches.assign(**places)
        charted.attrs = matches.attrs | {"chart": geometries[0].name}
        return charted
    for prefix, geometry in zip(schema.SIDE_PREFIXES, geometries, strict=True):
        if geometry.drawn_box is not None:
            names = [f"{prefix}{name}" for name in schema.BOX]
            places |= dict(zip(names, geometry.drawn_box(Rows(matches, prefix)), strict=True))
        elif schema.geometry_name(matches, prefix) is not None and not POINTS.is_of(matches, prefix):
            places |= dict(zip((f"{prefix}x", f"{prefix}y"), centres(matches, prefix), strict=True))
    return matches.assign(**places) if places else matches


def _seen_along(matches: pd.DataFrame, axes: Any, geometries: list[Geometry], who: str) -> pd.DataFrame:
    """A match table of points in space with two of their columns as x and y."""
    [one, other] = geometries
    known = one.columns if one is other and one.third else ()
    if not known:
        raise InputError(f"{who}: axes chooses two of the axes of points in space, and these rows have no z")
    is_pair = isinstance(axes, tuple | list) and len(axes) == 2 and axes[0] != axes[1]
    if not is_pair or not all(axis in known for axis in axes):
        raise InputError(f'{who}: axes is {axes!r}; two of {", ".join(known)} are needed, such as ("x", "z")')
    columns = {
        f"{prefix}{to}": matches[f"{prefix}{of}"]
        for prefix in schema.SIDE_PREFIXES
        for to, of in zip("xy", axes, strict=True)
    }
    seen = matches.assign(**columns)
    seen.attrs = matches.attrs | {"axes": tuple(axes)}
    return seen


def offsets(matches: Any) -> Places:
    """Predicted minus true x and y of the middles of every row of a match table; null unless TP."""
    (true_x, true_y), (x, y) = (centres(matches, prefix) for prefix in schema.SIDE_PREFIXES)
    return x - true_x, y - true_y


def _offsets(truth: Rows, predictions: Rows) -> np.ndarray:
    """Predicted minus true middles (px), (N, 1, 2)."""
    (x, y), (true_x, true_y) = (centres(rows.table, rows.prefix) for rows in (predictions, truth))
    return np.column_stack([x - true_x, y - true_y])[:, None]


def _moved(predictions: pd.DataFrame, offset: np.ndarray) -> pd.DataFrame:
    """Points without an offset of each, (N, 1, 2)."""
    dx, dy = offset[:, 0].T
    return predictions.assign(x=predictions["x"] - dx, y=predictions["y"] - dy)


def _place(rows: Rows) -> Places:
    return rows["x"], rows["y"]


POINTS = Geometry(
    "points",
    ("x", "y"),
    centres,
    measure,
    reach,
    is_distance=True,
    title="point similarity",
    place=_place,
    offsets=Offsets(["dx", "dy"], [""], _offsets, _moved, np.asarray),
    slips=(SWAP,),
)
