"""The benchmarks of tracking, one entry each: which files they have, which classes count, and what is taken out.

A kit evaluates one class at a time. Of that class, it first matches predictions with truths, one to one, with the
greatest sum of similarities from 0.5 on. Predictions that are matched with an ignored truth (a distractor, or an object
that is hidden) leave, and so do predictions without a match that lie in a region in which nothing was labelled, or that
are too small. Then ignored truths and regions leave.

This module imports little, because the help of the command line lists the benchmarks.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

# The formats of files that benchmarks have.
BenchmarkFiles = Literal["motchallenge", "posetrack", "kitti", "bdd100k", "mots", "kitti_mots", "visdrone", "uavdt"]


class Benchmark(NamedTuple):
    """What a benchmark evaluates, and what it takes out before.

    Attributes
    ----------
    files
        The format of its files.
    classes
        The classes that are evaluated, each by itself; none where files have no classes.
    distractors
        Classes whose truths are ignored, and the class that they are taken for.
    others
        Classes that files may have and that play no part.
    regions
        Classes whose truths are regions. What the format itself marks as crowd is one, too.
    hidden_above
        Columns of truths, and the value above which a truth is ignored; decimals are cut off before.
    least_height
        Predictions of this height (px) or less leave if nothing matches them; None: of any height stay.
    aliases
        Other names of classes.
    parents
        Classes of classes, by the class.
    regions_first
        Whether objects of both sides leave before anything is matched, if half of them or more lies in regions.
    disjoint
        Whether objects of a side may share no pixel; what lies in several regions of a frame is then added up.
    """

    files: BenchmarkFiles
    classes: Sequence[str] = ("pedestrian",)
    distractors: Mapping[str, str] = MappingProxyType({})
    others: Sequence[str] = ()
    regions: Sequence[str] = ()
    hidden_above: Mapping[str, int] = MappingProxyType({})
    least_height: float | None = None
    aliases: Mapping[str, str] = MappingProxyType({})
    parents: Mapping[str, str] = MappingProxyType({})
    regions_first: bool = False
    disjoint: bool = False


_OF_MOT = dict.fromkeys(["person_on_vehicle", "static_person", "distractor", "reflection"], "pedestrian")
_MOT = Benchmark("motchallenge", distractors=_OF_MOT)
BENCHMARKS: dict[str, Benchmark] = {
    "MOT15": Benchmark("motchallenge", classes=()),
    "MOT16": _MOT,
    "MOT17": _MOT,
    "MOT20": _MOT._replace(distractors=_OF_MOT | {"non_mot_vehicle": "pedestrian"}),
    "DanceTrack": _MOT,
    "SportsMOT": _MOT,
    "PoseTrack21": Benchmark("posetrack", classes=()),
    "KITTI": Benchmark(
        "kitti",
        classes=("car", "pedestrian"),
        distractors={"van": "car", "person": "pedestrian"},
        others=("truck", "cyclist", "tram", "misc"),
        hidden_above={"truncated": 0, "occluded": 2},
        least_height=25,
        aliases={"car_2": "car", "person_sitting": "person"},
    ),
    "MOTS": Benchmark("mots", others=("car",), disjoint=True),
    "KITTI-MOTS": Benchmark("kitti_mots", classes=("car", "pedestrian"), disjoint=True),
    "BDD100K": Benchmark(
        "bdd100k",
        classes=("pedestrian", "rider", "car", "bus", "truck", "train", "motorcycle", "bicycle"),
        regions=("other person", "trailer", "other vehicle"),
        parents={
            **dict.fromkeys(["pedestrian", "rider"], "HUMAN"),
            **dict.fromkeys(["car", "truck", "bus", "train"], "VEHICLE"),
            **dict.fromkeys(["motorcycle", "bicycle"], "BIKE"),
        },
    ),
    "VisDrone": Benchmark(
        "visdrone",
        classes=("pedestrian", "car", "van", "truck", "bus"),
        others=("people", "bicycle", "tricycle", "awning-tricycle", "motor", "ignored regions"),
        regions=("others",),
        regions_first=True,
    ),
    "UAVDT": Benchmark("uavdt", classes=("vehicle",), regions_first=True),
}
