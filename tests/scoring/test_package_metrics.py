"""Metrics that other installed packages add."""

from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import run_here
from helpers.packages import installed, use_folder
from spotgeo_frames.scoring.own_metrics import GROUP

CODE = """
def value(sums):
    return sums["tp"] / (sums["tp"] + sums["fn"])

share_found = {"sums": lambda rows: {}, "value": value, "unit": "", "higher_is_better": True}
no_dict = 7
no_function = {"sums": 1, "value": 2}
other_words = {"sums": None, "value": None, "colour": "red"}
"""
POINTS = {"share_found": "share_found", "x1": "no_dict", "x2": "no_function", "x3": "other_words", "x4": "lacking"}


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "found-metrics", CODE, GROUP, POINTS)
    use_folder(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def matches() -> pd.DataFrame:
    truth = pd.DataFrame({"sequence": range(8), "frame": 1, "object": 1, "x": 10.0, "y": 5.0})
    return sf.match(truth, truth.head(6))


def test_a_metric_is_found_by_its_name(matches) -> None:
    table = sf.intervals(matches, metrics=["share_found", "recall"])
    assert table["estimate"].tolist() == [0.75, 0.75]
    assert "share_found" in sf.summarize(matches)


def test_comparisons_and_gates_find_it(matches) -> None:
    pairs = sf.compare({"a": matches, "b": matches}, metrics=["share_found"]).pairs
    assert pairs["metric"].tolist() == ["share_found"]
    sf.metric("share_found", None, None)
    assert sf.non_inferiority(matches, matches, "share_found", margin=0.1).passed
    sf.metric("share_found", None, None)
    assert len(sf.sample_size(matches, "share_found", margin=0.1)) == 1


def test_commands_find_it(sample: Path) -> None:
    files = sample / "truth.json", sample / "eager.json"
    assert run_here("gate", *files, "--min", "share_found=0.1").status == 0
    sf.metric("share_found", None, None)
    done = run_here("compare", *files, sample / "cautious.json", "--metrics", "share_found")
    assert (done.status, "share" in done.out) == (0, True), done


@pytest.mark.parametrize("name", ["x1", "x2", "x3", "x4"])
def test_a_wrong_one_names_its_package(matches, name: str) -> None:
    with pytest.raises(sf.InputError, match=rf"package found-metrics: .*{name}"):
        sf.intervals(matches, metrics=[name])


def test_an_unknown_name_is_refused_as_before(matches) -> None:
    with pytest.raises(ValueError, match="no_such"):
        sf.intervals(matches, metrics=["no_such"])


def test_known_names_are_never_looked_up(matches, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise AssertionError("looked up")

    monkeypatch.setattr(metadata, "entry_points", refuse)
    sf.intervals(matches, metrics=["f1", "mse"])
    sf.intervals(matches)
