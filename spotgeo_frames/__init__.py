"""Evaluates detectors and trackers: truth and predictions in as tables, one match table out, every number from it.

Each room exports its public names, and this package exports those of all rooms. They are loaded when they are first
used.
"""

import lazy_loader

from . import analysis, formats, geometries, matching, presentation, scale, scoring, support, tables, tracking
from .support.version import __version__

_ROOMS = (tables, geometries, formats, matching, scoring, tracking, analysis, presentation, scale, support)

__all__ = [*(name for room in _ROOMS for name in room.__all__), "plots", "charts", "__version__"]
__getattr__, _, _ = lazy_loader.attach(
    __name__, {"plots", "charts"}, {room.__name__.rpartition(".")[2]: room.__all__ for room in _ROOMS}
)


def __dir__():
    return list(__all__)
