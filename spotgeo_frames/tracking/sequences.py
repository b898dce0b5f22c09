"""Whole sequences of tracks or poses, of which either side may lack some: what they add up to.

Batches of a training loop are such, and parts of a dataset.
"""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from ..matching import HEAD_SIZES, Header, MatchOptions, Rule, alignment, check_no_options, left_out, track_rule
from ..tables import Annotations
from .identities import counted_in_tracks, identify
from .metrics.clear import THRESHOLD
from .poses import check_keypoints, evaluate_poses, near_joints, pose_matches, pose_sums
from .track_sums import sums_table
from .track_tables import track_matches
from .tracks import evaluate_tracks, identify_whole

# The column that says how many rows of a sequence one evaluation made, which belong together.
ROWS_TOGETHER = "rows_together"


def rule_of_headers(options: MatchOptions, truth: Header, predictions: Header) -> Rule:
    """The rule by which `track` matches these sides, or `pose` if both have joints; raises InputError as they do."""
    if "joint" not in truth.columns or "joint" not in predictions.columns:
        return track_rule(options, truth, predictions, threshold=THRESHOLD, identity="object")
    check_no_options(options)
    return Rule("keypoint", head_sizes=HEAD_SIZES, identity="object")


class WholeSequences(NamedTuple):
    """What whole sequences give: their table `sums`, CLEAR's or poseval's match table or None, notes, and a warning."""

    sums: pd.DataFrame
    matches: pd.DataFrame | None
    notes: Mapping[Hashable, Any]
    warning: str | None


def whole_sequences(truth: Annotations, predictions: Annotations, rule: Rule, *, keep: bool) -> WholeSequences:
    """What `track` adds up of sequences of which either side may lack some, or `pose` by its rule.

    The match table is made only to `keep` it. Raises InputError as `track` and `pose` do.
    """
    if rule.by_head_sizes:
        check_keypoints(truth, predictions)
    aligned = alignment.align(truth, predictions, may_be_disjoint=True)
    warning, everybody = left_out.left_out(aligned, rule, of_part=True), aligned
    aligned = counted_in_tracks(aligned, rule)
    matches = None
    if rule.by_head_sizes:
        found = evaluate_poses(aligned, near_joints(aligned), rule.identity or "object", everybody=everybody)
        sums = pose_sums(found.keypoints, found.parts, found.totals, found.clear)
        matches = pose_matches(aligned, found.matched, rule) if keep else None
    else:
        tracks, pairs, of_sequences = evaluate_tracks(aligned, rule)
        sums = sums_table(tracks.aligned, of_sequences.labels, of_sequences.values)
        matches = track_matches(aligned, tracks, pairs, rule) if keep else None
    sums[ROWS_TOGETHER] = sums.groupby("sequence")["sequence"].transform("size")
    return WholeSequences(sums, matches, aligned.notes, warning)


def check_tracked(truth: Annotations, predictions: Annotations, rule: Rule) -> None:
    """Raises InputError if `whole_sequences` would, without adding anything up."""
    if rule.by_head_sizes:
        check_keypoints(truth, predictions)
    aligned = counted_in_tracks(alignment.align(truth, predictions, may_be_disjoint=True), rule)
    if rule.by_head_sizes:
        identify(aligned, rule.identity or "object")
    else:
        identify_whole(aligned, rule)
