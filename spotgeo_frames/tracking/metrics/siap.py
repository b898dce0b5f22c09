"""SIAP: how whole, unambiguous, true and lasting the picture is that tracks give (Votruba et al. 2001).

"Single Integrated Air Picture (SIAP) Metrics Implementation", Votruba, Nisley, Rothrock and Zombro, 2001, as Stone Soup
defines it (1.9, `metricgenerator/tracktotruthmetrics.py`).

Association. In each frame, a prediction is associated with the truth that is nearest to it, if that is near enough for
CLEAR (within tau, or a similarity of 0.5); of truths that are equally near, with the first. So several predictions may
be of one truth, as in Stone Soup's `TrackToTruth`, and none is of two. An association of two tracks lasts for as long
as no other row of either track comes between. Its time goes from its first to its last frame, in numbers of frames, so
a single frame takes no time.

    completeness = truths with a prediction / truths
    ambiguity = associated predictions / truths with a prediction
    spuriousness = predictions without a truth / predictions
    positional accuracy = mean distance of the associated predictions to their truths
    longest track segment = sum over true tracks of the longest time that one predicted track is associated with it
        / sum over true tracks of the time from first to last frame
    rate of number changes = sum over true tracks with any association of (N - 1) / time in which true tracks have one

N is the least number of associations, each from its begin to its end, that cover all frames in which a true track has
one. The time of one predicted track is that of all its associations with the true track together, as in Stone Soup.

Known differences from Stone Soup
    - Where there is nothing to divide by, metrics are null. There they are 0, and ambiguity 1.
    - Within tau is a distance of at most tau. `TrackToTruth` takes those below it.
    - An association may last for one frame. Stone Soup fails then, and also where a track lacks a frame in between.
    - N is the least. Stone Soup looks for it in an order that may need more, and stops counting where the association
      that it has chosen ends in the very frame that it looks at.
"""

from typing import NamedTuple

import numpy as np

from ...matching import Pairs
from ...support import arrays
from ..identities import Identities, Tracks

# The sum that only distances have, and those that there always are.
OF_DISTANCES = "siap_distance"
SIAP_SUMS = ("siap_truths", "siap_predictions", "siap_longest", "siap_lifetime", "siap_changes", "siap_tracked")


class Associations(NamedTuple):
    """Spans of frames in which a predicted track is associated with a true one, sorted by their `pair`.

    `pair` stands for both tracks. `first` and `last` are the first and the last row of the true track, counted over all
    true tracks, one after the other.
    """

    pair: np.ndarray
    first: np.ndarray
    last: np.ndarray


def siap_parts(tracks: Tracks, near: Pairs, tau: float | None) -> dict[str, np.ndarray]:
    """The sums SIAP_SUMS of each sequence, and OF_DISTANCES if there is a tau.

    `near` has all pairs that are near enough for CLEAR, by their similarity, which is 1 - distance / (2 tau).
    """
    pairs = _nearest(near)
    aligned, n_sequences = tracks.aligned, tracks.n_sequences
    of_truth, of_prediction = _by_track(tracks.truth), _by_track(tracks.predictions)
    found = _associations(tracks, pairs, of_truth, of_prediction)
    order = np.argsort(of_truth, kind="stable")
    time = aligned.frames["frame"][aligned.truth.frame[order]].astype(np.float64)
    starts = np.append(0, np.cumsum(tracks.truth.n_rows))
    truths, _ = arrays.distinct(np.sort(pairs.truth))
    of_tracks = {
        "siap_longest": _longest(tracks, found, time),
        "siap_lifetime": time[starts[1:] - 1] - time[starts[:-1]],
        "siap_changes": np.maximum(_least_cover(found, starts) - 1, 0),
        "siap_tracked": _covered_time(found, time, starts),
    }
    sums = {
        "siap_truths": tracks.per_sequence(aligned.truth.frame[truths]),
        "siap_predictions": tracks.per_sequence(aligned.predictions.frame[pairs.prediction]),
        **{name: arrays.added_at(tracks.truth.sequence, of, n_sequences) for name, of in of_tracks.items()},
    }
    if tau is not None:
        sequence = tracks.frame_sequence[aligned.truth.frame[pairs.truth]]
        sums[OF_DISTANCES] = arrays.added_at(sequence, 2.0 * tau * (1.0 - pairs.measure), n_sequences)
    return sums


def _nearest(near: Pairs) -> Pairs:
    """The most similar pair of each prediction; of equals, that of the first truth."""
    order = np.lexsort((near.truth, -near.measure, near.prediction))
    return near.take(order[np.diff(near.prediction[order], prepend=-1) != 0])


def _by_track(identities: Identities) -> np.ndarray:
    """The place of each row of a side among all its rows, one track after the other, each in the order of frames."""
    place = np.empty(len(identities.of_row), np.int64)
    place[arrays.stable_order(identities.of_row, identities.n_identities)] = np.arange(len(place))
    return place


def _associations(tracks: Tracks, pairs: Pairs, of_truth: np.ndarray, of_prediction: np.ndarray) -> Associations:
    """The spans of the pairs; `of_truth` and `of_prediction` are the places of the rows of each side by track."""
    key = tracks.joint_keys(pairs.truth, pairs.prediction)
    order = np.lexsort((of_truth[pairs.truth], key))
    key, of_truth, of_prediction = key[order], of_truth[pairs.truth[order]], of_prediction[pairs.prediction[order]]
    goes_on = (np.diff(key) == 0) & (np.diff(of_truth) == 1) & (np.diff(of_prediction) == 1)
    begins = np.flatnonzero(np.append(True, ~goes_on)[: len(key)])
    ends = np.append(begins[1:], len(key))[: len(begins)] - 1
    return Associations(key[begins], of_truth[begins], of_truth[ends])


def _longest(tracks: Tracks, found: Associations, time: np.ndarray) -> np.ndarray:
    """For each true track, the longest time that one predicted track is associated with it."""
    pair, begins = arrays.distinct(found.pair)
    together = np.diff(
        np.append(0, np.cumsum(time[found.last] - time[found.first]))[np.append(begins, len(found.pair))]
    )
    longest = np.zeros(tracks.truth.n_identities)
    np.maximum.at(longest, tracks.split_keys(pair)[0], together)
    return longest


def _covered_time(found: Associations, time: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """For each true track, the time in which any predicted track is associated with it."""
    n_rows = len(time)
    open_ones = np.cumsum(np.bincount(found.first, minlength=n_rows) - np.bincount(found.last, minlength=n_rows))
    steps = np.where(open_ones > 0, np.diff(time, append=0.0), 0.0)  # none is open at the last row of a track
    return np.diff(np.append(0, np.cumsum(steps))[starts])


def _least_cover(found: Associations, starts: np.ndarray) -> np.ndarray:
    """For each true track, the least number of associations that cover all its rows that have any.

    The best next one is always that which reaches farthest. So each row leads to one other, right after the farthest
    end, and following all rows at once, twice as far each time, counts the steps.
    """
    n_rows = int(starts[-1])
    place, reach = np.arange(n_rows + 1), np.full(n_rows + 1, -1)
    np.maximum.at(reach, found.first, found.last)
    reach = np.maximum.accumulate(reach)
    covered = reach >= place
    leads_to = np.minimum(np.where(covered, reach, place) + 1, n_rows)
    count = covered.astype(np.int64)
    while (leads_to < n_rows).any():
        count += count[leads_to]
        leads_to = leads_to[leads_to]
    return -np.diff(count[starts])
