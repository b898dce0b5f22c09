"""Annotations: the objects of one side, with their frames, and the attributes of their sequences and categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..support import InputError
from .columns import Columns, columns_of, dataframe_of
from .provenance import confirmed
from .table import Table

if TYPE_CHECKING:
    import pandas as pd


class Annotations(NamedTuple):
    """The objects of one side, truth or predictions, their frames, and attributes of their sequences and categories.

    Parameters
    ----------
    objects
        A DataFrame of pandas, polars or pyarrow with one row for each object (for each joint, with keypoints):
        `sequence`, `frame`, `object`, (`joint`,) `x`, `y` (px), for boxes also `w`, `h` (px), and any other columns. No
        two rows share their `sequence`, `frame`, `object` (and `joint`).
    frames
        A DataFrame with one row for each frame: `sequence`, `frame`, and any attributes of the frame. List a frame here
        to count it even when it is empty. None, the default, means that the frames are those that occur.
    sequences
        A DataFrame with one row for each sequence: `sequence`, and any attributes, such as the weather. Match tables
        carry those of the truth as `sequence_weather` and so on, null for sequences that are not listed. A sequence
        that is listed here but has no frames adds nothing. None, the default, means that there are no attributes.
    categories
        A DataFrame with one row for each category: `category`, and any attributes. Protocols of average precision ask
        for some: `frequency` (LVIS: r, c or f), `parent` (Open Images: the category that it is a kind of), and
        `threshold` (the least similarity of a match). `track(by="category")` evaluates each category that is listed,
        also without objects. None, the default, means that there are no attributes.

    Making Annotations checks nothing; the functions that take them raise an InputError if a table is wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> objects = pd.DataFrame({"sequence": [1], "frame": [1], "object": [0], "x": [10.0], "y": [5.0]})
    >>> frames = pd.DataFrame({"sequence": [1, 1], "frame": [1, 2]})
    >>> sequences = pd.DataFrame({"sequence": [1], "weather": ["rain"]})
    >>> sf.Annotations(objects, frames, sequences)  # frame 2 is empty
    Annotations
      objects     1 rows × 5 columns
      frames      2 rows × 2 columns
      sequences   1 rows × 2 columns
      categories  none
    """

    objects: pd.DataFrame
    frames: pd.DataFrame | None = None
    sequences: pd.DataFrame | None = None
    categories: pd.DataFrame | None = None

    @property
    def of_sequences(self) -> tuple[pd.DataFrame | None, ...]:
        """The tables that have a column `sequence`: objects, frames and attributes of sequences, each or None."""
        return self[:3]

    def __repr__(self) -> str:
        from ..support import result_views

        return result_views.result_as_text(self)

    def _repr_html_(self) -> str | None:
        from ..support import result_views

        return result_views.result_as_html(self, fronts=[result_views.Front("objects", is_own=True)])


class SideColumns(NamedTuple):
    """What Annotations hold, as Columns: the objects of one side, and its other tables or None. All are checked."""

    objects: Columns
    frames: Columns | None = None
    sequences: Columns | None = None
    categories: Columns | None = None

    @property
    def of_sequences(self) -> tuple[Columns | None, ...]:
        """The tables that have a column `sequence`: objects, frames and attributes of sequences, each or None."""
        return self[:3]


def side_columns(side: Annotations | SideColumns) -> SideColumns:
    """The columns of a side that has been checked."""
    return SideColumns(columns_of(side.objects), *(None if t is None else columns_of(t) for t in side[1:]))


def annotations_of(side: Annotations | SideColumns) -> Annotations:
    """The DataFrames of a side that has been checked."""
    if isinstance(side, Annotations):
        return side
    return Annotations(dataframe_of(side.objects), *(None if t is None else dataframe_of(t) for t in side[1:]))


def as_side_columns(data: Annotations | SideColumns | Table, name: str) -> SideColumns:
    """Checks `data` as `as_annotations` does, and returns its columns; SideColumns have been checked."""
    if isinstance(data, SideColumns):
        return data
    from .plain import plain_side

    plain = plain_side(data)
    return side_columns(as_annotations(data, name)) if plain is None else plain


def as_annotations(data: Annotations | Table, name: str) -> Annotations:
    """Checks `data`, a table of objects or Annotations, and returns it as Annotations of pandas DataFrames.

    Keys become int64 or string and coordinates float64. A table whose rows are no longer those of the file that it was
    read from loses the reader's note of that file. Raises InputError with every problem of the objects, the frames,
    the sequences and the categories; messages call the table `name`.
    """
    from .checks import check_categories, check_frames, check_objects, check_sequences

    objects, frames, sequences, categories = data if isinstance(data, Annotations) else (data, None, None, None)
    problems: list[str] = []

    def checked(check: Callable[[Table, str], pd.DataFrame], table: Table, noun: str = "") -> pd.DataFrame | None:
        try:
            return confirmed(check(table, f"{name}{noun}"))
        except InputError as error:
            problems.extend(error.problems)
            return None

    checked_objects = checked(check_objects, objects)
    checked_frames = None if frames is None else checked(check_frames, frames, " frames")
    checked_sequences = None if sequences is None else checked(check_sequences, sequences, " sequences")
    checked_categories = None if categories is None else checked(check_categories, categories, " categories")
    if checked_objects is None or problems:
        raise InputError(problems)
    return Annotations(checked_objects, checked_frames, checked_sequences, checked_categories)
