"""Sums over groups of rows of a match table, from which all its metrics are computed.

The sums of two disjoint groups, added, are the sums of both groups together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..support.arrays import added_at
from ..tables.columns import Columns, as_numbers
from ..tables.match_tables import match_columns
from ..tables.schema import EMPTY, FN, FP, TP, measure_of

if TYPE_CHECKING:
    import pandas as pd

# Sums by name, arrays of one shape: a value for each group or sequence, and where a sum is of thresholds, for each.
NamedSums = Mapping[str, np.ndarray]

SUMS = ["tp", "fn", "fp", "squared_error", "near", "near_squared"]

# The sums that count rows of FN, and of FP.
COUNTING = {
    FN: ("fn", "squared_error", "kelvins_mse"),
    FP: ("fp", "squared_error", "kelvins_mse"),
}


def match_sums(table: pd.DataFrame | Columns, group: np.ndarray, n_groups: int) -> dict[str, np.ndarray]:
    """Computes each of SUMS for each group: float64 arrays (n_groups,) by name.

    `table` is a match table that `check_matches` returned, and `group` is the group of each of its rows, from 0 to
    n_groups - 1. `near` sums the distances (px), or the similarities, of the true positives; `near_squared` sums their
    squares.
    """
    table = match_columns(table)
    outcome = table["outcome"]
    counted, matched = counted_rows(outcome), np.flatnonzero(outcome == TP)
    kind = outcome if n_groups == 1 else group * 4 + outcome  # one group needs no arithmetic
    tp, fn, fp = np.bincount(kind, minlength=4 * n_groups).reshape(-1, 4).T[[TP, FN, FP]]
    near = as_numbers(table[measure_of(table)])[matched]
    return {
        "tp": tp.astype(np.float64),
        "fn": fn.astype(np.float64),
        "fp": fp.astype(np.float64),
        "squared_error": group_sums(as_numbers(table["squared_error"])[counted], group[counted], n_groups),
        "near": group_sums(near, group[matched], n_groups),
        "near_squared": group_sums(near * near, group[matched], n_groups),
    }


def kelvins_errors(table: pd.DataFrame | Columns, group: np.ndarray, n_groups: int) -> np.ndarray:
    """The sum of `kelvins_error` over the TP, FN and FP of each group, (n_groups,).

    Divided by the count of these rows it is the mean of a sequence; `kelvins_mse` is the sum of these means.
    """
    table = match_columns(table)
    counted = counted_rows(table["outcome"])
    return group_sums(as_numbers(table["kelvins_error"])[counted], group[counted], n_groups)


def counted_rows(outcome: np.ndarray) -> np.ndarray | slice:
    """The positions of the rows that count: all rows except those of empty frames."""
    counted = outcome != EMPTY
    return slice(None) if counted.all() else np.flatnonzero(counted)


def group_sums(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Sums the values (N,) of each group; returns (n_groups,).

    Neighbouring rows of one group are summed first, because sorted tables have many of them and this is faster.
    """
    if n_groups == 1 and len(values):
        return np.add.reduceat(values, [0])
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(group), 1), bool), group[1:] != group[:-1]]))
    return added_at(group[starts], np.add.reduceat(values, starts), n_groups)


def share(part: np.ndarray, whole: np.ndarray, nothing: float = np.nan) -> np.ndarray:
    """Divides part by whole; returns `nothing` where the whole is 0."""
    quotient = np.full(np.broadcast(part, whole).shape, nothing)
    np.divide(part, whole, out=quotient, where=whole != 0)
    return quotient
