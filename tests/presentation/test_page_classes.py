"""The section of classes: numbers of each, which is taken for which, their curves, and suspect labels."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.report_inputs import HOSTILE, PETS, Page, many, many_poses, pets
from spotgeo_frames.presentation.drawing.display import texts
from spotgeo_frames.presentation.page.sections import class_matrices, class_numbers
from spotgeo_frames.support import number_text


def cells_of(page: Page) -> list[dict[str, str]]:
    """The links of all matrices: what they say, the submission, and the filter by column."""
    links = [attrs for tag, attrs in page.elements if tag == "a" and "data-cell" in attrs]
    words = [parse_qs(str(attrs["href"]).removeprefix("#view?")) for attrs in links]
    filters = [{one["column"]: one["is"][0] for one in json.loads(of["filter"][0])} for of in words]
    return [
        {"name": str(attrs["aria-label"]), "submission": of["submission"][0]} | asked
        for attrs, of, asked in zip(links, words, filters, strict=True)
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report of both detectors, its tables, and their average precision."""
    truth, sides = pets(PETS)
    folder = tmp_path_factory.mktemp("classes")
    sf.report(truth, sides, folder / "report.html", tables=folder / "tables")
    results = {name: sf.average_precision(truth, side) for name, side in sides.items()}
    return {
        "page": Page(folder / "report.html"),
        "tables": folder / "tables",
        "results": results,
        "matches": {name: sf.match(truth, side) for name, side in sides.items()},
    }


def test_the_matrix_counts_what_confusion_counts(made: dict[str, Any]) -> None:
    kept = pd.read_parquet(made["tables"] / "confusion.parquet").astype({"submission": "str"})
    cells = cells_of(made["page"])
    for name, result in made["results"].items():
        expected = sf.confusion(result, wide=False)
        of_name = kept[kept["submission"] == name].drop(columns="submission").reset_index(drop=True)
        pd.testing.assert_frame_equal(of_name, expected, check_dtype=False)
        totals = expected.groupby("truth_category", dropna=False)["count"].sum()
        for row in expected[expected["count"] > 0].itertuples(index=False):
            truth, predicted = (None if pd.isna(one) else one for one in row[:2])
            asked = {"truth_category": truth, "detected_as": predicted or "background"}
            asked = asked if truth else {"predicted_category": predicted, "detection_of": "background"}
            [cell] = [cell for cell in cells if {"submission": name, **asked}.items() <= cell.items()]
            total = totals[totals.index.isna()].iloc[0] if truth is None else totals[truth]
            assert cell["name"].startswith(f"{row.count}, {number_text(row.count / total, share=True)}: ")
    assert len(cells) == (kept["count"] > 0).sum()


def check_cells(page: Page, tables: Path) -> None:
    """Asserts that cells count the rows that they lead to, as the match tables of the folder have them."""
    matches = pd.read_parquet(tables / "matches.parquet").astype("str")
    assert cells_of(page)
    for cell in cells_of(page):
        asked = {name: value for name, value in cell.items() if name != "name"}
        rows = np.all([matches[name] == value for name, value in asked.items()], axis=0)
        assert cell["name"].startswith(f"{rows.sum()}, "), cell


def test_cells_lead_to_as_many_rows_as_they_count(made: dict[str, Any]) -> None:
    check_cells(made["page"], made["tables"])


def test_cells_count_alike_where_truths_are_ignored_and_detections_have_no_names(tmp_path: Path) -> None:
    truth, sides = pets(PETS)
    truth = truth.assign(ignore=truth["object"] == 0, crowd=truth["object"] == 1)
    sf.report(truth, sides["eager"].drop(columns="object"), tmp_path / "report.html", tables=tmp_path / "tables")
    check_cells(Page(tmp_path / "report.html"), tmp_path / "tables")


def test_cells_count_alike_for_whole_poses(tmp_path: Path) -> None:
    truth, predictions = many_poses(6)
    sides = [side.assign(category=np.array(PETS)[side["object"] % 3]) for side in (truth.objects, predictions)]
    sf.report(sides[0], sides[1], tmp_path / "report.html", similarity="oks", tables=tmp_path / "tables")
    check_cells(Page(tmp_path / "report.html"), tmp_path / "tables")


