"""Crowds: truths that stand for many objects at once. They count nowhere, nor do the predictions that they explain.

The truth's column `crowd` marks them. The assignment is made without them and with all predictions, and its pairs stay.
A prediction is explained if it has no pair and covers a crowd of an equal category: a box covers one where at least the
threshold's share of its own area lies within the crowd, as pycocotools has it; anything else, where it is near the
crowd by the rule.
"""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..support import InputError, plain_value
from ..tables import Columns, as_numbers, messages, provenance, schema
from .alignment import Aligned, drop_empty_joints, select_rows
from .pairs import Pairs, join_pairs
from .rule import Compared, Rule


class WithoutCrowds(NamedTuple):
    """Two aligned sides without the crowds of the truth.

    `sides` has all predictions. `covering` are the pairs of a prediction, as a row of `sides`, and a crowd that it
    covers; their measure is a distance (px) if the rule is by distance, and otherwise a similarity or a covered share.
    `n_crowds` is how many crowds there are, None if the truth has no column `crowd`.
    """

    sides: Compared
    covering: Pairs
    n_crowds: int | None


def without_crowds(sides: Compared, rule: Rule, farthest: float | None = None) -> WithoutCrowds:
    """Takes the crowds out of the truth; raises InputError if a value of its column `crowd` is neither true nor false.

    `farthest` is the largest distance (px), or the least similarity or covered share, at which a prediction covers a
    crowd; None means that of a match.
    """
    aligned = sides.aligned
    if "crowd" not in aligned.truth.table:
        return WithoutCrowds(sides, join_pairs([]), None)
    is_crowd = crowd_flags(aligned.truth.table, ", as where the joints of a pose differ" if rule.joints else "")
    if not is_crowd.any():
        return WithoutCrowds(sides, join_pairs([]), 0)
    everything = np.ones(len(aligned.predictions.frame), bool)
    crowds = select_rows(aligned, is_crowd, everything)
    others = select_rows(aligned, ~is_crowd, everything)
    return WithoutCrowds(
        Compared(others, rule.near(others)), rule.covering_pairs(crowds, farthest), int(is_crowd.sum())
    )


def without_explained(counting: WithoutCrowds, pairs: Pairs) -> tuple[Aligned, Pairs, dict[Hashable, int]]:
    """Takes out the predictions that have no pair and cover a crowd.

    Returns the sides without them, the same pairs as rows of these sides, and the notes `crowds` and `explained`, how
    many were taken out. There are no notes if the truth has no column `crowd`.
    """
    aligned = counting.sides.aligned
    if counting.n_crowds is None:
        return aligned, pairs, {}
    explained = np.zeros(len(aligned.predictions.frame), bool)
    explained[counting.covering.prediction] = True
    explained[pairs.prediction] = False
    notes: dict[Hashable, int] = {"crowds": counting.n_crowds, "explained": int(explained.sum())}
    if not counting.n_crowds:
        return aligned, pairs, notes
    left = select_rows(aligned, np.ones(len(aligned.truth.frame), bool), ~explained)
    place = np.cumsum(~explained) - 1
    return drop_empty_joints(left), pairs._replace(prediction=place[pairs.prediction]), notes


def crowd_flags(truth: Columns, why_null: str = "") -> np.ndarray:
    """The column `crowd` as booleans; raises InputError if a value is neither true nor false, 1 or 0.

    `why_null` is added to the message if such a value is null.
    """
    values = truth["crowd"]
    numbers = as_numbers(values) if _is_numeric(values) else np.array([_number(value) for value in values], np.float64)
    wrong = (numbers != 0) & (numbers != 1)
    if wrong.any():
        example = plain_value(values[np.flatnonzero(wrong)[0]])
        shown = f"null{why_null}" if example is None else repr(example)
        problem = f"{messages.counted(int(wrong.sum()), 'row')} neither true nor false (1 or 0), such as {shown}"
        keys = messages.first_keys(truth, wrong, [*schema.FRAME_KEY, "object", "joint"])
        raise InputError(f"{provenance.source(truth, 'truth')}: column crowd: {problem}: {keys}")
    return numbers == 1


def _is_numeric(values: Any) -> bool:
    """Whether the type of a column says that its values are flags or real numbers."""
    from pandas.api.types import is_any_real_numeric_dtype, is_bool_dtype

    return is_bool_dtype(values.dtype) or is_any_real_numeric_dtype(values.dtype)


def _number(value: object) -> float:
    """A flag or a number as float; anything else as NaN."""
    return float(value) if isinstance(value, Real | np.bool_) else np.nan
