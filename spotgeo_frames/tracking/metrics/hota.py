"""HOTA: higher order tracking accuracy (Luiten et al., IJCV 2021, doi:10.1007/s11263-020-01375-2).

At each threshold alpha of the similarity, 0.05, 0.10 ... 0.95:

    DetA = TP / (TP + FN + FP), DetRe = TP / (TP + FN), DetPr = TP / (TP + FP)
    AssA = mean over true positives of c / (t + p - c), AssRe of c / t, AssPr of c / p
    HOTA = sqrt(DetA * AssA), OWTA = sqrt(DetRe * AssA), LocA = mean similarity of the true positives

Here c is how many true positives join the same truth to the same prediction, and t and p are in how many frames that
truth and that prediction occur. The pairs of a frame are the assignment with the greatest sum of similarity times
alignment. The alignment of a truth and a prediction is J / (t + p - J), where J is a sum over frames: their similarity,
divided by the sum of the similarities of both with all objects of the frame, their own counted once. A metric without
an alpha is the mean over the 19 values of alpha.

The fragmentation-aware numbers are those of the PoseTrack21 kit, which calls OWTA RHOTA:

    FragA = mean over true positives of f / (t + p - c)
    FA-HOTA = sqrt(DetA * sqrt(AssA * FragA)), FA-RHOTA = sqrt(DetRe * sqrt(AssA * FragA))

Here f is how many true positives the fragment has. A fragment is a run of true positives of a truth with the same
prediction; it ends where another prediction takes the truth, not where the truth is missed.

The metrics are those of trackeval 1.3.0 (metrics/hota.py), fill values included: shares with nothing to divide by are
0, and LocA is 1 if there is no true positive. Known differences: none. If several assignments are equally good, the
solver's choice counts, so the scores are computed in the same order of operations, to the last bit. Fragments are
counted as in the kit's own copy of trackeval (trackeval/metrics/hota.py of github.com/anDoer/PoseTrack21), which cannot
average them over the detections of several classes; here their sums are added like all others.
"""

from collections.abc import Iterable

import numpy as np

from ...geometries import ROUNDING
from ...matching import Entries, Pairs, assignment, join_pairs
from ...scoring import NamedSums
from ...support import arrays
from ..identities import Tracks
from .ordered_sums import added, row_sums, sequential_sums

ALPHAS = np.arange(0.05, 0.99, 0.05)

# The similarity from which a pair counts at each alpha.
LEAST_SIMILARITIES = ALPHAS - ROUNDING

# The sums of each sequence and alpha: counts, and the sums over true positives of which means are made.
HOTA_COUNTS = ["hota_tp", "hota_fn", "hota_fp"]
HOTA_WEIGHTED = [
    "hota_similarity",
    "hota_association",
    "hota_association_recall",
    "hota_association_precision",
    "hota_fragment",
]

# Those of them that HOTA itself needs.
HOTA_ALONE = [*HOTA_COUNTS, "hota_association"]

# Up to this many possible pairs of identities, those that occur are marked in an array of all.
LARGEST_SPACE = 1 << 24


def hota_pairs(tracks: Tracks, chunks: Iterable[Pairs]) -> Pairs:
    """The assigned pairs of all frames that count at the lowest alpha.

    `chunks` have all pairs with a similarity above 0, chunk by chunk in the order of frames, each sorted by truth, then
    prediction. They are iterated over three times.
    """
    joined, n_pairs = _joined(tracks, chunks)
    position = arrays.locator(joined, n_pairs)
    truth, prediction = tracks.split_keys(joined)
    # Sums are taken one frame after the other, as trackeval does, so that equal scores stay equal.
    shared = np.zeros(len(joined))
    for chunk in chunks:
        shared = added(shared, position(tracks.joint_keys(chunk.truth, chunk.prediction)), _shares(tracks, chunk))
    frames = tracks.truth.n_rows[truth] + tracks.predictions.n_rows[prediction]
    alignment = shared / (frames - shared)
    return join_pairs(
        [
            _assigned(tracks, chunk, alignment[position(tracks.joint_keys(chunk.truth, chunk.prediction))])
            for chunk in chunks
        ]
    )


