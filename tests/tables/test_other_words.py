"""Columns in other words are refused with the call that mends them, and never answered as something else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.commands import run_here
from helpers.problems import refused, warned
from helpers.scenes import objects
from spotgeo_frames.tables.other_words import tidy_call
from spotgeo_frames.tables.spellings import BOXES, SPELLINGS

ROWS = [(1, 1, 0.0, 0.0), (1, 1, 50.0, 50.0), (1, 2, 0.0, 5.0)]
POINTS = objects(ROWS)
SCORED = objects(ROWS, score=[0.9, 0.8, 0.7])
BOX_COLUMNS = {"w": 10.0, "h": 10.0}

# Every function that matches two sides, and the words that say boxes where it takes any.
MATCHING: dict[str, Callable[..., Any]] = {
    "match": sf.match,
    "match_frames": lambda truth, predictions: sf.match_frames(truth, predictions, lambda *sides: ([], [])),
    "track": sf.track,
    "sweep": sf.sweep,
    "check": sf.check,
    "check tracks": lambda truth, predictions: sf.check(truth, predictions, tracks=True),
    "average_precision": sf.average_precision,
    "Accumulator": lambda truth, predictions: sf.Accumulator().update(truth, predictions),
}


def in_parquet(function: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """A function of tables from one of files."""

    def called(truth: pd.DataFrame, predictions: pd.DataFrame) -> Any:
        for name, table in (("truth", truth), ("predictions", predictions)):
            table.to_parquet(tmp_path / f"{name}.parquet")
        return function(tmp_path / "truth.parquet", tmp_path / "predictions.parquet")

    return called


@pytest.fixture(params=[*MATCHING, "score_dataset", "track_dataset", "report"])
def matching(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    if request.param == "report":
        return lambda truth, predictions: sf.report(truth, predictions, tmp_path / "report.html")
    if request.param in MATCHING:
        return MATCHING[request.param]
    return in_parquet(getattr(sf, request.param), tmp_path)


@pytest.mark.parametrize("names", [("width", "height"), ("W", "H"), ("bbox_width", "bbox_height")])
def test_sizes_in_other_words(matching: Callable[..., Any], names: tuple[str, str]) -> None:
    sizes = dict.fromkeys(names, 10.0)
    with pytest.raises(sf.InputError) as caught:
        matching(POINTS.assign(**sizes), SCORED.assign(**sizes))
    assert len(caught.value.problems) == 2
    for problem in caught.value.problems:
        assert f"columns {names[0]}, {names[1]}" in problem
        assert f'tidy(table, box=["x", "y", "{names[0]}", "{names[1]}"])' in problem
        assert "tau" in problem


def test_the_call_that_is_named_mends_it(matching: Callable[..., Any]) -> None:
    sides = [side.assign(width=10.0, height=10.0) for side in (POINTS, SCORED)]
    if matching is MATCHING["match_frames"]:
        pytest.skip("match_frames takes no boxes without a tau")
    matching(*(sf.tidy(side, box=["x", "y", "width", "height"]) for side in sides))


@pytest.mark.parametrize("name", ["class_id", "label", "labels", "class", "classes", "category_id", "cls", "Label"])
def test_classes_in_other_words(matching: Callable[..., Any], name: str) -> None:
    sides = [side.assign(**BOX_COLUMNS, **{name: value}) for side, value in ((POINTS, "a"), (SCORED, "b"))]
    with refused(("truth and predictions: column " + name, "category", f'tidy(table, category="{name}")')):
        matching(*sides)


def test_classes_that_each_side_calls_otherwise() -> None:
    sides = POINTS.assign(**BOX_COLUMNS, label="car"), SCORED.assign(**BOX_COLUMNS, class_name="car")
    with refused(("truth and predictions: columns label and class_name", 'tidy(table, category="class_name")')):
        sf.match(*sides)


def test_an_attribute_of_one_side_is_no_class() -> None:
    assert "truth_label" in sf.match(POINTS.assign(label="a"), SCORED)
    given = POINTS.assign(label="a", category="car"), SCORED.assign(label="b", category="car")
    assert sf.match(*given)["outcome"].eq("TP").all()


def test_classes_of_one_side_in_other_words() -> None:
    with warned(
        (
            "categories are not compared, since only the truth has a column category",
            "predictions",
            'tidy(table, category="label")',
        )
    ):
        sf.match(POINTS.assign(category="a"), SCORED.assign(label="a"))


def test_crowds_in_other_words(matching: Callable[..., Any]) -> None:
    truth = POINTS.assign(**BOX_COLUMNS, iscrowd=[0, 0, 1])
    with refused(("truth: column iscrowd", "crowd", 'tidy(table, crowd="iscrowd")')):
        matching(truth, SCORED.assign(**BOX_COLUMNS))


@pytest.mark.parametrize("function", ["sweep", "average_precision"])
def test_scores_in_other_words(function: str) -> None:
    predictions = SCORED.rename(columns={"score": "confidence"}).assign(**BOX_COLUMNS)
    with refused(("predictions: column score is missing", 'tidy(table, score="confidence")')):
        getattr(sf, function)(POINTS.assign(**BOX_COLUMNS), predictions)


@pytest.mark.parametrize(
    "columns",
    [
        *(
            {"angle": 30.0},
            {"ra": 10.0},
            {"lon": 10.0},
            {"lat": 4.0},
            {"dec": 1.0},
            {"segmentation": "a"},
            {"mask": "a"},
        ),
        *({"bbox": "0 0 1 1"}, {"x2": 10.0, "y2": 10.0}, {"xmax": 10.0}, {"keypoints": "1"}, {"w": 10.0}),
    ],
)
@pytest.mark.parametrize("side", ["truth", "predictions", "both"])
def test_points_that_look_like_something_else(columns: dict[str, Any], side: str) -> None:
    truth = POINTS if side == "predictions" else POINTS.assign(**columns)
    predictions = SCORED if side == "truth" else SCORED.assign(**columns)
    places = [
        f"{name}: column" + "s" * (len(columns) > 1) for name in ("truth", "predictions") if side in (name, "both")
    ]
    for function in (sf.match, sf.track, sf.sweep, sf.check):
        with refused(*((place, *columns) for place in places)):
            function(truth, predictions)


@pytest.mark.parametrize("columns", [{"angle": 30.0}, {"ra": 10.0}, {"width": 5.0, "height": 5.0}, {"mask": "abc"}])
@pytest.mark.parametrize("words", [{"tau": 10, "epsilon": 3}, {"similarity": "point"}])
def test_words_that_say_points(columns: dict[str, Any], words: dict[str, Any]) -> None:
    with warned():
        matches = sf.match(POINTS.assign(**columns), SCORED.assign(**columns), **words)
    assert matches["outcome"].eq("TP").all()


def test_a_third_coordinate_is_told_of_where_points_are_meant() -> None:
    with warned(("truth: column z plays no part", "x", "y")):
        sf.match(POINTS.assign(z=1.0), SCORED, tau=10, epsilon=3)


def test_boxes_that_are_turned() -> None:
    sides = POINTS.assign(**BOX_COLUMNS, angle=45.0), SCORED.assign(**BOX_COLUMNS)
    with refused(("truth: column angle", "upright")):
        sf.match(*sides)
    with warned():
        assert len(sf.match(*sides, similarity="point", tau=10))


def test_boxes_with_an_angle_are_not_made_upright() -> None:
    table = objects(ROWS).rename(columns={"x": "cx", "y": "cy"}).assign(**BOX_COLUMNS, theta=45.0)
    with pytest.raises(sf.InputError):
        sf.match(table, table)
    assert sf.match(*[table.rename(columns={"theta": "angle"})] * 2)["outcome"].eq("TP").all()


def test_a_function_of_ones_own_knows_its_columns() -> None:
    def equal(truth: pd.DataFrame, predictions: pd.DataFrame) -> Any:
        return (truth["angle"].to_numpy() == predictions["angle"].to_numpy()).astype(float)

    sides = POINTS.assign(angle=[1.0, 2, 3]), SCORED.assign(angle=[1.0, 2, 3])
    assert sf.match(*sides, similarity=equal)["outcome"].eq("TP").all()


def test_degrees() -> None:
    truth = objects([(1, 1, 120.0, 40.0), (1, 1, 121.0, 41.0)])
    with warned(("x and y may be degrees, within 360 and 90, and tau is 0.01", "call them ra and dec")):
        sf.match(truth, truth, tau=0.01, epsilon=0)
    shares = truth.assign(x=truth["x"] / 200, y=truth["y"] / 200)
    with warned():
        sf.match(shares, shares, tau=0.01, epsilon=0)
    with warned():
        sf.match(truth, truth)


def test_a_side_without_rows_tells_nothing() -> None:
    assert sf.match(POINTS, SCORED.assign(width=1.0, height=1.0).head(0))["outcome"].eq("FN").all()


def test_missing_columns_name_the_call() -> None:
    other = POINTS.rename(columns={"sequence": "video", "frame": "image_id", "x": "xmin", "y": "ymin"})
    other = other.assign(xmax=other["xmin"] + 10, ymax=other["ymin"] + 10)
    box = ["xmin", "ymin", "xmax", "ymax"]
    call = 'tidy(table, sequence="video", frame="image_id", box=["xmin", "ymin", "xmax", "ymax"], box_format="xyxy")'
    with pytest.raises(sf.InputError) as caught:
        sf.match(other, SCORED)
    first, *others = caught.value.problems
    assert call in first
    assert ["the same tidy() call makes it" in problem for problem in others] == [True] * 3
    table = sf.tidy(other, sequence="video", frame="image_id", box=box, box_format="xyxy")
    assert sf.match(table, table)["outcome"].eq("TP").all()


@given(st.permutations([column for _, columns in BOXES for column in columns]), st.sampled_from(sorted(SPELLINGS)))
def test_any_spelling_of_a_column_is_found(names: list[str], column: str) -> None:
    for spelling in SPELLINGS[column]:
        assert f'{column}="{spelling}"' in tidy_call([spelling], wanted=[column])


@pytest.mark.parametrize("command", ["score", "check", "sweep", "diagnose", "track"])
def test_commands(command: str, tmp_path: Path) -> None:
    paths = tmp_path / "truth.csv", tmp_path / "found.csv"
    for path, table in zip(paths, (POINTS, SCORED), strict=True):
        table.assign(width=10.0, height=10.0).to_csv(path, index=False)
    done = run_here(command, *paths)
    assert (done.status, done.out) == (1, "")
    for path in paths:
        assert f"{path}: columns width, height look like those of boxes" in done.err
    assert 'tidy(table, box=["x", "y", "width", "height"])' in done.err


def test_dicts_of_arrays_name_their_keys() -> None:
    batch = {"sequence": 1, "frame": 1, "xy": [[1.0, 2.0]]}
    for key, meant in (("label", "classes"), ("Class_ID", "classes"), ("conf", "scores"), ("iscrowd", "crowd")):
        with refused((f"truth: key {key} is not known", meant)):
            sf.Accumulator().update(batch | {key: [1]}, batch)
    with refused(("truth: column width", "boxes")):
        sf.Accumulator().update(batch | {"width": [4.0]}, batch)


def test_batches_of_other_kinds_of_tables() -> None:
    sides = [pl.from_pandas(side.assign(label="a")) for side in (POINTS, SCORED)]
    with refused(("truth and predictions: column label", 'tidy(table, category="label")')):
        sf.Accumulator().update(*sides)


@pytest.mark.parametrize(
    ("columns", "ways"),
    [
        ({"segmentation": "e0191O1`1"}, 'call tidy(table, mask="segmentation", size=(width, height)) to compare masks'),
        ({"angle": 30.0}, "make columns cx, cy (the centre), w, h and angle (degrees) of oriented boxes"),
        (BOX_COLUMNS | {"angle": 30.0}, "make columns cx, cy (the centre), w, h and angle (degrees) to compare"),
    ],
)
def test_masks_and_oriented_boxes_in_other_words_are_told_the_way(columns: dict[str, Any], ways: str) -> None:
    with refused(("truth: column", ways), ("predictions: column", ways)):
        sf.match(POINTS.assign(**columns), POINTS.assign(**columns))
