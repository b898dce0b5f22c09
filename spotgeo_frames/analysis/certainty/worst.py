"""worst_slices(): the slices of a match table in which recall or precision is lower than in the rest.

A slice is a value of a column (numeric columns are cut into bins of equal counts), or a pair of values of two columns.
Each slice is compared with all other rows: by recall if its columns describe truths or frames, by precision if they
describe predictions or frames. The difference of the two has two causes, and each is tested by itself:

- within sequences: rows in the slice are worse than other rows of the same sequence. A sequence with n rows in the
  slice and r outside weighs n r / (n + r), as in the method of Mantel and Haenszel (1959, doi:10.1093/jnci/22.4.719).
- between sequences: sequences that have much of the slice are worse than those that have little. Each row counts as its
  whole sequence does: the estimate is the mean of the sequences' rates y over the rows in the slice minus that over the
  other rows, the sum of (n / N - r / R) y, where N and R are the totals of n and r.

The difference of the rates is the estimate between sequences plus W (1 / N + 1 / R) times that within sequences, where
W is the sum of the weights. So nothing of it is lost where sequences have rows on both sides. Where too few have for a
test within sequences, the difference of the rates itself is tested, as one between sequences.

All slices are tested together, by flipping the signs of what each sequence contributes. If a sum differs from 0 by
chance only, each sequence could as well have contributed the opposite. So the signs of sequences are flipped at random,
the same ones for all sums, which keeps what the sums have in common. Each sum is taken in units of what is exceeded in
one flip of 1,000: the flips of a sum that rests on few sequences go less far than those of a sum of many, and would
otherwise never be among the largest. The largest of all sums in each flip says how far the largest goes by chance
(max-T of Westfall and Young, 1993): a p-value that allows for all sums is the share of flips in which the largest is at
least as large, and intervals that hold together reach as far as 95% of the largest.

This is done in one step, not step by step from the largest, so that an interval excludes 0 just where its p-value says.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import row_counts, sequence_sums
from ...support import InputError, arrays, bins_as_text, is_binned, pandas_tables, work
from ...tables import Table, checks, messages, schema, selections, table_kinds
from .resampling import BLUR, check_confidence, check_seed, number_sequences

WITHIN, BETWEEN = "within sequences", "between sequences"

# What the note `selected` of a result says.
SELECTED = (
    "chosen because they stand out, so that estimates look worse than they are; low and high allow for that: they hold "
    "for all tested slices together"
)

# The columns of a row of the result that are known before signs are flipped, with their types.
ROW_TYPES: dict[str, Any] = {
    "slice": pandas_tables.TEXT,
    "metric": pandas_tables.TEXT,
    "contrast": pandas_tables.TEXT,
    "n_rows": "int64",
    "n_sequences": "int64",
    "value": "float64",
    "rest": "float64",
    "estimate": "float64",
}

# Columns of numbers with up to this many distinct values are not binned, be they whole or not.
MOST_VALUES = 10

# A column with more distinct values than this is not looked at; it is likely to hold names or times.
MOST_LABELS = 200

# How often signs are flipped, and how many of the flips go further than a unit.
FLIPS, FURTHER = 10_000, 10

# How far a sum goes in one flip of 1,000, in units of the root of the sum of squares, if it is a sum of many.
OF_MANY = 3.29

# The count of numbers in memory at once, 8 bytes each.
NUMBERS_AT_ONCE = 1 << 22


@table_kinds.same_kind_as("matches")
def worst_slices(
    matches: Table | NamedTuple,
    columns: Sequence[str],
    depth: int = 2,
    min_sequences: int = 10,
    rate: float = 0.05,
    bins: int = 4,
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Finds the slices in which recall or precision is significantly lower than in the rest.

    Each slice is tested in two ways, where enough sequences allow it: are its rows worse than other rows of the same
    sequence ("within sequences"), and are sequences that have much of it worse than sequences that have little
    ("between sequences")? A slice that is worse in both ways has two rows. The test flips the signs of what sequences
    contribute, and allows for the count of all tests.

    Parameters
    ----------
    matches
        A match table with two sequences or more, or what `track` or `pose` returned.
    columns
        A list of its columns to slice by.
    depth
        1: slices are values of a single column. 2: slices are also pairs of values of two columns.
    min_sequences
        At least 2. Within sequences, a slice is tested if this many sequences have rows both in it and outside it.
        Between sequences, it is tested if its share of the rows is above the average in this many, and below in as
        many.
    rate
        The accepted chance that any slice is reported if none is worse, above 0. 1 reports all slices that were tested,
        also those that are better than the rest.
    bins
        The count of quantile bins of a numeric column; at least 2. Columns with up to ten values are sliced by value.
    confidence
        The chance with which all intervals, also those of slices that are not reported, hold together; between 0 and 1.
    seed
        Equal seeds give equal results.

    Returns
    -------
    DataFrame of the match table's kind with a row for each slice, metric and contrast, the lowest estimate first; no
    rows where nothing is significantly worse:

    slice: the slice as text, such as "truth_x 0.5 to 12" or "category = 3".
    metric: "recall" or "precision".
    contrast: "within sequences" or "between sequences".
    n_rows, n_sequences: the count of the slice's rows, and of the sequences in which it has rows.
    value, rest: the metric in the slice, and in all other rows.
    estimate: by how much the slice differs. Within sequences, the mean of the differences, weighted as by Mantel and
        Haenszel (1959, doi:10.1093/jnci/22.4.719). Between sequences, the difference that `value` and `rest` would have
        if all rows of a sequence were equally good; `value` minus `rest` where fewer than `min_sequences` have both.
    low, high: the interval of the estimate, which allows for the choice of the slice; null where no sequence differs.
    p_value, p_adjusted: of a two-sided test, and adjusted for the count of tests (max-T of Westfall and Young, 1993).
    selected: True if the slice was chosen because it stands out, so that its estimate looks worse than it is; False
        in all rows if `rate` is 1.

    A warning and the note `not_tested` (`attrs`) say which columns were not looked at, and why: they have one value, no
    values, more than 200 values, no errors, or too few sequences. The note `n_tests` counts the tests.

    Raises
    ------
    InputError: `matches` is no match table, `columns` is no list of names or is empty, a column is missing or cannot be
        sorted, or there is only one sequence.
    ValueError: `depth`, `min_sequences`, `rate`, `bins`, `confidence` or `seed` is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> keys = pd.MultiIndex.from_product([range(12), range(1, 6)], names=["sequence", "frame"])
    >>> truth = keys.to_frame(index=False).assign(object=1, x=10.0, y=5.0, band=lambda table: table["frame"] % 2)
    >>> matches = sf.match(truth, truth[truth["band"] == 0])
    >>> sf.worst_slices(matches, ["truth_band"])[["slice", "metric", "contrast", "n_rows", "value", "rest", "estimate"]]
                  slice  metric          contrast  n_rows  value  rest  estimate
    0  truth_band = 1.0  recall  within sequences      36    0.0   1.0      -1.0
    """
    check_confidence(confidence)
    check_seed(seed)
    columns = _checked_columns(columns)
    _check_arguments(depth, min_sequences, rate, bins)
    name = "worst_slices: matches"
    table = checks.check_matches(sequence_sums.match_table_of(matches, name), name)
    checks.check_one_slice(table, name)
    row_counts.warn_of_doubled(table, "worst_slices")
    sequence, n_sequences = number_sequences(table)
    if n_sequences < 2:
        raise InputError(
            f"worst_slices: {messages.counted(n_sequences, 'sequence')} there; two or more are needed to compare"
        )
    coded = {column: coded_column(table, column, int(bins)) for column in columns}
    usable = [of for of in coded.values() if isinstance(of, Coded)]
    rows, contributions, tested = [], [], set()
    for slices in counted_slices(table, usable, depth, sequence, n_sequences, min_sequences):
        for row, contribution in _compared(slices, min_sequences):
            rows.append(row)
            contributions.append(contribution)
            tested.update(slices.columns)
    answer = _tested(rows, contributions, confidence, seed)
    answer["selected"] = rate < 1
    if rate < 1:
        answer = answer[(answer["p_adjusted"] <= rate) & (answer["estimate"] < 0)]
    answer = answer.sort_values(["estimate", "p_value"], ignore_index=True)
    not_tested = {
        column: of if isinstance(of, str) else _why_not(table, of, n_sequences, min_sequences)
        for column, of in coded.items()
        if column not in tested
    }
    notes = {"rate": rate, "confidence": confidence, "seed": seed, "n_tests": len(rows), "not_tested": not_tested}
    answer.attrs = table.attrs | notes | ({"selected": SELECTED} if rate < 1 else {})
    if not_tested:
        warnings.warn(_warning_text(not_tested, columns), stacklevel=table_kinds.CALLER)
    return answer


