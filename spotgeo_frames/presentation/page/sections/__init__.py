"""The sections of the page: a module each, in the order of SECTIONS.

In comes an Evaluation; out comes a Section: the blocks that the page shows from top to bottom, and the tables behind
them for the folder of Parquet; or None where the data have nothing for it. A new section is a module here, with its
function `section` and, in TABLES, its tables and what a row of each is; and its name in SECTIONS. made.py is the foot
of the page.
"""

from ..evaluation import Evaluation
from ..html.blocks import Section
from . import (
    changed,
    comparison,
    curve,
    errors,
    frames,
    identities,
    numbers,
    places,
    precision,
    slices,
    suspicions,
    thresholds,
)

SECTIONS = [
    suspicions,
    numbers,
    comparison,
    changed,
    precision,
    curve,
    errors,
    identities,
    places,
    thresholds,
    slices,
    frames,
]


def sections_of(evaluation: Evaluation) -> list[Section]:
    """The sections that the data have something for."""
    made = (module.section(evaluation) for module in SECTIONS)
    return [section for section in made if section is not None]
