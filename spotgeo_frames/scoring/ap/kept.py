"""The tables that an average precision is kept as, from which all of it can be made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...matching.alignment import align
from ...matching.pairs import Pairs
from ...matching.rule import Rule
from ...support.errors import InputError
from ...tables.annotations import SideColumns
from ...tables.columns import Columns, columns_of, dataframe_of
from .detections import Beyond, sorted_detections
from .evaluate import Matched, matched_detections
from .numbers import THRESHOLDS, checked_thresholds, limits_of, numbers_of

if TYPE_CHECKING:
    import pandas as pd

# The tables besides those of the result itself; attributes of sequences are optional.
KEPT = ("truth", "detections", "frames", "pairs")
OPTIONAL = ("sequences",)


def kept_tables(matched: Matched, thresholds: Sequence[float]) -> dict[str, pd.DataFrame]:
    """Both sides, whole poses a row each, in the order of the frames; the frames; and the pairs of similar rows.

    The notes of the pairs also have the thresholds of `matches`, and what was beyond the most detections.
    """
    detections, aligned = matched.detections, matched.detections.aligned
    pairs = detections.pairs
    rows = {"detection": detections.row[pairs.prediction], "truth": pairs.truth, "similarity": pairs.measure}
    tables = {
        "truth": aligned.truth.table,
        "detections": aligned.predictions.table,
        "frames": aligned.frames,
        "pairs": Columns(rows),
        **({} if aligned.sequences is None else {"sequences": aligned.sequences}),
    }
    kept = {name: dataframe_of(Columns(table.arrays, n_rows=len(table))) for name, table in tables.items()}
    kept["pairs"].attrs = matched.notes | {"of_matches": list(thresholds), "beyond": [*detections.beyond]}
    return kept


def matched_again(tables: Mapping[str, pd.DataFrame]) -> Matched:
    """What `kept_tables` was given; a function that measured similarity is known by its name only.

    Raises InputError if the tables do not fit each other.
    """
    columns = {name: columns_of(tables[name]) for name in (*KEPT, *OPTIONAL) if name in tables}
    sequences, found = columns.get("sequences"), columns["pairs"]
    truth = SideColumns(columns["truth"], columns["frames"], sequences)
    aligned = align(truth, SideColumns(columns["detections"]), may_be_disjoint=True)
    notes = {str(key): value for key, value in tables["pairs"].attrs.items()}
    rule = Rule(notes["rule"], threshold=notes["threshold"])
    if rule.of_whole_poses:
        rule = replace(rule, sigmas=notes["sigmas"])
    for name, side in (("detection", aligned.predictions), ("truth", aligned.truth)):
        if not np.isin(found[name], np.arange(len(side.frame))).all():
            raise InputError(f"pairs: column {name}: names rows that are not there; save the result again")
    pairs = Pairs(found["detection"], found["truth"], found["similarity"])
    numbers, thresholds = numbers_of(rule.of_whole_poses, notes.get("max_detections")), thresholds_kept(notes)[0]
    kept = pairs, Beyond(*notes.get("beyond", ()))
    detections = sorted_detections(aligned, rule, limits_of(numbers)[-1], thresholds[0], kept)
    return matched_detections(detections, rule, numbers, thresholds)


def thresholds_kept(notes: Mapping[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The thresholds of the result whose pairs have these notes, and those of its `matches`.

    Earlier versions evaluated all ten, whatever thresholds they noted, which were those of `matches`.
    """
    if "of_matches" not in notes:
        return THRESHOLDS, checked_thresholds(notes["thresholds"])
    return checked_thresholds(notes["thresholds"]), checked_thresholds(notes["of_matches"])
