"""What matching leaves out of account is told: sequences without truth, and classes that no side shares."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.commands import answer_here, complaints, run_here
from helpers.problems import refused, warned
from helpers.scenes import objects

# Sequence 1 has truths in frames 1 and 3. Predictions are also in frame 2, and in sequences 5 and 6.
TRUTH = objects([(1, 1, 0, 0), (1, 3, 0, 0)])
PREDICTIONS = objects([(1, 1, 1, 0), (1, 2, 0, 0), (1, 3, 1, 0), (5, 1, 0, 0), (5, 1, 9, 9), (6, 2, 0, 0)], score=0.5)
LEFT = PREDICTIONS.iloc[[0, 2]]
UNKNOWN = ("2 sequences of the predictions (5, 6)", "3 predictions", 'frames="labelled"')


def joints(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(joint=0, head_size=20.0)


def in_files(truth: Any, predictions: Any, folder: Path) -> tuple[Path, Path]:
    for name, table in (("truth", truth), ("predictions", predictions)):
        table.to_parquet(folder / f"{name}.parquet")
    return folder / "truth.parquet", folder / "predictions.parquet"


# Functions that match, each with what comes before the warning.
MATCHING: dict[str, tuple[Callable[..., Any], str]] = {
    "match": (sf.match, ""),
    "match_frames": (lambda *sides, **how: sf.match_frames(*sides, lambda *xy: ([], []), **how), ""),
    "track": (sf.track, ""),
    "pose": (lambda *sides, **how: sf.pose(*map(joints, sides), **how), ""),
    "sweep": (sf.sweep, "sweep: "),
    "sweep of tracks": (lambda *sides, **how: sf.sweep(*sides, tracks=True, **how), "sweep: "),
}


@pytest.mark.parametrize("name", MATCHING)
def test_sequences_without_truth_count_and_are_told(name: str) -> None:
    function, before = MATCHING[name]
    with pytest.warns(UserWarning, match="no truth at all") as found:
        function(TRUTH, PREDICTIONS)
    [text] = [str(warning.message) for warning in found if "no truth at all" in str(warning.message)]
    assert text.startswith(before + UNKNOWN[0])
    assert all(part in text for part in UNKNOWN)


@pytest.mark.parametrize("name", MATCHING)
def test_labelled_frames_only(name: str) -> None:
    function, _ = MATCHING[name]
    results = function(TRUTH, PREDICTIONS, frames="labelled"), function(TRUTH, LEFT)
    for left_out, expected in zip(*((x,) if isinstance(x, pd.DataFrame) else x for x in results), strict=True):
        assert left_out.attrs["unlabelled"] == 4
        assert {**expected.attrs, "unlabelled": 4} == left_out.attrs
        assert_alike(left_out, expected)


def assert_alike(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Equal but for the position in the file."""
    tables = (table.drop(columns="predicted_file_order", errors="ignore") for table in (found, expected))
    pd.testing.assert_frame_equal(*tables)


def test_average_precision() -> None:
    boxes = [side.assign(w=9.0, h=9.0) for side in (TRUTH, PREDICTIONS)]
    with warned(("average_precision: " + UNKNOWN[0], *UNKNOWN[1:])):
        sf.average_precision(*boxes)


def test_a_frame_that_the_truth_lists_is_labelled() -> None:
    frames = pd.DataFrame({"sequence": [1, 1, 5], "frame": [1, 3, 1]})
    with warned():
        matches = sf.match(sf.Annotations(TRUTH, frames), PREDICTIONS, frames="labelled")
    assert matches["outcome"].tolist() == ["TP", "TP", "FP", "FP"]
    assert matches.attrs["unlabelled"] == 2


def test_frames_of_the_predictions_play_no_part_in_labelled_ones() -> None:
    frames = PREDICTIONS[["sequence", "frame"]].drop_duplicates()
    matches = sf.match(TRUTH, sf.Annotations(PREDICTIONS, frames), frames="labelled")
    assert_alike(matches, sf.match(TRUTH, LEFT))


