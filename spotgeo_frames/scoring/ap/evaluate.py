"""From two sides to what average precision is made of: detections, and who is matched with whom in each area range.

A result is kept as tables from which all of it can be made again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...geometries import check_pose_scores
from ...matching import FrameRule, Pairs, Rule, alignment, compared
from ...support import InputError
from ...tables import Annotations, Columns, SideColumns, columns_of, dataframe_of, messages, provenance, schema
from .categories import attribute_of
from .curves import Averages, Curves, averages_of, curves_of
from .detections import Detections, LeftOut, sorted_again, sorted_detections
from .numbers import Numbers, areas_of, numbers_of
from .protocol_entries import PROTOCOLS, THRESHOLDS, Protocol, as_coco_has_it
from .scopes import Matches, Scope, area_scope, matcher_of

if TYPE_CHECKING:
    import pandas as pd

# The tables besides those of the result itself; attributes of sequences and of categories are optional.
KEPT = ("truth", "detections", "frames", "pairs")
OPTIONAL = ("sequences", "category_attributes")


class Matched(NamedTuple):
    """Detections, and for each scope what is matched at each of T thresholds, the loosest first."""

    detections: Detections
    rule: Rule
    protocol: Protocol
    numbers: Numbers
    scopes: Mapping[str, Scope]
    matches: Mapping[str, Matches]

    @property
    def thresholds(self) -> np.ndarray:
        """The thresholds, the loosest first: rising similarities, or falling distances, (T,)."""
        return np.array(self.protocol.thresholds)

    @property
    def frequency(self) -> np.ndarray | None:
        """The frequency of each category, (K,); None where there is none."""
        return attribute_of(self.detections.aligned, self.detections.categories, "frequency")

    @property
    def notes(self) -> dict[Hashable, Any]:
        """The notes of a result's tables: the rule, what the numbers are means over, and what they leave out."""
        detections = self.detections
        protocol, shown = self.protocol, [round(float(threshold), 12) for threshold in self.thresholds]
        notes: dict[Hashable, Any] = {**self.rule.notes, "protocol": protocol.name, "thresholds": shown}
        notes |= {} if protocol.max_detections is None else {"max_detections": protocol.max_detections}
        notes |= {"fields": protocol.noted_fields} if protocol.noted_fields else {}
        if "crowd" in detections.aligned.truth.table:
            notes["crowds"] = int(detections.is_crowd.sum())
        if self.rule.geometry.never_found is not None or "ignore" in detections.aligned.truth.table:
            notes["ignored"] = int((detections.is_ignored & ~detections.is_crowd).sum())
        notes |= {name: of for name, of in detections.aligned.notes.items() if name in (schema.NUMBERED, "unlabelled")}
        notes |= {"unverified": detections.left_out.unverified} if protocol.verified else {}
        return notes | {"beyond_max_detections": detections.left_out.beyond}


def matched_sides(
    truth: Annotations | SideColumns,
    predictions: Annotations | SideColumns,
    rule: Rule,
    protocol: Protocol,
    frames: FrameRule = "truth",
) -> Matched:
    """Matches two checked sides within all area ranges at the thresholds of the protocol.

    Raises InputError if the sides do not fit the rule, the protocol or each other.
    """
    aligned = compared(rule, truth, predictions, frames).aligned
    check_pose_scores(aligned.predictions.table, provenance.source(predictions.objects, "predictions"))
    detections = sorted_detections(aligned, rule, protocol)
    check_categories(protocol, detections)
    return matched_detections(detections, rule, protocol)


def check_categories(protocol: Protocol, detections: Detections) -> None:
    """Raises InputError if a threshold is given for a category that neither side has."""
    there = [name for name in detections.categories.tolist() if name is not None]
    own = {} if protocol.by_category == protocol.entry.by_category else protocol.by_category
    unknown = [name for name in own if name not in there]
    if unknown:
        known = messages.first_listed(map(repr, there)) or "none"
        raise InputError(f"thresholds: there is no category {unknown[0]!r}; there are {known}")


