"""The spotGEO competition's JSON: read, write, and say all that is wrong with a submission.

A file is a list of frames, `{"sequence_id": 1, "frame": 1, "num_objects": 2, "object_coords": [[x, y], [x, y]]}`,
plain or packed as .gz or .zip. Coordinates are pixels, the centre of the first pixel at (0, 0).

There are two ways to read a file. The fast one decodes strictly into structs and gives up at the first value that it
does not expect. Only then the slow one looks at every value and names each problem with its place. Both accept the same
files.

Known differences from the competition's script
    - The script accepts more than two numbers as a coordinate and ignores the rest. Here they are refused.
    - The script's JSON parser accepts NaN and Infinity. They are not JSON, so they are refused here.
    - Integers of more than 64 bits are refused here, also as coordinates. So are numbers such as 1e-400 in the place of
      an integer, which only rounding makes whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from ..support import InputError, Storage, addresses, arrays, documents, reading, writing
from ..tables import (
    Annotations,
    Columns,
    SideColumns,
    Table,
    TableKind,
    annotations_of,
    as_annotations,
    messages,
    provenance,
    schema,
    table_kinds,
)
from .documents import matrix
from .inspection import Limits, Pair, Problem, Range, inspect, out_of_range, pair_text

if TYPE_CHECKING:
    import pandas as pd


class _Point(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    x: float
    y: float


class _Entry(msgspec.Struct, gc=False):
    """One frame of the file. Neither this nor its points are tracked by the garbage collector: decoding is faster."""

    sequence_id: int
    frame: int
    num_objects: int
    object_coords: tuple[_Point, ...]


_DECODER = msgspec.json.Decoder(list[_Entry])


def read_spotgeo(
    path: str | Path,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Reads a competition file (truth or submission): .json, or packed as .gz or .zip.

    `validate_spotgeo` checks image bounds and the limit of 30 objects as well.

    Parameters
    ----------
    path
        The file, or its address.
    table
        Of which kind both tables are: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        For an address such as s3://bucket/truth.json: the options of its file system, with fsspec's names (`key`,
        `secret`, `token`, `endpoint_url` for S3), or that itself, pyarrow's or fsspec's.

    Returns
    -------
    Annotations. `objects` has `sequence`, `frame`, `object` (the position in `object_coords`, from 0), `x` and `y`
    (px); `frames` lists every frame of the file, in its order.

    Raises
    ------
    InputError: the file is not of this form. Every problem is listed with its place.
    ValueError: there is no such kind of table.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json")
    >>> list(truth.objects.columns), len(truth.objects)
    (['sequence', 'frame', 'object', 'x', 'y'], 627)
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        state = provenance.copy_state(copy)
        annotations = annotations_of(_read(copy.path))
        provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def spotgeo_columns(path: str | Path) -> SideColumns:
    """The columns of what `read_spotgeo` returns; raises InputError as it does."""
    with addresses.local_copy(path) as copy:
        state = provenance.copy_state(copy)
        side = _read(copy.path)
        provenance.note_source(side.objects, copy.name, state)
    return side


def _read(path: Path) -> SideColumns:
    """The columns of a competition file, without a note of the file; raises InputError as `read_spotgeo` does."""
    content = _content(path)
    side = _decoded(content)
    if side is None:
        entries, _, problems = inspect(content, Limits())
        if problems:
            raise InputError(problem_lines(path, problems))
        numbers = np.array([(sequence, frame, len(points)) for sequence, frame, points in entries], np.int64)
        points = np.array(list(chain.from_iterable(points for *_, points in entries)), np.float64)
        side = _columns(*numbers.reshape(-1, 3).T.copy(), *points.reshape(-1, 2).T.copy())
    return side


def _decoded(content: bytes) -> SideColumns | None:
    """The fast road: None where there is anything the slow one should look at."""
    if not content.isascii() or b"\0" in content:  # which the decoder does not check in strings that it skips
        return None
    try:
        with documents.collector_paused():
            sequence, frame, announced, listed, x, y = _flat(_DECODER.decode(content))
    except (msgspec.MsgspecError, RecursionError, OverflowError):
        return None
    if not np.array_equal(announced, listed) or any(np.abs(values).max(initial=0) >= 1 << 63 for values in (x, y)):
        return None
    keys = arrays.row_keys({"sequence": sequence, "frame": frame}, schema.FRAME_KEY)
    return _columns(sequence, frame, listed, x, y) if len(arrays.distinct(keys)[0]) == len(keys) else None


def _flat(entries: list[_Entry]) -> list[np.ndarray]:
    """Sequence, frame, announced and listed objects of each entry, then x and y of each object."""
    points = list(chain.from_iterable([entry.object_coords for entry in entries]))
    return [
        np.fromiter([entry.sequence_id for entry in entries], np.int64, len(entries)),
        np.fromiter([entry.frame for entry in entries], np.int64, len(entries)),
        np.fromiter([entry.num_objects for entry in entries], np.int64, len(entries)),
        np.fromiter([len(entry.object_coords) for entry in entries], np.int64, len(entries)),
        *matrix(points, 2, order="F").T,
    ]


def _columns(
    sequence: np.ndarray, frame: np.ndarray, n_objects: np.ndarray, x: np.ndarray, y: np.ndarray
) -> SideColumns:
    """The columns of objects and of frames from three integers a frame and two coordinates an object, in file order."""
    key = {"sequence": sequence, "frame": frame}
    position = np.arange(len(x)) - np.repeat(np.cumsum(n_objects) - n_objects, n_objects)
    columns = {name: np.repeat(values, n_objects) for name, values in key.items()}
    return SideColumns(Columns({**columns, "object": position, "x": x, "y": y}), Columns(key))


@table_kinds.same_kind_as("truth")
def validate_spotgeo(
    path: str | Path,
    truth: Annotations | Table | None = None,
    sequences: Iterable[int] | None = None,
    *,
    x_range: Range = (-0.5, 639.5),
    y_range: Range = (-0.5, 479.5),
    most_objects: int = 30,
    frames_per_sequence: int = 5,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> pd.DataFrame:
    """Lists everything that is wrong with a submission, one row a problem: `place` and `problem`.

    Parameters
    ----------
    path
        The submission: the competition's JSON, plain or packed, or a table of objects, as `read_objects` takes it, each
        of them also by its address.
    truth
        What is really there. The submission has to have its frames: at least those in which the truth has objects,
        where it has no frames table.
    sequences
        Without `truth`, the sequences of which the submission has to have the frames 1 to `frames_per_sequence`;
        without either, those that it lists.
    x_range, y_range
        Within which coordinates have to lie (px), both ends included.
    most_objects
        How many objects a frame may have.
    frames_per_sequence
        How many frames a sequence has.
    storage_options, filesystem
        For an address such as s3://bucket/june.json: the options of its file system, with fsspec's names (`key`,
        `secret`, `token`, `endpoint_url` for S3), or that itself, pyarrow's or fsspec's.

    Returns
    -------
    A table of polars or pyarrow where the truth is one, and otherwise of pandas. It has no rows if the submission is
    sound. Places are positions in the file, from 0: `[12].object_coords[3][0]`. A table of objects lists no empty
    frames, so no frame can be missing from it, and the places of its problems are keys.

    Raises
    ------
    InputError: the file cannot be read, or the table is not right.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> len(sf.validate_spotgeo("data/sample/eager.json", sequences=range(1, 61)))
    0
    >>> sf.validate_spotgeo("data/sample/eager.json", sequences=range(1, 62)).iloc[0].to_dict()
    {'place': 'sequence 61, frame 1', 'problem': 'is missing'}
    """
    limits, storage = Limits(x_range, y_range, most_objects), Storage(storage_options, filesystem)
    truth = None if truth is None else as_annotations(truth, "truth")
    if is_competition_file(path):
        with addresses.local_copy(path, storage) as copy:
            _, places, problems = inspect(_content(copy.path), limits)
    else:
        from .objects import read_objects

        objects = read_objects(path, storage_options=storage_options, filesystem=filesystem).objects
        problems = list(_limit_problems(objects, limits))
        places = {pair: pair_text(pair) for pair in _pairs(objects)}
    if places or not problems:  # else it is no list of frames at all
        wanted = _wanted(places, truth, sequences, frames_per_sequence)
        problems += _surplus_problems(places, wanted, truth)
        if is_competition_file(path):  # a table lists no empty frames
            problems += [(pair_text(pair), "is missing") for pair in sorted(wanted - places.keys())]
    import pandas as pd

    from ..support import pandas_tables

    return pd.DataFrame(problems, columns=["place", "problem"], dtype=pandas_tables.TEXT)


def is_competition_file(path: str | Path) -> bool:
    """Whether a path names the competition's JSON, plain or packed, rather than a table of objects."""
    name = addresses.base_name(path).lower()
    return name.endswith((".json", ".zip", ".gz")) and not name.endswith(".csv.gz")


