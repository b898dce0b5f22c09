"""Results of tracks and poses are summarized, ranked, given intervals and compared, from their sums by sequence."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spotgeo_frames as sf
from helpers.kinds import CLASSES, of_kind, plain
from helpers.problems import refused
from spotgeo_frames.tracking.track_sums import ADDED, TRACK_COLUMNS

N_SEQUENCES, N_FRAMES, N_OBJECTS = 24, 12, 3


def walkers(seed: int, n_sequences: int = N_SEQUENCES) -> sf.Annotations:
    """Points that walk through every sequence, far from each other; sequences have a `sky` and a `seeing`."""
    random = np.random.default_rng(seed)
    keys = pd.MultiIndex.from_product(
        [range(n_sequences), range(1, N_FRAMES + 1), range(N_OBJECTS)], names=["sequence", "frame", "object"]
    ).to_frame(index=False)
    step = random.normal(0, 1.0, len(keys))
    objects = keys.assign(x=200.0 * keys["object"] + 3.0 * keys["frame"] + step, y=50.0 * keys["object"])
    numbers = np.arange(n_sequences)
    sequences = pd.DataFrame(
        {"sequence": numbers, "sky": np.where(numbers % 3, "clear", "cloudy"), "seeing": numbers / 2}
    )
    return sf.Annotations(objects, None, sequences)


def tracker(truth: sf.Annotations, seed: int, cut: int = N_FRAMES, lost: float = 0.1) -> pd.DataFrame:
    """Predictions of a share of the truths, whose identities change every `cut` frames."""
    random = np.random.default_rng(seed)
    kept = truth.objects[random.random(len(truth.objects)) >= lost]
    identity = kept["object"] + 100 * ((kept["frame"] - 1) // cut)
    return kept.assign(object=identity, x=kept["x"] + random.normal(0, 1.5, len(kept)))


@pytest.fixture(scope="module")
def results() -> dict[str, sf.TrackResult]:
    truth = walkers(1)
    return {
        "whole": sf.track(truth, tracker(truth, 2)),
        "cut": sf.track(truth, tracker(truth, 3, cut=3)),
    }


@pytest.fixture(scope="module")
def posed() -> sf.PoseResult:
    truth, predictions = sf.read_posetrack("data/poses/truth", "data/poses/tracker")
    return sf.pose(truth, predictions)


def values(table: pd.DataFrame, names: list[str]) -> np.ndarray:
    return table[names].to_numpy(np.float64, na_value=np.nan)


def test_the_summary_of_all_and_of_each_sequence_is_that_of_track(results: dict[str, sf.TrackResult]) -> None:
    result, names = results["cut"], list(TRACK_COLUMNS)
    np.testing.assert_array_equal(values(sf.summarize(result), names), values(result.summary.tail(1), names))
    by_sequence = sf.summarize(result, by="sequence")
    assert by_sequence.columns.tolist() == ["sequence", *names, "n_sequences"]
    assert (by_sequence["n_sequences"] == 1).all()
    pd.testing.assert_frame_equal(by_sequence[names], result.summary[names].iloc[:-1])


def test_the_summary_of_poses_is_that_of_pose(posed: sf.PoseResult) -> None:
    summary, names = posed.summary, list(ADDED)
    is_joint, is_sequence = summary["joint"].notna(), summary["sequence"].notna()
    for by, rows in {
        None: ~is_joint & ~is_sequence,
        "sequence": ~is_joint & is_sequence,
        "joint": is_joint & ~is_sequence,
        ("sequence", "joint"): is_joint & is_sequence,
    }.items():
        keys = [by] if isinstance(by, str) else list(by or [])
        wanted = summary[rows].sort_values(keys) if keys else summary[rows]
        found = sf.summarize(posed, by=keys or None)
        assert found.columns.tolist() == [*keys, *names, "n_sequences"]
        assert (found["n_sequences"] == (1 if "sequence" in keys else summary["sequence"].nunique())).all()
        np.testing.assert_array_equal(values(found, names), values(wanted, names))


def test_slices_by_attributes_are_what_track_says_of_these_sequences(results: dict[str, sf.TrackResult]) -> None:
    truth = walkers(1)
    predictions = tracker(truth, 3, cut=3)
    by_sky = sf.summarize(results["cut"], by="sequence_sky").set_index("sequence_sky")
    for sky, rows in truth.sequences.groupby("sky"):
        some = [table[table["sequence"].isin(rows["sequence"])] for table in (truth.objects, predictions)]
        wanted = sf.track(*some).summary.tail(1)
        np.testing.assert_allclose(values(by_sky.loc[[sky]], list(TRACK_COLUMNS)), values(wanted, list(TRACK_COLUMNS)))
    binned = sf.summarize(results["cut"], by={"sequence_seeing": 2})
    assert binned["n_frames"].tolist() == [N_FRAMES * N_SEQUENCES // 2] * 2
    some = sf.summarize(results["cut"], exclude=range(1, N_SEQUENCES))
    np.testing.assert_allclose(values(some, ["HOTA", "IDF1"]), values(results["cut"].summary.head(1), ["HOTA", "IDF1"]))


def test_intervals_hold_the_estimate_and_follow_the_attributes(results: dict[str, sf.TrackResult]) -> None:
    found = sf.intervals(results["cut"], metrics=["HOTA", "IDSW", "MOTA"], resamples=300)
    assert found.columns.tolist()[:6] == ["aggregate", "metric", "estimate", "low", "high", "n_sequences"]
    assert found["aggregate"].tolist() == ["combined"] * 3 + ["macro"] * 3
    found = found.head(3)
    assert found["estimate"].tolist() == results["cut"].summary[["HOTA", "IDSW", "MOTA"]].iloc[-1].tolist()
    assert (found["low"] < found["estimate"]).tolist() == [True, False, True], "every sequence has as many cuts"
    assert (found["estimate"] < found["high"]).tolist() == [True, False, True]
    by_sky = sf.intervals(results["cut"], by="sequence_sky", metrics=["HOTA"], resamples=300)
    assert by_sky["aggregate"].tolist() == ["combined", "macro"] * 2
    assert by_sky["n_sequences"].tolist() == [16, 16, 8, 8]
    assert by_sky["low"].notna().tolist() == [False, True, False, True], "few sequences have only a macro interval"
    with pytest.warns(UserWarning, match="24 of 24 groups have only one sequence"):
        assert sf.intervals(results["cut"], by="sequence", metrics=["HOTA"])["low"].isna().all()


def test_the_numbers_without_a_sequence_are_those_of_tracking_the_others() -> None:
    truth = walkers(4, 3)
    predictions = tracker(truth, 5, cut=4)
    found = sf.intervals(sf.track(truth, predictions), metrics=["HOTA", "IDF1"], without_each=True)
    for name in range(3):
        some = [table[table["sequence"] != name] for table in (truth.objects, predictions)]
        without = found.loc[found["aggregate"] == f"without {name}", "estimate"]
        np.testing.assert_allclose(without, sf.track(*some).summary[["HOTA", "IDF1"]].iloc[-1].astype(float))


def test_each_submission_has_its_own_intervals_in_a_comparison(results: dict[str, sf.TrackResult]) -> None:
    """They are those of `intervals` of each alone, best first."""
    compared = sf.compare(results, metrics=["MOTA", "HOTA"], by="sequence_sky")
    order = compared.leaderboard[compared.leaderboard["sequence_sky"] == "clear"]["name"].tolist()
    single = compared.single
    assert [*single][:3] == ["sequence_sky", "name", "aggregate"]
    assert single["name"].drop_duplicates().tolist() == order
    for name in results:
        alone = sf.intervals(results[name], by="sequence_sky", metrics=["MOTA", "HOTA"])
        own = single[single["name"] == name].drop(columns="name").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone)
    whole = sf.compare(results, metrics=["HOTA"]).single
    assert whole.loc[whole["aggregate"] == "combined", "low"].notna().all()


def test_poses_have_intervals_also_by_joint(posed: sf.PoseResult) -> None:
    found = sf.intervals(posed, resamples=100)
    assert found[found["aggregate"] == "combined"]["metric"].tolist() == ["HOTA", "DetA", "AssA", "mota"]
    by_joint = sf.intervals(posed, by="joint", metrics=["HOTA"], resamples=100)
    assert by_joint["joint"].nunique() == (by_joint["aggregate"] == "macro").sum() == 15


def test_the_better_tracker_is_named(results: dict[str, sf.TrackResult]) -> None:
    compared = sf.compare(dict(reversed(results.items())), metrics=["HOTA", "IDF1"], resamples=400)
    assert compared.leaderboard["name"].tolist() == ["whole", "cut"]
    assert compared.leaderboard["apart_from_next"].tolist()[0] is True
    first = compared.leaderboard.iloc[0]
    assert first["HOTA_low"] < first["HOTA"] < first["HOTA_high"]
    pairs = compared.pairs
    shown = pairs[["a", "b", "aggregate"]].drop_duplicates().to_numpy().tolist()
    assert shown == [["whole", "cut", "combined"], ["whole", "cut", "macro"]]
    assert (pairs["estimate"] > 0.1).all()
    assert (pairs["p_value"] < 0.05).all()
    assert "rank 1, name whole, HOTA" in repr(compared)


def test_a_tracker_compared_with_itself_does_not_differ(
    results: dict[str, sf.TrackResult], posed: sf.PoseResult
) -> None:
    for result, kinds in ((results["cut"], 5), (posed, 4)):
        pairs = sf.compare({"a": result, "b": result}, resamples=100).pairs
        assert (pairs["aggregate"] == "combined").sum() == (pairs["aggregate"] == "macro").sum() == kinds
        assert pairs["estimate"].eq(0).all()
        assert pairs[pairs["aggregate"].isin(["combined", "macro"])]["p_value"].eq(1).all()


def test_comparisons_by_attributes_are_those_of_their_sequences(results: dict[str, sf.TrackResult]) -> None:
    by_sky = sf.compare(results, metrics=["HOTA"], by="sequence_sky", resamples=200)
    assert by_sky.leaderboard["sequence_sky"].tolist() == ["clear", "clear", "cloudy", "cloudy"]
    cloudy = [int(name) for name in range(0, N_SEQUENCES, 3)]
    alone = sf.compare(results, metrics=["HOTA"], exclude=cloudy, resamples=200).pairs
    clear = by_sky.pairs[by_sky.pairs["sequence_sky"] == "clear"].drop(columns=["sequence_sky", "p_adjusted"])
    alone = alone.drop(columns="p_adjusted")  # adjusted for another count of tests
    pd.testing.assert_frame_equal(clear.reset_index(drop=True), alone, rtol=0.2)  # other swaps are drawn


def test_match_tables_are_compared_by_slices() -> None:
    truth = walkers(1)
    alarms = truth.objects.assign(object=50, y=900.0).drop_duplicates(["sequence", "frame"])
    tables = {
        name: sf.match(truth, pd.concat([tracker(truth, seed, lost=lost), alarms]))
        for name, seed, lost in (("a", 2, 0.1), ("b", 3, 0.4))
    }
    by_sky = sf.compare(tables, metrics=["recall", "precision"], by={"sequence_sky": None, "truth_x": 2}, resamples=50)
    assert len(by_sky.pairs) == 8
    assert by_sky.pairs[["sequence_sky", "truth_x"]].drop_duplicates().shape == (4, 2)
    estimates = by_sky.pairs.pivot_table("estimate", ["sequence_sky", "truth_x"], "metric", observed=True, dropna=False)
    assert (estimates["recall"] > 0.1).all()
    of_precision = by_sky.pairs[by_sky.pairs["metric"] == "precision"]
    assert of_precision[["estimate", "p_value"]].isna().all(axis=None), "no false alarm has a truth's x"
    for column in ("predicted_x", "frame_n_predicted"):
        with refused(("compare: by", column, "the truth")):
            sf.compare(tables, by=column)


def test_the_leaderboard_of_tracks_is_by_hota(results: dict[str, sf.TrackResult], posed: sf.PoseResult) -> None:
    board = sf.leaderboard(dict(reversed(results.items())))
    assert board["name"].tolist() == ["whole", "cut"]
    assert board["rank"].tolist() == [1, 2]
    assert board["HOTA"].tolist() == [result.summary["HOTA"].iloc[-1] for result in results.values()]
    assert sf.leaderboard({"a": posed, "b": posed})["rank"].tolist() == [1, 1]
    with refused(("leaderboard", "HOTA", "f1", "one kind")):
        sf.leaderboard({"tracks": results["cut"], "matches": results["cut"].matches})


def test_results_of_polars_are_asked_as_those_of_pandas(results: dict[str, sf.TrackResult]) -> None:
    in_polars = sf.TrackResult(*(pl.from_pandas(table) for table in results["cut"]))
    for by in (None, "sequence_sky"):
        found = sf.intervals(in_polars, by=by, metrics=["HOTA"], resamples=50)
        assert isinstance(found, pl.DataFrame)
        wanted = sf.intervals(results["cut"], by=by, metrics=["HOTA"], resamples=50)
        pd.testing.assert_frame_equal(found.to_pandas(), wanted, check_dtype=False)
    assert isinstance(sf.summarize(in_polars), pl.DataFrame)


def test_what_does_not_fit_results_is_refused(results: dict[str, sf.TrackResult], posed: sf.PoseResult) -> None:
    result = results["cut"]
    with refused(("metrics", "'f1'", "HOTA"), error=ValueError):
        sf.intervals(result, metrics=["f1"])
    with refused(("metrics", "ap", "sums of sequences"), error=ValueError):
        sf.intervals(posed, metrics=["HOTA", "ap"])
    with pytest.raises(sf.InputError, match=r"^sums: there is no column foo; there are sequence, .*sequence_seeing$"):
        sf.compare(results, by="foo")
    for column in ("hota_tp_0.05", "n_frames"):  # sums are no attributes
        with refused(("sums", column)):
            sf.compare(results, by=column)
    with refused(("sums", "sky", "sequence_sky")):
        sf.summarize(result, by="sky")
    others = sf.track(walkers(9), tracker(walkers(9), 2))
    with refused(("compare", "in only one of a and b")):
        sf.compare({"a": result, "b": others})
    with refused(("intervals: x: sums", "hota_tp_0.05")):
        sf.intervals(result._replace(sums=result.sums.drop(columns="hota_tp_0.05")))
    lacking = [column for column in result.sums if column.startswith("hota_fragment")]  # as before there was FragA
    with refused(("intervals: x: sums", "hota_fragment_0.05", "earlier version", "evaluate again")):
        sf.intervals(result._replace(sums=result.sums.drop(columns=lacking)))


def test_nothing_to_track_has_no_rows() -> None:
    empty = walkers(1).objects.head(0)
    result = sf.track(sf.Annotations(empty, pd.DataFrame({"sequence": [1], "frame": [1]})), empty)
    assert sf.summarize(result)["HOTA"].tolist() == result.summary["HOTA"].tail(1).tolist()
    with refused(("intervals", "no rows")):
        sf.intervals(sf.track(empty, empty))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_what_takes_a_match_table_takes_a_result(kind: str) -> None:
    truth, found = sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker")
    scores = np.random.default_rng(1).uniform(0.5, 1, len(found.objects))
    found = found._replace(objects=found.objects.assign(score=scores))
    sides = [of_kind(side.objects, kind) for side in (truth, found)]
    some = of_kind(found.objects[found.objects["frame"] % 9 > 0], kind)
    first, second = sf.track(*sides), sf.track(sides[0], some)
    words = {} if kind == "pandas" else {"similarity": "iou", "threshold": 0.5}
    asked: dict[str, tuple[Any, Any]] = {
        "changes": (sf.changes(first, second, **words), sf.changes(first.matches, second.matches, **words)),
        "object_summary": (sf.object_summary(first), sf.object_summary(first.matches)),
        "worst_slices": tuple(
            sf.worst_slices(x, ["truth_visibility"], min_sequences=2) for x in (first, first.matches)
        ),
        "detection_limit": tuple(sf.detection_limit(x, "truth_visibility").limits for x in (first, first.matches)),
        "bias": tuple(sf.bias(x, **words) for x in (first, first.matches)),
        "diagnose": tuple(sf.diagnose(x, **words) for x in (first, first.matches)),
        "label_suspects": tuple(sf.label_suspects(x, **words) for x in (first, first.matches)),
        "calibration": tuple(sf.calibration(x).bins for x in (first, first.matches)),
        "operating_point": tuple(sf.operating_point(x, recall=0.5) for x in (first, first.matches)),
    }
    for name, (of_result, of_table) in asked.items():
        assert isinstance(of_result, CLASSES[kind]), name
        assert plain(of_result) == plain(of_table), name
    assert len(sf.changes(first, first, **words)) == 0
    with refused(("object_summary: matches", "average precision")):
        sf.object_summary(sf.average_precision(truth, found))


def test_results_always_leave_out_what_is_null() -> None:
    truth, found = sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker")
    with refused("dropna=False goes with match tables", error=ValueError):
        sf.summarize(sf.track(truth, found), by="sequence", dropna=False)  # type: ignore[arg-type]
