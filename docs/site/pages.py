"""Puts the pages of the site together: those of docs/, the notebooks, what lies beside them, and the reference.

Pages keep the links that they have as files of the project. Here they are turned to where the pages are on the site.
"""

import json
import os
import re
import shutil
from pathlib import Path

import reference

# Pages that lie outside of docs/, and where they are on the site. The site's first page says what the README says.
OUTSIDE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}

ICON = "spotgeo_frames/presentation/page/html/assets/icon.svg"

# Words by which the search finds a place of a page that says the same in others: <!-- index: heatmap, hot spots -->
INDEX = re.compile(r"^<!-- index: (.*) -->$", re.MULTILINE)

# The words that an entry of the glossary explains: **false positive (FP)**, false alarm: ...
ENTRY = re.compile(r"(?<=\n\n)(\*\*[^:\n]*):")

LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)(#[^)\s]*)?\)")


def put_together(project: Path, source: Path) -> None:
    """Writes all that Sphinx needs into a new folder."""
    left_out = shutil.ignore_patterns("site", "__pycache__")
    shutil.copytree(project / "docs", source, ignore=left_out)
    (source / "data").symlink_to(project / "data")
    shutil.copy(project / ICON, source / "_static")
    for path in sorted((project / "docs").rglob("*.md")):
        write_page(path, source / path.relative_to(project / "docs"), project, source)
    for name, place in OUTSIDE.items():
        write_page(project / name, source / place, project, source)
    (source / "notebooks").mkdir()
    for path in sorted((project / "notebooks").glob("*.ipynb")):
        write_notebook(path, source / "notebooks" / path.name, project, source)
    reference.write_pages(source)


def write_page(path: Path, target: Path, project: Path, source: Path) -> None:
    text = path.read_text()
    if path.name == "glossary.md":
        text = ENTRY.sub(lambda entry: f"<!-- index: {', '.join(explained(entry[1]))} -->\n\n{entry[0]}", text)
    target.write_text(with_links(with_index(text), path, target, project, source))


def with_index(text: str) -> str:
    """The text of a page whose words for the search are entries of the index, which the search lists first."""
    return INDEX.sub(lambda found: f"```{{index}} {', '.join(f'! {word}' for word in found[1].split(', '))}\n```", text)


def explained(head: str) -> list[str]:
    """The words of the head of an entry: those in bold, their abbreviations, and what else they are called."""
    words = (word.strip() for word in re.split(r",| \(", head.replace("*", "")))
    return [word if "(" in word else word.rstrip(")") for word in words]  # those of HOTA(0) belong to its name


def write_notebook(path: Path, target: Path, project: Path, source: Path) -> None:
    """Writes a notebook without its outputs, which are those of the day it was kept."""
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cell["source"] = with_links(text, path, target, project, source)
        else:
            cell["outputs"], cell["execution_count"] = [], None
    target.write_text(json.dumps(notebook))


def with_links(text: str, path: Path, target: Path, project: Path, source: Path) -> str:
    """The text of a page, its links turned to the pages of the site; those to other files become downloads."""

    def turned(link: re.Match[str]) -> str:
        goal = (path.parent / link[1]).resolve()
        name = goal.relative_to(project).as_posix() if goal.is_relative_to(project) else ""
        if name == "README.md":
            return f"]({os.path.relpath(source / 'index.md', target.parent)})"
        if name in OUTSIDE:
            place = source / OUTSIDE[name]
        elif name.startswith("docs/"):
            place = source / name.removeprefix("docs/")
        elif name.startswith("notebooks/"):
            place = source / name
        else:
            place = goal
        return f"]({os.path.relpath(place, target.parent)}{link[2] or ''})"

    return LINK.sub(turned, text)
