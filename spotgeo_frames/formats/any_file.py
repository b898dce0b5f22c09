"""Annotations from any file that the project reads, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..support.errors import InputError
from ..tables.annotations import Annotations, SideColumns, annotations_of, side_columns
from ..tables.columns import columns_of
from .spotgeo import is_competition_file, spotgeo_columns

if TYPE_CHECKING:
    from ..matching.similarity import Measure

Read = TypeVar("Read")


def read_annotations(path: str | Path) -> Annotations:
    """Annotations from the challenge's JSON or from a table, told apart by the file's name.

    Raises InputError as `read_spotgeo` and `read_objects` do.
    """
    return annotations_of(_read_side(path))


def _read_side(path: str | Path, frames: str | Path | None = None) -> SideColumns:
    """The columns of what `read_annotations` returns; `frames` is the path of a table of their frames."""
    if is_competition_file(Path(path)):
        side = spotgeo_columns(path)
    else:
        from .objects import read_objects

        side = side_columns(read_objects(path))
    return _with_frames(side, frames)


def _with_frames(side: SideColumns, path: str | Path | None) -> SideColumns:
    """A side with the table of frames in a file; the side itself where the path is None."""
    if path is None:
        return side
    from .objects import read_frames

    return side._replace(frames=columns_of(read_frames(path)))


def read_sides(
    truth: str | Path,
    submissions: Sequence[str | Path],
    frames: str | Path | None = None,
    similarity: str | Measure | None = None,
) -> list[Annotations]:
    """The truth, then each submission, as `read_side_columns` reads them."""
    return [annotations_of(side) for side in read_side_columns(truth, submissions, frames, similarity)]


def read_side_columns(
    truth: str | Path,
    submissions: Sequence[str | Path],
    frames: str | Path | None = None,
    similarity: str | Measure | None = None,
) -> list[SideColumns]:
    """The columns of the truth, then of each submission; with the similarity "iou" or "oks" JSON is COCO's.

    Raises InputError with the problems of all files.
    """
    if similarity in ("iou", "oks") and all(is_competition_file(Path(path)) for path in (truth, *submissions)):
        from .coco import coco_sides

        results: list[str | Path | None] = [*submissions] or [None]
        read = _all_of([partial(coco_sides, truth, path, similarity == "iou") for path in results])
        sides = [side_columns(side) for side in (read[0][0], *(predictions for _, predictions in read))]
        return [_with_frames(sides[0], frames), *sides[1 : 1 + len(submissions)]]
    readers = [partial(_read_side, truth, frames), *(partial(_read_side, path) for path in submissions)]
    return _all_of(readers)


def _all_of(readers: Sequence[Callable[[], Read]]) -> list[Read]:
    """What the readers return; raises InputError with the problems of all of them where any fails."""
    read: list[Read] = []
    problems: list[str] = []
    for reader in readers:
        try:
            read.append(reader())
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return read
