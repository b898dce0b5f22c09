"""The entry point of the command line: finds the command, and imports and runs the function that does its work.

The exit status is 0 for success; 1 for input that cannot be accepted, with each problem on a line of standard error;
and 2 for wrong usage.
"""

import os
import signal
import sys
from codecs import lookup
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

from .commands import COMMANDS
from .printing import tell
from .problems import WrongUsage
from .usage import HELP, command_parser, no_such, parsed, program_parser


def run(texts: Sequence[str]) -> None:
    """Runs the command that these texts, the arguments of the process, name and describe.

    Exits with status 1 if input cannot be accepted, and with status 2 if the usage is wrong.
    """
    if texts[:1] == ["--"]:
        texts = texts[1:]
    if not texts:
        tell(program_parser(COMMANDS).format_help().rstrip(), sys.stderr)
        sys.exit(2)
    name, *rest = texts
    if name in COMMANDS:
        _run_command(name, rest)
    elif name == HELP.name:
        tell(program_parser(COMMANDS).format_help().rstrip())
    elif name.startswith("-"):
        program_parser(COMMANDS).error(no_such("option", name, [HELP.name]))
    else:
        program_parser(COMMANDS).error(no_such("command", name, [*COMMANDS]))


def _run_command(name: str, texts: Sequence[str]) -> None:
    """Runs a command with the arguments that follow its name."""
    command = COMMANDS[name]
    parser = command_parser(name, command)
    try:
        given = parsed(parser, command, texts)
        if given is None:
            tell(parser.format_help().rstrip())
        else:
            work = getattr(import_module(f".{command.module}", __package__), command.function)
            work(**given)
    except WrongUsage as error:
        parser.error(str(error))


def main() -> None:
    """Runs the command line."""
    # A command that is terminated from outside still removes its unfinished files.
    for ending in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # under nohup, the closing of a terminal stays ignored
            signal.signal(ending, lambda signal_code, _: sys.exit(128 + signal_code))
    # Texts have signs such as px², and JSON is UTF-8.
    if isinstance(sys.stdout, TextIOWrapper) and lookup(sys.stdout.encoding).name == "ascii":
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        run(sys.argv[1:])
        sys.stdout.flush()  # so that a reader who has gone is noticed here, not at the end of the process
    except BrokenPipeError:
        for stream in (1, 2):  # what is unwritten goes nowhere, without another error at the end of the process
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
