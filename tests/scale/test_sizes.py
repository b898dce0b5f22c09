"""Datasets of many columns and many row groups: work grows with the data, and want of memory skips nothing."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from helpers.datasets import assert_same, in_files, points
from helpers.problems import warned
from spotgeo_frames.scale import contents, files, parts

# What tells the user that a sequence is on one side only is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore:.* in the (truth|predictions) only:UserWarning")


class Counting(pq.ParquetFile):
    """A Parquet file that counts how often footers are parsed, row groups read, and lists of columns made."""

    parsed = read = listed = 0

    def __init__(self, source: Any, *arguments: Any, metadata: Any = None, **options: Any):
        Counting.parsed += metadata is None
        super().__init__(source, *arguments, metadata=metadata, **options)

    def iter_batches(self, *arguments: Any, **options: Any) -> Any:
        Counting.read += 1
        return super().iter_batches(*arguments, **options)

    @property
    def schema_arrow(self) -> pa.Schema:
        Counting.listed += 1
        return super().schema_arrow


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> type[Counting]:
    monkeypatch.setattr(pq, "ParquetFile", Counting)
    Counting.parsed = Counting.read = Counting.listed = 0
    return Counting


@pytest.mark.parametrize("kept", [files.KEPT_FOOTERS, 0])
def test_a_footer_is_parsed_once(
    kept: int, counting: type[Counting], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, predictions = points(60)
    paths = in_files(truth, tmp_path / "truth", 3, 5), in_files(predictions, tmp_path / "predictions", 3, 5)
    monkeypatch.setattr(files, "KEPT_FOOTERS", kept)
    assert_same(sf.score_dataset(*paths, workers=1), sf.summarize(sf.match(truth, predictions)))
    assert counting.read > 60
    assert counting.parsed <= 12  # of six files when they are listed, and when they are read


def test_footers_of_files_that_take_turns_are_kept(
    counting: type[Counting], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, predictions = points(60)
    rows = pa.Table.from_pandas(truth, preserve_index=False)
    for turn in (0, 1):  # sequences lie in one file and in the other by turns, ten of them in a row group of each
        with pq.ParquetWriter(tmp_path / f"{turn}.parquet", rows.schema) as writer:
            for ten in range(turn, 6, 2):
                writer.write_table(rows.filter(truth["sequence"].to_numpy() // 10 == ten))
    both = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    path = in_files(predictions, tmp_path / "predictions", 1, 100)
    monkeypatch.setattr(parts, "MOST_READ", 100.0)
    expected = sf.summarize(sf.match(truth, predictions))
    assert_same(sf.score_dataset(both, path, workers=1), expected)
    assert counting.parsed == 3  # of three files when they are listed
    monkeypatch.setattr(contents, "KEPT_OF_DATASET", 0)
    assert_same(sf.score_dataset(both, path, workers=1), expected)
    assert counting.parsed == 3 + 6  # and when they are read
    monkeypatch.setattr(files, "KEPT_FOOTERS", 0)
    assert_same(sf.score_dataset(both, path, workers=1), expected)
    assert counting.parsed > 9 + 6


def test_columns_are_listed_once_a_row_group(counting: type[Counting], tmp_path: Path) -> None:
    truth, predictions = points(10)
    wide = truth.join(pd.DataFrame(1.0, truth.index, [f"c{position}" for position in range(200)]))
    paths = in_files(wide, tmp_path / "truth", 1, 1000), in_files(predictions, tmp_path / "predictions", 1, 1000)
    sf.score_dataset(*paths, tmp_path / "out", workers=1)
    assert counting.listed <= 4 * counting.read


@pytest.mark.filterwarnings("ignore:skipped:UserWarning")
def test_many_damaged_row_groups_are_found_at_once(counting: type[Counting], tmp_path: Path) -> None:
    truth, predictions = points(60)
    [path] = in_files(truth, tmp_path / "truth", 1, 5).iterdir()
    pq.write_table(pq.read_table(path), path, row_group_size=5, write_page_checksum=True, compression="none")
    footer, content = pq.read_metadata(path), bytearray(path.read_bytes())
    damaged = range(1, footer.num_row_groups, 2)
    for group in damaged:
        column = footer.row_group(group).column(3)
        content[column.data_page_offset + column.total_compressed_size - 20] ^= 0xFF
    path.write_bytes(content)
    other = in_files(predictions, tmp_path / "predictions", 1, 1000)
    counting.read = 0
    found = sf.score_dataset(path, other, on_error="skip", workers=1)
    assert len(found.attrs["skipped"]) == len(damaged) > 40
    assert counting.read < 4 * footer.num_row_groups


@pytest.mark.parametrize("want", [pa.ArrowMemoryError("malloc of size 64 failed"), OSError("Cannot allocate memory")])
@pytest.mark.parametrize("where", ["iter_batches", "schema_arrow", "__init__"])
def test_want_of_memory_is_never_skipped(
    want: Exception, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, predictions = points(10)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")

    def wanting(*arguments: Any, **options: Any) -> Any:
        raise want

    monkeypatch.setattr(pq.ParquetFile, where, property(wanting) if where == "schema_arrow" else wanting)
    for on_error in ("raise", "skip"):
        with warned(), pytest.raises(MemoryError, match=r"part-000\.parquet"):
            sf.score_dataset(*paths, on_error=on_error, workers=1)


def test_want_of_memory_is_no_damage_of_kept_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, predictions = points(10)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    sf.score_dataset(*paths, tmp_path / "out", workers=1)

    def wanting(*arguments: Any) -> Any:
        raise pa.ArrowMemoryError("malloc of size 64 failed")

    monkeypatch.setattr(pa.ipc, "open_stream", wanting)
    with warned(), pytest.raises(MemoryError, match="sums"):
        sf.score_dataset(*paths, tmp_path / "out", workers=1)
