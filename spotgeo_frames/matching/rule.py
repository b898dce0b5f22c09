"""The rule: when a truth and a prediction are near each other, and what a pair of them costs.

Matching by distance gives each row two errors; tau and epsilon are in pixels, or in the unit of a caller's distance:

`squared_error` (px²), of the spotGEO metric document (eqs. 10-13 and 17)
    0 for a true positive at most epsilon away, distance² for one beyond it, tau² for every miss and false alarm.
`kelvins_error`, of the competition's server
    the plain distance of a true positive where epsilon <= distance < tau, else 0; tau² for every miss and false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..support.errors import InputError
from ..support.packages import __version__
from ..tables.annotations import Annotations, SideColumns, annotations_of
from ..tables.columns import as_numbers
from ..tables.joints import COCO_SIGMAS
from ..tables.schema import BOX, LARGEST_COORDINATE, pose_columns
from .alignment import Aligned, FrameRule, align, at_centres
from .near_points import near_keypoints, near_measured, near_points
from .pairs import Pairs, frame_chunks, join_pairs
from .similar_pairs import check_boxes, covering_boxes, similar_by_distance, similar_pairs
from .similarity import Measure, keypoint_similarity

# The default distances of a rule, px. Where a tau up to EPSILON or another unit is given, the default of epsilon is 0.
TAU, EPSILON = 10.0, 3.0

# The largest distance of two joints that match, in head sizes of the truth: that of poseval.
HEAD_SIZES = 0.5

# The fields of a rule, besides its name, that tables keep in their notes.
NOTED = ("threshold", "tau", "epsilon", "unit", "head_sizes", "identity", "by", "sigmas")

# A function that finds the near pairs of the frames [first, last).
NearPairs = Callable[[int, int], Pairs]


@dataclass(frozen=True)
class Rule:
    """When pairs are near and what they cost; a field that does not apply to the rule is None.

    `name` is "distance", "iou", "oks", "point", "keypoint", or the name of the caller's function, which is then in
    `measure`, unless the rule comes from notes and nothing is to be measured. `own_distance` says that this function
    gives distances; with a `threshold`, pairs are then similar by max(0, 1 - distance / (2 tau)). `tau` and `epsilon`
    are in pixels (`unit` is None), or in the unit of the function. `threshold` is the least similarity of a match.
    `identity` is the column that names objects through a sequence, and `by` the column whose values are evaluated one
    by one. `head_sizes` is the largest distance of joints, in head sizes. `sigmas` are the standard deviations of the
    joints' places, as shares of the object's size.
    """

    name: str
    tau: float | None = None
    epsilon: float | None = None
    threshold: float | None = None
    identity: str | None = None
    by: str | None = None
    head_sizes: float | None = None
    sigmas: Mapping[Any, float] | None = None
    measure: Measure | None = None
    own_distance: bool = False
    unit: str | None = None

    @property
    def by_distance(self) -> bool:
        """Whether match tables tell the distances of pairs, and not their similarities."""
        return self.name == "distance" or (self.own_distance and self.threshold is None)

    @property
    def pair_measure(self) -> str:
        """What pairs are measured by: "distance", "head_sizes" (a distance, too) or "similarity"."""
        if self.by_distance:
            return "distance"
        return "head_sizes" if self.name == "keypoint" else "similarity"

    @property
    def image_tau(self) -> float | None:
        """Tau as a distance of x and y (px); None where there is none, or the caller's function measures otherwise."""
        return None if self.own_distance else self.tau

    @property
    def callers(self) -> dict[str, Any]:
        """The caller's function, by the argument that functions take it as; empty if there is none."""
        if self.measure is None:
            return {}
        return {"distance" if self.own_distance else "similarity": self.measure}

    @property
    def of_whole_poses(self) -> bool:
        """Whether rows are whole poses, with all their joints."""
        return self.name == "oks"

    @property
    def similarity(self) -> str | Measure:
        """The similarity of this rule: its name, or the caller's function."""
        return self.name if self.measure is None else self.measure

    @property
    def words_of_tracks(self) -> dict[str, Any]:
        """The arguments of `track` that make this rule, if it is one of tracks without poses."""
        return (self.callers or {"similarity": self.name}) | {"tau": self.tau, "unit": self.unit}

    @property
    def columns(self) -> list[str]:
        """The columns, besides the key and `x` and `y`, that this rule needs on both sides."""
        return {"iou": ["w", "h"], "oks": ["joint"]}.get(self.name, [])

    @property
    def reads_all_columns(self) -> bool:
        """Whether the rule may need any column: the caller's function may, and poses carry the columns of joints."""
        return self.measure is not None or self.of_whole_poses

    @property
    def measured_columns(self) -> list[str] | None:
        """The columns that pairs of rows of a match table are measured by, where they exist; None for any column.

        The prefixes of the match table are left out, and so is the key.
        """
        if self.measure is not None:
            return None
        joints = pose_columns(self.joint_sigmas) if self.of_whole_poses else []
        return [*BOX, "category", *self.columns_of_truth, *joints]

    @property
    def columns_of_truth(self) -> list[str]:
        """The columns, besides those of both sides, that pairs are measured by and only the truth has."""
        return {"oks": ["area"], "keypoint": ["head_size"]}.get(self.name, [])

    @property
    def joint_sigmas(self) -> Mapping[Any, float]:
        """The sigma of each joint; those of COCO unless others were given."""
        return COCO_SIGMAS if self.sigmas is None else self.sigmas

    @property
    def notes(self) -> dict[Hashable, Any]:
        """The notes that a table made with this rule keeps in its `attrs`."""
        named = {key: getattr(self, key) for key in NOTED}
        if self.of_whole_poses:
            named["sigmas"] = {str(joint): float(sigma) for joint, sigma in self.joint_sigmas.items()}
        told = {key: value for key, value in named.items() if value is not None}
        return {"rule": self.name} | told | {"version": __version__}

    @property
    def limit(self) -> str:
        """The field that says which pairs are near: "tau", "head_sizes" or "threshold"."""
        return {"distance": "tau", "head_sizes": "head_sizes"}.get(self.pair_measure, "threshold")

    @property
    def largest_cost(self) -> float:
        """The cost of the farthest pair that is still near."""
        largest = None if self.pair_measure == "similarity" else getattr(self, self.limit)
        return 1.0 if largest is None else largest

    def cost(self, measure: np.ndarray) -> np.ndarray:
        """The cost of pairs with these distances (or head sizes) or similarities."""
        return 1.0 - measure if self.pair_measure == "similarity" else measure

    def is_near(self, measure: np.ndarray) -> np.ndarray:
        """Marks the distances (px or head sizes) or similarities at which a pair may match."""
        if self.pair_measure != "similarity":
            return measure <= self.largest_cost
        return measure >= (0.0 if self.threshold is None else self.threshold)

    def in_table(self, measure: np.ndarray) -> np.ndarray:
        """What match tables tell of pairs with these measures: their distances (px) or similarities."""
        return keypoint_similarity(measure) if self.pair_measure == "head_sizes" else measure

    def near(self, aligned: Aligned, farthest: float | None = None) -> NearPairs:
        """A function that finds the near pairs of aligned sides.

        `farthest` is the largest distance (px or head sizes), or the least similarity, of a near pair; None means that
        of a match. For "oks", the rows of the sides must already be whole poses. Raises InputError if boxes lack a
        column.
        """
        largest = self.largest_cost if farthest is None else farthest
        least = (self.threshold or 0.0) if farthest is None else farthest
        tau = np.nan if self.tau is None else self.tau
        if self.own_distance and self.measure is not None:
            within = partial(near_measured, aligned, self.measure)
            by_distance = partial(within, farthest=largest)
            return by_distance if self.by_distance else partial(similar_by_distance, within, tau, least)
        if self.by_distance:
            return partial(near_points, at_centres(aligned), tau=largest)
        if self.pair_measure == "head_sizes":
            head_size = as_numbers(aligned.truth.table["head_size"])
            return partial(near_keypoints, aligned, head_size, largest)
        if self.name == "iou":
            check_boxes(aligned)
        return similar_pairs(at_centres(aligned), self.similarity, tau, least, self.joint_sigmas)

    def near_pairs(self, aligned: Aligned, farthest: float | None = None) -> Pairs:
        """The near pairs of all frames, found chunk by chunk to bound the memory; `farthest` is as in `near`."""
        near = self.near(aligned, farthest)
        return join_pairs([near(*chunk) for chunk in frame_chunks(aligned.truth, aligned.predictions)])

    def covering_pairs(self, crowds: Aligned, farthest: float | None = None) -> Pairs:
        """The pairs of a prediction and a crowd that it covers; the truths are the crowds, `farthest` is as in `near`.

        A box covers a crowd by the share of its own area in it, anything else by being near it.
        """
        if self.name != "iou":
            return self.near_pairs(crowds, farthest)
        covering = covering_boxes(crowds, (self.threshold or 0.0) if farthest is None else farthest)
        return join_pairs([covering(*chunk) for chunk in frame_chunks(crowds.truth, crowds.predictions)])

    def errors(self, outcome: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`squared_error` and `kelvins_error` of rows with these outcomes and distances (null unless TP).

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
    """Two aligned sides, and the function that finds their near pairs."""

    aligned: Aligned
    near: NearPairs


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
    if rule.of_whole_poses:
        from .whole_poses import whole_poses

        truth, predictions = whole_poses(annotations_of(truth), annotations_of(predictions), rule.joint_sigmas)
    aligned = align(truth, predictions, frames, may_be_disjoint=may_be_disjoint)
    return Compared(aligned, rule.near(aligned))


def check_distances(
    tau: float | None = None, epsilon: float | None = None, unit: str | None = None
) -> tuple[float, float]:
    """Tau and epsilon, with defaults for None; raises ValueError unless 0 <= epsilon < tau <= LARGEST_COORDINATE.

    `unit` is that of the caller's distance, None for pixels. Epsilon is 3 px by default, and 0 where tau is at most 3
    or the unit is another one.
    """
    largest = TAU if tau is None else float(tau)
    tolerated = 0.0 if largest <= EPSILON or unit not in (None, "px") else EPSILON
    tolerated = tolerated if epsilon is None else float(epsilon)
    if not 0 <= tolerated < largest <= LARGEST_COORDINATE:
        hint = "; tau was not given, so give tau, too" if tau is None and 0 <= tolerated < LARGEST_COORDINATE else ""
        most = f", and a tau of up to {LARGEST_COORDINATE:g}" if LARGEST_COORDINATE < largest < np.inf else ""
        problem = f"tau is {largest:g} and epsilon {tolerated:g}; 0 <= epsilon < tau is needed"
        raise ValueError(f"{problem}, in {unit or 'pixels'}{most}{hint}")
    return largest, tolerated


def check_by_distance(rule: Rule, function: str) -> Rule:
    """The rule, if it is by distance; otherwise raises an InputError that says what `function` needs."""
    if rule.by_distance:
        return rule
    reason = "boxes are matched by IoU" if rule.name == "iou" else f"matching is by the similarity {rule.name!r}"
    raise InputError(
        f"{function}: {reason}, and {function} needs distances; give tau (px), which matches points, or the centres "
        "of boxes"
    )
