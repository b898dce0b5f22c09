"""How near a truth and a prediction are: vectorised over rows of pairs, whatever frames they are of.

A distance is in pixels, 0 where they coincide. A similarity is 0 (nothing in common) to 1 (the same).
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

# A measure of the caller's own: two DataFrames of equal length, truths and predictions, row k of both being a pair;
# returns a similarity a row, 0 to 1.
Measure = Callable[[pd.DataFrame, pd.DataFrame], np.ndarray]

# Left, top, width and height, pixels; an array (4, N) or four arrays.
Boxes = np.ndarray | Sequence[np.ndarray]

# The spacing of float64 at 1. trackeval forgives so much at its thresholds, and takes so small an area for none.
ROUNDING = float(np.finfo(np.float64).eps)


def difference(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left - right (px), infinite without a warning where coordinates are too large for their difference."""
    with np.errstate(over="ignore"):
        return left - right


def point_distance(dx: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Euclidean distance (px) of pairs that differ by dx and dy (px): sqrt(dx*dx + dy*dy) in float64.

    Written out, since np.hypot rounds differently, and the competition's numbers come from this formula. Coordinates
    too large to be squared are infinitely far apart.
    """
    with np.errstate(over="ignore"):
        return np.sqrt(dx * dx + dy * dy)


def point_similarity(distance: np.ndarray, zero_distance: float) -> np.ndarray:
    """max(0, 1 - distance / zero_distance), both in pixels: trackeval's similarity of points."""
    return np.maximum(0.0, 1.0 - distance / zero_distance)


def iou(truth: Boxes, predictions: Boxes) -> np.ndarray:
    """Intersection over union of pairs of boxes, (N,); four arrays (N,) each: left, top, width and height in pixels.

    In the order of operations of trackeval's box_ious, so that equal boxes give equal bits: the far edges first, areas
    from the edges, and 0 where an area or the union is not above 2**-52. A box of zero or negative size has no overlap
    with anything. Overlaps too large for float64 are 0.
    """
    (left, top, width, height), (left2, top2, width2, height2) = truth, predictions
    with np.errstate(over="ignore", invalid="ignore"):
        right, bottom, right2, bottom2 = left + width, top + height, left2 + width2, top2 + height2
        shared = np.maximum(np.minimum(right, right2) - np.maximum(left, left2), 0.0)
        shared *= np.maximum(np.minimum(bottom, bottom2) - np.maximum(top, top2), 0.0)
        area, area2 = (right - left) * (bottom - top), (right2 - left2) * (bottom2 - top2)
        union = area + area2 - shared
        real = (area > ROUNDING) & (area2 > ROUNDING) & (union > ROUNDING) & (union < np.inf)
        return np.divide(shared, union, out=np.zeros(len(shared)), where=real)
