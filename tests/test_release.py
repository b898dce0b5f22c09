"""What a release consists of: its version in one place, who is cited, and workflows that pin what they run."""

import re
import subprocess
import sys
import tomllib

import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT

CITATION = (PROJECT / "CITATION.cff").read_text("utf-8")
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (PROJECT / "Makefile").read_text("utf-8")
README = PROJECT / "README.md"

# A page whose second statement needs an extra that is missing, and the fourth its result.
PAGE = """```python
import spotgeo_frames as sf
drawn = needs_an_extra()
drawn.show()
drawn = 1
drawn + 1
```
"""


def cited(key: str) -> list[str]:
    """The values of a key of the citation, at any depth."""
    return re.findall(rf"^ *(?:- )?{key}: (.*)$", CITATION, re.MULTILINE)


def test_the_citation_has_the_version_of_the_package() -> None:
    assert cited("version") == [sf.__version__]


def test_the_citation_names_the_developers_and_invents_nothing() -> None:
    assert cited("name") == ["The spotgeo_frames developers"]
    for key in ("url", "repository", "repository-code", "doi", "email", "orcid", "family-names", "affiliation"):
        assert cited(key) == []
    assert not re.search(r"https?:|@|10\.\d{4}/", CITATION)


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    headings = re.findall(r"^## (\d+\.\d+\.\d+)", (PROJECT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == sf.__version__


def test_the_project_claims_the_versions_of_python_that_workflows_test() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    claimed = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    workflow = (PROJECT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    [listed] = re.findall(r"python: (\[.*\])", workflow)
    assert re.findall(r"3\.\d+", listed) == claimed


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_by_commit_and_may_only_read(path) -> None:
    text = path.read_text("utf-8")
    uses = re.findall(r"uses: (.*)", text)
    assert uses
    assert [use for use in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)] == []
    assert "\npermissions:\n  contents: read\n" in text
    assert "\nconcurrency:\n" in text
    assert "secrets." not in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_targets_and_extras_that_there_are(path) -> None:
    text = path.read_text("utf-8")
    for target in re.findall(r"run: make ([\w-]+)", text):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for listed in re.findall(r"'\.\[([\w,-]+)\]'", text):
        assert {*listed.split(",")} <= {*extras}


def try_readme(page: str, tmp_path, before: str) -> subprocess.CompletedProcess[str]:
    """Runs the statements of a page as .ci/try_readme.py does, with this code before."""
    (tmp_path / "page.md").write_text(page, "utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(PROJECT / '.ci')!r}); import builtins, try_readme\n{before}\n"
        "print(try_readme.run_statements(open('page.md', encoding='utf-8').read()))"
    )
    return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)


def test_the_readme_without_extras_leaves_out_what_needs_one(tmp_path) -> None:
    fails = (
        "def needs_an_extra():\n"
        "    raise ImportError(\"plots: install the extra: pip install 'spotgeo_frames[plots]'\")\n"
        "builtins.needs_an_extra = needs_an_extra"
    )
    done = try_readme(PAGE, tmp_path, fails)
    assert done.stdout.strip() == "(3, {'plots'})", done.stderr


def test_the_readme_without_extras_fails_where_no_extra_is_named(tmp_path) -> None:
    done = try_readme(
        PAGE, tmp_path, "def needs_an_extra(): import nothing_of_that_name\nbuiltins.needs_an_extra = needs_an_extra"
    )
    assert done.returncode == 1
    assert "nothing_of_that_name" in done.stderr


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a = 1  \n", "page.py:1: ends with spaces"),
        (b"a = 1\n<<<<<<< main\n", "page.py:2: is a leftover of a merge"),
        (b"a = 1\r\n", "page.py:1: ends as lines of Windows do"),
        (b"a = 1", "page.py: does not end with a line feed"),
        (b"#" * 2_000_000 + b"\n", "page.py: has more than 2,000,000 bytes"),
    ],
)
def test_hooks_find_what_nobody_wants_in_a_file(content: bytes, problem: str, tmp_path) -> None:
    (tmp_path / "page.py").write_bytes(content)
    (tmp_path / "good.py").write_bytes(b"a = 1\n")
    command = [sys.executable, str(PROJECT / ".ci" / "files.py"), "page.py", "good.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()) == (1, [problem])
