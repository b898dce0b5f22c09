"""Tables and prose of a width: columns one beside the other, in blocks one below the other where they do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from unicodedata import combining, east_asian_width

from . import terminal
from .terminal import PROSE

# What stands for the middle of a name that is shortened, and the fewest characters that are left of one.
GAP = "..."
SHORTEST = 12


def aligned(columns: Mapping[str, Sequence[str]], n_keys: int = 1) -> str:
    """Formats columns of texts, by their headings, as a table of lines no longer than the terminal is wide.

    The first `n_keys` columns name the rows. What does not fit beside them follows in further blocks, each of which
    begins with them; so no column is left out. Long names lose their middle if they still differ from each other.
    """
    width = terminal.width()
    cells = [[heading, *texts] for heading, texts in columns.items()]
    keys, others = cells[:n_keys], cells[n_keys:]
    if width is not None:
        widest = max(map(_widest, others), default=0)
        keys = _fitting(keys, width, widest)
    blocks = [[*keys, *block] for block in _blocks(others, keys, width)]
    return "\n\n".join(map(_block, blocks))


def _fitting(keys: list[list[str]], width: int, widest: int) -> list[list[str]]:
    """Columns of names that take half the width, or what the widest other column leaves, if they can stay apart so.

    The longest are shortened. Long names would leave room for few columns, and make many blocks.
    """
    taken = sum(map(_widest, keys)) + len(keys) - 1
    left = width - widest - 1
    for room in (min(width // 2, left), left):
        if taken <= room:
            break
        short = [_shortened(column, max((room - len(keys) + 1) // max(len(keys), 1), SHORTEST)) for column in keys]
        if sum(map(_widest, short)) + len(keys) - 1 <= room:
            return short
    return keys


def _shortened(texts: list[str], most: int) -> list[str]:
    """The texts in at most so many columns, without their middle; as they are if two would be the same."""
    head = (most - len(GAP) + 1) // 2
    short = [text if length(text) <= most else _without_middle(text, head, most - len(GAP) - head) for text in texts]
    return short if len({*short}) == len({*texts}) else texts


def _without_middle(text: str, head: int, tail: int) -> str:
    """The first and last characters of a text that take so many columns, with a gap between them."""
    end = _within(text[::-1], tail)[::-1]
    return f"{_within(text, head)}{GAP}{end}"


def _within(text: str, most: int) -> str:
    """The first characters of a text that take at most so many columns."""
    taken = accumulate(map(length, text))
    return "".join(char for char, at in zip(text, taken, strict=True) if at <= most)


def _blocks(others: list[list[str]], keys: list[list[str]], width: int | None) -> list[list[list[str]]]:
    """The columns in as many blocks as they need beside the keys, which are about equally wide.

    So no block has a single column, while the one before it is full.
    """
    if width is None:
        return [others]
    start = sum(_widest(column) + 1 for column in keys) - 1
    needed = [_widest(column) + 1 for column in others]
    widths = range(start + max(needed, default=0), width)
    n_blocks = len(_filled(needed, width - start))
    room = next((most - start for most in widths if len(_filled(needed, most - start)) == n_blocks), width - start)
    ends = [0, *accumulate(_filled(needed, room))]
    return [others[begin:end] for begin, end in pairwise(ends)]


def _filled(needed: Sequence[int], room: int) -> list[int]:
    """How many columns go into each block, if each gets as many as its room holds, and one at least."""
    counts, taken = [0], 0
    for width in needed:
        if counts[-1] and taken + width > room:
            counts.append(0)
            taken = 0
        counts[-1] += 1
        taken += width
    return counts


def _block(columns: list[list[str]]) -> str:
    """The lines of columns that fit beside each other, all of them aligned to the right."""
    widths = [_widest(column) for column in columns]
    rows = zip(*columns, strict=True)
    return "\n".join(" ".join(map(_padded, row, widths)) for row in rows)


def _padded(text: str, width: int) -> str:
    return " " * (width - length(text)) + text


def _widest(column: Iterable[str]) -> int:
    return max(map(length, column), default=0)


def length(text: str) -> int:
    """How many columns a text without marks takes on a terminal, where characters of East Asia may take two."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def prose(text: str, first: str = "", width: int | None = None) -> str:
    """Breaks each line of a text between words, at a width or that of the terminal, or at PROSE columns without one.

    `first` stands before the first line; the others are indented by as much.
    """
    most = width or terminal.width() or PROSE
    return "\n".join(_broken(line, first, most) for line in text.split("\n"))


def _broken(line: str, first: str, most: int) -> str:
    """Breaks a line between words, where it is wider than allowed; longer words, such as paths, stay whole for copying.

    The module textwrap counts characters, of which some take two columns.
    """
    lines, indent = [], " " * length(first)
    at = first
    for gap, word in re.findall(r"(\s*)(\S+)", line):
        if at not in (first, indent) and length(at) + length(gap) + length(word) > most:
            lines.append(at)
            at = f"{indent}{word}"
        else:
            at += f"{gap}{word}"
    return "\n".join([*lines, at])


def sentence(text: str, first: str = "") -> str:
    """A text of names and numbers: on one line for pipes, which search for lines, and broken as prose on a terminal."""
    return f"{first}{text}" if terminal.width() is None else prose(text, first)


def note(text: str, indent: str = "") -> str:
    """A remark below numbers, as prose that stays in the background."""
    return terminal.styled(prose(text, indent), "dim")
