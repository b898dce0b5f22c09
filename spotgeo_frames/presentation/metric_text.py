"""How metrics read: their labels with units, which way is better, and what a column of a table says of a metric.

Tables call what they derive from a metric by its name and a suffix: `f1_low` is the lower bound of `f1`.
"""

from typing import NamedTuple

from ..scoring.registry import Metric
from ..tracking.registry import known_metric

# Suffixes of columns, how people read them after the metric's label, and what they mean.
SUFFIXES = {
    "": ("", ""),
    "_low": (" from", "lower bound of "),
    "_high": (" to", "upper bound of "),
    "_gain": (" gained", "gain over now in "),
    "_corrected": (" corrected", "after the correction, or null where that cannot be told: "),
}


class Reading(NamedTuple):
    """A column of a metric: the metric, and the suffix that says what was derived from it."""

    metric: Metric
    suffix: str


def reading(column: str) -> Reading | None:
    """The metric that a column is of; None where it is of none."""
    for suffix in SUFFIXES:
        metric = known_metric(column.removesuffix(suffix)) if column.endswith(suffix) else None
        if metric is not None:
            return Reading(metric, suffix)
    return None


def title(column: str) -> str | None:
    """The label of a metric's column with its unit, such as "mse, px²" or "F1 from"; None where it is of no metric."""
    found = reading(column)
    if found is None:
        return None
    label = f"{found.metric.label}{SUFFIXES[found.suffix][0]}"
    return f"{label}, {found.metric.unit}" if found.metric.unit else label


def meaning(column: str) -> str | None:
    """The unit and the definition of a metric's column; None where it is of no metric."""
    found = reading(column)
    if found is None:
        return None
    metric, suffix = found
    said = f"{SUFFIXES[suffix][1]}{metric.name}" if suffix else definition(metric)
    return f"{metric.unit}, {said}" if metric.unit else said


def definition(metric: Metric) -> str:
    """The formula of a metric, and what a reader has to know besides."""
    return f"{metric.formula}; {metric.note}" if metric.note else metric.formula


def arrow(metric: Metric) -> str:
    """Which way is better: ↑ or ↓, or nothing for counts."""
    return "" if metric.higher_is_better is None else "↑" if metric.higher_is_better else "↓"
