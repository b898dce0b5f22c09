"""No user name, password or query of an address gets into a name, a message or a file."""

import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyarrow import fs

import spotgeo_frames as sf
from spotgeo_frames.cli.app import run
from spotgeo_frames.support.errors import without_secrets
from spotgeo_frames.support.stores import place_of

ADDRESSES = {
    "s3://KEY:SECRET@bucket/a b.parquet": "s3://bucket/a b.parquet",
    "s3://KEY@bucket": "s3://bucket",
    "s3:/KEY:SECRET@bucket/x": "s3:/bucket/x",
    "s3://KEY:SECRET@minio:9000/b/a@c?endpoint_override=SECRET": "s3://minio:9000/b/a@c",
    "https://bucket.example/x.parquet?X-Signature=SECRET": "https://bucket.example/x.parquet",
    "hdfs://KEY@host:8020/x": "hdfs://host:8020/x",
    # There is nothing to take out.
    "s3://bucket/a@b/c": "s3://bucket/a@b/c",
    "s3://minio:9000/a@b/c": "s3://minio:9000/a@b/c",
    "C:/a@b/c?d": "C:/a@b/c?d",
    "/home/a@b/c?d": "/home/a@b/c?d",
}
# No file system accepts these, and messages say so.
MALFORMED = [f"s3://KEY:SE{mark}CRET@bucket/x" for mark in "/?@ #:"]
ENDINGS = ("", ": cannot be read", "' is of no kind; is it there?", " against s3://other/x", ", or user@host")


@pytest.mark.parametrize(("address", "shown"), ADDRESSES.items())
def test_an_address_alone_and_in_a_sentence(address: str, shown: str) -> None:
    for ending in ENDINGS:
        assert without_secrets(f"{address}{ending}") == f"{shown}{ending}"
    assert without_secrets(f"{address} or s3://KEY:SECRET@other/x?y") == f"{shown} or s3://other/x"


@pytest.mark.parametrize("address", MALFORMED)
def test_a_password_that_no_address_may_have(address: str) -> None:
    for ending in ENDINGS[:-1]:
        assert without_secrets(f"{address}{ending}") == f"s3://bucket/x{ending}"


def test_an_error_and_a_place_have_none(bucket: str) -> None:
    assert place_of(bucket.format("x")).inside("y").name == "s3://bucket/x/y"
    error = sf.InputError([f"{bucket}: no", "s3://KEY@other: no"])
    assert pickle.loads(pickle.dumps(error)).problems == ["s3://bucket/{}: no", "s3://other: no"]


@pytest.fixture
def bucket(tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a bucket that is a folder of this machine, with secrets in it."""
    for name in ("truth", "eager", "frames"):
        (tmp_path / "bucket").mkdir(exist_ok=True)
        (tmp_path / "bucket" / f"{name}.parquet").write_bytes((sample / f"{name}.parquet").read_bytes())

    class Here:
        @staticmethod
        def from_uri(address: str) -> tuple[Any, str]:
            if not address.startswith("s3://KEY:SECRET@bucket/"):
                raise OSError(f"no access to {address}")
            path = address.removeprefix("s3://KEY:SECRET@").partition("?")[0]
            return fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()), path

    monkeypatch.setattr(fs, "FileSystem", Here)
    return "s3://KEY:SECRET@bucket/{}?token=SECRET"


def written_below(folder: Path) -> bytes:
    """The names and the bytes of all files below a folder."""
    return b"".join(str(path).encode() + path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_datasets_at_such_addresses_leave_nothing_of_them(
    bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth, eager = bucket.format("truth.parquet"), bucket.format("eager.parquet")
    run(["score", "--dataset", truth, eager, "--out", bucket.format("out")])
    heading = capsys.readouterr().out.splitlines()[0]
    assert heading.startswith("s3://bucket/eager.parquet against s3://bucket/truth.parquet, ")
    summary = tmp_path / "bucket" / "out" / "summary.parquet"
    assert pd.read_parquet(summary).attrs["truth"] == "s3://bucket/truth.parquet"
    sf.track_dataset([truth], [eager], tmp_path / "tracks", tau=5, frames=bucket.format("frames.parquet"))
    below = written_below(tmp_path)
    assert b"SECRET" not in below
    assert b"KEY:" not in below


def test_messages_about_such_addresses_have_no_secrets(
    bucket: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing, elsewhere = bucket.format("missing.parquet"), "s3://KEY:SECRET@elsewhere/x"
    commands = [
        ["score", "--dataset", missing, missing],
        ["score", "--dataset", elsewhere, elsewhere],
        ["score", "--dataset", "s3://KEY:SE CRET@x/y", "s3://KEY:SE/CRET@x/y"],
        ["score", elsewhere, elsewhere],
        ["score", f"{elsewhere}.json", f"{elsewhere}.json"],
        ["compare", elsewhere, elsewhere, elsewhere],
        ["report", elsewhere, elsewhere, "--out", str(tmp_path / "x.html")],
        ["repartition", bucket.format("truth.parquet"), elsewhere],
        ["repartition", elsewhere, str(tmp_path / "x")],
        ["track", elsewhere, elsewhere],
        ["validate", f"{elsewhere}.json", "--sequences", elsewhere],
        ["score", elsewhere, elsewhere, "--scheduler", elsewhere],
        [elsewhere],
    ]
    for command in commands:
        with pytest.raises(SystemExit) as caught:
            run(command)
        assert caught.value.code in (1, 2)
        text = "".join(capsys.readouterr())
        assert text
        assert not any(secret in text for secret in ("SECRET", "CRET", "KEY")), command
