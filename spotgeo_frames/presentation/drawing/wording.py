"""How metrics, units and the rule of the matching read.

A column that is derived from a metric is named by the metric and a suffix: `f1_low` is the lower bound of `f1`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ...geometries import GEOMETRIES
from ...matching import Rule
from ...scoring import DEFAULT as AP_HEADLINE
from ...scoring import Metric, registry
from ...support import label
from ...tracking import HEADLINE as TRACK_HEADLINE
from ...tracking import known_metric

if TYPE_CHECKING:
    import pandas as pd

# The headline numbers of results, first those that rank: of average precision (AR is that of poses), tracks and poses.
RESULT_HEADLINE = (*AP_HEADLINE, "AR100", "AR", *TRACK_HEADLINE)

# The two sides of what ranks: of F1 and AP, and of HOTA; each with what it means to have more of it.
SIDES_OF_MATCHES = {"recall": "finds {} more of the {noun}", "precision": "is right {} more often"}
SIDES_OF_TRACKS = {"DetA": "finds objects better by {} of DetA", "AssA": "keeps identities better by {} of AssA"}

# The headline numbers of leaderboards; the first that a leaderboard has is the one that it ranks by.
BOARD = (*AP_HEADLINE, *TRACK_HEADLINE, *registry.RANKING)

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

LIMITS = {
    "epsilon": "epsilon, {}: errors up to it count as 0",
    "tau": "tau, {}: farther is no hit",
    "threshold": "threshold, {}: less is no hit",
    "head_sizes": "{} head sizes: farther is no hit",
}
KINDS = {
    "taken": "a miss with a prediction {near}, which was matched with another truth",
    "lost": "a miss with no prediction near",
    "mislocated": "a miss and a false alarm {nearly}: detected, but in the wrong place",
    "confused": "a miss or a false alarm with an object of another category {near}",
    "confused_and_mislocated": "a miss and a false alarm of different categories {nearly}",
    "duplicate": "a false alarm with a truth {near}, which was matched with another prediction",
    "background": "a false alarm with no truth near",
    "no_truth_in_frame": "a false alarm in a frame without truth",
    "switch": "a truth that is matched with another predicted identity than before",
    "gap": "a truth that is missed between two frames in which it is matched; its misses are counted above, too",
    "all": "all kinds together; only the {measure} of the true positives remains",
}

# The same in a few words, for pictures.
KINDS_IN_SHORT = {
    "taken": "seen, but taken",
    "lost": "not seen",
    "mislocated": "beside the object",
    "confused": "of another class",
    "confused_and_mislocated": "of another class, beside",
    "duplicate": "seen twice",
    "background": "alarms on background",
    "no_truth_in_frame": "alarms in empty frames",
    "switch": "identities switched",
    "gap": "gaps in tracks",
}


# The titles of columns that belong to no metric.
TITLES = {
    "threshold": "least similarity",
    "score_threshold": "best threshold",
    "p_value": "p-value",
    "p_adjusted": "adjusted p-value",
    "low": "from",
    "high": "to",
    "estimate": "difference",
    "a": "submission",
    "b": "minus",
    "aggregate": "aggregate",
    "apart_from_next": "differs from the next",
    "gap": "gap, frames",
    "nearest_truth": "nearest truth, px",
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
    known, text = reading(column), label_of(column)
    return None if known is None or text is None else with_unit(text, known.metric.unit_in(unit))


def label_of(column: str) -> str | None:
    """The label of a metric's column without its unit, such as "mse from"; None for other columns."""
    known = reading(column)
    return None if known is None else f"{known.metric.label}{SUFFIXES[known.suffix][0]}"


def with_unit(text: str, unit: str) -> str:
    """A text with a unit after it, if there is one.

    >>> with_unit("distance", "px"), with_unit("distance", "")
    ('distance, px', 'distance')
    """
    return f"{text}, {unit}" if unit else text


