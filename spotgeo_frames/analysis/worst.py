"""worst_slices(): the slices of a match table in which results are surely worse than in the rest.

Every value of every column (numbers in bins of equal counts), and every two values of two columns, is held against the
rest of the rows: by recall where the columns are of truths or of frames, by precision where they are of predictions or
of frames. A sequence that has both, rows in the slice and others, is compared with itself: the estimate is the mean of
the sequences' differences, weighted by n r / (n + r) for n rows in the slice and r others, as Mantel and Haenszel
weight strata. Where too few sequences have both, as with columns that are the same throughout a sequence, the rates of
all rows in the slice and of all others are compared instead.

p-values come from flipping the signs of the sequences' contributions to the difference, which changes nothing but
chance where the slice is like the rest. Since many slices are looked at, and they overlap, they are adjusted by the
method of Benjamini and Yekutieli (2001, doi:10.1214/aos/1013699998), which holds the share of false discoveries under
any dependence.
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
from ..tables.arrow import Table
from ..tables.messages import counted
from ..tables.schema import FN, FP, TP, check_matches
from ..tables.selections import binned, check_column
from .resampling import bounds, check_options, number_sequences, resampled_sums

# Integers of up to so many values are not binned.
MOST_VALUES = 10

# Slices of more values than this are no slices: a column of names, or of times.
MOST_LABELS = 200

# Flips for every slice, and for those that are still surely different after these.
FLIPS, MORE_FLIPS = 10_000, 400_000
FEW = 10

# Signs that are made at once, 8 bytes each.
SIGNS_AT_ONCE = 1 << 21


class _Coded(NamedTuple):
    """A column: the number of each row's value (-1: null), and the values as text."""

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
    """Slices in which recall or precision is surely lower than in the rest.

    Parameters
    ----------
    matches
        A match table.
    columns
        Its columns to slice by.
    depth
        1: single columns; 2: every two of them, too.
    min_sequences
        Slices that have rows in fewer sequences are not looked at.
    rate
        The share of false ones that is accepted among the slices that are reported; 1 reports all that were looked at,
        better ones included.
    bins
        How many bins numbers are put into, by quantiles; integers of up to ten values are taken as they are.
    resamples, confidence, seed
        As for `intervals`.

    Returns
    -------
    DataFrame, the lowest estimate first: `slice` (text), `metric` ("recall" or "precision"), `n_rows` and `n_sequences`
    of the slice, `value` and `rest` (the metric there and elsewhere), `estimate` (the difference, paired within
    sequences where it can be), `low`, `high`, `p_value` and `p_adjusted`. No rows where nothing is surely worse.

    Raises
    ------
    InputError: not a match table, `columns` is no list of names, a column is not there or has too many values, or there
        is only one sequence.
    ValueError: depth, min_sequences, rate or bins out of range.
    """
    check_options(["recall"], resamples, confidence)
    _check_arguments(columns, depth, min_sequences, rate, bins)
    table = check_matches(matches, "worst_slices: matches")
    sequence, n_sequences = number_sequences(table)
    if n_sequences < 2:
        raise InputError(f"worst_slices: {counted(n_sequences, 'sequence')} there; two or more are needed to compare")
    coded = [_coded(table, column, bins) for column in dict.fromkeys(columns)]
    coded = [column for column in coded if len(column.labels) > 1]  # of a single value the rest is nothing
    rows, contributions, parts = [], [], []
    for slices in _tables(table, coded, depth, sequence, n_sequences):
        for found in _compared(slices, min_sequences):
            rows.append(found[0])
            contributions.append(found[1])
            parts.append(found[2])
    names = ["slice", "metric", "n_rows", "n_sequences", "value", "rest", "estimate"]
    answer = pd.DataFrame(rows, columns=names)
    if not len(answer):
        answer = answer.assign(low=np.nan, high=np.nan, p_value=np.nan, p_adjusted=np.nan)
        answer.attrs = dict(table.attrs) | {"rate": rate, "seed": seed}
        return answer
    from scipy.stats import false_discovery_control  # takes a while, and little needs it

    answer["low"], answer["high"] = _bounds(np.stack(parts, axis=1), resamples, confidence, seed)
    answer["p_value"] = _p_values(np.column_stack(contributions), seed)
    answer["p_adjusted"] = false_discovery_control(answer["p_value"], method="by")
    if rate < 1:
        answer = answer[(answer["p_adjusted"] <= rate) & (answer["estimate"] < 0)]
    answer = answer.sort_values(["estimate", "p_value"], ignore_index=True)
    answer.attrs = dict(table.attrs) | {"rate": rate, "seed": seed}
    return answer


