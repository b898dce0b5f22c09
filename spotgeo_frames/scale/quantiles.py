"""Edges of quantile bins of a column of any length: those of `pandas.qcut`, exactly, in three passes over the column.

A sample cuts the values into cells, a count says in which cell each wanted rank lies, and only those are looked into.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from ..support.errors import SliceError
from ..tables.arrow import arrow_to_pandas
from ..tables.schema import labelled_joints
from .blocks import BLOCK_ROWS, kept_rows, row_group_batches
from .contents import Contents

# Values that cut the rest into cells.
SAMPLE = 1 << 12
Values = Callable[[], Iterator[np.ndarray]]


def bin_edges(contents: Mapping[str, Contents], column: str, bins: int, exclude: Sequence[int | str]) -> np.ndarray:
    """The edges of `bins` bins, with about as many truths or predictions in each, of a column of the match table.

    Of a single value, or none, there are none. Neither whole poses nor rows that are left out because something cannot
    be read are known here. Raises SliceError where the column is not of truths or of predictions, or does not hold
    finite numbers.
    """
    side, _, name = column.partition("_")
    held = contents.get({"truth": "truth", "predicted": "predictions"}.get(side, ""))
    if held is None or name not in held.schema.names:
        raise SliceError(f"column {column} cannot be binned in a dataset; those of truths and of predictions can")
    kind = held.schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise SliceError(f"column {column} holds no numbers; it cannot be binned")
    return quantiles(lambda: _values(held, name, exclude), held.n_rows, np.linspace(0, 1, bins + 1), column)


def _values(held: Contents, name: str, exclude: Sequence[int | str]) -> Iterator[np.ndarray]:
    """The values of a column that are not null, of the rows that are matched."""
    of_joints = ["joint", "visibility"] if {"joint", "visibility"} <= {*held.schema.names} else []
    schema = pa.schema([held.schema.field(column) for column in dict.fromkeys(["sequence", name, *of_joints])])
    for group in held.groups:
        for rows in row_group_batches(group, schema, BLOCK_ROWS):
            table = arrow_to_pandas(kept_rows(rows, exclude), held.name)
            if of_joints:
                table = table[labelled_joints(table)]
            values = table[name].to_numpy(np.float64, na_value=np.nan)
            yield values[~np.isnan(values)]


def quantiles(values: Values, n_rows: int, shares: np.ndarray, name: str) -> np.ndarray:
    """The values below which lie these shares of all, interpolated as NumPy does; none where all are the same."""
    sample, n_values = _sampled(values(), n_rows, name)
    if len(sample) < 2:
        return np.zeros(0)
    place = shares * (n_values - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, n_values - 1)
    ranks = np.unique(np.concatenate([below, above]))
    ranked = np.array(_ranked(values, sample, ranks))
    low, high = ranked[np.searchsorted(ranks, below)], ranked[np.searchsorted(ranks, above)]
    # As numpy.quantile has it, to the last bit: from the nearer end.
    weight = place - below
    return np.where(weight < 0.5, low + (high - low) * weight, high - (high - low) * (1 - weight))


def _sampled(values: Iterator[np.ndarray], n_rows: int, name: str) -> tuple[np.ndarray, int]:
    """Some of the values, the least and the greatest among them, sorted and distinct; and how many values there are."""
    step = max(1, n_rows // SAMPLE)
    parts, n_values = [np.zeros(0)], 0
    for some in values:
        if not np.isfinite(some).all():
            raise SliceError(f"column {name} holds infinite values; it cannot be binned")
        if len(some):
            parts.append(np.concatenate([some[-n_values % step :: step], [some.min(), some.max()]]))
        n_values += len(some)
    return np.unique(np.concatenate(parts)), n_values


def _ranked(values: Values, sample: np.ndarray, ranks: np.ndarray) -> list[float]:
    """The values of these ranks, counted from 0; the sample has the least and the greatest of all."""
    # Cell 2 i + 1 has what equals sample i, cell 2 i what lies before it.
    counts = np.zeros(2 * len(sample) + 1, np.int64)
    for some in values():
        counts += np.bincount(_cells(sample, some), minlength=len(counts))
    ends = np.cumsum(counts)
    begins = ends - counts
    cells = np.searchsorted(ends, ranks, side="right")
    wanted = np.zeros(len(counts), bool)
    wanted[cells[cells % 2 == 0]] = True
    looked_into = values() if wanted.any() else iter(())
    inside = np.sort(np.concatenate([np.zeros(0), *(some[wanted[_cells(sample, some)]] for some in looked_into)]))
    # Where the values of each wanted cell begin among those inside.
    starts = np.cumsum(np.where(wanted, counts, 0)) - counts
    return [
        float(sample[cell // 2] if cell % 2 else inside[starts[cell] + rank - begins[cell]])
        for cell, rank in zip(cells.tolist(), ranks.tolist(), strict=True)
    ]


def _cells(sample: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.searchsorted(sample, values, side="left") + np.searchsorted(sample, values, side="right")


def bin_numbers(values: pd.Series, edges: np.ndarray) -> pd.Series:
    """The number of each value's bin, null where it is null; the value itself where there are no edges."""
    if not len(edges):
        return values
    codes = _bins(values.to_numpy(np.float64, na_value=np.nan), edges).codes.astype(np.int64)
    return pd.Series(pd.arrays.IntegerArray(codes, codes < 0), values.index, name=values.name)


def numbered_bins(numbers: pd.Series, edges: np.ndarray) -> pd.Series:
    """The bins of these numbers, as `pandas.qcut` calls them."""
    if not len(edges):
        return numbers
    dtype = _bins(np.zeros(0), edges).dtype
    return pd.Series(pd.Categorical.from_codes(numbers.fillna(-1).astype(int), dtype=dtype), name=numbers.name)


def _bins(values: np.ndarray, edges: np.ndarray) -> pd.Categorical:
    return pd.cut(values, pd.Index(edges), include_lowest=True, duplicates="drop")
