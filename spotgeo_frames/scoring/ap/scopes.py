"""What counts within an area range or a slice, and who is matched with whom there.

A scope says what counts: all truths, those of an area range, or those with an attribute. Truths outside it are ignored,
as pycocotools ignores truths outside an area range: a detection that is matched with one of them counts neither as
right nor as wrong. A detection without a match is wrong only if it is within the scope itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import Pairs, greedy
from .detections import Detections
from .protocol_entries import Protocol

# A threshold of 1 is lowered by this much (cocoeval.py, evaluateImg).
ALMOST_ONE = 1 - 1e-10


class Scope(NamedTuple):
    """`counts` marks the truths that count, (G,), `within` the detections that are wrong without a match, (D,)."""

    counts: np.ndarray
    within: np.ndarray


def area_scope(detections: Detections, area: str, protocol: Protocol) -> Scope:
    """The scope of an area range of the protocol, by its name."""
    within = [_in_range(values, area, protocol) for values in (detections.truth_area, detections.area)]
    is_wrong = within[1] if detections.is_excused is None else within[1] & ~detections.is_excused
    return Scope(within[0] & ~detections.is_ignored, is_wrong)


def _in_range(areas: np.ndarray, name: str, protocol: Protocol) -> np.ndarray:
    low, high = protocol.areas[name]
    within = (areas >= low) & (areas <= high)
    return within | np.isnan(areas) if name == "all" else within


def matched_pairs(detections: Detections, scope: Scope, protocol: Protocol) -> list[Pairs]:
    """The matched pairs at each threshold of the protocol, in the order of the detections."""
    pairs = detections.pairs
    # The measure of distances falls as similarities rise, so their negative is as good as a similarity.
    closeness = -pairs.measure if protocol.by_distance else pairs.measure
    pairs = pairs._replace(measure=closeness)
    matched = (
        _best(detections, scope, protocol, pairs)
        if protocol.assignment == "best"
        else _free(detections, scope, protocol, pairs)
    )
    return [pairs._replace(measure=-pairs.measure) for pairs in matched] if protocol.by_distance else matched


def _free(detections: Detections, scope: Scope, protocol: Protocol, pairs: Pairs) -> list[Pairs]:
    """The matches of detections that go to the most similar truth that is free and counts, or else an ignored one."""
    pairs = pairs.take(greedy.preferred_order(pairs, ~scope.counts, first_truth=protocol.first_truth))
    matched = []
    for threshold in protocol.thresholds:  # each is stricter than the one before
        pairs = _near(pairs, detections, threshold, protocol)
        matched.append(pairs.take(greedy.greedy_pairs(pairs, detections.is_crowd)))
    return matched


def _best(detections: Detections, scope: Scope, protocol: Protocol, pairs: Pairs) -> list[Pairs]:
    """The matches of detections that go to the most similar truth of all, if another detection does not have it."""
    wishes = greedy.wishes_of(pairs, detections.is_crowd, first_truth=protocol.first_truth)
    matched = []
    for threshold in protocol.thresholds:
        wishes = greedy.Wishes(*(_near(of, detections, threshold, protocol) for of in wishes))
        matched.append(greedy.held_pairs(wishes, ~scope.counts))
    return matched


def _near(pairs: Pairs, detections: Detections, threshold: float, protocol: Protocol) -> Pairs:
    """The pairs that may match at a threshold, or at that of their category."""
    least = -threshold if protocol.by_distance else min(threshold, ALMOST_ONE)
    if protocol.by_category:
        own = [min(protocol.by_category.get(name, threshold), ALMOST_ONE) for name in detections.categories]
        least = np.array(own)[detections.category[pairs.prediction]]
    near = pairs.measure > least if protocol.is_strict else pairs.measure >= least
    return pairs.take(np.flatnonzero(near))
