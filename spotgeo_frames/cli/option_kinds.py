"""What commands and their arguments are made of: kinds of options, and how the texts of their values are parsed."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from .submissions import submission

# What stands between the values of an option that takes several; no text of a command line can contain it.
BETWEEN = "\0"

# How a submission may be given.
NAMED = "NAME=PATH gives it another name than the file's"


class Argument(NamedTuple):
    """An argument, or an option if the name begins with --, and what else argparse's `add_argument` is told of it."""

    name: str
    help: str
    details: Mapping[str, Any]


class Command(NamedTuple):
    """A command: the module of this room and the function in it that run it, its help, and its arguments.

    The function takes each argument by its name without dashes, or by the argument's `dest`. The notes are a paragraph
    of help that the list of commands leaves out. `instead` says of options that only other commands have what is there
    in their place.
    """

    module: str
    function: str
    help: str
    arguments: tuple[Argument, ...]
    notes: str = ""
    instead: Mapping[str, str] = MappingProxyType({})


def argument(name: str, help: str, **details: Any) -> Argument:
    return Argument(name, help, details)


def flag(name: str, help: str, **details: Any) -> Argument:
    """An option without a value."""
    return argument(name, help, action="store_true", **details)


def path(name: str, help: str, **details: Any) -> Argument:
    """An option whose value is a path."""
    return argument(name, help, metavar="<path>", type=Path, **details)


def word(name: str, help: str, **details: Any) -> Argument:
    """An option whose value is a text."""
    return argument(name, help, metavar="<str>", **details)


def given(name: str, help: str, metavar: str, **details: Any) -> Argument:
    """A submission, or several."""
    return argument(name, f"{help}; {NAMED}", metavar=metavar, type=submission, **details)


def number(text: str) -> float:
    """Parses the value of an option that is a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number; give one such as 10 or 0.5") from None


def sequence_and_file(text: str) -> tuple[str, Path]:
    """Parses the two values of an option that are the name of a sequence and a path."""
    sequence, _, file = text.partition(BETWEEN)
    return sequence, Path(file)


def count(text: str) -> int:
    """Parses the value of an option that is a count."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no count; give an integer of 1 or more, such as 300")
    return int(text)


def numbers(text: str) -> list[float]:
    """Parses the value of an option that is a list of numbers."""
    return [number(item) for item in text.split(",")]


def words(text: str) -> list[str]:
    """Parses the value of an option that is a list of names."""
    return [name.strip() for name in text.split(",")]


def thresholds(text: str) -> list[float] | dict[str | None, float]:
    """Parses thresholds: a list of numbers, or of CLASS=NUMBER, where a number alone is that of all other classes."""
    if "=" not in text:
        return numbers(text)
    pairs = [item.rpartition("=") for item in text.split(",")]
    return {name or None: number(value) for name, _, value in pairs}
