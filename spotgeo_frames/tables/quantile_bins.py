"""Quantile bins of numbers: where their edges lie, and which value is in which bin.

They are exactly those of `pandas.qcut` of pandas 3, whatever the version of pandas.

Call `bin_edges` if all values are in memory. If you read them in pieces, `Ranks` tells which ranks to look for.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

# pandas rounds the edges of bins to up to twenty decimals, which numbers larger than this, or than 1 over this less, do
# not survive.
LARGEST_ROUNDED = 1e285


class Ranks(NamedTuple):
    """Where the edges of quantile bins lie among sorted values; each array has one entry for each edge.

    An edge lies between the values of the ranks `below` and `above`, counted from 0. `weight`, from 0 to 1, is how far
    it lies towards the upper one.
    """

    below: np.ndarray
    above: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, n_values: int, bins: int) -> "Ranks":
        """The ranks for the edges of `bins` bins of `n_values` values, 1 or more."""
        shares = np.linspace(0, 1, bins + 1)
        # pandas 3 moves shares that are not exact floats, such as 1/7, one float up, so a value on an edge is below it.
        inexact = bins * shares != np.arange(bins + 1)
        shares[inexact] = np.nextafter(shares[inexact], 1)
        rank = shares * (n_values - 1)
        below = np.floor(rank).astype(np.int64)
        return cls(below, np.minimum(below + 1, n_values - 1), rank - below)

    def edges(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The edges, from the values of the ranks `below` and `above`, interpolated as `numpy.quantile` does.

        Times, which are int64, are rounded to a whole count of their unit.
        """
        # Rounding depends on the end to start from. NumPy starts from the nearer one.
        with np.errstate(over="ignore", invalid="ignore"):  # where values lie too far apart
            step = high - low
            if step.dtype.kind == "i":
                return low + np.rint(step * self.weight).astype(np.int64)
            edges = np.where(self.weight < 0.5, low + step * self.weight, high - step * (1 - self.weight))
        edges = np.where(np.isinf(step), low * (1 - self.weight) + high * self.weight, edges)
        return edges + 0.0  # -0.0 becomes 0.0: which of the two comes first depends on the order of the values


def bin_edges(values: np.ndarray, bins: int) -> np.ndarray:
    """The edges of `bins` bins with about equally many values in each; equal edges are listed as often as they occur.

    `values` are one or more finite float64, or times as int64, in any order.

    >>> bin_edges(np.array([3.0, 1.0, 2.0, 5.0, 4.0]), 2).tolist()
    [1.0, 3.0, 5.0]
    """
    ranks = Ranks.of(len(values), bins)
    ordered = np.partition(values, np.unique([ranks.below, ranks.above]))
    return ranks.edges(ordered[ranks.below], ordered[ranks.above])


def binned_values(values: pd.Series, edges: np.ndarray) -> pd.Series:
    """The bin of each value, as an ordered category of `pandas.Interval`; null for null and beyond the edges.

    There are no bins between equal edges. A value on an edge is in the bin below it.
    """
    numbers = values.to_numpy(np.float64, na_value=np.nan)
    size = np.abs(edges[np.isfinite(edges) & (edges != 0)])
    if len(size) and (size.max() > LARGEST_ROUNDED or size.min() < 1 / LARGEST_ROUNDED):
        bins = _exact_bins(numbers, np.unique(edges))
    else:
        bins = pd.cut(numbers, pd.Index(edges), include_lowest=True, duplicates="drop")
    return pd.Series(bins, values.index, name=values.name)


def _exact_bins(numbers: np.ndarray, edges: np.ndarray) -> pd.Categorical:
    """The bins between edges that differ and that pandas cannot round, as `binned_values` has them."""
    codes = np.searchsorted(edges, numbers) - 1
    codes[numbers == edges[0]] = 0
    codes[~((numbers >= edges[0]) & (numbers <= edges[-1])) | (len(edges) == 1)] = -1
    return pd.Categorical.from_codes(codes, pd.IntervalIndex.from_breaks(edges), ordered=True)
