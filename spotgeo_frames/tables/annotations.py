"""Annotations: the objects of one side with the frames they lie in, checked together."""

from typing import NamedTuple

import pandas as pd

from ..support.errors import InputError
from ..support.named_tables import as_html, as_text
from .arrow import Table
from .inputs import confirmed
from .schema import check_frames, check_objects


class Annotations(NamedTuple):
    """Objects and the frames they lie in. `frames` is None where nobody said which frames there are."""

    objects: pd.DataFrame
    frames: pd.DataFrame | None = None

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str | None:
        return as_html(self)


def as_annotations(data: Annotations | Table, name: str) -> Annotations:
    """Checks `data`, a table of objects or Annotations, and returns it in the types named above.

    Tables whose rows are no longer those of the file they were read from lose the reader's note of that file.
    Raises InputError with every problem of the objects and of the frames.
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
