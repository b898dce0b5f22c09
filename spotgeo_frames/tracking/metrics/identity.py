"""Identity: IDF1, IDP and IDR (Ristani et al., 2016, doi:10.1007/978-3-319-48881-3_2).

Each true track is paired with at most one predicted track for the whole sequence. The pairing is the one in which the
tracks of a pair are together, at a similarity of 0.5 or more, in as many frames as possible. IDTP is the count of these
frames; IDFN and IDFP are the counts of the other rows of truth and of predictions.

    IDR = IDTP / (IDTP + IDFN), IDP = IDTP / (IDTP + IDFP), IDF1 = 2 IDTP / (2 IDTP + IDFN + IDFP)

The metrics are those of trackeval 1.3.0 (metrics/identity.py), fill values included: 0 if there is nothing to divide
by. Known differences: none. trackeval solves a padded square matrix; here only the pairs that occur are solved.
"""

import numpy as np

from ...matching.assignment import dominant_rounds
from ...matching.pairs import Pairs
from ...scoring.match_sums import NamedSums
from ...support.chunks import chunks
from ...support.keys import distinct
from ..identities import Tracks

# Unlike HOTA and CLEAR, Identity tolerates no rounding at its threshold.
THRESHOLD = 0.5

# Pairs of identities that the solver gets at once; it is slow with many.
PAIRS_AT_ONCE = 1000


def identity_parts(tracks: Tracks, near: Pairs) -> dict[str, np.ndarray]:
    """The sums IDTP, IDFN and IDFP of each sequence; `near` has at least all pairs from THRESHOLD on."""
    kept = np.flatnonzero(near.measure >= THRESHOLD)
    keys = np.sort(tracks.joint_keys(near.truth[kept], near.prediction[kept]))
    values, first = distinct(keys)
    together = np.diff(first, append=len(keys))
    truth, prediction = tracks.split_keys(values)
    sequence = tracks.truth.sequence[truth]
    idtp = _most(truth, prediction, together, sequence, tracks.n_sequences)
    return {"IDTP": idtp, "IDFN": tracks.n_truth - idtp, "IDFP": tracks.n_predicted - idtp}


def identity_numbers(parts: NamedSums) -> dict[str, np.ndarray]:
    """IDF1, IDP and IDR from sums."""
    idtp, idfn, idfp = (parts[name] for name in ("IDTP", "IDFN", "IDFP"))
    return {
        "IDF1": 2 * idtp / np.maximum(1, 2 * idtp + idfn + idfp),
        "IDP": idtp / np.maximum(1, idtp + idfp),
        "IDR": idtp / np.maximum(1, idtp + idfn),
    }


def _most(
    truth: np.ndarray, prediction: np.ndarray, together: np.ndarray, sequence: np.ndarray, n_sequences: int
) -> np.ndarray:
    """The greatest sum of `together` that one-to-one pairs can have, for each sequence."""
    chosen, left = dominant_rounds(truth, prediction, together.astype(np.float64))
    total = np.bincount(sequence[chosen], together[chosen], n_sequences).astype(np.int64)
    # The pairs are sorted by truth, and so by sequence; chunks never split a sequence.
    starts = np.append(np.flatnonzero(np.diff(sequence[left], prepend=-1)), len(left))
    for first, last in chunks(np.diff(starts), PAIRS_AT_ONCE):
        rows = left[starts[first] : starts[last]]
        chosen = rows[_greatest_sum(truth[rows], prediction[rows], together[rows])]
        total += np.bincount(sequence[chosen], together[chosen], n_sequences).astype(np.int64)
    return total


def _greatest_sum(truth: np.ndarray, prediction: np.ndarray, together: np.ndarray) -> np.ndarray:
    """The positions of the one-to-one pairs with the greatest sum, by a solver for sparse matrices."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    truths, row = np.unique(truth, return_inverse=True)
    predictions, column = np.unique(prediction, return_inverse=True)
    of_truth = np.arange(len(truths))
    # Every truth also has a column of its own, which stands for no prediction, so that a full matching exists. Weights
    # are increased by one, since the solver takes a weight of 0 for a missing entry.
    weights = np.concatenate([together + 1, np.ones(len(truths), np.int64)])
    rows, columns = np.concatenate([row, of_truth]), np.concatenate([column, len(predictions) + of_truth])
    places = rows.astype(np.int32), columns.astype(np.int32)  # the solver of SciPy 1.13 takes no others
    graph = csr_array((weights, places), shape=(len(truths), len(predictions) + len(truths)))
    _, chosen = min_weight_full_bipartite_matching(graph, maximize=True)
    return np.flatnonzero(chosen[row] == column)
