"""Readers turn files into Annotations; one module a format."""

from pathlib import Path

from ..tables.annotations import Annotations
from .objects import read_frames, read_objects
from .spotgeo import is_competition_file, read_spotgeo


def read_annotations(path: Path, frames: Path | None = None) -> Annotations:
    """Annotations from any file the project reads, told apart by name; `frames` names a table of their frames."""
    annotations = read_spotgeo(path) if is_competition_file(path) else read_objects(path)
    return annotations if frames is None else annotations._replace(frames=read_frames(frames))
