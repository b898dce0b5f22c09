"""Detects match tables that have lost rows of their frames, for instance because they were filtered.

Each row says how many truths (`frame_n_truth`) and predictions (`frame_n_predicted`) its frame has. A table that was
filtered by a column of truths has lost its false alarms, and a table that was filtered by a column of predictions has
lost its misses. In both cases the rows of a frame no longer add up to these counts. Frames of which no row is left
cannot be detected.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..support.keys import added_at, grouped, pack, row_keys
from ..tables.columns import Columns, as_numbers
from ..tables.schema import FN, FP, FRAME_KEY, OUTCOMES, TP, frame_columns

# For each column of counts, 1 at the codes of the outcomes that it counts.
COUNTS = {
    "frame_n_truth": np.array([outcome in (TP, FN) for outcome in range(len(OUTCOMES))], np.int64),
    "frame_n_predicted": np.array([outcome in (TP, FP) for outcome in range(len(OUTCOMES))], np.int64),
}


def missing_rows_text(table: Columns) -> str | None:
    """The text of a warning if a checked match table lacks rows of its frames, otherwise None.

    A table whose columns of counts are both absent or null cannot be checked and gives None.
    """
    counts = {name: _counts(table[name]) for name in COUNTS if name in table}
    expected = {name: values for name, values in counts.items() if values is not None}
    n_frames = _n_incomplete(table, expected) if expected and len(table) else 0
    if not n_frames:
        return None
    frames = "1 frame" if n_frames == 1 else f"{n_frames:,} frames"
    problem = f"the match table lacks rows of {frames}: the rows do not add up to frame_n_truth or frame_n_predicted"
    return f"{problem}; for the metrics of a class or a slice, pass the whole table and by="


def _n_incomplete(table: Columns, expected: Mapping[str, np.ndarray]) -> int:
    """Counts the frames whose rows are not complete.

    Where match tables of several submissions were concatenated, each frame occurs several times, so a frame is complete
    if its rows are a whole number of copies. Rows with equal counts belong to the same copies, so rows are grouped by
    frame and by their counts.
    """
    key = frame_columns(table)
    starts = _starts([table[column] for column in key])
    outcome = table["outcome"]
    counts = {name: COUNTS[name].take(outcome) for name in expected}
    # Nearly all tables are sorted and complete; then each run of rows with the same key is a complete frame.
    if all(np.array_equal(_run_sums(counts[name], starts), rows.take(starts)) for name, rows in expected.items()):
        return 0
    keys = [row_keys(table, key), *expected.values()]
    codes = [np.unique(values, return_inverse=True) for values in keys]  # all nulls are equal
    group, first = grouped(pack([of_row for _, of_row in codes], [len(values) + 1 for values, _ in codes]))
    present = {name: added_at(group, rows) for name, rows in counts.items()}
    complete = _are_complete(present, {name: rows.take(first) for name, rows in expected.items()})
    return len(np.unique(row_keys(table, FRAME_KEY)[first[~complete]]))


def _counts(values: Any) -> np.ndarray | None:
    """A column of counts as integers, or as float64 where it can hold nulls; None if it holds no numbers."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return values
    from pandas.api.types import is_numeric_dtype

    return as_numbers(values) if is_numeric_dtype(values.dtype) else None


def _starts(key: list[Any]) -> np.ndarray:
    """The position of the first row of each run of rows with the same key."""
    new = np.ones(len(key[0]), bool)
    new[1:] = False
    for values in key:
        differs = values[1:] != values[:-1]
        if not isinstance(differs, np.ndarray):  # null where a frame has no joint, which differs from all joints
            differs = differs.to_numpy(bool, na_value=True)
        new[1:] |= differs
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
