"""Datasets and files on stores of objects: equal to local ones, in few requests, with plain words where it fails."""

import pickle
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import spotgeo_frames as sf
from helpers.datasets import assert_same, in_files, points, tracks
from helpers.problems import refused
from helpers.store import Store, store
from spotgeo_frames.cli.app import run
from spotgeo_frames.scale import blocks, contents, parts

pytestmark = pytest.mark.filterwarnings("ignore:.* in the (truth|predictions) only:UserWarning")


@pytest.fixture(scope="module")
def whole_store() -> Iterator[Store]:
    with store() as opened:
        yield opened


@pytest.fixture
def s3(whole_store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store whose address and keys are in the environment."""
    whole_store.clear()
    monkeypatch.setenv("AWS_ENDPOINT_URL", whole_store.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "user")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # where it would look for other keys, for seconds
    return whole_store


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts, blocks and batches of a few rows, so that tiny tables have many."""
    monkeypatch.setattr(parts, "LEAST_ROWS", 40)
    monkeypatch.setattr(parts, "MOST_READ", 3.0)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 64)


def test_a_dataset_on_a_store_is_that_of_the_disk(s3: Store, tmp_path: Path, small: None) -> None:
    truth, predictions = points(12)
    local = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    there = [s3.upload(path, f"same/{path.name}") for path in local]
    expected = sf.score_dataset(*local, tmp_path / "out", by="truth_label")
    for addresses in (there, [Path(address) for address in there], [f"{address}/*.parquet" for address in there]):
        assert_same(sf.score_dataset(*addresses, by="truth_label"), expected)
    assert_same(sf.score_dataset(*there, "s3://bucket/same/out", by="truth_label"), expected)
    found = pq.read_table("bucket/same/out/matches", filesystem=s3.filesystem)
    assert found.equals(pq.read_table(tmp_path / "out" / "matches"))
    assert_same(sf.score_dataset(*there, workers=2), sf.score_dataset(*local))


def test_tracks_on_a_store_are_those_of_the_disk(s3: Store, tmp_path: Path) -> None:
    local = [in_files(side, tmp_path / f"tracks{number}") for number, side in enumerate(tracks(6))]
    there = [s3.upload(path, f"tracks/{path.name}") for path in local]
    expected = sf.track_dataset(*local, similarity="point")
    found = sf.track_dataset(*there, "s3://bucket/tracks/out", similarity="point")
    pd.testing.assert_frame_equal(found, expected)


