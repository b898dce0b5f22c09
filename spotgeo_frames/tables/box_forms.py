"""Boxes in other forms, as columns of numbers, lists or dicts, as the columns that boxes have here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..support import InputError, arrays
from .lists_of_numbers import as_matrix, holds_dicts, inner_length, keys_of_dicts, numbers_of_dicts
from .messages import listed, missing
from .other_words import found_geometry
from .schema import BOX
from .spellings import BoxFormat

# How many numbers each has: those that upright boxes have, an angle more, or four corners.
N_NUMBERS: dict[str, int] = {"xywh": 4, "xyxy": 4, "cxcywh": 4, "cxcywha": 5, "corners": 8}

# The columns of oriented boxes: middle and size (px), and the angle from the x axis towards the y axis, degrees.
TURNED = ["cx", "cy", "w", "h", "angle"]

# Coordinates within this are hardly those of boxes in pixels.
SHARES = 1.0


def with_boxes(
    given: pd.DataFrame, renamed: pd.DataFrame, numbers: Sequence[str], box_format: BoxFormat, size: Any
) -> pd.DataFrame:
    """The table with the columns of boxes in place of the first that had their numbers.

    With a `size`, corners are shares of the images' width and height, and become pixels.
    """
    if len(numbers) == 1 and holds_dicts(given[numbers[0]]):
        columns, box_format = _of_dicts(given, numbers[0], box_format)
    elif len(numbers) == 1:
        _check_nesting(given, numbers[0], box_format)
        columns = list(as_matrix(given, numbers[0], [N_NUMBERS[box_format]]).T)
    else:
        columns = [as_numbers(given, name) for name in numbers]
    if box_format == "corners" and size is not None:
        columns = [column * side for column, side in zip(columns, sizes_of(given, size) * 4, strict=True)]
    made = _boxes(columns, box_format)
    if len(numbers) == len(made):  # each number keeps its place
        places = dict(zip(numbers, made, strict=True))
        order = [places.get(str(name), name) for name in renamed.columns]
        return renamed.drop(columns=[*numbers]).assign(**made)[order]
    place = min(list(renamed.columns).index(name) for name in numbers)
    others = [name for name in renamed.columns if name not in numbers]
    order = [*others[:place], *made, *others[place:]]
    return renamed.drop(columns=[*numbers]).assign(**made)[order]


def as_numbers(given: pd.DataFrame, column: str) -> pd.Series:
    """A column; raises InputError if it holds no numbers."""
    values = given[column]
    if not pd.api.types.is_any_real_numeric_dtype(values.dtype):
        raise InputError(f"tidy: table: column {column} is of type {values.dtype}; numbers are needed")
    return values if values.dtype == np.float64 else values.astype("float64")  # small integers would overflow


def sizes_of(given: pd.DataFrame, size: Any) -> tuple[Any, Any]:
    """The width and height of each row's image, px, or of all; raises InputError if a named column has no numbers."""
    problems = [
        missing("tidy: table", of, given.columns, f"it is part of size=; there are {listed(given.columns)}")
        for of in size
        if isinstance(of, str) and of not in given
    ]
    if problems:
        raise InputError(problems)
    width, height = (as_numbers(given, of) if isinstance(of, str) else float(of) for of in size)
    return width, height


def in_pixels(given: pd.DataFrame, tidied: pd.DataFrame, size: Any, keypoints: str | None) -> pd.DataFrame:
    """The table with coordinates in pixels that were shares of the images' width and height."""
    if "angle" in tidied:
        raise ValueError("tidy: size does not go with boxes that are turned, whose angle it would change")
    columns = [name for name in BOX if name in tidied]
    if not columns and keypoints is None:
        raise InputError(
            "tidy: table: size belongs to coordinates, and there are none; name them with box= or x= and y="
        )
    factors = dict(zip(BOX, sizes_of(given, size) * 2, strict=True))
    return tidied.assign(**{name: as_numbers(tidied, name) * factors[name] for name in columns})


def are_shares(tidied: pd.DataFrame) -> bool:
    """Whether all boxes lie within the first pixel, so that they are rather shares of the images."""
    columns = [tidied[name].to_numpy() for name in BOX if name in tidied]
    return len(columns) == len(BOX) and len(tidied) > 0 and all(_within(column) for column in columns)


def _within(column: np.ndarray) -> bool:
    return column.dtype == np.float64 and bool(np.nanmax(np.abs(column), initial=0) <= SHARES)


def _check_nesting(given: pd.DataFrame, column: str, box_format: BoxFormat) -> None:
    """Raises InputError if lists hold two corners, and are to be read as a corner or middle and a size."""
    if inner_length(given[column]) == 2 and box_format in ("xywh", "cxcywh"):
        how = 'box_format="xyxy" says that they are two corners'
        raise InputError(f"tidy: table: column {column} holds lists of points, which are no {box_format}; {how}")


def _of_dicts(given: pd.DataFrame, column: str, said: BoxFormat) -> tuple[Sequence[Any], BoxFormat]:
    """The numbers of a column of dicts with their format, which the keys tell; x, y, w and h may be of the one `said`.

    Raises InputError if they are no boxes.
    """
    keys = keys_of_dicts(given[column])
    found, form, _ = (list(BOX), "xywh", {}) if {*BOX} <= {*keys} else found_geometry(keys)
    if {*TURNED} <= {*keys}:
        found, form = list(TURNED), "cxcywha"
    if not found:
        raise InputError(f"tidy: table: column {column} holds dicts of {listed(keys)}, which are no boxes")
    is_said = form == "xywh" and N_NUMBERS[said] == len(found)
    return numbers_of_dicts(given, column, found), said if is_said else form


def _boxes(columns: Sequence[Any], box_format: str) -> dict[str, Any]:
    """x, y, w and h of boxes in another format, or the columns of oriented boxes."""
    if box_format == "corners":
        return _of_corners([np.asarray(column, np.float64) for column in columns])
    if box_format == "cxcywha":
        return dict(zip(TURNED, columns, strict=True))
    first, second, third, fourth = columns
    if box_format == "xyxy":
        third, fourth = third - first, fourth - second
    if box_format == "cxcywh":
        first, second = first - third / 2, second - fourth / 2
    return dict(zip(BOX, (first, second, third, fourth), strict=True))


def _of_corners(numbers: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Oriented boxes of their four corners, which files round to pixels.

    Raises InputError if some are no rectangles.
    """
    corners = np.stack(numbers, axis=1).reshape(-1, 4, 2)
    sides = np.roll(corners, -1, axis=1) - corners
    across, down = (sides[:, 0] - sides[:, 2]) / 2, (sides[:, 1] - sides[:, 3]) / 2
    width, height = (np.sqrt((side * side).sum(axis=1)) for side in (across, down))
    # Twice what rounding each corner to pixels may change.
    odd = np.abs(corners[:, 0] + corners[:, 2] - corners[:, 1] - corners[:, 3]).max(axis=1, initial=0) > 4
    odd |= np.abs((across * down).sum(axis=1)) > 4 * np.maximum(width + height, 1)
    if odd.any():
        row = int(np.argmax(odd))
        shown = corners[row].tolist()
        which = f"{int(odd.sum()):,} rows have" if odd.sum() > 1 else "1 row has"
        raise InputError(f"tidy: table: {which} corners of no rectangle; row {row} first: {shown}")
    cx, cy = corners.mean(axis=1).T
    angle = arrays.direction(across[:, 1], across[:, 0])
    return dict(zip(TURNED, (cx, cy, width, height, angle), strict=True))
