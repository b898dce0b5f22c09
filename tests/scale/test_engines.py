"""The recipes of docs/scale.md run as they are written, where their engine is installed, and give the exact totals."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT

SAMPLE = PROJECT / "data" / "sample"

# Each engine, the module that it takes, and a command that it takes besides.
ENGINES = {
    "DuckDB": ("duckdb", None),
    "Spark": ("pyspark", "java"),
    "Ray": ("ray.data", None),
    "Dask": ("dask.dataframe", None),
}


def recipes() -> dict[str, str]:
    """The code of each engine, by its heading; that of the section itself comes before the first."""
    _, section = (PROJECT / "docs" / "scale.md").read_text().split("\n## Other engines\n")
    parts = re.split(r"^### (.*)\n", section, flags=re.MULTILINE)
    code = ["\n".join(re.findall(r"```python\n(.*?)```", part, re.DOTALL)) for part in parts[::2]]
    return dict(zip(["", *parts[1::2]], code, strict=True))


RECIPES = recipes()


def test_every_recipe_is_run() -> None:
    assert {*RECIPES} == {"", *ENGINES}


def skip_without(module: str, program: str | None) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        pytest.skip(f"{module} cannot be imported: {error}")
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{module} needs {program}, which is not installed")


@pytest.mark.parametrize("engine", ENGINES)
def test_recipes_give_the_exact_totals(engine: str, tmp_path: Path) -> None:
    """In a process of its own, since engines start others and stay."""
    skip_without(*ENGINES[engine])
    for name, file in (("truth", "truth"), ("predictions", "eager")):
        shutil.copy(SAMPLE / f"{file}.parquet", tmp_path / f"{name}.parquet")
    code = f"{RECIPES['']}\n{RECIPES[engine]}\ntotal.to_pickle('total.pickle')\n"
    (tmp_path / "recipe.py").write_text(code)
    quiet = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "RAY_USAGE_STATS_ENABLED": "0"}
    known = {**os.environ, "PYTHONPATH": str(PROJECT), **quiet}
    ran = subprocess.run([sys.executable, "recipe.py"], cwd=tmp_path, env=known, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    sides = (sf.read_objects(SAMPLE / f"{name}.parquet").objects for name in ("truth", "eager"))
    expected = sf.summarize(sf.match(*(side.sort_values(["sequence", "frame", "object"]) for side in sides)))
    total = pd.read_pickle(tmp_path / "total.pickle")
    pd.testing.assert_frame_equal(total, expected, check_exact=True)
    assert total.attrs == expected.attrs  # the rule came through the engine
