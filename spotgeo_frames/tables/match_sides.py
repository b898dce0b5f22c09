"""Back from a match table to its truths and predictions, and to the thresholds that it was made with."""

import numpy as np
import pandas as pd

from ..support.errors import InputError
from .annotations import Annotations
from .schema import FN, FP, FRAME_KEY, TP, measure_of


def known_threshold(table: pd.DataFrame, name: str, given: float | None = None) -> float:
    """The given "tau" or "epsilon" (px), or the match table's own.

    Raises InputError where neither is, or matching was by similarity; ValueError where tau is not above 0.
    """
    if measure_of(table) == "similarity":
        raise InputError("match table: matching was by similarity; a table with distances is needed")
    found = table.attrs.get(name) if given is None else given
    if found is None:
        raise InputError(f"match table: it does not tell its {name}; give {name}=, in px")
    if name == "tau" and not 0 < float(found) < np.inf:
        raise ValueError(f"tau is {found}; a distance above 0 is needed, in pixels")
    return float(found)


def sides_of(table: pd.DataFrame) -> tuple[Annotations, Annotations]:
    """Truth, with its frames, and predictions of a checked match table; `object` is the row that each is in.

    They are in the order of their files. Raises InputError where coordinates are missing.
    """
    outcome = table["outcome"].array.codes
    sides = {"truth": [TP, FN], "predicted": [TP, FP]}
    missing = [f"{side}_{axis}" for side in sides for axis in "xy" if f"{side}_{axis}" not in table]
    if missing:
        raise InputError([f"match table: column {column} is missing" for column in missing])
    key = [column for column in (*FRAME_KEY, "joint") if column in table]
    carried = ["x", "y", *(["category"] if all(f"{side}_category" in table for side in sides) else [])]
    tables = []
    for side, kinds in sides.items():
        rows = np.flatnonzero(np.isin(outcome, kinds))
        columns = {column: table[column].array.take(rows) for column in key} | {"object": rows}
        tables.append(pd.DataFrame(columns | {name: table[f"{side}_{name}"].array.take(rows) for name in carried}))
    return Annotations(tables[0], table[FRAME_KEY].drop_duplicates()), Annotations(tables[1])
