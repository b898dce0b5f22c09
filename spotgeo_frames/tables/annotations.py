"""Annotations: the objects of one side, with the frames that they lie in."""

from typing import NamedTuple

import pandas as pd

from ..support.errors import InputError
from ..support.named_tables import as_html, as_text
from .arrow import Table
from .inputs import confirmed
from .schema import check_frames, check_objects


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
        return as_text(self)

    def _repr_html_(self) -> str | None:
        return as_html(self)


def as_annotations(data: Annotations | Table, name: str) -> Annotations:
    """Checks `data`, a table of objects or Annotations, and returns it as Annotations of pandas DataFrames.

    Keys become int64 or string and coordinates float64. A table whose rows are no longer those of the file that it was
    read from loses the reader's note of that file. Raises InputError with every problem of the objects and the frames;
    messages call the table `name`.
    """
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
