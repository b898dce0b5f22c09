"""Intervals and comparisons: resampled and permuted sums against the tables they stand for."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import spotgeo_frames as sf
from helpers.problems import Place, refused, warned
from helpers.scenes import grid, objects
from spotgeo_frames.analysis.certainty import resampling, uncertainty
from spotgeo_frames.scoring.sequence_sums import evaluable

METRICS = ["f1", "precision", "recall", "mse", "det_a", "rmse", "mean_distance", "kelvins_mse"]


def some_matches(seed: int, n_frames: int = 60) -> pd.DataFrame:
    """A match table of points on a grid, five frames a sequence."""
    random = np.random.default_rng(seed)
    truth, predictions = grid(random, n_frames, 4, 30)
    return sf.match(truth, predictions.assign(score=random.random(len(predictions))))


def drawn(matches: pd.DataFrame, times: np.ndarray) -> pd.DataFrame:
    """The table in which each sequence occurs so many times, under names of their own."""
    rows = [rows for _, rows in matches.groupby("sequence")]
    parts = [rows[k].assign(sequence=1000 * k + n) for k, time in enumerate(times.astype(int)) for n in range(time)]
    table = pd.concat(parts, ignore_index=True)
    table.attrs = matches.attrs
    return table


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_a_resample_is_the_table_it_stands_for(seed: int) -> None:
    matches = some_matches(seed)
    of_matches = evaluable(matches, "").evaluate(matches, None, [])
    n_sequences = matches["sequence"].nunique()
    sums = resampling.matrix_of(of_matches.values, n_sequences)
    sequences = resampling.draw(n_sequences, 3, seed, 0)
    assert sequences.shape == (3, n_sequences), "as many are drawn as there are, some of them again"
    resampled = sums.named(resampling.resampled_sums(sums.values, 3, seed))
    numbers = of_matches.metrics.numbers(resampled, METRICS)
    for some, row in zip(sequences, numbers, strict=True):
        times = np.bincount(some, minlength=n_sequences)
        wanted = sf.summarize(drawn(matches, times))[METRICS].iloc[0].to_numpy(float, na_value=np.nan)
        np.testing.assert_allclose(row, wanted, rtol=1e-9, equal_nan=True)


@pytest.mark.parametrize("nonzero", [1.0, 0.1])
def test_many_sums_are_resampled_as_few_are(nonzero: float) -> None:
    random = np.random.default_rng(1)
    sums = random.random((40, 5, 7)) * (random.random((40, 5, 7)) < nonzero)
    few = resampling.resampled_sums(sums[:, :2], 1000, 3)
    np.testing.assert_allclose(resampling.resampled_sums(sums, 1000, 3)[:, :2], few, rtol=1e-12)
    for largest in (9, 1 << 20):  # beyond 2**24 in all, float32 would round
        counts = np.rint(sums * largest)
        few = resampling.resampled_sums(counts[:, :2], 1000, 3)
        assert np.array_equal(resampling.resampled_sums(counts, 1000, 3)[:, :2], few)


def test_intervals() -> None:
    matches = some_matches(1, 300)
    found = sf.intervals(matches)
    assert found.columns.tolist() == [
        *("metric", "estimate", "low", "high"),
        *("n_sequences", "n_effective", "degrees_of_freedom", "largest_share", "reason"),
    ]
    assert found["reason"].isna().all()
    assert found["metric"].tolist() == ["f1", "precision", "recall", "mse", "det_a", "rmse"]
    summary = sf.summarize(matches)
    assert found["estimate"].tolist() == summary[found["metric"].tolist()].iloc[0].tolist()
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()
    assert found["n_sequences"].eq(60).all()
    assert found.attrs["method"] == "jackknife"
    assert found.attrs["tau"] == 10
    pd.testing.assert_frame_equal(found, sf.intervals(matches))
    drawn_once, again, others = (sf.intervals(matches, method="percentile", seed=seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(drawn_once, again)
    assert not drawn_once.equals(others)
    assert drawn_once["degrees_of_freedom"].isna().all()
    wider = sf.intervals(matches, confidence=0.99)
    assert (wider["high"] - wider["low"] > found["high"] - found["low"]).all()


def test_percentile_intervals_are_scipys() -> None:
    """Of recall, a ratio of two sums, by scipy.stats.bootstrap on the sums of sequences; both draw at random."""
    matches = some_matches(3, 400)
    tp, fn = (matches["outcome"].eq(kind).groupby(matches["sequence"]).sum() for kind in ("TP", "FN"))

    def recall(found: np.ndarray, missed: np.ndarray, axis: int = -1) -> np.ndarray:
        return found.sum(axis=axis) / (found + missed).sum(axis=axis)

    wanted = stats.bootstrap(
        (tp.to_numpy(), fn.to_numpy()), recall, paired=True, n_resamples=20_000, method="percentile", random_state=5
    ).confidence_interval
    [row] = sf.intervals(matches, metrics=["recall"], resamples=20_000, method="percentile").to_dict("records")
    assert (row["low"], row["high"]) == pytest.approx((wanted.low, wanted.high), abs=0.003)


def test_intervals_of_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    matches = some_matches(4, 200)
    found = sf.intervals(matches, by="frame_n_truth", metrics=["recall", "f1"], method="percentile")
    assert found.columns.tolist()[:2] == ["frame_n_truth", "metric"]
    assert found["frame_n_truth"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert found.loc[0, ["estimate", "low", "high"]].isna().all(), "without a truth there is no recall"
    bins = pd.cut(matches["predicted_score"], 3)
    known = sf.intervals(matches, by=bins, metrics=["precision", "f1"])
    assert known.loc[known["metric"] == "precision", "low"].notna().all()
    assert known.loc[known["metric"] == "f1", ["estimate", "low", "high"]].isna().all(axis=None), "a miss has no score"
    monkeypatch.setattr(uncertainty, "NUMBERS_AT_ONCE", 1)
    in_parts = sf.intervals(matches, by="frame_n_truth", metrics=["recall", "f1"], method="percentile")
    pd.testing.assert_frame_equal(found, in_parts, rtol=1e-12)
    assert len(sf.intervals(matches.assign(nothing=np.nan), by="nothing")) == 0
    with warned(("intervals", "40 of 40")):
        by_itself = sf.intervals(matches, by=["sequence"], metrics=["f1"], resamples=50)
    assert by_itself["low"].isna().all()


def test_one_sequence_has_no_interval() -> None:
    matches = some_matches(5).query("sequence == 0")
    with warned(("intervals", "one sequence")):
        found = sf.intervals(matches)
    assert found["estimate"].notna().all()
    assert found[["low", "high"]].isna().all(axis=None)


def test_intervals_of_similarities() -> None:
    boxes = objects([(s, 1, 10.0, 10.0) for s in range(8)]).assign(w=10.0, h=10.0)
    moved = boxes.assign(x=boxes["x"] + np.arange(8) % 3)
    found = sf.intervals(sf.match(boxes, moved, similarity="iou"), metrics=["loc_a", "mse", "f1"]).set_index("metric")
    assert found.loc["f1", ["estimate", "low", "high"]].tolist() == pytest.approx([1, 0.025 ** (1 / 8), 1])
    assert found.loc["mse", ["estimate", "low", "high"]].isna().all()
    assert found.loc["loc_a", "low"] < found.loc["loc_a", "high"]


def test_what_intervals_refuse() -> None:
    matches = some_matches(6)
    with refused(("intervals", "match table")):
        sf.intervals(matches.head(0))
    with refused(("match table", "column truth_brightnes", "did you mean")):
        sf.intervals(matches, by="truth_brightnes")
    with refused(("metrics", "'f_2'", "f1"), error=ValueError):
        sf.intervals(matches, metrics=["f1", "f_2"])
    several = [{"metrics": 5}, {"metrics": "f_2"}, {"resamples": 0}, {"method": "bca"}]
    for wrong in (*several, *({"confidence": value} for value in (95, 1, 0, -0.5, np.nan))):
        [(argument, value)] = wrong.items()
        with refused((argument, str(value)), error=ValueError):
            sf.intervals(matches, **wrong)


def submissions(n_frames: int = 100) -> dict[str, pd.DataFrame]:
    """A detector that is better than the other two, which are equally good."""
    random = np.random.default_rng(9)
    truth, _ = grid(random, n_frames, 4, 100)
    found = {}
    for name, share in (("worse", 0.6), ("better", 0.9), ("as bad", 0.6)):
        seen = truth[random.random(len(truth)) < share]
        found[name] = sf.match(truth, seen.assign(x=seen["x"] + random.normal(0, 2, len(seen))))
    return found


def test_compare() -> None:
    matches = submissions()
    board, pairs, _ = sf.compare(matches)
    assert board["name"].iloc[0] == "better"
    assert board["rank"].tolist() == [1, 2, 3]
    assert board["apart_from_next"].astype("object").tolist()[:2] == [True, False]
    assert pd.isna(board["apart_from_next"].iloc[2])
    assert board["reason"].isna().all()
    assert (board["f1_low"] < board["f1"]).all()
    f1 = pairs[pairs["metric"] == "f1"].set_index(["a", "b"])
    assert f1.loc["better", "p_value"].le(2e-4).all()
    assert f1.loc["better", "p_adjusted"].le(2e-3).all()
    numbers = board.set_index("name")["f1"]
    for (a, b), row in f1.iterrows():
        assert row["estimate"] == pytest.approx(numbers[a] - numbers[b])
        assert row["low"] <= row["estimate"] <= row["high"]
    assert pairs.attrs["tau"] == 10


def test_compare_with_a_baseline() -> None:
    matches = submissions()
    board, pairs, _ = sf.compare(matches, baseline="as bad", metrics=["recall"])
    assert pairs[["a", "b", "metric"]].to_numpy().tolist() == [
        [name, "as bad", "recall"] for name in board["name"] if name != "as bad"
    ]
    assert pairs.loc[pairs["a"] == "better", "estimate"].iloc[0] > 0


def test_compared_with_itself() -> None:
    matches = some_matches(2)
    board, pairs, _ = sf.compare({"a": matches, "b": matches, "c": matches})
    assert pairs[["estimate", "low", "high"]].eq(0).all(axis=None)
    assert pairs[["p_value", "p_adjusted"]].eq(1).all(axis=None)
    assert board["rank"].tolist() == [1, 1, 1]


def test_metrics_named_twice_are_one() -> None:
    matches = submissions(30)
    once, twice = (sf.compare(matches, metrics=names).pairs for names in (["f1", "recall"], ["f1", "f1", "recall"]))
    pd.testing.assert_frame_equal(once, twice)
    intervals = (sf.intervals(matches["worse"], metrics=iter(names)) for names in (["f1"], ["f1", "f1"]))
    pd.testing.assert_frame_equal(*intervals)


def test_a_single_metric_may_be_given_by_its_name() -> None:
    matches = submissions(30)
    for function, x in ((sf.compare, matches), (sf.intervals, matches["worse"])):
        one, listed = (function(x, metrics=metrics) for metrics in ("f1", ["f1"]))
        pd.testing.assert_frame_equal(*(getattr(found, "pairs", found) for found in (one, listed)))


def test_tables_from_elsewhere_are_compared(tmp_path: Path) -> None:
    """Whatever types their columns have now; and frames that only false alarms lie in are no difference of truths."""
    matches = submissions(30)
    wanted = sf.compare({"better": matches["better"], "worse": matches["worse"]}, resamples=100).pairs
    matches["worse"].to_csv(tmp_path / "worse.csv", index=False)
    arrow = pa.Table.from_pandas(matches["worse"], preserve_index=False)
    for other in (pd.read_csv(tmp_path / "worse.csv"), arrow, matches["worse"].astype({"sequence": "int32"})):
        found = sf.compare({"better": matches["better"], "worse": other}, resamples=100).pairs
        pd.testing.assert_frame_equal(found, wanted)
    alarm = objects([(50, 1, 5.0, 5.0)])
    truth = objects([(1, 1, 5.0, 5.0), (2, 1, 5.0, 5.0)])
    some = {"a": sf.match(truth, truth), "b": sf.match(truth, pd.concat([truth, alarm]))}
    assert sf.compare(some, resamples=50).leaderboard["fp"].tolist() == [0, 1]


def test_resamples_without_a_row_are_no_zeros() -> None:
    """A slice that occurs in two of twenty sequences: many resamples have none of it."""
    matches = some_matches(8, 100)
    night = matches.assign(night=matches["sequence"].isin([1, 2]))
    options = {"by": "night", "metrics": ["mse"]}
    found = sf.intervals(night, **options, resamples=500, method="percentile").set_index("night")
    least = sf.summarize(night[night["night"]], by="sequence")["mse"].min()
    assert found.loc[True, "low"] >= least - 1e-9


def test_names_of_the_answer_are_refused() -> None:
    matches = some_matches(8)
    cut = pd.cut(matches["truth_x"], 2)
    for function, name in ((sf.intervals, "metric"), (sf.bias, "low")):
        with refused(f"by: {name}"):
            function(matches, by=cut.rename(name))


def test_what_compare_refuses() -> None:
    matches = submissions(20)
    one, other = matches["better"], matches["worse"]
    with refused(("compare", "1", "two")):
        sf.compare({"a": one})
    shorter = other[(other["sequence"] > 0) | (other["frame"] > 0)]
    with refused(("compare: 2 truths", "a", "b", "sequence 0, frame 0, truth_object 1, truth_x 48, truth_y 96")):
        sf.compare({"a": one, "b": shorter})
    moved = other.assign(truth_x=other["truth_x"].mask(other.index == other["truth_x"].first_valid_index(), -1.0))
    with refused(("compare: 2 truths", "a", "b", "sequence 0, frame 0, truth_object 0, truth_x -1")):
        sf.compare({"a": one, "b": moved})
    looser = other.copy()
    looser.attrs = other.attrs | {"tau": 5.0}
    with refused(("compare", "a with rule distance, tau 10.0", "b with rule distance, tau 5.0")):
        sf.compare({"a": one, "b": looser})
    with refused(("compare", "'beta'", "worse, better, as bad")):
        sf.compare(matches, baseline="beta")
    with refused(("compare", "a")):
        sf.compare({"a": one.head(0), "b": other.head(0)})
    uncounted = one.drop(columns=[name for name in one if name.startswith("truth_")])
    with refused(("compare: 1 truth", "a", "b", "sequence 0")):
        sf.compare({"a": uncounted, "b": uncounted.drop(uncounted.index[uncounted["outcome"] == "FN"][0])})
    boxes = sf.match(*[objects([(1, 1, 1.0, 1.0)]).assign(w=5.0, h=5.0)] * 2, similarity="iou")
    with refused(("compare: a and b", "distance", "similarity")):
        sf.compare({"a": one, "b": boxes})


def test_left_out_sequences(challenge: Path) -> None:
    truth = sf.read_spotgeo(challenge / "train_anno.json")
    matches = {
        name: sf.match(truth, sf.read_spotgeo(challenge / "submissions" / f"{name}.json"))
        for name in ("alpha", "beta", "gamma")
    }
    board, _, _ = sf.compare(matches, exclude=range(1, 1000), resamples=200)
    assert board["n_sequences"].tolist() == [281] * 3
    assert board["name"].tolist() == ["alpha", "beta", "gamma"]


@pytest.mark.parametrize("column", ["sequence", "object"])
def test_integer_keys_beyond_float64_are_told_apart(column: str) -> None:
    truth = objects([(1, 1, 10.0, 10.0), (2, 1, 10.0, 10.0)])
    others = truth.copy()
    truth[column], others[column] = [1 << 53, 1 << 54], [(1 << 53) + 1, 1 << 54]
    tables = {"a": sf.match(truth, truth), "b": sf.match(others, others)}
    with refused(("compare: 2 truths", "a", "b", str(1 << 53), str((1 << 53) + 1))):
        sf.compare(tables, resamples=10)


def test_truths_are_the_same_whatever_types_their_keys_came_back_in() -> None:
    truth = objects([(1, 1, 10.0, 10.0), (2, 1, 10.0, 10.0)])
    matches = sf.match(truth, truth)
    others = matches.astype({"truth_object": "float64", "sequence": "Int32"})
    assert (sf.compare({"a": matches, "b": others}, resamples=10).pairs["estimate"] == 0).all()
    for kind in ("category", "object"):
        others = matches.astype(dict.fromkeys(["sequence", "frame", "truth_object"], kind))
        assert (sf.compare({"a": matches, "b": others}, resamples=10).pairs["estimate"] == 0).all()


def test_keys_that_are_text_on_one_side_only_are_named() -> None:
    truth = objects([(1, 1, 10.0, 10.0), (2, 1, 10.0, 10.0)])
    matches = sf.match(truth, truth)
    for column, kind in (("sequence", "str"), ("truth_object", "category")):
        others = matches.astype({column: "str"}).astype({column: kind})
        with pytest.raises(sf.InputError, match=f"compare: b: column {column} is text, and in a it is not"):
            sf.compare({"a": matches, "b": others}, resamples=10)
    no_truths = matches[matches["outcome"] == "FP"].astype({"truth_object": "str"})
    with pytest.raises(sf.InputError, match="2 truths are in only one of a and b"):
        sf.compare({"a": matches, "b": no_truths}, resamples=10)


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda m: sf.intervals({"a": m}), ("intervals: x", "dict", "DataFrame")),
        (lambda m: sf.intervals(m, confidence="high"), ("confidence", "'high'")),  # type: ignore[arg-type]
        (lambda m: sf.compare([m, m]), ("compare: matches", "list", "dict")),
        (lambda m: sf.compare({"a": m, "b": 5}), ("compare: matches: b", "int")),
        (lambda m: sf.worst_slices({"a": m}, ["truth_x"]), ("worst_slices: matches", "dict")),
        (lambda m: sf.worst_slices(m, "truth_x"), ("worst_slices: columns", "'truth_x'", "['truth_x']")),
        (lambda m: sf.worst_slices(m, 5), ("worst_slices: columns", "5", "list")),
        (lambda m: sf.worst_slices(m, [5]), ("worst_slices: columns", "int")),
        (lambda m: sf.worst_slices(m, ["truth_x"], depth="2"), ("depth", "'2'")),
        (lambda m: sf.worst_slices(m, ["truth_x"], min_sequences=1.5), ("min_sequences", "1.5")),
        (lambda m: sf.worst_slices(m, ["truth_x"], rate="5%"), ("rate", "'5%'")),
    ],
)
def test_an_argument_of_the_wrong_kind_is_named(call, place: Place) -> None:
    truth = objects([(1, 1, 10.0, 10.0), (2, 1, 10.0, 10.0)])
    with refused(place, error=ValueError):
        call(sf.match(truth, truth))
