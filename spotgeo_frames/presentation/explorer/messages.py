"""Packs what an explorer sends to the browser, and checks what the messages of a browser ask for.

A message is JSON with byte arrays beside it: an outline of all frames, chunks of frames, pictures, what passes. The
outline and the chunks are views, as the viewer reads them. What asks may be of another version, or anyone who reaches
the kernel; where a message does not have what it needs, InputError is raised, whose text is the answer.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pandas as pd

from ...matching import Rule, noted_rule
from ...support import InputError
from ...tables import schema
from ..drawing import NoPicture, drawn_tables, pictures, wording
from ..viewer import SIDES, Text, View, packing, places, view_of
from .charts import MOST_CORNERS, Counts, Points
from .contents import COUNTS, Contents, objects_of_rows, positions_by_table, row_of_object

# The most characters of the masks of a chunk: a kernel is near, and sends chunks one by one.
MOST_OF_MASKS = 16 << 20

# What messages show of a value.
LONGEST_SHOWN = 60


class Message(NamedTuple):
    """What is sent: JSON, and byte arrays."""

    content: dict[str, Any]
    buffers: list[bytes]


def outline(contents: Contents) -> Message:
    """All sequences and frames without their objects, and what the views of all chunks have in common."""
    about = _view_of_rows(contents, np.zeros(0, np.int64)).about
    content = bytearray()
    n_decimals = places.decimals(contents.tau or places.visible(contents.areas))
    if contents.tau:
        about["measure"]["decimals"] = n_decimals
    tables = {
        "sequences": packing.packed_table(_sequence_columns(contents), content, dict.fromkeys(SIDES, n_decimals)),
        "frames": packing.packed_table(_frame_columns(contents), content, {}),
        "truth": {"n": 0, "columns": []},
        "submissions": [],
        "decimals": n_decimals,
    }
    names = [packing.valid_text(name) for name in contents.given]
    sizes = {"truth": contents.first_truth[-1], "predicted": [first[-1] for first in contents.first_prediction]}
    return Message({"about": about | tables, "names": names, "sizes": _plain(sizes)}, [bytes(content)])


def chunk(contents: Contents, position: int) -> Message:
    """The view of one chunk, and its first stretch, frame, truth and prediction (of each table)."""
    stretches = np.flatnonzero(contents.stretches.chunk == position)
    begin, end = contents.stretches.first[stretches[0]], contents.stretches.first[stretches[-1] + 1]
    rows = contents.in_order[contents.frame_rows[begin] : contents.frame_rows[end]]
    view = _view_of_rows(contents, rows)
    first = {
        "stretch": stretches[0],
        "frame": begin,
        "truth": contents.first_truth[position],
        "predicted": [each[position] for each in contents.first_prediction],
    }
    return Message({"about": view.about, "first": _plain(first)}, [view.content])


def picture(contents: Contents, folder: Path, frame: int) -> Message:
    """The picture of a frame, and the area (px) that it covers; or why there is none."""
    rows = contents.in_order[contents.frame_rows[frame] : contents.frame_rows[frame + 1]]
    positions = positions_by_table(contents, rows)
    tables = [one.matches.take(at) for one, at in zip(contents.given.values(), positions, strict=True)]
    try:
        small, size = pictures.picture_of_frame(folder, pd.concat([table for table in tables if len(table)]))
    except NoPicture as error:
        return Message({"problem": packing.valid_text(str(error))}, [])
    left, right, bottom, top = pictures.extent_of(size)
    return Message({"left": left, "right": right, "top": top, "bottom": bottom}, [pictures.as_webp(small)])


def passing(contents: Contents, passes: Sequence[np.ndarray]) -> Message:
    """Which truths, predictions and frames of each match table pass, where `passes` says it of its rows.

    The buffers have three arrays for each table: bits of its truths, bits of its predictions, and int32 of frames.
    """
    of_row = np.append(np.concatenate(passes), False)  # the row -1 is the last
    frame = contents.frames.of_row
    buffers = []
    for place, (truths, predictions) in enumerate(zip(contents.truths, contents.predictions, strict=True)):
        begin, end = contents.first_row[place : place + 2]
        frames = np.unique(frame[begin:end][of_row[begin:end]]).astype("<i4")
        buffers += [np.packbits(of_row[truths]).tobytes(), np.packbits(of_row[predictions]).tobytes(), frames.tobytes()]
    return Message({"n_rows": int(of_row.sum())}, buffers)


def counts(counted: Counts) -> Message:
    """A table of counts, with what its lines and columns are."""
    rows, columns = ([packing.valid_text(name) for name in names] for names in (counted.rows, counted.columns))
    return Message({"rows": rows, "columns": columns, "counts": counted.table()}, [])


def points(drawn: Points, marked: Collection[int]) -> Message:
    """The points of a scatter: x and y as float64, and as bytes their outcomes and whether they are marked."""
    is_marked = np.isin(drawn.rows, np.array(sorted(marked), np.int64))
    arrays = [*drawn.places.astype("<f8").T, drawn.outcome.astype(np.uint8), is_marked.astype(np.uint8)]
    return Message({"n_rows": drawn.n_rows}, [np.ascontiguousarray(array).tobytes() for array in arrays])


def patches(contents: Contents, rows: np.ndarray, n_rows: int) -> Message:
    """Rows as patches: the frame of each, and one object of it, the truth where there is one."""
    objects: dict[int, tuple[str, int, int]] = {}
    for named in objects_of_rows(contents, rows.tolist()):  # truths come first
        objects.setdefault(row_of_object(contents, *named), named)
    frame = contents.frames.of_row
    return Message({"patches": [[int(frame[row]), *objects[row]] for row in rows.tolist()], "n_rows": n_rows}, [])


def _view_of_rows(contents: Contents, rows: np.ndarray) -> View:
    """The view of some rows."""
    tables = {}
    for (name, one), positions in zip(contents.given.items(), positions_by_table(contents, rows), strict=True):
        table = one.matches.take(positions)
        # With the joints of all rows, each joint has the same position in every view.
        tables[name] = table if contents.joints is None else table.assign(joint=table["joint"].astype(contents.joints))
    together = drawn_tables.together(tables)
    return view_of(together, _measure(contents), contents.tau, most_of_masks=MOST_OF_MASKS)


def _measure(contents: Contents) -> str:
    """What pairs are measured by, with its unit."""
    first = next(iter(contents.given.values())).matches
    if schema.measure_of(first) == "distance":
        return wording.measure_title(noted_rule.distance_rule(first, needs=()))
    return wording.measure_name(Rule(str(first.attrs.get("rule", "similarity"))))


def _sequence_columns(contents: Contents) -> dict[str, Any]:
    """The name, the area, the errors and the chunk of each stretch."""
    stretches = contents.stretches
    names = Text(np.arange(len(stretches.names)), [packing.valid_text(name) for name in stretches.names])
    areas = dict(zip(SIDES, contents.areas[stretches.sequence].T, strict=True))
    missed, wrong = contents.errors.T.astype(np.float64)
    return {"name": names} | areas | {"missed": missed, "wrong": wrong, "chunk": stretches.chunk.astype(np.float64)}


def _frame_columns(contents: Contents) -> dict[str, Any]:
    """The stretch and the number of each frame, and where there are any, how many objects each table lacks."""
    stretch = np.repeat(np.arange(len(contents.stretches.names)), np.diff(contents.stretches.first))
    lacking = {
        f"{name}_{place}": counts[:, column].astype(np.float64)
        for place, counts in enumerate(contents.filtered_out)
        for column, name in enumerate(COUNTS)
        if counts[:, column].any()
    }
    return {"sequence": stretch.astype(np.float64), "frame": packing.column_of(contents.numbers)} | lacking


def _plain(value: Any) -> Any:
    """Numbers of NumPy, also in lists and dicts, as those of Python, which JSON knows."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else int(value)


