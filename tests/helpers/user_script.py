"""A script as users write them: the examples of all public names, each in a function of its own, for type checkers.

`make types` writes it and has mypy and pyright read it, with the types of the package and nothing else to go by.
"""

import ast
import doctest
import inspect
import sys
from pathlib import Path

import spotgeo_frames as sf

MODULES = ("plots", "charts")
HEAD = "from typing import Any\n"


def public_callables() -> dict[str, object]:
    """Every public function and class by its name, such as match or plots.forest."""
    named = {name: getattr(sf, name) for name in dir(sf)}
    named |= {f"{module}.{name}": getattr(named[module], name) for module in MODULES for name in dir(named[module])}
    return {name: value for name, value in named.items() if callable(value)}


class WithTypes(ast.NodeTransformer):
    """Gives the functions within examples, which are short and say no types, Any for each of theirs."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for argument in node.args.args:
            argument.annotation = ast.Name("Any")
        node.returns = ast.Name("Any")
        return node


def example_of(name: str, value: object) -> str:
    """The example of a public name as a function."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")
    body = WithTypes().visit(ast.parse("".join(example.source for example in examples))).body
    lines = "\n".join(ast.unparse(statement) for statement in body).splitlines()
    return "\n    ".join([f"def example_of_{name.replace('.', '_')}() -> None:", *lines])


def user_script() -> str:
    """The text of the script."""
    return "\n\n\n".join([HEAD, *(example_of(name, value) for name, value in public_callables().items())]) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).parent.mkdir(exist_ok=True)
    Path(sys.argv[1]).write_text(user_script(), "utf-8")
