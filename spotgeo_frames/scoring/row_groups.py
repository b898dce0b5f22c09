"""The rows of a match table by groups: which group each row is of, and which rows belong to none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..support.arrays import grouped
from ..support.errors import InputError
from ..tables.columns import Columns, among, rows_with_null
from ..tables.match_tables import match_columns, match_dataframe
from ..tables.messages import several_thresholds
from ..tables.schema import FN, FP, is_of_precision
from ..tables.selections import By, by_columns, number_groups
from ..tables.table import Table
from .one_sided import OneSided, one_sided
from .own_metrics import OwnSums, own_row_sums
from .registry import METRICS

if TYPE_CHECKING:
    import pandas as pd


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
        kind: _count_unknown(null[table["outcome"] == kind], kind in lacking) for kind in ((FP, FN) if columns else ())
    }
    everything, own_sums = AllRows(table, columns, belonging), own_row_sums(table, own, unknown_outcomes(rows))
    if dropna and null.any():
        kept = np.flatnonzero(~null)
        table, columns = table.take(kept), taken(columns, kept)
        own_sums = own_sums._replace(values=taken(own_sums.values, kept))
    of_row, first = number_groups(columns, len(table))
    n_groups = len(first) if columns else 1
    _check_thresholds(table, of_row)
    return Groups(table, taken(columns, first), of_row, n_groups, everything, rows, own_sums)


def _count_unknown(null: np.ndarray, is_lacking: bool) -> tuple[int, int]:
    """The count of all rows, and of those that are null; all rows of an outcome that a column knows nothing of are."""
    return len(null), len(null) if is_lacking else int(np.count_nonzero(null))


def taken(columns: Mapping[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """The values of each array at these positions."""
    return {name: values.take(rows) for name, values in columns.items()}


def _checked(matches: Table | Columns) -> pd.DataFrame | Columns:
    """A match table as a checked DataFrame; Columns, which `match` made, are returned as they are."""
    if isinstance(matches, Columns):
        return matches
    from ..tables.checks import check_matches

    return check_matches(matches, by_groups=True)


def _check_thresholds(table: Columns, of_row: np.ndarray) -> None:
    """Raises InputError if a group has rows of several thresholds of average precision."""
    if not is_of_precision(table.arrays):
        return
    of_threshold, first = number_groups({"threshold": table["threshold"]}, len(table))
    pairs, _ = grouped(of_row * max(len(first), 1) + of_threshold)
    if len(table) and pairs.max() > of_row.max():
        raise InputError(several_thresholds("match table", "give the rows of one, or group by threshold, too"))


def _columns_by(table: pd.DataFrame | Columns, by: By | None, rows: np.ndarray | None) -> dict[str, Any]:
    """The columns to group by, by name, of the rows at these positions, or of all."""
    if by is None:
        return {}
    matches = match_dataframe(table) if isinstance(table, Columns) else table
    return by_columns(matches, by, list(METRICS), rows=rows)


def unknown_outcomes(rows: Mapping[int, tuple[int, int]]) -> set[int]:
    """The outcomes of which no row belongs to a slice, from the counts in `rows` of Sums or Groups."""
    return {outcome for outcome, (n_rows, n_null) in rows.items() if n_rows and n_null == n_rows}
