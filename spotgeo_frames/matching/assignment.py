"""The best one-to-one assignment of every frame, by least cost (`assign`) or by greatest weight (`heaviest`).

The answer is that of scipy.optimize.linear_sum_assignment on the frame's full matrix, rows and columns in file order,
far objects included. Coordinates often lie on pixel grids, so equally good answers happen, and solving a part of a
frame can pick another of them and change the numbers. So a frame is given to the solver whole, unless its answer is
plain: it follows from comparing single pairs, by more than rounding can blur, so that every best answer agrees.
"""

from typing import NamedTuple

import numpy as np

from ..support.chunks import chunks
from ..support.keys import distinct, positions

# Costs closer than this share of the largest cost there is are left to the solver, which itself rounds.
BLUR = 1e-9

# Cells of cost matrices that are laid out at once, unless a single frame has more.
CELLS_AT_ONCE = 1 << 20


class Entries(NamedTuple):
    """Entries of the frames' matrices, in the order of the frames; whatever is not an entry is far.

    `row` and `column` are numbers that count on through the frames, and `row_starts` and `column_starts` say where
    each frame's begin, and end with the last one's end. `value` is a cost or a weight.
    """

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray
    row_starts: np.ndarray
    column_starts: np.ndarray

    def frame(self) -> np.ndarray:
        """The frame of each entry."""
        sizes = np.diff(self.row_starts)
        return np.repeat(np.arange(len(sizes)), sizes)[self.row - self.row_starts[0]]

    def take(self, chosen: np.ndarray) -> "Entries":
        """Only the entries that are marked or numbered."""
        return self._replace(row=self.row[chosen], column=self.column[chosen], value=self.value[chosen])


def assign(near: Entries, largest_cost: float) -> np.ndarray:
    """Marks the near pairs of the assignment with as many of them as possible, and among those the least cost.

    `near` holds costs from 0 to `largest_cost`. Pairs that are not near cost max(1000, 2 * min(N, M) * largest_cost) in
    a frame of N rows and M columns, more than any number of near pairs can save.
    """
    smaller = np.minimum(np.diff(near.row_starts), np.diff(near.column_starts))
    with np.errstate(over="ignore"):
        far = np.maximum(1000.0, 2.0 * smaller * largest_cost)
    frame = near.frame()
    chosen, contested = _plain(near, far[frame] * BLUR)
    unsettled = np.zeros(len(far), bool)
    unsettled[frame[contested]] = True
    left = np.flatnonzero(unsettled[frame])
    chosen[left] = solve(near.take(left), far)
    return chosen


def heaviest(positive: Entries, counts: np.ndarray | None = None) -> np.ndarray:
    """Marks the pairs of the assignment with the greatest sum of weights.

    `positive` holds weights above 0; all other pairs weigh 0. Where nobody asks for some pairs (`counts` is false),
    frames in which only those are undecided are not solved, and the marks of those pairs may be wrong.
    """
    chosen, left = dominant_rounds(positive.row, positive.column, positive.value)
    frame = positive.frame()
    unsettled = np.zeros(len(positive.row_starts) - 1, bool)
    unsettled[frame[left if counts is None else left[counts[left]]]] = True
    left = np.flatnonzero(unsettled[frame])
    chosen[left] = solve(positive.take(left)._replace(value=-positive.value[left]), np.zeros(len(unsettled)))
    return chosen


