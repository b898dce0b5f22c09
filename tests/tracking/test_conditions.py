"""Tracks and poses by condition: each value of truths, frames or sequences by itself."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spotgeo_frames as sf
from helpers.boxes import boxes, crowd
from helpers.commands import answer_here, refused_here, run_here
from helpers.kinds import of_kind
from helpers.problems import refused
from helpers.scenes import objects

# A tall walker, whom 4 follows, a short one, whom 5 follows in part, and 6, which follows nobody.
TRUTH = boxes([(1, 1, 1, 0, 0), (1, 2, 1, 0, 0), (1, 1, 2, 100, 0), (1, 2, 2, 100, 0), (2, 1, 1, 0, 0)]).assign(
    size=["tall", "tall", "short", "short", "tall"]
)
PREDICTIONS = boxes([(1, 1, 4, 0, 0), (1, 2, 4, 0, 0), (1, 1, 5, 100, 1), (1, 1, 6, 300, 0), (2, 1, 6, 300, 0)])


def combined(summary: pd.DataFrame, *columns: str) -> list[list[Any]]:
    return summary.loc[summary["sequence"].isna(), [*columns]].to_numpy().tolist()


def test_all_other_truths_leave_with_what_they_took() -> None:
    result = sf.track(TRUTH, PREDICTIONS, by="truth_size")
    assert combined(result.summary, "truth_size", "TP", "FN", "FP") == [["short", 1, 1, 2], ["tall", 2, 1, 2]]
    each = result.summary.dropna(subset="sequence")
    assert each[["sequence", "truth_size", "TP", "FN", "FP"]].to_numpy().tolist() == [
        [1, "short", 1, 1, 1],
        [1, "tall", 2, 0, 1],
        [2, "short", 0, 0, 1],  # nobody is short here, and what was seen is false
        [2, "tall", 0, 1, 1],
    ]
    assert result.summary.attrs["near_no_truth"] == 2
    assert "2 predictions that no truth took count in each" in result.provenance
    assert "truth_size short" in repr(result)


def test_every_table_says_which_slice_a_row_is_of() -> None:
    result = sf.track(TRUTH, PREDICTIONS, by="truth_size")
    for name in ("summary", "curve", "truth_objects", "predicted_objects", "sums"):
        table = getattr(result, name)
        assert table.columns[:2].tolist() == ["sequence", "truth_size"], name
        assert table["truth_size"].isin(["tall", "short"]).all()
    assert result.predicted_objects["object"].tolist() == [5, 6, 4, 6, 6, 6]
    by_slice = sf.summarize(result.matches, by="by_truth_size")
    assert by_slice[["tp", "fn", "fp"]].to_numpy().tolist() == [[1, 1, 2], [2, 1, 2]]
    assert result.matches.loc[result.matches["outcome"] == "FP", "truth_size"].isna().all()


def random_scene(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Boxes that wander and overlap; each truth is near or far, and light or dark by its frame."""
    random = np.random.default_rng(seed)
    truth, predictions, _ = crowd(random, 8, 7, 16)
    other, more, _ = crowd(random, 5, 4, 12)
    truth = pd.concat([truth, other.assign(sequence=4)], ignore_index=True)
    predictions = pd.concat([predictions, more.assign(sequence=4)], ignore_index=True)
    truth["place"] = random.choice(["near", "far"], len(truth))
    truth["light"] = np.where(truth["frame"] % 3 == 0, "dark", "light")
    return truth, predictions


@pytest.mark.parametrize("seed", range(20))
def test_a_slice_is_what_the_others_ignored_leave(seed: int) -> None:
    """Other tests hold ignored truths against MOTChallenge's kit."""
    truth, predictions = random_scene(seed)
    result = sf.track(truth, predictions, by="truth_place")
    for value, rows in result.summary.groupby("truth_place"):
        expected = sf.track(truth.assign(ignore=truth["place"] != value), predictions)
        pd.testing.assert_frame_equal(
            rows.drop(columns="truth_place").reset_index(drop=True), expected.summary, check_names=False
        )
        alone = sf.track(truth, predictions, where={"truth_place": value})
        pd.testing.assert_frame_equal(alone.summary, expected.summary)
        pd.testing.assert_frame_equal(alone.curve, expected.curve)
        pd.testing.assert_frame_equal(alone.sums, expected.sums)


