"""Oriented boxes: middle `cx`, `cy`, size `w`, `h` (px), and `angle` (degrees, from the x axis towards the y axis).

They are measured by the IoU of the rectangles themselves. The same rectangle in other words, with w and h exchanged and
the angle 90 degrees on, or turned by 180 degrees, is the same box.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..support import arrays
from ..tables import Columns, schema
from .boxes import ROUNDING, reach, shrunk
from .facts import Extents, Geometry, Offsets, PairMeasure, Places, Rows, Slip, swap_of, swapped

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = schema.BUILT_IN_COLUMNS["oriented boxes"]

# A quarter turn, degrees: after it, a box is the same with w and h exchanged.
QUARTER = 90.0

# The least part of the width that boxes share is not known to be larger, however much of their area they share.
HALF = 0.5

# So many pairs are clipped together, which takes some 40 arrays of their length.
PAIRS_AT_ONCE = 1 << 15


class OrientedBoxes(NamedTuple):
    """N boxes: middles and sizes (px), and angles from 0 to 90 degrees, each (N,)."""

    x: np.ndarray
    y: np.ndarray
    width: np.ndarray
    height: np.ndarray
    angle: np.ndarray

    def take(self, rows: np.ndarray) -> OrientedBoxes:
        """The boxes at these positions."""
        return OrientedBoxes(*(values.take(rows) for values in self))


def oriented_boxes(
    x: np.ndarray, y: np.ndarray, width: np.ndarray, height: np.ndarray, angle: np.ndarray
) -> OrientedBoxes:
    """Boxes in the words in which their angle is from 0 to 90 degrees.

    >>> oriented_boxes(*np.array([[0.0, 0.0], [0.0, 0.0], [4.0, 2.0], [2.0, 4.0], [30.0, -60.0]])).width.tolist()
    [4.0, 4.0]
    """
    turned = np.fmod(angle, 2 * QUARTER)  # which is exact
    turned = np.where(turned < 0, turned + 2 * QUARTER, turned)
    is_beyond = turned >= QUARTER
    turned = np.where(is_beyond, turned - QUARTER, turned)
    is_whole = turned >= QUARTER  # a tiny negative angle, which rounds to 180 degrees
    exchanged = is_beyond ^ is_whole
    return OrientedBoxes(
        x,
        y,
        np.where(exchanged, height, width),
        np.where(exchanged, width, height),
        np.where(is_whole, 0.0, turned),
    )


def shared_area(truth: OrientedBoxes, predictions: OrientedBoxes) -> np.ndarray:
    """The areas (px²) that N pairs of boxes share, (N,).

    Seen from the truth, whose sides are then upright, the area that a prediction has between two upright lines is the
    integral of its upper edges minus that of its lower edges. Cut off at the sides of the truth, each edge adds the
    integral of three straight parts. So the area changes little where the boxes do, also where edges coincide.
    """
    half_width, half_height = truth.width / 2, truth.height / 2
    x, y = _corners_seen(truth, predictions)
    area = np.zeros(len(half_width))
    for corner in range(4):
        following = (corner + 1) % 4
        area += _below(x[corner], y[corner], x[following], y[following], half_width, half_height)
    return np.abs(area)


def _corners_seen(truth: OrientedBoxes, predictions: OrientedBoxes) -> tuple[np.ndarray, np.ndarray]:
    """x and y (4, N) of the predictions' corners, in turn, from the truths' middles and along their sides."""
    turn = predictions.angle - truth.angle
    cosine, sine = arrays.cosine(turn), arrays.sine(turn)
    dx, dy = predictions.x - truth.x, predictions.y - truth.y
    cosine_of_truth, sine_of_truth = arrays.cosine(truth.angle), arrays.sine(truth.angle)
    x, y = dx * cosine_of_truth + dy * sine_of_truth, dy * cosine_of_truth - dx * sine_of_truth
    across, down = predictions.width / 2, predictions.height / 2
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return (
        np.stack([x + (i * across * cosine - j * down * sine) for i, j in signs]),
        np.stack([y + (i * across * sine + j * down * cosine) for i, j in signs]),
    )


def _below(
    x: np.ndarray, y: np.ndarray, x2: np.ndarray, y2: np.ndarray, half_width: np.ndarray, half_height: np.ndarray
) -> np.ndarray:
    """The integrals of edges from x, y to x2, y2, cut off at half the widths and heights on both sides, (N,)."""
    begin, end = np.clip(x, -half_width, half_width), np.clip(x2, -half_width, half_width)
    length = x2 - x
    slope = np.divide(y2 - y, length, out=np.zeros(len(x)), where=length != 0)
    # From the nearer end of the edge, so that a steep one is not far off.
    low, high = y + slope * (begin - x), y2 + slope * (end - x2)
    rise = high - low
    ends = [low]
    parts = [np.zeros(len(x))]
    # Where the edge crosses the two sides, in the order in which it does.
    crossings = [
        np.divide(side - low, rise, out=np.zeros(len(x)), where=rise != 0) for side in (-half_height, half_height)
    ]
    for at in (np.minimum(*crossings), np.maximum(*crossings)):
        parts.append(np.clip(at, 0.0, 1.0))
        ends.append(low + rise * parts[-1])
    ends.append(high)
    parts.append(np.ones(len(x)))
    clipped = [np.clip(value, -half_height, half_height) for value in ends]
    mean = np.zeros(len(x))
    for part in range(3):
        mean += (parts[part + 1] - parts[part]) * (clipped[part] + clipped[part + 1]) / 2
    return mean * (end - begin)


def oriented_iou(truth: OrientedBoxes, predictions: OrientedBoxes) -> np.ndarray:
    """Intersection over union of N pairs of oriented boxes, (N,).

    A box of zero or negative size overlaps with nothing, nor does one with an area that is too large for float64.

    >>> turned = oriented_boxes(*np.array([[0.0], [0.0], [2.0], [2.0], [45.0]]))
    >>> oriented_iou(turned, oriented_boxes(*np.array([[0.0], [0.0], [2.0], [2.0], [0.0]]))).round(6).tolist()
    [0.707107]
    """
    shared, area, area2 = _areas(truth, predictions)
    with np.errstate(over="ignore", invalid="ignore"):
        union = area + area2 - shared
        real = (area > ROUNDING) & (area2 > ROUNDING) & (union > ROUNDING) & (union < np.inf)
        return np.minimum(np.divide(shared, union, out=np.zeros(len(shared)), where=real), 1.0)


def oriented_share(truth: OrientedBoxes, predictions: OrientedBoxes) -> np.ndarray:
    """The share of each prediction's own area that lies within the truth, of N pairs of oriented boxes, (N,)."""
    shared, area, area2 = _areas(truth, predictions)
    real = (area > ROUNDING) & (area2 > ROUNDING) & (area2 < np.inf)
    return np.minimum(np.divide(shared, area2, out=np.zeros(len(shared)), where=real), 1.0)


