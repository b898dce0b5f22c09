"""Datasets on a Dask cluster: real processes, of which one is really killed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow.dataset as ds
import pytest
from pyarrow import fs

import spotgeo_frames as sf
from helpers.commands import run_here, run_process
from helpers.datasets import assert_same, file_of_row, in_files, once_deadly, points, states, tracks
from helpers.problems import refused
from helpers.store import Store, store
from spotgeo_frames.scale import contents, parts, results, sorted_copies
from spotgeo_frames.support.pandas_tables import with_text

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore:.* in the (truth|predictions) only:UserWarning")


@contextmanager
def cluster() -> Iterator[object]:
    """A client of a cluster of two processes."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    """A cluster for all tests that leave its workers alive and as they were; starting one takes seconds."""
    with cluster() as client:
        yield client


@pytest.fixture
def own_client() -> Iterator[object]:
    """A cluster for one test, which kills or changes its workers."""
    with cluster() as client:
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
    # The same tree of sums; one process would read several parts together.
    pd.testing.assert_frame_equal(found, sf.score_dataset(*paths, workers=2), check_exact=True)
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
def test_a_worker_is_killed(keep: bool, own_client: object, tmp_path: Path) -> None:
    """In the middle of a part; its tasks are done again by others, and nothing counts twice."""
    truth, predictions = points(300)
    paths = in_files(truth, tmp_path / "truth", 3, 20), in_files(predictions, tmp_path / "predictions", 2, 20)
    measure, out = once_deadly(tmp_path / "died"), tmp_path / "out"
    pids = {*own_client.run(os.getpid).values()}  # type: ignore[attr-defined]
    found = sf.score_dataset(*paths, out if keep else None, similarity=measure, client=own_client)
    assert (tmp_path / "died").exists()
    assert pids - {*own_client.run(os.getpid).values()}  # type: ignore[attr-defined]
    assert_same(found, sf.summarize(sf.match(truth, predictions, similarity=measure)))
    if keep:
        assert_same(sf.summarize(ds.dataset(out / "matches").to_table().to_pandas()), found)
        assert not list(out.rglob("*.tmp"))


def test_scheduler_on_the_command_line(client: object, sample: Path, tmp_path: Path) -> None:
    sides = [sample / "truth.parquet", sample / "eager.parquet"]
    address = client.scheduler_info()["address"]  # type: ignore[attr-defined]
    given = ["score", *sides, "--dataset", "--by", "truth_brightness:3", "--json"]
    done = run_process(*given, "--scheduler", address)
    assert (done.status, done.out) == (0, run_here(*given).out), done.err
    done = run_process("repartition", sides[0], tmp_path / "sorted", "--scheduler", address)
    assert (done.status, done.out) == (0, f"{tmp_path / 'sorted'}: 1 file, sorted by sequence\n")


def sorted_on(client: object, source: Path | str, out: Path | str, most: int, **how: object) -> None:
    """Sorts on a cluster whose workers hold at most `most` rows in memory."""

    def few(most_rows: int | None) -> None:
        from spotgeo_frames.scale import rows

        rows.SORTED_ROWS, rows.MOST_RANGES = (most_rows, 3) if most_rows else (1 << 21, 256)

    few(most)
    client.run(few, most)  # type: ignore[attr-defined]
    try:
        sf.repartition_by_sequence(source, out, client=client, **how)  # type: ignore[arg-type]
    finally:
        few(None)
        client.run(few, None)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["int64", "string"])
def test_sorted_as_here(kind: str, client: object, tmp_path: Path) -> None:
    """Whether all rows fit in memory, or only ranges, or not even these, which are then divided again."""
    truth, _ = points(60, kind=kind)
    shuffled = in_files(truth.sample(frac=1, random_state=0), tmp_path / "shuffled", 3, 50)
    sf.repartition_by_sequence(shuffled, tmp_path / "here")
    expected = pd.read_parquet(tmp_path / "here")
    for most in (10_000, 300, 70):
        out = tmp_path / f"most{most}"
        sorted_on(client, shuffled, out, most)
        pd.testing.assert_frame_equal(pd.read_parquet(out), expected)
        names = sorted(path.name for path in out.iterdir())
        assert names == [f"part-{number:05}.parquet" for number in range(len(names))]
        assert (len(names) > 1) == (most < len(truth))
    assert not list(tmp_path.glob(".*"))


def names_in(s3: Store) -> set[str]:
    """The names of the folders and files of the store's bucket."""
    return {info.base_name for info in s3.filesystem.get_file_info(fs.FileSelector("bucket"))}


