"""non_inferiority and sample_size: whether a submission is good enough, and how many sequences tell."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import spotgeo_frames as sf
from helpers.counted import counted, tracked
from helpers.problems import refused

N = 10


def recall_table(found: np.ndarray | list[int]) -> pd.DataFrame:
    """Ten truths in each sequence, so many of which are found."""
    return counted(found, 10 - np.asarray(found), [0] * len(found))


OLD, NEW = recall_table([8, 7, 9, 6, 8, 7, 8, 9, 7, 6]), recall_table([8, 8, 9, 6, 7, 7, 9, 9, 7, 7])


def test_the_bound_is_that_of_a_two_sided_interval_of_90_percent() -> None:
    pairs = sf.compare({"new": NEW, "old": OLD}, metrics=["recall"], baseline="old", confidence=0.9).pairs
    found = sf.non_inferiority(NEW, OLD, "recall", 0.02)
    row = found.table.iloc[0]
    assert row["estimate"] == pytest.approx(0.02)
    assert row["low"] == pairs["low"].iloc[0]
    assert found.passed == (row["low"] > -0.02)
    low = -row["low"]
    assert sf.non_inferiority(NEW, OLD, "recall", low + 1e-6).passed
    assert not sf.non_inferiority(NEW, OLD, "recall", low - 1e-6).passed


def test_less_is_better_where_the_registry_says_so() -> None:
    better = sf.non_inferiority(NEW, OLD, "mse", 3.0).table.iloc[0]
    worse = sf.non_inferiority(OLD, NEW, "mse", 3.0).table.iloc[0]
    assert better["estimate"] == pytest.approx(2.0), "mse is 100 times the share that is missed"
    assert worse["estimate"] == pytest.approx(-2.0)
    assert worse["low"] < -2
    assert worse["low"] < better["low"] < 2


def test_a_gate_that_is_not_passed_says_why() -> None:
    bad = recall_table([2] * 9 + [3])
    found = sf.non_inferiority(bad, OLD, "recall", 0.05)
    assert not found.passed
    assert "not passed: it may be worse by 0.6" in repr(found)
    assert "more than the margin of 0.05" in repr(found)
    with pytest.raises(AssertionError, match="not passed: it may be worse"):
        assert found.passed, found
    assert "passed (" in repr(sf.non_inferiority(OLD, bad, "recall", 0.0))


def test_five_sequences_are_needed() -> None:
    good, bad = [9, 9, 8, 9, 10], [3, 2, 4, 3, 1]
    assert sf.non_inferiority(recall_table(good), recall_table(bad), "recall", 0.0).passed
    found = sf.non_inferiority(recall_table(good[:4]), recall_table(bad[:4]), "recall", 0.5)
    assert not found.passed
    assert found.table["reason"].iloc[0] == "4 sequences are too few for a bound; five are needed"


def test_an_undefined_metric_does_not_pass() -> None:
    nothing = counted([0] * N, [10] * N, [0] * N)
    found = sf.non_inferiority(nothing, OLD, "precision", 1.0)
    assert found.table["reason"].tolist() == ["the metric is not defined"]


def test_tracks_and_polars_have_gates() -> None:
    new, old = tracked([0, 1, 2, 3, 1, 0]), tracked([2, 4, 2, 6, 5, 3])
    found = sf.non_inferiority(new, old, "MOTA", 0.1)
    assert found.passed
    assert found.table["estimate"].iloc[0] == pytest.approx((22 - 7) / 120)
    of_polars = sf.non_inferiority(pl.from_pandas(NEW), pl.from_pandas(OLD), "recall", 0.02)
    assert isinstance(of_polars.table, pl.DataFrame)
    assert "recall" in repr(of_polars)


def test_what_gates_refuse() -> None:
    for margin in (-0.01, "high", True, np.nan):
        with refused(("margin", repr(margin)), error=ValueError):
            sf.non_inferiority(NEW, OLD, "recall", margin)  # type: ignore[arg-type]
    with refused(("metric", "'tp'"), error=ValueError):
        sf.non_inferiority(NEW, OLD, "tp", 1)
    with refused(("metrics", "'recal'", "recall"), error=ValueError):
        sf.non_inferiority(NEW, OLD, "recal", 1)
    moved = OLD.assign(frame=OLD["frame"].mask(OLD["sequence"] == 3, 2))
    with refused(("non_inferiority: 20 truths", "x", "baseline")):
        sf.non_inferiority(NEW, moved, "recall", 0.1)
    for wrong in ({"margin": 0}, {"margin": 0.1, "power": 1.0}):
        with refused([*wrong][-1], error=ValueError):
            sf.sample_size(NEW, "recall", **wrong)  # type: ignore[arg-type]


def test_sample_size_of_a_pilot() -> None:
    """The standard error is that of the pilot, and shrinks with the root of the count of sequences."""
    difference = np.array([0, 1, 0, 0, -1, 0, 1, 0, 0, 1]) / 10
    row = sf.sample_size(NEW, "recall", 0.02, baseline=OLD).iloc[0]
    assert row["standard_error"] == pytest.approx(difference.std(ddof=1) / np.sqrt(N))
    assert row["n_pilot"] == N
    n, error = row["n_sequences"], row["standard_error"] * np.sqrt(N)

    def reach(n_sequences: int) -> float:
        return (stats.t.ppf(0.975, n_sequences - 1) + stats.t.ppf(0.8, n_sequences - 1)) * error / np.sqrt(n_sequences)

    assert reach(n) <= 0.02 < reach(n - 1)
    more = sf.sample_size(NEW, "recall", 0.02, baseline=OLD, power=0.95)["n_sequences"].iloc[0]
    assert more > n
    assert sf.sample_size(NEW, "recall", 0.9, baseline=OLD)["n_sequences"].iloc[0] == 6, "fewer cannot be tested"


def test_without_a_baseline_two_are_taken_to_be_as_variable_as_the_pilot() -> None:
    found = np.array([8, 8, 9, 6, 7, 7, 9, 9, 7, 7]) / 10
    row = sf.sample_size(NEW, "recall", 0.02).iloc[0]
    assert row["standard_error"] == pytest.approx(np.sqrt(2) * found.std(ddof=1) / np.sqrt(N))
    one = sf.sample_size(NEW[NEW["sequence"] == 0], "recall", 0.02).iloc[0]
    assert np.isnan(one["standard_error"])
    assert pd.isna(one["n_sequences"])


def test_as_many_sequences_as_were_asked_for_see_the_difference() -> None:
    random, seen = np.random.default_rng(6), 0
    n = int(sf.sample_size(NEW, "recall", 0.06, baseline=OLD)["n_sequences"].iloc[0])
    steps = np.array([0, 1, 0, 0, -1, 0, 1, 0, 0, 1]) - 0.2  # as in the pilot, but with a mean of 0
    for seed in range(60):
        old = np.full(n, 50)
        new = np.round(old + 10 * (random.choice(steps, n) + 0.6)).astype(int)
        tables = {"new": counted(new, 100 - new, [0] * n), "old": counted(old, 100 - old, [0] * n)}
        seen += sf.compare(tables, metrics=["recall"], resamples=500, seed=seed).pairs["p_value"].iloc[0] <= 0.05
    assert seen / 60 >= 0.7
