"""The rule of the matching in words: what is measured, from where on a pair is a match, and what each error means."""

from collections.abc import Iterable

from ..matching.rule import Rule
from ..support.labels import label

# The names of similarities that people know by another name.
SIMILARITIES = {"iou": "IoU", "oks": "OKS", "point": "point similarity", "keypoint": "keypoint similarity"}
LIMITS = {
    "epsilon": "epsilon, {} px: errors up to it count as 0",
    "tau": "tau, {} px: farther is no hit",
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
    """What pairs are measured by: "distance", "IoU", or the name of the caller's function."""
    return SIMILARITIES.get(rule.name, rule.name)


def measure_title(rule: Rule) -> str:
    """What pairs are measured by, with its unit: "distance, px" or "IoU"."""
    return f"{measure_name(rule)}, px" if rule.by_distance else measure_name(rule)


def first_title(metric: str, rule: Rule) -> str:
    """The metric that ranks submissions; F1 with the threshold of the similarity, such as "F1 at IoU 0.5"."""
    if metric != "f1":
        return metric
    return "F1" if rule.by_distance else f"F1 at {measure_name(rule)} {label(rule.threshold)}"


def rule_text(rule: Rule) -> str:
    """From where on a pair is a match: "tau 10 px and epsilon 3 px", or "matches of IoU 0.5 or more"."""
    if rule.by_distance:
        return f"tau {label(rule.tau)} px and epsilon {label(rule.epsilon)} px"
    if rule.head_sizes is not None:
        return f"matches of joints up to {label(rule.head_sizes)} head sizes apart"
    tau = "" if rule.tau is None else f" and tau {label(rule.tau)} px"
    return f"matches of {measure_name(rule)} {label(rule.threshold)} or more{tau}"


def rule_fields(rule: Rule) -> list[tuple[str, str]]:
    """The labels and values of the rule, for the foot of a report."""
    fields = [("matched by", measure_name(rule))]
    fields += [(name, f"{label(value)} px") for name, value in _given(rule, "tau", "epsilon")]
    fields += [(name.replace("_", " "), label(value)) for name, value in _given(rule, "threshold", "head_sizes")]
    if rule.sigmas is not None:
        fields.append(("sigmas", ", ".join(f"{joint} {label(sigma)}" for joint, sigma in rule.sigmas.items())))
    return fields


def measure_range(rule: Rule) -> tuple[float, float]:
    """The least and the greatest measure that a true positive may have: px, or shares of 1."""
    return (0.0, rule.largest_cost) if rule.by_distance else (rule.threshold or 0.0, 1.0)


def measure_limits(rule: Rule) -> list[tuple[float, str]]:
    """The limits of the measure of a true positive, with a text about each."""
    if rule.head_sizes is not None:
        return [(0.0, LIMITS["head_sizes"].format(label(rule.head_sizes)))]  # where keypoint similarity ends
    names = ("epsilon", "tau") if rule.by_distance else ("threshold",)
    return [(value, LIMITS[name].format(label(value))) for name, value in _given(rule, *names)]


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
