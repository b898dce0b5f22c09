"""The best one-to-one assignment of every frame, by least cost (`assign`) or by greatest weight (`heaviest`).

The answer is always that of scipy.optimize.linear_sum_assignment on the frame's full matrix, with rows and columns in
file order and far objects included. Coordinates often lie on pixel grids, so a frame can have several equally good
answers, and solving only a part of the frame could pick another one and change the metrics. So the solver gets a frame
whole. It gets no frame whose answer is plain: one that follows from comparing single pairs, by margins larger than
rounding errors, so that every best answer agrees. Of crowded frames, it first gets components: the pairs that hang
together by shared rows and columns. Where every other answer of a component costs clearly more, that is its answer. A
frame whose matrix would have more cells than LARGEST_MATRIX is not solved whole: each of its components is, which is as
good an answer, though another one may be equally good but for rounding. Two answers differ by cycles in which rows take
each other's columns; a cycle may also pass once through the rows and columns that are left over. So an answer is the
only best one if every cycle costs clearly more than 0. Floyd and Warshall's algorithm finds the cheapest.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ..support import arrays, memory
from .solver import assignment_solver

# Where two costs differ by less than this share of the largest cost, the solver decides, since it rounds itself.
BLUR = 1e-9

# The most cells of cost matrices in memory at once, unless a single frame has more.
CELLS_AT_ONCE = 1 << 20

# Frames with more cells are solved component by component. To solve such a matrix takes minutes or all memory.
LARGEST_MATRIX = 1 << 28

# Components in which more pairs than this may be chosen are left undecided, because their cycles cost too much time.
MOST_CHOSEN = 16

# The solver takes about as long for so many cells as a pair takes that is not plain, where components are looked for.
CELLS_A_PAIR = 512

# Frames are taken apart into components only if that spares the solver at least so many cells, which takes it as long
# as the search takes that finds nothing.
LEAST_SPARED = 1 << 17

# The memory of a cell (bytes): its cost and its mark. The solver copies the costs if there are more rows than columns.
CELL_BYTES, COPIED_BYTES = 9, 8


# What a pair costs that is not near, in frames of so many rows and columns: arrays (frames,).
FarCosts = Callable[[np.ndarray, np.ndarray], np.ndarray]


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


def assign(near: Entries, far_of: FarCosts) -> np.ndarray:
    """Marks the near pairs that the assignment of least cost chooses.

    All other pairs cost what `far_of` says, the same within a frame and at least as much as any near pair of it. With
    `most_pairs` as many near pairs as possible are chosen, and among those the ones of least cost.
    """
    far = far_of(np.diff(near.row_starts), np.diff(near.column_starts))
    frame = near.frame()
    chosen, contested = plain(near, far.take(frame) * BLUR)
    n_contested = np.bincount(frame[contested], minlength=len(far))
    unsettled = n_contested > 0
    n_cells = np.diff(near.row_starts) * np.diff(near.column_starts)
    spared, huge = n_cells - CELLS_A_PAIR * n_contested, n_cells > LARGEST_MATRIX
    crowded = unsettled & ((spared > 0) | huge)
    if (unsettled & huge).any() or spared[crowded].sum() >= LEAST_SPARED:
        pairs = np.flatnonzero(crowded.take(frame) & _shared(near))
        is_contested = np.zeros(len(frame), bool)
        is_contested[contested] = True
        of_frame = far[frame[pairs]], huge[frame[pairs]]
        chosen[pairs], answered = _by_component(near.take(pairs), chosen[pairs], is_contested[pairs], *of_frame)
        unsettled[crowded] = False
        unsettled[frame[pairs[~answered]]] = True
    left = np.flatnonzero(unsettled.take(frame))
    chosen[left] = solve(near.take(left), far)
    return chosen


def _shared(near: Entries) -> np.ndarray:
    """Marks the pairs that share their row or their column with another."""
    row, column = near.row - near.row_starts[0], near.column - near.column_starts[0]
    return (np.bincount(row) > 1).take(row) | (np.bincount(column) > 1).take(column)


def _by_component(
    near: Entries, chosen: np.ndarray, contested: np.ndarray, far: np.ndarray, huge: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Marks the pairs that are chosen, each component by itself; also marks the pairs whose answer stands.

    That is the only one of its component, or any of a component of a `huge` frame. `chosen` marks pairs that are
    plainly chosen where no pair of their component is `contested`. `far` is what a pair of the frame of each pair costs
    that is not near.
    """
    component = components_of(near.row, near.column)
    is_open = np.zeros(int(component.max(initial=-1)) + 1, bool)
    is_open[component[contested]] = True
    pairs = np.flatnonzero(is_open[component])
    pairs = pairs[np.argsort(component[pairs], kind="stable")]
    opened, first = arrays.distinct(component[pairs])
    of_pair = arrays.positions(component[pairs], opened, first)
    units = np.arange(len(opened))
    rows, columns = (numbered(end[pairs], of_pair, units) for end in (near.row, near.column))
    ends = rows.starts[of_pair] + rows.in_component, columns.starts[of_pair] + columns.in_component
    frames = near.frame()[pairs][first]
    opened_near = Entries(
        *ends, near.value[pairs], rows.starts, columns.starts, lambda component: near.name(int(frames[component]))
    )
    found, unique = only_answers(opened_near, far[pairs][first], huge[pairs][first])
    chosen, answered = chosen.copy(), np.ones(len(near.row), bool)
    chosen[pairs], answered[pairs] = found, (unique | huge[pairs][first])[of_pair]
    return chosen, answered


