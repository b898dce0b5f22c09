"""Takes the truths and predictions back out of a match table."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..support import InputError
from .annotations import Annotations
from .messages import missing
from .schema import (
    FILE_ORDER,
    FN,
    FP,
    FRAME_KEY,
    PREFIXES,
    SIDE_PREFIXES,
    TP,
    coordinates_of,
    frame_columns,
    geometry_name,
)


class MatchSides(NamedTuple):
    """Truth, with its frames, and predictions of a match table; and the row of the match table of each object."""

    truth: Annotations
    predictions: Annotations
    truth_rows: np.ndarray
    predicted_rows: np.ndarray


def sides_of(table: pd.DataFrame, columns: Collection[str] | None) -> MatchSides:
    """The sides of a checked match table, each in file order.

    If the table has no `predicted_file_order`, false positives come after the matched predictions. The sides have the
    key, `x` and `y`, and those of the `columns` that the table has; None takes all. Raises InputError if a column of
    coordinates is missing.
    """
    outcome = table["outcome"].array.codes
    check_coordinates(table)
    key = frame_columns(table)
    sides, of_sides = [], []
    for prefix, kinds in zip(SIDE_PREFIXES, ([TP, FN], [TP, FP]), strict=True):
        rows = np.flatnonzero(np.isin(outcome, kinds))
        if prefix == PREFIXES["predictions"] and FILE_ORDER in table:
            order = table[FILE_ORDER].to_numpy(np.int64, na_value=-1)[rows]
            rows = rows[np.argsort(order, kind="stable")]  # aligning the sides later sorts by frame
        named = {name.removeprefix(prefix): name for name in map(str, table.columns) if name.startswith(prefix)}
        places = coordinates_of(named)
        taken = {name: named[name] for name in named if columns is None or name in places or name in columns}
        arrays = {name: table[column].array.take(rows) for name, column in taken.items()}
        sides.append(pd.DataFrame({name: table[name].array.take(rows) for name in key} | arrays))
        of_sides.append(rows)
    return MatchSides(Annotations(sides[0], table[FRAME_KEY].drop_duplicates()), Annotations(sides[1]), *of_sides)


def check_coordinates(table: pd.DataFrame, sides: Sequence[str] = ("truth", "predicted")) -> None:
    """Raises InputError if a match table lacks the x or y of these sides, unless their geometry has other columns."""
    plain = [side for side in sides if geometry_name(table.columns, f"{side}_") is None]
    columns = [f"{side}_{axis}" for side in plain for axis in "xy"]
    lacking = [column for column in columns if column not in table]
    if lacking:
        raise InputError([missing("match table", column, table.columns) for column in lacking])
