"""How the commands report what cannot be accepted."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..support.errors import InputError, SliceError
from .text import one_line

# Problems that are printed where not all are asked for.
MOST_PRINTED = 10


@contextmanager
def problems_reported(most: int | None = MOST_PRINTED) -> Iterator[None]:
    """Prints the first problems of what cannot be accepted on standard error, a line each, and exits with status 1.

    A last line counts the problems beyond `most`; None prints all. Warnings are printed, too, and change no status. A
    column that cannot be sliced by is wrong usage.
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
        except ImportError as error:  # of an extra
            typer.echo(one_line(str(error)), err=True)
            raise typer.Exit(1) from None
        except MemoryError as error:
            typer.echo(one_line(f"there is not enough memory: {error}"), err=True)
            raise typer.Exit(1) from None
        finally:
            for warning in caught:
                typer.echo(one_line(f"warning: {warning.message}"), err=True)
