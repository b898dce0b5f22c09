"""What the messages of a browser ask for, checked: they may be of another version, or of anyone who reaches the kernel.

Each function raises InputError, whose text is the answer, where a message does not have what it needs.
"""

from collections.abc import Mapping
from typing import Any, TypeGuard

from ...support.errors import InputError
from ..viewer.packing import valid_text
from .contents import Contents

# What messages show of a value.
LONGEST_SHOWN = 60


def message_of(content: Any) -> Mapping[str, Any]:
    """A message as its values by name."""
    if not isinstance(content, Mapping):
        raise InputError(f"explore: a message is {_shown(content)}; an object with ask is needed")
    return content


def identity_of(content: Any) -> int | str | None:
    """What a message is called by, which its answer repeats; None where that is neither a small integer nor text."""
    given = content.get("id") if isinstance(content, Mapping) else None
    return valid_text(given) if isinstance(given, str) else given if _is_integer(given) and _is_small(given) else None


def position_in(asked: Mapping[str, Any], name: str, n: int) -> int:
    """The position that a message names, from 0 to below `n`."""
    return _position(asked.get(name), name, n)


def object_in(asked: Mapping[str, Any], contents: Contents) -> tuple[str, int, int] | None:
    """The side, the position of the match table, and the position among all of its side of an object; None for none."""
    given = asked.get("object")
    if given is None:
        return None
    sides = {"truth": contents.truths, "predicted": contents.predictions}
    if not (isinstance(given, list) and len(given) == 3 and isinstance(given[0], str) and given[0] in sides):
        needed = 'such as ["truth", 0, 5], or null, is needed'
        raise InputError(f"explore: object is {_shown(given)}; a side, a match table and a position, {needed}")
    rows = sides[given[0]]
    table = _position(given[1], "object[1]", len(rows))
    return given[0], table, _position(given[2], "object[2]", len(rows[table]))


def flag_in(asked: Mapping[str, Any], name: str) -> bool:
    """Whether a message says so; not where it says nothing of it."""
    given = asked.get(name, False)
    if not isinstance(given, bool):
        raise InputError(f"explore: {name} is {_shown(given)}; true or false is needed")
    return given


def text_in(asked: Mapping[str, Any], name: str) -> str:
    """The text that a message names; an empty one for null."""
    given = asked.get(name)
    if not isinstance(given, str | None):
        raise InputError(f"explore: {name} is {_shown(given)}; a text or null is needed")
    return valid_text(given or "")


def _position(given: Any, name: str, n: int) -> int:
    if not (_is_integer(given) and 0 <= given < n):
        raise InputError(f"explore: {name} is {_shown(given)}; an integer from 0 to below {n:,} is needed")
    return int(given)


def _is_integer(given: Any) -> TypeGuard[int]:
    return isinstance(given, int) and not isinstance(given, bool)


def _is_small(given: int) -> bool:
    """Whether an integer has no more bits than those of any language; Python refuses to write thousands of digits."""
    return given.bit_length() <= 64


def _shown(given: Any) -> str:
    """A value as messages show it, cut if it is long."""
    if _is_integer(given) and not _is_small(given):
        return f"an integer of {given.bit_length():,} bits"
    kind = type(given)
    if kind in (list, dict):
        return f"{'a list' if kind is list else 'an object'} of {len(given):,}"
    text = valid_text(repr(given))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
