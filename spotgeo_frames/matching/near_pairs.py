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
from ..support import InputError, arrays
from ..tables import provenance
from .alignment import Aligned
from .pairs import Pairs, all_pairs, gathered, same_category

# A function that finds the near pairs of the frames [first, last).
NearPairs = Callable[[int, int], Pairs]

# Frames are crowded where the rows of one side meet so many of the other on average: points, and rows with sizes, each
# of whose pairs takes longer to look at.
CROWDED, CROWDED_SIZES = 24, 16

# To begin a search in columns takes as long as it takes for so many rows.
ROWS_TO_BEGIN = 2000

# Columns into which the image is divided, for each row of a frame.
COLUMNS = 2

# The columns divide the part of the image in which all but this share of rows on either side have their middles.
LEFT_OUT = 0.01

# Where rows are spread so many times as far along y, the image is divided along y.
TALL = 4.0

# Columns are deep where a box meets so many others in each column that it crosses.
DEEP = 32

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


def prepared_sides(geometry: Geometry, aligned: Aligned) -> tuple[Any, Any]:
    """What `measure` takes of both sides; what is wrong with a row names the file, or the side."""
    prepared = []
    for name, side in (("truth", aligned.truth.table), ("predictions", aligned.predictions.table)):
        try:
            prepared.append(geometry.prepare(side))
        except InputError as error:
            raise InputError([f"{provenance.source(side, name)}: {problem}" for problem in error.problems]) from None
    return prepared[0], prepared[1]


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
    prepared = prepared_sides(geometry, aligned)
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
    in_columns = wanted.extents is not None and 2 * n_pairs > wanted.crowded * (n_rows + ROWS_TO_BEGIN)
    parts = _in_columns(wanted, first, last) if in_columns else _of_all(wanted, first, last)
    pairs = gathered(wanted.aligned, first, last, parts)
    if in_columns or wanted.by_truth:
        keys = (pairs.truth, pairs.prediction) if wanted.by_truth else (pairs.prediction, pairs.truth)
        # One sort of integers is faster than any of two columns; pairs of small frames come sorted by prediction.
        key = (keys[0] << 32) | keys[1]
        return pairs.take(np.argsort(key, kind="stable"))  # no two are equal
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
    """The rows of one side of some frames, which begin at the row `start` of the side.

    `first` and `last` are the columns in which their boxes begin and end, and `top` and `bottom` their edges (px).
    """

    start: int
    first: np.ndarray
    last: np.ndarray
    top: np.ndarray
    bottom: np.ndarray


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

    Boxes that share a column count as touching along x. Of two such boxes, one begins in a column of the other. Where
    the truth begins in an earlier column, the pair is taken from its side, and else from that of the prediction.
    """
    truth, claimed = _along(aligned, extents, first, last)
    n_columns = int(max(edge.max(initial=-1) for side in (truth, claimed) for edge in (side.first, side.last))) + 1
    for here, there, is_truth in ((truth, claimed, True), (claimed, truth, False)):
        order = np.argsort(there.first, kind="stable")  # which is fastest, since frames are in order
        starts = np.zeros(n_columns + 1, np.int64)
        np.cumsum(np.bincount(there.first, minlength=n_columns), out=starts[1:])
        firsts = here.first + is_truth
        begins = starts.take(firsts)
        # Boxes of negative sizes end before they begin.
        counts, n_crossed = np.maximum(starts.take(here.last + 1) - begins, 0), np.maximum(here.last + 1 - firsts, 0)
        boxes, top, bottom = np.arange(len(firsts)), here.top, here.bottom
        if counts.sum() > DEEP * (n_crossed.sum() + len(there.first)):
            order, boxes, begins, counts = _in_cells(here, there, firsts, n_crossed)
            top, bottom = top.take(boxes), bottom.take(boxes)
        tops, bottoms = there.top.take(order), there.bottom.take(order)
        for begin, end in arrays.chunks(counts, TOUCHING_AT_ONCE):
            of_part = slice(begin, end)
            repeats = counts[of_part]
            looked, other = arrays.ranges(begins[of_part], repeats)
            level = np.repeat(top[of_part], repeats) <= bottoms.take(other)
            level &= tops.take(other) <= np.repeat(bottom[of_part], repeats)
            kept = np.flatnonzero(level)
            pair = boxes[of_part].take(looked.take(kept)) + here.start, order.take(other.take(kept)) + there.start
            # Each pair is looked for from both sides.
            yield (end - begin) * len(there.first) // 2, *(pair if is_truth else pair[::-1])


def _in_cells(
    here: Along, there: Along, firsts: np.ndarray, n_crossed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Looks up the others of each column that a box crosses by their top edges, where a column has many of them.

    Returns the order of the others by column and top; and for each column that a box crosses the box, where in this
    order those begin whose tops may be level with it, and how many these are.
    """
    tops = np.sort(there.top)
    n_ranks = len(tops) + 1
    key = there.first * n_ranks + np.searchsorted(tops, there.top)
    order = np.argsort(key, kind="stable")
    key = key.take(order)
    tallest = float(np.max(there.bottom - there.top, initial=0.0))
    lowest = np.searchsorted(tops, here.top - tallest * (1 + ROOM) - ROOM * np.abs(here.top), "left")
    highest = np.searchsorted(tops, here.bottom, "right")
    boxes, column = arrays.ranges(firsts, n_crossed)
    begins, ends = (np.searchsorted(key, column * n_ranks + rank.take(boxes)) for rank in (lowest, highest))
    return order, boxes, begins, np.maximum(ends - begins, 0)


