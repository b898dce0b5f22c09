"""The sums of a match table, or of tracks, for each group of rows or for each sequence.

Every metric is a function of such sums. `add_sums` adds the sums of tables that share no sequence. `weighted_sums`
computes the sums of any selection of sequences, in which a sequence may occur several times.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..support.arrays import added_at, distinct, grouped, row_keys
from ..tables.columns import Columns, among, array_of, joined
from ..tables.schema import COUNTS_NOTED, FRAME_KEY, measure_of
from ..tables.selections import By, number_groups
from ..tables.table import Table
from .match_sums import COUNTING, NamedSums, group_sums, kelvins_errors, match_sums, share
from .row_groups import Groups, group_rows, taken

# The label of the sums of sequences that were cut, which no column of a match table is called.
PIECE = "piece_of"


class Sums(NamedTuple):
    """Named sums of N groups of rows, or of N sequences.

    Attributes
    ----------
    labels
        One row for each group, sorted: its values in the columns that were grouped by. There are no columns where all
        rows form one group.
    values
        The sums by name, each an array (N,), or (N, K) where there is a sum for each of K thresholds.
    rows
        For FP and for FN, the count of all rows and the count of rows that are null in a column to group by, or that
        such a column knows nothing of. Rows that `dropna` left out are counted, too. Where the two counts are equal, no
        row of this outcome belongs to a slice, so metrics that need the outcome are null. Empty where nothing is
        grouped.
    by_similarity
        Whether matching was by similarity; such tables have no errors in px².
    attrs
        The `attrs` of the table, which say how it was made and how many crowds it left out.
    own_metrics
        The own metrics whose sums are among the values, as METRIC.SUM.
    """

    labels: Columns
    values: dict[str, np.ndarray]
    rows: dict[int, tuple[int, int]]
    by_similarity: bool
    attrs: dict[Hashable, Any]
    own_metrics: Sequence[str] = ()


class Cells(NamedTuple):
    """The sums of C cells, each the rows of one group in one sequence, by group, then by sequence.

    Attributes
    ----------
    group, sequence
        The position of each cell's group, and the name of its sequence, (C,).
    values
        The sums by name, (C,): those of `match_sums`, `kelvins_error`, `n_frames` and those of own metrics. Cells of
        one group and one sequence that share no frame add up.
    """

    group: np.ndarray
    sequence: Any
    values: dict[str, np.ndarray]


def summary_sums(matches: Table | Columns, by: By | None = None, own: Sequence[str] = ()) -> Sums:
    """The sums of a match table, from which `summarize` computes its metrics.

    `matches` is a match table, or its columns; `by` names the columns to group by, and `own` the own metrics whose sums
    are needed. Rows that are null in `by` are left out. Raises InputError where `matches` is no match table, a column
    of `by` is missing, or an own metric fails.
    """
    return sums_of_groups(group_rows(matches, by, own=own))


def sums_of_groups(groups: Groups) -> Sums:
    """The sums of each group of rows of a match table."""
    return sums_of_cells(groups, cells_of(groups))


def cells_of(groups: Groups) -> Cells:
    """The sums of each group in each sequence."""
    table, n_groups = groups.table, groups.n_groups
    cell, first = grouped(_within(groups.of_row, n_groups, row_keys(table, ["sequence"])))
    _, first_of_frame = distinct(_within(groups.of_row, n_groups, row_keys(table, FRAME_KEY)))
    n_frames = np.bincount(cell[first_of_frame], minlength=len(first)).astype(np.float64)
    names, sequence = groups.of_row[first], array_of(table["sequence"].take(first))
    table, own_sums, cell = _by_cell(table, groups.own.values, cell)
    values = match_sums(table, cell, len(first))
    values["kelvins_error"] = kelvins_errors(table, cell, len(first))
    values["n_frames"] = n_frames
    values |= {name: group_sums(rows, cell, len(first)) for name, rows in own_sums.items()}
    return Cells(names, sequence, values)


def _by_cell(
    table: Columns, own_sums: Mapping[str, np.ndarray], cell: np.ndarray
) -> tuple[Columns, Mapping[str, np.ndarray], np.ndarray]:
    """The columns that are summed, and the cell of each row, with the rows of a cell next to each other.

    Rows are summed run by run, so rounding would otherwise depend on the rows of other cells that lie between them.
    """
    table = table.select(["outcome", measure_of(table), "squared_error", "kelvins_error"])
    if (cell[1:] >= cell[:-1]).all():
        return table, own_sums, cell
    order = np.argsort(cell, kind="stable")
    return table.take(order), taken(own_sums, order), cell.take(order)


def cut_sums(matches: Table | Columns, by: By | None, cut: Collection[Any]) -> tuple[Sums, Sums]:
    """The sums of a match table as `summary_sums` gives them, but without those of the sequences in `cut`.

    These have frames elsewhere, too, so their means are not known yet. Their sums come second, by sequence, in the
    column PIECE, and group. Added to those of their other pieces, they are complete, and `whole_sums` has their means.
    """
    groups = group_rows(matches, by)
    cells = cells_of(groups)
    inside = among(cells.sequence, cut)
    whole, pieces = (
        Cells(cells.group[kept], cells.sequence[kept], {name: rows[kept] for name, rows in cells.values.items()})
        for kept in (~inside, inside)
    )
    sums = sums_of_cells(groups, whole)
    labels = {name: column.take(pieces.group) for name, column in groups.labels.items()}
    # What is counted in whole tables is among the other sums.
    rows = dict.fromkeys(sums.rows, (0, 0))
    notes = {name: 0 if name in COUNTS_NOTED else value for name, value in sums.attrs.items()}
    of_pieces = Sums(Columns({PIECE: pieces.sequence} | labels), pieces.values, rows, sums.by_similarity, notes)
    return sums, of_pieces


def whole_sums(pieces: Sums) -> Sums:
    """The sums of each group in sequences whose pieces `cut_sums` has given, and which are added up."""
    labels = {name: column for name, column in pieces.labels.arrays.items() if name != PIECE}
    n_cells = len(pieces.labels)
    values = sums_of_sequences(Cells(np.zeros(n_cells, np.int64), None, pieces.values))
    return pieces._replace(labels=Columns(labels, n_rows=n_cells), values=values)


def sums_of_cells(groups: Groups, cells: Cells) -> Sums:
    """The sums of each group from those of its cells."""
    labels = Columns(groups.labels, n_rows=groups.n_groups)
    by_similarity = measure_of(groups.table) == "similarity"
    values = totals(cells, groups.n_groups)
    return Sums(labels, values, groups.rows, by_similarity, dict(groups.table.attrs), groups.own.metrics)


def totals(cells: Cells, n_groups: int) -> dict[str, np.ndarray]:
    """The sums of each group, (n_groups,): those of its cells, added up in the order of the sequences."""
    return {name: group_sums(rows, cells.group, n_groups) for name, rows in sums_of_sequences(cells).items()}


def sums_of_sequences(cells: Cells) -> dict[str, np.ndarray]:
    """The sums of each cell, (C,), from which the metrics of one sequence follow."""
    values = {name: rows for name, rows in cells.values.items() if name != "kelvins_error"}
    counted = values["tp"] + values["fn"] + values["fp"]
    means = share(cells.values["kelvins_error"], counted, nothing=0.0)
    return values | {"kelvins_mse": means, "n_sequences": np.ones(len(cells.group))}


def known_sums(sums: NamedSums, unknown: Collection[int]) -> dict[str, np.ndarray]:
    """The sums, null where they count rows of an unknown outcome."""
    counting = {name for outcome in unknown for name in COUNTING[outcome]}
    return {name: np.full(rows.shape, np.nan) if name in counting else rows for name, rows in sums.items()}


def add_sums(parts: Sequence[Sums]) -> Sums:
    """The sums of one or more tables that share no sequence and were grouped by the same columns, added up.

    Rows with equal labels are added in the order of the parts. The counts of crowds in the notes are added, too.
    """
    n_rows = sum(len(part.labels) for part in parts)
    labels = Columns({name: joined([part.labels[name] for part in parts]) for name in parts[0].labels}, n_rows=n_rows)
    of_row, first = number_groups(labels.arrays, n_rows)
    n_groups = len(first) if labels.columns else 1
    values = {
        name: _added(np.concatenate([part.values[name] for part in parts]), of_row, n_groups)
        for name in parts[0].values
    }
    rows = {
        kind: (sum(part.rows[kind][0] for part in parts), sum(part.rows[kind][1] for part in parts))
        for kind in parts[0].rows
    }
    labels = labels.take(first) if labels.columns else Columns({}, n_rows=n_groups)
    notes = {name: sum(part.attrs[name] for part in parts) for name in COUNTS_NOTED if name in parts[0].attrs}
    return parts[0]._replace(labels=labels, values=values, rows=rows, attrs=parts[0].attrs | notes)


def _added(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Adds the rows of values (N, ...) by their group, in order; returns (groups, ...), of the same data type."""
    shape = values.shape[1:]
    width = int(np.prod(shape, dtype=np.int64))
    cell = (group[:, None] * width + np.arange(width)).ravel() if shape else group
    # Counts are whole numbers far below 2**53, so float64 adds them exactly.
    added = added_at(cell, values.ravel(), n_groups * width)
    return added.reshape(n_groups, *shape).astype(values.dtype)


