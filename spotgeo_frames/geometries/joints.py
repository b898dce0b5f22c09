"""Joints: `x` and `y` in pixels, and `joint` in the key, so that each joint is matched with its like.

Joints of tracks are measured in head sizes, as the PoseTrack21 evaluation kit does; otherwise they are points.
"""

from typing import Any, NamedTuple

import numpy as np

from ..tables import Columns, as_numbers
from .facts import ROOM, Extents, Geometry, Places
from .points import POINTS, centres
from .points import measure as measure_px

# The distance in head sizes at which two joints have nothing in common, for the PoseTrack21 evaluation kit.
ZERO_HEAD_SIZES = 0.5001

# The standard deviation of each joint's place among annotators, as a share of the object's size (the square root of its
# area), from COCO's evaluator (pycocotools).
COCO_SIGMAS = {
    "nose": 0.026,
    "left_eye": 0.025,
    "right_eye": 0.025,
    "left_ear": 0.035,
    "right_ear": 0.035,
    "left_shoulder": 0.079,
    "right_shoulder": 0.079,
    "left_elbow": 0.072,
    "right_elbow": 0.072,
    "left_wrist": 0.062,
    "right_wrist": 0.062,
    "left_hip": 0.107,
    "right_hip": 0.107,
    "left_knee": 0.087,
    "right_knee": 0.087,
    "left_ankle": 0.089,
    "right_ankle": 0.089,
}
PAIRED = ["shoulder", "elbow", "wrist", "hip", "knee", "ankle"]
RAW_JOINTS = ["nose", "head_bottom", "head_top", "left_ear", "right_ear"]
RAW_JOINTS += [f"{side}_{joint}" for joint in PAIRED for side in ("left", "right")]
EARS = (3, 4)

# PoseTrack's files list the joints of RAW_JOINTS in this order; its evaluation leaves out the ears, at these positions.
JOINTS = [joint for position, joint in enumerate(RAW_JOINTS) if position not in EARS]

# The pairs of joints that bones connect, of COCO's joints and of PoseTrack's.
MIDDLE_BONES = [
    ("head_top", "nose"),
    ("nose", "head_bottom"),
    ("left_eye", "right_eye"),
    ("left_shoulder", "right_shoulder"),
    ("left_hip", "right_hip"),
]
SIDE_BONES = [
    ("nose", "{}_eye"),
    ("{}_eye", "{}_ear"),
    ("{}_ear", "{}_shoulder"),
    ("head_bottom", "{}_shoulder"),
    ("{}_shoulder", "{}_elbow"),
    ("{}_elbow", "{}_wrist"),
    ("{}_shoulder", "{}_hip"),
    ("{}_hip", "{}_knee"),
    ("{}_knee", "{}_ankle"),
]
BONES = MIDDLE_BONES + [
    (one.format(side), other.format(side)) for side in ("left", "right") for one, other in SIDE_BONES
]


def keypoint_similarity(distance: np.ndarray) -> np.ndarray:
    """max(0, 1 - d / ZERO_HEAD_SIZES) of distances in head sizes, in the order of operations of the PoseTrack21 kit."""
    return np.maximum((-1 / ZERO_HEAD_SIZES) * distance + 1, 0)


def labelled_joints(keypoints: Any) -> np.ndarray:
    """Marks the joints that are present: all of them, or with a column `visibility`, all but those of 0 or less."""
    if "visibility" not in keypoints:
        return np.ones(len(keypoints), bool)
    return ~(as_numbers(keypoints["visibility"]) <= 0)


class Joints(NamedTuple):
    """The places of joints (px), and of the truth's also the head sizes (px), which are empty otherwise."""

    places: Places
    head_size: np.ndarray


def _prepared(table: Columns) -> Joints:
    return Joints(centres(table), as_numbers(table["head_size"]) if "head_size" in table else np.zeros(0))


def _measure(truth: Joints, predictions: Joints, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The distances of pairs of joints in head sizes of the truth, (P,); a head of size 0 gives infinity or NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return measure_px(truth.places, predictions.places, rows, others) / truth.head_size.take(rows)


def _reach(truth: Joints, predictions: Joints, farthest: float) -> tuple[Extents, Extents]:
    """The truths with all that is as far away as `farthest` head sizes, and the predictions as they are."""
    reach = truth.head_size * (farthest * (1 + ROOM))
    return Extents(*truth.places, reach, reach), Extents(*predictions.places, 0.0, 0.0)


KEYPOINTS = Geometry(
    "joints",
    ("x", "y"),
    _prepared,
    _measure,
    _reach,
    is_distance=True,
    unit="head sizes",
    title="keypoint similarity",
    columns_of_truth=("head_size",),
    place=POINTS.place,
    offsets=POINTS.offsets,
)
