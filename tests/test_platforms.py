"""What only some systems have is not needed: everything works without it, in a process where it is hidden."""

import os
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT
from spotgeo_frames.support import addresses, memory, temporary
from spotgeo_frames.support.addresses import Storage

# What Windows lacks; `posix` and the like are left, since Python itself is made for the system of these tests.
HIDDEN = """
import os, signal, sys
sys.modules.update(dict.fromkeys(["fcntl", "resource", "pwd", "grp", "termios"]))
for name in ("SIGALRM", "SIGHUP", "setitimer", "ITIMER_REAL"):
    delattr(signal, name)
for name in ("O_DIRECTORY", "sched_getaffinity", "getuid", "statvfs", "sysconf"):
    delattr(os, name)
def no_links(*_): raise OSError("a required privilege is not held by the client")
os.symlink = no_links
"""
WORK = """
import spotgeo_frames as sf
truth, eager = sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json")
matches = sf.match(truth, eager)
sf.save(matches, sys.argv[1] + "/saved")
sf.compare({"saved": sf.load(sys.argv[1] + "/saved"), "b": matches})
sf.track(*sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker"))
tables = ["data/sample/truth.parquet", "data/sample/eager.parquet"]
sf.score_dataset(*tables, out=sys.argv[1] + "/run", workers=1)
sf.repartition_by_sequence(tables[0], sys.argv[1] + "/sorted")
from spotgeo_frames.cli.app import main
sys.argv[1:] = ["score", "data/sample/truth.json", "data/sample/eager.json"]
main()
"""


def test_everything_works_without_what_windows_lacks(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HIDDEN + WORK, str(tmp_path)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "precision" in done.stdout


def test_memory_is_unlimited_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")
    assert memory.memory_at_hand() is None
    memory.check_at_hand("frame 1", "the matrix", 1e18)


def test_runs_are_kept_and_go_on_without_locks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sample: Path) -> None:
    monkeypatch.setattr(temporary, "WINDOWS", True)
    monkeypatch.setattr(temporary, "lock", lambda _: None)
    dataset = {
        "truth": sample / "truth.parquet",
        "predictions": sample / "eager.parquet",
        "frames": sample / "frames.parquet",
    }
    first = sf.score_dataset(**dataset, out=tmp_path / "run", workers=1)
    again = sf.score_dataset(**dataset, out=tmp_path / "run", workers=1)
    pd.testing.assert_frame_equal(first, again)
    assert [path.name for path in (tmp_path / "run").iterdir() if path.name.endswith(".tmp")] == []
    assert b"\r" not in (tmp_path / "run" / "plan.json").read_bytes()


def test_results_of_something_else_are_refused_without_locks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sample: Path
) -> None:
    monkeypatch.setattr(temporary, "WINDOWS", True)
    monkeypatch.setattr(temporary, "lock", lambda _: None)
    (tmp_path / "run" / "matches").mkdir(parents=True)
    (tmp_path / "run" / "matches" / "mine.parquet").write_bytes(b"mine")
    with pytest.raises(sf.InputError, match="holds files of something else"):
        sf.score_dataset(sample / "truth.parquet", sample / "eager.parquet", out=tmp_path / "run", workers=1)
    assert not (tmp_path / "run" / "plan.json").exists()


def test_a_folder_is_moved_onto_an_empty_one_where_the_system_would_refuse(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    replace = Path.replace

    def refuse(path: Path, to: Path) -> Path:
        if to.exists():
            raise PermissionError(13, "Access is denied", str(to))
        return replace(path, to)

    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(temporary, "WINDOWS", True)
    for name in ("to an empty folder", "to nothing"):
        done = tmp_path / "done"
        done.mkdir()
        (done / "file").touch()
        if name == "to an empty folder":
            (tmp_path / name).mkdir()
        temporary.move_folder(done, tmp_path / name)
        assert (tmp_path / name / "file").exists()


def test_a_folder_is_not_moved_onto_files_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(temporary, "WINDOWS", True)
    for name in ("done", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    with pytest.raises(OSError, match="theirs"):
        temporary.move_folder(tmp_path / "done", tmp_path / "theirs")
    assert (tmp_path / "theirs" / "file").read_text() == "theirs"


def test_local_files_that_a_wildcard_names_are_copied_where_there_are_no_links(
    monkeypatch: pytest.MonkeyPatch, sample: Path
) -> None:
    def no_links(*_: object) -> None:
        raise OSError("A required privilege is not held by the client")

    expected = sf.read_objects(str(sample / "tru*.parquet")).objects
    monkeypatch.setattr(os, "symlink", no_links)
    with addresses.local_copy(str(sample / "tru*.parquet")) as copy:
        assert not copy.path.is_symlink()
    pd.testing.assert_frame_equal(sf.read_objects(str(sample / "tru*.parquet")).objects, expected)


def test_local_paths_have_slashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses.os, "sep", "\\")
    monkeypatch.setattr(addresses.os.path, "abspath", lambda text: "C:\\data\\" + text)
    _, path = addresses.reached("day=1\\truth.parquet", Storage())
    assert path == "C:/data/day=1/truth.parquet"


def test_results_travel_to_processes_that_begin_anew_and_back() -> None:
    matches = sf.match(*(sf.read_spotgeo(PROJECT / f"data/sample/{name}.json") for name in ("truth", "eager")))
    sides = sf.read_motchallenge(PROJECT / "data/tracks/truth", PROJECT / "data/tracks/tracker")
    with get_context("spawn").Pool(1) as pool:  # as on Windows and macOS, where nothing is forked
        summary = pool.apply(sf.summarize, [matches], {"by": "sequence"})
        result = pool.apply(sf.track, sides)
    pd.testing.assert_frame_equal(summary, sf.summarize(matches, by="sequence"))
    pd.testing.assert_frame_equal(result.summary, sf.track(*sides).summary)
