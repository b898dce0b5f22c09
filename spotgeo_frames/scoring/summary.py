"""summarize(): the metrics of a match table, for all its rows or for each slice.

A slice cannot always know a metric. Where no false positive has a value in the `by` columns, these columns belong to
the truths, so false positives belong to no slice, and every metric that counts them is null. The same holds for misses
and columns that belong to predictions.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..support.keys import distinct, positions, row_keys
from ..tables.arrow import Table
from ..tables.schema import FN, FP, FRAME_KEY, check_matches, measure_of
from ..tables.selections import By, by_columns, excluded_rows, number_groups
from .match_sums import counted_rows, group_sums, match_sums, share
from .registry import METRICS, Metric, summary_columns, values_of


def summarize(
    matches: Table,
    by: By | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    *,
    dropna: bool = True,
) -> pd.DataFrame:
    """One row of metrics for the whole match table, or for each group.

    Parameters
    ----------
    matches
        A match table, as `match` makes it or as it comes back from a file; pandas or Arrow.
    by
        A column of the match table, a Series of its length and index (a `pd.cut` of a column), or several of them,
        which are crossed. Each is a column of the answer; values that do not occur are not listed.
    exclude
        Sequences to leave out, as the competition's server left some out.
    dropna
        Whether rows whose value in `by` is null are left out.

    Returns
    -------
    DataFrame, sorted by the groups: the `by` columns, then

    tp, fn, fp: truths matched with a prediction (found), truths without a match (missed), and predictions without a
        match (false alarms).
    precision, recall: TP / (TP + FP) and TP / (TP + FN).
    f1, one_minus_f1: 2 TP / (2 TP + FP + FN) and 1 - f1.
    mse: px², mean of squared_error over TP, FN and FP, by the metric document (eqs. 10 to 17); 0 without any.
    kelvins_mse: sum over sequences of each sequence's mean of kelvins_error, by the competition's server. It grows with
        the number of sequences, so it compares submissions, never slices.
    det_a: TP / (TP + FN + FP).
    mean_distance, rmse: px, mean distance of the TP and root of the mean squared distance of the TP.
    n_sequences, n_frames: all sequences, also those without objects; all frames, also those without objects.
    n_truth, n_predicted: TP + FN and TP + FP.
    loc_a: mean similarity of the TP; a column only where matching was by similarity.

    The columns `squared_error` and `kelvins_error` of the match table hold what each row adds. Ratios with nothing to
    divide by are null. After matching by similarity `mse`, `kelvins_mse`, `mean_distance` and `rmse` are null. Where no
    FP has a value in the `by` columns, all that counts FP is null (`fp`, `precision`, `f1`, `mse` and so on); where no
    FN has one, all that counts FN.

    Raises
    ------
    InputError: not a match table, a column that is not there, or sequences of another type than the table's.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 50.0], "y": [10.0, 50.0]})
    >>> predictions = truth.assign(x=[14.0, 90.0])
    >>> sf.summarize(sf.match(truth, predictions))[["tp", "fn", "fp", "f1", "mse"]]
       tp  fn  fp   f1   mse
    0   1   1   1  0.5  72.0
    """
    return summary_of(summary_sums(matches, by, exclude, dropna=dropna))


class SummarySums(NamedTuple):
    """What summaries follow from. Those of match tables that share no sequence add up, by `add_sums`.

    `labels` are the values of the groups, sorted, and `sums` what each adds up to, both one row a group; of no groups,
    `labels` have no columns. `rows` are how many rows, left out or not, are FP and FN, and how many of each have no
    value in the columns to group by. `attrs` are the match table's.
    """

    labels: pd.DataFrame
    sums: pd.DataFrame
    rows: dict[int, tuple[int, int]]
    by_similarity: bool
    attrs: dict[Hashable, Any]


def summary_sums(
    matches: Table,
    by: By | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    *,
    dropna: bool = True,
) -> SummarySums:
    """The sums of a match table that `summarize` makes numbers of; it says what is taken and raised."""
    groups = group_rows(matches, by, exclude, dropna=dropna)
    sums = _sums(groups.table, groups.of_row, groups.number)
    labels = pd.DataFrame(groups.labels, index=range(groups.number), copy=False)
    by_similarity = measure_of(groups.table) == "similarity"
    return SummarySums(labels, pd.DataFrame(sums, copy=False), groups.rows, by_similarity, dict(groups.table.attrs))


def add_sums(parts: Sequence[SummarySums]) -> SummarySums:
    """The sums of match tables that share no sequence, put together: one or more, grouped by the same columns."""
    labels = pd.concat([part.labels for part in parts], ignore_index=True)
    sums = pd.concat([part.sums for part in parts], ignore_index=True)
    of_row, first = number_groups([labels[column] for column in labels], len(sums))
    n_groups = len(first) if len(labels.columns) else 1
    # Counts are whole numbers far below 2**53, so they come out exact.
    columns = {str(name): values.to_numpy() for name, values in sums.items()}
    added = {name: np.bincount(of_row, values, n_groups).astype(values.dtype) for name, values in columns.items()}
    rows = {
        kind: (sum(part.rows[kind][0] for part in parts), sum(part.rows[kind][1] for part in parts))
        for kind in parts[0].rows
    }
    labels = labels.take(first).reset_index(drop=True) if len(labels.columns) else pd.DataFrame(index=range(n_groups))
    return parts[0]._replace(labels=labels, sums=pd.DataFrame(added, copy=False), rows=rows)


def summary_of(sums: SummarySums) -> pd.DataFrame:
    """The rows that `summarize` returns, from their sums."""
    arrays = {str(name): values.to_numpy() for name, values in sums.sums.items()}
    unknown = {outcome for outcome, (n_rows, n_null) in sums.rows.items() if n_rows and n_null == n_rows}
    metrics = values_of(arrays, summary_columns(sums.by_similarity), sums.by_similarity)
    columns = {
        name: _column(METRICS[name], values, not unknown.isdisjoint(METRICS[name].needs))
        for name, values in metrics.items()
    }
    answer = pd.concat([sums.labels, pd.DataFrame(columns, copy=False)], axis=1)
    answer.attrs = dict(sums.attrs)
    return answer


class Groups(NamedTuple):
    """The rows of a match table by their group: `of_row` is that of each row, `labels` are the values of each group.

    Groups are sorted. `rows` are as those of SummarySums.
    """

    table: pd.DataFrame
    labels: dict[str, Any]
    of_row: np.ndarray
    number: int
    rows: dict[int, tuple[int, int]]


def group_rows(
    matches: Table, by: By | None, exclude: Iterable[int] | Iterable[str] | None = None, *, dropna: bool = True
) -> Groups:
    """Groups a match table as `summarize` does, whose docstring says how; one group of all rows where `by` is None."""
    table = check_matches(matches)
    columns = by_columns(table, by, list(METRICS))
    if exclude is not None:
        excluded = excluded_rows(table, exclude)
        table, columns = table[~excluded], [column[~excluded] for column in columns]
    outcome = table["outcome"].array.codes
    null = np.zeros(len(table), bool)
    for column in columns:
        null |= column.isna().to_numpy()
    rows = {
        kind: (int(np.count_nonzero(outcome == kind)), int(np.count_nonzero(null[outcome == kind])))
        for kind in ((FP, FN) if columns else ())
    }
    if dropna and null.any():
        table, columns = table[~null], [column[~null] for column in columns]
    of_row, first = number_groups(columns, len(table))
    labels = {str(column.name): column.take(first).array for column in columns}
    return Groups(table, labels, of_row, len(first) if columns else 1, rows)


def _sums(table: pd.DataFrame, group: np.ndarray, n_groups: int) -> dict[str, np.ndarray]:
    """What each group adds up to; `group` is each row's. Groups of tables that share no sequence add up further."""
    sums = match_sums(table, group, n_groups)
    counted = counted_rows(table["outcome"].array.codes)
    sequence_keys, first = _within(group, n_groups, row_keys(table, ["sequence"]))
    sequence = positions(sequence_keys, sequence_keys[first], first)[counted]
    kelvins = group_sums(table["kelvins_error"].to_numpy()[counted], sequence, len(first))
    of_sequence = share(kelvins, np.bincount(sequence, minlength=len(first)), nothing=0.0)
    _, first_of_frame = _within(group, n_groups, row_keys(table, FRAME_KEY))
    return sums | {
        "kelvins_mse": group_sums(of_sequence, group[first], n_groups),
        "n_sequences": np.bincount(group[first], minlength=n_groups),
        "n_frames": np.bincount(group[first_of_frame], minlength=n_groups),
    }


def _column(metric: Metric, values: np.ndarray, unknown: bool) -> Any:
    """The column of a metric, null in slices that cannot know it; counts of outcomes are integers that may be null."""
    if metric.written != "count":
        return np.full(values.shape, np.nan) if unknown else values.astype(np.float64)
    integers = values.astype(np.int64)
    return pd.arrays.IntegerArray(integers, np.full(values.shape, unknown)) if metric.needs else integers


def _within(group: np.ndarray, n_groups: int, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One integer a row for its (group, key), and the first row of each that occurs."""
    if n_groups > 1:
        values, first = distinct(keys)
        keys = group * len(values) + positions(keys, values, first)
    return keys, distinct(keys)[1]
