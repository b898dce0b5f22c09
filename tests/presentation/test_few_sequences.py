"""Displayed slices say which rows rest on few sequences; the tables themselves keep their values."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import run_here
from spotgeo_frames import plots
from spotgeo_frames.presentation.drawing.display import as_html
from spotgeo_frames.presentation.page.sections.breakdown import slice_table

NOTE = "few: fewer than 20 sequences, so little is known"


@pytest.fixture(scope="module")
def sides() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A star in each of 21 sequences, a moon in 20 and a comet in 3; all are found but those of sequence 1."""
    names = [("star", 21), ("moon", 20), ("comet", 3)]
    rows = [(n, 1, kind, 100.0 * place, 5.0, kind) for place, (kind, most) in enumerate(names) for n in range(most)]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y", "body"])
    return truth, truth[truth["sequence"] != 1].drop(columns="body")


@pytest.fixture(scope="module")
def matches(sides: tuple[pd.DataFrame, pd.DataFrame]) -> pd.DataFrame:
    return sf.match(*sides)


def test_summarize_says_it_where_it_is_displayed_and_warns_of_nothing(
    matches: pd.DataFrame, recwarn: pytest.WarningsRecorder
) -> None:
    by_body = sf.summarize(matches, by="truth_body")
    shown = as_html(by_body)
    assert "<td>3 (few)</td>" in shown
    assert "<td>20</td>" in shown
    assert shown.count(NOTE) == 1
    assert NOTE not in as_html(sf.summarize(matches, by="sequence"))
    assert not recwarn.list


def test_slices_of_tracks_count_their_sequences(sides: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    truth, predictions = sides
    sequences = pd.DataFrame({"sequence": range(21), "sky": ["clear"] * 20 + ["cloudy"]})
    result = sf.track(sf.Annotations(truth, sequences=sequences), predictions, tau=10)
    by_sky = sf.summarize(result, by="sequence_sky")
    assert by_sky["n_sequences"].tolist() == [20, 1]
    assert "<td>1 (few)</td>" in as_html(by_sky)
    assert sf.summarize(result)["n_sequences"].tolist() == [21]
    classes = [table.assign(category=np.where(table["object"] == "comet", "b", "a")) for table in sides]
    by_class = sf.summarize(sf.track(*classes, tau=10, by="category"), by="category")
    assert by_class["n_sequences"].tolist() == [21, 3]


def test_commands_mark_slices_of_few_sequences(sides: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("truth.parquet", "found.parquet", "half.parquet")]
    for path, table in zip(paths, (*sides, sides[1][::2]), strict=True):
        table.to_parquet(path)
    for command in (["score", *paths[:2], "--by", "truth_body"], ["compare", *paths, "--by", "truth_body"]):
        done = run_here(*command)
        rows = [line for line in done.out.splitlines() if "(few)" in line]
        assert [line.split()[0] for line in rows] == ["comet"] * (len(paths) - 1 if command[0] == "compare" else 1)
        assert done.out.count(NOTE) == 1
    assert NOTE not in run_here("score", *paths[:2], "--by", "sequence").out


def test_the_page_marks_slices_of_few_sequences(matches: pd.DataFrame) -> None:
    table = slice_table("slice-2", ["truth_body"], sf.summarize(matches, by="truth_body"), ["found"])
    place = table.titles.index("sequences")
    assert [row[place] for row in table.rows] == ["3 (few)", "20", "21"]
    assert (table.kinds[place], table.note) == ("number", NOTE)
    sure = slice_table("slice-0", ["sequence"], sf.summarize(matches, by="sequence"), ["found"])
    assert not sure.note


def test_plots_draw_slices_of_few_sequences_hollow(matches: pd.DataFrame) -> None:
    with pytest.warns(UserWarning, match="1 of 3 groups have fewer than 20 sequences"):
        found = sf.intervals(matches, by="truth_body", metrics=["recall"])
    ax = plots.metric_by_slice(found)
    sure, few = ax.lines
    assert [len(sure.get_xdata()), len(few.get_xdata())] == [2, 1]
    assert sure.get_color() == few.get_color() == few.get_markeredgecolor() != few.get_markerfacecolor()
    assert ax.get_title().endswith("hollow: fewer than 20 sequences")
    assert "hollow" not in plots.metric_by_slice(found[found["n_sequences"] >= 20]).get_title()


def test_bins_read_the_same_wherever_they_are_displayed(matches: pd.DataFrame) -> None:
    """pandas moves the lowest edge down a little, from 0.1 to 0.099; people see 0.1."""
    table = matches.assign(truth_size=np.linspace(0.1, 5, len(matches)))
    found = sf.intervals(table, by={"truth_size": 2}, metrics=["recall"])
    ax = plots.metric_by_slice(found)
    assert ax.get_yticklabels()[0].get_text().startswith("0.1 to ")
    assert "<td>0.1 to " in as_html(found)


def test_pages_and_commands_name_the_sequence_that_holds_most(tmp_path: Path) -> None:
    sizes = {"big": 5, "small": 2, "third": 2, "last": 1}
    rows = [(name, 1, n, 50.0 * n, 5.0) for name, size in sizes.items() for n in range(size)]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y"])
    truth.to_csv(tmp_path / "truth.csv", index=False)
    for name in ("one", "two"):
        truth.iloc[1:].to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / f"{name}.csv" for name in ("truth", "one", "two")]
    words = "equence big holds 50% of the true objects, and so much of every combined number"
    fraction = words.replace("50%", "0.50")  # as all shares in the shell
    assert f"Note: s{fraction}\n" in run_here("score", *files[:2]).out
    assert f"Note: s{fraction}\n" in run_here("track", *files[:2]).out
    assert f"Note: s{fraction}\n" in run_here("compare", *files).out
    run_here("report", *files[:2], "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f"S{words}." in page
    assert "F1 is 94.74% (95% interval " in page
