"""Datasets on a Dask cluster: real processes, of which one is really killed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow.dataset as ds
import pytest

import spotgeo_frames as sf
from helpers.datasets import assert_same, command, file_of_row, in_files, once_deadly, points, states, tracks
from helpers.problems import refused
from spotgeo_frames.scale import parts, results
from spotgeo_frames.support.pandas_versions import with_text

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore:.* in the (truth|predictions) only:UserWarning")


@pytest.fixture
def client() -> Iterator[object]:
    """A cluster of two processes."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LEAST_ROWS", 60)
    monkeypatch.setattr(parts, "MOST_READ", 3.0)


def test_same_as_here(client: object, tmp_path: Path) -> None:
    truth, predictions = points(300)
    paths = in_files(truth, tmp_path / "truth", 3, 20), in_files(predictions, tmp_path / "predictions", 2, 20)
    matches = sf.match(truth, predictions)
    found = sf.score_dataset(*paths, tmp_path / "out", client=client)
    assert_same(found, sf.summarize(matches))
    pd.testing.assert_frame_equal(found, sf.score_dataset(*paths), check_exact=True)  # the same tree of sums
    files = sorted((tmp_path / "out" / "matches").iterdir())
    assert len(files) > results.FOLDED  # so that the tree has levels
    kept = with_text(pd.concat([pd.read_parquet(file) for file in files], ignore_index=True))
    pd.testing.assert_frame_equal(kept, matches)
    by_label = sf.score_dataset(*paths, by="truth_label", client=client)
    assert_same(by_label, sf.summarize(matches, by="truth_label"))
    assert_same(sf.score_dataset(*paths, tmp_path / "out", client=client), found)  # all is finished
    # A run that was interrupted goes on.
    for file in sorted((tmp_path / "out" / "sums").iterdir())[::2]:
        file.unlink()
    before = states(tmp_path / "out" / "sums")
    assert_same(sf.score_dataset(*paths, tmp_path / "out", client=client), found)
    assert before.items() <= states(tmp_path / "out" / "sums").items()
    (tmp_path / "truth" / "part-001.parquet").write_bytes(b"")
    with refused(f"{tmp_path / 'truth' / 'part-001.parquet'}: cannot be read"):
        sf.score_dataset(*paths, client=client)


def test_tracks(client: object, tmp_path: Path) -> None:
    truth, predictions = tracks(40)
    paths = in_files(truth, tmp_path / "truth", 3, 20), in_files(predictions, tmp_path / "predictions", 2, 20)
    found = sf.track_dataset(*paths, client=client, similarity="point")
    expected = sf.track(truth, predictions, similarity="point").summary
    pd.testing.assert_frame_equal(found, expected, rtol=1e-12, atol=0)


def test_problems_of_rows_come_back(client: object, tmp_path: Path) -> None:
    truth, predictions = points(100)
    truth.loc[200, "y"] = float("inf")
    paths = in_files(truth, tmp_path / "truth", 3, 20), in_files(predictions, tmp_path / "predictions", 2, 20)
    key = ", ".join(f"{name} {truth.loc[200, name]}" for name in ("sequence", "frame", "object"))
    with refused((f"{file_of_row(paths[0], 200)}: column y", "1 row", key)):
        sf.score_dataset(*paths, client=client)


@pytest.mark.parametrize("keep", [True, False])
def test_a_worker_is_killed(keep: bool, client: object, tmp_path: Path) -> None:
    """In the middle of a part; its tasks are done again by others, and nothing counts twice."""
    truth, predictions = points(300)
    paths = in_files(truth, tmp_path / "truth", 3, 20), in_files(predictions, tmp_path / "predictions", 2, 20)
    measure, out = once_deadly(tmp_path / "died"), tmp_path / "out"
    pids = {*client.run(os.getpid).values()}  # type: ignore[attr-defined]
    found = sf.score_dataset(*paths, out if keep else None, similarity=measure, client=client)
    assert (tmp_path / "died").exists()
    assert pids - {*client.run(os.getpid).values()}  # type: ignore[attr-defined]
    assert_same(found, sf.summarize(sf.match(truth, predictions, similarity=measure)))
    if keep:
        assert_same(sf.summarize(ds.dataset(out / "matches").to_table().to_pandas()), found)
        assert not list(out.rglob("*.tmp"))


def test_scheduler_on_the_command_line(client: object, sample: Path) -> None:
    sides = [sample / "truth.parquet", sample / "eager.parquet"]
    address = client.scheduler_info()["address"]  # type: ignore[attr-defined]
    found, expected = (
        command("score", *sides, "--dataset", "--by", "truth_brightness:3", "--json", *more).stdout
        for more in (["--scheduler", address], [])
    )
    assert found == expected
