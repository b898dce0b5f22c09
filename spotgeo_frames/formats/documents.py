"""What the documents of COCO, PoseTrack and the challenge share: their integers, ids and arrays of numbers."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from ..support.decoding import BYTE_ORDER_MARK
from ..tables.schema import LARGEST_EXACT_INTEGER

# A key or an identity: what float64, and so a match table, holds exactly.
Integer = Annotated[int, msgspec.Meta(ge=-LARGEST_EXACT_INTEGER, le=LARGEST_EXACT_INTEGER)]

# Of one file no more problems than these are told; who reads the first ten thousand knows enough.
MOST_PROBLEMS = 10_000


def opening(content: bytes) -> bytes:
    """The first character of a document, which tells a list from an object."""
    return content.removeprefix(BYTE_ORDER_MARK)[:10_000].lstrip()[:1]


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


def repeated_ids(ids: Sequence[Any], place: str) -> list[str]:
    """The ids that are there already, each with its place."""
    if len(set(ids)) == len(ids):
        return []
    first: dict[Any, int] = {}
    return [
        f"{place}[{number}].id: {one} is there already, at [{first[one]}]"
        for number, one in enumerate(ids)
        if first.setdefault(one, number) != number
    ][:MOST_PROBLEMS]
