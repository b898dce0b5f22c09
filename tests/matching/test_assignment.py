"""Assignment: whatever is settled without the solver is what the solver gives on the whole matrix of a frame."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from helpers.near_entries import near_entries
from spotgeo_frames.matching import assignment
from spotgeo_frames.matching.assignment import Entries, assign, far_costs, most_pairs

TAU = 3.0


def whole_frames(near: Entries) -> np.ndarray:
    """Marks the near pairs that the solver chooses on each frame's matrix."""
    n_rows, n_columns = np.diff(near.row_starts), np.diff(near.column_starts)
    far, frame = far_costs(n_rows, n_columns, TAU), near.frame()
    chosen = np.zeros(len(near.row), bool)
    for number in range(len(far)):
        pairs = np.flatnonzero(frame == number)
        cells = near.row[pairs] - near.row_starts[number], near.column[pairs] - near.column_starts[number]
        costs = np.full((n_rows[number], n_columns[number]), far[number])
        costs[cells] = near.value[pairs]
        taken = np.zeros(costs.shape, bool)
        taken[linear_sum_assignment(costs)] = True
        chosen[pairs] = taken[cells]
    return chosen


@pytest.mark.parametrize("at_once", [300, assignment.CELLS_AT_ONCE])
@pytest.mark.parametrize(("cells_a_pair", "least_spared"), [(-1, 0), (8, 100), (0, 1 << 40)])
@settings(max_examples=150)
@given(st.integers(0, 100_000), st.integers(1, 6), st.integers(1, 40), st.integers(2, 30), st.sampled_from([0.0, 0.3]))
def test_frames_are_assigned_as_the_solver_does(
    cells_a_pair: int, least_spared: int, at_once: int, seed: int, n_frames: int, most: int, size: int, noise: float
) -> None:
    """Also frames that are taken apart into components, in several chunks, and on grids, where equal costs abound."""
    near = near_entries(np.random.default_rng(seed), n_frames, most, size, noise, TAU)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(assignment, "CELLS_A_PAIR", cells_a_pair)
        patched.setattr(assignment, "LEAST_SPARED", least_spared)
        patched.setattr(assignment, "CELLS_AT_ONCE", at_once)
        assert np.array_equal(assign(near, most_pairs(TAU)), whole_frames(near))
