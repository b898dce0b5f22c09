"""The pages in docs: the tests and names that they mention are there, and no public name is missing."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT
from spotgeo_frames.cli.commands import COMMANDS
from spotgeo_frames.cli.usage import command_parser

DOCS = PROJECT / "docs"
ROOMS = ["tables", "geometries", "formats", "matching", "scoring", "tracking", "analysis", "presentation", "scale"]
ROOMS += ["support"]

# What no room exports, and where a reader looks for it.
OF_THE_PACKAGE = {"plots": "presentation", "charts": "presentation", "__version__": "support"}


def rows(text: str) -> list[list[str]]:
    """The cells of the rows of all tables of a page, without their heads."""
    lines = re.sub(r"\|[^\n]*\n\| ---[^\n]*", "", text).splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("|")]


def sections(page: str) -> dict[str, str]:
    """What a page says under each heading of the second level."""
    parts = re.split(r"^## ", (DOCS / page).read_text(), flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part for part in parts}


def groups(page: str) -> dict[str, dict[str, str]]:
    """By heading, the first cell of each row, without its backticks, and the last one."""
    return {head: {row[0].strip("`"): row[-1] for row in rows(part)} for head, part in sections(page).items()}


def room_of(name: str) -> str:
    """The room from which the package takes a public name."""
    first = name.partition(".")[0]
    return OF_THE_PACKAGE.get(first) or OF_ROOM[first]


def of_name(name: str) -> Any:
    """What a public name, such as match or plots.forest, stands for."""
    module, _, inner = name.rpartition(".")
    return getattr(getattr(sf, module) if module else sf, inner)


def deprecated(name: str) -> list[Any]:
    """The deprecated arguments of a public name."""
    return getattr(of_name(name), "deprecated_arguments", []) if callable(of_name(name)) else []


STUB = ast.parse(Path(sf.__file__).with_name("__init__.pyi").read_text())
OF_ROOM = {alias.name: str(node.module) for node in STUB.body for alias in node.names}
PUBLIC = {*dir(sf)} | {f"{module}.{name}" for module in ("plots", "charts") for name in dir(getattr(sf, module))}
REFERENCE = groups("reference.md")
QUIRKS = rows((DOCS / "quirks.md").read_text())
SIGNATURES = [entry for room in ROOMS for entry in REFERENCE[room] if "(" in entry]
STABILITY = {entry.partition("(")[0]: says for room in ROOMS for entry, says in REFERENCE[room].items()}
EXPERIMENTAL = sections("stability.md")["What is experimental"]


def test_the_reference_is_in_the_order_of_the_rooms() -> None:
    assert list(REFERENCE) == [*ROOMS, "The command line"]


def test_every_public_name_is_in_the_reference_and_nothing_else() -> None:
    listed = sorted((room, entry.partition("(")[0]) for room in ROOMS for entry in REFERENCE[room])
    assert listed == sorted((room_of(name), name) for name in PUBLIC)


@pytest.mark.parametrize("entry", SIGNATURES)
def test_arguments_in_the_reference_are_those_of_the_code(entry: str) -> None:
    name, _, arguments = entry.rstrip(")").partition("(")
    named = [argument for argument in arguments.split(", ") if argument not in ("*", "...")]
    known = list(inspect.signature(of_name(name)).parameters)
    assert [argument for argument in known if argument in named] == named


def test_experimental_names_are_those_that_the_page_of_stability_lists() -> None:
    assert {name for name, says in STABILITY.items() if says == "experimental"} == {
        *re.findall(r"`(\w+)\(\)`", EXPERIMENTAL)
    }


def test_the_page_of_stability_lists_what_is_deprecated() -> None:
    listed = [[cell.strip("`") for cell in row] for row in rows(sections("stability.md")["What is deprecated"])]
    assert listed == [[name, *one] for name in sorted(STABILITY) for one in deprecated(name)]


def test_every_other_name_is_stable_except_for_arguments_that_are_experimental_or_deprecated() -> None:
    arguments = re.findall(r"`(\w+)=`", EXPERIMENTAL)
    expected = {}
    for name, says in STABILITY.items():
        known = inspect.signature(of_name(name)).parameters if inspect.isfunction(of_name(name)) else ()
        marks = [f"`{argument}` experimental" for argument in arguments if argument in known]
        marks += [f"`{one.old}` deprecated since {one.since} until {one.until}" for one in deprecated(name)]
        expected[name] = says if says == "experimental" else "; ".join(["stable", *marks])
    assert expected == STABILITY


def test_every_command_is_stable_except_for_options_that_are_experimental() -> None:
    options = re.findall(r"`(--\w+)`", EXPERIMENTAL)
    expected = {}
    for name, command in COMMANDS.items():
        text = command_parser(name, command).format_help()
        expected[name] = "; ".join(["stable", *(f"`{option}` experimental" for option in options if option in text)])
    assert REFERENCE["The command line"] == expected


def test_every_command_is_in_the_reference() -> None:
    assert set(REFERENCE["The command line"]) == set(COMMANDS)


def test_every_quirk_names_tests_that_there_are() -> None:
    assert len(QUIRKS) > 50
    functions: dict[str, list[str]] = {}
    for row in QUIRKS:
        assert len(row) == 4, row
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", row[-1])
        assert named, row
        for file, test in named:
            if file not in functions:
                functions[file] = re.findall(r"^def (\w+)", (PROJECT / "tests" / file).read_text(), re.MULTILINE)
            assert test in functions[file], (file, test)


def test_entries_of_the_glossary_are_there_once() -> None:
    heads = re.findall(r"^(\*\*.*?):", (DOCS / "glossary.md").read_text(), flags=re.MULTILINE)
    words = [word for head in heads for word in re.findall(r"\*\*(.*?)\*\*", head)]
    assert sorted(words) == sorted(set(words))


@pytest.mark.parametrize(
    "page",
    sorted(path.relative_to(PROJECT).as_posix() for path in (*PROJECT.glob("*.md"), *DOCS.rglob("*.md"))),
)
def test_links_to_files_lead_somewhere(page: str) -> None:
    path = PROJECT / page
    links = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []
