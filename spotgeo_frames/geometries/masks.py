"""Masks: `mask` is COCO's compressed run lengths as text, `mask_h` and `mask_w` are the size of the image, px.

They are measured by their IoU, to the last bit as pycocotools has it, from the runs alone: no image is ever laid out.
Masks of two images of different sizes overlap with nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ..support import arrays, memory, run_lengths
from ..tables import Columns, as_numbers, messages, schema
from .facts import Extents, Geometry, Offsets, PairMeasure, Places, Rows
from .mask_changes import COLUMNS, FEWER, PIXEL_BYTES, SLIPS, SLIPS_BESIDE_TRUTH, moved, runs_of_rows

# So many ends of runs are looked up together; those of a few frames stay in the fastest memory.
ENDS_AT_ONCE = 1 << 15

# The memory for each edge of a pixel in an outline.
EDGE_BYTES = 1000

# More than the pixels of any image: the places of pixels of different masks do not meet.
SPAN = 1 << 32


class Masks(NamedTuple):
    """N masks: their runs, areas (N,) and edges (px), each (N,).

    `place` is where each run begins, counted through all masks, and `before` how many of their pixels lie before it.
    """

    runs: run_lengths.Runs
    area: np.ndarray
    place: np.ndarray
    before: np.ndarray
    left: np.ndarray
    top: np.ndarray
    right: np.ndarray
    bottom: np.ndarray


def masks_of(runs: run_lengths.Runs) -> Masks:
    """Masks of their runs; the edges of one without pixels are all 0."""
    length = runs.end - runs.start
    of_run = np.repeat(np.arange(len(runs.height)), np.diff(runs.first))
    height = runs.height[of_run]
    # Images have at most 2**31 pixels, and division is faster for small integers.
    begin, last, height = (of.astype(np.int32) for of in (runs.start, runs.end - 1, height))
    columns = begin // height, last // height
    is_long = columns[0] != columns[1]  # it reaches from the foot of a column to the head of the next
    tops = np.where(is_long, 0, begin - columns[0] * height)
    bottoms = np.where(is_long, height, last - columns[1] * height + 1)
    before = np.concatenate([[0], np.cumsum(length)])
    return Masks(
        runs,
        runs.areas,
        of_run * SPAN + runs.start,
        before,
        runs.of_masks(np.minimum, columns[0]),
        runs.of_masks(np.minimum, tops),
        runs.of_masks(np.maximum, columns[1] + 1),
        runs.of_masks(np.maximum, bottoms),
    )


def shared_pixels(one: Masks, other: Masks, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How many pixels P pairs of masks share, (P,); none where the sizes of their images differ."""
    n_runs = np.diff(one.runs.first)[rows], np.diff(other.runs.first)[others]
    is_same = one.runs.height[rows] == other.runs.height[others]
    is_same &= one.runs.width[rows] == other.runs.width[others]
    shared = np.zeros(len(rows), np.int64)
    # The ends of the runs of one are looked up among those of the other: of the one that has fewer.
    for swapped in (False, True):
        of_pairs = np.flatnonzero(is_same & ((n_runs[0] > n_runs[1]) == swapped))
        sides = ((other, others), (one, rows)) if swapped else ((one, rows), (other, others))
        (asked, of_asked), (known, of_known) = ((masks, at[of_pairs]) for masks, at in sides)
        order = np.argsort(of_known, kind="stable")
        for first, last in arrays.chunks(2 * np.diff(asked.runs.first)[of_asked[order]], ENDS_AT_ONCE):
            part = order[first:last]
            shared[of_pairs[part]] = _shared(asked, known, of_asked[part], of_known[part])
    return shared


