"""The notebooks run from top to bottom, and say nothing of the machine they ran on."""

import subprocess
import sys
from pathlib import Path

import nbformat

from helpers.reference import PROJECT

NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))


def test_notebooks_run(tmp_path: Path) -> None:
    command = [sys.executable, str(PROJECT / "notebooks" / "execute.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in NOTEBOOKS]


def test_notebooks_are_kept_with_their_outputs() -> None:
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        outputs = [output for cell in cells for output in cell.outputs]
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
        assert not [output for output in outputs if output.output_type in ("stream", "error")]
        assert str(PROJECT) not in path.read_text()
