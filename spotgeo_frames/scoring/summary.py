"""summarize(): the metrics of a match table, for all its rows or for each slice.

A slice cannot always know a metric. Where no false positive has a value in the `by` columns, these columns belong to
the truths, so false positives belong to no slice, and every metric that counts them is null. The same holds for misses
and columns that belong to predictions.
"""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..tables.arrow import Table
from ..tables.schema import check_matches
from ..tables.selections import By, excluded_sequences
from .group_sums import Sums, group_rows, sums_of_groups
from .missing_rows import missing_rows_text
from .registry import METRICS, Metric, summary_columns, values_of


def summarize(
    matches: Table,
    by: By | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    *,
    dropna: bool = True,
) -> pd.DataFrame:
    """One row of metrics for the whole match table, or for each group.

    Give the whole table, and `by` for classes and slices: a table that was filtered may have lost its false alarms or
    its misses. Where the rows of frames no longer add up to `frame_n_truth` or `frame_n_predicted`, a warning says so.

    Parameters
    ----------
    matches
        A match table, as `match` makes it or as it comes back from a file; pandas or Arrow.
    by
        A column of the match table; a Series, of pandas with the table's index (a `pd.cut` of a column) or of polars
        with a value for each row; a list of these, which are crossed; or a dict of columns, crossed, each with a number
        of quantile bins (2 to 1000, those of `pandas.qcut`) or None for its values as they are. Each is a column of
        the answer; values that do not occur are not listed.
    exclude
        Sequences to leave out, strings or integers, as the competition's server left some out. A warning names those
        that the table does not have.
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
    table = check_matches(matches)
    left_out, unknown = excluded_sequences(exclude, [table])
    answer, missing = summarized(table, by, left_out, dropna=dropna)
    for text in filter(None, (unknown, missing)):
        warnings.warn(f"summarize: {text}", stacklevel=2)
    return answer


def summarized(
    matches: Table,
    by: By | None = None,
    exclude: Sequence[int | str] | None = None,
    *,
    dropna: bool = True,
) -> tuple[pd.DataFrame, str | None]:
    """What `summarize` returns, and a warning of rows that are missing, if any; `exclude` has been checked."""
    groups = group_rows(matches, by, exclude, dropna=dropna)
    return summary_of(sums_of_groups(groups)), missing_rows_text(groups.all_rows)


def summary_of(sums: Sums) -> pd.DataFrame:
    """The rows that `summarize` returns, from their sums."""
    unknown = {outcome for outcome, (n_rows, n_null) in sums.rows.items() if n_rows and n_null == n_rows}
    metrics = values_of(sums.values, summary_columns(sums.by_similarity), sums.by_similarity)
    columns = {
        name: _column(METRICS[name], values, not unknown.isdisjoint(METRICS[name].needs))
        for name, values in metrics.items()
    }
    answer = pd.concat([sums.labels, pd.DataFrame(columns, copy=False)], axis=1)
    answer.attrs = dict(sums.attrs)
    return answer


def _column(metric: Metric, values: np.ndarray, unknown: bool) -> Any:
    """The column of a metric, null in slices that cannot know it; counts of outcomes are integers that may be null."""
    if metric.written != "count":
        return np.full(values.shape, np.nan) if unknown else values.astype(np.float64)
    integers = values.astype(np.int64)
    return pd.arrays.IntegerArray(integers, np.full(values.shape, unknown)) if metric.needs else integers