def test_options_and_file_systems_reach_a_store(
    s3: Store, tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3fs = pytest.importorskip("fsspec.implementations.arrow").ArrowFSWrapper
    for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    address = s3.upload(sample / "truth.parquet", "options/truth.parquet")
    query = f"s3://user:SECRET@bucket/options/truth.parquet?endpoint_override={s3.url}"
    expected = sf.read_objects(sample / "truth.parquet").objects
    nested = {"endpoint_url": s3.url, "region_name": "us-east-1"}
    keys = {name: value for name, value in s3.options.items() if name != "endpoint_url"}
    reads = [
        partial(sf.read_objects, address, storage_options=s3.options),
        partial(sf.read_objects, address, storage_options={**keys, "client_kwargs": nested}),
        partial(sf.read_objects, query),
        partial(sf.read_objects, Path(query)),
        partial(sf.read_objects, "bucket/options/truth.parquet", filesystem=s3.filesystem),
        partial(sf.read_objects, address, filesystem=s3.filesystem),
        partial(sf.read_objects, address, filesystem=s3fs(s3.filesystem)),
    ]
    for read in reads:
        pd.testing.assert_frame_equal(read().objects, expected)
    for how in ({"storage_options": s3.options}, {"filesystem": s3.filesystem}, {"filesystem": s3fs(s3.filesystem)}):
        assert sf.score_dataset(address, address, **how)["f1"].tolist() == [1.0]
    sf.score_dataset(address, address, tmp_path / "out", storage_options=s3.options)
    assert b"SECRET" not in b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*.*"))
    with refused((address, "endpoint", "endpoint_url")):
        sf.read_objects(address, storage_options={"endpoint": s3.url})
    with refused((address, "storage_options is of type str")):
        sf.read_objects(address, storage_options="key")
    with refused("filesystem is of type str", error=ValueError):
        sf.read_objects(address, filesystem="s3")
    with refused(("s3://", "names no bucket")):
        sf.read_objects("s3://")


def test_what_fsspec_knows_is_reached_too(sample: Path, tmp_path: Path) -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    for name in ("truth", "eager"):
        memory.pipe(f"/store/{name}.parquet", (sample / f"{name}.parquet").read_bytes())
        memory.pipe(f"/store/{name}/day=1/a.parquet", (sample / f"{name}.parquet").read_bytes())
    expected = sf.score_dataset(sample / "truth.parquet", sample / "eager.parquet")
    memory.pipe("/a folder/truth.parquet", (sample / "truth.parquet").read_bytes())
    assert len(sf.read_objects("memory://a folder/truth.parquet").objects) == 627
    addresses = [f"memory://store/{name}" for name in ("truth", "eager")]
    assert_same(sf.score_dataset(*(f"{address}.parquet" for address in addresses)), expected)
    assert_same(sf.score_dataset(*addresses, "memory://store/out"), expected)
    assert_same(sf.score_dataset(*addresses, "memory://store/out"), expected)
    assert sf.read_objects("memory://store/truth").objects["day"].unique().tolist() == [1]
    sf.repartition_by_sequence(addresses[1], "memory://store/sorted")
    assert_same(sf.score_dataset(addresses[0], "memory://store/sorted"), expected)


NAMES = ["a b", "a%20b", "a#b", "ü€", "hour=2024-01-01 00%3A00", "x[1]", "a+b"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_taken_as_they_are(name: str, s3: Store, sample: Path, tmp_path: Path) -> None:
    s3.upload(sample / "truth.parquet", f"names/{name}/truth.parquet")
    address, expected = f"s3://bucket/names/{name}", sf.read_objects(sample / "truth.parquet").objects
    for how in ({}, {"storage_options": s3.options}, {"filesystem": s3.filesystem}):
        pd.testing.assert_frame_equal(sf.read_objects(address, **how).objects, expected)
        assert sf.score_dataset(address, address, **how)["f1"].tolist() == [1.0]
    sf.score_dataset(address, address, f"s3://bucket/names/out of {name}")
    sf.score_dataset(address, address, f"s3://bucket/names/out of {name}")
    assert s3.filesystem.get_file_info(f"bucket/names/out of {name}/summary.parquet").is_file
    (tmp_path / name).mkdir()
    (tmp_path / name / "truth.parquet").write_bytes((sample / "truth.parquet").read_bytes())
    for folder in ((tmp_path / name).as_uri(), f"file://{tmp_path}/{name}" if "%" not in name else tmp_path / name):
        assert sf.score_dataset(folder, tmp_path / name)["f1"].tolist() == [1.0]


def test_every_reader_takes_addresses(s3: Store, sample: Path, coco: Path, tracks: Path, poses: Path) -> None:
    base = "s3://bucket/readers"
    for folder in (sample, coco, tracks, poses):
        s3.upload(folder, f"readers/{folder.name}")
    json = sf.read_spotgeo(f"{base}/sample/truth.json")
    pd.testing.assert_frame_equal(json.objects, sf.read_spotgeo(sample / "truth.json").objects)
    assert not len(sf.validate_spotgeo(f"{base}/sample/eager.json", truth=json))
    with_frames = sf.read_objects(f"{base}/sample/truth.parquet", frames=f"{base}/sample/frames.parquet")
    assert len(with_frames.frames) == 300
    for read, folder in ((sf.read_motchallenge, tracks), (sf.read_posetrack, poses)):
        there = read(f"{base}/{folder.name}/truth", f"{base}/{folder.name}/tracker")
        for found, expected in zip(there, read(folder / "truth", folder / "tracker"), strict=True):
            pd.testing.assert_frame_equal(found.objects, expected.objects)
    there = sf.read_coco(f"{base}/coco/annotations.json", f"{base}/coco/fast.json", boxes=True)
    here = sf.read_coco(coco / "annotations.json", coco / "fast.json", boxes=True)
    for found, expected in zip(there, here, strict=True):
        pd.testing.assert_frame_equal(found.objects, expected.objects)


def test_what_was_read_from_a_store_is_noted_without_its_query(
    s3: Store, sample: Path, tracks: Path, tmp_path: Path
) -> None:
    """The digest is that of the same file or folder on the disk."""
    address = s3.upload(sample / "truth.parquet", "notes/truth.parquet") + f"?endpoint_override={s3.url}&scheme=http"
    eager = s3.upload(sample / "eager.parquet", "notes/eager.parquet")
    run(["score", address, eager, "--out", str(tmp_path / "there")])
    run(["score", str(sample / "truth.parquet"), str(sample / "eager.parquet"), "--out", str(tmp_path / "here")])
    there, here = (pq.read_metadata(tmp_path / name / "matches.parquet").metadata for name in ("there", "here"))
    for key in (b"truth", b"truth_sha256", b"submission_sha256"):
        assert there[key] == here[key]
    assert b"endpoint_override" not in b"".join(path.read_bytes() for path in (tmp_path / "there").iterdir())


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command prints, in this process."""
    run([str(word) for word in words])
    return capsys.readouterr().out


def test_commands_take_addresses(
    s3: Store, sample: Path, tracks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, mot = s3.upload(sample, "commands/sample"), s3.upload(tracks, "commands/tracks")
    given = [f"{base}/truth.parquet", f"{base}/eager.parquet"]
    local = [sample / "truth.parquet", sample / "eager.parquet"]
    for name in ("score", "check", "diagnose", "sweep"):
        assert printed(capsys, name, "--json", *given) == printed(capsys, name, "--json", *local)
    s3.clear()
    found = printed(capsys, "compare", f"{mot}/truth", f"{mot}/tracker", f"{mot}/tracker", "--json")
    assert found == printed(capsys, "compare", tracks / "truth", tracks / "tracker", tracks / "tracker", "--json")
    texts = Counter(path for method, path in s3.requests if method == "GET" and path.endswith(".txt"))
    assert {*texts.values()} == {1}  # of each file, however often the command reads it
    printed(capsys, "gate", *given, "--min", "f1=0.1")
    printed(capsys, "report", f"{given[0]}?scheme=http", given[1], "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "SHA-256" in page
    assert "scheme=http" not in page
    printed(capsys, "repartition", given[1], f"{base}/sorted")
    secret = f"s3://user:SECRET@bucket/commands/sample/eager.parquet?endpoint_override={s3.url}"
    for name in ("score", "check", "diagnose", "sweep", "track", "compare"):
        said = printed(capsys, name, given[0], secret, *([secret] if name == "compare" else []))
        assert "SECRET" not in said
        assert s3.url not in said
        assert f"{given[0]}" in said or name == "check"
    sorted_there = printed(capsys, "score", "--dataset", "--json", given[0], f"{base}/sorted")
    assert sorted_there == printed(capsys, "score", "--dataset", "--json", *local)
    with pytest.raises(SystemExit, match="1"):
        run(["diagnose", *given, "--out", f"{base}/no"])
    assert capsys.readouterr().err.startswith(f"{base}/no: cannot be written: is an address")
    assert not Path("s3:").exists()


def test_wildcards_and_the_home_folder(s3: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, predictions = points(12)
    for day in (1, 2):
        in_files(truth[truth["sequence"] % 2 == day - 1], tmp_path / "data" / f"day={day}" / "truth", 2)
    single = in_files(predictions, tmp_path / "predictions", 1) / "part-000.parquet"
    address = s3.upload(tmp_path / "data", "wild")
    monkeypatch.setenv("HOME", str(tmp_path))
    expected = sf.summarize(sf.match(truth, predictions))
    for pattern in (tmp_path / "data/day=*", "~/data/day=[12]/truth", f"{address}/day=*/**/part-*.parquet"):
        assert_same(sf.score_dataset(pattern, "~/predictions/*"), expected)
        read = sf.read_objects(pattern)
        assert sorted(read.objects["day"].unique()) == [1, 2]
        assert_same(sf.summarize(sf.match(read, sf.read_objects(single))), expected)
    assert len(sf.read_objects(f"{address}/day=[!1]/truth").objects) == (truth["sequence"] % 2).sum()
    literal = tmp_path / "a[1].parquet"
    literal.write_bytes(single.read_bytes())
    assert len(sf.read_objects(literal).objects) == len(predictions)
    for nothing in (f"{address}/night=*", tmp_path / "data" / "night=*"):
        for read_it in (sf.read_objects, lambda path: sf.score_dataset(path, single)):
            with refused((f"{nothing}", "matches no file")):
                read_it(nothing)


def counted(s3: Store) -> Counter[str]:
    found = Counter(method for method, _ in s3.requests)
    s3.clear()
    return found


def test_requests_are_few_and_large(s3: Store, tmp_path: Path) -> None:
    """A quarter of a million rows a side, in row groups that are read ahead as a whole."""
    random, n_rows = np.random.default_rng(0), 250_000
    frame = np.arange(n_rows) // 4
    table = pd.DataFrame({"sequence": frame // 5, "frame": frame % 5, "object": np.arange(n_rows) % 4})
    for name in ("x", "y", "unread"):
        table[name] = random.uniform(0, 640, n_rows)
    local = [in_files(table, tmp_path / name, 2, n_rows) for name in ("truth", "predictions")]
    there = [s3.upload(path, f"few/{path.name}") for path in local]
    s3.clear()
    sf.score_dataset(*there, workers=1)
    # For each of four files: its footer, which is kept, its size, and its rows in one request.
    # For each folder: whether it is one, what is in it, and for each part what is in it now.
    found = counted(s3)
    assert found["HEAD"] <= 2 + 4 + 4 * 2, found
    assert found["GET"] <= 2 * 2 + 2 * 4, found


def test_a_file_is_opened_once_to_find_the_names_of_its_row_groups(s3: Store, tmp_path: Path) -> None:
    """Statistics of long names may be cut, so that the column itself has to tell them."""
    names = pa.array([f"{number:0100}" for number in range(4)])
    sequence = pa.DictionaryArray.from_arrays(np.repeat(np.arange(4, dtype=np.int32), 70_000), names).cast(pa.string())
    rows = pa.table({"sequence": sequence, "frame": np.arange(280_000), "x": np.zeros(280_000)})
    pq.write_table(rows, tmp_path / "long.parquet", row_group_size=70_000)
    there = s3.upload(tmp_path / "long.parquet", "names/long.parquet")
    s3.clear()
    found = contents.contents_of(there, ["sequence"])
    assert [(group.low, group.high) for group in found.groups] == [(name, name) for name in names.to_pylist()]
    assert counted(s3)["HEAD"] <= 2  # what is at this address, and once the size


def test_small_files_cost_no_request_for_their_sizes(s3: Store, tmp_path: Path) -> None:
    truth, predictions = points(60)
    local = in_files(truth, tmp_path / "truth", 30, 1000), in_files(predictions, tmp_path / "predictions", 30, 1000)
    there = [s3.upload(path, f"small/{path.name}") for path in local]
    expected = sf.score_dataset(*local)
    s3.clear()
    waiting: list[int] = []

    def slow(method: str, path: str) -> None:
        waiting.append(threading.active_count())
        time.sleep(0.01)

    s3.fault = slow
    assert_same(sf.score_dataset(*there), expected)
    evaluating = waiting[len(waiting) * 3 // 5 :]  # when all footers have been read once
    assert max(evaluating) >= min(waiting) + 4  # several at once: the server has a thread for each request
    found = counted(s3)
    assert found["HEAD"] <= 2, found  # whether each side is a file
    assert found["GET"] <= 2 * 60 + 8, found  # the footer and the rows of each; and listings
    damaged = "truth/part-017.parquet"
    s3.fault = lambda method, path: "503" if path.endswith(damaged) and gets(s3, damaged) > 1 else None
    how = {"filesystem": s3.impatient, "workers": 1}
    with refused(f"s3://bucket/small/{damaged}: row group 0: cannot be read"):
        sf.score_dataset(*there, **how)
    s3.requests.clear()
    with pytest.warns(UserWarning, match=f"{damaged}: row group 0: .*; sequences 30 to 32 are left out"):
        assert sf.score_dataset(*there, **how, on_error="skip")["n_sequences"].tolist() == [57]


@pytest.mark.parametrize("n_kept", [0, 7])
def test_footers_are_kept_within_bounds(
    n_kept: int, s3: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are not are read again, as other processes read all of them."""
    truth, predictions = points(60)
    local = in_files(truth, tmp_path / "truth", 20, 1000), in_files(predictions, tmp_path / "predictions", 20, 1000)
    there = [s3.upload(path, f"kept/{path.name}") for path in local]
    size = pq.read_metadata(tmp_path / "truth" / "part-000.parquet").serialized_size
    monkeypatch.setattr(contents, "KEPT_OF_DATASET", n_kept * size + size // 2)
    files = contents.contents_of(there[0], []).files
    assert [file.kept is not None for file in files] == [True] * n_kept + [False] * (20 - n_kept)
    assert {file.kept for file in pickle.loads(pickle.dumps(files))} == {None}
    s3.clear()
    assert_same(sf.score_dataset(*there, workers=1), sf.score_dataset(*local))
    found = counted(s3)
    assert 3 * 40 - 2 * n_kept <= found["GET"] <= 3 * 40 - 2 * n_kept + 8


def gets(s3: Store, name: str) -> int:
    """How often an object has been asked for."""
    return sum(method == "GET" and path.endswith(name) for method, path in s3.requests)


def test_an_interrupted_evaluation_goes_on(
    s3: Store, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, predictions = points(24)
    local = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    there = [s3.upload(path, f"resume/{path.name}") for path in local]
    out = "s3://bucket/resume/out"
    s3.fault = lambda method, path: "503" if path.endswith("/sums/part-00002.arrow") else None
    with refused((out + "/sums/part-00002.arrow", "cannot be written")):
        sf.score_dataset(*there, out, filesystem=s3.impatient)
    left = s3.filesystem.get_file_info(fs.FileSelector("bucket/resume/out", recursive=True))
    assert not [info.path for info in left if info.path.endswith(".tmp")]
    s3.clear()
    assert_same(sf.score_dataset(*there, out), sf.score_dataset(*local))
    again = [path for method, path in s3.requests if method in ("PUT", "POST") and "/sums/" in path]
    assert again
    assert not any("part-00000" in path for path in again)
    s3.clear()
    assert_same(sf.score_dataset(*there, out), sf.score_dataset(*local))
    assert not [path for method, path in s3.requests if method in ("PUT", "POST") and "/sums/part" in path]
    s3.upload(tmp_path / "truth" / "part-001.parquet", "resume/truth/part-000.parquet")
    with refused((out, "truth", "differ")):
        sf.score_dataset(*there, out)


def test_sorted_copies_on_a_store(s3: Store, tmp_path: Path, small: None) -> None:
    truth, _ = points(40)
    shuffled = in_files(truth.sample(frac=1, random_state=0), tmp_path / "shuffled")
    address = s3.upload(shuffled, "sorting/shuffled")
    for source, out in ((address, "s3://bucket/sorting/a"), (shuffled, "s3://bucket/sorting/b")):
        sf.repartition_by_sequence(source, out)
        copy = pq.read_table(out.removeprefix("s3://"), filesystem=s3.filesystem).to_pandas()
        assert copy["sequence"].is_monotonic_increasing
        with refused((out, "is there already")):
            sf.repartition_by_sequence(source, out)
    sf.repartition_by_sequence(address, tmp_path / "here")
    assert len(pd.read_parquet(tmp_path / "here")) == len(truth)
    sf.repartition_by_sequence(address, f"file://{tmp_path}/by_address")
    assert len(pd.read_parquet(tmp_path / "by_address")) == len(truth)
    with refused((f"{address}/inside", "input")):
        sf.repartition_by_sequence(address, f"{address}/inside")
    s3.fault = lambda method, path: "503" if method == "DELETE" else None
    with refused(("s3://bucket/sorting/c/part-00000.parquet", "cannot be written")):
        sf.repartition_by_sequence(address, "s3://bucket/sorting/c", filesystem=s3.impatient)


def test_a_store_that_refuses_or_fails(s3: Store, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = s3.upload(sample / "truth.parquet", "bad/truth.parquet")
    reads = {1: sf.read_objects, 2: lambda path, **how: sf.score_dataset(path, path, **how)}
    for fault in ("503", "reset"):
        for n_problems, read in reads.items():
            s3.fault = lambda method, path, fault=fault: fault if method == "GET" and "truth" in path else None
            with refused(*[(address, "cannot be read")] * n_problems):
                read(address, filesystem=s3.impatient)
    s3.clear()
    for n_problems, read in reads.items():
        missing = "s3://nobucket/truth.parquet"
        with refused(*[(missing, "no such file, folder or bucket")] * n_problems):
            read(missing)
    with refused(("s3://nobucket/out", "nobucket")):
        sf.score_dataset(address, address, "s3://nobucket/out")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    for n_problems, read in reads.items():
        with refused(*[(address, "storage_options", "AWS_ACCESS_KEY_ID")] * n_problems):
            read(address)


def test_a_store_that_fails_for_a_moment_is_asked_again(s3: Store, sample: Path) -> None:
    address = s3.upload(sample / "truth.parquet", "moment/truth.parquet")
    failed = []

    def once(method: str, path: str) -> str | None:
        if method == "GET" and "truth" in path and len(failed) < 1:
            failed.append(path)
            return "503"
        return None

    s3.fault = once
    assert sf.score_dataset(address, address)["f1"].tolist() == [1.0]
    assert failed


def test_an_object_that_is_replaced_meanwhile(s3: Store, tmp_path: Path, small: None) -> None:
    truth, predictions = points(40)
    local = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    there = [s3.upload(path, f"changing/{path.name}") for path in local]

    footers_read = 2 * 3
    once = threading.Lock()  # files are read several at once

    def replaced(method: str, path: str) -> None:
        data = [path for method, path in s3.requests if method == "GET" and path.endswith(".parquet")]
        if len(data) > footers_read and once.acquire(blocking=False):
            s3.upload(local[1] / "part-000.parquet", "changing/truth/part-001.parquet")

    s3.fault = replaced
    with refused(("s3://bucket/changing/truth/part-001.parquet", "was changed during the run")):
        sf.score_dataset(*there, workers=1)


def test_an_object_of_the_same_size_without_a_time_of_change(sample: Path) -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    table = pd.read_parquet(sample / "truth.parquet")
    for name, rows in (("truth", table), ("other", table.assign(x=table["x"] + 1))):
        rows.to_parquet(f"memory://twins/{name}.parquet", compression=None)
    assert memory.size("/twins/truth.parquet") == memory.size("/twins/other.parquet")

    def replacing(truth: pd.DataFrame, predicted: pd.DataFrame) -> np.ndarray:
        import fsspec

        fsspec.filesystem("memory").copy("/twins/other.parquet", "/twins/truth.parquet")
        return np.ones(len(truth))

    truth = "memory://twins/truth.parquet"
    with refused((truth, "was changed during the run", "footer")):
        sf.score_dataset(truth, truth, similarity=replacing, threshold=0.5, workers=1)


def test_a_file_with_null_keys_is_skipped_where_nothing_tells_when_it_changed(sample: Path) -> None:
    pytest.importorskip("fsspec")
    table = pd.read_parquet(sample / "truth.parquet")
    table.to_parquet("memory://nulls/sound.parquet")
    wrong = table.assign(sequence=table["sequence"].astype("Int64").where(table["frame"] > 2))
    wrong.to_parquet("memory://nulls/wrong.parquet")
    with pytest.warns(UserWarning, match="skipped: .*wrong.parquet: column sequence"):
        sf.score_dataset("memory://nulls", "memory://nulls/sound.parquet", on_error="skip", workers=1)