def matched_detections(detections: Detections, rule: Rule, protocol: Protocol) -> Matched:
    """Matches detections at the thresholds of the protocol, within the area ranges of its numbers."""
    numbers = numbers_of(protocol, rule.geometry)
    scopes = {area: area_scope(detections, area, protocol) for area in areas_of(numbers)}
    match = matcher_of(detections, protocol)
    return Matched(detections, rule, protocol, numbers, scopes, {area: match(scope) for area, scope in scopes.items()})


def averages_by_area(matched: Matched) -> dict[str, Averages]:
    """What the numbers of each scope are means of."""
    of_area = {
        area: {name: number for name, number in matched.numbers.items() if number.area == area}
        for area in matched.scopes
    }
    return {
        area: averages_of(matched.detections, scope, matched.matches[area], of_area[area], matched.protocol)
        for area, scope in matched.scopes.items()
    }


def curves_by_area(matched: Matched) -> dict[str, Curves]:
    """The curves of each scope."""
    return {
        area: curves_of(matched.detections, scope, matched.matches[area], matched.numbers, matched.protocol)
        for area, scope in matched.scopes.items()
    }


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
        **({} if aligned.categories is None else {"category_attributes": aligned.categories}),
    }
    kept = {name: dataframe_of(Columns(table.arrays, n_rows=len(table))) for name, table in tables.items()}
    beyond = [detections.left_out.beyond, detections.left_out.beyond_frames]
    kept["pairs"].attrs = matched.notes | {"of_matches": list(thresholds), "beyond": beyond}
    return kept


def matched_again(tables: Mapping[str, pd.DataFrame]) -> Matched:
    """The matched detections that `kept_tables` was given; a function of similarity is known by its name only.

    Raises InputError if the tables do not fit each other.
    """
    columns = {name: columns_of(tables[name]) for name in (*KEPT, *OPTIONAL) if name in tables}
    sequences, found = columns.get("sequences"), columns["pairs"]
    truth = SideColumns(columns["truth"], columns["frames"], sequences, columns.get("category_attributes"))
    aligned = alignment.align(truth, SideColumns(columns["detections"]), may_be_disjoint=True)
    notes = {str(key): value for key, value in tables["pairs"].attrs.items()}
    protocol = protocol_kept(notes)
    by_distance = protocol.by_distance
    rule = Rule(
        notes["rule"],
        tau=notes.get("tau"),
        epsilon=notes.get("epsilon"),
        threshold=notes.get("threshold"),
        sigmas=notes.get("sigmas"),
        own_distance=by_distance and notes["rule"] != "distance",
        unit=notes.get("unit"),
    )
    for name, side in (("detection", aligned.predictions), ("truth", aligned.truth)):
        if not np.isin(found[name], np.arange(len(side.frame))).all():
            raise InputError(f"pairs: column {name}: names rows that are not there; save the result again")
    pairs = Pairs(found["detection"], found["truth"], found["similarity"])
    beyond, beyond_frames = notes.get("beyond", (0, 0))
    left_out = LeftOut(beyond, beyond_frames, notes.get("unverified", 0))
    return matched_detections(sorted_again(aligned, rule, protocol, pairs, left_out), rule, protocol)


def protocol_kept(notes: Mapping[Any, Any]) -> Protocol:
    """The protocol of the result whose pairs have these notes.

    Earlier versions knew COCO's alone, and evaluated all ten thresholds, whatever thresholds they noted.
    """
    entry = PROTOCOLS[notes.get("protocol", "coco")]
    thresholds = notes["thresholds"] if "of_matches" in notes else THRESHOLDS
    most = notes.get("max_detections", entry.max_detections)
    fields = {"thresholds": thresholds, "max_detections": most, **notes.get("fields", {})}
    return entry.with_noted_fields(fields)


def thresholds_of_matches(notes: Mapping[Any, Any]) -> list[float]:
    """The thresholds of `matches` of the result whose pairs have these notes."""
    return [as_coco_has_it(threshold) for threshold in notes.get("of_matches", notes["thresholds"])]