def dominant(row: np.ndarray, column: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The positions of pairs that are in every assignment of the greatest weight, pairs not listed weighing 0.

    Such is a pair that outweighs the best rival at its row and the best rival at its column together: an assignment
    without it could only have had those instead.
    """
    row, column = row - row.min(initial=0), column - column.min(initial=0)
    ends = [(end, int(end.max(initial=-1)) + 1) for end in (row, column)]
    is_best = np.ones(len(weight), bool)
    for end, size in ends:
        best = np.zeros(size)
        np.maximum.at(best, end, weight)
        is_best &= weight == best.take(end)
    # Only pairs that are the best at both their ends can outweigh; the others are the rivals, and so are ties.
    candidates, others = np.flatnonzero(is_best), np.flatnonzero(~is_best)
    margin = weight[candidates] - BLUR
    for end, size in ends:
        rival = np.zeros(size)
        np.maximum.at(rival, end.take(others), weight.take(others))
        mine = end.take(candidates)
        rival[np.flatnonzero(np.bincount(mine, minlength=size) > 1)] = np.inf
        margin -= rival.take(mine)
    return candidates[margin > 0]


def dominant_rounds(row: np.ndarray, column: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Marks the pairs that `dominant` finds, again and again without those that share an end with one; and who is left.

    The second are the positions of the pairs that comparing single pairs does not decide.
    """
    chosen = np.zeros(len(row), bool)
    taken = np.zeros(int(row.max(initial=-1)) + 1, bool), np.zeros(int(column.max(initial=-1)) + 1, bool)
    left = np.arange(len(row))
    while len(left):
        sure = left[dominant(row.take(left), column.take(left), weight.take(left))]
        if not len(sure):
            break
        chosen[sure] = taken[0][row[sure]] = taken[1][column[sure]] = True
        left = left[~(taken[0].take(row.take(left)) | taken[1].take(column.take(left)))]
    return chosen, left


def solve(near: Entries, far: np.ndarray) -> np.ndarray:
    """Marks the pairs that linear_sum_assignment takes in the frames that have any, all other cells costing `far`.

    `near` holds all entries of those frames, as costs; `far` is one cost a frame of the whole list.
    """
    frame = near.frame()
    frames, first_of_frame = distinct(frame)
    number = positions(frame, frames, first_of_frame)
    n_rows, n_columns = np.diff(near.row_starts)[frames], np.diff(near.column_starts)[frames]
    row, column = near.row - near.row_starts[frame], near.column - near.column_starts[frame]
    sizes = n_rows * n_columns
    chosen = np.zeros(len(frame), bool)
    for first, last in chunks(sizes, CELLS_AT_ONCE):
        part = slice(*np.searchsorted(number, [first, last]))
        starts = np.cumsum(sizes[first:last]) - sizes[first:last]
        cell = starts[number[part] - first] + row[part] * n_columns[number[part]] + column[part]
        costs = np.repeat(far[frames[first:last]], sizes[first:last])
        costs[cell] = near.value[part]
        taken = np.zeros(len(costs), bool)
        taken[_solved(costs, starts, n_rows[first:last], n_columns[first:last])] = True
        chosen[part] = taken[cell]
    return chosen


def _plain(near: Entries, blur: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of least cost that are chosen where the answer is plain, and the positions of those that are not.

    Plain are pairs that are the only one of both their ends, and those that share one end only with pairs that share
    nothing else and that they beat.
    """
    row, column, cost = near.row - near.row_starts[0], near.column - near.column_starts[0], near.value
    n_rows = int(row.max(initial=-1)) + 1
    shared = np.bincount(row)[row] > 1, np.bincount(column)[column] > 1
    chosen = ~(shared[0] | shared[1])
    stars = np.flatnonzero(shared[0] ^ shared[1])
    # The shared end of each: a row, or a column numbered after all rows.
    hub = np.where(shared[0][stars], row[stars], n_rows + column[stars])
    best = np.full(int(hub.max(initial=-1)) + 1, np.inf)
    np.minimum.at(best, hub, cost[stars])
    close = cost[stars] <= best[hub] + blur[stars]
    chosen[stars] = close
    blurred = np.bincount(hub[close], minlength=len(best))[hub] > 1
    return chosen, np.concatenate([np.flatnonzero(shared[0] & shared[1]), stars[blurred]])


def _solved(costs: np.ndarray, starts: np.ndarray, n_rows: np.ndarray, n_columns: np.ndarray) -> np.ndarray:
    """The cells of `costs` that are assigned, matrix by matrix: the one loop over frames, and only over these."""
    from scipy.optimize import linear_sum_assignment  # slow to import, and many inputs never need it

    rows, columns = [], []
    for start, height, width in zip(starts.tolist(), n_rows.tolist(), n_columns.tolist(), strict=True):
        row, column = linear_sum_assignment(costs[start : start + height * width].reshape(height, width))
        rows.append(row)
        columns.append(column)
    sizes = np.minimum(n_rows, n_columns)
    return np.repeat(starts, sizes) + np.concatenate(rows) * np.repeat(n_columns, sizes) + np.concatenate(columns)
