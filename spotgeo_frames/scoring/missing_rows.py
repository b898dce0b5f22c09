"""Whether a match table still has all rows of its frames, as far as its own counts tell.

Each row says how many truths (`frame_n_truth`) and predictions (`frame_n_predicted`) its frame has. A table that was
filtered by a column of truths has lost its false alarms, and one filtered by a column of predictions its misses; then
the rows of a frame no longer add up to these counts. Frames that are gone altogether leave no trace.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ..support.keys import row_keys
from ..tables.schema import FN, FP, FRAME_KEY, OUTCOMES, TP

# Which outcomes, by their codes, the columns count.
COUNTS = {
    "frame_n_truth": np.array([outcome in (TP, FN) for outcome in range(len(OUTCOMES))], np.int64),
    "frame_n_predicted": np.array([outcome in (TP, FP) for outcome in range(len(OUTCOMES))], np.int64),
}


def missing_rows_text(table: pd.DataFrame) -> str | None:
    """What to warn of where rows of frames are missing from a checked match table; None where none are known to be.

    Nothing is known where both columns of counts are absent or null.
    """
    # Each column is taken out of the table once: pandas needs longer for that than NumPy for most that follows.
    columns = {name: table[name] for name in COUNTS if name in table}
    expected = {name: _as_numbers(column) for name, column in columns.items() if is_numeric_dtype(column.dtype)}
    n_frames = _n_incomplete(table, expected) if expected and len(table) else 0
    if not n_frames:
        return None
    what = f"the match table lacks rows of {'1 frame' if n_frames == 1 else f'{n_frames:,} frames'}"
    why = "the others do not add up to frame_n_truth or frame_n_predicted"
    return f"{what}: {why}; for the numbers of a class or a slice, give the whole table and by="


def _n_incomplete(table: pd.DataFrame, expected: Mapping[str, np.ndarray]) -> int:
    """How many frames have rows that are not a whole number of copies of all the frame's rows.

    Tables below each other, say of several submissions, have each frame several times. All rows of a copy say the same
    counts, so what adds up is looked at for each frame and each of its counts.
    """
    key = [*FRAME_KEY, *(["joint"] if "joint" in table else [])]
    starts = _starts([table[column] for column in key])
    outcome = table["outcome"].array.codes
    counts = {name: COUNTS[name].take(outcome) for name in expected}
    # Nearly all tables are sorted and whole: each run of rows with one key is then a frame with all its rows.
    if all(np.array_equal(np.add.reduceat(counts[name], starts), rows.take(starts)) for name, rows in expected.items()):
        return 0
    rows_of_table = pd.DataFrame({"key": row_keys(table, key), **expected})
    number = rows_of_table.groupby(["key", *expected], sort=False, dropna=False).ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1]
    found = {name: np.bincount(number, rows) for name, rows in counts.items()}
    whole = _are_whole(found, {name: rows.take(first) for name, rows in expected.items()})
    return len(table[FRAME_KEY].iloc[first[~whole]].drop_duplicates())


def _as_numbers(column: pd.Series) -> np.ndarray:
    """The values as integers, or as float64 where nulls are possible."""
    return column.to_numpy() if column.dtype == np.int64 else column.to_numpy(np.float64, na_value=np.nan)


def _starts(key: list[pd.Series]) -> np.ndarray:
    """The first row of each run of rows with the same key."""
    new = np.ones(len(key[0]), bool)
    new[1:] = False
    for column in key:
        values = column.to_numpy() if column.dtype == np.int64 else column.array
        new[1:] |= pd.Series(values[1:] != values[:-1]).to_numpy(bool, na_value=True)  # no joint is null where one is
    return np.flatnonzero(new)


def _are_whole(found: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> np.ndarray:
    """Marks the groups that have `expected` rows of each side k times, k the same for both and at least 1.

    Where a count is null, its side says nothing.
    """
    whole = np.ones(len(next(iter(found.values()))), bool)
    for name, values in found.items():
        copies = values / np.where(expected[name] > 0, expected[name], 1)
        right = np.where(expected[name] > 0, (copies >= 1) & (copies % 1 == 0), values == 0)
        whole &= right | np.isnan(expected[name])
    if len(found) == 2:
        (truths, predictions), (n_truth, n_predicted) = found.values(), expected.values()
        alike = truths * n_predicted == predictions * n_truth
        whole &= alike | np.isnan(n_truth) | np.isnan(n_predicted)
    return whole
