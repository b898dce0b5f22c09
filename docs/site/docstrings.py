"""Docstrings of this project as Markdown.

They have the sections of numpydoc, with prose under Returns and `Name: when` under Raises, which numpydoc would take
for types. Backticks are code, and lead to the page of a public name.
"""

import ast
import inspect
import re
from typing import Any

import spotgeo_frames as sf

SECTION = re.compile(r"^([A-Z]\w+)\n-{3,}\n", re.MULTILINE)
CODE = re.compile(r"(?<!\[)`(\w+)(\(\))?`(?!\])")

# Public names that docstrings also use for columns, tables and arguments.
AMBIGUOUS = {"metric", "sums", "plots", "charts"}


def parts(text: str) -> tuple[str, dict[str, str]]:
    """What stands before the sections, and the sections by their titles."""
    head, *rest = SECTION.split(text)
    return as_markdown(head, ""), dict(zip(rest[::2], rest[1::2], strict=True))


def summary(value: Any) -> str:
    """The first paragraph, on one line."""
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def as_markdown(text: str, indent: str) -> str:
    """Prose, lists and examples; each indented list of a docstring stands at the margin of Markdown."""
    blocks = re.split(r"\n\s*\n", text.strip("\n"))
    return "".join(f"{_block(block)}\n\n" for block in blocks if block.strip()).replace("\n", f"\n{indent}").rstrip(" ")


def _block(block: str) -> str:
    plain = inspect.cleandoc("\n" + block)
    return f"```pycon\n{plain}\n```" if plain.startswith(">>>") else plain


def section(title: str, text: str, types: dict[str, str]) -> str:
    """The body of a section."""
    if title == "Examples":
        return as_markdown(text, "")
    if title in ("Parameters", "Attributes"):
        return described(text, types)
    if title == "Raises":
        entries = re.split(r"\n(?=\S)", text.strip())
        return "".join(_entry(f"`{entry.partition(': ')[0]}`", entry.partition(": ")[2]) for entry in entries)
    return returned(text)


def described(text: str, types: dict[str, str]) -> str:
    """Parameters or attributes, each with its type and its text; what follows them at the margin is prose."""
    result = []
    for entry in re.split(r"\n(?=[\w*, ]+\n )", text.strip("\n")):
        head, _, body = entry.partition("\n")
        own, *prose = re.split(r"\n(?=\S)", body, maxsplit=1)
        kinds = dict.fromkeys(types.get(name.strip("*"), "") for name in head.split(", "))
        says = " : " * any(kinds) + ", ".join(f"`{kind}`" for kind in kinds if kind)
        escaped = head.replace("*", r"\*")
        result.append(_entry(f"**{escaped}**{says}", inspect.cleandoc("\n" + own)))
        result += [as_markdown(after, "") for after in prose]
    return "".join(result)


def returned(text: str) -> str:
    """What is returned: paragraphs, and the tables of a result with their columns."""
    result = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = re.split(r"\n(?=\w+: )", block.strip("\n"))
        named = [re.match(r"(\w+): (.*)", line, re.DOTALL) for line in lines]
        if all(named):
            result += [_entry(f"`{match[1]}`", match[2]) for match in named if match]
        else:
            result.append(as_markdown(block, ""))
    return "".join(result)


def _entry(term: str, text: str) -> str:
    """An entry of a list of definitions."""
    plain = "\n".join(line.strip() for line in text.splitlines()) if "\n\n" not in text and "- " not in text else text
    return f"{term}\n: {as_markdown(plain, '  ').strip()}\n\n"


def linked(text: str, folder: str, known: set[str]) -> str:
    """The text, with links from public names to their pages, `known` ones and blocks of code excepted."""

    def link(match: re.Match[str]) -> str:
        name = match[1]
        if name in known or name not in sf.__all__ or (name in AMBIGUOUS and not match[2]) or name == "__version__":
            return match[0]
        place = f"classes/{name}" if inspect.isclass(getattr(sf, name)) else name
        return f"[{match[0]}]({folder}{place}.md)"

    pieces = re.split(r"(```.*?```)", text, flags=re.DOTALL)
    return "".join(piece if piece.startswith("```") else CODE.sub(link, piece) for piece in pieces)


def arguments_of(value: Any) -> list[str]:
    """The arguments of a call, with their defaults."""
    found: list[str] = []
    for parameter in _parameters(value).values():
        if parameter.kind is parameter.KEYWORD_ONLY and not any(text.startswith("*") for text in found):
            found.append("*")
        found.append(str(parameter.replace(annotation=parameter.empty)))
    return found


def types_of(value: Any) -> dict[str, str]:
    """The types of the arguments of a function, or of the fields of a class, as the code has them."""
    [node] = ast.parse(inspect.cleandoc("\n" + inspect.getsource(inspect.unwrap(value)))).body
    fields = [part for part in getattr(node, "body", []) if isinstance(part, ast.AnnAssign)]
    types = {ast.unparse(field.target): field.annotation for field in fields if isinstance(node, ast.ClassDef)}
    functions = [part for part in [node, *getattr(node, "body", [])] if isinstance(part, ast.FunctionDef)]
    if functions and (functions[0] is node or functions[0].name in ("__init__", "__new__")):
        given = functions[0].args
        arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        types |= {argument.arg: argument.annotation for argument in arguments}
    return {name: ast.unparse(kind).strip("'") if kind else "" for name, kind in types.items()}


def _parameters(value: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return {}
