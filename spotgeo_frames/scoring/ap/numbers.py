"""The official numbers of average precision: what each is the mean of.

AP is the mean of the precision at 101 recall points, at ten thresholds or those of them that were asked for, of all
categories that have truths; AR is that of the recall that so many detections a frame and category reach (cocoeval.py,
summarize).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ...geometries import Geometry
from ..registry import Metric, by_name, share_of

if TYPE_CHECKING:
    from .curves import Averages

# The similarities from which on detections match, ten in all.
THRESHOLDS = np.linspace(0.5, 0.95, 10)

# Areas in px², both ends included (cocoeval.py, Params).
AREAS = {"all": (0.0, 1e10), "small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, 1e10)}


class Number(NamedTuple):
    """What a number is the mean of: "precision" or "recall", within an area range, at all thresholds (None) or one.

    `limit` is how many detections of a frame and category count.
    """

    of: Literal["precision", "recall"]
    area: str = "all"
    threshold: float | None = None
    limit: int = 100

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

OFFICIAL: Mapping[str, Numbers] = {"boxes": BOX_NUMBERS, "poses": POSE_NUMBERS}

# The numbers of boxes that are called by their limit.
BY_LIMIT = ("AR1", "AR10", "AR100")

# The number that orders a leaderboard, and those that intervals and comparisons have by default.
RANKING = ["AP"]
DEFAULT = ("AP", "AP50", "AP75")


def numbers_of(geometry: Geometry, most: int | None = None) -> Numbers:
    """The numbers of a geometry, in the official order; `most` detections of a frame and category count.

    AR1, AR10 and AR100 stay where fewer than the most count for them, and that of the most follows, such as AR300.
    """
    official = OFFICIAL[geometry.official_numbers]
    if most is None:
        return official
    answer: dict[str, Number] = {}
    for name, number in official.items():
        if name not in BY_LIMIT:
            answer[name] = number._replace(limit=most)
        elif number.limit < most:
            answer[name] = number
        if name == BY_LIMIT[-1]:
            answer[f"AR{most}"] = Number("recall", limit=most)
    return answer


def listed(thresholds: Iterable[float]) -> str:
    """Thresholds as messages list them: 0.50, 0.75."""
    return ", ".join(f"{threshold:.2f}" for threshold in thresholds)


def thresholds_text(thresholds: Sequence[float] | np.ndarray) -> str:
    """Thresholds as people read them; the official ten are 0.50 to 0.95."""
    return "0.50 to 0.95" if len(thresholds) == len(THRESHOLDS) else listed(thresholds)


def threshold_position(threshold: Any, name: str = "threshold", among: np.ndarray = THRESHOLDS) -> int:
    """The position of a threshold `among` others; raises ValueError, which calls it `name`, if it is none of them."""
    is_number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    near = np.flatnonzero(np.isclose(among, threshold if is_number else np.nan))
    if not len(near):
        raise ValueError(f"{name} is {threshold!r}; one of {listed(among)} is needed")
    return int(near[0])


def checked_thresholds(given: Any = None) -> np.ndarray:
    """The thresholds that are asked for, rising, as they stand in THRESHOLDS; all ten for None.

    Raises ValueError if one is none of the ten, or there are none.
    """
    if given is None:
        return THRESHOLDS
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"thresholds is {given!r}; a list is needed, of {listed(THRESHOLDS)}")
    chosen = {threshold_position(value, "a value of thresholds") for value in given}
    if not chosen:
        raise ValueError(f"thresholds is empty; give some of {listed(THRESHOLDS)}")
    return THRESHOLDS[sorted(chosen)]


def shown_position(thresholds: np.ndarray, chosen: float | None = None) -> int:
    """The position of the threshold whose matches are looked at: that which is asked for, else the lowest.

    Raises ValueError if the one that is asked for is none of the thresholds.
    """
    return 0 if chosen is None else threshold_position(chosen, among=thresholds)


def limits_of(numbers: Numbers) -> list[int]:
    """The limits to the detections of a frame and category, rising."""
    return sorted({number.limit for number in numbers.values()})


def areas_of(numbers: Numbers) -> list[str]:
    """The names of the area ranges, in the order of AREAS."""
    return [area for area in AREAS if any(number.area == area for number in numbers.values())]


def by_category(numbers: Numbers, thresholds: np.ndarray, averages: Mapping[str, Averages]) -> dict[str, np.ndarray]:
    """The numbers of each category, (K,), from the averages of each area range at the thresholds.

    They are null without truths, and where the threshold of a number is none of those.
    """
    limits = limits_of(numbers)
    values = {}
    for name, number in numbers.items():
        of = averages[number.area]
        cells = of.precision if number.of == "precision" else of.recall[..., limits.index(number.limit)]
        at = np.flatnonzero(number.is_at(thresholds))
        values[name] = cells[at].mean(axis=0) if len(at) else np.full(cells.shape[1], np.nan)
    return values


def combined(values: Mapping[str, np.ndarray]) -> dict[str, float]:
    """The numbers over all categories: the mean of those that are not null; null if all are."""
    return {name: float(np.nanmean(of)) if not np.isnan(of).all() else np.nan for name, of in values.items()}


def _metric(name: str, number: Number, thresholds: np.ndarray) -> Metric:
    """The entry of a number in the registry of metrics."""
    noun = {"precision": "average precision", "recall": "average recall"}[number.of]
    at = thresholds_text(thresholds[number.is_at(thresholds)])
    formula = f"mean of the {number.of}{' at 101 recall points' if number.of == 'precision' else ''}, similarity {at}"
    low, high = (f"{np.sqrt(bound):.0f}²" for bound in AREAS[number.area])
    sizes = {"all": "", "small": f", area up to {high} px²", "large": f", area from {low} px²"}
    area = sizes.get(number.area, f", area {low} to {high} px²")
    note = f"{noun}{area}; at most {number.limit} detections a frame and category; null without truths"
    return share_of(name, name, formula, note=note, headline=name in DEFAULT)


def entries_of(numbers: Numbers, thresholds: np.ndarray = THRESHOLDS) -> dict[str, Metric]:
    """The entries of numbers in the registry of metrics, by name, without those that the thresholds do not give."""
    given = {name: number for name, number in numbers.items() if number.is_at(thresholds).any()}
    return by_name(*(_metric(name, number, thresholds) for name, number in given.items()))


# The entries of all numbers; where boxes and poses share a name, the entry of boxes.
AP_METRICS = entries_of(POSE_NUMBERS | BOX_NUMBERS)
