"""Tables that are no files go into datasets: relations of DuckDB, and whatever has rows as Arrow knows them."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.scale import listing

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # sequences of one side only, which datasets name

KINDS: dict[str, Callable[[Path], Any]] = {
    "DuckDB": lambda path: duckdb.sql(f"from '{path}'"),
    "DuckDB by a query": lambda path: duckdb.sql(f"from '{path}' order by hash(x)"),
    "pandas": pd.read_parquet,
    "polars": pl.read_parquet,
    "polars, lazy": pl.scan_parquet,
    "pyarrow": pq.read_table,
    "a reader": lambda path: ds.dataset(path).scanner().to_reader(),
    "a scanner": lambda path: ds.dataset(path).scanner(batch_size=7),
    "a dataset in memory": lambda path: ds.dataset(pq.read_table(path)),
    "a filtered dataset": lambda path: ds.dataset(path).filter(ds.field("frame") >= 0),
}


@pytest.fixture
def files(sample: Path) -> list[Path]:
    return [sample / "truth.parquet", sample / "eager.parquet"]


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, in which none may be left."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def same(got: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(got, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("group_rows", [50, listing.GROUP_ROWS])
def test_any_table_is_a_dataset(
    kind: str, group_rows: int, files: list[Path], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "GROUP_ROWS", group_rows)
    made = [KINDS[kind](path) for path in files]
    same(sf.score_dataset(*made, by="frame"), sf.score_dataset(*files, by="frame"))
    assert list(scratch.iterdir()) == []


def test_tracks_frames_and_copies(files: list[Path], sample: Path, tmp_path: Path) -> None:
    tables = [duckdb.sql(f"from '{path}'") for path in files]
    same(sf.track_dataset(*tables), sf.track_dataset(*files))
    frames = duckdb.sql(f"from '{sample / 'frames.parquet'}'")
    expected = sf.score_dataset(*files, frames=sample / "frames.parquet")
    same(sf.score_dataset(tables[0], files[1], frames=frames), expected)
    sf.repartition_by_sequence(duckdb.sql(f"from '{files[0]}' order by hash(x)"), tmp_path / "sorted")
    assert pd.read_parquet(tmp_path / "sorted")["sequence"].is_monotonic_increasing


def test_what_is_kept_names_the_side(files: list[Path], tmp_path: Path) -> None:
    tables = [duckdb.sql(f"from '{path}'") for path in files]
    summary = sf.score_dataset(*tables, tmp_path / "out")
    kept = pq.read_table(tmp_path / "out" / "summary.parquet")
    assert kept.schema.metadata[b"truth"] == b"truth"
    same(sf.summarize(ds.dataset(tmp_path / "out" / "matches").to_table().to_pandas()), summary)


def test_problems_name_the_side(files: list[Path], scratch: Path) -> None:
    for query, named in (
        ("select sequence, frame, object, x from truth", "column y is missing"),
        ("select * replace (frame + 0.5 as frame) from truth", "column frame"),
        ("select *, interval 1 month as month from truth", "Parquet"),
        ("select * replace (error('no such thing') as x) from truth", "no such thing"),
    ):
        connection = duckdb.connect()
        connection.execute(f"create view truth as from '{files[0]}'")
        with pytest.raises(sf.InputError, match=rf"(?s)^truth: .*{named}"):
            sf.score_dataset(connection.sql(query), files[1])
    relation = connection.sql("from truth")
    connection.close()
    with refused(("truth", "closed")):
        sf.score_dataset(relation, files[1])
    assert list(scratch.iterdir()) == []


def test_datasets_of_other_formats(files: list[Path], tmp_path: Path) -> None:
    tables = [pq.read_table(path) for path in files]
    for name, table in zip(("truth", "found"), tables, strict=True):
        pa.csv.write_csv(table, tmp_path / f"{name}.csv")
    read = [ds.dataset(tmp_path / f"{name}.csv", format="csv") for name in ("truth", "found")]
    same(sf.score_dataset(*read), sf.score_dataset(*files))
    some = [ds.dataset(path).filter(ds.field("sequence") < 9) for path in files]
    same(sf.score_dataset(*some), sf.score_dataset(*(path.to_table() for path in some)))
