"""CLEAR: MOTA and its counts (Bernardin and Stiefelhagen, 2008, doi:10.1155/2008/246309).

Pairs are near from a similarity of 0.5 on. In each frame the assignment first keeps as many pairs of the step before as
it can; then it takes the greatest sum of similarities. A step is a frame with objects on both sides. All other frames
are skipped and interrupt nothing.

    MODA = (TP - FP) / (TP + FN), MOTA = (TP - FP - IDSW) / (TP + FN), MOTP = mean similarity of the true positives
    MOTAL = (TP - FP - log10(IDSW)) / (TP + FN), with log10(0) as 0
    sMOTA = (sum of the similarities of the true positives - FP - IDSW) / (TP + FN)
    CLR_F1 = TP / (TP + FN / 2 + FP / 2), CLR_Re = TP / (TP + FN), CLR_Pr = TP / (TP + FP)
    IDSW: true positives whose truth was last matched, however long ago, to another prediction
    Frag: times a truth is matched again after a step in which it was not
    MT, PT, ML: truths tracked in more than 80%, in 20% to 80%, and in less than 20% of their frames
    MTR, PTR, MLR: their shares of all true tracks

The metrics are those of trackeval 1.3.0 (metrics/clear.py), fill values included: shares with nothing to divide by are
0. MOTA, MODA, sMOTA, MOTAL and FP per frame of a sequence without any truth are 0, and its MLR is 1; if several
sequences together have no truth, MOTA is -(FP + IDSW) and MODA is -FP. FP per frame counts only the frames of sequences
with objects on both sides. Known differences: none.
"""

from typing import NamedTuple

import numpy as np

from ...geometries import ROUNDING
from ...matching import Entries, Pairs, assignment
from ...scoring import NamedSums
from ...support import arrays
from ..identities import Tracks

THRESHOLD = 0.5
LEAST_SIMILARITY = THRESHOLD - ROUNDING

# Truths that are mostly tracked, partly tracked and mostly lost.
COVERAGES = ["MT", "PT", "ML"]

# The weight that a pair has in addition if it continues one of the step before.
CONTINUES = 1000.0

# Rounds go on while each decides at least this share of the pairs left.
LEAST_DECIDED = 0.1


class ClearPairs(NamedTuple):
    """The true positives in the order of their truths; `switch` and `fragmentation` mark those that are such."""

    pairs: Pairs
    switch: np.ndarray
    fragmentation: np.ndarray


def clear_pairs(tracks: Tracks, near: Pairs) -> ClearPairs:
    """The true positives of all frames; `near` has all pairs from LEAST_SIMILARITY on, sorted by truth."""
    pairs = near.take(_matched(tracks, near))
    truth, prediction = tracks.truth.of_row[pairs.truth], tracks.predictions.of_row[pairs.prediction]
    order = arrays.stable_order(truth, tracks.truth.n_identities)
    step = _steps(tracks)[tracks.aligned.truth.frame[pairs.truth]]
    again = truth[order[1:]] == truth[order[:-1]]
    switch, fragmentation = np.zeros(len(order), bool), np.zeros(len(order), bool)
    switch[order[1:]] = again & (np.diff(prediction[order]) != 0)
    fragmentation[order[1:]] = again & (np.diff(step[order]) > 1)
    return ClearPairs(pairs, switch, fragmentation)


def clear_parts(tracks: Tracks, found: ClearPairs) -> dict[str, np.ndarray]:
    """The sums TP, FN, FP, IDSW, Frag, MT, PT, ML, `similarity` and `clear_frames` of each sequence.

    `similarity` is that of the true positives; `clear_frames` counts the frames of sequences with objects on both
    sides.
    """
    truth = tracks.aligned.truth
    frames = truth.frame[found.pairs.truth]
    tp = tracks.per_sequence(frames)
    coverages = coverage(tracked_share(tracks, found))
    sequence = tracks.frame_sequence[frames]
    return {
        "TP": tp,
        "FN": tracks.n_truth - tp,
        "FP": tracks.n_predicted - tp,
        "IDSW": tracks.per_sequence(frames[found.switch]),
        "Frag": tracks.per_sequence(frames[found.fragmentation]),
        **{
            name: np.bincount(tracks.truth.sequence[coverages == code], minlength=tracks.n_sequences)
            for code, name in enumerate(COVERAGES)
        },
        "similarity": arrays.added_at(sequence, found.pairs.measure, tracks.n_sequences),
        "clear_frames": np.where((tracks.n_truth > 0) & (tracks.n_predicted > 0), tracks.n_frames, 0),
    }


