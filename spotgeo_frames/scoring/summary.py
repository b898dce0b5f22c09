"""Numbers and slices: every one an aggregation of the match table.

`match_sums.py` says what follows from the sums of a group, and when it is null. kelvins_mse is the sum over sequences
of each sequence's mean of `kelvins_error`, as the competition's server adds it up, so it grows with the number of
sequences: it compares submissions, never slices. Where matching was by similarity, it is null, too.

Slices that cannot know: where no false positive has a value in the `by` columns, they belong to the truths, and
nothing that counts false positives is known of their slices; those numbers are null. The same holds for misses and
columns that belong to predictions.
"""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..tables.arrow import Table
from ..tables.schema import FN, FP
from ..tables.selections import By
from .group_sums import Sums, group_rows, sums_of_groups
from .match_sums import NUMBERS, OF_SIMILARITIES, numbers_of
from .missing_rows import missing_rows_text

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

    Give the whole table, and `by` for classes and slices: a table that was filtered may have lost its false alarms or
    its misses. Where the rows of frames no longer add up to `frame_n_truth` or `frame_n_predicted`, a warning says so.

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
    DataFrame with the `by` columns, then `tp`, `fn`, `fp`, `precision`, `recall`, `f1`, `one_minus_f1`, `mse` (px²),
    `kelvins_mse`, `det_a`, `mean_distance` (px), `rmse` (px), `n_sequences`, `n_frames`, `n_truth`, `n_predicted`,
    and `loc_a` where matching was by similarity. Sorted by the groups; the module says how each number is defined and
    when it is null.

    Raises
    ------
    InputError: not a match table, a column that is not there, or sequences of another type than the table's.
    """
    answer, missing = summarized(matches, by, exclude, dropna=dropna)
    if missing:
        warnings.warn(f"summarize: {missing}", stacklevel=2)
    return answer


def summarized(
    matches: Table,
    by: By | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    *,
    dropna: bool = True,
) -> tuple[pd.DataFrame, str | None]:
    """What `summarize` returns, and what to warn of, if anything; arguments and errors are those of `summarize`."""
    groups = group_rows(matches, by, exclude, dropna=dropna)
    return summary_of(sums_of_groups(groups)), missing_rows_text(groups.all_rows)


def summary_of(sums: Sums) -> pd.DataFrame:
    """The rows that `summarize` returns, from their sums."""
    numbers = _numbers(sums.values, sums.by_similarity)
    for kind, (n_rows, n_null) in sums.rows.items():
        if n_rows and n_null == n_rows:
            for name in NEEDS[kind]:
                numbers[name][:] = np.nan if isinstance(numbers[name], np.ndarray) else pd.NA
    answer = pd.concat([sums.labels, pd.DataFrame(numbers, copy=False)], axis=1)
    answer.attrs = dict(sums.attrs)
    return answer


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
