"""Which image, which joint and whose pose each keypoint is of, as numbers.

Aligned frames are those of one joint, (sequence, frame, joint); an image is the (sequence, frame) of all its joints,
and a pose is one object in it.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import Aligned, Side
from ..support.keys import distinct, frame_keys, ordinals, pack, positions
from .identities import Tracks, identify


class PoseNumbers(NamedTuple):
    """The poses of one side, in the order of images and, within one, of the file.

    `of_row` is the pose of each row, `counts` how many poses each image has, and `starts` where they begin, one longer.
    """

    of_row: np.ndarray
    counts: np.ndarray
    starts: np.ndarray


class Keypoints(NamedTuple):
    """Two aligned sides of keypoints.

    `joints` are the names of all joints in their order. `image` is that of each aligned frame, in order, and
    `image_sequence` (numbered in order) that of each image; `track_sequence` and `track_joint` are those of each of the
    sequences of `tracks`, which are of a single joint each; joint -1 is none.
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

    def grid(self, values: np.ndarray) -> np.ndarray:
        """What there is of each of the sequences of `tracks`, by sequence and joint."""
        grid = np.zeros((self.n_sequences, len(self.joints), *values.shape[1:]), values.dtype)
        some = np.flatnonzero(self.track_joint >= 0)
        grid[self.track_sequence[some], self.track_joint[some]] = values[some]
        return grid

    def per_frame(self, values: np.ndarray) -> np.ndarray:
        """The sums, by sequence and joint, of what there is of each aligned frame."""
        return self.grid(np.bincount(self.tracks.frame_sequence, values, self.tracks.n_sequences))


def number_keypoints(aligned: Aligned, identity: str, joints: list[Any]) -> Keypoints:
    """Numbers the images, joints and poses of two aligned sides of keypoints."""
    tracks = identify(aligned, identity)
    keys = frame_keys([aligned.frames])[0]
    values, first = distinct(keys)
    image = positions(keys, values, first)
    [codes], _ = ordinals([tracks.sequence_names])
    track_sequence = positions(codes, *distinct(codes))
    assert tracks.joint_names is not None
    track_joint = pd.Index(joints).get_indexer(tracks.joint_names)  # -1 for null
    image_sequence = track_sequence[tracks.frame_sequence[first]]
    sides = [_poses(side, image, len(first)) for side in (aligned.truth, aligned.predictions)]
    return Keypoints(tracks, joints, image, image_sequence, track_sequence, track_joint, *sides)


def _poses(side: Side, image: np.ndarray, n_images: int) -> PoseNumbers:
    of_image = image[side.frame]
    [codes], span = ordinals([side.table["object"]])
    keys = pack([of_image, codes], [n_images, span])
    values, first = distinct(keys)
    number = positions(keys, values, first)
    # Within an image, poses are numbered by their first row in the file.
    in_file = np.full(len(values), np.iinfo(np.int64).max)
    np.minimum.at(in_file, number, side.row)
    order = np.lexsort((in_file, of_image[first]))
    counts = np.bincount(of_image[first], minlength=n_images)
    return PoseNumbers(np.argsort(order)[number], counts, np.concatenate([[0], np.cumsum(counts)]))
