"""The column `category` of a match table: the numbers of every class."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spotgeo_frames as sf
from helpers.datasets import in_files
from helpers.problems import refused
from helpers.scenes import objects

# Of three cars one is found and one taken for a bus; a bus is missed; frame 3 is empty.
TRUTH = objects([(1, 1, 0, 0), (1, 1, 50, 0), (1, 2, 0, 0), (2, 1, 7, 7)], category=["car", "bus", "car", "car"])
PREDICTIONS = objects([(1, 1, 1, 0), (1, 2, 0, 0), (2, 1, 90, 7)], category=["car", "bus", "car"])
FRAMES = pd.DataFrame({"sequence": [1, 1, 1, 2], "frame": [1, 2, 3, 1]})


def test_the_numbers_of_every_class() -> None:
    by_class = sf.summarize(sf.match(TRUTH, PREDICTIONS), by="category").set_index("category")
    assert by_class.loc["car", ["tp", "fn", "fp", "precision", "recall", "f1"]].tolist() == [1, 2, 1, 1 / 2, 1 / 3, 0.4]
    assert by_class.loc["bus", ["tp", "fn", "fp", "precision", "recall", "f1"]].tolist() == [0, 1, 1, 0, 0, 0]


def test_the_truths_or_else_the_predictions() -> None:
    matches = sf.match(sf.Annotations(TRUTH, FRAMES), PREDICTIONS)
    category = matches["category"]
    assert matches.columns.get_loc("category") == matches.columns.get_loc("truth_object") - 1
    pd.testing.assert_series_equal(
        category, matches["truth_category"].fillna(matches["predicted_category"]), check_names=False
    )
    assert category.isna().tolist() == (matches["outcome"] == "empty").tolist()


@pytest.mark.parametrize(
    ("codes", "kind"),
    [("int8", "Int64"), ("Int32", "Int64"), ("float64", "float64"), ("category", "Int64"), ("bool", "boolean")],
)
def test_types(codes: str, kind: str) -> None:
    truth, predictions = (side.assign(category=(side["category"] == "car") * 1) for side in (TRUTH, PREDICTIONS))
    matches = sf.match(
        sf.Annotations(truth.astype({"category": codes}), FRAMES), predictions.astype({"category": codes})
    )
    assert matches["category"].dtype == kind
    assert matches["category"].dropna().tolist() == [1, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("kind", ["category", "object", "str"])
def test_text(kind: str) -> None:
    matches = sf.match(TRUTH.astype({"category": kind}), PREDICTIONS)
    assert pd.api.types.is_string_dtype(matches["category"].dtype)
    assert matches["category"].tolist() == sf.match(TRUTH, PREDICTIONS)["category"].tolist()


def test_a_side_without_rows() -> None:
    nothing = pd.DataFrame({column: [] for column in PREDICTIONS})
    assert sf.match(TRUTH, nothing)["category"].tolist() == TRUTH["category"].tolist()
    assert sf.match(nothing, PREDICTIONS)["category"].tolist() == PREDICTIONS["category"].tolist()
    assert sf.match(TRUTH.assign(category=3), nothing)["category"].dtype == "Int64"
    assert len(sf.match(nothing, nothing)["category"]) == 0


@pytest.mark.filterwarnings("ignore:categories are not compared")
def test_categories_on_one_side_are_no_classes() -> None:
    bare = PREDICTIONS.drop(columns="category")
    assert "category" not in sf.match(TRUTH, bare)
    with refused(("match table", "category", "both sides", "truth_category")):
        sf.summarize(sf.match(TRUTH, bare), by="category")


def test_polars() -> None:
    truth = pl.from_pandas(TRUTH).with_columns(pl.col("category").cast(pl.Categorical))
    matches = sf.match(truth, pl.from_pandas(PREDICTIONS))
    assert matches["category"].dtype == pl.String
    assert sf.summarize(matches, by="category")["tp"].to_list() == [0, 1]


def test_whole_poses_have_the_class_of_their_joints() -> None:
    joints = pd.concat([objects([(1, 1, x, 0), (1, 1, x + 5, 9)]).assign(object=x, joint=["a", "b"]) for x in (0, 50)])
    truth = joints.assign(area=900.0, category=np.repeat(["dog", "cat"], 2))
    predictions = joints.assign(category="dog")
    matches = sf.match(truth, predictions, similarity="oks", sigmas={"a": 0.1, "b": 0.1})
    assert matches[["category", "outcome"]].to_numpy().tolist() == [["dog", "TP"], ["cat", "FN"], ["dog", "FP"]]


def test_everything_that_takes_by_takes_classes(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    truth = objects([(s, 1, 40.0 * k, 0.0) for s in range(30) for k in range(4)]).assign(category=[1, 2] * 60)
    missed = (random.random(120) < 0.7) & (truth["category"] == 2)
    predictions = truth[~missed]
    matches = sf.match(truth, predictions)
    by_class = sf.summarize(matches, by="category")
    intervals = sf.intervals(matches, by="category", metrics=["f1"])
    assert intervals["estimate"].tolist() == by_class["f1"].tolist()
    worst = sf.worst_slices(matches, ["category"])
    assert worst["slice"].tolist() == ["category = 2"]
    folder = tmp_path / "out"
    sides = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    pd.testing.assert_frame_equal(sf.score_dataset(*sides, by="category"), by_class)
    pd.testing.assert_frame_equal(sf.score_dataset(*sides, folder, by="category"), by_class)
    assert pd.read_parquet(folder / "by_category.parquet")["category"].tolist() == [1, 2]


def test_categories_on_one_side_only_are_told() -> None:
    bare = PREDICTIONS.drop(columns="category")
    with pytest.warns(UserWarning, match="^categories are not compared, since only the truth has a column category$"):
        without = sf.match(sf.Annotations(TRUTH, FRAMES), bare)
    with pytest.warns(UserWarning, match="since only the predictions have a column category"):
        sf.match(TRUTH.drop(columns="category"), PREDICTIONS)
    matches = sf.match(sf.Annotations(TRUTH, FRAMES), PREDICTIONS)
    place = ("compare: a and b", "only a was matched by category")
    with refused(place):
        sf.compare({"a": matches, "b": without}, resamples=10)
    with refused(("changes: before and after", "only after was matched by category")):
        sf.changes(without, matches)
    empty = sf.match(sf.Annotations(TRUTH, FRAMES), bare.iloc[:0])
    assert len(sf.changes(matches, empty)) == 3
