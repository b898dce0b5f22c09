"""The best one-to-one assignment of every frame: as many near pairs as possible, and among those the least cost.

The answer is that of scipy.optimize.linear_sum_assignment on the frame's full matrix, predictions as rows and truths
as columns in file order, far objects included. Coordinates often lie on pixel grids, so equally good answers happen,
and solving a part of a frame can pick another of them and change the squared errors. So a frame is given to the solver
whole, unless its answer is plain: every near pair is the only one of both its ends, or shares one end only with pairs
that share nothing else and that it beats by more than rounding can blur.
"""

from typing import NamedTuple

import numpy as np

# Costs closer than this share of the cost of a far pair are left to the solver, which itself rounds.
BLUR = 1e-9


class Matrices(NamedTuple):
    """The cost matrices of some frames, end to end in one array: where each begins, its rows and its columns."""

    starts: np.ndarray
    n_rows: np.ndarray
    n_columns: np.ndarray


def assign(
    prediction: np.ndarray,
    truth: np.ndarray,
    cost: np.ndarray,
    prediction_starts: np.ndarray,
    truth_starts: np.ndarray,
    largest_cost: float,
) -> np.ndarray:
    """Marks the near pairs that are assigned; a bool a pair.

    `prediction`, `truth` and `cost` are one near pair each, sorted by prediction: row numbers that count on through
    the frames, and the cost, 0 to `largest_cost`. `prediction_starts` and `truth_starts` say where each frame's rows
    begin, and end with the last one's end. Pairs that are not near cost max(1000, 2 * min(N, M) * largest_cost) in a
    frame of N predictions and M truths, more than any number of near pairs can save.
    """
    n_rows, n_columns = np.diff(prediction_starts), np.diff(truth_starts)
    frame = np.repeat(np.arange(len(n_rows)), n_rows)[prediction - prediction_starts[0]]
    with np.errstate(over="ignore"):
        far = np.maximum(1000.0, 2.0 * np.minimum(n_rows, n_columns) * largest_cost)
    chosen, contested = _plain(prediction - prediction_starts[0], truth - truth_starts[0], cost, far[frame] * BLUR)
    unsettled = np.zeros(len(n_rows), bool)
    unsettled[frame[contested]] = True
    left = np.flatnonzero(unsettled[frame])
    if len(left):
        sizes = n_rows * n_columns * unsettled
        starts = np.cumsum(sizes) - sizes
        corner = starts - prediction_starts[:-1] * n_columns - truth_starts[:-1]
        of_pair = frame[left]
        cell = corner[of_pair] + prediction[left] * n_columns[of_pair] + truth[left]
        costs = np.repeat(far, sizes)
        costs[cell] = cost[left]
        taken = np.zeros(len(costs), bool)
        taken[_solved(costs, Matrices(starts[unsettled], n_rows[unsettled], n_columns[unsettled]))] = True
        chosen[left] = taken[cell]
    return chosen


def _plain(
    prediction: np.ndarray, truth: np.ndarray, cost: np.ndarray, blur: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that are chosen where the answer is plain, and the positions of those that make it not so."""
    n_predictions = int(prediction.max(initial=-1)) + 1
    shared = np.bincount(prediction)[prediction] > 1, np.bincount(truth)[truth] > 1
    chosen = ~(shared[0] | shared[1])
    stars = np.flatnonzero(shared[0] ^ shared[1])
    # The shared end of each: a prediction, or a truth numbered after all predictions.
    hub = np.where(shared[0][stars], prediction[stars], n_predictions + truth[stars])
    best = np.full(int(hub.max(initial=-1)) + 1, np.inf)
    np.minimum.at(best, hub, cost[stars])
    close = cost[stars] <= best[hub] + blur[stars]
    chosen[stars] = close
    blurred = np.bincount(hub[close], minlength=len(best))[hub] > 1
    return chosen, np.concatenate([np.flatnonzero(shared[0] & shared[1]), stars[blurred]])


def _solved(costs: np.ndarray, matrices: Matrices) -> np.ndarray:
    """The cells of `costs` that are assigned, frame by frame: the one loop over frames, and only over these."""
    from scipy.optimize import linear_sum_assignment  # slow to import, and many inputs never need it

    rows, columns = [], []
    for start, n_rows, n_columns in zip(*(part.tolist() for part in matrices), strict=True):
        row, column = linear_sum_assignment(costs[start : start + n_rows * n_columns].reshape(n_rows, n_columns))
        rows.append(row)
        columns.append(column)
    sizes = np.minimum(matrices.n_rows, matrices.n_columns)
    starts, widths = np.repeat(matrices.starts, sizes), np.repeat(matrices.n_columns, sizes)
    return starts + np.concatenate(rows) * widths + np.concatenate(columns)
