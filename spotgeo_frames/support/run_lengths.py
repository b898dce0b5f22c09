"""COCO's run lengths: a mask as the counts of pixels that are outside and inside in turn, down each column of pixels.

Compressed, each count is written in characters of six bits: five bits of the number and one that says that more follow,
the lowest first. From the fourth count on, the difference to the count before the last is written. All masks of a side
are taken apart together, without a loop over them, and no image is ever laid out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from . import arrays, memory
from .errors import InputError

# The code of the character that stands for 0, the bit that says that more follow, and that of the sign.
ZERO, MORE, SIGN, BITS = 48, 0x20, 0x10, 5

# The most characters of a count, and the most pixels of an image: masks of larger ones are refused.
MOST_CHARACTERS, MOST_PIXELS = 7, 1 << 31

# The memory for a column of a mask that is laid anew, and what to do where it is too much.
PIECE_BYTES = 150
FEWER_MASKS = "give fewer masks"

# So many characters are taken apart together, unless a single mask has more.
CHARACTERS_AT_ONCE = 1 << 17


class Runs(NamedTuple):
    """N masks as runs of pixels that are inside.

    Attributes
    ----------
    start, end
        Where each of R runs begins and ends (R,), counted down the columns of the image.
    first
        The first run of each mask, then R: (N + 1,).
    height, width
        The sizes of the images (N,), px.
    """

    start: np.ndarray
    end: np.ndarray
    first: np.ndarray
    height: np.ndarray
    width: np.ndarray

    @property
    def areas(self) -> np.ndarray:
        """How many pixels each mask has, (N,)."""
        return self.of_masks(np.add, self.end - self.start)

    def of_masks(self, together: np.ufunc, values: np.ndarray, nothing: int = 0) -> np.ndarray:
        """The values of all runs of each mask together, such as their sum or their maximum, (N,)."""
        found = np.full(len(self.height), nothing, values.dtype)
        filled = np.flatnonzero(np.diff(self.first) > 0)
        if len(filled):
            found[filled] = together.reduceat(values, self.first[filled])
        return found


def runs_of(texts: Any, height: np.ndarray, width: np.ndarray, row: Callable[[int], str]) -> Runs:
    """The runs of N compressed masks, given as text, in images of these sizes (px).

    Raises InputError at the first mask that is none, which messages call as `row` does its position.
    """
    n_pixels = _pixels(height, width, row)
    text, starts = _text(texts, row)
    found = []
    for first, last in arrays.chunks(np.diff(starts), CHARACTERS_AT_ONCE):
        found.append(_runs(text, starts[first : last + 1], n_pixels[first:last], first, row))
    start, end, n_runs = (np.concatenate([np.zeros(0, np.int64), *(of[part] for of in found)]) for part in range(3))
    firsts = np.concatenate([[0], np.cumsum(n_runs)])
    return Runs(start, end, firsts, height.astype(np.int64), width.astype(np.int64))


def _pixels(height: np.ndarray, width: np.ndarray, row: Callable[[int], str]) -> np.ndarray:
    """The pixels of each image; raises InputError if a size is no whole number above 0, or too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        whole = (height >= 1) & (width >= 1) & (height * width <= MOST_PIXELS)
    whole &= (np.floor(height) == height) & (np.floor(width) == width)
    _refuse(
        ~whole,
        np.arange(len(height)),
        row,
        f"an image needs whole numbers as its height and width, with at most {MOST_PIXELS:,} pixels",
    )
    return (height * width).astype(np.int64)


def _refuse(wrong: np.ndarray, of_mask: np.ndarray, row: Callable[[int], str], problem: str) -> None:
    """Raises InputError at the first value that is wrong, naming its mask."""
    at = np.flatnonzero(wrong)
    if len(at):
        raise InputError(f"{row(int(of_mask[at[0]]))}: {problem}")


def _text(texts: Any, row: Callable[[int], str]) -> tuple[np.ndarray, np.ndarray]:
    """The characters of all masks, one mask after the other, as bytes; where each mask begins, then the end."""
    import pyarrow as pa

    try:
        given = pa.array(texts, from_pandas=True)
        kind = given.type.value_type if pa.types.is_dictionary(given.type) else given.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
            raise pa.ArrowInvalid
        text = given.cast(pa.large_string())
    except pa.ArrowException:
        raise InputError(f"{row(0)}: compressed run lengths of COCO are needed, as text") from None
    text = pa.concat_arrays(text.chunks) if isinstance(text, pa.ChunkedArray) else text
    _refuse(np.asarray(text.is_null()), np.arange(len(text)), row, "the mask is null")
    _, offsets, data = text.buffers()
    if not len(text) or data is None:
        return np.zeros(0, np.uint8), np.zeros(len(text) + 1, np.int64)
    return np.frombuffer(data, np.uint8), np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]


