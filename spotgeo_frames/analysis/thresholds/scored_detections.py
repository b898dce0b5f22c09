"""The detections of a match table, or of an average precision, whose scores can be looked at."""

import numpy as np
import pandas as pd

from ...scoring.ap.numbers import shown_position
from ...scoring.ap.result import AveragePrecision
from ...scoring.ap.tables import match_tables
from ...scoring.row_counts import warn_of_doubled
from ...support.errors import InputError
from ...tables.checks import check_matches
from ...tables.kinds import CALLER
from ...tables.messages import counted, first_keys, missing
from ...tables.schema import FP, OBJECT_KEY, TP
from ...tables.table import Table

SCORE = "predicted_score"


def scored_matches(x: Table | AveragePrecision, threshold: float | None, name: str) -> pd.DataFrame:
    """The rows that count of a match table, or of an average precision at a threshold, by default its lowest.

    Raises InputError, whose message begins with `name`, unless every detection has a score; ValueError if `threshold`
    is given with a match table, or is none of those of the average precision.
    """
    if isinstance(x, AveragePrecision):
        chosen = x.matched.thresholds[shown_position(x.matched.thresholds, threshold)]
        return check_matches(match_tables(x.matched, [chosen]))
    table = check_matches(x, f"{name}: x")
    if threshold is not None:
        raise ValueError(
            "threshold goes with what average_precision() returned; a match table has its own, leave it out"
        )
    _check_scores(table, name)
    warn_of_doubled(table, name, CALLER + 2)
    return table


def is_detection(table: pd.DataFrame) -> np.ndarray:
    """Marks the rows of a match table that are detections, right or wrong, (N,)."""
    return np.isin(table["outcome"].array.codes, [TP, FP])


def _check_scores(table: pd.DataFrame, name: str) -> None:
    """Raises InputError unless every detection of a match table has a score."""
    if SCORE not in table:
        raise InputError(missing(f"{name}: x", SCORE, table.columns, "match predictions that have a column score"))
    scores = table[SCORE]
    if not pd.api.types.is_any_real_numeric_dtype(scores.dtype) and scores.notna().any():
        raise InputError(f"{name}: x: column {SCORE} is of type {scores.dtype}; numbers are needed")
    null = scores.isna().to_numpy() & is_detection(table)
    if null.any():
        where = first_keys(table, null, [*OBJECT_KEY[:2], "joint", "predicted_object"])
        raise InputError(f"{name}: x: column {SCORE}: {counted(int(null.sum()), 'detection')} without one: {where}")
