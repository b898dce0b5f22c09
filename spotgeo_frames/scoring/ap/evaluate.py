"""Two sides to what average precision is made of: detections, and who is matched with whom in each area range."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...geometries.poses import check_pose_scores
from ...matching.pairs import Pairs
from ...matching.rule import Rule, compared
from ...tables.annotations import Annotations
from ...tables.inputs import source
from .curves import Averages, Curves, averages_of, curves_of
from .detections import Detections, sorted_detections
from .numbers import Numbers, areas_of, limits_of, numbers_of
from .scopes import Scope, area_scope, matched_pairs


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
        if self.rule.of_whole_poses:
            notes["ignored"] = int((detections.is_ignored & ~detections.is_crowd).sum())
        return notes | {"beyond_max_detections": detections.beyond.n_detections}


def matched_sides(
    truth: Annotations, predictions: Annotations, rule: Rule, thresholds: np.ndarray, most: int | None = None
) -> Matched:
    """Matches two checked sides within all area ranges at the thresholds.

    `most` detections of a frame and category count, or as many as officially. Raises InputError if the sides do not fit
    the rule or each other.
    """
    numbers = numbers_of(rule.of_whole_poses, most)
    aligned = compared(rule, truth, predictions).aligned
    check_pose_scores(aligned.predictions.table, source(predictions.objects, "predictions"))
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
