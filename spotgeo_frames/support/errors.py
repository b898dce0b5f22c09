"""The errors for input that cannot be accepted, whose messages have no secrets of addresses.

An address such as s3://KEY:SECRET@bucket/folder?token=... may have a user name, a password and a query. Only the file
system that is made of it needs them, and no message, file or heading has them.
"""

import errno
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# An address with one slash has been a Path. The first user name is one of a sound address. The second is followed by a
# password with characters that no address may have, such as a slash, so it ends at the last @; a port is no password.
_ADDRESS = re.compile(
    r"""(?P<scheme> [A-Za-z][A-Za-z0-9+.-]+ :/{1,2})
        (?: [^\s/?\#@]* @ (?=[^\s@/?\#'"]* (?:[\s/?\#'"] | $)) | [^\s/?\#@:]* : (?!\d*/) (?=\S) (?:(?!:/)[^\n])* @ )?
        (?P<place> [^\s?]*)
        (?: \? \S*? (?=[]:;,.)'"]* (?:\s | $)) )?""",
    re.VERBOSE,
)


def without_secrets(text: str) -> str:
    """A text whose addresses have neither user names nor passwords nor queries; other text stays as it is.

    >>> without_secrets("s3://KEY:SECRET@bucket/truth?region=eu-west-1: cannot be read")
    's3://bucket/truth: cannot be read'
    """
    return _ADDRESS.sub(r"\g<scheme>\g<place>", text) if ":/" in text else text


# How libraries say in errors of other types that memory ran out, or that there is none for a thread or a library.
WANT_OF_MEMORY = re.compile(
    r"alloc of size|cannot allocate memory|out of memory|bad_alloc|failed to map segment"
    r"|failed to launch worker thread|can't start new thread|thread.*resource temporarily unavailable",
    re.I,
)

# How a store says that it refuses access, and what to do then.
DENIED = re.compile(r"ACCESS_DENIED|HTTP status (401|403)\b|\b(Forbidden|Unauthorized)\b", re.I)
ACCESS = "give keys by storage_options=, or by environment variables such as AWS_ACCESS_KEY_ID"


class InputError(ValueError):
    """A file, a table or an argument that cannot be accepted; a ValueError.

    Parameters
    ----------
    problems
        One problem or several, a line of text each. A line names the file or table, the place in it (a row, a key, a
        column), what is wrong, and what to do unless that is plain. They become the attribute `problems`, a list, and
        the message of the error, without the user names, passwords and queries of addresses in them.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> try:
    ...     sf.match(pd.DataFrame({"sequence": [1]}), pd.DataFrame())
    ... except sf.InputError as error:
    ...     print(error.problems[0])
    truth: column frame is missing; there are sequence
    """

    def __init__(self, problems: str | Iterable[str]):
        lines = [problems] if isinstance(problems, str) else problems
        self.problems = [without_secrets(line) for line in lines]
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[type["InputError"], tuple[list[str]]]:
        # An error that comes back from another process keeps its list of problems.
        return type(self), (self.problems,)


class SliceError(InputError):
    """A column to slice by that does not exist, or cannot be divided into bins."""


def check_none(problems: Iterable[str]) -> None:
    """Raises InputError with these problems, unless there are none."""
    listed = list(problems)
    if listed:
        raise InputError(listed)


@contextmanager
def noted_in(problems: list[str]) -> Iterator[None]:
    """A context that an InputError ends, whose problems are added to these, to be told together with others."""
    try:
        yield
    except InputError as error:
        problems += error.problems


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says in whichever words that memory ran out."""
    unable = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    return unable or WANT_OF_MEMORY.search(str(error)) is not None


def check_memory(error: BaseException, name: object) -> None:
    """Raises MemoryError, which `name` begins, if an error says in whichever words that memory ran out.

    Call it before an error is taken for the fault of what was read or written.
    """
    if lacks_memory(error):
        raise MemoryError(f"{name}: {first_line(error)}" if str(error) else str(name)) from None


def first_line(error: BaseException) -> str:
    """The message of an error in one line: for an OSError the system's message, otherwise the first line.

    Where a store refuses access, it says what to do.
    """
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    # Arrow puts the system's message at the end of a longer line, and the path, which messages have already, before.
    line = re.sub(r"^.*Detail: \[errno \d+\] |^Could not open Parquet input source '.*?': ", "", text.splitlines()[0])
    line = line.rstrip(": ")
    return f"{line}; {ACCESS}" if DENIED.search(line) else line
