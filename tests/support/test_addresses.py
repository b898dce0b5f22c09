"""Addresses as text and as Paths, their names, and copies of what is there."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.problems import refused
from spotgeo_frames.support.addresses import address_text, base_name, is_address, local_copy

ADDRESS = "s3://bucket/a/truth.json?endpoint_override=http://minio:9000&region=x"


def test_a_path_keeps_the_slashes_of_an_address() -> None:
    assert address_text(ADDRESS) == address_text(Path(ADDRESS)) == ADDRESS
    assert is_address(Path(ADDRESS))
    assert base_name(ADDRESS) == base_name(Path(ADDRESS)) == "truth.json"


def test_what_is_on_this_machine_is_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    for path in (Path("s3:"), Path("C:/truth.json"), "truth.json", "a:b/truth.json"):
        assert not is_address(path)
        assert base_name(path) == Path(path).name


def test_a_copy_lasts_as_long_as_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text("[]")
    with local_copy(f"file://{tmp_path}/truth.json") as copy:
        assert copy.path.read_text() == "[]"
        assert copy.path.name == "truth.json"
        assert copy.name == f"file://{tmp_path}/truth.json"
        assert copy.temporary
    assert not copy.path.parent.exists()
    assert (tmp_path / "truth.json").exists()


def test_a_copy_that_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/large/truth.json", b"x" * (5 << 20))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=3 << 20))
    with refused(("memory://large/truth.json", "cannot be fetched", "5 MiB", "3 MiB", "TMPDIR")):
        local_copy("memory://large/truth.json").__enter__()
