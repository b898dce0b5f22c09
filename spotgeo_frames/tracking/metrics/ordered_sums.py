"""Adds up the entries of a sparse matrix in the order in which NumPy would add up the dense matrix.

Adding zeros changes nothing, but the order of additions changes the last bit, and the last bit decides between two
equally good assignments. So sums that go into a score are computed as the official evaluators compute them. Columns are
added up one row after the other. Rows are added up as `numpy.add.reduce` does over contiguous memory: in eight lanes,
and in two halves if there are more than 128 values.
"""

import numpy as np

from ...support import arrays

LANES, BLOCK = 8, 128


def added(totals: np.ndarray, group: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The totals with each value added to that of its group, one after the other."""
    if len(values) < len(totals):  # with few values, going through all totals would take longer
        np.add.at(totals, group, values)
        return totals
    groups = np.concatenate([np.arange(len(totals)), group])
    return arrays.added_at(groups, np.concatenate([totals, values])) if len(groups) else totals


def sequential_sums(group: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For each value, the sum of its group, added in the order of the values."""
    low = int(group.min(initial=0))
    return arrays.added_at(group - low, values)[group - low] if len(group) else values


def row_sums(row: np.ndarray, column: np.ndarray, width: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For each entry of dense matrices, the sum of its row, as NumPy adds up contiguous rows.

    `row` is any integer that stands for the entry's row. `column` (int64) is its column, and `width` (int64) how many
    columns the matrix has. Entries are sorted by row, then column.
    """
    if not len(row):
        return values
    new = np.diff(row, prepend=row[0] - 1) != 0
    group = np.cumsum(new) - 1
    return _pairwise(group, int(group[-1]) + 1, column, width, values)[group]


def _pairwise(
    group: np.ndarray, n_groups: int, column: np.ndarray, width: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """The sum of each group; groups of wide rows are split into halves, whose sums are added."""
    wide = width > BLOCK
    if not wide.any():
        return _in_lanes(group, n_groups, column, width, values)
    half = width // 2 // LANES * LANES
    right = wide & (column >= half)
    left = ~right
    column, width = column - half * right, np.where(wide, np.where(right, width - half, half), width)
    sums = [
        _pairwise(group[rows], n_groups, column[rows], width[rows], values[rows])
        for rows in (np.flatnonzero(left), np.flatnonzero(right))
    ]
    return sums[0] + sums[1]


def _in_lanes(
    group: np.ndarray, n_groups: int, column: np.ndarray, width: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """The sum of each group of at most BLOCK columns: eight lanes first, then the columns that fill no lane."""
    in_lanes = column < np.where(width < LANES, 0, width // LANES * LANES)
    full, rest = np.flatnonzero(in_lanes), np.flatnonzero(~in_lanes)
    lanes = arrays.added_at(group[full] * LANES + column[full] % LANES, values[full], n_groups * LANES)
    a, b, c, d, e, f, g, h = lanes.reshape(n_groups, LANES).T
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    np.add.at(total, group[rest], values[rest])
    return total
