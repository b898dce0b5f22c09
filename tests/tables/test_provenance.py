"""A table is called by its file only where its rows still are that file's."""

import copy
import gc
import json
import os
import pickle
import shutil
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.cli import tracks as tracks_command
from spotgeo_frames.cli.app import run
from spotgeo_frames.formats import objects as tables_of_objects
from spotgeo_frames.formats.spotgeo import spotgeo_columns
from spotgeo_frames.matching import matcher
from spotgeo_frames.tables import provenance
from spotgeo_frames.tables.annotations import as_annotations
from spotgeo_frames.tables.provenance import (
    MOTCHALLENGE_FILES,
    POSETRACK_FILES,
    SOURCE,
    YOLO_FILES,
    input_notes,
    inputs_of,
    sha256,
    source,
)

UNTOUCHED: dict[str, Any] = {
    "as read": lambda table: table,
    "a copy": lambda table: table.copy(),
    "a deep copy": copy.deepcopy,
    "some rows": lambda table: table[table["x"] > 100],
    "the first rows": lambda table: table.head(5),
    "the same values anew": lambda table: table.assign(x=table["x"] + 0.0),
    "the key as index": lambda table: table.set_index(["sequence"]),
}

TOUCHED: dict[str, Any] = {
    "other values": lambda table: table.assign(x=table["x"] + 1),
    "one other value": lambda table: table.assign(y=table["y"].where(table.index != 7, 0.0)),
    "another column": lambda table: table.assign(brightness=1.0),
    "sorted": lambda table: table.sort_values("x"),
    "sorted and numbered anew": lambda table: table.sort_values("x", ignore_index=True),
    "rows of another frame": lambda table: pd.concat([table, table.assign(frame=table["frame"] + 50)]),
    "some rows with other values": lambda table: table[table["x"] > 100].assign(x=1.0),
    "some rows numbered anew": lambda table: table[table["x"] > 100].reset_index(drop=True),
    "an index of text": lambda table: table.head(5).set_axis(list("abcde")),
    "an index beyond the end": lambda table: table.head(5).set_axis(np.arange(5) + 10**6),
    "pickled": lambda table: pickle.loads(pickle.dumps(table)),
}


def read(sample: Path) -> pd.DataFrame:
    return sf.read_spotgeo(sample / "eager.json").objects


@pytest.mark.parametrize("change", UNTOUCHED.values(), ids=UNTOUCHED)
def test_rows_of_a_file_are_called_by_it(sample: Path, change: Any) -> None:
    table = as_annotations(change(read(sample)), "predictions").objects
    assert source(table, "predictions") == str(sample / "eager.json")
    [found] = inputs_of({"submission": table})
    assert (found.path, len(found.sha256 or "")) == (sample / "eager.json", 64)
    n_rows = len(read(sample))
    assert found.remark == ("" if len(table) == n_rows else f", of which {len(table):,} of {n_rows:,} rows")


@pytest.mark.parametrize("change", TOUCHED.values(), ids=TOUCHED)
def test_other_rows_are_called_by_their_role(sample: Path, change: Any) -> None:
    changed = change(read(sample))
    assert inputs_of({"submission": changed}) == []
    assert source(as_annotations(changed, "predictions").objects, "predictions") == "predictions"


def test_a_table_changed_in_place(sample: Path) -> None:
    table = read(sample)
    table.loc[3, "x"] = 5.0
    assert inputs_of({"submission": table}) == []
    table = read(sample)
    table["x"] += 1
    assert inputs_of({"submission": table}) == []


def test_messages_and_pages_do_not_name_the_file_of_a_changed_table(sample: Path, tmp_path: Path) -> None:
    truth = sf.read_spotgeo(sample / "truth.json")
    changed = read(sample).assign(frame=lambda table: table["frame"] + 50)
    with refused("predictions: 735 objects"):
        sf.match(truth, changed)
    moved = truth._replace(objects=truth.objects.assign(x=truth.objects["x"] + 1))
    sf.report(moved, read(sample).assign(x=1.0), tmp_path / "report.html", tables=tmp_path / "tables")
    notes = pd.read_parquet(tmp_path / "tables" / "matches.parquet").attrs
    assert not {"truth", "truth_sha256", "submission", "submission_sha256"} & notes.keys()
    for path in (tmp_path / "report.html", tmp_path / "tables" / "README.md"):
        assert "eager.json" not in path.read_text()
        assert "truth.json" not in path.read_text()


