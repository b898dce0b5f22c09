"""operating_point(): the score threshold that reaches a precision, or a recall.

It takes match tables, tracks, poses and average precisions whose predictions have scores.
"""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import AveragePrecision, NamedSums, match_tables, row_counts, sequence_sums, shown_position
from ...support import InputError, arrays, pandas_tables
from ...tables import Table, array_of, as_numbers, checks, messages, schema, selections, table_kinds
from ..certainty import Functions, reasons, resampling
from .cross_validation import MOST_FOLDS, of_held_out

# Both shares, in the order of the result, and how they follow from what sequences add up to at a threshold.
SHARES = ("precision", "recall")

SCORE = "predicted_score"


def _shares(sums: NamedSums) -> np.ndarray:
    return np.stack(
        [sequence_sums.share(sums["right"], sums["predicted"]), sequence_sums.share(sums["found"], sums["truth"])],
        axis=-1,
    )


def _weights(sums: NamedSums) -> np.ndarray:
    return np.stack([sums["predicted"], sums["truth"]], axis=-1)


FUNCTIONS = Functions(_shares, _weights, np.zeros(2), np.ones(2), np.zeros(2, bool))

# Fewer sequences do not tell what a threshold is worth on new data; and why else nothing is told.
FEWEST = 5
NOT_REACHED = "no threshold reaches it"
NOT_WITHOUT_SOME = "without some of the sequences, no threshold reaches it"