@pytest.mark.parametrize("seed", range(5))
def test_ignored_truths_and_crowds_stay_out_of_every_slice(seed: int) -> None:
    truth, predictions = random_scene(seed)
    random = np.random.default_rng(seed)
    truth["ignore"], truth["crowd"] = random.random((2, len(truth))) < 0.2
    result = sf.track(truth, predictions, by="truth_place")
    for value, rows in result.summary.groupby("truth_place"):
        expected = sf.track(truth.assign(ignore=truth["ignore"] | (truth["place"] != value)), predictions).summary
        pd.testing.assert_frame_equal(rows.drop(columns="truth_place").reset_index(drop=True), expected)


@pytest.mark.parametrize("seed", range(5))
def test_frames_are_left_alone(seed: int) -> None:
    truth, predictions = random_scene(seed)
    frames = pd.concat([truth, predictions])[["sequence", "frame"]].drop_duplicates()
    frames["light"] = np.where(frames["frame"] % 3 == 0, "dark", "light")
    result = sf.track(sf.Annotations(truth.drop(columns="light"), frames), predictions, by="frame_light")
    for value in ("dark", "light"):
        kept = frames[frames["light"] == value]
        sides = [side.merge(kept, on=["sequence", "frame"]) for side in (truth.drop(columns="light"), predictions)]
        expected = sf.track(sf.Annotations(sides[0].drop(columns="light"), kept), sides[1].drop(columns="light"))
        rows = result.summary[result.summary["frame_light"] == value].drop(columns="frame_light")
        pd.testing.assert_frame_equal(rows.reset_index(drop=True), expected.summary)
    assert "near_no_truth" not in result.summary.attrs  # no prediction is in two slices


def test_sequences_and_their_attributes() -> None:
    sequences = pd.DataFrame({"sequence": [1, 2], "weather": ["rain", "sun"], "length": [2.0, 1.0]})
    truth = sf.Annotations(TRUTH, None, sequences)
    result = sf.track(truth, PREDICTIONS, by="sequence_weather")
    assert combined(result.summary, "sequence_weather", "TP", "FN", "FP") == [["rain", 3, 1, 1], ["sun", 0, 1, 1]]
    whole = sf.track(truth, PREDICTIONS)
    expected = sf.summarize(whole, by="sequence_weather")
    pd.testing.assert_frame_equal(sf.summarize(result, by="sequence_weather"), expected)
    binned = sf.track(truth, PREDICTIONS, by={"sequence_length": [0, 1, 2]})
    assert combined(binned.summary, "TP", "FN") == [[0, 1], [3, 1]]


def test_bins_crossings_and_counts_of_frames() -> None:
    truth = TRUTH.assign(h=[40.0, 60.0, 10.0, 50.0, np.nan])
    truth["h"] = truth["h"].fillna(1000.0)
    bins = {"truth_h": [0, 50, math.inf], "truth_size": None}
    result = sf.track(TRUTH.assign(height=truth["h"]), PREDICTIONS, by={"truth_height": [0, 50, math.inf]})
    assert result.summary["truth_height"].tolist()[-2:] == ["0 to 50", "50 to inf"]
    assert combined(result.summary, "TP", "FN", "FP") == [[2, 1, 2], [1, 1, 2]]
    crossed = sf.track(
        TRUTH.assign(height=truth["h"]), PREDICTIONS, by={"truth_height": bins["truth_h"], "truth_size": None}
    )
    assert combined(crossed.summary, "truth_size", "TP", "FN", "FP") == [
        ["short", 1, 1, 2],
        ["tall", 1, 0, 2],
        ["tall", 1, 1, 2],
    ]
    crowded = sf.track(TRUTH, PREDICTIONS, by={"frame_n_truth": [0, 1, 2]})
    assert combined(crowded.summary, "TP", "FN", "FP") == [[0, 1, 1], [3, 1, 1]]


