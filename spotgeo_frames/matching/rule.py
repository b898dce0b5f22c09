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
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..geometries import (
    BOXES,
    COCO_SIGMAS,
    KEYPOINTS,
    POINTS,
    Geometry,
    Measure,
    PairMeasure,
    geometry_of,
    keypoint_similarity,
    lost_function,
    of_function,
    point_similarity,
    poses_of,
)
from ..support import InputError, __version__
from ..tables import Annotations, Columns, SideColumns, messages, other_words, provenance, schema, side_columns
from .alignment import Aligned, FrameRule, align, select_rows
from .assignment import FarCosts, most_pairs
from .choices import POWER, UNSAID, Assignment
from .near_pairs import NearPairs, Search, near_pairs, search
from .pairs import Pairs, frame_chunks, join_pairs

# The default distances of a rule, px. Where a tau up to EPSILON or another unit is given, the default of epsilon is 0.
TAU, EPSILON = 10.0, 3.0

# The largest distance of two joints that match, in head sizes of the truth: that of poseval.
HEAD_SIZES = 0.5

# The fields of a rule, besides its name, that tables keep in their notes.
NOTED = ("threshold", "tau", "epsilon", "unit", "head_sizes", "identity", "by", "sigmas", "assignment", "power")

# The geometry of the rows that a rule of each name measures; rows of poses have joints of their own.
MEASURED: dict[str, Geometry] = {"distance": POINTS, "point": POINTS, "iou": BOXES, "keypoint": KEYPOINTS}


