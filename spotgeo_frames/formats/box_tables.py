"""What readers of boxes share: the files of a folder, an archive or a path; columns; the tables that are made of them.

Readers gather plain lists, and the tables are made at once, since pandas takes a while for each row and each column
that is added to a table. Every text that comes from a file is cut before it gets into a message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..support import InputError, arrays, check_none, is_text, noted_in, pandas_tables, reading, work
from ..tables import Annotations, checks, schema
from .documents import MOST_PROBLEMS
from .sequence_files import File

# The frame of an image that belongs to no video: each image is a sequence of its own.
ONE_FRAME = 1

# A number as files have it; Python knows others, such as 1_000. Those that are not finite are refused by their value.
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)

# The attributes of objects become columns, so they are few.
MOST_ATTRIBUTES = 100


Read = TypeVar("Read")


class Problems:
    """The problems of one reader, of which the first MOST_PROBLEMS are enough."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, place: str, problem: str) -> None:
        """Notes a problem, with the file and the place in it."""
        if len(self.lines) < MOST_PROBLEMS:
            self.lines.append(f"{place}: {problem}")

    def add_negative_size(self, place: str, box: Sequence[float]) -> None:
        """Notes left, top, width and height of which a size is negative."""
        problem = size_problem(box)
        if problem is not None:
            self.add(place, problem)

    def add_gaps(self, place: str, values: Sequence[Any], what: str) -> int:
        """Notes that only some of the values are known, which `what` says, and returns how many are."""
        n_known = sum(value is not None for value in values)
        if 0 < n_known < len(values):
            self.add(place, f"{n_known:,} of {len(values):,} {what}; all or none are needed")
        return n_known

    def check(self) -> None:
        """Raises InputError with all of them, unless there are none."""
        check_none(self.lines)


def shown(value: Any) -> str:
    """A value of a file as messages have it, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def number(value: Any) -> float | None:
    """A number, or text that is one, as a finite float that is not too large; None for everything else."""
    if isinstance(value, str):
        value = value.strip()
        if not NUMBER.fullmatch(value):
            return None
    elif isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if abs(as_float) <= schema.LARGEST_EXACT_INTEGER else None


def whole(value: Any) -> int | None:
    """A whole number that float64 holds exactly; None for everything else."""
    as_float = number(value)
    return int(as_float) if as_float is not None and as_float.is_integer() else None


def listed_files(path: Path, ending: str, wanted: str, below: bool = False) -> list[File]:
    """The files of this ending: that of the path itself, those in a folder or a .zip; raises InputError for none.

    A file's `sequence` is its name without the ending. With `below`, files of folders below count too, and the
    sequence is the path below the folder that holds them all.
    """
    with reading.readable(path):
        if path.is_dir():
            paths = reading.files_below(path, ending)
            paths = paths if below else [file for file in paths if file.parent == path]
            named = {
                os.fspath(file.relative_to(path)): (str(file), partial(reading.read_bytes, file)) for file in paths
            }
        elif path.suffix.lower() == ".zip":
            contents = reading.read_archive(path, ending)
            named = {name: (f"{path}, {name}", partial(bytes, contents[name])) for name in sorted(contents)}
        else:
            named = {path.name: (str(path), partial(reading.read_bytes, path))}
    if not named:
        raise InputError(f"{path}: has no {ending}; {wanted}")
    names = below_all([*named]) if below else {name: PurePosixPath(name).stem for name in named}
    files = [File(names[name], *file) for name, file in named.items()]
    problems = [f"{file.name}: its name is no text in UTF-8" for file in files if not is_text(file.name)]
    first: dict[str, str] = {}
    problems += [
        f"{file.name}: is of the same image or sequence as {first[file.sequence]}"
        for file in files
        if first.setdefault(file.sequence, file.name) != file.name
    ]
    check_none(problems)
    return files


def read_each(files: Sequence[File], read: Callable[[File], Read], problems: Problems) -> list[Read]:
    """What is read of each file; notes what is wrong with any, and leaves the rest unread where that is enough."""
    answers: list[Read] = []
    for file in work.progress(files, "reading", "file"):
        with noted_in(problems.lines):
            answers.append(read(file))
        if len(problems.lines) >= MOST_PROBLEMS:
            del problems.lines[MOST_PROBLEMS:]
            break
    return answers


def below_all(names: Sequence[str]) -> dict[str, str]:
    """Each path without its ending, below the folder that holds all of them."""
    paths = {name: PurePosixPath(name.replace(os.sep, "/")) for name in names}
    common = os.path.commonpath([path.parent for path in paths.values()])
    return {name: path.relative_to(common).with_suffix("").as_posix() for name, path in paths.items()}


def text_column(values: Iterable[str | None]) -> Any:
    """Text, null where it is None."""
    return pd.array([*values], dtype=pandas_tables.TEXT)


def category_column(values: Sequence[str | None]) -> pd.Categorical:
    """Categories in the order of their names, null where there is none."""
    names = sorted({*values} - {None})  # type: ignore[type-var]
    kind = pd.CategoricalDtype(pd.Index(names, dtype=pandas_tables.TEXT))
    position = {name: code for code, name in enumerate(names)}
    codes = np.fromiter((position.get(value, -1) for value in values), np.int64, len(values))
    return pd.Categorical.from_codes(codes, dtype=kind)


def attribute_column(values: Sequence[Any]) -> Any:
    """An attribute of objects: flags, numbers or text, as all its values are; null where it is None."""
    kinds = {*map(type, values)} - {type(None)}
    if kinds == {bool}:
        lacking = np.array([value is None for value in values], bool)
        flags = np.array([bool(value) for value in values], bool)
        return pd.arrays.BooleanArray(flags, lacking) if lacking.any() else flags
    if kinds and kinds <= {int, float}:
        numbers = [None if value is None else number(value) for value in values]
        if all(found is not None or value is None for found, value in zip(numbers, values, strict=True)):
            return np.array(numbers, np.float64)
    return text_column(None if value is None else as_text(value) for value in values)


def as_text(value: Any) -> str:
    """A value of JSON as the text of a category or an attribute."""
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def attribute_columns(rows: Sequence[Mapping[str, Any]], taken: Iterable[str], place: str) -> dict[str, Any]:
    """The plain values of each object's attributes, a column each; attribute_NAME where the name is `taken`.

    Lists and objects are left out. Raises InputError, which `place` begins, where there are too many.
    """
    names = dict.fromkeys(
        name for row in rows for name, value in row.items() if isinstance(value, str | bool | int | float)
    )
    if len(names) > MOST_ATTRIBUTES:
        raise InputError(f"{place}: has {len(names):,} attributes; at most {MOST_ATTRIBUTES} become columns")
    known = {*taken} | schema.OWN_COLUMNS | {"ignore", "n_truth", "n_predicted"}
    plain = (str, bool, int, float)
    return {
        f"attribute_{name}" if name in known else name: attribute_column(
            [value if isinstance(value := row.get(name), plain) else None for row in rows]
        )
        for name in names
    }


def numbered(sequence: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Numbers of objects from 1 within each frame, in the order of the rows; rows of a frame may come apart."""
    order = np.lexsort([frame, sequence])  # stable
    new = np.diff(sequence[order], prepend=-1) != 0
    new[1:] |= np.diff(frame[order]) != 0
    starts = np.flatnonzero(new)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order)))) + 1
    return position


