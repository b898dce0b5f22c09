"""One side of a batch as arrays: from the arrays and tensors of a training loop, or from a table.

A dict of arrays is a table whose columns are arrays. NumPy arrays, lists and tensors on any device are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..support import InputError, arrays
from ..tables import Annotations, Columns, array_of, messages, other_words, schema

# What may be given for the columns of the geometry, with how many numbers each row has there.
GEOMETRY = {"xy": 2, "boxes": 4, "boxes_xyxy": 4}

# Other names of columns that dicts may use.
COLUMNS = {"scores": "score", "classes": "category"}

# The columns of a table that are looked at, besides the geometry.
NEEDED = {*schema.FRAME_KEY, "object", "joint", *schema.BOX, "category", "crowd", "ignore", "score"}

# The key of a dict for what other packages call otherwise, by `plain` names and by the columns of tables.
MEANT = {
    "xyxy": "boxes_xyxy",
    "bboxes": "boxes (x, y, w, h; x, y is the top left corner) or boxes_xyxy",
    "xywh": "boxes, whose x, y is the top left corner and not the centre",
}
KEYS = {"category": "classes", "score": "scores", "crowd": "crowd", "ignore": "ignore"}


class BatchSide(NamedTuple):
    """One side of a batch: n rows, and the m frames that it lists, if it does.

    `columns` are arrays (n,) by name, but for the geometry: x, y and for boxes w, h (px) as the rows of one array of
    float64, (2, n) or (4, n), which shares no memory with what was given. `frames` has the arrays `sequence` and
    `frame`, (m,), or is None. `names` are those of all columns that were given, also of those that nothing here needs.
    """

    columns: dict[str, Any]
    geometry: np.ndarray
    frames: dict[str, Any] | None = None
    names: tuple[Any, ...] = ()


def arrays_of_dict(given: Mapping[str, Any], name: str) -> BatchSide:
    """The side that a dict of arrays stands for; raises InputError if a key or a shape is wrong.

    Where `sequence` and `frame` are single values, they are those of all rows, and the frame is listed. Messages call
    the dict `name`.
    """
    unknown = _in_other_words(tuple(given))
    if unknown:
        raise InputError([f"{name}: key {key} is not known; call it {meant}" for key, meant in unknown])
    if len({COLUMNS.get(key, key) for key in given}) < len(given):
        twice = [f"{key} and {column}" for key, column in COLUMNS.items() if key in given and column in given]
        raise InputError(f"{name}: keys {messages.listed(twice)} are the same; give one of them")
    if "joint" in given and "object" not in given:
        raise InputError(f"{name}: key object is missing; say to which object each joint belongs")
    values = {
        key: value if type(value) is np.ndarray else arrays.as_array(value, f"{name}: key {key}")
        for key, value in given.items()
    }
    geometry = _geometry(values, name)
    n_rows = geometry.shape[1]
    single = [key for key in schema.FRAME_KEY if key in values and not values[key].ndim]
    frames = {key: values[key].reshape(1) for key in schema.FRAME_KEY} if len(single) == len(schema.FRAME_KEY) else None
    for key in single:
        values[key] = values[key].repeat(n_rows)
    _check_lengths(values, n_rows, name)
    columns = {COLUMNS.get(key, key): array for key, array in values.items()}
    return BatchSide(columns, geometry, frames, (*columns, *schema.BOX[: len(geometry)]))


@lru_cache(maxsize=64)  # the batches of a loop have the same keys
def _in_other_words(keys: tuple[str, ...]) -> list[tuple[str, str]]:
    """The keys of a dict that are called otherwise here, each with the key that is meant."""
    found = [(key, MEANT[other_words.plain(key)]) for key in keys if other_words.plain(key) in MEANT]
    columns = [COLUMNS.get(key, key) for key in keys]
    return found + [(key, KEYS[column]) for column in KEYS for key in other_words.in_other_words(column, columns)]


def frames_of_dict(given: Mapping[str, Any], name: str) -> dict[str, np.ndarray]:
    """The columns of a table of frames that a dict of arrays stands for; one that is a single value is repeated."""
    values = {key: arrays.as_array(value, f"{name}: key {key}") for key, value in given.items()}
    n_rows = max((len(array) if array.ndim else 1 for array in values.values()), default=0)
    columns = {key: array if array.ndim else np.repeat(array, n_rows) for key, array in values.items()}
    _check_lengths(columns, n_rows, name)
    return columns


def _geometry(arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Takes the geometry out of the arrays, as the rows x, y and for boxes w, h of an array of float64."""
    given = [key for key in (*GEOMETRY, *schema.BOX) if key in arrays]
    if not given or (len(given) > 1 and given[0] in GEOMETRY):
        what = f"keys {' and '.join(given)} all say where objects are" if given else "nothing says where objects are"
        raise InputError(f"{name}: {what}; give one of xy (n, 2), boxes (n, 4) and boxes_xyxy (n, 4)")
    key = given[0]
    if key in schema.BOX:
        names = schema.BOX if {*schema.BOX} <= arrays.keys() else schema.BOX[:2]
        parts = {name: arrays.pop(name, np.zeros(0)) for name in names}
        _check_lengths(parts, parts["x"].size, name)
        return _numbers(np.stack([*parts.values()]), f"{name}: keys {', '.join(parts)}")
    array, width = arrays.pop(key), GEOMETRY[key]
    if array.ndim != 2 or array.shape[1] != width:
        if array.size:
            raise InputError(f"{name}: key {key} has the shape {array.shape}; (n, {width}) is needed, a row an object")
        array = array.reshape(0, width)  # an empty list or tensor has lost its width
    geometry = _numbers(array.T, f"{name}: key {key}")
    if key == "boxes_xyxy":
        geometry[2:] -= geometry[:2]
    return geometry


