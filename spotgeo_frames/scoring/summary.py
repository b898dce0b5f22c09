"""summarize(): the metrics of a match table, for all its rows or for each slice.

In a slice, a metric may be unknown. If all false positives are null in the `by` columns, these columns describe truths,
so no false positive belongs to any slice, and every metric that counts false positives is null. If all misses are null
in them, the columns describe predictions, and every metric that counts misses is null. Columns of two values, such as
`matches["truth_h"] > 50`, belong to one side without being null; `one_sided` finds them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..tables.columns import Columns, dataframe_of
from ..tables.kinds import CALLER, same_kind_as
from ..tables.selections import By, excluded_sequences
from ..tables.table import Table
from .group_sums import Sums, known_sums, sums_of_groups
from .own_metrics import lacking_text
from .registry import METRICS, Metric, own_metrics, summary_columns, values_of
from .row_counts import group_texts
from .row_groups import Groups, group_rows, unknown_outcomes

if TYPE_CHECKING:
    import pandas as pd


@same_kind_as("matches")
def summarize(
    matches: Table,
    by: By | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    *,
    dropna: bool = True,
) -> pd.DataFrame:
    """Computes the metrics of a match table: one row for the whole table, or one for each group.

    For the metrics of classes and slices, pass the whole table and `by`. A table that you filtered yourself may have
    lost its false alarms or its misses: a warning says so where the rows of a frame no longer add up to `frame_n_truth`
    or `frame_n_predicted`. Rows that a merge or a concat doubled count twice, and a warning says so, too.

    Parameters
    ----------
    matches
        A match table, as `match` makes it or as it comes back from a file; of pandas, polars or pyarrow. Or what
        `track` or `pose` returned: then the columns are the metrics of its `summary` (without poseval's `ap`, `ap_pre`
        and `ap_rec`, which do not follow from sums of sequences), and `by` takes columns of its `sums`: `sequence`,
        its attributes (`sequence_<column>`), `joint` of poses, and `category` of `track(by="category")`. Or what
        `average_precision` returned: then this is its `summary`, and `by` takes what its own `by` does.
    by
        The groups: the name of a column of the match table; a Series with a value for each row (of pandas, with the
        table's index, such as a `pd.cut` of a column, or of polars); where the match table is of polars, an expression
        such as `pl.col("truth_x") > 100`; a list of these, whose values are crossed; or a dict from names of columns,
        which are crossed, to a count of quantile bins (2 to 1000, those of `pandas.qcut` of the rows that are neither
        null nor excluded), to the edges of bins, or to None for the values as they are. Each becomes a column of the
        result. Groups without rows are not listed.

        Columns of numbers and of times have bins. Edges rise, such as `[0, 50, float("inf")]`, and those of times are
        Timestamps or text such as "2024-06-01". A value on an edge is in the bin below it, one on the lowest edge in
        the first bin, and one beyond all edges in none, so its row is left out as those that are null.
    exclude
        Sequences to leave out, a list of strings or of integers like the table's. The competition's server left
        sequences out, too. A warning names those that the table does not have.
    dropna
        Whether to leave out rows that are null in `by`.

    Returns
    -------
    DataFrame of the match table's kind, sorted by group: the `by` columns (bins as text such as `12 to 47` in polars
    and pyarrow), then

    tp, fn, fp: truths matched with a prediction (found), truths without a match (missed), and predictions without a
        match (false alarms).
    precision, recall: TP / (TP + FP) and TP / (TP + FN).
    f1: 2 TP / (2 TP + FP + FN).
    mse: px², mean of squared_error over TP, FN and FP, by the metric document (eqs. 10 to 17); 0 without any.
    kelvins_mse: sum over sequences of each sequence's mean of kelvins_error, by the competition's server. It grows with
        the number of sequences, so it compares submissions, never slices.
    det_a: TP / (TP + FN + FP).
    mean_distance, rmse: px, mean distance of the TP and root of the mean squared distance of the TP.
    n_sequences, n_frames: all sequences, also those without objects; all frames, also those without objects. Of fewer
        than 20 sequences little is known; displayed tables mark them as few. Also in summaries of tracks and poses.
    n_truth, n_predicted: TP + FN and TP + FP.
    loc_a: mean similarity of the TP; a column only where matching was by similarity.
    Then your own metrics, which `metric()` added. One that asks for a column which the table lacks is left out, and a
        warning names it.

    The columns `squared_error` and `kelvins_error` of the match table hold the error of each row. Ratios whose
    denominator is 0 are null. After matching by similarity `mse`, `kelvins_mse`, `mean_distance` and `rmse` are null.
    Where all FP are null in the `by` columns, every metric that counts FP is null (`fp`, `precision`, `f1`, `mse` and
    so on); where all FN are null in them, every metric that counts FN is null. So it is, with a warning, for a column
    of two values that is the same on all FP and differs on FN, as `matches["truth_h"] > 50` is: FP have no height, and
    so they are False. Give `by={"truth_h": [0, 50, float("inf")]}` instead.

    Raises
    ------
    InputError: `matches` is no match table, a column of `by` is missing, a Series of `by` does not fit the table, a
        count of bins is out of range, `exclude` is no list of the sequences' type, or a metric of your own fails.

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
    from ..tables.checks import check_matches
    from .evaluations import is_result, summary_of_result

    if is_result(matches):
        answer, texts = summary_of_result(matches, by, exclude)
        for text in texts:
            warnings.warn(f"summarize: {text}", stacklevel=CALLER)
        return answer
    table = check_matches(matches, by_groups=True)
    left_out, unknown = excluded_sequences(exclude, [table])
    answer, texts = summarized(group_rows(table, by, left_out, dropna=dropna, own=own_metrics()))
    for text in filter(None, (unknown, *texts)):
        warnings.warn(f"summarize: {text}", stacklevel=CALLER)
    return answer


def summarized(groups: Groups) -> tuple[pd.DataFrame, list[str]]:
    """The summary of a match table, and the texts of warnings about its rows, its slices, and columns that it lacks."""
    texts = [*group_texts(groups), lacking_text([groups.own.lacking])]
    return summary_of(sums_of_groups(groups)), [text for text in texts if text]


def summary_of(sums: Sums) -> pd.DataFrame:
    """The summary that `summarize` returns, computed from sums."""
    import pandas as pd

    columns = metric_columns(sums)
    nullable = {
        name: pd.arrays.IntegerArray(np.nan_to_num(columns[name]).astype(np.int64), np.isnan(columns[name]))
        for name in columns
        if name in METRICS and METRICS[name].written == "count" and METRICS[name].needs
    }
    return dataframe_of(columns.assign(nullable))


def metric_columns(sums: Sums) -> Columns:
    """The columns of the summary, computed from sums: labels, then metrics; NaN where a metric is null."""
    unknown = unknown_outcomes(sums.rows)
    names = [name for name in summary_columns(sums.by_similarity) if name in sums.own_metrics or not METRICS[name].sums]
    metrics = values_of(known_sums(sums.values, unknown), names, sums.by_similarity)
    columns = {
        name: _column(METRICS[name], values, not unknown.isdisjoint(METRICS[name].needs))
        for name, values in metrics.items()
    }
    return Columns(sums.labels.arrays | columns, sums.attrs, len(sums.labels))


def _column(metric: Metric, values: np.ndarray, unknown: bool) -> np.ndarray:
    """Makes the column of a metric: null if `unknown`, and counts as integers."""
    if unknown:
        return np.full(values.shape, np.nan)
    return values.astype(np.int64 if metric.written == "count" else np.float64)
