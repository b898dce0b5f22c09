"""The spotGEO competition's JSON: read, write, and say all that is wrong with a submission.

A file is a list of frames, `{"sequence_id": 1, "frame": 1, "num_objects": 2, "object_coords": [[x, y], [x, y]]}`,
plain or packed as .gz or .zip. Coordinates are pixels, the centre of the first pixel at (0, 0).

Two roads lead in. The fast one decodes strictly into structs and gives up at the first thing it does not expect;
only then the slow one looks at every value and names each problem with its place. Both accept the same files.

Known differences from the competition's script
    - It accepts more than two numbers as a coordinate and ignores the rest; here they are refused.
    - Its JSON parser accepts NaN and Infinity; they are not JSON, and are refused.
    - Integers of more than 64 bits are refused, also as coordinates.
"""

import gc
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from ..errors import InputError
from ..files import read_bytes, write_bytes
from ..keys import distinct, frame_keys, locate, row_keys
from ..tables import FRAME_KEY, Annotations, Table, as_annotations, key_text
from .objects import read_objects

Range = tuple[float, float]
Pair = tuple[int, int]
Problem = tuple[str, str]


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
# A marker for an array of two, then two of the marker for a float64 and the number.
_PACKED_POINT = np.dtype([("pair", "u1"), ("x_marker", "u1"), ("x", ">f8"), ("y_marker", "u1"), ("y", ">f8")])


class _Limits(NamedTuple):
    """What a coordinate and a list of objects may be."""

    x: Range = (-np.inf, np.inf)
    y: Range = (-np.inf, np.inf)
    n_objects: int | None = None


class _NoNumber(NamedTuple):
    """Stands for what the file has in the place of a number: NaN, 1e999, an integer of 30 digits."""

    text: str
    problem: str


class _Inspection(NamedTuple):
    """What the slow road found: the entries that can be used, the place of each (sequence, frame), the problems."""

    entries: list[tuple[int, int, list[list[float]]]]
    places: dict[Pair, str]
    problems: list[Problem]


def read_spotgeo(path: str | Path) -> Annotations:
    """Reads a competition file (truth or submission).

    `object` is the position in `object_coords`, from 0; `frames` lists every frame of the file, in its order.
    Raises InputError with every problem and its place where the file is not of this form; image bounds and the
    limit of 30 objects are the business of `validate_spotgeo`.
    """
    path = Path(path)
    content = _content(path)
    annotations = _decoded(content)
    if annotations is None:
        entries, _, problems = _inspect(content, _Limits())
        if problems:
            raise InputError(problem_lines(path, problems))
        numbers = np.array([(sequence, frame, len(points)) for sequence, frame, points in entries], np.int64)
        points = np.array(list(chain.from_iterable(points for *_, points in entries)), np.float64)
        annotations = _annotations(*numbers.reshape(-1, 3).T.copy(), *points.reshape(-1, 2).T.copy())
    annotations.objects.attrs["source"] = str(path)
    return annotations


def _decoded(content: bytes) -> Annotations | None:
    """The fast road: None where there is anything the slow one should look at."""
    if not content.isascii():  # which the decoder does not check in strings that it skips
        return None
    try:
        with _collector_paused():
            sequence, frame, announced, listed, x, y = _flat(_DECODER.decode(content))
    except (msgspec.MsgspecError, RecursionError, OverflowError):
        return None
    if not np.array_equal(announced, listed) or any(np.abs(values).max(initial=0) >= 1 << 63 for values in (x, y)):
        return None
    keys = row_keys({"sequence": pd.Series(sequence), "frame": pd.Series(frame)}, FRAME_KEY)
    return _annotations(sequence, frame, listed, x, y) if len(distinct(keys)[0]) == len(keys) else None


