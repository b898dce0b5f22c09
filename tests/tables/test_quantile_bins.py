"""Quantile bins are those of pandas.qcut of pandas 3, to the bit, also of columns that are read in pieces."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.pandas_versions import quantile_bins
from spotgeo_frames.scale import quantiles
from spotgeo_frames.tables.quantile_bins import Ranks, bin_edges, binned_values

# Few distinct values make ties on every edge; many make edges between values. pandas itself cannot name bins of 1e-308.
VALUES = st.one_of(
    st.lists(st.integers(0, 6).map(float), min_size=2, max_size=200),
    st.lists(st.integers(0, 400).map(lambda tenths: tenths / 10), min_size=2, max_size=400),
    st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 6)), min_size=2, max_size=200),
).filter(lambda values: len({*values}) > 1)


def in_pieces(values: np.ndarray, bins: int) -> np.ndarray:
    """The edges of the same bins from a stream of pieces."""

    def pieces() -> Iterator[np.ndarray]:
        return (values[start : start + 7] for start in range(0, len(values), 7))

    return quantiles.streamed_edges(pieces, len(values), bins, "column")


@settings(max_examples=200)
@given(VALUES, st.integers(2, 60), st.sampled_from([3, 4096]))
def test_bins_are_those_of_pandas(values: list[float], bins: int, sample: int) -> None:
    column = pd.Series(values, name="x")
    expected = quantile_bins(column, bins)
    pd.testing.assert_series_equal(binned_values(column, bin_edges(column.to_numpy(), bins)), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantiles, "SAMPLE", sample)
        pd.testing.assert_series_equal(binned_values(column, in_pieces(column.to_numpy(), bins)), expected)


@pytest.mark.parametrize("bins", range(2, 61))
def test_every_count_of_bins_with_values_on_the_edges(bins: int) -> None:
    """Of as many values as bins and one, each edge is a value, and pandas moves inexact shares one float up."""
    for n_values in (bins + 1, 2 * bins + 1, 10 * bins + 1):
        column = pd.Series(np.arange(n_values) / 10)
        expected = quantile_bins(column, bins)
        for edges in (bin_edges(column.to_numpy(), bins), in_pieces(column.to_numpy(), bins)):
            pd.testing.assert_series_equal(binned_values(column, edges), expected)


def test_nulls_are_in_no_bin_and_types_do_not_matter() -> None:
    column = pd.Series([1, 2, None, 4, 4, 7, 9], dtype="Int64", name="x")
    edges = bin_edges(column.dropna().to_numpy(np.float64), 3)
    assert binned_values(column, edges).astype(str).tolist() == quantile_bins(column, 3).astype(str).tolist()


def test_ranks_of_many_values_are_exact() -> None:
    ranks = Ranks.of(10**12 + 1, 4)
    assert ranks.below.tolist() == [0, 25 * 10**10, 5 * 10**11, 75 * 10**10, 10**12]
