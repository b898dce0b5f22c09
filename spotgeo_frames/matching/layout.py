"""Lays out the match table from aligned sides and their assigned pairs.

The type of a column depends only on the type of the column that it carries, never on the rows that happen to be there,
so the match tables of several parts can be concatenated. Object identities and the shared `category` are `Int64` or
string, numbers are float64 and flags are `boolean`. All are null in rows without a truth, without a prediction, or
without an entry in the table of frames or of sequences.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables import Columns, array_of, as_numbers, coded, schema
from .alignment import Aligned, sequence_attributes
from .pairs import Pairs
from .rule import Rule

if TYPE_CHECKING:
    import pandas as pd

# The events of tracks: one for each outcome, in the order of TP, FN, FP, then a TP with another identity than before.
EVENTS = ["match", "miss", "false positive", "switch"]
SWITCH = 3


def match_table(aligned: Aligned, pairs: Pairs, rule: Rule, carried: Collection[str] | None = None) -> Columns:
    """The columns of the match table: a row for each TP, FN and FP, and one for each frame without any.

    Rows are sorted by frame; within a frame, truths come first in file order, then false positives in file order. The
    rule says whether the pairs' measure is a distance (px, or head sizes) or a similarity, gives the errors, and writes
    its notes into the table's attrs. `carried` names the columns to make besides the key, the outcome and the errors;
    None makes all.
    """
    truth, predictions, frames = aligned.truth, aligned.predictions, aligned.frames
    n_rows, truth_row, predicted_row = _places(aligned, pairs)
    matched_row = predicted_row[pairs.prediction]
    outcome = np.full(int(n_rows.sum()), schema.EMPTY, np.int8)
    outcome[truth_row] = schema.FN
    outcome[predicted_row] = schema.FP
    outcome[matched_row] = schema.TP
    measure = np.full(len(outcome), np.nan)
    measure[matched_row] = pairs.measure

    # Every frame has a row, so adding up the first rows gives each row's frame. Taking is faster than repeating.
    frame = np.zeros(len(outcome), np.int64)
    frame[np.cumsum(n_rows)[:-1]] = 1
    frame = np.cumsum(frame)

    key = schema.frame_columns(frames)
    columns = {column: frames[column].take(frame) for column in key}
    columns |= {
        "outcome": outcome,
        **_measured(outcome, measure, rule),
        **_shared_category(aligned, truth_row, predicted_row, len(outcome), carried),
        **_carried(truth.table, schema.PREFIXES["truth"], truth_row, len(outcome), key, carried, rule.identity),
        **_carried(
            predictions.table, schema.PREFIXES["predictions"], predicted_row, len(outcome), key, carried, rule.identity
        ),
    }
    if _is_wanted(schema.FILE_ORDER, carried):
        in_frame = np.arange(len(predictions.frame)) - predictions.starts[predictions.frame]
        columns[schema.FILE_ORDER] = _placed(in_frame, predicted_row, len(outcome))
    counts = {"frame_n_truth": truth.counts, "frame_n_predicted": predictions.counts}
    attributes = {f"{schema.PREFIXES['frames']}{column}": frames[column] for column in frames if column not in key}
    of_sequences = sequence_attributes(aligned, frames["sequence"])
    attributes |= {f"{schema.PREFIXES['sequences']}{name}": values for name, values in of_sequences.items()}
    columns |= {name: values[frame] for name, values in counts.items() if _is_wanted(name, carried)}
    columns |= {name: _nullable(v).take(frame) for name, v in attributes.items() if _is_wanted(name, carried)}
    return Columns(columns, {**rule.notes, **aligned.notes})


def with_events(table: Columns, switch: np.ndarray, others: Mapping[str, np.ndarray] | None = None) -> Columns:
    """A match table of tracks with the column `event` after `outcome`, and then the `others`.

    `switch` marks the true positives, in order, that switch. The other columns are flags of the true positives, in the
    same order.
    """
    outcome = table["outcome"]
    matched = np.flatnonzero(outcome == schema.TP)
    event = np.where(outcome == schema.EMPTY, -1, outcome)
    event[matched[switch]] = SWITCH
    added: dict[str, Any] = {"event": coded(event, EVENTS)}
    for name, marked in (others or {}).items():
        added[name] = np.zeros(len(table), bool)
        added[name][matched[marked]] = True
    after = table.columns.index("outcome") + 1
    before = table.select(table.columns[:after])
    return before.assign(added | {name: table[name] for name in table.columns[after:]})


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
    """The columns `distance` or `similarity`, and the errors."""
    squared, kelvins = rule.errors(outcome, measure)
    name = "distance" if rule.by_distance else "similarity"
    columns = {name: rule.in_table(measure), "squared_error": squared, "kelvins_error": kelvins}
    return columns | ({"gospa_error": rule.gospa_errors(outcome, measure)} if rule.assignment == "least" else {})


def _shared_category(
    aligned: Aligned, truth_row: np.ndarray, predicted_row: np.ndarray, n_rows: int, carried: Collection[str] | None
) -> dict[str, Any]:
    """The column `category`, the truth's or else the prediction's; none unless both sides have categories."""
    sides = aligned.truth, aligned.predictions
    if any(side.category is None for side in sides) or not _is_wanted("category", carried):
        return {}
    index = np.full(n_rows, -1, np.int64)
    index[predicted_row] = len(truth_row) + np.arange(len(predicted_row))
    index[truth_row] = np.arange(len(truth_row))
    categories = joined_categories([side.table["category"] for side in sides])
    return {"category": array_of(categories.reindex(index))}


def joined_categories(columns: Sequence[Any]) -> pd.Series:
    """The categories of both sides, one after the other: `Int64` if all are integers, float64 for other numbers, text.

    A column without rows tells its type only if the other one has no rows, either.
    """
    import pandas as pd

    from ..support import pandas_tables
    from ..tables import checks

    filled = [column for column in columns if len(column)] or columns
    plain = [checks.decoded(pd.Series(column, name="category", copy=False)) for column in filled]
    categories = pd.concat(plain, ignore_index=True)
    if all(pd.api.types.is_integer_dtype(column.dtype) for column in plain):
        return categories.astype("Int64")
    return pd.Series(_nullable(array_of(pandas_tables.as_text(categories))), copy=False)


def _is_wanted(name: str, carried: Collection[str] | None) -> bool:
    return carried is None or name in carried


def _carried(
    table: Columns,
    prefix: str,
    rows: np.ndarray,
    n_rows: int,
    key: Sequence[str],
    carried: Collection[str] | None,
    identity: str | None,
) -> dict[str, Any]:
    """The columns of a table without its key, with a prefix, placed at their rows; geometry first, then the score.

    Names of objects, in `object` and in the column `identity`, stay integers.
    """
    order = [column for column in dict.fromkeys(["object", "x", "y", "w", "h", "score", *table]) if column in table]
    named = {f"{prefix}{column}": column for column in order if column not in key}
    return {
        name: _placed(_fillable(column, table[column], identity), rows, n_rows)
        for name, column in named.items()
        if _is_wanted(name, carried)
    }


def _fillable(column: str, values: Any, identity: str | None) -> Any:
    """A column as an array that `_placed` can fill with nulls; names of objects stay integers."""
    if column == "object":
        return values
    if column == identity and getattr(values.dtype, "kind", "") in ("i", "u"):
        return values.astype(np.int64 if isinstance(values, np.ndarray) else "Int64")
    return _nullable(values)


def _placed(values: Any, rows: np.ndarray, n_rows: int) -> Any:
    """An array of `n_rows` with the values at their rows, and null elsewhere."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        placed = np.full(n_rows, np.nan)
        placed[rows] = values
        return placed
    from pandas.api.extensions import take
    from pandas.arrays import IntegerArray

    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        whole, null = np.zeros(n_rows, np.int64), np.ones(n_rows, bool)
        whole[rows], null[rows] = values, False
        return IntegerArray(whole, null)
    index = np.full(n_rows, -1, np.int64)
    index[rows] = np.arange(len(rows))
    if isinstance(values, np.ndarray):  # of Python objects
        return take(values, index, allow_fill=True)
    return values.take(index, allow_fill=True)


def _nullable(values: Any) -> Any:
    """The column as an array that `_placed` can fill with nulls; its type depends only on the column's type."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return as_numbers(values)
    import pandas as pd

    if pd.api.types.is_bool_dtype(values.dtype):
        return pd.array(values, dtype="boolean")
    return as_numbers(values) if pd.api.types.is_numeric_dtype(values.dtype) else values
