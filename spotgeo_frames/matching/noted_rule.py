"""The rule by which a match table was made, read back from its notes.

Tables that went through another library may have lost their notes; the caller then gives the options again, which go
before notes. Notes have the name of a caller's function only, so whoever measures pairs anew needs the function again.
"""

from collections.abc import Collection, Hashable
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..geometries import GEOMETRIES, MEASURES, SIMILARITIES, Geometry, Measure
from ..support import InputError
from ..tables import messages, schema
from .choices import ASSIGNMENTS, Assignment, power_of
from .options import MatchOptions, similarity_rule, with_assignment, with_distance
from .rule import HEAD_SIZES, NOTED, Rule, check_distances

# What a rule by distance may be asked for.
Distances = Collection[Literal["tau", "epsilon"]]
TAU_ONLY: tuple[Literal["tau"]] = ("tau",)


def noted_rule(
    table: pd.DataFrame, options: MatchOptions, needs: Distances = TAU_ONLY, name: str = "match table"
) -> Rule:
    """The rule by which a checked match table was made.

    `needs` names the distances that the caller needs if the rule is by distance; `name` is that of the table in
    messages about its columns. Raises InputError if the rule is neither given nor noted, if the options do not fit the
    table, or if it lacks columns that the rule compares; ValueError if a distance is out of range.
    """
    rule = _assigned_as_noted(_rule(table, options, needs), table)
    check_measured(table, rule, name)
    return rule


def _assigned_as_noted(rule: Rule, table: pd.DataFrame) -> Rule:
    """The rule with the assignment of the table; "least" is told by a column, too, where notes were lost."""
    noted: Assignment | None = table.attrs.get("assignment")
    if noted not in ASSIGNMENTS:
        noted = "least" if "gospa_error" in table and rule.by_distance else None
    if noted == "least" and rule.tau is None:
        return rule  # nobody asked for it, so nothing is matched again
    power = power_of(table)
    if noted == "least" and power is None:
        how = "set its attrs['power'], or match again where notes are kept"
        raise InputError(f"match table: it does not tell the power of assignment='least'; {how}")
    return with_assignment(rule, noted, power)


def check_measured(table: pd.DataFrame, rule: Rule, name: str) -> None:
    """Raises InputError, which calls the table `name`, if it lacks columns besides x and y that the rule compares.

    A side without rows needs none.
    """
    geometry = rule.geometry
    of_side = [] if {*geometry.columns} <= {"x", "y"} else geometry.columns  # taking the sides apart looks for places
    outcome = table["outcome"].array.codes
    problems = []
    for prefix, missed in zip(schema.SIDE_PREFIXES, (schema.FN, schema.FP), strict=True):
        if not np.isin(outcome, [schema.TP, missed]).any():
            continue
        needed = [*of_side, *(geometry.columns_of_truth if missed == schema.FN else [])]
        lacking = [column for column in needed if f"{prefix}{column}" not in table]
        maker = "pose()" if rule.by_head_sizes else "match()"
        problems += [
            # Each joint is like any other, so the names that are there give no hint.
            messages.missing(
                name,
                f"{prefix}{column}",
                table.columns if geometry.assembled is None or column in schema.BOX else (),
                f"{maker} makes it",
            )
            for column in lacking
        ]
    if problems:
        raise InputError(problems)


def _rule(table: pd.DataFrame, options: MatchOptions, needs: Distances) -> Rule:
    """What `noted_rule` returns."""
    if schema.measure_of(table) == "distance":
        if options.similarity is not None or options.threshold is not None:
            raise InputError("match table: it was matched by distance; leave out similarity and threshold")
        rule = _distance_rule(table, options, needs)
        if rule.geometry.measure is None:
            raise _give_again(rule.name, "distance")
        return rule
    if options.similarity is None and options.distance is None and options.tau is not None:
        raise InputError("match table: it was matched by similarity, which has no tau; leave out tau")
    if options.similarity is None and options.distance is None and is_of_poses(table):
        return _keypoint_rule(table, options)
    own = noted_geometry(table, options)
    if own is not None:
        threshold = _needed(table, "threshold", options.threshold)
        tau = _needed(table, "tau", options.tau) if own.is_distance else None
        name = own.rule_name(by_similarity=True)
        unit = own.unit if own.is_distance else None
        return Rule(name, tau, threshold=threshold, own_distance=own.is_distance, unit=unit, of_geometry=own)
    similarity = _similarity(table, options)
    threshold = _needed(table, "threshold", options.threshold)
    tau = _needed(table, "tau", options.tau) if similarity == "point" else None
    sigmas = (options.sigmas or table.attrs.get("sigmas")) if similarity == "oks" else None
    known = MatchOptions(tau, sigmas=sigmas, distance=options.distance, unit=table.attrs.get("unit"))
    return similarity_rule(similarity, known, threshold)


