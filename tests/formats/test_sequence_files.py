"""Folders with a file for each sequence, and those one level above them."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from helpers.commands import answer_here, refused_here, run_here
from helpers.problems import refused
from spotgeo_frames.formats.any_file import sequence_layout


class Layout(NamedTuple):
    """A reader, its sample, the ending of its files, and what official layouts call the folders one level down."""

    read: Callable[..., Any]
    sample: str
    ending: str
    truth: str
    tracker: str


MOT = Layout(sf.read_motchallenge, "tracks", ".txt", "MOT17-train", "data")
POSES = Layout(sf.read_posetrack, "poses", ".json", "val", "sequences")


@pytest.fixture(params=[MOT, POSES], ids=["motchallenge", "posetrack"])
def layout(request: pytest.FixtureRequest) -> Layout:
    found: Layout = request.param
    return found


@pytest.fixture
def above(layout: Layout, tracks: Path, tmp_path: Path) -> list[Path]:
    """The folder above the sample's truth, and that above its tracker's files, as official layouts have them."""
    sample = tracks.parent / layout.sample
    shutil.copytree(sample / "truth", tmp_path / "gt" / layout.truth)
    shutil.copytree(sample / "tracker", tmp_path / "trackers" / "NAME" / layout.tracker)
    return [tmp_path / "gt", tmp_path / "trackers" / "NAME"]


def same(got: Any, expected: Any) -> None:
    for one, other in zip(got, expected, strict=True):
        pd.testing.assert_frame_equal(one.objects, other.objects)
    pd.testing.assert_frame_equal(got[0].frames, expected[0].frames)


def test_a_folder_one_level_too_high_is_the_one_in_it(layout: Layout, above: list[Path]) -> None:
    truth, tracker = above
    expected = layout.read(truth / layout.truth, tracker / layout.tracker)
    same(layout.read(truth, tracker), expected)
    same(layout.read(truth, tracker / layout.tracker), expected)
    same(layout.read(truth / layout.truth, str(tracker) + "/"), expected)
    assert sequence_layout(truth) == sequence_layout(truth / layout.truth)


def test_files_beside_the_folder_do_not_count(layout: Layout, above: list[Path]) -> None:
    """trackeval keeps lists of sequences beside the truth, and writes its results above the tracker's files."""
    truth, tracker = above
    expected = layout.read(truth / layout.truth, tracker / layout.tracker)
    (tracker / f"pedestrian_summary{layout.ending}").write_text("HOTA")
    (tracker / "plots").mkdir()
    (tracker / "plots" / f"list{layout.ending}").write_text("HOTA")
    for name in (".cache", "__MACOSX"):
        shutil.copytree(tracker / layout.tracker, tracker / name)
    if layout is MOT:
        (truth / "seqmaps").mkdir()
        (truth / "seqmaps" / "MOT17-train.txt").write_text("name\n")
        (truth / "MOT17-test" / "MOT17-01" / "det").mkdir(parents=True)
        (truth / "MOT17-test" / "MOT17-01" / "seqinfo.ini").write_text("[Sequence]\nseqLength=5\n")
    same(layout.read(truth, tracker), expected)


def test_of_two_folders_neither_is_taken(layout: Layout, above: list[Path]) -> None:
    truth, tracker = above
    shutil.copytree(tracker / layout.tracker, tracker / "other")
    with refused((f"{tracker}", *sorted([f"{tracker / layout.tracker}", f"{tracker / 'other'}"]))):
        layout.read(truth, tracker)
    shutil.copytree(truth / layout.truth, truth / "train")
    with refused((f"{truth}", *sorted([f"{truth / layout.truth}", f"{truth / 'train'}"]))):
        layout.read(truth, None)


def test_two_levels_too_high_are_refused(layout: Layout, above: list[Path]) -> None:
    truth, tracker = above
    with refused((f"{truth.parent}", f"SEQUENCE{layout.ending}")):
        layout.read(truth.parent, tracker)
    with refused((f"{tracker.parent}", f"SEQUENCE{layout.ending}")):
        layout.read(truth, tracker.parent)
    assert sequence_layout(truth.parent) is None


def test_the_folder_may_be_packed(layout: Layout, above: list[Path]) -> None:
    truth, tracker = above
    expected = layout.read(truth, tracker)
    with zipfile.ZipFile(tracker / "data.zip", "w") as archive:
        for file in (tracker / layout.tracker).iterdir():
            archive.write(file, f"data/{file.name}")
            archive.writestr(f"__MACOSX/data/._{file.name}", "of macOS")
    shutil.rmtree(tracker / layout.tracker)
    same(layout.read(truth, tracker), expected)


def test_a_result_names_the_folder_that_was_read(layout: Layout, above: list[Path], tmp_path: Path) -> None:
    truth, tracker = above
    assert run_here("track", truth, tracker, "--out", tmp_path / "kept").status == 0
    notes = pq.read_schema(tmp_path / "kept" / "matches.parquet").metadata
    assert notes[b"truth"].decode() == layout.truth
    assert layout.tracker in [text.decode() for text in notes.values()]


def test_commands_take_the_folder_above(layout: Layout, above: list[Path], tmp_path: Path) -> None:
    truth, tracker = above
    read = [truth / layout.truth, tracker / layout.tracker]
    assert answer_here("track", *above) == answer_here("track", *read)
    assert answer_here("gate", *above, "--min", "HOTA=0.1") == answer_here("gate", *read, "--min", "HOTA=0.1")
    shutil.copytree(tracker, tracker.parent / "OTHER")
    compared = answer_here("compare", *above, tracker.parent / "OTHER")
    assert [row["name"] for row in compared["leaderboard"]] == ["NAME", "OTHER"]
    assert run_here("report", *above, "--out", tmp_path / "page.html").status == 0
    if layout is POSES:
        assert answer_here("pose", *above) == answer_here("pose", *read)


def test_a_truth_of_two_kinds_is_refused(tracks: Path, tmp_path: Path) -> None:
    shutil.copytree(tracks / "truth", tmp_path / "boxes")
    shutil.copytree(tracks.parent / "poses" / "truth", tmp_path / "joints")
    [problem] = refused_here("compare", tmp_path, tracks / "tracker", tracks / "tracker")
    assert f"{tmp_path / 'boxes'} and {tmp_path / 'joints'}" in problem


def test_folders_of_parquet_are_no_folders_of_sequences(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "night=1").mkdir()
    (tmp_path / "log").mkdir()
    shutil.copy(sample / "truth.parquet", tmp_path / "night=1")
    (tmp_path / "log" / "1.json").write_text("{}")
    assert sequence_layout(tmp_path) is None


def test_a_sequences_own_folder_is_no_folder_of_sequences(tracks: Path) -> None:
    own = next((tracks / "truth").iterdir())
    with refused((f"{own}", f"is {tracks / 'truth'} meant?")):
        sf.read_motchallenge(own, tracks / "tracker")
