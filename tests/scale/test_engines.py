"""The recipes of docs/scale.md run as they are written, where their engine is installed, and give the exact totals."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
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


def recipes(heading: str) -> dict[str, str]:
    """The code of each engine, by its heading; that of the section itself comes before the first."""
    _, section = (PROJECT / "docs" / "scale.md").read_text().split(f"\n## {heading}\n")
    parts = re.split(r"^### (.*)\n", section.split("\n## ")[0], flags=re.MULTILINE)
    code = ["\n".join(re.findall(r"```python\n(.*?)```", part, re.DOTALL)) for part in parts[::2]]
    return dict(zip(["", *parts[1::2]], code, strict=True))


RECIPES = recipes("Other engines")
WAREHOUSES = recipes("Points where the data lie")


def test_every_recipe_is_run() -> None:
    assert {*RECIPES} == {"", *ENGINES}
    assert {*WAREHOUSES} == {"", "In DuckDB's SQL", "In polars"}


def skip_without(module: str, program: str | None) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        pytest.skip(f"{module} cannot be imported: {error}")
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{module} needs {program}, which is not installed")


def assert_exact_totals(code: str, folder: Path) -> None:
    """Runs code in a process of its own, since engines start others and stay, and checks its `total` of the sample."""
    for name, file in (("truth", "truth"), ("predictions", "eager")):
        shutil.copy(SAMPLE / f"{file}.parquet", folder / f"{name}.parquet")
    quiet = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "RAY_USAGE_STATS_ENABLED": "0"}
    known = {**os.environ, "PYTHONPATH": str(PROJECT), **quiet}
    # No file: a process that an engine starts would run that again.
    command = [sys.executable, "-c", f"{code}\ntotal.to_pickle('total.pickle')\n"]
    ran = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    sides = (sf.read_objects(SAMPLE / f"{name}.parquet").objects for name in ("truth", "eager"))
    expected = sf.summarize(sf.match(*(side.sort_values(["sequence", "frame", "object"]) for side in sides)))
    total = pd.read_pickle(folder / "total.pickle")
    pd.testing.assert_frame_equal(total, expected, check_exact=True)
    assert total.attrs == expected.attrs  # the rule came through the engine


@pytest.mark.parametrize("engine", ENGINES)
def test_recipes_give_the_exact_totals(engine: str, tmp_path: Path) -> None:
    skip_without(*ENGINES[engine])
    assert_exact_totals(f"{RECIPES['']}\n{RECIPES[engine]}", tmp_path)


# What makes each engine work in two processes of this machine; without it, Dask works in threads, and Spark gives up at
# the first task that fails.
CLUSTERS = {
    "Spark": "os.environ['PYSPARK_SUBMIT_ARGS'] = '--master local[2,4] pyspark-shell'",
    "Ray": "import ray; ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)",
    "Dask": "import distributed as d; client = d.Client(n_workers=2, threads_per_worker=1, dashboard_address=':0')",
}

# The first worker that has evaluated a bucket dies before anybody has its sums.
DEADLY = """
import os, signal
unharmed, driver, marker = evaluate, os.getpid(), os.path.abspath("died")

def evaluate(truth, predictions):
    sums = unharmed(truth, predictions)
    if os.getpid() != driver and len(sums):
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return sums
        os.kill(os.getpid(), signal.SIGKILL)
    return sums