def test_truths_without_a_value_are_in_no_slice() -> None:
    truth = TRUTH.assign(size=["tall", "tall", None, None, "tall"])
    result = sf.track(truth, PREDICTIONS, by="truth_size")
    assert combined(result.summary, "truth_size", "TP", "FN", "FP") == [["tall", 2, 1, 2]]


@pytest.mark.parametrize(
    ("where", "n_truth"),
    [
        ({"truth_size": "tall"}, 3),
        ({"truth_size": ["tall", "short"]}, 5),
        ({"truth_x": pd.Interval(0, 100)}, 2),  # above 0
        ({"truth_x": pd.Interval(0, 100, closed="both"), "truth_size": "tall"}, 3),
    ],
)
def test_where(where: dict[str, Any], n_truth: int) -> None:
    result = sf.track(TRUTH, PREDICTIONS, where=where)
    assert result.summary["n_truth"].iloc[-1] == n_truth
    assert [*result.summary] == [*sf.track(TRUTH, PREDICTIONS).summary]
    assert result.summary.attrs["where"].startswith(next(iter(where)))


def test_where_then_by() -> None:
    result = sf.track(
        TRUTH.assign(side=["l", "r", "l", "r", "l"]), PREDICTIONS, where={"truth_size": "tall"}, by="truth_side"
    )
    assert combined(result.summary, "truth_side", "TP", "FN", "FP") == [["l", 1, 1, 2], ["r", 1, 0, 2]]
    by_class = sf.track(
        TRUTH.assign(category="person"),
        PREDICTIONS.assign(category="person"),
        where={"truth_size": "tall"},
        by="category",
    )
    assert by_class.summary[["TP", "FN", "FP"]].iloc[-1].tolist() == [2, 1, 2]


def test_what_nothing_meets_is_told() -> None:
    with pytest.warns(UserWarning, match="no truth_size is Tall; there is 'tall', 'short'"):
        result = sf.track(TRUTH, PREDICTIONS, where={"truth_size": "Tall"})
    assert result.summary[["TP", "FN", "FP"]].iloc[-1].tolist() == [0, 0, 2]


def test_what_cannot_be_a_condition() -> None:
    with refused(("by", "there is no column truth_siz;", "truth_size")):
        sf.track(TRUTH, PREDICTIONS, by="truth_siz")
    with refused(("where", "no column truth_siz;", "truth_size")):
        sf.track(TRUTH, PREDICTIONS, where={"truth_siz": "tall"})
    with refused(("where: category is no condition", "truth_category")):
        sf.track(TRUTH, PREDICTIONS, where={"category": "tall"})
    with refused(("where", "no truth_size is Tall;")):
        sf.track(TRUTH, PREDICTIONS, where={"truth_size": "Tall"}, by="truth_size")
    with refused(("by: predicted_x", "in every slice")):
        sf.track(TRUTH, PREDICTIONS, by="predicted_x")
    with refused(("by: truth_size: no row of the truth has a value",)):
        sf.track(TRUTH.assign(size=None), PREDICTIONS, by="truth_size")
    with refused(("where: is 'truth_size'", "dict")):
        sf.track(TRUTH, PREDICTIONS, where="truth_size")  # type: ignore[arg-type]
    with refused(("where: truth_size", "do not compare")):
        sf.track(TRUTH, PREDICTIONS, where={"truth_size": pd.Interval(0, 1)})
    with refused(("by: poses are not evaluated by class",)):
        sf.pose(*sf.read_posetrack("data/poses/truth", "data/poses/tracker"), by="category")


def test_slices_do_not_add_up() -> None:
    result = sf.track(TRUTH, PREDICTIONS, by="truth_size")
    for ask in (sf.summarize, sf.intervals):
        with refused(("by", "its rows are by truth_size", "name it in by")):
            ask(result)  # type: ignore[operator]
    with refused(("sums", "no column truth_size", "track(..., by='truth_size')")):
        sf.intervals(sf.track(TRUTH, PREDICTIONS), by="truth_size")
    with refused(("error_costs: x", "is by truth_size", "where={'truth_size': value}")):
        sf.error_costs(result)


