"""The rule: how a pair of a truth and a prediction is found near, and what it costs.

`asked` checks the caller's words by themselves, before anything is read; `rule_for` makes the rule of them and of the
geometry of both sides. Words win. Where they say nothing, keypoints are matched joint by joint by distance, boxes by
IoU, and everything else by distance.

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
from ..tables.inputs import source
from ..tables.schema import measure_of
from .alignment import Aligned, FrameRule, align, at_centres
from .near_points import near_points
from .pairs import Pairs
from .similar_pairs import check_boxes, measured_pairs, similar_pairs
from .similarity import Measure
from .whole_poses import whole_poses

# What the rule is where nothing else is said: distances in pixels, and the least similarity.
TAU, EPSILON, THRESHOLD = 10.0, 3.0, 0.5

SIMILARITIES = ("iou", "oks", "point")

# Names of rules that no function of the caller's may pass for.
OWN_NAMES = ("distance", "keypoint", *SIMILARITIES)

VERSION: dict[Hashable, Any] = {"version": __version__}

# Finds the near pairs of the frames [first, last).
NearPairs = Callable[[int, int], Pairs]


class Words(NamedTuple):
    """What the caller said of the rule; None is nothing. `asked` has checked that the words fit each other."""

    tau: float | None = None
    epsilon: float | None = None
    similarity: str | Measure | None = None
    threshold: float | None = None
    sigmas: Mapping[Any, float] | None = None


class Geometry(NamedTuple):
    """What tells the geometry of one side: its columns, how many rows it has, and what messages call it."""

    name: str
    columns: Collection[Hashable]
    n_rows: int

    @property
    def has_boxes(self) -> bool:
        return "joint" not in self.columns and "w" in self.columns and "h" in self.columns


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


def asked(
    tau: float | None = None,
    epsilon: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
) -> Words:
    """The caller's words; raises ValueError where one is out of range, or does not fit another."""
    given = {"tau": tau, "epsilon": epsilon, "threshold": threshold}
    for name, value in given.items():
        if value is not None and (not isinstance(value, Real) or isinstance(value, bool)):
            raise ValueError(f"{name} is {value!r}; a number is needed")
    tau, epsilon, threshold = (None if value is None else float(value) for value in given.values())
    if not (similarity is None or callable(similarity) or similarity in SIMILARITIES):
        raise ValueError(f"similarity is {similarity!r}; 'iou', 'point', 'oks' or a function is needed")
    if similarity != "oks" and sigmas is not None:
        raise ValueError("sigmas are those of similarity='oks'")
    _check_fit(tau, epsilon, similarity, threshold)
    return Words(tau, epsilon, similarity, threshold, sigmas)


def asked_of_tracks(tau: float | None, similarity: str | Measure | None) -> Words:
    """The caller's words for tracks: a similarity always, which a tau says is that of points.

    Raises ValueError where a word is out of range, or does not fit another.
    """
    if similarity == "oks":
        raise ValueError("similarity is 'oks'; 'iou', 'point' or a function is needed")
    return asked(tau, similarity="point" if similarity is None and tau is not None else similarity)


def _check_fit(
    tau: float | None, epsilon: float | None, similarity: str | Measure | None, threshold: float | None
) -> None:
    """Raises ValueError where words are out of range or do not fit each other."""
    if tau is not None and similarity not in (None, "point"):
        raise ValueError(f"tau is a distance, and similarity={_name(similarity)} has none; give a threshold instead")
    if epsilon is not None and similarity is not None:
        raise ValueError(f"epsilon is a distance, and similarity={_name(similarity)} knows no tolerance; leave it out")
    if threshold is not None and similarity is None and (tau is not None or epsilon is not None):
        raise ValueError("threshold is that of a similarity; give similarity, too, or leave out tau and epsilon")
    if threshold is not None and not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}; a similarity above 0, up to 1, is needed")
    if similarity == "point" and tau is not None and not 0 < tau < np.inf:
        raise ValueError(f"tau is {tau}; a distance above 0 is needed, in pixels")
    if similarity is None:
        check_distances(tau, epsilon)


