"""bias(): whether predictions lie to one side of the truth, and what taking that out would gain.

The offset is the mean of predicted less true coordinates over the true positives, of boxes by their centres. The
corrected numbers come from matching again by the match table's own rule, with the predictions moved back by the offset.
Predictions keep their file order, so that moving them by nothing changes nothing, ties included. Only a table that
another matcher made may then change: bias() always matches as `match` does.
"""

import numpy as np
import pandas as pd

from ..matching.matcher import match_annotations
from ..matching.rule import Rule, distance_rule
from ..scoring.group_sums import Groups, group_rows, sums_of_groups
from ..scoring.match_sums import match_sums, share
from ..scoring.registry import values_of
from ..scoring.summary import summary_of
from ..support.errors import InputError
from ..support.keys import distinct, positions, row_keys
from ..tables.annotations import Annotations
from ..tables.arrow import Table
from ..tables.match_sides import offsets, sides_of
from ..tables.schema import FRAME_KEY, TP, check_matches
from ..tables.selections import By
from .resampling import bounds, check_labels, check_options, number_sequences, resampled_sums

CORRECTED = ["f1", "mse"]


def bias(
    matches: Table,
    by: By | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    tau: float | None = None,
    epsilon: float | None = None,
) -> pd.DataFrame:
    """The mean offset of the true positives, and f1 and mse without it.

    Parameters
    ----------
    matches, by
        A match table by distance, and columns to group by, as for `summarize`. Each group has its own offset.
    resamples, confidence, seed
        As for `intervals`: whole sequences are resampled.
    tau, epsilon
        Thresholds to match again with, px; the match table's own where it tells.

    Returns
    -------
    DataFrame with the `by` columns, `metric`, `estimate`, `low` and `high`. Of each group the metrics `dx` and `dy`
    (px, predicted less true, with their intervals), `f1` and `mse` (px²) as they are, and `f1_corrected` and
    `mse_corrected`, predictions moved back by the offset and matched again. Null where a group has no true positive;
    the corrected ones also where a column of `by` is not the same for all rows of a frame, since predictions cannot be
    moved for one group alone then. `low` and `high` are null where fewer than two sequences have true positives.

    Raises
    ------
    InputError: not a match table by distance, one without coordinates, or one that does not tell tau and epsilon.
    """
    check_options(["f1"], resamples, confidence)
    if not len(check_matches(matches)):
        raise InputError("bias: the match table has no rows")
    groups = group_rows(matches, by)
    check_labels(groups.labels)
    table = groups.table
    sides_of(table)  # which looks for the coordinates
    rule = distance_rule(table, tau=tau, epsilon=epsilon)
    sums = _offset_sums(table, groups.of_row, groups.n_groups)
    estimate = _means(sums.sum(axis=0))
    samples = _means(resampled_sums(sums, resamples, seed))
    low_high = bounds(samples, confidence)
    low_high[:, np.count_nonzero(sums[..., 0], axis=0) < 2] = np.nan
    now = summary_of(sums_of_groups(groups))[CORRECTED].to_numpy(np.float64, na_value=np.nan)
    numbers = np.column_stack(
        [estimate, now, np.where(np.isnan(now), np.nan, _corrected(matches, by, groups, estimate, rule))]
    )
    unknown = np.full((groups.n_groups, 2 * len(CORRECTED)), np.nan)
    low, high = (np.column_stack([bound, unknown]) for bound in low_high)
    names = ["dx", "dy", *CORRECTED, *(f"{name}_corrected" for name in CORRECTED)]
    columns = {name: values.repeat(len(names)) for name, values in groups.labels.items()}
    columns |= {"metric": pd.array(names * groups.n_groups, dtype="str")}
    columns |= {name: part.ravel() for name, part in (("estimate", numbers), ("low", low), ("high", high))}
    answer = pd.DataFrame(columns)
    answer.attrs = dict(table.attrs) | {"resamples": resamples, "confidence": confidence, "seed": seed}
    return answer


def _offset_sums(table: pd.DataFrame, group: np.ndarray, n_groups: int) -> np.ndarray:
    """How many true positives there are, and their summed offsets in x and y, by sequence and group."""
    rows = np.flatnonzero(table["outcome"].array.codes == TP)
    shifts = [shift[rows] for shift in offsets(table)]
    sequence, n_sequences = number_sequences(table)
    cell = sequence[rows] * n_groups + group[rows]
    values = np.ones(len(rows)), *shifts
    sums = [np.bincount(cell, some, n_sequences * n_groups) for some in values]
    return np.stack(sums, axis=-1).reshape(n_sequences, n_groups, 3)


def _means(sums: np.ndarray) -> np.ndarray:
    """The mean offsets (..., 2) of sums (..., 3)."""
    return share(sums[..., 1:], sums[..., :1])


def _corrected(matches: Table, by: By | None, kept: Groups, offset: np.ndarray, rule: Rule) -> np.ndarray:
    """f1 and mse of each group, predictions moved back by its offset and matched again; null where that cannot be."""
    groups = group_rows(matches, by, dropna=False)
    unknown = np.full((kept.n_groups, len(CORRECTED)), np.nan)
    keys = row_keys(groups.table, [column for column in (*FRAME_KEY, "joint") if column in groups.table])
    values, first = distinct(keys)
    of_frame = groups.of_row[first]
    if np.any(of_frame[positions(keys, values, first)] != groups.of_row):
        return unknown
    truth, predictions = sides_of(kept.table)
    moved = predictions.objects.copy()
    shift = np.nan_to_num(offset)[kept.of_row[moved["object"]]]
    moved[["x", "y"]] -= shift
    again = match_annotations(truth, Annotations(moved), rule)
    row = again["truth_object"].fillna(again["predicted_object"])
    some = again[row.notna()]
    group = kept.of_row[row.dropna().to_numpy(np.int64)]
    corrected = np.column_stack(list(values_of(match_sums(some, group, kept.n_groups), CORRECTED).values()))
    return np.where(np.isnan(offset).any(axis=1, keepdims=True), np.nan, corrected)
