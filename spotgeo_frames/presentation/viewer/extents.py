"""The area of each sequence that the viewer shows first, and how exact its coordinates need to be."""

import numpy as np
import pandas as pd

from ...geometries.boxes import has_boxes
from ...geometries.poses import pose_joints
from ...tables.columns import as_numbers
from ...tables.schema import SIDE_PREFIXES

# Coordinates are rounded this many digits after the first digit of tau, which is finer than any screen. After matching
# by similarity there is no tau; then a length is taken that is this share of the width of all sequences.
DIGITS = 3
SEEN = 0.02

# The area of a sequence is at least this share of that of all sequences, so that a single object is not enlarged to
# nothing but itself.
SMALLEST = 0.1

SIZES = {"x": "w", "y": "h"}


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
    truth, predicted = (_reach(matches, prefix, axis) for prefix in SIDE_PREFIXES)
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


def _reach(matches: pd.DataFrame, prefix: str, axis: str) -> np.ndarray:
    """From where to where (px) each row's object reaches along an axis, (2, N): a point, a box, or all joints."""
    near = as_numbers(matches[f"{prefix}{axis}"])
    far = near + as_numbers(matches[f"{prefix}{SIZES[axis]}"]) if has_boxes(matches, prefix) else near
    for joint in pose_joints(matches):
        place = as_numbers(matches[f"{prefix}{axis}_{joint}"])
        near, far = np.fmin(near, place), np.fmax(far, place)
    return np.stack([near, far])
