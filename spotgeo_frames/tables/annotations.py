"""Annotations: the objects of one side, with the frames that they lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..support.errors import InputError
from .columns import Columns, columns_of, dataframe_of
from .inputs import confirmed
from .table import Table

if TYPE_CHECKING:
    import pandas as pd


class Annotations(NamedTuple):
    """The objects of one side, truth or predictions, and the frames that they lie in.

    Parameters
    ----------
    objects
        A DataFrame of pandas, polars or pyarrow with one row for each object (for each joint, with keypoints):
        `sequence`, `frame`, `object`, (`joint`,) `x`, `y` (px), for boxes also `w`, `h` (px), and any other columns. No
        two rows share their `sequence`, `frame`, `object` (and `joint`).
    frames
        A DataFrame with one row for each frame: `sequence`, `frame`, and any attributes of the frame. List a frame here
        to count it even when it is empty. None, the default, means that the frames are those that occur.

    Making Annotations checks nothing; the functions that take them raise an InputError if a table is wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> objects = pd.DataFrame({"sequence": [1], "frame": [1], "object": [0], "x": [10.0], "y": [5.0]})
    >>> frames = pd.DataFrame({"sequence": [1, 1], "frame": [1, 2]})
    >>> Annotations(objects, frames)  # frame 2 is empty
    Annotations
      objects  1 rows × 5 columns
      frames   2 rows × 2 columns
    """

    objects: pd.DataFrame
    frames: pd.DataFrame | None = None

    def __repr__(self) -> str:
        from ..support.named_tables import as_text

        return as_text(self)

    def _repr_html_(self) -> str | None:
        from ..support.named_tables import as_html

        return as_html(self)


class SideColumns(NamedTuple):
    """What Annotations hold, as Columns: the objects of one side, and its frames or None. Both have been checked."""

    objects: Columns
    frames: Columns | None = None


def side_columns(side: Annotations | SideColumns) -> SideColumns:
    """The columns of a side that has been checked."""
    return SideColumns(columns_of(side.objects), None if side.frames is None else columns_of(side.frames))


def annotations_of(side: Annotations | SideColumns) -> Annotations:
    """The DataFrames of a side that has been checked."""
    if isinstance(side, Annotations):
        return side
    return Annotations(dataframe_of(side.objects), None if side.frames is None else dataframe_of(side.frames))


def as_side_columns(data: Annotations | SideColumns | Table, name: str) -> SideColumns:
    """Checks `data` as `as_annotations` does, and returns its columns; SideColumns have been checked."""
    return data if isinstance(data, SideColumns) else side_columns(as_annotations(data, name))


def as_annotations(data: Annotations | Table, name: str) -> Annotations:
    """Checks `data`, a table of objects or Annotations, and returns it as Annotations of pandas DataFrames.

    Keys become int64 or string and coordinates float64. A table whose rows are no longer those of the file that it was
    read from loses the reader's note of that file. Raises InputError with every problem of the objects and the frames;
    messages call the table `name`.
    """
    from .checks import check_frames, check_objects

    objects, frames = data if isinstance(data, Annotations) else (data, None)
    problems: list[str] = []
    checked_objects = checked_frames = None
    try:
        checked_objects = check_objects(objects, name)
    except InputError as error:
        problems += error.problems
    if frames is not None:
        try:
            checked_frames = check_frames(frames, f"{name} frames")
        except InputError as error:
            problems += error.problems
    if checked_objects is None or problems:
        raise InputError(problems)
    return Annotations(confirmed(checked_objects), None if checked_frames is None else confirmed(checked_frames))
