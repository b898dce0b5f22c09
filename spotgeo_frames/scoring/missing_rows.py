"""Detects match tables that have lost rows of their frames, for instance because they were filtered.

Each row says how many truths (`frame_n_truth`) and predictions (`frame_n_predicted`) its frame has. A table that was
filtered by a column of truths has lost its false alarms, and a table that was filtered by a column of predictions has
lost its misses. In both cases the rows of a frame no longer add up to these counts. Frames of which no row is left
cannot be detected.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ..support.keys import row_keys
from ..tables.schema import FN, FP, FRAME_KEY, OUTCOMES, TP, frame_columns

# For each column of counts, 1 at the codes of the outcomes that it counts.
COUNTS = {
    "frame_n_truth": np.array([outcome in (TP, FN) for outcome in range(len(OUTCOMES))], np.int64),
    "frame_n_predicted": np.array([outcome in (TP, FP) for outcome in range(len(OUTCOMES))], np.int64),
}


def missing_rows_text(table: pd.DataFrame) -> str | None:
    """The text of a warning if a checked match table lacks rows of its frames, otherwise None.

    A table whose columns of counts are both absent or null cannot be checked and gives None.
    """
    # Each column is taken from the table only once, because in pandas that is slower than most of the NumPy code below.
    columns = {name: table[name] for name in COUNTS if name in table}
    expected = {name: _as_numbers(column) for name, column in columns.items() if is_numeric_dtype(column.dtype)}
    n_frames = _n_incomplete(table, expected) if expected and len(table) else 0
    if not n_frames:
        return None
    frames = "1 frame" if n_frames == 1 else f"{n_frames:,} frames"
    problem = f"the match table lacks rows of {frames}: the rows do not add up to frame_n_truth or frame_n_predicted"
    return f"{problem}; for the metrics of a class or a slice, pass the whole table and by="


def _n_incomplete(table: pd.DataFrame, expected: Mapping[str, np.ndarray]) -> int:
    """Counts the frames whose rows are not complete.

    Where match tables of several submissions were concatenated, each frame occurs several times, so a frame is complete
    if its rows are a whole number of copies. Rows with equal counts belong to the same copies, so rows are grouped by
    frame and by their counts.
    """
    key = frame_columns(table)
    starts = _starts([table[column] for column in key])
    outcome = table["outcome"].array.codes
    counts = {name: COUNTS[name].take(outcome) for name in expected}
    # Nearly all tables are sorted and complete; then each run of rows with the same key is a complete frame.
    if all(np.array_equal(_run_sums(counts[name], starts), rows.take(starts)) for name, rows in expected.items()):
        return 0
    rows_of_table = pd.DataFrame({"key": row_keys(table, key), **expected})
    group = rows_of_table.groupby(["key", *expected], sort=False, dropna=False).ngroup().to_numpy()
    first = np.unique(group, return_index=True)[1]
    present = {name: np.bincount(group, rows) for name, rows in counts.items()}
    complete = _are_complete(present, {name: rows.take(first) for name, rows in expected.items()})
    return len(table[FRAME_KEY].iloc[first[~complete]].drop_duplicates())


def _as_numbers(column: pd.Series) -> np.ndarray:
    """Converts a column to an array of integers, or of float64 where it can hold nulls."""
    return column.to_numpy() if column.dtype == np.int64 else column.to_numpy(np.float64, na_value=np.nan)


def _starts(key: list[pd.Series]) -> np.ndarray:
    """The position of the first row of each run of rows with the same key."""
    new = np.ones(len(key[0]), bool)
    new[1:] = False
    for column in key:
        values = column.to_numpy() if column.dtype == np.int64 else column.array
        new[1:] |= pd.Series(values[1:] != values[:-1]).to_numpy(bool, na_value=True)  # no joint is null where one is
    return np.flatnonzero(new)


def _run_sums(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sums each run of values; differences of running totals take a quarter of the time of np.add.reduceat."""
    ends = np.append(starts[1:], len(values)) - 1
    return np.diff(np.cumsum(values).take(ends), prepend=0)


def _are_complete(present: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> np.ndarray:
    """Marks the groups whose rows are k whole copies of the expected rows, k being the same for both sides, at least 1.

    A side whose expected count is null is not checked.
    """
    complete = np.ones(len(next(iter(present.values()))), bool)
    for name, values in present.items():
        copies = values / np.where(expected[name] > 0, expected[name], 1)
        right = np.where(expected[name] > 0, (copies >= 1) & (copies % 1 == 0), values == 0)
        complete &= right | np.isnan(expected[name])
    if len(present) == 2:
        (truths, predictions), (n_truth, n_predicted) = present.values(), expected.values()
        alike = truths * n_predicted == predictions * n_truth
        complete &= alike | np.isnan(n_truth) | np.isnan(n_predicted)
    return complete