def _check_arguments(columns: Any, depth: Any, min_sequences: Any, rate: Any, bins: Any) -> None:
    """Raises InputError or ValueError, as `worst_slices` does, naming the argument that is wrong."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        such = f"[{columns!r}]" if isinstance(columns, str) else "['truth_x']"
        raise InputError(f"worst_slices: columns is {columns!r}; a list of names of columns is needed, such as {such}")
    odd = [column for column in columns if not isinstance(column, str)]
    if odd:
        raise InputError(f"worst_slices: columns holds a {type(odd[0]).__name__}; names of columns are needed")
    if depth not in (1, 2):
        raise ValueError(f"depth is {depth!r}; 1 or 2 is needed")
    for name, value in (("min_sequences", min_sequences), ("bins", bins)):
        if not isinstance(value, int | np.integer) or value < 2:
            raise ValueError(f"{name} is {value!r}; an integer is needed, 2 or more")
    if not isinstance(rate, int | float | np.number) or not 0 < rate <= 1:
        raise ValueError(f"rate is {rate!r}; a share above 0 and up to 1 is needed")


def _coded(table: pd.DataFrame, column: str, bins: int) -> _Coded:
    """The values of a column as numbers, binned where they are many."""
    check_column(table, column)
    values = table[column]
    kind = values.dtype
    if pd.api.types.is_any_real_numeric_dtype(kind):
        distinct = values.dropna().unique()
        if len(distinct) > MOST_VALUES or not np.all(np.asarray(distinct, np.float64) % 1 == 0):
            finite = values.where(np.isfinite(values.to_numpy(np.float64, na_value=np.nan)))
            values = binned(finite.to_frame(), column, bins)
    try:
        codes, labels = pd.factorize(values, sort=True)
    except TypeError as error:
        raise InputError(f"worst_slices: column {column} cannot be sliced by: {error}") from None
    if len(labels) > MOST_LABELS:
        what = f"{len(labels):,} values; bin it first, {MOST_LABELS} are possible"
        raise InputError(f"worst_slices: column {column} has {what}")
    if is_binned(values):
        texts = bins_as_text(pd.Series(labels).to_frame(column))[column]
        return _Coded(column, codes, [f"{column} {text}" for text in texts])
    return _Coded(column, codes, [f"{column} = {value}" for value in labels])


class _Slices(NamedTuple):
    """Slices by the same columns: their names, the metric, and the rows and hits (sequences, slices) of each."""

    labels: list[str]
    metric: str
    n_rows: np.ndarray
    n_hits: np.ndarray


def _tables(
    table: pd.DataFrame, coded: Sequence[_Coded], depth: int, sequence: np.ndarray, n_sequences: int
) -> Iterator[_Slices]:
    outcome = table["outcome"].array.codes
    for columns in (some for size in range(1, depth + 1) for some in combinations(coded, size)):
        codes, labels = columns[0].codes, columns[0].labels
        for other in columns[1:]:
            known = (codes >= 0) & (other.codes >= 0)
            codes = np.where(known, codes * len(other.labels) + other.codes, -1)
            labels = [f"{one} and {two}" for one in labels for two in other.labels]
        known = codes >= 0
        for metric, missing in (("recall", FN), ("precision", FP)):
            # A column that no miss, or no false alarm, has a value of is of the other side, or nothing is wrong.
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
    """Each slice that is large enough: its row, the sequences' contributions, and the sums that make the estimate."""
    totals = slices.n_rows.sum(axis=1), slices.n_hits.sum(axis=1)
    for number, label in enumerate(slices.labels):
        n, hits = slices.n_rows[:, number].astype(np.float64), slices.n_hits[:, number]
        others, other_hits = totals[0] - n, totals[1] - hits
        if np.count_nonzero(n) < min_sequences or np.count_nonzero(others) < min_sequences:
            continue
        value, rest = hits.sum() / n.sum(), other_hits.sum() / others.sum()
        both = (n > 0) & (others > 0)
        if np.count_nonzero(both) >= min_sequences:
            weight = share(n * others, n + others, nothing=0.0)
            difference = weight * (share(hits, n, nothing=0.0) - share(other_hits, others, nothing=0.0))
            # (a / b) - (0 / 1), in the form of the unpaired one.
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
    """Lower and upper bounds of a / b - c / d, sums (sequences, slices, 4)."""
    parts = []
    for first, last in chunks(np.full(sums.shape[1], 4 * resamples), 1 << 23):
        a, b, c, d = np.moveaxis(resampled_sums(sums[:, first:last], resamples, seed), -1, 0)
        parts.append(bounds(share(a, b) - share(c, d), confidence))
    return np.concatenate(parts, axis=1)


def _p_values(contributions: np.ndarray, seed: int) -> np.ndarray:
    """Two-sided p-values of sums over sequences, (sequences, slices), by flipping signs."""
    n_as_large = _as_large(contributions, FLIPS, [seed, 2])
    p_values = (n_as_large + 1.0) / (FLIPS + 1.0)
    small = np.flatnonzero(n_as_large < FEW)
    if len(small):
        p_values[small] = (_as_large(contributions[:, small], MORE_FLIPS, [seed, 3]) + 1.0) / (MORE_FLIPS + 1.0)
    return p_values


def _as_large(contributions: np.ndarray, flips: int, seed: list[int]) -> np.ndarray:
    """In how many flips the sum is at least as large as without, either way."""
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
