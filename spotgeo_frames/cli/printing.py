"""The one function that prints: what a name, a path or a message holds never acts on the terminal."""

import sys
from typing import TextIO


def one_line(text: str) -> str:
    """Escapes line breaks and other unprintable characters of keys and paths, so that the text stays on one line.

    These are also the codes that colour a terminal or move its cursor, and the marks that reverse the direction of
    text.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def tell(text: str, file: TextIO | None = None) -> None:
    """Prints lines of text, on standard output unless told otherwise; unprintable characters but line breaks escaped.

    A name with a line break has to go through `one_line` before it gets into the text.
    """
    print("\n".join(map(one_line, text.split("\n"))), file=sys.stdout if file is None else file, flush=file is not None)