def test_the_most_frequent_confusion_is_named(made: dict[str, Any]) -> None:
    counts = sf.confusion(made["results"]["eager"], wide=False).dropna()
    wrong = counts[counts["truth_category"] != counts["predicted_category"]]
    most = wrong.loc[wrong["count"].idxmax()]
    n = (made["matches"]["eager"]["truth_category"] == most["truth_category"]).sum()
    said = (
        f"eager: {most['truth_category']} is most often taken for {most['predicted_category']}: {most['count']} of {n} "
    )
    assert made["page"].says(said)
    assert made["page"].says("shy: no class is taken for another.")


def test_numbers_by_class_are_those_of_the_functions(made: dict[str, Any]) -> None:
    shown, kept = made["page"].data["tables"]["classes"], pd.read_parquet(made["tables"] / "classes.parquet")
    assert shown["filters"] == {"0": "submission", "1": "category"}
    board = [of["name"] for of in made["page"].data["view"]["submissions"]]
    row = 0
    for name in board:
        averages = made["results"][name].categories.set_index("category")
        counts = sf.summarize(made["matches"][name], by="category").set_index("category")
        for category in PETS:
            assert shown["rows"][row][:3] == [name, category, number_text(averages["AP"][category], share=True)]
            assert kept["AP50"][row] == averages["AP50"][category]
            for metric in ("tp", "fn", "fp", "precision", "recall", "f1"):
                assert kept[metric][row] == counts[metric][category], metric
            row += 1
    assert len(shown["rows"]) == row


def test_a_row_unfolds_the_curves_of_its_class(made: dict[str, Any]) -> None:
    shown = made["page"].data["tables"]["classes"]
    kept = pd.read_parquet(made["tables"] / "class_curves.parquet").astype({"submission": "str", "category": "str"})
    board = [of["name"] for of in made["page"].data["view"]["submissions"]]
    averages = {name: result.categories.set_index("category") for name, result in made["results"].items()}
    for cells, at in zip(shown["rows"], shown["curve_of_row"], strict=True):
        curve, category = shown["curves"][at], cells[1]
        assert curve["name"] == f"Precision over recall of {category}"
        for series, text in curve["texts"]:
            numbers = texts(averages[board[series]].loc[[category], ["AP50", "AP75"]]).iloc[0]
            assert text == f"{board[series]}: AP50 {numbers['AP50']}, AP75 {numbers['AP75']}"
        for line in curve["lines"]:
            rows = kept[(kept["submission"] == board[line["series"]]) & (kept["category"] == category)]
            drawn = rows[rows["threshold"] == (0.75 if line["dashed"] else 0.5)]["precision"]
            assert line["precisions"] == np.rint(1000 * drawn).astype(int).tolist()
            number = "AP75" if line["dashed"] else "AP50"
            assert drawn.mean() == pytest.approx(averages[board[line["series"]]][number][category])


def test_suspect_labels_are_those_of_label_suspects(made: dict[str, Any]) -> None:
    order = [of["name"] for of in made["page"].data["view"]["submissions"]]
    expected = sf.label_suspects({name: made["results"][name] for name in order})
    kept = pd.read_parquet(made["tables"] / "label_suspects.parquet")
    assert kept["look_at"].tolist() == expected["look_at"].tolist()
    rows = made["page"].data["tables"]["label-suspects"]["rows"]
    assert {row[-1] for row in rows} <= {*expected["look_at"]}
    first = texts(expected[["sequence", "frame"]]).iloc[0].tolist()
    assert rows[0][:3] == [str(expected["suspicion"][0]).replace("_", " "), *first]


def test_of_many_classes_those_most_often_confused_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_matrices, "MOST_CLASSES", 2)
    truth, sides = pets(["a", "b", "c", "d", "e"])
    sides["eager"]["category"] = sides["eager"]["category"].where(truth["category"] != "a", "e").fillna("a")
    sf.report(truth, sides["eager"], tmp_path / "report.html", tables=tmp_path / "tables")
    page = Page(tmp_path / "report.html")
    shown = {cell["truth_category"] for cell in cells_of(page) if "truth_category" in cell}
    assert shown == {"a", "e"}
    assert page.says("The 2 classes that are most often confused are here; “3 other classes” adds up 3 more.")
    kept = pd.read_parquet(tmp_path / "tables" / "confusion.parquet")
    assert len(kept) == 36, "the folder has all of them"


