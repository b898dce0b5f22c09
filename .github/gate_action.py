"""What the step `gate` of action.yml runs: the gate, its summary, its comment on the pull request, and the page.

It gets the inputs of the action as variables GATE_*, beside those that GitHub sets. The exit status is that of
`spotgeo-frames gate`, or, where the gate is passed and the page cannot be made, that of `spotgeo-frames report`.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

# What a name may be: it stands in a heading, in a comment of HTML, and in the names of an artifact and a file.
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 _.-]{0,58}[A-Za-z0-9])?")

# The events whose pull request is commented on.
OF_PULL_REQUESTS = ("pull_request", "pull_request_target")


def given(name: str) -> str:
    """An input of the action, without blanks around it."""
    return os.environ.get(f"GATE_{name}", "").strip()


def is_set(name: str) -> bool:
    """Whether an input is true; exits with a message if it is neither true nor false."""
    text = given(name).lower()
    if text not in ("true", "false", ""):
        stop(f"{name.lower().replace('_', '-')} is {text!r}; give true or false")
    return text == "true"


def stop(text: str) -> NoReturn:
    """Ends the step with an error that the run shows, as wrong usage."""
    annotate("error", text)
    sys.exit(2)


def annotate(kind: str, text: str) -> None:
    """Shows a text as an error or a warning of the run."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{kind} title=spotgeo-frames gate::{escaped}", flush=True)


def spotgeo_frames(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of the package; what it prints goes to the log of the step, and its errors are kept, too."""
    command = [sys.executable, "-P", "-m", "spotgeo_frames", *words]  # -P: no module of the working folder is taken
    print(shlex.join(["spotgeo-frames", *words]), flush=True)
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace", check=False)
    print(done.stderr, end="", file=sys.stderr, flush=True)
    return done


def gate_words(markdown: Path) -> list[str]:
    """The arguments of `spotgeo-frames gate`. A value is joined with its option, and files follow --."""
    words = [f"--{option}={line.strip()}" for option in ("min", "max", "margin") for line in lines_of(option)]
    words += [f"--baseline={given('BASELINE')}"] if given("BASELINE") else []
    words += ["--always-valid"] if is_set("ALWAYS_VALID") else []
    words += [*options(), f"--markdown={markdown}"]
    return ["gate", *words, "--", *files("TRUTH", "SUBMISSION")]


def options() -> list[str]:
    """The further options, in words as a shell would read them."""
    try:
        return shlex.split(given("OPTIONS"))
    except ValueError as error:
        stop(f"options: {error}")


def lines_of(option: str) -> list[str]:
    """The lines of an input that are not blank."""
    return [line for line in given(option.upper()).splitlines() if line.strip()]


def files(*names: str) -> list[str]:
    """The files that these inputs name; exits with a message if one is missing."""
    for name in names:
        if not given(name):
            stop(f"{name.lower()} is empty; give a file")
    return [given(name) for name in names]


def write_page(page: str) -> int:
    """Writes the page about the submission and its baseline; returns the exit status."""
    sides = files("TRUTH", "SUBMISSION", *(["BASELINE"] if given("BASELINE") else []))
    return spotgeo_frames("report", f"--out={page}", *options(), "--", *sides).returncode


def body_of(name: str, markdown: Path, problems: str) -> str:
    """What the summary and the comment say: the checks, or, where there are none, why."""
    if markdown.is_file():
        return f"### {name}\n\n{markdown.read_text('utf-8')}"
    told = "\n".join(f"    {line}" for line in problems.splitlines())  # as code, so that nothing in it acts
    return f"### {name}\n\n**The checks could not be made.**\n\n{told}\n"


def append(variable: str, text: str) -> None:
    """Appends to the file that a variable of GitHub's names, if there is one."""
    if os.environ.get(variable):
        with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
            file.write(text)


def comment(name: str, body: str) -> None:
    """Writes the comment on the pull request of this run, or the one that an earlier run of this name wrote, anew."""
    event = Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8")
    number = int(json.loads(event)["pull_request"]["number"])
    comments = f"repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    mark = f"<!-- spotgeo-frames gate: {name} -->"
    listed = gh("--paginate", "--jq", ".[] | {id, body} | @json", f"{comments}/{number}/comments?per_page=100")
    earlier = [one["id"] for one in map(json.loads, listed.splitlines()) if (one["body"] or "").startswith(mark)]
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "body.md")
        text.write_text(f"{mark}\n{body}", "utf-8")
        if earlier:
            gh("--method", "PATCH", "--field", f"body=@{text}", f"{comments}/comments/{int(earlier[0])}")
        else:
            gh("--method", "POST", "--field", f"body=@{text}", f"{comments}/{number}/comments")


def gh(*words: str) -> str:
    """What GitHub's own command answers to a request; raises CalledProcessError or OSError if it fails."""
    command = ["gh", "api", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout


def main() -> int:
    name, page = given("NAME") or "gate", given("PAGE")
    if not NAME.fullmatch(name):
        stop(f"name is {name!r}; letters, digits, blanks, _, . and - are possible, 60 at most")
    if not page.isprintable():
        stop(f"page is {page!r}; give the name of a file")
    wants_comment = is_set("COMMENT") and os.environ.get("GITHUB_EVENT_NAME") in OF_PULL_REQUESTS
    markdown = Path(os.environ["RUNNER_TEMP"], f"spotgeo-frames {name}.md")
    markdown.unlink(missing_ok=True)
    done = spotgeo_frames(*gate_words(markdown))
    page_status = write_page(page) if page else 0
    body = body_of(name, markdown, done.stderr)
    append("GITHUB_STEP_SUMMARY", f"{body}\n")
    outputs = {
        "passed": "false" if done.returncode else "true",
        "markdown": str(markdown) if markdown.is_file() else "",
    }
    outputs["page"] = page if page and not page_status else ""
    append("GITHUB_OUTPUT", "".join(f"{key}={value}\n" for key, value in outputs.items()))
    if wants_comment:
        try:
            comment(name, body)
        except (OSError, subprocess.CalledProcessError, ValueError, KeyError) as error:
            why = (getattr(error, "stderr", None) or str(error)).strip()
            annotate("warning", f"the comment could not be written, which needs `pull-requests: write`: {why}")
    return done.returncode or page_status


if __name__ == "__main__":
    sys.exit(main())
