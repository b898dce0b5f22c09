"""The official numbers of average precision: what each is the mean of.

AP is the mean of the precision at 101 recall points, at ten thresholds, of all categories that have truths; AR is that
of the recall that a number of detections a frame and category reaches (cocoeval.py, summarize).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..registry import Metric, by_name

if TYPE_CHECKING:
    from .curves import Curves

# The similarities from which on detections match, ten in all.
THRESHOLDS = np.linspace(0.5, 0.95, 10)

# The same, as messages list them.
LISTED = ", ".join(f"{threshold:.2f}" for threshold in THRESHOLDS)

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

# The number that orders a leaderboard, and those that intervals and comparisons have by default.
RANKING = ["AP"]
ASKED = ("AP", "AP50", "AP75")

# The numbers of one kind of evaluation, by name.
Numbers = Mapping[str, Number]


def threshold_position(threshold: Any, name: str = "threshold") -> int:
    """The position of a threshold in THRESHOLDS; raises ValueError, which calls it `name`, if it is none of them."""
    is_number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    near = np.flatnonzero(np.isclose(THRESHOLDS, threshold if is_number else np.nan))
    if not len(near):
        raise ValueError(f"{name} is {threshold!r}; one of {LISTED} is needed")
    return int(near[0])


def limits_of(numbers: Numbers) -> list[int]:
    """The limits to the detections of a frame and category, rising."""
    return sorted({number.limit for number in numbers.values()})


def areas_of(numbers: Numbers) -> list[str]:
    """The names of the area ranges, in the order of AREAS."""
    return [area for area in AREAS if any(number.area == area for number in numbers.values())]


def by_category(numbers: Numbers, curves: Mapping[str, Curves]) -> dict[str, np.ndarray]:
    """The numbers of each category, (K,), from the curves of each area range; null without truths."""
    limits = limits_of(numbers)
    values = {}
    for name, number in numbers.items():
        of = curves[number.area]
        cells = of.precision.mean(axis=2) if number.of == "precision" else of.recall[..., limits.index(number.limit)]
        at = slice(None) if number.threshold is None else number.threshold == THRESHOLDS
        values[name] = cells[at].mean(axis=0)
    return values


def combined(values: Mapping[str, np.ndarray]) -> dict[str, float]:
    """The numbers over all categories: the mean of those that are not null; null if all are."""
    return {name: float(np.nanmean(of)) if not np.isnan(of).all() else np.nan for name, of in values.items()}


def _metric(name: str, number: Number) -> Metric:
    """The entry of a number in the registry of metrics."""
    noun = {"precision": "average precision", "recall": "average recall"}[number.of]
    at = "0.50 to 0.95" if number.threshold is None else f"{number.threshold:.2f}"
    formula = f"mean of the {number.of}{' at 101 recall points' if number.of == 'precision' else ''}, similarity {at}"
    low, high = (f"{np.sqrt(bound):.0f}²" for bound in AREAS[number.area])
    sizes = {"all": "", "small": f", area up to {high} px²", "large": f", area from {low} px²"}
    area = sizes.get(number.area, f", area {low} to {high} px²")
    note = f"{noun}{area}; at most {number.limit} detections a frame and category; null without truths"
    return Metric(name, name, formula, note=note, higher_is_better=True, high=1.0, written="share")


def entries_of(numbers: Numbers) -> dict[str, Metric]:
    """The entries of numbers in the registry of metrics, by name."""
    return by_name(*(_metric(name, number) for name, number in numbers.items()))


# The entries of all numbers; where boxes and poses share a name, the entry of boxes.
AP_METRICS = entries_of(POSE_NUMBERS | BOX_NUMBERS)