def test_a_truth_without_rows_has_no_labelled_frame() -> None:
    matches = sf.match(TRUTH.head(0), PREDICTIONS, frames="labelled")
    assert (len(matches), matches.attrs["unlabelled"]) == (0, 6)


def test_sequences_of_which_the_truth_has_a_frame_are_known() -> None:
    with warned():
        sf.match(TRUTH, PREDICTIONS[PREDICTIONS["sequence"] == 1])


rows = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(0, 9), st.integers(0, 9)), max_size=12)


@given(rows, rows)
def test_any_labelled_frames(truth: list[Any], predictions: list[Any]) -> None:
    known, found = objects(truth), objects(predictions)
    key = ["sequence", "frame"]
    assume(not truth or not predictions or {*known["sequence"]} & {*found["sequence"]})
    labelled = found.merge(known[key].drop_duplicates(), on=key)
    matches = sf.match(known, found, frames="labelled")
    assert_alike(matches, sf.match(known, labelled))
    assert matches.attrs["unlabelled"] == len(found) - len(labelled)


def test_check_lists_them() -> None:
    [row] = sf.check(TRUTH, PREDICTIONS).to_dict("records")
    assert row["suspicion"] == "sequences of the predictions have no truth at all"
    assert (row["f1"], row["f1_corrected"]) == pytest.approx((4 / 8, 4 / 5))
    assert all(part in row["advice"] for part in ("3 of 6", "(5, 6)", 'frames="labelled"', "--labelled"))
    assert not len(sf.check(TRUTH, PREDICTIONS, frames="labelled"))


@pytest.mark.parametrize("function", [sf.match, sf.track, sf.check])
def test_no_such_choice(function: Callable[..., Any]) -> None:
    with refused("frames is 'labeled'; 'truth', 'union' or 'labelled' is needed", error=ValueError):
        function(TRUTH, PREDICTIONS, frames="labeled")


def test_batches() -> None:
    """A batch may lack the truth of a sequence that another has; only all of them tell."""
    scores = sf.Accumulator().update(TRUTH.head(0), PREDICTIONS[3:4])
    scores = scores.update(TRUTH, PREDICTIONS[:3])
    with warned(("Accumulator: 1 sequence of the predictions (5)", "1 prediction")):
        assert scores.compute()["fp"].tolist() == [2]
    with warned():
        scores.update(TRUTH[:1].assign(sequence=5, frame=7), PREDICTIONS[:0]).compute()


def test_batches_of_frames_that_the_truth_lists() -> None:
    batch = {"sequence": "night", "frame": 3, "xy": [[10.0, 20.0]]}
    with warned():
        sf.Accumulator().update(batch | {"xy": []}, batch).compute()
    frames = pd.DataFrame({"sequence": [5], "frame": [1]})
    with warned():
        sf.Accumulator(keep="matches").update(sf.Annotations(TRUTH[:0], frames), PREDICTIONS[3:5]).compute()


def test_merged_batches() -> None:
    parts = [sf.Accumulator(), sf.Accumulator()]
    names = {1: "a", 5: "e", 6: "f"}
    parts[0].update(*(side[side["sequence"] == 1].replace({"sequence": names}) for side in (TRUTH, PREDICTIONS)))
    parts[1].update(TRUTH[:0], PREDICTIONS[3:].replace({"sequence": names}))
    with warned(("Accumulator: 2 sequences of the predictions (e, f)", "3 predictions")):
        parts[1].merge(parts[0]).compute()


@pytest.mark.parametrize("function", [sf.score_dataset, sf.track_dataset])
def test_datasets(function: Callable[..., Any], tmp_path: Path) -> None:
    paths = in_files(TRUTH, PREDICTIONS, tmp_path)
    with warned(("2 sequences are in the predictions only", "false alarms", 'frames="labelled"', "5, 6")):
        function(*paths)
    with warned(("2 sequences are in the predictions only", "left out", "5, 6")):
        found = function(*paths, frames="labelled")
    of_tables = sf.summarize(sf.match(TRUTH, LEFT)) if function is sf.score_dataset else sf.track(TRUTH, LEFT).summary
    pd.testing.assert_frame_equal(found, of_tables, check_dtype=False)
    assert found.attrs["unlabelled"] == 4


