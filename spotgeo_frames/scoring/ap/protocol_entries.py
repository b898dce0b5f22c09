"""Protocols of average precision: what each official evaluator does, one named entry each.

A protocol says which truth a detection goes to, how the average follows from precision over recall, at which
thresholds, in which area ranges, how many detections of a frame count, and which truths and detections are left out.
Every field can be changed alone. A result whose fields are changed is comparable with no leaderboard.

Sources

    coco         Lin et al. 2014, doi:10.1007/978-3-319-10602-1_48; pycocotools 2.0.11, cocoeval.py
    voc2007      Everingham et al. 2010, doi:10.1007/s11263-009-0275-4; the challenge's development kit, VOCevaldet.m
    voc2010      the same since 2010: the area under the curve in place of 11 recall points
    lvis         Gupta et al. 2019, arXiv:1908.03195; lvis 0.5.3, eval.py
    ultralytics  Ultralytics up to 8.4.36, engine/validator.py and utils/metrics.py
    ultralytics_cut  the same since 8.4.37, which gives nothing for recalls beyond the last detection
    nuscenes     Caesar et al. 2020, arXiv:1903.11027; nuscenes-devkit 1.2.0, eval/detection/algo.py
    open_images  the Open Images Challenge, storage.googleapis.com/openimages/web/evaluation.html
    kitti        Simonelli et al. 2019, arXiv:1905.12365, and cvlibs.net/datasets/kitti/eval_object.php
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ...geometries import Geometry
from ...tables import schema
from .further import is_further, kind_and_share

# COCO's thresholds: the similarities from which on detections match, ten in all.
THRESHOLDS = np.linspace(0.5, 0.95, 10)

# COCO's area ranges in px², both ends included (cocoeval.py, Params). "all" is that of all objects.
AREAS = {"all": (0.0, 1e10), "small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, 1e10)}
ONLY_ALL: Mapping[str, tuple[float, float]] = MappingProxyType({"all": (0.0, np.inf)})

# How many detections of a frame and category count by COCO's rule where they are poses.
MOST_OF_POSES = 20

# Which truth a detection goes to: the most similar one that is free, or the most similar one of all, taken or not.
Assignment = Literal["free", "best"]

# How the average follows from precision over recall.
Interpolation = Literal["101 points", "40 points", "11 points", "area", "linear", "trapezoid", "cut trapezoid"]

# The interpolations that are an area, and have no recall points to leave out.
AREAS_UNDER = ("area", "trapezoid", "cut trapezoid")

# Of what `max_detections` is the most: of a frame and category, or of a frame.
Most = Literal["category", "frame"]

# The fields that callers can change, as they are called everywhere.
FIELDS = (
    "assignment",
    "interpolation",
    "thresholds",
    "areas",
    "max_detections",
    "max_detections_of",
    "min_recall",
    "min_precision",
    "metrics",
)


class Protocol(NamedTuple):
    """How average precision is computed.

    Attributes
    ----------
    name
        The word by which callers ask for it.
    official, rule
        Whose numbers these are, and whose rule it is where a field or the data are others, as provenance says it.
        `{kind}` stands for the kind of objects, `{exactly}` for how exactly.
    assignment
        Which truth a detection asks for: the most similar that is "free" and counts, or the "best" of all, in which
        case it is a false alarm if another detection has that.
    interpolation
        How the average follows from the curve of precision over recall; see `interpolation`.
    thresholds
        The similarities from which on detections match, rising; of distances the largest ones, falling.
    by_category
        The thresholds of categories that have their own; `thresholds` is then that of all others.
    is_strict
        Whether a pair at a threshold itself does not match.
    areas
        The area ranges (px²), by name, both ends included; always "all".
    max_detections
        The most detections that count, those with the highest scores; None for all.
    max_detections_of
        Whether that is the most of a frame and "category" or of a "frame".
    min_recall, min_precision
        Recall points up to the first do not count, and of precision only what is above the second.
    by_distance
        Whether detections match by distance. Its unit is then `unit`.
    unit
        The unit of the distances that `thresholds` are; None where they are none.
    last_first
        Whether, of equal scores, the last in file order comes first.
    first_truth
        Whether, of equally similar truths, the first in file order is taken; otherwise the last.
    verified
        Whether in a frame only those categories count that somebody has looked for there.
    groups
        Whether a group (`crowd`) counts as one truth, which the surest detection in it finds.
    parents
        Whether truths also count in the categories that theirs is a kind of.
    frequencies
        Whether there are numbers of the categories of each frequency.
    metrics
        Further numbers that are asked for, by name; see `further`.
    """

    name: str
    official: str
    rule: str
    assignment: Assignment = "free"
    interpolation: Interpolation = "101 points"
    thresholds: tuple[float, ...] = tuple(THRESHOLDS.tolist())
    by_category: Mapping[Any, float] = MappingProxyType({})
    is_strict: bool = False
    areas: Mapping[str, tuple[float, float]] = ONLY_ALL
    max_detections: int | None = None
    max_detections_of: Most = "category"
    min_recall: float = 0.0
    min_precision: float = 0.0
    by_distance: bool = False
    unit: str | None = None
    last_first: bool = False
    first_truth: bool = False
    verified: bool = False
    groups: bool = False
    parents: bool = False
    frequencies: bool = False
    metrics: tuple[str, ...] = ()

    @property
    def is_coco(self) -> bool:
        """Whether its numbers are called as COCO's."""
        return self.name == "coco" and not self.by_distance

    @property
    def loosest(self) -> float:
        """The threshold from which on a pair of any category may match."""
        return min(self.thresholds[0], *self.by_category.values()) if self.by_category else self.thresholds[0]

    def differs_from(self, other: Protocol) -> list[str]:
        """The names of the fields whose values are others."""
        return [name for name, value in self._asdict().items() if value != getattr(other, name)]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `average_precision` that ask for it."""
        changed = self.differs_from(PROTOCOLS[self.name])
        given = {name: getattr(self, name) for name in FIELDS if name in changed}
        if self.by_distance:
            given = {name: value for name, value in given.items() if name != "thresholds"} | {"tau": self.thresholds}
        elif self.by_category:
            given["thresholds"] = {**self.by_category, None: self.thresholds[0]}
        return {"protocol": self.name} | given

    @property
    def told(self) -> dict[str, Any]:
        """The changed fields as notes hold them, but for `thresholds` and `max_detections`, which are notes anyway."""
        values = self._asdict() | {
            "areas": {name: [*bounds] for name, bounds in self.areas.items() if name != "all"},
            "by_category": [[*pair] for pair in self.by_category.items()],
            "metrics": [*self.metrics],
        }
        changed = self.differs_from(PROTOCOLS[self.name])
        return {name: values[name] for name in changed if name not in ("thresholds", "max_detections")}

    def with_told(self, fields: Mapping[str, Any]) -> Protocol:
        """The same protocol with fields as notes hold them."""
        values = {**fields, "thresholds": tuple(official(value) for value in fields["thresholds"])}
        if "areas" in fields:
            ranges = {name: (low, high) for name, (low, high) in fields["areas"].items()}
            values["areas"] = {"all": self.areas["all"]} | ranges
        if "by_category" in fields:
            values["by_category"] = dict(fields["by_category"])
        if "metrics" in fields:
            values["metrics"] = tuple(fields["metrics"])
        return self._replace(**values)


_HALF = (0.5,)

PROTOCOLS: Mapping[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "coco",
            "COCO {kind}AP as pycocotools 2.0.11 computes it, {exactly}",
            "COCO's rule",
            areas=AREAS,
            max_detections=100,
        ),
        Protocol(
            "voc2007",
            "Pascal VOC's AP until 2009 as the challenge's development kit computes it",
            "Pascal VOC's rule until 2009",
            assignment="best",
            interpolation="11 points",
            thresholds=_HALF,
            first_truth=True,
        ),
        Protocol(
            "voc2010",
            "Pascal VOC's AP since 2010 as the challenge's development kit computes it",
            "Pascal VOC's rule since 2010",
            assignment="best",
            interpolation="area",
            thresholds=_HALF,
            first_truth=True,
        ),
        Protocol(
            "lvis",
            "LVIS {kind}AP as lvis 0.5.3 computes it",
            "LVIS's rule",
            areas=AREAS,
            max_detections=300,
            max_detections_of="frame",
            verified=True,
            frequencies=True,
        ),
        Protocol(
            "ultralytics",
            "Ultralytics' mAP as its versions up to 8.4.36 compute it",
            "Ultralytics' rule up to 8.4.36",
            assignment="best",
            interpolation="trapezoid",
        ),
        Protocol(
            "ultralytics_cut",
            "Ultralytics' mAP as its versions since 8.4.37 compute it",
            "Ultralytics' rule since 8.4.37",
            assignment="best",
            interpolation="cut trapezoid",
        ),
        Protocol(
            "nuscenes",
            "nuScenes' mAP as nuscenes-devkit 1.2.0 computes it, of the objects that are given",
            "nuScenes' rule",
            interpolation="linear",
            thresholds=(4.0, 2.0, 1.0, 0.5),
            is_strict=True,
            max_detections=500,
            max_detections_of="frame",
            min_recall=0.1,
            min_precision=0.1,
            by_distance=True,
            unit="m",
            last_first=True,
            first_truth=True,
        ),
        Protocol(
            "open_images",
            "the Open Images Challenge's AP by its rules",
            "the Open Images Challenge's rule",
            assignment="best",
            interpolation="area",
            thresholds=_HALF,
            first_truth=True,
            verified=True,
            groups=True,
            parents=True,
        ),
        Protocol(
            "kitti",
            "KITTI's AP over 40 recall points (R40), of the objects that are given and from all their scores",
            "KITTI's rule of 40 recall points",
            interpolation="40 points",
            thresholds=(0.7,),
            by_category={"Pedestrian": 0.5, "Person_sitting": 0.5, "Cyclist": 0.5},
        ),
    )
}


def entry_of(name: str, geometry: Geometry) -> Protocol:
    """The protocol of a name for a geometry; of COCO's, fewer detections of poses count."""
    entry = PROTOCOLS[name]
    return entry._replace(max_detections=MOST_OF_POSES) if _is_of_poses(name, geometry) else entry


def _is_of_poses(name: str, geometry: Geometry) -> bool:
    return name == "coco" and geometry.official_numbers == "poses"


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
    """The protocol for a geometry: of COCO's, fewer detections of poses count, unless the `fields` given say more."""
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
    return {"thresholds": tuple(sorted({official(float(value)) for value in chosen})), "by_category": {}}


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
    own = {name: official(float(value)) for name, value in given.items() if name is not None}
    return {"thresholds": (official(float(others[0])),), "by_category": own}


def official(threshold: float) -> float:
    """A threshold as it stands among COCO's, if it is near one of them."""
    near = np.flatnonzero(np.isclose(THRESHOLDS, threshold, rtol=0.0, atol=1e-9))
    return float(THRESHOLDS[near[0]]) if len(near) else threshold


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


def further_among(names: Iterable[str]) -> list[str]:
    """Those of the names that are further numbers, each as `metrics` asks for it: `best_f1_score` by best_f1."""
    asked = ("best_f1" if name == "best_f1_score" else name for name in names)
    return [name for name in asked if is_further(name)]


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
