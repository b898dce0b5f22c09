"""intervals(): the metrics of a match table with their confidence intervals.

The intervals come from the bootstrap (Efron, 1979, doi:10.1214/aos/1176344552): whole sequences are drawn with
replacement, as many as there are, many times, and each metric is computed for every such resample. A sequence that is
drawn twice counts twice. The method "percentile" takes quantiles of these values. "bca" (Efron, 1987,
doi:10.1080/01621459.1987.10478410) shifts the quantiles to correct for bias and for a standard error that depends on
the value of the metric. With fewer than two sequences nothing can be resampled, so `low` and `high` are null.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from ..scoring.group_sums import Groups, group_rows, sums_of_groups
from ..scoring.match_sums import share
from ..scoring.missing_rows import missing_rows_text
from ..scoring.registry import own_metrics
from ..scoring.summary import summary_of
from ..support.chunks import chunks
from ..support.errors import InputError
from ..support.keys import distinct
from ..support.pandas_versions import TEXT
from ..tables.checks import check_matches
from ..tables.kinds import CALLER, same_kind_as
from ..tables.schema import measure_of
from ..tables.selections import By
from ..tables.table import Table
from .resampling import (
    ALL_SUMS,
    BLUR,
    DEFAULT_METRICS,
    check_labels,
    check_metrics,
    check_options,
    metrics_of,
    number_sequences,
    quantiles,
    resampled_sums,
    sequence_sums,
    sums_for_own,
    tails,
)

Method = Literal["percentile", "bca"]

# The count of sums, and of resampled metrics, that are in memory at once, 8 bytes each.
NUMBERS_AT_ONCE = 1 << 23


@same_kind_as("matches")
def intervals(
    matches: Table,
    by: By | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    resamples: int = 10_000,
    confidence: float = 0.95,
    method: Method = "percentile",
    seed: int = 0,
) -> pd.DataFrame:
    """Computes metrics of a match table with confidence intervals, by resampling whole sequences.

    Sequences have to be independent of each other; frames and objects of one sequence need not be.

    Parameters
    ----------
    matches
        A match table.
    by
        The groups, each with intervals of its own: a column of the match table; a Series with a value for each row (or,
        of a match table of polars, an expression); a list of these, whose values are crossed; or a dict from columns to
        a count of quantile bins (2 to 1000) or None. Whole sequences are resampled in groups, too. Rows that are null
        in `by` are left out.
    metrics
        A list of any of "f1", "precision", "recall", "mse" (px²), "det_a", "rmse" (px), "one_minus_f1", "mean_distance"
        (px), "loc_a" and "kelvins_mse", and your own metrics, which `metric()` added.
    resamples
        How often sequences are drawn, with replacement; at least 1.
    confidence
        The share of intervals that contain the true value, between 0 and 1.
    method
        "percentile": the bounds are quantiles of the metric over the resamples (Efron, 1979,
        doi:10.1214/aos/1176344552). "bca": the quantiles are corrected for bias and acceleration (Efron, 1987,
        doi:10.1080/01621459.1987.10478410).
    seed
        Equal seeds give equal intervals.

    Returns
    -------
    DataFrame of the match table's kind with one row for each group and metric: the `by` columns, `metric`, `estimate`
    (the value that `summarize` computes), `low` and `high` (the bounds of the interval) and `n_sequences`, the count of
    sequences that have rows in the group. Where it is below two, `low` and `high` are null, and a warning says so.

    Raises
    ------
    InputError: `matches` is no match table or has no rows; a column of `by` is missing, or has the name of a column of
        the result; a metric of your own fails.
    ValueError: an unknown metric or method, `resamples` below 1, or `confidence` not between 0 and 1.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.intervals(matches, metrics=["f1", "recall"], resamples=1000).round(2)
       metric  estimate   low  high  n_sequences
    0      f1      0.82  0.78  0.85           60
    1  recall      0.89  0.83  0.94           60
    """
    answer, texts = interval_table(matches, by, metrics, resamples, confidence, method, seed)
    for text in texts:
        warnings.warn(f"intervals: {text}", stacklevel=CALLER)
    return answer


def interval_table(
    matches: Table,
    by: By | None,
    metrics: Sequence[str],
    resamples: int,
    confidence: float,
    method: Method,
    seed: int,
) -> tuple[pd.DataFrame, list[str]]:
    """Computes the table that `intervals` returns, and the texts of warnings instead of raising them.

    Takes a match table, its groups, the metrics, the count of resamples, the confidence (0 to 1), the method
    ("percentile" or "bca") and the seed. Raises InputError where the table, a column or its name cannot be used, and
    ValueError where a metric, the method or an option is unknown or out of range.
    """
    names = check_metrics(metrics)
    check_options(resamples, confidence)
    if method not in ("percentile", "bca"):
        raise ValueError(f"method is {method!r}; 'percentile' or 'bca' is needed")
    table = check_matches(matches, "intervals: matches")
    if not len(table):
        raise InputError("intervals: the match table has no rows")
    groups = group_rows(table, by, own=[name for name in own_metrics() if name in names])
    check_labels(groups.labels)
    estimates = summary_of(sums_of_groups(groups)).reindex(columns=names).to_numpy(np.float64, na_value=np.nan)
    sequence, n_sequences = number_sequences(groups.table)
    low, high = np.full((2, *estimates.shape), np.nan)
    by_similarity = measure_of(groups.table) == "similarity"
    more = sums_for_own(groups, names)
    metrics_from = partial(metrics_of, metrics=names, by_similarity=by_similarity, more=more)
    at_once = len([*ALL_SUMS, *more]) * max(resamples, n_sequences)
    for first, last in chunks(np.full(groups.n_groups, at_once), NUMBERS_AT_ONCE):
        sums = _sums_of_groups(groups, first, last, sequence, n_sequences, more)
        low[first:last], high[first:last] = _bounds(sums, metrics_from, resamples, confidence, method, seed)
    n_present = _n_present(sequence, n_sequences, groups)
    unsure = np.isnan(estimates) | (n_present < 2)[:, None]
    low[unsure] = high[unsure] = np.nan
    columns = {name: values.repeat(len(names)) for name, values in groups.labels.items()}
    columns |= {"metric": pd.array(names * groups.n_groups, dtype=TEXT)}
    columns |= {"estimate": estimates.ravel(), "low": low.ravel(), "high": high.ravel()}
    answer = pd.DataFrame(columns | {"n_sequences": n_present.repeat(len(names))}, copy=False)
    notes = {"resamples": resamples, "confidence": confidence, "method": method, "seed": seed}
    answer.attrs = groups.table.attrs | notes
    texts = _few_sequences_text(int((n_present < 2).sum()), groups.n_groups), missing_rows_text(groups.all_rows)
    return answer, [text for text in texts if text]


def _sums_of_groups(
    groups: Groups, first: int, last: int, sequence: np.ndarray, n_sequences: int, more: Mapping[str, np.ndarray]
) -> np.ndarray:
    """The sums of each sequence and each group from `first` up to, not including, `last`: (sequences, groups, sums)."""
    rows = np.flatnonzero((groups.of_row >= first) & (groups.of_row < last))
    cell = sequence[rows] * (last - first) + groups.of_row[rows] - first
    more_of_rows = {name: values[rows] for name, values in more.items()}
    sums = sequence_sums(groups.table.take(rows), cell, n_sequences * (last - first), more_of_rows)
    return sums.reshape(n_sequences, last - first, -1)


def _n_present(sequence: np.ndarray, n_sequences: int, groups: Groups) -> np.ndarray:
    """The count of sequences that have rows in each group, (groups,)."""
    cells, _ = distinct(np.sort(groups.of_row * n_sequences + sequence))
    return np.bincount(cells // n_sequences, minlength=groups.n_groups)


def _few_sequences_text(n_few: int, n_groups: int) -> str | None:
    """The text of a warning if groups have fewer than two sequences, otherwise None."""
    if not n_few:
        return None
    where = "there is only one sequence" if n_groups == 1 else f"{n_few} of {n_groups} groups have only one sequence"
    return f"{where}: nothing to resample, so low and high are null"


def _bounds(
    sums: np.ndarray,
    metrics_from: Callable[[np.ndarray], np.ndarray],
    resamples: int,
    confidence: float,
    method: Method,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper bounds (groups, metrics) of metrics, from sums (sequences, groups, sums).

    `metrics_from` computes metrics (..., metrics) from sums (..., sums).
    """
    samples = metrics_from(resampled_sums(sums, resamples, seed))
    levels = tails(confidence, samples.shape[1:])
    if method == "bca":
        estimate = metrics_from(sums.sum(axis=0))
        left_out = metrics_from(sums.sum(axis=0) - sums)
        levels = _corrected(levels, samples, estimate, left_out)
    low, high = quantiles(samples, levels)
    return low, high


def _corrected(levels: np.ndarray, samples: np.ndarray, estimate: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """Corrects quantile levels for bias and acceleration (Efron, 1987, doi:10.1080/01621459.1987.10478410).

    `left_out` (sequences, groups, metrics) holds the metrics after leaving out one sequence at a time.
    """
    from scipy.special import ndtr, ndtri  # imported here, because it is slow to import and rarely needed

    n_known = np.maximum(np.count_nonzero(~np.isnan(samples), axis=0), 1)
    blur = BLUR * np.abs(estimate)  # a sample that is the estimate but for rounding counts half
    n_below = np.count_nonzero(samples < estimate - blur, axis=0)
    below = (n_below + np.count_nonzero(samples <= estimate + blur, axis=0)) / 2 / n_known
    bias = ndtri(np.clip(below, 0.5 / n_known, 1 - 0.5 / n_known))
    deviations = np.nan_to_num(np.nanmean(left_out, axis=0) - left_out)
    spread = (deviations**2).sum(axis=0)
    acceleration = share((deviations**3).sum(axis=0), 6 * spread**1.5, nothing=0.0)
    shifted = bias + ndtri(levels)
    return ndtr(bias + shifted / (1 - acceleration * shifted))
