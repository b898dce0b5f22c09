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

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from ...geometries import Geometry
from .interpolation import AREAS_UNDER

# COCO's thresholds: the similarities from which on detections match, ten in all.
THRESHOLDS = np.linspace(0.5, 0.95, 10)

# COCO's area ranges in px², both ends included (cocoeval.py, Params). "all" is that of all objects.
AREAS = {"all": (0.0, 1e10), "small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, 1e10)}
ONLY_ALL: Mapping[str, tuple[float, float]] = MappingProxyType({"all": (0.0, np.inf)})

# Which truth a detection goes to: the most similar one that is free, or the most similar one of all, taken or not.
Assignment = Literal["free", "best"]

# How the average follows from precision over recall.
Interpolation = Literal["101 points", "40 points", "11 points", "area", "linear", "trapezoid", "cut trapezoid"]

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

# The fields by which detections count and are sorted, and those by which sorted detections match. What protocols share
# of these is computed once for all of them, so every field that a step reads has to stand here.
COUNTING = ("max_detections", "max_detections_of", "last_first", "verified", "groups", "parents")
MATCHING = ("assignment", "thresholds", "by_category", "is_strict", "areas", "by_distance", "first_truth")


class Protocol(NamedTuple):
    """How average precision is computed.

    Attributes
    ----------
    name
        The word by which callers ask for it.
    official_text, rule_text
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
    max_poses
        The most detections that count where they are poses; None where that is as of others.
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
    needs_not_exhaustive
        Whether the frames have to say which categories are labelled in part only.
    groups
        Whether a group (`crowd`) counts as one truth, which the surest detection in it finds.
    parents
        Whether truths also count in the categories that theirs is a kind of.
    coco_numbers, has_recall, frequencies
        Whether its numbers are COCO's, in COCO's area ranges; otherwise, besides those of precision, whether there are
        numbers of recall, and of the categories of each frequency.
    geometries
        The geometries that the official evaluator evaluates.
    knows_crowds, knows_ignored
        Whether the official evaluator knows crowds, and truths that the column `ignore` marks.
    reads_areas
        Whether the official evaluator reads the areas of truths, and takes none from their boxes.
    metrics
        Further numbers that are asked for, by name; see `further`.
    """

    name: str
    official_text: str
    rule_text: str
    assignment: Assignment = "free"
    interpolation: Interpolation = "101 points"
    thresholds: tuple[float, ...] = tuple(THRESHOLDS.tolist())
    by_category: Mapping[Any, float] = MappingProxyType({})
    is_strict: bool = False
    areas: Mapping[str, tuple[float, float]] = ONLY_ALL
    max_detections: int | None = None
    max_detections_of: Most = "category"
    max_poses: int | None = None
    min_recall: float = 0.0
    min_precision: float = 0.0
    by_distance: bool = False
    unit: str | None = None
    last_first: bool = False
    first_truth: bool = False
    verified: bool = False
    needs_not_exhaustive: bool = False
    groups: bool = False
    parents: bool = False
    coco_numbers: bool = False
    has_recall: bool = False
    frequencies: bool = False
    geometries: tuple[str, ...] = ("boxes",)
    knows_crowds: bool = False
    knows_ignored: bool = False
    reads_areas: bool = False
    metrics: tuple[str, ...] = ()

    @property
    def entry(self) -> Protocol:
        """The protocol as it stands in PROTOCOLS, with no field changed."""
        return PROTOCOLS[self.name]

    @property
    def called_as_coco(self) -> bool:
        """Whether its numbers are called as COCO's."""
        return self.coco_numbers and not self.by_distance

    @property
    def averages_points(self) -> bool:
        """Whether average precision is the mean over all recall points of the curve."""
        return self.interpolation not in AREAS_UNDER and not self.min_recall and not self.min_precision

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
        changed = self.differs_from(self.entry)
        given = {name: getattr(self, name) for name in FIELDS if name in changed}
        if self.by_distance:
            given = {name: value for name, value in given.items() if name != "thresholds"} | {"tau": self.thresholds}
        elif self.by_category:
            given["thresholds"] = {**self.by_category, None: self.thresholds[0]}
        return {"protocol": self.name} | given

    @property
    def noted_fields(self) -> dict[str, Any]:
        """The changed fields as notes hold them, but for those that have notes of their own."""
        values = self._asdict() | {
            "areas": {name: [*bounds] for name, bounds in self.areas.items() if name != "all"},
            "by_category": [[*pair] for pair in self.by_category.items()],
            "metrics": [*self.metrics],
        }
        changed = self.differs_from(self.entry)
        return {name: values[name] for name in changed if name not in ("thresholds", "max_detections")}

    def with_noted_fields(self, fields: Mapping[str, Any]) -> Protocol:
        """The same protocol with fields as notes hold them."""
        values = {**fields, "thresholds": tuple(as_coco_has_it(value) for value in fields["thresholds"])}
        if "areas" in fields:
            ranges = {name: (low, high) for name, (low, high) in fields["areas"].items()}
            values["areas"] = {"all": self.areas["all"]} | ranges
        if "by_category" in fields:
            values["by_category"] = dict(fields["by_category"])
        if "metrics" in fields:
            values["metrics"] = tuple(fields["metrics"])
        return self._replace(**values)


_HALF = (0.5,)
# Its validator compares oriented boxes as Gaussians, and takes the area of a pose from its box: neither is ours.
_OF_ULTRALYTICS = ("boxes", "masks")

PROTOCOLS: Mapping[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "coco",
            "COCO {kind} AP as pycocotools 2.0.11 computes it, {exactly}",
            "COCO's rule",
            areas=AREAS,
            max_detections=100,
            max_poses=20,
            coco_numbers=True,
            has_recall=True,
            geometries=("boxes", "masks", "poses"),
            knows_crowds=True,
            reads_areas=True,
        ),
        Protocol(
            "voc2007",
            "Pascal VOC's AP until 2009 as its development kit computes it, of boxes that count their last pixel",
            "Pascal VOC's rule until 2009",
            assignment="best",
            interpolation="11 points",
            thresholds=_HALF,
            first_truth=True,
            knows_ignored=True,
        ),
        Protocol(
            "voc2010",
            "Pascal VOC's AP since 2010 as its development kit computes it, of boxes that count their last pixel",
            "Pascal VOC's rule since 2010",
            assignment="best",
            interpolation="area",
            thresholds=_HALF,
            first_truth=True,
            knows_ignored=True,
        ),
        Protocol(
            "lvis",
            "LVIS {kind} AP as lvis 0.5.3 computes it",
            "LVIS's rule",
            areas=AREAS,
            max_detections=300,
            max_detections_of="frame",
            verified=True,
            needs_not_exhaustive=True,
            reads_areas=True,
            has_recall=True,
            frequencies=True,
            geometries=("boxes", "masks"),
            knows_crowds=True,
            knows_ignored=True,
        ),
        Protocol(
            "ultralytics",
            "Ultralytics' mAP as its versions up to 8.4.36 compute it",
            "Ultralytics' rule up to 8.4.36",
            assignment="best",
            interpolation="trapezoid",
            geometries=_OF_ULTRALYTICS,
        ),
        Protocol(
            "ultralytics_cut",
            "Ultralytics' mAP as its versions since 8.4.37 compute it",
            "Ultralytics' rule since 8.4.37",
            assignment="best",
            interpolation="cut trapezoid",
            geometries=_OF_ULTRALYTICS,
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
            geometries=("points", "space"),
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
            geometries=("boxes", "masks"),
            knows_crowds=True,
            knows_ignored=True,
        ),
        Protocol(
            "kitti",
            "KITTI's AP over 40 recall points (R40), of the objects that are given and from all their scores",
            "KITTI's rule of 40 recall points",
            interpolation="40 points",
            thresholds=(0.7,),
            by_category={"Pedestrian": 0.5, "Person_sitting": 0.5, "Cyclist": 0.5},
            knows_crowds=True,  # its DontCare regions
            knows_ignored=True,
        ),
    )
}


def entry_of(name: str, geometry: Geometry) -> Protocol:
    """The protocol of a name for a geometry: of some, fewer detections of poses count."""
    entry = PROTOCOLS[name]
    of_poses = entry.max_poses is not None and geometry.official_numbers == "poses"
    return entry._replace(max_detections=entry.max_poses) if of_poses else entry


def as_coco_has_it(threshold: float) -> float:
    """A threshold as it stands among COCO's, if it is near one of them."""
    near = np.flatnonzero(np.isclose(THRESHOLDS, threshold, rtol=0.0, atol=1e-9))
    return float(THRESHOLDS[near[0]]) if len(near) else threshold
