"""The identities in one frame of tracks, as labels beside the objects: `3 → 7` is truth 3, found as 7."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...analysis.errors.histories import identity_columns, switches
from ...support.texts import DASH
from ...tables.columns import as_numbers
from ...tables.schema import SIDE_PREFIXES
from .plot_parts import shortened

# The longest identity that is written whole, in characters.
LONGEST = 12


class Label(NamedTuple):
    """The identities of one object, the place of its upper left corner (px), and whether its identity is switched."""

    x: float
    y: float
    text: str
    is_switch: bool


def labels_of(rows: pd.DataFrame) -> list[Label]:
    """The labels of a frame of tracks, one for each truth, and one for each prediction that is matched with none.

    Of joints that have a row each, the label is at the topmost joint of an object.
    """
    columns = identity_columns(rows, None, "plots")
    if not {*columns} <= {*rows.columns}:
        return []
    truth, predicted = ([None if pd.isna(name) else name for name in rows[column]] for column in columns)
    x, y = (np.fmin(*(as_numbers(rows[f"{prefix}{axis}"]) for prefix in SIDE_PREFIXES)) for axis in "xy")
    is_switch = switches(rows)
    matched = {None, *(other for name, other in zip(truth, predicted, strict=True) if name is not None)}
    objects: dict[tuple[Any, Any], list[int]] = {}
    for row, (name, other) in enumerate(zip(truth, predicted, strict=True)):
        if name is not None or other not in matched:
            objects.setdefault((name, None if name is not None else other), []).append(row)
    labels = []
    for (name, _), of_object in objects.items():
        top = of_object[int(np.argmin(y[of_object]))]
        found_as = dict.fromkeys(_written(predicted[row]) for row in of_object if predicted[row] is not None)
        text = f"{_written(name)} → {', '.join(found_as) or DASH}"
        labels.append(Label(float(x[top]), float(y[top]), text, bool(is_switch[of_object].any())))
    return labels


def _written(name: Any) -> str:
    """An identity as text, shortened if it is long; None as a dash."""
    return shortened(name, LONGEST)
