"""Finds the pairs of a truth and a prediction of one frame that are near each other, whatever their geometry.

Each row lies in a box. Only pairs whose boxes touch, grown by how far the measure reaches, are measured. Where frames
are small, all pairs of a frame are looked at. Where they are crowded, the image is divided into columns, and each box
is looked at with those that begin in the columns that it covers, so most pairs that lie apart are never made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..geometries import ROOM, Extents, Geometry, PairMeasure
from ..support import arrays
from .alignment import Aligned, Side
from .pairs import Pairs, all_pairs, gathered, same_category

# A function that finds the near pairs of the frames [first, last).
NearPairs = Callable[[int, int], Pairs]

# Frames are crowded where the rows of one side meet so many of the other on average: points, and rows with sizes, each
# of whose pairs takes longer to look at.
CROWDED, CROWDED_SIZES = 24, 8

# Columns into which the image is divided, for each row of a frame.
COLUMNS = 4

# The columns divide the part of the image in which all but these shares of rows have their middles.
OF_MOST = (0.01, 0.99)

# Where rows are spread so many times as far along y, the image is divided along y.
TALL = 4.0

# So many pairs of a crowded frame are looked at together.
TOUCHING_AT_ONCE = 1 << 19


class Search(NamedTuple):
    """What to search for: pairs of prepared sides whose measure `is_near`, within `extents` if the measure has a reach.

    The measure is called with pairs of equal categories only. Frames in which rows meet more than `crowded` others on
    average are searched in columns. `by_truth` says that pairs are sorted by truth, then prediction, and not the other
    way round.
    """

    aligned: Aligned
    measure: PairMeasure
    prepared: tuple[Any, Any]
    extents: tuple[Extents, Extents] | None
    crowded: float
    is_near: Callable[[np.ndarray], np.ndarray]
    by_truth: bool


def search(
    aligned: Aligned,
    geometry: Geometry,
    limit: float,
    is_near: Callable[[np.ndarray], np.ndarray],
    *,
    measure: PairMeasure | None = None,
    by_truth: bool,
) -> Search:
    """A search for the pairs of aligned sides whose measure, that of the geometry or another, `is_near`.

    `limit` is the largest distance or the least similarity of a near pair.
    """
    prepared = geometry.prepare(aligned.truth.table), geometry.prepare(aligned.predictions.table)
    extents = None if geometry.reach is None else geometry.reach(*prepared, limit)
    chosen = geometry.measure if measure is None else measure
    if chosen is None:
        raise ValueError(f"{geometry.name} is known by its name only")
    return Search(aligned, chosen, prepared, extents, _crowded(extents), is_near, by_truth)


def near_pairs(wanted: Search, first: int, last: int) -> Pairs:
    """The near pairs of the frames [first, last)."""
    sides = wanted.aligned.truth, wanted.aligned.predictions
    starts = [side.starts[[first, last]].tolist() for side in sides]
    n_pairs = int((sides[0].counts[first:last] * sides[1].counts[first:last]).sum())
    n_rows = sum(end - start for start, end in starts)
    in_columns = wanted.extents is not None and 2 * n_pairs > wanted.crowded * n_rows
    parts = _in_columns(wanted, first, last) if in_columns else _of_all(wanted, first, last)
    pairs = gathered(wanted.aligned, first, last, parts)
    if in_columns or wanted.by_truth:
        keys = (pairs.truth, pairs.prediction) if wanted.by_truth else (pairs.prediction, pairs.truth)
        # One sort of integers is faster than any of two columns; pairs of small frames come sorted by prediction.
        key = (keys[0] << 32) | keys[1]
        return pairs.take(np.argsort(key))  # no two are equal
    return pairs


def _crowded(extents: tuple[Extents, Extents] | None) -> float:
    """How many rows of the other side a row meets on average in crowded frames.

    Infinitely many where columns would leave nothing out, since rows are nowhere or reach infinitely far.
    """
    if extents is None or not all(
        np.isfinite(np.max(side.half_width, initial=0.0)) and not np.isnan(side.x).any() for side in extents
    ):
        return np.inf
    return CROWDED_SIZES if any(isinstance(side.half_width, np.ndarray) for side in extents) else CROWDED


def _measured(wanted: Search, truth: np.ndarray, predictions: np.ndarray) -> Pairs:
    """Those of the pairs that are near, with their measures."""
    same = same_category(wanted.aligned, predictions, truth)
    if same is not True:
        kept = np.flatnonzero(same)
        truth, predictions = truth.take(kept), predictions.take(kept)
    if not len(truth):  # a function of the caller's may not know what to do with tables without rows
        return Pairs(predictions, truth, np.zeros(0))
    measure = wanted.measure(*wanted.prepared, truth, predictions)
    return Pairs(predictions, truth, measure).take(wanted.is_near(measure))


def _of_all(wanted: Search, first: int, last: int) -> Iterator[tuple[int, Pairs]]:
    """The near pairs chunk by chunk, of all pairs of each frame, each with how many pairs were looked at."""
    for of_chunk, n_pairs, truths in all_pairs(wanted.aligned, first, last):
        n_looked_at = len(truths)
        predictions = np.repeat(of_chunk, n_pairs)
        if wanted.extents is not None:
            truth, claimed = wanted.extents
            # Most pairs lie apart along x, so few need a second coordinate.
            apart = np.abs(np.repeat(claimed.x.take(of_chunk), n_pairs) - truth.x.take(truths))
            reach = _taken(truth.half_width, truths) + _taken(claimed.half_width, predictions)
            kept = np.flatnonzero(apart <= reach)
            truths, predictions = truths.take(kept), predictions.take(kept)
            kept = _level(wanted.extents, truths, predictions)
            truths, predictions = truths.take(kept), predictions.take(kept)
        yield n_looked_at, _measured(wanted, truths, predictions)


def _taken(halves: np.ndarray | float, rows: np.ndarray) -> np.ndarray | float:
    """Half the sizes of these rows, where they have sizes of their own."""
    return halves.take(rows) if isinstance(halves, np.ndarray) else halves


def _level(extents: tuple[Extents, Extents], truths: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """The positions of the pairs whose boxes touch along y."""
    truth, claimed = extents
    with np.errstate(over="ignore"):
        apart = np.abs(claimed.y.take(predictions) - truth.y.take(truths))
        reach = _taken(truth.half_height, truths) + _taken(claimed.half_height, predictions)
    return np.flatnonzero(apart <= reach)


class Along(NamedTuple):
    """The rows of one side of some frames along x: their left edges, and the columns in which their edges lie."""

    rows: slice
    left: np.ndarray
    first: np.ndarray
    last: np.ndarray


def _in_columns(wanted: Search, first: int, last: int) -> Iterator[tuple[int, Pairs]]:
    """The near pairs chunk by chunk, of rows whose boxes touch, each with how many pairs it stands for."""
    assert wanted.extents is not None  # without them no frame is crowded
    found, n_pairs, n_touching = list[tuple[np.ndarray, np.ndarray]](), 0, 0
    for n_of_part, *pair in _touching(wanted.aligned, wanted.extents, first, last):
        found.append((pair[0], pair[1]))
        n_pairs, n_touching = n_pairs + n_of_part, n_touching + len(pair[0])
        if n_touching >= TOUCHING_AT_ONCE:
            yield n_pairs, _measured(wanted, *map(np.concatenate, zip(*found, strict=True)))
            found, n_pairs, n_touching = [], 0, 0
    if found:
        yield n_pairs, _measured(wanted, *map(np.concatenate, zip(*found, strict=True)))


def _touching(
    aligned: Aligned, extents: tuple[Extents, Extents], first: int, last: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """The truth rows and prediction rows of pairs whose boxes touch, part by part, each with how many it stands for.

    Of two boxes that touch along x, one begins in a column that the other covers; where both do, the pair is taken from
    the side of the one that begins earlier. Boxes that end in the column in which another begins count as touching it.
    """
    sides = aligned.truth, aligned.predictions
    rows = [slice(*side.starts[[first, last]].tolist()) for side in sides]
    across = _of_most([side.x[of] for side, of in zip(extents, rows, strict=True)])
    down = _of_most([side.y[of] for side, of in zip(extents, rows, strict=True)])
    if np.ptp(down) > TALL * np.ptp(across):
        extents, across = (_turned(extents[0]), _turned(extents[1])), down
    truth, claimed = _along(sides, extents, rows, across, first, last)
    n_columns = int(max(edge.max(initial=-1) for side in (truth, claimed) for edge in (side.first, side.last))) + 1
    for here, there, is_truth in ((truth, claimed, True), (claimed, truth, False)):
        order = np.argsort(there.first, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(there.first, minlength=n_columns))])
        begins = starts.take(here.first)
        counts = np.maximum(starts.take(here.last + 1) - begins, 0)
        for begin, end in arrays.chunks(counts, TOUCHING_AT_ONCE):
            box, within = arrays.ranges(begins[begin:end], counts[begin:end])
            box, other = box + begin, order.take(within)
            left, mine = there.left.take(other), here.left.take(box)
            kept = np.flatnonzero(left > mine if is_truth else left >= mine)
            pair = box.take(kept) + here.rows.start, other.take(kept) + there.rows.start
            truths, predictions = pair if is_truth else pair[::-1]
            kept = _level(extents, truths, predictions)
            # Each pair is looked for from both sides.
            yield (end - begin) * len(there.left) // 2, truths.take(kept), predictions.take(kept)


def _of_most(places: list[np.ndarray]) -> np.ndarray:
    """From where to where most places lie, (2,)."""
    return np.quantile(np.concatenate(places), OF_MOST)


def _turned(extents: Extents) -> Extents:
    """The same boxes with x for y."""
    return Extents(extents.y, extents.x, extents.half_height, extents.half_width)


def _along(
    sides: tuple[Side, Side],
    extents: tuple[Extents, Extents],
    rows: list[slice],
    across: np.ndarray,
    first: int,
    last: int,
) -> list[Along]:
    """Both sides of the frames [first, last) along x; columns are counted through all frames.

    `across` is from where to where most rows lie. Rows that lie far from these share the first or the last column, so
    that they make no column wide.
    """
    found = []
    for side, of_side, of_frames in zip(sides, extents, rows, strict=True):
        x, half = of_side.x[of_frames], of_side.half_width
        half = half[of_frames] if isinstance(half, np.ndarray) else half
        room = ROOM * np.abs(x)
        found.append((of_frames, x - half - room, x + half + room, side.frame[of_frames] - first))
    low, high = across
    n_columns = min(max(COLUMNS * sum(len(frame) for *_, frame in found) // (last - first), 8), 1024)
    scale = (n_columns - 1) / max(high - low, np.finfo(np.float64).tiny * n_columns)
    columns = [
        ((np.clip([left, right], low, high) - low) * scale).astype(np.int64) + n_columns * frame
        for _, left, right, frame in found
    ]
    return [Along(of_frames, left, *column) for (of_frames, left, *_), column in zip(found, columns, strict=True)]
