"""Makes one call to the file system fail, as a full disk, a broken one or missing permission would.

Only calls of Python are counted and can fail, not those of libraries in C or C++, such as pyarrow's readers.
"""

import builtins
import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

# What a full disk, a broken disk, missing permission and too many open files answer.
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EMFILE)

# The functions of `os` that fail, besides opening, writing and closing files. `os.path` and `pathlib` call these.
FUNCTIONS = ("open", "stat", "lstat", "scandir", "listdir", "mkdir", "replace", "rename", "link", "unlink", "rmdir")
FUNCTIONS += ("remove", "fsync", "readlink")


class Call(NamedTuple):
    """A call to the file system: the name of its function, and the file or folder."""

    function: str
    path: str


@contextmanager
def calls(folder: Path, failing: int | None = None, code: int = 0) -> Iterator[list[Call]]:
    """A block whose calls for files in a folder are listed; the one at the position `failing` fails with this error."""
    made: list[Call] = []

    def count(function: str, path: Any, has_parent: bool = False) -> None:
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        path = os.fsdecode(path)
        if not has_parent and not path.startswith(f"{folder}"):
            return
        made.append(Call(function, path))
        if len(made) - 1 == failing:
            raise OSError(code, os.strerror(code), path)

    class Output(io.FileIO):
        """A file that is written to without a buffer."""

        def write(self, content: Any) -> int:
            count("write", self.name)
            return super().write(content)

        def close(self) -> None:
            was_open = not self.closed
            super().close()  # which frees the descriptor even where it fails
            if was_open and sys.exc_info()[0] is None:
                count("close", self.name)

    def opened(file: Any, mode: str = "r", *arguments: Any, closefd: bool = True, **options: Any) -> Any:
        count("open", file)
        if "b" in mode and not {*mode} & {*"r+"}:
            return io.BufferedWriter(Output(file, mode.replace("b", ""), closefd=closefd))
        return original_open(file, mode, *arguments, closefd=closefd, **options)

    def counted(name: str) -> Callable[..., Any]:
        original = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            count(name, arguments[0], options.get("dir_fd") is not None)
            return original(*arguments, **options)

        return call

    original_open = builtins.open
    with pytest.MonkeyPatch.context() as patch:
        for name in FUNCTIONS:
            patch.setattr(os, name, counted(name))
        for module in (builtins, io):
            patch.setattr(module, "open", opened)
        yield made
