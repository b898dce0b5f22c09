"""Two sides to what average precision is made of: detections, and who is matched with whom in each area range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...matching.pairs import Pairs
from ...matching.rule import Rule, compared
from ...matching.whole_poses import check_pose_scores
from ...tables.annotations import Annotations
from ...tables.inputs import source
from .curves import Curves, curves_of
from .detections import Detections, sorted_detections
from .numbers import BOX_NUMBERS, POSE_NUMBERS, Numbers, areas_of, limits_of
from .scopes import Scope, area_scope, matched_pairs


class Matched(NamedTuple):
    """Detections, with the pairs that are matched at each threshold, for each scope by its name."""

    detections: Detections
    rule: Rule
    numbers: Numbers
    scopes: Mapping[str, Scope]
    pairs: Mapping[str, Sequence[Pairs]]


def matched_sides(truth: Annotations, predictions: Annotations, rule: Rule) -> Matched:
    """Matches two checked sides within all area ranges; raises InputError if they do not fit the rule or each other."""
    numbers = POSE_NUMBERS if rule.of_whole_poses else BOX_NUMBERS
    aligned = compared(rule, truth, predictions).aligned
    check_pose_scores(aligned, source(predictions.objects, "predictions"))
    return matched_detections(sorted_detections(aligned, rule, limits_of(numbers)[-1]), rule, numbers)


def matched_detections(detections: Detections, rule: Rule, numbers: Numbers) -> Matched:
    """Matches detections within the area ranges of the numbers."""
    scopes = {area: area_scope(detections, area) for area in areas_of(numbers)}
    pairs = {area: matched_pairs(detections, scope) for area, scope in scopes.items()}
    return Matched(detections, rule, numbers, scopes, pairs)


def curves_by_area(matched: Matched, weights: np.ndarray | None = None) -> dict[str, Curves]:
    """The curves of each scope, where frames count with these weights (frames,); by default each once."""
    limits = limits_of(matched.numbers)
    return {
        name: curves_of(matched.detections, scope, matched.pairs[name], limits, weights)
        for name, scope in matched.scopes.items()
    }
