"""Runs notebooks from top to bottom and keeps the executed copies: python notebooks/execute.py FOLDER [NAME ...]

Without names it runs all. Stops at the first cell that fails. With --inplace for FOLDER the notebooks themselves get
their outputs.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent

# What is drawn anew when a cell runs.
LIVE = ("application/vnd.jupyter.widget-view+json", "application/vnd.vegalite.v5+json")


def main(target: Path, names: list[str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for path in [HERE / name for name in names] or sorted(HERE.glob("*.ipynb")):
        print(f"running {path.name}", flush=True)
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(notebook, timeout=300, record_timing=False, resources={"metadata": {"path": HERE}})
        client.execute()
        notebook.metadata.pop("language_info", None)  # it names the interpreter of the day
        keep_still(notebook)
        nbformat.write(notebook, target / path.name)


def keep_still(notebook: nbformat.NotebookNode) -> None:
    """Leaves the text of widgets in a notebook, which are gone with its kernel, and the pictures of charts."""
    notebook.metadata.pop("widgets", None)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    for output in outputs:
        for kind in LIVE:
            output.get("data", {}).pop(kind, None)


if __name__ == "__main__":
    main(HERE if sys.argv[1] == "--inplace" else Path(sys.argv[1]), sys.argv[2:])
