"""intervals(): how sure the numbers of a match table are.

An interval comes from drawing whole sequences with replacement, as many as there are, again and again (Efron, 1979,
doi:10.1214/aos/1176344552); a sequence that is drawn twice counts twice. "percentile" takes the quantiles of these
resamples' numbers. "bca" corrects them for bias and for an error that grows with the number (Efron, 1987,
doi:10.1080/01621459.1987.10478410). Where there are fewer than two sequences there is nothing to draw: `low` and `high`
are null.
"""

import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from ..scoring.group_sums import Groups, group_rows, sums_of_groups
from ..scoring.match_sums import share
from ..scoring.missing_rows import missing_rows_text
from ..scoring.summary import summary_of
from ..support.chunks import chunks
from ..support.errors import InputError
from ..support.keys import distinct
from ..tables.arrow import Table
from ..tables.schema import check_matches, measure_of
from ..tables.selections import By
from .resampling import (
    ALL_SUMS,
    METRICS,
    check_labels,
    check_options,
    metrics_of,
    number_sequences,
    quantiles,
    resampled_sums,
    sequence_sums,
    tails,
)

Method = Literal["percentile", "bca"]

# Sums of sequences and groups, and resampled numbers, that are in memory at once, 8 bytes each.
NUMBERS_AT_ONCE = 1 << 23


def intervals(
    matches: Table,
    by: By | None = None,
    metrics: Sequence[str] = METRICS,
    resamples: int = 10_000,
    confidence: float = 0.95,
    method: Method = "percentile",
    seed: int = 0,
) -> pd.DataFrame:
    """Numbers of a match table with their confidence intervals, by resampling sequences.

    Parameters
    ----------
    matches, by
        A match table, and columns to group by, as for `summarize`. In slices, too, whole sequences are resampled.
    metrics
        Of "f1", "precision", "recall", "mse" (px²), "det_a", "rmse" (px), "one_minus_f1", "mean_distance" (px), "loc_a"
        and "kelvins_mse".
    resamples, confidence, method
        How often sequences are drawn, the share of intervals that are to hold the true number, and "percentile" or
        "bca"; the module says what they are.
    seed
        Equal seeds give equal intervals.

    Returns
    -------
    DataFrame with the `by` columns, `metric`, `estimate` (as `summarize` has it), `low`, `high` and `n_sequences`,
    those that have rows in the group; one row a group and metric. `low` and `high` are null, with a warning, where
    there are fewer than two of them.

    Raises
    ------
    InputError: not a match table, or one without rows; a column that is not there.
    ValueError: an unknown metric or method, resamples below 1, confidence not between 0 and 1.
    """
    answer, texts = interval_table(matches, by, metrics, resamples, confidence, method, seed)
    for text in texts:
        warnings.warn(f"intervals: {text}", stacklevel=2)
    return answer


def interval_table(
    matches: Table,
    by: By | None = None,
    metrics: Sequence[str] = METRICS,
    resamples: int = 10_000,
    confidence: float = 0.95,
    method: Method = "percentile",
    seed: int = 0,
) -> tuple[pd.DataFrame, list[str]]:
    """What `intervals` returns, and texts to warn of; arguments and errors are those of `intervals`."""
    names = check_options(metrics, resamples, confidence)
    if method not in ("percentile", "bca"):
        raise ValueError(f"method is {method!r}; 'percentile' or 'bca' is needed")
    if not len(check_matches(matches, "intervals: matches")):
        raise InputError("intervals: the match table has no rows")
    groups = group_rows(matches, by)
    check_labels(groups.labels)
    estimates = summary_of(sums_of_groups(groups)).reindex(columns=names).to_numpy(np.float64, na_value=np.nan)
    sequence, n_sequences = number_sequences(groups.table)
    low, high = np.full((2, *estimates.shape), np.nan)
    at_once = len(ALL_SUMS) * max(resamples, n_sequences)
    for first, last in chunks(np.full(groups.n_groups, at_once), NUMBERS_AT_ONCE):
        sums = _sums_of_groups(groups, first, last, sequence, n_sequences)
        by_similarity = measure_of(groups.table) == "similarity"
        low[first:last], high[first:last] = _bounds(sums, names, by_similarity, resamples, confidence, method, seed)
    n_present = _n_present(sequence, groups)
    unsure = np.isnan(estimates) | (n_present < 2)[:, None]
    low[unsure] = high[unsure] = np.nan
    columns = {name: values.repeat(len(names)) for name, values in groups.labels.items()}
    columns |= {"metric": pd.array(names * groups.n_groups, dtype="str")}
    columns |= {"estimate": estimates.ravel(), "low": low.ravel(), "high": high.ravel()}
    answer = pd.DataFrame(columns | {"n_sequences": n_present.repeat(len(names))}, copy=False)
    notes = {"resamples": resamples, "confidence": confidence, "method": method, "seed": seed}
    answer.attrs = dict(groups.table.attrs) | notes
    texts = _few_sequences_text(int((n_present < 2).sum()), groups.n_groups), missing_rows_text(groups.all_rows)
    return answer, [text for text in texts if text]


