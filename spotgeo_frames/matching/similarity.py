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


def oks(
    truth: np.ndarray,
    labelled: np.ndarray,
    area: np.ndarray,
    boxes: Boxes,
    predictions: np.ndarray,
    sigmas: np.ndarray,
) -> np.ndarray:
    """Object keypoint similarity of pairs of poses, (N,): the mean over labelled joints of exp(-d² / (2 s² k²)).

    As pycocotools 2.0.11 has it (cocoeval.py, computeOks): d is the distance of a joint (px), s² the area of the truth
    (px²) and k twice the joint's sigma. Where no joint of the truth is labelled, d is how far each joint of the
    prediction lies outside the truth's box made three times as wide and high about its middle, and the mean is over
    all joints. A joint that a prediction does not have, which pycocotools does not know, counts as infinitely far.

    `truth` and `predictions` are the joints' x and y, (N, J, 2), pixels, null where there is none; `labelled` (N, J)
    marks the truth's; `area` is (N,), `boxes` four arrays (N,), pixels, `sigmas` (J,).
    """
    left, top, width, height = (side[:, None] for side in boxes)
    (x, y), any_labelled = np.moveaxis(predictions, 2, 0), labelled.any(axis=1, keepdims=True)
    variances = (sigmas * 2) ** 2
    with np.errstate(over="ignore", invalid="ignore"):  # what is too far for its square is infinitely far
        outside = [
            np.maximum(0.0, start - size - here) + np.maximum(0.0, here - (start + size * 2))
            for here, start, size in ((x, left, width), (y, top, height))
        ]
        dx, dy = (np.where(any_labelled, predictions[..., axis] - truth[..., axis], outside[axis]) for axis in (0, 1))
        exponents = (dx * dx + dy * dy) / variances / (area[:, None] + np.spacing(1)) / 2
    counted = labelled | ~any_labelled
    near = np.where(counted & ~np.isnan(exponents), np.exp(-exponents), 0.0)
    return near.sum(axis=1) / np.count_nonzero(counted, axis=1)
