"""Crowds of tracks and poses: they count nowhere, nor do the predictions that they explain.

Tracks follow what KITTI's kit does with its DontCare regions (trackeval 1.3.0, datasets/kitti_2d_box.py). First, truths
that are no crowds and predictions are matched with the greatest sum of similarities, from 0.5 on. Then a prediction
that is left leaves if more than half of its own area lies in a crowd of an equal category. Points and what a function
of the caller's compares leave where they are similar enough to a crowd to match it, and joints where they are within
the kit's distance of one.
"""

import numpy as np

from ..geometries.boxes import ROUNDING
from ..matching.alignment import Aligned
from ..matching.assignment import Entries, heaviest
from ..matching.crowds import without_crowds, without_explained
from ..matching.pairs import Pairs
from ..matching.rule import Compared, Rule

# The least similarity of a match, and the share of a box's own area of which more has to lie in a crowd.
LEAST_SIMILARITY, COVERED_SHARE = 0.5 - ROUNDING, 0.5 + ROUNDING


def without_crowds_of_tracks(aligned: Aligned, rule: Rule) -> Aligned:
    """The sides without crowds and without the predictions that they explain; its notes say how many these are.

    Raises InputError if a value of the truth's column `crowd` is neither true nor false.
    """
    if "crowd" not in aligned.truth.table:
        return aligned
    least = LEAST_SIMILARITY if rule.pair_measure == "similarity" else None
    counting = without_crowds(Compared(aligned, rule.near(aligned)), rule, least)
    if rule.name == "iou":
        counting = counting._replace(covering=counting.covering.take(counting.covering.measure > COVERED_SHARE))
    pairs = _matched(counting.sides.aligned, rule, least) if len(counting.covering.truth) else counting.covering
    left, _, notes = without_explained(counting, pairs)
    return left._replace(notes={**left.notes, **notes})


def _matched(aligned: Aligned, rule: Rule, least: float | None) -> Pairs:
    """The pairs of the assignment with the greatest sum of similarities."""
    near = rule.near_pairs(aligned, least)
    similarity = rule.in_table(near.measure)
    starts = aligned.truth.starts, aligned.predictions.starts
    order = np.lexsort((near.prediction, near.truth))
    near = near.take(order)
    return near.take(heaviest(Entries(near.truth, near.prediction, similarity[order], *starts, aligned.names_from(0))))
