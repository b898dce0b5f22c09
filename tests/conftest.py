"""What several test modules need: the reference matcher, the rows of a match table, and data outside the project."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

PROJECT = Path(__file__).parent.parent


def reference_matcher(tau: float = 10.0):
    """The rule as it is written: the whole frame's matrix, predictions as rows, far pairs at the far cost."""

    def matcher(truth_xy: np.ndarray, predicted_xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        costs = cdist(predicted_xy, truth_xy)
        costs[costs > tau] = max(1000.0, 2 * min(costs.shape) * tau)
        predicted, truth = linear_sum_assignment(costs)
        return truth, predicted

    return matcher


def match_rows(matches: pd.DataFrame) -> list[tuple]:
    """Outcome, objects and errors of each row, with None for null."""
    columns = ["outcome", "truth_object", "predicted_object", "squared_error", "kelvins_error"]
    rows = matches[columns].astype("object").itertuples(index=False, name=None)
    return [tuple(None if pd.isna(value) else value for value in row) for row in rows]


@pytest.fixture(scope="session")
def challenge() -> Path:
    """The challenge's real annotations with expected numbers, which are no part of the project."""
    folder = Path(os.environ.get("SPOTGEO_DATA", PROJECT.parent / "shared" / "data" / "spotgeo"))
    if not folder.is_dir():
        pytest.skip("the challenge's data is not here; SPOTGEO_DATA names its folder")
    return folder


@pytest.fixture(scope="session")
def sample() -> Path:
    return PROJECT / "data" / "sample"