def _runs(
    text: np.ndarray, starts: np.ndarray, n_pixels: np.ndarray, before: int, row_of_all: Callable[[int], str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the runs of some masks begin and end, and how many each mask has; `before` masks come before them."""

    def row(position: int) -> str:
        return row_of_all(position + before)

    digits, sizes = text[starts[0] : starts[-1]] - np.uint8(ZERO), np.diff(starts)
    _refuse(
        digits >= 2 * MORE,
        np.repeat(np.arange(len(sizes)), sizes),
        row,
        "run lengths have no such characters",
    )
    is_last = (digits & MORE) == 0
    filled = np.flatnonzero(sizes > 0)
    _refuse(~is_last[(starts[1:] - starts[0])[filled] - 1], filled, row, "the run lengths end within a number")
    # How many numbers end up to each character tells how many each mask has.
    n_ended = np.concatenate([[0], np.cumsum(is_last)])[starts - starts[0]]
    n_counts = np.diff(n_ended)
    of_mask = np.repeat(np.arange(len(sizes)), n_counts)
    in_mask = _places_in(n_counts)
    counts = _undone(_numbers(digits, np.flatnonzero(is_last), of_mask, row), of_mask, in_mask)
    ends = _added_up(counts, n_counts)
    total = np.zeros(len(n_pixels), np.int64)
    total[n_counts > 0] = ends[n_ended[1:][n_counts > 0] - 1]
    _refuse(counts < 0, of_mask, row, "a count of the run lengths is below 0")
    _refuse(total != n_pixels, np.arange(len(total)), row, "the run lengths and the image have not as many pixels")
    inside = np.flatnonzero((in_mask & 1).astype(bool) & (counts > 0))
    end = ends[inside]
    return end - counts[inside], end, np.bincount(of_mask[inside], minlength=len(total))


def _numbers(digits: np.ndarray, last: np.ndarray, of_mask: np.ndarray, row: Callable[[int], str]) -> np.ndarray:
    """The numbers that characters of six bits write; `last` are the positions of the last one of each."""
    begins = np.concatenate([[0], last[:-1] + 1])[: len(last)]
    length = last + 1 - begins
    _refuse(length > MOST_CHARACTERS, of_mask, row, "a count of the run lengths is too large")
    values = (digits[begins] & (MORE - 1)).astype(np.int64)
    for place in range(1, int(length.max(initial=0))):
        longer = np.flatnonzero(length > place)
        values[longer] |= (digits[begins[longer] + place] & (MORE - 1)).astype(np.int64) << (BITS * place)
    is_negative = np.flatnonzero(digits[last] & SIGN)
    values[is_negative] -= np.int64(1) << (BITS * length[is_negative])
    return values


def _undone(differences: np.ndarray, of_mask: np.ndarray, in_mask: np.ndarray) -> np.ndarray:
    """The counts behind differences, which each count has to the one before the last, but for the first three."""
    counts = differences.copy()
    is_odd = (in_mask & 1).astype(bool)
    for chain in (is_odd, ~is_odd & (in_mask > 0)):
        at = np.flatnonzero(chain)
        counts[at] = _added_up(differences[at], np.bincount(of_mask[at]))
    return counts


def _places_in(sizes: np.ndarray) -> np.ndarray:
    """The places from 0 on in each of consecutive groups of these sizes."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _added_up(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The sums of the values so far in each of consecutive groups of these sizes."""
    total = np.cumsum(values)
    begins = (np.cumsum(sizes) - sizes)[sizes > 0]
    before = np.where(begins > 0, total[begins - 1], 0)
    return total - np.repeat(before, sizes[sizes > 0])


def encoded(runs: Runs) -> list[str]:
    """The compressed text of N masks, all at once.

    >>> given = np.array([1.0]), np.array([50.0])
    >>> encoded(runs_of(["231U13"], *given, str))
    ['231U13']
    """
    n_runs, total = np.diff(runs.first), runs.height * runs.width
    tail = total - runs.of_masks(np.maximum, runs.end)
    n_counts = 2 * n_runs + (tail > 0)
    last = np.cumsum(n_counts)
    counts = np.zeros(int(n_counts.sum()), np.int64)
    in_mask = _places_in(n_runs)
    at = np.repeat(last - n_counts, n_runs) + 2 * in_mask
    before = np.where(in_mask > 0, np.concatenate([[0], runs.end[:-1]])[: len(at)], 0)
    counts[at], counts[at + 1] = runs.start - before, runs.end - runs.start
    counts[last[tail > 0] - 1] = tail[tail > 0]
    in_mask = _places_in(n_counts)
    numbers = counts - np.where(in_mask > 2, np.concatenate([[0, 0], counts[:-2]])[: len(counts)], 0)
    text, ends = _characters(numbers)
    edges = np.concatenate([[0], ends])[np.concatenate([[0], last])].tolist()
    return [text[first:end] for first, end in pairwise(edges)]


def _characters(numbers: np.ndarray) -> tuple[str, np.ndarray]:
    """Numbers as characters of six bits, one number after the other, and where each one ends."""
    length = np.ones(len(numbers), np.int64)
    for place in range(1, MOST_CHARACTERS):
        least = -(np.int64(1) << (BITS * place - 1))
        length += (numbers < least) | (numbers >= -least)
    ends = np.cumsum(length)
    letters = np.zeros(int(length.sum()), np.uint8)
    for place in range(int(length.max(initial=0))):
        there = np.flatnonzero(length > place)
        digit = (numbers[there] >> (BITS * place)) & (MORE - 1)
        letters[(ends - length)[there] + place] = ZERO + (digit | np.where(length[there] > place + 1, MORE, 0))
    return letters.tobytes().decode("ascii"), ends


def laid_anew(runs: Runs, height: Any, width: Any, scale: tuple[Any, Any], start: tuple[Any, Any] = (0, 0)) -> Runs:
    """N masks in images of these sizes (px), scaled along x and y and then moved; what lies beyond the image is cut.

    Each argument is a number or (N,). A scale below 0 mirrors. A pixel has what is at its middle.

    >>> of_image = runs_of(["231U13"], np.array([1.0]), np.array([50.0]), str)
    >>> moved = laid_anew(of_image, 1, 50, (1, 1), (2, 0))
    >>> of_image.start.tolist(), moved.start.tolist(), moved.end.tolist()
    ([2, 6], [4, 8], [7, 48])
    """
    n = len(runs.height)
    height, width = (np.broadcast_to(np.asarray(size, np.int64), n) for size in (height, width))
    of_run = np.repeat(np.arange(n), np.diff(runs.first))
    high = runs.height[of_run]
    begin, n_columns = runs.start // high, (runs.end - 1) // high - runs.start // high + 1
    memory.check_at_hand("masks", "to lay masks anew", PIECE_BYTES * float(n_columns.sum()), FEWER_MASKS)
    of_piece, column = arrays.ranges(begin, n_columns)
    mask, high = of_run[of_piece], high[of_piece]
    top = np.maximum(runs.start[of_piece] - column * high, 0)
    bottom = np.minimum(runs.end[of_piece] - column * high, high)
    sides = []
    for low, end, along, size in ((column, column + 1, 0, width), (top, bottom, 1, height)):
        by, beyond = (np.broadcast_to(np.asarray(of[along], np.float64), n)[mask] for of in (scale, start))
        edges = [np.clip(np.ceil(edge * by + beyond - 0.5), 0, size[mask]).astype(np.int64) for edge in (low, end)]
        sides.append((np.minimum(*edges), np.maximum(*edges)))
    (left, right), (top, bottom) = sides
    memory.check_at_hand("masks", "to lay masks anew", PIECE_BYTES * float((right - left).sum()), FEWER_MASKS)
    of_new, column = arrays.ranges(left, np.where(bottom > top, right - left, 0))
    mask = mask[of_new]
    starts, ends = (column * height[mask] + edge[of_new] for edge in (top, bottom))
    order = np.lexsort([starts, mask])
    mask, starts, ends = mask[order], starts[order], ends[order]
    is_first = np.ones(len(mask), bool)
    is_first[1:] = (mask[1:] != mask[:-1]) | (starts[1:] != ends[:-1])
    is_last = np.append(is_first[1:], True)[: len(mask)]
    firsts = np.concatenate([[0], np.cumsum(np.bincount(mask[is_first], minlength=n))])
    return Runs(starts[is_first], ends[is_last], firsts, height.copy(), width.copy())


def encoded_mask(counts: list[int]) -> str:
    """The counts of a mask, the first that of pixels outside, as COCO's compressed text.

    >>> encoded_mask([2, 3, 1, 40, 4])
    '231U13'
    """
    letters = []
    for at, count in enumerate(counts):
        number = count - counts[at - 2] if at > 2 else count
        while True:
            digit, number = number & (MORE - 1), number >> BITS
            is_more = number != (-1 if digit & SIGN else 0)
            letters.append(chr(ZERO + (digit | MORE if is_more else digit)))
            if not is_more:
                break
    return "".join(letters)


def runs_of_images(images: Iterable[np.ndarray]) -> Runs:
    """The runs of masks that are given as arrays of flags, (height, width) each, one after the other."""
    changes, sizes = [], []
    for inside in images:
        sizes.append(inside.shape)
        flat = np.concatenate([[False], inside.ravel(order="F"), [False]])
        changes.append(np.flatnonzero(flat[1:] != flat[:-1]))
    places = np.concatenate([np.zeros(0, np.int64), *changes])
    first = np.concatenate([[0], np.cumsum([len(places) // 2 for places in changes], dtype=np.int64)])
    height, width = np.array(sizes, np.int64).reshape(-1, 2).T
    return Runs(places[::2], places[1::2], first, height, width)
