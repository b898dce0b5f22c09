"""Detects match tables that have lost rows of their frames, or that have rows twice.

Each row says how many truths (`frame_n_truth`) and predictions (`frame_n_predicted`) its frame has. A table that was
filtered by a column of truths has lost its false alarms, and a table that was filtered by a column of predictions has
lost its misses. A merge that finds several rows for a key, and a concat, have doubled rows, which would count twice. In
all these cases the rows of a frame no longer add up to these counts. Frames of which no row is left cannot be detected.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support import InputError, arrays
from ..tables import Columns, as_numbers, match_columns, schema, selections, table_kinds
from .match_sums import Groups
from .one_sided import one_sided_text

if TYPE_CHECKING:
    import pandas as pd

# For each column of counts, 1 at the codes of the outcomes that it counts.
COUNTS = {
    "frame_n_truth": np.array([outcome in (schema.TP, schema.FN) for outcome in range(len(schema.OUTCOMES))], np.int64),
    "frame_n_predicted": np.array(
        [outcome in (schema.TP, schema.FP) for outcome in range(len(schema.OUTCOMES))], np.int64
    ),
}

# What tells the objects of a frame apart, after the prefix of their side. Joints share the name of their object.
IDENTIFYING = ("object", "x", "y")


def group_texts(groups: Groups) -> list[str]:
    """The texts of warnings about the rows of a match table, and about the columns that they are grouped by.

    They say which columns belong to one side only, and whether the table has rows twice, or lacks rows of its frames. A
    table whose columns of counts are both absent or null cannot be checked for that.
    """
    everything = groups.everything
    texts = one_sided_text(everything.one_sided, everything.table), rows_text(groups)
    return [text for text in texts if text]


def doubled_text(table: Columns, columns: Mapping[str, Any]) -> str | None:
    """The text of a warning if a match table has rows twice in a group of `columns`, otherwise None.

    For functions that take tables which lack rows, too.
    """
    expected = _expected(table)
    return None if _adds_up(table, expected) else _doubled_text(table, columns, expected)


def warn_of_doubled(matches: pd.DataFrame, function: str, stacklevel: int = table_kinds.CALLER + 1) -> None:
    """Warns in the name of a function if a checked match table has rows twice in one submission."""
    table = match_columns(matches)
    text = doubled_text(table, {"submission": table["submission"]} if "submission" in table else {})
    if text:
        warnings.warn(f"{function}: {text}", stacklevel=stacklevel)


def count_of_submissions(table: pd.DataFrame) -> int:
    """How many submissions a match table is of."""
    return len(table["submission"].unique()) if "submission" in table else 1


def check_one_submission(table: pd.DataFrame, function: str) -> None:
    """Raises InputError in the name of a function if a checked match table is of several submissions put together."""
    if (n := count_of_submissions(table)) > 1:
        problem = f"there are {n} submissions in the table"
        raise InputError(f"{function}: {problem}, and what one claims explains no error of another; give one at a time")


def rows_text(groups: Groups) -> str | None:
    """The text of a warning if a match table has rows twice in a group, or lacks rows of its frames; None otherwise."""
    table, columns, _ = groups.everything
    expected = _expected(table)
    if _adds_up(table, expected):
        return None
    more, fewer = _incomplete(table, expected)
    doubled = _doubled_text(table, columns, expected)
    doubled = doubled or (_more_text(more, schema.slice_columns(table)) if more else None)
    if doubled or not fewer:
        return doubled
    problem = "the rows do not add up to frame_n_truth or frame_n_predicted"
    how = "for the metrics of a class or a slice, pass the whole table and by="
    return f"the match table lacks rows of {_frames(fewer)}: {problem}; {how}"


def _frames(n_frames: int) -> str:
    """How many frames, in words."""
    return "1 frame" if n_frames == 1 else f"{n_frames:,} frames"


def _expected(table: Columns) -> dict[str, np.ndarray]:
    """The columns of counts that a match table has."""
    counts = {name: _counts(table[name]) for name in COUNTS if name in table}
    return {name: values for name, values in counts.items() if values is not None}


def _present(table: Columns, name: str) -> np.ndarray:
    """How many rows each row adds to what a column of counts counts: 0 or 1."""
    return COUNTS[name].take(table["outcome"])


def _adds_up(table: Columns, expected: Mapping[str, np.ndarray]) -> bool:
    """Whether each run of rows with the same key is a complete frame and has another key, as in nearly all tables."""
    if not expected or not len(table):
        return True
    key = schema.frame_columns(table)
    starts = _starts([table[column] for column in key])
    return (
        all(
            np.array_equal(_run_sums(_present(table, name), starts), rows.take(starts))
            for name, rows in expected.items()
        )
        and not arrays.repeated(arrays.row_keys(table.select(key).take(starts), key)).any()
    )


def _doubled_text(table: Columns, columns: Mapping[str, Any], expected: Mapping[str, np.ndarray]) -> str | None:
    """The text of a warning if rows are there twice in a group of `columns`, otherwise None."""
    group = selections.number_groups(columns, len(table))[0]
    doubled = np.zeros(len(table), bool)
    for prefix, name, outcomes in zip(
        schema.SIDE_PREFIXES, COUNTS, ((schema.TP, schema.FN), (schema.FP,)), strict=True
    ):
        if f"{prefix}object" in table:
            rows = np.flatnonzero(np.isin(table["outcome"], outcomes))
            key = [*schema.frame_columns(table), *(of for part in IDENTIFYING if (of := f"{prefix}{part}") in table)]
            doubled[rows] |= arrays.repeated(
                arrays.row_keys(table.select(key).assign({"": group}).take(rows), ["", *key])
            )
        elif name in expected:
            key = schema.frame_columns(table)
            cell, first = arrays.grouped(arrays.row_keys(table.select(key).assign({"": group}), ["", *key]))
            doubled |= (arrays.added_at(cell, _present(table, name)) > expected[name].take(first))[cell]
    n_frames = len(np.unique(arrays.row_keys(table, schema.FRAME_KEY)[doubled]))
    return _more_text(n_frames, schema.slice_columns(table)) if n_frames else None


def _more_text(n_frames: int, slices: Sequence[str] = ()) -> str:
    """The text of a warning that frames have more rows than they should have; `slices` are columns that say why."""
    if slices:
        problem = (
            f"a prediction that no truth took stands in several slices by {' and '.join(slices)}, and counts twice"
        )
        return f"{problem}: group by these columns, or take the rows of one slice"
    problem = f"the match table has rows of {_frames(n_frames)} twice: more than frame_n_truth or frame_n_predicted"
    cause = "a merge that finds several rows for a key, or a concat, does that, and they count twice"
    how = 'merge with validate="many_to_one", or group by what tells the copies apart, such as by="submission"'
    return f"{problem}; {cause}: {how}"


def _incomplete(table: Columns, expected: Mapping[str, np.ndarray]) -> tuple[int, int]:
    """Counts the frames whose rows are not complete: those that have more rows, and those that have none but fewer.

    Where match tables of several submissions were concatenated, each frame occurs several times, so a frame is complete
    if its rows are a whole number of copies. Rows with equal counts belong to the same copies, so rows are grouped by
    frame and by their counts.
    """
    keys = [arrays.row_keys(table, schema.frame_columns(table)), *expected.values()]
    codes = [np.unique(values, return_inverse=True) for values in keys]  # all nulls are equal
    group, first = arrays.grouped(
        arrays.pack([of_row for _, of_row in codes], [len(values) + 1 for values, _ in codes])
    )
    present = {name: arrays.added_at(group, _present(table, name)) for name in expected}
    wanted = {name: rows.take(first) for name, rows in expected.items()}
    incomplete = ~_are_complete(present, wanted)
    has_more = np.any([present[name] > wanted[name] for name in expected], axis=0)
    frames = arrays.row_keys(table, schema.FRAME_KEY)[first]
    more, fewer = (len(np.unique(frames[incomplete & of])) for of in (has_more, ~has_more))
    return more, fewer


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