def test_intervals_and_comparisons_follow() -> None:
    truths, sides = zip(*map(random_scene, range(12)), strict=True)
    truth = pd.concat([t.assign(sequence=t["sequence"] + 10 * at) for at, t in enumerate(truths)])
    good = pd.concat([t.assign(sequence=t["sequence"] + 10 * at) for at, t in enumerate(sides)])
    results = {
        name: sf.track(truth, side, by="truth_place") for name, side in (("good", good), ("less", good.iloc[::2]))
    }
    table = sf.intervals(results["good"], by="truth_place", metrics=["HOTA", "MOTA"])
    rows = table[table["aggregate"] == "combined"]
    expected = sf.summarize(results["good"], by="truth_place")
    assert rows.loc[rows["metric"] == "HOTA", "estimate"].tolist() == expected["HOTA"].tolist()
    assert rows["low"].notna().all()
    pairs = sf.compare(results, by="truth_place", metrics=["HOTA"]).pairs
    first = pairs[pairs["aggregate"] == "combined"]
    assert first["truth_place"].tolist() == ["far", "near"]
    numbers = {
        name: sf.summarize(result, by="truth_place").set_index("truth_place") for name, result in results.items()
    }
    for row in first.to_dict("records"):
        a, b = (numbers[row[name]].loc[row["truth_place"], "HOTA"] for name in ("a", "b"))
        assert row["estimate"] == pytest.approx(a - b)
    assert sf.plots.metric_by_slice(table[table["aggregate"] == "combined"]).get_title().startswith("HOTA by slice")


def test_sums_of_parts_make_the_whole() -> None:
    truth, predictions = random_scene(1)
    whole = sf.summarize(sf.track(truth, predictions, by="truth_place"), by="truth_place")
    parts = [
        sf.sums(
            sf.track(truth[truth["sequence"] == name], predictions[predictions["sequence"] == name], by="truth_place")
        )
        for name in (3, 4)
    ]
    pd.testing.assert_frame_equal(sf.combine(parts), whole)
    # The second sequence alone has nobody short, so its false alarms among the short are missing.
    parts = [
        sf.sums(
            sf.track(TRUTH[TRUTH["sequence"] == name], PREDICTIONS[PREDICTIONS["sequence"] == name], by="truth_size")
        )
        for name in (1, 2)
    ]
    with refused(("combine: tables", "sequence 2 has not all slices of truth_size", "where=")):
        sf.combine(parts)


def test_saved_and_other_kinds_of_tables(tmp_path: Path) -> None:
    result = sf.track(TRUTH, PREDICTIONS, by={"truth_x": [-1, 50, 200]})
    sf.save(result, tmp_path / "result")
    loaded = sf.load(tmp_path / "result")
    assert loaded.summary["truth_x"].tolist()[-2:] == ["-1 to 50", "50 to 200"]
    assert sf.summarize(loaded, by="truth_x")["HOTA"].tolist() == sf.summarize(result, by="truth_x")["HOTA"].tolist()
    polars = sf.track(pl.from_pandas(TRUTH), pl.from_pandas(PREDICTIONS), by={"truth_x": [-1, 50, 200]})
    assert polars.summary["truth_x"].to_list()[-2:] == ["-1 to 50", "50 to 200"]
    assert sf.summarize(polars, by="truth_x")["HOTA"].to_list() == sf.summarize(result, by="truth_x")["HOTA"].tolist()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_bins_stay_in_their_order(kind: str, tmp_path: Path) -> None:
    """As text, 200 comes before 50."""
    sides = [of_kind(TRUTH.assign(height=[10.0, 60.0, 100.0, 300.0, 20.0]), kind), of_kind(PREDICTIONS, kind)]
    result = sf.track(*sides, by={"truth_height": [0, 50, 200, 1000]})
    bins = ["0 to 50", "50 to 200", "200 to 1000"]
    sf.save(result, tmp_path / "result")
    for known in (result, sf.load(tmp_path / "result")):
        by_height = pa.table(sf.summarize(known, by="truth_height"))
        assert by_height["truth_height"].to_pylist() == bins
        assert by_height["n_truth"].to_pylist() == [2, 2, 1]


