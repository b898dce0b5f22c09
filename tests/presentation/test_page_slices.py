"""Slices of the page: the worst in words, and the differences of submissions beside their dots."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.report_inputs import Page
from spotgeo_frames.presentation.drawing.display import texts
from spotgeo_frames.presentation.page.sections import multiples, slice_differences, slice_words


def stars(n_sequences: int) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Stars of four colours in ten frames a sequence: `blind` misses most red ones, `sharp` some of any colour."""
    random = np.random.default_rng(0)
    at = np.arange(n_sequences * 10 * 4)
    truth = pd.DataFrame({"sequence": at // 40 + 1, "frame": at // 4 % 10 + 1, "object": at % 4})
    truth = truth.assign(x=truth["object"] * 100.0, y=50.0, colour=np.array(["blue", "green", "red", "white"])[at % 4])
    found, chance = truth.drop(columns="colour"), random.uniform(size=len(at))
    blind = found[(truth["colour"] != "red") | (chance < 0.1)]
    return truth, {"blind": blind, "sharp": found[random.uniform(size=len(at)) < 0.8]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report of both, its tables, and their match tables."""
    truth, sides = stars(24)
    folder = tmp_path_factory.mktemp("slices")
    sf.report(truth, sides, folder / "report.html", by="truth_colour", tables=folder / "tables")
    matches = {name: sf.match(truth, side) for name, side in sides.items()}
    return {"page": Page(folder / "report.html"), "tables": folder / "tables", "matches": matches}


def test_the_worst_slice_is_named_with_what_was_tested(made: dict[str, Any]) -> None:
    [row] = (
        sf.worst_slices(made["matches"]["blind"], ["truth_colour"], depth=1).query("value < rest").to_dict("records")
    )
    assert row["slice"] == "truth_colour = red"
    kept = pd.read_parquet(made["tables"] / "worst_slices.parquet")
    [found] = kept[kept["submission"] == "blind"].to_dict("records")
    assert (found["columns"], found["slice"], found["contrast"]) == ("truth_colour", "red", "within sequences")
    for column in ("value", "rest", "estimate", "n_rows", "n_sequences", "p_adjusted"):
        assert found[column] == row[column], column
    shown = texts(pd.DataFrame([found])).iloc[0]
    said = (
        f"blind misses most where truth_colour is red: it finds {shown['value']} of 240 truths there, and 100.00% of "
    )
    assert made["page"].says(said)
    points = f"that is {-100 * found['estimate']:.2f} points less (interval {-100 * found['high']:.2f} to "
    assert made["page"].says(points)


def test_what_chance_explains_is_not_named(made: dict[str, Any]) -> None:
    assert made["page"].says("sharp: no slice is shown to be worse than the rest, in ")
    assert not made["page"].says("sharp misses most")


def test_a_slice_of_few_sequences_is_said_to_be_one(tmp_path: Path) -> None:
    truth, sides = stars(12)
    sf.report(truth, sides["blind"], tmp_path / "report.html", by="truth_colour")
    assert Page(tmp_path / "report.html").says("The slice rests on fewer than 20 sequences (12).")


def test_with_too_few_sequences_nothing_is_named(tmp_path: Path) -> None:
    truth, sides = stars(6)
    sf.report(truth, sides, tmp_path / "report.html", by="truth_colour", tables=tmp_path / "tables")
    page = Page(tmp_path / "report.html")
    assert page.says("No slice is named as the worst: a slice is tested in 10 sequences or more, and there are 6.")
    assert not (tmp_path / "tables" / "worst_slices.parquet").exists()


def test_empty_frames_are_not_where_a_detector_is_wrong_most(tmp_path: Path) -> None:
    """Each prediction in a frame without a truth is wrong by its definition."""
    truth, sides = stars(24)
    truth = truth[truth["frame"] > 3]
    sf.report(truth, sides["sharp"], tmp_path / "report.html", by="frame_n_truth")
    assert not Page(tmp_path / "report.html").says("is wrong most often where frame_n_truth is 0")


def test_differences_are_those_of_compare(made: dict[str, Any]) -> None:
    pairs = sf.compare(made["matches"], "recall", by="truth_colour", resamples=slice_differences.RESAMPLES).pairs
    kept = pd.read_parquet(made["tables"] / "differences_by_truth_colour.parquet")
    order = [made["page"].data["view"]["submissions"][at]["name"] for at in (0, 1)]
    assert kept[["a", "b"]].drop_duplicates().to_numpy().tolist() == [order], "all the same way round"
    sign = np.where(pairs["a"] == order[0], 1, -1)
    assert kept["truth_colour"].tolist() == pairs["truth_colour"].tolist()
    assert kept["estimate"].tolist() == pytest.approx((sign * pairs["estimate"]).tolist(), abs=1e-15)
    assert kept["p_adjusted"].tolist() == pytest.approx(pairs["p_adjusted"].tolist())
    drawn = made["page"].data["charts"]["slices-2-differences"]["datasets"]["slices"]
    for column in ("estimate", "low", "high"):
        assert [row[column] for row in drawn] == kept[column].tolist(), column
    assert kept["low"].notna().all()
    largest = kept.loc[kept["estimate"].abs().idxmax()]
    assert largest["truth_colour"] == "red"
    size = f"sharp is {100 * abs(largest['estimate']):.2f} points above blind, "
    assert made["page"].says("Recall differs most where truth_colour is red: " + size)


def test_of_more_submissions_each_is_compared_with_the_first(tmp_path: Path) -> None:
    truth, sides = stars(24)
    sides["none"] = sides["sharp"].iloc[:4]
    sf.report(truth, sides, tmp_path / "report.html", by="truth_colour", tables=tmp_path / "tables")
    kept = pd.read_parquet(tmp_path / "tables" / "differences_by_truth_colour.parquet")
    first, *others = [of["name"] for of in Page(tmp_path / "report.html").data["view"]["submissions"]]
    assert {*zip(kept["a"], kept["b"], strict=True)} == {(other, first) for other in others}


def test_slices_by_predictions_say_why_they_have_no_differences(tmp_path: Path) -> None:
    truth, sides = stars(12)
    sides = {name: side.assign(score=side["x"] / 1000) for name, side in sides.items()}
    sides["blind"] = sides["blind"].assign(y=lambda side: side["y"] + 100 * (side["x"] > 200))
    sf.report(truth, sides, tmp_path / "report.html", by={"predicted_score": 3})
    page = Page(tmp_path / "report.html")
    assert "Precision by predicted_score," in page.text, "misses have no score, so F1 and recall are unknown"
    assert page.says("Predictions differ between submissions, so slices by predicted_score have no differences.")
    assert "slices-2-differences" not in page.data["charts"]


def test_what_takes_too_long_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slice_differences, "MOST_SWAPPED", 10)
    monkeypatch.setattr(slice_words, "MOST_SEQUENCES", 10)
    truth, sides = stars(12)
    sf.report(truth, sides, tmp_path / "report.html", by="truth_colour", tables=tmp_path / "tables")
    page = Page(tmp_path / "report.html")
    assert page.says("The worst slices are not named here: that takes long")
    assert page.says("Differences by truth_colour are left out, since they take long")
    assert not [*(tmp_path / "tables").glob("differences_*")]


def test_slices_without_an_interval_are_named_with_the_reason(tmp_path: Path) -> None:
    """Violet stars are in one sequence only; all other colours are in every one."""
    truth, sides = stars(24)
    truth.loc[(truth["colour"] == "white") & (truth["sequence"] == 3), "colour"] = "violet"
    sf.report(truth, sides, tmp_path / "report.html", by="truth_colour")
    page = Page(tmp_path / "report.html")
    assert page.says("No interval where truth_colour is violet: only one sequence: nothing tells how others differ.")
    assert not page.says("No interval where truth_colour is blue")


def test_where_all_slices_lack_an_interval_none_is_named(tmp_path: Path) -> None:
    truth, sides = stars(1)
    sf.report(truth, sides["blind"], tmp_path / "report.html", by="truth_colour", sections=["slices"])
    assert Page(tmp_path / "report.html").says("No interval: only one sequence: nothing tells how others differ.")


def test_slices_that_one_submission_lacks_say_whose() -> None:
    rows = pd.DataFrame({"submission": ["a", "a", "b", "b"], "colour": ["red", "blue"] * 2, "estimate": 0.5})
    rows = rows.assign(low=[0.4, 0.4, np.nan, 0.4], reason=[None, None, "only one sequence", None])
    [text] = multiples.without_interval(rows, ["a", "b"], ["colour"])
    assert text.text == "No interval where colour is red (b): only one sequence."
