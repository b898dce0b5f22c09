"""track(by="category"): each class as trackeval evaluates it, and the two ways in which it averages classes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers import official
from helpers.boxes import box_matrix, boxes, crowd
from helpers.commands import answer_here
from helpers.problems import refused

FRAMES = pd.DataFrame({"sequence": np.repeat([1, 2, 3], 4), "frame": [1, 2, 3, 4] * 3})


def classed(rows: list[tuple]) -> pd.DataFrame:
    """Rows of sequence, frame, object, x, y and category."""
    table = boxes([row[:5] for row in rows])
    return table.assign(category=pd.Series([row[5] for row in rows], dtype="str"))


def check(truth: pd.DataFrame, predictions: pd.DataFrame, frames: pd.DataFrame) -> sf.TrackResult:
    got = sf.track(sf.Annotations(truth, frames), predictions, by="category")
    official.same_classes(got, official.evaluate_classes(truth, predictions, box_matrix, frames))
    return got


def crowds(seed: int, classes: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Three sequences; an object is of one class, which the tracker confuses now and then."""
    random = np.random.default_rng(seed)
    tables = [crowd(random, 9, int(random.integers(3, 14)), 14, whole=seed % 2 > 0) for _ in range(3)]
    truth, predictions, frames = (
        pd.concat([trio[side].assign(sequence=number) for number, trio in enumerate(tables)], ignore_index=True)
        for side in range(3)
    )
    truth["category"] = truth["object"] % classes
    confused = random.integers(0, classes, len(predictions)) * (random.random(len(predictions)) < 0.1)
    predictions["category"] = (predictions["object"] + confused) % classes
    return truth, predictions, frames


@pytest.mark.parametrize(("seed", "classes"), [(0, 2), (1, 3), (2, 5), (3, 1)])
def test_classes_that_some_objects_are_confused_with(seed: int, classes: int) -> None:
    check(*crowds(seed, classes))


@pytest.mark.parametrize("seed", range(2))
def test_classes_that_are_missing_on_a_side_or_in_a_sequence(seed: int) -> None:
    truth, predictions, frames = crowds(seed, 5)
    truth = truth[(truth["category"] != 0) & ~((truth["category"] == 2) & (truth["sequence"] == 1))]
    predictions = predictions[
        (predictions["category"] != 1) & ~(predictions["category"].eq(2) & predictions["sequence"].lt(2))
    ]
    check(truth, predictions, frames)
    check(truth[truth["sequence"] != 2], predictions, frames)
    check(truth, predictions[:0], frames)
    check(truth[:0], predictions, frames)


cells = st.tuples(*(st.integers(*ends) for ends in [(1, 2), (1, 4), (0, 3), (0, 7), (0, 3)]), st.sampled_from("abc"))
objects = st.lists(cells, max_size=18)


@settings(max_examples=25)
@given(objects, objects)
def test_any_boxes_of_three_classes(truth: list[tuple], predictions: list[tuple]) -> None:
    sides = [classed([*{row[:3]: row for row in rows}.values()]) for rows in (truth, predictions)]
    if any(map(len, sides)):
        check(*sides, FRAMES[:8])


# A car is found in all three frames, with another identity in the last. A bus in one frame of the other sequence is
# missed, and a bike is predicted twice where there is none.
TRUTH = classed([*((1, frame, 1, 0, 0, "car") for frame in (1, 2, 3)), (2, 1, 1, 0, 0, "bus")])
PREDICTIONS = classed(
    [
        (1, 1, 7, 0, 0, "car"),
        (1, 2, 7, 0, 0, "car"),
        (1, 3, 8, 0, 0, "car"),
        *((1, f, 9, 50, 0, "bike") for f in (1, 2)),
    ]
)


