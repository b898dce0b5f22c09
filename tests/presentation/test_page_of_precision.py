"""The report of boxes and whole poses with scores: AP comes first, and its section tells what the functions tell."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import warned
from helpers.report_inputs import HOSTILE, Page, many_boxes, many_poses
from spotgeo_frames.presentation.drawing.display import texts, words
from spotgeo_frames.presentation.drawing.drawn_tables import THRESHOLDS
from spotgeo_frames.presentation.page.sections import breakdown

BOXES, POSES = ["AP", "AP50", "AP75", "AR100"], ["AP", "AP50", "AP75", "AR"]


def categorised(side: pd.DataFrame, names: list[Any]) -> pd.DataFrame:
    """Objects whose category is named in turn by their object."""
    return side.assign(category=[names[number % len(names)] for number in side["object"]])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report of three detectors of boxes in two categories, and their average precision."""
    truth, predictions = many_boxes(24)
    truth = truth._replace(objects=categorised(truth.objects, ["cat", "dog"]))
    found = categorised(predictions, ["cat", "dog"])
    shifted = found.assign(x=found["x"] + 6)
    submissions = {"few": found[found["object"] != 1], "all": found, "shifted": shifted}
    folder = tmp_path_factory.mktemp("precision")
    sf.report(truth, submissions, folder / "report.html", tables=folder / "tables")
    results = {name: sf.average_precision(truth, submissions[name]) for name in ("all", "few", "shifted")}
    page = Page(folder / "report.html")
    return {
        "page": page,
        "tables": folder / "tables",
        "results": results,
        "truth": truth,
        "submissions": submissions,
    }


def test_ap_comes_first_and_ranks(made: dict[str, Any]) -> None:
    page, results = made["page"], made["results"]
    board = sf.compare(results, BOXES).leaderboard
    assert board["name"].tolist() == ["all", "few", "shifted"]
    assert page.exact()[: len(BOXES) * 3] == board[BOXES].T.to_numpy().ravel().tolist()
    assert page.says(f"all is first with an AP of {board['AP'].iloc[0]:.2%} (95% interval ")
    rows = page.data["tables"]["leaderboard"]["rows"]
    assert [row[1] for row in rows] == board["name"].tolist()
    assert {"AP", "AP from", "AP to", "F1"} <= {*page.text}
    assert "Differences of AP," in page.text
    kept = pd.read_parquet(made["tables"] / "leaderboard.parquet")
    for column in ("AP", "AP_low", "AP_high"):
        assert kept[column].tolist() == board[column].tolist(), column
    summary = pd.read_parquet(made["tables"] / "summary.parquet")
    assert summary.columns[:5].tolist() == ["submission", *BOXES]
    assert kept["f1"].tolist() == summary["f1"].tolist()


def test_intervals_are_those_of_the_results(made: dict[str, Any]) -> None:
    kept = pd.read_parquet(made["tables"] / "intervals.parquet").astype({"submission": "str"})
    for name, result in made["results"].items():
        expected = sf.intervals(result, metrics=BOXES)
        rows = kept[(kept["submission"] == name) & kept["metric"].isin(BOXES)]
        for column in ("aggregate", "metric", "estimate", "low", "high", "n_effective"):
            assert rows[column].tolist() == expected[column].tolist(), (name, column)


def test_the_curve_is_the_mean_over_categories(made: dict[str, Any]) -> None:
    rows = pd.DataFrame(made["page"].data["charts"]["precision_curve"]["datasets"]["precision"])
    for name, result in made["results"].items():
        for threshold, number in zip(THRESHOLDS, ("AP50", "AP75"), strict=True):
            drawn = rows[(rows["submission"].str[1:] == name) & (rows["threshold"] == f"{threshold:.2f}")]
            assert len(drawn) == 101
            assert drawn["precision"].mean() == pytest.approx(result.summary[number].iloc[0])


