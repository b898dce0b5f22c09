"""What README.md and the pages of the docs show runs, gives the answers that they print, and does so for all tables."""

import ast
import importlib.util
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from helpers.kinds import CLASSES, Plain, plain, read_as, run, tables_of
from helpers.reference import PROJECT
from spotgeo_frames.support.packages import EXTRAS

SPEC = importlib.util.spec_from_file_location("answers", PROJECT / "docs" / "answers.py")
answers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answers)

PAGES = {page.stem: page for page in answers.PAGES}

# What users of another kind write instead of the lines that are of pandas, or that need a table's notes.
INSTEAD: dict[str, dict[str, dict[str, str]]] = {
    "README": {"polars": {}, "pyarrow": {}},
    "score_points": {
        "polars": {
            "import pandas as pd": "import polars as pl",
            'by=pd.cut(matches["truth_x"], 4)': 'by=(pl.col("truth_x") / 160).floor()',
        },
        "pyarrow": {
            "import pandas as pd": "import pyarrow.compute as pc",
            'by=pd.cut(matches["truth_x"], 4)': 'by=pc.floor(pc.divide(matches["truth_x"], 160.0))',
        },
    },
    "boxes_and_poses": {
        "polars": {
            'poses.summary[poses.summary["sequence"].isna() & poses.summary["joint"].isna()]': (
                "poses.summary[-1:]"  # the total is the last row
            ),
        },
        "pyarrow": {
            'poses.summary[poses.summary["sequence"].isna() & poses.summary["joint"].isna()]': (
                "poses.summary[len(poses.summary) - 1 :]"
            ),
        },
    },
    "tracks": {
        "polars": {
            "import pandas as pd": "import polars as pl",
            'visibility = pd.cut(result.matches["truth_visibility"], 4)': 'visibility = pl.col("truth_visibility")',
            'pd.crosstab(visibility, result.matches["event"])': (
                'result.matches.group_by(visibility).agg(pl.col("event").value_counts())'
            ),
            'pairs[pairs["aggregate"] == "combined"]': 'pairs.filter(pl.col("aggregate") == "combined")',
        },
        "pyarrow": {
            "import pandas as pd": "import pyarrow.compute as pc",
            'visibility = pd.cut(result.matches["truth_visibility"], 4)': 'visibility = "truth_visibility"',
            'pd.crosstab(visibility, result.matches["event"])': (
                'result.matches.group_by([visibility, "event"]).aggregate([([], "count_all")])'
            ),
            'pairs[pairs["aggregate"] == "combined"]': 'pairs.filter(pc.field("aggregate") == "combined")',
        },
    },
    "is_b_better": {"polars": {}, "pyarrow": {}},
    "what_did_my_model_break": {
        "polars": {
            "sf.changes(v1, v2)": 'sf.changes(v1, v2, similarity="iou", threshold=0.5)',
            "import pandas as pd": "",
            'pd.crosstab(changes["category"], changes["change"])': ('changes.group_by(["category", "change"]).len()'),
            "sf.diagnose(v2)": 'sf.diagnose(v2, similarity="iou", threshold=0.5)',
        },
        "pyarrow": {
            "import pandas as pd": "",
            'pd.crosstab(changes["category"], changes["change"])': (
                'changes.group_by(["category", "change"]).aggregate([([], "count_all")])'
            ),
        },
    },
    "where_does_identity_break": {
        "polars": {
            'breaks[breaks["break"] == "switch"]': 'breaks.filter(breaks["break"] == "switch")',
            "sf.error_costs(result)": 'sf.error_costs(result, similarity="iou")',
            'objects.sort_values(["n_switches", "longest_gap"], ascending=False).head(4)[columns]': "",
        },
        "pyarrow": {
            'breaks[breaks["break"] == "switch"]': (
                'breaks.filter(__import__("pyarrow.compute").compute.equal(breaks["break"], "switch"))'
            ),
            'objects.sort_values(["n_switches", "longest_gap"], ascending=False).head(4)[columns]': "",
        },
    },
    "own_metric": {"polars": {}, "pyarrow": {}},
    "notebooks": {
        "polars": {
            'matches.merge(widget.tags, how="left")': (
                'matches.join(widget.tags, on=widget.tags.columns[:-1], how="left", nulls_equal=True)'
            ),
            "sf.error_costs(sf.diagnose(matches))": "sf.error_costs(sf.diagnose(matches, tau=10))",
            "sf.error_costs(sf.diagnose(x))": "sf.error_costs(sf.diagnose(x, tau=10))",
            "sf.charts.residuals(matches)": "sf.charts.residuals(matches, tau=10)",
        },
        "pyarrow": {
            'matches.merge(widget.tags, how="left")': "matches.join(widget.tags, widget.tags.column_names[:-1])",
        },
    },
}


