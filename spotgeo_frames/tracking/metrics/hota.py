"""HOTA: higher order tracking accuracy (Luiten et al., IJCV 2021, doi:10.1007/s11263-020-01375-2).

At each threshold alpha of the similarity, 0.05, 0.10 ... 0.95:

    DetA = TP / (TP + FN + FP), DetRe = TP / (TP + FN), DetPr = TP / (TP + FP)
    AssA = mean over true positives of c / (t + p - c), AssRe of c / t, AssPr of c / p
    HOTA = sqrt(DetA * AssA), LocA = mean similarity of the true positives

where c counts the true positives that join the same truth to the same prediction, and t and p the frames in which that
truth and that prediction occur. A frame's pairs are the assignment with the greatest sum of similarity times alignment;
the alignment of a truth and a prediction is J / (t + p - J), J the sum over frames of their similarity divided by the
similarities of both with everything in the frame. Numbers without an alpha are means over the 19.

As trackeval 1.3.0 has it (metrics/hota.py), fill values included: shares with nothing to divide by are 0, LocA is 1
where there is no true positive. Known differences: none. Where several assignments are equally good it is the solver's
choice that counts, so the scores are computed in the same order of operations, to the last bit.
"""

from collections.abc import Iterable

import numpy as np

from ...matching.assignment import Entries, heaviest
from ...matching.pairs import Pairs, join_pairs
from ...matching.similarity import ROUNDING
from ...support.keys import distinct, locate, locator
from ..identities import Tracks
from . import NamedSums
from .ordered_sums import added, row_sums, sequential_sums

ALPHAS = np.arange(0.05, 0.99, 0.05)

# The similarity from which a pair counts at each alpha.
LEAST_SIMILARITIES = ALPHAS - ROUNDING

# The sums, each of a sequence and an alpha: counts, and what the means over true positives are made of.
HOTA_COUNTS = ["hota_tp", "hota_fn", "hota_fp"]
HOTA_WEIGHTED = ["hota_similarity", "hota_association", "hota_association_recall", "hota_association_precision"]

# Up to this many possible pairs of identities, those that occur are marked in an array of all.
LARGEST_SPACE = 1 << 24


def hota_pairs(tracks: Tracks, chunks: Iterable[Pairs]) -> Pairs:
    """The assigned pairs of all frames that count at the lowest alpha.

    `chunks` are the pairs of runs of frames, in their order: all with a similarity above 0, sorted by truth, then
    prediction. They are gone through three times.
    """
    joined, n_pairs = _joined(tracks, chunks)
    number = locator(joined, n_pairs)
    truth, prediction = tracks.split_keys(joined)
    # Sums are over time, one frame after the other: so adds trackeval, and so equal scores stay equal.
    shared = np.zeros(len(joined))
    for chunk in chunks:
        shared = added(shared, number(tracks.joint_keys(chunk.truth, chunk.prediction)), _shares(tracks, chunk))
    frames = tracks.truth.n_rows[truth] + tracks.predictions.n_rows[prediction]
    alignment = shared / (frames - shared)
    return join_pairs(
        [
            _assigned(tracks, chunk, alignment[number(tracks.joint_keys(chunk.truth, chunk.prediction))])
            for chunk in chunks
        ]
    )


def hota_parts(tracks: Tracks, pairs: Pairs) -> dict[str, np.ndarray]:
    """The sums of the assigned pairs, one row a sequence and one column an alpha: HOTA_COUNTS and HOTA_WEIGHTED."""
    aligned, n_sequences, n_alphas = tracks.aligned, tracks.n_sequences, len(ALPHAS)
    sequence = tracks.frame_sequence[aligned.truth.frame[pairs.truth]]
    level = np.searchsorted(LEAST_SIMILARITIES, pairs.measure, side="right")  # how many alphas a pair counts at
    tp = _from_alpha(sequence, level, n_sequences)
    joined, _ = _joined(tracks, [pairs])
    truth, prediction = tracks.split_keys(joined)
    together = _from_alpha(locate(joined, tracks.joint_keys(pairs.truth, pairs.prediction)), level, len(joined))
    frames, predicted_frames = tracks.truth.n_rows[truth], tracks.predictions.n_rows[prediction]
    square = together * together
    wholes = (frames + predicted_frames)[:, None] - together, frames[:, None], predicted_frames[:, None]
    sums = []
    for whole in wholes:
        total = np.zeros((n_sequences, n_alphas))
        np.add.at(total, tracks.truth.sequence[truth], square / whole)
        sums.append(total)
    fn, fp = tracks.n_truth[:, None] - tp, tracks.n_predicted[:, None] - tp
    weighted = _from_alpha(sequence, level, n_sequences, pairs.measure), *sums
    return dict(zip([*HOTA_COUNTS, *HOTA_WEIGHTED], [tp, fn, fp, *weighted], strict=True))


