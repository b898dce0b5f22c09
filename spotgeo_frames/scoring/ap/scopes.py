"""What counts: all truths, those of an area range, or those with an attribute; and who is matched with whom there.

Truths outside the scope are ignored, as pycocotools ignores truths outside an area range: a detection that is matched
with one of them counts neither as right nor as wrong. A detection without a match is wrong only if it is within the
scope itself.
"""

from typing import NamedTuple

import numpy as np

from ...matching.greedy import greedy_pairs, preferred_order
from ...matching.pairs import Pairs
from .detections import Detections
from .numbers import AREAS

# A threshold of 1 is lowered by this much (cocoeval.py, evaluateImg).
ALMOST_ONE = 1 - 1e-10


class Scope(NamedTuple):
    """Marks the truths that count, (G,), and the detections that are wrong without a match, (D,)."""

    counts: np.ndarray
    within: np.ndarray


def area_scope(detections: Detections, area: str) -> Scope:
    """The scope of an area range, by its name in AREAS."""
    within = [_in_range(values, area) for values in (detections.truth_area, detections.area)]
    return Scope(within[0] & ~detections.is_ignored, within[1])


def _in_range(areas: np.ndarray, name: str) -> np.ndarray:
    low, high = AREAS[name]
    within = (areas >= low) & (areas <= high)
    return within | np.isnan(areas) if name == "all" else within


def matched_pairs(detections: Detections, scope: Scope, thresholds: np.ndarray) -> list[Pairs]:
    """The matched pairs at each of the thresholds, in the order of the detections."""
    pairs = detections.pairs
    pairs = pairs.take(preferred_order(pairs, ~scope.counts))
    matched = []
    for threshold in thresholds:
        pairs = pairs.take(np.flatnonzero(pairs.measure >= min(threshold, ALMOST_ONE)))
        matched.append(pairs.take(greedy_pairs(pairs, detections.is_crowd)))
    return matched