def test_scene() -> None:
    result = sf.track(sf.Annotations(TRUTH, FRAMES), PREDICTIONS, by="category")
    summary = result.summary.astype(object).where(result.summary.notna(), None)
    rows = summary[["sequence", "category", "average", "MOTA", "IDSW", "FN", "FP", "n_frames"]].to_numpy().tolist()
    nothing = [0, 0, 0, 0, 4]
    assert rows == [
        *([1, "bike", None, 0, 0, 0, 2, 4], [1, "bus", None, *nothing], [1, "car", None, 2 / 3, 1, 0, 0, 4]),
        *([2, "bike", None, *nothing], [2, "bus", None, 0, 0, 1, 0, 4], [2, "car", None, *nothing]),
        *([3, "bike", None, *nothing], [3, "bus", None, *nothing], [3, "car", None, *nothing]),
        # Over sequences, MOTA of the bikes is - FP, and those of the classes are averaged: (-2 + 0 + 2 / 3) / 3.
        *([None, "bike", None, -2, 0, 0, 2, 12], [None, "bus", None, 0, 0, 1, 0, 12]),
        [None, "car", None, 2 / 3, 1, 0, 0, 12],
        [None, None, "class", pytest.approx(-4 / 9), 1, 1, 2, 36],
        [None, None, "detection", 1 - (1 + 2 + 1) / 4, 1, 1, 2, 36],
    ]
    assert list(result.summary.columns[:4]) == ["sequence", "category", "average", "HOTA"]
    assert summary.loc[4, ["HOTA", "LocA", "MLR"]].tolist() == [0, 1, 1]  # the fill values of a missed class
    assert list(result.curve.columns[:5]) == ["sequence", "category", "average", "alpha", "HOTA"]
    assert len(result.curve) == 19 * len(result.summary)
    assert result.truth_objects[["sequence", "category", "object"]].to_numpy().tolist() == [
        [1, "car", 1],
        [2, "bus", 1],
    ]
    found = result.predicted_objects[["category", "object", "n_frames", "n_matched", "n_switches"]]
    assert found.to_numpy().tolist() == [["bike", 9, 2, 0, 0], ["car", 7, 2, 2, 0], ["car", 8, 1, 1, 1]]
    assert all(table.attrs["by"] == "category" for table in result)
    text = repr(result).splitlines()
    assert text[1] == "  average class, HOTA 0.2485, MOTA -0.4444, IDF1 0.2222"
    assert text[2].startswith("  average detection, HOTA 0.")


def test_the_match_table_is_in_the_order_of_frames() -> None:
    truth, predictions, frames = crowds(1, 3)
    result = sf.track(sf.Annotations(truth, frames), predictions, by="category")
    plain = sf.track(sf.Annotations(truth, frames), predictions)
    assert list(result.matches.columns) == list(plain.matches.columns)
    truths = [
        table.matches.dropna(subset="truth_object")[["sequence", "frame", "truth_object"]] for table in (result, plain)
    ]
    pd.testing.assert_frame_equal(*(rows.reset_index(drop=True) for rows in truths))
    found = result.matches[result.matches["outcome"] == "TP"]
    assert (found["truth_category"] == found["predicted_category"]).all()
    by_class = result.summary[result.summary["sequence"].isna() & result.summary["category"].notna()]
    counts = pd.crosstab(result.matches["category"], result.matches["event"])
    assert counts["switch"].tolist() == by_class["IDSW"].tolist()
    assert (counts["match"] + counts["switch"]).tolist() == by_class["TP"].tolist()
    assert counts["miss"].tolist() == by_class["FN"].tolist()
    assert counts["false positive"].tolist() == by_class["FP"].tolist()
    assert result.matches.groupby("category")["fragmentation"].sum().tolist() == by_class["Frag"].tolist()
    for side, table in (("truth", result.truth_objects), ("predicted", result.predicted_objects)):
        assert table.groupby("category").size().tolist() == by_class[f"n_{side}_objects"].tolist()
        assert table.groupby("category")["n_matched"].sum().tolist() == by_class["TP"].tolist()


def test_one_class_has_the_numbers_of_all_objects() -> None:
    truth, predictions, frames = crowds(3, 1)
    by_class = sf.track(sf.Annotations(truth, frames), predictions, by="category")
    plain = sf.track(sf.Annotations(truth, frames), predictions)
    numbers = [
        table.drop(columns=["sequence", "category", "average"], errors="ignore")
        for table in (by_class.summary, plain.summary)
    ]
    combined = pd.concat([numbers[1], *[numbers[1].tail(1)] * 2], ignore_index=True)
    pd.testing.assert_frame_equal(numbers[0], combined)
    pd.testing.assert_frame_equal(by_class.matches, plain.matches)
    pd.testing.assert_frame_equal(by_class.sums.drop(columns="category"), plain.sums)
    pd.testing.assert_frame_equal(by_class.truth_objects.drop(columns="category"), plain.truth_objects)