def test_a_dataset_that_is_kept(tmp_path: Path) -> None:
    """The match table has the count in its metadata, and another choice of frames is another evaluation."""
    paths = in_files(TRUTH, PREDICTIONS, tmp_path)
    with warned("2 sequences are in the predictions only (theirs are left out): 5, 6"):
        sf.score_dataset(*paths, tmp_path / "out", frames="labelled")
    [path] = (tmp_path / "out" / "matches").iterdir()
    assert pd.read_parquet(path).attrs["unlabelled"] == 4
    with pytest.raises(sf.InputError, match="out"):
        sf.score_dataset(*paths, tmp_path / "out")


def test_commands(tmp_path: Path) -> None:
    paths = in_files(TRUTH, PREDICTIONS, tmp_path)
    done = run_here("score", *paths)
    assert UNKNOWN[0] in done.err
    assert answer_here("score", *paths, "--labelled")["n_predicted"] == 2
    assert answer_here("track", *paths, "--labelled")["combined"]["FP"] == 0
    assert answer_here("check", *paths, "--labelled")["suspicions"] == []
    assert [row["n_predicted"] for row in answer_here("sweep", *paths, "--labelled")["curve"]] == [2]
    kinds = {row["kind"]: row["n_false_alarms"] for row in answer_here("diagnose", *paths, "--labelled")["kinds"]}
    assert kinds["all"] == 0
    gate = run_here("gate", *paths, "--min", "precision=0.9", "--labelled")
    assert gate.status == 0
    for command, key in (("score", "n_predicted"), ("track", "combined")):
        done = run_here(command, *paths, "--dataset", "--labelled", "--json")
        assert done.status == 0
        assert answer_here(command, *paths, "--labelled")[key] == json.loads(done.out)[key]
    out = tmp_path / "page.html"
    assert run_here("report", *paths, "--labelled", "--out", out).status == 0
    assert "predictions left out in others: 4 of predictions" in out.read_text("utf-8")


def test_the_report_tells_of_them(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="no truth at all"):
        sf.report(TRUTH, PREDICTIONS, tmp_path / "page.html")
    assert "no truth at all" in (tmp_path / "page.html").read_text("utf-8")


CLASSED = [side.assign(category=name, w=9.0, h=9.0) for side, name in ((TRUTH, "Car"), (LEFT, "car"))]
APART = ("no category is on both sides, so nothing can match", "'Car'", "'car'")


@pytest.mark.parametrize("name", ["match", "track", "sweep", "sweep of tracks"])
def test_classes_that_no_side_shares(name: str) -> None:
    function, before = MATCHING[name]
    with pytest.warns(UserWarning, match="no category is on both sides") as found:
        function(*CLASSED)
    assert any(str(warning.message).startswith(before + APART[0]) for warning in found)
    assert all(part in str(found[0].message) for part in APART)


def test_some_classes_in_common() -> None:
    with warned():
        sf.match(CLASSED[0], CLASSED[1].assign(category=["car", "Car"]))


CROWD = objects([(1, 2, 0, 0)]).assign(object=9, w=20.0, h=20.0, category=None, crowd=True)
FOUND_ON_IT = objects([(1, 2, 0, 0)], score=0.5).assign(w=20.0, h=20.0, category="car")


def test_a_crowd_of_no_class_alone_covers_every_class(tmp_path: Path) -> None:
    with warned():
        matches = sf.match(CROWD, FOUND_ON_IT)
        sf.Accumulator().update(CROWD, FOUND_ON_IT).compute()
        sf.score_dataset(*in_files(CROWD.astype({"category": "string"}), FOUND_ON_IT, tmp_path))
    assert matches["outcome"].tolist() == ["empty"]  # the prediction does not count