def test_the_numbers_by_category_and_the_costs_are_those_of_the_functions(made: dict[str, Any]) -> None:
    tables = made["page"].data["tables"]
    expected = [
        [name, *row]
        for name, result in made["results"].items()
        for row in texts(result.categories[["category", "AP", "AP50"]]).to_numpy().tolist()
    ]
    assert [row[:4] for row in tables["classes"]["rows"]] == expected
    assert tables["classes"]["filters"] == {"0": "submission", "1": "category"}
    costs = {name: sf.error_costs(result) for name, result in made["results"].items()}
    kept = pd.read_parquet(made["tables"] / "precision_costs.parquet")
    assert kept["dAP"].tolist() == [value for of in costs.values() for value in of["dAP"]]


def test_one_table_has_the_kinds_of_error_with_the_counts_of_the_frames_and_the_gains_in_ap(
    made: dict[str, Any],
) -> None:
    """Two tables had the same kinds with different counts: TIDE's are in order of scores, the frames' best pairs."""
    page = made["page"]
    assert [name for name in page.data["tables"] if "costs" in name] == ["costs"]
    assert page.data["charts"]["costs"]["encoding"]["x"]["title"] == "AP gained, points"
    kept = pd.read_parquet(made["tables"] / "error_costs.parquet").astype({"submission": "str"})
    rows = page.data["tables"]["costs"]["rows"]
    assert [row[:2] for row in rows] == [[name, words(kind)] for name, kind in kept[["submission", "kind"]].to_numpy()]
    assert [row[2:4] for row in rows] == texts(kept[["n_misses", "n_false_alarms"]]).to_numpy().tolist()
    for name, result in made["results"].items():
        gains = dict(zip(*(texts(sf.error_costs(result))[column] for column in ("kind", "AP_gain")), strict=True))
        for row in (row for row in rows if row[0] == name):
            assert row[4] == gains.get(row[1].replace(" ", "_"), "–"), row
    matches = page.view()["submissions"]["all"]["pairs"]["kind"]
    assert sum(kind == "lost" for kind in matches) == int(next(row[2] for row in rows if row[1] == "lost"))


def test_thresholds_stay_by_f1(made: dict[str, Any]) -> None:
    assert "F1 by threshold," in made["page"].text


def test_the_differences_of_the_sides_are_kept(made: dict[str, Any]) -> None:
    """Those of recall and precision, which the first screen tells, too."""
    kept = pd.read_parquet(made["tables"] / "pairs.parquet")
    matches = {name: sf.match(made["truth"], side) for name, side in made["submissions"].items()}
    expected = sf.compare({name: matches[name] for name in made["results"]}, ["recall", "precision"]).pairs
    found = kept[kept["metric"].isin(["recall", "precision"])]
    for column in ("a", "b", "metric", "estimate", "low", "high", "p_adjusted"):
        assert found[column].tolist() == expected[column].tolist(), column
    assert {*found["aggregate"]} == {"combined"}
    assert [row[3] for row in made["page"].data["tables"]["pairs"]["rows"]].count("recall") == 3


def test_every_column_is_described(made: dict[str, Any]) -> None:
    readme = (made["tables"] / "README.md").read_text("utf-8")
    names = {"precision_curve", "precision_by_category", "precision_costs", "changes"}
    assert names <= {path.stem for path in made["tables"].glob("*.parquet")}
    for name in names:
        section = readme.partition(f"## {name}.parquet\n")[2].partition("\n## ")[0]
        for column in pd.read_parquet(made["tables"] / f"{name}.parquet"):
            assert re.search(rf"^\| `{column}` \| \S+ \| (?!the column)\S.*\|$", section, re.MULTILINE), (name, column)


def test_whole_poses_have_the_numbers_of_poses(tmp_path: Path) -> None:
    truth, predictions = many_poses(6)
    sf.report(truth, predictions, tmp_path / "report.html", similarity="oks")
    page = Page(tmp_path / "report.html")
    result = sf.average_precision(truth, predictions)
    assert page.exact()[: len(POSES)] == result.summary[POSES].iloc[0].tolist()
    few = "(no interval: fewer than 20 sequences, and a single large one may decide the combined number)"
    assert f"AP is {result.summary['AP'].iloc[0]:.2%} {few}." in page.text
    assert "classes" not in page.data["tables"], "there are no categories"


