"""Edges of quantile bins of a column of any length, which is read up to three times and never as a whole in memory.

The edges are exactly those that `quantile_edges` has of the whole column. The first pass samples the values; the sample
divides them into cells. The second pass counts the values of each cell, and so finds the cells with the wanted ranks.
The third pass reads these cells.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ..geometries import labelled_joints
from ..matching import crowds
from ..support import InputError, SliceError
from ..tables import CheckedBins, Edges, Ranks, arrow, binning
from .blocks import BLOCK_ROWS
from .contents import Contents
from .files import OpenedFiles
from .rows import kept_rows, row_group_batches

# About how many values the sample has.
SAMPLE = 1 << 12

# The edges of a column that is in no bins.
NO_EDGES = np.zeros(0)

# A function that gives the values of a column, in pieces without nulls, from the beginning at each call.
Values = Callable[[], Iterator[np.ndarray]]


def bins_of_columns(groupings: Sequence[Mapping[str, CheckedBins]]) -> dict[str, int | pd.Index]:
    """The bins of each column that is binned; raises InputError if a column has others in another grouping."""
    bins: dict[str, CheckedBins] = {}
    for name, of in (item for grouping in groupings for item in grouping.items()):
        if binning.plain_bins(bins.setdefault(name, of)) != binning.plain_bins(of):
            raise InputError(f"by: {name} occurs with different bins; with datasets, give the same each time")
    return {name: of for name, of in bins.items() if of is not None}


def dataset_bin_edges(
    contents: Mapping[str, Contents], values: pd.Series, bins: int | pd.Index, exclude: Sequence[int | str]
) -> Edges:
    """The edges of bins of a column of the match table; empty if all its values are equal and a count is asked for.

    `values` is that column of a match table without rows. Quantile bins are those of the match table without the
    sequences in `exclude`. Raises SliceError if edges do not fit the column; and where a count is asked for, if the
    column is not one of truths or predictions, if it has anything but finite numbers or times, or if not every
    truth counts: which predictions are in the match table is known only after matching.
    """
    if not isinstance(bins, int):
        return binning.fitting_edges(values, bins)
    column = str(values.name)
    side, _, name = column.partition("_")
    source = contents.get({"truth": "truth", "predicted": "predictions"}.get(side, ""))
    if source is None or name not in source.schema.names:
        raise SliceError(f"column {column} cannot be binned in a dataset; those of truths and of predictions can")
    kind = source.schema.field(name).type
    times = _type_of_times(kind)
    if times is None and not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise SliceError(f"column {column} holds no numbers; it cannot be binned")
    marks = [mark for mark in crowds.MARKS if mark in contents["truth"].schema.names]
    if side == "predicted" and _any_marked(contents["truth"], marks, exclude):
        raise SliceError(
            f"column {column} cannot be binned in a dataset with crowds or ignored truths; columns of truths can"
        )
    of_truth = marks if side == "truth" else []
    edges = streamed_edges(lambda: _values(source, name, times, of_truth, exclude), source.n_rows, bins, column)
    return edges if times is None or not len(edges) else binning.edges_in_column(pd.Series(dtype=times), edges)


def _type_of_times(kind: pa.DataType) -> Any:
    """The type of pandas for a column of times, dates or durations; None for others."""
    if pa.types.is_date(kind):
        return "datetime64[s]"
    is_time = pa.types.is_timestamp(kind) or pa.types.is_duration(kind)
    return pa.array([], kind).to_pandas().dtype if is_time else None


def _values(
    source: Contents, name: str, times: Any, marks: Sequence[str], exclude: Sequence[int | str]
) -> Iterator[np.ndarray]:
    """The values of a column in pieces, without nulls, joints that are absent, and rows that a column of `marks` marks.

    `times` is the type of a column of times.
    """
    of_joints = ["joint", "visibility"] if {"joint", "visibility"} <= {*source.schema.names} else []
    for table in column_tables(source, [name, *of_joints, *marks], exclude):
        if of_joints:
            table = table[labelled_joints(table)]
        if marks:
            table = table[~_is_marked(table, marks)]
        if times is not None:
            yield binning.ordered_values(table[name].dropna().astype(times))
        else:
            values = table[name].to_numpy(np.float64, na_value=np.nan)
            yield values[~np.isnan(values)]


def _any_marked(truth: Contents, marks: Sequence[str], exclude: Sequence[int | str]) -> bool:
    """Whether any truth does not count."""
    return bool(marks) and any(_is_marked(table, marks).any() for table in column_tables(truth, marks, exclude))


def _is_marked(table: pd.DataFrame, marks: Sequence[str]) -> np.ndarray:
    """Whether each truth is a crowd or ignored; matching refuses values that are neither true nor false."""
    return table[list(marks)].eq(1).any(axis=1).to_numpy(bool, na_value=False)


def column_tables(source: Contents, columns: Sequence[str], exclude: Sequence[int | str]) -> Iterator[pd.DataFrame]:
    """Columns of a dataset, and its sequences, in pieces, without the sequences in `exclude`."""
    schema = pa.schema([source.schema.field(column) for column in dict.fromkeys(["sequence", *columns])])
    files = OpenedFiles()
    for group in source.groups:
        for rows in row_group_batches(files, group, schema, BLOCK_ROWS):
            yield arrow.arrow_to_pandas(kept_rows(rows, exclude), source.name)


def streamed_edges(values: Values, n_rows: int, bins: int, name: str) -> np.ndarray:
    """The edges of `bins` quantile bins of a column called `name`; empty if all its values are equal.

    `n_rows` is about how long the column is. Its values are all float64, or times as int64. Raises SliceError if a
    value is infinite.
    """
    sample, n_values = _sampled(values(), n_rows, name)
    if len(sample) < 2:
        return np.zeros(0)
    ranks = Ranks.of(n_values, bins)
    wanted = np.unique([ranks.below, ranks.above])
    ranked = _ranked(values, sample, wanted)
    return ranks.edges(ranked[np.searchsorted(wanted, ranks.below)], ranked[np.searchsorted(wanted, ranks.above)])


def _sampled(values: Iterator[np.ndarray], n_rows: int, name: str) -> tuple[np.ndarray, int]:
    """Distinct sorted values, among them the least and the greatest of all; and how many values the column has."""
    step = max(1, n_rows // SAMPLE)
    samples, n_values = [], 0
    for piece in values:
        if not np.isfinite(piece).all():
            raise SliceError(f"column {name} holds infinite values; it cannot be binned")
        if len(piece):
            samples.append(np.concatenate([piece[-n_values % step :: step], [piece.min(), piece.max()]]))
        n_values += len(piece)
    return np.unique(np.concatenate(samples or [np.zeros(0)])), n_values


def _ranked(values: Values, sample: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The values of these ranks, counted from 0; the sample has the least and the greatest of all."""
    # Cell 2 i + 1 has the values that equal sample i, cell 2 i those between samples i - 1 and i.
    counts = np.zeros(2 * len(sample) + 1, np.int64)
    for piece in values():
        counts += np.bincount(_cells(sample, piece), minlength=len(counts))
    ends = np.cumsum(counts)
    begins = ends - counts
    cells = np.searchsorted(ends, ranks, side="right")
    wanted = np.zeros(len(counts), bool)
    wanted[cells[cells % 2 == 0]] = True
    looked_into = values() if wanted.any() else iter(())
    inside = np.sort(np.concatenate([sample[:0], *(piece[wanted[_cells(sample, piece)]] for piece in looked_into)]))
    # The position at which the values of each wanted cell begin in `inside`.
    starts = np.cumsum(np.where(wanted, counts, 0)) - counts
    of_ranks = [
        sample[cell // 2] if cell % 2 else inside[starts[cell] + rank - begins[cell]]
        for cell, rank in zip(cells.tolist(), ranks.tolist(), strict=True)
    ]
    return np.array(of_ranks, sample.dtype)


def _cells(sample: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The cell of each value: 2 i + 1 if it equals sample i, 2 i if it lies between samples i - 1 and i."""
    return np.searchsorted(sample, values, side="left") + np.searchsorted(sample, values, side="right")


def bin_codes(values: pd.Series, edges: Edges) -> pd.Series:
    """The position of each value's bin, or null; the values themselves if there are no edges.

    Unlike intervals, positions are small.
    """
    if not len(edges):
        return values
    codes = binning.in_bins(values, edges).cat.codes.to_numpy(np.int64)
    return pd.Series(pd.arrays.IntegerArray(codes, codes < 0), values.index, name=values.name)


def bins_of_codes(codes: pd.Series, edges: Edges) -> pd.Series:
    """The bins at these positions, named as in memory; `codes` itself if there are no edges."""
    if not len(edges):
        return codes
    bins = binning.in_bins(pd.Series(dtype=object), edges).cat.categories
    intervals = pd.Categorical.from_codes(codes.fillna(-1).astype(int), categories=bins, ordered=True)
    return pd.Series(intervals, name=codes.name)