def message_of(content: Any) -> Mapping[str, Any]:
    """A message as its values by name."""
    if not isinstance(content, Mapping):
        raise InputError(f"explore: a message is {_shown(content)}; an object with ask is needed")
    return content


def identity_of(content: Any) -> int | str | None:
    """What a message is called by, which its answer repeats; None where that is neither a small integer nor text."""
    given = content.get("id") if isinstance(content, Mapping) else None
    return (
        packing.valid_text(given)
        if isinstance(given, str)
        else given
        if _is_integer(given) and _is_small(given)
        else None
    )


def position_in(asked: Mapping[str, Any], name: str, n: int) -> int:
    """The position that a message names, from 0 to below `n`."""
    return _position(asked.get(name), name, n)


def object_in(asked: Mapping[str, Any], contents: Contents) -> tuple[str, int, int] | None:
    """The side, the position of the match table, and the position among all of its side of an object; None for none."""
    given = asked.get("object")
    if given is None:
        return None
    sides = {"truth": contents.truths, "predicted": contents.predictions}
    if not (isinstance(given, list) and len(given) == 3 and isinstance(given[0], str) and given[0] in sides):
        needed = 'such as ["truth", 0, 5], or null, is needed'
        raise InputError(f"explore: object is {_shown(given)}; a side, a match table and a position, {needed}")
    rows = sides[given[0]]
    table = _position(given[1], "object[1]", len(rows))
    return given[0], table, _position(given[2], "object[2]", len(rows[table]))