def test_an_object_whose_category_changes_is_one_of_each_class() -> None:
    truth = classed([(1, frame, 1, 0, 0, "car" if frame < 3 else "van") for frame in (1, 2, 3, 4)])
    result = check(truth, truth, FRAMES[:4])
    assert result.summary["IDTP"].tolist() == [2, 2, 2, 2, 4, 4]
    assert result.summary["HOTA"].tolist() == [1.0] * 6
    assert result.truth_objects[["category", "object", "n_frames"]].to_numpy().tolist() == [
        ["car", 1, 2],
        ["van", 1, 2],
    ]
    # In the frames in between neither side has a car, which interrupts nothing.
    back = truth.assign(category=["car", "van", "van", "car"])
    assert check(back, back, FRAMES[:4]).summary["Frag"].tolist() == [0] * 6


def test_classes_may_share_identities() -> None:
    both = classed([(1, 1, 1, 0, 0, "car"), (1, 1, 2, 50, 0, "van")]).assign(track="a")
    assert sf.track(both, both, identity="track", by="category").summary["n_truth_objects"].iloc[-1] == 2
    with refused(("truth: 2 rows", "(sequence, frame, track)")):
        sf.track(both, both, identity="track")
    twice = both.assign(category="car")
    with refused(("truth: 2 rows", "(sequence, frame, category, track)")):
        sf.track(twice, twice, identity="track", by="category")


def test_false_positives_per_frame_count_a_frame_once_a_class() -> None:
    truth = classed([(1, frame, number, 90 * number, 0, name) for frame in (1, 2) for number, name in enumerate("ab")])
    false = classed([(1, 1, 9, 500, 0, "a")])
    result = check(truth, pd.concat([truth, false]), FRAMES[:4])
    assert result.summary["FP_per_frame"].tolist() == [1 / 4, 0, 1 / 4, 0, 1 / 8, 1 / 8]


@pytest.fixture(scope="module")
def rare() -> sf.TrackResult:
    """Classes 0 and 1 in three sequences, class 2 in one of them."""
    truth, predictions, frames = crowds(5, 3)
    sides = [side[(side["category"] != 2) | (side["sequence"] == 1)] for side in (truth, predictions)]
    roads = pd.DataFrame({"sequence": [0, 1, 2], "road": ["wide", "wide", "narrow"]})
    return sf.track(sf.Annotations(sides[0], frames, roads), sides[1], by="category")


def test_results_by_class_can_be_asked(rare: sf.TrackResult) -> None:
    summary = rare.summary.set_index(["sequence", "category", "average"])
    metrics = list(summary.columns)
    np.testing.assert_allclose(sf.summarize(rare)[metrics], summary.tail(1))
    np.testing.assert_allclose(sf.summarize(rare, by="category")[metrics], summary[9:12])
    np.testing.assert_allclose(sf.summarize(rare, by=["sequence", "category"])[metrics], summary[:9])
    of_sequences = sf.summarize(rare, by="sequence")
    assert of_sequences["TP"].tolist() == summary[:9]["TP"].groupby("sequence").sum().tolist()
    crossed = sf.summarize(rare, by=["sequence_road", "category"])
    assert crossed["sequence_road"].tolist() == ["narrow"] * 3 + ["wide"] * 3
    assert crossed["n_truth"].groupby(crossed["category"]).sum().tolist() == summary[9:12]["n_truth"].tolist()
    wider = rare.sums["category"].map({0: "common", 1: "common", 2: "rare"}).rename("wider")
    assert sf.summarize(rare, by=wider)["n_truth"].tolist() == [
        summary[9:11]["n_truth"].sum(),
        summary["n_truth"].iloc[11],
    ]
    with pytest.warns(UserWarning, match="1 of 2 groups have only one sequence"):
        of_wider = sf.intervals(rare, wider, ["HOTA"])
    assert of_wider[of_wider["aggregate"] == "combined"]["n_sequences"].tolist() == [3, 1]
    with pytest.warns(UserWarning, match="1 of 3 groups have only one sequence"):
        found = sf.intervals(rare, by="category", metrics=["HOTA"])
    asked, macro = (found[found["aggregate"] == of] for of in ("combined", "macro"))
    assert asked["estimate"].tolist() == pytest.approx(summary[9:12]["HOTA"].tolist())
    assert asked["n_sequences"].tolist() == [3, 3, 1]
    assert macro["low"].isna().tolist() == [False, False, True]
    each = sf.summarize(rare, by=["sequence", "category"])
    assert macro["estimate"].iloc[0] == pytest.approx(each[each["category"] == 0]["HOTA"].mean())
    whole, macro_of_all = sf.intervals(rare, metrics=["MOTA"]).head(2).to_dict("records")
    assert (whole["estimate"], whole["n_sequences"]) == (pytest.approx(summary["MOTA"].iloc[-1]), 3)
    assert macro_of_all["estimate"] == pytest.approx(of_sequences["MOTA"].mean())
    assert macro_of_all["low"] < macro_of_all["high"]


