"""Identity: IDF1, IDP and IDR (Ristani et al., 2016, doi:10.1007/978-3-319-48881-3_2).

Each true track is paired with at most one predicted track for the whole sequence. The pairing is the one in which the
tracks of a pair are together, at a similarity of 0.5 or more, in as many frames as possible. IDTP is the count of these
frames; IDFN and IDFP are the counts of the other rows of truth and of predictions.

    IDR = IDTP / (IDTP + IDFN), IDP = IDTP / (IDTP + IDFP), IDF1 = 2 IDTP / (2 IDTP + IDFN + IDFP)

The metrics are those of trackeval 1.3.0 (metrics/identity.py), fill values included: 0 if there is nothing to divide
by. Known differences: none. trackeval solves a padded square matrix; here only the pairs that occur are solved.
"""

import numpy as np

from ...matching import Entries, Pairs, assignment
from ...scoring import NamedSums
from ...support import arrays
from ..identities import Tracks

# Unlike HOTA and CLEAR, Identity tolerates no rounding at its threshold.
THRESHOLD = 0.5

# The most cells of a sequence's matrix for the dense solver. A matrix of this size takes it a few milliseconds, the
# sparse solver one, and importing the sparse solver takes a hundred.
MOST_CELLS = 1 << 18


def identity_parts(tracks: Tracks, near: Pairs) -> dict[str, np.ndarray]:
    """The sums IDTP, IDFN and IDFP of each sequence; `near` has at least all pairs from THRESHOLD on."""
    kept = np.flatnonzero(near.measure >= THRESHOLD)
    keys = np.sort(tracks.joint_keys(near.truth[kept], near.prediction[kept]))
    values, first = arrays.distinct(keys)
    together = np.diff(first, append=len(keys))
    truth, prediction = tracks.split_keys(values)
    sequence = tracks.truth.sequence[truth]
    idtp = greatest_sums(truth, prediction, together, sequence, tracks.n_sequences).astype(np.int64)
    return {"IDTP": idtp, "IDFN": tracks.n_truth - idtp, "IDFP": tracks.n_predicted - idtp}


def identity_numbers(parts: NamedSums) -> dict[str, np.ndarray]:
    """IDF1, IDP and IDR from sums."""
    idtp, idfn, idfp = (parts[name] for name in ("IDTP", "IDFN", "IDFP"))
    return {
        "IDF1": 2 * idtp / np.maximum(1, 2 * idtp + idfn + idfp),
        "IDP": idtp / np.maximum(1, idtp + idfp),
        "IDR": idtp / np.maximum(1, idtp + idfn),
    }


def greatest_sums(
    truth: np.ndarray, prediction: np.ndarray, together: np.ndarray, sequence: np.ndarray, n_sequences: int
) -> np.ndarray:
    """The greatest sum of `together` that one-to-one pairs of tracks can have, for each sequence, (n_sequences,).

    Tracks are integers that are numbered by sequence; the pairs are sorted by truth, then prediction.
    """
    chosen, left = assignment.dominant_rounds(truth, prediction, together.astype(np.float64))
    undecided = _matrices(truth[left], prediction[left], together[left], sequence[left])
    matrix = undecided.frame()
    cells = np.diff(undecided.row_starts) * np.diff(undecided.column_starts)
    dense = cells[matrix] <= MOST_CELLS
    chosen[left[dense]] = assignment.solve(undecided.take(dense), np.zeros(len(cells)))
    for large in np.flatnonzero(cells > MOST_CELLS):
        rows = left[matrix == large]
        chosen[rows[_greatest_sum(truth[rows], prediction[rows], together[rows])]] = True
    return arrays.added_at(sequence[chosen], together[chosen], n_sequences)


def _matrices(truth: np.ndarray, prediction: np.ndarray, together: np.ndarray, sequence: np.ndarray) -> Entries:
    """One matrix of costs for each sequence that has pairs, of the tracks that these pairs have.

    The pairs are sorted by truth. Tracks of both sides are numbered by sequence, so the pairs are sorted by it, too.
    """
    sequences, first_pair = arrays.distinct(sequence)

    def numbered(track: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tracks, number = np.unique(track, return_inverse=True)
        starts = np.minimum.reduceat(number, first_pair) if len(sequences) else number
        return number, np.append(starts, len(tracks))

    (row, row_starts), (column, column_starts) = numbered(truth), numbered(prediction)
    return Entries(row, column, -together.astype(np.float64), row_starts, column_starts)


def _greatest_sum(truth: np.ndarray, prediction: np.ndarray, together: np.ndarray) -> np.ndarray:
    """The positions of the one-to-one pairs with the greatest sum, by a solver for sparse matrices."""
    # Imported here, because they are slow to import and only large leftovers need them.
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
