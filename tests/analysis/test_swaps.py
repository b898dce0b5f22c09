"""Comparisons by swapping sequences, against a plain loop over all swaps of counted sequences."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import spotgeo_frames as sf
from helpers.counted import TAU, counted, tracked
from helpers.plain_jackknife import plain_difference, plain_error, plain_reach, plain_skewness
from helpers.problems import warned
from helpers.scenes import objects

Counts = Sequence[Sequence[int]]  # tp, fn, fp of each sequence
METRICS = ["precision", "recall", "f1"]


def parts(counts: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """The numerator and denominator of a metric in each sequence."""
    tp, fn, fp = counts.T.astype(float)
    return {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "f1": (2 * tp, 2 * tp + fn + fp)}[metric]


def ratio(counts: np.ndarray, metric: str) -> float:
    y, w = parts(counts, metric)
    return y.sum() / w.sum() if w.sum() else np.nan


def plain_statistic(a: np.ndarray, b: np.ndarray, metric: str) -> tuple[float, float]:
    """|t| of the difference and its standard error, from what each sequence contributes."""
    n, contributions = len(a), np.zeros(len(a))
    for side, sign in ((a, 1), (b, -1)):
        y, w = parts(side, metric)
        if not w.sum():
            return np.inf, np.nan
        contributions += sign * (y - y.sum() / w.sum() * w) / w.sum()
    difference = ratio(a, metric) - ratio(b, metric)
    squares = (contributions**2).sum() - contributions.sum() ** 2 / n
    error = np.sqrt(n / (n - 1) * squares) if squares > 1e-12 else 0.0
    if abs(difference) < 1e-9:
        return 0.0, error
    return (abs(difference) / error if error else np.inf), error


def plain_test(a: np.ndarray, b: np.ndarray) -> pd.DataFrame:
    """estimate, low, high, p_value and p_adjusted of each metric, by going through all swaps."""
    n, statistics = len(a), []
    for swapped in product((False, True), repeat=n):
        where = np.array(swapped)[:, None]
        sides = np.where(where, b, a), np.where(where, a, b)
        statistics.append([plain_statistic(*sides, metric)[0] for metric in METRICS])
    t = np.array(statistics)  # the observed arrangement first
    of_swaps = np.array([(t >= of * (1 - 1e-9)).mean(axis=0) for of in t])
    left_out = [plain_difference(parts(a, metric), parts(b, metric)) for metric in METRICS]
    p_values = np.array([max(of_swaps[0, k], left_out[k][2]) for k in range(len(METRICS))])
    rows = []
    for k, metric in enumerate(METRICS):
        error = plain_statistic(a, b, metric)[1]
        quantile = np.sort(t[:, k])[::-1][int(0.05 * 2**n)]
        estimate = ratio(a, metric) - ratio(b, metric)
        low, high = left_out[k][:2]
        if error:  # else there may be no quantile either
            low, high = min(low, estimate - quantile * error), max(high, estimate + quantile * error)
        if p_values[k] > 0.05:
            low, high = min(low, 0.0), max(high, 0.0)
        together = plain_together(t, of_swaps, p_values)[k]
        bounds = (max(low, -1.0), min(high, 1.0)) if n >= 6 else (np.nan, np.nan)
        rows.append([estimate, *bounds, p_values[k], together])
    return pd.DataFrame(rows, METRICS, ["estimate", "low", "high", "p_value", "p_adjusted"])


def plain_together(t: np.ndarray, of_swaps: np.ndarray, p_values: np.ndarray) -> list[float]:
    """p_adjusted of each test: 1 where all swaps have the same |t|, and stepped among the others."""
    some = [k for k in range(len(p_values)) if not np.allclose(t[:, k], t[0, k], rtol=1e-9, atol=0)]
    t, of_swaps, p_some = t[:, some], of_swaps[:, some], p_values[some]
    by_largest = stepped(-t[0], lambda of, left: (t[:, left].max(axis=1) >= t[0, of] * (1 - 1e-9)).mean())
    by_least = stepped(p_some, lambda of, left: (of_swaps[:, left].min(axis=1) <= p_some[of] + 1e-9).mean())
    by_holm = stepped(p_some, lambda of, left: min(len(left) * p_some[of], 1.0))
    answer = [1.0] * len(p_values)
    for place, k in enumerate(some):
        answer[k] = max(by_largest[place], min(max(by_least[place], p_some[place]), by_holm[place]))
    return answer


def stepped(strengths: np.ndarray, chance: Callable[[int, np.ndarray], float]) -> list[float]:
    """The chance of each test among those that are left, step by step from the least of `strengths`, made to rise."""
    answer, highest = [0.0] * len(strengths), 0.0
    order = np.argsort(strengths, kind="stable")
    for place, of in enumerate(order):
        highest = answer[of] = max(highest, chance(of, order[place:]))
    return answer


def table(counts: np.ndarray, others: np.ndarray) -> pd.DataFrame:
    """The match table of counts, with an empty row for sequences that only the other side has rows of."""
    matches = counted(*counts.T)
    empty = np.flatnonzero(~counts.any(axis=1) & others.any(axis=1))
    rows = pd.DataFrame({"sequence": empty, "frame": 1, "outcome": pd.Categorical(["empty"] * len(empty))})
    rows["outcome"] = rows["outcome"].cat.set_categories(matches["outcome"].cat.categories)
    answer = pd.concat([matches, rows]).sort_values("sequence", kind="stable", ignore_index=True)
    answer.attrs = matches.attrs
    return answer


def compared(a: np.ndarray, b: np.ndarray, metrics: Sequence[str] = METRICS) -> pd.DataFrame:
    """The pair's row of each metric, as a minus b."""
    pairs = sf.compare({"a": table(a, b), "b": table(b, a)}, metrics=list(metrics), baseline="b").pairs
    return pairs.set_index("metric")[["estimate", "low", "high", "p_value", "p_adjusted"]]


