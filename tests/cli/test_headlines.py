"""The first numbers of a text: those of `intervals`, or the reason why there is no interval, without pandas."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.commands import run_here
from helpers.reference import PROJECT
from spotgeo_frames.cli import headlines

SAMPLE = PROJECT / "data" / "sample"
LINE = re.compile(r"^  (\S+) +(\d\.\d{4}|-)(?:  \[(\d\.\d+), (\d\.\d+)\])?(?:  .*)?$", re.MULTILINE)


def first_lines(*arguments: object) -> list[tuple[str, ...]]:
    """The names of the first three numbers as they are printed, and their values, and bounds if they have some."""
    done = run_here(*arguments)
    assert done.status == 0, done.err
    return [tuple(filter(None, line)) for line in LINE.findall(done.out)][:3]


def expected(x: Any, names: list[str], labels: list[str]) -> list[tuple[str, ...]]:
    rows = sf.intervals(x, metrics=names).drop_duplicates("metric").to_dict("records")
    return [
        (label, f"{row['estimate']:.4f}", f"{row['low']:.2f}", f"{row['high']:.2f}")
        for label, row in zip(labels, rows, strict=True)
    ]


def test_of_detections() -> None:
    sides = [sf.read_spotgeo(SAMPLE / f"{name}.json") for name in ("truth", "eager")]
    wanted = expected(sf.match(*sides), ["f1", "precision", "recall"], ["F1", "precision", "recall"])
    assert first_lines("score", SAMPLE / "truth.json", SAMPLE / "eager.json") == wanted
    wanted = expected(sf.match(*sides, tau=4), ["f1", "precision", "recall"], ["F1", "precision", "recall"])
    assert first_lines("score", SAMPLE / "truth.json", SAMPLE / "eager.json", "--tau", 4) == wanted


def test_of_tracks_of_many_sequences(tmp_path: Path) -> None:
    for side in ("truth", "eager"):
        objects = sf.read_spotgeo(SAMPLE / f"{side}.json").objects
        objects.to_parquet(tmp_path / f"{side}.parquet")
    pair = [tmp_path / "truth.parquet", tmp_path / "eager.parquet"]
    names = ["HOTA", "DetA", "AssA"]
    wanted = expected(sf.track(*map(sf.read_objects, pair)), names, names)
    assert first_lines("track", *pair) == wanted
    assert first_lines("track", *pair, "--out", tmp_path / "out") == wanted  # by the tables, not by sums alone


def test_of_average_precision() -> None:
    pair = [PROJECT / f"data/coco/{name}.json" for name in ("annotations", "precise")]
    names = ["AP", "AP50", "AP75"]
    assert first_lines("ap", *pair) == expected(sf.average_precision(*sf.read_coco(*pair, boxes=True)), names, names)


@pytest.mark.parametrize("words", [["track", "tracks"], ["pose", "poses"]])
def test_of_few_sequences(words: list[str]) -> None:
    command, folder = words
    done = run_here(command, *(PROJECT / "data" / folder / side for side in ("truth", "tracker")))
    assert [line[0] for line in LINE.findall(done.out)][:3] == ["HOTA", "DetA", "AssA"]
    assert "no interval: fewer than 20 sequences" in done.out
    assert "In brackets" not in done.out


def test_of_a_single_sequence_and_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("sequence,frame,object,x,y\n1,1,1,5,5\n")
    (tmp_path / "none.csv").write_text("sequence,frame,object,x,y\n")
    assert "no interval: only one sequence" in run_here("score", tmp_path / "one.csv", tmp_path / "one.csv").out
    out = run_here("score", tmp_path / "one.csv", tmp_path / "none.csv").out
    assert ("precision", "-", "", "") in LINE.findall(out)
    assert "no interval of precision: the metric is not defined here" in out


def test_of_parts() -> None:
    pair = [SAMPLE / "truth.parquet", SAMPLE / "eager.parquet", "--frames", SAMPLE / "frames.parquet"]
    done = run_here("score", *pair, "--dataset")
    assert [line[:2] for line in first_lines("score", *pair)] == [line[:2] for line in LINE.findall(done.out)][:3]
    assert f"no interval: {headlines.IN_PARTS}" in " ".join(done.out.split())


def test_bounds_have_the_decimals_that_tell_them_apart() -> None:
    bounds = [(0.79, 0.8, 0.85), (0.791, 0.795, 0.8), (0.7911, 0.792, 0.7925)]
    assert [*map(interval, bounds)] == ["0.79, 0.85]", "0.791, 0.800]", "0.7911, 0.7925]"]


def interval(numbers: tuple[float, float, float]) -> str:
    low, estimate, high = numbers
    return headlines.headline_text([headlines.Headline("AP", estimate, low, high)]).splitlines()[0].partition("[")[2]


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted))
@example([0.8155, 0.8194, 0.84])
def test_the_estimate_is_within_the_bounds_as_printed(numbers: list[float]) -> None:
    low, estimate, high = numbers
    bounds = [float(text) for text in interval((low, estimate, high)).rstrip("]").split(", ")]
    assert bounds[0] <= float(f"{estimate:.4f}") <= bounds[1]


def test_the_functions_of_scipy_are_loaded_alone() -> None:
    code = f"""
import sys
from spotgeo_frames.cli import app
app.run({[str(word) for word in ("score", SAMPLE / "truth.json", SAMPLE / "eager.json")]!r})
assert not {{"pandas", "scipy.special"}} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
