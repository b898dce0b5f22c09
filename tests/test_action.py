"""action.yml, and the script of its step, run as a process with a `gh` of the tests; and the hook for pre-commit."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from helpers.commands import run_here
from helpers.reference import PROJECT

ACTION = (PROJECT / "action.yml").read_text("utf-8")
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
SCRIPT = PROJECT / ".github" / "gate_action.py"

# Keeps what it is called with, answers with comments that are there, and fails where the tests say so.
GH = """\
import json, os, sys
folder = os.environ["FAKE_GH"]
words = sys.argv[1:]
said = {"words": words, "token": os.environ.get("GH_TOKEN")}
for word in words:
    if word.startswith("body=@"):
        said["body"] = open(word.removeprefix("body=@"), encoding="utf-8").read()
with open(os.path.join(folder, "calls"), "a", encoding="utf-8") as file:
    file.write(json.dumps(said) + "\\n")
if os.path.exists(os.path.join(folder, "refuse")):
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
if "--paginate" in words and os.path.exists(os.path.join(folder, "comments")):
    print(open(os.path.join(folder, "comments"), encoding="utf-8").read(), end="")
"""

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="the gh of the tests is a script")


class Run(NamedTuple):
    """How the step ended: its status and log, its outputs, the summary, and the calls of gh."""

    status: int
    log: str
    outputs: dict[str, str]
    summary: str
    calls: list[dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run on pull request 7 with a gh of the tests."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "gh"
    command.write_text(f"#!{sys.executable}\n{GH}")
    command.chmod(0o755)
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    return tmp_path


def run(folder: Path, event: str = "pull_request", **inputs: str) -> Run:
    """Runs the script of the step, with these inputs and what else GitHub sets."""
    given = {f"GATE_{name.upper()}": text for name, text in inputs.items()}
    written = {name: folder / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    for path in written.values():
        path.write_text("")
    (folder / "calls").unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GATE_"))}
    environment |= {name: str(path) for name, path in written.items()} | given
    environment |= {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(PROJECT)}
    environment |= {"RUNNER_TEMP": str(folder), "GITHUB_EVENT_PATH": str(folder / "event.json"), "GH_TOKEN": "secret"}
    environment |= {"GITHUB_EVENT_NAME": event, "GITHUB_REPOSITORY": "someone/detector", "FAKE_GH": str(folder)}
    words = [sys.executable, str(SCRIPT)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert "Traceback" not in done.stderr
    outputs = dict(line.split("=", 1) for line in written["GITHUB_OUTPUT"].read_text("utf-8").splitlines())
    calls = folder / "calls"
    said = [json.loads(line) for line in calls.read_text("utf-8").splitlines()] if calls.exists() else []
    summary = written["GITHUB_STEP_SUMMARY"].read_text("utf-8")
    return Run(done.returncode, done.stdout + done.stderr, outputs, summary, said)


@pytest.fixture
def sides(sample: Path) -> dict[str, str]:
    """The inputs that name the files of the sample."""
    names = {"truth": "truth", "submission": "cautious", "baseline": "eager"}
    return {name: str(sample / f"{file}.json") for name, file in names.items()}


@needs_links
def test_a_gate_on_a_pull_request_is_summed_up_and_commented_on(folder: Path, sides: dict[str, str]) -> None:
    done = run(folder, **sides, min="f1=0.7\nrecall=0.5", margin=" f1=0.02 \n\n", name="night ly", comment="true")
    assert (done.status, done.outputs["passed"], done.outputs["page"]) == (3, "false", "")
    assert "**2 of 3 checks passed**" in done.summary
    assert done.summary.startswith("### night ly\n")
    assert "| NOT PASSED | F1 is 0.0067 worse than the baseline's" in Path(done.outputs["markdown"]).read_text("utf-8")
    listed, posted = done.calls
    assert listed["words"][-1] == "repos/someone/detector/issues/7/comments?per_page=100"
    assert posted["words"][:3] == ["api", "--method", "POST"]
    assert posted["words"][-1] == "repos/someone/detector/issues/7/comments"
    assert posted["body"] == f"<!-- spotgeo-frames gate: night ly -->\n{done.summary.removesuffix(chr(10))}"
    assert posted["token"] == "secret"


@needs_links
def test_the_comment_of_an_earlier_run_is_written_anew(folder: Path, sides: dict[str, str]) -> None:
    bodies = [None, "good work", "<!-- spotgeo-frames gate: other -->\n", "<!-- spotgeo-frames gate: gate -->\nold"]
    lines = [json.dumps({"id": 11 + place, "body": body}) for place, body in enumerate(bodies)]
    (folder / "comments").write_text("".join(f"{line}\n" for line in lines))
    done = run(folder, **sides, min="f1=0.7", comment="true", margin="recall=0.9")
    assert (done.status, done.outputs["passed"]) == (0, "true")
    assert done.calls[-1]["words"][1:3] == ["--method", "PATCH"]
    assert done.calls[-1]["words"][-1] == "repos/someone/detector/issues/comments/14"


@needs_links
def test_a_comment_that_is_not_allowed_is_a_warning(folder: Path, sides: dict[str, str]) -> None:
    """As on pull requests from forks, whose token may only read."""
    (folder / "refuse").touch()
    done = run(folder, **sides, min="f1=0.7", margin="recall=0.9", comment="true")
    assert done.status == 0
    assert "::warning title=spotgeo-frames gate::" in done.log
    assert "HTTP 403" in done.log
    assert "checks passed" in done.summary


@needs_links
def test_there_is_no_comment_elsewhere_or_unless_asked_for(folder: Path, sides: dict[str, str]) -> None:
    assert run(folder, "push", **sides, min="f1=0.7", margin="recall=0.9", comment="true").calls == []
    assert run(folder, **sides, min="f1=0.7", margin="recall=0.9", comment="false").calls == []


@needs_links
def test_what_cannot_be_checked_says_why(folder: Path, sides: dict[str, str]) -> None:
    done = run(folder, **sides | {"submission": "none.json"}, min="f1=0.7", margin="f1=0.1", comment="true")
    assert (done.status, done.outputs["passed"], done.outputs["markdown"]) == (1, "false", "")
    assert "**The checks could not be made.**\n\n    none.json" in done.summary
    assert "none.json" in done.calls[-1]["body"]
    assert run(folder, **sides).status == 2


@needs_links
def test_no_text_of_an_input_runs_or_becomes_an_option(folder: Path, sides: dict[str, str]) -> None:
    text = f"$(touch {folder / 'ran'}); `touch {folder / 'ran'}`"
    for inputs in ({"submission": text}, {"submission": "--help"}, {"baseline": text}, {"min": f"f1=0.1{text}"}):
        assert run(folder, **sides | inputs, margin="f1=0.1", comment="true").status in (1, 2)
    (folder / "spotgeo_frames.py").write_text(f"open({str(folder / 'ran')!r}, 'w')")
    run(folder, **sides, margin="f1=0.1")
    assert not (folder / "ran").exists()


@needs_links
@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ({"name": "a --> b"}, "name is"),
        ({"name": "../up"}, "name is"),
        ({"comment": "maybe"}, "comment is 'maybe'"),
        ({"always_valid": "1"}, "always-valid is '1'"),
        ({"options": "--tau '5"}, "options: "),
        ({"page": "a\nb=c"}, "page is"),
        ({"truth": " "}, "truth is empty"),
    ],
)
def test_wrong_inputs_are_refused(folder: Path, sides: dict[str, str], inputs: dict[str, str], named: str) -> None:
    done = run(folder, **sides | {"margin": "f1=0.1"} | inputs)
    assert (done.status, done.outputs) == (2, {})
    assert f"::error title=spotgeo-frames gate::{named}" in done.log


@needs_links
def test_the_page_and_the_options_of_the_rule(folder: Path, sides: dict[str, str]) -> None:
    words = {"margin": "recall=0.9", "options": "--tau 8 --exclude '5, 7'", "always_valid": "true"}
    done = run(folder, **sides, **words, page="page.md")
    assert (done.status, done.outputs["page"]) == (0, "page.md")
    assert "tau 8 px" in done.summary
    assert "tau 8 px" in (folder / "page.md").read_text("utf-8")
    done = run(folder, **sides, margin="recall=0.9", page="nowhere/deep/page.html")
    assert (done.status, done.outputs["passed"], done.outputs["page"]) == (1, "true", "")


def parsed(path: Path) -> Any:
    """A file of YAML."""
    yaml = pytest.importorskip("yaml", reason="needs the extra yolo, which brings PyYAML")
    return yaml.safe_load(path.read_text("utf-8"))


def test_every_input_of_the_action_is_declared_and_used() -> None:
    action = parsed(PROJECT / "action.yml")
    assert {*re.findall(r"inputs\.([\w-]+)", ACTION)} == {*action["inputs"]}
    assert all(each["description"] for each in [*action["inputs"].values(), *action["outputs"].values()])
    assert action["runs"]["using"] == "composite"
    steps = action["runs"]["steps"]
    [gate] = [step for step in steps if step.get("id") == "gate"]
    read = {*re.findall(r"(?:given|is_set)\(\"([A-Z_]+)\"\)", SCRIPT.read_text("utf-8"))}
    read |= {"TRUTH", "SUBMISSION", "BASELINE", "MIN", "MAX", "MARGIN"}
    assert {name.removeprefix("GATE_") for name in gate["env"] if name.startswith("GATE_")} == read
    outputs = re.findall(r"steps\.gate\.outputs\.(\w+)", ACTION)
    assert {*outputs} == {"passed", "markdown", "page"} == {*action["outputs"]}


def test_inputs_reach_commands_as_variables_alone() -> None:
    steps = parsed(PROJECT / "action.yml")["runs"]["steps"]
    scripts = [step for step in steps if "run" in step]
    assert scripts
    assert all(step["shell"] == "bash" and "${{" not in step["run"] for step in scripts)


def test_the_action_names_the_same_commits_as_the_workflows() -> None:
    workflows = "".join(path.read_text("utf-8") for path in (PROJECT / ".github" / "workflows").glob("*.yml"))
    uses = re.findall(r"uses: (\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$", ACTION, re.MULTILINE)
    assert len(uses) == ACTION.count("- uses:") == 2
    assert {*uses} <= {*re.findall(r"uses: (.*)", workflows)}


def test_the_hook_runs_the_gate_with_the_arguments_of_its_user(sides: dict[str, str]) -> None:
    """pre-commit calls the entry with `args`, and without the files of the commit."""
    [hook] = parsed(PROJECT / ".pre-commit-hooks.yaml")
    assert (hook["id"], hook["language"]) == ("spotgeo-frames-gate", "python")
    assert (hook["pass_filenames"], hook["always_run"]) == (False, True)
    command, *words = hook["entry"].split()
    assert command in PYPROJECT["scripts"]
    args = ["--margin=f1=0.02", f"--baseline={sides['baseline']}", sides["truth"], sides["submission"]]
    assert run_here(*words, *args).status == 3
    assert run_here(*words, *args, "--margin=f1=0.2").status == 3
    assert run_here(*words, "--margin=f1=0.2", *args[1:]).status == 0


def test_pre_commit_takes_the_hook() -> None:
    if importlib.util.find_spec("pre_commit") is None:
        pytest.skip("needs the extra lint, which brings pre-commit")
    words = [sys.executable, "-m", "pre_commit", "validate-manifest", str(PROJECT / ".pre-commit-hooks.yaml")]
    assert subprocess.run(words, check=False).returncode == 0