def _flat(entries: list[_Entry]) -> list[np.ndarray]:
    """Sequence, frame, announced and listed objects of each entry, then x and y of each object."""
    points = list(chain.from_iterable([entry.object_coords for entry in entries]))
    # MessagePack lays each point out in the same 19 bytes, which NumPy reads at once: twice as fast as two lists.
    packed = msgspec.msgpack.encode(points)
    xy = np.frombuffer(packed, _PACKED_POINT, offset=len(packed) - len(points) * _PACKED_POINT.itemsize)
    return [
        np.fromiter([entry.sequence_id for entry in entries], np.int64, len(entries)),
        np.fromiter([entry.frame for entry in entries], np.int64, len(entries)),
        np.fromiter([entry.num_objects for entry in entries], np.int64, len(entries)),
        np.fromiter([len(entry.object_coords) for entry in entries], np.int64, len(entries)),
        xy["x"].astype(np.float64),
        xy["y"].astype(np.float64),
    ]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No garbage collection meanwhile: it would walk through all that decoding makes, and find no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _annotations(
    sequence: np.ndarray, frame: np.ndarray, n_objects: np.ndarray, x: np.ndarray, y: np.ndarray
) -> Annotations:
    """Annotations from three integers a frame and two coordinates an object, in file order."""
    key = {"sequence": sequence, "frame": frame}
    position = np.arange(len(x)) - np.repeat(np.cumsum(n_objects) - n_objects, n_objects)
    columns = {name: np.repeat(values, n_objects) for name, values in key.items()}
    objects = pd.DataFrame({**columns, "object": position, "x": x, "y": y}, copy=False)
    return Annotations(objects, pd.DataFrame(key, copy=False))


def validate_spotgeo(
    path: str | Path,
    truth: Annotations | Table | None = None,
    sequences: Iterable[int] | None = None,
    *,
    x_range: Range = (-0.5, 639.5),
    y_range: Range = (-0.5, 479.5),
    most_objects: int = 30,
    frames_per_sequence: int = 5,
) -> pd.DataFrame:
    """Everything that is wrong with a submission, one row a problem: `place` and `problem`; no rows where it is sound.

    Wanted are the frames of `truth` (where it has no frames table, at least those that occur); or frames 1 to
    `frames_per_sequence` of each of `sequences`; or, where neither is given, of each sequence that occurs. Places are
    positions in the file, from 0: `[12].object_coords[3][0]`. Bounds are in pixels, both ends included. A table of
    objects is held to the same limits; what it does not list is empty, so nothing is missing from it, and its places
    are keys. Raises InputError where a file cannot be read at all, or a table is not right.
    """
    path, limits = Path(path), _Limits(x_range, y_range, most_objects)
    truth = None if truth is None else as_annotations(truth, "truth")
    if is_competition_file(path):
        _, places, problems = _inspect(_content(path), limits)
        if places or not problems:  # else it is no list of frames at all
            wanted = _wanted(places, truth, sequences, frames_per_sequence)
            problems += _surplus_problems(places, wanted, truth)
            problems += [(_pair_text(pair), "is missing") for pair in sorted(wanted - places.keys())]
    else:
        objects = read_objects(path).objects
        problems = list(_limit_problems(objects, limits))
        places = {pair: _pair_text(pair) for pair in _pairs(objects)}
        wanted = _wanted(places, truth, sequences, frames_per_sequence)
        problems += _surplus_problems(places, wanted, truth)
    return pd.DataFrame(problems, columns=["place", "problem"], dtype="str")


def is_competition_file(path: Path) -> bool:
    """Whether a path names the competition's JSON, plain or packed, rather than a table of objects."""
    name = path.name.lower()
    return name.endswith((".json", ".zip", ".gz")) and not name.endswith(".csv.gz")


def _pairs(table: pd.DataFrame) -> Iterator[Pair]:
    return zip(table["sequence"].tolist(), table["frame"].tolist(), strict=True)


def _pair_text(pair: Pair) -> str:
    return f"sequence {pair[0]}, frame {pair[1]}"


