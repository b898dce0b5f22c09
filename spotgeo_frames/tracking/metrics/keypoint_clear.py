"""CLEAR of joints, in percent, as poseval has it (github.com/leonid-pishchulin/poseval, evaluateTracking.py).

Each joint is a tracking problem of its own. A joint of the truth and one of a prediction are near up to 0.5 head sizes
of the truth. In each frame, a truth first keeps the prediction that it was last matched with, however long ago; of the
rest as many as possible are paired, and among those with the least sum of distances.

    MOTA = 100 (1 - (misses + switches + false positives) / truths)
    precision = 100 matched / (matched + false positives), recall = 100 matched / truths
    MOTP = 100 (1 - D / matched)

The total is the mean over those joints that have the number. As poseval has it with py-motmetrics 1.4.0 (mot.py), with
what looks odd in it:

    - The last frame of every sequence is left out. Frames in which nobody is annotated are not there at all, so the one
      before may be the last.
    - In a frame in which truth or predictions have nobody, one miss and one false positive are counted for each joint,
      whoever the other side has. (A frame loses its truth by ignore regions only; else it would not be there.)
    - D adds up the distances of all events, not only of the matches: of each pair that is near, whether or not it is
      matched; once more of each that is matched; once more of a switch to a prediction that was never matched before;
      once more where the prediction was last paired anew with another truth, and then once more if this truth was never
      matched before.
    - Two truths may have been last matched with the same prediction. The first in the file keeps it.
    - Numbers with nothing to divide by are null and not in the mean, except for MOTP, which is 0.

Known differences

    - Until July 2018 poseval's file for a single sequence gave every joint the MOTP that follows from the distances of
      the last joint, head_top. Here, as in poseval today, each joint has its own.
    - poseval fails on sequences of a single frame; here they add nothing.
"""

from typing import NamedTuple

import numpy as np

from ...matching.assignment import Entries, solve
from ...matching.pairs import Pairs
from ...support.keys import stable_order
from ..keypoints import Keypoints
from . import NamedSums

# The distance in head sizes up to which two joints are near.
NEAR = 0.5


class KeypointClear(NamedTuple):
    """The matched pairs, in the order of their truths, and which of them are switches.

    `times` is how often the distance of each is added again, after once for being near.
    """

    pairs: Pairs
    switch: np.ndarray
    times: np.ndarray


def keypoint_clear(keypoints: Keypoints, near: Pairs) -> KeypointClear:
    """Matches the joints of all frames; `near` are all pairs up to NEAR, sorted by truth, measured in head sizes."""
    tracks = keypoints.tracks
    pairs = near.take(_matched(keypoints, near))
    truth, prediction = tracks.truth.of_row[pairs.truth], tracks.predictions.of_row[pairs.prediction]
    new_truth, same_prediction = _compared_with_last(truth, tracks.truth.number, prediction)
    new_prediction, _ = _compared_with_last(prediction, tracks.predictions.number, truth)
    switch = ~new_truth & ~same_prediction
    anew = np.flatnonzero(new_truth | switch)
    new, same_truth = _compared_with_last(prediction[anew], tracks.predictions.number, truth[anew])
    transfer = np.zeros(len(switch), bool)
    transfer[anew] = ~new & ~same_truth
    times = 1 + (switch & new_prediction) + transfer + (transfer & new_truth)
    return KeypointClear(pairs, switch, times)


def keypoint_clear_parts(
    keypoints: Keypoints, near: Pairs, found: KeypointClear, evaluated: np.ndarray
) -> dict[str, np.ndarray]:
    """Sums by sequence and joint; `evaluated` marks the images that are evaluated at all, the last of each included."""
    aligned = keypoints.tracks.aligned
    images = _without_last(evaluated, keypoints.image_sequence)
    empty = images & ((keypoints.truth.counts == 0) | (keypoints.predictions.counts == 0))
    compared = (images & ~empty)[keypoints.image]
    n_empty = np.bincount(keypoints.image_sequence[empty], minlength=keypoints.n_sequences)[:, None]

    def added(pairs: Pairs, values: np.ndarray | None = None) -> np.ndarray:
        """The number or the sum of the values of pairs in frames that are compared."""
        of_frame = np.bincount(aligned.truth.frame[pairs.truth], values, len(compared))
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
    """mota, motp, pre and rec, in percent, of sums, in their shape."""
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


def _compared_with_last(of: np.ndarray, number: int, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of pairs in the order of time: whether `of` is in none before, and whether `other` is the same as in its last."""
    order = stable_order(of, number)
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

    A pair that is the only near one of both its ends is matched whatever came before. The frames that have others are
    walked through in the order of time, with all of their pairs.
    """
    tracks = keypoints.tracks
    truth, prediction = tracks.truth.of_row[near.truth], tracks.predictions.of_row[near.prediction]
    frame = tracks.aligned.truth.frame[near.truth]
    shared = (np.bincount(near.truth)[near.truth] > 1) | (np.bincount(near.prediction)[near.prediction] > 1)
    contended = np.bincount(frame, shared) > 0
    matched = ~contended[frame]
    walked, sure = np.flatnonzero(~matched), np.flatnonzero(matched)
    begins = np.flatnonzero(np.diff(frame[walked], prepend=-1))
    since_then = np.split(
        sure, np.searchsorted(sure, walked[begins])
    )  # what came before each frame, but after the last
    last = np.full(tracks.truth.number, -1)  # the prediction that each truth was last matched with
    taken = [np.zeros(len(side.of_row), bool) for side in (tracks.truth, tracks.predictions)]
    keeper = np.empty(len(tracks.predictions.of_row), np.int64)
    for earlier, mine in zip(since_then, np.split(walked, begins[1:]), strict=False):
        if not len(mine):
            break
        last[truth[earlier]] = prediction[earlier]
        continuing = mine[last[truth[mine]] == prediction[mine]]
        # Where several want a prediction, the first in the file keeps it: it is written last.
        keeper[near.prediction[continuing[::-1]]] = continuing[::-1]
        kept = continuing[keeper[near.prediction[continuing]] == continuing]
        taken[0][near.truth[kept]] = taken[1][near.prediction[kept]] = True
        free = mine[~(taken[0][near.truth[mine]] | taken[1][near.prediction[mine]])]
        chosen = np.concatenate([kept, free[_paired(keypoints, near.take(free), int(frame[mine[0]]))]])
        matched[chosen] = True
        last[truth[chosen]] = prediction[chosen]
    return matched


def _paired(keypoints: Keypoints, free: Pairs, frame: int) -> np.ndarray:
    """Marks those of a frame's pairs that are paired anew: all, where none shares an end with another."""
    if all(len({*end.tolist()}) == len(end) for end in (free.truth, free.prediction)):
        return np.ones(len(free.truth), bool)
    aligned = keypoints.tracks.aligned
    starts = [side.starts[frame : frame + 2] for side in (aligned.truth, aligned.predictions)]
    # What is not near costs more than any number of near pairs can save.
    far = 2 * min(int(np.diff(start)[0]) for start in starts) * (free.measure.max() + 1) + 1
    return solve(Entries(free.truth, free.prediction, free.measure, *starts), np.array([far]))