def _areas(truth: OrientedBoxes, predictions: OrientedBoxes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The areas (px²) that N pairs of boxes share, and those of the truths and of the predictions.

    Boxes without an area share nothing, and neither do those that are too large.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        areas = [
            np.where((side.width > 0) & (side.height > 0), side.width * side.height, 0.0)
            for side in (truth, predictions)
        ]
        known = np.flatnonzero((areas[0] > 0) & (areas[1] > 0) & (areas[0] + areas[1] < np.inf))
        shared = np.zeros(len(areas[0]))
        of_known = shared_area(truth.take(known), predictions.take(known))
        shared[known] = np.where(np.isfinite(of_known), of_known, 0.0)
        return np.minimum(shared, np.minimum(*areas)), areas[0], areas[1]


def _prepared(table: Columns) -> OrientedBoxes:
    """The boxes of a side; a table without rows may lack their columns."""
    return oriented_boxes(*(np.asarray(table[name]) if name in table else np.zeros(0) for name in COLUMNS))


def _of_pairs(measure: Callable[[OrientedBoxes, OrientedBoxes], np.ndarray]) -> PairMeasure:
    """A measure of N pairs of boxes as one of prepared sides and the rows of pairs, in chunks that fit the memory."""

    def measured(truth: OrientedBoxes, predictions: OrientedBoxes, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        parts = [slice(first, first + PAIRS_AT_ONCE) for first in range(0, len(rows), PAIRS_AT_ONCE)]
        found = [measure(truth.take(rows[part]), predictions.take(others[part])) for part in parts]
        return np.concatenate([np.zeros(0), *found])

    return measured


def _half_extents(boxes: OrientedBoxes) -> tuple[np.ndarray, np.ndarray]:
    """Half the width and height (px) of the upright boxes around boxes, each (N,)."""
    cosine, sine = arrays.cosine(boxes.angle), arrays.sine(boxes.angle)  # none is negative up to 90 degrees
    width, height = np.abs(boxes.width), np.abs(boxes.height)
    return (width * cosine + height * sine) / 2, (width * sine + height * cosine) / 2


def _reach(truth: OrientedBoxes, predictions: OrientedBoxes, least: float) -> tuple[Extents, Extents]:
    """The extents of boxes of which two with an IoU of at least `least` touch.

    Such boxes share at least that part of the area of each. How long a rectangle is from top to bottom grows from its
    left end to its middle and shrinks again in the same way, so the part of its width that lies on one side of an
    upright line is at least half where the part of its area is, and at least the part of its area where that is less.
    So the upright boxes around both share at least `least` of the width of each, or half of it if that is less; the
    same holds from top to bottom. This is what is known of upright boxes, too.
    """
    around = []
    for boxes in (truth, predictions):
        across, down = _half_extents(boxes)
        around.append(np.stack([boxes.x - across, boxes.y - down, 2 * across, 2 * down]))
    return reach(around[0], around[1], min(least, HALF))


def _place(rows: Rows) -> Places:
    """The middles of boxes, px."""
    return rows["cx"], rows["cy"]


def outline(rows: Rows) -> np.ndarray:
    """The corners of boxes (N, 4, 2), px."""
    x, y, width, height, angle = (rows[name] for name in COLUMNS)
    cosine, sine = arrays.cosine(angle), arrays.sine(angle)
    corners = [
        (x + (i * width * cosine - j * height * sine) / 2, y + (i * width * sine + j * height * cosine) / 2)
        for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    return np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)


def _before_turning(rows: Rows) -> tuple[np.ndarray, ...]:
    """The left, top, width and height (px) of boxes as they are before they are turned about their middles."""
    x, y, width, height, _ = (rows[name] for name in COLUMNS)
    return x - width / 2, y - height / 2, width, height


def _size(rows: Rows) -> np.ndarray:
    """The areas of boxes, px²."""
    return rows["w"] * rows["h"]


def _offsets(truth: Rows, predictions: Rows) -> np.ndarray:
    """How far predictions are off, (N, 1, 5): middles (px), logarithms of the ratios of w and h, and angle (degrees).

    Of the words for a prediction, those count in which it is turned by at most 45 degrees from the truth.
    """
    dx, dy = predictions["cx"] - truth["cx"], predictions["cy"] - truth["cy"]
    claimed_angle, true_angle = (np.fmod(rows["angle"], 4 * QUARTER) for rows in (predictions, truth))
    turn, exchanged = _nearest_turn(claimed_angle - true_angle)
    true = np.stack([truth["w"], truth["h"]], axis=1)
    claimed = np.stack([predictions["w"], predictions["h"]], axis=1)
    claimed = np.where(exchanged[:, None], claimed[:, ::-1], claimed)
    known = (true > 0) & (claimed > 0)
    logarithms = np.where(known, arrays.log(np.where(known, claimed, 1)) - arrays.log(np.where(known, true, 1)), np.nan)
    return np.column_stack([dx, dy, logarithms, turn])[:, None]


def _nearest_turn(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles (degrees) without quarter turns, from -45 to 45; marks those that lost an odd count of them."""
    quarters = np.round(angle / QUARTER)
    return angle - quarters * QUARTER, np.fmod(quarters, 2) != 0


def _moved(predictions: pd.DataFrame, offset: np.ndarray) -> pd.DataFrame:
    """Boxes without an offset of each, (N, 1, 5).

    The ratio of w is that of the sides along the truths' w. Each row's own w may lie along the other side; so only what
    both ratios have in common is undone.
    """
    dx, dy, *logarithms, turn = offset[:, 0].T
    both = (logarithms[0] + logarithms[1]) / 2
    w, h = (shrunk(predictions[side].to_numpy(), both) for side in "wh")
    middle = {"cx": predictions["cx"] - dx, "cy": predictions["cy"] - dy}
    return predictions.assign(**middle, w=w, h=h, angle=predictions["angle"] - turn)


def _told(offset: np.ndarray) -> np.ndarray:
    """Offsets (..., 5) with ratios instead of logarithms."""
    return np.concatenate([offset[..., :2], arrays.exp(offset[..., 2:4]), offset[..., 4:]], axis=-1)


def _in_degrees(boxes: pd.DataFrame) -> pd.DataFrame:
    return boxes.assign(angle=np.degrees(boxes["angle"]))


def _in_degrees_turned_back(boxes: pd.DataFrame) -> pd.DataFrame:
    return _turned_back(_in_degrees(boxes))


def _turned_back(boxes: pd.DataFrame) -> pd.DataFrame:
    return boxes.assign(angle=-boxes["angle"])


def _from_y_axis(boxes: pd.DataFrame) -> pd.DataFrame:
    return boxes.assign(angle=QUARTER - boxes["angle"])


def _axes_swapped(boxes: pd.DataFrame) -> pd.DataFrame:
    return _from_y_axis(swapped(boxes, "cx", "cy"))


def _from_turned_corner(boxes: pd.DataFrame) -> pd.DataFrame:
    angle = boxes["angle"].to_numpy()
    cosine, sine, w, h = arrays.cosine(angle), arrays.sine(angle), boxes["w"], boxes["h"]
    return boxes.assign(cx=boxes["cx"] + (w * cosine - h * sine) / 2, cy=boxes["cy"] + (w * sine + h * cosine) / 2)


def _from_top_left(boxes: pd.DataFrame) -> pd.DataFrame:
    return boxes.assign(cx=boxes["cx"] + boxes["w"] / 2, cy=boxes["cy"] + boxes["h"] / 2)


def _from_corners(boxes: pd.DataFrame) -> pd.DataFrame:
    return _from_top_left(boxes.assign(w=boxes["w"] - boxes["cx"], h=boxes["h"] - boxes["cy"]))


def _of_halves(boxes: pd.DataFrame) -> pd.DataFrame:
    return boxes.assign(w=boxes["w"] * 2, h=boxes["h"] * 2)


# How boxes are written where cx, cy is not the middle or w, h not the whole size.
FORMS: tuple[Slip, ...] = (
    (
        "cx and cy are the top left corner of the box before it is turned",
        "give its middle: cx + w / 2, cy + h / 2",
        _from_top_left,
    ),
    (
        "cx, cy, w and h are two corners of the box before it is turned",
        "give its middle and its size: (cx + w) / 2, (cy + h) / 2, w - cx, h - cy",
        _from_corners,
    ),
    ("w and h are half the size", "give the whole width and height: 2 * w, 2 * h", _of_halves),
)
SLIPS: tuple[Slip, ...] = (
    ("angle is in radians", "give it in degrees: multiply by 180 / pi", _in_degrees),
    ("angle turns the other way", "count it from the x axis towards the y axis: -angle", _turned_back),
    (
        "angle is in radians and turns the other way",
        "give it in degrees from the x axis towards the y axis: multiply by -180 / pi",
        _in_degrees_turned_back,
    ),
    (
        "angle is counted from the y axis towards the x axis",
        "count it from the x axis towards the y axis: 90 - angle",
        _from_y_axis,
    ),
    swap_of("w", "h"),
    swap_of("cx", "cy"),
    (
        "x and y are swapped, and so angle is counted from the y axis",
        "write the column of the image, then its row: cx, cy, and 90 - angle",
        _axes_swapped,
    ),
    (
        "cx and cy are the corner of the turned box that is its top left one before it is turned",
        "give its middle: cx + (w * cos(angle) - h * sin(angle)) / 2, cy + (w * sin(angle) + h * cos(angle)) / 2",
        _from_turned_corner,
    ),
    *FORMS,
)
ORIENTED_BOXES = Geometry(
    "oriented boxes",
    COLUMNS,
    _prepared,
    _of_pairs(oriented_iou),
    _reach,
    similarity="iou",
    title="IoU",
    covered=_of_pairs(oriented_share),
    of_truths=_of_pairs(oriented_iou),
    of_crowds=_of_pairs(oriented_share),
    place=_place,
    outline=outline,
    size=_size,
    drawn_as="boxes",
    drawn_box=_before_turning,
    drawn_angle="angle",
    offsets=Offsets(["dx", "dy", "width_ratio", "height_ratio", "angle"], [""], _offsets, _moved, _told),
    slips=SLIPS,
    forms=FORMS,
    placed_by=("cx", "cy"),
)
