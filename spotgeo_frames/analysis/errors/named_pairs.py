"""Names the object that explains each error: for a false alarm the truth that it is near, for a miss the prediction."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...support import pandas_tables
from ...tables import checks, schema


def with_named_pairs(table: pd.DataFrame, other: np.ndarray) -> pd.DataFrame:
    """A match table with `pair_object`, and `pair_category` where there are categories.

    `other` (N,) is the row of the object that explains each error: the truth that a false alarm is near, or the
    prediction that is near a miss; -1 for none.
    """
    is_alarm = table["outcome"].array.codes == schema.FP
    columns = {}
    for name in ("object", "category"):
        truth, predicted = (f"{prefix}{name}" for prefix in schema.SIDE_PREFIXES)
        if truth in table and predicted in table:
            columns[f"pair_{name}"] = _taken(table[truth], table[predicted], other, is_alarm)
    if "pair_category" in columns:
        columns["pair_category"] = as_categories(columns["pair_category"], table)
    return table.assign(**columns)


def as_categories(values: pd.Series, table: pd.DataFrame) -> pd.Series:
    """Categories of one side, which match tables have as float64 where they are numbers, as integers where all are.

    The column `category` of both sides tells.
    """
    is_number = pd.api.types.is_float_dtype(values.dtype)
    is_integer = "category" in table and pd.api.types.is_integer_dtype(table["category"].dtype)
    return values.astype("Int64") if is_number and is_integer else values


def _taken(of_truth: pd.Series, of_predictions: pd.Series, other: np.ndarray, is_alarm: np.ndarray) -> pd.Series:
    """The value of the object that explains each row: the truth's for a false alarm, the prediction's for a miss."""
    sides = [checks.decoded(side).reset_index(drop=True) for side in (of_truth, of_predictions)]
    if sides[0].dtype != sides[1].dtype:
        sides = [side.astype(pandas_tables.TEXT) for side in sides]
    known, claimed = (side.reindex(other) for side in sides)
    taken = known.where(pd.Series(is_alarm, known.index), claimed)
    return pd.Series(taken.array, of_truth.index)
