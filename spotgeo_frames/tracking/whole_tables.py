"""Tables `sums` of several evaluations as the table that one evaluation of all their sequences would have made.

The classes and the joints that are evaluated are those that occur in any sequence. An evaluation of few sequences may
not have seen them all, so it lacks their rows, whose sums are 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..geometries.joints import JOINTS
from ..support.arrays import grouped, row_keys
from ..support.errors import InputError
from ..tables.columns import as_numbers
from .families import HOTA_SUMS, POSE_SUMS, TRACK_SUMS
from .metrics.hota import HOTA_COUNTS
from .metrics.keypoint_hota import keypoint_hota_totals
from .sequence_sums import sums_columns, sums_of_table

# The column that says how many rows of a sequence one evaluation made, which belong together.
ROWS_TOGETHER = "rows_together"


def whole_tracks(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table of all rows of tracks, sorted, with a row for each class in each sequence.

    Raises InputError, which calls the table `name`, if a sequence is there in several pieces, or only in part.
    """
    _check_whole(table, name)
    if "category" not in table:
        return table.take(np.argsort(row_keys(table, ["sequence"]), kind="stable")).reset_index(drop=True)
    of_row, first = grouped(row_keys(table, ["category"]))
    columns = [column for column in sums_columns(TRACK_SUMS) if column != "n_frames"]  # of a class, those of the whole
    return _completed(table, "category", table["category"].take(first), of_row, columns)[0]


def whole_poses(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table of all rows of poses, sorted, with a row for each joint and then for all joints in each sequence.

    Raises InputError, which calls the table `name`, if a sequence is there in several pieces, or only in part.
    """
    _check_whole(table, name)
    seen = table[sums_columns(HOTA_COUNTS)].to_numpy().any(axis=1) & table["joint"].notna().to_numpy()
    occurring = {*table["joint"][seen]}
    joints = list(JOINTS) if occurring <= {*JOINTS} else sorted(occurring)
    of_row = pd.Index(joints, dtype=object).get_indexer(pd.Index(table["joint"].astype(object)))
    kept = (of_row >= 0) | table["joint"].isna().to_numpy()
    of_row = np.where(of_row < 0, len(joints), of_row)[kept]
    names = pd.Series([*joints, None]).astype(table["joint"].dtype)
    whole, has_changed = _completed(table[kept], "joint", names, of_row, sums_columns(POSE_SUMS))
    return _with_totals(whole, len(joints)) if has_changed or not kept.all() else whole


def _check_whole(table: pd.DataFrame, name: str) -> None:
    """Raises InputError if a sequence has other rows than those of one evaluation, whose count is in ROWS_TOGETHER."""
    sequence, first = grouped(row_keys(table, ["sequence"]))
    n_rows = np.bincount(sequence, minlength=len(first))
    wrong = n_rows[sequence] != as_numbers(table[ROWS_TOGETHER])
    if wrong.any():
        row = int(np.argmax(wrong))
        there = f"sequence {table['sequence'].iloc[row]} has {n_rows[sequence[row]]:,} rows"
        problem = f"and one evaluation of it made {int(table[ROWS_TOGETHER].iloc[row]):,}"
        why = "identities go through a whole sequence, so evaluate it in one piece, and give all its rows once"
        raise InputError(f"{name}: {there}, {problem}; {why}")


def _completed(
    table: pd.DataFrame, column: str, names: pd.Series, of_row: np.ndarray, sums: Sequence[str]
) -> tuple[pd.DataFrame, bool]:
    """A row for each of the N `names` in each sequence, sorted, and whether rows were added; their `sums` are 0.

    `of_row` is the position of each row's name. Other columns of a row that is added are those of its sequence.
    """
    sequence, first = grouped(row_keys(table, ["sequence"]))
    origin = np.full(len(first) * len(names), -1)
    origin[sequence * len(names) + of_row] = np.arange(len(table))
    is_new = origin < 0
    whole = table.take(np.where(is_new, first.repeat(len(names)), origin)).reset_index(drop=True)
    if not is_new.any():
        return whole, False
    whole.loc[is_new, list(sums)] = 0.0
    whole[column] = names.take(np.tile(np.arange(len(names)), len(first))).array
    return whole, True


def _with_totals(table: pd.DataFrame, n_joints: int) -> pd.DataFrame:
    """The table with HOTA's sums of all joints, in the last row of each sequence, computed from those by joint."""
    parts = {
        name: values.reshape(-1, n_joints + 1, values.shape[1])[:, :n_joints]
        for name, values in sums_of_table(table, HOTA_SUMS).items()
    }
    totals = keypoint_hota_totals(parts)
    of_all = np.arange(n_joints, len(table), n_joints + 1)
    matrix = np.column_stack([totals[name] for name in HOTA_SUMS])
    table.loc[of_all, sums_columns(HOTA_SUMS)] = matrix
    return table
