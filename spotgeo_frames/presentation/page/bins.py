"""The bins of slices as columns of the match table, so that a row of a table of slices can name the rows it counts."""

import numpy as np
import pandas as pd

from ...support.texts import bins_as_text, is_binned, label
from .evaluation import Evaluation, matches_of_name


def bins_of(evaluation: Evaluation) -> dict[str, np.ndarray]:
    """The bins of columns that slices are cut into, as text or None, for each row of the evaluation's match tables.

    They are named as `binned_name` does. Where two slicings cut a column differently, the bins are those of the first.
    """
    answer: dict[str, np.ndarray] = {}
    for columns, of_name in evaluation.cuts.items():
        for position, column in enumerate(columns):
            parts = {name: series[position] for name, series in of_name.items()}
            if binned_name(column) not in answer and any(is_binned(values) for values in parts.values()):
                answer[binned_name(column)] = np.concatenate(
                    [
                        _texts(parts[name]) if name in parts else np.full(len(matches_of_name(evaluation, name)), None)
                        for name in evaluation.names
                    ]
                )
    return answer


def binned_name(column: str) -> str:
    """The name of the column that has the bins of this one."""
    return f"{column} (bins)"


def _texts(values: pd.Series) -> np.ndarray:
    """The bin of each row as the tables of slices show it; None for null."""
    bins = pd.Categorical(values)
    each = pd.Categorical.from_codes(range(len(bins.categories)), dtype=bins.dtype)
    texts = bins_as_text(pd.DataFrame({"bin": each}))["bin"].map(label)
    return np.array([*texts, None], dtype=object)[bins.codes]
