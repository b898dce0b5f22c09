"""The docstrings of public names have one form: a summary, then sections that name every argument, and an example."""

import inspect
import re
from typing import Any

import pytest

from helpers.user_script import example_of, public_callables

SECTION = re.compile(r"^([A-Z]\w+)\n(-{3,})\n", re.MULTILINE)
ENTRY = re.compile(r"^(\w+(?:, \w+)*)\n(?= )", re.MULTILINE)
ORDER = ["Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples"]
PUBLIC = public_callables()
FUNCTIONS = [name for name, value in PUBLIC.items() if inspect.isfunction(value)]


def parts(value: Any) -> tuple[str, dict[str, str]]:
    """What stands before the sections of a docstring, and the sections by their titles."""
    head, *rest = SECTION.split(inspect.getdoc(value) or "")
    assert all(len(title) == len(line) for title, line in zip(rest[::3], rest[1::3], strict=True))
    return head, dict(zip(rest[::3], rest[2::3], strict=True))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_begins_with_one_sentence_and_has_its_sections_in_order(name: str) -> None:
    head, sections = parts(PUBLIC[name])
    summary = head.partition("\n\n")[0]
    assert re.fullmatch(r"[A-Z][^\n]*\.", summary), summary
    assert list(sections) == [title for title in ORDER if title in sections]
    assert "Examples" in sections


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_describes_every_argument_and_no_other(name: str) -> None:
    named = ENTRY.findall(parts(PUBLIC[name])[1].get("Parameters", ""))
    assert sorted(one for entry in named for one in entry.split(", ")) == sorted(
        inspect.signature(PUBLIC[name]).parameters
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_example_calls_its_function_as_users_do(name: str) -> None:
    assert f"sf.{name}(" in example_of(name, PUBLIC[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_says_what_is_returned_if_anything_is(name: str) -> None:
    returns = inspect.signature(PUBLIC[name]).return_annotation
    assert "Returns" in parts(PUBLIC[name])[1] or returns in (None, "None")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_names_the_errors_in_one_form(name: str) -> None:
    raises = parts(PUBLIC[name])[1].get("Raises", "")
    entries = [line for line in raises.splitlines() if line and not line.startswith(" ")]
    assert [line for line in entries if not re.match(r"[A-Z]\w+(, [A-Z]\w+)*: ", line)] == []