def hota_parts(tracks: Tracks, pairs: Pairs) -> dict[str, np.ndarray]:
    """The sums HOTA_COUNTS and HOTA_WEIGHTED of the assigned pairs, each (sequences, alphas)."""
    aligned, n_sequences, n_alphas = tracks.aligned, tracks.n_sequences, len(ALPHAS)
    sequence = tracks.frame_sequence[aligned.truth.frame[pairs.truth]]
    level = np.searchsorted(LEAST_SIMILARITIES, pairs.measure, side="right")  # how many alphas a pair counts at
    tp = _from_alpha(sequence, level, n_sequences)
    joined, _ = _joined(tracks, [pairs])
    truth, prediction = tracks.split_keys(joined)
    joint = arrays.locate(joined, tracks.joint_keys(pairs.truth, pairs.prediction))
    together = _from_alpha(joint, level, len(joined))
    frames, predicted_frames = tracks.truth.n_rows[truth], tracks.predictions.n_rows[prediction]
    square = together * together
    wholes = (frames + predicted_frames)[:, None] - together, frames[:, None], predicted_frames[:, None]
    fragments = _fragments(tracks.truth.of_row[pairs.truth], tracks.truth.n_identities, joint, level, square)
    sums = []
    for squares, whole in zip((square, square, square, fragments), (*wholes, wholes[0]), strict=True):
        total = np.zeros((n_sequences, n_alphas))
        np.add.at(total, tracks.truth.sequence[truth], squares / whole)
        sums.append(total)
    fn, fp = tracks.n_truth[:, None] - tp, tracks.n_predicted[:, None] - tp
    weighted = _from_alpha(sequence, level, n_sequences, pairs.measure), *sums
    return dict(zip([*HOTA_COUNTS, *HOTA_WEIGHTED], [tp, fn, fp, *weighted], strict=True))


def hota_alone(parts: NamedSums) -> dict[str, np.ndarray]:
    """HOTA, DetA and AssA from HOTA_ALONE, each in the shape of the sums."""
    tp, fn, fp, association = (parts[name] for name in HOTA_ALONE)
    det_a, ass_a = tp / np.maximum(1, tp + fn + fp), association / np.maximum(1, tp)
    return {"HOTA": np.sqrt(det_a * ass_a), "DetA": det_a, "AssA": ass_a}


def hota_numbers(parts: NamedSums) -> dict[str, np.ndarray]:
    """HOTA and all metrics of its family from sums, each in the shape of the sums.

    OWTA and RHOTA are the same numbers. HOTALocA is HOTA times LocA.
    """
    tp, fn, fp = (parts[name] for name in HOTA_COUNTS)
    similarity, *associations = (parts[name] for name in HOTA_WEIGHTED)
    divisor = np.maximum(1, tp)
    ass_a, ass_re, ass_pr, frag_a = (association / divisor for association in associations)
    found, loc_a = hota_alone(parts), np.where(tp > 0, similarity / divisor, 1.0)
    det_re, aware = tp / np.maximum(1, tp + fn), np.sqrt(ass_a * frag_a)
    by_recall = np.sqrt(det_re * ass_a)
    return {
        **found,
        **{"DetRe": det_re, "DetPr": tp / np.maximum(1, tp + fp), "AssRe": ass_re, "AssPr": ass_pr, "LocA": loc_a},
        **{"OWTA": by_recall, "RHOTA": by_recall, "FragA": frag_a},
        **{"FA-HOTA": np.sqrt(found["DetA"] * aware), "FA-RHOTA": np.sqrt(det_re * aware)},
        "HOTALocA": found["HOTA"] * loc_a,
    }


def _fragments(
    of_truth: np.ndarray, n_truths: int, joint: np.ndarray, level: np.ndarray, square: np.ndarray
) -> np.ndarray:
    """The sum of f * f over the fragments of each two tracks at each alpha, (N, alphas), where `square` has c * c.

    `of_truth` is the true track of each pair, `joint` the row of its two tracks, and `level` at how many alphas it
    counts.
    """
    order = arrays.stable_order(of_truth, n_truths)  # the pairs of each true track, in the order of frames
    of_truth, joint, level = of_truth[order], joint[order], level[order]
    starts = np.flatnonzero(np.diff(joint, prepend=-1))
    # Fragments only join as alpha rises. So two tracks with one fragment have one at all alphas, which is c long.
    is_several = arrays.added_at(joint[starts], None, len(square)) > 1
    goes_back = arrays.added_at(of_truth[starts], is_several[joint[starts]], n_truths) > 0
    kept = np.flatnonzero(goes_back[of_truth])
    if not len(kept):  # as in most small evaluations
        return square.copy()
    rows, joint = np.unique(joint[kept], return_inverse=True)
    level, of_rows = level[kept], np.zeros((len(rows), len(ALPHAS)))
    for alpha in range(len(ALPHAS)):
        counts = np.flatnonzero(level > alpha)  # what does not count at an alpha counts at no higher one
        joint, level = joint[counts], level[counts]
        starts = np.flatnonzero(np.diff(joint, prepend=-1))
        length = np.diff(starts, append=len(joint))
        of_rows[:, alpha] = arrays.added_at(joint[starts], length * length, len(rows))
    fragments = square.copy()
    fragments[rows] = of_rows
    return fragments