def both(rows: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """tp, fn and fp of two detectors from counts of truths, of those that each finds, and of its false alarms."""
    n_truth, *others = np.array(rows).T
    of_a, of_b, fp_a, fp_b = others
    sides = [(np.minimum(found, n_truth), fp) for found, fp in ((of_a, fp_a), (of_b, fp_b))]
    a, b = (np.stack([tp, n_truth - tp, fp], axis=1) for tp, fp in sides)
    return a, b


def pairs_of(n_sequences: int) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    few = st.integers(0, 6)
    row = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), few, few)
    return st.lists(row, min_size=n_sequences, max_size=n_sequences).map(both)


@settings(max_examples=25)
@given(st.integers(4, 8).flatmap(pairs_of))
def test_all_swaps_are_those_of_a_plain_loop(sides: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = sides
    assume((a != b).any(axis=1).all())
    wanted = plain_test(a, b)
    errors = np.array([plain_statistic(a, b, metric)[1] for metric in METRICS])
    assume((errors > 1e-3).all())
    found = compared(a, b)
    np.testing.assert_allclose(found.to_numpy(), wanted.to_numpy(), rtol=1e-4, atol=1e-6)


@settings(max_examples=40)
@given(st.integers(2, 16).flatmap(pairs_of))
def test_intervals_and_p_values_agree(sides: tuple[np.ndarray, np.ndarray]) -> None:
    assume((sides[0] != sides[1]).any())  # the same rows differ by 0, however few
    found = compared(*sides)
    assert found["p_value"].between(0, 1, inclusive="right").all()
    assert (found["p_adjusted"] >= found["p_value"]).all()
    known = found["low"].notna()
    assert known.all() if len(sides[0]) >= 6 else not known.any()
    excludes = (found["low"] > 0) | (found["high"] < 0)
    assert (excludes == (found["p_value"] <= 0.05))[known].all()


def test_all_sequences_better_is_as_rare_as_swaps_can_say() -> None:
    """Of 64 arrangements, only the observed one and its mirror image are as large."""
    good, bad = np.array([[9, 1, 0]] * 6), np.array([[2, 8, 0], [3, 7, 0], [1, 9, 0], [2, 8, 0], [4, 6, 0], [3, 7, 0]])
    row = compared(good, bad, ["recall"]).loc["recall"]
    assert row["p_value"] == 2 / 64
    assert row["low"] > 0
    five = compared(good[:5], bad[:5], ["recall"]).loc["recall"]
    assert five["p_value"] == 2 / 32
    assert five[["low", "high"]].isna().all()


def test_as_many_sequences_as_can_be_significant_are_no_few() -> None:
    """The least p-value of six is 2 / 64: at a confidence of 1 - 2 / 64 they tell the better one, and not above it."""
    good, bad = np.array([[9, 1, 0]] * 6), np.array([[2, 8, 0], [3, 7, 0], [1, 9, 0], [2, 8, 0], [4, 6, 0], [3, 7, 0]])
    sides = {"a": table(good, bad), "b": table(bad, good)}
    at, above = (
        sf.compare(sides, metrics=["recall"], baseline="b", confidence=confidence).pairs.iloc[0]
        for confidence in (1 - 2 / 64, 1 - 1 / 64)
    )
    assert at["p_value"] == above["p_value"] == 2 / 64
    assert at["low"] > 0
    assert pd.isna(above["low"])
    assert "6 sequences are too few" in above["reason"]


def test_the_same_rows_differ_by_0_however_few_the_sequences_are() -> None:
    """But for a metric that is not defined, which says so."""
    missed = counted([0] * 3, [2] * 3, [0] * 3)
    pairs = sf.compare({"a": missed, "b": missed}, metrics=["recall", "precision"]).pairs.set_index("metric")
    assert pairs.loc["recall", ["estimate", "low", "high", "p_value"]].tolist() == [0, 0, 0, 1]
    assert pd.isna(pairs.loc["recall", "reason"])
    assert pairs.loc["precision", ["estimate", "low", "high", "p_value"]].isna().all()
    assert "not defined" in pairs.loc["precision", "reason"]


def test_too_few_sequences_say_how_small_a_p_value_can_be() -> None:
    a, b = (counted([tp] * 4, [9 - tp] * 4, [0] * 4) for tp in (9, 3))
    with warned(("compare: fewer than 20 sequences", "no p-value can be below 0.12")):
        sf.compare({"a": a, "b": b}, metrics=["f1"])


def test_a_standard_error_of_zero() -> None:
    """All sequences differ by the same amount: only swapping all or none gives so much."""
    row = compared(np.array([[9, 1, 0]] * 8), np.array([[5, 5, 0]] * 8), ["recall"]).loc["recall"]
    assert row["p_value"] == 2 / 256
    assert row[["low", "high"]].isna().all(), "nothing tells by how much others differ"


def test_swaps_that_leave_nothing_to_divide_by_count_as_large() -> None:
    """The second detector predicts in one sequence only; swapping that one leaves the first without predictions."""
    a, b = np.array([[3, 0, 1]] + [[0, 3, 0]] * 6), np.array([[2, 1, 0]] + [[1, 2, 2]] * 6)
    found = sf.compare({"a": table(a, b), "b": table(b, a)}, metrics=METRICS, baseline="b").pairs.set_index("metric")
    assert found["estimate"].notna().all()
    assert found.drop("precision")["p_value"].notna().all()
    assert found.loc["precision", ["low", "high", "p_value", "p_adjusted"]].isna().all()
    assert "not defined without one of the sequences" in found.loc["precision", "reason"]
    nothing = compared(np.array([[0, 3, 0]] * 7), b)
    assert nothing.loc["precision"].isna().all(), "of the first there is no precision"
    assert nothing.loc["recall"].notna().all()


def test_a_table_compared_with_itself() -> None:
    counts = np.array([[3, 1, 2], [1, 0, 0], [0, 2, 1], [4, 4, 0], [1, 1, 1], [2, 0, 3], [5, 1, 0]])
    found = compared(counts, counts)
    assert found[["estimate", "low", "high"]].eq(0).all(axis=None)
    assert found[["p_value", "p_adjusted"]].eq(1).all(axis=None)
    result = tracked([0, 2, 4, 6, 3, 1])
    pairs = sf.compare({"a": result, "b": result}).pairs
    shown = pairs[pairs["aggregate"].isin(["combined", "macro"])]
    assert shown[["estimate", "low", "high"]].eq(0).all(axis=None)
    assert shown[["p_value", "p_adjusted"]].eq(1).all(axis=None)
    assert pairs["estimate"].eq(0).all()


def test_clusters_are_swapped_as_a_whole() -> None:
    """Twelve sequences in three nights: no p-value is below 2 / 8, nor any bound known."""
    a, b = counted([9] * 12, [1] * 12, [0] * 12), counted([5] * 12, [5] * 12, np.arange(12))
    nights = {name: of.assign(night=of["sequence"] // 4) for name, of in (("a", a), ("b", b))}
    row = sf.compare(nights, metrics=["recall"], cluster="night").pairs.iloc[0]
    assert row["p_value"] == 2 / 8
    assert np.isnan(row["low"])
    assert sf.compare(nights, metrics=["recall"]).pairs["p_value"].iloc[0] == 2 / 4096


def test_macro_rows_leave_out_the_sequences_own_values() -> None:
    lost = {"a": [0, 2, 4, 6, 3, 0, 1], "b": [1, 5, 3, 9, 5, 3, 3]}
    results = {name: tracked(of) for name, of in lost.items()}
    assert {*sf.compare(results, metrics=["MOTA"]).pairs["aggregate"]} == {"combined", "macro"}
    pairs = sf.compare(results, metrics=["MOTA", "IDF1"], without_each=True).pairs
    assert pairs["aggregate"].tolist() == [
        of for of in ("combined", "macro", *(f"without {k}" for k in range(7))) for _ in range(2)
    ]
    rows = pairs[pairs["metric"] == "MOTA"].set_index("aggregate")
    apart = (np.array(lost["b"]) - np.array(lost["a"])) / 20
    changes = (apart.sum() - apart) / 6 - apart.mean()
    k, quantile, error = plain_skewness(changes, 6), stats.t.ppf(0.975, 6), plain_error(changes)
    assert error == pytest.approx(apart.std(ddof=1) / np.sqrt(7)), "the standard error of a paired t test"
    low, high = (
        apart.mean() - side * max(quantile, side * plain_reach(side * quantile, k)) * error for side in (1, -1)
    )
    assert rows.loc["macro", ["estimate", "low", "high"]].tolist() == pytest.approx([13 / 140, low, high])
    t = apart.mean() / error
    wanted = 2 * stats.t.sf(min(t, t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6), 6)
    assert rows.loc["macro", "p_value"] == pytest.approx(wanted)
    assert rows.loc["without 3", "estimate"] == pytest.approx((20 - 10) / 120)
    assert rows.loc["without 3", ["low", "high", "p_value", "p_adjusted"]].isna().all()
    assert "not a test" in rows.loc["without 3", "reason"]


def test_where_all_sequences_differ_by_the_same_amount_a_macro_p_value_is_that_of_signs() -> None:
    pairs = sf.compare({"a": tracked([0] * 6), "b": tracked([2] * 6)}, metrics=["MOTA"]).pairs
    row = pairs[pairs["aggregate"] == "macro"].iloc[0]
    assert row["estimate"] == pytest.approx(0.1)
    assert row["p_value"] == 2 / 64
    assert row[["low", "high"]].isna().all(), "nothing tells how much others differ"
    one = sf.compare({"a": tracked([0]), "b": tracked([2])}, metrics=["MOTA"]).pairs
    assert one["p_value"].tolist() == [1, 1]


def test_more_than_twenty_sequences_are_not_left_out_one_by_one() -> None:
    lost = [k % 5 for k in range(21)]
    pairs = sf.compare({"a": tracked(lost, 6), "b": tracked([0] * 21, 6)}, metrics=["MOTA"]).pairs
    assert pairs["aggregate"].tolist() == ["combined", "macro"]


def test_drawn_swaps_come_close_to_all() -> None:
    random = np.random.default_rng(4)
    a, b = both(np.column_stack([random.integers(5, 9, 13), random.integers(0, 9, (13, 4))]))
    pairs = sf.compare({"a": table(a, b), "b": table(b, a)}, metrics=METRICS, baseline="b").pairs
    signs = np.array(list(product((False, True), repeat=13)))[..., None]
    for metric, p_value in zip(METRICS, pairs["p_value"], strict=True):
        t = [plain_statistic(np.where(s, b, a), np.where(s, a, b), metric)[0] for s in signs[::4]]
        observed = plain_statistic(a, b, metric)[0]
        exact = max(
            np.mean(np.array(t) >= observed * (1 - 1e-9)), plain_difference(parts(a, metric), parts(b, metric))[2]
        )
        assert p_value == pytest.approx(exact, abs=0.03)


def test_differences_stay_inside_what_is_possible() -> None:
    good, bad = np.array([[10, 0, 0]] * 6 + [[8, 2, 0]]), np.array([[0, 10, 0]] * 6 + [[2, 8, 0]])
    row = compared(good, bad, ["recall"]).loc["recall"]
    assert row["estimate"] < row["high"] == 1


def test_where_few_sequences_differ_the_bounds_are_how_many_others_may() -> None:
    """Two of 40 equal sequences are lost by the second: of Clopper and Pearson, none may favour it, or some."""
    a, b = np.array([[5, 5, 0]] * 40), np.array([[5, 5, 0]] * 38 + [[0, 10, 0]] * 2)
    row = compared(a, b, ["recall"]).loc["recall"]
    favour_a, favour_b = (stats.beta.ppf(0.975, k + 1, 40 - k) for k in (2, 0))
    assert row[["low", "high"]].tolist() == pytest.approx([-favour_b, favour_a])
    assert row["p_value"] == pytest.approx(0.5, abs=0.05), "either both change sides, or neither"


def test_where_one_submission_hardly_errs_others_may_be_lost() -> None:
    """Twelve of 60 sequences lack one object, against none: others of the flawless detector may be lost wholly."""
    flawless, other = np.array([[9, 0, 0]] * 60), np.array([[8, 1, 0]] * 12 + [[9, 0, 0]] * 48)
    row = compared(flawless, other, ["recall"]).loc["recall"]
    share = 12 / 540
    assert row["low"] == pytest.approx(share - (1 - 0.025 ** (1 / 60)))
    assert row["p_value"] == pytest.approx(2 * (1 - share) ** 60)


def test_a_third_submission_that_makes_two_unknown_is_named() -> None:
    keys = pd.MultiIndex.from_product([range(8), [1], range(2)], names=["sequence", "frame", "object"])
    truth = keys.to_frame(index=False).assign(x=lambda t: 50.0 * t["object"], y=0.0, bright=lambda t: t["object"] == 1)
    found = truth.drop(columns="bright")
    alarms = pd.concat([found, found[found["object"] == 0].head(3).assign(y=90.0, object=9)])
    sides = {"all": found, "some": found[found["sequence"] > 2], "alarms": alarms}
    matches = {name: sf.match(truth, side) for name, side in sides.items()}
    pairs = sf.compare(matches, metrics=["f1"], by="truth_bright").pairs
    assert pairs["estimate"].isna().all()
    assert pairs["reason"].notna().all()
    assert pairs.loc[0, "reason"].endswith("compare these two by themselves")
    del matches["alarms"]
    assert sf.compare(matches, metrics=["f1"], by="truth_bright").pairs["low"].notna().all()


def test_differences_of_metrics_of_0_and_1_are_those_of_the_metrics() -> None:
    """Doubling a sum changes no metric that is 0 or 1, and what is not defined for one submission has no difference."""
    key = pd.MultiIndex.from_product([range(40), [1], range(3)], names=["sequence", "frame", "object"])
    truth = key.to_frame(index=False).assign(y=50.0)
    truth["x"] = 100.0 * truth["object"]
    all_right, all_wrong, none = (sf.match(truth, side) for side in (truth, truth.assign(y=300.0), truth.iloc[:0]))
    for metric in METRICS:
        for asked in ([metric], METRICS):
            pairs = sf.compare({"a": all_right, "b": all_wrong}, metrics=asked).pairs.set_index("metric")
            assert pairs.loc[metric, "estimate"] == 1
    pairs = sf.compare({"a": none, "b": all_right}).pairs.set_index("metric")
    assert (abs(pairs.loc["recall", "estimate"]), abs(pairs.loc["f1", "estimate"])) == (1, 1)
    assert np.isnan(pairs.loc["precision", "estimate"])


def test_a_slice_of_one_sequence_does_not_hide_differences_of_others() -> None:
    """Its swaps all give the same, so it can say nothing, and the other slice keeps the p-value that it has alone."""
    random = np.random.default_rng(0)
    at = np.arange(300)
    truth = pd.DataFrame({"sequence": at // 10, "frame": 1, "object": at % 10, "x": 50.0 * (at % 10), "y": 0.0})
    truth["band"] = np.where(at == 0, "rare", "common")
    worse = truth[(random.random(len(at)) < 0.5) & (at > 0)]
    better = truth[(random.random(len(at)) < 0.9) | (at == 0)]
    sides = {name: sf.match(truth, found.drop(columns="band")) for name, found in (("a", better), ("b", worse))}
    with warned("compare: 1 of 2 groups have fewer than 20 sequences"):
        both = sf.compare(sides, ["recall"], ["truth_band"], resamples=500).pairs.set_index("truth_band")
    alone = {name: table[table["truth_band"] == "common"] for name, table in sides.items()}
    with warned(("compare: a", "lacks rows of 1 frame")):
        expected = sf.compare(alone, ["recall"], ["truth_band"], resamples=500).pairs.set_index("truth_band")
    assert both.loc["rare", ["p_value", "p_adjusted"]].tolist() == [1, 1]
    assert both.loc["common", "p_adjusted"] == expected.loc["common", "p_adjusted"] < 0.05


def test_numbers_that_need_more_sequences_have_a_p_value_alone() -> None:
    """Costs of frames have intervals from 60 sequences on; swaps hold for any count."""
    truth = objects([(sequence, 1, 50.0 * place, 0.0) for sequence in range(59) for place in range(3)])
    few = truth[truth.index % 5 > 0]
    sides = [sf.match(truth, found, assignment="least") for found in (truth, few)]
    names = ["missed", "recall"]
    pairs = sf.compare(dict(zip("ab", sides, strict=True)), metrics=names).pairs.set_index("metric")
    assert pairs.loc["missed", ["low", "high"]].isna().all()
    assert "60 sequences" in pairs.loc["missed", "reason"]
    assert pairs["p_value"].lt(0.01).all()
    assert pairs.loc["recall", "low"] > 0
    assert pd.isna(pairs.loc["recall", "reason"])
    more = [pd.concat([side, side[side["sequence"] == 0].assign(sequence=60)], ignore_index=True) for side in sides]
    for longer, side in zip(more, sides, strict=True):
        longer.attrs = side.attrs
    assert sf.compare(dict(zip("ab", more, strict=True)), metrics=names).pairs["low"].notna().all()


def test_totals_are_swapped_as_their_own_sums() -> None:
    """Each sequence adds to a total what it has itself, which is no contribution around a mean, as to a ratio."""
    missed = np.array([[6, 6, 3, 3, 8, 7, 8, 6], [5, 2, 3, 4, 1, 2, 1, 3]])
    sides = [counted(10 - of, of, [0] * 8) for of in missed]
    apart = TAU**2 * (missed[0] - missed[1]) / 10  # kelvins_mse adds up the mean errors of the sequences

    def error(contributions: np.ndarray) -> float:
        return float(np.sqrt(8) * contributions.std(ddof=1))

    swaps = [apart * np.array(signs) for signs in product((1, -1), repeat=8)]
    t = np.sort([abs(of.sum()) / error(of) for of in swaps])[::-1]
    reach = t[int(0.05 * len(t))] * error(apart)
    row = sf.compare(dict(zip("ab", sides, strict=True)), metrics=["kelvins_mse"], baseline="b").pairs.iloc[0]
    assert row["estimate"] == pytest.approx(apart.sum())
    assert row[["low", "high"]].tolist() == pytest.approx([apart.sum() - reach, apart.sum() + reach])


def test_all_that_can_differ_is_as_rare_as_swaps_can_say() -> None:
    """One finds all, and the other nothing: a difference of 1, of which all 256 arrangements but two are smaller."""
    sides = {"all": counted([5] * 8, [0] * 8, [0] * 8), "nothing": counted([0] * 8, [5] * 8, [0] * 8)}
    row = sf.compare(sides, metrics=["recall"], baseline="nothing").pairs.iloc[0]
    assert (row["estimate"], row["p_value"]) == (1.0, 2 / 256)