def flag_in(asked: Mapping[str, Any], name: str) -> bool:
    """Whether a message says so; not where it says nothing of it."""
    given = asked.get(name, False)
    if not isinstance(given, bool):
        raise InputError(f"explore: {name} is {_shown(given)}; true or false is needed")
    return given


def number_in(asked: Mapping[str, Any], name: str, most: int) -> int:
    """The count that a message names, at most `most`."""
    return _position(asked.get(name), name, most + 1)


def corners_in(asked: Mapping[str, Any]) -> np.ndarray:
    """The corners of a lasso, (K, 2)."""
    given = asked.get("corners")
    if isinstance(given, list) and 3 <= len(given) <= MOST_CORNERS and all(map(_is_place, given)):
        return np.array(given, np.float64)
    needed = f"a list of 3 to {MOST_CORNERS} pairs of finite numbers is needed"
    raise InputError(f"explore: corners is {_shown(given)}; {needed}")


def _is_place(given: Any) -> bool:
    """Whether a value is a pair of finite numbers."""
    return isinstance(given, list) and len(given) == 2 and all(map(_is_finite, given))


def _is_finite(given: Any) -> bool:
    return bool(np.isfinite(given)) if isinstance(given, float) else _is_integer(given) and _is_small(given)


def cell_in(asked: Mapping[str, Any], counted: Counts) -> tuple[int, int]:
    """The line and the column of a cell of a table of counts."""
    return (
        _position(asked.get("row"), "row", len(counted.rows)),
        _position(asked.get("column"), "column", len(counted.columns)),
    )


def text_in(asked: Mapping[str, Any], name: str) -> str:
    """The text that a message names; an empty one for null."""
    given = asked.get(name)
    if not isinstance(given, str | None):
        raise InputError(f"explore: {name} is {_shown(given)}; a text or null is needed")
    return packing.valid_text(given or "")


def _position(given: Any, name: str, n: int) -> int:
    if not (_is_integer(given) and 0 <= given < n):
        raise InputError(f"explore: {name} is {_shown(given)}; an integer from 0 to below {n:,} is needed")
    return int(given)


def _is_integer(given: Any) -> TypeGuard[int]:
    return isinstance(given, int) and not isinstance(given, bool)


def _is_small(given: int) -> bool:
    """Whether an integer has no more bits than those of any language; Python refuses to write thousands of digits."""
    return given.bit_length() <= 64


def _shown(given: Any) -> str:
    """A value as messages show it, cut if it is long."""
    if _is_integer(given) and not _is_small(given):
        return f"an integer of {given.bit_length():,} bits"
    kind = type(given)
    if kind in (list, dict):
        return f"{'a list' if kind is list else 'an object'} of {len(given):,}"
    text = packing.valid_text(repr(given))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
