"""non_inferiority: whether a submission is good enough, looked at once or again and again."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import spotgeo_frames as sf
from helpers.counted import counted, tracked
from helpers.problems import refused
from spotgeo_frames.analysis.certainty import gates
from spotgeo_frames.analysis.certainty.gates import always_valid_reach

N = 10


def recall_table(found: np.ndarray | list[int]) -> pd.DataFrame:
    """Ten truths in each sequence, so many of which are found."""
    return counted(found, 10 - np.asarray(found), [0] * len(found))


OLD, NEW = recall_table([8, 7, 9, 6, 8, 7, 8, 9, 7, 6]), recall_table([8, 8, 9, 6, 7, 7, 9, 9, 7, 7])


def test_the_bound_is_the_end_of_the_interval_that_compare_gives() -> None:
    pairs = sf.compare({"new": NEW, "old": OLD}, metrics=["recall"], baseline="old").pairs
    found = sf.non_inferiority(NEW, OLD, "recall", 0.02)
    row = found.table.iloc[0]
    assert row["estimate"] == pytest.approx(0.02)
    assert row["low"] == pairs["low"].iloc[0]
    assert found.passed == (row["low"] > -0.02)
    low = -row["low"]
    assert sf.non_inferiority(NEW, OLD, "recall", low + 1e-6).passed
    assert not sf.non_inferiority(NEW, OLD, "recall", low - 1e-6).passed


def test_the_numbers_of_both_sides_come_with_the_answer() -> None:
    held = gates.inferiority(NEW, OLD, "recall", 0.02, always_valid=False)
    assert held.values == pytest.approx((0.77, 0.75))
    assert held.answer.table["estimate"].iloc[0] == pytest.approx(0.77 - 0.75)


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


def test_six_sequences_are_needed() -> None:
    good, bad = [9, 9, 8, 9, 7, 9], [3, 2, 4, 3, 1, 2]
    assert sf.non_inferiority(recall_table(good), recall_table(bad), "recall", 0.0).passed
    found = sf.non_inferiority(recall_table(good[:5]), recall_table(bad[:5]), "recall", 0.5)
    assert not found.passed
    assert "5 sequences are too few: swapping gives no p-value below 0.062" in found.table["reason"].iloc[0]


def test_the_same_rows_pass_every_margin() -> None:
    """However few they are, and in whatever order; equal sums of other rows say less."""
    few = recall_table([8, 7])
    for x in (few, few.sample(frac=1, random_state=1)):
        for always_valid in (False, True):
            found = sf.non_inferiority(x, few, "mse", 0, always_valid=always_valid)
            assert found.passed
            assert found.table[["estimate", "low"]].iloc[0].tolist() == [0, 0]
    moved = few.assign(truth_x=np.arange(20.0))
    others = moved.assign(predicted_x=moved["truth_x"].where(moved["outcome"] == "TP"))
    swapped = others.assign(predicted_x=others["predicted_x"] + 1)
    found = sf.non_inferiority(swapped, others, "recall", 0.0)
    assert not found.passed
    assert found.table["reason"].notna().all()


def test_a_reason_of_the_pairs_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> pd.DataFrame:
        return pd.DataFrame({"estimate": [0.1], "low": [np.nan], "high": [np.nan], "reason": ["only 1 of 10 differ"]})

    monkeypatch.setattr(gates, "pair_table", unknown)
    assert sf.non_inferiority(NEW, OLD, "recall", 0.5).table["reason"].tolist() == ["only 1 of 10 differ"]


def test_an_undefined_metric_does_not_pass() -> None:
    nothing = counted([0] * N, [10] * N, [0] * N)
    found = sf.non_inferiority(nothing, OLD, "precision", 1.0)
    assert found.table["reason"].tolist() == ["the metric is not defined"]


def test_tracks_and_polars_have_gates() -> None:
    new, old = tracked([0, 1, 2, 3, 1, 0]), tracked([2, 4, 3, 6, 5, 3])
    found = sf.non_inferiority(new, old, "MOTA", 0.1)
    assert found.passed
    assert found.table["estimate"].iloc[0] == pytest.approx((23 - 7) / 120)
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


def test_always_valid_bounds_are_those_of_a_sequential_t_test() -> None:
    """Of equal sequences, with as many worse ones as it takes: so many standard errors below the mean."""
    new, old = np.array([7, 9, 6, 8, 7, 9, 8, 6, 9, 7]), np.array([8, 7, 7, 7, 8, 7, 7, 7, 7, 8])
    found = sf.non_inferiority(recall_table(new), recall_table(old), "recall", 0.3, always_valid=True)
    apart = (new - old) / 10
    row, error = found.table.iloc[0], apart.std(ddof=1) / np.sqrt(N)
    assert (apart < 0).sum() >= 4
    assert row["estimate"] == pytest.approx(apart.mean())
    assert stats.skew(apart) > 0, "a long tail below would ask for more"
    assert row["low"] == pytest.approx(apart.mean() - always_valid_reach(N, 0.025) * error)
    assert row["low"] < sf.non_inferiority(recall_table(new), recall_table(old), "recall", 0.3).table["low"].iloc[0]


def test_one_sequence_has_no_bound_at_any_time() -> None:
    found = sf.non_inferiority(recall_table([9]), recall_table([8]), "kelvins_mse", 0.1, always_valid=True)
    assert not found.passed
    assert found.table["low"].isna().all()


def test_what_was_not_seen_may_be_worse() -> None:
    """A submission that was never worse passes no small margin at once, and says why."""
    fixed = sf.non_inferiority(recall_table([8] * 20), recall_table([8] * 18 + [2] * 2), "recall", 0.05)
    found = sf.non_inferiority(
        recall_table([8] * 20), recall_table([8] * 18 + [2] * 2), "recall", 0.05, always_valid=True
    )
    assert fixed.table["estimate"].iloc[0] == found.table["estimate"].iloc[0]
    assert not found.passed
    assert "worse in only 0 of 20 sequences" in repr(found)
    many = [8] * 380 + [2] * 20
    assert sf.non_inferiority(recall_table([8] * 400), recall_table(many), "recall", 0.05, always_valid=True).passed


def test_what_was_not_seen_is_unknown_of_a_metric_without_a_range() -> None:
    sf.metric("odds", lambda rows: {}, lambda sums: sums["tp"] / sums["fn"])
    try:
        pair = recall_table([8, 9] * 10), recall_table([8] * 20)
        row = sf.non_inferiority(*pair, "odds", 0.1, always_valid=True).table.iloc[0]
    finally:
        sf.metric("odds", None, None)
    assert np.isnan(row["low"])
    assert "worse in only 0 of 20 sequences: too few to say how bad others may be" in row["reason"]


def test_few_sequences_have_no_always_valid_bound() -> None:
    found = sf.non_inferiority(
        recall_table([8, 7, 9, 8, 7]), recall_table([7, 9, 8, 9, 8]), "recall", 0.9, always_valid=True
    )
    assert not found.passed
    assert "too few for an always-valid bound" in found.table["reason"].iloc[0]