def test_a_class_called_background_is_told_from_background(tmp_path: Path) -> None:
    truth, sides = pets(["background", "dog"])
    sf.report(truth, sides["eager"], tmp_path / "report.html")
    words = {cell.get("detected_as") for cell in cells_of(Page(tmp_path / "report.html"))}
    words |= {cell.get("detection_of") for cell in cells_of(Page(tmp_path / "report.html"))}
    assert {"background", "(background)"} <= words


@pytest.mark.parametrize("names", [[HOSTILE, "__proto__", "{{ 7 * 7 }}"], [1, 2, 30]])
def test_any_names_of_classes_are_text(tmp_path: Path, names: list[Any]) -> None:
    truth, sides = pets(names)
    sf.report(truth, sides["eager"], tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert {cell["truth_category"] for cell in cells_of(page) if "truth_category" in cell} == {*map(str, names)}
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 4


def test_without_scores_there_are_numbers_by_class_and_a_reason(tmp_path: Path) -> None:
    truth, sides = pets(PETS)
    sf.report(truth, sides["eager"].drop(columns="score"), tmp_path / "report.html", tables=tmp_path / "tables")
    page = Page(tmp_path / "report.html")
    assert "AP" not in page.text
    assert [row[0] for row in page.data["tables"]["classes"]["rows"]] == PETS
    assert page.says(
        "Which class is taken for which is not told here: confusion() needs boxes or poses whose predictions all have "
        "scores, matched by similarity and without identities."
    )
    assert not (tmp_path / "tables" / "confusion.parquet").exists()


def test_what_takes_too_long_or_too_much_room_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spotgeo_frames.analysis.errors.confused_columns.MOST_CONFUSED", 10)
    monkeypatch.setattr(class_matrices, "MOST_CONFUSED", 10)
    monkeypatch.setattr("spotgeo_frames.presentation.page.sections.suspects.MOST_LOOKED_AT", 10)
    monkeypatch.setattr(class_numbers, "MOST_CURVES", 2)
    truth, sides = pets(PETS)
    sf.report(truth, sides["eager"], tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert page.says("Which class is taken for which is left out, because it takes long")
    assert page.says("Suspect labels are left out, because it takes long")
    assert page.says("1 class has no curve here, that with the fewest truths.")


def test_objects_without_classes_have_no_section(tmp_path: Path) -> None:
    truth, predictions = many(4)
    sf.report(truth, predictions, tmp_path / "report.html")
    assert "classes" not in Page(tmp_path / "report.html").data["tables"]


def test_classes_that_only_one_submission_claims_are_in_all_matrices(tmp_path: Path) -> None:
    truth = pd.DataFrame(
        {"sequence": 1, "frame": 1, "object": [1, 2], "x": [0.0, 50.0], "y": 0.0, "w": 20.0, "h": 20.0}
    )
    truth = truth.assign(category=["cat", "dog"])
    right = truth.assign(score=0.9)
    wrong = right.assign(category=["cat", "zebra"])
    for sides in ({"A": right, "B": wrong}, {"A": wrong, "B": right.assign(category=["cat", "ape"])}):
        sf.report(truth, sides, tmp_path / "report.html")
        page = Page(tmp_path / "report.html")
        assert page.says("B: dog is most often taken for")
        assert not any("of 0" in cell["name"] for cell in cells_of(page))
    assert page.says("A: dog is most often taken for zebra: 1 of 1 (100.00%).")


def test_ties_are_told_and_classes_that_are_added_up_are_not_called_right(tmp_path: Path) -> None:
    """Sixteen classes in pairs, of which each is taken for its partner as often as any other."""
    names = [f"k{at:02}" for at in range(16)]
    truth = pd.DataFrame({"sequence": 1, "frame": range(16), "object": 1, "x": 0.0, "y": 0.0, "w": 20.0, "h": 20.0})
    truth = truth.assign(category=names)
    swapped = truth.assign(score=0.9, category=[names[at ^ 1] for at in range(16)])
    sf.report(truth, swapped, tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert page.says("k00 is most often taken for k01: 1 of 1 (100.00%). 15 more are taken for another as often.")
    result = sf.average_precision(truth, swapped)
    squares = class_matrices._of_all_classes({"one": class_matrices._square(sf.confusion(result, wide=False))})
    chosen, others = class_matrices._chosen([*squares.values()])
    assert (len(chosen), len(others)) == (12, 4)
