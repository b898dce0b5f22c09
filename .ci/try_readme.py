"""Tries the installed package as a new user would: its public names, the commands, and what the README shows.

It needs nothing but the package, and runs in a folder that has the project's data/. What needs an extra that is not
installed must say so in an ImportError that names the extra; statements that use its result are left out then.
"""

import argparse
import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What an ImportError of the package asks for: one of its extras, or a package of the user's choice, such as polars.
ASKED = re.compile(r"pip install '?(?:spotgeo_frames\[)?(\w+)")

# What examples import that no extra brings; their statements are left out where it is missing.
OF_USERS = {"polars", "duckdb", "torch", "lightning", "ultralytics", "mlflow", "supervision", "torchvision", "wandb"}


def asked_for(error: str) -> str | None:
    """The extra or the package that an error asks for, if it does."""
    found = ASKED.search(error)
    return found[1] if found else None


def names_in(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a statement reads, and those that it gives a value."""
    nodes = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    given = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    imports = [node for node in ast.walk(statement) if isinstance(node, ast.Import | ast.ImportFrom)]
    given |= {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}
    given |= {node.name for node in ast.walk(statement) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {node.id for node in nodes if isinstance(node.ctx, ast.Load)}, given


def statements(text: str) -> Iterator[ast.stmt]:
    """The Python statements that a page shows, from top to bottom."""
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        yield from ast.parse(block).body


def commands(text: str) -> Iterator[list[str]]:
    """The commands of the package that a page shows with files of data/; those with placeholders are no commands."""
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("spotgeo-frames ") and "data/" in line and not re.search(r"[\[|<>…]", line):
                yield shlex.split(line, comments=True)


def run_statements(text: str) -> tuple[int, set[str]]:
    """Runs what a page shows; returns how many statements ran, and what others asked for, since it is not installed."""
    names: dict[str, Any] = {"__name__": "readme"}
    missing: set[str] = set()
    needed: set[str] = set()
    n_ran = 0
    for statement in statements(text):
        read, given = names_in(statement)
        if read & missing:
            missing |= given
            continue
        try:
            exec(compile(ast.Module([statement], []), "README.md", "exec"), names)
        except ImportError as error:
            what = asked_for(str(error)) or (error.name if error.name in OF_USERS else None)
            if what is None:
                raise
            needed.add(what)
            missing |= given
        else:
            n_ran += 1
            missing -= given
    return n_ran, needed


def run_command(words: list[str]) -> tuple[str, str | None]:
    """Runs a command; returns what it prints, and what it asks to install, if it ends for want of that."""
    command = Path(sys.executable).with_name(words[0])
    done = subprocess.run([command, *words[1:]], capture_output=True, text=True, encoding="utf-8")
    accepted = (0, 3) if words[1:2] == ["gate"] else (0,)
    asked = asked_for(done.stderr)
    if done.returncode not in accepted and asked is None:
        sys.exit(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, asked


def check_names() -> int:
    """Looks up every public name; exits if one cannot be had, unless the error names the extra. Returns how many."""
    import spotgeo_frames

    for name in spotgeo_frames.__all__:
        try:
            getattr(spotgeo_frames, name)
        except ImportError as error:
            if asked_for(str(error)) is None:
                sys.exit(f"spotgeo_frames.{name}: {error}")
    return len(spotgeo_frames.__all__)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("readme", type=Path)
    parser.add_argument("--all-extras", action="store_true", help="fail where an extra is missing")
    given = parser.parse_args()
    text = given.readme.read_text("utf-8")
    score = ["spotgeo-frames", "score", "data/sample/truth.json", "data/sample/eager.json"]
    printed, _ = run_command(score)
    if "precision" not in printed:
        sys.exit(f"{shlex.join(score)}: prints no precision:\n{printed}")
    n_names = check_names()
    n_ran, needed = run_statements(text)
    shown = [run_command(words) for words in commands(text)]
    needed |= {asked for _, asked in shown if asked is not None}
    if n_ran == 0 or (given.all_extras and needed - OF_USERS):
        sys.exit(f"README.md: {n_ran} statements ran; others need {', '.join(sorted(needed)) or 'nothing'}")
    others = f"; others need {', '.join(sorted(needed))}" if needed else ""
    print(f"{n_names} public names; README.md: {n_ran} statements and {len(shown)} commands ran{others}")


if __name__ == "__main__":
    main()
