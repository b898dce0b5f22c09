"""tidy(): tables in other words as tables of this package, by the names that the caller gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import pandas as pd

from ..support import InputError
from .arrow import as_pandas
from .messages import listed, missing
from .schema import BOX
from .table import Table
from .table_kinds import same_kind_as

BoxFormat = Literal["xywh", "xyxy", "cxcywh"]


@same_kind_as("table")
def tidy(
    table: Table,
    *,
    sequence: str | None = None,
    frame: str | None = None,
    object: str | None = None,
    joint: str | None = None,
    x: str | None = None,
    y: str | None = None,
    w: str | None = None,
    h: str | None = None,
    box: Sequence[str] | None = None,
    box_format: BoxFormat = "xywh",
    score: str | None = None,
    category: str | None = None,
    area: str | None = None,
    crowd: str | None = None,
    ignore: str | None = None,
    visibility: str | None = None,
) -> pd.DataFrame:
    """Renames the columns of a table to those that all functions here expect, and computes boxes from other formats.

    Parameters
    ----------
    table
        A table of objects, of frames, of sequences (of pandas, polars or pyarrow, or what exports an Arrow stream).
    sequence, frame, object, joint, x, y, w, h, score, category, area, crowd, ignore, visibility
        The name that this column has in the table; None, the default, leaves it as it is.
    box
        The names of the four columns of the boxes, in the order that `box_format` has them. They are replaced by `x`,
        `y` (the top left corner), `w` and `h`, in their units.
    box_format
        "xywh": left, top, width, height; "xyxy": left, top, right, bottom, where width is right - left; "cxcywh": the
        centre, then width and height.

    Returns
    -------
    DataFrame of the table's kind (polars or pyarrow; otherwise pandas), with the columns in their order: renamed where
    a name was given, and all others as they are. Its values are not checked; the function that takes it checks them.

    Raises
    ------
    InputError: a column is missing, is named twice, has no numbers where `box` names it, or a new name belongs to
        another column already.
    ValueError: `box_format` is something else, or `box` is no list of four names.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> boxes = pd.DataFrame({"video": ["a"], "image_id": [7], "object": [1], "label": ["car"],
    ...                       "xmin": [10.0], "ymin": [20.0], "xmax": [40.0], "ymax": [25.0]})
    >>> sf.tidy(boxes, sequence="video", frame="image_id", category="label",
    ...         box=["xmin", "ymin", "xmax", "ymax"], box_format="xyxy")
      sequence  frame  object category     x     y     w    h
    0        a      7       1      car  10.0  20.0  30.0  5.0
    """
    given = as_pandas(table, "tidy: table")
    named = {
        "sequence": sequence,
        "frame": frame,
        "object": object,
        "joint": joint,
        "x": x,
        "y": y,
        "w": w,
        "h": h,
        "score": score,
        "category": category,
        "area": area,
        "crowd": crowd,
        "ignore": ignore,
        "visibility": visibility,
    }
    names = {column: name for column, name in named.items() if name is not None}
    corners = _box_columns(box, box_format)
    if corners:
        both = [column for column in BOX if column in names]
        if both:
            raise ValueError(f"tidy: {listed(both)} and box both say where objects are; give one of them")
        names |= dict(zip(BOX, corners, strict=True))
    _check_names(given, names)
    renamed = given.rename(columns={name: column for column, name in names.items()})
    return renamed.assign(**_boxes(given, corners, box_format)) if corners else renamed


def _box_columns(box: Any, box_format: Any) -> list[str]:
    """The four columns of the boxes, none where there are none; raises ValueError if they or the format are wrong."""
    if box_format not in get_args(BoxFormat):
        raise ValueError(f"tidy: box_format is {box_format!r}; 'xywh', 'xyxy' or 'cxcywh' is needed")
    if box is None:
        return []
    if isinstance(box, str) or not isinstance(box, Sequence) or len(box) != len(BOX):
        raise ValueError(f"tidy: box is {box!r}; a list of the names of four columns is needed")
    return list(box)


def _check_names(given: pd.DataFrame, names: Mapping[str, Any]) -> None:
    """Raises InputError if a column is missing or named twice, or if a new name belongs to another column already."""
    taken = list(names.values())
    problems = [
        missing("tidy: table", name, given.columns, f"it is to be {column}; there are {listed(given.columns)}")
        for column, name in names.items()
        if name not in given
    ]
    twice = sorted({str(name) for name in taken if taken.count(name) > 1})
    problems += [f"tidy: table: column {name} is named more than once; give each column one meaning" for name in twice]
    problems += [
        f"tidy: table: column {name} is to be {column}, and there is a column {column} already; drop or rename that one"
        for column, name in names.items()
        if column != name and column in given and column not in taken
    ]
    if problems:
        raise InputError(problems)


def _boxes(given: pd.DataFrame, corners: Sequence[str], box_format: str) -> dict[str, pd.Series]:
    """The columns x, y, w and h of boxes in another format; raises InputError if a column holds no numbers."""
    columns = [given[name] for name in corners]
    problems = [
        f"tidy: table: column {name} is of type {column.dtype}; numbers are needed"
        for name, column in zip(corners, columns, strict=True)
        if not pd.api.types.is_any_real_numeric_dtype(column.dtype)
    ]
    if problems:
        raise InputError(problems)
    first, second, third, fourth = columns
    if box_format == "xyxy":
        return {"w": third - first, "h": fourth - second}
    return {"x": first - third / 2, "y": second - fourth / 2} if box_format == "cxcywh" else {}
