"""How near a truth and a prediction are, computed for many pairs at once.

A distance is in pixels, 0 where they coincide. A similarity is 0 (nothing in common) to 1 (the same).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..support.arrays import exp

if TYPE_CHECKING:
    import pandas as pd

# The caller's own similarity: a function of two DataFrames of equal length, whose rows k are a truth and a prediction,
# that returns a similarity from 0 to 1 for each row.
Measure = Callable[["pd.DataFrame", "pd.DataFrame"], np.ndarray]

# Left, top, width and height, pixels; an array (4, N) or four arrays.
Boxes = np.ndarray | Sequence[np.ndarray]

# The spacing of float64 at 1. trackeval tolerates this much at its thresholds, and takes a smaller area for 0.
ROUNDING = float(np.finfo(np.float64).eps)

# The distance in head sizes at which two joints have nothing in common, for the PoseTrack21 evaluation kit.
ZERO_HEAD_SIZES = 0.5001


def difference(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left - right (px); infinite, without a warning, if the difference is too large for float64."""
    with np.errstate(over="ignore"):
        return left - right


def point_distance(dx: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Euclidean distance (px) of pairs that differ by dx and dy (px): sqrt(dx*dx + dy*dy) in float64.

    The competition's numbers come from this formula; np.hypot rounds differently. Coordinates too large to be squared
    are infinitely far apart.
    """
    with np.errstate(over="ignore"):
        return np.sqrt(dx * dx + dy * dy)


def point_similarity(distance: np.ndarray, zero_distance: float) -> np.ndarray:
    """max(0, 1 - distance / zero_distance), both in pixels: trackeval's similarity of points."""
    return np.maximum(0.0, 1.0 - distance / zero_distance)


def keypoint_similarity(distance: np.ndarray) -> np.ndarray:
    """max(0, 1 - d / ZERO_HEAD_SIZES) of distances in head sizes, in the order of operations of the PoseTrack21 kit."""
    return np.maximum((-1 / ZERO_HEAD_SIZES) * distance + 1, 0)


def iou(truth: Boxes, predictions: Boxes) -> np.ndarray:
    """Intersection over union of N pairs of boxes, (N,).

    Each side is four arrays (N,): left, top, width and height in pixels. The order of operations is that of trackeval's
    box_ious, so that the results are equal to the last bit: far edges first, areas from the edges, and 0 if an area or
    the union is not above 2**-52. So a box of zero or negative size overlaps with nothing. The result is also 0 if an
    area is too large for float64.

    >>> iou(np.array([[0.0], [0.0], [10.0], [10.0]]), np.array([[5.0], [0.0], [10.0], [10.0]])).round(3).tolist()
    [0.333]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        shared, area, area2 = _areas(truth, predictions)
        union = area + area2 - shared
        real = (area > ROUNDING) & (area2 > ROUNDING) & (union > ROUNDING) & (union < np.inf)
        return np.divide(shared, union, out=np.zeros(len(shared)), where=real)


def coco_iou(truth: Boxes, predictions: Boxes, is_crowd: bool | np.ndarray) -> np.ndarray:
    """Intersection over union of N pairs of boxes, (N,), in the order of operations of pycocotools (maskApi.c, bbIou).

    Where `is_crowd`, which is one flag or (N,), the union is the prediction's own area. Each side is four arrays (N,):
    left, top, width and height in pixels. Areas are width times height, so a pair may differ from `iou` in its last
    bit; boxes that only touch have 0.

    >>> a, b = np.array([[0.0], [0.0], [10.0], [10.0]]), np.array([[5.0], [0.0], [10.0], [10.0]])
    >>> coco_iou(a, b, np.array([False])).round(3).tolist(), coco_iou(a, b, np.array([True])).tolist()
    ([0.333], [0.5])
    """
    (left, top, width, height), (left2, top2, width2, height2) = truth, predictions
    with np.errstate(over="ignore", invalid="ignore"):
        across = np.minimum(left2 + width2, left + width) - np.maximum(left2, left)
        down = np.minimum(top2 + height2, top + height) - np.maximum(top2, top)
        shared, area = across * down, width2 * height2
        union = np.where(is_crowd, area, area + width * height - shared)
        return np.divide(shared, union, out=np.zeros(len(shared)), where=(across > 0) & (down > 0))


def covered_share(truth: Boxes, predictions: Boxes) -> np.ndarray:
    """The share of each prediction's own area that lies within the truth, of N pairs of boxes, (N,).

    This is what pycocotools (maskUtils.iou with iscrowd) has in place of the IoU where the truth is a crowd. Each side
    is four arrays (N,): left, top, width and height in pixels. A prediction without an area, or with one that is too
    large for float64, has a share of 0.

    >>> covered_share(np.array([[0.0], [0.0], [90.0], [90.0]]), np.array([[80.0], [0.0], [20.0], [10.0]])).tolist()
    [0.5]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        shared, _, area = _areas(truth, predictions)
        return np.divide(shared, area, out=np.zeros(len(shared)), where=(area > ROUNDING) & (area < np.inf))


def _areas(truth: Boxes, predictions: Boxes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The areas (px²) that N pairs of boxes share, and those of the truths and of the predictions."""
    (left, top, width, height), (left2, top2, width2, height2) = truth, predictions
    right, bottom, right2, bottom2 = left + width, top + height, left2 + width2, top2 + height2
    shared = np.maximum(np.minimum(right, right2) - np.maximum(left, left2), 0.0)
    shared *= np.maximum(np.minimum(bottom, bottom2) - np.maximum(top, top2), 0.0)
    return shared, (right - left) * (bottom - top), (right2 - left2) * (bottom2 - top2)


def oks(
    truth: np.ndarray,
    labelled: np.ndarray,
    area: np.ndarray,
    boxes: Boxes,
    predictions: np.ndarray,
    sigmas: np.ndarray,
) -> np.ndarray:
    """Object keypoint similarity of N pairs of poses, (N,): the mean over labelled joints of exp(-d² / (2 s² k²)).

    The formula is that of pycocotools 2.0.11 (cocoeval.py, computeOks): d is the distance of a joint (px), s² the area
    of the truth (px²), and k twice the joint's sigma. If no joint of the truth is labelled, the mean is over all
    joints, and d is how far the predicted joint lies outside the truth's box, enlarged three times about its middle. A
    joint that a prediction lacks counts as infinitely far; pycocotools has no such predictions.

    `truth` and `predictions` are the x and y of the joints, (N, J, 2), in pixels, and null for missing joints.
    `labelled` (N, J) marks the truth's labelled joints. `area` is (N,) in px², `boxes` are four arrays (N,) in pixels
    (left, top, width, height), and `sigmas` (J,) are shares of the object's size.
    """
    left, top, width, height = (side[:, None] for side in boxes)
    (x, y), any_labelled = np.moveaxis(predictions, 2, 0), labelled.any(axis=1, keepdims=True)
    variances = (sigmas * 2) ** 2
    with np.errstate(over="ignore", invalid="ignore"):  # a distance too large to be squared counts as infinite
        outside = [
            np.maximum(0.0, start - size - here) + np.maximum(0.0, here - (start + size * 2))
            for here, start, size in ((x, left, width), (y, top, height))
        ]
        dx, dy = (np.where(any_labelled, predictions[..., axis] - truth[..., axis], outside[axis]) for axis in (0, 1))
        exponents = (dx * dx + dy * dy) / variances / (area[:, None] + np.spacing(1)) / 2
    counted = labelled | ~any_labelled
    near = np.where(counted & ~np.isnan(exponents), exp(-exponents), 0.0)
    return near.sum(axis=1) / np.count_nonzero(counted, axis=1)
