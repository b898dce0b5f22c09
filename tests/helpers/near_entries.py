"""Near pairs of frames at random places, as the assignment gets them."""

import numpy as np

from spotgeo_frames.matching.assignment import Entries


def near_entries(random: np.random.Generator, n_frames: int, most: int, size: int, noise: float, tau: float) -> Entries:
    """The pairs within `tau` of up to `most` rows and columns a frame; without noise they lie on a grid.

    Equal costs abound on a grid.
    """
    row_starts, column_starts = (np.append(0, np.cumsum(random.integers(0, most + 1, n_frames))) for _ in "rc")
    rows, columns = (
        random.integers(0, size, (starts[-1], 2)) + random.normal(0, noise, (starts[-1], 2))
        for starts in (row_starts, column_starts)
    )
    frames = [np.repeat(np.arange(n_frames), np.diff(starts)) for starts in (row_starts, column_starts)]
    costs = np.hypot(*(rows[:, None] - columns[None]).transpose(2, 0, 1))
    row, column = np.nonzero((costs <= tau) & (frames[0][:, None] == frames[1][None]))
    return Entries(row, column, costs[row, column], row_starts, column_starts)
