"""What the author of a page asks for: sections, a title, a note, HTML or Markdown; checked before any work."""

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from ...support import InputError, is_text

Format = Literal["html", "md"]

# What the names of files of each format end in.
ENDINGS: dict[str, tuple[str, ...]] = {"html": (".html", ".htm"), "md": (".md", ".markdown")}

# The most characters of a title, and of a note.
LONGEST_TITLE, LONGEST_NOTE = 200, 20_000


class Asked(NamedTuple):
    """What a page is asked to be.

    Attributes
    ----------
    sections
        The names of its sections, in their order; None for all.
    title, note
        A title, and a note in Markdown; empty where there is none.
    format
        What is written.
    """

    sections: list[str] | None = None
    title: str = ""
    note: str = ""
    format: Format = "html"


def asked_of(
    path: Path, sections: Sequence[str] | None, title: str | None, note: str | None, format: Format | None
) -> Asked:
    """Checks what is asked for, and what each format has; without a `format` the ending of the path tells it.

    Raises ValueError for what no page can have, and InputError for a note that none can have.
    """
    chosen = _format_of(path, format)
    if chosen == "md" and sections is not None:
        raise ValueError("report: Markdown has no sections; leave out `sections`, or write HTML")
    return Asked(_sections(sections), _title(title), _note(note), chosen)


def _format_of(path: Path, format: Format | None) -> Format:
    """The format that is said, or that the ending of a path tells; HTML without a word."""
    told: Format = "md" if path.suffix.lower() in ENDINGS["md"] else "html"
    if format is None:
        return told
    if format not in get_args(Format):
        raise ValueError(f"report: format is {format!r}; 'html' or 'md' is needed")
    others = [ending for name, endings in ENDINGS.items() if name != format for ending in endings]
    if path.suffix.lower() in others:
        raise ValueError(f"report: the format is {format}, but {path.name} ends in {path.suffix}; give it another name")
    return format


def _sections(sections: Sequence[str] | None) -> list[str] | None:
    """The names of sections, all of them known and each there once; None for all."""
    if sections is None:
        return None
    from .sections import NAMES  # imported here, since its charts need the extra

    given = [sections] if isinstance(sections, str) else [*sections]
    if not given:
        raise ValueError(f"report: sections has no name; leave it out for all, or give some of {_listed(NAMES)}")
    for name in given:
        if name not in NAMES:
            near = difflib.get_close_matches(str(name), NAMES, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise ValueError(f"report: sections: there is no {name!r}; {hint}The sections are {_listed(NAMES)}")
    twice = [name for place, name in enumerate(given) if name in given[:place]]
    if twice:
        raise ValueError(f"report: sections: {twice[0]} is there twice; name each section once")
    return given


def _listed(names: Iterable[str]) -> str:
    """Names as a list."""
    return ", ".join(names)


def _title(title: str | None) -> str:
    """A title, in one line."""
    if title is None:
        return ""
    if not isinstance(title, str) or not title.strip() or not is_text(title):
        raise ValueError(f"report: title is {title!r}; a text that is not empty is needed")
    text = re.sub(r"\s+", " ", title).strip()
    if len(text) > LONGEST_TITLE:
        raise ValueError(f"report: title has {len(text):,} characters; at most {LONGEST_TITLE} are possible")
    return text


def _note(note: str | None) -> str:
    """A note in Markdown."""
    if note is None:
        return ""
    if not isinstance(note, str) or not note.strip() or not is_text(note):
        raise InputError("report: note is no text, or empty; Markdown is needed")
    if len(note) > LONGEST_NOTE:
        most = f"at most {LONGEST_NOTE:,} are possible; link to what is longer"
        raise InputError(f"report: note has {len(note):,} characters; {most}")
    return note
