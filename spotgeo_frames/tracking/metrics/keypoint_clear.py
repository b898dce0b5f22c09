"""CLEAR of joints in percent, by poseval (github.com/leonid-pishchulin/poseval, evaluateTracking.py).

Each joint is a tracking problem of its own. A true and a predicted joint are near up to 0.5 head sizes of the truth. In
each frame, a truth first keeps the prediction with which it was last matched, however long ago. Of the others, as many
as possible are paired, with the least sum of distances.

    MOTA = 100 (1 - (misses + switches + false positives) / truths)
    precision = 100 matched / (matched + false positives), recall = 100 matched / truths
    MOTP = 100 (1 - D / matched)

The total is the mean over the joints whose value is not null. These oddities are poseval's, with py-motmetrics 1.4.0
(mot.py):

    - The last frame of every sequence is left out. Frames in which nobody is annotated do not count at all, so the last
      frame is the last annotated one.
    - If truth or predictions have nobody in a frame, each joint gets one miss and one false positive there, whoever the
      other side has. (The truth of a frame that counts can be empty only because of ignore regions.)
    - D adds up the distances of all events, not only of matches. Each near pair counts once, whether or not it is
      matched. A matched pair counts again. A switch to a prediction that was never matched before counts again.
      Call a matched pair new if it is a switch, or if its truth was never matched before. A new pair counts again if
      the last new pair of its prediction was with another truth, and then once more if its own truth was never
      matched before.
    - Two truths may have been last matched with the same prediction. The first in the file keeps it.
    - Metrics with nothing to divide by are null and left out of the mean, except for MOTP, which is 0.

Known differences

    - Until July 2018 poseval's file for a single sequence gave every joint the MOTP that follows from the distances of
      the last joint, head_top. Here, as in poseval today, each joint has its own.
    - poseval fails on sequences of a single frame. Here they are accepted and add nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...matching import Entries, Pairs, assignment
from ...scoring import NamedSums
from ...support import arrays

if TYPE_CHECKING:  # poses need pandas, and the metrics of tracks, which are in one table with these, do not
    from ..identities import Keypoints


class KeypointClear(NamedTuple):
    """The matched pairs in the order of their truths; `switch` marks those that are switches.

    `times` is how often the distance of each matched pair is added to D, besides the once for being near.
    """

    pairs: Pairs
    switch: np.ndarray
    times: np.ndarray


def keypoint_clear(keypoints: Keypoints, near: Pairs) -> KeypointClear:
    """Matches the joints of all frames; `near` has all pairs up to 0.5 head sizes apart, sorted by truth."""
    tracks = keypoints.tracks
    pairs = near.take(_matched(keypoints, near))
    truth, prediction = tracks.truth.of_row[pairs.truth], tracks.predictions.of_row[pairs.prediction]
    new_truth, same_prediction = _compared_with_last(truth, tracks.truth.n_identities, prediction)
    new_prediction, _ = _compared_with_last(prediction, tracks.predictions.n_identities, truth)
    switch = ~new_truth & ~same_prediction
    anew = np.flatnonzero(new_truth | switch)
    new, same_truth = _compared_with_last(prediction[anew], tracks.predictions.n_identities, truth[anew])
    transfer = np.zeros(len(switch), bool)
    transfer[anew] = ~new & ~same_truth
    times = 1 + (switch & new_prediction) + transfer + (transfer & new_truth)
    return KeypointClear(pairs, switch, times)


def keypoint_clear_parts(
    keypoints: Keypoints, near: Pairs, found: KeypointClear, evaluated: np.ndarray
) -> dict[str, np.ndarray]:
    """The sums by sequence and joint, each (sequences, joints).

    `evaluated` marks the images that count, still with the last of each sequence, which is left out here.
    """
    aligned = keypoints.tracks.aligned
    images = _without_last(evaluated, keypoints.image_sequence)
    empty = images & ~(keypoints.has_truth & keypoints.has_predictions)
    compared = (images & ~empty)[keypoints.image]
    n_empty = np.bincount(keypoints.image_sequence[empty], minlength=keypoints.n_sequences)[:, None]

    def added(pairs: Pairs, values: np.ndarray | None = None) -> np.ndarray:
        """The count of pairs, or the sum of their values, in frames that are compared."""
        of_frame = arrays.added_at(aligned.truth.frame[pairs.truth], values, len(compared))
        return keypoints.per_frame(of_frame * compared)

    n_truth, n_predicted = (
        keypoints.per_frame(side.counts * compared) for side in (aligned.truth, aligned.predictions)
    )
    detections = added(found.pairs)
    return {
        "objects": n_truth + n_empty,
        "detections": detections,
        "misses": n_truth - detections + n_empty,
        "false_positives": n_predicted - detections + n_empty,
        "switches": added(found.pairs.take(found.switch)),
        "distance": added(near, near.measure) + added(found.pairs, found.pairs.measure * found.times),
    }


def keypoint_clear_numbers(parts: NamedSums) -> dict[str, np.ndarray]:
    """mota, motp, pre and rec in percent from sums, each in the shape of the sums."""
    objects, detections = parts["objects"], parts["detections"]
    mistakes = parts["misses"] + parts["switches"] + parts["false_positives"]
    claims = detections + parts["false_positives"]
    known = np.where(objects > 0, objects, np.nan)
    return {
        "mota": 100 * (1 - mistakes / known),
        "motp": np.where(detections > 0, 100 * (1 - parts["distance"] / np.maximum(detections, 1)), 0.0),
        "pre": 100 * (detections / np.where(claims > 0, claims, np.nan)),
        "rec": 100 * (detections / known),
    }


def _compared_with_last(of: np.ndarray, count: int, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For pairs (of, other) in the order of time: whether `of` is new, and whether `other` is that of its last pair.

    `of` is below `count`.
    """
    order = arrays.stable_order(of, count)
    again, same = np.zeros(len(of), bool), np.zeros(len(of), bool)
    again[order[1:]] = of[order[1:]] == of[order[:-1]]
    same[order[1:]] = other[order[1:]] == other[order[:-1]]
    return ~again, again & same