"""


@pytest.mark.parametrize("engine", CLUSTERS)
def test_a_worker_of_an_engine_is_killed(engine: str, tmp_path: Path) -> None:
    """Its bucket is evaluated again elsewhere, and nothing is lost or counts twice."""
    skip_without(*ENGINES[engine])
    if engine == "Dask":
        skip_without("distributed", None)
    assert_exact_totals("\n".join([RECIPES[""], DEADLY, CLUSTERS[engine], RECIPES[engine]]), tmp_path)
    assert (tmp_path / "died").exists()


def points(seed: int, spread: float, *, text: bool, whole: bool) -> list[pd.DataFrame]:
    """Both sides of random points, of categories; `whole` ones are often exactly tau or epsilon apart."""
    random, sides = np.random.default_rng(seed), []
    for n_rows in (150, 130):
        side = pd.DataFrame({"sequence": random.integers(0, 6, n_rows), "frame": random.integers(1, 5, n_rows)})
        side["object"] = side.groupby(["sequence", "frame"]).cumcount()
        xy = random.uniform(0, spread, (2, n_rows))
        side["x"], side["y"] = np.round(xy) if whole else xy
        side["category"] = random.choice(["star", "plane"], n_rows)
        sides.append(side.assign(sequence="night " + side["sequence"].astype(str)) if text else side)
    return sides


WAREHOUSE = pytest.mark.parametrize(
    ("heading", "module"), [("In DuckDB's SQL", "duckdb"), ("In polars", "polars")], ids=["DuckDB", "polars"]
)


def in_a_warehouse(heading: str, truth: pd.DataFrame, predictions: pd.DataFrame, *, by_category: bool = False) -> dict:
    """What the recipe defines, run on tables in the working folder."""
    truth.to_parquet("truth.parquet")
    predictions.to_parquet("predictions.parquet")
    code = WAREHOUSES[heading]
    if by_category:
        assert 'keys = ["sequence", "frame"]' in code
        code = code.replace('keys = ["sequence", "frame"]', 'keys = ["sequence", "frame", "category"]')
    defined: dict = {}
    exec("\n".join([RECIPES[""], WAREHOUSES[""], code]), defined)
    return defined


@WAREHOUSE
def test_points_where_the_data_lie(heading: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts are equal, and errors but for rounding, with and without conflicts, at exactly tau, and by category."""
    skip_without(module, None)
    monkeypatch.chdir(tmp_path)
    for seed in range(12):
        sides = points(seed, (30, 150, 2000)[seed % 3], text=seed % 4 == 0, whole=seed % 2 == 0)
        by_category = seed % 5 == 0
        if not by_category:
            sides = [side.drop(columns="category") for side in sides]
        found = in_a_warehouse(heading, *sides, by_category=by_category)
        expected = sf.summarize(sf.match(*sides))
        counts = ["tp", "fn", "fp", "n_sequences", "n_frames"]
        pd.testing.assert_frame_equal(found["total"][counts], expected[counts], check_exact=True)
        pd.testing.assert_frame_equal(found["total"], expected, rtol=1e-12, atol=0)
        assert found["total"].attrs == expected.attrs
        n_settled = found["settled"]["n_frames"].sum()
        assert n_settled > 0
        if seed % 3 != 1:  # where points lie close together some frames have a conflict, and far apart none
            assert (n_settled < expected["n_frames"].iloc[0]) == (seed % 3 == 0)


# What the comments of the recipes say of a table of frames.
WITH_FRAMES = {
    "In DuckDB's SQL": (
        """ FROM 'predictions.parquet'
""",
        """ FROM 'predictions.parquet'
UNION ALL BY NAME SELECT sequence, frame FROM 'frames.parquet'
""",
    ),
    "In polars": (
        "# With a table of frames",
        """counts.append(pl.scan_parquet("frames.parquet"))
# With a table of frames""",
    ),
}


@WAREHOUSE
def test_frames_without_rows_count_in_a_warehouse(
    heading: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without(module, None)
    monkeypatch.chdir(tmp_path)
    sides = [side.drop(columns="category") for side in points(2, 150, text=False, whole=False)]
    index = pd.MultiIndex.from_product([range(8), range(1, 7)], names=["sequence", "frame"])
    frames = index.to_frame(index=False)
    frames.to_parquet("frames.parquet")
    line, instead = WITH_FRAMES[heading]
    assert WAREHOUSES[heading].count(line) == 1
    monkeypatch.setitem(WAREHOUSES, heading, WAREHOUSES[heading].replace(line, instead))
    found = in_a_warehouse(heading, *sides)["total"]
    expected = sf.summarize(sf.match(sf.Annotations(sides[0], frames), sides[1]))
    assert found["n_frames"].tolist() == [48]
    pd.testing.assert_frame_equal(found, expected, rtol=1e-12, atol=0)


@WAREHOUSE
@pytest.mark.parametrize(
    ("column", "value", "told"), [("object", 0, "are the same"), ("y", np.inf, "not finite"), ("y", None, "not finite")]
)
def test_wrong_rows_in_a_warehouse_are_told(
    heading: str, module: str, column: str, value: object, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without(module, None)
    monkeypatch.chdir(tmp_path)
    truth, predictions = (side.drop(columns="category") for side in points(1, 2000, text=False, whole=False))
    wrong = predictions.sort_values(["sequence", "frame", "object"], ignore_index=True)
    wrong.loc[1, column] = value  # the second row of a frame, whose first has the object 0
    with pytest.raises(sf.InputError, match=told):
        in_a_warehouse(heading, truth, wrong)
