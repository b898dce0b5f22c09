"""A table is called by its file only where its rows still are that file's."""

import copy
import gc
import json
import pickle
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.formats.spotgeo import spotgeo_columns
from spotgeo_frames.tables.annotations import as_annotations
from spotgeo_frames.tables.inputs import SOURCE, input_notes, inputs_of, source

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
