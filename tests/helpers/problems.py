"""Problems and warnings, held by the places that they name and not by their wording."""

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

import spotgeo_frames as sf

# The text that a problem begins with, up to where its sentence starts: a file and line, a table and column, an
# argument. In a tuple, whatever else the problem has to name after that: rows, values, what to use instead.
Place = str | tuple[str, ...]


def assert_places(problems: Iterable[str], *places: Place) -> None:
    """As many problems as places, in this order, each at its place and naming what comes with it.

    Places and names count as wholes: a problem of "column xy" is not at "column x", nor is one of "[0].frame" at "[0]".
    """
    problems = list(problems)
    assert len(problems) == len(places), problems
    for problem, place in zip(problems, places, strict=True):
        start, *names = [place] if isinstance(place, str) else place
        assert re.match(re.escape(start) + r"(?![\w,\[]|\.\w)", problem), f"{problem!r} is not at {start!r}"
        rest = problem[len(start) :]
        missing = [name for name in names if not re.search(rf"(?<![\w.]){re.escape(name)}(?!\w|[.,]\d)", rest)]
        assert not missing, f"{problem!r} does not name {missing}"


@contextmanager
def refused(*places: Place, error: type[Exception] = sf.InputError) -> Iterator[None]:
    """A block that is refused with exactly these problems."""
    with pytest.raises(error) as caught:
        yield
    assert_places(getattr(caught.value, "problems", None) or [str(caught.value)], *places)


@contextmanager
def warned(*places: Place) -> Iterator[list[warnings.WarningMessage]]:
    """A block that warns of exactly these, be they ignored elsewhere; it yields the list that the warnings fill."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", UserWarning)
        yield found
    assert_places([str(warning.message) for warning in found if issubclass(warning.category, UserWarning)], *places)
