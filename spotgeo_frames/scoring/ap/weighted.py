"""The numbers of slices for any weights of the frames, each computed once and only where an asked number needs it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...matching.pairs import Pairs
from ...support.arrays import added_at
from ...tables.columns import Columns, dataframe_of
from ...tables.selections import By
from .curves import averages_of
from .evaluate import Matched
from .numbers import areas_of, by_category, combined, limits_of
from .scopes import Scope, matched_pairs
from .slices import Slices, slices_of
from .tables import COUNTS, noted_summary

if TYPE_CHECKING:
    import pandas as pd

# How many results are kept: those of leaving out each of 100 groups of frames, in all area ranges, or fewer if they are
# of more categories together. And how many scopes of slices have their matches in memory at once: those of all area
# ranges of one slice.
RESULTS_KEPT, CATEGORIES_KEPT, SCOPES_KEPT = 512, 1 << 22, 4


class Weighted:
    """The numbers of slices for weights of the frames, (frames,), integers of type float64.

    `lost` has the categories that had no truth left for some weights, which made numbers null.
    """

    def __init__(self, matched: Matched, slices: Slices):
        self.matched, self.slices = matched, slices
        self.lost: dict[Any, None] = {}
        n_kept = min(RESULTS_KEPT, CATEGORIES_KEPT // max(len(matched.detections.categories), 1))
        self._of_area = lru_cache(max(n_kept, len(matched.scopes)))(self._computed)
        self._matches = lru_cache(SCOPES_KEPT)(self._matched_within)

    def numbers(self, position: int, names: Sequence[str], weights: np.ndarray) -> dict[str, float]:
        """The named numbers of a slice; null where they are not known.

        They are means over the categories that have truths if each frame counts once. If the weights leave one of these
        without a truth, they are null.
        """
        whole = self.by_category(position, names, np.ones(len(weights)))
        found = self.by_category(position, names, weights)
        answer = combined(found)
        for name, values in found.items():
            lost = np.isnan(values) & ~np.isnan(whole[name])
            if lost.any():
                self.lost |= dict.fromkeys(self.matched.detections.categories[lost].tolist())
                answer[name] = np.nan
        return answer

    def by_category(self, position: int, names: Sequence[str], weights: np.ndarray) -> dict[str, np.ndarray]:
        """The named numbers and counts of each category of a slice, (K,); null for categories outside it."""
        slices = self.slices
        of_slice = (weights * slices.frames(position)).tobytes()
        wanted = {name: number for name, number in self.matched.numbers.items() if name in names}
        areas = {*areas_of(wanted), *(["all"] if len(wanted) < len(names) else [])}
        found: dict[str, np.ndarray] = {}
        for area in areas:
            found |= self._of_area(int(slices.parts.truth[position]), area, of_slice)
        outside = slices.category != slices.parts.category[position]
        return {name: np.where(outside, np.nan, found[name]) for name in names}

    def _computed(self, part: int, area: str, weights: bytes) -> dict[str, np.ndarray]:
        """All numbers of each category in an area range and a part of the truths; of "all", also the counts."""
        matched = self.matched
        scope, pairs = self._matches(part, area)
        numbers = {name: number for name, number in matched.numbers.items() if number.area == area}
        averages = averages_of(matched.detections, scope, pairs, limits_of(numbers), np.frombuffer(weights))
        found = by_category(numbers, matched.thresholds, {area: averages})
        of_alarms = [name for name, number in numbers.items() if number.of == "precision"]
        if area == "all":
            found |= {name: getattr(averages, name) for name in COUNTS}
            if self.slices.by_truth:
                found["n_predicted"] = self._within(scope, np.frombuffer(weights))
            of_alarms.append("n_predicted")
        unknown = [] if self.slices.knows_alarms else of_alarms
        return found | {name: np.full(len(found[name]), np.nan) for name in unknown}

    def _within(self, scope: Scope, weights: np.ndarray) -> np.ndarray:
        """How many detections of each category are within a scope."""
        detections = self.matched.detections
        of_detections = weights[detections.frame] * scope.within
        return added_at(detections.category, of_detections, len(detections.categories))

    def _matched_within(self, part: int, area: str) -> tuple[Scope, Sequence[Pairs]]:
        """What counts in an area range and a part of the truths, and who is matched with whom there."""
        matched = self.matched
        if not self.slices.by_truth:
            return matched.scopes[area], matched.pairs[area]
        scope = self.slices.scope(part, matched.scopes[area])
        return scope, matched_pairs(matched.detections, scope, matched.thresholds)


def sliced(matched: Matched, by: By | None) -> tuple[pd.DataFrame, str | None]:
    """The summary of the slices that `by` asks for, and the text of a warning or None."""
    everything = np.ones(len(matched.detections.aligned.frames), bool)
    slices = slices_of(matched, by, everything)
    return slice_summary(Weighted(matched, slices)), slices.warning


def slice_summary(weighted: Weighted) -> pd.DataFrame:
    """One row a slice: its labels, the official numbers, and how many frames, truths and detections count."""
    import pandas as pd

    matched, slices = weighted.matched, weighted.slices
    names = list(matched.numbers)
    once = np.ones(len(slices.frame))
    rows = [weighted.numbers(position, names, once) for position in range(len(slices))]
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in names}
    columns["n_frames"] = np.array([slices.frames(position).sum() for position in range(len(slices))], np.int64)
    for name in COUNTS:
        of_slices = [weighted.by_category(position, COUNTS, once)[name] for position in range(len(slices))]
        counts = np.array([np.nansum(of) if not np.isnan(of).all() else np.nan for of in of_slices])
        whole = np.nan_to_num(counts).astype(np.int64)
        columns[name] = pd.arrays.IntegerArray(whole, np.isnan(counts)) if slices.labels else whole
    return noted_summary(dataframe_of(Columns({**slices.labels, **columns})), matched)
