"""XML of unknown origin."""

import pytest

from helpers.problems import refused
from spotgeo_frames.support.documents import DEEPEST, LONGEST_TEXT, Element, read_elements


def elements(content: str) -> list[tuple[str, str, int]]:
    """The path, text and line of each element, in the order in which they end."""
    opened: list[Element] = []
    closed: list[tuple[str, str, int]] = []

    def end(element: Element, text: str) -> None:
        closed.append(("/".join(element.path), text, element.line))

    read_elements(content.encode(), "file.xml", opened.append, end)
    assert sorted(element.line for element in opened) == sorted(line for *_, line in closed)
    return closed


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8", "utf-16", "iso-8859-1"])
def test_encodings_that_every_parser_knows(encoding: str) -> None:
    found: list[str] = []
    content = f"<?xml version='1.0' encoding='{encoding}'?><a>ä</a>".encode(encoding)
    read_elements(content, "file.xml", lambda _: None, lambda _, text: found.append(text))
    assert found == ["ä"]


def test_elements_come_with_path_text_and_line() -> None:
    assert elements("<a>\n<b x='1'>one</b>\n<b/>\n</a>") == [("a/b", "one", 2), ("a/b", "", 3), ("a", "\n", 1)]


def test_characters_that_are_escaped() -> None:
    assert elements("<a>&lt;&#228;<![CDATA[<b>]]></a>") == [("a", "<ä<b>", 1)]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", 1),
        *((f"<?xml version='1.0' encoding='{name}'?><a/>", 1) for name in ("none", "rot13", "gb2312", "utf-7", "idna")),
        ("<a>\n<b>\n", 3),
        ("<a>\n</b>", 2),
        ("<a/>\n<a/>", 2),
        ("<a>\n&b;</a>", 2),
        ("\n<!DOCTYPE a [\n<!ENTITY b 'c'>]><a>&b;</a>", 2),
        ("<!DOCTYPE a SYSTEM 'http://localhost/a.dtd'><a/>", 1),
        ("<a>" * (DEEPEST + 1), 1),
        (f"<a>\n{'x' * (LONGEST_TEXT + 1)}</a>", 2),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(content: str, line: int) -> None:
    with refused(f"file.xml, line {line}"):
        elements(content)