def test_other_conditions_are_not_compared() -> None:
    """Sums and results of one condition are not those of another, nor of all."""
    of = {size: sf.track(TRUTH, PREDICTIONS, where={"truth_size": size}) for size in ("tall", "short")}
    with refused(("combine: tables[0]", "tall", "different ways")):
        sf.combine([sf.sums(of["tall"]), sf.sums(of["short"])])
    whole = sf.track(TRUTH, PREDICTIONS)
    for other in (of["short"], whole):
        with refused(("leaderboard", "not made with the same rule", "truth_size = tall")):
            sf.leaderboard({"a": of["tall"], "b": other})
    frames = TRUTH[["sequence", "frame"]].drop_duplicates().assign(light="day")
    more = pd.concat([frames, pd.DataFrame({"sequence": [1], "frame": [3], "light": ["night"]})])
    truth = sf.Annotations(TRUTH, more)
    alone = PREDICTIONS.head(1).assign(frame=3)
    sides = pd.concat([PREDICTIONS, alone])
    by_day = sf.track(truth, sides, where={"frame_light": "day"})
    with refused(("compare", "not made with the same rule", "frame_light = day")):
        sf.compare({"a": by_day, "b": sf.track(truth, sides)}, metrics=["MOTA"])


@pytest.mark.filterwarnings("ignore:object_summary. a prediction that no truth took stands in several")
@pytest.mark.parametrize("by", ["truth_size", {"truth_x": [-1, 50, 200]}, ["truth_size", "frame_n_truth"]])
def test_histories_and_breaks_of_slices(by: Any) -> None:
    """Those of each slice are those of its condition alone."""
    truth, predictions = random_scene(2)
    truth = truth.assign(size=truth["place"])
    by = {"truth_x": [-100, 8, 200]} if isinstance(by, dict) else by
    result = sf.track(truth, predictions, by=by)
    slices = [name for name in result.matches if name.startswith("by_")]
    histories, breaks = sf.object_summary(result.matches), sf.identity_breaks(result)
    assert {*slices} <= {*histories} & {*breaks}
    for key, rows in result.matches.groupby(slices, observed=True):
        alone = sf.object_summary(rows)
        own = histories.merge(pd.DataFrame([key], columns=slices), on=slices)
        assert own["pattern"].tolist() == alone["pattern"].tolist()
        assert (rows["event"] == "switch").sum() == own["n_switches"].sum()
    assert (breaks["break"] == "switch").sum() == histories["n_switches"].sum()


def test_frames_are_drawn_of_one_slice() -> None:
    matches = sf.track(TRUTH, PREDICTIONS, by="truth_size").matches
    for draw in (lambda table: sf.plots.frame(table, 1, 1), sf.explore):
        with refused(
            (("plots: matches" if draw is not sf.explore else "explore: x"), "several slices by by_truth_size")
        ):
            draw(matches)
        draw(matches[matches["by_truth_size"] == "tall"])
    with pytest.warns(UserWarning, match="stands in several slices by by_truth_size"):
        sf.summarize(matches)


@pytest.mark.parametrize("wanted", [[], {"tall": 1}, [pd.Interval(0, 1)], None, float("nan"), slice(0, 5), len])
def test_where_takes_values(wanted: Any) -> None:
    with refused(("where: truth_x", "a value, a list of values or one pandas.Interval")):
        sf.track(TRUTH, PREDICTIONS, where={"truth_x": wanted})


