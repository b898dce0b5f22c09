"""Scenes of masks: corners like an L, whose boxes have a notch that is empty."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from spotgeo_frames.support import run_lengths

# The size of the images, px.
HEIGHT, WIDTH = 240, 320

# A corner has arms of this length and width, px.
ARM, ACROSS = 60, 20


def corner(left: int, top: int) -> np.ndarray:
    """The pixels of a corner: one arm goes down its left side, the other along its foot."""
    inside = np.zeros((HEIGHT, WIDTH), bool)
    inside[top : top + ARM, left : left + ACROSS] = True
    inside[top + ARM - ACROSS : top + ARM, left : left + ARM] = True
    return inside


def masked(rows: Iterable[tuple[Any, int, int, np.ndarray]], **columns: Any) -> pd.DataFrame:
    """A table of objects of these sequences, frames, names and pixels, which is a row each."""
    listed = [*rows]
    table = pd.DataFrame([row[:3] for row in listed], columns=["sequence", "frame", "object"])
    texts = run_lengths.encoded(run_lengths.runs_of_images([row[3] for row in listed]))
    height, width = listed[0][3].shape
    return table.assign(mask=texts, mask_h=float(height), mask_w=float(width), **columns)


def corners(n_frames: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """In each frame, 1 is found at 20, 20, 2 is missed at 120, 20, and 3 is false at 220, 120."""
    frames = range(1, n_frames + 1)
    truth = masked((1, frame, name, corner(left, 20)) for frame in frames for name, left in ((1, 20), (2, 120)))
    found = [(1, frame, name, corner(*at)) for frame in frames for name, at in ((1, (21, 20)), (3, (220, 120)))]
    return truth, masked(found, score=[0.9, 0.4] * n_frames)
