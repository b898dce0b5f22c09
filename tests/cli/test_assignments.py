"""`--assignment` and `--power` of the commands."""

import json
from pathlib import Path

import pytest

import spotgeo_frames as sf
from helpers.commands import refused_here, run_here
from spotgeo_frames.scoring.point_sets import POINT_SETS


def test_score_has_the_numbers_of_least(sample: Path) -> None:
    sides = sample / "truth.json", sample / "eager.json"
    answer = json.loads(run_here("score", *sides, "--assignment", "least", "--power", 1, "--by", "frame", "--json").out)
    matches = sf.match(*map(sf.read_spotgeo, sides), assignment="least", power=1)
    expected = sf.summarize(matches).iloc[0]
    assert [answer[name] for name in POINT_SETS] == [expected[name] for name in POINT_SETS]
    assert (answer["assignment"], answer["power"]) == ("least", 1)
    assert [row["gospa"] for row in answer["by"]["frame"]] == sf.summarize(matches, by="frame")["gospa"].tolist()
    text = run_here("score", *sides, "--assignment", "least").out
    assert "assignment least, power 2" in text
    assert "GOSPA" in text


def test_datasets_have_them(sample: Path) -> None:
    sides = sample / "truth.parquet", sample / "eager.parquet"
    frames = "--frames", sample / "frames.parquet"
    words = "--assignment", "least", "--json"
    whole, parts = (json.loads(run_here("score", *sides, *frames, *words, *how).out) for how in ((), ("--dataset",)))
    assert [parts[name] for name in POINT_SETS] == pytest.approx([whole[name] for name in POINT_SETS])


def test_other_commands_take_it(sample: Path) -> None:
    sides = sample / "truth.json", sample / "eager.json", sample / "cautious.json"
    words = "--assignment", "least"
    pairs = json.loads(run_here("compare", *sides, *words, "--metrics", "gospa,f1", "--json").out)["pairs"]
    assert {row["metric"] for row in pairs} == {"gospa", "f1"}
    gate = run_here("gate", *sides[:2], *words, "--max", "gospa=0.1", "--json")
    assert (gate.status, json.loads(gate.out)["passed"]) == (3, False)
    scored = sample / "truth.parquet", sample / "eager.parquet"
    swept = json.loads(run_here("sweep", *scored, *words, "--json").out)
    assert "gospa" in swept["curve"][0]
    assert run_here("sweep", *scored, "--assignment", "score", "--json").status == 0
    assert run_here("check", *sides[:2], *words).status == 0
    assert run_here("diagnose", *sides[:2], *words).status == 0


def test_what_does_not_fit_is_refused(sample: Path) -> None:
    sides = sample / "truth.json", sample / "eager.json"
    assert "score" in refused_here("score", *sides, "--assignment", "score")[0]
    for words in (("--assignment", "fewest"), ("--power", "2"), ("--assignment", "least", "--similarity", "iou")):
        refused_here("score", *sides, *words, status=2)
    refused_here("compare", *sides, "--tracks", "--assignment", "least", status=2)
