"""Average precision of joints, in percent, as poseval has it (github.com/leonid-pishchulin/poseval, evaluateAP.py).

A predicted pose keeps the truth with the highest PCKh: the share of the truth's joints that it has within 0.5 head
sizes. A truth is assigned the best of the poses that kept it. The joints of an assigned pose that are within 0.5 head
sizes of its truth's are right, all other predicted joints wrong. In the order of falling scores of joints, ap is the
area under the curve of precision over recall, precision made non-increasing (Pascal VOC, all points); pre and rec
are those at the end of the curve. The total is the mean over those joints that have the number.

As poseval has it (eval_helpers.py), with what looks odd in it:

    - Of several equally good truths, or poses, the first in the file is taken.
    - Frames in which nobody is annotated are not there, whoever is predicted. A frame whose people were all taken out
      with an ignore region is: there all predictions are wrong.
    - A joint that is predicted without a score has -9999.
    - Where scores are equal, the order is what NumPy's quicksort, reversed, makes of them.
    - Where no joint is predicted, ap, pre and rec are 0. Where no truth is, ap and rec are null and not in the mean.

Known differences: sequences are in the order of their names, in poseval in that of the file system; it shows only in
equal scores.
"""

from itertools import pairwise

import numpy as np

from ...matching.alignment import Side
from ...matching.pairs import Pairs
from ...support.keys import locate, stable_order
from ..keypoints import Keypoints

NO_SCORE = -9999.0


def keypoint_ap(keypoints: Keypoints, near: Pairs, evaluated: np.ndarray) -> dict[str, np.ndarray]:
    """ap, ap_pre and ap_rec by sequence and joint, those of all sequences last, (sequences + 1, joints).

    `near` are all pairs of joints up to 0.5 head sizes, `evaluated` marks the images that are evaluated.
    """
    predictions = keypoints.tracks.aligned.predictions
    right = np.zeros(len(predictions.frame), bool)
    right[near.prediction[_assigned(keypoints, near)]] = True
    track = keypoints.tracks.frame_sequence[predictions.frame]
    rows = np.flatnonzero(evaluated[keypoints.image[predictions.frame]])
    joint, sequence = keypoints.track_joint[track[rows]], keypoints.track_sequence[track[rows]]
    # Joint by joint, and in each joint sequence by sequence, in the order of the file.
    order = stable_order(joint, len(keypoints.joints))
    n_sequences, n_joints = keypoints.n_sequences, len(keypoints.joints)
    starts = np.searchsorted((joint * n_sequences + sequence)[order], np.arange(n_joints * n_sequences + 1))
    scores, right = _scores(predictions)[rows[order]], right[rows[order]]
    n_truth = keypoints.grid(keypoints.tracks.n_truth)
    curves = np.full((3, n_sequences + 1, n_joints), np.nan)
    for number in range(n_joints):
        bounds = starts[number * n_sequences : (number + 1) * n_sequences + 1]
        parts = [*pairwise(bounds.tolist()), (bounds[0], bounds[-1])]
        totals = [*n_truth[:, number].tolist(), int(n_truth[:, number].sum())]
        for place, ((first, last), total) in enumerate(zip(parts, totals, strict=True)):
            curves[:, place, number] = _curve(scores[first:last], right[first:last], total)
    return dict(zip(("ap", "ap_pre", "ap_rec"), 100 * curves, strict=True))


def _scores(predictions: Side) -> np.ndarray:
    if "score" not in predictions.table:
        return np.full(len(predictions.table), NO_SCORE)
    scores = predictions.table["score"].to_numpy(np.float64, na_value=np.nan)
    return np.where(np.isnan(scores), NO_SCORE, scores)


def _assigned(keypoints: Keypoints, near: Pairs) -> np.ndarray:
    """Marks the pairs of joints whose poses are assigned to each other."""
    truth, prediction = keypoints.truth.of_row[near.truth], keypoints.predictions.of_row[near.prediction]
    width = len(keypoints.predictions.of_row) + 1
    keys, together = np.unique(truth * width + prediction, return_counts=True)
    truths, poses = np.divmod(keys, width)
    share = together / np.bincount(keypoints.truth.of_row)[truths]
    kept = _first(poses, np.lexsort((truths, -share, poses)))
    best = kept[_first(truths[kept], np.lexsort((poses[kept], -share[kept], truths[kept])))]
    chosen = np.zeros(len(keys), bool)
    chosen[best] = True
    return chosen[locate(keys, truth * width + prediction)]


def _first(group: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The positions that come first in their group, by the given order, which keeps groups together."""
    return order[np.diff(group[order], prepend=-1) != 0]


def _curve(scores: np.ndarray, right: np.ndarray, n_truth: int) -> tuple[float, float, float]:
    """The area under the curve of precision over recall, and both at its end."""
    if not len(scores):
        return 0.0, 0.0, 0.0
    n_right = np.cumsum(right[np.argsort(scores)[::-1]])
    precision = n_right / np.arange(1, len(scores) + 1)
    if not n_truth:
        return np.nan, float(precision[-1]), np.nan
    recall = n_right / n_truth
    steps = np.diff(recall, prepend=0.0)
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    some = steps > 0
    return float(np.sum(steps[some] * highest[some])), float(precision[-1]), float(recall[-1])
