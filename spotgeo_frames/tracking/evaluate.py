"""Evaluates two sides as detections, as tracks or as poses, whichever the caller and the tables say."""

from typing import Any

import pandas as pd

from ..matching.alignment import FrameRule
from ..matching.matcher import match
from ..matching.rule import HEAD_SIZES, Rule
from ..matching.words import Words, check_no_words, rule_of_tables
from ..tables.annotations import Annotations, side_columns
from .poses import PoseResult, pose
from .tracks import TrackResult, rule_of_tracks, track

# The headline numbers of tracks and of poses, first that which ranks them; each kind has some of them.
HEADLINE = ("HOTA", "MOTA", "IDF1", "mota")

Evaluated = pd.DataFrame | TrackResult | PoseResult


def evaluated(
    truth: Annotations,
    predictions: Annotations,
    words: Words,
    tracks: bool,
    identity: str = "object",
    frames: FrameRule = "truth",
) -> Evaluated:
    """The match table of two checked sides, or with `tracks` what `track` returns, or `pose` of joints.

    With `tracks`, the words are those of tracks, and `identity` is the column that says who is who. `frames` says
    which frames count. Raises InputError as these functions do, and if words are given for joints.
    """
    if not tracks:
        return match(truth, predictions, **words._asdict(), frames=frames)
    if rule_of_sides(truth, predictions, words, tracks).name == "keypoint":
        return pose(truth, predictions, identity, frames=frames)
    of_rule: dict[str, Any] = {"tau": words.tau, "distance": words.distance, "unit": words.unit}
    return track(truth, predictions, words.similarity, identity, **of_rule, frames=frames)


def rule_of_sides(truth: Annotations, predictions: Annotations, words: Words, tracks: bool) -> Rule:
    """The rule by which `evaluated` matches; raises InputError if the words do not fit the tables."""
    if not tracks:
        return rule_of_tables(words, truth, predictions)
    if "joint" not in truth.objects or "joint" not in predictions.objects:
        return rule_of_tracks(words, side_columns(truth), side_columns(predictions))
    check_no_words(words)
    return Rule("keypoint", head_sizes=HEAD_SIZES)


def matches_of(x: Evaluated) -> pd.DataFrame:
    """The match table of what `evaluated` returned."""
    return x if isinstance(x, pd.DataFrame) else x.matches
