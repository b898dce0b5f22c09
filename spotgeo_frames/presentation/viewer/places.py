"""Where things are: the area of each sequence that the viewer shows first, and how exact coordinates need to be.

Charts count in bins, and the viewer shows the rows of a bin. It has numbers rounded to fewer digits, which could be on
the other side of an edge; these are rounded the other way, so that each stays in its bin.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...geometries import Rows, geometry_of, pose_joints
from ...tables import as_numbers, schema
from .packing import Column

# Coordinates are rounded this many digits after the first digit of tau, which is finer than any screen. After matching
# by similarity there is no tau; then a length is taken that is this share of the width of all sequences.
DIGITS = 3
SEEN = 0.02

# The area of a sequence is at least this share of that of all sequences, so that a single object is not enlarged to
# nothing but itself.
SMALLEST = 0.1

SIZES = {"x": "w", "y": "h"}

# By so many units of the last digit a sum of four rounded numbers may be off.
MOST_STEPS = 3

Numbers = np.ndarray


def extents(matches: pd.DataFrame, sequence: np.ndarray, n_sequences: int, tau: float) -> np.ndarray:
    """The left, right, top and bottom (px) of each sequence, (n_sequences, 4), with a margin.

    The areas hold all truths, and the predictions that are not far outside the truths of all sequences. `sequence` (N,)
    is the position of each row's sequence, and `tau` the largest distance of a true positive (px), 0 if there is none.
    """
    sides = [_along(matches, axis, sequence, n_sequences, tau) for axis in "xy"]
    return np.concatenate(sides, axis=1)


def decimals(length: float) -> int:
    """The count of decimals to which coordinates are rounded, where `length` (px) can surely be seen."""
    return int(np.clip(DIGITS - np.floor(np.log10(length)), 0, 15))


def visible(areas: np.ndarray) -> float:
    """A length (px) that can surely be seen where all of these areas (N, 4) are drawn together."""
    return SEEN * float(areas[:, 1].max() - areas[:, 0].min()) if len(areas) else SEEN


def _along(matches: pd.DataFrame, axis: str, sequence: np.ndarray, n_sequences: int, tau: float) -> np.ndarray:
    """The lower and upper end (px) of each sequence along an axis, (n_sequences, 2)."""
    truth, predicted = (reach(matches, prefix, axis) for prefix in schema.SIDE_PREFIXES)
    low, high = _bounds(truth if np.isfinite(truth).any() else predicted)
    margin = max(0.25 * (high - low), tau)
    near = np.where((predicted >= low - margin) & (predicted <= high + margin), predicted, np.nan)
    places = np.concatenate([truth, near])
    lows, highs = np.full(n_sequences, np.inf), np.full(n_sequences, -np.inf)
    np.fmin.at(lows, sequence, np.fmin.reduce(places, axis=0))
    np.fmax.at(highs, sequence, np.fmax.reduce(places, axis=0))
    low, high = _bounds(np.stack([lows, highs]))
    unknown = lows > highs
    lows[unknown], highs[unknown] = low, high
    # The area keeps a visible size, however large the coordinates are.
    room = max(0.02 * (high - low), 0.2 * tau, 1e-6 * abs(low), 1e-6 * abs(high)) or 1.0
    room = np.maximum(room, 0.5 * (SMALLEST * (high - low) - (highs - lows)))
    return np.stack([lows - room, highs + room], axis=1)


def _bounds(places: np.ndarray) -> tuple[float, float]:
    """The least and the greatest of the finite places; 0 and 1 if there are none."""
    known = places[np.isfinite(places)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)


def reach(matches: pd.DataFrame, prefix: str, axis: str) -> np.ndarray:
    """From where to where (px) each row's object reaches along an axis, (2, N): a point, an outline, or all joints."""
    near = far = as_numbers(matches[f"{prefix}{axis}"])
    geometry = geometry_of(matches, prefix)
    outline = geometry.outline
    if geometry.drawn_box is not None and geometry.drawn_angle is None:  # to find its outline takes longer
        far = near + as_numbers(matches[f"{prefix}{SIZES[axis]}"])
    elif outline is not None:
        along = outline(Rows(matches, prefix))[..., [*SIZES].index(axis)]
        near, far = along.min(axis=1), along.max(axis=1)
    for joint in pose_joints(matches):
        place = as_numbers(matches[f"{prefix}{axis}_{joint}"])
        near, far = np.fmin(near, place), np.fmax(far, place)
    return np.stack([near, far])


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
            _side(columns, prefix, axis, digits[axis]) for prefix in schema.SIDE_PREFIXES
        )
        names = [f"{prefix}{axis}" for prefix in schema.SIDE_PREFIXES]
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
