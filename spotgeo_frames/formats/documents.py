"""JSON documents of a known form: decoded into structs, with the file and the place of whatever is wrong in one."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np

from ..support.errors import InputError
from ..tables.schema import LARGEST_EXACT_INTEGER

Document = TypeVar("Document")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# A key or an identity: what float64, and so a match table, holds exactly.
Integer = Annotated[int, msgspec.Meta(ge=-LARGEST_EXACT_INTEGER, le=LARGEST_EXACT_INTEGER)]

# Of one file no more problems than these are told; who reads the first ten thousand knows enough.
MOST_PROBLEMS = 10_000


def decode(content: bytes, form: type[Document], name: str) -> Document:
    """The document in a file's content; raises InputError with the place where it is not of this form."""
    if b"\0" in content:  # which the decoder does not look for in strings that it skips
        raise InputError(f"{name}: byte {content.index(0)}: is a NUL byte; JSON in UTF-8 is needed")
    try:
        with collector_paused():
            return msgspec.json.decode(content.removeprefix(BYTE_ORDER_MARK), type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what, _, place = str(error).partition(" - at `$")
        place = place.rstrip("`").removeprefix(".")
        what = what if what.startswith("JSON") else what[:1].lower() + what[1:]
        raise InputError(": ".join(filter(None, [name, place, what]))) from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None


def opening(content: bytes) -> bytes:
    """The first character of a document, which tells a list from an object."""
    return content.removeprefix(BYTE_ORDER_MARK)[:10_000].lstrip()[:1]


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


def integers(values: Iterable[int]) -> np.ndarray:
    """As int64."""
    return np.fromiter(values, np.int64)


def matrix(rows: Sequence[Any], width: int, order: Literal["C", "F"] = "C") -> np.ndarray:
    """Lists, or structs laid out like lists, of `width` floats each, as an array (N, width).

    `order` says how it lies in memory, as NumPy has it: "C" row by row, "F" column by column.
    """
    # MessagePack lays each list out in equally many bytes, which NumPy reads at once. That takes half the time of
    # making an array from lists.
    packed = msgspec.msgpack.encode(rows)
    header = 1 if width < 16 else 3
    row = np.dtype([("header", "u1", header), ("fields", [("marker", "u1"), ("value", ">f8")], width)])
    fields = np.frombuffer(packed, row, offset=len(packed) - len(rows) * row.itemsize)["fields"]
    return fields["value"].astype(np.float64, order=order)


def repeated_ids(ids: Sequence[int], place: str) -> list[str]:
    """The ids that are there already, each with its place."""
    if len(set(ids)) == len(ids):
        return []
    first: dict[int, int] = {}
    return [
        f"{place}[{number}].id: {one} is there already, at [{first[one]}]"
        for number, one in enumerate(ids)
        if first.setdefault(one, number) != number
    ][:MOST_PROBLEMS]
