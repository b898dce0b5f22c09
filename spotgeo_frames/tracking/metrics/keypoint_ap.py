"""Average precision of joints in percent, by poseval (github.com/leonid-pishchulin/poseval, evaluateAP.py).

Each predicted pose chooses the truth with the highest PCKh: the share of the truth's joints that it has within 0.5 head
sizes. Each truth is then assigned the best of the poses that chose it. A joint of an assigned pose is right if it is
within 0.5 head sizes of the truth's joint. All other predicted joints are wrong. Joints are sorted by falling score,
and ap is the area under the curve of precision over recall, with precision made non-increasing (Pascal VOC, all
points). ap_pre and ap_rec are precision and recall at the end of the curve. The total is the mean over the joints whose
value is not null.

These oddities are poseval's (eval_helpers.py):

    - Of several equally good truths, or poses, the first in the file is taken.
    - Frames in which nobody is annotated do not count, even if they have predictions. A frame whose people were all
      taken out with an ignore region does count; all its predictions are wrong.
    - A joint that is predicted without a score gets -9999.
    - If no joint is predicted, ap, ap_pre and ap_rec are 0. If there is no truth but there are predictions, ap and
      ap_rec are null, and left out of the mean.

Known differences, which matter only for equal scores:

    - Of equal scores, the last in the file comes first, as in poseval with a stable sort: it sorts by rising score and
      reverses that. But its sort is NumPy's quicksort, which leaves equal scores in an order that depends on the
      processor, and so does its ap.
    - Here sequences are in the order of their names; in poseval they are in the order of the file system.
"""

from itertools import pairwise

import numpy as np

from ...matching import Pairs, Side
from ...support import arrays
from ...tables import as_numbers
from ..identities import Keypoints

NO_SCORE = -9999.0


def keypoint_ap(keypoints: Keypoints, near: Pairs, evaluated: np.ndarray) -> dict[str, np.ndarray]:
    """ap, ap_pre and ap_rec by sequence and joint, those of all sequences last, (sequences + 1, joints).

    `near` has all pairs of joints up to 0.5 head sizes apart; `evaluated` marks the images that count.
    """
    predictions = keypoints.tracks.aligned.predictions
    right = np.zeros(len(predictions.frame), bool)
    right[near.prediction[_assigned(keypoints, near)]] = True
    track = keypoints.tracks.frame_sequence[predictions.frame]
    rows = np.flatnonzero(evaluated[keypoints.image[predictions.frame]])
    joint, sequence = keypoints.track_joint[track[rows]], keypoints.track_sequence[track[rows]]
    # Sorted by joint, then sequence, then the order of the file.
    order = arrays.stable_order(joint, len(keypoints.joints))
    n_sequences, n_joints = keypoints.n_sequences, len(keypoints.joints)
    starts = np.searchsorted((joint * n_sequences + sequence)[order], np.arange(n_joints * n_sequences + 1))
    scores, right = _scores(predictions)[rows[order]], right[rows[order]]
    n_truth = keypoints.grid(keypoints.tracks.n_truth)
    curves = np.full((3, n_sequences + 1, n_joints), np.nan)
    for position in range(n_joints):
        bounds = starts[position * n_sequences : (position + 1) * n_sequences + 1]
        ranges = [*pairwise(bounds.tolist()), (bounds[0], bounds[-1])]
        totals = [*n_truth[:, position].tolist(), int(n_truth[:, position].sum())]
        for row, ((first, last), total) in enumerate(zip(ranges, totals, strict=True)):
            curves[:, row, position] = _curve(scores[first:last], right[first:last], total)
    return dict(zip(("ap", "ap_pre", "ap_rec"), 100 * curves, strict=True))


def _scores(predictions: Side) -> np.ndarray:
    """The score of each predicted joint, NO_SCORE if it has none."""
    if "score" not in predictions.table:
        return np.full(len(predictions.table), NO_SCORE)
    scores = as_numbers(predictions.table["score"])
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
    return chosen[arrays.locate(keys, truth * width + prediction)]


def _first(group: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The first position of each group, by an order that keeps groups together."""
    return order[np.diff(group[order], prepend=-1) != 0]


def _curve(scores: np.ndarray, right: np.ndarray, n_truth: int) -> tuple[float, float, float]:
    """The area under the curve of precision over recall, and both at its end."""
    if not len(scores):
        return 0.0, 0.0, 0.0
    n_right = np.cumsum(right[np.argsort(scores, kind="stable")[::-1]])
    precision = n_right / np.arange(1, len(scores) + 1)
    if not n_truth:
        return np.nan, float(precision[-1]), np.nan
    recall = n_right / n_truth
    steps = np.diff(recall, prepend=0.0)
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    rising = steps > 0
    return float(np.sum(steps[rising] * highest[rising])), float(precision[-1]), float(recall[-1])
