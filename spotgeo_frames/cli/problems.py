"""How the commands report errors and warnings: one line each on standard error."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..support.errors import InputError, SliceError
from .text import one_line

# The count of problems that most commands print.
MOST_PRINTED = 10


@contextmanager
def problems_reported(most: int | None = MOST_PRINTED) -> Iterator[None]:
    """Prints the problems of an error on standard error, one line each, and exits with status 1.

    At most `most` problems are printed, and a last line counts the others; None prints all. Warnings are printed, too,
    and do not change the status. A column that cannot be sliced by is wrong usage and exits with status 2.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield
        except SliceError as error:
            raise typer.BadParameter(f"--by: {error}") from None
        except InputError as error:
            for problem in error.problems[:most]:
                typer.echo(one_line(problem), err=True)
            n_more = len(error.problems[most:]) if most is not None else 0
            if n_more:
                typer.echo(f"and {n_more:,} more {'problem' if n_more == 1 else 'problems'}", err=True)
            raise typer.Exit(1) from None
        except ImportError as error:  # an extra is not installed
            typer.echo(one_line(str(error)), err=True)
            raise typer.Exit(1) from None
        except MemoryError as error:
            typer.echo(one_line(f"there is not enough memory: {error}"), err=True)
            raise typer.Exit(1) from None
        finally:
            for warning in caught:
                typer.echo(one_line(f"warning: {warning.message}"), err=True)
