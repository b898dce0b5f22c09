"""The samples are what their scripts make."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from helpers.reference import PROJECT


def run_script(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location(name, PROJECT / "data" / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "FOLDER", folder)
    script.main()


@pytest.mark.parametrize("name", ["sample", "sky", "boxes", "coco"])
def test_the_scripts_make_the_tables(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_script(f"make_{name}", tmp_path, monkeypatch)
    sample = request.getfixturevalue(name)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in sample.iterdir())
    for path in tmp_path.iterdir():
        if path.suffix == ".json":
            assert path.read_text() == (sample / path.name).read_text()
        else:
            pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(sample / path.name))


@pytest.mark.parametrize("name", ["tracks", "poses"])
def test_the_scripts_make_the_folders(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_script(f"make_{name}", tmp_path, monkeypatch)
    sample = request.getfixturevalue(name)
    made, kept = ({path.relative_to(folder) for path in folder.rglob("*.*")} for folder in (tmp_path, sample))
    assert made == kept
    for path in made:
        assert (tmp_path / path).read_text() == (sample / path).read_text()