def far_costs(n_rows: np.ndarray, n_columns: np.ndarray, largest_cost: float) -> np.ndarray:
    """What a pair costs that is not near: max(1000, 2 * min(N, M) * largest_cost) in a frame of N rows and M columns.

    That is more than the near pairs of the frame can cost together.
    """
    with np.errstate(over="ignore"):
        return np.maximum(1000.0, 2.0 * np.minimum(n_rows, n_columns) * largest_cost)


def most_pairs(largest_cost: float) -> FarCosts:
    """What pairs have to cost that are not near, so that as many near ones as possible are chosen."""
    return partial(far_costs, largest_cost=largest_cost)


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
    frames, first_of_frame = arrays.distinct(frame)
    number = arrays.positions(frame, frames, first_of_frame)
    n_rows, n_columns = np.diff(near.row_starts)[frames], np.diff(near.column_starts)[frames]
    row, column = near.row - near.row_starts[frame], near.column - near.column_starts[frame]
    sizes = n_rows * n_columns
    chosen = np.zeros(len(frame), bool)
    for first, last in arrays.chunks(sizes, CELLS_AT_ONCE):
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
    memory.check_at_hand(name, f"assigning {n_rows:,} objects to {n_columns:,}", n_rows * n_columns * cell_bytes)


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


def only_answers(near: Entries, far: np.ndarray, huge: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Marks the pairs that are chosen in each component, and the components in which no other answer is as good.

    Each frame of `near` is a component here. `far` is what a pair of each component costs that is not near. In
    components that are not marked, the whole frame may give other pairs than those chosen; large ones are not solved
    unless their frame is `huge`, of which nothing is to be shown.
    """
    huge = np.zeros(len(far), bool) if huge is None else huge
    component = near.frame()
    smaller = np.minimum(np.diff(near.row_starts), np.diff(near.column_starts))
    solved = np.flatnonzero(((smaller <= MOST_CHOSEN) | huge)[component])
    chosen = np.zeros(len(near.row), bool)
    chosen[solved] = solve(near.take(solved), far)
    n_chosen = np.bincount(component[chosen & ~huge[component]], minlength=len(far))
    unique = np.zeros(len(far), bool)
    for size in np.unique(n_chosen[n_chosen > 0]).tolist():
        of_size = np.flatnonzero(n_chosen == size)
        for components in np.array_split(of_size, -(-len(of_size) * (size + 1) ** 2 // CELLS_AT_ONCE)):
            pairs = np.flatnonzero(np.isin(component, components))
            exchanges = _exchanges(near.take(pairs), chosen[pairs], component[pairs], components, far)
            unique[components] = _cheapest_cycle(exchanges) > BLUR * far[components]
    return chosen, unique


def _exchanges(
    near: Entries, chosen: np.ndarray, component: np.ndarray, components: np.ndarray, far: np.ndarray
) -> np.ndarray:
    """What it costs that a row takes the column of another: (components, 1 + chosen pairs, 1 + chosen pairs).

    The first place stands for all rows, and for all columns, that are in no chosen pair.
    """
    picked = np.flatnonzero(chosen)
    picked = picked[np.argsort(component[picked], kind="stable")]
    size = len(picked) // len(components)
    of_row, of_column = (np.zeros(starts[-1], np.int64) for starts in (near.row_starts, near.column_starts))
    of_row[near.row[picked]] = of_column[near.column[picked]] = np.tile(np.arange(1, size + 1), len(components))
    before = np.zeros((len(components), size + 1))  # what each column costs now, less than a far pair
    before[:, 1:] = near.value[picked].reshape(-1, size) - far[components, None]
    cost = np.full((len(components), size + 1, size + 1), np.inf)
    cost[:, 0, 1:], cost[:, 1:, 0] = -before[:, 1:], 0.0  # nobody takes the column, or the row takes none
    position = np.searchsorted(components, component)
    row, column = of_row[near.row], of_column[near.column]
    new = near.value - far[component] - before[position, column]
    new[picked] = np.inf
    np.minimum.at(cost, (position, row, column), new)
    return cost


def _cheapest_cycle(cost: np.ndarray) -> np.ndarray:
    """The cost of the cheapest cycle in each of (N, places, places); overwrites `cost`."""
    for place in range(cost.shape[1]):
        np.minimum(cost, cost[:, :, place, None] + cost[:, place, None, :], out=cost)
    return np.einsum("nii->ni", cost).min(axis=1)


def components_of(row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Numbers the components of pairs from 0 on; returns that of each pair."""
    (rows, first_row), (columns, first_column) = arrays.grouped(row), arrays.grouped(column)
    columns = columns + len(first_row)
    label = np.arange(len(first_row) + len(first_column))
    while True:
        # The roots of both ends take the lower one; then every end takes the label of its root.
        lower = np.minimum(label[rows], label[columns])
        for end in (rows, columns):
            np.minimum.at(label, label[end], lower)
        while not np.array_equal(label, root := label[label]):
            label = root
        if np.array_equal(label[rows], label[columns]):
            return np.searchsorted(np.unique(label), label[rows])


class Numbered(NamedTuple):
    """The position of each pair's row in its component, from 0 on, and where the rows of each unit start."""

    in_component: np.ndarray
    starts: np.ndarray


def numbered(end: np.ndarray, component: np.ndarray, group: np.ndarray) -> Numbered:
    """Numbers the rows, or the columns, of each component.

    `end` is the row of each pair and `component` its component; `group` is the component of each unit.
    """
    position, first = arrays.grouped(end)
    sizes = np.bincount(component[first])
    in_component = np.empty(len(first), np.int64)
    in_component[np.argsort(component[first], kind="stable")] = arrays.ranges(np.zeros_like(sizes), sizes)[1]
    return Numbered(in_component[position], np.concatenate([[0], np.cumsum(sizes[group])]))
