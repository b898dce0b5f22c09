"""What the commands print: no name, path or message acts on the terminal, and errors and warnings are one line each."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from ..support import InputError, SliceError, first_line, lacks_memory, work
from .terminal import END, MARK, SEQUENCES, has_colours, is_terminal, styled, width

WARNING = "warning:"

# The count of problems that most commands print.
MOST_PRINTED = 10

# What follows problems that a call of `tidy` mends.
TIDY_HINT = "hint: --columns, such as --columns frame=image_id, calls tidy, which finds other usual names by itself"
TIDY_HINT += "; a --dataset has to be tidied before"


def one_line(text: str) -> str:
    """Escapes line breaks and other unprintable characters of keys and paths, so that the text stays on one line.

    These are also the codes that colour a terminal or move its cursor, and the marks that reverse the direction of
    text.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def tell(text: str, *, is_problem: bool = False) -> None:
    """Prints lines of text, problems on standard error; unprintable characters but line breaks are escaped.

    So are characters that the encoding of the output does not have. Marks of styles become colours where the output has
    colours. A name with a line break has to go through
    `one_line` before it gets into the text. Raises OSError, with the name of the output, if it cannot be written to.
    """
    file: TextIO | None = sys.stderr if is_problem else sys.stdout
    if file is None:  # the process was started without one
        return
    coloured = has_colours(file)
    shown = "\n".join(_painted(line, coloured=coloured) for line in text.split("\n"))
    try:
        print(_encodable(shown, file.encoding or "utf-8"), file=file, flush=True)
    except OSError as error:
        name = "standard error" if is_problem else "standard output"
        raise OSError(error.errno, error.strerror, name) from None


def _painted(line: str, *, coloured: bool) -> str:
    """A line with colours where it is marked, or without marks, and with all else escaped that is unprintable."""
    if line.isprintable():
        return line
    parts = MARK.split(line)  # every other one is a mark
    painted = [(SEQUENCES[part] if coloured else "") if at % 2 else one_line(part) for at, part in enumerate(parts)]
    return "".join([*painted, SEQUENCES[END]] if coloured and len(parts) > 1 and parts[-2] != END else painted)


def _encodable(text: str, encoding: str) -> str:
    """A text in which characters that an encoding does not have are escaped; as JSON does it, since it may be JSON."""
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        return "".join(char if char.encode(encoding, "ignore") else json.dumps(char)[1:-1] for char in text)


class WrongUsage(Exception):
    """An option or argument that a command cannot be run with; the message names it and says what is needed."""


@contextmanager
def wrong_usage(before: str = "") -> Iterator[None]:
    """Raises a ValueError of an argument, though no InputError of files, as WrongUsage, with `before` put first."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise WrongUsage(f"{before}{error}") from None


@contextmanager
def problems_reported(most: int | None = MOST_PRINTED) -> Iterator[None]:
    """Prints the problems of an error on standard error, one line each, and exits with status 1.

    At most `most` problems are printed, and a last line counts the others; None prints all. Warnings are printed, too,
    and do not change the status. A column that cannot be sliced by is raised as WrongUsage.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)  # what libraries say to those who write programs
        warnings.simplefilter("ignore", ResourceWarning)  # of files that were open when the command was told to end
        try:
            yield
        except SliceError as error:
            raise WrongUsage(f"--by: {error}") from None
        except InputError as error:
            for problem in error.problems[:most]:
                _complain(problem)
            n_more = len(error.problems[most:]) if most is not None else 0
            if n_more:
                _complain(f"and {n_more:,} more {'problem' if n_more == 1 else 'problems'}")
            if any("tidy(table" in problem for problem in error.problems):
                remark(TIDY_HINT)
            raise SystemExit(1) from None
        except Exception as error:
            if lacks_memory(error):
                _complain(memory_text(error))
            elif isinstance(error, ImportError):  # an extra is not installed
                _complain(str(error))
            else:
                raise
            raise SystemExit(1) from None
        finally:
            for warning in caught:
                remark(f"{WARNING} {warning.message}")


def memory_text(error: Exception) -> str:
    """What is said of an error that lacks memory."""
    return f"there is not enough memory: {first_line(error)}" if str(error) else "there is not enough memory"


def _complain(text: str) -> None:
    """Prints one line on standard error that says what is wrong."""
    tell(styled(_wrapped(one_line(text)), "red"), is_problem=True)


def remark(text: str) -> None:
    """Prints one line on standard error that is no error, such as a warning or a hint, unless --quiet leaves it out."""
    if work.SHOWN.wanted:
        shown = _wrapped(one_line(text))
        head = WARNING if shown.startswith(WARNING) else ""
        tell(f"{styled(head, 'yellow')}{shown.removeprefix(head)}", is_problem=True)


def _wrapped(line: str) -> str:
    """A line for standard error: broken between words on a terminal only, since programs look for whole lines."""
    if not is_terminal(sys.stderr):
        return line
    from .layout import prose

    return prose(line, width=width(sys.stderr))
