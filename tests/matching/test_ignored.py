"""Ignored truths: they are matched with the rest, and then leave, with the predictions that they took."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools.cocoeval import COCOeval

import spotgeo_frames as sf
from helpers import coco_scenes
from helpers.commands import answer_here
from helpers.datasets import in_files
from helpers.problems import refused, warned
from helpers.scenes import objects

# Frame 1: object 2 is ignored, and prediction 2 is matched with it; frame 2 has nothing but an ignored object.
TRUTH = objects([(1, 1, 0, 0), (1, 1, 50, 0), (1, 2, 0, 0)], ignore=[0, 1, 1])
PREDICTIONS = objects([(1, 1, 1, 0), (1, 1, 52, 0), (1, 1, 53, 0), (1, 2, 90, 0)], score=[0.9, 0.8, 0.7, 0.6])

COUNTS = ["frame_n_truth", "frame_n_predicted"]


def without_ignored(truth: pd.DataFrame, predictions: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """The match table of all truths, without the rows of the ignored ones; their frames are counted again."""
    frames = pd.concat([truth, predictions])[["sequence", "frame"]].drop_duplicates()
    everything = sf.match(sf.Annotations(truth, frames), predictions, **options)
    left = everything[~everything["truth_ignore"].eq(1).to_numpy(bool, na_value=False)]
    empty = frames.merge(left[["sequence", "frame"]].drop_duplicates(), how="left", indicator=True)
    empty = empty.loc[empty["_merge"] == "left_only", ["sequence", "frame"]].assign(outcome="empty")
    rows = pd.concat([left, empty], ignore_index=True).sort_values(["sequence", "frame"], kind="stable")
    for name, outcomes in zip(COUNTS, (["TP", "FN"], ["TP", "FP"]), strict=True):
        counted = rows["outcome"].isin(outcomes).groupby([rows["sequence"], rows["frame"]]).transform("sum")
        rows = rows.assign(**{name: counted.astype("int64")})
    return rows.reset_index(drop=True)


def same_rows(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    names = ["sequence", "frame", "outcome", "truth_object", "predicted_object", "squared_error", *COUNTS]
    left, right = (table[[name for name in names if name in table]] for table in (found, expected))
    pd.testing.assert_frame_equal(left, right.astype(left.dtypes), check_dtype=False)


def test_an_ignored_truth_leaves_with_what_it_took() -> None:
    matches = sf.match(TRUTH, PREDICTIONS)
    assert matches["outcome"].tolist() == ["TP", "FP", "FP"]
    assert matches["predicted_object"].tolist() == [0, 2, 0]
    assert matches[COUNTS].to_numpy().tolist() == [[1, 2], [1, 2], [0, 1]]
    assert matches.attrs["ignored"] == 2
    same_rows(matches, without_ignored(TRUTH, PREDICTIONS))


def test_no_ignored_truths_in_the_column() -> None:
    none, bare = (sf.match(truth, PREDICTIONS) for truth in (TRUTH.assign(ignore=0), TRUTH.drop(columns="ignore")))
    pd.testing.assert_frame_equal(none.drop(columns="truth_ignore"), bare)
    assert none.attrs["ignored"] == 0
    assert "ignored" not in bare.attrs


@pytest.mark.parametrize("value", [None, 2, "yes", 0.5])
def test_what_is_neither_true_nor_false_is_refused(value: Any) -> None:
    truth = TRUTH.assign(ignore=pd.Series([0, value, 1], dtype=object))
    with refused(("truth: column ignore", "1 row", "sequence 1, frame 1, object 1")):
        sf.match(truth, PREDICTIONS)


def test_a_prediction_that_is_called_ignored_counts() -> None:
    everything = sf.match(TRUTH.drop(columns="ignore"), PREDICTIONS)
    with warned(("predictions: column ignore", "truths", "4")):
        found = sf.match(TRUTH.drop(columns="ignore"), PREDICTIONS.assign(ignore=True))
    pd.testing.assert_frame_equal(found.drop(columns="predicted_ignore"), everything)


def test_crowds_beside_ignored_truths() -> None:
    """A crowd explains what nothing takes; a truth that is both is a crowd."""
    boxes = objects([(1, 1, 0, 0), (1, 1, 50, 0), (1, 1, 200, 0)]).assign(w=20.0, h=20.0)
    truth = boxes.assign(crowd=[0, 0, 1], ignore=[0, 1, 1])
    found = objects([(1, 1, 0, 0), (1, 1, 50, 0), (1, 1, 205, 5), (1, 1, 205, 6)]).assign(w=10.0, h=10.0)
    found.loc[:1, ["w", "h"]] = 20.0
    matches = sf.match(truth, found)
    assert matches["outcome"].tolist() == ["TP"]
    assert {name: matches.attrs[name] for name in ("crowds", "explained", "ignored")} == {
        "crowds": 1,
        "explained": 3,
        "ignored": 1,
    }


def test_a_crowd_without_category_covers_every_class() -> None:
    """As DontCare regions do."""
    truth = objects([(1, 1, 0, 0), (1, 1, 100, 0)]).assign(w=50.0, h=50.0, category=["car", None], crowd=[0, 1])
    found = objects([(1, 1, 0, 0), (1, 1, 110, 5), (1, 1, 120, 5)]).assign(
        w=50.0, h=50.0, category=["car", "bus", "car"]
    )
    found.loc[1:, ["w", "h"]] = 10.0
    for table in (sf.match(truth, found), sf.track(truth, found).matches):
        assert table["outcome"].tolist() == ["TP"]
        assert table["category"].tolist() == ["car"]
    with warned(("average_precision", "1 category has no truths")):
        precision = sf.average_precision(truth, found.assign(score=[0.5, 0.9, 0.8]))
    assert precision.categories.set_index("category")["AP"].dropna().to_dict() == pytest.approx({"car": 1.0})
    with refused(("truth: column category", "1 row is null")):
        sf.match(truth.assign(crowd=0), found)


ROWS = st.lists(
    st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(0, 30), st.integers(0, 6), st.booleans()), max_size=12
)


def table(rows: list[tuple], column: str) -> pd.DataFrame:
    given = pd.DataFrame(rows, columns=["sequence", "frame", "x", "y", column])
    types = {"sequence": "int64", "frame": "int64", "x": "float64", "y": "float64", column: "bool"}
    return given.astype(types).assign(object=np.arange(len(given)))


@settings(max_examples=150, deadline=None)
@given(ROWS, ROWS, st.sampled_from(["points", "boxes"]))
@pytest.mark.filterwarnings("ignore:.*no truth at all")
def test_any_scene_equals_that_of_all_truths_without_the_ignored(
    truth: list[tuple], predictions: list[tuple], geometry: str
) -> None:
    sides = [table(truth, "ignore"), table(predictions, "odd").assign(score=0.5)]
    if geometry == "boxes":
        sides = [side.assign(w=8.0, h=4.0 + side["y"]) for side in sides]
    if not all(map(len, sides)) or {*sides[0]["sequence"]}.isdisjoint(sides[1]["sequence"]):
        return
    frames = pd.concat(sides)[["sequence", "frame"]].drop_duplicates()
    whole = sf.Annotations(sides[0], frames)
    matches = sf.match(whole, sides[1])
    same_rows(matches, without_ignored(*sides))
    summary = sf.summarize(matches)
    accumulator = sf.Accumulator().update(whole, sides[1])
    counts = ["tp", "fn", "fp", "n_truth", "n_predicted", "n_frames"]
    assert accumulator.compute()[counts].to_numpy().tolist() == summary[counts].to_numpy().tolist()
    curve = sf.sweep(whole, sides[1]).curve
    assert curve[["tp", "fn", "fp"]].tail(1).to_numpy().tolist() == summary[["tp", "fn", "fp"]].to_numpy().tolist()


def test_every_way_of_evaluating(tmp_path: Path) -> None:
    expected = sf.summarize(sf.match(TRUTH, PREDICTIONS))
    paths = [in_files(table, tmp_path / name) for name, table in (("truth", TRUTH), ("found", PREDICTIONS))]
    pd.testing.assert_frame_equal(sf.score_dataset(*paths), expected, check_dtype=False)
    by = sf.score_dataset(*paths, by={"truth_x": 2})
    pd.testing.assert_frame_equal(by, sf.summarize(sf.match(TRUTH, PREDICTIONS), by={"truth_x": 2}), check_dtype=False)
    with refused(("column predicted_score", "ignored truths")):
        sf.score_dataset(*paths, by={"predicted_score": 2})
    answer = answer_here("score", *paths)
    assert (answer["tp"], answer["fn"], answer["fp"]) == (1, 0, 2)
    of_polars = sf.match(pl.from_pandas(TRUTH), pl.from_pandas(PREDICTIONS))
    assert of_polars["outcome"].to_list() == ["TP", "FP", "FP"]
    taken = sf.match_frames(TRUTH, PREDICTIONS, lambda truth, found: ([1], [1]) if len(truth) > 1 else ([], []))
    assert taken["outcome"].tolist() == ["FN", "FP", "FP", "FP"]
    assert sf.check(TRUTH, PREDICTIONS).empty
    page = tmp_path / "page.html"
    sf.report(TRUTH, {"a": PREDICTIONS}, page)
    assert "2 ignored truths, and the predictions that they explain: 1 of a" in page.read_text()


def test_a_sweep_of_scores_matches_anew_at_each() -> None:
    """Above a score, an ignored truth may take another prediction."""
    curve = sf.sweep(TRUTH, PREDICTIONS, [0.6, 0.7, 0.8, 0.9]).curve
    for threshold, tp, fp in curve[["score_threshold", "tp", "fp"]].to_numpy():
        kept = PREDICTIONS[PREDICTIONS["score"] >= threshold]
        [expected] = sf.summarize(sf.match(TRUTH, kept)).to_dict("records")
        assert (tp, fp) == (expected["tp"], expected["fp"])


class WithIgnored(COCOeval):
    """pycocotools without the line of `_prepare` that overwrites `ignore` by `iscrowd`."""

    def _prepare(self) -> None:
        super()._prepare()
        for annotation in (row for rows in self._gts.values() for row in rows):
            annotation["ignore"] = annotation["ignore"] or annotation["distracts"]


@pytest.mark.filterwarnings("ignore:average_precision")
@pytest.mark.parametrize("seed", range(4))
def test_average_precision_is_that_of_cocos_protocol(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, results = coco_scenes.boxes(seed, 4, 6)
    random = np.random.default_rng(seed)
    marks = {row["id"]: bool(random.random() < 0.3) for row in truth["annotations"]}
    for row in truth["annotations"]:
        row["distracts"] = marks[row["id"]]
    monkeypatch.setattr(coco_scenes, "COCOeval", WithIgnored)
    wanted = coco_scenes.official(truth, results, "bbox")
    known, found = read(truth, results, tmp_path)
    ignore = known.objects["object"].map(marks).to_numpy(bool)
    result = sf.average_precision(known._replace(objects=known.objects.assign(ignore=ignore)), found)
    numbers = np.nan_to_num(result.summary.iloc[0, :12].to_numpy(float), nan=-1)
    assert numbers == pytest.approx(wanted.stats, abs=1e-12)
    assert result.summary.attrs["ignored"] == int((ignore & ~known.objects["crowd"].to_numpy(bool)).sum())


def read(truth: coco_scenes.Document, results: list[coco_scenes.Document], tmp_path: Path) -> tuple[Any, Any]:
    import json

    paths = tmp_path / "truth.json", tmp_path / "results.json"
    for path, content in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(content))
    return sf.read_coco(*paths, boxes=True)


def test_a_crowd_of_any_category_explains_confusions(recwarn: pytest.WarningsRecorder) -> None:
    row = {"sequence": 1, "frame": 1, "y": 0.0, "w": 10.0, "h": 10.0}
    places = [{"x": 0.0, "category": "a"}, {"x": 100.0, "category": "b"}, {"x": 200.0, "category": None, "w": 50.0}]
    truth = pd.DataFrame([row | place for place in places]).assign(crowd=[0, 0, 1])
    claims = [(0.0, "a"), (100.0, "b"), (210.0, "a"), (225.0, "b")]
    found = pd.DataFrame([row | {"x": x, "category": name, "score": 0.9} for x, name in claims])
    counts = sf.confusion(sf.average_precision(truth, found), wide=False)
    assert counts["count"].sum() == 2


def test_whether_a_crowd_is_ignored_is_no_matter(tmp_path: Path) -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 50, 0), (1, 1, 90, 0)]).assign(w=10.0, h=10.0, crowd=[False, False, True])
    truth["ignore"] = pd.array([False, True, None], "boolean")
    found = truth.drop(columns=["crowd", "ignore"]).assign(score=0.5)
    assert sf.match(truth, found)["outcome"].tolist() == ["TP"]
    assert sf.average_precision(truth, found).summary["AP50"].tolist() == pytest.approx([1.0])
    assert sf.sweep(truth, found).curve[["tp", "fp"]].to_numpy().tolist() == [[1, 0]]
    sf.report(truth, {"a": found}, tmp_path / "page.html")


def test_marks_of_any_type_are_read_alike() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 50, 0)], category=["a", None]).assign(w=20.0, h=20.0)
    found = objects([(1, 1, 0, 0), (1, 1, 55, 5)], category=["a", "b"]).assign(w=5.0, h=5.0)
    found.loc[0, ["w", "h"]] = 20.0
    for crowd in ([False, True], [0, 1], pd.Categorical([False, True]), pd.array([False, True], "boolean")):
        assert sf.match(truth.assign(crowd=crowd), found)["outcome"].tolist() == ["TP"]
    with refused(("truth: column crowd", "'yes'")):
        sf.match(truth.assign(crowd=pd.Series([0, "yes"], dtype=object)), found)


@pytest.mark.parametrize("n_ignored", [6, 7, 8])
def test_mistakes_are_found_where_most_truths_are_ignored(n_ignored: int) -> None:
    random = np.random.default_rng(0)
    rows = [(s, f, o, *random.uniform(0, [640, 480])) for s in range(30) for f in range(5) for o in range(10)]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y"])
    swapped = truth[truth["object"] >= n_ignored].rename(columns={"x": "y", "y": "x"})
    found = sf.check(truth.assign(ignore=truth["object"] < n_ignored), swapped)
    assert found["suspicion"].tolist() == ["x and y are swapped"]


def test_sequences_of_ignored_truths_are_not_missed() -> None:
    random = np.random.default_rng(0)
    rows = [(s, f, o, *random.uniform(0, [640, 480])) for s in range(30) for f in range(5) for o in range(3)]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y"])
    assert sf.check(truth.assign(ignore=truth["sequence"] >= 26), truth[truth["sequence"] < 26]).empty
