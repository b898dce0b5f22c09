"""Datasets on disk: the numbers of the tables in memory, however the data lies, and whatever happens to a run."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.commands import refused_here, run_here, run_process
from helpers.datasets import assert_same, file_of_row, in_files, once_deadly, points, states, tracks, write
from helpers.pandas_versions import quantile_bins
from helpers.problems import Place, assert_places, refused, warned
from helpers.scenes import SCENES, Scene, grid
from spotgeo_frames.presentation.folders.saving import MANIFEST
from spotgeo_frames.scale import blocks, parts, run
from spotgeo_frames.support.pandas_tables import with_text


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts, blocks and batches of a few rows, so that tiny tables have many."""
    monkeypatch.setattr(parts, "LEAST_ROWS", 40)
    monkeypatch.setattr(parts, "MOST_READ", 3.0)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 16)


# What tells the user that a sequence is on one side only is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore:.* in the (truth|predictions) only:UserWarning")


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_scenes(scene: Scene, tmp_path: Path, small: None) -> None:
    truth, predictions = scene.sides()
    paths = [
        in_files(side.objects, tmp_path / name, 1) for name, side in (("truth", truth), ("predictions", predictions))
    ]
    frames = None if truth.frames is None else in_files(truth.frames, tmp_path / "frames", 1)
    assert_same(sf.score_dataset(*paths, frames=frames), sf.summarize(sf.match(truth, predictions)))