@pytest.mark.parametrize("note", [None, 5, [1, 2], "elsewhere.json", {"a": 1}])
def test_odd_notes_are_passed_over(sample: Path, note: Any) -> None:
    table = read(sample)
    table.attrs[SOURCE] = note
    assert inputs_of({"submission": table}) == []
    assert source(as_annotations(table, "predictions").objects, "predictions") == "predictions"


def test_notes_can_be_written(sample: Path, tmp_path: Path) -> None:
    table = read(sample)
    table.to_parquet(tmp_path / "some.parquet")
    again = pd.read_parquet(tmp_path / "some.parquet")
    assert json.dumps(again.attrs)
    assert inputs_of({"submission": again}) == [], "it is read from another file now"
    assert input_notes(inputs_of({"submission": table}))["submission"] == "eager.json"


def test_folders_whose_readers_leave_rows_out(tracks: Path) -> None:
    truth, predictions = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    everything, _ = sf.read_motchallenge(tracks / "truth", tracks / "tracker", preprocess=False)
    found = {file.role: file for file in inputs_of({"truth": truth.objects, "tracker": predictions.objects})}
    assert {*found} == {"truth", "tracker"}
    remark = f", of which {len(truth.objects):,} of {len(everything.objects):,} rows"
    assert found["truth"].remark == (remark if len(truth.objects) < len(everything.objects) else "")


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Without the collector that frees objects that refer to each other."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("reader", [sf.read_spotgeo, spotgeo_columns])
def test_what_was_read_is_freed_with_its_table(sample: Path, reader: Any) -> None:
    objects = reader(sample / "eager.json").objects
    noted, values = weakref.ref(objects.attrs[SOURCE]), weakref.ref(_memory(objects["x"]))
    del objects
    assert noted() is None
    assert values() is None


def _memory(values: Any) -> np.ndarray:
    """The array of NumPy whose memory a column has."""
    array = np.asarray(values)
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


# For each reader: a file of the sample, and what reads it.
READERS: dict[str, Any] = {
    "competition JSON": ("eager.json", sf.read_spotgeo),
    "columns of competition JSON": ("eager.json", spotgeo_columns),
    "Parquet": ("eager.parquet", sf.read_objects),
    "frames": ("frames.parquet", lambda path: sf.Annotations(tables_of_objects.read_needed(path, "frames", None))),
}


def rewrite(path: Path) -> None:
    """Rewrites a file with other content of the same size, and gives it back the times that it had."""
    was = path.stat()
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def copied(sample: Path, tmp_path: Path, name: str) -> Path:
    """A copy of a file of the sample, old enough for the clock of its file system to have gone on."""
    path = tmp_path / name
    path.write_bytes((sample / name).read_bytes())
    time.sleep(0.02)
    return path


@pytest.mark.parametrize(("name", "read_it"), READERS.values(), ids=READERS)
def test_a_file_that_changes_while_it_is_read_has_no_digest(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, read_it: Any
) -> None:
    path = copied(sample, tmp_path, name)
    note = provenance.note_source

    def late(*arguments: Any) -> None:
        rewrite(path)
        note(*arguments)

    monkeypatch.setattr(provenance, "note_source", late)
    [found] = inputs_of({"submission": read_it(path).objects})
    assert (found.sha256, found.remark) == (None, ", changed since it was read")
    assert input_notes([found]) == {"submission": name, "submission_remark": "changed since it was read"}


