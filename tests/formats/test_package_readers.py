"""Readers that other installed packages add."""

from importlib import metadata
from pathlib import Path

import pytest

from helpers.commands import answer_here, run_here
from helpers.packages import installed, use_folder
from spotgeo_frames.formats.any_file import GROUP

READ = """
import pandas as pd
import spotgeo_frames as sf

def read(path):
    values = [line.split() for line in path.read_text().splitlines()]
    table = pd.DataFrame(values, columns=["frame", "x", "y"]).astype({"frame": int, "x": float, "y": float})
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3]})
    return sf.Annotations(table.assign(sequence=1, object=table.groupby("frame").cumcount()), frames)

def broken(path):
    raise OverflowError("too many stars")

def refusing(path):
    raise sf.InputError(f"{path}, line 3: is no star")

def wrong(path):
    return pd.DataFrame({"frame": [1]})

def leaving(path):
    raise SystemExit(0)

nothing = 7
"""
POINTS = {name: name for name in ("broken", "refusing", "wrong", "leaving", "nothing", "lacking")} | {"stars": "read"}


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "star-files", READ, GROUP, POINTS)
    use_folder(tmp_path, monkeypatch)


def written(tmp_path: Path, ending: str) -> Path:
    path = tmp_path / f"truth.{ending}"
    path.write_text("1 10 10\n2 20 20\n")
    return path


@pytest.mark.parametrize("ending", ["stars", "STARS"])
def test_a_command_takes_files_of_another_packages_reader(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path, ending)
    answer = answer_here("score", path, path)
    assert (answer["tp"], answer["fp"], answer["n_frames"]) == (2, 0, 3)


@pytest.mark.parametrize(
    ("ending", "named"),
    [
        ("broken", ["star-files", "truth.broken", "OverflowError", "too many stars"]),
        ("refusing", ["truth.refusing, line 3"]),
        ("wrong", ["truth.wrong", "star-files", "sequence"]),
        ("leaving", ["star-files", "truth.leaving", "SystemExit"]),
        ("nothing", ["star-files", "nothing"]),
        ("lacking", ["star-files", "lacking", "cannot be loaded"]),
        ("unknown", ["truth.unknown", "no known kind"]),
    ],
)
def test_a_reader_that_fails_names_its_package(tmp_path: Path, ending: str, named: list[str]) -> None:
    path = written(tmp_path, ending)
    done = run_here("score", path, path)
    assert done.status == 1
    assert all(text in done.err for text in named), done.err


def test_packages_that_add_the_same_ending_are_named(tmp_path: Path) -> None:
    installed(tmp_path, "other-files", "def read(path):\n    pass\n", GROUP, {"stars": "read"})
    done = run_here("score", written(tmp_path, "stars"), written(tmp_path, "stars"))
    assert "other-files and star-files" in done.err


@pytest.mark.parametrize(
    ("code", "points", "metadata", "named"),
    [
        ("raise SystemExit(0)", b"odd = odd_files:read", "Name: odd-files\n", ["odd-files", "SystemExit"]),
        ("", b"odd = odd_files:read", "", ["odd_files:read", "cannot be loaded"]),  # a package without a name
        ("", b"odd = no module!", "Name: odd-files\n", ["odd-files", "cannot be loaded"]),
        ("", b"odd", "Name: odd-files\n", ["odd cannot be looked up", "metadata"]),
        ("", b"\xff\xfe", "Name: odd-files\n", ["odd cannot be looked up", "metadata"]),
    ],
)
def test_packages_that_are_broken(tmp_path: Path, code: str, points: bytes, metadata: str, named: list[str]) -> None:
    installed(tmp_path, "odd-files", code, GROUP, {})
    folder = tmp_path / "odd_files-1.0.dist-info"
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\n{metadata}Version: 1.0\n")
    (folder / "entry_points.txt").write_bytes(b"[%s]\n%s\n" % (GROUP.encode(), points))
    path = written(tmp_path, "odd")
    done = run_here("score", path, path)
    assert done.status == 1
    assert all(text in done.err for text in named), done.err


def test_known_endings_are_never_looked_up(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise AssertionError("looked up")

    monkeypatch.setattr(metadata, "entry_points", refuse)
    for name in ("truth.json", "truth.parquet"):
        assert run_here("score", sample / name, sample / name).status == 0
