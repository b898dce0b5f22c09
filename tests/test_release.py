"""What a release consists of: its version in one place, who is cited, and workflows that pin what they run."""

import re
import tomllib

import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT

CITATION = (PROJECT / "CITATION.cff").read_text("utf-8")
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
MAKEFILE = (PROJECT / "Makefile").read_text("utf-8")


def cited(key: str) -> list[str]:
    """The values of a key of the citation, at any depth."""
    return re.findall(rf"^ *(?:- )?{key}: (.*)$", CITATION, re.MULTILINE)


def test_the_citation_says_what_the_package_says_of_itself() -> None:
    assert cited("version") == [sf.__version__]
    assert cited("license") == [PYPROJECT["license"]]
    assert re.findall(r"^  - (\w+)$", CITATION, re.MULTILINE) == PYPROJECT["keywords"]


def test_the_citation_names_the_developers_and_invents_nothing() -> None:
    assert cited("name") == ["The spotgeo_frames developers"]
    for key in ("url", "repository", "repository-code", "doi", "email", "orcid", "family-names", "affiliation"):
        assert cited(key) == []
    assert not re.search(r"https?:|@|10\.\d{4}/", CITATION)


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    headings = re.findall(r"^## (\d+\.\d+\.\d+)", (PROJECT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == sf.__version__


def test_the_project_claims_the_versions_of_python_that_workflows_test() -> None:
    claimed = re.findall(r"Python :: (3\.\d+)", " ".join(PYPROJECT["classifiers"]))
    workflow = (PROJECT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    listed = re.findall(r"python: (\[.*\])", workflow)  # all tests, and those with the lowest versions
    assert [re.findall(r"3\.\d+", versions) for versions in listed] == [claimed] * 2


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
    listed = re.findall(r"'\.\[([\w,-]+)\]'|extras: \[?([\w,-]+)", text)
    assert listed
    assert {name for pair in listed for names in pair if names for name in names.split(",")} <= {
        *PYPROJECT["optional-dependencies"]
    }
