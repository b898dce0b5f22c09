"""The one function that prints: what a name, a path or a message holds never acts on the terminal."""

import json
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

    So are characters that the encoding of the output does not have. A name with a line break has to go through
    `one_line` before it gets into the text. Raises OSError, with the name of the output, if it cannot be written to.
    """
    file = sys.stdout if file is None else file
    if file is None:  # the process was started without one
        return
    try:
        print(_encodable("\n".join(map(one_line, text.split("\n"))), file.encoding or "utf-8"), file=file, flush=True)
    except OSError as error:
        name = "standard output" if file is sys.stdout else "standard error"
        raise OSError(error.errno, error.strerror, name) from None


def _encodable(text: str, encoding: str) -> str:
    """A text in which characters that an encoding does not have are escaped; as JSON does it, since it may be JSON."""
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        return "".join(char if char.encode(encoding, "ignore") else json.dumps(char)[1:-1] for char in text)