def _pairs(table: pd.DataFrame) -> Iterator[Pair]:
    return zip(table["sequence"].tolist(), table["frame"].tolist(), strict=True)


def _limit_problems(objects: pd.DataFrame, limits: Limits) -> Iterator[Problem]:
    """What in a table of objects lies outside the limits; places are keys, a table has no positions."""
    for axis, (low, high) in (("x", limits.x), ("y", limits.y)):
        outside = objects[~objects[axis].between(low, high)]
        places = map(messages.row_text, outside[schema.OBJECT_KEY].to_dict("records"))
        for place, value in zip(places, outside[axis].tolist(), strict=True):
            yield f"{place}, {axis}", out_of_range(value, low, high)
    counts = objects.groupby(schema.FRAME_KEY).size().rename("count").reset_index()
    for row in counts[counts["count"] > (limits.n_objects or np.inf)].to_dict("records"):
        place = pair_text((row["sequence"], row["frame"]))
        yield place, f"{row['count']} objects are more than {limits.n_objects}"


def problem_lines(path: Path, problems: Iterable[Problem]) -> list[str]:
    """Problems as text, one line each: file, place where there is one, and what is wrong."""
    return [": ".join(filter(None, [str(path), place, problem])) for place, problem in problems]


def _content(path: Path) -> bytes:
    return reading.read_bytes(path).removeprefix(documents.BYTE_ORDER_MARK)


