"""Intervals and comparisons of average precision, held against evaluating again without each sequence."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit, logit

import spotgeo_frames as sf
from helpers.detectors import Detector, boxes, people
from helpers.plain_jackknife import plain_reach, plain_skewness
from helpers.problems import refused, warned
from spotgeo_frames.analysis.certainty.estimates import bias_of_halves, with_units
from spotgeo_frames.scoring.sequence_sums import evaluable

pytestmark = pytest.mark.filterwarnings("ignore:average_precision")


def scene(n_sequences: int, seed: int = 0) -> tuple[sf.Annotations, pd.DataFrame]:
    """Boxes of two classes in images that are sequences of their own, of three nights."""
    truth, claims = boxes(np.random.default_rng(seed), Detector(sequences=n_sequences, frames=1))
    sequences = pd.DataFrame({"sequence": range(1, n_sequences + 1)})
    sequences["night"] = sequences["sequence"] % 7
    two = [side.assign(category=side["category"] % 2) for side in (truth.objects, claims)]
    return sf.Annotations(two[0], truth.frames, sequences), two[1]


TRUTH, CLAIMS = scene(30)
RESULT = sf.average_precision(TRUTH, CLAIMS)
# Other scores: a detector that finds the same, but is less sure of what is right.
OTHER = sf.average_precision(TRUTH, CLAIMS.assign(score=np.random.default_rng(1).permutation(CLAIMS["score"])))


def ap_without(column: str, value: Any, sides: tuple[sf.Annotations, pd.DataFrame] = (TRUTH, CLAIMS)) -> float:
    """AP evaluated again, without the sequences that have this value."""
    left = sides[0].sequences.loc[sides[0].sequences[column] != value, ["sequence"]]
    truth = sf.Annotations(sides[0].objects.merge(left), sides[0].frames.merge(left))
    return float(sf.average_precision(truth, sides[1].merge(left)).summary["AP"][0])


@pytest.mark.parametrize("cluster", [None, "sequence_night"])
def test_the_interval_leaves_out_each_sequence_or_cluster(cluster: str | None) -> None:
    column = "night" if cluster else "sequence"
    row = sf.intervals(RESULT, metrics=["AP"], cluster=cluster).iloc[0]
    estimate = RESULT.summary["AP"][0]
    seen = TRUTH.sequences.merge(pd.concat([TRUTH.objects, CLAIMS])["sequence"].drop_duplicates())
    left = np.array([ap_without(column, value) for value in seen[column].unique()])  # empty sequences change nothing
    n = len(left)
    error = np.sqrt((n - 1) / n * np.sum((left - estimate) ** 2))
    asked = with_units(evaluable(RESULT, ""), cluster)
    [[bias]] = bias_of_halves(asked.evaluate(asked.table, None, ()), ["AP"])
    freedom, slope = row["degrees_of_freedom"], np.hypot(error, bias) / (estimate * (1 - estimate))
    quantile, k = stats.t.ppf(0.975, freedom), plain_skewness(left - estimate, freedom)
    reaches = [side * max(quantile, side * plain_reach(side * quantile, k)) for side in (1, -1)]
    # Moved by the bias, on the scale of the logit.
    moved = logit(estimate) - bias / (estimate * (1 - estimate))
    wanted = [expit(moved - reach * slope) for reach in reaches]
    assert row["aggregate"] == "combined"
    assert row["estimate"] == estimate
    assert [row["low"], row["high"]] == pytest.approx(wanted)
    assert row["n_sequences"] == 30


def test_the_bias_is_what_halves_have_more_than_the_whole() -> None:
    asked = evaluable(RESULT, "")
    found = bias_of_halves(asked.evaluate(asked.table, None, ()), ["AP", "AR100"])[0]
    random, halves = np.random.default_rng(0), []
    for _ in range(10):
        is_first = random.permutation(30) < 15
        for some in (is_first, ~is_first):
            keys = TRUTH.sequences.loc[some, ["sequence"]]
            truth = sf.Annotations(TRUTH.objects.merge(keys), TRUTH.frames.merge(keys))
            halves.append(sf.average_precision(truth, CLAIMS.merge(keys)).summary[["AP", "AR100"]].to_numpy()[0])
    assert found.tolist() == pytest.approx(np.mean(halves, axis=0) - RESULT.summary[["AP", "AR100"]].to_numpy()[0])
    assert found[0] > 0, "the highest precision at a recall or beyond is too high by chance"
    assert found[0] > 5 * abs(found[1])


def test_without_each_of_few_sequences() -> None:
    sides = scene(9)
    result = sf.average_precision(*sides)
    assert sf.intervals(result, metrics=["AP"])["aggregate"].tolist() == ["combined"]
    found = sf.intervals(result, metrics=["AP"], without_each=True)
    assert found["aggregate"].tolist() == ["combined", *(f"without {number}" for number in range(1, 10))]
    assert found["low"].isna().all(), "a single large one may decide it"
    wanted = [ap_without("sequence", number, sides) for number in range(1, 10)]
    assert found["estimate"][1:].tolist() == pytest.approx(wanted)


def test_many_sequences_are_left_out_in_100_groups() -> None:
    sides = scene(230)
    result = sf.average_precision(*sides)
    asked = evaluable(result, "")
    sums = asked.evaluate(asked.table, None, ())
    assert len(sums.sequence) == 100
    assert set(sums.sizes) == {2, 3}
    mixed = np.random.default_rng(3).permutation(230)
    shuffled = sides[0]._replace(frames=sides[0].frames.iloc[mixed], objects=sides[0].objects.sample(frac=1))
    first, second = (sf.intervals(of) for of in (result, sf.average_precision(shuffled, sides[1])))
    pd.testing.assert_frame_equal(first, second)
    assert first["n_sequences"].tolist() == [230] * 3


def test_slices_have_intervals_of_their_own() -> None:
    by_class = sf.intervals(RESULT, by="category", metrics=["AP50"])
    assert by_class["estimate"].tolist() == RESULT.categories.sort_values("category")["AP50"].tolist()
    assert by_class[["low", "high"]].notna().all(axis=None)
    of_one = TRUTH._replace(objects=TRUTH.objects[TRUTH.objects["category"] == 1])
    alone = sf.intervals(sf.average_precision(of_one, CLAIMS[CLAIMS["category"] == 1]), metrics=["AP50"])
    assert by_class.loc[1, ["low", "high"]].tolist() == pytest.approx(alone.loc[0, ["low", "high"]].tolist())
    by_night = sf.intervals(RESULT, by="sequence_night", metrics=["AP"])
    counts = TRUTH.sequences["night"].value_counts().sort_index()
    assert by_night.loc[by_night["aggregate"] == "combined", "n_sequences"].tolist() == counts.tolist()


def test_the_percentile_method_draws_sequences() -> None:
    row = sf.intervals(RESULT, metrics=["AP"], method="percentile", resamples=200).iloc[0]
    jackknife = sf.intervals(RESULT, metrics=["AP"]).iloc[0]
    assert row["low"] < row["estimate"] < row["high"]
    assert row["high"] - row["low"] == pytest.approx(jackknife["high"] - jackknife["low"], rel=0.4)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("method", ["jackknife", "percentile"])
def test_a_class_that_one_sequence_alone_has_makes_it_null(method: Any) -> None:
    rare = TRUTH.objects["category"].astype("str").where(TRUTH.objects["sequence"] != 5, "rare")
    sides = (
        TRUTH._replace(objects=TRUTH.objects.assign(category=rare)),
        CLAIMS.assign(category=CLAIMS["category"].astype(str)),
    )
    with warned(("average_precision", "rare")):
        result = sf.average_precision(*sides)
    with warned(("intervals: null low and high of AP", "too few sequences", "rare")):
        row = sf.intervals(result, metrics=["AP"], method=method, resamples=20).iloc[0]
    assert row["estimate"] == result.summary["AP"][0]
    assert np.isnan(row["low"])
    with warned(("compare: null intervals and p-values", "rare")):
        pair = sf.compare({"a": result, "b": result}, metrics=["AP"], resamples=20).pairs.iloc[0]
    assert pair["estimate"] == 0
    assert np.isnan(pair["p_value"])


def test_without_categories_truths_in_one_sequence_alone_make_it_null() -> None:
    truth = sf.Annotations(TRUTH.objects[TRUTH.objects["sequence"] == 5].drop(columns="category"), TRUTH.frames)
    result = sf.average_precision(truth, CLAIMS)
    with warned(("intervals: null low and high of AP", "too few sequences have truths, so leaving")):
        assert np.isnan(sf.intervals(result, metrics=["AP"])["low"][0])


def test_a_result_compared_with_itself() -> None:
    pairs = sf.compare({"a": RESULT, "b": RESULT}, metrics=["AP", "AP50", "AR100"], resamples=200).pairs
    assert (pairs[["estimate", "low", "high"]] == 0).all(axis=None)
    assert (pairs[["p_value", "p_adjusted"]] == 1).all(axis=None)


def test_two_detectors() -> None:
    found = sf.compare({"other": OTHER, "first": RESULT, "again": RESULT}, resamples=500)
    assert found.leaderboard["rank"].tolist() in ([1, 1, 3], [1, 2, 2])
    best, worst = found.leaderboard.iloc[0], found.leaderboard.iloc[-1]
    assert best["AP"] >= worst["AP"]
    assert best["AP_low"] < best["AP"] < best["AP_high"]
    row = sf.intervals(RESULT, metrics=["AP"]).iloc[0]
    firsts = found.leaderboard.set_index("name").loc["first"]
    assert [firsts["AP_low"], firsts["AP_high"]] == pytest.approx([row["low"], row["high"]])
    pairs = found.pairs
    assert pairs["metric"].unique().tolist() == ["AP", "AP50", "AP75"]
    assert set(pairs["aggregate"]) == {"combined"}
    excludes_0 = (pairs["low"] > 0) | (pairs["high"] < 0)
    assert (excludes_0 == (pairs["p_value"] <= 0.05)).all()
    assert (pairs["p_adjusted"] >= pairs["p_value"]).all()


def test_a_difference_in_every_sequence_is_seen() -> None:
    off = CLAIMS.assign(x=CLAIMS["x"] + 0.3 * CLAIMS["w"])
    pairs = sf.compare({"good": RESULT, "off": sf.average_precision(TRUTH, off)}, ["AP"], resamples=2000).pairs
    assert pairs["p_value"][0] < 0.01
    assert pairs["low"][0] > 0


def test_differences_without_each_of_few_sequences() -> None:
    sides = scene(8)
    other = sides[0], sides[1].assign(score=sides[1]["score"].to_numpy()[::-1])
    results = {"a": sf.average_precision(*sides), "b": sf.average_precision(*other)}
    pairs = sf.compare(results, ["AP"], baseline="b", resamples=50, without_each=True).pairs
    wanted = [ap_without("sequence", n, sides) - ap_without("sequence", n, other) for n in range(1, 9)]
    assert pairs["aggregate"].tolist() == ["combined", *(f"without {n}" for n in range(1, 9))]
    assert pairs["estimate"][1:].tolist() == pytest.approx(wanted)


def test_options_of_comparisons() -> None:
    both = {"a": RESULT, "b": OTHER}
    some = sf.compare(both, ["AP"], exclude=[1, 2], resamples=50)
    assert some.leaderboard["n_frames"].tolist() == [28, 28]
    by_class = sf.compare(both, ["AP"], by="category", resamples=50).pairs
    assert by_class["category"].tolist() == [0, 1]
    by_night = sf.compare(both, ["AP"], cluster="sequence_night", resamples=50, without_each=True).pairs
    assert by_night["aggregate"].tolist() == ["combined", *(f"without {night}" for night in range(7))]
    assert by_night["estimate"][0] == sf.compare(both, ["AP"], resamples=50).pairs["estimate"][0]
    with refused(("cluster", "weather")):
        sf.compare(both, cluster="weather")


def test_what_cannot_be_compared() -> None:
    elsewhere = sf.average_precision(TRUTH._replace(objects=TRUTH.objects.assign(x=TRUTH.objects["x"] + 1)), CLAIMS)
    with refused(("compare", "only one of a and b")):
        sf.compare({"a": RESULT, "b": elsewhere})
    with refused(("compare", "average precision", "b", "one kind")):
        sf.compare({"a": RESULT, "b": RESULT.matches})
    with refused(("intervals: method='batch_means'", "average precision")):
        sf.intervals(RESULT, method="batch_means")
    with refused(("by: is or holds the Series mine",)):
        sf.intervals(RESULT, by=pd.Series(0, name="mine"))
    with pytest.raises(ValueError, match="metrics: 'f1' is none"):
        sf.intervals(RESULT, metrics=["f1"])


def test_false_alarms_in_sequences_that_only_one_has_seen() -> None:
    objects = TRUTH.objects  # a bare table: frames are those that occur
    extra = pd.concat([CLAIMS, CLAIMS.iloc[:1].assign(sequence=77)])
    results = {"a": sf.average_precision(objects, CLAIMS), "b": sf.average_precision(objects, extra)}
    pair = sf.compare(results, ["AP"], resamples=100).pairs.iloc[0]
    assert 0 < pair["p_value"] <= 1
    assert pair["estimate"] == results[pair["a"]].summary["AP"][0] - results[pair["b"]].summary["AP"][0]


def test_leaderboard() -> None:
    worse = sf.average_precision(TRUTH, CLAIMS.assign(x=CLAIMS["x"] + 0.2 * CLAIMS["w"]))
    board = sf.leaderboard({"worse": worse, "good": RESULT})
    assert board["name"].tolist() == ["good", "worse"]
    assert board.columns[:5].tolist() == ["rank", "name", "AP", "AP50", "AP75"]


def test_gates() -> None:
    assert sf.non_inferiority(RESULT, RESULT, "AP", 0.01).passed
    planned = sf.sample_size(RESULT, "AP", 0.05, OTHER).iloc[0]
    assert planned["n_pilot"] == 30
    assert planned["n_sequences"] > 5


def test_poses() -> None:
    truth, claims = people(np.random.default_rng(2), Detector(sequences=25, frames=1))
    claims = claims.assign(score=claims.groupby(["sequence", "frame", "object"]).ngroup() % 7 / 7)
    result = sf.average_precision(truth, claims)
    found = sf.intervals(result, metrics=["AP", "AR50"])
    assert found["estimate"].tolist() == result.summary.loc[0, ["AP", "AR50"]].tolist()
    assert found["low"].notna().all()


def test_a_flawless_result_is_not_moved_by_a_bias() -> None:
    """The bounds are those of Clopper and Pearson, of as many sequences as have truths."""
    flawless = sf.average_precision(TRUTH, TRUTH.objects.assign(score=1.0))
    row = sf.intervals(flawless, metrics=["AP"]).iloc[0]
    assert (row["estimate"], row["high"]) == (1.0, 1.0)
    assert row["low"] == pytest.approx(0.025 ** (1 / TRUTH.objects["sequence"].nunique()))
