"""The rule: how a pair of a truth and a prediction is found near, and what it costs.

The errors of a match by distance are those of the spotGEO metric document and of the competition's server; tau and
epsilon are in pixels:

`squared_error` (px²), the document's (eqs. 10-13 and 17)
    0 for a true positive at most epsilon away, distance² for one beyond it, tau² for every miss and false alarm.
`kelvins_error`, the server's
    the plain distance of a true positive where epsilon <= distance < tau, else 0; tau² for every miss and false alarm.
"""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ..support.errors import InputError
from ..support.version import __version__
from ..tables.annotations import Annotations
from ..tables.schema import measure_of
from .alignment import Aligned, FrameRule, align, at_centres
from .near_points import near_points
from .pairs import Pairs
from .similar_pairs import check_boxes, measured_pairs, similar_pairs
from .similarity import Measure
from .whole_poses import whole_poses

# The distances of a rule where nothing else is said, px.
TAU, EPSILON = 10.0, 3.0

VERSION: dict[Hashable, Any] = {"version": __version__}

# Finds the near pairs of the frames [first, last).
NearPairs = Callable[[int, int], Pairs]


@dataclass(frozen=True)
class Rule:
    """How pairs are found near and what they cost.

    `name` is "distance", "iou", "oks", "point", "keypoint", or the name of the caller's function, which is then
    `measure`. `tau` and `epsilon` are in pixels, `threshold` is the least similarity of a match. `identity` is the
    column that names objects through a sequence, `head_sizes` the largest distance of joints in sizes of the head, and
    `sigmas` the deviation of each joint. What a rule does not have is None.
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
        """What `similar_pairs` takes as the similarity of this rule."""
        return self.name if self.measure is None else self.measure

    @property
    def columns(self) -> list[str]:
        """The columns, besides the key and `x` and `y`, that this rule needs on both sides."""
        return {"iou": ["w", "h"], "oks": ["joint"]}.get(self.name, [])

    @property
    def reads_all_columns(self) -> bool:
        """Whether the rule may look at any column: the caller's function may, and poses carry what joints share."""
        return self.measure is not None or self.name == "oks"

    @property
    def notes(self) -> dict[Hashable, Any]:
        """What a table that was made with this rule keeps in its `attrs`."""
        named = {key: getattr(self, key) for key in ("threshold", "tau", "epsilon", "head_sizes", "identity")}
        return {"rule": self.name} | {key: value for key, value in named.items() if value is not None} | VERSION

    @property
    def largest_cost(self) -> float:
        """The cost of the farthest pair that is still near."""
        return self.tau if self.by_distance and self.tau is not None else 1.0

    @property
    def least(self) -> float:
        """The least similarity of a near pair."""
        return 0.0 if self.threshold is None else self.threshold

    def cost(self, measure: np.ndarray) -> np.ndarray:
        """What pairs with these distances (px) or similarities cost."""
        return measure if self.by_distance else 1.0 - measure

    def near(self, aligned: Aligned, least: float | None = None) -> NearPairs:
        """A function that finds the near pairs of aligned sides; similarities from `least` on, else the threshold.

        It does not know whole poses, which `compared` makes of joints first. Raises InputError where columns are
        missing.
        """
        if self.by_distance:
            return partial(near_points, at_centres(aligned), tau=self.largest_cost)
        if self.name == "iou":
            check_boxes(aligned)
        least = self.least if least is None else least
        return similar_pairs(at_centres(aligned), self.similarity, np.nan if self.tau is None else self.tau, least)

    def errors(self, outcome: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`squared_error` (px²) and `kelvins_error` of rows with these outcomes, and distances (px) where they match.

        Both are null for `empty`, and null throughout where matching was by similarity.
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
    """Two sides, frame by frame, and what finds their near pairs."""

    aligned: Aligned
    near: NearPairs


def compared(
    rule: Rule,
    truth: Annotations,
    predictions: Annotations,
    frames: FrameRule = "truth",
    *,
    may_be_disjoint: bool = False,
) -> Compared:
    """Aligns two checked sides as the rule needs them: whole poses for "oks", else the rows that there are.

    Raises InputError as `align` does, and where columns are missing that the rule needs.
    """
    if rule.name == "oks" and rule.measure is None:
        poses = whole_poses(truth, predictions, rule.sigmas)
        sides = poses.truth.annotations, poses.predictions.annotations
        aligned = align(*sides, frames, may_be_disjoint=may_be_disjoint)
        return Compared(aligned, partial(measured_pairs, aligned, partial(poses.similarity, aligned), rule.least))
    aligned = align(truth, predictions, frames, may_be_disjoint=may_be_disjoint)
    return Compared(aligned, rule.near(aligned))


def check_distances(tau: float | None = None, epsilon: float | None = None) -> tuple[float, float]:
    """Tau and epsilon (px), those that are None by default; raises ValueError unless 0 <= epsilon < tau < inf."""
    largest, tolerated = TAU if tau is None else float(tau), EPSILON if epsilon is None else float(epsilon)
    if not 0 <= tolerated < largest < np.inf:
        unsaid = "tau" if tau is None else "epsilon" if epsilon is None else None
        helps = 0 < largest < np.inf and 0 <= tolerated < np.inf
        hint = f"; {unsaid} was not given, so give {unsaid}, too" if unsaid and helps else ""
        what = f"tau is {largest:g} and epsilon {tolerated:g}; 0 <= epsilon < tau is needed, in pixels"
        raise ValueError(what + hint)
    return largest, tolerated


def distance_rule(
    table: pd.DataFrame,
    needs: Collection[Literal["tau", "epsilon"]] = ("tau", "epsilon"),
    tau: float | None = None,
    epsilon: float | None = None,
) -> Rule:
    """The rule by distance of a match table: what is given, or else what the table's notes say.

    Of tau and epsilon (px) those in `needs` have to be known. Raises InputError where one is not, or where matching was
    by similarity; ValueError where one is out of range.
    """
    if measure_of(table) == "similarity":
        raise InputError("match table: matching was by similarity; a table with distances is needed")
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


def _noted(table: pd.DataFrame, name: str) -> float | None:
    """A number that the table's notes have; None where they have none, or something else."""
    value = table.attrs.get(name)
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


def check_by_distance(rule: Rule, function: str) -> Rule:
    """The rule, where it is one by distance; raises InputError, saying what will do, where it is not."""
    if rule.by_distance:
        return rule
    what = "boxes are matched by IoU" if rule.name == "iou" else f"matching is by the similarity {rule.name!r}"
    raise InputError(
        f"{function}: {what}, and {function} needs distances; give tau (px), which matches points, or the centres of "
        "boxes"
    )
