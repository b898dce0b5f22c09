"""Assigns components of near pairs that have one best answer, by more than rounding errors can blur.

A component is solved by itself, and then every other answer is compared with this one. Two answers differ by cycles in
which rows take each other's columns; a cycle may also pass once through the rows and columns that are left over. So an
answer is the only best one if every cycle costs clearly more than 0. Floyd and Warshall's algorithm finds the cheapest.
"""

import numpy as np

from .assignment import BLUR, Entries, solve

# Components in which more pairs than this may be chosen are left undecided, because their cycles cost too much time.
MOST_CHOSEN = 16

# The most cells of matrices of exchanges in memory at once.
CELLS_AT_ONCE = 1 << 20


def only_answers(near: Entries, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Marks the pairs that are chosen in each component, and the components in which no other answer is as good.

    Each frame of `near` is a component here. `far` is what a pair of each component costs that is not near. In
    components that are not marked, the whole frame may give other pairs than those chosen.
    """
    component = near.frame()
    smaller = np.minimum(np.diff(near.row_starts), np.diff(near.column_starts))
    small = np.flatnonzero(smaller[component] <= MOST_CHOSEN)
    chosen = np.zeros(len(near.row), bool)
    chosen[small] = solve(near.take(small), far)
    n_chosen = np.bincount(component[chosen], minlength=len(far))
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
