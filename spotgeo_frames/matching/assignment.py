"""The best one-to-one assignment of every frame, by least cost (`assign`) or by greatest weight (`heaviest`).

The answer is always that of scipy.optimize.linear_sum_assignment on the frame's full matrix, with rows and columns in
file order and far objects included. Coordinates often lie on pixel grids, so a frame can have several equally good
answers, and solving only a part of the frame could pick another one and change the metrics. So the solver gets a frame
whole. It gets no frame whose answer is plain: one that follows from comparing single pairs, by margins larger than
rounding errors, so that every best answer agrees.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..support.arrays import chunks, distinct, positions
from ..support.memory import check_at_hand
from .solver import assignment_solver

# Where two costs differ by less than this share of the largest cost, the solver decides, since it rounds itself.
BLUR = 1e-9

# The most cells of cost matrices in memory at once, unless a single frame has more.
CELLS_AT_ONCE = 1 << 20

# The memory of a cell (bytes): its cost and its mark. The solver copies the costs if there are more rows than columns.
CELL_BYTES, COPIED_BYTES = 9, 8


class Entries(NamedTuple):
    """Entries of the frames' matrices, in the order of the frames; every other cell is far.

    `row` and `column` are counted through all frames, from the first frame's 0 on or later. `row_starts` and
    `column_starts` are where those of each frame begin, then the end of the last. `value` is a cost or a weight.
    `name` gives what messages call a frame.
    """

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray
    row_starts: np.ndarray
    column_starts: np.ndarray
    name: Callable[[int], str] = "frame {}".format

    def frame(self) -> np.ndarray:
        """The frame of each entry."""
        sizes = np.diff(self.row_starts)
        return np.repeat(np.arange(len(sizes)), sizes).take(self.row - self.row_starts[0])

    def take(self, chosen: np.ndarray) -> "Entries":
        """The entries that are marked, or whose positions are given."""
        return self._replace(row=self.row[chosen], column=self.column[chosen], value=self.value[chosen])


def assign(near: Entries, largest_cost: float) -> np.ndarray:
    """Marks the near pairs that the best assignment chooses: as many as possible, and among those the least cost.

    `near` has costs from 0 to `largest_cost`; all other pairs have those of `far_costs`.
    """
    far = far_costs(np.diff(near.row_starts), np.diff(near.column_starts), largest_cost)
    frame = near.frame()
    chosen, contested = plain(near, far.take(frame) * BLUR)
    unsettled = np.zeros(len(far), bool)
    unsettled[frame[contested]] = True
    left = np.flatnonzero(unsettled.take(frame))
    chosen[left] = solve(near.take(left), far)
    return chosen


def far_costs(n_rows: np.ndarray, n_columns: np.ndarray, largest_cost: float) -> np.ndarray:
    """What a pair costs that is not near: max(1000, 2 * min(N, M) * largest_cost) in a frame of N rows and M columns.

    That is more than the near pairs of the frame can cost together.
    """
    with np.errstate(over="ignore"):
        return np.maximum(1000.0, 2.0 * np.minimum(n_rows, n_columns) * largest_cost)


def heaviest(positive: Entries, counts: np.ndarray | None = None) -> np.ndarray:
    """Marks the pairs of the assignment with the greatest sum of weights.

    `positive` has weights above 0; all other pairs weigh 0. `counts` marks the pairs that the caller needs. A frame in
    which only others are undecided is not solved, and the marks of those others may be wrong.
    """
    chosen, left = dominant_rounds(positive.row, positive.column, positive.value)
    frame = positive.frame()
    unsettled = np.zeros(len(positive.row_starts) - 1, bool)
    unsettled[frame[left if counts is None else left[counts[left]]]] = True
    left = np.flatnonzero(unsettled.take(frame))
    chosen[left] = solve(positive.take(left)._replace(value=-positive.value[left]), np.zeros(len(unsettled)))
    return chosen


def dominant(row: np.ndarray, column: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The positions of pairs that are in every assignment of the greatest weight, if pairs not listed weigh 0.

    These are the pairs that outweigh the best rival in their row and the best rival in their column together: an
    assignment without such a pair could at best have those two instead.
    """
    row, column = row - row.min(initial=0), column - column.min(initial=0)
    ends = [(end, int(end.max(initial=-1)) + 1) for end in (row, column)]
    is_best = np.ones(len(weight), bool)
    for end, size in ends:
        best = np.zeros(size)
        np.maximum.at(best, end, weight)
        is_best &= weight == best.take(end)
    # Only a pair that is the best of its row and of its column can outweigh its rivals. All others are rivals.
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
    """Marks the dominant pairs, round by round; also returns the positions of the pairs that no round decides.

    Each round leaves out the pairs that share a row or a column with one chosen before.
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
    """Marks the entries that linear_sum_assignment chooses.

    `near` has the costs of all near pairs of the frames to solve; frames without entries are not solved. `far` is the
    cost of all other cells, one value for each frame of the whole list. Raises InputError, naming the frame, if its
    matrix needs more memory than is at hand.
    """
    frame = near.frame()
    frames, first_of_frame = distinct(frame)
    number = positions(frame, frames, first_of_frame)
    n_rows, n_columns = np.diff(near.row_starts)[frames], np.diff(near.column_starts)[frames]
    row, column = near.row - near.row_starts[frame], near.column - near.column_starts[frame]
    sizes = n_rows * n_columns
    chosen = np.zeros(len(frame), bool)
    for first, last in chunks(sizes, CELLS_AT_ONCE):
        if sizes[first] > CELLS_AT_ONCE:
            _check_memory(near.name(int(frames[first])), int(n_rows[first]), int(n_columns[first]))
        part = slice(*np.searchsorted(number, [first, last]))
        starts = np.cumsum(sizes[first:last]) - sizes[first:last]
        cell = starts[number[part] - first] + row[part] * n_columns[number[part]] + column[part]
        costs = np.repeat(far[frames[first:last]], sizes[first:last])
        costs[cell] = near.value[part]
        taken = np.zeros(len(costs), bool)
        taken[_solved(costs, starts, n_rows[first:last], n_columns[first:last])] = True
        chosen[part] = taken[cell]
    return chosen


def _check_memory(name: str, n_rows: int, n_columns: int) -> None:
    """Raises InputError if the matrix of a frame, or of what `name` names, needs more memory than is at hand."""
    cell_bytes = CELL_BYTES + (COPIED_BYTES if n_rows > n_columns else 0)
    check_at_hand(name, f"assigning {n_rows:,} objects to {n_columns:,}", n_rows * n_columns * cell_bytes)


def plain(near: Entries, blur: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Marks the pairs that are plainly chosen; also returns the positions of the pairs that are not plain.

    A pair is plain if it is the only one of its row and of its column. It is also plain if it shares only one of the
    two, only with pairs of which the same holds, and one of these costs clearly less than the others.
    """
    row, column, cost = near.row - near.row_starts[0], near.column - near.column_starts[0], near.value
    n_rows = int(row.max(initial=-1)) + 1
    shared = (np.bincount(row) > 1).take(row), (np.bincount(column) > 1).take(column)
    chosen = ~(shared[0] | shared[1])
    stars = np.flatnonzero(shared[0] ^ shared[1])
    # What each shares: a row, or a column, counted after all rows.
    hub = np.where(shared[0][stars], row[stars], n_rows + column[stars])
    best = np.full(int(hub.max(initial=-1)) + 1, np.inf)
    np.minimum.at(best, hub, cost[stars])
    close = cost[stars] <= best[hub] + blur[stars]
    chosen[stars] = close
    blurred = np.bincount(hub[close], minlength=len(best))[hub] > 1
    return chosen, np.concatenate([np.flatnonzero(shared[0] & shared[1]), stars[blurred]])


def _solved(costs: np.ndarray, starts: np.ndarray, n_rows: np.ndarray, n_columns: np.ndarray) -> np.ndarray:
    """The positions in `costs` of the assigned cells; loops over the matrices, since the solver takes one at a time."""
    linear_sum_assignment = assignment_solver()
    rows, columns = [], []
    for start, height, width in zip(starts.tolist(), n_rows.tolist(), n_columns.tolist(), strict=True):
        row, column = linear_sum_assignment(costs[start : start + height * width].reshape(height, width))
        rows.append(row)
        columns.append(column)
    sizes = np.minimum(n_rows, n_columns)
    return np.repeat(starts, sizes) + np.concatenate(rows) * np.repeat(n_columns, sizes) + np.concatenate(columns)