def _numbers(array: np.ndarray, place: str) -> np.ndarray:
    """A copy of an array as float64; raises InputError if it holds no numbers."""
    if array.dtype.kind not in "iuf" and array.size:
        raise InputError(f"{place}: is of type {array.dtype}; numbers are needed")
    return np.array(array, np.float64, order="C")


def _check_lengths(columns: Mapping[str, np.ndarray], n_rows: int, name: str) -> None:
    """Raises InputError unless every column has a value for each of the rows."""
    for key, array in columns.items():
        if array.shape != (n_rows,):
            problem = f"has the shape {array.shape}; ({n_rows},) is needed, a value for each row"
            raise InputError(f"{name}: key {key} {problem}")


def given_arrays(given: Any, name: str) -> BatchSide | None:
    """The side that a dict of arrays, or a DataFrame of plain columns, stands for; None where it takes a closer look.

    Raises InputError if a key or a shape of a dict is wrong.
    """
    objects, frames = (given.objects, given.frames) if isinstance(given, Annotations) else (given, None)
    if isinstance(objects, Mapping):
        side = None if schema.geometry_name(objects) else arrays_of_dict(objects, name)
    else:
        side = _arrays_of_dataframe(objects) if isinstance(objects, pd.DataFrame) else None
    if isinstance(given, Annotations) and any(table is not None for table in given[2:]):
        return None  # nothing of it is needed, but it may be wrong
    if side is None or frames is None:
        return side
    if isinstance(frames, Mapping):
        return side._replace(frames=frames_of_dict(frames, f"{name} frames"))
    if not isinstance(frames, pd.DataFrame) or not {*schema.FRAME_KEY} <= {*frames.columns}:
        return None
    return side._replace(frames={name: array_of(frames[name]) for name in schema.FRAME_KEY})


class _Positions(NamedTuple):
    """Where the columns of a DataFrame of numbers are that are looked at: integers, other numbers, and the geometry."""

    names: list[str]
    integers: np.ndarray
    others: list[tuple[str, int]]
    geometry: np.ndarray


def _arrays_of_dataframe(table: pd.DataFrame) -> BatchSide | None:
    """The side that a DataFrame of numbers is; None where it takes a closer look.

    To take all values as one array, and the columns from that, is several times faster than to take each column.
    """
    names = tuple(table.columns.tolist())
    # Types of pandas itself, such as Int64, may have nulls, so they do not count as numbers.
    kinds = "".join([dtype.kind if isinstance(dtype, np.dtype) else "O" for dtype in table.dtypes.tolist()])
    if not {"sequence", "frame", "object", "x", "y"} <= {*names} or len({*names}) < len(names):
        return None
    if schema.geometry_name(names) is not None:
        return None
    positions = _positions(names, kinds)
    if positions is None:
        wanted = [name for name in names if name in NEEDED]
        side = arrays_of_columns(Columns({name: array_of(table[name]) for name in wanted}))
        return None if side is None else side._replace(names=names)
    values = table.to_numpy(np.float64).T
    integers = values.take(positions.integers, axis=0)
    # The sum of the squares is found several times faster than the largest, and is mostly small enough.
    if (
        np.vdot(integers, integers) >= schema.LARGEST_EXACT_INTEGER**2
        and np.abs(integers).max() >= schema.LARGEST_EXACT_INTEGER
    ):
        return None
    columns = dict(zip(positions.names, integers.astype(np.int64), strict=True))
    columns |= {name: values[position] for name, position in positions.others}
    return BatchSide(columns, values.take(positions.geometry, axis=0), names=names)


