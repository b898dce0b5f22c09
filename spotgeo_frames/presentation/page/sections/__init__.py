"""The sections of the page, by their names, in their order.

In comes an Evaluation; out comes a Section: the blocks that the page shows from top to bottom, and the tables behind
them for the folder of Parquet; or None where the data have nothing for it. A new section is a function here and in
SECTIONS, under its anchor in the page; what a row of its tables is stands in TABLES of folder.py.
"""

from collections.abc import Callable, Sequence

from ....support import InputError
from ..evaluation import Evaluation
from ..folder import kept
from ..html.blocks import Kept, Section
from .breakdown import errors, slices
from .by_condition import by_condition
from .by_sequence import tracks
from .class_numbers import classes
from .curves import hota, places, precision, thresholds
from .headline import changed, comparison, numbers, suspicions
from .identities import identities
from .metrics import metrics
from .shown_frames import frames

SECTIONS: dict[str, Callable[[Evaluation], Section | None]] = {
    "suspicions": suspicions,
    "numbers": numbers,
    "comparison": comparison,
    "changes": changed,
    "precision": precision,
    "tracks": tracks,
    "hota": hota,
    "conditions": by_condition,
    "classes": classes,
    "errors": errors,
    "identities": identities,
    "places": places,
    "thresholds": thresholds,
    "slices": slices,
    "frames": frames,
}

# The last section, which explains the metrics of those before it.
METRICS = "metrics"

NAMES = [*SECTIONS, METRICS]

# The sections without a chart, for which the library that draws charts is not needed.
WITHOUT_CHARTS = ("suspicions", "numbers", "changes", "classes", "identities", "frames", METRICS)

# Why data have nothing for a section, and what to do.
NO_TRACKS = "identities do not count; --tracks, or tracks=True, makes them count"
NO_OTHER = "there is only one submission"
WITHOUT = {
    "comparison": NO_OTHER,
    "changes": NO_OTHER,
    "precision": "not all submissions are boxes or whole poses that have scores and are matched by similarity",
    "tracks": NO_TRACKS,
    "hota": NO_TRACKS,
    "conditions": "no column that is sliced by is a condition of tracks or poses",
    "classes": "objects have no column category",
    "identities": NO_TRACKS,
    "thresholds": "no submission has scores that differ",
}


def may_have_charts(names: Sequence[str] | None) -> bool:
    """Whether one of these sections may have a chart; without names, of all."""
    return names is None or not {*names} <= {*WITHOUT_CHARTS}


def sections_of(evaluation: Evaluation, names: Sequence[str] | None = None) -> list[Section]:
    """These sections in their order; without names, all that the data have something for.

    Raises InputError if the data have nothing for a section that is named.
    """
    asked = NAMES if names is None else names
    made = {name: SECTIONS[name](evaluation) for name in asked if name != METRICS}
    if METRICS in asked:
        made[METRICS] = metrics(evaluation, filter(None, [*made.values()]))
    lacking = [name for name, section in made.items() if section is None]
    if names is not None and lacking:
        why = WITHOUT.get(lacking[0], "the data have nothing for it")
        raise InputError(f"report: sections: {lacking[0]} has nothing to show: {why}; leave it out")
    return [section for name in asked if (section := made[name]) is not None]


def tables_behind(evaluation: Evaluation, sections: Sequence[Section]) -> dict[str, Kept]:
    """The tables behind these sections by their names, and those that every folder has, from which others follow."""
    every = kept({name: getattr(evaluation, name) for name in ("matches", "summary", "intervals")})
    of_sections = {name: table for section in sections for name, table in section.tables.items()}
    return {**every, **of_sections}
