"""How the commands report errors and warnings: one line each on standard error."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ..support.errors import InputError, SliceError, first_line, lacks_memory
from .printing import one_line, tell

# The count of problems that most commands print.
MOST_PRINTED = 10


class WrongUsage(Exception):
    """An option or argument that a command cannot be run with; the message names it and says what is needed."""


@contextmanager
def problems_reported(most: int | None = MOST_PRINTED) -> Iterator[None]:
    """Prints the problems of an error on standard error, one line each, and exits with status 1.

    At most `most` problems are printed, and a last line counts the others; None prints all. Warnings are printed, too,
    and do not change the status. A column that cannot be sliced by is raised as WrongUsage.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
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