def with_total(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Appends a row with the total of all rows to each of the sums (N, ...), which become (N + 1, ...)."""
    # Sums are rounded by the order in which memory holds them, so it is the same whatever they are made of.
    ordered = {name: np.ascontiguousarray(rows) for name, rows in values.items()}
    return {name: np.concatenate([rows, rows.sum(axis=0, keepdims=True)]) for name, rows in ordered.items()}


def weighted_sums(sums: Sums, weights: np.ndarray) -> dict[str, np.ndarray]:
    """The sums (W, ...) of W selections of the rows of `sums`.

    Each of the W rows of `weights` (W, N) is one selection and says how often it takes each of the N rows of `sums`: a
    weight of 0 leaves a row out, weights of 1 everywhere give the total, and in a bootstrap resample the weight of a
    sequence is how often it was drawn. The sums are float64; counts are exact if the weights are whole numbers.

    Raises ValueError where the shape of `weights` is not (W, N).
    """
    weights = np.asarray(weights, np.float64)
    if weights.ndim != 2 or weights.shape[1] != len(sums.labels):
        needed = f"(W, {len(sums.labels)}) is needed, one weight for each row of the sums"
        raise ValueError(f"weights: the array has shape {weights.shape}; {needed}")
    return {name: np.tensordot(weights, rows, axes=1) for name, rows in sums.values.items()}


def _within(group: np.ndarray, n_groups: int, keys: np.ndarray) -> np.ndarray:
    """An integer for each row that identifies its (group, key)."""
    if n_groups < 2:
        return keys
    of_row, first = grouped(keys)
    return group * len(first) + of_row
