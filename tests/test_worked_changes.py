"""docs/worked_changes.md: its changes still fit the code, so whoever follows the page gets through."""

import os
import re
import shutil
import subprocess

import pytest

from helpers.reference import PROJECT

PAGE = (PROJECT / "docs" / "worked_changes.md").read_text("utf-8")
DIFFS = re.findall(r"^```diff\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
NEW = re.findall(r"^New: `([^`\n]+)`\n\n```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("position", range(len(DIFFS)))
def test_diffs_apply(position: int) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not here")
    # Without a repository above, git takes the folder as it is, as in an unpacked source distribution.
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(PROJECT.parent)}
    done = subprocess.run(
        ["git", "apply", "--check", "-"],
        cwd=PROJECT,
        env=environment,
        input=DIFFS[position],
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("path", "code"), NEW, ids=[path for path, _ in NEW])
def test_new_files_are_code_and_take_no_place(path: str, code: str) -> None:
    compile(code, path, "exec")
    assert (PROJECT / path).parent.is_dir()
    assert not (PROJECT / path).exists()


def test_the_page_runs_tests_that_there_are_or_that_it_brings() -> None:
    brought = {path for path, _ in NEW}
    named = {*re.findall(r"tests/[\w/]+\.py", PAGE)}
    assert named
    assert [path for path in sorted(named - brought) if not (PROJECT / path).exists()] == []
