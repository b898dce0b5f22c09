"""The numbers of average precision: what each is the mean of.

AP is the mean of the precision at the protocol's recall points and thresholds, of all categories that have truths; AR
is that of the recall that so many detections a frame and category reach (cocoeval.py, summarize). The sensitivity at a
rate of false alarms is the share of truths that is found with at most so many false alarms a frame, empty frames
counted, and CPM its mean over seven rates (van Ginneken et al. 2010, doi:10.1016/j.media.2010.05.005).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...geometries import BOXES, Geometry
from ..registry import Metric, by_name, share_of
from .further import FURTHER, kind_and_share
from .interpolation import AREAS_UNDER, CURVES
from .protocol_entries import AREAS, PROTOCOLS, THRESHOLDS, Protocol
from .texts import listed, of_text, thresholds_text

if TYPE_CHECKING:
    from .curves import Averages

# The rates of the free-response curve, in false alarms a frame.
RATES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class Number(NamedTuple):
    """What a number is the mean of, in an area range, at all thresholds or one.

    `of` is "precision", "recall", "sensitivity", or one of the further numbers, which are of the first threshold.

    `limit` is how many detections of a frame and category count, None for all. `frequency` is that of the categories
    that it is the mean over, None for all. `point` is the point of the curve that it is taken at: for a sensitivity the
    rate of false alarms, None for the mean over all rates; for a precision at a recall that recall; for a recall at a
    precision that precision; None for all others.
    """

    of: str
    area: str = "all"
    threshold: float | None = None
    limit: int | None = 100
    frequency: str | None = None
    point: float | None = None

    def is_at(self, thresholds: np.ndarray) -> np.ndarray:
        """Marks the thresholds that it is the mean over; none where its own is not among them."""
        return np.full(len(thresholds), True) if self.threshold is None else thresholds == self.threshold


# The numbers of one kind of evaluation, by name.
Numbers = Mapping[str, Number]

# In the official order.
BOX_NUMBERS = {
    "AP": Number("precision"),
    "AP50": Number("precision", threshold=0.5),
    "AP75": Number("precision", threshold=0.75),
    "APs": Number("precision", "small"),
    "APm": Number("precision", "medium"),
    "APl": Number("precision", "large"),
    "AR1": Number("recall", limit=1),
    "AR10": Number("recall", limit=10),
    "AR100": Number("recall"),
    "ARs": Number("recall", "small"),
    "ARm": Number("recall", "medium"),
    "ARl": Number("recall", "large"),
}
POSE_NUMBERS = {
    "AP": Number("precision", limit=20),
    "AP50": Number("precision", threshold=0.5, limit=20),
    "AP75": Number("precision", threshold=0.75, limit=20),
    "APm": Number("precision", "medium", limit=20),
    "APl": Number("precision", "large", limit=20),
    "AR": Number("recall", limit=20),
    "AR50": Number("recall", threshold=0.5, limit=20),
    "AR75": Number("recall", threshold=0.75, limit=20),
    "ARm": Number("recall", "medium", limit=20),
    "ARl": Number("recall", "large", limit=20),
}

OF_COCO: Mapping[str, Numbers] = {"boxes": BOX_NUMBERS, "poses": POSE_NUMBERS}

# The numbers of boxes that are called by their limit.
BY_LIMIT = ("AR1", "AR10", "AR100")

# What numbers of COCO's area ranges are called by; those of others are called by their names.
OF_AREAS = {"small": "s", "medium": "m", "large": "l"}

# LVIS's frequencies of categories: rare, common and frequent.
FREQUENCIES = ("r", "c", "f")

# The number that orders a leaderboard, and those that intervals and comparisons have by default.
RANKING = ["AP"]
DEFAULT = ("AP", "AP50", "AP75")


def numbers_of(protocol: Protocol, geometry: Geometry) -> Numbers:
    """The numbers of a protocol for a geometry, in the official order, and those that are also asked for."""
    number = Number("", threshold=protocol.thresholds[0], limit=protocol.max_detections)
    also = {}
    for name in protocol.metrics:
        kind, share = kind_and_share(name)
        also[name] = number._replace(of=kind, point=share)
        also |= {other: number._replace(of=other) for other, of in FURTHER.items() if of.comes_with == kind}
    return {**_without_named_thresholds(_own_numbers(protocol, geometry), protocol), **also}


def _own_numbers(protocol: Protocol, geometry: Geometry) -> Numbers:
    """The numbers of a protocol for a geometry, in the official order.

    Of COCO's, AR1, AR10 and AR100 stay where fewer than the most detections count for them, and that of the most
    follows, such as AR300.
    """
    if protocol.called_as_coco and protocol.areas == AREAS:
        return _of_coco(OF_COCO[geometry.official_numbers], protocol.max_detections)
    most, names = protocol.max_detections, OF_AREAS
    suffixes = {area: names.get(area, f"_{area}") for area in protocol.areas if area != "all"}
    answer = {"AP": Number("precision", limit=most)}
    if len(protocol.thresholds) > 1 and not protocol.by_distance:
        answer["AP50"] = Number("precision", threshold=0.5, limit=most)
        answer["AP75"] = Number("precision", threshold=0.75, limit=most)
    answer |= {f"AP{suffix}": Number("precision", area, limit=most) for area, suffix in suffixes.items()}
    if protocol.frequencies:
        answer |= {f"AP{one}": Number("precision", limit=most, frequency=one) for one in FREQUENCIES}
    if protocol.has_recall and most is not None and not protocol.by_distance:
        answer[f"AR{most}"] = Number("recall", limit=most)
        answer |= {f"AR{suffix}": Number("recall", area, limit=most) for area, suffix in suffixes.items()}
    if protocol.by_distance and not protocol.entry.by_distance:
        answer["CPM"] = Number("sensitivity", limit=most)
        answer |= {f"sensitivity_{rate:g}": Number("sensitivity", limit=most, point=rate) for rate in RATES}
    return answer


def _without_named_thresholds(numbers: Numbers, protocol: Protocol) -> Numbers:
    """The numbers without those that are called by a threshold, where categories have thresholds of their own."""
    if not protocol.by_category:
        return numbers
    return {name: number for name, number in numbers.items() if number.threshold is None}


def _of_coco(coco: Numbers, most: int | None) -> Numbers:
    """COCO's numbers where `most` detections of a frame and category count."""
    if most == coco["AP"].limit:
        return coco
    answer: dict[str, Number] = {}
    for name, number in coco.items():
        if name not in BY_LIMIT:
            answer[name] = number._replace(limit=most)
        elif most is not None and number.limit is not None and number.limit < most:
            answer[name] = number
        if name == BY_LIMIT[-1] and most is not None:
            answer[f"AR{most}"] = Number("recall", limit=most)
    return answer


