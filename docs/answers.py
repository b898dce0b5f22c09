"""Puts the answers into the pages: python docs/answers.py [PAGE ...], from anywhere; without pages, into all.

With --check it changes no page, and exits with 1 where an answer is another one. .ci/wheel.py tries the wheel so.

A page shows an answer in a block marked `text`, right after the block marked `python` or `sh` that gives it. Python's
answer is what it prints, then the value of its last line, as a notebook would show it. All Python of a page runs from
top to bottom, in a temporary folder where `data/` is at hand. Left out are blocks that import what cannot be imported
here, such as an experiment tracker, those that use what such blocks define, and commands that have no answer.
`tests/test_pages.py` fails where an answer on a page is no longer what the code gives.
"""

import argparse
import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

PROJECT = Path(__file__).parent.parent
DOCS = ["index", "start", "tables", "counts", "command_line", "formats", "yolo", "experiment_trackers", "pipelines"]
DOCS += ["why", "your_data", "geometries", "extending", "protocols"]
PAGES = [
    PROJECT / "README.md",
    *(PROJECT / "docs" / f"{name}.md" for name in DOCS),
    *sorted((PROJECT / "docs" / "tasks").glob("*.md")),
    *sorted((PROJECT / "docs" / "migrate").glob("*.md")),
]

# A block of code, and the block of its answer where there is one.
BLOCK = re.compile(r"```(?P<language>python|sh)\n(?P<code>.*?)```(?:\n\n```text\n(?P<answer>.*?)```)?", re.DOTALL)
# docs/start.md tells its readers that tables are shown so.
SHOWN = ("display.precision", 4, "display.width", 116, "display.max_columns", 30, "display.max_rows", 30)


def code_of(page: Path) -> list[str]:
    """The blocks of Python of a page, in their order."""
    return [block["code"] for block in BLOCK.finditer(page.read_text("utf-8")) if block["language"] == "python"]


def with_answers(text: str) -> str:
    """A page with every answer as the code gives it now; it runs in the working directory."""
    names: dict[str, Any] = {}
    unknown: set[str] = set()  # what the blocks that are left out define

    def answered(block: re.Match[str]) -> str:
        language, code, answer = block.groups()
        if language == "python":
            defined, used = names_of(code)
            if used & unknown or not can_be_imported(code):
                unknown.update(defined)
                return block[0]
            unknown.difference_update(defined)
            now = answer_of_python(code, names)
        elif language == "sh" and answer is not None:
            now = answer_of_commands(code)
        else:
            return block[0]
        return block[0] if answer is None else f"```{language}\n{code}```\n\n```text\n{now}```"

    with pd.option_context(*SHOWN), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few sequences, which the pages explain
        return BLOCK.sub(answered, text)


def can_be_imported(code: str) -> bool:
    """Whether everything that the code imports of other packages is installed and works here.

    torchmetrics without torchvision has no average precision, and FiftyOne needs its database.
    """
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    of_others = [node for node in nodes if "spotgeo_frames" not in ast.unparse(node)]
    try:
        exec(compile(ast.Module(of_others, []), "page", "exec"), {})
        if any("fiftyone" in ast.unparse(node) for node in of_others):
            sys.modules["fiftyone"].list_datasets()
    except Exception as error:
        print(f"left out: {type(error).__name__}: {error}", file=sys.stderr)
        return False
    return True


def names_of(code: str) -> tuple[set[str], set[str]]:
    """The names that the code defines, and those that it uses of others."""
    nodes = [*ast.walk(ast.parse(code))]
    defined = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    defined |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return defined, used - defined


def answer_of_python(code: str, names: dict[str, Any]) -> str:
    """What the code prints, and the value of its last line; `names` are those of the blocks before."""
    statements = ast.parse(code).body
    last = statements.pop() if isinstance(statements[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(statements, []), "page", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "page", "eval"), names) if last else None
        if value is not None:
            print(value)
    return without_trailing_spaces(printed.getvalue())


def answer_of_commands(code: str) -> str:
    """What the commands of a block print; lines that begin with # are left out, and \\ continues a line."""
    printed = ""
    for line in code.replace("\\\n", " ").splitlines():
        name, *arguments = shlex.split(line, comments=True) or [None]
        if name == "spotgeo-frames":
            command = [sys.executable, "-m", "spotgeo_frames", *arguments]
            printed += subprocess.run(command, capture_output=True, text=True, encoding="utf-8").stdout
    return without_trailing_spaces(printed)


def without_trailing_spaces(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def answered_page(page: Path) -> str:
    """A page with its answers as they are now; its code runs in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data").symlink_to(PROJECT / "data")
        before = Path.cwd()
        os.chdir(folder)
        try:
            return with_answers(page.read_text("utf-8"))
        finally:
            os.chdir(before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, default=PAGES)
    parser.add_argument("--check", action="store_true", help="change nothing, and exit with 1 where an answer differs")
    given = parser.parse_args()
    outdated = []
    for page in map(Path.absolute, given.pages):
        text, now = page.read_text("utf-8"), answered_page(page)
        if not given.check:
            page.write_text(now, "utf-8")
        elif now.split() != text.split():  # versions of pandas lay tables out a little differently
            outdated.append(str(page.relative_to(PROJECT)))
        print(page.relative_to(PROJECT), flush=True)
    if outdated:
        sys.exit(
            f"The answers on {', '.join(outdated)} are no longer those of the code; python docs/answers.py mends them."
        )


if __name__ == "__main__":
    main()
