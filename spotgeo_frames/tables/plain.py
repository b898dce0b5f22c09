"""Tables of objects that the checks would leave as they are: plain numbers, and keys of which none occurs twice.

Most tables are plain, and small evaluations spend most of their time on the checks of others.
"""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ..support import InputError, arrays, pandas_tables
from . import provenance
from .annotations import Annotations, SideColumns
from .columns import Columns, columns_of
from .key_text import KeyText, key_text
from .key_values import holds_text
from .schema import (
    FRAME_KEY,
    LARGEST_COORDINATE,
    LARGEST_EXACT_INTEGER,
    TAKEN_OF_FRAMES,
    coordinates_of,
    ranges_of,
)

# Types of Arrow whose values a match table can hold, whatever they are.
CARRIED = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()]
NUMBERS = [np.dtype(kind.to_pandas_dtype()) for kind in CARRIED]

# Of pandas, flags, text and categories as well, but for the columns that have to be numbers.
ALWAYS_NUMBERS = ["score", "visibility"]

# The columns of the key that may be text, and with the category those that hold names.
MAY_BE_TEXT = ["sequence", "object", "joint"]
NAMES = [*MAY_BE_TEXT, "category"]

# From so many rows on, names are numbered once, and whoever joins tables takes the numbers.
LONG = 10_000


def plain_objects(rows: pa.Table) -> Columns | None:
    """The columns of objects that `check_objects` would leave as they are, found out several times faster.

    None where that takes a closer look: for columns other than numbers, for nulls, and where a key occurs twice.
    """
    wanted = _wanted_types(rows.schema.names)
    if not wanted.keys() <= {*rows.schema.names}:
        return None
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if column.null_count or column.type not in ([wanted[name]] if name in wanted else CARRIED):
            return None
    values = {name: column.to_numpy() for name, column in zip(rows.schema.names, rows.columns, strict=True)}
    columns = Columns(values)
    return columns if _is_plain(columns, wanted) else None


def plain_side(data: Any) -> SideColumns | None:
    """The columns of a side that `as_annotations` would leave as they are, found out several times faster.

    None where that takes a closer look: where a table is not plain, and where sequences or categories have attributes.
    """
    if not isinstance(data, Annotations):
        objects = plain_dataframe(data)
        return None if objects is None else SideColumns(objects)
    if data.sequences is not None or data.categories is not None:
        return None
    objects = plain_dataframe(data.objects)
    if objects is None or data.frames is None:
        return None if objects is None else SideColumns(objects)
    frames = _plain_table(data.frames)
    if frames is None or not {*FRAME_KEY} <= {*frames} or any(name in frames for name in TAKEN_OF_FRAMES):
        return None
    wanted = dict.fromkeys(FRAME_KEY, pa.int64())
    return SideColumns(objects, frames) if _are_carried(frames, wanted) and _is_plain(frames, wanted) else None


def plain_dataframe(table: Any) -> Columns | None:
    """The columns of a DataFrame that `check_objects` would leave as they are, found out several times faster.

    Keys of text come with their codes in long tables, whatever type their column has. None where that takes a closer
    look: where keys are null or occur twice, for columns other than numbers, flags, text and categories, and for named
    indexes and names with blanks.
    """
    columns = _plain_table(table)
    if columns is not None and len(columns) >= LONG:
        columns = _with_codes(columns)
    if columns is None:
        return None
    wanted = _wanted_types(columns.arrays)
    if not wanted.keys() <= columns.arrays.keys() or not _are_carried(columns, wanted):
        return None
    return columns if _is_plain(columns, wanted) else None


def _plain_table(table: Any) -> Columns | None:
    """The columns of a DataFrame with plain names and a plain index; None of any other table.

    A table that is no longer that of a file loses the note of it.
    """
    if type(table) is not pd.DataFrame or table.index.nlevels > 1 or table.index.name is not None:
        return None
    names = table.columns
    are_text = names.dtype == pandas_tables.TEXT and not names.hasnans
    if not are_text and not all(type(name) is str for name in names.tolist()):
        return None
    columns = columns_of(provenance.confirmed(table))
    has_own_names = len(columns.arrays) == len(names) and all(name == name.strip() for name in columns)
    return columns if has_own_names else None


