"""How the results of `track` and `pose` are asked what match tables are asked: from their table `sums`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..scoring.evaluations import Asked, Evaluation, Family, Singles
from ..scoring.match_sums import NamedSums
from ..support.arrays import grouped, ordinals, pack
from ..support.errors import InputError
from ..tables.arrow import as_pandas
from ..tables.columns import Columns, array_of, dataframe_of, rows_with_null
from ..tables.messages import missing
from ..tables.schema import PREFIXES
from ..tables.selections import By, by_columns, number_groups
from ..tables.table import Table
from .families import JOINTS, POSE_SUMS, POSES, POSEVAL_SUMS, SINGLE_POSES, SINGLE_TRACKS, TRACK_SUMS, TRACKS
from .sequence_sums import group_totals, sums_columns, sums_of_table

# The columns of the table `sums` that are the key of its rows.
KEYS = ("sequence", "joint", "category")

# What messages call the table `sums`.
CALLED = "sums"


def asked_tracks(sums: Table, matches: Table, name: str) -> Asked:
    """What a TrackResult is evaluated by: its tables `sums` and `matches`; messages begin with `name`."""
    table = _checked(sums, ["sequence", *TRACK_SUMS], name)
    return Asked(table, as_pandas(matches, name), _track_evaluation, _attributes(table), CALLED)


def asked_poses(sums: Table, matches: Table, name: str) -> Asked:
    """What a PoseResult is evaluated by: its tables `sums` and `matches`; messages begin with `name`."""
    table = _checked(sums, ["sequence", "joint", *POSE_SUMS], name)
    return Asked(table, as_pandas(matches, name), _pose_evaluation, _attributes(table), CALLED)


def _checked(sums: Table, names: Sequence[str], name: str) -> pd.DataFrame:
    """The table `sums` as pandas; raises InputError if it lacks a column."""
    table = as_pandas(sums, f"{name}: sums")
    lacking = [column for column in sums_columns(names) if column not in table]
    if lacking:
        raise InputError(missing(f"{name}: sums", lacking[0], (), "track() and pose() make it"))
    return table


def _track_evaluation(table: pd.DataFrame, by: By | None, own: Sequence[str]) -> Evaluation:
    """The evaluation of tracks by groups of sequences; own metrics are those of match tables only."""
    return evaluated_tracks(table, columns_by(table, by, TRACKS))


def _pose_evaluation(table: pd.DataFrame, by: By | None, own: Sequence[str]) -> Evaluation:
    """The evaluation of poses by groups of sequences, and by joint if `by` asks for it."""
    return evaluated_poses(table, columns_by(table, by, POSES))


def evaluated_tracks(table: pd.DataFrame, columns: Mapping[str, Any]) -> Evaluation:
    """The evaluation of the table `sums` of tracks by groups of its rows, from the columns to group by."""
    family = SINGLE_TRACKS if {"sequence", "category"}.intersection(table) <= {*columns} else TRACKS
    sums = sums_of_table(table, TRACK_SUMS)
    return _evaluation(table, sums, columns, family, SINGLE_TRACKS, sums)


def evaluated_poses(table: pd.DataFrame, columns: Mapping[str, Any]) -> Evaluation:
    """The evaluation of the table `sums` of poses by groups of its rows, from the columns to group by."""
    is_joint = table["joint"].notna().to_numpy()
    family = JOINTS if "joint" in columns else SINGLE_POSES if "sequence" in columns else POSES
    rows = np.flatnonzero(is_joint == (family is JOINTS))
    n_joints = max(table["joint"].nunique(), 1)  # a table without rows has none
    of_table = sums_of_table(table, POSE_SUMS)
    sums = {name: values[rows] for name, values in of_table.items()}
    single, by_joint = JOINTS, sums
    if family is not JOINTS:
        single = SINGLE_POSES
        by_joint = {
            name: values[is_joint].reshape(len(rows), n_joints, *values.shape[1:]) for name, values in of_table.items()
        }
        of_joints = by_joint if family is SINGLE_POSES else {name: by_joint[name] for name in POSEVAL_SUMS}
        sums |= of_joints
    columns = {name: values.take(rows) for name, values in columns.items()}
    return _evaluation(table.take(rows), sums, columns, family, single, by_joint)


def columns_by(table: pd.DataFrame, by: By | None, family: Family) -> dict[str, Any]:
    """The columns of `by`, which are attributes of sequences; raises InputError where there is no such column."""
    return by_columns(table[_attributes(table)], by, [*family.metrics, "n_sequences"], CALLED)


def _attributes(table: pd.DataFrame) -> list[str]:
    """The columns of the table `sums` that rows may be grouped by: its key and the attributes of sequences."""
    return [name for name in map(str, table) if name in KEYS or name.startswith(PREFIXES["sequences"])]


def _evaluation(
    table: pd.DataFrame,
    sums: NamedSums,
    columns: Mapping[str, Any],
    family: Family,
    single: Family,
    of_single: NamedSums,
) -> Evaluation:
    """The evaluation of rows of the table, which have these sums, by groups of their values in the columns.

    `single` has the metrics of a single sequence, from its sums `of_single`.
    """
    rows = np.flatnonzero(~rows_with_null(columns, len(table)))
    columns = {name: values.take(rows) for name, values in columns.items()}
    of_row, first = number_groups(columns, len(rows))
    n_groups = len(first) if columns else 1
    sums = {name: values[rows] for name, values in sums.items()}
    labels = {name: values.take(first) for name, values in columns.items()}
    totals = {name: group_totals(values, of_row, n_groups) for name, values in sums.items()}
    names = table["sequence"].take(rows)
    # A class also has rows of the sequences in which neither side has it; those are not among the group's sequences.
    by_class = "category" in table and columns
    counting = np.flatnonzero(family.counted(sums) > 0) if by_class else np.arange(len(rows))
    [sequence], span = ordinals([names])
    cell, first_row = grouped(pack([of_row[counting], sequence[counting]], [n_groups, span]))
    first_row = counting[first_row]
    summary = _summary(family, labels, totals, np.bincount(of_row[first_row], minlength=n_groups))
    summary.attrs = dict(table.attrs)
    cells = {name: group_totals(values[counting], cell, len(first_row)) for name, values in sums.items()}
    singles = {name: group_totals(values[rows][counting], cell, len(first_row)) for name, values in of_single.items()}
    sequences = array_of(names.take(first_row))
    of_each = Singles(np.arange(len(first_row)), sequences, single.values(singles, list(family.metrics)))
    return Evaluation(family, labels, of_row[first_row], sequences, cells, summary, singles=of_each)


def _summary(family: Family, labels: Mapping[str, Any], totals: NamedSums, n_sequences: np.ndarray) -> pd.DataFrame:
    """The table that `summarize` returns: all metrics of each group, counts as integers, and how many sequences."""
    values = family.values(totals, list(family.metrics))
    counts = {name: rows.astype(np.int64) for name, rows in values.items() if family.metrics[name].written == "count"}
    return dataframe_of(Columns({**labels, **values, **counts, "n_sequences": n_sequences}))