def _along(aligned: Aligned, extents: tuple[Extents, Extents], first: int, last: int) -> list[Along]:
    """Both sides of the frames [first, last), with x for y where rows are spread farther along y.

    Columns are counted through all frames. Rows that lie far from most share the first or the last column, so that they
    make no column wide.
    """
    rows = [slice(*side.starts[[first, last]].tolist()) for side in (aligned.truth, aligned.predictions)]
    across, down = (_of_most(axis[rows[0]]) for axis in extents[0][:2])
    if down[1] - down[0] > TALL * (across[1] - across[0]):
        extents, across = (_turned(extents[0]), _turned(extents[1])), down
    low, high = across
    n_rows = sum(of.stop - of.start for of in rows)
    n_columns = min(max(COLUMNS * n_rows // (last - first), 8), 1024)
    scale = (n_columns - 1) / max(high - low, np.finfo(np.float64).tiny * n_columns)
    found = []
    for side, of_side, of_frames in zip((aligned.truth, aligned.predictions), extents, rows, strict=True):
        begins = n_columns * (side.frame[of_frames] - first)
        edges = _edges(of_side.x[of_frames], _of_rows(of_side.half_width, of_frames))
        begin, end = (((np.clip(edge, low, high) - low) * scale).astype(np.int64) + begins for edge in edges)
        top, bottom = _edges(of_side.y[of_frames], _of_rows(of_side.half_height, of_frames))
        found.append(Along(of_frames.start, begin, end, top, bottom))
    return found


def _of_rows(halves: np.ndarray | float, rows: slice) -> np.ndarray | float:
    """Half the sizes of these rows, where they have sizes of their own."""
    return halves[rows] if isinstance(halves, np.ndarray) else halves


def _edges(middle: np.ndarray, half: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """The edges on both sides of the middles, a little farther out."""
    with np.errstate(over="ignore"):
        grown = ROOM * np.abs(middle) + half
        return middle - grown, middle + grown


def _of_most(places: np.ndarray) -> tuple[float, float]:
    """From where to where most places lie."""
    left_out = int(LEFT_OUT * len(places))
    low, high = left_out, len(places) - 1 - left_out
    ordered = np.partition(places, (low, high))
    return float(ordered[low]), float(ordered[high])


def _turned(extents: Extents) -> Extents:
    """The same boxes with x for y."""
    return Extents(extents.y, extents.x, extents.half_height, extents.half_width)
