"""JSON documents of a known form: decoded into structs, with the file and the place of whatever is wrong in one."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from .errors import InputError

Document = TypeVar("Document")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def decode(content: bytes, form: type[Document], name: str) -> Document:
    """The document in a file's content; raises InputError with the place where it is not of this form."""
    if b"\0" in content:  # which the decoder does not look for in strings that it skips
        raise InputError(f"{name}: byte {content.index(0)}: is a NUL byte; JSON in UTF-8 is needed")
    with _problems_named(name), collector_paused():
        return msgspec.json.decode(content.removeprefix(BYTE_ORDER_MARK), type=form)


def convert(value: object, form: type[Document], name: str) -> Document:
    """A decoded value in another form; raises InputError as `decode` does."""
    with _problems_named(name):
        return msgspec.convert(value, type=form)


@contextmanager
def _problems_named(name: str) -> Iterator[None]:
    """Turns what msgspec says of a value into an InputError with the file's name and the place."""
    try:
        yield
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what, _, place = str(error).partition(" - at `$")
        place = place.rstrip("`").removeprefix(".")
        what = what if what.startswith("JSON") else what[:1].lower() + what[1:]
        raise InputError(": ".join(filter(None, [name, place, what]))) from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection meanwhile: it would walk through all that decoding makes, and find no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
