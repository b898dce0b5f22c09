"""Assignment at all levels: at each of them what `assign` gives for the rows that are left."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.near_entries import near_entries
from spotgeo_frames.matching import levels
from spotgeo_frames.matching.assignment import Entries, assign, far_costs, most_pairs, only_answers
from spotgeo_frames.matching.levels import assign_at_levels

TAU = 3.0


class Scene(NamedTuple):
    near: Entries
    level: np.ndarray
    n_levels: int


def scene(seed: int, n_frames: int, most: int, size: int, noise: float) -> Scene:
    """Frames of rows and columns at random places; without noise they lie on a grid, where equal costs abound."""
    random = np.random.default_rng(seed)
    near = near_entries(random, n_frames, most, size, noise, TAU)
    n_levels = int(random.integers(1, 7))
    return Scene(near, random.integers(-1, n_levels, near.row_starts[-1]), n_levels)


def one_by_one(near: Entries, level: np.ndarray, n_levels: int) -> list[list[int]]:
    """The positions of the chosen pairs at each level, which is assigned by itself."""
    found = []
    for at in range(n_levels):
        kept = level >= at
        place = np.append(0, np.cumsum(kept))
        left = np.flatnonzero(kept[near.row])
        of_level = near.take(left)._replace(row=place[near.row[left]], row_starts=place[near.row_starts])
        found.append(left[assign(of_level, most_pairs(TAU))].tolist())
    return found


def together(near: Entries, level: np.ndarray, n_levels: int) -> list[list[int]]:
    spans = assign_at_levels(near, level, n_levels, most_pairs(TAU))
    return [np.sort(spans.pair[(spans.first <= at) & (spans.last >= at)]).tolist() for at in range(n_levels)]


@pytest.mark.parametrize("at_once", [1, 60, levels.SETTLED_AT_ONCE])
@settings(max_examples=150)
@given(st.integers(0, 100_000), st.integers(0, 4), st.integers(1, 25), st.integers(2, 20), st.sampled_from([0.0, 0.1]))
def test_all_levels_together_are_each_by_itself(
    at_once: int, seed: int, n_frames: int, most: int, size: int, noise: float
) -> None:
    drawn = scene(seed, n_frames, most, size, noise)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(levels, "SETTLED_AT_ONCE", at_once)
        assert together(*drawn) == one_by_one(*drawn)


def test_a_row_that_takes_over_at_a_higher_level() -> None:
    """Row 0 is nearer and vanishes first; row 1 then has the column, and at the last level nobody."""
    near = Entries(np.array([0, 1]), np.array([0, 0]), np.array([1.0, 2.0]), np.array([0, 3]), np.array([0, 1]))
    assert together(near, np.array([0, 1, 2]), 3) == [[0], [1], []]


def component(costs: list[list[float | None]]) -> Entries:
    """Near pairs of one component; None is far."""
    cells = [(r, c, value) for r, row in enumerate(costs) for c, value in enumerate(row) if value is not None]
    rows, columns, values = (np.array(part) for part in zip(*cells, strict=True))
    return Entries(rows, columns, values, np.array([0, len(costs)]), np.array([0, len(costs[0])]))


@pytest.mark.parametrize(
    ("costs", "chosen", "is_only"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], [0, 3], True),
        ([[1.0, 2.0], [1.0, 2.0]], None, False),  # both ways cost 3
        ([[1.0, 2.0], [1.0, 2.0 + 1e-7]], None, False),  # the solver rounds, too: its far cost is 1000
        ([[1.0, None], [0.5, 2.0]], [0, 2], True),  # two pairs come before a short one
        ([[1.0], [2.0]], [0], True),
        ([[1.0], [1.0]], None, False),  # either row may be left over
        ([[1.0, 1.0, None], [None, 2.0, 2.0]], None, False),  # either column
        ([[1.0, 1.5, None], [None, 2.0, 2.5]], [0, 2], True),
        ([[1.0, 2.0, None], [None, 1.0, 2.0], [2.0, None, 1.0]], [0, 2, 5], True),
        ([[1.0, 1.0, None], [None, 1.0, 1.0], [1.0, None, 1.0]], None, False),  # a cycle of three
    ],
)
def test_one_best_answer_by_hand(costs: list[list[float | None]], chosen: list[int] | None, is_only: bool) -> None:
    near = component(costs)
    marked, unique = only_answers(near, far_costs(np.diff(near.row_starts), np.diff(near.column_starts), TAU))
    assert unique.tolist() == [is_only]
    if chosen is not None:
        assert np.flatnonzero(marked).tolist() == chosen


def test_large_components_are_left_to_the_caller() -> None:
    near = component([[1.0 + abs(r - c) for c in range(17)] for r in range(17)])
    assert only_answers(near, np.array([1000.0]))[1].tolist() == [False]