@table_kinds.same_kind_as("x")
def operating_point(
    x: Table | NamedTuple | AveragePrecision,
    precision: float | None = None,
    recall: float | None = None,
    threshold: float | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Finds the score threshold that has at least a precision, or at least a recall, and what it has on new data.

    Of all score thresholds with at least that precision, it is the one with the highest recall; of those with at least
    that recall, the one with the highest precision. Of several such, it is the highest.

    The threshold is chosen on these data, so it looks better than it is: on new sequences, about half of the thresholds
    chosen for a precision of 0.8 have less. Expect the cross-validated numbers there. To be sure of a precision, ask
    for more than you need, until `precision_cross_validated_low` is enough.

    Parameters
    ----------
    x
        A match table whose predictions had a `score`, of any kind of objects, or what `track`, `pose` or
        `average_precision` returned.
    precision, recall
        The precision or the recall to reach, above 0 and at most 1; give one of them.
    threshold
        Of average precision, the similarity from which on a detection is right, one of those that it is the mean over:
        the lowest by default, which is 0.5 unless `thresholds` said otherwise.
    confidence
        The share of intervals that contain the true value, between 0 and 1.
    seed
        Of the folds of cross-validation; equal seeds give equal folds.

    Returns
    -------
    DataFrame (of the kind that `x` has) with one row for each `category`, where both sides have one, and a last row,
    whose category is null, for one threshold of all together: `score_threshold`; `precision` and `recall` of the
    detections whose score is at least that, null where no threshold reaches what was asked;
    `precision_cross_validated` and `recall_cross_validated`, what to expect of this threshold on new sequences like
    these, each with its interval (`_low`, `_high`); `n_truth` and `n_predicted`, how many truths and detections of any
    score they rest on; and `reason`, why the cross-validated numbers are null (null where they are not): fewer than 5
    sequences have objects, or no threshold reaches what was asked, in all sequences or without some of them.

    Cross-validation puts the sequences that have objects into ten folds, or below ten sequences each into one of its
    own. The sequences of a fold get the threshold that all other folds choose, and what they add up to there is added.

    Nothing is matched anew: a truth whose detection is below the threshold counts as missed. In average precision that
    changes nothing, because higher scores choose first. In the tables of `match`, another detection above the threshold
    may be near such a truth, and then the true precision and recall are a little higher; `sweep` matches anew.

    Raises
    ------
    InputError: `x` is no match table, holds those of several thresholds, or has no scores.
    ValueError: neither or both of `precision` and `recall` are given, one of them is out of range, or `threshold` is
        none of those that `x` is the mean over, or is given with a match table; `confidence` is not between 0 and 1,
        or `seed` is below 0.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v2.parquet"))
    >>> points = sf.operating_point(result, precision=0.9).round(3)
    >>> points[["category", "score_threshold", "precision", "recall", "n_truth", "n_predicted"]]
      category  score_threshold  precision  recall  n_truth  n_predicted
    0  bicycle             0.64      0.905   0.404      354          204
    1      bus             0.53      0.972   0.649      265          179
    2      car             0.60      0.900   0.846      501          602
    3   person             0.52      0.904   0.798      486          513
    4      NaN             0.57      0.906   0.706     1606         1498

    On new images, 0.895 of the bicycles found are to be right, with an interval:

    >>> points[["precision_cross_validated", "precision_cross_validated_low", "precision_cross_validated_high"]].iloc[0]
    precision_cross_validated         0.895
    precision_cross_validated_low     0.822
    precision_cross_validated_high    0.936
    Name: 0, dtype: float64
    """
    goal = _checked(precision, recall)
    resampling.check_confidence(confidence)
    resampling.check_seed(seed)
    table = scored_matches(x, threshold, "operating_point")
    counted = table[np.isin(table["outcome"].array.codes, [schema.TP, schema.FN, schema.FP])]
    best = _points(counted, np.zeros(len(counted), np.int64), 1, goal, confidence, seed)
    if "category" in table:
        category = array_of(counted["category"])
        group, first = selections.number_groups({"category": category}, len(counted))
        names = pd.Series(category.take(first))
        names = names.astype("Int64") if pd.api.types.is_integer_dtype(names.dtype) else names
        of_categories = _points(counted, group, len(first), goal, confidence, seed)
        best = pd.concat([of_categories, best], ignore_index=True)
        best.insert(0, "category", names.reindex(range(len(best))).astype(names.dtype))
    options = {"confidence": confidence, "seed": seed}
    best.attrs = table.attrs | {f"least_{name}": value for name, value in goal.items()} | options
    return best


def _checked(precision: float | None, recall: float | None) -> dict[str, float]:
    """What was asked for, by its name; raises ValueError unless it is one of the two, above 0 and at most 1."""
    goal = {name: value for name, value in (("precision", precision), ("recall", recall)) if value is not None}
    if len(goal) != 1:
        raise ValueError("precision or recall is needed, one of the two: what the threshold is to reach")
    [(name, value)] = goal.items()
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value <= 1:
        raise ValueError(f"{name} is {value!r}; a number above 0 and at most 1 is needed")
    return goal


def _points(
    counted: pd.DataFrame, group: np.ndarray, n_groups: int, goal: dict[str, float], confidence: float, seed: int
) -> pd.DataFrame:
    """The operating point of each group of hits, misses and false alarms, and what to expect of it on new data."""
    best = _best(counted, group, n_groups, goal)
    sequence, n_sequences = resampling.number_sequences(counted)
    cell, first = arrays.grouped(group * max(n_sequences, 1) + sequence)
    of_cell = group[first]
    held_out, unreached = _held_out(counted, group, cell, of_cell, n_groups, goal, seed)
    apparent = best[list(SHARES)].to_numpy()
    found = of_held_out(held_out, of_cell, n_groups, FUNCTIONS, apparent, confidence)
    n_cells = np.bincount(of_cell, minlength=n_groups)
    reason = _reasons(best["score_threshold"].isna().to_numpy(), n_cells, unreached)
    is_null = pd.notna(reason)
    columns: dict[str, Any] = {name: best[name] for name in ("score_threshold", *SHARES)}
    for at, name in enumerate(SHARES):
        for end, values in zip(("", "_low", "_high"), found, strict=True):
            columns[f"{name}_cross_validated{end}"] = np.where(is_null, np.nan, values[:, at])
    columns |= {name: best[name] for name in ("n_truth", "n_predicted")}
    return pd.DataFrame(columns | {"reason": pd.array(reason, dtype=pandas_tables.TEXT)})


def _held_out(
    counted: pd.DataFrame,
    group: np.ndarray,
    cell: np.ndarray,
    of_cell: np.ndarray,
    n_groups: int,
    goal: dict[str, float],
    seed: int,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What each cell, a sequence in a group, adds up to at the threshold that the other folds of its group choose.

    `cell` and `group` are those of each row, and `of_cell` is the group of each cell. Also returns of which groups some
    folds have no threshold, because the others do not reach what was asked.
    """
    order = np.lexsort((np.random.default_rng([seed]).permutation(len(of_cell)), of_cell))
    fold = np.empty(len(of_cell), np.int64)
    fold[order] = (np.arange(len(order)) - np.searchsorted(of_cell[order], of_cell[order])) % MOST_FOLDS
    n_cells, unreached = len(of_cell), np.zeros(n_groups, bool)
    outcome, score, of_row = counted["outcome"].array.codes, as_numbers(counted[SCORE]), fold[cell]
    least, weight = np.full((2, len(counted)), np.nan)
    for k in range(int(fold.max(initial=-1)) + 1):
        others, own = np.flatnonzero(of_row != k), np.flatnonzero(of_row == k)
        chosen = _best(counted.take(others), group[others], n_groups, goal)["score_threshold"].to_numpy()
        least[own] = chosen[group[own]]
        unreached[group[own][np.isnan(least[own])]] = True
        # A low threshold leaves more detections, and is not to count for more.
        n_left = np.bincount(group[score >= chosen[group]], minlength=n_groups)
        weight[own] = 1 / np.maximum(n_left, 1)[group[own]]
    is_kept = score >= least
    found, predicted = is_kept & (outcome == schema.TP), is_kept & (outcome != schema.FN)
    rows = {"found": found, "truth": outcome != schema.FP, "right": found * weight, "predicted": predicted * weight}
    return {name: arrays.added_at(cell, values, n_cells) for name, values in rows.items()}, unreached


def _reasons(not_reached: np.ndarray, n_sequences: np.ndarray, unreached: np.ndarray) -> np.ndarray:
    """Why the cross-validated numbers of each group are null; None where they are not."""
    few = [f"{n} {'sequence' if n == 1 else 'sequences'}: fewer than {FEWEST} tell nothing" for n in n_sequences]
    conditions = [(not_reached, NOT_REACHED), (n_sequences < FEWEST, few), (unreached, NOT_WITHOUT_SOME)]
    return reasons.first_reasons(np.full(len(few), None, object), conditions)


def _best(counted: pd.DataFrame, group: np.ndarray, n_groups: int, goal: dict[str, float]) -> pd.DataFrame:
    """The operating point of each group of hits, misses and false alarms; `group` (N,) is that of each row."""
    outcome = counted["outcome"].array.codes
    is_found, score = outcome != schema.FN, as_numbers(counted[SCORE])
    n_truth = np.bincount(group[outcome != schema.FP], minlength=n_groups)
    n_predicted = np.bincount(group[is_found], minlength=n_groups)
    rows = np.flatnonzero(is_found)
    rows = rows[np.lexsort((-score[rows], group[rows]))]
    score, group = score[rows], group[rows]
    before = np.concatenate([[0], np.cumsum(outcome[rows] == schema.TP)])
    start = np.searchsorted(group, np.arange(n_groups))
    tp = before[1:] - before[start][group]
    n = np.arange(1, len(rows) + 1) - start[group]
    values = {"precision": sequence_sums.share(tp, n), "recall": sequence_sums.share(tp, n_truth[group])}

    # Detections of equal scores are above a threshold together.
    is_last = np.append((score[1:] != score[:-1]) | (group[1:] != group[:-1]), True)[: len(rows)]
    [(name, least)] = goal.items()
    reached = np.flatnonzero(is_last & (values[name] >= least))
    other = values["recall" if name == "precision" else "precision"]
    reached = reached[np.lexsort((-score[reached], -other[reached], group[reached]))]
    groups, first = np.unique(group[reached], return_index=True)
    found = {"score_threshold": score, **values}
    columns = {name: np.full(n_groups, np.nan) for name in found}
    for name, of_rows in found.items():
        columns[name][groups] = of_rows[reached[first]]
    return pd.DataFrame(columns | {"n_truth": n_truth, "n_predicted": n_predicted})


def scored_matches(x: Table | NamedTuple | AveragePrecision, threshold: float | None, name: str) -> pd.DataFrame:
    """The rows that count of a match table, or of an average precision at a threshold, by default its lowest.

    Raises InputError, whose message begins with `name`, unless every detection has a score; ValueError if `threshold`
    is given with a match table, or is none of those of the average precision.
    """
    if isinstance(x, AveragePrecision):
        chosen = x.matched.thresholds[shown_position(x.matched.thresholds, threshold)]
        return checks.check_matches(match_tables(x.matched, [chosen]))
    table = checks.check_matches(sequence_sums.match_table_of(x, f"{name}: x"), f"{name}: x")
    if threshold is not None:
        raise ValueError(
            "threshold goes with what average_precision() returned; a match table has its own, leave it out"
        )
    _check_scores(table, name)
    row_counts.warn_of_doubled(table, name, table_kinds.CALLER + 2)
    return table


def is_detection(table: pd.DataFrame) -> np.ndarray:
    """Marks the rows of a match table that are detections, right or wrong, (N,)."""
    return np.isin(table["outcome"].array.codes, [schema.TP, schema.FP])


def _check_scores(table: pd.DataFrame, name: str) -> None:
    """Raises InputError unless every detection of a match table has a score."""
    if SCORE not in table:
        raise InputError(
            messages.missing(f"{name}: x", SCORE, table.columns, "match predictions that have a column score")
        )
    scores = table[SCORE]
    if not pd.api.types.is_any_real_numeric_dtype(scores.dtype) and scores.notna().any():
        raise InputError(f"{name}: x: column {SCORE} is of type {scores.dtype}; numbers are needed")
    null = scores.isna().to_numpy() & is_detection(table)
    if null.any():
        where = messages.first_keys(table, null, [*schema.OBJECT_KEY[:2], "joint", "predicted_object"])
        raise InputError(
            f"{name}: x: column {SCORE}: {messages.counted(int(null.sum()), 'detection')} without one: {where}"
        )