def whole_tables(code: str) -> str:
    """The code with every last line that shows a part of a table (`[[...]]`, `.T`, `.head()`) showing all of it."""
    tree = ast.parse(code)
    for statement in tree.body:
        while isinstance(statement, ast.Expr) and (table := _shown(statement.value)) is not None:
            statement.value = table
    return ast.unparse(tree)


def _shown(value: ast.expr) -> ast.expr | None:
    match value:
        case ast.Subscript(value=table, slice=ast.List()) | ast.Attribute(value=table, attr="T"):
            return table
        case ast.Call(func=ast.Attribute(value=table, attr="head")):
            return table
    return None


@pytest.fixture
def at_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").symlink_to(PROJECT / "data")
    monkeypatch.chdir(tmp_path)
    # Where MLflow is installed, its runs stay in the test's folder.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs_of_mlflow").as_uri())
    # The command runs as the tests' package, wherever the tests are.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]))
    return tmp_path


@pytest.mark.parametrize("page", list(PAGES))
def test_the_answers_on_a_page_are_those_of_its_code(page: str, at_the_data: Path) -> None:
    text = PAGES[page].read_text("utf-8")
    # Versions of pandas lay tables out a little differently, so spaces do not count.
    assert answers.with_answers(text).split() == text.split(), "python docs/answers.py mends it"
    plt.close("all")


def test_blocks_that_need_what_is_missing_are_left_out(at_the_data: Path) -> None:
    """So are those that use what such a block defines, until another block defines it."""
    blocks = ["import no_such_package\nvalue = 1", "value + 1", "value = 5", "value + 1"]
    page = "\n\n".join(f"```python\n{code}\n```\n\n```text\n```" for code in blocks)
    expected = page.removesuffix("```text\n```") + "```text\n6\n```"
    assert answers.with_answers(page) == expected


@lru_cache(maxsize=1)  # one kind comes right after the other
def with_pandas(page: str) -> dict[str, list[Plain]]:
    """The tables that each statement of a page gives as it is written."""
    values = run(whole_tables("\n".join(answers.code_of(PAGES[page]))), {})
    return {statement: [plain(table) for table in tables_of(value)] for statement, value in values.items()}


@pytest.mark.filterwarnings("ignore:detection_limit:UserWarning")
@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
@pytest.mark.parametrize("page", list(INSTEAD))
def test_a_page_gives_the_same_numbers_with_each_kind(
    page: str, kind: str, at_the_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "\n".join(answers.code_of(PAGES[page]))
    expected = with_pandas(page)
    for line, instead in INSTEAD[page][kind].items():
        assert line in code
        code = code.replace(line, instead)
    read_as(kind, monkeypatch)
    values = run(whole_tables(code), names := {})
    compared = 0
    for statement in values.keys() & expected.keys():
        for got, wanted in zip(tables_of(values[statement]), expected[statement], strict=True):
            assert isinstance(got, CLASSES[kind]) or "dataset" in statement
            assert plain(got) == wanted, statement
            compared += 1
    assert compared > 0
    tables = {name: value for name, value in names.items() if not name.startswith("_")}
    assert not any(isinstance(table, pd.DataFrame) for value in tables.values() for table in tables_of(value))
    plt.close("all")


def test_the_code_of_every_page_runs() -> None:
    # tests/scale/test_training_loops.py, tests/scale/test_engines.py, tests/test_worked_changes.py
    elsewhere = {"training_loops", "scale", "worked_changes"}
    shown = {page.stem for page in (PROJECT / "docs").rglob("*.md") if "```python\n" in page.read_text("utf-8")}
    assert shown <= {*PAGES} | elsewhere


def test_the_readme_needs_no_extra(at_the_data: Path) -> None:
    hidden = ["polars", *(module for modules in EXTRAS.values() for module in modules)]
    code = "\n".join([f"import sys; sys.modules.update(dict.fromkeys({hidden}))", *answers.code_of(PAGES["README"])])
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_first_page_shows_eight_lines_that_warn_of_nothing() -> None:
    code = "\n".join(answers.code_of(PAGES["index"]))
    assert len(code.splitlines()) == 8
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=PROJECT, check=True)


def test_the_readme_stays_short() -> None:
    assert len(PAGES["README"].read_text("utf-8").splitlines()) < 150


def test_pictures_are_small_and_used() -> None:
    pages = "".join(page.read_text("utf-8") for page in [PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")])
    for picture in (PROJECT / "docs" / "pictures").glob("*.png"):
        assert picture.stat().st_size < 100_000
        assert f"pictures/{picture.name})" in pages
