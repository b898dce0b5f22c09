"""Documents of JSON, decoded into structs of a known form; and XML of unknown origin, read with bounded memory.

An error has the file and the place of whatever is wrong. XML that declares a type or entities is refused, so nothing is
expanded and nothing outside is read. Its elements are given as they end, so the document as a whole is never in memory.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import BinaryIO, NamedTuple, TypeVar
from xml.parsers import expat

import msgspec

from .errors import InputError
from .reading import check_no_nul

Document = TypeVar("Document")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def decode(content: bytes, form: type[Document], name: str) -> Document:
    """The document in a file's content; raises InputError with the place where it is not of this form."""
    if b"\0" in content:  # which the decoder does not look for in strings that it skips
        raise InputError(f"{name}: byte {content.index(0)}: is a NUL byte; JSON in UTF-8 is needed")
    with _problems_named(name), collector_paused():
        return msgspec.json.decode(content.removeprefix(BYTE_ORDER_MARK), type=form)


# A block of a list, which is decoded at once, has at least so many bytes, and ends between two objects.
BLOCK_BYTES = 1 << 22
BETWEEN_OBJECTS = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*\{")


def decode_blocks(stream: BinaryIO, form: type[Document]) -> Iterator[list[Document]]:
    """The objects of a list in a file, some at a time, so that neither all of them nor the file are in memory.

    Raises InputError, which does not tell the place, if the content is not of this form, or cannot be divided. A block
    that ended within a text, or within a list of an object, would be no whole document, and so could not be decoded.
    """
    with _problems_named(""), collector_paused():
        decoder = msgspec.json.Decoder(list[form])  # type: ignore[valid-type]
        content = stream.read(2 * BLOCK_BYTES).removeprefix(BYTE_ORDER_MARK)
        is_whole = False
        while not is_whole:
            if between := BETWEEN_OBJECTS.search(content, BLOCK_BYTES):
                yield decoder.decode(_without_nul(content[: between.start() + 1] + b"]"))
                content = b"[" + content[between.end() - 1 :]
            more = stream.read(max(BLOCK_BYTES, len(content)))  # so that a long object is not searched again and again
            is_whole, content = not more and not between, content + more
        yield decoder.decode(_without_nul(content))


def _without_nul(content: bytes) -> bytes:
    """The content of a document; raises InputError for a NUL byte, which the decoder skips within some strings."""
    if b"\0" in content:
        raise InputError("is no JSON in UTF-8")
    return content


def convert(value: object, form: type[Document], name: str) -> Document:
    """A decoded value in another form; raises InputError as `decode` does."""
    with _problems_named(name):
        return msgspec.convert(value, type=form)


@contextmanager
def _problems_named(name: str) -> Iterator[None]:
    """Turns what msgspec says of a value into an InputError with the file's name and the place."""
    try:
        yield
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what, _, place = str(error).partition(" - at `$")
        place = place.rstrip("`").removeprefix(".")
        what = what if what.startswith("JSON") else what[:1].lower() + what[1:]
        raise InputError(": ".join(filter(None, [name, place, what]))) from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None


# Threads that decode at the same time share the garbage collector: how many there are, and whether it ran before them.
_lock = Lock()
_decoding, _collected = 0, True


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection meanwhile: it would walk through all that decoding makes, and find no cycles."""
    global _decoding, _collected
    with _lock:
        if not _decoding:
            _collected = gc.isenabled()
            gc.disable()
        _decoding += 1
    try:
        yield
    finally:
        with _lock:
            _decoding -= 1
            if _collected and not _decoding:
                gc.enable()


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
    if not content.startswith((b"\xff\xfe", b"\xfe\xff")):  # text in UTF-16, which expat reads
        check_no_nul(content, name)
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
