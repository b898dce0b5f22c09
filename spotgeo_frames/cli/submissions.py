"""Submissions as a command line gives them: PATH, or NAME=PATH where the name is shown instead of the file's."""

import argparse
import os
from collections.abc import Sequence
from glob import iglob
from pathlib import Path
from typing import NamedTuple

from ..support import addresses
from .printing import WrongUsage


class Submission(NamedTuple):
    """A submission: its path or address as it was given, and the name that it was given, None if it was given none."""

    given: str
    name: str | None = None

    @property
    def path(self) -> Path:
        return Path(self.given)

    @property
    def shown(self) -> str:
        """What headings call it."""
        return addresses.shown(self.given) if self.name is None else self.name


def submission(text: str) -> Submission:
    """Parses PATH or NAME=PATH.

    What is there under the whole text is a path, and so is what stands before = in a folder's name such as day=1/truth.
    Where neither is there, the text is a path, so messages about it say what was typed.
    """
    name, _, path = text.partition("=")
    if _is_there(text) or any(mark in name for mark in "/\\") or not (addresses.is_address(path) or _is_there(path)):
        return Submission(text)
    if not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} has no name before the =; give NAME={path}, or {path} alone")
    from ..support import name_as_text

    return Submission(path, name_as_text(name.strip()))


def _is_there(path: str) -> bool:
    """Whether there is a file or folder of this path, or one that its wildcards match."""
    whole = os.path.expanduser(path)
    return os.path.lexists(whole) or next(iglob(whole, recursive=True), None) is not None


def submission_names(submissions: Sequence[Submission]) -> list[str]:
    """The names that submissions are given, and those of the files of all others.

    Raises WrongUsage if two have the same name.
    """
    unnamed = [submission.path for submission in submissions if submission.name is None]
    of_files = iter(_names_of_files(unnamed))
    names = [next(of_files) if submission.name is None else submission.name for submission in submissions]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise WrongUsage(f"two submissions are called {twice!r}; give each a name of its own as NAME=PATH")
    return names


def _names_of_files(paths: Sequence[Path]) -> list[str]:
    """Names files: by their stems if these differ, otherwise with endings, and otherwise with folders.

    A file that is given several times gets a number. Bytes that are not UTF-8 are escaped, since names are text.
    """
    from ..support import name_as_text, stem

    if not paths:
        return []
    paths = [Path(addresses.shown(path)) for path in paths]  # of addresses, what a query says is no name
    resolved = [Path(name_as_text(path.resolve())) for path in paths]
    paths = [Path(name_as_text(path)) for path in paths]
    shared = os.path.commonpath([path.parent for path in resolved])
    ways = [
        [stem(path) for path in paths],
        [path.name for path in paths],
        [(path.parent / stem(path)).relative_to(shared).as_posix() for path in resolved],
        [path.relative_to(shared).as_posix() for path in resolved],
    ]
    names = next(names for names in ways if len({*names}) >= len({*resolved}))
    times = [names[:place].count(name) for place, name in enumerate(names)]
    return [f"{name} ({time + 1})" if time else name for name, time in zip(names, times, strict=True)]
