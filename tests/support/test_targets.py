"""What is written never replaces an input and never becomes a part of one, however its path is spelled."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.cli.app import run
from spotgeo_frames.scale import datasets, sorted_copies
from spotgeo_frames.support.writing import is_within


@pytest.fixture
def inputs(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this machine with two datasets, `truth` and `eager`, links to them, and no work that may be done."""
    for name in ("truth", "eager"):
        (tmp_path / name).mkdir()
        shutil.copy(sample / f"{name}.parquet", tmp_path / name / "summary.parquet")
        (tmp_path / f"link_to_{name}").symlink_to(name)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "up").symlink_to(tmp_path)
    for module, name in ((datasets, "run"), (datasets, "dataset_bin_edges"), (sorted_copies, "contents_of")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("work is done before the path is looked at"))
    monkeypatch.chdir(tmp_path / "truth")
    return tmp_path


# Paths within the folder of the truth, from the folder of the inputs.
WITHIN = [
    "truth/out",
    "truth",
    "link_to_truth/out/deep",
    "other/up/truth/out",
    "truth/../truth/out",
    "other/up/link_to_truth",
]


@pytest.mark.parametrize("path", [*WITHIN, "truth/out/"])
@pytest.mark.parametrize("truth", ["truth", "link_to_truth", "other/../link_to_truth"])
def test_results_within_an_input_are_refused_before_any_work(inputs: Path, path: str, truth: str) -> None:
    for out in (inputs / path, os.path.relpath(inputs / path), f"file://{inputs / path}"):
        for evaluate in (sf.score_dataset, sf.track_dataset):
            by = {"by": {"truth_x": 4}} if evaluate is sf.score_dataset else {}
            with pytest.raises(sf.InputError, match=r"is in the folder of .*, an input; give one elsewhere"):
                evaluate(inputs / truth, inputs / "eager", out, tau=5, **by)
    with pytest.raises(SystemExit, match="1"):
        run(["score", str(inputs / truth), str(inputs / "eager"), "--out", str(inputs / path)])
    assert sorted(os.listdir(inputs / "truth")) == ["summary.parquet"]


def test_a_folder_beside_an_input_with_a_longer_name_is_no_part_of_it(inputs: Path) -> None:
    assert not is_within(inputs / "truth_2" / "out", inputs / "truth")
    assert not is_within(inputs / "other" / "up" / "out", inputs / "truth")
    assert is_within(inputs / "truth" / "missing" / "out", inputs / "link_to_truth")
    assert not is_within(inputs / "truth", inputs / "missing")


def test_results_that_would_replace_an_input_are_refused(inputs: Path) -> None:
    file, out = inputs / "link_to_truth" / "summary.parquet", inputs / "truth"
    with refused((f"{out}", f"{file}", "would be replaced")):
        sf.score_dataset(file, inputs / "eager", out)
    for name in ("matches.parquet", "summary.parquet", "by_sequence.parquet"):
        (inputs / "truth" / "summary.parquet").replace(inputs / "truth" / name)
        sides = str(inputs / "truth" / name), str(inputs / "eager")
        with pytest.raises(SystemExit, match="1"):
            run(["score", *sides, "--by", "sequence", "--out", str(inputs / "link_to_truth")])
        (inputs / "truth" / name).replace(inputs / "truth" / "summary.parquet")
    assert len(pd.read_parquet(inputs / "truth" / "summary.parquet")) > 500


def test_tables_of_tracks_are_not_written_into_an_input(tracks: Path, tmp_path: Path) -> None:
    shutil.copytree(tracks, tmp_path / "tracks")
    (tmp_path / "link").symlink_to("tracks/tracker")
    truth, tracker = tmp_path / "tracks" / "truth", tmp_path / "tracks" / "tracker"
    for out in (tmp_path / "link" / "out", truth):
        with pytest.raises(SystemExit, match="1"):
            run(["track", str(truth), str(tracker), "--out", str(out)])
    assert not list(tmp_path.rglob("*.parquet"))


TARGETS: dict[str, Callable[[Path], str | Path]] = {
    "the working directory": lambda inputs: ".",
    "the working directory by its path": lambda inputs: Path.cwd(),
    "its parent": lambda inputs: "..",
    "a name that ends in two dots": lambda inputs: "x/..",
    "a link to an empty folder": lambda inputs: inputs / "link_to_empty",
    "a dangling link": lambda inputs: inputs / "dangling",
    "a link to itself": lambda inputs: inputs / "loop",
    "the root": lambda inputs: "/",
    "a folder in the dataset": lambda inputs: inputs / "link_to_eager" / "sorted",
    "a folder with files": lambda inputs: inputs / "eager",
    "a file": lambda inputs: inputs / "eager" / "summary.parquet",
    "a folder in a file": lambda inputs: inputs / "eager" / "summary.parquet" / "x",
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_repartition_refuses_what_it_cannot_replace_before_any_work(
    inputs: Path, target: Callable[[Path], str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (inputs / "empty").mkdir()
    (inputs / "link_to_empty").symlink_to("empty")
    (inputs / "dangling").symlink_to("nowhere")
    (inputs / "loop").symlink_to("loop")
    monkeypatch.chdir(inputs / "empty")
    before = sorted(inputs.rglob("*"))
    out = target(inputs)
    with refused(f"{out}"):
        sf.repartition_by_sequence(inputs / "eager", out)
    assert sorted(inputs.rglob("*")) == before


def test_repartition_goes_through_links_above_its_folder(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    sf.repartition_by_sequence(sample / "truth.parquet", tmp_path / "link" / "sorted")
    assert list((tmp_path / "real" / "sorted").iterdir())
