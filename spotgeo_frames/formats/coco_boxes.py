"""The boxes of a file of COCO's results, read some at a time, since objects take several times the memory of a table.

Only files in which nothing is wrong or unusual are read like this. All others are decoded as a whole, which tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..support import InputError, documents, reading
from ..tables import Columns, DeferredText, joined, schema
from .documents import Id, column_of_ids, matrix


class _Result(msgspec.Struct, gc=False):
    image_id: Id
    category_id: Id
    bbox: tuple[float, float, float, float]
    score: float


def plain_boxes(path: Path, known: tuple[Sequence[Any], Sequence[Any]]) -> Columns | None:
    """One row a result of a file, with its `category` as an id; None if it is packed, or not all have box and score.

    `known` are the ids of images and of categories, which have to be all integers or all text.
    """
    kinds, distinct = [{*map(type, ids)} for ids in known], [{*ids} for ids in known]
    if path.suffix.lower() in reading.PACKED or not path.is_file() or not all(kind in ({int}, {str}) for kind in kinds):
        return None
    parts = list[dict[str, Any]]()
    try:
        for block in _blocks(path):
            ids = [one.image_id for one in block], [one.category_id for one in block]
            if any({*map(type, ids[at])} - kinds[at] or {*ids[at]} - distinct[at] for at in (0, 1)):
                return None
            box = matrix([one.bbox for one in block], 4, order="F").T
            sequence, category = (column_of_ids(*of) for of in zip(ids, known, strict=True))
            columns = {"sequence": sequence, **dict(zip(schema.BOX, box, strict=True))}
            score = np.array([one.score for one in block], np.float64)
            parts.append(columns | {"score": score, "category": category})
    except (InputError, OSError):
        return None
    # Each column of the parts goes once it is there as a whole.
    columns = {name: joined([part.pop(name) for part in parts]) for name in [*parts[0]]}
    n_results = len(columns["score"])
    key = {"sequence": columns.pop("sequence"), "frame": np.ones(n_results, np.int64)}
    return Columns({**key, "object": np.arange(1, n_results + 1), **columns})


def _blocks(path: Path) -> Iterator[list[_Result]]:
    """The results of a file, some at a time; raises InputError or OSError where it cannot be read like this."""
    with path.open("rb") as stream:
        yield from documents.decode_blocks(stream, _Result)


def names_of(category_ids: Any, names: Mapping[Any, str]) -> DeferredText:
    """The names of categories by their ids, an array or a list, of which `names` has each."""
    ids = [*names]
    if isinstance(category_ids, np.ndarray) and len(ids):
        order = np.argsort(ids)
        codes = order[np.searchsorted(ids, category_ids, sorter=order)]
    else:
        place = {one: position for position, one in enumerate(ids)}
        codes = np.fromiter((place[one] for one in category_ids), np.int64)
    return DeferredText(codes, tuple(names.values()))


def boxes_of(objects: Sequence[Any]) -> np.ndarray:
    """Left, top, width and height (4, N), null where there is no box."""
    return matrix([one.bbox or [np.nan] * 4 for one in objects], 4, order="F").T
