"""Parses the texts of a command line to the arguments of a command, and formats help and messages on wrong usage."""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn

from ..support import without_secrets
from .option_kinds import BETWEEN, Argument, Command
from .printing import WrongUsage, one_line, tell
from .terminal import styled

PROGRAM = "spotgeo-frames"
PURPOSE = "Evaluates detectors and trackers: says how good a submission is, and where and why it fails."
HELP = Argument("--help", "Show this message and exit.", {"action": "store_true", "default": argparse.SUPPRESS})
SHORT_HELP = "-h"
QUIET = Argument(
    "--quiet",
    "Print the result and errors only: no progress, warnings or hints; -q for short",
    {"action": "store_true"},
)
QUIETLY = (QUIET.name, "-q")
SHORT = {SHORT_HELP: HELP.name, "-q": QUIET.name}
VERSION = HELP._replace(name="--version", help="Show the version and exit.")
OF_PROGRAM = [VERSION, QUIET, HELP]


class Layout(argparse.HelpFormatter):
    """The layout of the help: argparse's, with more room for the names of options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)

    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, prefix or "Usage: ")


class Parser(argparse.ArgumentParser):
    """A parser that reports wrong usage as all commands do."""

    def error(self, message: str) -> NoReturn:
        """Prints the usage and then what is wrong, in one line on standard error, and exits with status 2."""
        problem = one_line(without_secrets(message))
        usage = f"{self.format_usage()}Try '{self.prog} {HELP.name}' for help."
        tell(f"{usage}\n\n{styled('Error:', 'red')} {problem}", is_problem=True)
        sys.exit(2)


def program_parser(commands: Mapping[str, Command]) -> Parser:
    """Returns a parser for the help that lists the commands, and for wrong usage before there is a command."""
    parser = _parser(PROGRAM, "COMMAND [ARGS]...", PURPOSE)
    _add(parser, "Options", OF_PROGRAM)
    # A group of arguments has the layout that a list of commands needs; nothing is parsed by it.
    _add(parser, "Commands", [Argument(name, command.help, {}) for name, command in commands.items()])
    return parser


def command_parser(name: str, command: Command) -> Parser:
    """Returns a parser for the arguments of one command."""
    arguments = [argument for argument in command.arguments if not _is_option(argument)]
    options = [argument for argument in command.arguments if _is_option(argument)]
    usage = " ".join(argument.details["metavar"] for argument in arguments)
    parser = _parser(f"{PROGRAM} {name}", usage, command.help, command.notes)
    _add(parser, "Arguments", arguments)
    _add(parser, "Options", [*options, QUIET, HELP])
    return parser


def _parser(program: str, usage: str, help: str, notes: str = "") -> Parser:
    """Returns a parser without arguments."""
    return Parser(
        prog=program,
        usage=f"%(prog)s [OPTIONS] {usage}",
        description=help,
        epilog=notes,
        formatter_class=Layout,
        add_help=False,
        allow_abbrev=False,
    )


def _add(parser: Parser, title: str, arguments: Iterable[Argument]) -> None:
    """Adds arguments to a parser, under a title of their own in its help."""
    group = parser.add_argument_group(title)
    for argument in arguments:
        name, help, details = argument
        needed = _has_value(argument) and details.get("required", not _is_option(argument))
        group.add_argument(name, help=f"{help} [required]" if needed else help, **details)


def _is_option(argument: Argument) -> bool:
    """Whether this is an option rather than an argument that is told by its place."""
    return argument.name.startswith("--")


def _has_value(argument: Argument) -> bool:
    """Whether a value is given with this option, or for this argument."""
    return "metavar" in argument.details


def parsed(parser: Parser, command: Command, texts: Sequence[str]) -> dict[str, Any] | None:
    """Parses the texts that follow the name of a command to the arguments of its function; None if they ask for help.

    Raises WrongUsage or exits with status 2 if the texts are not what the command takes.
    """
    known = {argument.name: argument for argument in [*command.arguments, QUIET, HELP] if _is_option(argument)}
    options, others = _apart(texts, known, command.instead)
    if HELP.name in options:
        return None
    return vars(parser.parse_args([*options, "--", *others]))


def _apart(
    texts: Sequence[str], known: Mapping[str, Argument], instead: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Separates options, each joined with its value as in --tau=3, from arguments that are told by their place.

    An option takes as many values as its `metavar` has words. Left to itself, argparse takes a value such as -5,3 for
    an option, and refuses files on both sides of an option.
    """
    options: list[str] = []
    others: list[str] = []
    rest = iter(texts)
    for text in rest:
        name, equals, given = SHORT.get(text, text).partition("=")
        if text == "--":
            # argparse would drop a file that is called --.
            others.extend(os.path.join(os.curdir, file) if file == "--" else file for file in rest)
        elif not text.startswith("-") or text == "-":
            others.append(text)
        elif name not in known:
            if name in instead:
                raise WrongUsage(f"No such option '{name}'; {instead[name]}")
            raise WrongUsage(no_such("option", name, [*known]))
        elif not _has_value(known[name]):
            if equals:
                raise WrongUsage(f"option {name} takes no value; leave out '{text[len(name) :]}'")
            options.append(name)
        else:
            metavar = known[name].details["metavar"]
            n_values = len(metavar.split())
            values = [*([given] if equals else []), *islice(rest, n_values - bool(equals))]
            if len(values) < n_values:
                raise WrongUsage(f"option {name} needs {'a value' if n_values == 1 else 'values'}: {metavar}")
            options.append(f"{name}={BETWEEN.join(values)}")
    return options, others


def no_such(kind: str, name: str, known: Sequence[str]) -> str:
    """Returns the message on an unknown command or option, with the known names that are like it, or else all."""
    from difflib import get_close_matches  # only wrong usage needs it

    near = get_close_matches(name, known)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
    return f"No such {kind} '{name}'; {hint}"