def noted_geometry(table: pd.DataFrame, options: MatchOptions) -> Geometry | None:
    """The geometry with columns of its own by which a table was made, by its notes or else its columns.

    None where it is another one, or the options say so.
    """
    if callable(options.similarity) or options.distance is not None:
        return None
    noted = table.attrs.get("geometry", table.attrs.get("rule"))
    if noted is None or (noted in MEASURES and options.similarity is not None):
        of_truth, of_predictions = (schema.geometry_name(table, prefix) for prefix in schema.SIDE_PREFIXES)
        noted = of_truth if of_truth == of_predictions else None
    found = GEOMETRIES.get(str(noted))
    word = options.similarity or table.attrs.get("rule")
    if found is not None and found.given is None and word not in (None, "distance"):
        found = found.measured_by(str(word))
    by_distance = schema.measure_of(table) == "distance"
    return None if found is None or (by_distance and not found.is_distance) else found


def is_of_poses(table: pd.DataFrame) -> bool:
    """Whether pose() made this match table; without notes its columns tell, since no other table has all of them."""
    made_by = table.attrs.get("rule")
    return made_by == "keypoint" or (made_by is None and {"joint", "event", "similarity"} <= {*table.columns})


def _keypoint_rule(table: pd.DataFrame, options: MatchOptions) -> Rule:
    """The rule of a table of pose(), which has no options but those of its notes."""
    if options.threshold is not None:
        raise InputError("match table: pose() made it, by distances in head sizes; leave out threshold")
    noted = _noted(table, "head_sizes")
    return Rule("keypoint", head_sizes=HEAD_SIZES if noted is None else noted)


def distance_rule(table: pd.DataFrame, needs: Distances = TAU_ONLY, tau: float | None = None) -> Rule:
    """The rule by which a checked match table was made, if it is by distance; `tau` (px) goes before its notes.

    Raises InputError if the table is by similarity, and otherwise as `noted_rule` does.
    """
    if schema.measure_of(table) == "similarity":
        raise InputError("match table: it was matched by similarity; a table with distances is needed")
    return _distance_rule(table, MatchOptions(tau), needs)


def rule_notes(table: pd.DataFrame) -> dict[Hashable, Any]:
    """The notes of a table that say by which rule it was made; tables from other libraries may have none."""
    wanted = ("rule", "geometry", *NOTED, schema.WHERE, *schema.PRECISION_NOTED)
    return {key: table.attrs[key] for key in wanted if key in table.attrs}


def shared_notes(table: pd.DataFrame) -> dict[Hashable, Any]:
    """The notes of a table that hold for every submission to the same truth: all but the counts of its own rows."""
    return {key: value for key, value in table.attrs.items() if key not in schema.COUNTS_NOTED}


def _distance_rule(table: pd.DataFrame, options: MatchOptions, needs: Distances) -> Rule:
    """The rule by distance of a table; distances that nobody `needs` may stay unknown."""
    known = {}
    for name, given in (("tau", options.tau), ("epsilon", options.epsilon)):
        value = _noted(table, name) if given is None else given
        known[name] = _needed(table, name, given) if name in needs else value
    tau, epsilon = known["tau"], known["epsilon"]
    if tau is not None and not 0 < tau <= schema.LARGEST_COORDINATE:
        raise ValueError(f"tau is {tau}; a distance above 0 and up to {schema.LARGEST_COORDINATE:g} is needed")
    unit, name = table.attrs.get("unit"), str(table.attrs.get("rule", "distance"))
    if "epsilon" in needs:
        check_distances(tau, epsilon, unit)
    own = noted_geometry(table, options)
    if own is not None:
        name = own.rule_name(by_similarity=False)
        return Rule(name, tau, epsilon, own_distance=True, unit=own.unit, of_geometry=own)
    rule = Rule(name, tau, epsilon, own_distance=name != "distance", unit=unit)
    return with_distance(rule, options._replace(unit=unit))


def _similarity(table: pd.DataFrame, options: MatchOptions) -> str | Measure:
    """The similarity that is given, or else noted; "point" stands for that of a caller's distance.

    Raises InputError where neither tells it.
    """
    if options.similarity is not None:
        return options.similarity
    if options.distance is not None:
        return "point"
    noted = table.attrs.get("rule")
    if noted in SIMILARITIES:
        return str(noted)
    if noted is None:
        lacking = "similarity=" if options.threshold is not None else "similarity= and threshold="
        raise InputError(f"match table: it does not tell its similarity; give {lacking}")
    raise _give_again(noted, "similarity" if "tau" not in table.attrs else "distance")


def _give_again(name: str, word: str) -> InputError:
    """The error that the function of a table is needed again."""
    return InputError(
        f"match table: it was matched by {name}; give this function again, as {word}=, or register it with geometry()"
    )


def _needed(table: pd.DataFrame, name: str, given: float | None) -> float:
    """A number of the rule that is given, or else noted; raises InputError where neither tells it."""
    value = _noted(table, name) if given is None else float(given)
    if value is None:
        unit = "" if name == "threshold" else ", in px"
        raise InputError(f"match table: it does not tell its {name}; give {name}={unit}")
    return value


def _noted(table: pd.DataFrame, name: str) -> float | None:
    """The value of a note of the table as a float; None if there is none, or if it is not a number."""
    value = table.attrs.get(name)
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None