def written(value: float | None, metric: Metric, form: str = "") -> str:
    """A value of a metric with its unit; with four decimals unless a form is given, and counts without.

    >>> from ...tracking import known_metric
    >>> written(0.81938, known_metric("f1")), written(3.5, known_metric("mse"), "g"), written(None, known_metric("f1"))
    ('0.8194', '3.5 px²', '-')
    """
    if value is None:
        return "-"
    number = f"{value:{form or (',.0f' if metric.written == 'count' else ',.4f')}}"
    return f"{number} {metric.unit}" if metric.unit else number


def capital(text: str) -> str:
    """A text that begins with a capital letter, as titles do.

    >>> capital("recall by slice"), capital("F1")
    ('Recall by slice', 'F1')
    """
    return text[:1].upper() + text[1:]


def in_points(text: str, metric: str) -> str:
    """A text about a difference of a metric, with the unit of differences of shares."""
    return with_unit(text, "points" if is_share(metric) else "")


def difference(name: str, metric: str) -> str:
    """The title of an axis of differences of a metric, called `name`: "difference of recall, points"."""
    return in_points(f"difference of {name}", metric)


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
    own = metric.unit_in(unit)
    return f"{own}, {text}" if own else text


def definition(metric: Metric) -> str:
    """The formula of a metric and its note."""
    return f"{metric.formula}; {metric.note}" if metric.note else metric.formula


def arrow(metric: Metric) -> str:
    """The direction that is better: ↑ or ↓, or an empty text for counts."""
    return "" if metric.higher_is_better is None else "↑" if metric.higher_is_better else "↓"


def measure_name(rule: Rule) -> str:
    """What pairs are measured by: "distance", "IoU", or the name of the caller's similarity."""
    if rule.by_distance:
        return "distance"
    return f"similarity by {rule.name}" if rule.named_distance else rule.geometry.title or rule.name


def unit_of_distances(unit: str | None) -> str:
    """The word for the unit of distances, as rules and notes have it: None for px."""
    return "px" if unit is None else unit


def in_unit(distance: float | None, unit: str | None) -> str:
    """A distance as text, such as "10 px"; `unit` is as in `unit_of_distances`."""
    return f"{label(distance)} {unit_of_distances(unit)}".rstrip()


def measure_title(rule: Rule) -> str:
    """What pairs are measured by, with its unit: "distance, px" or "IoU"."""
    return with_unit(measure_name(rule), unit_of_distances(rule.unit) if rule.by_distance else "")


class Plane(NamedTuple):
    """The plane of pictures: what its axes are called, their unit, and whether they grow to the left and up.

    Places in it grow to the right and down, so the numbers at axes that do not are their negatives. A plane of space
    whose second axis is not y is no image, so that axis points up (`is_up`).
    """

    x: str
    y: str
    unit: str
    is_chart: bool
    is_up: bool = False

    @property
    def is_image(self) -> bool:
        """Whether it is that of images: neither a chart nor another plane of space."""
        return (self.x, self.y) == ("x", "y")

    @property
    def words(self) -> str:
        """What people call the plane."""
        return "the sky" if self.is_chart else "the image" if self.is_image else f"{self.x} and {self.y}"

    def title(self, axis: str) -> str:
        """The title of an axis, "x" or "y", with its unit."""
        of = "{} of the middle" if self.is_chart else "{}"
        return self._titled(axis, of)

    def offset_title(self, axis: str) -> str:
        """The title of an axis along which it is shown how far off predictions are."""
        of = "{} of the truth" if self.is_chart else "predicted − true {}"
        return self._titled(axis, of)

    def _titled(self, axis: str, of: str) -> str:
        return with_unit(of.format(self.x if axis == "x" else self.y), self.unit)


def plane_of(matches: pd.DataFrame) -> Plane:
    """The plane in which the rows of a match table with places lie: an image, a chart of the sky, or one of space."""
    chart = GEOMETRIES.get(matches.attrs.get("chart", ""))
    x, y = matches.attrs.get("axes", ("x", "y"))
    return Plane(x, y, "px", False, y != "y") if chart is None else Plane(*chart.axes, chart.unit or "px", True)


