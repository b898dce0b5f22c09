"""The sample is what its script makes."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest
from conftest import PROJECT


def test_the_script_makes_the_sample(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_sample", PROJECT / "data" / "make_sample.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    script.main()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in sample.iterdir())
    for path in tmp_path.iterdir():
        if path.suffix == ".json":
            assert path.read_text() == (sample / path.name).read_text()
        else:
            pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(sample / path.name))
