"""Submissions on a command line: PATH, or NAME=PATH."""

import argparse
import shutil
from pathlib import Path

import pandas as pd
import pytest

from helpers.commands import answer_here, refused_here, run_here
from spotgeo_frames.cli.submissions import Submission, submission


@pytest.fixture
def folder(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, in which commands run, with the truth and submissions, one of which has = in its name."""
    for name in ("truth.json", "eager.json", "cautious.json"):
        shutil.copy(sample / name, tmp_path)
    shutil.copy(sample / "eager.json", tmp_path / "lr=0.1.json")
    (tmp_path / "day=1").mkdir()
    shutil.copy(sample / "eager.json", tmp_path / "day=1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "path", "name"),
    [
        ("eager.json", "eager.json", None),
        ("ours=eager.json", "eager.json", "ours"),
        (" our own =eager.json", "eager.json", "our own"),
        ("ours=./day=1/eager.json", "./day=1/eager.json", "ours"),
        ("ours=lr=0.1.json", "lr=0.1.json", "ours"),
        ("ours=lr=*.json", "lr=*.json", "ours"),
        ("ours=s3://bucket/day=1", "s3://bucket/day=1", "ours"),
        ("lr=0.1.json", "lr=0.1.json", None),
        ("lr=*.json", "lr=*.json", None),
        ("day=1/eager.json", "day=1/eager.json", None),
        ("./day=eager.json", "./day=eager.json", None),
        ("s3://bucket/day=eager.json", "s3://bucket/day=eager.json", None),
        ("ours=nowhere.json", "ours=nowhere.json", None),
        ("ours=", "ours=", None),
    ],
)
def test_what_is_a_name(folder: Path, text: str, path: str, name: str | None) -> None:
    assert submission(text) == Submission(path, name)


@pytest.mark.parametrize("text", ["=eager.json", " =eager.json"])
def test_an_empty_name_is_refused(folder: Path, text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"NAME=eager\.json"):
        submission(text)
    assert "NAME=eager.json" in refused_here("score", "truth.json", text, status=2)[-1]


def test_names_are_those_of_the_result(folder: Path) -> None:
    compared = answer_here("compare", "truth.json", "ours=eager.json", "day=1/eager.json", "again=eager.json")
    assert {row["name"] for row in compared["leaderboard"]} == {"ours", "eager", "again"}
    done = run_here("report", "truth.json", "ours=eager.json", "--out", "page.html", "--tables", "tables")
    assert done.status == 0
    assert {*pd.read_parquet("tables/matches.parquet")["submission"]} == {"ours"}


@pytest.mark.parametrize("command", ["score", "check", "sweep", "diagnose", "gate", "track"])
def test_headings_have_the_name(folder: Path, sample: Path, command: str) -> None:
    options = ("--min", "f1=0.1") if command == "gate" else ()
    ending = "parquet" if command == "sweep" else "json"  # which has no scores
    done = run_here(command, sample / f"truth.{ending}", f"our own={sample / f'eager.{ending}'}", *options)
    assert done.status == 0
    assert done.out.startswith("our own")
    assert f"{sample / 'eager'}" not in done.out


def test_the_other_commands(folder: Path, poses: Path, coco: Path) -> None:
    assert run_here("validate", "ours=eager.json").out.startswith("ours: ")
    assert run_here("pose", poses / "truth", f"ours={poses / 'tracker'}").out.startswith("ours against")
    given = [coco / "fast.json", f"ours={coco / 'fast.json'}"]
    one, other = (answer_here("ap", coco / "annotations.json", results) for results in given)
    assert one == other
    named = "new=eager.json", "--baseline", "old=cautious.json", "--margin", "f1=0.5"
    assert "new against truth.json, with the baseline old" in run_here("gate", "truth.json", *named).out


def test_two_of_one_name_are_refused(folder: Path) -> None:
    for given in (["a=eager.json", "a=cautious.json"], ["cautious=eager.json", "cautious.json"]):
        name = given[0].partition("=")[0]
        assert f"two submissions are called {name!r}" in refused_here("compare", "truth.json", *given, status=2)[-1]


def test_wildcards_of_this_folder(folder: Path) -> None:
    """Several files are one folder, also where the folder above them has no name in what was typed."""
    assert refused_here("score", "truth.json", "*.json") == ["*.json: is no regular file"]


def test_a_file_that_is_missing_is_called_as_it_was_typed(folder: Path) -> None:
    assert refused_here("score", "truth.json", "ours=nowhere.json") == ["ours=nowhere.json: there is no such file"]
