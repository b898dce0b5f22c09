"""worst_slices(): the slices of a match table in which recall or precision is lower than in the rest.

A slice is a value of a column (numeric columns are cut into bins of equal counts), or a pair of values of two columns.
Each slice is compared with all other rows: by recall if its columns describe truths or frames, by precision if they
describe predictions or frames. Where enough sequences have rows both in the slice and outside it, each sequence is
compared with itself: the estimate is the mean of the differences within sequences, weighted by n r / (n + r), where n
rows of the sequence lie in the slice and r outside, as in the method of Mantel and Haenszel (1959,
doi:10.1093/jnci/22.4.719). Otherwise, for instance if a column is constant in each sequence, the rate of all rows in
the slice is compared with the rate of all other rows.

The p-values come from a permutation test: if the slice is like the rest, flipping the signs of the sequences'
contributions changes the difference by chance only. Because many overlapping slices are tested, the p-values are
adjusted by the method of Benjamini and Yekutieli (2001, doi:10.1214/aos/1013699998), which bounds the share of false
discoveries under any dependence.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..scoring.match_sums import share
from ..support.chunks import chunks
from ..support.errors import InputError
from ..support.labels import bins_as_text, is_binned
from ..support.pandas_versions import TEXT
from ..tables.arrow import Table
from ..tables.checks import check_matches
from ..tables.messages import counted
from ..tables.schema import FN, FP, TP
from ..tables.selections import binned, check_column
from .resampling import bounds, check_options, number_sequences, resampled_sums

# Integer columns with up to this many distinct values are not binned.
MOST_VALUES = 10

# A column with more distinct values than this is refused; it is likely to hold names or times.
MOST_LABELS = 200

# The count of permutations for every slice, and for slices of which fewer than FEW of these differ as much.
FLIPS, MORE_FLIPS = 10_000, 400_000
FEW = 10

# The count of signs that are in memory at once, 8 bytes each.
SIGNS_AT_ONCE = 1 << 21


class _Coded(NamedTuple):
    """A column as codes: the position of each row's value in `labels` (-1 for null), and the values as text."""

    name: str
    codes: np.ndarray
    labels: list[str]


