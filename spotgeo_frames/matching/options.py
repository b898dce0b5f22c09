"""The caller's arguments on how to match, called options here, and the rule that they and the tables make.

`match_options` checks the options by themselves, before any file is read. `rule_for` then chooses the rule: the options
decide, and where they leave it open, the geometry does: boxes (`w` and `h` on both sides) are matched by IoU, joints
one by one by distance, and all other objects by distance.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..geometries import MEASURES, SIMILARITIES, Geometry, Measure, geometry_of, name_of
from ..support import InputError
from ..tables import Annotations, Columns, SideColumns, messages, other_words, provenance, schema
from .choices import POWER, Assignment, check_assignment
from .rule import TAU, Rule, check_distances

if TYPE_CHECKING:
    import pandas as pd

# The default of the least similarity of a match.
THRESHOLD = 0.5


class MatchOptions(NamedTuple):
    """The caller's arguments on the rule, None if not given; they have been checked to fit each other."""

    tau: float | None = None
    epsilon: float | None = None
    similarity: str | Measure | None = None
    threshold: float | None = None
    sigmas: Mapping[Any, float] | None = None
    distance: Measure | None = None
    unit: str | None = None
    assignment: Assignment | None = None
    power: float | None = None


class Header(NamedTuple):
    """What is known of a side before its rows are read: its name in messages, its columns, and how many rows it has."""

    name: str
    columns: Collection[Hashable]
    n_rows: int

    @property
    def geometry(self) -> Geometry:
        """What its rows are."""
        return geometry_of(self.columns)


def match_options(
    tau: float | None = None,
    epsilon: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
    unit: str | None = None,
    assignment: Assignment | None = None,
    power: float | None = None,
) -> MatchOptions:
    """The caller's options, checked; raises ValueError if one is out of range or does not fit another."""
    options = options_of_matches(tau, epsilon, similarity, threshold, sigmas, distance, unit)
    check_assignment(assignment, power, similarity, threshold)
    options = options._replace(assignment=assignment, power=None if power is None else float(power))
    if distance is not None and tau is None:
        raise ValueError(f"distance={_name(distance)} has no tau of its own; give tau, the largest distance of a match")
    if options.similarity is None:
        check_distances(options.tau, options.epsilon, options.unit)
    return options


def options_of_matches(
    tau: float | None = None,
    epsilon: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
    unit: str | None = None,
) -> MatchOptions:
    """The caller's options on a match table that may know some of its rule, checked except for the distances.

    Sigmas alone mean the similarity "oks".

    Raises ValueError if one is out of range or does not fit another.
    """
    given = {"tau": tau, "epsilon": epsilon, "threshold": threshold}
    for name, value in given.items():
        if value is not None and (not isinstance(value, Real) or isinstance(value, bool)):
            raise ValueError(f"{name} is {value!r}; a number is needed")
    tau, epsilon, threshold = (None if value is None else float(value) for value in given.values())
    if not (similarity is None or callable(similarity) or similarity in SIMILARITIES):
        raise ValueError(f"similarity is {similarity!r}; {', '.join(map(repr, SIMILARITIES))} or a function is needed")
    if sigmas is not None and distance is not None:
        raise ValueError("sigmas only go with similarity='oks', and distance is given; leave out one of them")
    if sigmas is not None and similarity is None:  # nothing else has sigmas
        similarity = "oks"
    if similarity != "oks" and sigmas is not None:
        raise ValueError(f"sigmas only go with similarity='oks', and it is {_name(similarity)}; leave out one of them")
    _check_sigmas(sigmas)
    _check_distance(distance, unit, similarity, threshold)
    _check_fit(tau, epsilon, similarity, threshold)
    return MatchOptions(tau, epsilon, similarity, threshold, sigmas, distance, unit)


def _check_distance(distance: Any, unit: Any, similarity: str | Measure | None, threshold: float | None) -> None:
    """Raises ValueError unless these are a function and the word of its unit, without a similarity, or None."""
    if distance is None and unit is not None:
        raise ValueError(f"unit is {unit!r}, and belongs to distance=, a function; give that, too, or leave out unit")
    if distance is None:
        return
    if not callable(distance):
        raise ValueError(f"distance is {distance!r}; a function of two tables is needed, with a distance for each row")
    if unit is not None and not (isinstance(unit, str) and unit.isprintable()):
        raise ValueError(f"unit is {unit!r}; a word is needed, such as 'arcsec'")
    for name, value in (("similarity", similarity), ("threshold", threshold)):
        if value is not None:
            raise ValueError(f"{name} does not go with distance={_name(distance)}, which tau limits; leave out one")


