"""Columns of match tables that tell which class was detected as which, and the counts of the same.

Detections choose truths of any class, as `confusion` has it. The frames of page and explorer show matches within
classes, so the rows of match tables are told who found them there: then a cell of the matrix and its rows agree.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...scoring import AveragePrecision
from ...support import arrays, label, pandas_tables
from ...tables import schema
from .confusion_table import background_of, confused_rows, confusion

# What a truth was detected as, and what a detection is of.
DETECTED_AS, DETECTION_OF = "detected_as", "detection_of"

# The most rows of match tables, of all submissions, up to which page and explorer look for matches of any class.
MOST_CONFUSED = 400_000


class Confused(NamedTuple):
    """What was detected as what.

    Attributes
    ----------
    counts
        For each submission, what `confusion` returns.
    background
        The word for no class in the match tables.
    """

    counts: Mapping[str, pd.DataFrame]
    background: str


def with_confused(
    matches: pd.DataFrame, precisions: Mapping[str, AveragePrecision], threshold: float | None
) -> tuple[pd.DataFrame, Confused | None]:
    """Match tables of several submissions with both columns, and the counts; None without average precision of classes.

    `matches` has a column `submission`; `threshold` is the least similarity of its matches, if there is one.
    """
    has_classes = precisions and all(of.matched.detections.has_categories for of in precisions.values())
    if not has_classes or threshold is None or len(matches) > MOST_CONFUSED:
        return matches, None
    names = {label(name) for of in precisions.values() for name in of.categories["category"]}
    background = background_of(names)
    columns = {name: np.full(len(matches), None, object) for name in (DETECTED_AS, DETECTION_OF)}
    for name, of in precisions.items():
        mine = np.flatnonzero(matches["submission"] == name)
        for column, prefix, rows in zip(columns, schema.SIDE_PREFIXES, confused_rows(of, threshold), strict=True):
            at, found = _places(matches.take(mine), rows, prefix)
            columns[column][mine[at]] = rows["other"].map(label, na_action="ignore").fillna(background).take(found)
    texts = {name: pd.Categorical(pd.array(values, pandas_tables.TEXT)) for name, values in columns.items()}
    counts = {name: confusion(of, threshold, wide=False) for name, of in precisions.items()}
    return matches.assign(**texts), Confused(counts, background)


def _places(matches: pd.DataFrame, rows: pd.DataFrame, prefix: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a match table that have these objects, and the position of each one's object among `rows`."""
    known = np.flatnonzero(matches[f"{prefix}object"].notna())
    sides = matches.take(known).rename(columns={f"{prefix}object": "object"})[[*schema.OBJECT_KEY]], rows
    numbered = [arrays.ordinals([of[name].astype(rows[name].dtype) for of in sides]) for name in schema.OBJECT_KEY]
    keys = [arrays.pack([codes[side] for codes, _ in numbered], [span for _, span in numbered]) for side in (0, 1)]
    order = np.argsort(keys[1], kind="stable")
    place = np.searchsorted(keys[1][order], keys[0]).clip(max=max(len(rows) - 1, 0))
    is_there = keys[1][order][place] == keys[0] if len(rows) else np.zeros(len(keys[0]), bool)
    return known[is_there], order[place[is_there]]
