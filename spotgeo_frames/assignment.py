"""The best one-to-one assignment of every frame: as many near pairs as possible, and among those the least cost.

A frame in which every near pair is the only one of both its ends has one answer. Any other frame is solved by
scipy.optimize.linear_sum_assignment on its full matrix, predictions as rows and truths as columns in file order, far
objects included. Coordinates often lie on pixel grids, so equally good answers happen; solving a part of a frame can
pick another of them and change the squared errors, so no part is ever solved by itself.
"""

from typing import NamedTuple

import numpy as np


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
    tau: float,
) -> np.ndarray:
    """Marks the near pairs that are assigned; a bool a pair.

    `prediction`, `truth` and `cost` are one near pair each, sorted by prediction: row numbers that count on through
    the frames, and the cost (0 to `tau`). `prediction_starts` and `truth_starts` say where each frame's rows begin,
    and end with the last one's end. Pairs that are not near cost max(1000, 2 * min(N, M) * tau) in a frame of N
    predictions and M truths, more than any number of near pairs can save.
    """
    prediction, truth = prediction - prediction_starts[0], truth - truth_starts[0]
    prediction_starts, truth_starts = prediction_starts - prediction_starts[0], truth_starts - truth_starts[0]
    conflict = (np.bincount(prediction, minlength=1)[prediction] > 1) | (np.bincount(truth, minlength=1)[truth] > 1)
    if not conflict.any():
        return np.ones(len(cost), bool)
    frame = np.searchsorted(prediction_starts, prediction, side="right") - 1
    unsettled = np.zeros(len(prediction_starts) - 1, bool)
    unsettled[frame[conflict]] = True
    chosen = ~unsettled[frame]
    left = np.flatnonzero(~chosen)
    frames = np.flatnonzero(unsettled)
    n_rows, n_columns = np.diff(prediction_starts)[frames], np.diff(truth_starts)[frames]
    ends = np.cumsum(n_rows * n_columns)
    matrices = Matrices(ends - n_rows * n_columns, n_rows, n_columns)
    of_pair = (np.cumsum(unsettled) - 1)[frame[left]]
    row = prediction[left] - prediction_starts[frame[left]]
    column = truth[left] - truth_starts[frame[left]]
    cell = matrices.starts[of_pair] + row * n_columns[of_pair] + column
    far = np.maximum(1000.0, 2.0 * np.minimum(n_rows, n_columns) * tau)
    costs = np.repeat(far, n_rows * n_columns)
    costs[cell] = cost[left]
    taken = np.zeros(len(costs), bool)
    taken[_solve(costs, matrices)] = True
    chosen[left] = taken[cell]
    return chosen


def _solve(costs: np.ndarray, matrices: Matrices) -> np.ndarray:
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
