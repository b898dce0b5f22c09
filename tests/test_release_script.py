"""The release script, as a process in a clone of a small repository: what it refuses, what it builds, what it tags."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.reference import PROJECT

COPIED = (".ci/release.py", "spotgeo_frames/support/version.py", "CITATION.cff", "CHANGELOG.md")

# In place of .ci/wheel.py, whose work takes minutes.
WHEEL = 'from pathlib import Path\n\nPath("dist").mkdir()\n'


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=somebody", "-c", "user.email=", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.strip()


def change(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text("utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), "utf-8")


def release(folder: Path, *options: str) -> tuple[int, str, list[str]]:
    """The exit status, what is printed, and each problem."""
    command = [sys.executable, folder / ".ci" / "release.py", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout, done.stderr.splitlines()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of a project whose newest commit can be released as 7.8.9."""
    if shutil.which("git") is None:
        pytest.skip("git is not here")
    for variable in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(variable, "somebody")
    for variable in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(variable, "somebody@localhost")
    origin = tmp_path / "origin"
    for name in COPIED:
        (origin / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, origin / name)
    (origin / ".ci" / "wheel.py").write_text(WHEEL)
    (origin / ".gitignore").write_text("dist/\n")
    (origin / "spotgeo_frames" / "support" / "version.py").write_text('__version__ = "7.8.9"\n')
    (origin / "CITATION.cff").write_text("version: 7.8.9\n")
    (origin / "CHANGELOG.md").write_text("# Changelog\n\n## 7.8.9, 2026-12-01\n\n- All.\n\n## 7.8.8, 2026-11-01\n")
    git(origin, "init", "--initial-branch=main")
    git(origin, "add", ".")
    git(origin, "commit", "--message", "All")
    git(tmp_path, "clone", "--quiet", str(origin), "clone")
    return tmp_path / "clone"


def test_a_dry_run_only_checks(project: Path) -> None:
    status, out, problems = release(project, "--dry-run")
    assert (status, problems) == (0, [])
    assert "7.8.9" in out
    assert not (project / "dist").exists()
    assert git(project, "tag") == ""


def test_without_a_word_it_builds_and_does_not_tag(project: Path) -> None:
    assert release(project)[0] == 0
    assert (project / "dist").is_dir()
    assert git(project, "tag") == ""


def test_a_tag_stays_in_the_clone_and_is_made_once(project: Path) -> None:
    assert release(project, "--tag")[0] == 0
    assert git(project, "rev-parse", "v7.8.9^{commit}") == git(project, "rev-parse", "HEAD")
    assert git(project, "ls-remote", "--tags") == ""
    status, _, [problem] = release(project, "--dry-run")
    assert status == 1
    assert "v7.8.9" in problem


def test_nothing_is_tagged_if_the_wheel_is_wrong(project: Path) -> None:
    (project / ".ci" / "wheel.py").write_text("raise SystemExit(1)\n")
    git(project, "commit", "--all", "--message", "A wheel that fails")
    assert release(project, "--tag")[0] == 1
    assert git(project, "tag") == ""


@pytest.mark.parametrize(
    ("name", "old", "new", "named"),
    [
        ("CHANGELOG.md", "7.8.9, 2026-12-01", "7.8.9, not yet released", "CHANGELOG.md"),
        ("CHANGELOG.md", "2026-12-01", "2026-13-01", "CHANGELOG.md"),
        ("CHANGELOG.md", "7.8.9", "7.9.0", "CHANGELOG.md"),
        ("CITATION.cff", "7.8.9", "7.8.8", "CITATION.cff"),
    ],
)
def test_versions_that_disagree(project: Path, name: str, old: str, new: str, named: str) -> None:
    change(project, name, old, new)
    git(project, "commit", "--all", "--message", "Another version")
    status, _, [problem] = release(project, "--tag")
    assert status == 1
    assert problem.startswith(f"{named}: ")
    assert git(project, "tag") == ""


def test_every_problem_is_told_at_once(project: Path) -> None:
    git(project, "switch", "--quiet", "--create", "other")
    change(project, "spotgeo_frames/support/version.py", "7.8.9", "7.9")
    status, _, problems = release(project, "--dry-run")
    assert status == 1
    assert [problem.partition(":")[0].partition(" ")[0] for problem in problems] == [
        "the",  # working tree
        "the",  # branch
        "spotgeo_frames/support/version.py",
        "CITATION.cff",
        "CHANGELOG.md",
    ]