WITHOUT: dict[str, dict[str, Any]] = {
    "function": {"similarity": lambda truth, predictions: (truth["x"] == predictions["x"]).to_numpy(float)},
    "point": {"similarity": "point"},
    "distance": {"tau": 10},
    "tracks": {"tracks": True},
}


@pytest.mark.parametrize("name", list(WITHOUT))
def test_other_rules_have_no_average_precision(name: str, tmp_path: Path) -> None:
    truth, predictions = many_boxes(6)
    sf.report(truth, predictions, tmp_path / "report.html", **WITHOUT[name])
    assert "precision_curve" not in Page(tmp_path / "report.html").data["charts"]


def test_all_submissions_need_scores(tmp_path: Path) -> None:
    truth, predictions = many_boxes(6)
    without = predictions.drop(columns="score")
    sf.report(truth, {"scores": predictions, "none": without}, tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert "precision_curve" not in page.data["charts"]
    assert page.says("is first with an F1 at IoU 0.5")


def test_one_side_may_be_empty(tmp_path: Path) -> None:
    truth, predictions = many_boxes(6)
    nothing = truth._replace(objects=truth.objects.iloc[:0])
    sf.report(nothing, {"a": predictions, "b": predictions}, tmp_path / "report.html", tables=tmp_path / "tables")
    page = Page(tmp_path / "report.html")
    assert "AP is not known of any submission." in page.text
    assert "precision_curve" not in page.data["charts"]
    sf.report(truth, {"none": predictions.iloc[:0], "all": predictions}, tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert [row[:4] for row in page.data["tables"]["leaderboard"]["rows"]][1][1] == "none"
    assert page.exact()[1] == 0


def test_categories_of_hostile_names_are_text(tmp_path: Path) -> None:
    truth, predictions = many_boxes(6)
    names = [HOSTILE, "__proto__", "constructor", "{{ 7 * 7 }}"]
    truth = truth._replace(objects=categorised(truth.objects, names))
    sf.report(truth, categorised(predictions, names), tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert {row[0] for row in page.data["tables"]["classes"]["rows"]} == {*names}
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 4


def test_a_category_without_truths_is_told(tmp_path: Path) -> None:
    truth, predictions = many_boxes(24)
    truth = truth._replace(objects=truth.objects.assign(category="cat"))
    with warned("1 category has no truths and is left out of the means: dog"):
        sf.report(truth, categorised(predictions, ["cat", "dog"]), tmp_path / "report.html")
    assert any("no truths and is left out of the means" in text for text in Page(tmp_path / "report.html").text)


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    """Crowds and what they explain of each submission, and the detections beyond the most of AP."""
    truth, predictions = many_boxes(24)
    crowd = truth._replace(objects=truth.objects.assign(crowd=truth.objects["object"] == 1))
    first = predictions["sequence"] == predictions["sequence"].iloc[0]
    flood = predictions[first & (predictions["frame"] == 1)].iloc[[0] * 120]
    found = pd.concat([predictions, flood.assign(object=range(1000, 1120), score=0.01)])
    submissions = {"few": predictions, "many": found}
    notes = {name: sf.match(crowd, side).attrs for name, side in submissions.items()}
    with pytest.warns(UserWarning, match="many: .* detections in 1 frame are left out, beyond the 100"):
        sf.report(crowd, submissions, tmp_path / "report.html")
    said = [text for text in Page(tmp_path / "report.html").text if "left out" in text.lower()]
    assert any("many: " in text and "beyond the 100" in text for text in said)
    explained = {name: f"{of['explained']:,} of {name}" for name, of in notes.items()}
    [text] = [text for text in said if "that they explain" in text]
    assert text.startswith(f"Left out are {notes['few']['crowds']:,} crowds, and the predictions")
    assert all(of in text for of in explained.values())


def test_costs_that_take_too_long_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakdown, "MOST_COSTED", 10)
    truth, predictions = many_boxes(6)
    sf.report(truth, predictions, tmp_path / "report.html", tables=tmp_path / "tables")
    page = Page(tmp_path / "report.html")
    assert page.data["charts"]["costs"]["encoding"]["x"]["title"] == "F1 gained, points"
    assert any("costs in AP is left out" in text for text in page.text)
    assert not (tmp_path / "tables" / "precision_costs.parquet").exists()
