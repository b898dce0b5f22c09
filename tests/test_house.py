"""The house: which room may use which, held by reading the imports of every module."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT

PACKAGE = PROJECT / "spotgeo_frames"

# The rooms that each room stands on; it may use these and whatever they stand on themselves.
STANDS_ON = {
    "support": [],
    "tables": ["support"],
    "geometries": ["tables"],
    "matching": ["geometries"],
    "formats": ["matching"],
    "scoring": ["matching"],
    "tracking": ["scoring"],
    "analysis": ["tracking"],
    "presentation": ["analysis"],
    "scale": ["tracking", "formats"],
    "cli": ["presentation", "scale"],
}

# The rooms of a wing, which stand on each other in the same way.
WINGS = {
    "analysis": {
        "certainty": [],
        "errors": ["certainty"],
        "thresholds": ["certainty"],
        "mistakes": ["errors", "thresholds"],
    },
    "presentation": {
        "theme": [],
        "viewer": ["theme"],
        "drawing": ["viewer"],
        "folders": [],
        "page": ["drawing"],
        "explorer": ["drawing"],
    },
}

# The most names that a room's door may list.
LARGEST_DOOR = 50

# What stands at the root, beside the rooms, and whose room it belongs to; the root itself exports what rooms export.
ROOT = {"__init__": None, "__main__": "cli", "charts": "presentation", "plots": "presentation"}


def lines_of_code(text: str) -> int:
    """How many lines are neither blank nor only a comment or a docstring."""
    documented = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    written = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in empty
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(written - documented)


class Use(NamedTuple):
    """One name that a module imports from another of the package; `source` is what the import statement names."""

    module: str
    line: int
    source: str
    imported: str
    name: str


def modules() -> dict[str, Path]:
    """Every module of the package by its name within it, such as matching.rule."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


MODULES = modules()


def below(room: str, stands_on: Mapping[str, list[str]] = STANDS_ON) -> set[str]:
    """The rooms that a room may use: itself, and all below it."""
    return {room}.union(*(below(other, stands_on) for other in stands_on[room]))


def room_of(module: str) -> str | None:
    first = module.partition(".")[0]
    return ROOT.get(first, first)


@cache
def tree_of(module: str) -> ast.Module:
    """What a module consists of, which no test changes."""
    return ast.parse(MODULES[module].read_text())


