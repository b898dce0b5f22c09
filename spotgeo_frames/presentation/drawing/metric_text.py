"""Texts about metrics: labels with units, definitions, and the direction that is better.

A column that is derived from a metric is named by the metric and a suffix: `f1_low` is the lower bound of `f1`.
"""

from typing import NamedTuple

from ...scoring.registry import Metric
from ...tracking.registry import known_metric

# Suffixes of columns: the text that follows the metric's label, and the text that precedes its name in a definition.
SUFFIXES = {
    "": ("", ""),
    "_low": (" from", "lower bound of "),
    "_high": (" to", "upper bound of "),
    "_cross_validated": (" cross-validated", "to expect on new sequences, by cross-validation: "),
    "_cross_validated_low": (" cross-validated from", "lower bound of the cross-validated "),
    "_cross_validated_high": (" cross-validated to", "upper bound of the cross-validated "),
    "_gain": (" gained", "gain, over the present value, of "),
    "_corrected": (" corrected", "after the correction, or null where that cannot be computed: "),
}


class Reading(NamedTuple):
    """A column of a metric: the metric, and the suffix, a key of SUFFIXES."""

    metric: Metric
    suffix: str


def reading(column: str) -> Reading | None:
    """Splits the name of a column into its metric and its suffix; None where it names no metric."""
    for suffix in SUFFIXES:
        metric = known_metric(column.removesuffix(suffix)) if column.endswith(suffix) else None
        if metric is not None:
            return Reading(metric, suffix)
    return None


def title(column: str, unit: str | None = None) -> str | None:
    """The label of a metric's column with its unit, such as "mse, px²" or "F1 from"; None for other columns.

    `unit` is that of the rule's distances, as notes and rules have it: None for px.
    """
    known = reading(column)
    if known is None:
        return None
    return with_unit(f"{known.metric.label}{SUFFIXES[known.suffix][0]}", unit_of(known.metric, unit))


def with_unit(text: str, unit: str) -> str:
    """A text with a unit after it, if there is one.

    >>> with_unit("distance", "px"), with_unit("distance", "")
    ('distance, px', 'distance')
    """
    return f"{text}, {unit}" if unit else text


def unit_of(metric: Metric, unit: str | None) -> str:
    """The unit of a metric where distances are in this unit, or px for None; "" if it has none."""
    # Metrics of one's own have units of their own.
    if unit is None or metric.sums is not None or "px" not in metric.unit:
        return metric.unit
    return metric.unit.replace("px", unit) if unit else ""


def is_share(column: str) -> bool:
    """Whether a metric's column has shares of 1, which are shown in percent."""
    known = reading(column)
    return known is not None and known.metric.written == "share"


def meaning(column: str, unit: str | None = None) -> str | None:
    """The unit and the definition of a metric's column; None for other columns. `unit` is as in `title`."""
    known = reading(column)
    if known is None:
        return None
    metric, suffix = known
    text = f"{SUFFIXES[suffix][1]}{metric.name}" if suffix else definition(metric)
    own = unit_of(metric, unit)
    return f"{own}, {text}" if own else text


def definition(metric: Metric) -> str:
    """The formula of a metric and its note."""
    return f"{metric.formula}; {metric.note}" if metric.note else metric.formula


def arrow(metric: Metric) -> str:
    """The direction that is better: ↑ or ↓, or an empty text for counts."""
    return "" if metric.higher_is_better is None else "↑" if metric.higher_is_better else "↓"
