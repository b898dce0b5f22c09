"""A command: what it prints, and its exit status. Most tests run it here; a process takes most of a second to start."""

import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from spotgeo_frames.cli import app


class Done(NamedTuple):
    status: int
    out: str
    err: str


def run_here(*arguments: object) -> Done:
    """Runs the command in this process, whose signals and standard streams stay what they are."""
    out, err = StringIO(), StringIO()
    status: Any = 0
    words = ["spotgeo-frames", *map(str, arguments)]
    kept = patch.multiple(app, ENDINGS=[], ALARM=[]), patch.object(os, "dup2"), patch.object(sys, "argv", words)
    with kept[0], kept[1], kept[2], redirect_stdout(out), redirect_stderr(err):
        try:
            app.main()
        except SystemExit as ended:
            status = ended.code
    return Done(status, out.getvalue(), err.getvalue())


def run_process(*arguments: object) -> Done:
    """Runs the command as users do, in a process of its own."""
    words = [sys.executable, "-m", "spotgeo_frames", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


class Screen(NamedTuple):
    status: int
    text: str


def run_terminal(*arguments: object, width: int = 80, code: str = "", **variables: str) -> Screen:
    """Runs the command, or code, in a terminal of a width; output and errors are what people see, with its codes."""
    import fcntl  # which Windows lacks, as the modules below
    import pty
    import struct
    import termios

    shown, stream = pty.openpty()
    fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    words = [sys.executable, *(["-c", code] if code else ["-m", "spotgeo_frames"]), *map(str, arguments)]
    environment = os.environ | {"TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)} | variables
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=environment) as process:
        os.close(stream)
        parts = []
        while True:
            try:
                part = os.read(shown, 1 << 16)
            except OSError:  # how Linux says that the process has ended
                break
            if not part:
                break
            parts.append(part)
    os.close(shown)
    return Screen(process.returncode, b"".join(parts).decode().replace("\r\n", "\n"))


def complaints(said: str | list[str]) -> list[str]:
    """The lines on standard error, without the warnings that scenes are small, or that truths are in few sequences."""
    lines = said.splitlines() if isinstance(said, str) else said
    return [line for line in lines if not re.match(r"warning: .*\b(fewer than|only one|no truth at all)\b", line)]


def answer_here(*arguments: object) -> dict[str, Any]:
    """The JSON of a command that has nothing to complain of."""
    done = run_here(*arguments, "--json")
    assert (done.status, complaints(done.err)) == (0, [])
    answer: dict[str, Any] = json.loads(done.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    return answer


def refused_here(*arguments: object, status: int = 1) -> list[str]:
    """The lines on standard error of a command that is refused."""
    done = run_here(*arguments)
    assert (done.status, done.out) == (status, ""), done.err
    return done.err.splitlines()