def _sums_of_groups(groups: Groups, first: int, last: int, sequence: np.ndarray, n_sequences: int) -> np.ndarray:
    """The sums of the groups [first, last) in each sequence, (sequences, groups, sums)."""
    rows = np.flatnonzero((groups.of_row >= first) & (groups.of_row < last))
    cell = sequence[rows] * (last - first) + groups.of_row[rows] - first
    sums = sequence_sums(groups.table.iloc[rows], cell, n_sequences * (last - first))
    return sums.reshape(n_sequences, last - first, -1)


def _n_present(sequence: np.ndarray, groups: Groups) -> np.ndarray:
    """Of each group, in how many sequences it has rows."""
    cells, _ = distinct(np.sort(groups.of_row * (int(sequence.max(initial=0)) + 1) + sequence))
    return np.bincount(cells // (int(sequence.max(initial=0)) + 1), minlength=groups.n_groups)


def _few_sequences_text(n_few: int, n_groups: int) -> str | None:
    if not n_few:
        return None
    where = "there is only one sequence" if n_groups == 1 else f"{n_few} of {n_groups} groups have only one sequence"
    return f"{where}: nothing to resample, so low and high are null"


def _bounds(
    sums: np.ndarray,
    metrics: Sequence[str],
    by_similarity: bool,
    resamples: int,
    confidence: float,
    method: Method,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds (groups, metrics) of the metrics of sums (sequences, groups, sums)."""
    samples = metrics_of(resampled_sums(sums, resamples, seed), metrics, by_similarity)
    levels = tails(confidence, samples.shape[1:])
    if method == "bca":
        estimate = metrics_of(sums.sum(axis=0), metrics, by_similarity)
        left_out = metrics_of(sums.sum(axis=0) - sums, metrics, by_similarity)
        levels = _corrected(levels, samples, estimate, left_out)
    low, high = quantiles(samples, levels)
    return low, high


def _corrected(levels: np.ndarray, samples: np.ndarray, estimate: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """The levels corrected for bias and acceleration; `left_out` are the numbers without one sequence each."""
    from scipy.special import ndtr, ndtri  # takes a while, and few ask for it

    n_known = np.maximum(np.count_nonzero(~np.isnan(samples), axis=0), 1)
    below = (np.count_nonzero(samples < estimate, axis=0) + np.count_nonzero(samples == estimate, axis=0) / 2) / n_known
    bias = ndtri(np.clip(below, 0.5 / n_known, 1 - 0.5 / n_known))
    deviations = np.nan_to_num(np.nanmean(left_out, axis=0) - left_out)
    spread = (deviations**2).sum(axis=0)
    acceleration = share((deviations**3).sum(axis=0), 6 * spread**1.5, nothing=0.0)
    shifted = bias + ndtri(levels)
    return ndtr(bias + shifted / (1 - acceleration * shifted))
