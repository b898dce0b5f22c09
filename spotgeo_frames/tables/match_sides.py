"""Takes the truths and predictions back out of a match table."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..support.errors import InputError
from .annotations import Annotations
from .schema import FILE_ORDER, FN, FP, FRAME_KEY, PREFIXES, TP, centres, frame_columns


def sides_of(table: pd.DataFrame) -> tuple[Annotations, Annotations]:
    """Truth, with its frames, and predictions of a checked match table.

    `object` is the position of the object's row in the match table. Each side is in file order. If the table has no
    `predicted_file_order`, false positives come after the matched predictions. Raises InputError if a column of
    coordinates is missing.
    """
    outcome = table["outcome"].array.codes
    sides = {"truth": [TP, FN], "predicted": [TP, FP]}
    check_coordinates(table, list(sides))
    key = frame_columns(table)
    category = ["category"] if all(f"{side}_category" in table for side in sides) else []
    tables = []
    for side, kinds in sides.items():
        size = ["w", "h"] if f"{side}_w" in table and f"{side}_h" in table else []
        rows = np.flatnonzero(np.isin(outcome, kinds))
        if side == "predicted" and FILE_ORDER in table:
            order = table[FILE_ORDER].to_numpy(np.int64, na_value=-1)[rows]
            rows = rows[np.argsort(order, kind="stable")]  # aligning the sides later sorts by frame
        columns = {column: table[column].array.take(rows) for column in key} | {"object": rows}
        carried = ["x", "y", *size, *category]
        tables.append(pd.DataFrame(columns | {name: table[f"{side}_{name}"].array.take(rows) for name in carried}))
    return Annotations(tables[0], table[FRAME_KEY].drop_duplicates()), Annotations(tables[1])


def check_coordinates(table: pd.DataFrame, sides: Sequence[str] = ("truth", "predicted")) -> None:
    """Raises InputError if a match table lacks the x or y of these sides."""
    columns = [f"{side}_{axis}" for side in sides for axis in "xy"]
    missing = [column for column in columns if column not in table]
    if missing:
        raise InputError([f"match table: column {column} is missing" for column in missing])


def offsets(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Predicted minus true x and y (px) of every row of a match table; null unless TP.

    The x and y of boxes are those of their centres.
    """
    predicted, truth = centres(table, PREFIXES["predictions"]), centres(table, PREFIXES["truth"])
    return predicted[0] - truth[0], predicted[1] - truth[1]