def uses(module: str) -> Iterator[Use]:
    """What a module imports from the package, also within functions."""
    path = MODULES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    package = [] if module == "__init__" else package
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = package[: len(package) - node.level + 1]
            imported = ".".join([*above, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                whole = f"{imported}.{alias.name}".strip(".")
                yield Use(module, node.lineno, imported, whole if whole in MODULES else imported, alias.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            assert not any(name.partition(".")[0] == "spotgeo_frames" for name in names), f"{path}:{node.lineno}"


@cache  # which a process that runs none of these tests never fills
def every_use() -> list[Use]:
    return [use for module in MODULES for use in uses(module)]


def test_the_rooms_are_those_of_the_design() -> None:
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} == {*STANDS_ON}
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert files == {"__init__.py", "__init__.pyi", "__main__.py", "charts.py", "plots.py", "py.typed"}


def test_every_import_runs_one_way() -> None:
    wrong = [
        use
        for use in every_use()
        if room_of(use.module) is not None and room_of(use.imported) not in below(str(room_of(use.module)))
    ]
    assert wrong == []


@pytest.mark.parametrize("wing", WINGS)
def test_every_import_within_a_wing_runs_one_way(wing: str) -> None:
    rooms = WINGS[wing]
    assert {path.name for path in (PACKAGE / wing).iterdir() if (path / "__init__.py").exists()} == {*rooms}
    within = [
        (use, *(name.split(".")[1] for name in (use.module, use.imported)))
        for use in every_use()
        if all(name.startswith(f"{wing}.") for name in (use.module, use.imported))
    ]
    assert [use for use, user, used in within if used not in below(user, rooms)] == []


def door_of(module: str) -> str:
    """The package through which modules outside enter a module: its room, a room of a wing, or the charts."""
    first, *rest = module.split(".")
    if module.startswith("presentation.drawing.charts"):  # plots and charts have functions of the same names
        return "presentation.drawing.charts"
    return ".".join([first, *rest[:1]]) if first in WINGS else first


def names_of(door: str) -> set[str]:
    """The names that a room's door lists, or the package's own where `door` is empty."""
    stub = ast.parse((PACKAGE / door.replace(".", "/") / "__init__.pyi").read_text())
    return {alias.name for node in ast.walk(stub) if isinstance(node, ast.ImportFrom) for alias in node.names}


@cache
def from_outside() -> list[Use]:
    """The uses of what lies behind another's door."""
    return [
        use
        for use in every_use()
        if use.module != "__init__"
        and use.imported
        and not f"{door_of(use.module)}.".startswith(f"{door_of(use.imported)}.")
    ]


STUBS = [".".join(path.parent.relative_to(PACKAGE).parts) for path in PACKAGE.rglob("__init__.pyi")]
DOORS = sorted({door_of(package) for package in STUBS if package})


def test_every_room_is_entered_by_its_door() -> None:
    assert {door_of(use.imported) for use in from_outside()} - {*ROOT} <= {*DOORS}
    by_door = {(door, name) for door in DOORS for name in names_of(door)}
    whole = {("", room) for room in STANDS_ON} | {("", "plots"), ("", "charts"), ("presentation.drawing", "charts")}
    assert [use for use in from_outside() if (use.source, use.name) not in by_door | whole] == []


@pytest.mark.parametrize("door", DOORS)
def test_doors_stay_narrow(door: str) -> None:
    """A door lists what others take and nothing else; a family of functions stands behind the name of its module."""
    taken = {use.name for use in from_outside() if use.source == door}
    assert names_of(door) - names_of("") <= taken
    assert len(names_of(door)) <= LARGEST_DOOR


def test_no_room_uses_private_names_of_another() -> None:
    assert [use for use in every_use() if use.name.startswith("_") and use.name != "__version__"] == []


def test_no_module_reaches_into_another() -> None:
    """A module that was imported whole is asked for its public names only."""
    wrong = []
    for module in MODULES:
        whole = {use.name for use in every_use() if use.module == module and use.imported.endswith(f".{use.name}")}
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in whole:
                wrong += [(module, node.lineno, node.attr)] if node.attr.startswith("_") else []
    assert wrong == []


def test_no_module_is_called_like_a_public_function() -> None:
    functions = {name for name in sf.__all__ if callable(getattr(sf, name))}
    assert functions & {name.rpartition(".")[2] for name in MODULES} == set()


def test_values_are_added_up_as_floats_where_there_are_none() -> None:
    """Without any value np.bincount returns integers, so no module but that of `added_at` gives it values."""
    wrong = [
        (module, node.lineno)
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("bincount")
        if module != "support.arrays" and (len(node.args) > 1 or any(word.arg == "weights" for word in node.keywords))
    ]
    assert wrong == []


@pytest.mark.parametrize("module", MODULES)
def test_no_module_is_too_long_to_read(module: str) -> None:
    text = MODULES[module].read_text()
    assert len(text.splitlines()) <= 300 or lines_of_code(text) <= 300  # most need no closer look


@pytest.mark.parametrize("room", STANDS_ON)
def test_every_room_says_what_comes_in_what_goes_out_and_who_may_use_it(room: str) -> None:
    contract = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text())) or ""
    assert "In come" in contract
    assert "out come" in contract or "text or JSON" in contract
    assert "use it" in contract or "uses it" in contract


def test_the_room_of_scale_lists_its_modules_from_the_ground_up() -> None:
    """Its docstring has every module once, below all that it uses."""
    contract = ast.get_docstring(ast.parse((PACKAGE / "scale" / "__init__.py").read_text())) or ""
    listed = re.findall(r"^    (?: {18}|\S.{17})(\w+) ", contract, re.MULTILINE)
    position = {f"scale.{name}": place for place, name in enumerate(listed)}
    modules = {module for module in MODULES if module.startswith("scale.")} - {"scale.__init__"}
    assert {*position} == modules
    assert len(listed) == len(modules)
    within = [use for use in every_use() if use.module in modules and use.imported in modules]
    assert [use for use in within if position[use.imported] >= position[use.module]] == []


def test_the_tree_in_the_design_is_the_tree_on_disk() -> None:
    text = (PROJECT / "docs" / "design.md").read_text()
    lines = text.partition("    spotgeo_frames/\n")[2].partition("\n\n")[0].splitlines()
    folders: list[str] = []
    drawn = set()
    for line in lines:
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip()) - 6) // 2
        folders = folders[:depth]
        if name.endswith("/"):
            folders.append(name.rstrip("/"))
        else:
            drawn.add("/".join([*folders, name]))
    on_disk = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}
    assert drawn == on_disk
