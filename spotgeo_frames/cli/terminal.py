"""The terminal that a command prints to: how wide it is, whether it has colours, and the marks of what is coloured.

A mark is a character that no text has: `one_line` of `printing` escapes it in names, and `tell` turns it into a colour
where the terminal has colours, and into nothing elsewhere. So no name can colour anything.
"""

import os
import re
import sys
from typing import TextIO

# The styles with their codes (ECMA-48): headline numbers, notes, errors, what passed, warnings.
CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
MARKS = {style: chr(0xE000 + at) for at, style in enumerate(CODES)}
END = chr(0xE000 + len(CODES))
SEQUENCES = {MARKS[style]: f"\x1b[{code}m" for style, code in CODES.items()} | {END: "\x1b[0m"}
MARK = re.compile(f"([{MARKS['bold']}-{END}])")

# Narrower terminals break lines themselves; and the longest line of prose where no terminal says how wide it is.
NARROWEST = 60
PROSE = 100


def styled(text: str, style: str) -> str:
    """Marks each line of a text, whose names went through `one_line`, to be shown in a style."""
    return "\n".join(f"{MARKS[style]}{line}{END}" if line else line for line in text.split("\n"))


def has_colours(file: TextIO) -> bool:
    """Whether colours are wanted (https://no-color.org, https://force-color.org) and the output can show them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    # Of consoles of Windows, only its newer terminal knows the codes without being asked.
    knows_codes = sys.platform != "win32" or "WT_SESSION" in os.environ
    return knows_codes and os.environ.get("TERM") != "dumb" and is_terminal(file)


def is_terminal(file: TextIO | None) -> bool:
    """Whether a stream is there and open, and shows what is written to it to people."""
    return file is not None and not file.closed and file.isatty()


def width(file: TextIO | None = None) -> int | None:
    """The most columns of a line on standard output, or on another stream; None where no terminal limits them.

    The variable COLUMNS goes first, so that it also breaks lines for a pager.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return max(int(given), NARROWEST)
    file = sys.stdout if file is None else file
    if not is_terminal(file):
        return None
    try:
        columns = os.get_terminal_size(file.fileno()).columns
    except (OSError, ValueError):  # a stream that only says that it is a terminal
        return None
    return max(columns, NARROWEST) if columns else None  # 0 where it does not know
