"""OSPA(2): how far two sets of tracks are apart, over windows of frames (Beard, Vo and Vo 2020).

"A Solution for Large-Scale Multi-Object Tracking", IEEE Trans. Signal Process. 68, 2754-2769. A window of W frames is a
frame and the W - 1 before it, fewer at the start of a sequence. In a window, a true and a predicted track are apart by

    d = mean over the frames in which either is there of (min(distance, tau), or tau where only one is there)

and the two sets of tracks, of which the larger has N, by

    OSPA(2) = (least sum of d over one-to-one pairs + tau for each track of the larger set that is left) / N

Both orders of the definition are 1, all frames of a window weigh the same, and the cutoff is tau. A window without
tracks is 0 and counts, as a frame without objects does in OSPA. The metric is the mean over the windows that end at
each frame that counts.
"""

import numpy as np

from ...matching import Aligned, Pairs, Side
from ...support import arrays
from ..identities import Identities, Tracks
from .identity import greatest_sums
from .vace import frames_together

# How many near pairs, each once for every window that it is in, are laid out at a time.
PAIRS_AT_ONCE = 1 << 20


def ospa2_sums(aligned: Aligned, tracks: Tracks, near: Pairs, tau: float, size: int) -> np.ndarray:
    """The sum of OSPA(2) over all windows of `size` frames of each sequence.

    There are as many windows as frames. `aligned` are the sides before classes were laid out apart. `near` has all
    pairs within tau, by their similarity, which is 1 - distance / (2 tau).
    """
    window, ends = _windows(aligned, tracks)
    n_windows = int(tracks.n_frames.sum())
    sides = (tracks.aligned.truth, tracks.truth), (tracks.aligned.predictions, tracks.predictions)
    n_tracks = np.maximum(*(_tracks_there(*side, window, ends, size, n_windows) for side in sides))
    gained = _gained(tracks, near, tau, size, window, ends)
    apart = np.where(n_tracks > 0, tau - gained / np.maximum(n_tracks, 1), 0.0)
    return arrays.added_at(np.repeat(np.arange(tracks.n_sequences), tracks.n_frames), apart, tracks.n_sequences)


def _windows(aligned: Aligned, tracks: Tracks) -> tuple[np.ndarray, np.ndarray]:
    """For each frame of the tracks, the window that it ends, and past the last window of its sequence.

    Windows are counted over all sequences; each class of a sequence has those of all its frames.
    """
    listed, laid = arrays.frame_keys([aligned.frames, tracks.aligned.frames])
    sequence, first = arrays.grouped(arrays.row_keys(aligned.frames, ["sequence"]))
    place = arrays.locate(listed, laid)
    ends = np.cumsum(tracks.n_frames)
    starts = ends - tracks.n_frames
    return starts[tracks.frame_sequence] + place - first[sequence[place]], ends[tracks.frame_sequence]


def _tracks_there(
    side: Side, identities: Identities, window: np.ndarray, ends: np.ndarray, size: int, n_windows: int
) -> np.ndarray:
    """How many tracks of a side each window has."""
    order = arrays.stable_order(identities.of_row, identities.n_identities)
    frame, track = side.frame[order], identities.of_row[order]
    begin, end = window[frame], np.minimum(window[frame] + size, ends[frame])
    goes_on = np.flatnonzero(track[1:] == track[:-1])
    end[goes_on] = np.minimum(end[goes_on], begin[goes_on + 1])  # from there on, the next row of the track counts
    changes = np.bincount(begin, minlength=n_windows + 1) - np.bincount(end, minlength=n_windows + 1)
    return np.cumsum(changes)[:n_windows]


def _gained(tracks: Tracks, near: Pairs, tau: float, size: int, window: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """By how much the best pairs of each window are nearer than tau, in all.

    Two tracks are nearer than tau by the mean of what they are in each frame, and so only if they are near in some.
    """
    n_windows = int(tracks.n_frames.sum())
    frame = tracks.aligned.truth.frame[near.truth]
    begin, end = window[frame], np.minimum(window[frame] + size, ends[frame])
    keys = tracks.joint_keys(near.truth, near.prediction)
    pair, of_pair = np.unique(keys, return_inverse=True)
    truth, prediction = tracks.split_keys(pair)
    counts = _Counts(tracks, truth, prediction, window, size, n_windows)
    n_ids = 1 + max(tracks.truth.n_identities, tracks.predictions.n_identities)
    nearer = tau * np.maximum(2.0 * near.measure - 1.0, 0.0)
    gained = np.zeros(n_windows)
    n_pairs = np.cumsum(np.bincount(begin, minlength=n_windows + 1) - np.bincount(end, minlength=n_windows + 1))
    for first, last in arrays.chunks(n_pairs[:n_windows], PAIRS_AT_ONCE):
        rows = np.flatnonzero((begin < last) & (end > first))
        starts = np.maximum(begin[rows], first)
        of_row, at = arrays.ranges(starts, np.minimum(end[rows], last) - starts)
        row = rows[of_row]
        cell, of_cell = np.unique((at - first) * len(pair) + of_pair[row], return_inverse=True)
        at, of_both = np.divmod(cell, max(len(pair), 1))
        mean = arrays.added_at(of_cell, nearer[row], len(cell)) / counts.either(of_both, at + first)
        row, column = (np.unique(at * n_ids + track[of_both], return_inverse=True)[1] for track in (truth, prediction))
        gained[first:last] = greatest_sums(row, column, mean, at, last - first)
    return gained


class _Counts:
    """In how many frames of a window either track of a pair is there."""

    def __init__(
        self, tracks: Tracks, truth: np.ndarray, prediction: np.ndarray, window: np.ndarray, size: int, n_windows: int
    ):
        self.size, self.span = size, n_windows + 1
        sides = (tracks.aligned.truth, tracks.truth), (tracks.aligned.predictions, tracks.predictions)
        self.rows = [np.sort(of.of_row * self.span + window[side.frame]) for side, of in sides]
        self.tracks = truth, prediction
        pair, frame = frames_together(tracks, truth, prediction)
        self.both = np.sort(pair * self.span + window[frame])

    def either(self, pair: np.ndarray, window: np.ndarray) -> np.ndarray:
        """The count of each pair, by its position, in the window that ends there."""
        alone = [self._count(rows, of[pair], window) for rows, of in zip(self.rows, self.tracks, strict=True)]
        return alone[0] + alone[1] - self._count(self.both, pair, window)

    def _count(self, sorted_keys: np.ndarray, of: np.ndarray, window: np.ndarray) -> np.ndarray:
        """How many keys of each group are in the window that ends there; a group lies in one sequence."""
        last = of * self.span + window
        before = of * self.span + np.maximum(window - self.size, -1)
        return np.searchsorted(sorted_keys, last, "right") - np.searchsorted(sorted_keys, before, "right")
