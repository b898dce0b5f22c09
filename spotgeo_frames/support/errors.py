"""What is raised when input cannot be accepted, and how the project warns."""

import re
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
