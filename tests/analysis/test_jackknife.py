"""Intervals by leaving out one sequence at a time, against plain versions of the formulas, one sequence by itself."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import spotgeo_frames as sf
from helpers.counted import TAU, counted, tracked
from helpers.plain_jackknife import Bounds, plain_error, plain_freedom, plain_reach, plain_share, plain_skewness
from helpers.problems import refused, warned


def found_in(table: pd.DataFrame, metric: str, **options: object) -> pd.Series:
    rows = sf.intervals(table, metrics=[metric], **options)  # type: ignore[arg-type]
    return rows.iloc[0]


def numbers(row: pd.Series) -> list[float]:
    return row[["estimate", "low", "high"]].astype(float).tolist()


def test_a_ratio_over_four_sequences() -> None:
    tp, fn = np.array([3, 5, 1, 8]), np.array([1, 0, 3, 2])
    row = found_in(counted(tp, fn, [0] * 4), "recall")
    assert row["estimate"] == 17 / 23
    # Without the first sequence 14 / 19, then 12 / 18, 16 / 19 and 9 / 13.
    changes = np.array([14 / 19, 12 / 18, 16 / 19, 9 / 13]) - 17 / 23
    freedom = plain_freedom(np.array([4.0, 5, 4, 10]))
    assert 1 < freedom < 3
    quantile, slope = stats.t.ppf(0.975, freedom), plain_error(changes) / (17 / 23 * 6 / 23)
    k = plain_skewness(changes, freedom)
    assert k < 0, "the third is far below the others"
    furthest = max(plain_reach(quantile, k), quantile)
    low, high = (1 / (1 + np.exp(-(np.log(17 / 6) + side * slope))) for side in (-furthest, quantile))
    assert numbers(row)[1:] == pytest.approx([low, high])
    assert row["degrees_of_freedom"] == pytest.approx(freedom)
    assert row["n_sequences"] == 4
    assert row["n_effective"] == pytest.approx(23**2 / (16 + 25 + 16 + 100))
    assert row["largest_share"] == pytest.approx(10 / 23)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9)), min_size=3, max_size=9))
def test_ratios_of_sums(rows: list[tuple[int, int, int]]) -> None:
    tp, fn, fp = np.array(rows).T
    distance = np.linspace(1, 8, len(tp))
    table = counted(tp, fn, fp, distance)
    errors = tp * distance**2 * (distance > 3) + TAU**2 * (fn + fp)
    ratios = {
        "precision": (tp, tp + fp, 1.0),
        "recall": (tp, tp + fn, 1.0),
        "f1": (2 * tp, 2 * tp + fn + fp, 1.0),
        "det_a": (tp, tp + fn + fp, 1.0),
        "mse": (errors, tp + fn + fp, TAU**2),
        "mean_distance": (tp * distance, tp, TAU),
    }
    found = sf.intervals(table, metrics=list(ratios)).set_index("metric")
    for name, (y, w, greatest) in ratios.items():
        left = (y.sum() - y) / (w.sum() - w)
        if np.ptp(left) > 1e-6 * greatest and 0 < y.sum() < greatest * w.sum():
            assert numbers(found.loc[name])[1:] == pytest.approx(plain_share(y, w.astype(float), greatest), rel=1e-6)


@pytest.mark.parametrize(("tp", "fn", "wanted"), [
    (3, 0, (0.025 ** (1 / 6), 1.0)),
    (0, 3, (0.0, 1 - 0.025 ** (1 / 6))),
    (2, 2, tuple(stats.beta.ppf([0.025, 0.975], [3, 4], [4, 3]))),
])  # fmt: skip
def test_where_six_sequences_agree_the_bounds_are_those_of_a_share_of_six(tp: int, fn: int, wanted: Bounds) -> None:
    """Of Clopper and Pearson, with 6, 0 and 3 of 6 found."""
    row = found_in(counted([tp] * 6, [fn] * 6, [0] * 6), "recall")
    assert numbers(row)[1:] == pytest.approx(wanted)


@pytest.mark.parametrize("n", [2, 5, 20, 300])
def test_flawless_tables_have_intervals_with_a_width(n: int) -> None:
    found = sf.intervals(counted([4] * n, [0] * n, [0] * n), metrics=["f1", "precision", "recall", "det_a", "mse"])
    exact = 0.025 ** (1 / n)
    assert found["low"].tolist() == pytest.approx([exact] * 4 + [0])
    assert found["high"].tolist() == pytest.approx([1] * 4 + [min(2 * TAU**2 * (1 - exact), TAU**2)])


def test_mse_of_errors_that_were_not_seen_yet() -> None:
    """Where nothing is missed, the upper bound has room for misses: tau² times what accuracy may lack."""
    distance = np.array([1, 2, 4, 5, 6, 7.0])
    row = found_in(counted([5] * 6, [0] * 6, [0] * 6, distance), "mse")
    low, high = plain_share(5 * distance**2 * (distance > 3), np.full(6, 5.0), TAU**2)
    assert numbers(row)[1:] == pytest.approx([low, high + TAU**2 * (1 - 0.025 ** (1 / 6))])
    with_a_miss = found_in(counted([5] * 6, [0] * 5 + [1], [0] * 6, distance), "mse")
    assert with_a_miss["high"] < row["high"]


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_bounds_are_those_of_any_unit(unit: float) -> None:
    """Also where one of six sequences has all the errors, and the others none, so that most are at an end."""
    table = counted([5] * 6, [0] * 5 + [3], [0] * 6, [1, 2, 4, 5, 6, 7.0])
    scaled = table.assign(distance=table["distance"] * unit, squared_error=table["squared_error"] * unit**2)
    scaled.attrs = table.attrs | {"tau": TAU * unit, "epsilon": 3.0 * unit}
    wanted = [number * unit**2 for number in numbers(found_in(table, "mse"))]
    assert numbers(found_in(scaled, "mse")) == pytest.approx(wanted)


def test_without_notes_tau_is_that_of_any_miss() -> None:
    with_notes = counted([5, 4, 3, 5, 6], [0, 1, 0, 2, 0], [0] * 5)
    lost, flawless = with_notes.copy(), counted([4] * 5, [0] * 5, [0] * 5)
    lost.attrs, flawless.attrs = {}, {}
    assert numbers(found_in(lost, "mse")) == numbers(found_in(with_notes, "mse"))
    few = "intervals: fewer than 20 sequences"
    with warned((few, "5 degrees"), ("intervals: null low and high of mse", "tau is unknown")):
        found = sf.intervals(flawless, metrics=["f1", "mse"])
    assert found.loc[0, ["low", "high"]].notna().all()
    assert found.loc[1, ["low", "high"]].isna().all()


def test_kelvins_mse_is_n_times_a_mean() -> None:
    fn = np.array([0, 1, 2, 3, 4])
    row = found_in(counted(4 - fn, fn, [0] * 5), "kelvins_mse")
    means = TAU**2 * fn / 4
    low, high = (5 * bound for bound in plain_share(means, np.ones(5), TAU**2))
    assert row["estimate"] == means.sum() == 250
    assert numbers(row)[1:] == pytest.approx([low, high])


@pytest.fixture
def own_metric() -> Iterator[Callable[..., None]]:
    def add(value: Callable) -> None:
        sf.metric("own", lambda rows: {}, value)

    yield add
    sf.metric("own", None, None)


def test_an_own_metric_has_the_interval_of_its_own_scale(own_metric: Callable[..., None]) -> None:
    own_metric(lambda sums: sums["fp"] / sums["tp"])
    tp, fp = np.array([3, 5, 1, 8]), np.array([1, 0, 3, 20])
    row = found_in(counted(tp, [0] * 4, fp), "own")
    changes = (fp.sum() - fp) / (tp.sum() - tp) - 24 / 17
    freedom = plain_freedom((tp + fp).astype(float))
    quantile, k, error = stats.t.ppf(0.975, freedom), plain_skewness(changes, freedom), plain_error(changes)
    below, above = (max(quantile, side * plain_reach(side * quantile, k)) * error for side in (1, -1))
    assert numbers(row) == pytest.approx([24 / 17, 24 / 17 - below, 24 / 17 + above])


def test_an_own_metric_that_doubles_with_the_sums_is_a_total(own_metric: Callable[..., None]) -> None:
    own_metric(lambda sums: sums["fp"] + 2 * sums["fn"])
    of_each = np.array([1, 2, 3, 10])
    row = found_in(counted([5] * 4, [0] * 4, of_each), "own")
    error = of_each.std(ddof=1) * 2  # 4 times that of the mean
    k = plain_skewness((of_each.sum() - of_each) / 3 * 4 - 16, 3)
    assert k > 0, "one sequence has most"
    above = -plain_reach(-stats.t.ppf(0.975, 3), k) * error
    assert numbers(row) == pytest.approx([16, 16 - stats.t.ppf(0.975, 3) * error, 16 + above])


def test_two_sequences_have_bounds_and_one_has_none() -> None:
    pair = counted([3, 5], [1, 0], [0, 1])
    with warned(("intervals: fewer than 20 sequences", "5 degrees")):
        found = sf.intervals(pair)
    assert found[found["metric"] != "rmse"][["low", "high"]].notna().all(axis=None)
    with warned(("intervals: only one sequence", "batch_means")):
        found = sf.intervals(pair[pair["sequence"] == 0])
    assert found["estimate"].notna().all()
    assert found[["low", "high"]].isna().all(axis=None)
    assert found["n_sequences"].eq(1).all()


def test_sequences_in_which_a_metric_is_undefined_do_not_count() -> None:
    """Two of seven sequences have no truths: recall rests on five."""
    tp, fn = np.array([3, 5, 0, 1, 8, 0, 2]), np.array([1, 0, 0, 3, 2, 0, 2])
    row = found_in(counted(tp, fn, [1] * 7), "recall")
    some = tp + fn > 0
    assert numbers(row)[1:] == pytest.approx(plain_share(tp[some], (tp + fn)[some].astype(float)))
    assert row["n_sequences"] == 7
    only_one = found_in(counted([3, 0, 0], [1, 0, 0], [1] * 3), "recall")
    assert only_one["estimate"] == 0.75
    assert only_one[["low", "high"]].isna().all()


def test_clusters_are_left_out_as_a_whole() -> None:
    tp, fn = np.arange(3, 13), np.arange(10) % 4
    table = counted(tp, fn, [0] * 10)
    table["night"] = table["sequence"] // 2
    row = found_in(table, "recall", cluster="night")
    y = tp.reshape(5, 2).sum(axis=1)
    w = (tp + fn).reshape(5, 2).sum(axis=1).astype(float)
    assert numbers(row)[1:] == pytest.approx(plain_share(y, w))
    assert row["n_sequences"] == 10
    with refused(("cluster: column nigt is missing", "night")):
        sf.intervals(table, cluster="nigt")
    with refused(("cluster: night is null in sequence 3", "fill it")):
        sf.intervals(table.assign(night=table["night"].where(table["sequence"] != 3)), cluster="night")
    with refused(("cluster: outcome differs within sequence 1", "one cluster")):
        sf.intervals(table, cluster="outcome")
    with refused(("cluster: night is null in sequence 3", "fill it")):
        nulls = table.assign(night=table["night"].where(table["sequence"] != 3))
        sf.compare({"a": nulls, "b": nulls}, cluster="night")


def test_totals_of_clusters_have_no_upper_end() -> None:
    """A cluster may have any count of sequences, so its share of the greatest total is not known."""
    fn = np.arange(40) % 5 + 5
    table = counted(10 - fn, fn, [0] * 40)
    row = found_in(table.assign(night=table["sequence"] // 4), "kelvins_mse", cluster="night")
    assert row["low"] < row["estimate"] == fn.sum() * TAU**2 / 10 < row["high"]
    assert row["high"] - row["estimate"] < 1000


def test_tracks_have_combined_numbers_the_macro_mean_and_those_without_each_sequence() -> None:
    lost = [0, 2, 4, 6, 3]
    result = tracked(lost)
    assert sf.intervals(result, metrics=["MOTA"])["aggregate"].tolist() == ["combined", "macro"]
    found = sf.intervals(result, metrics=["MOTA"], without_each=True).set_index("aggregate")
    assert found.index.tolist() == ["combined", "macro", *(f"without {k}" for k in range(5))]
    assert found["estimate"].tolist() == pytest.approx([0.85, 0.85, 0.8125, 0.8375, 0.8625, 0.8875, 0.85]), (
        "15 of 100 are lost; without the first sequence 15 of 80"
    )
    short = np.array(lost) / 20  # of 1, on whose logarithm the interval is
    reach = stats.t.ppf(0.975, 4) * short.std(ddof=1) / np.sqrt(5) / 0.15
    assert numbers(found.loc["macro"])[1:] == pytest.approx([1 - 0.15 * np.exp(reach), 1 - 0.15 * np.exp(-reach)])
    assert found["reason"].isna().tolist() == [False, True] + [False] * 5
    assert "fewer than 20 sequences" in found.loc["combined", "reason"]
    assert found.drop("macro")[["low", "high"]].isna().all(axis=None)
    assert found["n_sequences"].tolist() == [5, 5, 4, 4, 4, 4, 4]
    assert found.loc["combined", "largest_share"] == pytest.approx(0.2), "as many truths in each"


def test_from_twenty_sequences_on_combined_numbers_have_intervals() -> None:
    for n in (19, 20, 21):
        result = tracked([k % 7 for k in range(n)], 8)
        found = sf.intervals(result, metrics=["IDF1"], without_each=True).set_index("aggregate")
        assert found.loc["combined", ["low", "high"]].notna().all() == (n >= 20)
        assert len(found) == 2 + (n if n <= 20 else 0), "of more sequences, each is one among many"


def test_few_sequences_decide_the_combined_number_by_resampling_too() -> None:
    found = sf.intervals(tracked([0, 2, 4, 6, 3]), metrics=["MOTA"], method="percentile", resamples=50).set_index(
        "aggregate"
    )
    assert found.loc["combined", ["low", "high"]].isna().all()
    assert "fewer than 20 sequences" in found.loc["combined", "reason"]


def test_the_macro_mean_is_one_of_sequences_whatever_the_clusters() -> None:
    lost = [0, 2, 4, 6, 3]
    result = tracked(lost)
    found = sf.intervals(result, metrics=["MOTA"], cluster="sequence_night", without_each=True)
    found = found.set_index("aggregate")
    of_each = 1 - np.array(lost) / 20
    assert found.loc["macro", "estimate"] == pytest.approx(of_each.mean())
    assert found.index.tolist() == ["combined", "macro", "without 0", "without 1", "without 2"]
    assert found["n_sequences"].tolist() == [5, 5, 3, 3, 4]
    changes = np.array([of_each[2:].mean(), of_each[[0, 1, 4]].mean(), of_each[:4].mean()]) - of_each.mean()
    freedom, short = plain_freedom(np.array([2.0, 2, 1])), 1 - of_each.mean()
    below = max(plain_reach(stats.t.ppf(0.975, freedom), plain_skewness(changes, freedom)), stats.t.ppf(0.975, freedom))
    assert found.loc["macro", "low"] == pytest.approx(1 - short * np.exp(below * plain_error(changes) / short))


def test_where_all_sequences_agree_a_macro_mean_has_bounds_with_a_width() -> None:
    found = sf.intervals(tracked([0] * 6), metrics=["HOTA", "MOTA"]).set_index(["aggregate", "metric"])
    assert numbers(found.loc[("macro", "HOTA")]) == pytest.approx([1, 0.025 ** (1 / 6), 1])
    assert numbers(found.loc[("macro", "MOTA")])[0] == 1
    assert found.loc[("macro", "MOTA"), ["low", "high"]].isna().all(), "which has no least value"