def hota_numbers(parts: NamedSums) -> dict[str, np.ndarray]:
    """HOTA, DetA, AssA, DetRe, DetPr, AssRe, AssPr and LocA of sums, in their shape."""
    tp, fn, fp = (parts[name] for name in HOTA_COUNTS)
    similarity, association, association_recall, association_precision = (parts[name] for name in HOTA_WEIGHTED)
    found = np.maximum(1, tp)
    det_a, ass_a = tp / np.maximum(1, tp + fn + fp), association / found
    return {
        "HOTA": np.sqrt(det_a * ass_a),
        "DetA": det_a,
        "AssA": ass_a,
        "DetRe": tp / np.maximum(1, tp + fn),
        "DetPr": tp / np.maximum(1, tp + fp),
        "AssRe": association_recall / found,
        "AssPr": association_precision / found,
        "LocA": np.where(tp > 0, similarity / found, 1.0),
    }


def _joined(tracks: Tracks, chunks: Iterable[Pairs]) -> tuple[np.ndarray, int]:
    """The keys of all identities that occur together, sorted, and how many pairs there are."""
    n_pairs = 0
    space = tracks.truth.number * tracks.predictions.number
    if space <= LARGEST_SPACE:
        occurs = np.zeros(space, bool)
        for chunk in chunks:
            occurs[tracks.joint_keys(chunk.truth, chunk.prediction)] = True
            n_pairs += len(chunk.truth)
        return np.flatnonzero(occurs), n_pairs
    parts = [np.zeros(0, np.int64)]
    for chunk in chunks:
        keys = np.sort(tracks.joint_keys(chunk.truth, chunk.prediction))
        parts.append(distinct(keys)[0])
        n_pairs += len(keys)
    return np.unique(np.concatenate(parts)), n_pairs


def _shares(tracks: Tracks, pairs: Pairs) -> np.ndarray:
    """The similarity of each pair divided by all similarities of its truth and its prediction in the frame."""
    truth, predictions = tracks.aligned.truth, tracks.aligned.predictions
    frame = truth.frame.take(pairs.truth)
    height, width = truth.counts.take(frame), predictions.counts.take(frame)
    of_truth = row_sums(pairs.truth, pairs.prediction - predictions.starts.take(frame), width, pairs.measure)
    of_prediction = sequential_sums(pairs.prediction, pairs.measure)
    alone = np.flatnonzero(width == 1)  # a single column is contiguous, too
    of_prediction[alone] = row_sums(
        frame[alone], (pairs.truth - truth.starts[frame])[alone], height[alone], pairs.measure[alone]
    )
    whole = of_prediction + of_truth - pairs.measure
    return np.divide(pairs.measure, whole, out=np.zeros(len(whole)), where=whole > ROUNDING)


def _assigned(tracks: Tracks, pairs: Pairs, alignment: np.ndarray) -> Pairs:
    """The assigned ones of the pairs of a run of frames."""
    truth, predictions = tracks.aligned.truth, tracks.aligned.predictions
    weight = alignment * pairs.measure
    if not np.all(weight > 0):
        positive = np.flatnonzero(weight > 0)
        pairs, weight = pairs.take(positive), weight[positive]
    if not len(weight):
        return pairs
    counts = pairs.measure >= LEAST_SIMILARITIES[0]
    first, last = int(truth.frame[pairs.truth[0]]), int(truth.frame[pairs.truth[-1]]) + 1
    starts = (side.starts[first : last + 1] for side in (truth, predictions))
    chosen = heaviest(Entries(pairs.truth, pairs.prediction, weight, *starts), counts)
    return pairs.take(np.flatnonzero(chosen & counts))


def _from_alpha(group: np.ndarray, level: np.ndarray, n_groups: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Of each group and alpha the number, or the sum of the weights, of what counts there: `level` alphas each."""
    n_levels = len(ALPHAS) + 1
    counts = np.bincount(group * n_levels + level, weights, n_groups * n_levels).reshape(n_groups, n_levels)
    return np.cumsum(counts[:, ::-1], axis=1)[:, -2::-1]
