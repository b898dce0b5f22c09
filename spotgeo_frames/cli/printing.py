"""What the commands print: no name, path or message acts on the terminal, and errors and warnings are one line each."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from ..support import InputError, SliceError, first_line, lacks_memory

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


def tell(text: str, file: TextIO | None = None) -> None:
    """Prints lines of text, on standard output unless told otherwise; unprintable characters but line breaks escaped.

    So are characters that the encoding of the output does not have. A name with a line break has to go through
    `one_line` before it gets into the text. Raises OSError, with the name of the output, if it cannot be written to.
    """
    file = sys.stdout if file is None else file
    if file is None:  # the process was started without one
        return
    try:
        print(_encodable("\n".join(map(one_line, text.split("\n"))), file.encoding or "utf-8"), file=file, flush=True)
    except OSError as error:
        name = "standard output" if file is sys.stdout else "standard error"
        raise OSError(error.errno, error.strerror, name) from None


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
                _complain(TIDY_HINT)
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
                _complain(f"warning: {warning.message}")


def memory_text(error: Exception) -> str:
    """What is said of an error that lacks memory."""
    return f"there is not enough memory: {first_line(error)}" if str(error) else "there is not enough memory"


def _complain(text: str) -> None:
    """Prints one line on standard error."""
    tell(one_line(text), sys.stderr)