def worst_slices(
    matches: Table,
    columns: Sequence[str],
    depth: int = 2,
    min_sequences: int = 10,
    rate: float = 0.05,
    bins: int = 4,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Finds the slices in which recall or precision is significantly lower than in the rest.

    Parameters
    ----------
    matches
        A match table with two sequences or more.
    columns
        A list of its columns to slice by.
    depth
        1: slices are values of a single column. 2: slices are also pairs of values of two columns.
    min_sequences
        Slices with rows in fewer sequences than this, or with other rows in fewer, are not tested; at least 2.
    rate
        The accepted share of false discoveries among the reported slices, above 0. 1 reports all slices that were
        tested, also those that are better than the rest.
    bins
        The count of quantile bins of a numeric column; at least 2. Integer columns with up to ten values are not
        binned.
    resamples
        How often sequences are drawn, with replacement, for the intervals; at least 1.
    confidence
        The share of intervals that contain the true difference, between 0 and 1.
    seed
        Equal seeds give equal results.

    Returns
    -------
    DataFrame with one row for each slice and metric, the lowest estimate first; no rows where no slice is significantly
    worse:

    slice: the slice as text, such as "truth_x 0.5 to 12" or "category = 3".
    metric: "recall" or "precision".
    n_rows, n_sequences: the count of the slice's rows, and of the sequences in which it has rows.
    value, rest: the metric in the slice, and in all other rows.
    estimate, low, high: the difference of the two and its percentile bootstrap interval. Where `min_sequences`
        sequences have rows both inside and outside, it is the mean of the differences within sequences, weighted as by
        Mantel and Haenszel (1959, doi:10.1093/jnci/22.4.719).
    p_value, p_adjusted: of a two-sided test that flips the signs of sequences at random, and adjusted for the count of
        slices (Benjamini and Yekutieli, 2001, doi:10.1214/aos/1013699998).

    Raises
    ------
    InputError: `matches` is no match table, `columns` is no list of names, a column is missing or has more than 200
        values, or there is only one sequence.
    ValueError: `depth`, `min_sequences`, `rate`, `bins`, `resamples` or `confidence` is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> keys = pd.MultiIndex.from_product([range(12), range(1, 6)], names=["sequence", "frame"])
    >>> truth = keys.to_frame(index=False).assign(object=1, x=10.0, y=5.0, band=lambda table: table["frame"] % 2)
    >>> matches = sf.match(truth, truth[truth["band"] == 0])
    >>> sf.worst_slices(matches, ["truth_band"])[["slice", "metric", "n_rows", "value", "rest", "estimate"]]
                  slice  metric  n_rows  value  rest  estimate
    0  truth_band = 1.0  recall      36    0.0   1.0      -1.0
    """
    check_options(resamples, confidence)
    _check_arguments(columns, depth, min_sequences, rate, bins)
    table = check_matches(matches, "worst_slices: matches")
    sequence, n_sequences = number_sequences(table)
    if n_sequences < 2:
        raise InputError(f"worst_slices: {counted(n_sequences, 'sequence')} there; two or more are needed to compare")
    coded = [_coded(table, column, bins) for column in dict.fromkeys(columns)]
    coded = [column for column in coded if len(column.labels) > 1]  # a single value leaves no rows to compare with
    rows, contributions, sums = [], [], []
    for slices in _tables(table, coded, depth, sequence, n_sequences):
        for row, contribution, sums_of_slice in _compared(slices, min_sequences):
            rows.append(row)
            contributions.append(contribution)
            sums.append(sums_of_slice)
    names = ["slice", "metric", "n_rows", "n_sequences", "value", "rest", "estimate"]
    answer = pd.DataFrame(rows, columns=names).astype({"slice": TEXT, "metric": TEXT})
    if not len(answer):
        answer = answer.assign(low=np.nan, high=np.nan, p_value=np.nan, p_adjusted=np.nan)
        answer.attrs = table.attrs | {"rate": rate, "seed": seed}
        return answer
    from scipy.stats import false_discovery_control  # imported here, because it is slow to import and rarely needed

    answer["low"], answer["high"] = _bounds(np.stack(sums, axis=1), resamples, confidence, seed)
    answer["p_value"] = _p_values(np.column_stack(contributions), seed)
    answer["p_adjusted"] = false_discovery_control(answer["p_value"], method="by")
    if rate < 1:
        answer = answer[(answer["p_adjusted"] <= rate) & (answer["estimate"] < 0)]
    answer = answer.sort_values(["estimate", "p_value"], ignore_index=True)
    answer.attrs = table.attrs | {"rate": rate, "seed": seed}
    return answer


def _check_arguments(columns: Any, depth: Any, min_sequences: Any, rate: Any, bins: Any) -> None:
    """Raises InputError or ValueError that names the argument that cannot be used."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        such = f"[{columns!r}]" if isinstance(columns, str) else "['truth_x']"
        raise InputError(f"worst_slices: columns is {columns!r}; a list of names of columns is needed, such as {such}")
    no_names = [column for column in columns if not isinstance(column, str)]
    if no_names:
        raise InputError(f"worst_slices: columns holds a {type(no_names[0]).__name__}; names of columns are needed")
    if depth not in (1, 2):
        raise ValueError(f"depth is {depth!r}; 1 or 2 is needed")
    for name, value in (("min_sequences", min_sequences), ("bins", bins)):
        if not isinstance(value, int | np.integer) or value < 2:
            raise ValueError(f"{name} is {value!r}; an integer is needed, 2 or more")
    if not isinstance(rate, int | float | np.number) or not 0 < rate <= 1:
        raise ValueError(f"rate is {rate!r}; a share above 0 and up to 1 is needed")


def _coded(table: pd.DataFrame, column: str, bins: int) -> _Coded:
    """Codes the values of a column; numeric columns are binned unless they have few integers."""
    check_column(table, column)
    values = table[column]
    if pd.api.types.is_any_real_numeric_dtype(values.dtype):
        distinct = values.dropna().unique()
        if len(distinct) > MOST_VALUES or not np.all(np.asarray(distinct, np.float64) % 1 == 0):
            finite = values.where(np.isfinite(values.to_numpy(np.float64, na_value=np.nan)))
            values = binned(finite.to_frame(), column, bins)
    try:
        codes, labels = pd.factorize(values, sort=True)
    except TypeError as error:
        raise InputError(f"worst_slices: column {column} cannot be sliced by: {error}") from None
    if len(labels) > MOST_LABELS:
        problem = f"has {len(labels):,} values; bin it first, {MOST_LABELS} are possible"
        raise InputError(f"worst_slices: column {column} {problem}")
    if is_binned(values):
        texts = bins_as_text(pd.Series(labels).to_frame(column))[column]
        return _Coded(column, codes, [f"{column} {text}" for text in texts])
    return _Coded(column, codes, [f"{column} = {value}" for value in labels])


class _Slices(NamedTuple):
    """Slices by the same columns: their names, the metric, and counts of rows and of TP, each (sequences, slices)."""

    labels: list[str]
    metric: str
    n_rows: np.ndarray
    n_hits: np.ndarray


def _tables(
    table: pd.DataFrame, coded: Sequence[_Coded], depth: int, sequence: np.ndarray, n_sequences: int
) -> Iterator[_Slices]:
    """Counts rows and TP of all slices by each column or pair of columns, for each metric that is known there."""
    outcome = table["outcome"].array.codes
    for columns in (chosen for size in range(1, depth + 1) for chosen in combinations(coded, size)):
        codes, labels = columns[0].codes, columns[0].labels
        for other in columns[1:]:
            known = (codes >= 0) & (other.codes >= 0)
            codes = np.where(known, codes * len(other.labels) + other.codes, -1)
            labels = [f"{label} and {other_label}" for label in labels for other_label in other.labels]
        known = codes >= 0
        for metric, missing in (("recall", FN), ("precision", FP)):
            # If no miss has a value here, recall is 1 or unknown in all slices; the same holds for precision.
            if not (known & (outcome == missing)).any():
                continue
            rows = np.flatnonzero(known & ((outcome == TP) | (outcome == missing)))
            cell = sequence[rows] * len(labels) + codes[rows]
            counts = [
                np.bincount(cell, weights, n_sequences * len(labels)).reshape(n_sequences, -1)
                for weights in (None, outcome[rows] == TP)
            ]
            yield _Slices(labels, metric, *counts)


def _compared(slices: _Slices, min_sequences: int) -> Iterator[tuple[tuple[Any, ...], np.ndarray, np.ndarray]]:
    """For each slice that is large enough: its row of the result, each sequence's contribution, and its sums.

    The sums are (sequences, 4), a, b, c and d, and the estimate is a / b - c / d of their totals.
    """
    totals = slices.n_rows.sum(axis=1), slices.n_hits.sum(axis=1)
    for position, label in enumerate(slices.labels):
        n, hits = slices.n_rows[:, position].astype(np.float64), slices.n_hits[:, position]
        others, other_hits = totals[0] - n, totals[1] - hits
        if np.count_nonzero(n) < min_sequences or np.count_nonzero(others) < min_sequences:
            continue
        value, rest = hits.sum() / n.sum(), other_hits.sum() / others.sum()
        both = (n > 0) & (others > 0)
        if np.count_nonzero(both) >= min_sequences:
            weight = share(n * others, n + others, nothing=0.0)
            difference = weight * (share(hits, n, nothing=0.0) - share(other_hits, others, nothing=0.0))
            # a / b - 0 / n: the same form as the unpaired estimate below.
            sums = np.column_stack([difference, weight, np.zeros(len(n)), np.full(len(n), 1.0)])
            estimate = difference.sum() / weight.sum()
            contribution = difference / weight.sum()
        else:
            common = totals[1].sum() / totals[0].sum()
            sums = np.column_stack([hits, n, other_hits, others])
            estimate = value - rest
            contribution = (hits - n * common) / n.sum() - (other_hits - others * common) / others.sum()
        row = label, slices.metric, int(n.sum()), int(np.count_nonzero(n)), value, rest, estimate
        yield row, contribution, sums


def _bounds(sums: np.ndarray, resamples: int, confidence: float, seed: int) -> np.ndarray:
    """The lower and upper bounds (2, slices) of a / b - c / d, from sums (sequences, slices, 4)."""
    low_high = []
    for first, last in chunks(np.full(sums.shape[1], 4 * resamples), 1 << 23):
        a, b, c, d = np.moveaxis(resampled_sums(sums[:, first:last], resamples, seed), -1, 0)
        low_high.append(bounds(share(a, b) - share(c, d), confidence))
    return np.concatenate(low_high, axis=1)


def _p_values(contributions: np.ndarray, seed: int) -> np.ndarray:
    """Two-sided p-values (slices,) of the contributions' sums, (sequences, slices), from flipping signs at random."""
    n_as_large = _as_large(contributions, FLIPS, [seed, 2])
    p_values = (n_as_large + 1.0) / (FLIPS + 1.0)
    small = np.flatnonzero(n_as_large < FEW)
    if len(small):
        p_values[small] = (_as_large(contributions[:, small], MORE_FLIPS, [seed, 3]) + 1.0) / (MORE_FLIPS + 1.0)
    return p_values


def _as_large(contributions: np.ndarray, flips: int, seed: list[int]) -> np.ndarray:
    """Counts the flips for which the sum is at least as far from 0 as the sum without flips: (slices,)."""
    random = np.random.default_rng(seed)
    least = np.abs(contributions.sum(axis=0)) * (1 - 1e-9)
    n_as_large = np.zeros(contributions.shape[1], np.int64)
    for first, last in chunks(np.full(flips, len(contributions)), SIGNS_AT_ONCE):
        bits = np.unpackbits(
            random.integers(0, 256, (last - first, -(-len(contributions) // 8)), dtype=np.uint8), axis=1
        )
        signs = bits[:, : len(contributions)] * 2.0 - 1.0
        n_as_large += np.count_nonzero(np.abs(signs @ contributions) >= least, axis=0)
    return n_as_large