def _are_carried(columns: Columns, wanted: Mapping[str, pa.DataType]) -> bool:
    """Whether all columns of a table of pandas are of a type that they may stay of."""
    return all(_is_carried(values.dtype, name, wanted.get(name)) for name, values in columns.arrays.items())


def _is_carried(kind: Any, name: str, wanted: pa.DataType | None) -> bool:
    """Whether a column may stay of a type; `wanted` is that of a key or a coordinate."""
    if isinstance(kind, np.dtype):
        if wanted is not None:
            return bool(kind == wanted.to_pandas_dtype())
        return kind in NUMBERS or (kind.kind == "b" and name not in ALWAYS_NUMBERS)
    if wanted is not None:
        return name in MAY_BE_TEXT and bool(kind == pandas_tables.TEXT)
    if isinstance(kind, pd.CategoricalDtype):
        return name not in ALWAYS_NUMBERS and (name != "category" or holds_text(kind.categories))
    return name not in ALWAYS_NUMBERS and bool(kind == pandas_tables.TEXT)


def _with_codes(columns: Columns) -> Columns | None:
    """The same columns, with names as text that is numbered; None where names take a closer look."""
    texts = dict[str, KeyText]()
    for name in NAMES:
        values = columns.arrays.get(name)
        if values is None or (isinstance(values, np.ndarray) and values.dtype != object):
            continue
        if name == "category" and values.dtype != pandas_tables.TEXT:
            continue  # it is carried along in the type that it has
        try:
            text = key_text(pd.Series(values, dtype=values.dtype, copy=False))
        except InputError:
            return None  # too long for the memory, of which the checks tell in the name of the table
        if text is not None:
            texts[name] = text
        elif name != "category":  # which may have nulls, of crowds
            return None
    codes = {name: text.codes for name, text in texts.items() if text.codes is not None}
    named = columns.arrays | {name: text.values for name, text in texts.items()}
    return Columns(named, columns.attrs, len(columns), codes)


def _wanted_types(names: Collection[str]) -> dict[str, pa.DataType]:
    """The types that the key and the coordinates of objects with these columns end up with."""
    key = [*FRAME_KEY, "object", *(["joint"] if "joint" in names else [])]
    coordinates = [*coordinates_of(names), *(name for name in ("w", "h") if name in names)]
    return dict.fromkeys(key, pa.int64()) | dict.fromkeys(coordinates, pa.float64())


def _is_plain(columns: Columns, wanted: Mapping[str, pa.DataType]) -> bool:
    """Whether numbers are within their ranges, no key is null, and none occurs twice."""
    ranges = ranges_of(columns.arrays)
    places = [name for name, kind in wanted.items() if kind == pa.float64()]
    whole = [name for name in columns if name not in wanted and columns[name].dtype == np.int64]
    largest = {name: ranges.get(name, (LARGEST_COORDINATE,))[0] for name in places}
    largest |= dict.fromkeys(whole, LARGEST_EXACT_INTEGER)
    if not all(_within(columns[name], limit) for name, limit in largest.items()):
        return False
    codes = {name: _codes(columns, name) for name in wanted if name not in places}
    if any(of is None for of in codes.values()):
        return False
    return arrays.ascend([*codes.values()]) or not arrays.repeated(arrays.row_keys(columns, [*codes])).any()


def _codes(columns: Columns, name: str) -> np.ndarray | None:
    """A column of the key as integers: text is numbered as it appears, as the joints of most poses do in one order.

    None if a name is null.
    """
    if name in columns.text_codes:
        return columns.text_codes[name].codes
    key = columns[name]
    if isinstance(key, np.ndarray):
        return key
    codes, _ = columns.numbered(name)  # which matching poses needs as well
    return None if codes.min(initial=0) < 0 else codes


def _within(values: np.ndarray, largest: float) -> bool:
    return bool(((values >= -largest) & (values <= largest)).all())