def _joined(tracks: Tracks, chunks: Iterable[Pairs]) -> tuple[np.ndarray, int]:
    """The sorted keys of all pairs of identities that occur together, and how many pairs of rows there are."""
    n_pairs = 0
    space = tracks.truth.n_identities * tracks.predictions.n_identities
    if space <= LARGEST_SPACE:
        occurs = np.zeros(space, bool)
        for chunk in chunks:
            occurs[tracks.joint_keys(chunk.truth, chunk.prediction)] = True
            n_pairs += len(chunk.truth)
        return np.flatnonzero(occurs), n_pairs
    parts = [np.zeros(0, np.int64)]
    for chunk in chunks:
        keys = np.sort(tracks.joint_keys(chunk.truth, chunk.prediction))
        parts.append(arrays.distinct(keys)[0])
        n_pairs += len(keys)
    return np.unique(np.concatenate(parts)), n_pairs


def _shares(tracks: Tracks, pairs: Pairs) -> np.ndarray:
    """The similarity of each pair, divided by the sum of all similarities of its truth and of its prediction.

    These are those in its frame; the pair's own similarity counts once.
    """
    truth, predictions = tracks.aligned.truth, tracks.aligned.predictions
    frame = truth.frame.take(pairs.truth)
    height, width = truth.counts.take(frame), predictions.counts.take(frame)
    of_truth = row_sums(pairs.truth, pairs.prediction - predictions.starts.take(frame), width, pairs.measure)
    of_prediction = sequential_sums(pairs.prediction, pairs.measure)
    alone = np.flatnonzero(width == 1)  # a single column is contiguous, so NumPy adds it up like a row
    of_prediction[alone] = row_sums(
        frame[alone], (pairs.truth - truth.starts[frame])[alone], height[alone], pairs.measure[alone]
    )
    whole = of_prediction + of_truth - pairs.measure
    return np.divide(pairs.measure, whole, out=np.zeros(len(whole)), where=whole > ROUNDING)


def _assigned(tracks: Tracks, pairs: Pairs, alignment: np.ndarray) -> Pairs:
    """The pairs of a chunk that are assigned and count at the lowest alpha."""
    aligned = tracks.aligned
    truth, predictions = aligned.truth, aligned.predictions
    weight = alignment * pairs.measure
    if not np.all(weight > 0):
        positive = np.flatnonzero(weight > 0)
        pairs, weight = pairs.take(positive), weight[positive]
    if not len(weight):
        return pairs
    counts = pairs.measure >= LEAST_SIMILARITIES[0]
    first, last = int(truth.frame[pairs.truth[0]]), int(truth.frame[pairs.truth[-1]]) + 1
    rows, columns = (side.starts[first : last + 1] for side in (truth, predictions))
    entries = Entries(pairs.truth, pairs.prediction, weight, rows, columns, aligned.names_from(first))
    chosen = assignment.heaviest(entries, counts)
    return pairs.take(np.flatnonzero(chosen & counts))


def _from_alpha(group: np.ndarray, level: np.ndarray, n_groups: int, weights: np.ndarray | None = None) -> np.ndarray:
    """How many entries, or what sum of weights, each group has at each alpha, (groups, alphas).

    An entry counts at the lowest `level` alphas.
    """
    n_levels = len(ALPHAS) + 1
    counts = arrays.added_at(group * n_levels + level, weights, n_groups * n_levels).reshape(n_groups, n_levels)
    return np.cumsum(counts[:, ::-1], axis=1)[:, -2::-1]
