"""The code in the guides runs, from top to bottom of each page, and prints what they say."""

import ast
import doctest
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from helpers.reference import PROJECT

GUIDES = ["experiment_trackers", "extending", "formats", "yolo"]


def lacking(code: str) -> list[str]:
    """The modules that code imports and that are not installed."""
    nodes = [*ast.walk(ast.parse(code))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return [name for name in sorted(names) if find_spec(name.partition(".")[0]) is None]


def run_example(text: str, page: str, names: dict[str, Any]) -> None:
    """An example with prompts; what it prints has to be what the page says."""
    example = doctest.DocTestParser().get_doctest(text, names, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("page", GUIDES)
def test_the_code_of_a_guide_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of a tracker that is not installed is left out; nothing on a page needs what it makes."""
    blocks = re.findall(r"```python\n(.*?)```", (PROJECT / "docs" / f"{page}.md").read_text(), re.DOTALL)
    assert blocks
    (tmp_path / "data").symlink_to(PROJECT / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs_of_mlflow").as_uri())
    names: dict[str, Any] = {"__name__": page}
    for block in blocks:
        if block.startswith(">>>"):
            run_example(block, page, names)
        elif not lacking(block):
            exec(compile(block, page, "exec"), names)
