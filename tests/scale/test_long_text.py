"""Text that a file repeats takes as much memory as its dictionary, or is bounded where it has to be written out."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from helpers.datasets import assert_same, in_files, points
from helpers.limited import run_limited
from helpers.problems import refused
from spotgeo_frames.scale import blocks, rows
from spotgeo_frames.scale.contents import contents_of
from spotgeo_frames.scale.files import OpenedFiles

N_ROWS, LENGTH = 100_000, 20_000


def repeated(path: Path, column: str, *, as_dictionary: bool = True) -> Path:
    """A file of a few kB whose column has a long text in each of many rows."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(N_ROWS, np.int32)), ["x" * LENGTH])
    frames = {"sequence": np.repeat(np.arange(N_ROWS // 100), 100), "frame": np.tile(np.arange(100), N_ROWS // 100)}
    geometry = {"object": np.zeros(N_ROWS, np.int64), "x": np.zeros(N_ROWS), "y": np.zeros(N_ROWS)}
    pq.write_table(pa.table({**frames, **geometry, column: text}), path, store_schema=as_dictionary)
    return path


@pytest.mark.parametrize("as_dictionary", [True, False])
def test_a_dataset_of_repeated_text_needs_little_memory(tmp_path: Path, as_dictionary: bool) -> None:
    path = repeated(tmp_path / "some.parquet", "category", as_dictionary=as_dictionary)
    assert path.stat().st_size < 100_000
    code = f"import spotgeo_frames as sf; print(sf.score_dataset({str(path)!r}, {str(path)!r})['tp'].tolist())"
    done = run_limited(code, megabytes=2500)
    assert done.stdout == f"[{N_ROWS}]\n", done.stderr


def test_a_file_with_categories_is_matched_without_writing_them_out(tmp_path: Path) -> None:
    path = repeated(tmp_path / "some.parquet", "category")
    code = f"from spotgeo_frames.cli import app; app.run(['score', {str(path)!r}, {str(path)!r}])"
    done = run_limited(code, megabytes=1500)
    assert (done.returncode, f"{N_ROWS:,}" in done.stdout) == (0, True), done.stderr


def test_repeated_text_that_is_no_dictionary_is_refused(tmp_path: Path) -> None:
    path = repeated(tmp_path / "some.parquet", "note", as_dictionary=False)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "some.parquet").write_bytes(path.read_bytes())
    for source, file in ((path, path), (folder, folder / "some.parquet")):
        with refused((f"{file}: column note", "1024 MiB", "dictionary")):
            sf.read_objects(source)


def test_repeated_text_is_read_where_it_fits(tmp_path: Path) -> None:
    table = pd.DataFrame({"sequence": ["a" * 40] * 5000, "frame": 1, "object": range(5000), "x": 0.0, "y": 0.0})
    table.to_parquet(tmp_path / "some.parquet")
    assert sf.read_objects(tmp_path / "some.parquet").objects["sequence"].tolist() == table["sequence"].tolist()


def test_names_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    names = pd.Categorical.from_codes(np.zeros(300_000, np.int8), ["x" * 10_000])
    table = pd.DataFrame({"sequence": names, "frame": 1, "object": range(300_000), "x": 0.0, "y": 0.0})
    monkeypatch.setattr("spotgeo_frames.support.memory.memory_at_hand", lambda: 1 << 30)
    with refused(("truth: column sequence", "1.0 GiB")):
        sf.match(table, table)


def test_long_text_is_written_out_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"sequence": ["a" * 100, "b" * 100] * 50, "frame": 1, "object": range(100)})
    table = table.sort_values("sequence").assign(x=0.0, y=0.0, note="n" * 1000)
    table.to_parquet(tmp_path / "some.parquet")
    monkeypatch.setattr(rows, "PIECE_BYTES", 5000)
    contents = contents_of(tmp_path / "some.parquet", ["sequence"])
    pieces = [*rows.row_group_batches(OpenedFiles(), contents.groups[0], contents.schema, 1000)]
    assert max(piece["note"].nbytes for piece in pieces) < 5000
    assert pa.concat_tables(pieces)["sequence"].to_pylist() == table["sequence"].tolist()


@pytest.mark.parametrize("by", [None, "category", "truth_brightness"])
def test_blocks_that_take_many_bytes_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str | None) -> None:
    truth, predictions = (table.assign(category="c" * 500) for table in points(40, kind="str"))
    predictions = predictions[predictions["sequence"].isin(truth["sequence"])]
    truth, predictions = (table.drop(columns="label", errors="ignore") for table in (truth, predictions))
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    monkeypatch.setattr(blocks, "MEASURED_BYTES", 20_000)
    monkeypatch.setattr(rows, "PIECE_BYTES", 5_000)
    assert_same(sf.score_dataset(*paths, workers=1, by=by), sf.summarize(sf.match(truth, predictions), by=by))
