"""What documents of COCO, PoseTrack and the challenge share: their integers, ids and arrays of numbers.

The ids of COCO's files are integers, which programs that keep them as floats write as 1.0, or text.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np

from ..support import check_none, documents
from ..tables import schema
from .inspection import Rounded, parsed

# A key or an identity: what float64, and so a match table, holds exactly.
Integer = Annotated[int, msgspec.Meta(ge=-schema.LARGEST_EXACT_INTEGER, le=schema.LARGEST_EXACT_INTEGER)]

# Of one file no more problems than these are told; who reads the first ten thousand knows enough.
MOST_PROBLEMS = 10_000


def opening(content: bytes) -> bytes:
    """The first character of a document, which tells a list from an object."""
    return content.removeprefix(documents.BYTE_ORDER_MARK)[:10_000].lstrip()[:1]


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


# The fields of annotations and results that name something else.
OF_OBJECTS = ("image_id", "category_id")

Id = Integer | Annotated[float, msgspec.Meta(ge=-schema.LARGEST_EXACT_INTEGER, le=schema.LARGEST_EXACT_INTEGER)] | str


class Listed(NamedTuple):
    """Structs of a list that a document has under this key ("" if it is the list itself), and their fields of ids."""

    key: str
    items: Sequence[Any]
    fields: Sequence[str] = ("id",)


def check_ids(content: bytes, name: str, lists: Sequence[Listed]) -> None:
    """Makes integers of ids such as 1.0 in the structs of a file.

    Raises InputError with those that are no whole numbers, also where only rounding made them whole, as the file's
    content tells; and where there is text beside numbers.
    """
    problems: list[str] = []
    written: Any = None
    for key, items, fields in lists:
        for field in fields:
            ids = [getattr(item, field) for item in items]
            kinds = {*map(type, ids)}
            place = f"{name}: {key}"
            if float in kinds:
                written = written or parsed(content.removeprefix(documents.BYTE_ORDER_MARK))
                problems += _made_whole(items, field, written[key] if key else written, place)
            if str in kinds and len(kinds) > 1:
                first = next(position for position, one in enumerate(ids) if isinstance(one, str))
                problem = f"{ids[first]!r} is text, and others are numbers; make them the same"
                problems.append(f"{place}[{first}].{field}: {problem}")
    check_none(problems)


def _made_whole(items: Sequence[Any], field: str, written: Sequence[Mapping[str, Any]], place: str) -> list[str]:
    """Makes integers of the floats in a field; returns the problems of those that are none, as they are written."""
    problems = []
    for position, item in enumerate(items):
        one = getattr(item, field)
        if not isinstance(one, float):
            continue
        as_written = written[position][field]
        if one.is_integer() and not isinstance(as_written, Rounded):
            setattr(item, field, int(one))
        else:
            text = getattr(as_written, "text", one)
            problems.append(f"{place}[{position}].{field}: {text} is no whole number; an integer or text is needed")
    return problems[:MOST_PROBLEMS]


def ids_of_pictures(images: Sequence[Any], objects: Sequence[Any]) -> dict[str, Any]:
    """The id of each image by its file's name and stem, where objects name images by text and ids are numbers."""
    if not (images and objects) or isinstance(images[0].id, str) or not isinstance(objects[0].image_id, str):
        return {}
    named = {image.file_name: image.id for image in images if image.file_name is not None}
    return {PurePosixPath(name).stem: one for name, one in named.items()} | named


def unknown_id(one: Any, known: Collection[Any], pictures: Mapping[str, Any] | None = None) -> str:
    """An id that is not known, and what is known instead where that is text and the id is a number, or the reverse.

    `pictures` are the ids of images by the names of their files, one of which the id may be.
    """
    other = next(iter(known), one)
    if isinstance(other, str) == isinstance(one, str):
        return repr(one)
    kind = "text" if isinstance(other, str) else "numbers"
    if pictures and one in pictures:
        return f"{one!r}; ids of images are {kind}, and that of the image of this file_name is {pictures[one]!r}"
    return f"{one!r}; ids are {kind} there, such as {other!r}"


def column_of_ids(ids: Sequence[Any], like: Sequence[Any] | None = None) -> Any:
    """Ids as a column of text or int64: as they are themselves, or as others are, where there may be none."""
    if not isinstance(next(iter(ids if like is None else like), None), str):
        return integers(ids)
    import pandas as pd  # imported only here: documents without such ids need none

    from ..support import pandas_tables

    return pd.array(ids, dtype=pandas_tables.TEXT)
