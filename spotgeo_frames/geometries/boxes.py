"""Boxes: `x` and `y` of the top left corner, width `w` and height `h`, in pixels. They are measured by their IoU.

Known differences between official evaluators
    - trackeval computes areas from the edges and takes those of at most 2**-52 for 0; `iou` follows it.
    - pycocotools computes areas as width times height; `coco_iou` follows it, and average precision uses that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..support import arrays
from ..tables import Columns, schema
from .facts import ROOM, SWAP, Extents, Geometry, Offsets, PairMeasure, Places, Rows, Slip, swapped

if TYPE_CHECKING:
    import pandas as pd

# Left, top, width and height, pixels; an array (4, N) or four arrays.
Boxes = np.ndarray | Sequence[np.ndarray]

# The spacing of float64 at 1. trackeval tolerates this much at its thresholds, and takes a smaller area for 0.
ROUNDING = float(np.finfo(np.float64).eps)


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


def prepared(table: Columns) -> np.ndarray:
    """The boxes of a side, (4, N); a table without rows may lack their columns."""
    return np.stack([table[name] if name in table else np.zeros(0) for name in schema.BOX])


def _of_pairs(measure: Callable[[Boxes, Boxes], np.ndarray]) -> PairMeasure:
    """A measure of N pairs of boxes as one of prepared sides and the rows of pairs."""

    def measured(truth: np.ndarray, predictions: np.ndarray, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        return measure([side.take(rows) for side in truth], [side.take(others) for side in predictions])

    return measured


def _covered(truth: Boxes, predictions: Boxes) -> np.ndarray:
    """The share of each prediction that lies in the truth; 0 where the boxes do not overlap."""
    return np.where(iou(truth, predictions) > 0, covered_share(truth, predictions), 0.0)


def reach(truth: np.ndarray, predictions: np.ndarray, least: float) -> tuple[Extents, Extents]:
    """The extents of boxes of which two with an IoU of at least `least` touch.

    Two such boxes share at least that part of the width of each. So the left edge of the box further right lies within
    the first 1 - least of the other box's width. The same holds from top to bottom.
    """
    sides = []
    for boxes in (truth, predictions):
        corners, sizes = boxes[:2], boxes[2:]
        with np.errstate(over="ignore"):
            half = ((1.0 - least) * sizes + ROOM * (np.abs(corners) + np.abs(sizes))) / 2
        sides.append(Extents(*(corners + half), *half))
    return sides[0], sides[1]


def place(rows: Rows) -> Places:
    """The middles of boxes, px."""
    x, y, w, h = (rows[name] for name in schema.BOX)
    return x + w / 2, y + h / 2


def _kit_place(rows: Rows) -> Places:
    """Half of x + w and y + h, px: trackeval takes sizes for the far corners, in its metric IDEucl."""
    x, y, w, h = (rows[name] for name in schema.BOX)
    return (x + w) / 2, (y + h) / 2


def outline(rows: Rows) -> np.ndarray:
    """The corners of boxes (N, 4, 2), px."""
    left, top, w, h = (rows[name] for name in schema.BOX)
    right, bottom = left + w, top + h
    return np.stack(
        [np.stack(corner, axis=1) for corner in ((left, top), (right, top), (right, bottom), (left, bottom))], axis=1
    )


def size(rows: Rows) -> np.ndarray:
    """The areas of boxes, px²."""
    return rows["w"] * rows["h"]


def _offsets(truth: Rows, predictions: Rows) -> np.ndarray:
    """Predicted minus true middles (px), and the logarithms of predicted over true width and height, (N, 1, 4).

    The mean of logarithms stands for the geometric mean of the ratios: boxes twice and half as wide as the truth are
    right on average.
    """
    (x, y), (true_x, true_y) = place(predictions), place(truth)
    true, claimed = (np.stack([rows["w"], rows["h"]], axis=1) for rows in (truth, predictions))
    known = (true > 0) & (claimed > 0)  # after matching by distance, a box may be flat
    logarithms = np.where(known, arrays.log(np.where(known, claimed, 1)) - arrays.log(np.where(known, true, 1)), np.nan)
    return np.column_stack([x - true_x, y - true_y, logarithms])[:, None]


def _moved(predictions: pd.DataFrame, offset: np.ndarray) -> pd.DataFrame:
    """Boxes without an offset of each, (N, 1, 4)."""
    dx, dy, *logarithms = offset[:, 0].T
    w, h = (shrunk(predictions[side].to_numpy(), ratio) for side, ratio in zip("wh", logarithms, strict=True))
    # The centre moves by the offset and stays where it is when the size changes; an offset of 0 changes no bit.
    x = predictions["x"] - dx - (w - predictions["w"]) / 2
    y = predictions["y"] - dy - (h - predictions["h"]) / 2
    return predictions.assign(x=x, y=y, w=w, h=h)


def shrunk(sizes: np.ndarray, logarithms: np.ndarray) -> np.ndarray:
    """Sizes (px) without the ratios of these logarithms, none larger than sizes may be."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        shrunk = sizes / arrays.exp(logarithms)
    return np.clip(np.nan_to_num(shrunk), -schema.LARGEST_COORDINATE, schema.LARGEST_COORDINATE)


def _told(offset: np.ndarray) -> np.ndarray:
    """Offsets (..., 4) with ratios instead of logarithms."""
    return np.concatenate([offset[..., :2], arrays.exp(offset[..., 2:])], axis=-1)


def _from_centres(boxes: pd.DataFrame) -> pd.DataFrame:
    return boxes.assign(x=boxes["x"] - boxes["w"] / 2, y=boxes["y"] - boxes["h"] / 2)


def _from_corners(boxes: pd.DataFrame) -> pd.DataFrame:
    return boxes.assign(w=boxes["w"] - boxes["x"], h=boxes["h"] - boxes["y"])


def _all_swapped(boxes: pd.DataFrame) -> pd.DataFrame:
    return swapped(swapped(boxes, "x", "y"), "w", "h")


# How boxes are written where x, y is not the top left corner or w, h not the size, and in another order.
FORMS: tuple[Slip, ...] = (
    ("x and y are the centre of the box", "give the top left corner: x - w / 2, y - h / 2", _from_centres),
    ("w and h are the far corner of the box", "give its width and height: w - x, h - y", _from_corners),
)
SWAPS: tuple[Slip, ...] = (
    ("width and height are swapped", "write the width, then the height: w, h", partial(swapped, one="w", other="h")),
    (
        "x and y, width and height are swapped",
        "write the column of the image, then its row, and the width, then the height: x, y, w, h",
        _all_swapped,
    ),
)
OFFSETS = Offsets(["dx", "dy", "width_ratio", "height_ratio"], [""], _offsets, _moved, _told)
BOXES = Geometry(
    "boxes",
    tuple(schema.BOX),
    prepared,
    _of_pairs(iou),
    reach,
    similarity="iou",
    title="IoU",
    covered=_of_pairs(_covered),
    of_truths=_of_pairs(partial(coco_iou, is_crowd=False)),
    of_crowds=_of_pairs(partial(coco_iou, is_crowd=True)),
    without=("joint",),
    kit_place=_kit_place,
    place=place,
    outline=outline,
    size=size,
    sizes=("w", "h"),
    drawn_as="boxes",
    offsets=OFFSETS,
    slips=(SWAP, *FORMS, *SWAPS),
    forms=FORMS,
)
