"""Lays out the match table from aligned sides and their assigned pairs.

The type of a column depends only on the type of the column that it carries, never on the rows that happen to be there,
so the match tables of several parts can be concatenated. Object identities are `Int64` or string, numbers are float64
and flags are `boolean`. All are null in rows without a truth, without a prediction, or without an entry in the table of
frames.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..tables.schema import EMPTY, FILE_ORDER, FN, FP, OUTCOME_TYPE, PREFIXES, TP, frame_columns
from .alignment import Aligned
from .pairs import Pairs
from .rule import Rule

# The events of tracks: one for each outcome, in the order of TP, FN, FP, then a TP with another identity than before.
EVENT_TYPE = pd.CategoricalDtype(["match", "miss", "false positive", "switch"])
SWITCH = 3


def match_table(aligned: Aligned, pairs: Pairs, rule: Rule, carried: Collection[str] | None = None) -> pd.DataFrame:
    """The match table of the assigned pairs: a row for each TP, FN and FP, and one for each frame without any.

    Rows are sorted by frame; within a frame, truths come first in file order, then false positives in file order. The
    rule says whether the pairs' measure is a distance (px) or a similarity, gives the errors, and writes its notes into
    the table's attrs. `carried` names the `truth_`, `predicted_` and `frame_` columns to make; None makes all.
    """
    truth, predictions, frames = aligned.truth, aligned.predictions, aligned.frames
    n_rows, truth_row, predicted_row = _places(aligned, pairs)
    matched_row = predicted_row[pairs.prediction]
    outcome = np.full(int(n_rows.sum()), EMPTY, np.int8)
    outcome[truth_row] = FN
    outcome[predicted_row] = FP
    outcome[matched_row] = TP
    measure = np.full(len(outcome), np.nan)
    measure[matched_row] = pairs.measure

    # Every frame has a row, so adding up the first rows gives each row's frame. Taking is faster than repeating.
    frame = np.zeros(len(outcome), np.int64)
    frame[np.cumsum(n_rows)[:-1]] = 1
    frame = np.cumsum(frame)

    key = frame_columns(frames)
    columns = {column: frames[column].array.take(frame) for column in key}
    columns |= {
        "outcome": pd.Categorical.from_codes(outcome, dtype=OUTCOME_TYPE),
        **_measured(outcome, measure, rule),
        **_carried(truth.table, PREFIXES["truth"], truth_row, len(outcome), key, carried),
        **_carried(predictions.table, PREFIXES["predictions"], predicted_row, len(outcome), key, carried),
    }
    if _is_wanted(FILE_ORDER, carried):
        in_frame = np.arange(len(predictions.frame)) - predictions.starts[predictions.frame]
        columns[FILE_ORDER] = _placed(in_frame, predicted_row, len(outcome))
    counts = {"frame_n_truth": truth.counts, "frame_n_predicted": predictions.counts}
    attributes = {f"{PREFIXES['frames']}{column}": frames[column] for column in frames if column not in key}
    columns |= {name: values[frame] for name, values in counts.items() if _is_wanted(name, carried)}
    columns |= {name: _nullable(v).take(frame) for name, v in attributes.items() if _is_wanted(name, carried)}
    table = pd.DataFrame(columns, copy=False)
    table.attrs = rule.notes
    return table


def with_events(table: pd.DataFrame, switch: np.ndarray) -> pd.DataFrame:
    """A match table of tracks with the column `event` after `outcome`; `switch` marks the true positives in order."""
    outcome = table["outcome"].array.codes
    event = np.where(outcome == EMPTY, -1, outcome)
    event[np.flatnonzero(outcome == TP)[switch]] = SWITCH
    after = table.columns.to_list().index("outcome") + 1
    table.insert(after, "event", pd.Series(pd.Categorical.from_codes(event, dtype=EVENT_TYPE)))
    return table


def _places(aligned: Aligned, pairs: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many rows each frame has in the match table, and the row of each truth and of each prediction.

    A frame's truths come first, then its false positives; a frame with neither has one row.
    """
    truth, predictions = aligned.truth, aligned.predictions
    unmatched = np.ones(len(predictions.frame), bool)
    unmatched[pairs.prediction] = False
    spare = np.flatnonzero(unmatched)
    spare_frame = predictions.frame[spare]
    n_spare = np.bincount(spare_frame, minlength=len(aligned.frames))
    n_rows = np.maximum(truth.counts + n_spare, 1)
    starts = np.cumsum(n_rows) - n_rows
    truth_row = np.arange(len(truth.frame)) + (starts - truth.starts[:-1])[truth.frame]
    predicted_row = np.empty(len(unmatched), np.int64)
    predicted_row[pairs.prediction] = truth_row[pairs.truth]
    first_spare = np.cumsum(n_spare) - n_spare
    predicted_row[spare] = np.arange(len(spare)) + (starts + truth.counts - first_spare)[spare_frame]
    return n_rows, truth_row, predicted_row


def _measured(outcome: np.ndarray, measure: np.ndarray, rule: Rule) -> dict[str, np.ndarray]:
    """The columns `distance` or `similarity`, `squared_error` and `kelvins_error`."""
    squared, kelvins = rule.errors(outcome, measure)
    name = "distance" if rule.by_distance else "similarity"
    return {name: measure, "squared_error": squared, "kelvins_error": kelvins}


def _is_wanted(name: str, carried: Collection[str] | None) -> bool:
    return carried is None or name in carried


def _carried(
    table: pd.DataFrame,
    prefix: str,
    rows: np.ndarray,
    n_rows: int,
    key: Sequence[str],
    carried: Collection[str] | None,
) -> dict[str, Any]:
    """The columns of a table without its key, with a prefix, placed at their rows; geometry first, then the score."""
    order = [column for column in dict.fromkeys(["object", "x", "y", "w", "h", "score", *table]) if column in table]
    named = {f"{prefix}{column}": column for column in order if column not in key}
    return {
        name: _placed(_nullable(table[column]), rows, n_rows)
        for name, column in named.items()
        if _is_wanted(name, carried)
    }


def _placed(values: Any, rows: np.ndarray, n_rows: int) -> Any:
    """An array of `n_rows` with the values at their rows, and null elsewhere."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        placed = np.full(n_rows, np.nan)
        placed[rows] = values
        return placed
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        whole, null = np.zeros(n_rows, np.int64), np.ones(n_rows, bool)
        whole[rows], null[rows] = values, False
        return pd.arrays.IntegerArray(whole, null)
    index = np.full(n_rows, -1, np.int64)
    index[rows] = np.arange(len(rows))
    return values.take(index, allow_fill=True)


def _nullable(values: pd.Series) -> Any:
    """The column as an array that `_placed` can fill with nulls; its type depends only on the column's type."""
    if values.name == "object":
        return values.to_numpy() if values.dtype == np.int64 else values.array
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.astype("boolean").array
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return values.array
    return values.to_numpy(np.float64, na_value=np.nan)
