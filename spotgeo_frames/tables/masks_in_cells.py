"""Masks that a column holds as COCO has them: polygons, dicts of run lengths, or compressed run lengths as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..support import InputError, pandas_tables, run_lengths, segmentations
from .schema import BOX


def with_masks(given: pd.DataFrame, tidied: pd.DataFrame, column: str, size: Any) -> pd.DataFrame:
    """The table with `mask`, `mask_h` and `mask_w` in place of a column of masks, and without boxes.

    `size` is the width and height of the images (px), two numbers or the names of two columns, or None. Raises
    InputError, naming the row, if a mask is none.
    """
    if column not in given:
        raise InputError(f"tidy: table: column {column} is missing, and mask= names it")
    sizes = _sizes(given, size)
    texts, found = [], []
    for row, (value, of_image) in enumerate(zip(given[column].tolist(), sizes, strict=True)):
        try:
            text, of_mask = (value, of_image) if isinstance(value, str) else segmentations.compressed(value, of_image)
        except InputError as error:
            raise InputError(f"tidy: table: column {column}: row {row}: {error.problems[0]}") from None
        if None in of_mask:
            raise InputError(f"tidy: table: column {column} holds text, which needs size=(width, height)")
        texts.append(text)
        found.append(of_mask)
    height, width = np.array(found, np.float64).reshape(-1, 2).T
    masks = pd.array(texts, dtype=pandas_tables.TEXT)
    run_lengths.runs_of(masks, height, width, lambda row: f"tidy: table: column {column}: row {row}")
    kept = tidied.drop(columns=[name for name in (column, *BOX) if name in tidied])
    return kept.assign(mask=masks, mask_h=height, mask_w=width)


def _sizes(given: pd.DataFrame, size: Any) -> list[tuple[float | None, float | None]]:
    """The height and width of the image of each row; None where they are not known."""
    if size is None:
        return [(None, None)] * len(given)
    sides = [given[of].to_numpy(np.float64) if isinstance(of, str) else np.full(len(given), float(of)) for of in size]
    return [(height, width) for width, height in zip(*(side.tolist() for side in sides), strict=True)]