def test_a_crowd_of_no_class_says_nothing_of_the_others(tmp_path: Path) -> None:
    """Regions to ignore of KITTI and VisDrone are such crowds."""
    truth = pd.concat([CLASSED[0].assign(crowd=False), CROWD], ignore_index=True)
    with warned(APART) as told:
        sf.match(truth, CLASSED[1])
    with warned(("Accumulator: " + APART[0], *APART[1:])) as told_of_batches:
        sf.Accumulator().update(truth, CLASSED[1]).compute()
    with warned(APART) as told_of_files:
        sf.score_dataset(*in_files(truth.astype({"category": "string"}), CLASSED[1], tmp_path))
    for warnings in (told, told_of_batches, told_of_files):
        assert "None" not in str(warnings[0].message)
        assert "nan" not in str(warnings[0].message)


@pytest.mark.parametrize("kind", ["object", "category", "string"])
def test_any_type_of_classes(kind: str) -> None:
    with warned(APART):
        sf.match(*(side.astype({"category": kind}) for side in CLASSED))


def test_numbers_against_names() -> None:
    with refused(("predictions: column category", "int64", "make them the same")):
        sf.match(CLASSED[0], CLASSED[1].assign(category=1))
    with warned((APART[0], "'Car'", "'1'")):
        sf.match(CLASSED[0], CLASSED[1].assign(category="1"))


def in_arrow(table: pd.DataFrame) -> pd.DataFrame:
    return table.convert_dtypes(dtype_backend="pyarrow")


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas, in_arrow])
def test_bytes_are_no_classes(convert: Callable[..., Any]) -> None:
    raw = convert(CLASSED[1].assign(category=b"Car"))
    for function in (sf.match, sf.track, sf.sweep, sf.average_precision, lambda *s: sf.Accumulator().update(*s)):
        with refused(("predictions: column category: its values are bytes", "text")):
            function(convert(CLASSED[0]), raw)


def test_bytes_among_names_are_no_classes() -> None:
    with refused(("predictions: column category: its values are bytes", "text")):
        sf.match(CLASSED[0], CLASSED[1].assign(category=["car", b"Car"]))


def test_sides_about_other_sequences_are_refused_with_the_first_three_of_each() -> None:
    truth = pd.concat([objects([(number, 1, 0, 0)]) for number in (1, 2, 3, 4)], ignore_index=True)
    few = pd.concat([objects([(number, 1, 0, 0)]) for number in (7, 8, 9)], ignore_index=True)
    with refused(
        ("predictions: shares no sequence with the truth", "it has 7, 8, 9 and", "the truth has 1, 2, 3, ...")
    ):
        sf.match(truth, few)


@pytest.mark.parametrize(
    ("truth", "predictions", "told"),
    [
        ({"w": 0.0}, {}, ("1 of the truth",)),
        ({"h": 0.0}, {}, ("1 of the truth",)),
        ({}, {"w": -1.0}, ("1 of the predictions",)),
        ({"h": 0.0}, {"w": 0.0}, ("1 of the truth and 1 of the predictions",)),
    ],
)
def test_flat_boxes_of_either_side_are_told(truth: dict, predictions: dict, told: tuple[str, ...]) -> None:
    box = objects([(1, 1, 0, 0)]).assign(w=10.0, h=10.0)
    with warned(("boxes of zero or negative size overlap with nothing", *told)):
        sf.match(box.assign(**truth), box.assign(**predictions))


def test_check_tells_of_classes() -> None:
    [row] = sf.check(CLASSED[0].assign(category="Vehicle"), CLASSED[1]).to_dict("records")
    assert row["suspicion"] == "no class is the truth's"
    assert all(name in row["advice"] for name in ("'Vehicle'", "'car'"))


