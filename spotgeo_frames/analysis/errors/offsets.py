"""bias(): the mean offset of predictions from the truth, and the gain if it were removed.

The offset is the mean, over the true positives, of predicted minus true coordinates: of points, of the centres of
boxes, whose sizes are compared, too, or of all labelled joints of whole poses. For the corrected metrics, predictions
are moved back by the offset and matched again by the match table's own rule. Predictions keep their file order, so an
offset of 0 reproduces the match table, also where several assignments are equally good. A table that another matcher,
track() or pose() made may differ, because bias() always matches as `match` does. The interval of the offset, a mean
weighted by the true positives of each sequence, comes from leaving out one sequence at a time.
"""

import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import POINTS, Geometry, Measure, Rows, built_in_geometry, geometry_of, sides_of_matches
from ...matching import Compared, Rule, alignment, layout, matcher, noted_rule, options_of_matches
from ...scoring import Groups, NamedSums, match_sums, one_sided, registry, row_counts, sequence_sums, summary_of
from ...support import InputError, arrays, pandas_tables
from ...tables import Annotations, By, Table, check_coordinates, checks, match_dataframe, schema, sides_of, table_kinds
from ..certainty import QUESTION, Functions, Intervals, jackknife, resampling

# Functions of a geometry's offsets.
Measured = Callable[[Rows, Rows], np.ndarray]
Moved = Callable[[pd.DataFrame, np.ndarray], pd.DataFrame]

# The metrics that are computed again without the offset, where they are defined for the kind of matching.
CORRECTED = ["f1", "mse", "loc_a"]

# The column by which the rows of the match table are known after matching again.
ROW = "match_table_row"


@table_kinds.same_kind_as("matches")
def bias(
    matches: Table | NamedTuple,
    by: By | None = None,
    *,
    confidence: float = 0.95,
    tau: float | None = None,
    epsilon: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
) -> pd.DataFrame:
    """Estimates the mean offset of the predictions, and computes the score as if it had been removed.

    The offset is the mean, over the true positives, of predicted minus true coordinates: of points, of the centres of
    boxes and masks, or of all labelled joints of whole poses that the prediction has.

    Parameters
    ----------
    matches
        A match table of any geometry, with the coordinates of truths and predictions, or what
        `track` or `pose` returned.
    by
        The groups, each with an offset of its own: a column of the match table; a Series with a value for each row (or,
        of a match table of polars, an expression); a list of these, whose values are crossed; or a dict from columns to
        a count of quantile bins (2 to 1000), edges of bins, or None. For whole poses, "joint" is a column, too, and the
        last of the result: each joint has an offset of its own, and to correct it is to move this joint alone in all
        predictions.
    confidence
        The share of intervals that contain the true offset, between 0 and 1.
    tau, epsilon, similarity, threshold, sigmas, distance
        The rule to match again with, as `match` takes it. Needed only where the match table has lost its own, as
        a table of polars has; a similarity or distance that is a function is needed always.

    Returns
    -------
    DataFrame of the match table's kind with the `by` columns, `metric`, `estimate`, `low`, `high` and `reason`. Each
    group has these metrics:

    - `dx` and `dy`: the offset, in the unit of x and y (px), which need not be that of `distance`, with intervals from
      leaving out one sequence at a time and Student's t, with the degrees of freedom of Bell and McCaffrey (2002,
      Survey Methodology 28, 169-181);
    - for boxes also `width_ratio` and `height_ratio`: the geometric mean of predicted over true width and height, with
      intervals; above 1 where predictions are too large;
    - for oriented boxes also `angle`: how far predictions are turned too far (degrees, of each from -45 to 45, because
      a box is the same after a quarter turn with w and h exchanged), in the words for a prediction that are nearest to
      the truth's, which count for both ratios, too;
    - for masks `dx` and `dy` of their centroids, and `area_ratio`, the geometric mean of predicted over true areas;
    - for points in space also `dz`; for places in the sky `d_east` and `d_north` (arcsec) instead of `dx` and `dy`;
    - `f1` and `mse` (px², or the square of the unit of `distance`) as they are, or `f1` and `loc_a` after matching by
      similarity;
    - the same with `_corrected`: after predictions are moved back by the offset, the sizes of boxes are divided by the
      ratios about their centres (those of oriented boxes by what both ratios have in common, as w and h may be
      exchanged; masks are moved by whole pixels and keep their areas), and all are matched again.

    Estimates are null where a group has no true positive. The corrected metrics are also null where the rows of a
    frame (with categories on both sides, of a frame and category) belong to different groups, because the predictions
    of one group cannot be moved alone then. `low` and `high` are null where fewer than two sequences have true
    positives, where all sequences agree, and for scores. `reason` says why a value is null.

    Raises
    ------
    InputError: `matches` is no match table, it has no rows, it lacks the columns that its rule needs, or its rule is
        not known; a column of `by` is missing.
    ValueError: `confidence` or a word of the rule is out of range.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json").objects
    >>> moved = truth.assign(x=truth["x"] + 3.5)
    >>> offset = sf.bias(sf.match(truth, moved))
    >>> offset.set_index("metric")["estimate"].round(3).loc[["dx", "dy", "mse", "mse_corrected"]]
    metric
    dx                3.50
    dy                0.00
    mse              12.25
    mse_corrected     0.00
    Name: estimate, dtype: float64
    """
    resampling.check_confidence(confidence)
    table = checks.check_matches(sequence_sums.match_table_of(matches, "bias: matches"))
    if not len(table):
        raise InputError("bias: the match table has no rows")
    check_coordinates(table)
    options = options_of_matches(tau, epsilon, similarity, threshold, sigmas, distance)
    rule = noted_rule.noted_rule(table, options, ("tau", "epsilon"))
    geometry = _geometry(table, rule)
    kind = geometry.offsets
    assert kind is not None  # the geometry of columns knows them
    parts = kind.parts
    by, by_joint = _without_joint(by) if any(parts) else (by, False)
    together = np.eye(len(parts)) if by_joint else np.ones((1, len(parts)))
    groups = match_sums.group_rows(table, by)
    resampling.check_labels(groups.labels)
    found = _offsets(groups, kind.measured, together, confidence)
    offset, low, high, n_sequences = (
        values.reshape(groups.n_groups, len(together), len(kind.metrics))
        for values in (found.estimate, found.low, found.high, found.n_weighted)
    )
    shares_frames = _share_frames(match_sums.group_rows(table, by, dropna=False))
    moved = None if shares_frames else kind.moved
    scores = _scores(groups, offset, moved, rule, together)
    unknown = np.full((*offset.shape[:2], len(scores)), np.nan)
    columns = {"estimate": np.concatenate([kind.told(offset), np.stack([*scores.values()], axis=2)], axis=2)}
    columns |= {
        name: np.concatenate([kind.told(values), unknown], axis=2) for name, values in (("low", low), ("high", high))
    }
    labels = {name: values.repeat(len(together)) for name, values in groups.labels.items()}
    labels |= {"joint": pd.array(parts * groups.n_groups, dtype=pandas_tables.TEXT)} if by_joint else {}
    answer = _long(labels, [*kind.metrics, *scores], columns)
    answer["reason"] = _reasons(answer, n_sequences, scores, shares_frames, geometry)
    answer.attrs = table.attrs | {"question": QUESTION, "confidence": confidence}
    everything = groups.everything
    about_rows = row_counts.doubled_text(everything.table, everything.columns)
    for text in filter(None, (one_sided.one_sided_text(everything.one_sided, everything.table), about_rows)):
        warnings.warn(f"bias: {text}", stacklevel=table_kinds.CALLER)
    return answer