def _shared(asked: Masks, known: Masks, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The pixels that pairs share: for each run of one, how many of the other lie below its end, less its start."""
    n_runs = np.diff(asked.runs.first)[rows]
    of_pair, run = arrays.ranges(asked.runs.first[rows], n_runs)
    mask = others[of_pair]
    # Only the runs of the masks at hand are searched, which are neighbours.
    low, high = known.runs.first[[others.min(), others.max() + 1]].tolist()
    keys = known.place[low:high]
    counted = [_below(known, mask, ends[run], keys, low) for ends in (asked.runs.start, asked.runs.end)]
    return arrays.added_at(of_pair, (counted[1] - counted[0]).astype(np.float64), len(rows)).astype(np.int64)


def _below(known: Masks, mask: np.ndarray, place: np.ndarray, keys: np.ndarray, low: int) -> np.ndarray:
    """How many pixels of these masks lie before a place, counted through all masks."""
    run = np.searchsorted(keys, mask * SPAN + place, side="left") - 1 + low
    begins = known.runs.first[mask]
    inside = run >= begins
    run = np.where(inside, run, 0)
    covered = np.minimum(place, known.runs.end.take(run, mode="clip")) - known.runs.start.take(run, mode="clip")
    return np.where(inside, known.before[run] + covered, known.before[begins])


def shares(truth: Masks, predictions: Masks, rows: np.ndarray, others: np.ndarray, is_crowd: bool) -> np.ndarray:
    """IoU of pairs of masks, or the share of the prediction that lies in the truth where this `is_crowd`, (P,)."""
    shared = shared_pixels(truth, predictions, rows, others)
    area = predictions.area[others]
    whole = area if is_crowd else truth.area[rows] + area - shared
    return np.divide(shared, whole, out=np.zeros(len(shared)), where=shared > 0)


def prepared(table: Columns) -> Masks:
    """The masks of a side; a table without rows may lack their columns. Raises InputError if one is none."""
    if not len(table) or "mask" not in table:
        return masks_of(run_lengths.runs_of([], np.zeros(0), np.zeros(0), str))

    def row(position: int) -> str:
        marked = np.zeros(len(table), bool)
        marked[position] = True
        keys = messages.first_keys(table, marked, schema.OBJECT_KEY)
        return f"column mask: {keys}"

    height, width = (as_numbers(table[name]) for name in COLUMNS[1:])
    return masks_of(run_lengths.runs_of(table["mask"], height, width, row))


def reach(truth: Masks, predictions: Masks, least: float) -> tuple[Extents, Extents]:
    """The boxes around masks: masks share pixels only where these overlap."""
    sides = []
    for masks in (truth, predictions):
        left, top, right, bottom = (edge.astype(np.float64) for edge in masks[4:])
        # Boxes that only touch share no pixel.
        sides.append(Extents((left + right) / 2, (top + bottom) / 2, (right - left) / 2, (bottom - top) / 2))
    return sides[0], sides[1]


def _known(rows: Rows) -> tuple[Masks, np.ndarray]:
    """The masks of the rows that have one, and their positions."""
    runs, known = runs_of_rows(rows)
    return masks_of(runs), known


def _of_rows(rows: Rows, numbers: Callable[[Masks], tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Numbers of the masks of rows, each (N,); null where a row has none."""
    masks, known = _known(rows)
    found = []
    for values in numbers(masks):
        of_all = np.full(len(rows[COLUMNS[1]]), np.nan)
        of_all[known] = values
        found.append(of_all)
    return tuple(found)


def centroids(masks: Masks) -> Places:
    """The means of the middles of all pixels of each mask, px; null without any.

    The first pixel reaches from 0 to 1, as for boxes. The sums over the pixels before a place have a formula.
    """
    runs = masks.runs
    height = np.repeat(runs.height, np.diff(runs.first))
    across, down = np.zeros(len(runs.start), np.int64), np.zeros(len(runs.start), np.int64)
    for sign, place in ((-1, runs.start), (1, runs.end)):
        column, row = place // height, place % height
        across += sign * (height * (column * (column - 1) // 2) + column * row)
        down += sign * (column * (height * (height - 1) // 2) + row * (row - 1) // 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (runs.of_masks(np.add, of_runs) / masks.area + 0.5 for of_runs in (across, down))
    return x, y


def _around(rows: Rows) -> tuple[np.ndarray, ...]:
    """The left, top, width and height of the boxes around masks, px."""
    left, top, right, bottom = _of_rows(rows, lambda masks: masks[4:])
    return left, top, right - left, bottom - top


def _place(rows: Rows) -> Places:
    """The middles of the boxes around masks, px, as those of boxes."""
    left, top, width, height = _around(rows)
    return left + width / 2, top + height / 2


def _size(rows: Rows) -> np.ndarray:
    """The areas of masks, px²."""
    runs, known = runs_of_rows(rows)
    areas = np.full(len(rows[COLUMNS[1]]), np.nan)
    areas[known] = runs.areas
    return areas


def _offsets(truth: Rows, predictions: Rows) -> np.ndarray:
    """Predicted minus true centroids (px), and the logarithm of the ratio of areas, (N, 1, 3)."""
    (x, y), (true_x, true_y) = _of_rows(predictions, centroids), _of_rows(truth, centroids)
    claimed, true = _size(predictions), _size(truth)
    known = (true > 0) & (claimed > 0)
    logarithm = np.where(known, arrays.log(np.where(known, claimed, 1)) - arrays.log(np.where(known, true, 1)), np.nan)
    return np.column_stack([x - true_x, y - true_y, logarithm])[:, None]


def _told(offset: np.ndarray) -> np.ndarray:
    """Offsets (..., 3) with a ratio instead of its logarithm."""
    return np.concatenate([offset[..., :2], arrays.exp(offset[..., 2:])], axis=-1)


def _of_pairs(is_crowd: bool) -> PairMeasure:
    return partial(shares, is_crowd=is_crowd)


def image_of(masks: Masks, position: int) -> np.ndarray:
    """The pixels of a mask within its edges, as flags (height, width)."""
    runs, left, top = masks.runs, int(masks.left[position]), int(masks.top[position])
    right, bottom = int(masks.right[position]), int(masks.bottom[position])
    height = int(runs.height[position])
    name, size = "masks", f"the pixels within a mask of {right - left:,} columns of {height:,}"
    memory.check_at_hand(name, size, PIXEL_BYTES * (right - left) * height, FEWER)
    of_mask = slice(*runs.first[position : position + 2].tolist())
    changes = np.zeros((right - left) * height + 1, np.int8)
    np.add.at(changes, runs.start[of_mask] - left * height, 1)
    np.add.at(changes, runs.end[of_mask] - left * height, -1)
    columns = np.cumsum(changes[:-1], dtype=np.int8).reshape(right - left, height).astype(bool)
    return columns[:, top:bottom].T


def _outline(rows: Rows) -> np.ndarray:
    """The corners of the pixels' edges around masks (N, K, 2), px; null rows lie between the rings of one mask."""
    masks, known = _known(rows)
    corners = np.stack([masks.left, masks.top], axis=1)
    # No outline is shorter than the box around it, which is known before any pixel is.
    sides = [masks.right - masks.left, masks.bottom - masks.top]
    n_edges = int(2 * np.sum(sides, axis=0, dtype=np.int64).max(initial=0))
    memory.check_at_hand("masks", f"an outline of {n_edges:,} px or more", EDGE_BYTES * n_edges, FEWER)
    rings = [corners[at] + _rings(image_of(masks, at)) for at in range(len(known))]
    found = np.full((len(rows[COLUMNS[1]]), max(map(len, rings), default=1), 2), np.nan)
    for at, ring in zip(known, rings, strict=True):
        found[at, : len(ring)] = ring
    return found


def _rings(inside: np.ndarray) -> np.ndarray:
    """The closed lines around the pixels of an image, one after another, with a null row after each, (K, 2)."""
    padded = np.pad(inside, 1)
    # Edges with the inside on their right: from one corner (x, y) to the next.
    following: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for (dy, dx), begin, end in (
        ((-1, 0), (0, 0), (1, 0)),
        ((0, 1), (1, 0), (1, 1)),
        ((1, 0), (1, 1), (0, 1)),
        ((0, -1), (0, 1), (0, 0)),
    ):
        is_edge = padded[1:-1, 1:-1] & ~padded[1 + dy : padded.shape[0] - 1 + dy, 1 + dx : padded.shape[1] - 1 + dx]
        n_edges = int(np.count_nonzero(is_edge))
        memory.check_at_hand("masks", f"an outline of {n_edges:,} px", EDGE_BYTES * n_edges, FEWER)
        for y, x in np.argwhere(is_edge).tolist():
            following.setdefault((x + begin[0], y + begin[1]), []).append((x + end[0], y + end[1]))
    corners: list[tuple[float, float]] = []
    while following:
        start = place = next(iter(following))
        step = None
        while True:
            ends = following[place]
            # Where two rings meet in a corner, each keeps to its own pixels: it turns right.
            after = ends.pop(0) if len(ends) == 1 or step is None else ends.pop(_right_turn(place, step, ends))
            if not ends:
                del following[place]
            direction = (after[0] - place[0], after[1] - place[1])
            if direction != step:
                corners.append(place)
            place, step = after, direction
            if place == start:
                break
        corners += [start, (np.nan, np.nan)]
    return np.array(corners or [(np.nan, np.nan)], np.float64)


def _right_turn(place: tuple[int, int], step: tuple[int, int], ends: list[tuple[int, int]]) -> int:
    """Which of two ends lies to the right of a step to a place, where y points down."""
    return int((ends[1][0] - place[0], ends[1][1] - place[1]) == (-step[1], step[0]))


MASKS = Geometry(
    "masks",
    COLUMNS,
    prepared,
    _of_pairs(is_crowd=False),
    reach,
    similarity="iou",
    title="IoU",
    covered=_of_pairs(is_crowd=True),
    of_truths=_of_pairs(is_crowd=False),
    of_crowds=_of_pairs(is_crowd=True),
    place=_place,
    outline=_outline,
    same_in_frame=COLUMNS[1:],
    is_filled=True,
    size=_size,
    drawn_as="boxes",
    drawn_box=_around,
    offsets=Offsets(["dx", "dy", "area_ratio"], [""], _offsets, moved, _told),
    slips=SLIPS,
    slips_beside_truth=SLIPS_BESIDE_TRUTH,
)