def _check_sigmas(sigmas: Any) -> None:
    """Raises ValueError unless these are a dict of joints and numbers above 0, or None."""
    if sigmas is None:
        return
    if not isinstance(sigmas, Mapping):
        raise ValueError(f"sigmas is of type {type(sigmas).__name__}; a dict of joints and their sigmas is needed")
    if not all(isinstance(sigma, Real) and 0 < float(sigma) < np.inf for sigma in sigmas.values()):
        raise ValueError("sigmas: numbers above 0 are needed, a joint's deviation as a share of the object's size")


def track_options(
    tau: float | None,
    similarity: str | Measure | None,
    distance: Measure | None = None,
    unit: str | None = None,
) -> MatchOptions:
    """The caller's options for tracks, checked.

    Raises ValueError if one is out of range or does not fit another.
    """
    if similarity == "oks":
        raise ValueError("similarity is 'oks', which tracks cannot use; 'iou', 'point' or a function is needed")
    points = similarity is None and distance is None and tau is not None
    options = match_options(tau, similarity="point" if points else similarity, distance=distance, unit=unit)
    return options._replace(similarity=similarity)  # the geometry of the tables decides what the tau is of


def options_with_tracks(
    tau: Any = None,
    epsilon: Any = None,
    similarity: Any = None,
    threshold: Any = None,
    sigmas: Any = None,
    distance: Any = None,
    unit: Any = None,
    assignment: Any = None,
    power: Any = None,
) -> MatchOptions:
    """The caller's options where `tracks=True`, checked; raises ValueError if one does not apply to tracks."""
    others = {"epsilon": epsilon, "threshold": threshold, "sigmas": sigmas, "assignment": assignment, "power": power}
    for name, value in others.items():
        if value is not None:
            why = "CLEAR's is 0.5" if name == "threshold" else "only similarity, distance, unit and tau do"
            raise ValueError(f"{name} does not apply with tracks=True: {why}; leave it out")
    return track_options(tau, similarity, distance, unit)


def check_no_options(options: MatchOptions) -> None:
    """Raises InputError if there are any options, which joints that are evaluated as `pose` does do not take."""
    if any(option is not None for option in options):
        raise InputError(
            "similarity, distance and tau do not apply to joints with tracks=True: pose() measures head sizes; leave "
            "them out"
        )


def _check_fit(
    tau: float | None, epsilon: float | None, similarity: str | Measure | None, threshold: float | None
) -> None:
    """Raises ValueError if a word is out of range or does not fit another."""
    if tau is not None and similarity not in (None, "point"):
        raise ValueError(f"tau is a distance, and similarity={_name(similarity)} has none; give a threshold instead")
    if epsilon is not None and similarity is not None:
        raise ValueError(f"epsilon is a distance, and similarity={_name(similarity)} knows no tolerance; leave it out")
    if threshold is not None and similarity is None and (tau is not None or epsilon is not None):
        raise ValueError("threshold belongs to a similarity; give similarity, too, or leave out tau and epsilon")
    if threshold is not None and not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}; a number above 0 and at most 1 is needed")
    if similarity == "point" and tau is not None and not 0 < tau <= schema.LARGEST_COORDINATE:
        raise ValueError(f"tau is {tau}; a distance above 0 and up to {schema.LARGEST_COORDINATE:g} is needed")


def _name(similarity: str | Measure | None) -> str:
    """The name of a similarity in messages and notes."""
    return name_of(similarity) if callable(similarity) else repr(similarity)


def rule_for(options: MatchOptions, truth: Header, predictions: Header) -> Rule:
    """The rule that follows from the options and the geometry of both sides.

    Raises InputError if only one side has boxes and neither a similarity nor a tau is given, if a word does not fit the
    geometry, or if columns may be those of another geometry or are called otherwise (`check_columns`); ValueError if
    distances are out of range.
    """
    return with_assignment(_measuring(options, truth, predictions), options.assignment, options.power)


def with_assignment(rule: Rule, assignment: Assignment | None, power: float | None = None) -> Rule:
    """The rule with this assignment; raises InputError if it needs distances, ValueError if tau is out of range."""
    if assignment != "least":
        return rule if assignment is None else replace(rule, assignment=assignment)
    if not rule.by_distance or rule.tau is None:
        measured = f"{rule.geometry.called} are matched by {rule.geometry.title or 'a similarity'}"
        raise InputError(
            f"assignment='least' adds distances, and {measured}; "
            "give tau, if their middles are to be matched, or leave out assignment"
        )
    least = replace(rule, assignment=assignment, power=POWER if power is None else power)
    with np.errstate(over="ignore", under="ignore"):
        cost = np.float64(rule.tau) ** np.float64(least.power)
    if not 1 / schema.LARGEST_COORDINATE**2 <= cost <= schema.LARGEST_COORDINATE**2:
        raise ValueError(
            f"tau is {rule.tau:g} and power {least.power:g}; tau to that power is beyond what can be added"
        )
    return least