def test_folders_that_change_while_they_are_read_have_no_digest(
    tracks: Path, poses: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = provenance.note_source
    for kind, read_both in ((tracks, sf.read_motchallenge), (poses, sf.read_posetrack)):
        folder = tmp_path / kind.name
        shutil.copytree(kind, folder)
        file = sorted((folder / "tracker").iterdir())[0]

        def late(*arguments: Any, file: Path = file) -> None:
            rewrite(file)
            note(*arguments)

        monkeypatch.setattr(provenance, "note_source", late)
        time.sleep(0.02)
        truth, tracker = read_both(folder / "truth", folder / "tracker")
        digests = [file.sha256 for file in inputs_of({"truth": truth.objects, "tracker": tracker.objects})]
        assert digests == [sha256(kind / "truth", (*MOTCHALLENGE_FILES, *POSETRACK_FILES)), None]


def test_a_file_rewritten_with_its_size_and_time_has_no_digest(sample: Path, tmp_path: Path) -> None:
    path = copied(sample, tmp_path, "eager.json")
    table = sf.read_spotgeo(path).objects
    rewrite(path)
    assert inputs_of({"submission": table})[0].sha256 is None


def test_a_file_that_changes_while_its_digest_is_made_has_none(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copied(sample, tmp_path, "eager.json")
    table = sf.read_spotgeo(path).objects
    digest = provenance.sha256

    def slow(*arguments: Any) -> str:
        rewrite(path)
        return digest(*arguments)

    monkeypatch.setattr(provenance, "sha256", slow)
    assert inputs_of({"submission": table})[0].sha256 is None


def test_the_digest_of_a_folder_is_that_of_the_files_that_were_read(sample: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "night=1").mkdir(parents=True)
        shutil.copy(sample / "eager.parquet", tmp_path / name / "night=1" / "x.parquet")
    (tmp_path / "b" / "README.txt").write_text("What a reader of Parquet does not read.")
    digests = [inputs_of({"truth": sf.read_objects(tmp_path / name).objects})[0].sha256 for name in ("a", "b")]
    assert digests[0] == digests[1]
    pd.read_parquet(sample / "eager.parquet").head(0).to_parquet(tmp_path / "b" / "night=1" / "y.parquet")
    assert inputs_of({"truth": sf.read_objects(tmp_path / "b").objects})[0].sha256 != digests[0]


def test_commands_record_what_was_read(
    sample: Path, tracks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tracks, tmp_path / "tracks")
    truth = copied(sample, tmp_path, "truth.json")
    submission = copied(sample, tmp_path, "eager.json")
    matched, track_sides = matcher.matched, tracks_command.track_sides

    def rewriting(path: Path, work: Any) -> Any:
        return lambda *arguments, **named: (rewrite(path), work(*arguments, **named))[1]

    monkeypatch.setattr(matcher, "matched", rewriting(submission, matched))
    run(["score", str(truth), str(submission), "--out", str(tmp_path / "scored")])
    notes = pd.read_parquet(tmp_path / "scored" / "summary.parquet").attrs
    assert notes["truth_sha256"] == sha256(sample / "truth.json")
    assert {"submission_sha256", "submission_remark"} & notes.keys() == {"submission_remark"}
    folder = tmp_path / "tracks"
    changing = rewriting(folder / "truth" / "plaza" / "gt" / "gt.txt", track_sides)
    monkeypatch.setattr(tracks_command, "track_sides", changing)
    run(["track", str(folder / "truth"), str(folder / "tracker"), "--out", str(tmp_path / "tracked")])
    notes = pd.read_parquet(tmp_path / "tracked" / "summary.parquet").attrs
    assert notes["tracker_sha256"] == sha256(tracks / "tracker", MOTCHALLENGE_FILES)
    assert {"truth_sha256", "truth_remark"} & notes.keys() == {"truth_remark"}


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_files_in_folders_that_are_linked_are_the_folders_too(tmp_path: Path) -> None:
    for name in ("labels", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text("0 0.5 0.5 0.2 0.4\n")
    (tmp_path / "labels" / "more").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    before = sha256(tmp_path / "labels", YOLO_FILES)
    (tmp_path / "elsewhere" / "elsewhere.txt").write_text("0 0.5 0.5 0.2 0.3\n")
    assert sha256(tmp_path / "labels", YOLO_FILES) != before
