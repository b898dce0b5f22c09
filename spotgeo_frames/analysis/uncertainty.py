"""intervals(): the metrics of a match table, of tracks or of poses with their confidence intervals.

The intervals come from the bootstrap (Efron, 1979, doi:10.1214/aos/1176344552): whole sequences are drawn with
replacement, as many as there are, many times, and each metric is computed for every such resample. A sequence that is
drawn twice counts twice. The method "percentile" takes quantiles of these values. "bca" (Efron, 1987,
doi:10.1080/01621459.1987.10478410) shifts the quantiles to correct for bias and for a standard error that depends on
the value of the metric. With fewer than two sequences nothing can be resampled, so `low` and `high` are null.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ..scoring.evaluations import Family, asked_table, is_result
from ..scoring.match_sums import share
from ..support.chunks import chunks
from ..support.errors import InputError
from ..support.pandas_versions import TEXT
from ..tables.columns import Columns
from ..tables.kinds import CALLER, same_kind_as
from ..tables.selections import By
from ..tables.table import Table
from .resampling import (
    BLUR,
    Matrix,
    check_labels,
    check_metrics,
    check_options,
    matrix_of,
    metrics_of,
    names_of,
    number_sequences,
    own_among,
    quantiles,
    resampled_sums,
    tails,
)

Method = Literal["percentile", "bca"]

# The count of sums, and of resampled metrics, that are in memory at once, 8 bytes each.
NUMBERS_AT_ONCE = 1 << 23


@same_kind_as("x")
def intervals(
    x: Table | NamedTuple,
    by: By | None = None,
    metrics: Sequence[str] | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
    method: Method = "percentile",
    seed: int = 0,
) -> pd.DataFrame:
    """Computes metrics with confidence intervals, by resampling whole sequences.

    Sequences have to be independent of each other; frames and objects of one sequence need not be.

    Parameters
    ----------
    x
        A match table, or what `track` or `pose` returned.
    by
        The groups, each with intervals of its own: a column of the match table; a Series with a value for each row (or,
        of a match table of polars, an expression); a list of these, whose values are crossed; or a dict from columns to
        a count of quantile bins (2 to 1000) or None. Whole sequences are resampled in groups, too. Rows that are null
        in `by` are left out. Results of tracks and poses are grouped by columns of their table `sums`: `sequence`, its
        attributes (`sequence_<column>`), and for poses `joint`.
    metrics
        A list of metrics. Of a match table any that `summarize` returns, your own among them; by default "f1",
        "precision", "recall", "mse" (px²), "det_a" and "rmse" (px). Of tracks any in the `summary` of `track`; by
        default "HOTA", "DetA", "AssA", "MOTA" and "IDF1". Of poses any in that of `pose` but "ap", "ap_pre" and
        "ap_rec", which do not follow from sums of sequences; by default "HOTA", "DetA", "AssA" and "mota" (percent).
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
    DataFrame of the kind of `x` with one row for each group and metric: the `by` columns, for results of tracks and
    poses `of` ("combined": the metric of all sequences of the group together), `metric`, `estimate` (the value that
    `summarize` computes), `low` and `high` (the bounds of the interval) and `n_sequences`, the count of sequences that
    have rows in the group. Where it is below two, `low` and `high` are null, and a warning says so.

    Raises
    ------
    InputError: `x` is no match table and no result, or has no rows; a column of `by` is missing, or has the name of a
        column of the result; a metric of your own fails.
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
    answer, texts = interval_table(x, by, metrics, resamples, confidence, method, seed)
    for text in texts:
        warnings.warn(f"intervals: {text}", stacklevel=CALLER)
    return answer


def interval_table(
    x: Table | NamedTuple,
    by: By | None,
    metrics: Sequence[str] | None,
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
    metrics = names_of(metrics)
    check_options(resamples, confidence)
    if method not in ("percentile", "bca"):
        raise ValueError(f"method is {method!r}; 'percentile' or 'bca' is needed")
    asked = asked_table(x, "intervals: x")
    if not len(asked.table):
        raise InputError(f"intervals: the {'result' if is_result(x) else 'match table'} has no rows")
    evaluation = asked.evaluate(asked.table, by, own_among(metrics))
    names = check_metrics(metrics, evaluation.family)
    check_labels(evaluation.labels)
    estimates = evaluation.summary.reindex(columns=names).to_numpy(np.float64, na_value=np.nan)
    low, high = np.full((2, *estimates.shape), np.nan)
    n_present = np.bincount(evaluation.group, minlength=evaluation.n_groups)
    sequence, n_sequences = number_sequences(Columns({"sequence": evaluation.sequence}))
    cells = matrix_of(evaluation.sums, len(sequence))
    metrics_from = _metrics_from(cells, names, evaluation.family)
    at_once = np.where(n_present > 1, cells.values.shape[1] * max(resamples, n_sequences), 1)
    for first, last in chunks(at_once, NUMBERS_AT_ONCE):
        if n_present[first:last].max() < 2:
            continue
        rows = np.flatnonzero((evaluation.group >= first) & (evaluation.group < last))
        sums = np.zeros((n_sequences, last - first, cells.values.shape[1]))
        sums[sequence[rows], evaluation.group[rows] - first] = cells.values[rows]
        low[first:last], high[first:last] = _bounds(sums, metrics_from, resamples, confidence, method, seed)
    unsure = np.isnan(estimates) | (n_present < 2)[:, None]
    low[unsure] = high[unsure] = np.nan
    columns = {name: values.repeat(len(names)) for name, values in evaluation.labels.items()}
    columns |= {"of": pd.array(["combined"] * estimates.size, dtype=TEXT)} if is_result(x) else {}
    columns |= {"metric": pd.array(names * evaluation.n_groups, dtype=TEXT)}
    columns |= {"estimate": estimates.ravel(), "low": low.ravel(), "high": high.ravel()}
    answer = pd.DataFrame(columns | {"n_sequences": n_present.repeat(len(names))}, copy=False)
    notes = {"resamples": resamples, "confidence": confidence, "method": method, "seed": seed}
    answer.attrs = evaluation.attrs | notes
    texts = _few_sequences_text(int((n_present < 2).sum()), evaluation.n_groups), evaluation.missing
    return answer, [text for text in texts if text]


def _metrics_from(cells: Matrix, names: Sequence[str], family: Family) -> Callable[[np.ndarray], np.ndarray]:
    """A function from added rows of the matrix (..., sums) to metrics (..., metrics)."""
    return lambda sums: metrics_of(cells.named(sums), names, family)


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
