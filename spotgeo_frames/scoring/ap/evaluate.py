"""Two sides to what average precision is made of: detections, and who is matched with whom in each area range.

A result is kept as tables from which all of it can be made again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...geometries import check_pose_scores
from ...matching import Pairs, Rule, alignment, compared
from ...support import InputError
from ...tables import Annotations, Columns, SideColumns, columns_of, dataframe_of, provenance, schema
from .curves import Averages, Curves, Scope, area_scope, averages_of, curves_of, matched_pairs
from .detections import Beyond, Detections, sorted_detections
from .numbers import THRESHOLDS, Numbers, areas_of, checked_thresholds, limits_of, numbers_of

if TYPE_CHECKING:
    import pandas as pd

# The tables besides those of the result itself; attributes of sequences are optional.
KEPT = ("truth", "detections", "frames", "pairs")
OPTIONAL = ("sequences",)


class Matched(NamedTuple):
    """Detections, with the pairs that are matched at each of T rising thresholds, for each scope by its name."""

    detections: Detections
    rule: Rule
    numbers: Numbers
    thresholds: np.ndarray
    scopes: Mapping[str, Scope]
    pairs: Mapping[str, Sequence[Pairs]]

    @property
    def notes(self) -> dict[Hashable, Any]:
        """What the tables of a result note: the rule, what the numbers are means over, and what is left out of them."""
        detections = self.detections
        shown = [round(float(threshold), 2) for threshold in self.thresholds]
        notes = {**self.rule.notes, "thresholds": shown, "max_detections": limits_of(self.numbers)[-1]}
        if "crowd" in detections.aligned.truth.table:
            notes["crowds"] = int(detections.is_crowd.sum())
        if self.rule.geometry.never_found is not None or "ignore" in detections.aligned.truth.table:
            notes["ignored"] = int((detections.is_ignored & ~detections.is_crowd).sum())
        if schema.NUMBERED in detections.aligned.notes:
            notes[schema.NUMBERED] = True
        return notes | {"beyond_max_detections": detections.beyond.n_detections}


def matched_sides(
    truth: Annotations, predictions: Annotations, rule: Rule, thresholds: np.ndarray, most: int | None = None
) -> Matched:
    """Matches two checked sides within all area ranges at the thresholds.

    `most` detections of a frame and category count, or as many as officially. Raises InputError if the sides do not fit
    the rule or each other.
    """
    numbers = numbers_of(rule.geometry, most)
    aligned = compared(rule, truth, predictions).aligned
    check_pose_scores(aligned.predictions.table, provenance.source(predictions.objects, "predictions"))
    detections = sorted_detections(aligned, rule, limits_of(numbers)[-1], thresholds[0])
    return matched_detections(detections, rule, numbers, thresholds)


def matched_detections(detections: Detections, rule: Rule, numbers: Numbers, thresholds: np.ndarray) -> Matched:
    """Matches detections within the area ranges of the numbers at the thresholds."""
    scopes = {area: area_scope(detections, area) for area in areas_of(numbers)}
    pairs = {area: matched_pairs(detections, scope, thresholds) for area, scope in scopes.items()}
    return Matched(detections, rule, numbers, thresholds, scopes, pairs)


def averages_by_area(matched: Matched) -> dict[str, Averages]:
    """Mean precision and recall within each scope."""
    limits, pairs = limits_of(matched.numbers), matched.pairs
    return {name: averages_of(matched.detections, of, pairs[name], limits) for name, of in matched.scopes.items()}


def curves_by_area(matched: Matched) -> dict[str, Curves]:
    """The curves of each scope."""
    limits, pairs = limits_of(matched.numbers), matched.pairs
    return {name: curves_of(matched.detections, of, pairs[name], limits) for name, of in matched.scopes.items()}


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
    aligned = alignment.align(truth, SideColumns(columns["detections"]), may_be_disjoint=True)
    notes = {str(key): value for key, value in tables["pairs"].attrs.items()}
    rule = Rule(notes["rule"], threshold=notes["threshold"], sigmas=notes.get("sigmas"))
    for name, side in (("detection", aligned.predictions), ("truth", aligned.truth)):
        if not np.isin(found[name], np.arange(len(side.frame))).all():
            raise InputError(f"pairs: column {name}: names rows that are not there; save the result again")
    pairs = Pairs(found["detection"], found["truth"], found["similarity"])
    numbers, thresholds = numbers_of(rule.geometry, notes.get("max_detections")), thresholds_kept(notes)[0]
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
