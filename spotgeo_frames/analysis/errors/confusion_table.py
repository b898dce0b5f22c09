"""confusion(): which category of truths is detected as which.

Of average precision, detections choose truths of any category, the highest score first, each the most similar one that
is free: the matching of average precision, with all categories together. This is the convention of FiftyOne's COCO
evaluation with `classwise=False` (fiftyone/utils/eval/coco.py), also for crowds, which only their own category may
match. Ultralytics (utils/metrics.py, ConfusionMatrix) lets the most similar pairs choose first instead, at an IoU above
0.45 and scores above 0.25.

A match table has its pairs already, within categories. Of the misses and false alarms that are left in a frame, those
that would match but for their categories are paired one to one: as many as possible, and among those the nearest.
"""

from collections.abc import Collection, Hashable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import Measure
from ...matching import Pairs, Rule, greedy, noted_rule, options_of_matches
from ...scoring import AveragePrecision, Matched, row_counts, sequence_sums, similar_of_any_category
from ...support import InputError, label, pandas_tables
from ...tables import Table, checks, messages, schema, table_kinds
from .detection_errors import check_by_similarity
from .error_kinds import check_left_out, near_rows, paired

COLUMNS = ["truth_category", "predicted_category"]

# The similarity from which on average precision's detections match, and what stands for no category.
THRESHOLD, BACKGROUND = 0.5, "background"


@table_kinds.same_kind_as("x")
def confusion(
    x: Table | NamedTuple | AveragePrecision,
    threshold: float | None = None,
    *,
    score_threshold: float | None = None,
    wide: bool = True,
    tau: float | None = None,
    similarity: str | Measure | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
) -> pd.DataFrame:
    """Counts how often truths of each category are detected as each category, or not at all.

    Of average precision, detections choose truths of whatever category, the highest score first: the most similar
    truth that no other detection has taken. This is what FiftyOne does with `classwise=False`. Match tables have their
    pairs; misses and false alarms of a frame that would match but for their categories are paired one to one.

    Parameters
    ----------
    x
        What `average_precision` returned, of boxes, masks or poses; or a match table, or what `track` or `pose`
        returned. Both sides have a `category`.
    threshold
        The least similarity of a match, above 0 and at most 1: of average precision 0.5 by default. Match tables
        know it; it is needed only where the table has lost its notes.
    score_threshold
        Leaves out detections of average precision with a lower score; by default none. Detectors report many
        detections with low scores, which are background here.
    wide
        Whether classes are rows and columns; else the table has a row for each pair of categories.
    tau, similarity, sigmas, distance
        The rule of a match table, as `diagnose` takes it. Needed only where the table has lost its notes; a function is
        needed always.

    Returns
    -------
    DataFrame (of the kind that `x` has) with a row for each category as that of truths, named by its first column
    `truth_category`, and a column for each as that of predictions, all by their texts; both end with `background`. A
    row adds up to the truths of its category, a column to the detections of its own; missed truths are in the last
    column, false alarms in the last row. If a category is called background, that of nothing is `(background)`.

    With `wide=False` there are `truth_category`, `predicted_category` and `count`, 0 where there are none, and a null
    stands for background. Ignored truths such as crowds count nowhere, nor do detections that are matched with them,
    or that are beyond the most of a frame and category in `x`; the notes (`attrs`) say how many.

    Raises
    ------
    InputError: `x` is neither, or of several submissions or slices; a side has no categories; or the rule of a match
        table is not known.
    ValueError: `threshold`, `score_threshold` or another number is out of range, or an option does not go with `x`.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2, 3, 4], "x": [0.0, 30, 60, 90], "y": 0.0})
    >>> truth = truth.assign(w=20.0, h=20.0, category=["cat", "dog", "dog", "dog"])
    >>> found = truth.head(3).assign(category=["cat", "cat", "dog"], score=0.9)
    >>> sf.confusion(sf.average_precision(truth, found))
      truth_category  cat  dog  background
    0            cat    1    0           0
    1            dog    1    1           1
    2     background    0    0           0
    >>> sf.confusion(sf.match(truth, found), wide=False)["count"].tolist()
    [1, 0, 0, 1, 1, 1, 0, 0, 0]
    """
    if isinstance(x, AveragePrecision):
        check_left_out(tau=tau, similarity=similarity, sigmas=sigmas, distance=distance)
        square = _of_precision(x, THRESHOLD if threshold is None else threshold, score_threshold)
    elif score_threshold is not None:
        problem = "score_threshold goes with what average_precision() returned"
        raise ValueError(f"{problem}; leave predictions with low scores out before match()")
    else:
        square = _of_matches(x, options_of_matches(tau, None, similarity, threshold, sigmas, distance))
    return _wide(square) if wide else _long(square)


