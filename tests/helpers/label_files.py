"""Folders of label files."""

from pathlib import Path


def folder_of(path: Path, **files: str) -> Path:
    """A folder at `path` with a .txt of each name that holds its text."""
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / f"{name}.txt").write_text(text)
    return path
