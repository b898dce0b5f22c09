"""How the results of `track` and `pose` are asked what match tables are asked: from their table `sums`.

Tables of several evaluations become the table that one evaluation of all their sequences would have made. The classes
and the joints that are evaluated are those that occur in any sequence. An evaluation of few sequences may not have seen
them all, so it lacks their rows, whose sums are 0.

`evaluated` makes such results, or match tables, whichever the caller and the tables say.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..geometries import JOINTS as JOINTS_OF_POSETRACK
from ..matching import (
    FrameRule,
    MatchOptions,
    Rule,
    header_of,
    matcher,
    rule_of_tables,
)
from ..scoring import Evaluable, MetricSet, NamedSums, PerSequence, Sums, sequence_sums
from ..support import InputError, SliceError, arrays
from ..tables import (
    Annotations,
    By,
    Columns,
    Table,
    array_of,
    arrow,
    as_numbers,
    dataframe_of,
    rows_with_null,
    schema,
    selections,
    side_columns,
)
from .conditions import OF_FRAMES, OF_TRUTH
from .metrics.hota import HOTA_COUNTS
from .metrics.keypoint_hota import keypoint_hota_totals
from .on_request import OF_SEQUENCES, sums_among, with_requested
from .poses import PoseResult, pose
from .registry import TRACKS_AND_POSES, headlines
from .sequences import ROWS_TOGETHER, rule_of_headers
from .track_sums import (
    HOTA_SUMS,
    JOINTS,
    POSE_SUMS,
    POSES,
    POSEVAL_SUMS,
    SINGLE_POSES,
    SINGLE_TRACKS,
    TRACK_SUMS,
    TRACKS,
    check_sums_columns,
    sums_columns,
    sums_of_table,
    tracks_with,
)
from .tracks import TrackResult, track

# The columns of the table `sums` that are the key of its rows.
KEYS = ("sequence", "joint", "category")

# What messages call the table `sums`.
CALLED = "sums"

# The headline numbers of tracks and of poses, first that which ranks them; each kind has some of them.
HEADLINE = headlines(TRACKS_AND_POSES)

Evaluated = pd.DataFrame | TrackResult | PoseResult


def evaluable_tracks(sums: Table, matches: Table, name: str) -> Evaluable:
    """What a TrackResult is evaluated by: its tables `sums` and `matches`; messages begin with `name`."""
    table = _checked(sums, ["sequence", *TRACK_SUMS], name)
    return Evaluable(table, arrow.as_pandas(matches, name), _track_sums, _attributes(table), CALLED)


def evaluable_poses(sums: Table, matches: Table, name: str) -> Evaluable:
    """What a PoseResult is evaluated by: its tables `sums` and `matches`; messages begin with `name`."""
    table = _checked(sums, ["sequence", "joint", *POSE_SUMS], name)
    return Evaluable(table, arrow.as_pandas(matches, name), _pose_sums, _attributes(table), CALLED)


def _checked(sums: Table, names: Sequence[str], name: str) -> pd.DataFrame:
    """The table `sums` as pandas; raises InputError if it lacks a column."""
    table = arrow.as_pandas(sums, f"{name}: sums")
    check_sums_columns(table, f"{name}: sums", names)
    return table


def _track_sums(table: pd.DataFrame, by: By | None, own: Sequence[str]) -> Sums:
    """The sums of tracks by groups of sequences; own metrics are those of match tables only."""
    return sums_of_tracks(table, columns_by(table, by, tracks_with(map(str, table))))


def _pose_sums(table: pd.DataFrame, by: By | None, own: Sequence[str]) -> Sums:
    """The sums of poses by groups of sequences, and by joint if `by` asks for it."""
    return sums_of_poses(table, columns_by(table, by, POSES))


def sums_of_tracks(table: pd.DataFrame, columns: Mapping[str, Any]) -> Sums:
    """The sums of the table `sums` of tracks by groups of its rows, from the columns to group by."""
    requested = sums_among(map(str, table))
    single, several = (with_requested(metrics, requested) for metrics in (SINGLE_TRACKS, TRACKS))
    metrics = single if {"sequence", "category"}.intersection(table) <= {*columns} else several
    sums = sums_of_table(table, [*TRACK_SUMS, *requested])
    return _grouped(table, sums, columns, metrics, single, sums)


def sums_of_poses(table: pd.DataFrame, columns: Mapping[str, Any]) -> Sums:
    """The sums of the table `sums` of poses by groups of its rows, from the columns to group by."""
    is_joint = table["joint"].notna().to_numpy()
    metrics = JOINTS if "joint" in columns else SINGLE_POSES if "sequence" in columns else POSES
    rows = np.flatnonzero(is_joint == (metrics is JOINTS))
    n_joints = max(table["joint"].nunique(), 1)  # a table without rows has none
    of_table = sums_of_table(table, POSE_SUMS)
    sums = sequence_sums.row_at(of_table, rows)
    single, by_joint = JOINTS, sums
    if metrics is not JOINTS:
        single = SINGLE_POSES
        by_joint = {
            name: values[is_joint].reshape(len(rows), n_joints, *values.shape[1:]) for name, values in of_table.items()
        }
        sums |= by_joint if metrics is SINGLE_POSES else {name: by_joint[name] for name in POSEVAL_SUMS}
    columns = {name: values.take(rows) for name, values in columns.items()}
    return _grouped(table.take(rows), sums, columns, metrics, single, by_joint)


def columns_by(table: pd.DataFrame, by: By | None, metrics: MetricSet) -> dict[str, Any]:
    """The columns of `by`, which are conditions, or attributes of sequences or of categories.

    Raises InputError where there is no such column, or where conditions are left out: their slices share predictions,
    so they do not add up.
    """
    names = [key.name for key in selections.group_keys(by) if key.series is None]
    absent = [name for name in names if name not in table and name.startswith((OF_TRUTH, OF_FRAMES))]
    if absent:
        how = f"track(..., by={absent[0]!r}), or pose, evaluates each of its values by itself"
        raise SliceError(f"{CALLED}: there is no column {absent[0]}; {how}")
    columns = selections.by_columns(table[_attributes(table)], by, [*metrics.entries, "n_sequences"], CALLED)
    slices = slice_columns(table)
    if not columns.keys() >= {*slices}:
        why = f"its rows are by {' and '.join(slices)}, and slices that are evaluated by themselves do not add up"
        raise InputError(f"by: {why}; name {'it' if len(slices) == 1 else 'all of them'} in by")
    return columns


def _attributes(table: pd.DataFrame) -> list[str]:
    """The columns of the table `sums` that rows may be grouped by: its key, conditions, and other attributes."""
    prefixes = schema.PREFIXES["sequences"], schema.CATEGORY_PREFIX
    others = [name for name in map(str, table) if name.startswith(prefixes)]
    return [*(name for name in KEYS if name in table), *slice_columns(table), *others]


def slice_columns(table: pd.DataFrame) -> list[str]:
    """The columns of the table `sums` that are conditions of truths or frames; those of sequences are attributes."""
    return [name for name in map(str, table) if name.startswith((OF_TRUTH, OF_FRAMES))]


def _grouped(
    table: pd.DataFrame,
    sums: NamedSums,
    columns: Mapping[str, Any],
    metrics: MetricSet,
    single: MetricSet,
    of_single: NamedSums,
) -> Sums:
    """The sums of rows of the table, which have these `sums`, by groups of their values in the columns.

    `single` has the metrics of a single sequence, from its sums `of_single`.
    """
    rows = np.flatnonzero(~rows_with_null(columns, len(table)))
    columns = {name: values.take(rows) for name, values in columns.items()}
    of_row, first = selections.number_groups(columns, len(rows))
    labels = Columns({name: values.take(first) for name, values in columns.items()}, n_rows=len(first))
    labels = labels if columns else Columns({}, n_rows=1)
    n_groups, sums = len(labels), sequence_sums.row_at(sums, rows)
    totals = {name: sequence_sums.total_rows(values, of_row, n_groups) for name, values in sums.items()}
    names = table["sequence"].take(rows)
    # A slice also has rows of the sequences in which neither side has it; those are not among the group's sequences.
    in_slices = columns and ("category" in table or slice_columns(table))
    counting = np.flatnonzero(metrics.counted(sums) > 0) if in_slices else np.arange(len(rows))
    [sequence], span = arrays.ordinals([names])
    row, first_row = arrays.grouped(arrays.pack([of_row[counting], sequence[counting]], [n_groups, span]))
    first_row = counting[first_row]
    summary = _summary(metrics, labels, totals, np.bincount(of_row[first_row], minlength=n_groups))
    summary.attrs = dict(table.attrs)

    def added_up(values: NamedSums) -> dict[str, np.ndarray]:
        return {name: sequence_sums.total_rows(of[counting], row, len(first_row)) for name, of in values.items()}

    sequences = array_of(names.take(first_row))
    of_each = single.compute(added_up(sequence_sums.row_at(of_single, rows)), list(metrics.entries))
    alone = PerSequence(np.arange(len(first_row)), sequences, of_each)
    return Sums(
        metrics,
        labels,
        of_row[first_row],
        sequences,
        added_up(sums),
        summary.attrs,
        summary=summary,
        per_sequence=alone,
    )


def _summary(metrics: MetricSet, labels: Columns, totals: NamedSums, n_sequences: np.ndarray) -> pd.DataFrame:
    """The table that `summarize` returns: all metrics of each group, counts as integers, and how many sequences."""
    values = metrics.compute(totals, list(metrics.entries))
    counts = {name: rows.astype(np.int64) for name, rows in values.items() if metrics.entries[name].written == "count"}
    return dataframe_of(Columns({**labels.arrays, **values, **counts, "n_sequences": n_sequences}))


def whole_tracks(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table `sums` of all rows of tracks, sorted, with a row for each class in each sequence.

    Raises InputError, which calls the table `name`, if a sequence is there in several pieces, or only in part.
    """
    _check_whole(table, name)
    _check_slices(table, name)
    if "category" not in table:
        return table.take(np.argsort(arrays.row_keys(table, ["sequence"]), kind="stable")).reset_index(drop=True)
    of_row, first = arrays.grouped(arrays.row_keys(table, ["category"]))
    names = [name for name in (*TRACK_SUMS, *sums_among(map(str, table))) if name not in OF_SEQUENCES]
    columns = sums_columns(names)
    return _completed(table, "category", table["category"].take(first), of_row, columns)[0]