def _without_last(evaluated: np.ndarray, sequence: np.ndarray) -> np.ndarray:
    """The marked images without the last of each sequence."""
    marked = np.flatnonzero(evaluated)
    images = evaluated.copy()
    images[marked[np.diff(sequence[marked], append=-1) != 0]] = False
    return images


def _matched(keypoints: Keypoints, near: Pairs) -> np.ndarray:
    """Marks the pairs that are matched.

    A pair is matched, whatever came before, if its truth and its prediction have no other near pair. Frames with any
    other pairs are solved in the order of time.
    """
    tracks = keypoints.tracks
    truth, prediction = tracks.truth.of_row[near.truth], tracks.predictions.of_row[near.prediction]
    frame = tracks.aligned.truth.frame[near.truth]
    shared = (np.bincount(near.truth)[near.truth] > 1) | (np.bincount(near.prediction)[near.prediction] > 1)
    contended = arrays.added_at(frame, shared) > 0
    matched = ~contended[frame]
    walked, sure = np.flatnonzero(~matched), np.flatnonzero(matched)
    begins = np.flatnonzero(np.diff(frame[walked], prepend=-1))
    # The sure pairs before each such frame, but after the frame before it.
    since_then = np.split(sure, np.searchsorted(sure, walked[begins]))
    last = np.full(tracks.truth.n_identities, -1)  # the prediction with which each truth was last matched
    taken = [np.zeros(len(side.of_row), bool) for side in (tracks.truth, tracks.predictions)]
    keeper = np.empty(len(tracks.predictions.of_row), np.int64)
    for earlier, mine in zip(since_then, np.split(walked, begins[1:]), strict=False):
        if not len(mine):
            break
        last[truth[earlier]] = prediction[earlier]
        continuing = mine[last[truth[mine]] == prediction[mine]]
        # If several truths continue with one prediction, the first in the file keeps it, since it is written last.
        keeper[near.prediction[continuing[::-1]]] = continuing[::-1]
        kept = continuing[keeper[near.prediction[continuing]] == continuing]
        taken[0][near.truth[kept]] = taken[1][near.prediction[kept]] = True
        free = mine[~(taken[0][near.truth[mine]] | taken[1][near.prediction[mine]])]
        chosen = np.concatenate([kept, free[_paired(keypoints, near.take(free), int(frame[mine[0]]))]])
        matched[chosen] = True
        last[truth[chosen]] = prediction[chosen]
    return matched


def _paired(keypoints: Keypoints, free: Pairs, frame: int) -> np.ndarray:
    """Marks the pairs to match among those of a frame that do not continue; all of them, if none have rivals."""
    if all(len({*end.tolist()}) == len(end) for end in (free.truth, free.prediction)):
        return np.ones(len(free.truth), bool)
    aligned = keypoints.tracks.aligned
    rows, columns = (side.starts[frame : frame + 2] for side in (aligned.truth, aligned.predictions))
    # A pair that is not near costs more than all near pairs together.
    far = 2 * min(int(np.diff(starts)[0]) for starts in (rows, columns)) * (free.measure.max() + 1) + 1
    entries = Entries(free.truth, free.prediction, free.measure, rows, columns, aligned.names_from(frame))
    return assignment.solve(entries, np.array([far]))