def test_results_by_class_are_compared_with_their_like(rare: sf.TrackResult) -> None:
    pairs = sf.compare({"a": rare, "b": rare}, by={"category": None}, metrics=["HOTA"], resamples=50).pairs
    assert pairs[pairs["aggregate"] == "combined"]["category"].tolist() == [0, 1, 2]
    assert (pairs["estimate"] == 0).all()
    assert sf.leaderboard({"a": rare, "b": rare})["HOTA"].tolist() == pytest.approx([rare.summary["HOTA"].iloc[-1]] * 2)
    truth, predictions, frames = crowds(5, 3)
    plain = sf.track(sf.Annotations(truth, frames), predictions)
    with refused(("leaderboard", "a with rule iou", "by category")):
        sf.leaderboard({"a": rare, "b": plain})
    with refused(("sums", "column category", "track(by='category')")):
        sf.summarize(plain, by="category")


def test_the_curve_is_drawn_of_all_classes_or_of_one(rare: sf.TrackResult) -> None:
    of_class = rare.curve[rare.curve["category"] == 1]
    for curve, row in ((rare.curve, -1), (of_class, 10)):
        drawn = sf.plots.hota_curve(curve).lines[-4]
        assert len(drawn.get_xdata()) == 19
        assert np.mean(drawn.get_ydata()) == pytest.approx(rare.summary["HOTA"].iloc[row])


def test_no_objects() -> None:
    nothing = sf.track(sf.Annotations(TRUTH[:0], FRAMES), PREDICTIONS[:0], by="category")
    assert nothing.summary["average"].tolist() == ["class", "detection"]
    assert nothing.summary["MOTA"].isna().tolist() == [True, False]
    assert nothing.summary["n_truth"].tolist() == [0, 0]
    assert len(nothing.curve) == 38
    assert not len(nothing.sums)


def test_what_by_cannot_be() -> None:
    with refused(("by", "no column sequence_road", "truth_category")):
        sf.track(TRUTH, PREDICTIONS, by="sequence_road")
    with refused(("by", "category evaluates each class alone", "truth_category")):
        sf.track(TRUTH, PREDICTIONS, by=["category", "truth_x"])
    bare = PREDICTIONS.drop(columns="category")
    with refused(("predictions: column category is missing", "without by")):
        sf.track(TRUTH, bare, by="category")
    with refused(("truth: column category", "did you mean Category?"), ("predictions: column category",)):
        sf.track(TRUTH.rename(columns={"category": "Category"}), bare, by="category")
    with refused(("truth: column category", "4 rows", "null")):
        sf.track(TRUTH.assign(category=None), PREDICTIONS, by="category")


def test_identities_break_within_their_class() -> None:
    """An object is found as 7 while it is a car, then as 8 and 9 while it is a van: one switch, as IDSW counts."""
    truth = classed([(1, frame, 1, 0, 0, "car" if frame < 3 else "van") for frame in (1, 2, 3, 4)])
    result = sf.track(truth, truth.assign(object=[7, 7, 8, 9]), by="category")
    assert result.summary["IDSW"].iloc[-1] == 1
    breaks = sf.identity_breaks(result)
    assert breaks[["frame", "category", "predicted_before", "predicted_after"]].to_numpy().tolist() == [
        [4, "van", 8, 9]
    ]
    objects = sf.object_summary(result.matches)
    assert objects[["sequence", "category", "object", "n_switches"]].to_numpy().tolist() == [
        [1, "car", 1, 0],
        [1, "van", 1, 1],
    ]
    assert len(sf.identity_breaks(sf.track(truth, truth.assign(object=[7, 7, 8, 9])))) == 2


def test_costs_of_errors_are_those_of_the_evaluation_by_class() -> None:
    """Both errors are of the class of one object: mended, everything is found in each class."""
    truth = classed([(1, frame, 1, 0, 0, "car") for frame in (1, 2, 3)] + [(1, 1, 2, 90, 0, "bus")])
    result = sf.track(truth, truth.assign(object=[1, 1, 3, 2], x=[0, 0, 0, 500.0]), by="category")
    costs = sf.error_costs(result).set_index("kind")
    assert costs.loc["all", ["HOTA", "IDF1", "MOTA"]].tolist() == [1, 1, 1]
    mended = sf.track(truth, truth.assign(x=[0, 0, 0, 500.0]), by="category").summary.iloc[-1]
    assert costs.loc["switch", ["HOTA", "IDF1", "MOTA"]].tolist() == mended[["HOTA", "IDF1", "MOTA"]].tolist()
    assert costs.loc["duplicate", "HOTA_gain"] == 0


