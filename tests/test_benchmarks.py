"""Benchmarks are run by hand. These tests check that each still finds what it imports of the package."""

import runpy
from pathlib import Path

import pytest

from helpers.reference import PROJECT

BENCHMARKS = sorted((PROJECT / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_finds_what_it_imports(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(path.parent)  # a benchmark may use another
    try:
        runpy.run_path(str(path), run_name="imported")
    except ModuleNotFoundError as error:
        if str(error.name).startswith("spotgeo_frames"):
            raise
        pytest.skip(f"the rival {error.name} is not installed")
