"""Checks that this commit can be released, builds what is uploaded, and tags it.

    .ci/release.py --dry-run    the checks alone
    .ci/release.py              the checks, then dist/ by .ci/wheel.py
    .ci/release.py --tag        the same, and then the tag vMAJOR.MINOR.PATCH in this clone

It uploads nothing and pushes nothing: whoever releases looks at dist/ first.
"""

import argparse
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
VERSION = "spotgeo_frames/support/version.py"


def git(*arguments: str) -> str:
    """What git answers in the project's folder; exits with its error if it fails."""
    done = subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        sys.exit(f"git {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout.strip()


def found(pattern: str, name: str) -> str:
    """The first group of a pattern in a file of the project; empty if the file has no such line."""
    match = re.search(pattern, (PROJECT / name).read_text("utf-8"), re.MULTILINE)
    return match[1] if match else ""


def is_date(text: str) -> bool:
    """Whether a text is a day as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def problems(version: str) -> list[str]:
    """What keeps this commit from being released as this version."""
    wrong = []
    if git("status", "--porcelain"):
        wrong.append("the working tree has changes; commit them, or take them out")
    branch = git("branch", "--show-current")
    if branch != "main":
        wrong.append(f"the branch is {branch or 'none'}; releases are made of main")
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        wrong.append(f"{VERSION}: the version is {version!r}; MAJOR.MINOR.PATCH is needed")
    cited = found(r"^version: (.*)$", "CITATION.cff")
    if cited != version:
        wrong.append(f"CITATION.cff: the version is {cited!r}, and that of the package {version!r}")
    heading = found(r"^## (.*)$", "CHANGELOG.md")
    changed, _, day = heading.partition(", ")
    if changed != version or not is_date(day):
        wrong.append(f"CHANGELOG.md: the first heading is {heading!r}; '{version}, YYYY-MM-DD' is needed")
    if git("tag", "--list", f"v{version}"):
        wrong.append(f"the tag v{version} is there already; raise the version")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description="Checks a release, builds it, and tags it; it uploads nothing.")
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--dry-run", action="store_true", help="only check")
    steps.add_argument("--tag", action="store_true", help="tag the commit when all has passed")
    asked = parser.parse_args()
    version = found(r'^__version__ = "(.*)"$', VERSION)
    wrong = problems(version)
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{git('rev-parse', '--short', 'HEAD')} can be released as {version}", flush=True)
    if asked.dry_run:
        return
    subprocess.run([sys.executable, PROJECT / ".ci" / "wheel.py"], check=True)
    if asked.tag:
        git("tag", "--annotate", f"v{version}", "--message", f"spotgeo_frames {version}")
        print(f"tagged v{version}; `git push origin v{version}` publishes the tag, and dist/ is yours to upload")


if __name__ == "__main__":
    main()
