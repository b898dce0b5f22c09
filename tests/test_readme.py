"""What the README shows runs, from top to bottom."""

import re
from pathlib import Path
from typing import Any

import pytest

from helpers.reference import PROJECT


def test_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").symlink_to(PROJECT / "data")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert len(blocks) >= 3
    assert (tmp_path / "matches.parquet").exists()
    assert names["result"].summary["IDSW"].iloc[-1] > 0
