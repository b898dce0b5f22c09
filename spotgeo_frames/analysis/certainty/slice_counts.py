"""The slices of a match table by columns and pairs of columns, with the counts of each sequence in each slice."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...support.arrays import added_at
from ...support.errors import InputError
from ...support.texts import bins_as_text, is_binned
from ...tables.schema import FN, FP, TP
from ...tables.selections import binned, check_column

# Columns of numbers with up to this many distinct values are not binned, be they whole or not.
MOST_VALUES = 10

# A column with more distinct values than this is not looked at; it is likely to hold names or times.
MOST_LABELS = 200


class Coded(NamedTuple):
    """A column as codes: the position of each row's value in `labels` (-1 for null), and the values as text."""

    name: str
    codes: np.ndarray
    labels: list[str]


class Slices(NamedTuple):
    """Slices by the same columns, for one metric.

    Attributes
    ----------
    columns
        The names of the columns.
    labels
        The slices as text.
    metric
        The name of the metric.
    n_rows, n_hits
        The counts of rows and of TP of each sequence in each slice, (sequences, slices).
    all_rows, all_hits
        The same of all slices together, (sequences, 1).
    """

    columns: list[str]
    labels: list[str]
    metric: str
    n_rows: np.ndarray
    n_hits: np.ndarray
    all_rows: np.ndarray
    all_hits: np.ndarray


def coded_column(table: pd.DataFrame, column: str, bins: int) -> Coded | str:
    """Codes the values of a column, or says why it cannot be looked at; numbers of many values are binned."""
    check_column(table, column)
    values = table[column]
    if pd.api.types.is_any_real_numeric_dtype(values.dtype):
        values = values.where(np.isfinite(values.to_numpy(np.float64, na_value=np.nan)))
        if values.nunique() > MOST_VALUES:
            values = binned(values.to_frame(), column, bins)
    try:
        codes, labels = pd.factorize(values, sort=True)
    except TypeError as error:
        raise InputError(f"worst_slices: column {column} cannot be sliced by: {error}") from None
    if len(labels) > MOST_LABELS:
        return f"it has {len(labels):,} values, and at most {MOST_LABELS} are possible; bin it first"
    if len(labels) < 2:
        what = "no values" if not len(labels) else "a single bin" if is_binned(values) else "a single value"
        return f"it has {what}, which leaves no rows to compare with"
    if is_binned(values):
        texts = bins_as_text(pd.Series(labels).to_frame(column))[column]
        return Coded(column, codes, [f"{column} {text}" for text in texts])
    return Coded(column, codes, [f"{column} = {value}" for value in labels])


def counted_slices(
    table: pd.DataFrame,
    coded: Sequence[Coded],
    depth: int,
    sequence: np.ndarray,
    n_sequences: int,
    min_sequences: int,
) -> Iterator[Slices]:
    """Counts rows and TP of the slices by each column or pair of columns, for each metric that is known there.

    Slices with rows in fewer than `min_sequences` sequences are left out, because a crossing may have thousands.
    """
    outcome = table["outcome"].array.codes
    for columns in (chosen for size in range(1, depth + 1) for chosen in combinations(coded, size)):
        codes, labels = columns[0].codes, columns[0].labels
        for other in columns[1:]:
            codes = np.where((codes >= 0) & (other.codes >= 0), codes * len(other.labels) + other.codes, -1)
            labels = [f"{label} and {other_label}" for label in labels for other_label in other.labels]
        for metric, missing in (("recall", FN), ("precision", FP)):
            # If no miss has a value here, recall is 1 or unknown in all slices; the same holds for precision.
            if not ((codes >= 0) & (outcome == missing)).any():
                continue
            known = (codes >= 0) & ((outcome == TP) | (outcome == missing))
            code, of_row, is_hit = codes[known], sequence[known], outcome[known] == TP
            pairs = np.unique(code * n_sequences + of_row) // n_sequences
            chosen = np.flatnonzero(np.bincount(pairs, minlength=len(labels)) >= min_sequences)
            place = np.full(len(labels), len(chosen))
            place[chosen] = np.arange(len(chosen))
            cell = of_row * (len(chosen) + 1) + place[code]
            n_rows, n_hits = (
                added_at(cell, weights, n_sequences * (len(chosen) + 1)).reshape(n_sequences, -1)
                for weights in (None, is_hit)
            )
            yield Slices(
                [column.name for column in columns],
                [labels[at] for at in chosen],
                metric,
                n_rows[:, :-1].astype(np.float64),
                n_hits[:, :-1],
                n_rows.sum(axis=1, keepdims=True).astype(np.float64),
                n_hits.sum(axis=1, keepdims=True),
            )