def test_classes_that_the_table_of_categories_lists_count_though_empty() -> None:
    """As trackeval evaluates the classes of a benchmark: they have fill values, and count in the mean of classes."""
    truth, predictions, frames = crowds(7, 2)
    names = {0: "bus", 1: "car"}
    truth, predictions = (side.assign(category=side["category"].map(names)) for side in (truth, predictions))
    listed = pd.DataFrame({"category": ["car", "ant", "tram"], "parent": ["road", "rest", "rail"]})
    got = sf.track(sf.Annotations(truth, frames, categories=listed), predictions, by="category")
    plain = sf.track(sf.Annotations(truth, frames), predictions, by="category")
    combined, whole = (of.summary[of.summary["sequence"].isna()] for of in (got, plain))
    assert combined["category"].tolist()[:-2] == ["ant", "bus", "car", "tram"]
    assert combined["HOTA"].iloc[-2] == pytest.approx(whole["HOTA"].iloc[-2] / 2)
    assert combined["LocA"].iloc[-2] == pytest.approx((whole["LocA"].iloc[-2] + 1) / 2)
    same = ["HOTA", "MOTA", "IDF1", "TP"]
    assert combined[same].iloc[-1].tolist() == whole[same].iloc[-1].tolist()
    assert (
        combined.set_index("category").loc["car", same].tolist()
        == whole.set_index("category").loc["car", same].tolist()
    )
    pd.testing.assert_frame_equal(got.matches, plain.matches)
    parents = sf.summarize(got, by="category_parent")
    assert parents["category_parent"].tolist() == ["rail", "rest", "road"]
    assert parents["TP"].tolist() == [0, 0, whole.set_index("category").loc["car", "TP"]]  # no parent of buses is known
    assert sf.intervals(got, by="category")["category"].nunique() == 4
    # Sums of parts, one of which has no object of the classes.
    parts = [sf.sums(got)[lambda table, name=name: table["sequence"] == name] for name in frames["sequence"].unique()]
    pd.testing.assert_frame_equal(
        sf.combine(parts).set_index("sequence").iloc[-1:], got.summary.set_index("sequence").iloc[-1:]
    )


def test_a_side_without_rows_has_the_classes_of_the_table() -> None:
    truth, predictions, frames = crowds(7, 2)
    listed = pd.DataFrame({"category": [0, 1, 5]})
    nothing = sf.track(sf.Annotations(truth.iloc[:0], frames, categories=listed), predictions.iloc[:0], by="category")
    assert nothing.summary["category"].dropna().unique().tolist() == [0, 1, 5]


def test_only_classes_by_themselves_are_an_official_number() -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [1.0, 9.0], "y": 1.0, "w": 4.0, "h": 4.0})
    truth = truth.assign(category=["a", "b"])
    official_number = "HOTA, CLEAR and Identity as trackeval 1.3.0 computes them"
    assert sf.track(truth, truth, by="category").provenance == official_number
    assert sf.track(truth.assign(category="a"), truth.assign(category="a")).provenance == official_number
    assert sf.track(truth, truth).provenance.startswith("trackeval's rule with all classes evaluated together")


def test_listed_classes_are_of_the_type_of_the_objects() -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [1.0, 9.0], "y": 1.0, "w": 4.0, "h": 4.0})
    truth = truth.assign(category=["a", "b"])
    numbered = sf.Annotations(truth, None, None, pd.DataFrame({"category": [1, 2]}))
    with refused(("truth: column category", "is text, and in its categories table numbers")):
        sf.track(numbered, truth, by="category")


@pytest.mark.parametrize("classes", [["a", "b"], ["a", "a"]])
def test_the_command_says_the_same_of_classes(tmp_path: Path, classes: list[str]) -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [1.0, 9.0], "y": 1.0, "w": 4.0, "h": 4.0})
    truth = truth.assign(category=classes)
    truth.to_parquet(tmp_path / "truth.parquet")
    words = ["track", tmp_path / "truth.parquet", tmp_path / "truth.parquet"]
    said = [answer_here(*words)["provenance"], answer_here(*words, "--out", tmp_path / "out")["provenance"]]
    assert said == [sf.track(truth, truth).provenance] * 2
    assert sf.load(tmp_path / "out").provenance == said[0]
