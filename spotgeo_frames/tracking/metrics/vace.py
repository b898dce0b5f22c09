"""VACE: ATA and SFDA (Manohar et al. 2006, doi:10.1007/11612704_16).

ATA, the average tracking accuracy, pairs each true track with at most one predicted track for the whole sequence:

    STDA = greatest sum over the pairs of (frames in which both are similar / frames in which either is there)
    ATA = STDA / (half of the count of all tracks, true and predicted)

Similar is a similarity of 0.5 or more. SFDA, the sequence frame detection accuracy, pairs the objects of each frame
anew, whatever their similarity:

    FDA = sum over frames of (greatest sum of similarities / half of the count of all objects)
    SFDA = FDA / frames with an object on either side

The metrics are those of trackeval 1.3.0 (metrics/vace.py), its "relaxed" variant with a threshold in each frame. They
are null where it gives NaN: without any track, and without any object. Known differences: none.
"""

from collections.abc import Iterable

import numpy as np

from ...matching import Entries, Pairs, assignment
from ...support import arrays
from ..identities import Tracks
from .identity import greatest_sums

# VACE tolerates no rounding at its threshold.
THRESHOLD = 0.5

VACE_SUMS = ("STDA", "FDA", "vace_frames")

# How many rows of predicted tracks are looked up among those of true tracks at a time.
ROWS_AT_ONCE = 1 << 20


def vace_parts(tracks: Tracks, near: Pairs, chunks: Iterable[Pairs]) -> dict[str, np.ndarray]:
    """The sums VACE_SUMS of each sequence.

    `near` has at least all pairs from THRESHOLD on, and `chunks` all with a similarity above 0, chunk by chunk.
    """
    truth, predictions = tracks.aligned.truth, tracks.aligned.predictions
    is_frame = (truth.counts > 0) | (predictions.counts > 0)
    return {
        "STDA": _tracking_accuracy(tracks, near.take(near.measure >= THRESHOLD)),
        "FDA": arrays.added_at(tracks.frame_sequence, _frame_accuracy(tracks, chunks), tracks.n_sequences),
        "vace_frames": tracks.per_sequence(np.flatnonzero(is_frame)),
    }


def _tracking_accuracy(tracks: Tracks, similar: Pairs) -> np.ndarray:
    """STDA of each sequence."""
    keys = np.sort(tracks.joint_keys(similar.truth, similar.prediction))
    pair, first = arrays.distinct(keys)
    truth, prediction = tracks.split_keys(pair)
    both = np.bincount(frames_together(tracks, truth, prediction)[0], minlength=len(pair))
    either = tracks.truth.n_rows[truth] + tracks.predictions.n_rows[prediction] - both
    share = np.diff(first, append=len(keys)) / either
    return greatest_sums(truth, prediction, share, tracks.truth.sequence[truth], tracks.n_sequences)


def frames_together(tracks: Tracks, truth: np.ndarray, prediction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The frames in which both tracks of each pair are there: the position of the pair, rising, and of the frame."""
    side, identities = tracks.aligned.predictions, tracks.predictions
    n_frames = max(len(side.counts), 1)
    there = np.sort(tracks.truth.of_row * n_frames + tracks.aligned.truth.frame)
    of_track = side.frame[arrays.stable_order(identities.of_row, identities.n_identities)]
    starts, sizes = np.cumsum(identities.n_rows) - identities.n_rows, identities.n_rows[prediction]
    position = arrays.locator(there, int(sizes.sum()))
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for first, last in arrays.chunks(sizes, ROWS_AT_ONCE):
        of_pair, row = arrays.ranges(starts[prediction[first:last]], sizes[first:last])
        of_pair += first
        frame = of_track[row]
        both = np.flatnonzero(position(truth[of_pair] * n_frames + frame) >= 0)
        found.append((of_pair[both], frame[both]))
    pairs, frames = (np.concatenate(column) for column in zip(*found, strict=True))
    return pairs, frames


def _frame_accuracy(tracks: Tracks, chunks: Iterable[Pairs]) -> np.ndarray:
    """The frame detection accuracy of each frame; 0 where a side has no object."""
    truth, predictions = tracks.aligned.truth, tracks.aligned.predictions
    total = np.zeros(len(truth.counts))
    for chunk in filter(lambda pairs: len(pairs.truth), chunks):
        first, last = int(truth.frame[chunk.truth[0]]), int(truth.frame[chunk.truth[-1]]) + 1
        rows, columns = (side.starts[first : last + 1] for side in (truth, predictions))
        name = tracks.aligned.names_from(first)
        entries = Entries(chunk.truth, chunk.prediction, chunk.measure, rows, columns, name)
        chosen = chunk.take(assignment.heaviest(entries))
        total += arrays.added_at(truth.frame[chosen.truth], chosen.measure, len(total))
    return total / np.maximum(0.5 * (truth.counts + predictions.counts), 0.5)
