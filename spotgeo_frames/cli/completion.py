"""The command `completion`."""

import argparse
from pathlib import Path

from ..support import packages
from .answers import Answer
from .commands import COMMANDS
from .option_kinds import Argument
from .submissions import submission
from .usage import HELP, PROGRAM, QUIET


def completion(shell: str) -> Answer:
    """The script by which a shell completes commands, options, their values and files; shtab writes it."""
    packages.check_extra("completion", "completion")
    import shtab

    parser = argparse.ArgumentParser(PROGRAM, add_help=False)
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, command in COMMANDS.items():
        of_command = commands.add_parser(name, help=command.help, add_help=False)
        for argument in (*command.arguments, QUIET, HELP):
            _add(of_command, argument)
    return Answer(lambda: shtab.complete(parser, shell))


def _add(parser: argparse.ArgumentParser, argument: Argument) -> None:
    """Adds an argument: one of few values is completed by these, and one that is a file by files."""
    import shtab

    action = parser.add_argument(argument.name, help=argument.help, **argument.details)
    values = str(action.metavar or "").split("|")
    if len(values) > 1:
        action.choices = values
    elif action.type in (Path, submission) or not action.option_strings:  # all arguments told by their place are files
        action.complete = shtab.FILE  # type: ignore[attr-defined]
