"""Oriented boxes of the four corners that files have; people draw quadrilaterals that are no rectangles."""

from __future__ import annotations

import numpy as np

from ..support import arrays


def smallest_rectangles(corners: np.ndarray) -> np.ndarray:
    """The rectangles of the least area around quadrilaterals (N, 4, 2): middle, width, height and angle (N, 5).

    One side of it lies along two of the corners. Of rectangles that are as small but for rounding, the one along the
    first two corners is taken, so that a rectangle keeps its own words.

    >>> smallest_rectangles(np.array([[[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]]])).tolist()
    [[2.0, 1.0, 4.0, 2.0, 0.0]]
    """
    best = np.zeros((len(corners), 5))
    least = np.full(len(corners), np.inf)
    for one, other in ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)):
        along = corners[:, other] - corners[:, one]
        length = np.sqrt((along * along).sum(axis=1))
        x, y = (
            np.divide(of, length, out=np.full(len(length), at), where=length > 0)
            for of, at in zip(along.T, (1.0, 0.0), strict=True)
        )
        across = corners[..., 0] * x[:, None] + corners[..., 1] * y[:, None]
        down = corners[..., 1] * x[:, None] - corners[..., 0] * y[:, None]
        width, height = np.ptp(across, axis=1), np.ptp(down, axis=1)
        middle = (across.max(axis=1) + across.min(axis=1)) / 2, (down.max(axis=1) + down.min(axis=1)) / 2
        with np.errstate(invalid="ignore", over="ignore"):
            better = width * height < least * (1 - 1e-9)
        least = np.where(better, width * height, least)
        found = [middle[0] * x - middle[1] * y, middle[0] * y + middle[1] * x, width, height, arrays.direction(y, x)]
        best = np.where(better[:, None], np.stack(found, axis=1), best)
    return best
