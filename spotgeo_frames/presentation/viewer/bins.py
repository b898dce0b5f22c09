"""Rounds distances, similarities and places so that each stays in its bin.

Charts count in bins, and the viewer shows the rows of a bin. It has numbers rounded to fewer digits, which could be on
the other side of an edge; these are rounded the other way.
"""

from collections.abc import Mapping

import numpy as np

from ...tables.schema import SIDE_PREFIXES
from .extents import SIZES
from .packing import Column

# By so many units of the last digit a sum of four rounded numbers may be off.
MOST_STEPS = 3

Numbers = np.ndarray


def rounded_in_bins(
    columns: Mapping[str, Column], edges: Mapping[str, Numbers], measure: str, digits: Mapping[str, int]
) -> dict[str, Numbers]:
    """The columns of match tables that bins count, rounded: the measure of pairs, and the x and y of both sides.

    `edges` are those of bins of the `measure`, of the centres of truths along `x` and `y`, and of each `offset`, which
    is a predicted minus a true centre; without edges a column is not there. `measure` is the name of its column.
    """
    rounded: dict[str, Numbers] = {}
    if measure in columns and "measure" in edges:
        values = np.asarray(columns[measure])
        rounded[measure] = _kept(values, digits["measure"], edges["measure"], values)
    for axis in SIZES:
        (x, centre, half), (x_predicted, centre_predicted, half_predicted) = (
            _side(columns, prefix, axis, digits[axis]) for prefix in SIDE_PREFIXES
        )
        names = [f"{prefix}{axis}" for prefix in SIDE_PREFIXES]
        if axis in edges:
            x = rounded[names[0]] = _kept(x, digits[axis], edges[axis], centre, half)
        if "offset" in edges:
            centre_shown = _rounded(x, digits[axis]) + half
            offset = centre_predicted - centre
            rounded[names[1]] = _kept(x_predicted, digits[axis], edges["offset"], offset, half_predicted, centre_shown)
    return rounded


def _side(columns: Mapping[str, Column], prefix: str, axis: str, digits: int) -> tuple[Numbers, Numbers, Numbers]:
    """The places along an axis, the centres, and half of the rounded sizes, which are 0 for points, px."""
    places = np.asarray(columns[f"{prefix}{axis}"])
    sizes = np.asarray(columns.get(f"{prefix}{SIZES[axis]}", np.zeros(len(places))))
    return places, places + sizes / 2, _rounded(sizes, digits) / 2


def _kept(
    values: Numbers,
    digits: int,
    edges: Numbers,
    counted: Numbers,
    plus: Numbers | float = 0.0,
    minus: Numbers | float = 0.0,
) -> Numbers:
    """Rounds `values`, of which the bins count `counted`, so that `values + plus - minus` is in the same bin."""
    unit = 10.0**digits
    wanted = np.searchsorted(edges, counted, side="right")
    whole = np.rint(values * unit)
    for _ in range(MOST_STEPS):
        whole -= np.sign(np.searchsorted(edges, whole / unit + plus - minus, side="right") - wanted)
    return whole / unit


def _rounded(values: Numbers, digits: int) -> Numbers:
    """Rounds as columns are packed and read again."""
    return np.rint(values * 10.0**digits) / 10.0**digits
