"""What many tests need: the rule as a plain loop, the rows of a match table, and data outside the project."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

PROJECT = Path(__file__).parent.parent.parent


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


def outside(variable: str, name: str) -> Path:
    """A folder of data that is no part of the project: where the variable says, or beside the project."""
    folder = Path(os.environ.get(variable, PROJECT.parent / "shared" / "data" / name))
    if not folder.is_dir():
        pytest.skip(f"the data of {name} is not here; {variable} names its folder")
    return folder
