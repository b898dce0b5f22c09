"""Datasets as engines write them: in files of whole sequences, shuffled, or with one sequence of half of all rows."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.datasets import assert_same, in_files, points, tracks, write
from helpers.problems import refused, warned
from helpers.scenes import objects
from spotgeo_frames.scale import blocks, parts, planning
from spotgeo_frames.scale.contents import contents_of
from spotgeo_frames.scale.files import OpenedFiles, RowGroup
from spotgeo_frames.support import memory


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts, blocks and what is sorted in memory are of a few rows, so that tiny tables are large."""
    shrink(monkeypatch, 60)


def shrink(patch: pytest.MonkeyPatch, n_rows: int) -> None:
    patch.setattr(parts, "LEAST_ROWS", n_rows)
    patch.setattr(blocks, "BLOCK_ROWS", n_rows // 2)
    patch.setattr("spotgeo_frames.scale.rows.SORTED_ROWS", 2 * n_rows)
    patch.setattr("spotgeo_frames.scale.rows.MOST_RANGES", 4)


# What tells the user that a sequence is on one side only is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore:.* in the (truth|predictions) only:UserWarning")


def dealt(table: pd.DataFrame, folder: Path, files: np.ndarray, seed: int, group_rows: int = 1000) -> Path:
    """Each row in the file of this number, in a random order of rows unless the seed is 0."""
    if seed:
        order = np.random.default_rng(seed).permutation(len(table))
        table, files = table.iloc[order], files[order]
    order = np.argsort(files, kind="stable")
    return write(table.iloc[order], folder, np.bincount(files, minlength=1).tolist(), group_rows)


def hashed(sequence: pd.Series, n_files: int) -> np.ndarray:
    return (pd.util.hash_array(sequence.to_numpy()) % n_files).astype(np.int64)


def giant(truth: pd.DataFrame, predictions: pd.DataFrame, low: int, high: int) -> list[pd.DataFrame]:
    """The sequences from low to high are one, whose frames follow each other."""
    tables = []
    for table in (truth, predictions):
        inside = table["sequence"].between(low, high)
        frame = table["frame"].where(~inside, table["frame"] + 5 * (table["sequence"] - low))
        tables.append(table.assign(sequence=table["sequence"].where(~inside, low), frame=frame))
    return tables


def assert_like_in_memory(truth: Path, predictions: Path, folder: Path) -> None:
    """The summary, slices, the sequences of one side only, and the match table; and the same again."""
    sides = sf.read_objects(truth), sf.read_objects(predictions)
    matches = sf.match(*sides)
    out = folder / "out"
    found = sf.score_dataset(truth, predictions, out, workers=1)
    assert_same(found, sf.summarize(matches))
    names = [set(side.objects["sequence"]) for side in sides]
    for side, only in (("truth", names[0] - names[1]), ("predictions", names[1] - names[0])):
        assert (found.attrs[f"{side}_only"], found.attrs[f"n_{side}_only"]) == (sorted(only), len(only))
    kept = ds.dataset(out / "matches").to_table().to_pandas().sort_values(["sequence", "frame"], kind="stable")
    columns = ["sequence", "frame", "outcome", "distance", "truth_object", "predicted_object"]
    expected = matches[columns].astype({"outcome": str}).reset_index(drop=True)
    found_rows = kept[columns].astype({"outcome": str}).reset_index(drop=True)
    pd.testing.assert_frame_equal(found_rows, expected, check_dtype=False)
    assert_same(sf.score_dataset(truth, predictions, out, workers=1), found)
    by = ["sequence", "truth_brightness"]
    assert_same(sf.score_dataset(truth, predictions, by=by, workers=1), sf.summarize(matches, by=by))


@pytest.mark.parametrize("kind", ["int64", "str"])
@pytest.mark.parametrize("name", ["hash", "day", "sequence", "mixed", "not alike", "shuffled", "one sorted"])
def test_layouts_of_engines(name: str, kind: str, tmp_path: Path, small: None) -> None:
    truth, predictions = points(40, kind=kind)
    paths = []
    for side, table in (("truth", truth), ("predictions", predictions)):
        n_files = {"hash": 30, "day": 7, "not alike": 30 if side == "truth" else 7}.get(name)
        if n_files:
            files = hashed(table["sequence"], n_files)
        elif name == "sequence":
            files = np.random.default_rng(0).permutation(40)[pd.factorize(table["sequence"], sort=True)[0]]
        elif name == "mixed" and side == "predictions":
            files = hashed(table["sequence"], 20)
        else:
            files = np.zeros(len(table), np.int64)
        is_sorted = name == "one sorted" or (name == "mixed" and side == "truth")
        paths.append(dealt(table, tmp_path / side, files, seed=0 if is_sorted else 3))
    assert_like_in_memory(*paths, tmp_path)


@pytest.mark.parametrize("order", ["by frame", "by object", "shuffled"])
@pytest.mark.parametrize("group_rows", [7, 60, 1000])
def test_one_sequence_of_half_of_all_rows(order: str, group_rows: int, tmp_path: Path, small: None) -> None:
    truth, predictions = giant(*points(40), 12, 32)
    paths = []
    for side, table in (("truth", truth), ("predictions", predictions)):
        keys = {"by frame": ["sequence", "frame"], "by object": ["sequence", "object"], "shuffled": ["sequence"]}[order]
        table = table.sample(frac=1, random_state=1).sort_values(keys, kind="stable")
        paths.append(in_files(table, tmp_path / side, 2, group_rows))
    assert_like_in_memory(*paths, tmp_path)
    read = {side: contents_of(path, ["sequence"]) for side, path in zip(("truth", "predictions"), paths, strict=True)}
    if order == "by frame" and group_rows == 7:
        long = frozenset(name for name, count in planning.known_rows(read.values()).items() if count > 20)
        framed = {side: planning.with_frames(dataset, long) for side, dataset in read.items()}
        inside = [part for part in parts.parts_of(framed, long) if part.low is not None and part.low[0] == 12]
        assert len(inside) > 2  # it is shared by several cores


@pytest.mark.parametrize("order", ["by frame", "shuffled"])
@pytest.mark.parametrize("statistics", [["sequence"], False])
def test_a_long_sequence_of_which_no_statistics_tell_the_frames(
    order: str, statistics: Any, tmp_path: Path, small: None
) -> None:
    """Its row groups follow each other or not, which only their rows say."""
    paths = [tmp_path / f"{side}.parquet" for side in ("truth", "predictions")]
    for path, table in zip(paths, giant(*points(40), 12, 32), strict=True):
        rows = table.sample(frac=1, random_state=1)
        rows = rows.sort_values(["sequence", *(["frame"] if order == "by frame" else [])], kind="stable")
        written = pa.Table.from_pandas(rows, preserve_index=False)
        pq.write_table(written, path, row_group_size=25, write_statistics=statistics)
    assert_like_in_memory(*paths, tmp_path)


@pytest.mark.parametrize("group_rows", [7, 60])
def test_a_long_sequence_is_read_in_blocks_like_others(
    group_rows: int, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So half of all rows in one sequence take at most half as much memory again."""
    read, sizes = blocks.read_blocks, list[int]()

    def noting(*arguments: Any, **options: Any) -> Iterator[Any]:
        for found in read(*arguments, **options):
            sizes.append(sum(len(block.rows) for block in found[0].values()))
            yield found

    monkeypatch.setattr(blocks, "read_blocks", noting)
    most = {}
    for name, sides in (("even", points(40)), ("giant", giant(*points(40), 12, 32))):
        paths = [
            in_files(table, tmp_path / name / side, 1, group_rows) for side, table in zip("tp", sides, strict=True)
        ]
        assert_same(sf.score_dataset(*paths, workers=1), sf.summarize(sf.match(*sides)))
        most[name] = max(sizes)
        sizes.clear()
    assert most["giant"] <= 1.5 * most["even"]


def test_a_long_sequence_of_one_side_only(tmp_path: Path, small: None) -> None:
    """Its frames are in many blocks and parts, but it is one sequence."""
    truth, predictions = giant(*points(40), 12, 32)
    for name, sides in (
        ("a", (truth, predictions[predictions["sequence"] != 12])),
        ("b", (truth[truth["sequence"] != 12], predictions)),
        ("c", (truth[(truth["sequence"] != 12) | (truth["frame"] > 60)], predictions[predictions["frame"] < 60])),
    ):
        paths = [in_files(table, tmp_path / name / side) for side, table in zip("tp", sides, strict=True)]
        assert_like_in_memory(*paths, tmp_path / name)
    found = sf.score_dataset(*paths, exclude=[12])
    assert_same(found, sf.summarize(sf.match(*sides), exclude=[12]))


def test_a_row_group_leads_from_a_long_sequence_past_the_end_of_its_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first part ends between frames 2 and 3 of sequence 2, in a row group whose next rows are of sequence 3."""
    shrink(monkeypatch, 8)
    monkeypatch.setattr(parts, "PART_ROWS", 5)
    monkeypatch.setattr(blocks, "BATCHES", 1)
    truth = objects([(s, f, 0.0, 0.0) for s, f in ((1, 1), (1, 2), (2, 1), (2, 3), (2, 4), (2, 5), (2, 6))])
    predictions = objects([(s, f, 1.0, 0.0) for s, f in ((2, 2), (3, 1), (3, 2))])
    paths = write(truth, tmp_path / "truth", [3, 4], 10), write(predictions, tmp_path / "predictions", [3], 10)
    assert_same(sf.score_dataset(*paths, workers=1), sf.summarize(sf.match(truth, predictions)))


def test_frames_of_a_long_sequence(tmp_path: Path, small: None) -> None:
    truth, predictions = giant(*points(40), 12, 32)
    keys = [pd.concat([truth, predictions])[["sequence", "frame"]]]
    frames = pd.concat([*keys, pd.DataFrame({"sequence": 12, "frame": np.arange(110, 180)})]).drop_duplicates()
    frames = frames.assign(exposure=frames["frame"] % 3)
    for seed in (0, 2):
        tables = [frames.sort_values(["sequence", "frame"]), truth, predictions]
        files = [np.zeros(len(table), np.int64) for table in tables]
        paths = [dealt(table, tmp_path / f"{seed}{k}", files[k], seed) for k, table in enumerate(tables)]
        matches = sf.match(sf.Annotations(truth, frames), predictions)
        found = sf.score_dataset(*paths[1:], by="frame_exposure", frames=paths[0])
        assert_same(found, sf.summarize(matches, by="frame_exposure"))
        assert_same(sf.score_dataset(*paths[1:], frames=paths[0]), sf.summarize(matches))


@given(data=st.data())
@settings(max_examples=15)
def test_any_layout(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of few rows, since those of a block, a part and a row group are fewer still."""
    folder = tmp_path_factory.mktemp("layout")
    tables = list(points(12, data.draw(st.integers(0, 99))))
    low, length = data.draw(st.integers(0, 8)), data.draw(st.sampled_from([0, 3, 8]))
    tables = giant(*tables, low, low + length)
    as_text = data.draw(st.booleans())
    paths = []
    for name, table in zip(("truth", "predictions"), tables, strict=True):
        if as_text:
            table = table.assign(sequence=table["sequence"].map("s{:02}".format))
        n_files = data.draw(st.sampled_from([1, 3, 8, 24]))
        how = data.draw(st.sampled_from(["by hash", "by rows", "by frame"]))
        files = hashed(table["sequence"], n_files)
        if how != "by hash":
            files = np.arange(len(table)) * n_files // len(table)
        if how == "by frame":
            table = table.sort_values(["frame", "sequence"], kind="stable")
        seed = data.draw(st.integers(0, 2))
        paths.append(dealt(table, folder / name, files, seed, data.draw(st.sampled_from([3, 10, 1000]))))
    by = data.draw(st.sampled_from([None, "truth_object"]))
    expected = sf.summarize(sf.match(*map(sf.read_objects, paths)), by=by)
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch, data.draw(st.sampled_from([4, 12, 40, 400])))
        patch.setattr(parts, "MOST_CHAINS", data.draw(st.sampled_from([1, 3, 64])))
        patch.setattr(parts, "MOST_READ", data.draw(st.sampled_from([1.3, 5.0])))
        assert_same(sf.score_dataset(*paths, by=by, workers=1), expected)


@pytest.mark.parametrize("n_files", [1, 20])
def test_tracks_are_never_cut(n_files: int, tmp_path: Path, small: None) -> None:
    truth, predictions = tracks(30)
    sides = giant(truth.assign(frame=truth["frame"] + 1), predictions.assign(frame=predictions["frame"] + 1), 5, 15)
    sides = [table.drop_duplicates(["sequence", "frame", "object"]) for table in sides]
    expected = sf.track(*sides, similarity="point")
    paths = [
        dealt(table, tmp_path / name, hashed(table["sequence"], n_files), 1)
        for name, table in zip(("truth", "predictions"), sides, strict=True)
    ]
    found = sf.track_dataset(*paths, tmp_path / "out", similarity="point", workers=1)
    pd.testing.assert_frame_equal(found, expected.summary, rtol=1e-12, atol=0)


def test_processes_see_what_was_sorted(tmp_path: Path, small: None) -> None:
    truth, predictions = points(40)
    paths = [dealt(t, tmp_path / n, np.zeros(len(t), int), 1) for n, t in (("t", truth), ("p", predictions))]
    expected = sf.summarize(sf.match(truth, predictions))
    assert_same(sf.score_dataset(*paths, workers=2), expected)


# What is refused, and what is skipped.


def test_wrong_rows_of_a_sorted_copy_name_the_dataset(tmp_path: Path, small: None) -> None:
    truth, predictions = points(40)
    truth.loc[100, "x"] = np.nan
    paths = [dealt(t, tmp_path / n, np.zeros(len(t), int), 1) for n, t in (("t", truth), ("p", predictions))]
    key = ", ".join(f"{name} {truth.loc[100, name]}" for name in ("sequence", "frame", "object"))
    with refused((f"{paths[0]}: column x", "1 row", key)):
        sf.score_dataset(*paths)


def test_a_folder_that_lies_about_its_sequence(tmp_path: Path, small: None) -> None:
    truth, predictions = points(10)
    for sequence, rows in truth.groupby("sequence"):
        in_files(rows, tmp_path / "truth" / f"sequence={sequence:02}", 1)
    path = in_files(predictions, tmp_path / "predictions")
    assert_same(sf.score_dataset(tmp_path / "truth", path), sf.summarize(sf.match(truth, predictions)))
    lying = tmp_path / "truth" / "sequence=03" / "part-000.parquet"
    truth[truth["sequence"].isin([3, 5])].to_parquet(lying)
    with refused((f"{lying}", "holds sequences 3 to 5", "sequence=3", "folders")):
        sf.score_dataset(tmp_path / "truth", path)
    with warned((f"skipped: {lying}", "sequence 3 is left out")):
        found = sf.score_dataset(tmp_path / "truth", path, on_error="skip")
    assert_same(found, sf.summarize(sf.match(truth, predictions), exclude=[3]))


@pytest.mark.parametrize("column", ["sequence", "frame"])
@pytest.mark.parametrize("n_files", [1, 20])
def test_statistics_that_lie(
    column: str, n_files: int, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spotgeo_frames.scale import contents

    truth, predictions = giant(*points(40), 12, 32)
    seed = 1 if n_files > 1 else 0
    paths = [
        dealt(table, tmp_path / name, hashed(table["sequence"], n_files), seed, 30)
        for name, table in (("truth", truth), ("predictions", predictions))
    ]
    honest = contents._group

    def lying(*given: object) -> tuple[object, ...]:
        n_rows, low, high, first, last = honest(*given)  # type: ignore[arg-type]
        return (n_rows, low, low, first, last) if column == "sequence" else (n_rows, low, high, first, first)

    monkeypatch.setattr(contents, "_group", lying)
    with pytest.raises(
        sf.InputError, match=r"(truth|predictions).*: holds other sequences or frames than its statistics"
    ):
        sf.score_dataset(*paths)


@pytest.mark.parametrize("row", [0, 1, *range(14, 18), *range(29, 33), 59, 60, 61])
def test_a_null_frame_of_a_long_sequence_is_told_wherever_it_lies(row: int, tmp_path: Path, small: None) -> None:
    """Also where rows that are read together begin, whose first frame is compared with the statistics."""
    truth, predictions = giant(*points(40), 0, 39)
    truth["frame"] = truth["frame"].astype("Int64")
    truth.loc[truth.index[row], "frame"] = pd.NA
    paths = [in_files(table, tmp_path / side, 1, 1000) for side, table in zip("tp", (truth, predictions), strict=True)]
    with pytest.raises(sf.InputError, match="column frame: 1 row is null"):
        sf.score_dataset(*paths)


def damaged(path: Path, column: int, group: int = 0, group_rows: int | None = None) -> None:
    """Writes a file anew, in row groups of so many rows, with a damaged page of this column in one of them."""
    how = {"write_page_checksum": True, "compression": "none", "use_dictionary": False}
    pq.write_table(pq.read_table(path), path, group_rows, **how)
    chunk = pq.ParquetFile(path).metadata.row_group(group).column(column)
    content = bytearray(path.read_bytes())
    content[chunk.data_page_offset + chunk.total_compressed_size - 4] ^= 0xFF
    path.write_bytes(content)


def test_what_can_be_skipped_of_partitions_by_hash(tmp_path: Path, small: None) -> None:
    """Just the sequences of the damaged file, which its column `sequence` tells; if that is damaged, nothing does."""
    truth, predictions = points(40)
    files = hashed(truth["sequence"], 20)
    paths = [
        dealt(table, tmp_path / name, hashed(table["sequence"], 20), 1)
        for name, table in (("truth", truth), ("predictions", predictions))
    ]
    path = paths[0] / "part-004.parquet"
    held = sorted(set(truth["sequence"][files == 4]))
    damaged(path, 3)
    with refused((f"{path}: row group 0: cannot be read", "CRC")):
        sf.score_dataset(*paths)
    for out in (tmp_path / "out", None):
        said = f"{len(held)} sequences from {held[0]} to {held[-1]} are left out"
        with warned((f"skipped: {path}: row group 0", said)):
            found = sf.score_dataset(*paths, out, on_error="skip")
        assert_same(found, sf.summarize(sf.match(truth, predictions), exclude=held))
    damaged(path, 0)
    with refused((f"{path}: row group 0: cannot be read", "cannot be skipped", "no order")):
        sf.score_dataset(*paths, on_error="skip")
    pd.DataFrame(pd.read_parquet(paths[0] / "part-005.parquet")).drop(columns="x").to_parquet(path)
    with refused((f"{path}: column x is missing", "cannot be skipped")):
        sf.score_dataset(*paths, on_error="skip")
    path.write_bytes(b"")
    with refused((f"{path}: cannot be read", "cannot be skipped")):
        sf.score_dataset(*paths, on_error="skip")


def test_a_damaged_row_group_of_a_long_sequence(tmp_path: Path, small: None) -> None:
    """All of the sequence is left out, also the frames that other parts would have, in memory and in files."""
    truth, predictions = giant(*points(40), 12, 32)
    for name, table in (("truth", truth), ("predictions", predictions)):
        write(table, tmp_path / name, [len(table)], 7)
    path = tmp_path / "truth" / "part-000.parquet"
    sequences = pq.ParquetFile(path).read_row_group(20)["sequence"].unique().to_pylist()
    assert sequences == [12]
    damaged(path, 3, group=20, group_rows=7)
    expected = sf.match(truth, predictions)
    expected = expected[expected["sequence"] != 12]
    for out in (None, tmp_path / "out"):
        for by in (None, "sequence", "truth_label"):
            folder = out and out / str(by)
            with warned((f"skipped: {path}: row group 20", "sequence 12 is left out")):
                found = sf.score_dataset(tmp_path / "truth", tmp_path / "predictions", folder, by, on_error="skip")
            assert_same(found, sf.summarize(expected, by=by))
    kept = ds.dataset(tmp_path / "out" / "None" / "matches").to_table().to_pandas()
    assert len(kept) == len(expected)
    assert len(list((tmp_path / "out" / "None" / "matches").iterdir())) > 2


def reads(patch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The row groups that blocks are made of from now on, each time they are read: their file and their position."""
    read: list[tuple[str, int]] = []
    honest = blocks.row_group_batches

    def noting(files: OpenedFiles, group: RowGroup, schema: pa.Schema, at_once: int) -> Iterator[pa.Table]:
        read.append((group.file.place.path, group.order[1]))
        return honest(files, group, schema, at_once)

    patch.setattr(blocks, "row_group_batches", noting)
    return read


@pytest.mark.parametrize("interleaved", [1, 3])
def test_one_process_reads_no_row_group_twice(
    interleaved: int, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several do, since a row group at the end of a part has rows of the next one, too."""
    sides = dict(zip(("truth", "predictions"), giant(*points(60), 12, 32), strict=True))
    paths = [
        dealt(table, tmp_path / name, (table["frame"] % interleaved).to_numpy(), 0, 20) for name, table in sides.items()
    ]
    read = reads(monkeypatch)
    expected = sf.summarize(sf.match(*sides.values()))
    assert_same(sf.score_dataset(*paths, tmp_path / "out", workers=1), expected)
    assert len(set(read)) < len(read)
    n_groups = len(set(read))
    read.clear()
    assert_same(sf.score_dataset(*paths, workers=1), expected)
    assert len(set(read)) == len(read) == n_groups
    monkeypatch.setattr(parts, "PART_ROWS", 150)
    read.clear()
    assert_same(sf.score_dataset(*paths, workers=1), expected)
    assert n_groups < len(read)


def test_parts_that_one_process_joins_stay_within_bounded_memory(
    tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large row group in order is not sorted in memory because the rows of a small one beside it are in none."""
    truth, predictions = points(60)
    first, last = (truth[truth["sequence"].between(*ends)] for ends in ((0, 29), (30, 59)))
    (tmp_path / "truth").mkdir()
    first = pd.concat([first[k : k + 20].sample(frac=1, random_state=0) for k in range(0, len(first), 20)])
    first.to_parquet(tmp_path / "truth" / "a.parquet", row_group_size=20)
    last.to_parquet(tmp_path / "truth" / "b.parquet", row_group_size=1000)
    in_files(predictions, tmp_path / "predictions", 1, 20)
    sizes: list[int] = []
    honest, read = blocks.in_key_order, reads(monkeypatch)
    monkeypatch.setattr(blocks, "in_key_order", lambda rows: sizes.append(len(rows)) or honest(rows))
    found = sf.score_dataset(tmp_path / "truth", tmp_path / "predictions", workers=1)
    assert_same(found, sf.summarize(sf.match(truth, predictions)))
    assert len(last) > 2 * 60
    assert 0 < max(sizes) <= 2 * 60
    assert read.count((str(tmp_path / "truth" / "b.parquet"), 0)) == 1


def test_repartition_sorts_by_frame(tmp_path: Path, small: None) -> None:
    """A sequence of more rows than are sorted at once, too; rows of a frame keep their order."""
    truth, _ = giant(*points(40), 12, 32)
    shuffled = truth.sample(frac=1, random_state=0).assign(row=np.arange(len(truth)))
    path = in_files(shuffled, tmp_path / "rows", 3)
    sf.repartition_by_sequence(path, tmp_path / "sorted")
    found = pd.concat([pd.read_parquet(file) for file in sorted((tmp_path / "sorted").iterdir())])
    expected = shuffled.sort_values(["sequence", "frame"], kind="stable")
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected.reset_index(drop=True), check_dtype=False)
    holding = [file for file in (tmp_path / "sorted").iterdir() if 12 in set(pd.read_parquet(file)["sequence"])]
    assert len(holding) == 1


def test_text_with_the_same_hash_only_joins_parts(tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, predictions = points(40, kind="str")
    paths = [
        dealt(table, tmp_path / name, hashed(table["sequence"], 40), 1)
        for name, table in (("truth", truth), ("predictions", predictions))
    ]
    honest = planning._as_integers
    monkeypatch.setattr(planning, "_as_integers", lambda sequence: honest(sequence) % 40)
    assert_like_in_memory(*paths, tmp_path)


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300), max_size=200), min_size=1, max_size=9))
@settings(max_examples=50)
def test_row_groups_that_share_sequences(groups: list[list[int]]) -> None:
    """Directly or by way of others, however few sequences are compared at a time."""
    expected = [{position} for position in range(len(groups))]
    for one, other in combinations(range(len(groups)), 2):
        if not {*groups[one]}.isdisjoint(groups[other]):
            whole = expected[one] | expected[other]
            for position in whole:
                expected[position] = whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "AT_A_TIME", 64)
        found = planning.components([np.array(sorted({*names}), np.int64) for names in groups])
    for position, number in enumerate(found):
        assert {*np.flatnonzero(found == number).tolist()} == expected[position]


