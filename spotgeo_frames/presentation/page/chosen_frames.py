"""Chooses the sequences and frames that the page shows: all of them, or the worst and a sample of the others.

The page shows everything where there are at most MOST_ROWS rows, of whole poses as many as their joints, and at most
MOST_SEQUENCES sequences. A page with every sequence of a larger survey would be too large to open. It therefore shows
about ROWS_CHOSEN rows: one half of the sequences are those with the most misses and false alarms, of each submission in
turn, and the other half are drawn at random from all other sequences. Of a long sequence it shows the FRAMES_CHOSEN
consecutive frames with the most errors.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries.poses import pose_joints
from ...support.arrays import added_at, grouped, row_keys
from ...tables.schema import FN, FP, FRAME_KEY

MOST_ROWS = 300_000
MOST_SEQUENCES = 1000
ROWS_CHOSEN = 24_000
FRAMES_CHOSEN = 50


class ChosenFrames(NamedTuple):
    """The sequences and rows that the page shows.

    Attributes
    ----------
    sequences
        The names of its sequences, worst first.
    rows
        Their rows of the match tables.
    n_sequences
        The count of all sequences of the report.
    n_cut
        The count of frames that were left out because their sequence is long.
    """

    sequences: list[Any]
    rows: pd.DataFrame
    n_sequences: int
    n_cut: int


def choose_frames(matches: pd.DataFrame) -> ChosenFrames:
    """Chooses the sequences and frames that the page shows from match tables with a column `submission`."""
    keys = matches[FRAME_KEY]
    frame, first = grouped(row_keys(keys, FRAME_KEY))
    outcome = matches["outcome"].array.codes
    wrong = (outcome == FN) | (outcome == FP)
    sizes = np.bincount(frame, minlength=len(first)) * max(len(pose_joints(matches)), 1)
    sequence, first_frame = grouped(row_keys(keys.take(first), ["sequence"]))
    submission = matches["submission"].cat
    n_submissions = len(submission.categories)
    cell = sequence[frame] * n_submissions + submission.codes.to_numpy()
    errors = added_at(cell, wrong, len(first_frame) * n_submissions).reshape(-1, n_submissions)
    shown = np.ones(len(first), bool)
    chosen = _worst_first(errors)
    if sizes.sum() > MOST_ROWS or len(chosen) > MOST_SEQUENCES:
        n_shown = int(np.clip(ROWS_CHOSEN // 2 // max(sizes.max(initial=1), 1), 1, FRAMES_CHOSEN))
        shown = _in_worst_window(added_at(frame, wrong, len(first)), sequence, first_frame, n_shown)
        chosen = _chosen(chosen, added_at(sequence, sizes * shown), np.random.default_rng(0))
    is_chosen = np.isin(sequence, chosen)
    is_kept = (shown & is_chosen)[frame]
    names = keys["sequence"].take(first[first_frame[chosen]]).tolist()
    rows = matches if is_kept.all() else matches.take(np.flatnonzero(is_kept)).reset_index(drop=True)
    return ChosenFrames(names, rows, len(first_frame), int(np.count_nonzero(is_chosen & ~shown)))


def _in_worst_window(errors: np.ndarray, sequence: np.ndarray, first: np.ndarray, n_shown: int) -> np.ndarray:
    """Marks, in each sequence, the `n_shown` consecutive frames with the most errors; the first of several equal ones.

    `errors` and `sequence` have one value for each frame, sorted by sequence; `first` is each sequence's first frame.
    """
    sums = np.concatenate([[0], np.cumsum(errors)])
    ends = np.append(first[1:], len(errors))[sequence]
    place = np.arange(len(errors))
    window = sums[np.minimum(place + n_shown, ends)] - sums[place]
    best = np.lexsort([place, -window, sequence])[first]
    begin = np.minimum(best, np.maximum(np.append(first[1:], len(errors)) - n_shown, first))[sequence]
    return (place >= begin) & (place < begin + n_shown)


def _worst_first(errors: np.ndarray) -> np.ndarray:
    """The sequences in an order in which the worst of each submission come in turn.

    `errors` are counts (sequences, submissions).
    """
    rank = np.argsort(np.argsort(-errors, axis=0, kind="stable"), axis=0)
    return np.lexsort([-errors.sum(axis=1), rank.min(axis=1)])


def _chosen(worst: np.ndarray, sizes: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Chooses as many sequences as there is room for, half of them the first of `worst`, and keeps their order.

    `sizes` are the counts of rows of each sequence.
    """
    if len(worst) <= MOST_SEQUENCES and sizes.sum() <= ROWS_CHOSEN:
        return worst
    first = _fitting(worst, sizes, MOST_SEQUENCES // 2, ROWS_CHOSEN // 2)
    others = random.permutation(np.setdiff1d(worst, first))
    room = ROWS_CHOSEN - int(sizes[first].sum())
    sampled = _fitting(others, sizes, MOST_SEQUENCES - len(first), room) if room > 0 else others[:0]
    return worst[np.isin(worst, [*first, *sampled])]


def _fitting(order: np.ndarray, sizes: np.ndarray, most: int, room: int) -> np.ndarray:
    """The first sequences of an order whose sizes fit into `room`: at least one, and no more than `most`."""
    fits = np.cumsum(sizes[order]) <= room
    return order[: min(max(int(fits.sum()), 1), most)]
