"""What the README shows runs, from top to bottom, and gives the same numbers with each kind of table."""

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from helpers.kinds import CLASSES, plain, read_as, run, tables_of
from helpers.reference import PROJECT

BLOCKS = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL)

PUT_TOGETHER = (
    'costs = pd.concat({name: sf.error_costs(sf.diagnose(x)) for name, x in of_each.items()}, names=["submission"])'
)

# What users of another kind write instead of the lines that are of pandas, or that need a table's notes.
INSTEAD = {
    "polars": {
        "import pandas as pd": "import polars as pl",
        'by=pd.cut(matches["truth_x"], 4)': 'by=(pl.col("truth_x") / 160).floor()',
        'matches.to_parquet("matches.parquet")': 'matches.write_parquet("matches.parquet")',
        "sf.diagnose(matches)": "sf.diagnose(matches, tau=10)",
        "sf.changes(matches, cautious)": "sf.changes(matches, cautious, tau=10)",
        'matches.merge(widget.tags, how="left")': (
            'matches.join(widget.tags, on=widget.tags.columns[:-1], how="left", nulls_equal=True)'
        ),
        "sf.error_costs(result)": 'sf.error_costs(result, similarity="iou")',
        PUT_TOGETHER: (
            "costs = [sf.error_costs(sf.diagnose(x, tau=10)).with_columns(submission=pl.lit(name)) "
            "for name, x in of_each.items()]; costs = pl.concat(costs)"
        ),
        "sf.charts.residuals(matches)": "sf.charts.residuals(matches, tau=10)",
        'visibility = pd.cut(result.matches["truth_visibility"], 4)': 'visibility = pl.col("truth_visibility")',
        'result.matches.groupby(visibility)["event"].value_counts()': (
            'result.matches.group_by(visibility).agg(pl.col("event").value_counts())'
        ),
    },
    "pyarrow": {
        "import pandas as pd": "import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq",
        'by=pd.cut(matches["truth_x"], 4)': 'by=pc.floor(pc.divide(matches["truth_x"], 160.0))',
        'matches.merge(widget.tags, how="left")': "matches.join(widget.tags, widget.tags.column_names[:-1])",
        PUT_TOGETHER: (
            "costs = {name: sf.error_costs(sf.diagnose(x)) for name, x in of_each.items()}; costs = pa.concat_tables("
            "[table.append_column('submission', [[name] * len(table)]) for name, table in costs.items()])"
        ),
        'matches.to_parquet("matches.parquet")': 'pq.write_table(matches, "matches.parquet")',
        'visibility = pd.cut(result.matches["truth_visibility"], 4)': 'visibility = "truth_visibility"',
        'result.matches.groupby(visibility)["event"].value_counts()': (
            'result.matches.group_by([visibility, "event"]).aggregate([([], "count_all")])'
        ),
    },
}


def run_readme(
    blocks: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Runs the blocks in a folder; returns the value of every statement that only gives one, and all names."""
    (folder / "data").symlink_to(PROJECT / "data")
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for block in blocks:
        values |= run(block, names)
    plt.close("all")
    return values, names


@pytest.fixture(scope="module")
def with_pandas(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any], Path]:
    folder = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as monkeypatch:
        return *run_readme(BLOCKS, folder, monkeypatch), folder


def test_python_of_the_readme_runs(with_pandas: tuple[dict[str, Any], dict[str, Any], Path]) -> None:
    _, names, folder = with_pandas
    assert len(BLOCKS) >= 3
    assert (folder / "matches.parquet").exists()
    assert names["result"].summary["IDSW"].iloc[-1] > 0


@pytest.mark.parametrize("kind", list(INSTEAD))
def test_the_readme_gives_the_same_numbers_with_each_kind(
    kind: str, with_pandas: tuple[dict[str, Any], dict[str, Any], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, expected_names, _ = with_pandas
    blocks = [block for block in BLOCKS if "sf.report(" not in block and 'table="polars"' not in block]
    code = "\n#\n".join(blocks)
    for line, instead in INSTEAD[kind].items():
        assert line in code
        code = code.replace(line, instead)
    read_as(kind, monkeypatch)
    values, names = run_readme([code], tmp_path, monkeypatch)
    compared = 0
    for statement in values.keys() & expected.keys():
        for got, wanted in zip(tables_of(values[statement]), tables_of(expected[statement]), strict=True):
            assert isinstance(got, CLASSES[kind]) or "dataset" in statement
            assert plain(got) == plain(wanted), statement
            compared += 1
    assert compared > 15
    assert plain(names["diagnosed"]) == plain(expected_names["diagnosed"])
    assert not any(isinstance(table, pd.DataFrame) for name in names for table in tables_of(names[name]))