def whole_poses(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table of all rows of poses, sorted, with a row for each joint and then for all joints in each sequence.

    Raises InputError, which calls the table `name`, if a sequence is there in several pieces, or only in part.
    """
    _check_whole(table, name)
    if slice_columns(table):
        how = "evaluate one value by itself, as in pose(..., where={'truth_group': 'runner'}), and combine its sums"
        raise InputError(f"{name}: are of poses by condition, which may lack joints in some slices; {how}")
    seen = table[sums_columns(HOTA_COUNTS)].to_numpy().any(axis=1) & table["joint"].notna().to_numpy()
    occurring = {*table["joint"][seen]}
    joints = list(JOINTS_OF_POSETRACK) if occurring <= {*JOINTS_OF_POSETRACK} else sorted(occurring)
    of_row = pd.Index(joints, dtype=object).get_indexer(pd.Index(table["joint"].astype(object)))
    kept = (of_row >= 0) | table["joint"].isna().to_numpy()
    of_row = np.where(of_row < 0, len(joints), of_row)[kept]
    names = pd.Series([*joints, None]).astype(table["joint"].dtype)
    whole, has_changed = _completed(table[kept], "joint", names, of_row, sums_columns(POSE_SUMS))
    return _with_totals(whole, len(joints)) if has_changed or not kept.all() else whole


def _check_whole(table: pd.DataFrame, name: str) -> None:
    """Raises InputError if a sequence has other rows than those of one evaluation, whose count is in ROWS_TOGETHER."""
    sequence, first = arrays.grouped(arrays.row_keys(table, ["sequence"]))
    n_rows = np.bincount(sequence, minlength=len(first))
    wrong = n_rows[sequence] != as_numbers(table[ROWS_TOGETHER])
    if wrong.any():
        row = int(np.argmax(wrong))
        there = f"sequence {table['sequence'].iloc[row]} has {n_rows[sequence[row]]:,} rows"
        problem = f"and one evaluation of it made {int(table[ROWS_TOGETHER].iloc[row]):,}"
        why = "identities go through a whole sequence, so evaluate it in one piece, and give all its rows once"
        raise InputError(f"{name}: {there}, {problem}; {why}")


def _check_slices(table: pd.DataFrame, name: str) -> None:
    """Raises InputError if a sequence lacks a slice of truths that another has: its false alarms would be missing."""
    slices = slice_columns(table)
    if not any(column.startswith(OF_TRUTH) for column in slices):
        return
    of_frames = [column for column in slices if not column.startswith(OF_TRUTH)]
    # A sequence may lack the frames of a slice, and then all slices of these frames.
    slice_of_row, first = _numbered(table, slices)
    frames_of_slice, _ = _numbered(table.take(first), of_frames)
    group, in_group = _numbered(table, ["sequence", *of_frames])
    expected = np.bincount(frames_of_slice)[frames_of_slice[slice_of_row[in_group]]]
    lacking = in_group[np.bincount(group) != expected]
    if len(lacking):
        sequence = table["sequence"].iloc[lacking[0]]
        why = "the truth of its part had no such value, and then nothing counted its false alarms there"
        how = "evaluate the parts by where=, one value at a time, and combine the sums of each"
        raise InputError(f"{name}: sequence {sequence} has not all slices of {' and '.join(slices)}; {why}; {how}")


def _numbered(table: pd.DataFrame, columns: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The group of each row by these columns, and the first row of each."""
    return selections.number_groups({name: array_of(table[name]) for name in columns}, len(table))


def _completed(
    table: pd.DataFrame, column: str, names: pd.Series, of_row: np.ndarray, sums: Sequence[str]
) -> tuple[pd.DataFrame, bool]:
    """A row for each of the N `names` in each sequence, sorted, and whether rows were added; their `sums` are 0.

    `of_row` is the position of each row's name. Other columns of a row that is added are those of its sequence.
    """
    sequence, first = arrays.grouped(arrays.row_keys(table, ["sequence"]))
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


def evaluated(
    truth: Annotations,
    predictions: Annotations,
    options: MatchOptions,
    tracks: bool,
    identity: str = "object",
    frames: FrameRule = "truth",
    by: By | None = None,
    *,
    metrics: Sequence[str] = (),
) -> Evaluated:
    """The match table of two checked sides, or with `tracks` what `track` returns, or `pose` of joints.

    With `tracks`, the options are those of tracks, `identity` is the column that says who is who, `by` are the
    conditions, and `metrics` those of tracks that are computed on request. `frames` says which frames count. Raises
    InputError as these functions do, and if options are given for joints.
    """
    if not tracks:
        return matcher.match(truth, predictions, **options._asdict(), frames=frames)
    if rule_of_sides(truth, predictions, options, tracks).by_head_sizes:
        return pose(truth, predictions, identity, by=by, frames=frames)
    of_rule: dict[str, Any] = {"tau": options.tau, "distance": options.distance, "unit": options.unit}
    words: dict[str, Any] = {"by": by, "frames": frames, "metrics": metrics}
    return track(truth, predictions, options.similarity, identity, **of_rule, **words)


def rule_of_sides(truth: Annotations, predictions: Annotations, options: MatchOptions, tracks: bool) -> Rule:
    """The rule by which `evaluated` matches; raises InputError if the options do not fit the tables."""
    if not tracks:
        return rule_of_tables(options, truth, predictions)
    sides = side_columns(truth), side_columns(predictions)
    return rule_of_headers(options, header_of(sides[0].objects, "truth"), header_of(sides[1].objects, "predictions"))


def matches_of(x: Evaluated) -> pd.DataFrame:
    """The match table of what `evaluated` returned."""
    return x if isinstance(x, pd.DataFrame) else x.matches
