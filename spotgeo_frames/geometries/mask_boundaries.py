"""Boundary IoU: the IoU of the pixels of masks near their outlines, which sees what the IoU of large masks hides.

Cheng, Girshick, Dollár, Berg and Kirillov (2021), Boundary IoU: Improving Object-Centric Image Segmentation Evaluation,
CVPR. A pixel of a mask is near its outline if a pixel outside of the mask, or of the image, is within a distance of 2
percent of the image's diagonal, at least one pixel, along each axis. In average precision, as in the authors' code, two
masks are as similar as the lesser of their boundary IoU and their IoU, and crowds are measured as those of masks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..support import memory, run_lengths
from ..tables import Columns
from .facts import Extents
from .mask_changes import FEWER
from .masks import MASKS, Masks, image_of, masks_of, prepared, reach, shares

# The memory for each pixel within the edges of a mask.
BOUNDARY_BYTES = 48

# The distance from the outline, as a share of the image's diagonal.
NEAR = 0.02


class BoundedMasks(NamedTuple):
    """Masks, and those of their pixels that are near their outlines."""

    masks: Masks
    boundaries: Masks


def boundaries(masks: Masks) -> Masks:
    """The pixels of masks that are near their outlines; one image after the other, each within the mask's edges."""
    parts = [_boundary(masks, position) for position in range(len(masks.area))]
    start, end = (np.concatenate([np.zeros(0, np.int64), *(part[side] for part in parts)]) for side in (0, 1))
    first = np.concatenate([[0], np.cumsum([len(begins) for begins, _ in parts], dtype=np.int64)])
    return masks_of(run_lengths.Runs(start, end, first, masks.runs.height, masks.runs.width))


def _boundary(masks: Masks, position: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the runs of one boundary begin and end."""
    height, width = int(masks.runs.height[position]), int(masks.runs.width[position])
    near = max(1, round(NEAR * float(np.sqrt(height**2 + width**2))))
    inside = image_of(masks, position)
    memory.check_at_hand("masks", f"the boundary within {inside.size:,} pixels", BOUNDARY_BYTES * inside.size, FEWER)
    boundary = inside & ~eroded(inside, near)
    # A row of pixels outside ends each column.
    flat = np.concatenate([[False], np.pad(boundary, ((0, 1), (0, 0))).ravel(order="F")])
    changes = np.flatnonzero(flat[1:] != flat[:-1])
    column, row = np.divmod(changes, inside.shape[0] + 1)
    places = (masks.left[position] + column) * height + masks.top[position] + row
    return places[::2], places[1::2]


def eroded(inside: np.ndarray, near: int) -> np.ndarray:
    """The pixels of a mask of which all pixels up to so many rows and columns away are in it, too.

    >>> eroded(np.ones((3, 5), bool), 1).astype(int).tolist()
    [[0, 0, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 0, 0]]
    """
    kept = inside
    if min(inside.shape, default=0) <= 2 * near:  # no pixel has as many on both sides
        return np.zeros_like(inside)
    for axis in (0, 1):
        padding = [(0, 0), (0, 0)]
        padding[axis] = (near + 1, near)
        sums = np.cumsum(np.pad(kept, padding), axis=axis, dtype=np.int64)
        length, size = kept.shape[axis], 2 * near + 1
        window = [slice(None), slice(None)]
        window[axis] = slice(size, size + length)
        before = [slice(None), slice(None)]
        before[axis] = slice(0, length)
        kept = sums[tuple(window)] - sums[tuple(before)] == size
    return kept


def _prepared(table: Columns) -> BoundedMasks:
    masks = prepared(table)
    return BoundedMasks(masks, boundaries(masks))


def _measure(truth: BoundedMasks, predictions: BoundedMasks, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Boundary IoU of pairs of masks, (P,)."""
    return shares(truth.boundaries, predictions.boundaries, rows, others, is_crowd=False)


def _lesser(truth: BoundedMasks, predictions: BoundedMasks, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The lesser of boundary IoU and IoU of pairs of masks, (P,)."""
    of_masks = shares(truth.masks, predictions.masks, rows, others, is_crowd=False)
    return np.minimum(of_masks, _measure(truth, predictions, rows, others))


def _of_crowds(truth: BoundedMasks, predictions: BoundedMasks, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The shares of predictions that lie in crowds, (P,)."""
    return shares(truth.masks, predictions.masks, rows, others, is_crowd=True)


def _reach(truth: BoundedMasks, predictions: BoundedMasks, least: float) -> tuple[Extents, Extents]:
    return reach(truth.masks, predictions.masks, least)


MASK_BOUNDARIES = replace(
    MASKS,
    prepare=_prepared,
    measure=_measure,
    reach=_reach,
    similarity="boundary_iou",
    title="boundary IoU",
    covered=_of_crowds,
    of_truths=_lesser,
    of_crowds=_of_crowds,
)
MASKS_AND_BOUNDARIES = replace(MASKS, variants=(MASK_BOUNDARIES,))