def clear_numbers(parts: NamedSums, combined: np.ndarray) -> dict[str, np.ndarray]:
    """CLEAR's metrics from sums; `combined` marks the sums of several sequences together."""
    tp, fn, fp, switches = (parts[name] for name in ("TP", "FN", "FP", "IDSW"))
    known = np.where(combined | (tp + fn > 0), 1, 0)
    truths, tracked = np.maximum(1, tp + fn), np.maximum(1, parts["MT"] + parts["PT"] + parts["ML"])
    return {
        "MOTA": known * (tp - fp - switches) / truths,
        "MOTP": parts["similarity"] / np.maximum(1, tp),
        "MODA": known * (tp - fp) / truths,
        "sMOTA": known * (parts["similarity"] - fp - switches) / truths,
        "MOTAL": known * (tp - fp - arrays.log10(np.maximum(1, switches))) / truths,
        "CLR_F1": tp / np.maximum(1, tp + 0.5 * fn + 0.5 * fp),
        "CLR_Re": tp / truths,
        "CLR_Pr": tp / np.maximum(1, tp + fp),
        "FP_per_frame": known * fp / np.maximum(1, parts["clear_frames"]),
        "MTR": parts["MT"] / tracked,
        "PTR": parts["PT"] / tracked,
        "MLR": np.where(known > 0, parts["ML"] / tracked, 1.0),
    }


def tracked_share(tracks: Tracks, found: ClearPairs) -> np.ndarray:
    """The share of each true object's frames in which it is matched."""
    matched = np.bincount(tracks.truth.of_row[found.pairs.truth], minlength=tracks.truth.n_identities)
    return matched / tracks.truth.n_rows


def coverage(share: np.ndarray) -> np.ndarray:
    """The position among COVERAGES for each tracked share."""
    return np.where(share > 0.8, 0, np.where(share >= 0.2, 1, 2)).astype(np.int8)


def _steps(tracks: Tracks) -> np.ndarray:
    """The position of each frame among those with objects on both sides, counted from 1."""
    truth, predictions = tracks.aligned.truth, tracks.aligned.predictions
    return np.cumsum((truth.counts > 0) & (predictions.counts > 0))


def _matched(tracks: Tracks, near: Pairs) -> np.ndarray:
    """Marks the pairs that are matched.

    A streak is a truth and a prediction that stay near from step to step. A pair that continues its streak outweighs
    all rivals, so once matched, the streak stays matched to its end. Most pairs have no rivals. For the others, each
    round over the whole dataset decides every pair that outweighs its rivals whether or not these continue, and with it
    the rest of its streak. Once rounds decide few pairs, all frames that wait for no other are solved together, and if
    that decides few pairs, too, the frames of the others one after the other.
    """
    streak, follows = _streaks(tracks, near)
    truth_taken = np.zeros(len(tracks.aligned.truth.frame), bool)
    prediction_taken = np.zeros(len(tracks.aligned.predictions.frame), bool)
    matched = np.zeros(len(near.truth) + 1, bool)  # the last entry stands for the predecessor of a first pair
    # Pairs are sorted by truth, and so by frame: the first match of a streak is the one of the least position.
    first_match = np.full(int(streak.max(initial=-1)) + 1, len(near.truth))
    left = np.arange(len(near.truth))
    shared = (np.bincount(near.truth)[near.truth] > 1) | (np.bincount(near.prediction)[near.prediction] > 1)
    sure = np.flatnonzero(~shared)
    n_left, solved = len(left), False
    while len(left):
        np.minimum.at(first_match, streak[sure], sure)
        continuing = left[first_match[streak[left]] <= left]
        matched[continuing] = truth_taken[near.truth[continuing]] = prediction_taken[near.prediction[continuing]] = True
        left = left[~(truth_taken[near.truth[left]] | prediction_taken[near.prediction[left]])]
        few, n_left = n_left - len(left) < LEAST_DECIDED * n_left, len(left)
        if len(left) and few and solved:
            _walk(tracks, near, left, follows, matched)
            break
        # A pair that follows an undecided one may turn out to continue it. It counts as a rival of this weight, and
        # is not decided in this round.
        undecided = np.zeros(len(near.truth) + 1, bool)
        undecided[left] = True
        open_before = undecided[follows[left]]
        if few:
            sure, left = _solved(tracks, near, left, left[open_before], follows, matched)
            matched[sure] = solved = True
            continue
        solved = False
        weight = np.where(open_before, CONTINUES + 1, near.measure[left])
        sure = assignment.dominant(near.truth[left], near.prediction[left], weight)
        sure = left[sure[~open_before[sure]]]
    return matched[:-1]


