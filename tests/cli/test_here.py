"""`spotgeo-frames` alone: commands that fit the files of the folder, and how to begin where there are none."""

import gzip
import json
import os
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest

from helpers.commands import run_here, run_process
from helpers.reference import PROJECT
from spotgeo_frames.cli import entries, here


def suggested(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that are shown in a folder, as a shell takes them apart."""
    monkeypatch.chdir(folder)
    done = run_here()
    assert (done.status, done.err) == (0, "")
    return [shlex.split(line)[1:] for line in done.out.splitlines() if line.startswith("  spotgeo-frames ")]


@pytest.mark.parametrize(
    ("sample", "wanted"),
    [
        ("sample", ["score", "truth.json", "cautious.json"]),
        ("boxes", ["score", "truth.parquet", "v1.parquet", "--frames", "frames.parquet"]),
        ("sky", ["score", "truth.parquet", "detections.parquet", "--tau", "2", "--frames", "exposures.parquet"]),
        ("coco", ["ap", "annotations.json", "fast.json"]),
        ("tracks", ["track", "truth", "tracker"]),
        ("poses", ["pose", "truth", "tracker"]),
        ("streets", ["score", "truth.parquet", "calm.parquet"]),
    ],
)
def test_every_command_that_is_shown_runs(
    sample: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / sample
    shutil.copytree(PROJECT / "data" / sample, folder)
    commands = suggested(folder, monkeypatch)
    assert commands[0] == wanted
    for command in commands:
        if command[0] != "report":  # which takes seconds; its arguments are those of compare
            done = run_here(*command)
            assert done.status == 0, (command, done.err)
            assert "have no truth at all" not in done.err, command


def test_predictions_in_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "submissions").mkdir()
    for name, at in (
        ("truth", "train_anno.json"),
        ("eager", "submissions/a b.json"),
        ("cautious", "submissions/c.json"),
    ):
        shutil.copy(PROJECT / f"data/sample/{name}.json", tmp_path / at)
    commands = suggested(tmp_path, monkeypatch)
    inside = [os.path.join("submissions", name) for name in ("a b.json", "c.json")]
    assert commands[:2] == [["score", "train_anno.json", inside[0]], ["compare", "train_anno.json", *inside]]
    assert run_here(*commands[0]).status == 0


def test_names_stay_words_of_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = ["-truth.json", "$(touch owned).json", "a;b.json", "\x1b[31m.json", ".hidden.json"]
    for name in hostile:
        shutil.copy(PROJECT / "data/sample/truth.json", tmp_path / name)
    commands = suggested(tmp_path, monkeypatch)
    assert commands[0] == ["score", "./-truth.json", "$(touch owned).json"]
    assert commands[1] == ["compare", "./-truth.json", "$(touch owned).json", "a;b.json"]
    assert run_here(*commands[0]).status == 0


def test_without_files_there_is_the_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "truth.json").write_text("[]")
    (tmp_path / "notes.txt").write_text("1,2,3")
    os.mkfifo(tmp_path / "results.json")
    done = run_here()
    assert (done.status, done.err) == (0, "")
    assert done.out == run_process().out
    assert done.out.startswith(f"{run_here('--help').out}\n{here.NOTHING_HERE}\n")
    assert all(f"{what}\n  spotgeo-frames {command}\n" in done.out for what, command in here.BEGIN)


def test_few_files_are_looked_at_and_none_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"sequence_id": 1, "frame": 1, "num_objects": 0, "object_coords": []}
    for at in range(300):
        (tmp_path / f"{at:03}.json").write_text(json.dumps([entry]))
    with (tmp_path / "000_truth.json").open("w") as file:
        file.write(json.dumps([entry])[:-1])
        file.truncate(1 << 40)  # a terabyte, of which nothing is stored
    opened: list[Path] = []
    as_is = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *mode: opened.append(path) or as_is(path, *mode))
    commands = suggested(tmp_path, monkeypatch)
    assert commands[0] == ["score", "000_truth.json", "000.json"]
    assert len(opened) <= entries.MOST_ENTRIES


def objects(*columns: str) -> pd.DataFrame:
    keys = {"sequence": [1, 1], "frame": [1, 2], "object": [1, 1]}
    return pd.DataFrame(keys | {name: [1.0 + at, 2.0 + at] for at, name in enumerate(columns)})


POINTS, BOXES, CORNERS = objects("x", "y"), objects("x", "y", "w", "h"), objects("xmin", "ymin", "xmax", "ymax")


def written(folder: Path, tables: dict[str, pd.DataFrame], ending: str = "parquet") -> None:
    for name, table in tables.items():
        path = folder / f"{name}.{ending}"
        table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)


def test_damaged_files_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "result.json.gz").write_bytes(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage-not-deflate")
    (tmp_path / "short.json.gz").write_bytes(gzip.compress(b"[]" * 99)[:-9])
    (tmp_path / "plain.csv.gz").write_bytes(b"sequence,frame,object,x,y")
    for name, content in (("none", b""), ("short", b"PAR1"), ("negative", b"\xff" * 4 + b"PAR1")):
        (tmp_path / f"{name}.parquet").write_bytes(content)
    assert suggested(tmp_path, monkeypatch)[0] == ["score", "TRUTH", "SUBMISSION"]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("tables", "wanted"),
    [
        # Catalogues of points have places in the sky, too.
        ({name: objects("x", "y", "ra", "dec") for name in ("truth", "stars")}, "score truth stars --tau 10"),
        ({name: POINTS.assign(band=["ra", "dec"]) for name in ("truth", "stars")}, "score truth stars"),
        ({name: objects("ra", "dec") for name in ("truth", "stars")}, "score truth stars --tau 2"),
        # Only whole words tell the truth, and one that is called just so goes first.
        (dict.fromkeys(("background_subtraction", "cnn", "truth"), POINTS), "score truth background_subtraction"),
        (dict.fromkeys(("eager_relabelled", "playground_run", "truth"), POINTS), "score truth eager_relabelled"),
        (dict.fromkeys(("annotations", "model", "ground_truth"), POINTS), "score ground_truth model"),
        (dict.fromkeys(("model", "valTruth"), POINTS), "score valTruth model"),
        (dict.fromkeys(("train_truth", "val_pred", "val_truth"), POINTS), "score val_truth val_pred"),
        # Frames are a table without objects.
        ({"truth": BOXES, "pred": BOXES, "a_other": CORNERS}, "score truth pred"),
        ({"truth": BOXES, "pred": BOXES, "f": BOXES[["sequence", "frame"]]}, "score truth pred --frames f"),
        ({"truth": CORNERS, "pred": CORNERS}, "score truth pred --box-format xyxy"),
        # Files of one command are of one kind.
        ({"truth": POINTS, "boxes": BOXES, "eager": POINTS}, "score truth eager"),
        (dict.fromkeys(("truth", *(f"pred_{at:03}" for at in range(60))), POINTS), "score truth pred_000"),
        ({name: objects("cx", "cy", "w", "h", "angle") for name in ("gt", "pred")}, "score gt pred"),
        ({name: objects("x", "y", "z") for name in ("gt", "pred")}, "score gt pred"),
        ({name: POINTS.assign(joint="nose") for name in ("gt", "pred")}, "score gt pred"),
    ],
    ids=lambda given: "-".join([*given][:3]) if isinstance(given, dict) else given,
)
def test_what_is_shown_of_tables(
    tables: dict[str, pd.DataFrame], wanted: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, tables, ending)
    commands = suggested(tmp_path, monkeypatch)
    expected = [f"{word}.{ending}" if word in tables else word for word in wanted.split()]
    assert commands[0] == expected
    assert not any(f"a_other.{ending}" in command or f"boxes.{ending}" in command for command in commands)
    for command in commands:
        if command[0] != "report":
            done = run_here(*command)
            assert done.status == 0, (command, done.err)


def test_json_goes_with_the_truth_that_shares_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lvis", "voc"):
        shutil.copy(PROJECT / "data/coco/annotations.json", tmp_path / f"{name}_truth.json")
        shutil.copy(PROJECT / "data/coco/fast.json", tmp_path / f"{name}_results.json")
    written(tmp_path, dict.fromkeys(("truth", "pred"), POINTS))
    commands = suggested(tmp_path, monkeypatch)
    assert {tuple(command) for command in commands if command[0] in ("ap", "compare")} == {
        ("ap", f"{name}_truth.json", f"{name}_results.json") for name in ("lvis", "voc")
    }
    assert "This folder also has COCO JSON:\n  spotgeo-frames ap voc_truth.json voc_results.json" in run_here().out


def test_folders_as_posetrack_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(PROJECT / "data/poses/truth", tmp_path / "gt")
    shutil.copytree(PROJECT / "data/poses/tracker", tmp_path / "trackers/walker/sequences")
    command, *_ = suggested(tmp_path, monkeypatch)
    assert command == ["pose", "gt", os.path.join("trackers", "walker")]
    assert run_here(*command).status == 0


def test_that_entries_were_not_looked_at_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, {f"model_{at}": POINTS for at in range(50)}, "csv")
    assert "Only the first 48 files and folders were looked at" in run_here().out
    written(tmp_path, {"zz_truth": POINTS}, "csv")
    assert "Only the first 48 files and folders were looked at" in run_here().out
    assert suggested(tmp_path, monkeypatch)[0][:2] == ["score", "zz_truth.csv"]


def test_a_byte_order_mark_is_no_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("truth", "pred"):
        POINTS.to_csv(tmp_path / f"{name}.csv", index=False, encoding="utf-8-sig")
    assert suggested(tmp_path, monkeypatch)[0] == ["score", "truth.csv", "pred.csv"]


def test_tracks_are_asked_for_where_objects_may_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, {"truth": BOXES, "pred": BOXES})
    assert ["track", "truth.parquet", "pred.parquet"] in suggested(tmp_path, monkeypatch)
    written(tmp_path, {"pred": BOXES.assign(score=0.5)})
    assert "track" not in {command[0] for command in suggested(tmp_path, monkeypatch)}


def test_prose_fits_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, run_here().out.splitlines())) <= 60