def _wanted(
    places: Iterable[Pair], truth: Annotations | None, sequences: Iterable[int] | None, frames_per_sequence: int
) -> set[Pair]:
    """The (sequence, frame) pairs that a submission has to have."""
    if truth is not None:
        return set(_pairs(truth.objects if truth.frames is None else truth.frames))
    numbers = {sequence for sequence, _ in places} if sequences is None else set(sequences)
    return set(product(numbers, range(1, frames_per_sequence + 1)))


def _surplus_problems(places: Mapping[Pair, str], wanted: set[Pair], truth: Annotations | None) -> list[Problem]:
    """The frames that should not be there. A truth without a frames table does not know which those are."""
    if truth is not None and truth.frames is None:
        return []
    return [(place, f"{pair_text(pair)} is not wanted") for pair, place in places.items() if pair not in wanted]


def write_spotgeo(annotations: Annotations | Table, path: str | Path) -> None:
    """Writes objects as a competition file, packed where the name ends in .gz or .zip.

    Frames are sorted, and objects keep their order within a frame. The format holds no names of objects and no other
    columns, so a file that is read back counts `object` from 0 in each frame. The file appears only once it is whole.

    Parameters
    ----------
    annotations
        Annotations, or a table of objects, with `sequence`, `frame`, `object`, `x` and `y` (px).
    path
        The file.

    Raises
    ------
    InputError: the table is not right, has joints, or its sequences are not integers; an object lies in a frame that
        the frames table does not have; or nothing can be written there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "submission.zip"
    >>> sf.write_spotgeo(sf.read_spotgeo("data/sample/eager.json"), path)
    >>> len(sf.read_spotgeo(path).objects)
    735
    """
    path = Path(path)
    checked = as_annotations(annotations, "annotations")
    if any(len(table) and table["sequence"].dtype != np.int64 for table in checked.of_sequences if table is not None):
        raise InputError("annotations: column sequence holds strings; the competition's format knows integers only")
    if "joint" in checked.objects:
        raise InputError("annotations: there is a column joint; the competition's format knows points only")
    objects, frames, *_ = checked
    frames = objects[schema.FRAME_KEY] if frames is None else frames
    frame_key, object_key = arrays.frame_keys([frames, objects])
    listed, rows = arrays.distinct(frame_key)
    position = arrays.locate(listed, object_key)
    if np.any(position < 0):
        outside = messages.first_keys(objects, position < 0, schema.FRAME_KEY)
        raise InputError(f"annotations: objects lie in frames that the frames table does not have: {outside}")
    points = objects[["x", "y"]].take(np.argsort(position, kind="stable")).to_numpy().tolist()
    ends = np.cumsum(np.bincount(position, minlength=len(listed))).tolist()
    entries = [
        {"sequence_id": sequence, "frame": frame, "num_objects": end - start, "object_coords": points[start:end]}
        for (sequence, frame), start, end in zip(_pairs(frames.take(rows)), [0, *ends], ends, strict=False)
    ]
    writing.write_bytes(path, msgspec.json.encode(entries))
