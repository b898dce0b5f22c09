"""The sections of the page, in the order of SECTIONS.

In comes an Evaluation; out comes a Section: the blocks that the page shows from top to bottom, and the tables behind
them for the folder of Parquet; or None where the data have nothing for it. A new section is a function here and in
SECTIONS; what a row of its tables is stands in TABLES of folder.py.
"""

from ..evaluation import Evaluation
from ..html.blocks import Section
from .breakdown import errors, slices
from .by_condition import by_condition
from .by_sequence import tracks
from .class_numbers import classes
from .curves import hota, places, precision, thresholds
from .headline import changed, comparison, numbers, suspicions
from .identities import identities
from .metrics import metrics
from .shown_frames import frames

SECTIONS = [
    *(suspicions, numbers, comparison, changed, precision, tracks, hota, by_condition),
    *(classes, errors, identities, places, thresholds, slices, frames),
]


def sections_of(evaluation: Evaluation) -> list[Section]:
    """The sections that the data have something for."""
    made = [made for section in SECTIONS if (made := section(evaluation)) is not None]
    return [*made, metrics(evaluation, made)]
