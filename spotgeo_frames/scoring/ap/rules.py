"""The protocol that arguments ask for, and the rule by which its pairs match.

Every argument is checked here, and refused with what is needed in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from ...geometries import Geometry, Measure
from ...matching import MatchOptions, Rule, match_options, rule_of_tables
from ...support import InputError
from ...tables import Annotations, SideColumns, provenance, schema
from .further import kind_and_share
from .interpolation import AREAS_UNDER
from .protocol_entries import (
    FIELDS,
    PROTOCOLS,
    Assignment,
    Interpolation,
    Most,
    Protocol,
    as_coco_has_it,
    entry_of,
)

# Truth and predictions, checked.
Sides = tuple[Annotations | SideColumns, Annotations | SideColumns]


class NeedsTau(InputError):
    """Raised where rows match within a distance, and a protocol by similarity is given none."""


def protocol_of(name: Any, fields: Mapping[str, Any], tau: Any = None) -> Protocol:
    """The protocol of a name with the fields that are given, not None; `tau` are the thresholds of distances.

    Raises ValueError if there is no such protocol, or a field has a value that is not possible.
    """
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise ValueError(f"protocol is {name!r}; one of {', '.join(PROTOCOLS)} is needed")
    entry = PROTOCOLS[name]
    unknown = [field for field in fields if field not in FIELDS]
    if unknown:
        raise ValueError(f"{unknown[0]} is no field of a protocol; there are {', '.join(FIELDS)} and tau")
    given = {field: value for field, value in fields.items() if value is not None}
    if tau is not None:
        if "thresholds" in given:
            raise ValueError("thresholds and tau are both given; tau is for distances, thresholds are for similarities")
        areas = {"all": entry.areas["all"]}  # what is matched by its place need not have an area
        entry = entry._replace(by_distance=True, thresholds=_taus(tau), by_category={}, areas=areas)
    elif entry.by_distance and "thresholds" in given:
        raise ValueError(f"protocol {name} matches by distance; give tau= in place of thresholds=")
    answer = entry
    for field, value in given.items():
        answer = answer._replace(**_CHECKS[field](value, answer))
    return _without_points(answer, given) if answer.interpolation in AREAS_UNDER else answer


def _without_points(protocol: Protocol, given: Mapping[str, Any]) -> Protocol:
    """A protocol whose average is an area, without what an entry says of recall points.

    Raises ValueError if what is given says something of them.
    """
    for field in ("min_recall", "min_precision"):
        if given.get(field):
            raise ValueError(f"{field} needs recall points; interpolation {protocol.interpolation!r} has none")
    return protocol._replace(min_recall=0.0, min_precision=0.0)


def fitted(protocol: Protocol, geometry: Geometry, fields: Mapping[str, Any]) -> Protocol:
    """The protocol for a geometry: of some, fewer detections of poses count, unless the `fields` given say more."""
    given = fields.get("max_detections") is not None
    return protocol if given else protocol._replace(max_detections=entry_of(protocol.name, geometry).max_detections)


def _taus(given: Any) -> tuple[float, ...]:
    """The distances that `tau` asks for, the largest first."""
    values: list[Any] = [given] if not isinstance(given, Iterable) or isinstance(given, str) else [*given]
    if not values or not all(_is_number(value) and 0 < value < np.inf for value in values):
        raise ValueError(f"tau is {given!r}; a distance above 0 is needed, or a list of them")
    return tuple(sorted({float(value) for value in values}, reverse=True))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _thresholds(given: Any, protocol: Protocol) -> dict[str, Any]:
    """The thresholds that are asked for, rising; those near one of COCO's are COCO's own to the last bit."""
    if isinstance(given, Mapping):
        return _by_category(given, protocol)
    if isinstance(given, str) or not isinstance(given, Iterable):
        how = "a list is needed, such as [0.5, 0.75], or a dict from categories to their own"
        raise ValueError(f"thresholds is {given!r}; {how}")
    chosen = [*given]
    wrong = [value for value in chosen if not (_is_number(value) and 0 < value <= 1)]
    if wrong:
        raise ValueError(f"thresholds: {wrong[0]!r} is no similarity above 0 and up to 1")
    if not chosen:
        raise ValueError("thresholds is empty; give some, such as [0.5, 0.75]")
    return {"thresholds": tuple(sorted({as_coco_has_it(float(value)) for value in chosen})), "by_category": {}}


def _by_category(given: Mapping[Any, Any], protocol: Protocol) -> dict[str, Any]:
    """The thresholds of categories; the key None is that of all others."""
    wrong = {name: value for name, value in given.items() if not (_is_number(value) and 0 < value <= 1)}
    if wrong:
        name, value = next(iter(wrong.items()))
        raise ValueError(f"thresholds: {name!r}: {value!r} is no similarity above 0 and up to 1")
    others = [given[None]] if None in given else protocol.thresholds
    if len(others) > 1:
        how = "the key None has that of all others, such as {'car': 0.7, None: 0.5}"
        raise ValueError(f"thresholds: protocol {protocol.name} has {len(others)} thresholds for all categories; {how}")
    own = {name: as_coco_has_it(float(value)) for name, value in given.items() if name is not None}
    return {"thresholds": (as_coco_has_it(float(others[0])),), "by_category": own}


def _areas(given: Any, protocol: Protocol) -> dict[str, Any]:
    """The area ranges that are asked for, after that of all objects."""
    how = "a dict from names to the least and the largest area (px²) is needed, such as {'tiny': (0, 256)}"
    if not isinstance(given, Mapping):
        raise ValueError(f"areas is {given!r}; {how}")
    ranges = {}
    for name, bounds in given.items():
        is_pair = isinstance(bounds, list | tuple) and len(bounds) == 2 and all(map(_is_number, bounds))
        if not isinstance(name, str) or not is_pair or bounds[0] > bounds[1]:
            raise ValueError(f"areas: {name!r} is {bounds!r}; {how}")
        ranges[name] = (float(bounds[0]), min(float(bounds[1]), schema.LARGEST_COORDINATE**2))
    return {"areas": {"all": protocol.areas["all"]} | ranges}


def _most(given: Any, _: Protocol) -> dict[str, Any]:
    """The most detections that count."""
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or given < 1:
        raise ValueError(f"max_detections is {given!r}; an integer is needed, 1 or more")
    return {"max_detections": int(given)}


def _word(field: str, words: tuple[str, ...], given: Any) -> dict[str, Any]:
    if given not in words:
        raise ValueError(f"{field} is {given!r}; one of {', '.join(map(repr, words))} is needed")
    return {field: given}


def _least(field: str, given: Any) -> dict[str, Any]:
    if not (_is_number(given) and 0 <= given < 1):
        raise ValueError(f"{field} is {given!r}; a number from 0 up to, but not, 1 is needed")
    return {field: float(given)}


def _metrics(given: Any, _: Protocol) -> dict[str, Any]:
    """The names of further numbers."""
    names = [given] if isinstance(given, str) else [*given] if isinstance(given, Iterable) else [given]
    for name in names:
        kind_and_share(name)
    return {"metrics": tuple(dict.fromkeys(names))}


_CHECKS: Mapping[str, Any] = {
    "assignment": lambda given, _: _word("assignment", get_args(Assignment), given),
    "interpolation": lambda given, _: _word("interpolation", get_args(Interpolation), given),
    "thresholds": _thresholds,
    "areas": _areas,
    "max_detections": _most,
    "metrics": _metrics,
    "max_detections_of": lambda given, _: _word("max_detections_of", get_args(Most), given),
    "min_recall": lambda given, _: _least("min_recall", given),
    "min_precision": lambda given, _: _least("min_precision", given),
}


def options_of(
    protocol: Protocol,
    similarity: str | Measure | None,
    sigmas: Mapping[Any, float] | None,
    distance: Measure | None,
    unit: str | None,
) -> MatchOptions:
    """The options of matching that follow from the arguments; raises ValueError if they do not fit each other."""
    if not protocol.by_distance:
        return match_options(similarity=similarity, sigmas=sigmas, distance=distance, unit=unit)
    return match_options(protocol.loosest, 0.0, similarity, None, sigmas, distance, unit)


def rule_of(protocol: Protocol, options: MatchOptions, sides: Sides) -> Rule:
    """The rule by which pairs of a protocol match; raises InputError if it does not fit the tables."""
    has_joints = all("joint" in side.objects for side in sides)
    if not protocol.by_distance:
        if options.similarity is None and has_joints:
            options = options._replace(similarity="oks")
        rule = rule_of_tables(options, *sides)
        if rule.pair_measure != "similarity" or rule.tau is not None:
            name, of = rule.geometry.name, rule.geometry.unit or "px"
            how = f"give tau= ({of}), a number or a list, or similarity= a function"
            raise NeedsTau(f"average_precision: {name} match within a distance; {how}")
        return replace(rule, threshold=protocol.loosest)
    if has_joints:
        raise InputError("average_precision: poses match by OKS, and not within a distance; leave out tau")
    rule = rule_of_tables(options, *sides)
    if protocol.unit is None or options.distance is not None:
        return rule
    check_has_ground(protocol, sides)
    return Rule("distance", protocol.loosest, 0.0, unit=protocol.unit)  # on the ground, whatever else rows have


def check_has_ground(protocol: Protocol, sides: Sides) -> None:
    """Raises InputError if a side has no places on the ground, which the protocol measures in its unit."""
    problems = [
        f"{provenance.source(side.objects, name)}: protocol {protocol.name} measures places on the ground, and column "
        f"{column} is missing (in {protocol.unit})"
        for name, side in zip(("truth", "predictions"), sides, strict=True)
        for column in ("x", "y")
        if column not in side.objects
    ]
    if problems:
        raise InputError(problems)