@pytest.mark.parametrize("kind", ["int64", "str"])
@pytest.mark.parametrize("n_rows", [0, 1, 9, 10, 2000, 3000])
def test_large_sequences_of_a_row_group(
    n_rows: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether their rows follow each other or lie in all batches of the row group."""
    random = np.random.default_rng(0)
    sequence = np.concatenate([np.arange(3000), np.repeat([7000, 8000], [3000, 10]), np.zeros(1990)]).astype(np.int64)
    sequence[3000:] = random.permutation(sequence[3000:])
    rows = pd.DataFrame({"sequence": sequence.astype(kind), "frame": 1, "object": np.arange(len(sequence))})
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=8000)
    monkeypatch.setattr(planning, "BATCH_ROWS", 100)
    dataset = contents_of(tmp_path / "rows.parquet", ["sequence"])
    [found] = planning.layouts_of({"truth": dataset}, [("truth", group) for group in dataset.groups], n_rows)
    counts = rows["sequence"].value_counts()
    assert sorted(found.large) == sorted(counts.index[counts > n_rows])
    assert (len(found.sequences), found.in_order) == (len(counts), False)
    assert (np.diff(found.sequences) > 0).all()


def test_a_cluster_is_told_to_sort_first(tmp_path: Path, small: None) -> None:
    """Its workers would not see a temporary folder; partitions by hash need none."""

    class Client:
        def submit(self) -> None:
            raise AssertionError

    truth, predictions = points(40)
    paths = [dealt(t, tmp_path / n, np.zeros(len(t), int), 1) for n, t in (("t", truth), ("p", predictions))]
    command = f"spotgeo-frames repartition {paths[0]} {paths[0]}_by_sequence"
    with refused((f"{paths[0]}: its rows are in no order of sequences", "workers", command)):
        sf.score_dataset(*paths, client=Client())


def test_many_chains_are_read_in_small_batches(tmp_path: Path) -> None:
    truth, predictions = points(40)
    paths = [
        dealt(table, tmp_path / name, hashed(table["sequence"], 30), 0)
        for name, table in (("truth", truth), ("predictions", predictions))
    ]
    assert_same(sf.score_dataset(*paths), sf.summarize(sf.match(truth, predictions)))


def test_tracks_of_a_sequence_that_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before the work, with the numbers."""
    truth, predictions = tracks(10)
    truth, predictions = giant(truth, predictions, 5, 5)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    rows = {side: planning.known_rows([contents_of(path, [])]) for side, path in zip("tp", paths, strict=True)}
    most = max(rows["t"].get(name, 0) + rows["p"].get(name, 0) for name in rows["t"])
    expected = sf.track(truth, predictions, similarity="point").summary
    monkeypatch.setattr(memory, "LEAST_CHECKED", 0)
    monkeypatch.setattr(memory, "memory_at_hand", lambda: 3000)
    with refused((f"{paths[0]}: sequence", f"{most} rows or more of both sides", "GiB", "exclude=")):
        sf.track_dataset(*paths, similarity="point")
    monkeypatch.setattr(memory, "memory_at_hand", lambda: None)
    pd.testing.assert_frame_equal(sf.track_dataset(*paths, similarity="point"), expected, rtol=1e-12, atol=0)


def test_columns_in_other_words_are_missing_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "truth.parquet"
    pd.DataFrame({"video": [1], "image_id": [1], "xmin": 1.0, "ymin": 1.0, "xmax": 2.0, "ymax": 2.0}).to_parquet(path)
    call = 'tidy(table, sequence="video", frame="image_id", box=["xmin", "ymin", "xmax", "ymax"], box_format="xyxy")'
    with pytest.raises(sf.InputError) as caught:
        sf.score_dataset(path, path)
    assert all(call in problem for problem in caught.value.problems)
