"""bias(): the mean offset of predictions from the truth, and the gain if it were removed.

The offset is the mean, over the true positives, of predicted minus true coordinates; those of a box are its centre. For
the corrected f1 and mse, predictions are moved back by the offset and matched again by the match table's own rule.
Predictions keep their file order, so an offset of 0 reproduces the match table, also where several assignments are
equally good. A table that another matcher made may differ, because bias() always matches as `match` does.
"""

import numpy as np
import pandas as pd

from ..matching.matcher import match_sides
from ..matching.noted_rule import noted_rule
from ..matching.rule import Rule, check_by_distance
from ..matching.words import asked_of_matches
from ..scoring.group_sums import Groups, group_rows, sums_of_groups
from ..scoring.match_sums import match_sums, share
from ..scoring.registry import values_of
from ..scoring.summary import summary_of
from ..support.errors import InputError
from ..support.keys import grouped, row_keys
from ..support.pandas_versions import TEXT
from ..tables.annotations import Annotations
from ..tables.checks import check_matches
from ..tables.kinds import same_kind_as
from ..tables.match_sides import check_coordinates, offsets, sides_of
from ..tables.match_tables import match_dataframe
from ..tables.schema import TP, frame_columns
from ..tables.selections import By
from ..tables.table import Table
from .resampling import bounds, check_labels, check_options, number_sequences, resampled_sums

CORRECTED = ["f1", "mse"]


@same_kind_as("matches")
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
    """Estimates the mean offset of the predictions, and computes f1 and mse as if it had been removed.

    The offset is the mean, over the true positives, of predicted minus true coordinates; those of a box are its centre.

    Parameters
    ----------
    matches
        A match table by distance, with the coordinates of truths and predictions.
    by
        The groups, each with an offset of its own: a column of the match table; a Series with a value for each row (or,
        of a match table of polars, an expression); a list of these, whose values are crossed; or a dict from columns to
        a count of quantile bins (2 to 1000) or None.
    resamples
        How often sequences are drawn, with replacement, to compute the intervals; at least 1.
    confidence
        The share of intervals that contain the true offset, between 0 and 1.
    seed
        Equal seeds give equal intervals.
    tau, epsilon
        The largest distance of a true positive and the tolerance (px) to match again with. Needed only where the match
        table has lost its own, as a table of polars has.

    Returns
    -------
    DataFrame of the match table's kind with the `by` columns, `metric`, `estimate`, `low` and `high`. Each group has
    six rows, with the metrics `dx` and `dy` (px, the offset, with percentile bootstrap intervals), `f1` and `mse` (px²)
    as they are, and `f1_corrected` and `mse_corrected`, computed after predictions are moved back by the offset and
    matched again.

    Estimates are null where a group has no true positive. The corrected metrics are also null where the rows of a
    frame belong to different groups, because the predictions of one group cannot be moved alone then. `low` and `high`
    are null where fewer than two sequences have true positives.

    Raises
    ------
    InputError: `matches` is no match table by distance, has no rows or no coordinates, or its tau and epsilon are not
        known; a column of `by` is missing.
    ValueError: `resamples`, `confidence`, `tau` or `epsilon` is out of range.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json").objects
    >>> moved = truth.assign(x=truth["x"] + 3.5)
    >>> offset = sf.bias(sf.match(truth, moved), resamples=100)
    >>> offset.set_index("metric")["estimate"].round(3).loc[["dx", "dy", "mse", "mse_corrected"]]
    metric
    dx                3.50
    dy                0.00
    mse              12.25
    mse_corrected     0.00
    Name: estimate, dtype: float64
    """
    check_options(resamples, confidence)
    matches = check_matches(matches)
    if not len(matches):
        raise InputError("bias: the match table has no rows")
    groups = group_rows(matches, by)
    check_labels(groups.labels)
    table = match_dataframe(groups.table)
    check_coordinates(table)
    rule = check_by_distance(noted_rule(table, asked_of_matches(tau, epsilon), ("tau", "epsilon")), "bias")
    sums = _offset_sums(table, groups.of_row, groups.n_groups)
    estimate = _means(sums.sum(axis=0))
    samples = _means(resampled_sums(sums, resamples, seed))
    low_high = bounds(samples, confidence)
    low_high[:, np.count_nonzero(sums[..., 0], axis=0) < 2] = np.nan
    now = summary_of(sums_of_groups(groups))[CORRECTED].to_numpy(np.float64, na_value=np.nan)
    estimates = np.column_stack(
        [estimate, now, np.where(np.isnan(now), np.nan, _corrected(matches, by, groups, estimate, rule))]
    )
    unknown = np.full((groups.n_groups, 2 * len(CORRECTED)), np.nan)
    low, high = (np.column_stack([bound, unknown]) for bound in low_high)
    names = ["dx", "dy", *CORRECTED, *(f"{name}_corrected" for name in CORRECTED)]
    columns = {name: values.repeat(len(names)) for name, values in groups.labels.items()}
    columns |= {"metric": pd.array(names * groups.n_groups, dtype=TEXT)}
    columns |= {name: values.ravel() for name, values in (("estimate", estimates), ("low", low), ("high", high))}
    answer = pd.DataFrame(columns)
    answer.attrs = table.attrs | {"resamples": resamples, "confidence": confidence, "seed": seed}
    return answer


def _offset_sums(table: pd.DataFrame, group: np.ndarray, n_groups: int) -> np.ndarray:
    """The count of true positives and their summed offsets in x and y (px): (sequences, groups, 3)."""
    rows = np.flatnonzero(table["outcome"].array.codes == TP)
    shifts = [shift[rows] for shift in offsets(table)]
    sequence, n_sequences = number_sequences(table)
    cell = sequence[rows] * n_groups + group[rows]
    values = np.ones(len(rows)), *shifts
    sums = [np.bincount(cell, weights, n_sequences * n_groups) for weights in values]
    return np.stack(sums, axis=-1).reshape(n_sequences, n_groups, 3)


def _means(sums: np.ndarray) -> np.ndarray:
    """The mean offsets (..., 2) from the sums (..., 3) of `_offset_sums`."""
    return share(sums[..., 1:], sums[..., :1])


def _corrected(matches: Table, by: By | None, kept: Groups, offset: np.ndarray, rule: Rule) -> np.ndarray:
    """f1 and mse of each group, (groups, 2), after its predictions are moved back by its offset and matched again.

    Both are null where the group has no offset, or the rows of a frame belong to different groups.
    """
    groups = group_rows(matches, by, dropna=False)
    unknown = np.full((kept.n_groups, len(CORRECTED)), np.nan)
    frame, first = grouped(row_keys(groups.table, frame_columns(groups.table)))
    if np.any(groups.of_row[first][frame] != groups.of_row):
        return unknown
    sides = sides_of(match_dataframe(kept.table), rule.measured_columns)
    truth = sides.truth._replace(objects=sides.truth.objects.assign(object=sides.truth_rows))
    moved = sides.predictions.objects.assign(object=sides.predicted_rows)
    shift = np.nan_to_num(offset)[kept.of_row[moved["object"]]]
    moved[["x", "y"]] -= shift
    again = match_dataframe(match_sides(truth, Annotations(moved), rule))
    row = again["truth_object"].fillna(again["predicted_object"])
    of_objects = again[row.notna()]
    group = kept.of_row[row.dropna().to_numpy(np.int64)]
    corrected = np.column_stack(list(values_of(match_sums(of_objects, group, kept.n_groups), CORRECTED).values()))
    return np.where(np.isnan(offset).any(axis=1, keepdims=True), np.nan, corrected)
