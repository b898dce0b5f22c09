"""Gives the image, the joint and the pose of each keypoint an integer.

An aligned frame belongs to one joint: it is a (sequence, frame, joint). An image is a (sequence, frame) with all its
joints, and a pose is one object in an image.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import Aligned, Side
from ..support.arrays import added_at, frame_keys, grouped, ordinals, pack
from .identities import Tracks, identify


class PoseNumbers(NamedTuple):
    """The poses of one side, counted in the order of images and, within an image, of the file.

    `of_row` is the pose of each row. For each image, `counts` is how many poses it has and `starts`, which is one
    longer, the first of them.
    """

    of_row: np.ndarray
    counts: np.ndarray
    starts: np.ndarray


class Keypoints(NamedTuple):
    """Two aligned sides of keypoints.

    `joints` are the names of all joints in their order. `image` is the position of each aligned frame's image, and
    `image_sequence` that of each image's sequence. Each sequence of `tracks` is of a single joint: `track_sequence` is
    the position of its real sequence, and `track_joint` that of its joint, or -1 for frames without any joint.
    """

    tracks: Tracks
    joints: list[Any]
    image: np.ndarray
    image_sequence: np.ndarray
    track_sequence: np.ndarray
    track_joint: np.ndarray
    truth: PoseNumbers
    predictions: PoseNumbers

    @property
    def n_sequences(self) -> int:
        return int(self.track_sequence.max(initial=-1)) + 1

    @property
    def sequence_names(self) -> Any:
        """The names of the real sequences, in order."""
        first = np.flatnonzero(np.diff(self.track_sequence, prepend=-1))
        return self.tracks.labels["sequence"].take(first)

    def grid(self, values: np.ndarray) -> np.ndarray:
        """Values of each sequence of `tracks` as an array by sequence and joint, (sequences, joints, ...)."""
        grid = np.zeros((self.n_sequences, len(self.joints), *values.shape[1:]), values.dtype)
        of_joints = np.flatnonzero(self.track_joint >= 0)
        grid[self.track_sequence[of_joints], self.track_joint[of_joints]] = values[of_joints]
        return grid

    def per_frame(self, values: np.ndarray) -> np.ndarray:
        """The sums, by sequence and joint, of values of each aligned frame."""
        return self.grid(added_at(self.tracks.frame_sequence, values, self.tracks.n_sequences))


def number_keypoints(aligned: Aligned, identity: str, joints: list[Any]) -> Keypoints:
    """The images, joints and poses of two aligned sides of keypoints."""
    tracks = identify(aligned, identity)
    image, first = grouped(frame_keys([aligned.frames])[0])
    [codes], _ = ordinals([tracks.labels["sequence"]])
    track_sequence = grouped(codes)[0]
    track_joint = pd.Index(joints).get_indexer(tracks.labels["joint"])  # -1 for null
    image_sequence = track_sequence[tracks.frame_sequence[first]]
    sides = [_poses(side, image, len(first)) for side in (aligned.truth, aligned.predictions)]
    return Keypoints(tracks, joints, image, image_sequence, track_sequence, track_joint, *sides)


def _poses(side: Side, image: np.ndarray, n_images: int) -> PoseNumbers:
    """The poses of one side; `image` is the position of each aligned frame's image."""
    of_image = image[side.frame]
    [codes], span = ordinals([side.table["object"]])
    pose, first = grouped(pack([of_image, codes], [n_images, span]))
    # Within an image, poses are counted in the order of their first rows in the file.
    in_file = np.full(len(first), np.iinfo(np.int64).max)
    np.minimum.at(in_file, pose, side.row)
    order = np.lexsort((in_file, of_image[first]))
    counts = np.bincount(of_image[first], minlength=n_images)
    return PoseNumbers(np.argsort(order)[pose], counts, np.concatenate([[0], np.cumsum(counts)]))
