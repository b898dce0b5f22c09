"""What a match table adds up to: sums over any groups of its rows, which add up further, and the numbers they make.

precision = TP / (TP + FP), recall = TP / (TP + FN), f1 = 2 TP / (2 TP + FP + FN), det_a = TP / (TP + FP + FN), null
where there is nothing to divide by. mse is the mean of `squared_error` over TP, FN and FP, 0 where there are none, as
the challenge's metric document defines it (eqs. 13 and 17). mean_distance and rmse are those of the true positives;
where matching was by similarity, their mean similarity is loc_a, and what is of distances is null.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..tables.schema import EMPTY, FN, FP, TP, measure_of

SUMS = ["tp", "fn", "fp", "squared_error", "near", "near_squared"]

# The numbers of a summary, in the order of its columns.
NUMBERS = ["tp", "fn", "fp", "precision", "recall", "f1", "one_minus_f1", "mse", "kelvins_mse", "det_a"]
NUMBERS += ["mean_distance", "rmse", "n_sequences", "n_frames", "n_truth", "n_predicted"]

# What is known only where matching was by similarity.
OF_SIMILARITIES = ["loc_a"]


def match_sums(table: pd.DataFrame, group: np.ndarray, n_groups: int) -> dict[str, np.ndarray]:
    """Each of SUMS for each group, float64; `group` is each row's. `table` has passed `check_matches`.

    `near` is the distance (px) or the similarity of the true positives, and `near_squared` its square.
    """
    outcome = table["outcome"].array.codes
    counted, matched = counted_rows(outcome), np.flatnonzero(outcome == TP)
    kind = outcome if n_groups == 1 else group * 4 + outcome  # one group needs no arithmetic
    tp, fn, fp = np.bincount(kind, minlength=4 * n_groups).reshape(-1, 4).T[[TP, FN, FP]]
    near = table[measure_of(table)].to_numpy(np.float64)[matched]
    return {
        "tp": tp.astype(np.float64),
        "fn": fn.astype(np.float64),
        "fp": fp.astype(np.float64),
        "squared_error": group_sums(table["squared_error"].to_numpy(np.float64)[counted], group[counted], n_groups),
        "near": group_sums(near, group[matched], n_groups),
        "near_squared": group_sums(near * near, group[matched], n_groups),
    }


def counted_rows(outcome: np.ndarray) -> np.ndarray | slice:
    """The rows that are counted: all but those of frames that have nothing."""
    counted = outcome != EMPTY
    return slice(None) if counted.all() else np.flatnonzero(counted)


def group_sums(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """The sum of the values of each group. Runs of a group, long in sorted tables, are summed first: that is faster."""
    if n_groups == 1 and len(values):
        return np.add.reduceat(values, [0])
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(group), 1), bool), group[1:] != group[:-1]]))
    # Of nothing bincount makes integers, which cannot be null later.
    return np.bincount(group[starts], np.add.reduceat(values, starts), minlength=n_groups).astype(np.float64)


def numbers_of(sums: Mapping[str, np.ndarray], by_similarity: bool) -> dict[str, np.ndarray]:
    """The numbers that follow from SUMS, in their shape."""
    tp, fn, fp = sums["tp"], sums["fn"], sums["fp"]
    counted = tp + fn + fp
    mean = share(sums["near"], tp)
    null = np.full(tp.shape, np.nan)
    f1 = share(2 * tp, 2 * tp + fp + fn)
    return {
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "f1": f1,
        "one_minus_f1": 1 - f1,
        "mse": null if by_similarity else share(sums["squared_error"], counted, nothing=0.0),
        "det_a": share(tp, counted),
        "mean_distance": null if by_similarity else mean,
        "rmse": null if by_similarity else np.sqrt(share(sums["near_squared"], tp)),
        "loc_a": mean if by_similarity else null,
    }


def share(part: np.ndarray, whole: np.ndarray, nothing: float = np.nan) -> np.ndarray:
    """part / whole, and `nothing` where the whole is 0."""
    quotient = np.full(np.broadcast(part, whole).shape, nothing)
    np.divide(part, whole, out=quotient, where=whole != 0)
    return quotient
