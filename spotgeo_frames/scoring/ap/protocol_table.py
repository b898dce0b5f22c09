"""protocols(): the average precision of the same predictions by every protocol, and what differs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...geometries import Measure, check_pose_scores, geometry_of
from ...matching import Rule, compared, crowds, left_out
from ...support import InputError, pandas_tables
from ...tables import Annotations, Table, as_annotations, number_checks, provenance, table_kinds
from . import verified
from .attribution import provenance_of
from .curves import averages_of
from .detections import Detections, loosest_of, ready_sides, sorted_detections, with_labelled
from .evaluate import Matched
from .numbers import computed, numbers_of
from .protocol_entries import COUNTING, MATCHING, PROTOCOLS, Protocol
from .rules import NeedsTau, fitted, options_of, protocol_of, rule_of
from .scopes import Matches, area_scope, matcher_of
from .texts import most_text, thresholds_text

if TYPE_CHECKING:
    import pandas as pd

# The numbers that the table has of each protocol.
SHOWN = ("AP", "AP50", "AP75")

# What of a protocol is unlike COCO's, in words.
ASSIGNED = {
    "free": "a detection takes the most similar truth that is free",
    "best": "a detection goes to its most similar truth, and is a false alarm if that is taken",
}
AVERAGED = {
    "101 points": "highest precision at 101 recalls or beyond",
    "40 points": "highest precision at 40 recalls or beyond",
    "11 points": "highest precision at 11 recalls or beyond",
    "area": "area under the highest precision at each recall or beyond",
    "linear": "precision between detections at 101 recalls",
    "trapezoid": "trapezoids under the highest precision, and under a line from the last detection to (1, 0)",
    "cut trapezoid": "trapezoids under the highest precision, up to the last detection",
}


@table_kinds.same_kind_as("truth")
def protocols(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    similarity: str | Measure | None = None,
    names: Sequence[str] | None = None,
    *,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
    unit: str | None = None,
    tau: float | Sequence[float] | None = None,
) -> pd.DataFrame:
    """Computes the average precision of the same predictions by every protocol, and says what differs.

    The pairs of similar objects are found once, and detections are sorted once where all of them count, so that all
    protocols cost less than twice as much as one.

    Parameters
    ----------
    truth, predictions, similarity, sigmas, distance, unit, tau
        As `average_precision` takes them. With `tau`, every protocol but nuScenes' matches within that distance.
    names
        The protocols to show; by default all that `average_precision` knows.

    Returns
    -------
    A table with one row a protocol, in this order: `protocol`; `AP`, and of several thresholds `AP50` and `AP75`, null
    where the protocol has none or does not apply; `n_truth` and `n_predicted`, how many count; `differs`, what the
    protocol does otherwise than COCO's; and `provenance`, which official number `AP` is, or why there is none.

    Raises
    ------
    InputError: as `average_precision` raises it where the tables are wrong whatever the protocol; of what a protocol
        needs and the tables lack, the row of that protocol tells.
    ValueError: an argument has a value that is not possible, or one of `names` is no protocol.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> table = sf.protocols(truth, sf.read_objects("data/boxes/v1.parquet"), names=["coco", "voc2007", "ultralytics"])
    >>> table[["protocol", "AP", "AP50"]].round(3).values.tolist()
    [['coco', 0.48, 0.639], ['voc2007', 0.621, nan], ['ultralytics', 0.594, 0.765]]
    """
    import pandas as pd

    entries = [protocol_of(name, {}) for name in names or PROTOCOLS]
    chosen = [entry if entry.by_distance else protocol_of(entry.name, {}, tau) for entry in entries]
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    number_checks.check_scores(sides[1].objects, provenance.source(sides[1].objects, "predictions"), "protocols")
    rows, sharing, lacking = [], dict[Any, _Shared](), dict[Any, str]()
    for protocol in chosen:
        row: dict[str, Any] = {"protocol": protocol.name, "differs": "; ".join(_differences(protocol))}
        row["provenance"] = _does_not_apply(protocol, sides)
        if row["provenance"] is None:
            measured = protocol.by_distance, protocol.unit
            if measured not in sharing:
                options = options_of(protocol, similarity, sigmas, distance, unit)
                try:
                    sharing[measured] = _Shared(sides, rule_of(_loosest(protocol, chosen), options, sides))
                except NeedsTau as error:
                    lacking[measured] = "; ".join(error.problems).removeprefix("average_precision: ")
            row |= {"provenance": lacking[measured]} if measured in lacking else sharing[measured].numbers(protocol)
        rows.append(row)
    for shared in sharing.values():
        text = left_out.left_out(shared.aligned, shared.rule)
        if text is not None:
            warnings.warn(f"protocols: {text}", stacklevel=table_kinds.CALLER)
    columns = ["protocol", *SHOWN, "n_truth", "n_predicted", "differs", "provenance"]
    texts = dict.fromkeys(("protocol", "differs", "provenance"), pandas_tables.TEXT)
    counts = dict.fromkeys(("n_truth", "n_predicted"), "Int64")
    return pd.DataFrame(rows, columns=columns).astype(texts | counts | dict.fromkeys(SHOWN, np.float64))


class _Shared:
    """What protocols that match by one rule share: the similar pairs, the sorted detections, and the matches."""

    def __init__(self, sides: tuple[Annotations, Annotations], rule: Rule):
        self.rule, self.aligned = rule, compared(rule, *sides).aligned
        check_pose_scores(self.aligned.predictions.table, provenance.source(sides[1].objects, "predictions"))
        is_crowd = crowds.marks(self.aligned.truth.table)[0]
        is_crowd = np.zeros(len(self.aligned.truth.table), bool) if is_crowd is None else is_crowd
        pairs = rule.pairs_of_precision(self.aligned, is_crowd, loosest_of(rule))
        self._ready = ready_sides(self.aligned, pairs)
        self._detections = dict[Any, Detections]()
        self._alike = dict[bool, Detections]()  # those of the last protocol that sorts equal scores so
        self._matches = dict[Any, Matches]()

    def numbers(self, protocol: Protocol) -> dict[str, Any]:
        """The columns of the table that are numbers of a protocol, and its provenance."""
        geometry = self.rule.geometry
        protocol = fitted(protocol, geometry, {})
        counting = _key(protocol, COUNTING)
        if counting not in self._detections:
            self._ready = with_labelled(self.aligned, self._ready, protocol)
            like = self._alike.get(protocol.last_first)
            found = sorted_detections(self.aligned, self.rule, protocol, self._ready, like)
            self._detections[counting] = self._alike[protocol.last_first] = found
        detections = self._detections[counting]
        scope = area_scope(detections, "all", protocol)
        matching = counting, _key(protocol, MATCHING)
        if matching not in self._matches:
            self._matches[matching] = matcher_of(detections, protocol)(scope)
        matches = self._matches[matching]
        numbers = {name: number for name, number in numbers_of(protocol, geometry).items() if name in SHOWN}
        averages = averages_of(detections, scope, matches, numbers, protocol)
        values = computed(numbers, np.array(protocol.thresholds), {"all": averages}, None).combined
        counts = {name: int(getattr(averages, name).sum()) for name in ("n_truth", "n_predicted")}
        matched = Matched(detections, self.rule, protocol, numbers, {"all": scope}, {"all": matches})
        return values | counts | {"provenance": provenance_of(matched)}


def _key(protocol: Protocol, fields: Sequence[str]) -> tuple[Any, ...]:
    """The values of some fields of a protocol as a key."""
    values = (getattr(protocol, name) for name in fields)
    return tuple(tuple(value.items()) if isinstance(value, Mapping) else value for value in values)


def _loosest(protocol: Protocol, chosen: Sequence[Protocol]) -> Protocol:
    """The protocol with the loosest threshold of all that match as it does."""
    alike = [one for one in chosen if one.unit == protocol.unit and one.by_distance == protocol.by_distance]
    pick = max if protocol.by_distance else min
    return protocol._replace(thresholds=(pick(one.loosest for one in alike),), by_category={})


def _does_not_apply(protocol: Protocol, sides: tuple[Annotations, Annotations]) -> str | None:
    """Why a protocol says nothing of these tables, or None."""
    if protocol.unit is not None and not all(_is_on_ground(side.objects, protocol) for side in sides):
        return f"{protocol.rule_text} matches by distance on the ground ({protocol.unit})"
    try:
        verified.check_needed(protocol, sides[0])
    except InputError as error:
        return "; ".join(error.problems)
    return None


def _is_on_ground(objects: pd.DataFrame, protocol: Protocol) -> bool:
    """Whether rows are what the protocol measures on the ground, and no joints, which have x and y as points do."""
    return "joint" not in objects and geometry_of(objects).name in protocol.geometries


def _differences(protocol: Protocol) -> list[str]:
    """What a protocol does otherwise than COCO's; of COCO's what it does."""
    coco = PROTOCOLS["coco"]
    of_coco = [] if protocol.name == coco.name else _decisions(coco)
    return [decision for decision in _decisions(protocol) if decision not in of_coco]


def _decisions(protocol: Protocol) -> list[str]:
    """What a protocol does, in words."""
    answer = [
        ASSIGNED[protocol.assignment],
        AVERAGED[protocol.interpolation],
        _thresholds(protocol),
        most_text(protocol) or "all detections count",
    ]
    if protocol.verified:
        answer.append("only categories that were verified in a frame count there")
    if protocol.groups:
        answer.append("a group counts as one truth")
    if protocol.parents:
        answer.append("a truth also counts in the categories that its own is a kind of")
    if protocol.min_recall:
        answer.append(
            f"recalls above {protocol.min_recall:g} and what of precision is above {protocol.min_precision:g}"
        )
    return answer


def _thresholds(protocol: Protocol) -> str:
    """The thresholds of a protocol in words."""
    if protocol.by_distance:
        word = "below" if protocol.is_strict else "up to"
        distances = thresholds_text(protocol.thresholds, by_distance=True)
        return f"distances {word} {distances} {protocol.unit or ''}".rstrip()
    own = [f"{threshold:g} of {name}" for name, threshold in protocol.by_category.items()]
    return f"similarity {thresholds_text(protocol.thresholds)}{''.join(f', {text}' for text in own)}"
