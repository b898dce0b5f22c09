"""The attributes of COCO's images as columns of their table of frames, however many names a file has for them."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..support.errors import InputError
from ..support.pandas_versions import TEXT

# More attributes than these are no table that anyone slices by, and each column takes pandas a while.
MOST_ATTRIBUTES = 10_000

# The most cells that a table of attributes has unless the images fill a good share of them. In a file of a megabyte,
# each image can have an attribute of its own, and the table would take gigabytes.
MOST_CELLS = 20_000_000
LEAST_FILLED = 0.01

Column = np.ndarray | pd.api.extensions.ExtensionArray


def attribute_columns(images: Sequence[Mapping[str, Any]], known: Collection[str], place: str) -> dict[str, Column]:
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


def _column(rows: list[int], values: list[Any], kinds: set[type], n_images: int) -> Column:
    """An attribute that the images at these rows have."""
    lacking = np.ones(n_images, bool)
    lacking[rows] = False
    if kinds == {bool}:
        flags = np.zeros(n_images, bool)
        flags[rows] = values
        return pd.arrays.BooleanArray(flags, lacking) if lacking.any() else flags
    if kinds <= {int, float}:
        numbers = np.full(n_images, np.nan)
        numbers[rows] = [_as_float(value) for value in values]
        return numbers
    texts = pd.array([str(value) for value in values], dtype=TEXT)
    places = np.full(n_images, -1)
    places[rows] = np.arange(len(rows))
    return texts.take(places, allow_fill=True)


def _as_float(value: float) -> float:
    """A number as float64; infinite if it is too large for that."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