def _limit_problems(objects: pd.DataFrame, limits: _Limits) -> Iterator[Problem]:
    """What in a table of objects lies outside the limits; places are keys, a table has no positions."""
    for axis, (low, high) in (("x", limits.x), ("y", limits.y)):
        for row in objects[~objects[axis].between(low, high)].to_dict("records"):
            place = ", ".join(f"{column} {row[column]}" for column in [*FRAME_KEY, "object"])
            yield f"{place}, {axis}", _out_of_range(row[axis], low, high)
    counts = objects.groupby(FRAME_KEY).size().rename("count").reset_index()
    for row in counts[counts["count"] > (limits.n_objects or np.inf)].to_dict("records"):
        place = _pair_text((row["sequence"], row["frame"]))
        yield place, f"{row['count']} objects are more than {limits.n_objects}"


def _out_of_range(value: float, low: float, high: float) -> str:
    return f"{value} is under {low}" if value < low else f"{value} is over {high}"


def problem_lines(path: Path, problems: Iterable[Problem]) -> list[str]:
    """Problems as text, one line each: file, place where there is one, and what is wrong."""
    return [": ".join(filter(None, [str(path), place, problem])) for place, problem in problems]


def _content(path: Path) -> bytes:
    return read_bytes(path).removeprefix(b"\xef\xbb\xbf")


def _wanted(
    places: Iterable[Pair],
    truth: Annotations | None,
    sequences: Iterable[int] | None,
    frames_per_sequence: int,
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
    return [(place, f"{_pair_text(pair)} is not wanted") for pair, place in places.items() if pair not in wanted]


def _inspect(content: bytes, limits: _Limits) -> _Inspection:
    """The slow road: every value is looked at, and every problem listed with its place."""
    found = _Inspection([], {}, [])
    try:
        document = _parsed(content)
    except RecursionError:
        return found._replace(problems=[("", "is nested too deeply; a list of frames is needed")])
    except UnicodeDecodeError as error:
        return found._replace(problems=[(f"byte {error.start}", "is not UTF-8 text")])
    except json.JSONDecodeError as error:
        what = "is empty" if not content.strip() else f"is not JSON: {error.msg}"
        return found._replace(problems=[(f"line {error.lineno}, column {error.colno}", what)])
    if not isinstance(document, list):
        return found._replace(problems=[("", f"is {_kind(document)}; a list of frames is needed")])
    for position, entry in enumerate(document):
        place = f"[{position}]"
        if not isinstance(entry, dict):
            found.problems.append((place, f"is {_kind(entry)}; an object with sequence_id, frame, ... is needed"))
            continue
        numbers = {key: _integer(entry, key, place, found.problems) for key in ("sequence_id", "frame", "num_objects")}
        points = _points(entry, place, limits, found.problems)
        announced, sequence, frame = numbers["num_objects"], numbers["sequence_id"], numbers["frame"]
        if announced is not None and points is not None and announced != len(points):
            what = f"{announced} objects are announced, and object_coords lists {len(points)}"
            found.problems.append((f"{place}.num_objects", what))
        if sequence is None or frame is None:
            continue
        first = found.places.setdefault((sequence, frame), place)
        if first != place:
            found.problems.append((place, f"{_pair_text((sequence, frame))} is there already, at {first}"))
        found.entries.append((sequence, frame, points or []))
    return found


def _parsed(content: bytes) -> Any:
    """The JSON with what is no number marked instead of refused, so that its place can be told."""

    def integer(text: str) -> int | _NoNumber:
        # The length comes first: Python refuses to convert thousands of digits.
        if len(text) < 21 and -(1 << 63) <= int(text) < 1 << 63:
            return int(text)
        return _NoNumber(text, "is an integer of more than 64 bits")

    def real(text: str) -> float | _NoNumber:
        number = float(text)
        return number if np.isfinite(number) else _NoNumber(text, "is too large for a number")

    def constant(text: str) -> _NoNumber:
        return _NoNumber(text, "is not a number that JSON knows")

    return json.loads(content.decode("utf-8"), parse_int=integer, parse_float=real, parse_constant=constant)


def _integer(entry: dict[str, Any], key: str, place: str, problems: list[Problem]) -> int | None:
    """The integer under `key`, or None and a problem. JSON does not tell 1.0 from 1, so neither do we."""
    if key not in entry:
        problems.append((place, f"{key} is missing"))
        return None
    value = entry[key]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        problems.append((f"{place}.{key}", _not_a_number(value, "an integer")))
        return None
    return value


def _points(entry: dict[str, Any], place: str, limits: _Limits, problems: list[Problem]) -> list[Any] | None:
    """The list under `object_coords`, or None where there is none; its problems are added."""
    if "object_coords" not in entry:
        problems.append((place, "object_coords is missing"))
        return None
    place = f"{place}.object_coords"
    points = entry["object_coords"]
    if not isinstance(points, list):
        problems.append((place, f"is {_kind(points)}; a list of [x, y] is needed"))
        return None
    if limits.n_objects is not None and len(points) > limits.n_objects:
        problems.append((place, f"{len(points)} objects are more than {limits.n_objects}"))
    for number, point in enumerate(points):
        if not isinstance(point, list) or len(point) != 2:
            what = f"is a list of {len(point)}" if isinstance(point, list) else f"is {_kind(point)}"
            problems.append((f"{place}[{number}]", f"{what}; [x, y] is needed"))
            continue
        for axis, (value, (low, high)) in enumerate(zip(point, (limits.x, limits.y), strict=True)):
            if not isinstance(value, int | float) or isinstance(value, bool):
                problems.append((f"{place}[{number}][{axis}]", _not_a_number(value, "a number")))
            elif not low <= value <= high:
                problems.append((f"{place}[{number}][{axis}]", _out_of_range(value, low, high)))
    return points


def _not_a_number(value: Any, needed: str) -> str:
    if isinstance(value, _NoNumber):
        return f"{_shortened(value.text)} {value.problem}"
    return f"is {_kind(value)}; {needed} is needed"


def _kind(value: Any) -> str:
    """What a JSON value is, in words."""
    if isinstance(value, str):
        return f"the string {_shortened(value)!r}"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, _NoNumber):
        return _shortened(value.text)
    return json.dumps(value)  # null, true, false or a number


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:30]}... ({len(text)} characters)"


