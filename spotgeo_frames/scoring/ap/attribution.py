"""Which official number an average precision is, or what keeps it from being one."""

from __future__ import annotations

from ...geometries import geometry_of
from ...tables import messages
from .curves import MOST_TOGETHER
from .evaluate import Matched
from .protocol_entries import Protocol, entry_of

# What COCO and LVIS call the geometries that they evaluate.
IOU_TYPES = {"boxes": "bbox", "masks": "segm", "poses": "keypoints"}


def provenance_of(matched: Matched) -> str:
    """One sentence: whose number this is, or by whose rule it is computed and every deviation from that."""
    protocol, rule = matched.protocol, matched.rule
    entry = entry_of(protocol.name, rule.geometry)
    deviations = [*_fields(protocol, entry), *_of_data(matched)]
    if not protocol.by_distance and (rule.geometry.name not in protocol.geometries or not rule.is_official):
        by = f"the {rule.geometry.title or rule.name} of {rule.geometry.name}" if rule.is_official else rule.name
        deviations.insert(0, f"{by} as similarity")
    if protocol.by_distance and not (entry.by_distance and rule.name == "distance"):
        deviations.insert(0, f"pairs that match within a distance ({rule.unit or 'px'})")
    elif protocol.by_distance and (name := geometry_of(matched.detections.aligned.truth.table).name) not in (
        protocol.geometries
    ):
        deviations.insert(
            0, f"{'centres' if name != 'points' else 'x and y'} of {name} as places on the ground ({rule.unit})"
        )
    if deviations:
        return f"{entry.rule_text} with {'; '.join(deviations)}: comparable with no leaderboard"
    return entry.official_text.format(kind=IOU_TYPES.get(rule.geometry.name), exactly=_exactly(matched))


def _exactly(matched: Matched) -> str:
    """How exactly a number is that of the official evaluator."""
    return "bit for bit" if len(matched.detections.categories) <= MOST_TOGETHER else "to the last digits"


def _fields(protocol: Protocol, entry: Protocol) -> list[str]:
    """The fields of a protocol that are not those of its entry, as arguments."""
    given, answer = protocol.arguments, []
    for name in protocol.differs_from(entry):
        if name in given and name != "metrics" and not (name == "areas" and protocol.by_distance):
            value = given[name]
            shown = [round(one, 12) for one in value] if isinstance(value, tuple) else value
            answer.append(f"{name}={shown}")
    if "tau" in given and protocol.thresholds != entry.thresholds:
        answer.append(f"tau={[*given['tau']]}")
    return answer


def _of_data(matched: Matched) -> list[str]:
    """What of the data the official evaluator does not know, or would have other than it is."""
    detections, protocol = matched.detections, matched.protocol
    truth, answer = detections.aligned.truth.table, []
    n_ignored = int((detections.is_ignored & ~detections.is_crowd).sum())
    if not protocol.knows_ignored and "ignore" in truth and n_ignored:
        answer.append(f"{messages.several(n_ignored, 'truth')} that the column ignore marks")
    if protocol.reads_areas and not protocol.by_distance and "area" not in truth and matched.rule.is_official:
        answer.append("areas that are those of the truths' boxes")
    if n_unlabelled := detections.aligned.notes.get("unlabelled"):
        answer.append(f"{messages.several(n_unlabelled, 'prediction')} left out of frames that are not labelled")
    if not protocol.knows_crowds and detections.is_crowd.any():
        answer.append(messages.several(int(detections.is_crowd.sum()), "crowd"))
    return answer