def test_sorted_to_a_store(client: object, tmp_path: Path) -> None:
    truth, _ = points(60)
    shuffled = in_files(truth.sample(frac=1, random_state=0), tmp_path / "shuffled", 3, 50)
    sf.repartition_by_sequence(shuffled, tmp_path / "here")
    with store() as s3:
        before = names_in(s3)  # other tests of this process may have the same bucket
        address, how = s3.upload(shuffled, "shuffled"), {"storage_options": s3.options}
        sorted_on(client, address, "s3://bucket/sorted", 300, **how)
        found = sf.read_objects("s3://bucket/sorted", **how).objects  # type: ignore[arg-type]
        pd.testing.assert_frame_equal(found, sf.read_objects(tmp_path / "here").objects)
        assert names_in(s3) - before == {"shuffled", "sorted"}
        with refused(("s3://bucket/sorted", "is there already")):
            sorted_on(client, address, "s3://bucket/sorted", 300, **how)
        with refused(("s3://empty", "is a whole bucket; give a folder in it")):
            sorted_on(client, address, "s3://empty", 300, **how)


def test_a_worker_that_sorts_is_killed(own_client: object, tmp_path: Path) -> None:
    truth, _ = points(60)
    shuffled = in_files(truth.sample(frac=1, random_state=0), tmp_path / "shuffled", 3, 50)
    sf.repartition_by_sequence(shuffled, tmp_path / "here")
    marker = tmp_path / "died"

    def deadly() -> None:
        from contextlib import suppress
        from signal import SIGKILL

        from spotgeo_frames.scale import rows

        unharmed = rows.write_rows

        def write(*arguments: object) -> None:
            with suppress(FileExistsError):
                marker.touch(exist_ok=False)
                os.kill(os.getpid(), SIGKILL)
            unharmed(*arguments)

        rows.write_rows = write

    own_client.run(deadly)  # type: ignore[attr-defined]
    sorted_on(own_client, shuffled, tmp_path / "out", 300)
    assert marker.exists()
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out"), pd.read_parquet(tmp_path / "here"))


def test_sorting_where_workers_do_not_see_the_files(own_client: object, tmp_path: Path) -> None:
    """A disk of this machine alone: here, of workers that do not see any folder."""
    truth, _ = points(20)
    shuffled = in_files(truth.sample(frac=1, random_state=0), tmp_path / "shuffled", 2, 50)

    def blind() -> None:
        os.path.isdir = lambda path: False  # type: ignore[assignment]

    own_client.run(blind)  # type: ignore[attr-defined]
    with refused((f"{tmp_path / 'out'}", "a worker does not see its disk", "share it")):
        sorted_on(own_client, shuffled, tmp_path / "out", 300)
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*"))


def test_sorting_of_what_cannot_be_sorted(client: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, _ = points(20)
    shuffled = in_files(truth.sample(frac=1, random_state=0), tmp_path / "shuffled", 2, 50)
    read = sorted_copies.contents_of

    def then_removed(*arguments: object, **options: object) -> contents.Contents:
        found = read(*arguments, **options)  # type: ignore[arg-type]
        (shuffled / "part-001.parquet").unlink()
        return found

    with refused("client is of type str; a distributed.Client is needed", error=ValueError):
        sf.repartition_by_sequence(shuffled, tmp_path / "out", client="tcp://127.0.0.1:8786")
    monkeypatch.setattr(sorted_copies, "contents_of", then_removed)
    with refused((f"{shuffled / 'part-001.parquet'}", "is not there, though it was")):
        sf.repartition_by_sequence(shuffled, tmp_path / "out", client=client)
    assert not list(tmp_path.glob(".*"))
    assert not (tmp_path / "out").exists()
