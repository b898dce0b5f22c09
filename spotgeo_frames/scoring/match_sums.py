"""The sums of match tables: which group each row is of, and what the rows of each group add up to in each sequence.

The sums of a sequence are whole where all its frames are there: then it has a mean of `kelvins_error`, which the sums
of a group add up. Pieces of a sequence have the sum of these errors instead, until they are added.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..matching import Pairs, Rule, WithoutCrowds, crowds
from ..support import InputError, arrays
from ..tables import (
    By,
    Columns,
    Table,
    among,
    array_of,
    as_numbers,
    match_columns,
    match_dataframe,
    messages,
    rows_with_null,
    schema,
    selections,
)
from . import point_sets
from .one_sided import OneSided, one_sided
from .own_metrics import OwnSums, own_row_sums
from .registry import DEFAULT, METRICS, RANKING, values_of
from .sequence_sums import MetricSet, NamedSums, Sums, run_sums, share, unknown_outcomes

if TYPE_CHECKING:
    import pandas as pd

# The sum that counts the rows of each outcome, and all sums that count rows of FN, and of FP.
COUNTED = {schema.TP: "tp", schema.FN: "fn", schema.FP: "fp"}
COUNTING = {
    schema.FN: ("fn", "squared_error", "kelvins_mse", "gospa", "ospa", "missed"),
    schema.FP: ("fp", "squared_error", "kelvins_mse", "gospa", "ospa", "false"),
}

# The label of the sums of sequences that were cut, which no column of a match table is called.
PIECE = "piece_of"


class AllRows(NamedTuple):
    """A match table with the columns that its rows are grouped by, and those of them that belong to one side only."""

    table: Columns
    columns: Mapping[str, Any]
    one_sided: Mapping[str, OneSided]


class Groups(NamedTuple):
    """The rows of a match table, assigned to G groups, which are sorted.

    Attributes
    ----------
    table
        The rows that belong to a group.
    labels
        For each column that was grouped by, the value of each group, (G,).
    of_row
        The group of each row of `table`, as a position from 0 to G - 1.
    n_groups
        G, the count of groups.
    everything
        The table together with the rows that were left out because their value is null.
    rows
        For FP and for FN, the count of all rows and the count of rows that are null in a column to group by, or that
        such a column knows nothing of.
    own
        What each row of `table` adds to the sums of the own metrics that were asked for.
    """

    table: Columns
    labels: dict[str, Any]
    of_row: np.ndarray
    n_groups: int
    everything: AllRows
    rows: dict[int, tuple[int, int]]
    own: OwnSums


def group_rows(
    matches: Table | Columns,
    by: By | None,
    exclude: Sequence[int | str] | None = None,
    *,
    dropna: bool = True,
    own: Sequence[str] = (),
) -> Groups:
    """Assigns each row of a match table to the group of its values in `by`; without `by`, all rows form one group.

    `by` takes a column, a Series, a list of these, or a dict of columns and their bins. `exclude` lists checked
    sequences to leave out. Rows that are null in `by` are left out unless `dropna` is False. `own` names the own
    metrics whose sums are needed. Raises InputError where `matches` is no match table, a column of `by` is missing, or
    an own metric fails.
    """
    checked = _checked(matches)
    table = match_columns(checked)
    left = None if exclude is None else np.flatnonzero(~among(table["sequence"], exclude))
    columns = _columns_by(checked, by, left)
    if left is not None:
        table = table.take(left)
    null, belonging = rows_with_null(columns, len(table)), one_sided(columns, table)
    lacking = {of.outcome for of in belonging.values()}
    rows = {
        of: _count_unknown(null[table["outcome"] == of], of in lacking)
        for of in ((schema.FP, schema.FN) if columns else ())
    }
    everything, own_sums = AllRows(table, columns, belonging), own_row_sums(table, own, unknown_outcomes(rows))
    if dropna and null.any():
        kept = np.flatnonzero(~null)
        table, columns = table.take(kept), _taken(columns, kept)
        own_sums = own_sums._replace(values=_taken(own_sums.values, kept))
    of_row, first = selections.number_groups(columns, len(table))
    n_groups = len(first) if columns else 1
    _check_thresholds(table, of_row)
    return Groups(table, _taken(columns, first), of_row, n_groups, everything, rows, own_sums)


def _count_unknown(null: np.ndarray, is_lacking: bool) -> tuple[int, int]:
    """The count of all rows, and of those that are null; all rows of an outcome that a column knows nothing of are."""
    return len(null), len(null) if is_lacking else int(np.count_nonzero(null))


def _taken(columns: Mapping[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """The values of each array at these positions."""
    return {name: values.take(rows) for name, values in columns.items()}


def _checked(matches: Table | Columns) -> pd.DataFrame | Columns:
    """A match table as a checked DataFrame; Columns, which `match` made, are returned as they are."""
    if isinstance(matches, Columns):
        return matches
    from ..tables import checks

    return checks.check_matches(matches, by_groups=True)


def _check_thresholds(table: Columns, of_row: np.ndarray) -> None:
    """Raises InputError if a group has rows of several thresholds of average precision."""
    if not schema.is_of_precision(table.arrays):
        return
    of_threshold, first = selections.number_groups({"threshold": table["threshold"]}, len(table))
    pairs, _ = arrays.grouped(of_row * max(len(first), 1) + of_threshold)
    if len(table) and pairs.max() > of_row.max():
        raise InputError(messages.several_thresholds("match table", "give the rows of one, or group by threshold, too"))


def _columns_by(table: pd.DataFrame | Columns, by: By | None, rows: np.ndarray | None) -> dict[str, Any]:
    """The columns to group by, by name, of the rows at these positions, or of all."""
    if by is None:
        return {}
    matches = match_dataframe(table) if isinstance(table, Columns) else table
    return selections.by_columns(matches, by, list(METRICS), rows=rows)


def match_metrics(by_similarity: bool, unknown: Collection[int] = ()) -> MetricSet:
    """The metrics of match tables, of whose rows some outcomes may be unknown in slices."""
    known = [name for outcome, name in COUNTED.items() if outcome not in unknown]
    compute, again = partial(values_of, by_similarity=by_similarity), (match_metrics, (by_similarity, tuple(unknown)))
    return MetricSet(METRICS, RANKING, DEFAULT, compute, partial(_counted, known), again=again)


def _counted(names: Sequence[str], sums: NamedSums) -> np.ndarray:
    """How much there is to count: all outcomes of which something is known in slices."""
    return np.add.reduce([sums[name] for name in names])


def known_match_sums(table: pd.DataFrame, by: By | None, own: Sequence[str] = ()) -> Sums:
    """The sums of a checked match table by groups of its rows; null where they count rows of an unknown outcome."""
    from .row_counts import group_texts  # which needs the groups

    groups = group_rows(table, by, own=own)
    sums = known(match_sums(groups))
    return sums._replace(metrics=match_metrics(sums.by_similarity, sums.unknown), texts=group_texts(groups))


def summary_sums(matches: Table | Columns, by: By | None = None, own: Sequence[str] = ()) -> Sums:
    """The sums of a match table in which sequences are added up, a row for each group.

    `matches` is a match table, or its columns; `by` names the columns to group by, and `own` the own metrics whose sums
    are needed. Rows that are null in `by` are left out. Raises InputError where `matches` is no match table, a column
    of `by` is missing, or an own metric fails.
    """
    return together(match_sums(group_rows(matches, by, own=own)))


def match_sums(groups: Groups) -> Sums:
    """The sums of each group in each sequence."""
    return whole(match_pieces(groups))


def match_pieces(groups: Groups) -> Sums:
    """The same of sequences that may have other frames elsewhere."""
    table, n_groups = groups.table, groups.n_groups
    row, first = arrays.grouped(_within(groups.of_row, n_groups, arrays.row_keys(table, ["sequence"])))
    frame_keys = _within(groups.of_row, n_groups, arrays.row_keys(table, schema.FRAME_KEY))
    keys, first_of_frame = arrays.distinct(frame_keys)
    n_frames = np.bincount(row[first_of_frame], minlength=len(first)).astype(np.float64)
    of_frames = {}
    if "gospa_error" in table:
        frame = arrays.positions(frame_keys, keys, first_of_frame)
        of_frames = point_sets.table_sums(table, frame, row[first_of_frame], len(first))
    of_row, sequence = groups.of_row[first], array_of(table["sequence"].take(first))
    summed, own_sums, row = _by_row(table, groups.own.values, row)
    values = row_sums(summed, row, len(first))
    errors = as_numbers(summed["kelvins_error"])
    counted = _counted_rows(summed["outcome"])
    values["kelvins_error"] = run_sums(errors[counted], row[counted], len(first))
    values["n_frames"] = n_frames
    values |= of_frames
    values |= {name: run_sums(rows, row, len(first)) for name, rows in own_sums.items()}
    by_similarity = schema.measure_of(table) == "similarity"
    return Sums(
        match_metrics(by_similarity),
        Columns(groups.labels, n_rows=n_groups),
        of_row,
        sequence,
        values,
        dict(table.attrs),
        groups.rows,
        by_similarity,
        groups.own.metrics,
        groups.own.lacking,
    )


def _by_row(
    table: Columns, own_sums: Mapping[str, np.ndarray], row: np.ndarray
) -> tuple[Columns, Mapping[str, np.ndarray], np.ndarray]:
    """The columns that are summed, and the row of the sums that each belongs to, with those of a row side by side.

    Rows are summed run by run, so rounding would otherwise depend on the rows of others that lie between them.
    """
    table = table.select(["outcome", schema.measure_of(table), "squared_error", "kelvins_error"])
    if (row[1:] >= row[:-1]).all():
        return table, own_sums, row
    order = np.argsort(row, kind="stable")
    return table.take(order), _taken(own_sums, order), row.take(order)


def _within(group: np.ndarray, n_groups: int, keys: np.ndarray) -> np.ndarray:
    """An integer for each row that identifies its (group, key)."""
    if n_groups < 2:
        return keys
    of_row, first = arrays.grouped(keys)
    return group * len(first) + of_row


def row_sums(table: pd.DataFrame | Columns, group: np.ndarray, n_groups: int) -> dict[str, np.ndarray]:
    """Computes each of SUMS for each group: float64 arrays (n_groups,) by name.

    `table` is a match table that `check_matches` returned, and `group` is the group of each of its rows, from 0 to
    n_groups - 1. `near` sums the distances (px), or the similarities, of the true positives; `near_squared` sums their
    squares.
    """
    table = match_columns(table)
    outcome = table["outcome"]
    counted, matched = _counted_rows(outcome), np.flatnonzero(outcome == schema.TP)
    cell = outcome if n_groups == 1 else group * 4 + outcome  # one group needs no arithmetic
    tp, fn, fp = np.bincount(cell, minlength=4 * n_groups).reshape(-1, 4).T[[schema.TP, schema.FN, schema.FP]]
    near = as_numbers(table[schema.measure_of(table)])[matched]
    return {
        "tp": tp.astype(np.float64),
        "fn": fn.astype(np.float64),
        "fp": fp.astype(np.float64),
        "squared_error": run_sums(as_numbers(table["squared_error"])[counted], group[counted], n_groups),
        "near": run_sums(near, group[matched], n_groups),
        "near_squared": run_sums(near * near, group[matched], n_groups),
    }


def _counted_rows(outcome: np.ndarray) -> np.ndarray | slice:
    """The positions of the rows that count: all rows except those of empty frames."""
    counted = outcome != schema.EMPTY
    return slice(None) if counted.all() else np.flatnonzero(counted)


def pair_sums(counting: WithoutCrowds, pairs: Pairs, rule: Rule) -> Sums:
    """What `match_pieces` returns of the match table of these pairs, which is not made, with all rows in one group.

    Errors are added in another order, so their sums may differ in the last digits.
    """
    aligned, pairs, notes = crowds.without_uncounted(counting, pairs)
    truth, predictions, frames = aligned.truth, aligned.predictions, aligned.frames
    of_frame, first = arrays.grouped(arrays.row_keys(frames, ["sequence"]))
    # Each joint of a frame is a row of `frames`.
    listed = arrays.distinct(arrays.row_keys(frames, schema.FRAME_KEY))[1] if "joint" in frames else slice(None)
    of_pair = of_frame.take(predictions.frame.take(pairs.prediction))

    def of_sequences(sequence: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        return arrays.added_at(sequence, values, len(first))

    tp = of_sequences(of_pair)
    fn, fp = of_sequences(of_frame, truth.counts) - tp, of_sequences(of_frame, predictions.counts) - tp
    near = rule.in_table(pairs.measure)
    squared, kelvins = rule.errors(np.full(len(near), schema.TP), pairs.measure)
    [missed], [kelvins_missed] = rule.errors(np.array([schema.FN]), np.array([np.nan]))  # and of a false alarm
    unpaired = fn + fp
    values = {
        "tp": tp,
        "fn": fn,
        "fp": fp,
        "squared_error": of_sequences(of_pair, squared) + np.where(unpaired > 0, unpaired * missed, 0.0),
        "near": of_sequences(of_pair, near),
        "near_squared": of_sequences(of_pair, near * near),
        "kelvins_error": of_sequences(of_pair, kelvins) + np.where(unpaired > 0, unpaired * kelvins_missed, 0.0),
        "n_frames": of_sequences(of_frame[listed]),
        **point_sets.pairs_sums(aligned, pairs, rule, of_frame, len(first)),
    }
    sequence = frames["sequence"].take(first)
    return ungrouped(values, rule, {**aligned.notes, **notes}, sequence)


def ungrouped(values: dict[str, np.ndarray], rule: Rule, counts: Mapping[Hashable, Any], sequence: Any = None) -> Sums:
    """Sums of sequences by a rule, all in one group; `counts` says how many crowds were left out."""
    n_rows = len(next(iter(values.values())))
    group, notes = np.zeros(n_rows, np.int64), {**rule.notes, **counts}
    by_similarity = not rule.by_distance
    return Sums(match_metrics(by_similarity), Columns({}, n_rows=1), group, sequence, values, notes, {}, by_similarity)


def whole(pieces: Sums) -> Sums:
    """The sums of sequences that have no frames elsewhere, from which the metrics of each follow."""
    values = {name: rows for name, rows in pieces.values.items() if name != "kelvins_error"}
    counted = values["tp"] + values["fn"] + values["fp"]
    means = share(pieces.values["kelvins_error"], counted, nothing=0.0)
    return pieces._replace(values=values | {"kelvins_mse": means, "n_sequences": np.ones(len(pieces.group))})


def together(sums: Sums) -> Sums:
    """The sums with a row for each group, in which its sequences are added up in their order."""
    values = {name: run_sums(rows, sums.group, sums.n_groups) for name, rows in sums.values.items()}
    return sums._replace(group=np.arange(sums.n_groups), sequence=None, values=values)


def known(sums: Sums) -> Sums:
    """The sums, null where they count rows of an outcome that is unknown in slices."""
    counting = {name for outcome in sums.unknown for name in COUNTING[outcome]}
    values = {name: np.full(rows.shape, np.nan) if name in counting else rows for name, rows in sums.values.items()}
    return sums._replace(values=values)


def cut_sums(matches: Table | Columns, by: By | None, cut: Collection[Any]) -> tuple[Sums, Sums]:
    """The sums of a match table as `summary_sums` gives them, but without those of the sequences in `cut`.

    These have frames elsewhere, too, so their means are not known yet. Their sums come second, by sequence, in the
    column PIECE, and group. Added to those of their other pieces, they are complete: `whole_pieces` has their means.
    """
    sums = match_pieces(group_rows(matches, by))
    inside = among(sums.sequence, cut)
    pieces = sums.take(np.flatnonzero(inside))
    labels = sums.labels.take(pieces.group).assign({PIECE: pieces.sequence})
    labels = labels.select([PIECE, *sums.labels])
    # What is counted in whole tables is among the other sums.
    notes = {name: 0 if name in schema.COUNTS_NOTED else value for name, value in sums.attrs.items()}
    rows, group = dict.fromkeys(sums.rows, (0, 0)), np.arange(len(labels))
    of_pieces = pieces._replace(labels=labels, group=group, sequence=None, attrs=notes, rows=rows)
    return together(whole(sums.take(np.flatnonzero(~inside)))), of_pieces


def whole_pieces(pieces: Sums) -> Sums:
    """The sums of each group in sequences whose pieces `cut_sums` has given, and which are added up."""
    return whole(pieces._replace(labels=pieces.labels.select([name for name in pieces.labels if name != PIECE])))