class _Square(NamedTuple):
    """The counts (C + 1, C + 1), the last of which are background, the names of the categories, and the notes."""

    counts: np.ndarray
    names: Any
    notes: dict[Hashable, Any]


def _of_precision(x: AveragePrecision, threshold: float, score_threshold: float | None) -> _Square:
    """The counts of average precision's detections."""
    matched = _checked(x, threshold, score_threshold)
    detections, of = matched.detections, _confused(matched, threshold, score_threshold)
    n_categories = len(detections.categories)
    counts = np.zeros((n_categories + 1, n_categories + 1), np.int64)
    np.add.at(counts, (detections.truth_category[of.found.truth], detections.category[of.found.prediction]), 1)
    counts[:-1, -1] = np.bincount(detections.truth_category[of.is_missed], minlength=n_categories)
    counts[-1, :-1] = np.bincount(detections.category[of.is_wrong], minlength=n_categories)
    notes = {"threshold": float(threshold), "explained": of.n_explained}
    return _Square(counts, _names(matched), matched.notes | notes)


def _of_matches(x: Any, options: Any) -> _Square:
    """The counts of a match table's pairs, and of its errors that would be pairs but for their categories."""
    table = checks.check_matches(sequence_sums.match_table_of(x, "confusion: x"), by_groups=True)
    if schema.is_of_precision(table.columns):
        raise InputError("confusion: give what average_precision() returned, instead of its matches")
    checks.check_one_slice(table, "confusion: x")
    row_counts.check_one_submission(table, "confusion: x")
    lacking = [column for column in COLUMNS if column not in table]
    if lacking:
        hint = "truth and predictions need a column category"
        raise InputError([messages.missing("confusion: x", column, table.columns, hint) for column in lacking])
    row_counts.warn_of_doubled(table, "confusion")
    columns = [table[column] for column in COLUMNS]
    names = pd.Index(dict.fromkeys(name for of in columns for name in _in_order(of)))
    if pd.api.types.is_float_dtype(names.dtype) and (names % 1 == 0).all():  # integers beside nulls
        names = names.astype("Int64")
    truth, predicted = (np.where(of.isna(), len(names), names.get_indexer(of)) for of in columns)
    missed, false = rows_of_other_classes(table, noted_rule.noted_rule(table, options))
    predicted[missed] = predicted[false]
    counted = table["outcome"].array.codes != schema.EMPTY
    counted[false] = False
    counts = np.zeros((len(names) + 1, len(names) + 1), np.int64)
    np.add.at(counts, (truth[counted], predicted[counted]), 1)
    return _Square(counts, names.array, dict(table.attrs))


def _in_order(values: pd.Series) -> list[Any]:
    """The names in a column in the order of its categories, or else in that in which they come."""
    names = values.dropna().unique()
    return names.sort_values().tolist() if isinstance(names, pd.Categorical) else names.tolist()


