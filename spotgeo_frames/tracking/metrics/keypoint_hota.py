"""Keypoint HOTA of the PoseTrack21 evaluation kit (Doering et al., CVPR 2022, doi:10.1109/CVPR52688.2022.02029).

This is HOTA, sqrt(DetA * AssA) at each alpha = 0.05, 0.10 ... 0.95, of each joint by itself. The similarity of a true
and a predicted joint is max(0, 1 - d / 0.5001), where d is their distance in head sizes of the truth. The pairs of a
frame are the assignment with the greatest sum of these similarities alone; HOTA's alignment is not used.

The total of a sequence is the mean over its joints. The total of all sequences is computed in another way: AssA, AssRe,
AssPr, FragA and LocA are means of the sequences' totals, weighted by their true positives. DetA, DetRe and DetPr follow
from counts added up over sequences and joints, and HOTA, RHOTA, FA-HOTA and FA-RHOTA are computed from these.

These oddities are the kit's (trackeval/metrics/hota_pose.py, datasets/posetrack.py):

    - In a frame without any truth, all joints predicted in the whole sequence count as false positives, even if the
      frame has no predictions. In a frame with truth but without any prediction, all true joints of the whole sequence
      count as false negatives. If the side that is missing has nobody in the whole sequence, they count only once.
    - The matrix that is solved has all poses of the frame, also those that lack the joint. That matters only for ties.
    - Shares with nothing to divide by are 0, and LocA is 1. A joint that never occurs enters the mean with these.

Known differences: the kit cannot combine a sequence in which one side has nobody with others; here its total is that of
any other sequence. The kit's reader fails on labelled frames without any truth, so the first oddity appears only if its
metric is called directly.
"""

import numpy as np

from ...geometries import keypoint_similarity
from ...matching import Entries, Pairs, Side, assignment
from ...scoring import NamedSums
from ...support import arrays
from ..identities import Keypoints, PoseNumbers
from .hota import HOTA_COUNTS, HOTA_WEIGHTED, LEAST_SIMILARITIES, hota_numbers, hota_parts

COUNTS = ["TP", "FN", "FP"]


def keypoint_hota_parts(keypoints: Keypoints, near: Pairs) -> dict[str, np.ndarray]:
    """HOTA's sums by sequence and joint, each (sequences, joints, alphas).

    `near` has all pairs of joints with a similarity above 0, sorted by truth; its measure is in head sizes.
    """
    similar = near._replace(measure=keypoint_similarity(near.measure))
    similar = similar.take(np.flatnonzero(similar.measure > 0))
    counts = similar.measure >= LEAST_SIMILARITIES[0]
    return _parts(keypoints, chosen_pairs(keypoints, similar, similar.measure, counts))


def keypoint_hota_totals(parts: NamedSums) -> dict[str, np.ndarray]:
    """HOTA's sums of all joints of each sequence, each (sequences, alphas), from its sums by joint.

    Counts are added; each mean over true positives is the mean over the joints, weighted by all true positives.
    """
    means = {name: values.mean(axis=1) for name, values in hota_numbers(parts).items()}
    counts = {name: parts[name].sum(axis=1) for name in HOTA_COUNTS}
    named = zip(HOTA_WEIGHTED, ("LocA", "AssA", "AssRe", "AssPr", "FragA"), strict=True)
    return counts | {name: means[mean] * counts["hota_tp"] for name, mean in named}


def keypoint_hota(parts: NamedSums, totals: NamedSums) -> dict[str, np.ndarray]:
    """The numbers of HOTA and the counts TP, FN, FP, each (sequences + 1, joints + 1, alphas); last are totals.

    `parts` are the sums by joint, and `totals` those of all joints.
    """
    joints = [hota_numbers(parts), hota_numbers(_added(parts, axis=0))]
    combined = hota_numbers(_added(totals, axis=0))
    numbers = {
        name: _bordered(values, joints[1][name], values.mean(axis=1), combined[name])
        for name, values in joints[0].items()
    }
    for name, hota_name in zip(COUNTS, HOTA_COUNTS, strict=True):
        part, count = parts[hota_name], totals[hota_name]
        numbers[name] = _bordered(part, part.sum(axis=0), count, count.sum(axis=0))
    return numbers


def _added(parts: NamedSums, axis: int) -> dict[str, np.ndarray]:
    """Each of the sums, added up along an axis."""
    return {name: part.sum(axis=axis) for name, part in parts.items()}


def _bordered(values: np.ndarray, of_joints: np.ndarray, of_sequences: np.ndarray, of_all: np.ndarray) -> np.ndarray:
    """Values by sequence and joint, with a last row for all sequences and a last column for all joints."""
    below = np.concatenate([of_joints, of_all[None]])[None]
    return np.concatenate([np.concatenate([values, of_sequences[:, None]], axis=1), below])


def chosen_pairs(keypoints: Keypoints, similar: Pairs, weights: np.ndarray, counts: np.ndarray) -> Pairs:
    """The pairs that are in the assignment of the greatest sum of weights, and count.

    Matrices have a row a true pose and a column a predicted one, also those that lack the joint. `weights` (N,) of the
    pairs are above 0, and `counts` (N,) marks those that count.
    """
    aligned = keypoints.tracks.aligned
    rows, row_starts = _of_poses(keypoints, keypoints.truth, aligned.truth, similar.truth)
    columns, column_starts = _of_poses(keypoints, keypoints.predictions, aligned.predictions, similar.prediction)
    entries = Entries(rows, columns, weights, row_starts, column_starts, aligned.names_from(0))
    chosen = assignment.heaviest(entries, counts)
    return similar.take(np.flatnonzero(chosen & counts))


def _of_poses(keypoints: Keypoints, poses: PoseNumbers, side: Side, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pose of each row, counted through all aligned frames, and where the poses of each frame begin."""
    starts = np.concatenate([[0], np.cumsum(poses.counts[keypoints.image])])
    offset = starts[:-1] - poses.starts[keypoints.image]
    return poses.of_row[rows] + offset[side.frame[rows]], starts


def _parts(keypoints: Keypoints, pairs: Pairs) -> dict[str, np.ndarray]:
    """HOTA's sums by sequence and joint, misses and false positives counted as the kit counts them."""
    parts = {name: keypoints.grid(part) for name, part in hota_parts(keypoints.tracks, pairs).items()}
    n_truth, n_predicted = counted_joints(keypoints)
    return parts | {"hota_fn": n_truth - parts["hota_tp"], "hota_fp": n_predicted - parts["hota_tp"]}


def counted_joints(keypoints: Keypoints) -> tuple[np.ndarray, np.ndarray]:
    """How many joints of truth and of predictions count as the kit counts them, each (sequences, joints, 1)."""
    aligned = keypoints.tracks.aligned
    truth, predictions = keypoints.has_truth, keypoints.has_predictions
    compared = (truth & predictions)[keypoints.image]

    def counted(side: Side, alone: np.ndarray, others: np.ndarray) -> np.ndarray:
        """How many joints of a side count, by sequence and joint.

        `alone` marks the images in which all joints of the sequence count, and `others` those in which the other side
        has anybody.
        """
        in_all, in_compared = (keypoints.per_frame(side.counts * factor) for factor in (1, compared))
        n_alone, n_others = (
            arrays.added_at(keypoints.image_sequence, marked, keypoints.n_sequences)[:, None]
            for marked in (alone, others)
        )
        return np.where(n_others == 0, in_all, in_compared + n_alone * in_all)[..., None]

    missed = counted(aligned.truth, truth & ~predictions, predictions)
    return missed, counted(aligned.predictions, ~truth, truth)
