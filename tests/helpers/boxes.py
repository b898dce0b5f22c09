"""Boxes of tracks: tables of a few, wandering crowds of them, and how trackeval measures their overlaps."""

from typing import Any

import numpy as np
import pandas as pd
from trackeval.datasets._base_dataset import _BaseDataset

COLUMNS = ["sequence", "frame", "object", "x", "y", "w", "h"]
NONE = pd.DataFrame({name: pd.Series(dtype="float64" if name in "xywh" else "int64") for name in COLUMNS})


def box_matrix(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    return _BaseDataset._calculate_box_ious(*(side[["x", "y", "w", "h"]].to_numpy() for side in (truth, predictions)))


def boxes(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    """Rows of sequence, frame, object, x, y; each box is 10 x 10."""
    table = pd.DataFrame([(*row, 10.0, 10.0) for row in rows], columns=COLUMNS)
    return table.astype({"x": float, "y": float}) if rows else NONE


def crowd(
    random: np.random.Generator, n_frames: int, n_objects: int, size: int, whole: bool = True
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Objects that wander over a grid of whole pixels, where equal distances abound; the tracker mixes some up."""
    places = random.integers(0, size, (n_objects, 2)).astype(float)
    parts: tuple[list[pd.DataFrame], list[pd.DataFrame]] = ([], [])
    for frame in range(1, n_frames + 1):
        places = places + random.integers(-1, 2, places.shape)
        for number, side in enumerate(parts):
            seen = random.permutation(np.flatnonzero(random.random(n_objects) < 0.9))
            error = random.integers(-2, 3, (len(seen), 2)) if number else np.zeros((len(seen), 2))
            error = error if whole else error + number * random.normal(0, 0.3, error.shape)
            names = random.permutation(seen) if number and random.random() < 0.2 else seen
            x, y = (places[seen] + error).T
            size_of = np.where(random.random(len(seen)) < 0.5, 6.0, random.integers(-1, 9, len(seen)).astype(float))
            side.append(pd.DataFrame({"frame": frame, "object": names + 1000 * number, "x": x, "y": y}))
            side[-1] = side[-1].assign(w=size_of, h=6.0)
    truth, predictions = (pd.concat(side, ignore_index=True).assign(sequence=3)[COLUMNS] for side in parts)
    return truth, predictions, pd.DataFrame({"sequence": 3, "frame": range(1, n_frames + 1)})
