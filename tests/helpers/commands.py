"""A command in this process: what it prints, and its exit status. Starting a process takes most of a second."""

import json
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any, NamedTuple

import pytest

from spotgeo_frames.cli import app


class Done(NamedTuple):
    status: int
    out: str
    err: str


def run_here(*arguments: object) -> Done:
    out, err = StringIO(), StringIO()
    status: Any = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            app.run([*map(str, arguments)])
        except SystemExit as ended:
            status = ended.code
    return Done(status, out.getvalue(), err.getvalue())


def complaints(said: str | list[str]) -> list[str]:
    """The lines on standard error, without the warnings that small scenes have too few sequences for intervals."""
    lines = said.splitlines() if isinstance(said, str) else said
    return [line for line in lines if not re.match(r"warning: .*\b(fewer than|only one) ", line)]


def answer_here(*arguments: object) -> dict[str, Any]:
    """The JSON of a command that has nothing to complain of."""
    done = run_here(*arguments, "--json")
    assert (done.status, complaints(done.err)) == (0, [])
    answer: dict[str, Any] = json.loads(done.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    return answer


def refused_here(*arguments: object, status: int = 1) -> list[str]:
    """The lines on standard error of a command that is refused."""
    done = run_here(*arguments)
    assert (done.status, done.out) == (status, "")
    return done.err.splitlines()