def threshold_position(threshold: Any, name: str = "threshold", among: np.ndarray = THRESHOLDS) -> int:
    """The position of a threshold `among` others; raises ValueError, which calls it `name`, if it is none of them."""
    is_number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    near = np.flatnonzero(np.isclose(among, threshold if is_number else np.nan))
    if not len(near):
        raise ValueError(f"{name} is {threshold!r}; one of {listed(among)} is needed")
    return int(near[0])


def shown_position(thresholds: np.ndarray, chosen: float | None = None) -> int:
    """The position of the threshold whose matches are looked at: that which is asked for, else the first.

    Raises ValueError if the one that is asked for is none of the thresholds.
    """
    return 0 if chosen is None else threshold_position(chosen, among=thresholds)


def limits_of(numbers: Numbers) -> list[int | None]:
    """The limits to the detections of a frame and category, rising; None, for all detections, comes last."""
    return sorted({number.limit for number in numbers.values()}, key=lambda most: (most is None, most or 0))


def areas_of(numbers: Numbers) -> list[str]:
    """The names of the area ranges, in the order in which numbers have them first."""
    return [*dict.fromkeys(number.area for number in numbers.values())]


class ByCategory(NamedTuple):
    """Numbers by name: those of K categories, (K,), and those of all categories together."""

    values: dict[str, np.ndarray]
    combined: dict[str, float]


def computed(
    numbers: Numbers, thresholds: np.ndarray, averages: Mapping[str, Averages], frequency: np.ndarray | None
) -> ByCategory:
    """The numbers, from the averages of each area range at the thresholds; `frequency` is that of each category.

    They are null without truths, and where the threshold of a number is none of those. All are means in the order in
    which pycocotools adds, so that they are equal to the last bit: over thresholds, recall points and categories.
    """
    values, together = {}, {}
    for name, number in numbers.items():
        of = averages[number.area]
        counts = of.n_truth > 0
        if number.frequency is not None and frequency is not None:
            counts = counts & (frequency == number.frequency)
        cells = of.cells(number)[np.flatnonzero(number.is_at(thresholds))]
        own = cells.reshape(-1, len(counts)).T
        is_null = ~counts | (own.shape[1] == 0)
        values[name] = np.full(len(counts), np.nan)
        if own.shape[1]:
            values[name][~is_null] = np.ascontiguousarray(own[~is_null]).mean(axis=1)
        together[name] = np.nan if is_null.all() else float(cells[:, :, counts].ravel().mean())
    return ByCategory(values, together)