@lru_cache(maxsize=64)  # the batches of a loop have the same columns, and finding them would take a third of the time
def _positions(names: tuple[str, ...], kinds: str) -> _Positions | None:
    """Where the columns with these names are; None unless all are signed integers or floating point.

    `kinds` has a letter for each column: the `kind` of its NumPy type.
    """
    if not {*kinds} <= {"i", "f"}:
        return None
    geometry = schema.BOX if "w" in names and "h" in names else schema.BOX[:2]
    place = {name: position for position, name in enumerate(names) if name in NEEDED and name not in geometry}
    whole = [name for name, position in place.items() if kinds[position] == "i"]
    others = [(name, position) for name, position in place.items() if kinds[position] == "f"]
    integers = np.array([place[name] for name in whole], np.intp)
    return _Positions(whole, integers, others, np.array([names.index(name) for name in geometry]))


def arrays_of_columns(objects: Columns, frames: Columns | None = None) -> BatchSide | None:
    """The side that columns of objects, and of frames, are; None if the geometry is not float64 throughout."""
    if schema.geometry_name(objects) is not None:
        return None
    names = schema.BOX if {*schema.BOX} <= {*objects} else schema.BOX[:2]
    parts = [objects[name] for name in names]
    if any(not isinstance(part, np.ndarray) or part.dtype != np.float64 for part in parts):
        return None
    listed = None if frames is None else {name: frames[name] for name in schema.FRAME_KEY}
    columns = {name: objects[name] for name in objects if name not in names}
    return BatchSide(columns, np.array(parts), listed, (*objects,))


def as_dataframe(side: BatchSide) -> pd.DataFrame:
    """A side of arrays as a table of objects, in which an object without a name is called by its position."""
    names = {"object": np.arange(side.geometry.shape[1])} if "object" not in side.columns else {}
    key = {name: side.columns[name] for name in schema.FRAME_KEY if name in side.columns}
    return pd.DataFrame(key | names | dict(zip(schema.BOX, side.geometry, strict=False)) | side.columns)


def _objects_of_geometry(arrays: Mapping[str, Any], name: str) -> pd.DataFrame:
    """A dict of the columns of a geometry that has its own as a table, in which objects without names are numbered."""
    columns = {key: np.asarray(values) for key, values in arrays.items()}
    own = schema.GEOMETRY_COLUMNS[str(schema.geometry_name(arrays))]
    n_rows = len(columns[own[0]])
    columns.setdefault("object", np.arange(n_rows))
    wrong = [key for key, values in columns.items() if values.shape not in ((), (n_rows,))]
    if wrong:
        raise InputError([f"{name}: {key} has shape {columns[key].shape}; ({n_rows},) is needed" for key in wrong])
    return pd.DataFrame({key: np.broadcast_to(values, n_rows) for key, values in columns.items()})


def as_tables(given: Any, name: str) -> Any:
    """Annotations of tables, or a table, from what one side of a batch may be given as."""
    objects, frames, *others = given if isinstance(given, Annotations) else (given, None)
    if isinstance(objects, Mapping) and schema.geometry_name(objects):
        objects = _objects_of_geometry(objects, name)
    elif isinstance(objects, Mapping):
        side = arrays_of_dict(objects, name)
        objects = as_dataframe(side)
        frames = pd.DataFrame(side.frames) if frames is None and side.frames is not None else frames
    if isinstance(frames, Mapping):
        frames = pd.DataFrame(frames_of_dict(frames, f"{name} frames"))
    is_alone = all(table is None for table in (frames, *others))
    return objects if is_alone else Annotations(objects, frames, *others)