def _without_joint(by: By | None) -> tuple[By | None, bool]:
    """`by` without the joints of whole poses, which are no column of their own, and whether it had them."""
    if isinstance(by, str):
        return (None, True) if by == "joint" else (by, False)
    if isinstance(by, Mapping) and by.get("joint", 0) is None:
        return {name: bins for name, bins in by.items() if name != "joint"} or None, True
    if isinstance(by, list | tuple):
        others = [key for key in by if not (isinstance(key, str) and key == "joint")]
        return others or None, len(others) < len(by)
    return by, False


def _geometry(table: pd.DataFrame, rule: Rule) -> Geometry:
    """What the objects of a match table by this rule are: poses, or what the columns of both sides say."""
    if rule.geometry.assembled is not None:
        return rule.geometry
    of_truth, of_predictions = (geometry_of(table, prefix) for prefix in schema.SIDE_PREFIXES)
    if of_truth is of_predictions and (of_truth.given is None or of_truth is rule.of_geometry):
        return of_truth
    # By a built-in rule, rows of a person's geometry are what this rule takes them for.
    of_truth, of_predictions = (built_in_geometry(table, prefix) for prefix in schema.SIDE_PREFIXES)
    return of_truth if of_truth is of_predictions else POINTS


def _offsets(groups: Groups, measured: Measured, together: np.ndarray, confidence: float) -> Intervals:
    """The offsets of each group with their intervals, as arrays (groups, offsets * metrics).

    `together` (offsets, parts) marks the parts of an object that have one offset together.
    """
    table = match_dataframe(groups.table)
    rows = np.flatnonzero(table["outcome"].array.codes == schema.TP)
    values = measured(*sides_of_matches(table.iloc[rows]))
    known = ~np.isnan(values)
    sequence, n_sequences = resampling.number_sequences(table)
    cell, first = arrays.grouped(groups.of_row[rows] * n_sequences + sequence[rows])
    n_metrics = len(together) * values.shape[2]
    sums = {}
    for name, of_parts in (("n", known), ("sum", np.where(known, values, 0.0))):
        added = np.einsum("op,npm->nom", together, of_parts).reshape(len(rows), n_metrics)
        sums[name] = sequence_sums.added_rows(added, cell, len(first))
    unlimited = np.full(n_metrics, np.inf)
    mean = Functions(_mean, lambda sums: sums["n"], -unlimited, unlimited, np.zeros(n_metrics, bool))
    return jackknife.jackknife(sums, groups.of_row[rows][first], groups.n_groups, mean, confidence)