def check_distances(tau: float | None = None, epsilon: float | None = None) -> tuple[float, float]:
    """Tau and epsilon (px), those that are None by default; raises ValueError unless 0 <= epsilon < tau < inf."""
    largest, tolerated = TAU if tau is None else float(tau), EPSILON if epsilon is None else float(epsilon)
    if not 0 <= tolerated < largest < np.inf:
        unsaid = "tau" if tau is None else "epsilon" if epsilon is None else None
        hint = "" if unsaid is None else f"; {unsaid} was not given, so give {unsaid}, too"
        what = f"tau is {largest:g} and epsilon {tolerated:g}; 0 <= epsilon < tau is needed, in pixels"
        raise ValueError(what + hint)
    return largest, tolerated


def _name(similarity: str | Measure | None) -> str:
    """How messages and notes call a similarity."""
    if not callable(similarity):
        return repr(similarity)
    return str(getattr(similarity, "__name__", type(similarity).__name__))


def rule_for(words: Words, truth: Geometry, predictions: Geometry) -> Rule:
    """The rule that the words and the geometry of both sides make.

    Raises InputError where boxes are on one side only and no word says what to do with them, or where a word does not
    fit the geometry.
    """
    similarity = _by_geometry(words, truth, predictions)
    if similarity is None:
        if words.threshold is not None:
            raise InputError(
                "threshold is that of a similarity, and these objects are matched by distance; give tau and epsilon "
                "(px), or say which similarity"
            )
        return Rule("distance", *check_distances(words.tau, words.epsilon))
    threshold = THRESHOLD if words.threshold is None else words.threshold
    return _similarity_rule(similarity, words, threshold)


def track_rule(words: Words, truth: Geometry, predictions: Geometry, *, threshold: float, identity: str) -> Rule:
    """The rule of tracks: a similarity always, for points that of their distance; CLEAR matches from `threshold` on.

    Raises InputError as `rule_for` does.
    """
    similarity = _by_geometry(words, truth, predictions)
    made = _similarity_rule("point" if similarity is None else similarity, words, threshold)
    return Rule(made.name, made.tau, threshold=threshold, identity=identity, measure=made.measure)


def _similarity_rule(similarity: str | Measure, words: Words, threshold: float) -> Rule:
    if callable(similarity):
        name = _name(similarity)
        name = f"function {name}" if name in OWN_NAMES else name
        return Rule(name, threshold=threshold, measure=similarity)
    tau = None if similarity != "point" else TAU if words.tau is None else words.tau
    return Rule(similarity, tau, threshold=threshold, sigmas=words.sigmas)


def _by_geometry(words: Words, truth: Geometry, predictions: Geometry) -> str | Measure | None:
    """The similarity that is said, or that boxes have; None where pairs are measured by distance."""
    if words.similarity is not None or words.tau is not None:
        return words.similarity
    # A side without rows does not say what it would have: it has the other's geometry.
    sides = [side for side in (truth, predictions) if side.n_rows]
    boxes = [side for side in sides if side.has_boxes]
    if not boxes:
        return None
    points = [side for side in sides if not side.has_boxes]
    if points:
        raise InputError(
            f"{boxes[0].name}: has boxes (w and h), and {points[0].name} has none; to match the centres of the boxes "
            "with the points give tau (px)"
        )
    if words.epsilon is not None:
        raise InputError("epsilon is a distance, and boxes are matched by IoU; to match their centres give tau, too")
    return "iou"


def geometry_of(table: pd.DataFrame, name: str) -> Geometry:
    """The geometry of a table of objects; `name` is what messages call it where it was not read from a file."""
    return Geometry(source(table, name), table.columns, len(table))


def rule_of_tables(words: Words, truth: Annotations, predictions: Annotations) -> Rule:
    """The rule for two checked sides; raises InputError as `rule_for` does."""
    return rule_for(words, geometry_of(truth.objects, "truth"), geometry_of(predictions.objects, "predictions"))


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
