"""The attributes of COCO's images and categories, a column each."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..support import InputError
from ..tables import DeferredText

# More attributes than these are no table that anyone slices by, and each column takes pandas a while.
MOST_ATTRIBUTES = 10_000

# The most cells that a table of attributes has unless the images fill a good share of them. In a file of a megabyte,
# each image can have an attribute of its own, and the table would take gigabytes.
MOST_CELLS = 20_000_000
LEAST_FILLED = 0.01


def attribute_columns(images: Sequence[Mapping[str, Any]], known: Collection[str], place: str) -> dict[str, Any]:
    """The attributes of images but those `known`, a column each: flags, numbers or text; null where they are missing.

    Attributes with lists or objects, and those that are null everywhere, are left out. Raises InputError, which `place`
    begins, where the table would have more columns or empty cells than anyone needs.
    """
    given: dict[str, tuple[list[int], list[Any]]] = {}
    for row, image in enumerate(images):
        for name, value in image.items():
            if value is not None and name not in known:
                rows, values = given.setdefault(name, ([], []))
                rows.append(row)
                values.append(value)
    kinds = {name: {*map(type, values)} for name, (_, values) in given.items()}
    plain = {name: given[name] for name in given if kinds[name] <= {bool, int, float, str}}
    n_values, n_cells = sum(len(rows) for rows, _ in plain.values()), len(plain) * len(images)
    if len(plain) > MOST_ATTRIBUTES or n_cells > max(MOST_CELLS, n_values / LEAST_FILLED):
        what = f"{len(plain):,} attributes of {len(images):,} images would be a column each, of which images fill"
        advice = "take out those that you do not need, or put their names into values"
        raise InputError(f"{place}: {what} {n_values:,} of {n_cells:,} cells; {advice}")
    return {name: _column(*plain[name], kinds[name], len(images)) for name in plain}


def _column(rows: list[int], values: list[Any], kinds: set[type], n_images: int) -> Any:
    """An attribute that the images at these rows have."""
    if kinds == {bool}:
        flags, lacking = np.zeros(n_images, bool), np.ones(n_images, bool)
        flags[rows], lacking[rows] = values, False
        if not lacking.any():
            return flags
        from pandas.arrays import BooleanArray  # files without such flags need no pandas

        return BooleanArray(flags, lacking)
    if kinds <= {int, float}:
        numbers = np.full(n_images, np.nan)
        numbers[rows] = [_as_float(value) for value in values]
        return numbers
    texts: list[str | None] = [None] * n_images
    for row, value in zip(rows, values, strict=True):
        texts[row] = str(value)
    return DeferredText.of(texts)


def _as_float(value: float) -> float:
    """A number as float64; infinite if it is too large for that."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
