"""The entry point of the command line: finds the command, and imports and runs the function that does its work.

The exit status is 0 for success; 1 for input that cannot be accepted, with each problem on a line of standard error; 2
for wrong usage; 3 where `gate` finds a check not passed; and 128 with the number of a signal added if one ended the
command.
"""

import os
import signal
import sys
from codecs import lookup
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from io import TextIOWrapper
from itertools import takewhile
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from ..support import __version__, addresses, first_line, lacks_memory, work
from .commands import COMMANDS
from .printing import WrongUsage, memory_text, one_line, problems_reported, tell
from .terminal import styled
from .usage import (
    HELP,
    OF_PROGRAM,
    PROGRAM,
    QUIETLY,
    SHORT_HELP,
    VERSION,
    command_parser,
    no_such,
    parsed,
    program_parser,
)

if TYPE_CHECKING:
    from .answers import Answer

# The signals that end a command: Ctrl-C, a request of the system, and the closing of a terminal, which Windows lacks.
ENDINGS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

# The signal by which a command looks again whether it can end at once, and after how many seconds.
ALARM = [signal.SIGALRM] if hasattr(signal, "SIGALRM") else []  # Windows has none
RETRY = 0.02


def run(texts: Sequence[str]) -> None:
    """Runs the command that these texts, the arguments of the process, name and describe.

    Exits with status 1 if input cannot be accepted, and with status 2 if the usage is wrong.
    """
    before = [*takewhile(("--", *QUIETLY).__contains__, texts)]
    texts = texts[len(before) :]
    if not texts:
        from .here import beginning, suggestions  # which no command needs

        tell(suggestions() or f"{program_parser(COMMANDS).format_help().rstrip()}\n\n{beginning()}")
        return
    name, *rest = texts
    if name in COMMANDS:
        _run_command(name, [*(text for text in before if text != "--"), *rest])
    elif name in (HELP.name, SHORT_HELP):
        tell(program_parser(COMMANDS).format_help().rstrip())
    elif name == VERSION.name:
        tell(f"{PROGRAM} {__version__}")
    elif name.startswith("-"):
        known = ", ".join(argument.name for argument in OF_PROGRAM)
        program_parser(COMMANDS).error(f"No such option '{name}' before the command; known: {known}")
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
            _check_working_folder()
            function = getattr(import_module(f".{command.module}", __package__), command.function)
            with addresses.copies_kept(), work.quiet() if given.pop("quiet") else nullcontext():
                _answer(function, given)
    except WrongUsage as error:
        parser.error(str(error))


def _answer(function: Callable[..., "Answer"], given: dict[str, Any]) -> None:
    """Prints the answer of a function that does the work of a command; exits with its status unless that is 0."""
    as_json = given.pop("as_json", False)
    with problems_reported():
        if "epsilon" in given:  # the command takes a rule
            from .arguments import with_how  # imported only here: help and repartition match nothing

            given = with_how(given)
        if "video" in given:
            from .videos import with_videos  # imported only here, as above

            given = with_videos(given)
        answer = function(**given)
    tell(answer.json() if as_json else answer.text())
    for complaint in answer.complaints if as_json else ():
        tell(one_line(complaint), is_problem=True)
    if answer.status:
        sys.exit(answer.status)


def _check_working_folder() -> None:
    """Raises OSError, with a name, if the working directory is gone; later errors would have none."""
    try:
        os.getcwd()
    except OSError as error:
        raise OSError(error.errno, error.strerror, "the working directory") from None


def main() -> None:
    """Runs the command line; whatever ends it from outside is told in one line."""
    for ending in ENDINGS:
        if signal.getsignal(ending) is not signal.SIG_IGN:  # under nohup, the closing of a terminal stays ignored
            signal.signal(ending, _end)
    # Texts have signs such as px², and JSON is UTF-8.
    if isinstance(sys.stdout, TextIOWrapper) and lookup(sys.stdout.encoding).name == "ascii":
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        run(sys.argv[1:])
    except BrokenPipeError:  # the reader has gone, and knows it
        _fail("")
    except Exception as error:
        if lacks_memory(error):
            _fail(memory_text(error))
        if not isinstance(error, OSError):
            raise
        name = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        _fail(f"{name}{first_line(error)}")
    except KeyboardInterrupt as error:
        [ended_by] = error.args or [signal.SIGINT]
        _fail(f"ended by {signal.Signals(ended_by).name}", 128 + ended_by)
    finally:  # what is left to do takes no time
        for ending in [*ENDINGS, *ALARM]:
            signal.signal(ending, signal.SIG_IGN)


def _end(ended_by: int, frame: FrameType | None) -> None:
    """Ends a command that is told to end from outside; on the way out it removes its unfinished files.

    Where that would be lost, it waits: modules that are being loaded, such as NumPy, would say that they are not
    installed well, and Python ignores errors in `__del__`.
    """
    while frame is not None and not (
        frame.f_code.co_filename.startswith("<frozen importlib") or frame.f_code.co_name == "__del__"
    ):
        frame = frame.f_back
    if frame is None or not ALARM:
        raise KeyboardInterrupt(ended_by)
    signal.signal(signal.SIGALRM, lambda _, later: _end(ended_by, later))
    signal.setitimer(signal.ITIMER_REAL, RETRY)


def _fail(text: str, status: int = 1) -> NoReturn:
    """Exits with a line on standard error, if there is a text, and if it can be written to."""
    with suppress(OSError):
        if text:
            tell(styled(one_line(text), "red"), is_problem=True)
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):  # what is unwritten gives no other error at the end of the process
            os.dup2(nowhere, stream)
    sys.exit(status)
