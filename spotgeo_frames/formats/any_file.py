"""Annotations from any file of points that the project reads, whatever its format."""

from pathlib import Path

from ..tables.annotations import Annotations
from .objects import read_frames, read_objects
from .spotgeo import is_competition_file, read_spotgeo


def read_annotations(path: str | Path, frames: str | Path | None = None) -> Annotations:
    """Annotations from the challenge's JSON or from a table, told apart by the file's name.

    `frames` is the path of a table of their frames. Raises InputError as `read_spotgeo` and `read_objects` do.
    """
    annotations = read_spotgeo(path) if is_competition_file(Path(path)) else read_objects(path)
    return annotations if frames is None else annotations._replace(frames=read_frames(frames))
