"""The rule of the matching in words: what is measured, from where on a pair is a match, and what each error means."""

from collections.abc import Iterable

from ...matching.rule import Rule
from ...support.texts import label
from .metric_text import with_unit

# The names of similarities that people know by another name.
SIMILARITIES = {"iou": "IoU", "oks": "OKS", "point": "point similarity", "keypoint": "keypoint similarity"}
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


def measure_name(rule: Rule) -> str:
    """What pairs are measured by: "distance", "IoU", or the name of the caller's similarity."""
    if rule.by_distance:
        return "distance"
    return f"similarity by {rule.name}" if rule.own_distance else SIMILARITIES.get(rule.name, rule.name)


def unit_of_distances(unit: str | None) -> str:
    """The word for the unit of distances, as rules and notes have it: None for px."""
    return "px" if unit is None else unit


def in_unit(distance: float | None, unit: str | None) -> str:
    """A distance as text, such as "10 px"; `unit` is as in `unit_of_distances`."""
    return f"{label(distance)} {unit_of_distances(unit)}".rstrip()


def measure_title(rule: Rule) -> str:
    """What pairs are measured by, with its unit: "distance, px" or "IoU"."""
    return with_unit(measure_name(rule), unit_of_distances(rule.unit) if rule.by_distance else "")


def first_title(metric: str, rule: Rule) -> str:
    """The metric that ranks submissions; F1 with the threshold of the similarity, such as "F1 at IoU 0.5"."""
    if metric != "f1":
        return metric
    return "F1" if rule.by_distance else f"F1 at {measure_name(rule)} {label(rule.threshold)}"


def rule_text(rule: Rule) -> str:
    """From where on a pair is a match: "tau 10 px and epsilon 3 px", or "matches of IoU 0.5 or more"."""
    if rule.by_distance:
        measured = f"distances by {rule.name}, " if rule.own_distance else ""
        return f"{measured}tau {in_unit(rule.tau, rule.unit)} and epsilon {in_unit(rule.epsilon, rule.unit)}"
    if rule.head_sizes is not None:
        return f"matches of joints up to {label(rule.head_sizes)} head sizes apart"
    tau = "" if rule.tau is None else f" and tau {in_unit(rule.tau, rule.unit)}"
    return f"matches of {measure_name(rule)} {label(rule.threshold)} or more{tau}"


def rule_fields(rule: Rule) -> list[tuple[str, str]]:
    """The labels and values of the rule, for the foot of a report."""
    fields = [("matched by", f"distance by {rule.name}" if rule.own_distance else measure_name(rule))]
    fields += [(name, in_unit(value, rule.unit)) for name, value in _given(rule, "tau", "epsilon")]
    fields += [(name.replace("_", " "), label(value)) for name, value in _given(rule, "threshold", "head_sizes")]
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
