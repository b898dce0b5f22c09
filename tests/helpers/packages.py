"""Installed packages that add something: a module and the metadata of its distribution, in a folder on sys.path."""

import importlib
import sys
from pathlib import Path

import pytest


def installed(folder: Path, package: str, code: str, group: str, points: dict[str, str]) -> None:
    """Writes a distribution with one module, called as the package with `_` for `-`, and its entry points."""
    module = package.replace("-", "_")
    (folder / f"{module}.py").write_text(code)
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {module}:{value}\n" for name, value in points.items())
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{lines}")


def use_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the folder on sys.path until the test ends; modules imported from it are forgotten then."""
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    for path in folder.glob("*.py"):
        monkeypatch.delitem(sys.modules, path.stem, raising=False)
