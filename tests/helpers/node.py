"""Runs programs of JavaScript by Node, and reads the modules that pages are made of."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from helpers.reference import PROJECT
from spotgeo_frames.presentation.viewer.scripts import PRESENTATION

FOLDER = PROJECT.joinpath(*PRESENTATION.split("."))
TOP_LEVEL = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)


def node(*arguments: str | Path) -> str:
    """What a program of Node prints; the test is skipped where there is no Node that knows modules by their content."""
    program = shutil.which("node")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout if program else "v0.0"
    if program is None or tuple(map(int, version[1:].split(".")[:2])) < (20, 19):
        pytest.skip("node 20.19 or later is not here; Debian's package is called nodejs")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
