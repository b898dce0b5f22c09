"""Truths that do not count: crowds, which stand for many objects at once, and ignored ones, such as distractors.

The truth's column `crowd` marks crowds. The assignment is made without them and with all predictions, and its pairs
stay. A prediction is explained if it has no pair and covers a crowd of an equal category: a box covers one where at
least the threshold's share of its own area lies within the crowd, as pycocotools has it; anything else, where it is
near the crowd by the rule. A crowd whose category is null covers predictions of every category.

The truth's column `ignore` marks ignored truths. They are matched with the rest, one to one; then they leave, and so do
the predictions that they took.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from ..tables import Columns
from .agreement import flags
from .alignment import Aligned, drop_empty_joints, select_rows
from .pairs import Pairs, join_pairs
from .rule import Compared, Rule

# The columns of the truth that mark what does not count.
MARKS = ("crowd", "ignore")


class WithoutCrowds(NamedTuple):
    """Two aligned sides without the crowds of the truth, and which of its other rows are ignored.

    `sides` has all predictions. `covering` are the pairs of a prediction, as a row of `sides`, and a crowd that it
    covers; their measure is a distance (px) if the rule is by distance, and otherwise a similarity or a covered share.
    `n_crowds` is how many crowds there are, None if the truth has no column `crowd`. `ignored` marks the truths of
    `sides` that are ignored, (N,); None if the truth has no column `ignore`.
    """

    sides: Compared
    covering: Pairs
    n_crowds: int | None
    ignored: np.ndarray | None = None

    @property
    def all_count(self) -> bool:
        """Whether every truth and every prediction counts."""
        return not self.n_crowds and (self.ignored is None or not self.ignored.any())

    @property
    def counts(self) -> np.ndarray:
        """Marks the truths of `sides` that count, (N,)."""
        everything = np.ones(len(self.sides.aligned.truth.frame), bool)
        return everything if self.ignored is None else ~self.ignored


def without_crowds(sides: Compared, rule: Rule, farthest: float | None = None) -> WithoutCrowds:
    """Takes the crowds out of the truth, and marks what is ignored in it.

    `farthest` is the largest distance (px), or the least similarity or covered share, at which a prediction covers a
    crowd; None means that of a match. Raises InputError if a value of `crowd` or `ignore` is neither true nor false.
    """
    aligned, covering = sides.aligned, join_pairs([])
    why_null = ", as where the joints of a pose differ" if rule.joints else ""
    is_crowd, ignored = marks(aligned.truth.table, why_null)
    n_crowds = None if is_crowd is None else int(is_crowd.sum())
    if is_crowd is not None and n_crowds:
        everything = np.ones(len(aligned.predictions.frame), bool)
        others = select_rows(aligned, ~is_crowd, everything)
        covering = rule.covering_pairs(select_rows(aligned, is_crowd, everything), farthest)
        sides = Compared(others, rule.near(others))
        ignored = None if ignored is None else ignored[~is_crowd]
    return WithoutCrowds(sides, covering, n_crowds, ignored)


def without_uncounted(counting: WithoutCrowds, pairs: Pairs) -> tuple[Aligned, Pairs, dict[Hashable, int]]:
    """Takes out the ignored truths, the predictions that they took, and those without a pair that cover a crowd.

    Returns the sides without them, the pairs that are left as rows of these sides, and notes: how many `crowds` and
    `ignored` truths there were, where the truth has such a column, and how many predictions these `explained`.
    """
    aligned = counting.sides.aligned
    if counting.n_crowds is None and counting.ignored is None:
        return aligned, pairs, {}
    stays = counting.counts
    gone = np.zeros(len(aligned.predictions.frame), bool)
    gone[counting.covering.prediction] = True
    gone[pairs.prediction] = ~stays[pairs.truth]
    pairs = pairs.take(np.flatnonzero(stays[pairs.truth]))
    n_ignored = None if counting.ignored is None else int(counting.ignored.sum())
    counts = {"crowds": counting.n_crowds, "explained": int(gone.sum()), "ignored": n_ignored}
    notes: dict[Hashable, int] = {name: count for name, count in counts.items() if count is not None}
    if counting.all_count:
        return aligned, pairs, notes
    left = drop_empty_joints(select_rows(aligned, stays, ~gone))
    truth, prediction = (np.cumsum(kept) - 1 for kept in (stays, ~gone))
    return left, pairs._replace(truth=truth[pairs.truth], prediction=prediction[pairs.prediction]), notes


def marks(truth: Columns, why_null: str = "") -> tuple[np.ndarray | None, np.ndarray | None]:
    """Which truths are crowds, and which others are ignored, each None where there is no such column.

    Whether a crowd is ignored is no matter, so that may be null. Raises InputError as `flags` does.
    """
    is_crowd = flags(truth, "crowd", why_null)
    if is_crowd is None or "ignore" not in truth:
        return is_crowd, flags(truth, "ignore", why_null)
    ignored, others = np.zeros(len(truth), bool), np.flatnonzero(~is_crowd)
    ignored[others] = flags(truth.take(others), "ignore", why_null)
    return is_crowd, ignored