def test_histories_of_objects_are_conditions() -> None:
    """Objects that a first tracker lost at times, tracked by another."""
    first = sf.track(TRUTH, PREDICTIONS)
    histories = sf.object_summary(first.matches)[["sequence", "object", "history"]]
    truth = TRUTH.merge(histories, on=["sequence", "object"])
    result = sf.track(truth, PREDICTIONS, by="truth_history")
    assert combined(result.summary, "truth_history", "TP", "FN") == [
        ["always found", 2, 0],
        ["found in part", 1, 1],
        ["never found", 0, 1],
    ]


def test_points_take_what_lies_within_tau() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 100, 0), (1, 2, 0, 0)], kind=["a", "b", "a"])
    predictions = objects([(1, 1, 2, 0), (1, 1, 109, 0), (1, 1, 111, 0), (1, 2, 0, 0)])
    result = sf.track(truth, predictions, tau=10, by="truth_kind")
    assert combined(result.summary, "truth_kind", "TP", "FN", "FP") == [["a", 2, 0, 1], ["b", 1, 0, 1]]


def people(groups: dict[int, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = [
        (sequence, frame, person, joint, 10.0 * person + frame, 20.0 * joint)
        for sequence in (1, 2)
        for frame in range(4)
        for person in groups
        for joint in range(3)
    ]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "joint", "x", "y"])
    predictions = truth.assign(score=0.5, x=truth["x"] + (truth["object"] - 1) * 0.3)[truth["frame"] < 3]
    return truth.assign(head_size=8.0, group=truth["object"].map(groups)), predictions


def test_poses() -> None:
    truth, predictions = people({1: "runner", 2: "walker", 3: "walker"})
    result = sf.pose(truth, predictions, by="truth_group")
    for value, rows in result.summary.groupby("truth_group"):
        expected = sf.pose(truth.assign(ignore=truth["group"] != value), predictions).summary
        pd.testing.assert_frame_equal(rows.drop(columns="truth_group").reset_index(drop=True), expected)
        alone = sf.pose(truth, predictions, where={"truth_group": value}).summary
        pd.testing.assert_frame_equal(alone, expected)
    by_group = sf.summarize(result, by="truth_group")
    last = result.summary[result.summary["sequence"].isna() & result.summary["joint"].isna()]
    assert by_group["HOTA"].tolist() == pytest.approx(last["HOTA"].tolist())
    by_joint = sf.summarize(result, by=["truth_group", "joint"])
    assert len(by_joint) == 6
    assert sf.intervals(result, by="truth_group", metrics=["HOTA"])["estimate"].notna().any()


@pytest.mark.parametrize("annotated", [False, True])
def test_a_perfect_tracker_is_perfect_in_every_slice(annotated: bool) -> None:
    """Somebody else may be alone in a frame: that is no frame without anybody, of which the kits have rules."""
    truth, _ = people({1: "runner", 2: "walker"})
    truth = truth[(truth["object"] == 1) | (truth["frame"] < 2)]
    predictions = truth.drop(columns=["head_size", "group"]).assign(score=1.0)
    frames = truth.groupby(["sequence", "frame"])["object"].nunique().rename("n_annotated").reset_index()
    side = sf.Annotations(truth, frames) if annotated else truth
    for result in (
        sf.pose(side, predictions, by="truth_group"),
        sf.pose(side, predictions, where={"truth_group": "walker"}),
        sf.pose(
            sf.Annotations(truth.assign(ignore=truth["group"] != "walker"), frames if annotated else None), predictions
        ),
    ):
        present = result.summary[result.summary["objects"] > 0]
        assert len(present)
        assert present.loc[present["joint"].notna(), ["HOTA", "mota", "rec"]].drop_duplicates().to_numpy().tolist() == [
            [1.0, 100.0, 100.0]
        ]


def test_false_alarms_count_in_frames_of_others() -> None:
    truth, _ = people({1: "runner", 2: "walker"})
    truth = truth[(truth["object"] == 1) | (truth["frame"] < 2)]
    wrong = truth.assign(object=9, y=truth["y"] + 500.0)[(truth["object"] == 1) & (truth["frame"] == 2)]
    predictions = pd.concat([truth, wrong]).drop(columns=["head_size", "group"]).assign(score=1.0)
    summary = sf.pose(truth, predictions, by="truth_group").summary
    total = summary[summary["sequence"].isna() & summary["joint"].isna()]
    assert total["false_positives"].tolist() == [6, 6]  # three joints in each sequence


