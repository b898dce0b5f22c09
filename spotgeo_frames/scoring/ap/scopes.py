"""What counts within an area range or a slice, and who is matched with whom there.

A scope says what counts: all truths, those of an area range, or those with an attribute. Truths outside it are ignored,
as pycocotools ignores truths outside an area range: a detection that is matched with one of them counts neither as
right nor as wrong. A detection without a match is wrong only if it is within the scope itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...matching import Pairs, greedy
from .detections import ALMOST_ONE, Detections
from .protocol_entries import Protocol


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


class Matches(NamedTuple):
    """The pairs that are matched at each of T thresholds, in the order of the detections.

    `chosen` are their positions among the `similar` pairs, one threshold after another, and `starts` says where those
    of each threshold begin, and the end, (T + 1,).
    """

    similar: Pairs
    chosen: np.ndarray
    starts: np.ndarray

    def at(self, position: int) -> Pairs:
        """The matched pairs of the threshold in this position."""
        return self.similar.take(self.chosen[self.starts[position] : self.starts[position + 1]])

    @property
    def threshold(self) -> np.ndarray:
        """The position of each pair's threshold."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def matches_of(similar: Pairs, chosen: Sequence[np.ndarray]) -> Matches:
    """Joins the positions of the matched pairs of each threshold."""
    return Matches(similar, np.concatenate(chosen), np.cumsum([0, *map(len, chosen)]))


def matcher_of(detections: Detections, protocol: Protocol) -> Callable[[Scope], Matches]:
    """A function from scopes to the pairs that match there by the protocol; it sorts what is similar once for all."""
    pairs = detections.pairs
    # The measure of distances falls as similarities rise, so their negative is as good as a similarity.
    pairs = pairs._replace(measure=-pairs.measure) if protocol.by_distance else pairs
    n_near, n_thresholds = _near_at(pairs, detections, protocol), len(protocol.thresholds)
    is_crowd, first_truth = detections.is_crowd, protocol.first_truth
    if protocol.assignment == "best":
        wishes = greedy.wishes_of(pairs, is_crowd, first_truth=first_truth)
        wished = [
            greedy.Wishes(*(of.take(np.flatnonzero(n_near.take(of) > at)) for of in wishes))
            for at in range(n_thresholds)
        ]

        def best(scope: Scope) -> Matches:
            """Detections go to the most similar truth of all, if another detection does not have it."""
            return matches_of(detections.pairs, [greedy.held_pairs(pairs, of, ~scope.counts) for of in wished])

        return best
    candidates = greedy.candidates_of(pairs, n_near, n_thresholds, is_crowd, first_truth=first_truth)

    def free(scope: Scope) -> Matches:
        """Detections go to the most similar truth that is free and counts, or else to an ignored one."""
        return matches_of(detections.pairs, greedy.greedy_matches(candidates, ~scope.counts, is_crowd))

    return free


def _near_at(pairs: Pairs, detections: Detections, protocol: Protocol) -> np.ndarray:
    """At how many thresholds, of which each is stricter than the one before, each pair may match."""
    count = np.zeros(len(pairs.truth), np.int64)
    for threshold in protocol.thresholds:
        least = -threshold if protocol.by_distance else min(threshold, ALMOST_ONE)
        if protocol.by_category:
            own = [min(protocol.by_category.get(name, threshold), ALMOST_ONE) for name in detections.categories]
            least = np.array(own)[detections.category[pairs.prediction]]
        count += pairs.measure > least if protocol.is_strict else pairs.measure >= least
    return count
