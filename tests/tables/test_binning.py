"""Bins between edges that the caller gives, and bins of times."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.scenes import objects
from spotgeo_frames.support.texts import bins_as_text
from spotgeo_frames.tables.binning import checked_bins, in_bins, quantile_edges

INF = float("inf")


def texts(values: pd.Series) -> list[str | None]:
    return [None if pd.isna(text) else str(text) for text in bins_as_text(values.to_frame("v"))["v"]]


def cut(values: Any, edges: Any) -> list[str | None]:
    """The bins of values between edges, as text."""
    checked = checked_bins("v", edges)
    assert isinstance(checked, pd.Index)
    return texts(in_bins(pd.Series(values, name="v"), checked))


def test_a_value_on_an_edge_is_in_the_bin_below_it_and_one_beyond_all_edges_in_none() -> None:
    values = [-1.0, 0.0, 10.0, 50.0, 50.5, 90.0, np.nan]
    assert cut(values, [0, 50, 90]) == [None, "0 to 50", "0 to 50", "0 to 50", "50 to 90", "50 to 90", None]
    assert cut(values, [-INF, 50, INF]) == ["-inf to 50"] * 4 + ["50 to inf"] * 2 + [None]
    assert cut([-INF, 3.0, INF], [-INF, 3, INF]) == ["-inf to 3", "-inf to 3", "3 to inf"]


def test_edges_are_in_labels_as_they_were_given() -> None:
    assert cut([0.12345], [0.1234, 0.123456, 1234567.891]) == ["0.1234 to 0.123456"]
    assert cut(pd.Series([3, None], dtype="Int64"), np.array([1, 5])) == ["1 to 5", None]


@given(
    st.lists(st.floats(-100, 100) | st.sampled_from([0.0, 50.0, np.nan]), max_size=30),
    st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True).map(sorted),
)
def test_edges_cut_as_pandas_does(values: list[float], edges: list[int]) -> None:
    column = pd.Series(values, dtype=float, name="v")
    checked = checked_bins("v", edges)
    assert isinstance(checked, pd.Index)
    expected = pd.cut(column, edges, include_lowest=True).cat.codes
    pd.testing.assert_series_equal(in_bins(column, checked).cat.codes, expected)


TIMES = pd.Series(["2024-01-01", "2024-03-01", "2024-06-01 12:00", None, "2024-12-31"], name="v").astype("M8[us]")


@pytest.mark.parametrize(
    "values",
    [
        TIMES,
        TIMES.astype("datetime64[s]"),
        TIMES.dt.tz_localize("Europe/Berlin"),
        TIMES.dt.date.astype(object),
        TIMES.astype(pd.ArrowDtype(pa.timestamp("us"))),
        TIMES.dt.date.astype(pd.ArrowDtype(pa.date32())),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "edges",
    [
        ["2024-01-01", "2024-06-01", "2025-01-01"],
        [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-06-01"), pd.Timestamp("2025-01-01")],
        [datetime.date(2024, 1, 1), datetime.date(2024, 6, 1), datetime.date(2025, 1, 1)],
        np.array(["2024-01-01", "2024-06-01", "2025-01-01"], "datetime64[D]"),
    ],
    ids=["text", "Timestamp", "date", "array"],
)
def test_times_have_edges(values: pd.Series, edges: Any) -> None:
    is_date = values.dtype == object or "date32" in str(values.dtype)
    checked = checked_bins("v", edges)
    assert isinstance(checked, pd.Index)
    assert in_bins(values, checked).cat.codes.tolist() == [0, 0, 0 if is_date else 1, -1, 1]


def test_times_have_quantile_bins() -> None:
    times = pd.Series([*pd.date_range("2024-01-01", periods=9, freq="7h"), pd.NaT], name="v")
    for values in (times, times.dt.tz_localize("Asia/Tokyo"), times - times[0]):
        edges = quantile_edges(values, 4)
        assert edges is not None
        assert in_bins(values, edges).cat.codes.tolist() == pd.qcut(values, 4).cat.codes.tolist()
    exact = pd.Series(pd.to_datetime([1, 2, 3, 1_700_000_000_000_000_001, 1_700_000_000_000_000_003]))
    edges = quantile_edges(exact, 2)
    assert edges is not None
    assert in_bins(exact, edges).cat.codes.tolist() == [0, 0, 0, 1, 1]


def test_durations_have_edges() -> None:
    assert cut(pd.to_timedelta(["1h", "3h", None]), ["0h", "2h", "1 day"])[2] is None
    checked = checked_bins("v", [pd.Timedelta("0h"), pd.Timedelta("2h"), pd.Timedelta("1D")])
    assert isinstance(checked, pd.Index)
    assert in_bins(pd.Series(pd.to_timedelta(["1h", "3h"])), checked).cat.codes.tolist() == [0, 1]


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [5],
        [0, 0, 5],
        [5, 0],
        [0, float("nan"), 5],
        [0, "a"],
        ["a", "b"],
        [True, False],
        [False, True],
        [None, 5],
        [[0, 1], [2, 3]],
        ["2024-02-01", "2024-01-01"],
        [0, pd.Timestamp("2024-01-01")],
    ],
    ids=str,
)
def test_edges_that_are_none_are_refused(edges: Any) -> None:
    with refused(("by: truth_h", "edges")):
        checked_bins("truth_h", edges)


@pytest.mark.parametrize("bins", ["4", 4.0, True, b"x", 1, 1001, {}, set()], ids=str)
def test_bins_that_are_none_are_refused(bins: Any) -> None:
    with refused("by: truth_h"):
        checked_bins("truth_h", bins)


def test_edges_that_do_not_fit_the_column_are_refused() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 50, 0)], name=["a", "b"], at=pd.to_datetime(["2024-01-01", "2024-01-02"]))
    matches = sf.match(truth, truth[["sequence", "frame", "object", "x", "y"]])
    for column, edges, named in (
        ("truth_name", [0, 5], "numbers"),
        ("truth_at", [0, 5], "numbers"),
        ("truth_x", ["2024-01-01", "2024-01-02"], "times"),
        ("truth_at", ["1h", "2h"], "durations"),
        ("truth_at", ["2024-01-01T00:00Z", "2024-01-02T00:00Z"], "time zone"),
    ):
        with refused((f"column {column}", named)):
            sf.summarize(matches, by={column: edges})
    with refused(("match table", "truth_nam")):
        sf.summarize(matches, by={"truth_nam": [0, 5]})