def test_the_command_line(tmp_path: Path) -> None:
    paths = tmp_path / "truth.parquet", tmp_path / "predictions.parquet"
    for path, side in zip(paths, (TRUTH, PREDICTIONS), strict=True):
        side.to_parquet(path)
    answer = answer_here("track", *paths, "--by", "truth_size", "--by", "truth_x:-1,50,200*truth_size")
    assert [(row["value"], row["TP"], row["FP"]) for row in answer["by"]["truth_size"]] == [
        ("short", 1, 2),
        ("tall", 2, 2),
    ]
    assert [row["value"] for row in answer["by"]["truth_x*truth_size"]] == [
        ["-1 to 50", "tall"],
        ["50 to 200", "short"],
    ]
    assert answer["near_no_truth"] == 2
    assert answer["by"]["truth_size"][0].keys() == {"value", *answer["combined"]}
    out = tmp_path / "out"
    again = answer_here("track", *paths, "--by", "truth_size", "--out", out)
    assert again["by"] == {"truth_size": answer["by"]["truth_size"]}
    assert pd.read_parquet(out / "by_truth_size.parquet")["truth_size"].tolist() == ["short", "tall"]
    text = run_here("track", *paths, "--by", "truth_size").out
    assert "truth_size" in text
    assert "2 predictions that no truth took count in every slice" in text
    poses = Path("data/poses")
    answer = answer_here("track", poses / "truth", poses / "tracker", "--by", "truth_head_size:0,20,inf")
    result = sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker"), by={"truth_head_size": [0, 20, math.inf]})
    last = result.summary[result.summary["sequence"].isna() & result.summary["joint"].isna()]
    rows = answer["by"]["truth_head_size"]
    assert [row["value"] for row in rows] == ["0 to 20", "20 to inf"]
    assert [row["keypoint_hota"]["HOTA"][-1] for row in rows] == last["HOTA"].tolist()


def test_compare_on_the_command_line(tmp_path: Path) -> None:
    paths = tmp_path / "truth.parquet", tmp_path / "good.parquet", tmp_path / "bad.parquet"
    for path, side in zip(paths, (TRUTH, PREDICTIONS, PREDICTIONS[:2]), strict=True):
        side.to_parquet(path)
    words = ("compare", *paths, "--tracks", "--by", "truth_size", "--metrics", "HOTA")
    answer = answer_here(*words)
    results = {path.stem: sf.track(TRUTH, pd.read_parquet(path), by="truth_size") for path in paths[1:]}
    expected = sf.compare(results, by="truth_size", metrics=["HOTA"]).leaderboard
    assert [row["truth_size"] for row in answer["leaderboard"]] == expected["truth_size"].tolist()
    assert [row["HOTA"] for row in answer["leaderboard"]] == expected["HOTA"].tolist()
    # A folder that was saved as a whole has no slices.
    sf.save(sf.track(TRUTH, PREDICTIONS), tmp_path / "saved")
    [problem] = refused_here("compare", paths[0], tmp_path / "saved", paths[2], *words[4:])
    assert "was evaluated as a whole, and by truth_size is asked for" in problem
    sf.save(results["good"], tmp_path / "by_size")
    again = answer_here("compare", paths[0], f"good={tmp_path / 'by_size'}", paths[2], *words[4:])
    assert again["pairs"] == answer["pairs"]


def test_datasets_on_the_command_line(tmp_path: Path) -> None:
    paths = tmp_path / "truth.parquet", tmp_path / "predictions.parquet"
    for path, side in zip(paths, (TRUTH, PREDICTIONS), strict=True):
        side.to_parquet(path)
    words = ("track", *paths, "--by", "truth_size", "--by", "truth_x:-1,50,200*truth_size")
    assert answer_here(*words, "--dataset") == answer_here(*words)
    assert "truth_size" in run_here(*words, "--dataset").out
