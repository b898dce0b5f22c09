"""What is raised when input cannot be accepted, and how the project warns."""

import re
import sys
import warnings
from collections.abc import Iterable


class InputError(ValueError):
    """Input that cannot be accepted.

    `problems` holds every reason found, one line each, naming the file or table, the place in it, what is
    wrong and, where that is not plain, what to do. The message is those lines.
    """

    def __init__(self, problems: str | Iterable[str]):
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[type["InputError"], tuple[list[str]]]:
        # What comes back from another process still has its problems apart.
        return type(self), (self.problems,)


class SliceError(InputError):
    """A column to slice by that is not there, or cannot be parted as asked."""


def first_line(error: BaseException) -> str:
    """What an error says in one line: what the system says where it is of the system, else its own first line."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    # Arrow puts what the system says at the end of a line of its own.
    return re.sub(r"^.*Detail: \[errno \d+\] ", "", text.splitlines()[0])


def warn(text: str) -> None:
    """Warns with the line of the caller's own code that called this package, however deep in the package this is."""
    package = __name__.partition(".")[0]
    depth = 1
    while sys._getframe(depth).f_back and sys._getframe(depth).f_globals.get("__name__", "").startswith(f"{package}."):
        depth += 1
    warnings.warn(text, stacklevel=depth + 1)
