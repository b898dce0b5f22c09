"""The rule: when a truth and a prediction are near each other, and what a pair of them costs.

Matching by distance gives each row two errors; tau and epsilon are in pixels:

`squared_error` (px²), of the spotGEO metric document (eqs. 10-13 and 17)
    0 for a true positive at most epsilon away, distance² for one beyond it, tau² for every miss and false alarm.
`kelvins_error`, of the competition's server
    the plain distance of a true positive where epsilon <= distance < tau, else 0; tau² for every miss and false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..support.errors import InputError
from ..support.version import __version__
from ..tables.annotations import Annotations, SideColumns, annotations_of
from ..tables.schema import COUNTS_NOTED, measure_of
from .alignment import Aligned, FrameRule, align, at_centres
from .near_points import near_points
from .pairs import Pairs
from .similar_pairs import check_boxes, measured_pairs, similar_pairs
from .similarity import Measure

if TYPE_CHECKING:
    import pandas as pd

# The default distances of a rule, px.
TAU, EPSILON = 10.0, 3.0

# The fields of a rule, besides its name, that tables keep in their notes.
NOTED = ("threshold", "tau", "epsilon", "head_sizes", "identity")

# A function that finds the near pairs of the frames [first, last).
NearPairs = Callable[[int, int], Pairs]


@dataclass(frozen=True)
class Rule:
    """When pairs are near and what they cost; a field that does not apply to the rule is None.

    `name` is "distance", "iou", "oks", "point", "keypoint", or the name of the caller's function, which is then in
    `measure`. `tau` and `epsilon` are in pixels. `threshold` is the least similarity of a match. `identity` is the
    column that names objects through a sequence. `head_sizes` is the largest distance of joints, in head sizes.
    `sigmas` are the standard deviations of the joints' places, as shares of the object's size.
    """

    name: str
    tau: float | None = None
    epsilon: float | None = None
    threshold: float | None = None
    identity: str | None = None
    head_sizes: float | None = None
    sigmas: Mapping[Any, float] | None = None
    measure: Measure | None = None

    @property
    def by_distance(self) -> bool:
        """Whether pairs are measured by a distance, and not by a similarity."""
        return self.name == "distance"

    @property
    def similarity(self) -> str | Measure:
        """The similarity of this rule: its name, or the caller's function."""
        return self.name if self.measure is None else self.measure

    @property
    def columns(self) -> list[str]:
        """The columns, besides the key and `x` and `y`, that this rule needs on both sides."""
        return {"iou": ["w", "h"], "oks": ["joint"]}.get(self.name, [])

    @property
    def reads_all_columns(self) -> bool:
        """Whether the rule may need any column: the caller's function may, and poses carry the columns of joints."""
        return self.measure is not None or self.name == "oks"

    @property
    def notes(self) -> dict[Hashable, Any]:
        """The notes that a table made with this rule keeps in its `attrs`."""
        named = {key: getattr(self, key) for key in NOTED}
        told = {key: value for key, value in named.items() if value is not None}
        return {"rule": self.name} | told | {"version": __version__}

    @property
    def largest_cost(self) -> float:
        """The cost of the farthest pair that is still near."""
        return self.tau if self.by_distance and self.tau is not None else 1.0

    @property
    def least(self) -> float:
        """The least similarity of a near pair."""
        return 0.0 if self.threshold is None else self.threshold

    def cost(self, measure: np.ndarray) -> np.ndarray:
        """The cost of pairs with these distances (px) or similarities."""
        return measure if self.by_distance else 1.0 - measure

    def near(self, aligned: Aligned, least: float | None = None) -> NearPairs:
        """A function that finds the near pairs of aligned sides.

        By similarity, pairs are near from `least` on, or from the threshold on if `least` is None. For "oks", the rows
        of the sides must already be whole poses. Raises InputError if boxes lack a column.
        """
        if self.by_distance:
            return partial(near_points, at_centres(aligned), tau=self.largest_cost)
        if self.name == "iou":
            check_boxes(aligned)
        least = self.least if least is None else least
        return similar_pairs(at_centres(aligned), self.similarity, np.nan if self.tau is None else self.tau, least)

    def errors(self, outcome: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`squared_error` (px²) and `kelvins_error` of rows with these outcomes and distances (px, null unless TP).

        Both are null for `empty`, and null everywhere if the rule is by similarity.
        """
        if not self.by_distance or self.tau is None or self.epsilon is None:
            return np.full(len(outcome), np.nan), np.full(len(outcome), np.nan)
        missed = self.tau * self.tau
        squared = np.array([0.0, missed, missed, np.nan]).take(outcome)
        kelvins = squared.copy()
        # Null distances compare as false, so only true positives are touched.
        beyond = np.flatnonzero(distance >= self.epsilon)
        far = distance[beyond]
        squared[beyond] = np.where(far > self.epsilon, far * far, 0.0)
        kelvins[beyond] = np.where(far < self.tau, far, 0.0)
        return squared, kelvins


class Compared(NamedTuple):
    """Two aligned sides, and the function that finds the near pairs of these sides or of some of their rows."""

    aligned: Aligned
    near_of: Callable[[Aligned], NearPairs]

    @property
    def near(self) -> NearPairs:
        """A function that finds the near pairs of the frames [first, last)."""
        return self.near_of(self.aligned)


def compared(
    rule: Rule,
    truth: Annotations | SideColumns,
    predictions: Annotations | SideColumns,
    frames: FrameRule = "truth",
    *,
    may_be_disjoint: bool = False,
) -> Compared:
    """Aligns two checked sides as the rule needs them: as whole poses for "oks", and otherwise row by row.

    Raises InputError if the sides do not fit each other, or lack a column that the rule needs.
    """
    if rule.name == "oks" and rule.measure is None:
        from .whole_poses import whole_poses

        poses = whole_poses(annotations_of(truth), annotations_of(predictions), rule.sigmas)
        sides = poses.truth.annotations, poses.predictions.annotations

        def near_of(aligned: Aligned) -> NearPairs:
            return partial(measured_pairs, aligned, partial(poses.similarity, aligned), rule.least)

        return Compared(align(*sides, frames, may_be_disjoint=may_be_disjoint), near_of)
    return Compared(align(truth, predictions, frames, may_be_disjoint=may_be_disjoint), rule.near)


def check_distances(tau: float | None = None, epsilon: float | None = None) -> tuple[float, float]:
    """Tau and epsilon (px), with defaults for None; raises ValueError unless 0 <= epsilon < tau < inf."""
    largest, tolerated = TAU if tau is None else float(tau), EPSILON if epsilon is None else float(epsilon)
    if not 0 <= tolerated < largest < np.inf:
        by_default = "tau" if tau is None else "epsilon" if epsilon is None else None
        helps = 0 < largest < np.inf and 0 <= tolerated < np.inf
        hint = f"; {by_default} was not given, so give {by_default}, too" if by_default and helps else ""
        problem = f"tau is {largest:g} and epsilon {tolerated:g}; 0 <= epsilon < tau is needed, in pixels"
        raise ValueError(problem + hint)
    return largest, tolerated


def distance_rule(
    table: pd.DataFrame,
    needs: Collection[Literal["tau", "epsilon"]] = ("tau", "epsilon"),
    tau: float | None = None,
    epsilon: float | None = None,
) -> Rule:
    """The rule by which a match table was made, if it is by distance.

    `tau` and `epsilon` (px), where given, go before the table's notes. Raises InputError if the table is by similarity,
    or if one that `needs` names is neither given nor noted; ValueError if one is out of range.
    """
    if measure_of(table) == "similarity":
        raise InputError("match table: it was matched by similarity; a table with distances is needed")
    known = {
        name: _noted(table, name) if value is None else value for name, value in (("tau", tau), ("epsilon", epsilon))
    }
    for name in needs:
        if known[name] is None:
            raise InputError(f"match table: it does not tell its {name}; give {name}=, in px")
    tau, epsilon = known["tau"], known["epsilon"]
    if tau is not None and not 0 < float(tau) < np.inf:
        raise ValueError(f"tau is {tau}; a distance above 0 is needed, in pixels")
    if "epsilon" in needs:
        return Rule("distance", *check_distances(tau, epsilon))
    return Rule("distance", None if tau is None else float(tau), epsilon)


def rule_notes(table: pd.DataFrame) -> dict[Hashable, Any]:
    """The notes of a table that say by which rule it was made; tables from other libraries may have none."""
    return {key: table.attrs[key] for key in ("rule", *NOTED) if key in table.attrs}


def shared_notes(table: pd.DataFrame) -> dict[Hashable, Any]:
    """The notes of a table that hold for every submission to the same truth: all but the counts of its own rows."""
    return {key: value for key, value in table.attrs.items() if key not in COUNTS_NOTED}


def _noted(table: pd.DataFrame, name: str) -> float | None:
    """The value of a note of the table as a float; None if there is none, or if it is not a number."""
    value = table.attrs.get(name)
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


def check_by_distance(rule: Rule, function: str) -> Rule:
    """The rule, if it is by distance; otherwise raises an InputError that says what `function` needs."""
    if rule.by_distance:
        return rule
    reason = "boxes are matched by IoU" if rule.name == "iou" else f"matching is by the similarity {rule.name!r}"
    raise InputError(
        f"{function}: {reason}, and {function} needs distances; give tau (px), which matches points, or the centres "
        "of boxes"
    )
