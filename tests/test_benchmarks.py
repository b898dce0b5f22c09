"""Benchmarks run by hand only, so nothing else finds out that one imports what is no longer there."""

import runpy
from pathlib import Path

import pytest

BENCHMARKS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_finds_what_it_imports(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(path.parent)  # a benchmark may use another
    try:
        runpy.run_path(str(path), run_name="imported")
    except ModuleNotFoundError as error:
        if str(error.name).startswith("spotgeo_frames"):
            raise
        pytest.skip(f"the rival {error.name} is not installed")