def _measuring(options: MatchOptions, truth: Header, predictions: Header) -> Rule:
    """The rule that follows from the options on how pairs are measured, and the geometry of both sides."""
    own = _own_geometry(options, truth, predictions)
    if own is not None:
        return _own_rule(own, options, truth, predictions)
    similarity = _by_geometry(options, truth, predictions)
    check_columns(options, truth, predictions)
    if similarity is None:
        if options.threshold is not None:
            raise InputError(
                "threshold belongs to a similarity, and these objects are matched by distance; give tau and epsilon "
                "(px), or give similarity, too"
            )
        return with_distance(Rule("distance", *check_distances(options.tau, options.epsilon, options.unit)), options)
    threshold = THRESHOLD if options.threshold is None else options.threshold
    return similarity_rule(similarity, options, threshold)


def track_rule(options: MatchOptions, truth: Header, predictions: Header, *, threshold: float, identity: str) -> Rule:
    """The rule of tracks, which is always by similarity: of points and of a caller's distance max(0, 1 - d / (2 tau)).

    CLEAR matches from `threshold` on; `identity` is the column that names objects. Raises InputError if only one side
    has boxes and neither a similarity nor a tau is given, or if columns may be those of another geometry or are called
    otherwise.
    """
    own = _own_geometry(options, truth, predictions)
    if own is not None:
        rule = _own_rule(own, options._replace(threshold=threshold), truth, predictions)
        name = own.rule_name(by_similarity=True)
        return replace(rule, name=name, threshold=threshold, epsilon=None, identity=identity)
    similarity = _by_geometry(options, truth, predictions)
    check_columns(options, truth, predictions)
    rule = similarity_rule("point" if similarity is None else similarity, options, threshold)
    return replace(rule, identity=identity)


def similarity_rule(similarity: str | Measure, options: MatchOptions, threshold: float) -> Rule:
    """The rule by a built-in similarity, with what the options say on it, or by the caller's function."""
    if callable(similarity):
        return Rule(_noted_name(similarity), threshold=threshold, measure=similarity)
    tau = None if similarity != "point" else TAU if options.tau is None else options.tau
    return with_distance(Rule(similarity, tau, threshold=threshold, sigmas=options.sigmas), options)


def with_distance(rule: Rule, options: MatchOptions) -> Rule:
    """The rule with the caller's function of distances in place of the distance of points, if the options have one."""
    if options.distance is None:
        return rule
    name, unit = _noted_name(options.distance), options.unit or ""
    return replace(rule, name=name, measure=options.distance, own_distance=True, unit=unit)


def _noted_name(measure: Measure) -> str:
    """The name of a caller's function in notes, "function NAME" where NAME might be taken for a built-in rule."""
    name = name_of(measure)
    return f"function {name}" if name in MEASURES or name in schema.GEOMETRY_COLUMNS else name


def _own_geometry(options: MatchOptions, truth: Header, predictions: Header) -> Geometry | None:
    """The geometry with columns of its own that rows are measured by; None if the options or tables mean another one.

    A side without rows takes the geometry of the other side. With a tau, the middles of one geometry meet those of
    another. Raises InputError if only one side is of such a geometry, or a tau does not apply to it.
    """
    if callable(options.similarity) or options.distance is not None:
        return None
    filled = [side for side in (truth, predictions) if side.n_rows] or [truth, predictions]
    geometries = [side.geometry for side in filled]
    if not any(schema.geometry_name(side.columns) for side in filled):
        return None
    first, last = geometries[0], geometries[-1]
    if options.similarity is not None and (first is last or first.places_in == last.places_in):
        return first.measured_by(options.similarity) if first is last else None
    if first is not last:
        if options.tau is not None and first.places_in == last.places_in:
            return None
        raise InputError(_apart(filled))
    if options.tau is None or first.is_distance:
        return first
    if first.given is None:
        return None  # the distance of the middles
    how = "give a threshold instead, or similarity='point' for the distance of middles"
    raise InputError(f"tau is a distance, and {first.called} are measured by a similarity; {how}")


def _apart(sides: Sequence[Header]) -> str:
    """The problem of two sides with rows, of which one has columns of its own geometry that the other has not."""
    side, other = sides if schema.geometry_name(sides[0].columns) else sides[::-1]
    lacking = [name for name in side.geometry.columns if name not in other.columns]
    columns = f"column{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}"
    has = f"{side.name}: {columns} {'are' if len(lacking) > 1 else 'is'} of {side.geometry.called}"
    how = "make both sides the same"
    if side.geometry.places_in == other.geometry.places_in:
        how = f"give tau to match only the middles of both, or {how}"
    return f"{has}, and there are {other.geometry.called} in {other.name}; {how}"