def _checked_columns(columns: Any) -> list[str]:
    """The columns, each once; raises InputError if they are no names, or if there are none."""
    if isinstance(columns, str | Mapping) or not isinstance(columns, Iterable):
        such = f"[{columns!r}]" if isinstance(columns, str) else "['truth_x']"
        raise InputError(f"worst_slices: columns is {columns!r}; a list of names of columns is needed, such as {such}")
    columns = list(columns)
    if not columns:
        raise InputError("worst_slices: columns is empty; name the columns to slice by")
    no_names = [column for column in columns if not isinstance(column, str)]
    if no_names:
        raise InputError(f"worst_slices: columns holds a {type(no_names[0]).__name__}; names of columns are needed")
    return list(dict.fromkeys(columns))


def _check_arguments(depth: Any, min_sequences: Any, rate: Any, bins: Any) -> None:
    """Raises ValueError that names the argument that is out of range."""
    if depth not in (1, 2):
        raise ValueError(f"depth is {depth!r}; 1 or 2 is needed")
    for name, value in (("min_sequences", min_sequences), ("bins", bins)):
        if not isinstance(value, int | np.integer) or value < 2:
            raise ValueError(f"{name} is {value!r}; an integer is needed, 2 or more")
    if not isinstance(rate, int | float | np.number) or not 0 < rate <= 1:
        raise ValueError(f"rate is {rate!r}; a share above 0 and up to 1 is needed")