def _streaks(tracks: Tracks, near: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """The streak of each pair, and the position of the pair before it there; past the end for a first pair."""
    keys = tracks.joint_keys(near.truth, near.prediction)
    step = _steps(tracks)[tracks.aligned.truth.frame[near.truth]]
    # Sorting by prediction, then by truth, sorts by the keys; sorting short integers twice is faster.
    order = arrays.stable_order(tracks.predictions.of_row[near.prediction], tracks.predictions.n_identities)
    order = order[arrays.stable_order(tracks.truth.of_row[near.truth[order]], tracks.truth.n_identities)]
    begins = np.ones(len(order), bool)
    begins[1:] = (np.diff(step[order]) > 1) | (np.diff(keys[order]) != 0)
    streak, follows = np.empty(len(order), np.int64), np.full(len(order), len(order))
    streak[order] = np.cumsum(begins) - 1
    later = np.flatnonzero(~begins)
    follows[order[later]] = order[later - 1]
    return streak, follows


def _solved(
    tracks: Tracks, near: Pairs, left: np.ndarray, waiting: np.ndarray, follows: np.ndarray, matched: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Solves all frames of pairs left, none of which waits for an earlier frame.

    Returns the matches of these frames, and the pairs that are left in others.
    """
    aligned = tracks.aligned
    frame = aligned.truth.frame[near.truth]
    ready = np.zeros(len(aligned.truth.counts), bool)
    ready[frame[left]] = True
    ready[frame[waiting]] = False
    whole = np.flatnonzero(ready[frame])
    weight = CONTINUES * matched[follows[whole]] + near.measure[whole]
    starts = aligned.truth.starts, aligned.predictions.starts
    entries = Entries(near.truth[whole], near.prediction[whole], -weight, *starts, aligned.names_from(0))
    chosen = assignment.solve(entries, np.zeros(len(ready)))
    return whole[chosen], left[~ready[frame[left]]]


def _walk(tracks: Tracks, near: Pairs, left: np.ndarray, follows: np.ndarray, matched: np.ndarray) -> None:
    """Decides the remaining pairs, one frame after the other, and marks the matches in `matched`."""
    truth, predictions = tracks.aligned.truth, tracks.aligned.predictions
    frame = truth.frame[near.truth]
    frames, begins = np.unique(frame[left], return_index=True)
    starts, ends = np.searchsorted(frame, frames), np.searchsorted(frame, frames, side="right")
    for position, mine, start, end in zip(frames, np.split(left, begins[1:]), starts, ends, strict=True):
        columns = near.truth[mine], near.prediction[mine], matched[follows[mine]]
        plain = _without_rivals(*(column.tolist() for column in columns))
        if plain is not None:
            matched[mine] = plain
            continue
        whole = near.take(slice(start, end))
        entries = Entries(
            whole.truth,
            whole.prediction,
            -(CONTINUES * matched[follows[start:end]] + whole.measure),
            truth.starts[position : position + 2],
            predictions.starts[position : position + 2],
            tracks.aligned.names_from(int(position)),
        )
        matched[start:end] = assignment.solve(entries, np.zeros(1))


def _without_rivals(truth: list[int], prediction: list[int], continues: list[bool]) -> list[bool] | None:
    """Which pairs of a frame are matched if, besides those that continue, none has a rival; None if some have."""
    pairs = list(zip(truth, prediction, strict=True))
    kept = [pair for pair, goes_on in zip(pairs, continues, strict=True) if goes_on]
    taken = {row for row, _ in kept}, {row for _, row in kept}
    free = [pair for pair in pairs if pair[0] not in taken[0] and pair[1] not in taken[1]]
    if len({row for row, _ in free}) < len(free) or len({row for _, row in free}) < len(free):
        return None
    chosen = {*kept, *free}
    return [pair in chosen for pair in pairs]
