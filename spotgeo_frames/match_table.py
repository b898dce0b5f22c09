"""Lays out the match table from aligned sides and their assigned pairs.

Which column has which type depends on the type of what it carries alone, never on the rows a part happens to hold,
so that tables of parts concatenate: object identities are `Int64` or string, numbers float64, flags `boolean`, and
null wherever a row has no truth, no prediction or no such frame.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import take

from .alignment import Aligned
from .candidates import Pairs
from .errors import InputError
from .tables import FRAME_KEY, OUTCOME_TYPE, OUTCOMES
from .version import __version__

TP, FN, FP, EMPTY = range(len(OUTCOMES))

# Beyond this an integer is no longer exact as float64, which is what carried numbers become.
LARGEST_EXACT_INTEGER = 1 << 53


def match_table(aligned: Aligned, pairs: Pairs, tau: float, epsilon: float) -> pd.DataFrame:
    """The match table of the pairs; its columns and the order of its rows are those `matching.match` promises."""
    truth, predictions = aligned.truth, aligned.predictions
    n_truth, n_predicted = truth.counts, predictions.counts
    matched = np.full(len(predictions.frame), -1, np.int64)
    matched[pairs.prediction] = pairs.truth
    spare = np.flatnonzero(matched < 0)

    # Each frame's truths come first, then its false positives; a frame with neither takes one row.
    n_spare = n_predicted - np.bincount(predictions.frame[pairs.prediction], minlength=len(n_predicted))
    n_rows = np.maximum(n_truth + n_spare, 1)
    starts = np.cumsum(n_rows) - n_rows
    truth_row = np.arange(len(truth.frame)) + (starts - truth.starts[:-1])[truth.frame]
    spare_frame = predictions.frame[spare]
    first_spare = np.cumsum(n_spare) - n_spare
    predicted_row = np.empty(len(matched), np.int64)
    predicted_row[pairs.prediction] = truth_row[pairs.truth]
    predicted_row[spare] = np.arange(len(spare)) + (starts + n_truth - first_spare)[spare_frame]

    outcome = np.full(int(n_rows.sum()), EMPTY, np.int8)
    outcome[truth_row] = FN
    outcome[predicted_row] = FP
    outcome[predicted_row[pairs.prediction]] = TP
    distance = np.full(len(outcome), np.nan)
    distance[predicted_row[pairs.prediction]] = pairs.distance

    index = {
        "truth": _index(truth_row, len(outcome)),
        "predicted": _index(predicted_row, len(outcome)),
        "frame": np.repeat(np.arange(len(n_rows)), n_rows),
    }
    key = FRAME_KEY + (["joint"] if "joint" in aligned.frames else [])
    columns = {column: take(aligned.frames[column].array, index["frame"]) for column in key}
    columns |= {
        "outcome": pd.Categorical.from_codes(outcome, dtype=OUTCOME_TYPE),
        "distance": distance,
        **_errors(outcome, distance, tau, epsilon),
        **_carried(truth.table, "truth", index["truth"], key),
        **_carried(predictions.table, "predicted", index["predicted"], key),
        "frame_n_truth": n_truth[index["frame"]],
        "frame_n_predicted": n_predicted[index["frame"]],
        **_carried(aligned.frames, "frame", index["frame"], key),
    }
    table = pd.DataFrame(columns, copy=False)
    table.attrs = {"tau": tau, "epsilon": epsilon, "rule": "distance", "version": __version__}
    return table


def _index(rows: np.ndarray, n_rows: int) -> np.ndarray:
    """For every row of the match table which of a side's rows it holds, or -1."""
    index = np.full(n_rows, -1, np.int64)
    index[rows] = np.arange(len(rows))
    return index


def _errors(outcome: np.ndarray, distance: np.ndarray, tau: float, epsilon: float) -> dict[str, np.ndarray]:
    """Both errors of every row: the document's, squared (px²), and the server's."""
    matched, empty = outcome == TP, outcome == EMPTY
    squared = np.where(matched, np.where(distance <= epsilon, 0.0, distance * distance), tau * tau)
    kelvins = np.where(matched, np.where((epsilon <= distance) & (distance < tau), distance, 0.0), tau * tau)
    squared[empty] = kelvins[empty] = np.nan
    return {"squared_error": squared, "kelvins_error": kelvins}


def _carried(table: pd.DataFrame, prefix: str, index: np.ndarray, key: Sequence[str]) -> dict[str, Any]:
    """The columns of a table but its key, under its prefix and taken by `index`; geometry first, then the score."""
    order = dict.fromkeys([*("object", "x", "y", "score"), *table.columns])
    return {
        f"{prefix}_{column}": take(_nullable(table[column]), index, allow_fill=True)
        for column in order
        if column in table.columns and column not in key
    }


def _nullable(values: pd.Series) -> Any:
    """The column in a type that can hold null, chosen by its type alone."""
    if values.name == "object":
        return values.astype("Int64").array if values.dtype == np.int64 else values.array
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.astype("boolean").array
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return values.array
    if pd.api.types.is_integer_dtype(values.dtype) and len(values) and abs(values).max() > LARGEST_EXACT_INTEGER:
        raise InputError(
            f"column {values.name}: has integers beyond 2**53, which a table with nulls cannot hold exactly; "
            "make them strings"
        )
    return values.to_numpy(np.float64, na_value=np.nan)