def _compared(slices: Slices, min_sequences: int) -> Iterator[tuple[tuple[Any, ...], np.ndarray]]:
    """For each slice and contrast with enough sequences: its row of the result, and what sequences contribute.

    The contributions of the sequences (sequences,) add up to the estimate.
    """
    n, others = slices.n_rows, slices.all_rows - slices.n_rows
    hits, other_hits = slices.n_hits, slices.all_hits - slices.n_hits
    total, total_others = n.sum(axis=0), others.sum(axis=0)
    # Numerators are differences of whole numbers, so that what is equal gives 0.
    of_all, all_hits = slices.all_rows.sum(), slices.all_hits.sum()
    weight = sequence_sums.share(n * others, slices.all_rows, nothing=0.0)
    difference = sequence_sums.share(hits * others - other_hits * n, slices.all_rows, nothing=0.0)
    within = sequence_sums.share(difference, weight.sum(axis=0), nothing=0.0)
    more = n * total_others - others * total
    above = sequence_sums.share(
        slices.all_hits * of_all - slices.all_rows * all_hits, slices.all_rows * of_all, nothing=0.0
    )
    between = sequence_sums.share(more * above, total * total_others, nothing=0.0)
    n_both = np.count_nonzero(weight, axis=0)
    n_apart = np.minimum(np.count_nonzero(more > 0, axis=0), np.count_nonzero(more < 0, axis=0))
    # What is within sequences would be lost where it is not tested by itself: the rates are compared as they are.
    as_they_are = sequence_sums.share(hits * of_all - n * all_hits, total * of_all, nothing=0.0)
    as_they_are -= sequence_sums.share(other_hits * of_all - others * all_hits, total_others * of_all, nothing=0.0)
    between = np.where(n_both < min_sequences, as_they_are, between)
    contrasts = (WITHIN, n_both, within), (BETWEEN, n_apart, between)
    value, rest = (
        sequence_sums.share(hits.sum(axis=0), total),
        sequence_sums.share(other_hits.sum(axis=0), total_others),
    )
    n_sequences = np.count_nonzero(n, axis=0)
    for contrast, enough, contributions in contrasts:
        for at in np.flatnonzero(enough >= min_sequences):
            row = slices.labels[at], slices.metric, contrast, int(total[at]), int(n_sequences[at]), value[at], rest[at]
            yield (*row, contributions[:, at].sum()), contributions[:, at]


def _tested(rows: list[Any], contributions: list[np.ndarray], confidence: float, seed: int) -> pd.DataFrame:
    """The rows with their intervals and p-values."""
    answer = pd.DataFrame(rows, columns=list(ROW_TYPES)).astype(ROW_TYPES)
    if not rows:
        return answer.assign(low=np.nan, high=np.nan, p_value=np.nan, p_adjusted=np.nan)
    tests = flip_tests(np.column_stack(contributions), confidence, seed)
    answer["low"] = np.maximum(answer["estimate"] - tests.reach, -1.0)
    answer["high"] = np.minimum(answer["estimate"] + tests.reach, 1.0)
    return answer.assign(p_value=tests.p_value, p_adjusted=tests.p_adjusted)


