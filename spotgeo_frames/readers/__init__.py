"""Readers turn files into Annotations; one module a format."""

from pathlib import Path

from ..tables import Annotations
from .objects import read_objects
from .spotgeo import read_spotgeo


def is_competition_file(path: Path) -> bool:
    """Whether a path names the competition's JSON, plain or packed, rather than a table of objects."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return not path.is_dir() and (suffixes[-1:] in ([".json"], [".zip"]) or suffixes[-1:] == [".gz"] and ".csv" not in suffixes)


def read_annotations(path: Path) -> Annotations:
    """Annotations from any file the project reads, by its name."""
    return read_spotgeo(path) if is_competition_file(path) else read_objects(path)
