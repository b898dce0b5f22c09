"""Numbers and slices: every one an aggregation of the match table.

`match_sums.py` says what follows from the sums of a group, and when it is null. kelvins_mse is the sum over sequences
of each sequence's mean of `kelvins_error`, as the competition's server adds it up, so it grows with the number of
sequences: it compares submissions, never slices. Where matching was by similarity, it is null, too.

Slices that cannot know: where no false positive has a value in the `by` columns, they belong to the truths, and
nothing that counts false positives is known of their slices; those numbers are null. The same holds for misses and
columns that belong to predictions.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..support.keys import distinct, positions, row_keys
from ..tables.arrow import Table
from ..tables.schema import FN, FP, FRAME_KEY, check_matches, measure_of
from ..tables.selections import By, by_columns, excluded_sequences, number_groups
from .match_sums import counted_rows, group_sums, match_sums, numbers_of, share

NUMBERS = ["tp", "fn", "fp", "precision", "recall", "f1", "one_minus_f1", "mse", "kelvins_mse", "det_a"]
NUMBERS += ["mean_distance", "rmse", "n_sequences", "n_frames", "n_truth", "n_predicted"]

# What is known only where matching was by similarity.
OF_SIMILARITIES = ["loc_a"]

# What cannot be known where false positives, or misses, cannot.
NEEDS_BOTH = ["f1", "one_minus_f1", "mse", "kelvins_mse", "det_a"]
NEEDS = {FP: ["fp", "n_predicted", "precision", *NEEDS_BOTH], FN: ["fn", "n_truth", "recall", *NEEDS_BOTH]}


def summarize(
    matches: Table,
    by: By | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    *,
    dropna: bool = True,
) -> pd.DataFrame:
    """One row of numbers for the whole match table, or for each group.

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
    DataFrame with the `by` columns, then `tp`, `fn`, `fp`, `precision`, `recall`, `f1`, `one_minus_f1`, `mse` (px²),
    `kelvins_mse`, `det_a`, `mean_distance` (px), `rmse` (px), `n_sequences`, `n_frames`, `n_truth`, `n_predicted`,
    and `loc_a` where matching was by similarity. Sorted by the groups; the module says how each number is defined and
    when it is null.

    Raises
    ------
    InputError: not a match table, a column that is not there, or sequences of another type than the table's.
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
    numbers = _numbers({str(name): values.to_numpy() for name, values in sums.sums.items()}, sums.by_similarity)
    for kind, (n_rows, n_null) in sums.rows.items():
        if n_rows and n_null == n_rows:
            for name in NEEDS[kind]:
                numbers[name][:] = np.nan if isinstance(numbers[name], np.ndarray) else pd.NA
    answer = pd.concat([sums.labels, pd.DataFrame(numbers, copy=False)], axis=1)
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
    columns = by_columns(table, by, [*NUMBERS, *OF_SIMILARITIES])
    names = excluded_sequences(exclude, [table])
    if names is not None:
        excluded = table["sequence"].isin(names).to_numpy()
        table, columns = table[~excluded], [column[~excluded] for column in columns]
    outcome = table["outcome"].array.codes
    null = np.zeros(len(table), bool)
    for column in columns:
        null |= column.isna().to_numpy()
    rows = {
        kind: (int(np.count_nonzero(outcome == kind)), int(np.count_nonzero(null[outcome == kind])))
        for kind in (NEEDS if columns else [])
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


def _numbers(sums: Mapping[str, np.ndarray], by_similarity: bool) -> dict[str, Any]:
    """The columns of numbers, one value a group."""
    tp, fn, fp = (sums[name].astype(np.int64) for name in ("tp", "fn", "fp"))
    null = np.zeros(len(tp), bool)
    counts = {"tp": tp, "fn": fn, "fp": fp, "n_truth": tp + fn, "n_predicted": tp + fp}
    found = numbers_of(sums, by_similarity) | {
        "kelvins_mse": np.full(len(tp), np.nan) if by_similarity else sums["kelvins_mse"].copy(),
        "n_sequences": sums["n_sequences"],
        "n_frames": sums["n_frames"],
        **{name: pd.arrays.IntegerArray(values, null.copy()) for name, values in counts.items()},
    }
    return {name: found[name] for name in [*NUMBERS, *(OF_SIMILARITIES if by_similarity else [])]}


def _within(group: np.ndarray, n_groups: int, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One integer a row for its (group, key), and the first row of each that occurs."""
    if n_groups > 1:
        values, first = distinct(keys)
        keys = group * len(values) + positions(keys, values, first)
    return keys, distinct(keys)[1]