def combined(values: Mapping[str, np.ndarray]) -> dict[str, float]:
    """The mean of the numbers of several categories that are not null; null if all are."""
    return {name: float(np.nanmean(of)) if not np.isnan(of).all() else np.nan for name, of in values.items()}


def _metric(name: str, number: Number, thresholds: np.ndarray, protocol: Protocol) -> Metric:
    """The entry of a number in the registry of metrics."""
    by_distance = protocol.by_distance
    at = thresholds_text(thresholds[number.is_at(thresholds)], by_distance=by_distance)
    at = f"{'within' if by_distance else 'similarity'} {at}"
    if number.of in FURTHER:
        of = FURTHER[number.of]
        formula, note = of.formula.format(share=number.point), f"{of.note}, {at}; null without truths"
        return share_of(name, name, formula, note=note)._replace(higher_is_better=of.higher_is_better)
    if number.of == "sensitivity":
        rates = ", ".join(f"{rate:g}" for rate in (RATES if number.point is None else [number.point]))
        formula = f"share of truths found with at most {rates} false alarms a frame, {at}"
        note = "mean over these rates; null without truths" if number.point is None else "null without truths"
        return share_of(name, name, formula, note=note, headline=name == "CPM")
    noun = {"precision": "average precision", "recall": "average recall"}[number.of]
    where = f" by {protocol.interpolation}" if protocol.interpolation in AREAS_UNDER else ""
    curve = CURVES[protocol.interpolation]
    points = where or f" at {len(curve.recalls)} recall points"
    formula = f"mean of the {number.of}{points if number.of == 'precision' else ''}, {at}"
    note = f"{noun}{_area_text(number, protocol)}{_limit_text(number, protocol)}; null without truths"
    return share_of(name, name, formula, note=note, headline=name in DEFAULT)


def _area_text(number: Number, protocol: Protocol) -> str:
    """The area range of a number, in words that continue a sentence; empty for all objects."""
    if number.area == "all":
        return ""
    low, high = protocol.areas[number.area]
    sides = [
        f"{np.sqrt(bound):.0f}²" if np.sqrt(bound) == np.rint(np.sqrt(bound)) else f"{bound:g}" for bound in (low, high)
    ]
    if low == 0:
        return f", area up to {sides[1]} px²"
    return f", area from {sides[0]} px²" if high >= AREAS["all"][1] else f", area {sides[0]} to {sides[1]} px²"


def _limit_text(number: Number, protocol: Protocol) -> str:
    """How many detections count for a number, and categories of which frequency, in words that continue a sentence."""
    most = "" if number.limit is None else f"; at most {number.limit} detections {of_text(protocol)}"
    return most if number.frequency is None else f"{most}; categories whose frequency is {number.frequency}"


def entries_of(numbers: Numbers, protocol: Protocol, thresholds: np.ndarray = THRESHOLDS) -> dict[str, Metric]:
    """The entries of numbers in the registry of metrics, by name, without those that the thresholds do not give."""
    given = {name: number for name, number in numbers.items() if number.is_at(thresholds).any()}
    return by_name(*(_metric(name, number, thresholds, protocol) for name, number in given.items()))


def _every_metric() -> dict[str, Metric]:
    """The entries of the numbers of all protocols; of those that share a name, the entry of COCO's for boxes."""
    coco = PROTOCOLS["coco"]
    within = coco._replace(by_distance=True, thresholds=(1.0,), areas={})
    *others, froc = (entries_of(numbers_of(one, BOXES), one) for one in (*PROTOCOLS.values(), within))
    froc = {name: entry._replace(formula=entry.formula.removesuffix(", within 1")) for name, entry in froc.items()}
    answer: dict[str, Metric] = {}
    for entries in (*others, froc, entries_of(POSE_NUMBERS | BOX_NUMBERS, coco)):
        answer |= entries
    return answer


AP_METRICS = _every_metric()