@given(data=st.data())
@settings(max_examples=15)
def test_however_the_data_lies(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Any cut into files and row groups, any order of the files, any size of parts and blocks, sorted or not."""
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    sides = grid(random, 60, 3, 12)
    if data.draw(st.booleans()):
        sides = tuple(side.assign(sequence=side["sequence"].map("s{:03}".format)) for side in sides)
    folder = tmp_path_factory.mktemp("lies")
    paths = []
    for name, side in zip(("truth", "predictions"), sides, strict=True):
        order = data.draw(st.sampled_from(["sorted", "shuffled", "by frame"]))
        if order == "shuffled":
            side = side.sample(frac=1, random_state=0)
        elif order == "by frame":
            side = side.sort_values(["frame", "sequence"], kind="stable")
        cuts = sorted(data.draw(st.lists(st.integers(0, len(side)), max_size=5)))
        sizes = np.diff([0, *cuts, len(side)]).tolist()
        names = data.draw(st.permutations(range(len(sizes))))
        paths.append(write(side, folder / name, sizes, data.draw(st.integers(1, 40)), list(names)))
    expected = sf.summarize(sf.match(sf.read_objects(paths[0]), sf.read_objects(paths[1])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "LEAST_ROWS", data.draw(st.integers(1, 200)))
        patch.setattr(parts, "MOST_READ", data.draw(st.sampled_from([1.3, 5.0, 1000.0])))
        patch.setattr(parts, "MOST_CHAINS", 1000)
        patch.setattr(blocks, "BLOCK_ROWS", data.draw(st.integers(1, 100)))
        out = data.draw(st.sampled_from([None, folder / "out"]))
        assert_same(sf.score_dataset(*paths, out), expected)
    if out is not None:
        matches = ds.dataset(out / "matches").to_table().to_pandas()
        assert_same(sf.summarize(matches), expected)


@pytest.mark.parametrize("kind", ["int64", "str"])
@pytest.mark.parametrize(
    "by", ["truth_brightness", "predicted_score", "frame_n_truth", "sequence", "outcome", ["truth_label", "frame"]]
)
def test_slices(kind: str, by: str | list[str], tmp_path: Path, small: None) -> None:
    truth, predictions = points(40, kind=kind)
    predictions["score"] = predictions["score"].round(1)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    assert_same(sf.score_dataset(*paths, by=by), sf.summarize(sf.match(truth, predictions), by=by))


@pytest.mark.parametrize(("sample", "exclude", "bins"), [(3, [3, 4, 5], 5), (4096, None, 14)])
@pytest.mark.parametrize("column", ["truth_x", "truth_brightness", "predicted_score", "truth_same"])
def test_quantile_bins(
    column: str,
    sample: int,
    exclude: list[int] | None,
    bins: int,
    tmp_path: Path,
    small: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from spotgeo_frames.scale import quantiles

    monkeypatch.setattr(quantiles, "SAMPLE", sample)
    monkeypatch.setattr(quantiles, "BLOCK_ROWS", 7)
    truth, predictions = points(60)
    truth = truth.assign(same=3.0)
    paths = in_files(truth, tmp_path / "truth", 3, 20), in_files(predictions, tmp_path / "predictions")
    matches = sf.match(truth, predictions)
    if exclude is not None:
        matches = matches[~matches["sequence"].isin(exclude)]
    values = matches[column]
    by = values if column == "truth_same" else quantile_bins(values, bins)
    expected = sf.summarize(matches, by=by)
    assert_same(sf.score_dataset(*paths, tmp_path / "out", by={column: bins}, exclude=exclude), expected)
    crossed = sf.score_dataset(*paths, by={column: bins, "frame": None}, exclude=exclude)
    assert_same(crossed, sf.summarize(matches, by=[by, "frame"]))


def test_columns_to_group_by_that_are_not_there(tmp_path: Path, small: None) -> None:
    truth, predictions = points(10)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    wrong: list[tuple[object, Place]] = [
        ("truth_brightnes", ("match table", "column truth_brightnes", "did you mean truth_brightness")),
        (["frame", "frame"], "by: frame, frame"),
        ([truth["x"]], ("by", "Series x")),
        ({"distance": 4}, "column distance"),
        ({"truth_x": 1}, ("by: truth_x", "1")),
        ({1: None}, ("by", "int")),
        ({"truth_label": 4}, "column truth_label"),
    ]
    for by, place in wrong:
        with refused(place):
            sf.score_dataset(*paths, by=by)
    with refused(("by", "bins", "on_error='skip'")):
        sf.score_dataset(*paths, by={"truth_x": 4}, on_error="skip")
    odd = in_files(truth.rename(columns={"brightness": "a/b"}), tmp_path / "odd")
    sf.score_dataset(odd, paths[1], tmp_path / "out", by="truth_a/b")
    assert (tmp_path / "out" / "by_truth_a%2fb.parquet").exists()


@pytest.mark.parametrize("length", [50, 62, 200])
def test_statistics_of_long_names_may_be_cut(length: int, tmp_path: Path, small: None) -> None:
    """polars keeps 64 bytes of each: the least and the greatest sequence of all row groups look the same then."""
    truth, predictions = points(30, kind="str")
    tables = [side.assign(sequence="\u00e9" * (length // 2) + side["sequence"]) for side in (truth, predictions)]
    paths = [tmp_path / name for name in ("truth.parquet", "predictions.parquet")]
    for path, table in zip(paths, tables, strict=True):
        pl.from_pandas(table.reset_index(drop=True)).write_parquet(path, row_group_size=3)
    found = sf.score_dataset(*paths, tmp_path / "out", by="sequence")
    assert_same(found, sf.summarize(sf.match(*tables), by="sequence"))
    sf.repartition_by_sequence(paths[0], tmp_path / "sorted")
    assert_same(sf.score_dataset(tmp_path / "sorted", paths[1], by="sequence"), found)


def test_match_table_is_that_in_memory(tmp_path: Path, small: None) -> None:
    truth, predictions = points(60)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions", 2, 11)
    sf.score_dataset(*paths, tmp_path / "out")
    files = sorted((tmp_path / "out" / "matches").iterdir())
    assert len(files) > 5
    found = with_text(pd.concat([pd.read_parquet(file) for file in files], ignore_index=True))
    expected = sf.match(truth, predictions)
    pd.testing.assert_frame_equal(found, expected)
    assert pd.read_parquet(files[0]).attrs == expected.attrs
    summary = pd.read_parquet(tmp_path / "out" / "summary.parquet")
    assert_same(summary.astype(sf.summarize(expected).dtypes), sf.summarize(expected))


def test_carried_columns_whatever_a_part_holds(tmp_path: Path, small: None) -> None:
    """Flags, text, dates, integers with nulls, and hive partitions, some columns missing in some files."""
    truth, predictions = points(30)
    n_rows = len(predictions)
    predictions = predictions.assign(
        flag=pd.array([True, False, None] * n_rows, "boolean")[:n_rows],
        when=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n_rows), "s"),
        count=pd.array([1, None] * n_rows, "Int64")[:n_rows],
    )
    for night, (first, last) in enumerate([(0, 9), (10, 19), (20, 29)]):
        for name, table in (("truth", truth), ("predictions", predictions)):
            rows = table[table["sequence"].between(first, last)]
            in_files(
                rows.drop(columns=["flag"] if night == 1 else [], errors="ignore"),
                tmp_path / name / f"night={night}",
                1,
            )
    sides = [sf.read_objects(tmp_path / name) for name in ("truth", "predictions")]
    expected = sf.match(*sides)
    sf.score_dataset(tmp_path / "truth", tmp_path / "predictions", tmp_path / "out")
    found = ds.dataset(tmp_path / "out" / "matches").to_table().to_pandas()
    assert list(found) == list(expected)
    assert_same(sf.summarize(found, by="truth_night"), sf.summarize(expected, by="truth_night"))
    by_night = sf.score_dataset(tmp_path / "truth", tmp_path / "predictions", by=["predicted_night", "predicted_flag"])
    assert_same(by_night, sf.summarize(expected, by=["predicted_night", "predicted_flag"]))


def test_frames_count_and_carry_attributes(tmp_path: Path, small: None) -> None:
    truth, predictions = points(40)
    frames = pd.DataFrame({"sequence": np.repeat(np.arange(42), 5), "frame": np.tile(np.arange(1, 6), 42)})
    frames["exposure"] = frames["sequence"] % 3
    tables = {"truth": truth, "predictions": predictions, "frames": frames}
    paths = [in_files(table, tmp_path / name) for name, table in tables.items()]
    matches = sf.match(sf.Annotations(truth, frames), predictions)
    assert_same(sf.score_dataset(*paths[:2], frames=paths[2]), sf.summarize(matches))
    by_frame = sf.score_dataset(*paths[:2], by="frame_exposure", frames=paths[2])
    assert_same(by_frame, sf.summarize(matches, by="frame_exposure"))
    elsewhere = in_files(predictions.assign(frame=predictions["frame"] + 5), tmp_path / "elsewhere")
    with refused((f"{elsewhere / 'part-000.parquet'}: 5 objects", 'frames="union"', "sequence 0, frame 6")):
        sf.score_dataset(paths[0], elsewhere, frames=paths[2])


def test_sequences_of_one_side_are_counted_and_listed(tmp_path: Path, small: None) -> None:
    truth, predictions = grid(np.random.default_rng(0), 200, 3, 20)
    truth, predictions = truth[truth["sequence"] != 7], predictions[~predictions["sequence"].isin([3, 4])]
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    with warned(("2 sequences", "truth only", "3, 4"), ("1 sequence", "predictions only", "7")) as caught:
        found = sf.score_dataset(*paths)
    assert_same(found, sf.summarize(sf.match(truth, predictions)))
    assert {Path(warning.filename).name for warning in caught} == {Path(__file__).name}
    assert (found.attrs["truth_only"], found.attrs["n_truth_only"]) == ([3, 4], 2)
    assert (found.attrs["predictions_only"], found.attrs["n_predictions_only"]) == ([7], 1)


def test_sides_that_have_nothing_to_do_with_each_other(tmp_path: Path, small: None) -> None:
    truth, predictions = points(20)
    paths = [in_files(t, tmp_path / n) for n, t in (("truth", truth), ("predictions", predictions))]
    apart = in_files(predictions.assign(sequence=predictions["sequence"] + 100), tmp_path / "apart")
    with refused((f"{apart}", "sequence", "100 to 119", "0 to 19")):
        sf.score_dataset(paths[0], apart)
    even, odd = (
        in_files(table[table["sequence"] % 2 == rest], tmp_path / f"{rest}")
        for rest, table in ((0, truth), (1, predictions))
    )
    with refused((f"{odd}", "sequence")):
        sf.score_dataset(even, odd)
    text = in_files(predictions.assign(sequence=predictions["sequence"].astype(str)), tmp_path / "text")
    with refused((f"{text}: column sequence", "string", f"{paths[0]}", "int64")):
        sf.score_dataset(paths[0], text)
    empty = in_files(predictions.head(0), tmp_path / "empty", 1)
    assert_same(sf.score_dataset(paths[0], empty), sf.summarize(sf.match(truth, predictions.head(0))))
    nothing = in_files(truth.head(0), tmp_path / "nothing", 1)
    assert_same(sf.score_dataset(nothing, empty), sf.summarize(sf.match(truth.head(0), predictions.head(0))))


def test_excluded_sequences_are_not_there(tmp_path: Path, small: None) -> None:
    truth, predictions = points(40)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    matches = sf.match(truth, predictions)
    found = sf.score_dataset(*paths, tmp_path / "out", exclude=range(5, 12))
    assert_same(found, sf.summarize(matches, exclude=range(5, 12)))
    kept = ds.dataset(tmp_path / "out" / "matches").to_table().to_pandas()
    assert not kept["sequence"].isin(range(5, 12)).any()
    for same in (np.arange(5, 12), iter(range(5, 12))):
        assert_same(sf.score_dataset(*paths, exclude=same), found)
    assert_same(sf.score_dataset(*paths, exclude=range(40)), sf.summarize(matches, exclude=range(40)))
    for wrong, kind in (("a", "str"), (3.7, "float"), (None, "NoneType")):
        with refused((f"exclude: {wrong!r}", kind, "integers")):
            sf.score_dataset(*paths, exclude=[wrong])
    with warned(("exclude", f"{1 << 70}, 99")) as caught:
        found = sf.score_dataset(*paths, exclude=[np.int32(3), 1 << 70, 99])
    assert_same(found, sf.summarize(matches, exclude=[3]))
    assert [warning.filename for warning in caught] == [__file__]
    with warned(("exclude", "99")):
        sf.track_dataset(*paths, similarity="point", exclude=[99])
    nothing = tmp_path / "nothing.parquet"
    pd.DataFrame(columns=list(predictions)).to_parquet(nothing)
    assert_same(
        sf.score_dataset(paths[0], nothing, exclude=[3]),
        sf.summarize(sf.match(truth, predictions.head(0)), exclude=[3]),
    )


@pytest.mark.parametrize("similarity", ["iou", "point", "oks"])
def test_other_kinds_of_objects(similarity: str, tmp_path: Path, small: None) -> None:
    truth, predictions = points(30)
    options = {"similarity": similarity, "threshold": 0.3}
    if similarity == "iou":
        truth, predictions = truth.assign(w=40.0, h=30.0), predictions.assign(w=30.0, h=40.0)
    if similarity == "oks":
        truth, predictions = (t.assign(joint=t["object"], object=0) for t in (truth, predictions))
        truth = truth.assign(area=90_000.0)
        options["sigmas"] = dict.fromkeys(range(30), 0.1)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    expected = sf.summarize(sf.match(truth, predictions, **options))
    assert_same(sf.score_dataset(*paths, **options), expected)
    assert expected["tp"][0] > 10


def test_tracks(tmp_path: Path, small: None) -> None:
    truth, predictions = tracks(30)
    paths = in_files(truth, tmp_path / "truth", 4, 33), in_files(predictions, tmp_path / "predictions", 3, 50)
    expected = sf.track(truth, predictions, similarity="point")
    found = sf.track_dataset(*paths, similarity="point")
    pd.testing.assert_frame_equal(found, expected.summary, rtol=1e-12, atol=0)
    for key, value in expected.summary.attrs.items():
        assert found.attrs[key] == value
    kept = sf.track_dataset(*paths, tmp_path / "out", similarity="point")
    pd.testing.assert_frame_equal(kept, found)
    matches = pd.concat([pd.read_parquet(file) for file in sorted((tmp_path / "out" / "matches").iterdir())])
    pd.testing.assert_frame_equal(matches.reset_index(drop=True), expected.matches)


def test_any_place_that_pyarrow_reaches(tmp_path: Path, small: None) -> None:
    from pyarrow import fs

    truth, predictions = points(30)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    expected = sf.summarize(sf.match(truth, predictions))
    uris = [path.as_uri() for path in paths]
    assert_same(sf.score_dataset(*uris, (tmp_path / "out").as_uri()), expected)
    assert len(list((tmp_path / "out" / "matches").iterdir())) > 1
    assert_same(sf.score_dataset(*(sorted(path.iterdir()) for path in paths)), expected)
    inner = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    datasets = [ds.dataset(path.name, filesystem=inner) for path in paths]
    assert_same(sf.score_dataset(*datasets), expected)
    single = paths[0] / "part-000.parquet"
    assert_same(sf.score_dataset(single, paths[1]), sf.summarize(sf.match(pd.read_parquet(single), predictions)))
    (tmp_path / "hollow").mkdir()
    for wrong in ("nowhere://x", tmp_path / "no", tmp_path / "hollow"):
        with refused(f"{wrong}"):
            sf.score_dataset(wrong, paths[1])
    for no_dataset in (5, [5], {"truth": paths[0]}):
        with refused(("a dataset is needed", type(no_dataset).__name__)):
            sf.score_dataset(no_dataset, paths[1])


def test_partitions_are_those_of_the_folder(tmp_path: Path, small: None) -> None:
    """Not those that the folder lies in; numbers where pyarrow takes them for such."""
    truth, predictions = points(24)
    for month in range(1, 13):
        rows = truth[truth["sequence"] // 2 == month - 1]
        in_files(rows, tmp_path / "x=1" / "truth" / f"month={month:02}", 1)
    predicted = in_files(predictions, tmp_path / "x=1" / "frame=3" / "predictions", 1)
    matches = sf.match(sf.read_objects(tmp_path / "x=1" / "truth"), predictions)
    files = sorted(predicted.iterdir())
    for source in (predicted, files[0], files):
        found = sf.score_dataset(tmp_path / "x=1" / "truth", source, by="truth_month")
        assert_same(found, sf.summarize(matches, by="truth_month"))
    hive = ds.dataset(tmp_path / "x=1" / "truth", partitioning="hive")
    assert_same(sf.score_dataset(hive, predicted, by="truth_month"), sf.summarize(matches, by="truth_month"))


def test_columns_that_are_null_for_long(tmp_path: Path, small: None) -> None:
    """Whole parts have no label and no date; the match table has one type all the same."""
    truth, predictions = points(60)
    late = truth["sequence"] > 30
    day = pd.Series(np.where(late, np.datetime64("2026-01-01"), np.datetime64("NaT")).astype("datetime64[s]")).dt.date
    truth = truth.assign(
        label=truth["label"].where(late), day=pd.array(day, "date32[pyarrow]"), tags=[["a"]] * len(truth)
    )
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    expected = sf.match(sf.read_objects(paths[0]), predictions)
    sf.score_dataset(*paths, tmp_path / "out")
    files = sorted((tmp_path / "out" / "matches").iterdir())
    schemas = [pq.read_schema(file) for file in files]
    assert len(files) > 2
    assert all(schema.equals(schemas[0]) for schema in schemas)
    found = ds.dataset(tmp_path / "out" / "matches").to_table().to_pandas()
    assert found["truth_day"].notna().sum() == expected["truth_day"].notna().sum() > 0
    for by in ("truth_label", "truth_day"):
        assert_same(sf.score_dataset(*paths, by=by), sf.summarize(expected, by=by))


def test_files_without_rows_do_not_say_their_types(tmp_path: Path, small: None) -> None:
    truth, predictions = points(30)
    predicted = in_files(predictions, tmp_path / "predictions", 1)
    nothing = pd.DataFrame(columns=list(predictions))
    for name in ("a", "z"):
        nothing.to_parquet(predicted / f"{name}.parquet")
    found = sf.score_dataset(in_files(truth, tmp_path / "truth"), predicted)
    assert_same(found, sf.summarize(sf.match(truth, predictions)))


def test_runs_are_told_apart(tmp_path: Path, small: None) -> None:
    truth, predictions = points(30)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    sf.score_dataset(*paths, tmp_path / "out", similarity=lambda a, b: np.full(len(a), 0.6), by=["frame", "outcome"])
    for options in ({"similarity": lambda a, b: np.full(len(a), 0.7)}, {"by": ["outcome", "frame"]}):
        given_options = {"similarity": lambda a, b: np.full(len(a), 0.6), "by": ["frame", "outcome"]} | options
        with refused((f"{tmp_path / 'out'}", "differ")):
            sf.score_dataset(*paths, tmp_path / "out", **given_options)
    sf.score_dataset(*paths, tmp_path / "points", tau=np.float32(5))
    sf.score_dataset(*paths, tmp_path / "points", tau=5)
    with refused((f"{paths[0] / 'out'}", f"{paths[0]}")):
        sf.score_dataset(*paths, paths[0] / "out")
    with refused(("client", "str", "distributed.Client"), error=ValueError):
        sf.score_dataset(*paths, client="tcp://127.0.0.1:8786")


# What happens to a run.


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Datasets that take a while: 600,000 truth rows in row groups of 20,000."""
    random = np.random.default_rng(5)
    frame = np.repeat(np.arange(150_000), 4)
    folder = tmp_path_factory.mktemp("large")
    truth = pd.DataFrame({"sequence": frame // 5, "frame": frame % 5, "object": np.tile(np.arange(4), 150_000)})
    truth = truth.assign(x=random.uniform(0, 600, len(frame)), y=random.uniform(0, 400, len(frame)))
    predictions = truth[random.random(len(frame)) < 0.9]
    predictions = predictions.assign(x=predictions["x"] + random.normal(0, 3, len(predictions)))
    return write(truth, folder / "truth", [400_000, 200_000], 20_000), write(
        predictions, folder / "predictions", [len(predictions)], 20_000
    )


@pytest.fixture(scope="module")
def large_summary(large: tuple[Path, Path]) -> pd.DataFrame:
    return sf.summarize(sf.match(*map(sf.read_objects, large)))


RUN = """
import os, signal, sys
from contextlib import contextmanager
from pathlib import Path
import spotgeo_frames as sf
from spotgeo_frames.scale import parts
from spotgeo_frames.support import work
parts.LEAST_ROWS = 50_000
truth, predictions, out, workers = sys.argv[1:]

def kill(more):
    if len(list(Path(out, "sums").glob("*.arrow"))) >= 4:
        os.killpg(0, signal.SIGKILL)

@contextmanager
def deadly(*arguments):
    yield kill

work.progress_bar = deadly
sf.score_dataset(truth, predictions, out, workers=int(workers))
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_goes_on(
    workers: int, large: tuple[Path, Path], large_summary: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed without a chance to tidy up, as by a power cut; what was finished is neither done nor written again."""
    out = tmp_path / "out"
    words = [sys.executable, "-c", RUN, *map(str, large), str(out), str(workers)]
    assert subprocess.run(words, start_new_session=True).returncode == -signal.SIGKILL
    # The second process may have been in the middle of a file.
    finished = {name: state for name, state in states(out / "sums").items() if name.endswith(".arrow")}
    assert 4 <= len(finished) < 20
    # What the kill may leave: half a file, and a match table without its sums.
    last = f"part-{json.loads((out / 'plan.json').read_text())['n_parts'] - 1:05}.parquet"
    (out / "matches" / f".{last}.0.tmp").write_bytes(b"PAR1 half")
    (out / "matches" / last).write_bytes(b"PAR1 half")
    before = states(out)
    monkeypatch.setattr(parts, "LEAST_ROWS", 50_000)
    assert_same(sf.score_dataset(*large, out, workers=1), large_summary)
    after = states(out)
    kept = [name for name in finished if after[f"sums/{name}"] == finished[name]]
    assert len(kept) == len(finished)
    for name in finished:
        matches = f"matches/{name.replace('.arrow', '.parquet')}"
        assert after[matches] == before[matches]
    assert not list(out.rglob("*.tmp"))
    assert_same(sf.summarize(ds.dataset(out / "matches").to_table().to_pandas()), large_summary)
    # What is finished is not done again.
    assert_same(sf.score_dataset(*large, out, workers=1), large_summary)
    assert {name: state for name, state in states(out).items() if "/" in name} == {
        name: state for name, state in after.items() if "/" in name
    }


def test_a_folder_of_another_run_is_refused(tmp_path: Path, small: None) -> None:
    truth, predictions = points(30)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    out = tmp_path / "out"
    sf.score_dataset(*paths, out)
    with refused((f"{out}", "tau")):
        sf.score_dataset(*paths, out, tau=5)
    os.utime(paths[0] / "part-000.parquet", ns=(1, 1))
    with refused((f"{out}", "truth")):
        sf.score_dataset(*paths, out)
    other = tmp_path / "other" / "matches"
    other.mkdir(parents=True)
    (other / "mine.parquet").write_bytes(b"")
    with refused(f"{other}"):
        sf.score_dataset(*paths, tmp_path / "other")


def test_damaged_sums_are_done_again(tmp_path: Path, small: None) -> None:
    truth, predictions = points(30)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    expected = sf.score_dataset(*paths, tmp_path / "out")
    damaged = [
        tmp_path / "out" / name
        for name in ("sums/part-00000.arrow", "matches/part-00001.parquet", "matches/part-00002.parquet")
    ]
    cut, gone, empty = damaged
    cut.write_bytes(cut.read_bytes()[:100])
    gone.unlink()
    empty.write_bytes(b"")
    with warned(*map(str, damaged)):
        assert_same(sf.score_dataset(*paths, tmp_path / "out"), expected)
    assert_same(sf.summarize(ds.dataset(tmp_path / "out" / "matches").to_table().to_pandas()), expected)


def test_processes_and_their_death(tmp_path: Path, small: None) -> None:
    truth, predictions = points(60)
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    expected = sf.summarize(sf.match(truth, predictions))
    for workers in (2, 3):
        assert_same(sf.score_dataset(*paths, workers=workers), expected)
    measure, out = once_deadly(tmp_path / "died"), tmp_path / "out"
    with refused(("a worker process", "died", "memory")):
        sf.score_dataset(*paths, out, similarity=measure, workers=2)
    # It has died by now, so the same run goes through.
    expected = sf.summarize(sf.match(truth, predictions, similarity=measure))
    assert_same(sf.score_dataset(*paths, out, similarity=measure, workers=2), expected)


# What may be wrong with the files.


@pytest.fixture
def five(tmp_path: Path) -> tuple[Path, Path, pd.DataFrame, pd.DataFrame]:
    """Truth in five files of eight sequences each, predictions in one."""
    truth, predictions = points(40)
    sizes = truth.groupby(truth["sequence"] // 8).size().tolist()
    paths = write(truth, tmp_path / "truth", sizes, 5), in_files(predictions, tmp_path / "predictions", 1)
    return *paths, truth, predictions


def damage(path: Path, how: str) -> str:
    """Damages a file; returns the place in it that has to be named."""
    table = pd.read_parquet(path)
    match how:
        case "a column missing":
            table.drop(columns="x").to_parquet(path)
            return "column x"
        case "another type":
            table.assign(x=table["x"].astype(str)).to_parquet(path)
            return "column x"
        case "keys of another type":
            table.assign(sequence=table["sequence"].astype(str)).to_parquet(path)
            return "column sequence"
        case "null keys":
            table.assign(sequence=table["sequence"].astype("Int64").where(table["frame"] > 2)).to_parquet(path)
            return "column sequence"
        case "cut off":
            path.write_bytes(path.read_bytes()[:-100])
            return "cannot be read"
        case "nothing":
            path.write_bytes(b"")
            return "cannot be read"
        case "no Parquet":
            path.write_text("sequence,frame\n" * 100)
            return "cannot be read"
    raise AssertionError(how)


WAYS = ["a column missing", "another type", "keys of another type", "null keys", "cut off", "nothing", "no Parquet"]


@pytest.mark.parametrize("how", WAYS)
def test_damaged_files_stop_the_run_or_are_skipped(
    how: str, five: tuple[Path, Path, pd.DataFrame, pd.DataFrame], tmp_path: Path, small: None
) -> None:
    truth_path, predictions_path, truth, predictions = five
    place = f"{truth_path / 'part-002.parquet'}: {damage(truth_path / 'part-002.parquet', how)}"
    with refused(place):
        sf.score_dataset(truth_path, predictions_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    # Where the file does not tell what it held, its neighbours do, and their own last and first may be in it, too.
    inside = how in ("a column missing", "another type")
    left_out = range(16, 24) if inside else range(15, 25)
    with warned((f"skipped: {place}", f"sequences {left_out[0]} to {left_out[-1]}")):
        found = sf.score_dataset(truth_path, predictions_path, on_error="skip")
    expected = sf.summarize(sf.match(truth, predictions), exclude=left_out)
    assert_same(found, expected)
    assert len(found.attrs["skipped"]) == 1


def test_a_damaged_page_is_found_and_skipped(
    five: tuple[Path, Path, pd.DataFrame, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None
) -> None:
    """What a file's footer cannot tell: the data itself is damaged, in one of its row groups."""
    truth_path, predictions_path, truth, predictions = five
    path = truth_path / "part-003.parquet"
    rows = pq.read_table(path)
    pq.write_table(rows, path, row_group_size=10, write_page_checksum=True, compression="none", use_dictionary=False)
    group = pq.ParquetFile(path).metadata.row_group(1)
    content = bytearray(path.read_bytes())
    place = group.column(3).data_page_offset + group.column(3).total_compressed_size - 4
    content[place] ^= 0xFF
    path.write_bytes(content)
    place = f"{path}: row group 1: cannot be read"
    with refused((place, "CRC")):
        sf.score_dataset(truth_path, predictions_path)
    sequences = rows["sequence"].to_pylist()[10:20]
    expected = sf.summarize(sf.match(truth, predictions), exclude=range(sequences[0], sequences[-1] + 1))
    for least_rows in (10, 40, 10_000):
        monkeypatch.setattr(parts, "LEAST_ROWS", least_rows)
        with warned((f"skipped: {place}", f"sequences {sequences[0]} to {sequences[-1]}")):
            found = sf.score_dataset(truth_path, predictions_path, tmp_path / f"out{least_rows}", on_error="skip")
        assert_same(found, expected)
        matches = ds.dataset(tmp_path / f"out{least_rows}" / "matches").to_table().to_pandas()
        assert_same(sf.summarize(matches), expected)


def test_what_cannot_be_skipped(tmp_path: Path, small: None) -> None:
    """Files in no order: nothing tells which sequences a file without a footer held."""
    truth, predictions = points(40)
    shuffled = truth.sample(frac=1, random_state=0)
    paths = in_files(shuffled, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    damage(paths[0] / "part-001.parquet", "cut off")
    with refused((f"{paths[0] / 'part-001.parquet'}: cannot be read", "cannot be skipped")):
        sf.score_dataset(*paths, on_error="skip")
    for number in (0, 2):
        damage(paths[0] / f"part-{number:03}.parquet", "nothing")
    with refused(*(f"{paths[0] / f'part-{number:03}.parquet'}: cannot be read" for number in range(3))):
        sf.score_dataset(*paths, on_error="skip")
    with refused(("on_error", "'ignore'", "'raise' or 'skip'"), error=ValueError):
        sf.score_dataset(*paths, on_error="ignore")


def test_wrong_rows_name_their_file(tmp_path: Path, small: None) -> None:
    truth, predictions = points(40)
    truth.loc[100, "x"] = np.nan
    paths = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    key = ", ".join(f"{name} {truth.loc[100, name]}" for name in ("sequence", "frame", "object"))
    with refused((f"{file_of_row(paths[0], 100)}: column x", "1 row", key)):
        sf.score_dataset(*paths)
    twice = in_files(pd.concat([predictions, predictions.tail(1)]), tmp_path / "twice", 1)
    key = ", ".join(f"{name} {predictions[name].iloc[-1]}" for name in ("sequence", "frame", "object"))
    with refused((f"{twice / 'part-000.parquet'}: 2 rows", "(sequence, frame, object)", key)):
        sf.score_dataset(in_files(points(40)[0], tmp_path / "right"), twice)
    huge = in_files(predictions.assign(sequence=np.uint64(1 << 63)), tmp_path / "huge", 1, 1000)
    with refused((f"{huge / 'part-000.parquet'}: row group 0: column sequence: cannot be read", str(1 << 63))):
        sf.score_dataset(huge, huge)


def test_statistics_that_are_wrong_or_none(tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, predictions = points(40)
    paths = []
    for name, table in (("truth", truth), ("predictions", predictions)):
        (tmp_path / name).mkdir()
        rows = pa.Table.from_pandas(table, preserve_index=False)
        pq.write_table(rows, tmp_path / name / "a.parquet", row_group_size=9, write_statistics=False)
        paths.append(tmp_path / name)
    assert_same(sf.score_dataset(*paths), sf.summarize(sf.match(truth, predictions)))
    from spotgeo_frames.scale import contents

    honest = contents._range
    monkeypatch.setattr(contents, "_range", lambda *given: (honest(*given)[0], honest(*given)[0]))
    with pytest.raises(sf.InputError, match=r"a\.parquet: holds other sequences or frames than its statistics say"):
        sf.score_dataset(*paths)


def test_in_no_order(tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted in memory, part by part or whole, or into a temporary folder; or once and for all by the command."""
    truth, predictions = points(60)
    shuffled = truth.sample(frac=1, random_state=0)
    paths = in_files(shuffled, tmp_path / "truth", 3, 20), in_files(predictions, tmp_path / "predictions")
    expected = sf.summarize(sf.match(sf.read_objects(paths[0]), predictions))
    assert_same(sf.score_dataset(*paths), expected)
    monkeypatch.setattr(parts, "MOST_CHAINS", 8)
    assert_same(sf.score_dataset(*paths), expected)
    monkeypatch.setattr(parts, "MOST_CHAINS", 1000)
    monkeypatch.setattr("spotgeo_frames.scale.rows.SORTED_ROWS", 60)
    assert_same(sf.score_dataset(*paths), expected)
    out = f"{paths[0]}_by_sequence"
    assert run_here("repartition", paths[0], out).status == 0
    assert_same(sf.score_dataset(out, paths[1]), expected)


@given(data=st.data())
@settings(max_examples=20)
def test_repartition(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Sorted by sequence, a sequence's rows in their order and in one file, whatever fits the memory."""
    random = np.random.default_rng(data.draw(st.integers(0, 100)))
    n_rows = data.draw(st.integers(1, 300))
    sequence = random.integers(0, data.draw(st.sampled_from([1, 5, 200])), n_rows)
    table = pd.DataFrame({"sequence": sequence, "row": np.arange(n_rows), "text": np.arange(n_rows).astype(str)})
    if data.draw(st.booleans()):
        table["sequence"] = table["sequence"].map("s{:03}".format)
    folder = tmp_path_factory.mktemp("parts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spotgeo_frames.scale.rows.SORTED_ROWS", data.draw(st.integers(4, 400)))
        patch.setattr("spotgeo_frames.scale.rows.MOST_RANGES", data.draw(st.integers(2, 8)))
        patch.setattr("spotgeo_frames.scale.rows.SAMPLE", data.draw(st.integers(1, 100)))
        given_rows = in_files(table, folder / "rows", data.draw(st.integers(1, 4)))
        sf.repartition_by_sequence(given_rows, folder / "sorted")
    files = [pd.read_parquet(file) for file in sorted((folder / "sorted").iterdir())]
    expected = table.sort_values("sequence", kind="stable", ignore_index=True)
    pd.testing.assert_frame_equal(pd.concat(files, ignore_index=True), expected)
    last = [file["sequence"].iloc[-1] for file in files]
    first = [file["sequence"].iloc[0] for file in files]
    assert all(a < b for a, b in zip(last, first[1:], strict=False))
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_repartition_of_rare_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which no sample finds."""
    monkeypatch.setattr("spotgeo_frames.scale.rows.SORTED_ROWS", 100)
    monkeypatch.setattr("spotgeo_frames.scale.rows.SAMPLE", 10)
    sequence = np.full(1000, 5)
    sequence[[3, 501, 777]] = 9, 2, 6
    rows = in_files(pd.DataFrame({"sequence": sequence, "row": np.arange(1000)}), tmp_path / "rows", 2, 100)
    sf.repartition_by_sequence(rows, tmp_path / "sorted")
    found = pd.concat([pd.read_parquet(file) for file in sorted((tmp_path / "sorted").iterdir())])
    assert found["sequence"].tolist() == sorted(sequence)


def test_repartition_refuses(tmp_path: Path) -> None:
    truth, _ = points(5)
    rows = in_files(truth, tmp_path / "rows")
    with refused((f"{rows}", "there already")):
        sf.repartition_by_sequence(rows, rows)
    other = in_files(truth.drop(columns="sequence"), tmp_path / "other")
    with refused(*(f"{other / f'part-{number:03}.parquet'}: column sequence" for number in range(3))):
        sf.repartition_by_sequence(other, tmp_path / "out")
    none = in_files(truth.head(0), tmp_path / "none", 1)
    with refused((f"{none}", "no rows")):
        sf.repartition_by_sequence(none, tmp_path / "out")
    damage(rows / "part-001.parquet", "cut off")
    with refused(f"{rows / 'part-001.parquet'}: cannot be read"):
        sf.repartition_by_sequence(rows, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["none", "other", "rows"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of half a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a disk can be made by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(
    large: tuple[Path, Path], tiny_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run stops, says where, and leaves nothing half; what it has finished counts once there is room."""
    monkeypatch.setattr(parts, "LEAST_ROWS", 2_000)
    monkeypatch.setattr(parts, "MOST_READ", 1000)
    monkeypatch.setattr(run, "FEW_ROWS", 0)
    paths = []
    for name, folder in zip(("truth", "predictions"), large, strict=True):
        rows = ds.dataset(folder).to_table().slice(0, 20_000)
        paths.append(tmp_path / f"{name}.parquet")
        pq.write_table(rows, paths[-1], row_group_size=500)
    out = tiny_disk / "out"
    with pytest.raises(sf.InputError, match=r"out/.*: cannot be written: .*No space left on device"):
        sf.score_dataset(*paths, out, workers=2)
    assert not list(tiny_disk.rglob("*.tmp"))
    for file in (out / "matches").iterdir():
        pq.read_table(file)
    shutil.copytree(out, tmp_path / "roomy")
    before = states(tmp_path / "roomy")
    assert_same(sf.score_dataset(*paths, tmp_path / "roomy"), sf.summarize(sf.match(*map(sf.read_objects, paths))))
    after = states(tmp_path / "roomy")
    assert before
    assert all(after[name] == state for name, state in before.items() if name.startswith("sums"))


def test_a_full_disk_when_sorting(large: tuple[Path, Path], tiny_disk: Path) -> None:
    with refused((f"{tiny_disk / 'out' / 'part-00000.parquet'}: cannot be written", "No space left on device")):
        sf.repartition_by_sequence(large[0], tiny_disk / "out")
    assert not list(tiny_disk.iterdir())


# The command line.


def test_score_dataset_on_the_command_line(tmp_path: Path, sample: Path) -> None:
    """The same numbers as without --dataset, and the same tables in the folder."""
    sides = [sample / "truth.parquet", sample / "eager.parquet"]
    options = ["--frames", sample / "frames.parquet", "--exclude", "5,9-12", "--tau", "8", "--json"]
    options += ["--by", "truth_brightness:4", "--by", "frame_n_truth", "--by", "predicted_score:3"]
    expected = json.loads(run_here("score", *sides, *options, "--out", tmp_path / "plain").out)
    said = run_process("score", *sides, *options, "--out", tmp_path / "out", "--dataset")
    found = json.loads(said.out)
    by_found, by_expected = found.pop("by"), expected.pop("by")
    assert list(by_found) == list(by_expected)
    pairs = [(found, expected)]
    pairs += [pair for column, rows in by_expected.items() for pair in zip(by_found[column], rows, strict=True)]
    assert len(pairs) > 10
    for mine, theirs in pairs:
        assert list(mine) == list(theirs)
        numbers = [name for name, value in theirs.items() if isinstance(value, float)]
        assert [mine[name] for name in numbers] == pytest.approx([theirs[name] for name in numbers], rel=1e-12)
        assert [mine[name] for name in mine if name not in numbers] == [
            theirs[name] for name in theirs if name not in numbers
        ]
    names = {path.name for path in (tmp_path / "plain").iterdir()} - {"matches.parquet", MANIFEST}
    assert names <= {path.name for path in (tmp_path / "out").iterdir()}
    assert json.loads((tmp_path / "out" / "score.json").read_text()) == json.loads(said.out)
    for name in names - {"score.json"}:
        table, other = (pd.read_parquet(tmp_path / folder / name) for folder in ("out", "plain"))
        pd.testing.assert_frame_equal(table, other, rtol=1e-12)
    matches = ds.dataset(tmp_path / "out" / "matches").to_table().to_pandas()
    pd.testing.assert_frame_equal(matches, pd.read_parquet(tmp_path / "plain" / "matches.parquet"))
    metadata = pq.read_schema(tmp_path / "out" / "summary.parquet").metadata
    assert metadata[b"tau"] == b"8.0"
    assert metadata[b"truth"] == str(sides[0]).encode()
    plain = run_here("score", f"file://{sides[0]}", sides[1], "--dataset", "--out", f"file://{tmp_path}/uri").out
    assert (tmp_path / "uri" / "summary.parquet").exists()
    assert "TP 558" in plain


def test_wrong_usage_and_wrong_input_of_a_dataset(tmp_path: Path, sample: Path) -> None:
    truth, eager = sample / "truth.parquet", sample / "eager.parquet"
    for words, named in (
        (["--scheduler", "x"], ["--scheduler", "--dataset"]),
        (["--dataset", "--by", "brightness"], ["did you mean truth_brightness"]),
        (["--dataset", "--by", "frame:3"], ["column frame"]),
    ):
        said = refused_here("score", truth, eager, *words, status=2)[-1]
        assert all(name in said for name in named), said
    wrong = refused_here("score", sample / "truth.json", tmp_path / "none", "--dataset")
    assert_places(wrong, f"{sample}/truth.json", f"{tmp_path}/none")
    nobody = run_process("score", truth, eager, "--dataset", "--scheduler", "tcp://127.0.0.1:9")
    assert nobody.status == 1
    assert_places(nobody.err.splitlines(), ("tcp://127.0.0.1:9", "Dask"))
    shuffled = in_files(pd.read_parquet(truth).sample(frac=1, random_state=0), tmp_path / "shuffled")
    said = run_process("repartition", shuffled, tmp_path / "sorted").out
    assert said == f"{tmp_path}/sorted: 1 file, sorted by sequence\n"
    assert (
        run_here("score", tmp_path / "sorted", eager, "--dataset").out.splitlines()[2:]
        == run_here("score", truth, eager, "--dataset").out.splitlines()[2:]
    )
    again = refused_here("repartition", shuffled, tmp_path / "sorted")
    assert_places(again, (f"{tmp_path}/sorted", "there already"))


BRIGHTNESS = {"truth_brightness": [0, 1, 3]}


@pytest.mark.parametrize(
    "by", ["truth_label", ["truth_label", "truth_brightness"], BRIGHTNESS, {"truth_brightness": 3}]
)
def test_tracks_by_condition(by: Any, tmp_path: Path, small: None) -> None:
    """Some parts have truths of one label only, and their false alarms still count with the other."""
    truth, predictions = tracks(30)
    random = np.random.default_rng(0)
    truth["brightness"] = random.integers(0, 4, len(truth)).astype(float)
    truth["label"] = np.where((truth["sequence"] < 20) & (random.random(len(truth)) < 0.5), "faint", "bright")
    paths = in_files(truth, tmp_path / "truth", 4, 33), in_files(predictions, tmp_path / "predictions", 3, 50)
    expected = sf.track(truth, predictions, similarity="point", by=by)
    found = sf.track_dataset(*paths, similarity="point", by=by)
    pd.testing.assert_frame_equal(found, expected.summary, rtol=1e-12, atol=0)
    for key, value in expected.summary.attrs.items():
        assert found.attrs[key] == value
    kept = sf.track_dataset(*paths, tmp_path / "out", similarity="point", by=by)
    pd.testing.assert_frame_equal(kept, found)
    assert len(pd.read_parquet(tmp_path / "out" / "summary.parquet")) == len(found)
    with pytest.raises(sf.InputError, match="by differ"):
        sf.track_dataset(*paths, tmp_path / "out", similarity="point")


def test_conditions_that_a_dataset_of_tracks_cannot_have(tmp_path: Path) -> None:
    truth, predictions = tracks(3)
    paths = in_files(truth, tmp_path / "truth", 1), in_files(predictions, tmp_path / "predictions", 1)
    with refused(("by", "frame_light", "truth_size")):
        sf.track_dataset(*paths, by="frame_light")
    with refused(("by", "there is no column truth_size", "truth_x")):
        sf.track_dataset(*paths, by="truth_size")
    many = pd.concat([truth] * 11).assign(
        frame=range(11 * len(truth)), size=[*range(1001)] + [0] * (11 * len(truth) - 1001)
    )
    with refused(("by", "truth_size", "1,001 values", "give bins")):
        sf.track_dataset(in_files(many, tmp_path / "many", 1), paths[1], by="truth_size")
