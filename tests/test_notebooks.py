"""The notebooks run from top to bottom, and say nothing of the machine they ran on."""

import runpy
import sys
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import polars as pl
import pytest

from helpers.kinds import plain, read_as, run, tables_of
from helpers.reference import PROJECT

NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))

# The first cells with code of each notebook that hold no code of pandas.
FIRST_CELLS = {"01": [0, 1, 2], "02": [0, 1, 2], "03": [0, 1, 3, 4], "04": [0, 1, 2], "06": [0, 1, 2], "07": [0, 1, 3]}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = str(PROJECT / "notebooks" / "execute.py")
    monkeypatch.setattr(sys, "argv", [script, str(tmp_path), path.name])
    runpy.run_path(script, run_name="__main__")
    assert [copy.name for copy in tmp_path.iterdir()] == [path.name]


def test_notebooks_are_kept_with_their_outputs() -> None:
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        outputs = [output for cell in cells for output in cell.outputs]
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
        assert not [output for output in outputs if output.output_type in ("stream", "error")]
        assert str(PROJECT) not in path.read_text()


def first_cells(number: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the names of the first cells of a notebook, with readers that give tables of `kind`."""
    [path] = [path for path in NOTEBOOKS if path.name.startswith(number)]
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    names: dict[str, Any] = {}
    values: dict[str, Any] = {}
    with monkeypatch.context() as changed:
        changed.chdir(PROJECT / "notebooks")
        changed.setattr(pd, "set_option", lambda *option: None)
        read_as(kind, changed)
        for cell in FIRST_CELLS[number]:
            code = cells[cell].replace("sf.diagnose(matches)", "sf.diagnose(matches, tau=10)")
            values |= run(code, names)
    return values, names


@pytest.mark.parametrize("number", list(FIRST_CELLS))
def test_first_cells_give_the_same_numbers_with_polars(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (expected, known), (got, names) = (first_cells(number, each, monkeypatch) for each in ("pandas", "polars"))
    pairs = [*((got[text], expected[text]) for text in expected), *((names[name], known[name]) for name in known)]
    pairs = [
        (one, other) for got, wanted in pairs for one, other in zip(tables_of(got), tables_of(wanted), strict=True)
    ]
    assert len(pairs) > 2
    for one, other in pairs:
        assert isinstance(one, pl.DataFrame)
        assert plain(one) == plain(other)