@dataclass(frozen=True)
class Rule:
    """When pairs are near and what they cost; a field that does not apply to the rule is None.

    `name` is "distance", "iou", "oks", "point", "keypoint", the name of a geometry that a person registered, or that of
    the caller's function, which is then in `measure`, unless the rule comes from notes and nothing is to be measured.
    `of_geometry` is a geometry that has columns of its own. `own_distance` says that it, or the function, gives
    distances; with a `threshold`, pairs are then similar by max(0, 1 - distance / (2 tau)). `tau` and `epsilon` are in
    pixels (`unit` is None), or in the unit of the function or geometry. `threshold` is the least similarity of a match.
    `identity` is the column that names objects through a sequence, and `by` the column whose values are evaluated one
    by one. `head_sizes` is the largest distance of joints, in head sizes. `sigmas` are the standard deviations of the
    joints' places, as shares of the object's size.

    `assignment` says which near pairs are chosen: "most" as many as possible, and among those the least sum of costs;
    "least" the least sum of min(distance, tau)^power, where an object without a partner costs tau^power / 2; "score"
    the nearest truth that is left, by each prediction in the order of their scores. `power` is None but for "least".
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
    of_geometry: Geometry | None = None
    assignment: Assignment = "most"
    power: float | None = None

    @property
    def geometry(self) -> Geometry:
        """What the rows are that this rule measures."""
        if self.of_geometry is not None:
            return self.of_geometry
        if self.measure is not None:
            return of_function(self.measure, self.own_distance, self.unit)
        if self.name == "oks":
            return poses_of(self.joint_sigmas)
        known = MEASURED.get(self.name)
        return lost_function(self.name, self.own_distance, self.unit) if known is None else known

    @property
    def by_distance(self) -> bool:
        """Whether match tables tell the distances of pairs, and not their similarities."""
        return self.name == "distance" or (self.own_distance and self.threshold is None)

    @property
    def by_head_sizes(self) -> bool:
        """Whether joints are measured in head sizes, as `pose` does."""
        return self.name == "keypoint"

    @property
    def is_built_in(self) -> bool:
        """Whether it is that of one of the package's geometries that have columns of their own."""
        return self.of_geometry is not None and self.of_geometry.given is None

    @property
    def named_distance(self) -> bool:
        """Whether distances are those of the caller's, which messages call by the rule's name."""
        return self.own_distance and not self.is_built_in

    @property
    def is_official(self) -> bool:
        """Whether pairs are measured by a geometry's own similarity, by which average precision is official."""
        return self.name == self.geometry.similarity

    @property
    def pair_measure(self) -> str:
        """What pairs are measured by: "distance", "head_sizes" (a distance, too) or "similarity"."""
        if self.by_distance:
            return "distance"
        return "head_sizes" if self.by_head_sizes else "similarity"

    @property
    def image_tau(self) -> float | None:
        """Tau as a distance of places in pictures; None where there is none, or the caller's measures otherwise."""
        return None if self.named_distance else self.tau

    @property
    def callers(self) -> dict[str, Any]:
        """The caller's function, by the argument that functions take it as; empty if there is none."""
        if self.measure is None:
            return {}
        return {"distance" if self.own_distance else "similarity": self.measure}

    @property
    def joints(self) -> list[Any]:
        """The joints that rows are assembled of; none where rows are those of the tables."""
        return [] if self.geometry.assembled is None else list(self.joint_sigmas)

    @property
    def options_of_tracks(self) -> dict[str, Any]:
        """The arguments of `track` that make this rule, if it is one of tracks without poses."""
        if self.of_geometry is not None:
            return {"tau": self.tau}
        return (self.callers or {"similarity": self.name}) | {"tau": self.tau, "unit": self.unit}

    @property
    def measured_columns(self) -> list[str] | None:
        """The columns that pairs of rows of a match table are measured by, where they exist; None for any column.

        The prefixes of the match table are left out, and so is the key.
        """
        geometry = self.geometry
        if geometry.any_column and not geometry.columns:
            return None
        # The middles of any geometry may be measured.
        own = [name for columns in schema.GEOMETRY_COLUMNS.values() for name in columns]
        chosen_by = self.columns_of_assignment
        return [
            *dict.fromkeys([*schema.BOX, *geometry.columns, *own, "category", *geometry.columns_of_truth, *chosen_by])
        ]

    @property
    def columns_of_assignment(self) -> list[str]:
        """The columns of the predictions, besides those that pairs are measured by, that decide which are chosen."""
        return ["score"] if self.assignment == "score" else []

    @property
    def joint_sigmas(self) -> Mapping[Any, float]:
        """The sigma of each joint; those of COCO unless others were given."""
        return COCO_SIGMAS if self.sigmas is None else self.sigmas

    @property
    def notes(self) -> dict[Hashable, Any]:
        """The notes that a table made with this rule keeps in its `attrs`."""
        named = {key: getattr(self, key) for key in NOTED}
        if self.joints:
            named["sigmas"] = {str(joint): float(sigma) for joint, sigma in self.joint_sigmas.items()}
        told = {key: value for key, value in named.items() if value is not None and (key, value) != UNSAID}
        told |= {"geometry": self.geometry.name} if self.is_built_in else {}
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
        if self.power is not None:
            return measure**self.power
        return 1.0 - measure if self.pair_measure == "similarity" else measure

    @property
    def left_over_cost(self) -> float:
        """What "least" counts for an object without a partner: tau^power / 2."""
        return 0.5 * self.largest_cost ** (POWER if self.power is None else self.power)

    @property
    def far_of(self) -> FarCosts:
        """What pairs cost that are not near."""
        if self.power is None:
            return most_pairs(self.largest_cost)
        return lambda n_rows, _: np.full(np.shape(n_rows), 2.0 * self.left_over_cost)

    def is_near(self, measure: np.ndarray) -> np.ndarray:
        """Marks the distances (px or head sizes) or similarities at which a pair may match."""
        if self.assignment == "least":
            return measure < self.largest_cost
        if self.pair_measure != "similarity":
            return measure <= self.largest_cost
        return measure >= (0.0 if self.threshold is None else self.threshold)

    def in_table(self, measure: np.ndarray) -> np.ndarray:
        """What match tables tell of pairs with these measures: their distances (px) or similarities."""
        return keypoint_similarity(measure) if self.pair_measure == "head_sizes" else measure

    def near(self, aligned: Aligned, farthest: float | None = None) -> NearPairs:
        """A function that finds the near pairs of aligned sides.

        `farthest` is the largest distance (px or head sizes), or the least similarity, of a near pair; None means that
        of a match. For "oks", the rows of the sides must already be whole poses. Raises InputError if a side lacks a
        column of the geometry.
        """
        check_columns_of(self.geometry, aligned)
        by_similarity = self.pair_measure == "similarity"
        largest = self.largest_cost if farthest is None else farthest
        least = (self.threshold or 0.0) if farthest is None else farthest
        if by_similarity and self.geometry.is_distance:
            return self._similar_by_distance(aligned, least)
        limit, is_near = (
            (least, partial(_is_similar, least=least))
            if by_similarity
            else (largest, self.is_near if farthest is None else partial(_is_within, farthest=largest))
        )
        wanted = partial(search, aligned, self.geometry, limit, is_near, by_truth=self.pair_measure != "distance")
        return _prepared_once(wanted)

    def _similar_by_distance(self, aligned: Aligned, least: float) -> NearPairs:
        """A function that finds the pairs that are similar by max(0, 1 - distance / (2 tau))."""
        zero = 2.0 * (np.nan if self.tau is None else self.tau)
        wanted = search(aligned, self.geometry, zero, partial(_is_within, farthest=zero), by_truth=True)

        def similar(first: int, last: int) -> Pairs:
            pairs = near_pairs(wanted, first, last)
            similarity = point_similarity(pairs.measure, zero)
            return pairs._replace(measure=similarity).take(_is_similar(similarity, least))

        return similar

    def near_pairs(self, aligned: Aligned, farthest: float | None = None) -> Pairs:
        """The near pairs of all frames, found chunk by chunk to bound the memory; `farthest` is as in `near`."""
        return of_all_frames(aligned, self.near(aligned, farthest))

    def covering_pairs(self, crowds: Aligned, farthest: float | None = None) -> Pairs:
        """The pairs of a prediction and a crowd that it covers; the truths are the crowds, `farthest` is as in `near`.

        A box covers a crowd by the share of its own area in it, anything else by being near it.
        """
        covered = self.geometry.covered
        if covered is None:
            return self.near_pairs(crowds, farthest)
        least = (self.threshold or 0.0) if farthest is None else farthest
        wanted = search(crowds, self.geometry, 0.0, partial(_is_similar, least=least), measure=covered, by_truth=True)
        return of_all_frames(crowds, partial(near_pairs, wanted))

    def pairs_of_precision(self, aligned: Aligned, is_crowd: np.ndarray, least: float) -> Pairs:
        """The pairs whose similarity is at least `least`, as the official evaluator of average precision has it.

        `is_crowd` marks the truths of which a prediction covers a share.
        """
        geometry = self.geometry
        if geometry.of_truths is None:
            return self.near_pairs(aligned, least)
        check_columns_of(geometry, aligned)
        found = []
        for crowd, measure in ((False, geometry.of_truths), (True, geometry.of_crowds)):
            # What a prediction shares with a crowd may be much of its own area and little of the union.
            reach, rows = 0.0 if crowd else least, np.flatnonzero(is_crowd == crowd)
            if len(rows):
                pairs = self._pairs_of_truths(aligned, is_crowd == crowd, measure, reach, least)
                found.append(pairs._replace(truth=rows[pairs.truth]))
        return join_pairs(found)

    def _pairs_of_truths(
        self, aligned: Aligned, marked: np.ndarray, measure: PairMeasure | None, reach: float, least: float
    ) -> Pairs:
        """The pairs of the marked truths, counted from 0, whose measure is at least `least`."""
        sides = select_rows(aligned, marked, np.ones(len(aligned.predictions.frame), bool))
        is_near = partial(_is_similar, least=least)
        wanted = search(sides, self.geometry, reach, is_near, measure=measure, by_truth=True)
        return of_all_frames(sides, partial(near_pairs, wanted))

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

    def gospa_errors(self, outcome: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """What rows with these outcomes and distances (null unless TP) add to the sum that "least" makes small."""
        left_over = self.left_over_cost
        added = np.array([0.0, left_over, left_over, np.nan]).take(outcome)
        matched = np.flatnonzero(outcome == schema.TP)
        added[matched] = self.cost(distance[matched])
        return added


def _prepared_once(wanted: Callable[[], Search]) -> NearPairs:
    """A function that finds near pairs, and prepares both sides when it is first called."""
    prepared = cache(wanted)
    return lambda first, last: near_pairs(prepared(), first, last)


def _is_within(distance: np.ndarray, farthest: float) -> np.ndarray:
    """Marks the distances up to the farthest."""
    return distance <= farthest


def _is_similar(similarity: np.ndarray, least: float) -> np.ndarray:
    """Marks the similarities above 0 that are at least `least`."""
    return (similarity > 0) & (similarity >= least)


def of_all_frames(aligned: Aligned, near: NearPairs) -> Pairs:
    """The pairs that a function finds in all frames, chunk by chunk to bound the memory."""
    return join_pairs([near(*chunk) for chunk in frame_chunks(aligned.truth, aligned.predictions)])


def check_columns_of(geometry: Geometry, aligned: Aligned) -> None:
    """Raises InputError if a side that has rows lacks a column of the geometry."""
    sides = {"truth": aligned.truth.table, "predictions": aligned.predictions.table}
    if geometry.columns == POINTS.columns:  # whatever has a middle will do
        check_middles(sides)
        return
    why = f"{geometry.called} need {' and '.join(name for name in geometry.columns if name not in ('x', 'y'))}"
    hint = f"{why} (similarity='point' compares points, 'oks' poses)" if geometry.covered else why
    lacking = {name: table for name, table in sides.items() if len(table) and not {*geometry.columns} <= {*table}}
    problems = [
        f"{provenance.source(table, name)}: has {of.called} ({', '.join(of.columns)}), and {geometry.similarity} "
        f"compares {geometry.called}; leave out similarity"
        for name, table in lacking.items()
        if geometry.similarity and (of := geometry_of(table)).columns not in (POINTS.columns, geometry.columns)
    ]
    problems = problems or [
        messages.missing(
            provenance.source(table, name), column, table.columns, other_words.way_out(hint, table.columns, column)
        )
        for name, table in lacking.items()
        for column in geometry.columns
        if column not in table
    ]
    if problems:
        raise InputError(problems)


def check_middles(sides: Mapping[str, Columns]) -> None:
    """Raises InputError if rows have neither x and y nor a geometry that knows their middles."""
    lack = "no centre, so no distance; geometry() takes one"
    problems = [
        f"{provenance.source(rows, side)}: {geometry_of(rows).called} have {lack}"
        for side, rows in sides.items()
        if len(rows) and geometry_of(rows).place is None and not POINTS.is_of(rows)
    ]
    if problems:
        raise InputError(problems)


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
    assembled = rule.geometry.assembled
    if assembled is not None:
        truth, predictions = assembled(side_columns(truth), side_columns(predictions))
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
    if not 0 <= tolerated < largest <= schema.LARGEST_COORDINATE:
        hint = (
            "; tau was not given, so give tau, too"
            if tau is None and 0 <= tolerated < schema.LARGEST_COORDINATE
            else ""
        )
        most = (
            f", and a tau of up to {schema.LARGEST_COORDINATE:g}"
            if schema.LARGEST_COORDINATE < largest < np.inf
            else ""
        )
        problem = f"tau is {largest:g} and epsilon {tolerated:g}; 0 <= epsilon < tau is needed"
        raise ValueError(f"{problem}{f', in {unit}' if unit else ''}{most}{hint}")
    return largest, tolerated


def check_by_distance(rule: Rule, function: str) -> Rule:
    """The rule, if it is by distance; otherwise raises an InputError that says what `function` needs."""
    if rule.by_distance:
        return rule
    geometry, reason = rule.geometry, f"matching is by the similarity {rule.name!r}"
    if rule.is_official:
        reason = f"{geometry.called} are matched by {geometry.title}"
    raise InputError(
        f"{function}: {reason}, and {function} needs distances; give tau (px), which matches points, or the centres "
        "of boxes"
    )
