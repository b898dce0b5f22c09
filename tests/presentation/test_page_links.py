"""What charts and tables say of the rows that they count, by which the page's script shows these rows."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.report_inputs import Page, many, many_boxes
from spotgeo_frames.matching.options import match_options
from spotgeo_frames.presentation.page.evaluation import Evaluation, evaluate
from spotgeo_frames.presentation.page.sections.breakdown import bins_of
from spotgeo_frames.tracking.results import rule_of_sides

# For each chart that is linked, the name of its data and the columns of its conditions besides the submission.
LINKED = {
    "costs": ("costs", ["kind"]),
    "recall_map": ("places", ["truth_centre_x", "truth_centre_y"]),
    "measures": ("hits", ["distance"]),
    "residuals": ("cells", ["offset_x", "offset_y"]),
    "by_threshold": ("sweep", ["predicted_score"]),
    "precision_by_recall": ("sweep", ["predicted_score"]),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """A report of two submissions of points with scores."""
    path = tmp_path_factory.mktemp("links") / "report.html"
    truth, predictions = many(24)
    by = [{"truth_x": 3}, "frame", {"truth_x": 3, "frame": None}]
    sf.report(truth, {"all": predictions, "few": predictions[predictions["object"] > 0]}, path, by=by)
    return Page(path)


def test_charts_name_the_rows_that_their_marks_count(page: Page) -> None:
    charts = page.data["charts"]
    assert {name for name, spec in charts.items() if "filters" in spec["usermeta"]} == {*LINKED}
    for name, (data, columns) in LINKED.items():
        filters = charts[name]["usermeta"]["filters"]
        assert [condition["column"] for condition in filters] == ["submission", *columns]
        fields = {field for condition in filters for key, field in condition.items() if key != "column"}
        assert all(fields <= {*row} for row in charts[name]["datasets"][data]), name


@pytest.mark.parametrize("pixels", [1.0, 0.01])
def test_cells_of_the_map_count_the_truths_whose_centres_they_name(pixels: float, tmp_path: Path) -> None:
    truth, predictions = many_boxes(24)
    objects = truth.objects.assign(**{axis: (truth.objects[axis] / pixels).round() * pixels for axis in "xy"})
    objects.loc[:1, ["x", "y"]] = [[0.0, 0.0], [640.0, 480.0]]  # so that edges lie on pixels
    sf.report(truth._replace(objects=objects), predictions, tmp_path / "report.html")
    chart = Page(tmp_path / "report.html").data["charts"]["recall_map"]
    x, y = ((objects[axis] + objects[size] / 2).round(2) for axis, size in ("xw", "yh"))  # as the viewer has them
    for row in chart["datasets"]["places"]:
        assert (x.between(row["x"], row["x2"]) & y.between(row["y"], row["y2"])).sum() == row["truths"]


def test_bars_count_the_hits_whose_distances_they_name(tmp_path: Path) -> None:
    truth = many(24)[0]
    moved = truth.objects.assign(x=truth.objects["x"].round(), y=truth.objects["y"].round())
    predictions = moved.assign(x=moved["x"] + moved["object"] * 2)  # distances on edges: 0, 2, 4 and 6
    truth = truth._replace(objects=moved)
    sf.report(truth, predictions, tmp_path / "report.html")
    distance = sf.match(truth, predictions)["distance"]
    for row in Page(tmp_path / "report.html").data["charts"]["measures"]["datasets"]["hits"]:
        assert distance.between(row["from"], row["to"]).sum() == row["n"]


def test_by_similarity_the_histogram_is_of_the_similarity(tmp_path: Path) -> None:
    truth, predictions = many_boxes(6)
    sf.report(truth, predictions, tmp_path / "report.html")
    [_, condition] = Page(tmp_path / "report.html").data["charts"]["measures"]["usermeta"]["filters"]
    assert condition["column"] == "similarity"


def test_tables_name_the_rows_that_they_count(page: Page) -> None:
    filters = {name: [*table["filters"].values()] for name, table in page.data["tables"].items()}
    assert filters["costs"] == ["submission", "kind"]
    assert filters["changes"] == ["change"]
    assert filters["slice-0"] == ["submission", "sequence"]
    assert filters["slice-2"] == ["submission", "truth_x (bins)"]
    assert filters["slice-3"] == ["submission", "frame"]
    assert filters["slice-4"] == ["submission", "truth_x (bins)", "frame"]


def evaluation_of(truth: sf.Annotations, submissions: dict[str, pd.DataFrame], by: list[Any]) -> Evaluation:
    sides = {name: sf.Annotations(table) for name, table in submissions.items()}
    words = match_options()
    [rule, *_] = [rule_of_sides(truth, side, words, False) for side in sides.values()]
    return evaluate(truth, sides, by, words, rule, False)


def test_bins_have_the_texts_of_the_slices(tmp_path: Path) -> None:
    truth, predictions = many(24)
    submissions = {"all": predictions, "few": predictions.drop(columns="score")}
    by = [{"truth_x": 3, "predicted_score": 4}, {"truth_x": 5}, {"frame": None}, {"predicted_score": 4}]
    evaluation = evaluation_of(truth, submissions, by)
    bins = bins_of(evaluation)
    assert list(bins) == ["truth_x (bins)", "predicted_score (bins)"], "the bins of the first slicing"
    table = evaluation.matches.assign(**bins)
    sf.report(truth, submissions["all"], tmp_path / "report.html", by={"truth_x": 3, "predicted_score": 4})
    tables = Page(tmp_path / "report.html").data["tables"]
    for name, column in (("slice-2", "truth_x (bins)"), ("slice-3", "predicted_score (bins)")):
        rows = table[(table["submission"] == "all") & (table["outcome"] == "TP")]
        assert {row[0]: row[1] for row in tables[name]["rows"]} == rows[column].value_counts().astype("str").to_dict()
    assert table.loc[table["submission"] == "few", "predicted_score (bins)"].isna().all(), "it has no such column"
    missed = table.loc[table["outcome"] == "FP", "truth_x (bins)"]
    assert missed.isna().all()
