"""What a page is made of, taken back out of match tables: the truth, the predictions, and the words of the rule."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from ...geometries import SIMILARITIES, pose_columns, pose_joints
from ...matching import MatchOptions, noted_rule
from ...scoring import AveragePrecision, sequence_sums
from ...support import InputError
from ...tables import Annotations, schema, sides_of
from ...tracking import PoseResult, TrackResult, conditions

# The words of a rule that notes have as `report` takes them, and those that it takes of tracks.
WORDS = ("tau", "epsilon", "threshold", "sigmas", "assignment", "power")
OF_TRACKS = ("tau",)


class Evaluated(NamedTuple):
    """Truth and predictions of a match table, and with which words `report` evaluates them as they were."""

    truth: Annotations
    predictions: Annotations
    words: dict[str, Any]


def evaluated_again(x: Any, name: str) -> Evaluated:
    """What a page about a match table, or about what `track` or `pose` returned, is made of; messages call it `name`.

    Raises InputError where it is not told: coordinates, a rule that is a function, conditions of tracks, or all
    predictions of average precision.
    """
    how = "call report with the truth and the predictions"
    if isinstance(x, AveragePrecision):
        raise InputError(f"{name}: a page cannot be made of average precision, which lacks what it left out; {how}")
    matches = sequence_sums.evaluable(x, name).matches
    is_tracks = isinstance(x, TrackResult | PoseResult)
    if is_tracks and conditions.labels_of(matches):
        raise InputError(f"{name}: a page cannot be made of tracks by condition; {how}")
    try:
        if not is_tracks:
            noted_rule.noted_rule(matches, MatchOptions())
        truth, predictions, *_ = sides_of(matches, None)
    except InputError as error:
        raise InputError(f"{name}: a page cannot be made of it: {error}; {how}") from None
    joints = pose_joints(matches)
    sides = [side._replace(objects=objects_of(side.objects, joints)) for side in (truth, predictions)]
    return Evaluated(sides[0], sides[1], _words(matches, x))


def objects_of(side: pd.DataFrame, joints: Sequence[Any]) -> pd.DataFrame:
    """The objects of a side of a match table as readers have them: poses joint by joint, without places in a file."""
    position = schema.FILE_ORDER.removeprefix(schema.PREFIXES["predictions"])
    return (_joint_by_joint(side, joints) if joints else side).drop(columns=position, errors="ignore")


def _joint_by_joint(people: pd.DataFrame, joints: Sequence[Any]) -> pd.DataFrame:
    """A row for each joint with coordinates of whole poses, whose rows have those of joints as x_nose."""
    others = people.drop(columns=pose_columns(joints))
    parts = []
    for joint in joints:
        named = others.assign(joint=joint, x=people[f"x_{joint}"], y=people[f"y_{joint}"])
        parts.append(named[named["x"].notna()])
    return pd.concat(parts).sort_index(kind="stable", ignore_index=True)


def _words(matches: pd.DataFrame, x: Any) -> dict[str, Any]:
    """The arguments of `report` by which it evaluates as the notes of a match table say."""
    notes, is_tracks = matches.attrs, isinstance(x, TrackResult | PoseResult)
    if isinstance(x, PoseResult):
        return {"tracks": True}
    words = {name: notes[name] for name in (OF_TRACKS if is_tracks else WORDS) if name in notes}
    if notes.get("rule") in SIMILARITIES:
        words["similarity"] = notes["rule"]
    return words | {"tracks": is_tracks}