def _why_not(table: pd.DataFrame, column: Coded, n_sequences: int, min_sequences: int) -> str:
    """Says why no slice by a column was tested."""
    outcome = table["outcome"].array.codes
    if not ((column.codes >= 0) & ((outcome == schema.FN) | (outcome == schema.FP))).any():
        return "no miss and no false alarm has a value of it"
    either = f"{min_sequences} (min_sequences) with rows both in it and outside it"
    other = f"{min_sequences} with more of it than the average and {min_sequences} with less"
    return f"of the {n_sequences:,} sequences, a slice needs {either}, or {other}; none has that"


def _warning_text(not_tested: dict[str, str], columns: Sequence[str]) -> str:
    """The warning that names the columns that were not looked at; those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for column, reason in not_tested.items():
        reasons.setdefault(reason, []).append(column)
    texts = [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
    which = "no slice was tested" if len(not_tested) == len(columns) else "some columns were not looked at"
    return f"worst_slices: {which}. {'. '.join(texts)}"


class Coded(NamedTuple):
    """A column as codes: the position of each row's value in `labels` (-1 for null), and the values as text."""

    name: str
    codes: np.ndarray
    labels: list[str]


class Slices(NamedTuple):
    """Slices by the same columns, for one metric.

    Attributes
    ----------
    columns
        The names of the columns.
    labels
        The slices as text.
    metric
        The name of the metric.
    n_rows, n_hits
        The counts of rows and of TP of each sequence in each slice, (sequences, slices).
    all_rows, all_hits
        The same of all slices together, (sequences, 1).
    """

    columns: list[str]
    labels: list[str]
    metric: str
    n_rows: np.ndarray
    n_hits: np.ndarray
    all_rows: np.ndarray
    all_hits: np.ndarray


def coded_column(table: pd.DataFrame, column: str, bins: int) -> Coded | str:
    """Codes the values of a column, or says why it cannot be looked at; numbers of many values are binned."""
    selections.check_column(table, column)
    values = table[column]
    if pd.api.types.is_any_real_numeric_dtype(values.dtype):
        values = values.where(np.isfinite(values.to_numpy(np.float64, na_value=np.nan)))
        if values.nunique() > MOST_VALUES:
            values = selections.binned(values.to_frame(), column, bins)
    try:
        codes, labels = pd.factorize(values, sort=True)
    except TypeError as error:
        raise InputError(f"worst_slices: column {column} cannot be sliced by: {error}") from None
    if len(labels) > MOST_LABELS:
        return f"it has {len(labels):,} values, and at most {MOST_LABELS} are possible; bin it first"
    if len(labels) < 2:
        what = "no values" if not len(labels) else "a single bin" if is_binned(values) else "a single value"
        return f"it has {what}, which leaves no rows to compare with"
    if is_binned(values):
        texts = bins_as_text(pd.Series(labels).to_frame(column))[column]
        return Coded(column, codes, [f"{column} {text}" for text in texts])
    return Coded(column, codes, [f"{column} = {value}" for value in labels])


