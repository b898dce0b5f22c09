"""Sums in the order in which NumPy adds up a dense matrix, taken from its entries above 0 alone.

Adding zeros changes nothing, but the order of additions changes the last bit, and where two assignments are equally
good the last bit decides. So sums that go into a score are taken as the official evaluators take them: down the columns
of a matrix one row after the other, along its rows as `numpy.add.reduce` does over contiguous memory: in eight lanes,
and by halves where there are more than 128 values.
"""

import numpy as np

LANES, BLOCK = 8, 128


def added(totals: np.ndarray, group: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The totals with each value added to that of its group, one after the other."""
    if len(values) < len(totals):  # then it does not pay to go through all totals
        np.add.at(totals, group, values)
        return totals
    groups = np.concatenate([np.arange(len(totals)), group])
    return np.bincount(groups, np.concatenate([totals, values])) if len(groups) else totals


def sequential_sums(group: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For each value the sum of its group, added in the order they come."""
    low = int(group.min(initial=0))
    return np.bincount(group - low, values)[group - low] if len(group) else values


def row_sums(row: np.ndarray, column: np.ndarray, width: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For each entry of dense matrices the sum of its row, as NumPy adds up contiguous rows.

    `row` numbers the rows (in any manner), `column` and `width` (int64) are the entry's column and how many there are.
    Entries are sorted by row, then column.
    """
    if not len(row):
        return values
    new = np.diff(row, prepend=row[0] - 1) != 0
    group = np.cumsum(new) - 1
    return _pairwise(group, int(group[-1]) + 1, column, width, values)[group]


def _pairwise(
    group: np.ndarray, n_groups: int, column: np.ndarray, width: np.ndarray, values: np.ndarray
) -> np.ndarray:
    wide = width > BLOCK
    if not wide.any():
        return _in_lanes(group, n_groups, column, width, values)
    half = width // 2 // LANES * LANES
    right = wide & (column >= half)
    left = ~right
    column, width = column - half * right, np.where(wide, np.where(right, width - half, half), width)
    sums = [
        _pairwise(group[part], n_groups, column[part], width[part], values[part])
        for part in (np.flatnonzero(left), np.flatnonzero(right))
    ]
    return sums[0] + sums[1]


def _in_lanes(
    group: np.ndarray, n_groups: int, column: np.ndarray, width: np.ndarray, values: np.ndarray
) -> np.ndarray:
    in_lanes = column < np.where(width < LANES, 0, width // LANES * LANES)
    some, rest = np.flatnonzero(in_lanes), np.flatnonzero(~in_lanes)
    lanes = np.bincount(group[some] * LANES + column[some] % LANES, values[some], n_groups * LANES)
    a, b, c, d, e, f, g, h = lanes.reshape(n_groups, LANES).T.astype(np.float64)  # of nothing bincount makes integers
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    np.add.at(total, group[rest], values[rest])
    return total