def first_title(metric: str, rule: Rule) -> str:
    """The metric that ranks submissions; F1 with the threshold of the similarity, such as "F1 at IoU 0.5"."""
    if metric != "f1":
        return metric
    return "F1" if rule.by_distance else f"F1 at {measure_name(rule)} {label(rule.threshold)}"


def rule_text(rule: Rule) -> str:
    """From where on a pair is a match: "tau 10 px and epsilon 3 px", or "matches of IoU 0.5 or more"."""
    if rule.by_distance:
        measured = f"distances by {rule.name}, " if rule.named_distance else ""
        text = f"{measured}tau {in_unit(rule.tau, rule.unit)} and epsilon {in_unit(rule.epsilon, rule.unit)}"
        return f"{text}{_assignment_text(rule)}"
    if rule.head_sizes is not None:
        return f"matches of joints up to {label(rule.head_sizes)} head sizes apart"
    tau = "" if rule.tau is None else f" and tau {in_unit(rule.tau, rule.unit)}"
    return f"matches of {measure_name(rule)} {label(rule.threshold)} or more{tau}{_assignment_text(rule)}"


def _assignment_text(rule: Rule) -> str:
    """How pairs are chosen, as the end of a text about the rule; nothing for the usual way."""
    if rule.power is not None:
        return f", the least sum of distances to the power {label(rule.power)}"
    return ", chosen in the order of scores" if rule.assignment == "score" else ""


def rule_fields(rule: Rule) -> list[tuple[str, str]]:
    """The labels and values of the rule, for the foot of a report."""
    fields = [("matched by", f"distance by {rule.name}" if rule.named_distance else measure_name(rule))]
    fields += [(name, in_unit(value, rule.unit)) for name, value in _given(rule, "tau", "epsilon")]
    fields += [(name.replace("_", " "), label(value)) for name, value in _given(rule, "threshold", "head_sizes")]
    if rule.assignment != "most":
        fields += [("assignment", rule.assignment), *((name, label(value)) for name, value in _given(rule, "power"))]
    if rule.sigmas is not None:
        fields.append(("sigmas", ", ".join(f"{joint} {label(sigma)}" for joint, sigma in rule.sigmas.items())))
    return fields


def measure_range(rule: Rule) -> tuple[float, float]:
    """The least and the greatest measure that a true positive may have: a distance, or a share of 1."""
    return (0.0, rule.largest_cost) if rule.by_distance else (rule.threshold or 0.0, 1.0)


def measure_limits(rule: Rule) -> list[tuple[float, str]]:
    """The limits of the measure of a true positive, with a text about each."""
    if rule.head_sizes is not None:
        return [(0.0, LIMITS["head_sizes"].format(label(rule.head_sizes)))]  # where keypoint similarity ends
    if rule.by_distance:
        return [(at, LIMITS[name].format(in_unit(at, rule.unit))) for name, at in _given(rule, "epsilon", "tau")]
    return [(value, LIMITS[name].format(label(value))) for name, value in _given(rule, "threshold")]


def kind_texts(kinds: Iterable[str], rule: Rule, farthest: float) -> dict[str, str]:
    """What each kind of error means; `farthest` is the reach or the least similarity that `diagnose` noted."""
    measure = measure_name(rule)
    if rule.by_distance or rule.head_sizes is not None:
        largest = "tau" if rule.by_distance else f"{label(rule.head_sizes)} head sizes"
        near, nearly = f"within {largest}", f"within {label(farthest)} times {largest} of each other"
    else:
        near, nearly = f"of {measure} {label(rule.threshold)} or more", f"of {measure} {label(farthest)} or more"
    return {kind: KINDS[kind].format(near=near, nearly=nearly, measure=measure) for kind in kinds}


def _given(rule: Rule, *names: str) -> list[tuple[str, float]]:
    """The fields of the rule that apply to it, of those named."""
    return [(name, getattr(rule, name)) for name in names if getattr(rule, name) is not None]
