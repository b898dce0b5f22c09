"""Tries the installed package as a new user would: its public names, a score, and what the README shows.

It needs nothing but the package, and runs in a folder that has the project's data/. The README's Python needs no extra.
A command that needs one has to say which, where it is not installed.
"""

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import spotgeo_frames

# How the package asks for one of its extras.
ASKED = re.compile(r"pip install 'spotgeo_frames\[(\w+)\]'")

SCORE = ["spotgeo-frames", "score", "data/sample/truth.json", "data/sample/eager.json"]


def run_python(text: str) -> int:
    """Runs the blocks of Python that a page shows, from top to bottom; returns how many there are."""
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile("\n".join(blocks), "README.md", "exec"), {"__name__": "readme"})
    return len(blocks)


def commands(text: str) -> Iterator[list[str]]:
    """The commands of the package that a page shows."""
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("spotgeo-frames "):
                yield shlex.split(line, comments=True)


def run_command(words: list[str]) -> tuple[str, str | None]:
    """Runs a command; returns what it prints, and the extra that it asks for, if it ends for want of that."""
    command = Path(sys.executable).with_name(words[0])
    done = subprocess.run([command, *words[1:]], capture_output=True, text=True, encoding="utf-8")
    asked = ASKED.search(done.stderr) if done.returncode else None
    if done.returncode and asked is None:
        sys.exit(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, asked and asked[1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("readme", type=Path)
    parser.add_argument("--all-extras", action="store_true", help="fail where an extra is missing")
    given = parser.parse_args()
    text = given.readme.read_text("utf-8")
    for name in spotgeo_frames.__all__:
        getattr(spotgeo_frames, name)
    printed, _ = run_command(SCORE)
    if "precision" not in printed:
        sys.exit(f"{shlex.join(SCORE)}: prints no precision:\n{printed}")
    n_blocks = run_python(text)
    asked = [run_command(words)[1] for words in commands(text)]
    missing = sorted({extra for extra in asked if extra})
    if n_blocks == 0 or not asked or (given.all_extras and missing):
        sys.exit(f"README.md: {n_blocks} blocks and {len(asked)} commands; missing: {', '.join(missing) or 'nothing'}")
    others = f", of which some ask for {', '.join(missing)}" if missing else ""
    print(f"{len(spotgeo_frames.__all__)} public names; README.md: {n_blocks} blocks, {len(asked)} commands{others}")


if __name__ == "__main__":
    main()