def test_classes_of_all_batches_tell() -> None:
    sides = [side.assign(frame=[1, 2]) for side in CLASSED]
    apart = sf.Accumulator()
    with warned():
        for frame in (1, 2):
            apart.update(*(side[side["frame"] == frame] for side in sides))
    with warned(("Accumulator: " + APART[0], *APART[1:])):
        apart.compute()
    with warned():
        apart.update(*(side.assign(frame=9, object=[1, 2], category="Car") for side in sides)).compute()


@pytest.mark.parametrize("function", [sf.score_dataset, sf.track_dataset])
def test_classes_of_datasets(function: Callable[..., Any], tmp_path: Path) -> None:
    with warned(APART):
        function(*in_files(*CLASSED, tmp_path))
    with warned("categories are not compared, since only the truth has a column category"):
        function(*in_files(CLASSED[0], CLASSED[1].drop(columns="category"), tmp_path))


def test_classes_on_the_command_line(tmp_path: Path) -> None:
    done = run_here("score", *in_files(*CLASSED, tmp_path))
    assert [APART[0] in line for line in complaints(done.err)] == [True]


def test_frames_that_are_clocks() -> None:
    start = 1_700_000_000_000_000
    truth = objects([(1, start + k, 0.0, 0.0) for k in (0, 100)])
    late = truth.assign(frame=truth["frame"] + 7)
    with warned(("no frame", "has both truths and predictions", "align_times(truth, predictions, tolerance)")):
        sf.match(truth, late)
    with warned():
        sf.match(truth, truth)
        sf.match(truth.assign(frame=[1, 2]), truth.assign(frame=[3, 4]))


MARKS = ("column ignore plays no part, since only truths can be ignored", "(1)")


@pytest.mark.parametrize("name", MATCHING)
def test_predictions_that_are_marked_are_told(name: str) -> None:
    function, before = MATCHING[name]
    marked = LEFT.assign(ignore=[True, False], crowd=0)
    with pytest.warns(UserWarning, match="plays no part") as found:
        function(TRUTH, marked)
    [text] = [str(warning.message) for warning in found if "plays no part" in str(warning.message)]
    assert text.startswith(f"{before}predictions: {MARKS[0]}")
    assert MARKS[1] in text
    assert "crowd" not in text


@pytest.mark.parametrize("marks", [[0, 0], [None, None], [False, False]])
def test_predictions_without_a_mark_are_not_told(marks: list[Any]) -> None:
    with warned():
        sf.match(TRUTH, LEFT.assign(ignore=marks))


def test_marks_that_are_none_play_no_part_either() -> None:
    with warned(("predictions: column crowd", "plays no part", "only truths can be crowds", "drop the rows")):
        sf.match(TRUTH, LEFT.assign(crowd=["yes", "no"]))


def test_marked_predictions_in_batches_and_datasets(tmp_path: Path) -> None:
    marked = LEFT.assign(ignore=[1, 0])
    with warned(("Accumulator: predictions: column ignore", "plays no part")):
        sf.Accumulator().update(TRUTH, marked).compute()
    with warned(("predictions: column ignore", "plays no part", "only truths can be ignored")):
        sf.score_dataset(*in_files(TRUTH, marked, tmp_path))


def test_marked_predictions_are_suspicious() -> None:
    found = sf.check(TRUTH, pd.concat([LEFT.assign(ignore=0), LEFT.assign(object=7, x=90.0, ignore=1)]))
    [row] = found[found["suspicion"].str.contains("marked")].to_dict("records")
    assert (row["f1"], row["f1_corrected"]) == (pytest.approx(2 / 3), 1.0)


def test_frames_that_share_nothing_are_suspicious() -> None:
    clocks = [side.assign(frame=side["frame"] * 10**9 + shift) for side, shift in ((TRUTH, 0), (LEFT, 7))]
    [row] = sf.check(*clocks).to_dict("records")
    assert row["suspicion"] == "no frame has both truths and predictions"
    assert "1000000000, 3000000000" in row["advice"]
    assert "align_times()" in row["advice"]
