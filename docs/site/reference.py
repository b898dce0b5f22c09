"""Writes the reference: a page for each room and each public name, from docs/reference.md and the docstrings.

The tables of docs/reference.md say which names there are, and in which order. What a page says of a name is its
docstring, whose sections become headings.
"""

import inspect
import os
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import docstrings

import spotgeo_frames as sf
from spotgeo_frames.cli.commands import COMMANDS
from spotgeo_frames.cli.usage import command_parser

ROW = re.compile(r"^\| `([\w.]+)(.*?)` \| (.*) \|$", re.MULTILINE)
MODULES = ("plots", "charts")


def write_pages(source: Path) -> None:
    """Writes the pages of the reference beside the copy of docs/reference.md, in which each name becomes a link."""
    (source / "reference" / "classes").mkdir(parents=True)
    text = (source / "reference.md").read_text()
    head, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    rooms = [section.partition("\n")[0].removeprefix("## ") for section in sections]
    *rooms, _ = rooms
    for room, section in zip(rooms, sections, strict=False):
        write_room(source, room, section)
    for name in MODULES:
        write_module(source, name)
    write_commands(source)
    listed = toctree([f"reference/{room}" for room in rooms] + ["reference/commands"], "maxdepth: 1")
    (source / "reference.md").write_text(with_links("\n".join([head, listed, *sections]), "reference/"))


def place_of(name: str) -> str:
    """Where the page of a public name is. Of names that differ in case only, one is a class and the other is not."""
    return f"classes/{name}" if inspect.isclass(getattr(sf, name, None)) else name


def with_links(section: str, folder: str) -> str:
    """A section of docs/reference.md whose tables link to the pages of their names."""

    def linked(row: re.Match[str]) -> str:
        name, arguments, does = row.groups()
        place = "commands" if name in COMMANDS and not arguments and name not in MODULES else place_of(name)
        anchor = f"#{name}" if place == "commands" else ""
        return row[0] if name == "__version__" else f"| [`{name}{arguments}`]({folder}{place}.md{anchor}) | {does} |"

    return ROW.sub(linked, section)


def toctree(places: list[str], option: str = "hidden:") -> str:
    return "\n".join(["```{toctree}", f":{option}", "", *places, "```", ""])


def write_room(source: Path, room: str, section: str) -> None:
    """A page for a room: what it does, its names by topic, and a page for each; `write_module` writes plots.NAME."""
    _, _, body = section.partition("\n")
    body = re.sub(r"\]\((?=[\w/]+\.md)", "](../", body)  # the page is a folder deeper than docs/reference.md
    names = [row[1] for row in ROW.finditer(section) if row[1] != "__version__" and "." not in row[1]]
    says = docstrings.as_markdown(inspect.getdoc(import_module(f"{sf.__name__}.{room}")) or "", "")
    listed = toctree([place_of(name) for name in names])
    text = f"# {room}\n\n{says}\n{with_links(body, '').replace('### ', '## ')}\n{listed}"
    (source / "reference" / f"{room}.md").write_text(text)
    for name in names:
        if name not in MODULES:
            write_name(source, name, getattr(sf, name))


def write_module(source: Path, name: str) -> None:
    """A page for the module of plots or charts, and one for each of its functions."""
    module: ModuleType = getattr(sf, name)
    functions = {each: getattr(module, each) for each in module.__all__}
    rows = [f"| [`{each}`]({name}.{each}.md) | {docstrings.summary(of)} |" for each, of in functions.items()]
    table = "\n".join(["| name | what it does |", "| --- | --- |", *rows])
    says = docstrings.as_markdown(inspect.getdoc(module) or "", "")
    pictures = "The [gallery](../gallery.md) shows a picture of each."
    listed = toctree([f"{name}.{each}" for each in functions])
    (source / "reference" / f"{name}.md").write_text(f"# {name}\n\n{says}\n{pictures}\n\n{table}\n\n{listed}")
    for each, of in functions.items():
        write_name(source, f"{name}.{each}", of)


def write_name(source: Path, name: str, value: Any) -> None:
    """The page of a function or a class."""
    kind = "class" if inspect.isclass(value) else "function"
    folder = "../" if kind == "class" else ""
    signature = ", ".join(docstrings.arguments_of(value))
    lines = [f"# {name}", "", *directive(kind, f"{name}({signature})")]
    lines += docstring_of(value, folder, name, "##")
    if kind == "class":
        lines += methods_of(value, folder)
    place = place_of(name) if "." not in name else name
    (source / "reference" / f"{place}.md").write_text("\n".join(lines) + "\n")


def methods_of(value: type, folder: str) -> list[str]:
    """The methods of a class, if they are there to be called: then one of them has an example."""
    methods = {name: each for name, each in vars(value).items() if inspect.isfunction(each) and name[0] != "_"}
    if not any(">>> " in (inspect.getdoc(method) or "") for method in methods.values()):
        return []
    lines = []
    for name, method in methods.items():
        signature = ", ".join(docstrings.arguments_of(method)[1:])
        lines += [f"## {name}", "", *directive("method", f"{value.__name__}.{name}({signature})")]
        lines += docstring_of(method, folder, name, "###")
    return lines


def directive(kind: str, signature: str) -> list[str]:
    """The signature of a name, by which the index and the search know it."""
    return [f"````{{py:{kind}}} spotgeo_frames.{signature}", "````", ""]


def docstring_of(value: Any, folder: str, name: str, heading: str) -> list[str]:
    """What a docstring says, its sections under headings, with links to the pages of other names."""
    types = docstrings.types_of(value)
    head, sections = docstrings.parts(inspect.getdoc(value) or "")
    lines = [docstrings.linked(head, folder, {name, *types})]
    for title, text in sections.items():
        body = docstrings.section(title, text, types)
        lines += [f"{heading} {title}", "", docstrings.linked(body, folder, {name, *types})]
    return lines


def write_commands(source: Path) -> None:
    """A page with what each command says when it is asked for help."""
    os.environ["COLUMNS"] = "80"  # the width that argparse takes
    lines = ["# The command line", ""]
    for name, command in COMMANDS.items():
        lines += [f"## {name}", "", "```text", command_parser(name, command).format_help().strip(), "```", ""]
    (source / "reference" / "commands.md").write_text("\n".join(lines))