def rows_of_other_classes(table: pd.DataFrame, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """The rows of misses and of the false alarms that they are paired with, whatever their categories."""
    aligned, near, truth_row, predicted_row, _ = near_rows(table, rule)
    outcome = table["outcome"].array.codes
    left = np.flatnonzero((outcome[truth_row] == schema.FN) & (outcome[predicted_row] == schema.FP))
    chosen = left[paired(near.take(left), aligned, rule, rule.largest_cost)]
    return truth_row[chosen], predicted_row[chosen]


def confused_rows(x: AveragePrecision, threshold: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Which class the detection of each truth has, and the truth of each detection, as `confusion` counts them.

    The first table has the keys of the truths that count, `sequence`, `frame` and `object`, their `category`, and that
    of their detection, `other`; the second has those of the detections. `other` is null for background.
    """
    matched = _checked(x, threshold, None)
    detections, of = matched.detections, _confused(matched, threshold, None)
    truth_other, other = np.full(len(detections.truth_category), -1), np.full(len(detections.category), -1)
    truth_other[of.found.truth] = detections.category[of.found.prediction]
    other[of.found.prediction] = detections.truth_category[of.found.truth]
    truths, rows = (np.flatnonzero(marked) for marked in (truth_other >= 0, other >= 0))
    truths, rows = np.union1d(truths, np.flatnonzero(of.is_missed)), np.union1d(rows, np.flatnonzero(of.is_wrong))
    aligned, names = detections.aligned, _names(matched)
    sides = (
        (aligned.truth, truths, detections.truth_category[truths], truth_other[truths]),
        (aligned.predictions, detections.row[rows], detections.category[rows], other[rows]),
    )
    first, second = (
        pd.DataFrame(
            {name: pd.Series(aligned.frames[name]).array.take(side.frame[at]) for name in schema.FRAME_KEY}
            | {"object": pd.Series(side.table["object"]).array.take(at)}
            | {"category": names.take(own), "other": names.take(others, allow_fill=True)}
        )
        for side, at, own, others in sides
    )
    return first, second


class _Confused(NamedTuple):
    """The pairs that count, the detections (D,) and truths (G,) that count and have none, and how many do not count."""

    found: Pairs
    is_wrong: np.ndarray
    is_missed: np.ndarray
    n_explained: int


def _confused(matched: Matched, threshold: float, score_threshold: float | None) -> _Confused:
    """Who finds whom, whatever their categories."""
    detections, scope = matched.detections, matched.scopes["all"]
    enough = np.ones(len(detections.row), bool) if score_threshold is None else detections.score >= score_threshold
    pairs = _pairs(matched, threshold, enough)
    is_wrong, is_missed = enough & scope.within, scope.counts.copy()
    is_wrong[pairs.prediction] = False
    found = pairs.take(scope.counts[pairs.truth])
    is_missed[found.truth] = False
    n_explained = int(enough.sum()) - len(found.prediction) - int(is_wrong.sum())
    return _Confused(found, is_wrong, is_missed, n_explained)


def _checked(x: AveragePrecision, threshold: float, score_threshold: float | None) -> Matched:
    """The matches of a result that has categories; raises as `confusion` does."""
    check_by_similarity(x.matched, "confusion")
    if not x.matched.detections.has_categories:
        raise InputError("confusion: there are no categories; truth and predictions need a column category")
    if not isinstance(threshold, Real) or not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold!r}; a similarity above 0 and at most 1 is needed")
    if score_threshold is not None and (not isinstance(score_threshold, Real) or np.isnan(score_threshold)):
        raise ValueError(f"score_threshold is {score_threshold!r}; a number is needed")
    return x.matched


def _pairs(matched: Matched, threshold: float, enough: np.ndarray) -> Pairs:
    """The matched pairs: detections that are marked choose, the highest score first, among truths of any category.

    Truths that are ignored are there for detections of their own category only, but for crowds of any category.
    """
    detections, counts = matched.detections, matched.scopes["all"].counts
    pairs = similar_of_any_category(detections, matched.rule, threshold)
    same = detections.category[pairs.prediction] == detections.truth_category[pairs.truth]
    category = detections.aligned.truth.category
    of_any = np.zeros(len(counts), bool) if category is None else category < 0
    pairs = pairs.take(enough[pairs.prediction] & (counts[pairs.truth] | same | of_any[pairs.truth]))
    by_score = detections.by_score
    place = np.argsort(by_score)
    pairs = pairs._replace(prediction=place[pairs.prediction])
    pairs = pairs.take(greedy.preferred_order(pairs, ~counts))
    pairs = pairs.take(greedy.greedy_pairs(pairs, detections.is_crowd))
    return pairs._replace(prediction=by_score[pairs.prediction])


def _long(square: _Square) -> pd.DataFrame:
    """A row for each pair of categories, null for background."""
    positions = np.indices(square.counts.shape).reshape(2, -1)
    codes = np.where(positions == len(square.names), -1, positions)
    columns = {column: square.names.take(of, allow_fill=True) for column, of in zip(COLUMNS, codes, strict=True)}
    table = pd.DataFrame(columns | {"count": square.counts.ravel()})
    table.attrs = square.notes
    return table


def _wide(square: _Square) -> pd.DataFrame:
    """A row for each true category and a column for each predicted one, by their texts."""
    texts = [label(name) for name in square.names]
    names = [*texts, background_of(texts)]
    table = pd.DataFrame(square.counts, columns=[*map(column_of, names)])
    table.insert(0, COLUMNS[0], pd.Series(names, dtype=pandas_tables.TEXT))
    table.attrs = square.notes
    return table


def column_of(name: str) -> str:
    """The column of a category; the first column has the other name already."""
    return f"({name})" if name == COLUMNS[0] else name


def background_of(names: Collection[str]) -> str:
    """What stands for no category among these."""
    background = BACKGROUND
    while background in names:
        background = f"({background})"
    return background


def _names(matched: Matched) -> Any:
    """The names of categories as an array that can hold nulls."""
    names = pd.Series(matched.detections.category_column, copy=False)
    return (names.astype("Int64") if pd.api.types.is_integer_dtype(names.dtype) else names).array