def _mean(sums: NamedSums) -> np.ndarray:
    return sequence_sums.share(sums["sum"], sums["n"])


def _share_frames(groups: Groups) -> bool:
    """Whether objects of a frame (and of a category, as only these match) belong to different groups."""
    key = [*schema.frame_columns(groups.table), *(["category"] if "category" in groups.table else [])]
    frame, first = arrays.grouped(arrays.row_keys(groups.table, key))
    return bool(np.any(groups.of_row[first][frame] != groups.of_row))


def _scores(
    groups: Groups, offset: np.ndarray, moved: Moved | None, rule: Rule, together: np.ndarray
) -> dict[str, np.ndarray]:
    """The metrics of each group as they are and, with `_corrected`, after each offset is removed: (groups, offsets).

    The corrected ones are null where nothing can be `moved`.
    """
    names = registry.defined(CORRECTED, not rule.by_distance)
    now = summary_of(match_sums.match_sums(groups))[names].to_numpy(np.float64, na_value=np.nan)
    now = np.broadcast_to(now[:, None], (*offset.shape[:2], len(names)))
    later = np.full(now.shape, np.nan)
    if moved is not None:
        later = np.where(np.isnan(now), np.nan, _corrected(groups, offset, moved, rule, together, names))
    columns = [name for suffix in ("", "_corrected") for name in (f"{name}{suffix}" for name in names)]
    return dict(zip(columns, np.moveaxis(np.concatenate([now, later], axis=2), 2, 0), strict=True))


def _corrected(
    groups: Groups, offset: np.ndarray, moved: Moved, rule: Rule, together: np.ndarray, metrics: list[str]
) -> np.ndarray:
    """The metrics of each group after its predictions are moved back by one of its offsets and matched again.

    `offset` is (groups, offsets, metrics of offsets), the result (groups, offsets, metrics). It is null where the group
    has no offset.
    """
    sides = sides_of(match_dataframe(groups.table), rule.measured_columns)
    truth = sides.truth._replace(objects=sides.truth.objects.assign(**{ROW: sides.truth_rows}))
    predictions = sides.predictions.objects.assign(**{ROW: sides.predicted_rows})
    shift = np.nan_to_num(offset)[groups.of_row[sides.predicted_rows]]
    values = np.empty((*offset.shape[:2], len(metrics)))
    for position, marked in enumerate(together):
        back = moved(predictions, shift[:, [position]] * marked[:, None])
        aligned = alignment.align(truth, Annotations(back))
        rows = [f"{prefix}{ROW}" for prefix in schema.SIDE_PREFIXES]
        pairs = matcher.assigned(Compared(aligned, rule.near(aligned)), rule)
        again = match_dataframe(layout.match_table(aligned, pairs, rule, rows))
        row = again[rows[0]].fillna(again[rows[1]])
        group = groups.of_row[row.dropna().to_numpy(np.int64)]
        sums = match_sums.row_sums(again[row.notna()], group, groups.n_groups)
        values[:, position] = np.column_stack(list(registry.values_of(sums, metrics, not rule.by_distance).values()))
    return np.where(np.isnan(offset[..., :1]), np.nan, values)


def _long(labels: Mapping[str, Any], names: list[str], told: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """A row for each label and each name; `told` are the columns, whose values are (..., names)."""
    columns = {name: values.repeat(len(names)) for name, values in labels.items()}
    n_labels = next(iter(told.values())).size // len(names)
    columns |= {"metric": pd.array(names * n_labels, dtype=pandas_tables.TEXT)}
    return pd.DataFrame(columns | {name: values.ravel() for name, values in told.items()})


def _reasons(
    answer: pd.DataFrame, n_sequences: np.ndarray, scores: Collection[str], shares_frames: bool, geometry: Geometry
) -> pd.api.extensions.ExtensionArray:
    """Why values of each row are null; `n_sequences` (groups, offsets, metrics) have true positives that count."""
    n = np.concatenate([n_sequences, np.zeros((*n_sequences.shape[:2], len(scores)))], axis=2).ravel()
    is_score, no_estimate = answer["metric"].isin(scores).to_numpy(), answer["estimate"].isna().to_numpy()
    is_corrected = answer["metric"].str.endswith("_corrected").to_numpy(bool)
    no_place = answer["metric"].isin(["dx", "dy"]).to_numpy() & (geometry.place is None)
    reasons = [
        (is_corrected & shares_frames, "objects of a frame belong to different groups, so none can be moved alone"),
        (is_corrected & (not geometry.can_move), f"nothing tells how {geometry.called} are moved"),
        (is_score & no_estimate, "it is not defined here"),
        (is_corrected, "the offset is that of these data, so nothing tells how others would gain"),
        (is_score, "intervals() has its interval"),
        (no_place, f"{geometry.called} have no centre"),
        (no_estimate, "no true positive tells it"),
        (n == 1, "only one sequence tells it, so nothing tells how others differ"),
        (answer["low"].isna().to_numpy(), "all sequences agree, so nothing tells how others differ"),
    ]
    text = np.full(len(answer), None, object)
    for rows, reason in reversed(reasons):
        text[rows] = reason
    return pd.array(text, dtype=pandas_tables.TEXT)
