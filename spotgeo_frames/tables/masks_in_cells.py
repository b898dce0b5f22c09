"""Masks that a column holds as polygons, run lengths or arrays, as compressed run lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..support import InputError, pandas_tables, run_lengths, segmentations
from .box_forms import sizes_of
from .schema import BOX

Size = tuple[float | None, float | None]


def with_masks(given: pd.DataFrame, tidied: pd.DataFrame, column: str, size: Any) -> pd.DataFrame:
    """The table with `mask`, `mask_h` and `mask_w` in place of a column of masks, and without boxes.

    `size` is the width and height of the images (px), two numbers or the names of two columns, or None. Raises
    InputError, naming the row, if a mask is none, or if all polygons are shares of their images.
    """
    cells, sizes = given[column].tolist(), _sizes(given, size)
    texts, found = [], []
    for row, (value, of_image) in enumerate(zip(cells, sizes, strict=True)):
        try:
            text, of_mask = _compressed(value, of_image)
        except InputError as error:
            how = "" if size is not None or isinstance(value, Mapping) else "; give size=(width, height)"
            raise InputError(f"tidy: table: column {column}: row {row}: {error.problems[0]}{how}") from None
        except (TypeError, ValueError):  # of what is no number
            raise InputError(f"tidy: table: column {column}: row {row}: something in it is no number") from None
        if None in of_mask:
            raise InputError(f"tidy: table: column {column} holds text, which needs size=(width, height)")
        texts.append(text)
        found.append(of_mask)
    if cells and all(_is_share(value) for value in cells):
        how = "multiply x by the width of its image and y by its height"
        raise InputError(f"tidy: table: column {column}: no polygon reaches beyond 1 px, as shares do; {how}")
    height, width = np.array(found, np.float64).reshape(-1, 2).T
    masks = pd.array(texts, dtype=pandas_tables.TEXT)
    run_lengths.runs_of(masks, height, width, lambda row: f"tidy: table: column {column}: row {row}")
    kept = tidied.drop(columns=[name for name in (column, *BOX) if name in tidied])
    return kept.assign(mask=masks, mask_h=height, mask_w=width)


def _compressed(value: Any, of_image: Size) -> tuple[str, Size]:
    """The compressed run lengths of a mask in any form, and the height and width of its image, px."""
    if isinstance(value, str):
        return value, of_image
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype in (np.bool_, np.uint8):
        height, width = value.shape
        if None not in of_image and (height, width) != of_image:
            sides = " x ".join(f"{side:g}" for side in of_image)
            raise InputError(f"the array is {height} x {width}, and the image {sides}: height x width, px")
        [text] = run_lengths.encoded(run_lengths.runs_of_images([value != 0]))
        return text, (height, width)
    return segmentations.compressed(_as_polygons(value), of_image)


def _as_polygons(value: Any) -> Any:
    """A polygon that stands alone, as a flat list or as a list of points, in a list; any other value as it is."""
    given = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        return given
    if all(np.isscalar(number) for number in given):
        return [given]
    is_of_points = len(given) > 2 and all(isinstance(point, Sequence) and len(point) == 2 for point in given)
    return [[number for point in given for number in point]] if is_of_points else given


def _is_share(value: Any) -> bool:
    """Whether a mask is of polygons that lie within the first pixel."""
    polygons = _as_polygons(value) if isinstance(value, list | tuple) else None
    return isinstance(polygons, list | tuple) and all(abs(number) <= 1 for polygon in polygons for number in polygon)


def _sizes(given: pd.DataFrame, size: Any) -> list[Size]:
    """The height and width of the image of each row; None where they are not known."""
    if size is None:
        return [(None, None)] * len(given)
    sides = [np.broadcast_to(np.asarray(side, np.float64), len(given)).tolist() for side in sizes_of(given, size)]
    return [(height, width) for width, height in zip(*sides, strict=True)]