def counted_slices(
    table: pd.DataFrame,
    coded: Sequence[Coded],
    depth: int,
    sequence: np.ndarray,
    n_sequences: int,
    min_sequences: int,
) -> Iterator[Slices]:
    """Counts rows and TP of the slices by each column or pair of columns, for each metric that is known there.

    Slices with rows in fewer than `min_sequences` sequences are left out, because a crossing may have thousands.
    """
    outcome = table["outcome"].array.codes
    for columns in (chosen for size in range(1, depth + 1) for chosen in combinations(coded, size)):
        codes, labels = columns[0].codes, columns[0].labels
        for other in columns[1:]:
            codes = np.where((codes >= 0) & (other.codes >= 0), codes * len(other.labels) + other.codes, -1)
            labels = [f"{label} and {other_label}" for label in labels for other_label in other.labels]
        for metric, missing in (("recall", schema.FN), ("precision", schema.FP)):
            # If no miss has a value here, recall is 1 or unknown in all slices; the same holds for precision.
            if not ((codes >= 0) & (outcome == missing)).any():
                continue
            known = (codes >= 0) & ((outcome == schema.TP) | (outcome == missing))
            code, of_row, is_hit = codes[known], sequence[known], outcome[known] == schema.TP
            pairs = np.unique(code * n_sequences + of_row) // n_sequences
            chosen = np.flatnonzero(np.bincount(pairs, minlength=len(labels)) >= min_sequences)
            place = np.full(len(labels), len(chosen))
            place[chosen] = np.arange(len(chosen))
            cell = of_row * (len(chosen) + 1) + place[code]
            n_rows, n_hits = (
                arrays.added_at(cell, weights, n_sequences * (len(chosen) + 1)).reshape(n_sequences, -1)
                for weights in (None, is_hit)
            )
            yield Slices(
                [column.name for column in columns],
                [labels[at] for at in chosen],
                metric,
                n_rows[:, :-1].astype(np.float64),
                n_hits[:, :-1],
                n_rows.sum(axis=1, keepdims=True).astype(np.float64),
                n_hits.sum(axis=1, keepdims=True),
            )


class FlipTests(NamedTuple):
    """The tests of sums, each array (sums,).

    Attributes
    ----------
    p_value
        The share of flips in which the sum is at least as far from 0, the observed arrangement counted.
    p_adjusted
        The same for all sums together.
    reach
        Half the width of intervals that hold together; null where no sequence contributes anything.
    """

    p_value: np.ndarray
    p_adjusted: np.ndarray
    reach: np.ndarray


def flip_tests(contributions: np.ndarray, confidence: float, seed: int) -> FlipTests:
    """Tests whether the sums over sequences of contributions (sequences, sums) differ from 0."""
    n_sequences, n_sums = contributions.shape
    bits = np.random.default_rng([seed, 2]).integers(0, 256, (FLIPS, -(-n_sequences // 8)), np.uint8)
    observed = np.abs(contributions.sum(axis=0))
    least = observed * (1 - BLUR)
    n_as_large, unit, largest = np.ones(n_sums), np.zeros(n_sums), np.zeros(FLIPS + 1)
    with work.progress_bar(n_sums, "signs flipped", " tests") as advance:
        for first, last in arrays.chunks(np.full(n_sums, FLIPS), NUMBERS_AT_ONCE):
            part = contributions[:, first:last]
            flipped = np.concatenate(
                [observed[None, first:last], _flipped(part, bits)]
            )  # (flips, sums), observed first
            n_as_large[first:last] += np.count_nonzero(flipped[1:] >= least[first:last], axis=0)
            unit[first:last] = _units(part, np.partition(flipped, -FURTHER, axis=0)[-FURTHER])
            largest = np.maximum(largest, sequence_sums.share(flipped, unit[first:last], nothing=0.0).max(axis=1))
            advance(last - first)
    ordered = np.sort(largest)
    p_adjusted = (len(ordered) - np.searchsorted(ordered, sequence_sums.share(least, unit, nothing=0.0))) / len(ordered)
    quantile = ordered[len(ordered) - 1 - int((1 - confidence) * len(ordered) + BLUR)]
    return FlipTests(n_as_large / len(ordered), p_adjusted, np.where(unit > 0, quantile * unit, np.nan))


def _flipped(contributions: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """How far the sums of contributions (sequences, sums) are from 0 after flips, (flips, sums).

    `bits` has a bit for the sign of each sequence in each flip; all signs at once would take eight times the memory.
    """
    n_sequences = len(contributions)
    answer = np.empty((len(bits), contributions.shape[1]))
    for first, last in arrays.chunks(np.full(len(bits), n_sequences), NUMBERS_AT_ONCE):
        signs = np.unpackbits(bits[first:last], axis=1)[:, :n_sequences] * 2.0 - 1.0
        np.matmul(signs, contributions, out=answer[first:last])
    return np.abs(answer, out=answer)


def _units(contributions: np.ndarray, furthest: np.ndarray) -> np.ndarray:
    """What each sum exceeds in one flip of 1,000, (sums,); of a sum of too few sequences, what one of many would.

    So few that more than one flip in 1,000 goes as far as any would otherwise often be the largest.
    """
    too_few = 2.0 ** (1 - np.count_nonzero(contributions, axis=0)) > FURTHER / FLIPS
    return np.where(too_few, OF_MANY * np.sqrt((contributions**2).sum(axis=0)), furthest)
