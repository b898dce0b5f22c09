"""The pages in docs: the tests and names that they mention are there, and no public name is missing."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT
from spotgeo_frames.cli.commands import COMMANDS

DOCS = PROJECT / "docs"
ROOMS = ["tables", "geometries", "formats", "matching", "scoring", "tracking", "analysis", "presentation", "scale"]
ROOMS += ["support"]

# What no room exports, and where a reader looks for it.
OF_THE_PACKAGE = {"plots": "presentation", "charts": "presentation", "__version__": "support"}


def rows(text: str) -> list[list[str]]:
    """The cells of the rows of all tables of a page, without their heads."""
    lines = re.sub(r"\|[^\n]*\n\| ---[^\n]*", "", text).splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("|")]


def groups(page: str) -> dict[str, list[str]]:
    """The first cell of each row, without its backticks, by heading."""
    sections = re.split(r"^## ", (DOCS / page).read_text(), flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: [row[0].strip("`") for row in rows(part)] for part in sections}


def room_of(name: str) -> str:
    """The room from which the package takes a public name."""
    return OF_THE_PACKAGE.get(name) or OF_ROOM[name]


STUB = ast.parse(Path(sf.__file__).with_name("__init__.pyi").read_text())
OF_ROOM = {alias.name: str(node.module) for node in STUB.body for alias in node.names}
REFERENCE = groups("reference.md")
QUIRKS = rows((DOCS / "quirks.md").read_text())
SIGNATURES = [entry for room in ROOMS for entry in REFERENCE[room] if "(" in entry]


def test_the_reference_is_in_the_order_of_the_rooms() -> None:
    assert list(REFERENCE) == [*ROOMS, "The command line"]


def test_every_public_name_is_in_the_reference() -> None:
    listed = {(room, entry.partition("(")[0]) for room in ROOMS for entry in REFERENCE[room]}
    assert {(room_of(name), name) for name in sf.__all__} <= listed


@pytest.mark.parametrize("entry", SIGNATURES)
def test_arguments_in_the_reference_are_those_of_the_code(entry: str) -> None:
    name, _, arguments = entry.rstrip(")").partition("(")
    named = [argument for argument in arguments.split(", ") if argument not in ("*", "...")]
    if name in sf.__all__:
        known = list(inspect.signature(getattr(sf, name)).parameters)
        assert [argument for argument in known if argument in named] == named


def test_every_command_is_in_the_reference() -> None:
    assert set(REFERENCE["The command line"]) == set(COMMANDS)


def test_every_quirk_names_tests_that_there_are() -> None:
    assert len(QUIRKS) > 50
    functions = {}
    for row in QUIRKS:
        assert len(row) == 4, row
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", row[-1])
        assert named, row
        for file, test in named:
            tree = functions.setdefault(file, ast.parse((PROJECT / "tests" / file).read_text()))
            assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (file, test)


def test_entries_of_the_glossary_are_there_once() -> None:
    heads = re.findall(r"^(\*\*.*?):", (DOCS / "glossary.md").read_text(), flags=re.MULTILINE)
    words = [word for head in heads for word in re.findall(r"\*\*(.*?)\*\*", head)]
    assert sorted(words) == sorted(set(words))


@pytest.mark.parametrize(
    "page",
    ["README.md", "CONTRIBUTING.md", *sorted(path.relative_to(PROJECT).as_posix() for path in DOCS.rglob("*.md"))],
)
def test_links_to_files_lead_somewhere(page: str) -> None:
    path = PROJECT / page
    links = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []
