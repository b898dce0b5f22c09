"""Annotations from any file that the project reads, whatever its format."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from ..support.errors import InputError
from ..tables.annotations import Annotations
from .coco import read_coco
from .objects import read_frames, read_objects
from .spotgeo import is_competition_file, read_spotgeo

Read = TypeVar("Read")


def read_annotations(path: str | Path, frames: str | Path | None = None) -> Annotations:
    """Annotations from the challenge's JSON or from a table, told apart by the file's name.

    `frames` is the path of a table of their frames. Raises InputError as `read_spotgeo` and `read_objects` do.
    """
    annotations = read_spotgeo(path) if is_competition_file(Path(path)) else read_objects(path)
    return annotations if frames is None else annotations._replace(frames=read_frames(frames))


def read_sides(
    truth: str | Path,
    submissions: Sequence[str | Path],
    frames: str | Path | None = None,
    similarity: str | None = None,
) -> list[Annotations]:
    """The truth, then each submission; with the similarity "iou" or "oks" JSON is COCO's.

    Raises InputError with the problems of all files.
    """
    if similarity in ("iou", "oks") and all(is_competition_file(Path(path)) for path in (truth, *submissions)):
        read = _all_of([partial(read_coco, truth, path, boxes=similarity == "iou") for path in submissions])
        known = read[0][0] if frames is None else read[0][0]._replace(frames=read_frames(frames))
        return [known, *(predictions for _, predictions in read)]
    readers = [partial(read_annotations, truth, frames), *(partial(read_annotations, path) for path in submissions)]
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