def write_spotgeo(annotations: Annotations | Table, path: str | Path) -> None:
    """Writes objects as a competition file, packed where the name ends in .gz or .zip.

    Frames come in order; `object_coords` in file order, so what is read back has `object` counted anew. Other
    columns have no place in this format. The file is written beside and moved into place. Raises InputError where
    the table is not right, has joints, or its sequences are not integers.
    """
    path = Path(path)
    checked = as_annotations(annotations, "annotations")
    if len(checked.objects) and checked.objects["sequence"].dtype != np.int64:
        raise InputError("annotations: column sequence holds strings; the competition's format knows integers only")
    if "joint" in checked.objects:
        raise InputError("annotations: there is a column joint; the competition's format knows points only")
    objects, frames = checked
    frames = objects[FRAME_KEY] if frames is None else frames
    frame_key, object_key = frame_keys([frames, objects])
    listed, rows = distinct(frame_key)
    position = locate(listed, object_key)
    if np.any(position < 0):
        outside = key_text(objects.loc[position < 0, FRAME_KEY])
        raise InputError(f"annotations: objects lie in frames that the frames table does not have: {outside}")
    points = objects[["x", "y"]].take(np.argsort(position, kind="stable")).to_numpy().tolist()
    ends = np.cumsum(np.bincount(position, minlength=len(listed))).tolist()
    entries = [
        {"sequence_id": sequence, "frame": frame, "num_objects": end - start, "object_coords": points[start:end]}
        for (sequence, frame), start, end in zip(_pairs(frames.take(rows)), [0, *ends], ends, strict=False)
    ]
    write_bytes(path, msgspec.json.encode(entries))
