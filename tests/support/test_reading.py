"""Packed files are read to the size that they declare, and want of memory is not called damage."""

import errno
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.cli.printing import problems_reported
from spotgeo_frames.support import reading
from spotgeo_frames.support.reading import read_archive, read_bytes, readable

METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def packed(path: Path, contents: dict[str, bytes], method: int) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def lying(path: Path, content: bytes, declared: int, method: int) -> Path:
    """An archive of one file whose headers declare fewer bytes than it has, with the checksum of these bytes."""
    packed(path, {"a.json": content}, method)
    for true, false in ((len(content), declared), (zlib.crc32(content), zlib.crc32(content[:declared]))):
        path.write_bytes(path.read_bytes().replace(true.to_bytes(4, "little"), false.to_bytes(4, "little")))
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("a.json").file_size == declared
    return path


@pytest.mark.parametrize("method", METHODS)
def test_members_are_read_whole(method: int, tmp_path: Path) -> None:
    contents = {"a.txt": b"", "b.txt": b"1,2\n" * 100_000, "c.txt": b"3"}
    assert read_archive(packed(tmp_path / "some.zip", contents, method), ".txt") == contents


@pytest.mark.parametrize("method", METHODS[1:])
def test_members_that_are_larger_than_they_declare(method: int, tmp_path: Path) -> None:
    path = lying(tmp_path / "some.zip", b"[]" + b" " * (1 << 24), 2, method)
    tracemalloc.start()
    # Of other methods than the usual one, zipfile unpacks some thousand packed bytes as a whole: here, all there are.
    with refused((f"{path}", "'a.json'", "2 bytes") if method == zipfile.ZIP_DEFLATED else f"{path}"):
        read_bytes(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert method != zipfile.ZIP_DEFLATED or peak < 1 << 22


def test_declared_sizes_are_added_up_before_anything_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "some.zip", {"a.txt": b"1" * 600, "b.txt": b"2" * 600}, zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(reading, "LARGEST_UNPACKED", 1000)
    monkeypatch.delattr(zipfile.ZipFile, "open")
    with refused((f"{path}", "unpacks to more")):
        read_archive(path, ".txt")


def test_archives_of_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "some.zip", dict.fromkeys(map(str, range(6)), b""), zipfile.ZIP_STORED)
    monkeypatch.setattr(reading, "MOST_MEMBERS", 5)
    monkeypatch.delattr(zipfile.ZipFile, "open")
    with refused((f"{path}", "6 files", "5")):
        read_archive(path, ".txt")


WANTS = [
    MemoryError(),
    MemoryError("malloc of size 64 failed"),
    pa.ArrowMemoryError("malloc of size 64 failed"),
    pa.ArrowInvalid("Out of memory: realloc of size 64 failed"),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    OSError("Memory mapping file failed: Cannot allocate memory"),
    pa.ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"),
    RuntimeError("can't start new thread"),
    OSError("libarrow.so: failed to map segment from shared object"),
]


@pytest.mark.parametrize("want", WANTS, ids=str)
def test_want_of_memory_is_not_damage(want: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MemoryError, match=r"some\.parquet"), readable("some.parquet"):
        raise want
    with pytest.raises(SystemExit) as ended, problems_reported(), readable("some.parquet"):
        raise want
    assert ended.value.code == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("there is not enough memory: some.parquet")


def test_other_errors_are_damage() -> None:
    with refused("some.parquet: cannot be read"), readable("some.parquet"):
        raise pa.ArrowInvalid("Could not open Parquet input source")
    with pytest.raises(SystemExit), problems_reported():
        raise MemoryError
    assert issubclass(sf.InputError, ValueError)