def track_ids(sequence: np.ndarray, frame: np.ndarray, ids: np.ndarray, nameless: np.ndarray) -> np.ndarray:
    """The id of each track as int64 (N,); rows that are `nameless` (N,) are -1, -2 and so on within their frame."""
    identity = ids.astype(np.int64)
    identity[nameless] = -numbered(sequence[nameless], frame[nameless].astype(np.int64))
    return identity


def known_column(values: np.ndarray, unknown: float) -> np.ndarray | None:
    """Numbers with null in place of the value that says `unknown`; None where nothing is known."""
    known = np.where(values == unknown, np.nan, values)
    return None if np.isnan(known).all() else known


def identity_column(ids: Sequence[int | str | None]) -> Any:
    """The ids of objects: int64 where all are whole numbers, otherwise text; None where any object has none."""
    if any(one is None or one == "" for one in ids):
        return None
    numbers = [
        whole(one) if not isinstance(one, str) or re.fullmatch("-?(0|[1-9][0-9]*)", one) else None for one in ids
    ]
    if all(found is not None for found in numbers):
        return np.array(numbers, np.int64)
    return text_column(str(one) for one in ids)


def size_problem(box: Sequence[float]) -> str | None:
    """What is wrong with left, top, width and height: a size that is negative."""
    return f"width {box[2]:g} and height {box[3]:g}: a size is negative" if min(box[2:]) < 0 else None


def object_table(
    names: Sequence[str],
    sequence: Sequence[int] | np.ndarray,
    frame: Sequence[int] | np.ndarray,
    box: Any,
    identity: Any = None,
    /,
    **columns: Any,
) -> pd.DataFrame:
    """A table of boxes, in the order of sequences and frames; within a frame in the order of the rows.

    `sequence` (N,) are positions among the `names`, `box` (N, 4) is left, top, width, height (px), and `identity` the
    column `object`, by default numbers from 1 within each frame. Columns that are None are left out. The first five go
    by their place, since an attribute may be called as they are.
    """
    position, frames = np.asarray(sequence, np.int64), np.asarray(frame, np.int64)
    geometry = np.asarray(box, np.float64).reshape(-1, 4)
    table = pd.DataFrame(
        {
            "sequence": text_column(names).take(position),
            "frame": frames,
            "object": numbered(position, frames) if identity is None else identity,
            **dict(zip(schema.BOX, geometry.T.copy(), strict=True)),
            **{name: values for name, values in columns.items() if values is not None},
        }
    )
    order = np.lexsort([frames, position])  # stable
    return table if arrays.in_order(order) else table.take(order).reset_index(drop=True)


def image_table(names: Sequence[str], frame: Any = ONE_FRAME, /, **columns: Any) -> pd.DataFrame:
    """A table of frames; columns that are None, or null everywhere, are left out, and lists are of text."""
    kept = {name: values for name, values in columns.items() if values is not None and not pd.isna(values).all()}
    kept = {name: text_column(values) if isinstance(values, list) else values for name, values in kept.items()}
    return pd.DataFrame({"sequence": text_column(names), "frame": frame, **kept}).astype({"frame": np.int64})


def checked(objects: pd.DataFrame, frames: pd.DataFrame | None, name: str) -> Annotations:
    """Annotations whose keys are unique and whose coordinates are finite; raises InputError with what is wrong."""
    checks.check_objects(objects, name)
    if frames is not None:
        checks.check_frames(frames, f"{name}: frames")
    return Annotations(objects, frames)