def _own_rule(geometry: Geometry, options: MatchOptions, truth: Header, predictions: Header) -> Rule:
    """The rule of a geometry with columns of its own.

    Raises InputError if the options do not apply to it or lack a tau.
    """
    check_columns(options, truth, predictions)
    by_similarity = not geometry.is_distance or options.similarity is not None
    name = geometry.rule_name(by_similarity)
    threshold = options.threshold or THRESHOLD
    if not geometry.is_distance:
        if options.epsilon is not None:
            raise InputError(f"epsilon is a distance, and {geometry.called} are measured by a similarity; leave it out")
        return Rule(name, threshold=threshold, of_geometry=geometry)
    if options.tau is None and geometry.unit is not None:
        unit = f", in {geometry.unit}" if geometry.unit else ""
        raise InputError(f"{geometry.called} are measured by a distance; give tau, the largest one of a match{unit}")
    tau, epsilon = check_distances(options.tau, options.epsilon, geometry.unit)
    own = Rule(name, tau, epsilon, own_distance=True, unit=geometry.unit, of_geometry=geometry)
    return replace(own, epsilon=None, threshold=threshold) if by_similarity else own


def _by_geometry(options: MatchOptions, truth: Header, predictions: Header) -> str | Measure | None:
    """The similarity that is given, or that of the geometry, as of boxes; None if pairs are measured by distance."""
    if options.similarity == "boundary_iou":
        raise InputError("boundary_iou compares masks; both sides need mask, mask_h and mask_w")
    if options.similarity is not None or options.tau is not None:
        return options.similarity
    similar = [side for side in (truth, predictions) if side.geometry.similarity is not None]
    # A side without rows takes the geometry of the other side.
    filled = [side for side in (truth, predictions) if side.n_rows]
    if not similar or (filled and not any(side.geometry.similarity for side in filled)):
        return None
    geometry = similar[0].geometry
    points = [side for side in filled if side.geometry is not geometry]
    if points:
        own = [name for name in geometry.columns if name not in ("x", "y")]
        has_none = f"{similar[0].name}: has {geometry.called} ({' and '.join(own)}), and {points[0].name} has none"
        question = messages.meant([name for name in own if name not in points[0].columns], points[0].columns)
        call = other_words.tidy_call(points[0].columns)
        question = f"{question} {call} makes {geometry.called} of them" if question and "box=" in call else question
        advice = f"give tau (px) to match the centres of the {geometry.called} with the points"
        raise InputError("; ".join(part for part in (has_none, advice, question) if part))
    if options.epsilon is not None:
        matched = f"{geometry.called} are matched by {geometry.title}"
        raise InputError(f"epsilon is a distance, and {matched}; to match their centres give tau, too")
    return geometry.similarity


def told(options: MatchOptions) -> other_words.Told:
    """What the options say about the geometry of the tables."""
    of_similarity = other_words.Told(
        options.similarity == "point", options.similarity == "iou", options.similarity == "oks"
    )
    own = callable(options.similarity) or options.distance is not None
    return of_similarity._replace(points=of_similarity.points or options.tau is not None, own=own)


def check_columns(options: MatchOptions, truth: Header, predictions: Header) -> None:
    """Raises InputError where columns tell of something that the rule would leave out of account.

    That is another geometry than the one that would be measured, unless the options say which is meant, or classes,
    scores or crowds under other names. The message says what to call. A side without rows tells nothing.
    """
    sides = [(tuple(map(str, side.columns)) if side.n_rows else (), side.name) for side in (truth, predictions)]
    problems = [
        None if schema.geometry_name(side[0]) else other_words.geometry_problem(*side, told(options)) for side in sides
    ]
    problems.append(other_words.naming_problem(*(columns for columns, _ in sides)))
    if any(problems):
        raise InputError(list(filter(None, problems)))


def header_of(table: pd.DataFrame | Columns, name: str) -> Header:
    """The header of a table of objects; `name` names it in messages if it was not read from a file."""
    return Header(provenance.source(table, name), table.columns, len(table))


def rule_of_tables(
    options: MatchOptions, truth: Annotations | SideColumns, predictions: Annotations | SideColumns
) -> Rule:
    """The rule for two checked sides; raises InputError if the options do not fit the tables."""
    return rule_for(options, header_of(truth.objects, "truth"), header_of(predictions.objects, "predictions"))
