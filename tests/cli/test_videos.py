"""The option --video: what the commands write and say, and what they refuse before they evaluate."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import spotgeo_frames as sf
from helpers.commands import Done, complaints, refused_here, run_here, run_process
from helpers.reference import PROJECT
from helpers.videos import frames_of, walkers
from spotgeo_frames.cli import scores

pytest.importorskip("av")

DATA = PROJECT / "data"
SIDES = [DATA / "sample" / "truth.json", DATA / "sample" / "eager.json"]
SCORE = ["score", *SIDES]
TRACKS = [DATA / "tracks" / "truth", DATA / "tracks" / "tracker"]
POSES = [DATA / "poses" / "truth", DATA / "poses" / "tracker"]
IMAGES = [DATA / "coco" / "annotations.json", DATA / "coco" / "precise.json"]


class Case(NamedTuple):
    """The arguments of a command, a sequence that has few frames, and what a video of it has to show."""

    arguments: list[Any]
    sequence: int | str
    result: Callable[[], Any]


def sides() -> list[sf.Annotations]:
    return [sf.read_spotgeo(path) for path in SIDES]


CASES = {
    "score": Case([*SCORE, "--tau", 5], 3, lambda: sf.match(*sides(), tau=5)),
    "score by slices": Case([*SCORE, "--by", "truth_x:2"], 3, lambda: sf.match(*sides())),
    "track": Case(["track", *SIDES], 3, lambda: sf.track(*sides())),
    "track of poses": Case(["track", *POSES], "corner", lambda: sf.pose(*sf.read_posetrack(*POSES))),
    "pose": Case(["pose", *POSES], "corner", lambda: sf.pose(*sf.read_posetrack(*POSES))),
    "ap": Case(["ap", *IMAGES], 4, lambda: sf.average_precision(*sf.read_coco(*IMAGES, boxes=True))),
}


def written(done: Done) -> list[str]:
    """The files that a command says it has written, of which it says nothing else."""
    assert done.status == 0, done.err
    lines = complaints(done.err)
    assert all(re.fullmatch(r".+: \d+\.\d (MB|kB)", line) for line in lines), done.err
    return [line.rpartition(": ")[0] for line in lines]


@pytest.mark.parametrize("name", CASES)
def test_a_video_shows_the_result_that_the_command_prints(name: str, tmp_path: Path) -> None:
    arguments, sequence, result = CASES[name]
    file, expected = tmp_path / "given.gif", tmp_path / "expected.gif"
    done = run_here(*arguments, "--video", sequence, file)
    assert written(done) == [str(file)]
    assert done.out == run_here(*arguments).out
    sf.video(result(), sequence, expected)
    shown, wanted = frames_of(file), frames_of(expected)
    assert len(shown) == len(wanted) > 0
    assert all(np.array_equal(one, other) for one, other in zip(shown, wanted, strict=True))


def test_several_videos_beside_json_and_a_folder(tmp_path: Path) -> None:
    """As users call it; the answer and what --out keeps are as they are without videos."""
    (tmp_path / "run").mkdir()
    files = [tmp_path / "1.mp4", tmp_path / "run" / "2.gif"]
    videos = ["--video", "1", files[0], "--video=2", files[1]]
    done = run_process(*SCORE, *videos, "--json", "--out", tmp_path / "run")
    assert written(done) == [str(file) for file in files]
    assert json.loads(done.out) == json.loads(run_here(*SCORE, "--json").out)
    n_frames = sides()[0].frames.groupby("sequence").size()
    assert [len(frames_of(file)) for file in files] == [n_frames[1], n_frames[2]]
    assert len(sf.load(tmp_path / "run")) > 0


@pytest.mark.parametrize("command", ["track", "ap", "score"])
def test_sequences_have_the_type_of_the_table(command: str, tmp_path: Path) -> None:
    """A name such as 007 is text, and -5 is a number, which is not taken for an option."""
    for name in ("007", "-5", "hall 1"):
        for side, table in zip(("truth", "found"), walkers(2), strict=True):
            table.assign(sequence=name).to_csv(tmp_path / f"{side}.csv", index=False)
        done = run_here(command, tmp_path / "truth.csv", tmp_path / "found.csv", "--video", name, tmp_path / "a.gif")
        assert written(done) == [str(tmp_path / "a.gif")]
        assert len(frames_of(tmp_path / "a.gif")) == 2


def test_pictures_that_a_column_names_lie_behind_the_frames(tmp_path: Path) -> None:
    for side, table in zip(("truth", "found"), walkers(3), strict=True):
        table.to_parquet(tmp_path / f"{side}.parquet")
    frames = pd.DataFrame({"sequence": "hall", "frame": [1, 2, 3], "file_name": ["a.png", "b.png", "c.png"]})
    frames.to_csv(tmp_path / "frames.csv", index=False)
    for name, shade in (("a", 60), ("b", 120)):
        Image.fromarray(np.full((480, 700), shade, np.uint8)).save(tmp_path / f"{name}.png")
    words = ["--frames", tmp_path / "frames.csv", "--images", tmp_path, "--video", "hall", tmp_path / "hall.mp4"]
    for command in ("score", "ap"):
        done = run_here(command, tmp_path / "truth.parquet", tmp_path / "found.parquet", *words)
        [said, warning] = complaints(done.err)
        assert said.startswith(f"{tmp_path / 'hall.mp4'}: ")
        assert re.match(r"warning: video: images: 1 of 3 frames are drawn without a picture: .*c\.png", warning)
        shades = [int(np.median(picture)) for picture in frames_of(tmp_path / "hall.mp4")]
        assert shades[:2] == pytest.approx([60, 120], abs=4)


def test_tracks_by_class_have_a_video(tmp_path: Path) -> None:
    """A benchmark of several classes: the video has the objects of all."""
    lines = [
        f"{frame} {name} {kind} 0 0 0 {left} 100 {left + 40} 180 1 1 1 0 0 0 0"
        for frame in (0, 1)
        for name, kind, left in ((1, "Car", 100 + 9 * frame), (2, "Pedestrian", 300))
    ]
    for folder, score in (("gt/label_02", ""), ("trackers/one/data", " 0.9")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "0000.txt").write_text("".join(f"{line}{score}\n" for line in lines))
    (tmp_path / "gt" / "evaluate_tracking.seqmap.training").write_text("0000 empty 000000 000002\n")
    folders = tmp_path / "gt", tmp_path / "trackers" / "one"
    command = ["track", *folders, "--benchmark", "KITTI"]
    done = run_here(*command, "--video", "0000", tmp_path / "given.gif")
    assert written(done) == [str(tmp_path / "given.gif")]
    assert done.out == run_here(*command).out
    result = sf.track(*sf.read_benchmark(*folders, "KITTI"), by="category")
    assert result.matches["outcome"].tolist() == ["TP"] * 4
    sf.video(result, "0000", tmp_path / "expected.gif")
    shown, wanted = (frames_of(tmp_path / f"{name}.gif") for name in ("given", "expected"))
    assert len(shown) == 2
    assert np.array_equal(shown, wanted)


# What is given, the exit status, and what the message names.
WRONG = {
    "no file": (["--video", "1"], 2, ("--video", "SEQUENCE FILE")),
    "another ending": (["--video", "1", "{folder}/1.avi"], 2, ("--video", "1.avi", ".mp4 or .gif")),
    "an option for a file": (["--video", "1", "--json"], 2, ("--video", "--json", ".mp4 or .gif")),
    "no folder": (["--video", "1", "{folder}/deep/1.mp4"], 1, ("{folder}/deep/1.mp4", "no folder {folder}/deep")),
    "a folder": (["--video", "1", "{folder}/there.mp4"], 1, ("{folder}/there.mp4", "cannot be written")),
    "an address": (["--video", "1", "s3://bucket/1.mp4"], 1, ("s3://bucket/1.mp4", "is an address")),
    "no sequence": (["--video", "one", "{folder}/1.mp4"], 2, ("--video", "'one'", "1, 2, 3, 4, 5 and 55 more")),
    "no such number": (["--video", "61", "{folder}/1.mp4"], 2, ("--video", "'61'", "there are 1, 2")),
    "left out": (["--video", "5", "{folder}/1.mp4", "--exclude", "5-9"], 2, ("--video", "sequence 5", "--exclude")),
    "one file twice": (
        ["--video", "1", "{folder}/1.mp4", "--video", "2", "{folder}/1.mp4"],
        2,
        ("--video", "{folder}/1.mp4", "a file of its own"),
    ),
    "no video": (["--images", "{folder}"], 2, ("--images", "--video SEQUENCE FILE")),
    "no pictures": (["--images", "{folder}/no", "--video", "1", "{folder}/1.mp4"], 1, ("images", "{folder}/no")),
    "a dataset": (["--video", "1", "{folder}/1.mp4", "--dataset"], 2, ("--video", "--dataset", "match table")),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_video_is_refused_before_anything_is_matched(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores.matcher, "matched", lambda *_: pytest.fail("the evaluation has begun"))
    (tmp_path / "there.mp4").mkdir()
    options, status, told = WRONG[name]
    said = refused_here(*SCORE, *(word.format(folder=tmp_path) for word in options), status=status)[-1]
    assert all(part.format(folder=tmp_path) in said for part in told), said
    assert [path.name for path in tmp_path.iterdir()] == ["there.mp4"]


def test_other_commands_refuse_what_they_have_no_video_of(tmp_path: Path) -> None:
    tracks, poses, precision = ["track", *TRACKS], ["pose", *POSES], ["ap", *IMAGES]
    for command, there in ((tracks, "crossing, plaza"), (poses, "corner, street"), (precision, "1, 2, 3, 4, 5 and")):
        said = refused_here(*command, "--video", "hall", tmp_path / "hall.mp4", status=2)[-1]
        assert f"'hall'; there are {there}" in said
        assert "--video" in refused_here(*command, "--images", tmp_path, status=2)[-1]
    boxes = [DATA / "boxes" / f"{name}.parquet" for name in ("truth", "v1")]
    said = refused_here("track", *boxes, "--dataset", "--video", "1", tmp_path / "1.mp4", status=2)[-1]
    assert "--dataset" in said
    inside = TRACKS[0] / "crossing.mp4"
    assert refused_here(*tracks, "--video", "crossing", inside)[-1].startswith(f"{inside}: cannot be written")
    assert not inside.exists()


def test_a_sequence_that_is_too_long_for_a_gif_is_refused_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": range(1001), "object": 1, "x": 1.0, "y": 1.0})
    truth.to_csv(tmp_path / "truth.csv", index=False)
    monkeypatch.setattr(scores.matcher, "matched", lambda *_: pytest.fail("the evaluation has begun"))
    files = [tmp_path / "truth.csv"] * 2
    said = refused_here("score", *files, "--video", "1", tmp_path / "long.gif")[-1]
    assert "1,001 frames" in said
    assert "write an .mp4" in said


def test_the_sky_has_no_pictures(tmp_path: Path) -> None:
    sky = ["score", DATA / "sky" / "truth.parquet", DATA / "sky" / "detections.parquet", "--tau", 2]
    video = ["--video", "1", tmp_path / "sky.gif"]
    assert refused_here(*sky, *video, "--images", tmp_path)[-1].startswith("--images: ")
    assert written(run_here(*sky, *video)) == [str(tmp_path / "sky.gif")]


def test_without_the_extra_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    [said] = refused_here(*SCORE, "--video", "1", tmp_path / "1.mp4")
    assert said.startswith("video: av cannot be imported")
    assert "spotgeo_frames[video]" in said
