"""XML of unknown origin, read element by element with bounded memory.

Documents that declare a type or entities are refused, so nothing is expanded and nothing outside is read. Elements are
given as they end, so the document as a whole is never in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from xml.parsers import expat

from .errors import InputError

# The encodings that every parser of XML knows; those of Python would do more than decode.
ENCODINGS = ("utf-8", "utf-16", "iso-8859-1", "us-ascii")

# No real document nests deeper, or has longer texts between two tags; more of either is meant to fill the memory.
DEEPEST, LONGEST_TEXT = 64, 1 << 20


class Element(NamedTuple):
    """An element: the names of those around it and of itself, its attributes, and the line on which it begins."""

    path: tuple[str, ...]
    attributes: dict[str, str]
    line: int


def read_elements(
    content: bytes, name: str, opened: Callable[[Element], None], closed: Callable[[Element, str], None]
) -> None:
    """Calls `opened` where each element begins, and `closed`, with the text at its end, where it ends.

    Raises InputError, naming the file and the line, if this is no whole XML document or declares a type or entities.
    What the two functions raise is passed on.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    around: list[tuple[Element, list[str]]] = []

    def refuse(what: str) -> InputError:
        return InputError(f"{name}, line {parser.CurrentLineNumber}: {what}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(around) >= DEEPEST:
            raise refuse("elements are nested too deeply")
        outer = around[-1][0].path if around else ()
        if around:
            around[-1][1].clear()  # only texts of elements without others in them are asked for
        element = Element((*outer, tag), attributes, parser.CurrentLineNumber)
        around.append((element, []))
        opened(element)

    def end(_tag: str) -> None:
        element, texts = around.pop()
        closed(element, "".join(texts))

    def text(part: str) -> None:
        texts = around[-1][1]
        if sum(map(len, texts)) + len(part) > LONGEST_TEXT:
            raise refuse(f"a text is longer than {LONGEST_TEXT:,} characters")
        texts.append(part)

    def decoded(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            raise refuse(f"is encoded as {encoding[:30]!r}; UTF-8 is needed")

    def declared(*_: object) -> None:
        raise refuse("declares a document type or an entity, which no tool of annotation writes; take it out")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.XmlDeclHandler = decoded
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = declared
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        hint = "; the file is cut short, or it is no XML" if error.code in _CUT_SHORT else "; XML is needed"
        raise InputError(f"{name}, line {error.lineno}: {what}{hint}") from None


_CUT_SHORT = {
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
