"""confusion(): which category of truths is detected as which.

Detections choose truths of any category, the highest score first, each the most similar one that is free: the matching
of average precision, with all categories together. This is the convention of FiftyOne's COCO evaluation with
`classwise=False` (fiftyone/utils/eval/coco.py), also for crowds, which only their own category may match. Ultralytics
(utils/metrics.py, ConfusionMatrix) lets the most similar pairs choose first instead, at an IoU above 0.45 and scores
above 0.25.

The table is long, like all others here, so that it can be filtered, joined and drawn by any library of tables; a pivot
makes it square.
"""

from collections.abc import Hashable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...matching import Pairs, greedy
from ...scoring import AveragePrecision, Matched, similar_of_any_category
from ...support import InputError
from ...tables import schema, table_kinds
from .detection_errors import check_by_similarity

COLUMNS = ["truth_category", "predicted_category"]


@table_kinds.same_kind_as("x")
def confusion(x: AveragePrecision, threshold: float = 0.5, *, score_threshold: float | None = None) -> pd.DataFrame:
    """Counts how often truths of each category are detected as each category, or not at all.

    Detections choose truths of whatever category, the highest score first: the most similar truth that no other
    detection has taken. This is what FiftyOne does with `classwise=False`.

    Parameters
    ----------
    x
        What `average_precision` returned, of boxes or poses with a `category` on both sides.
    threshold
        The least similarity of a match, above 0 and at most 1.
    score_threshold
        Leaves out detections with a lower score; by default none. Detectors report many detections with low scores,
        which are background here.

    Returns
    -------
    DataFrame (of the kind that `x` has) with one row for each pair of categories: `truth_category`,
    `predicted_category` and `count`, 0 where there are none. A null stands for background: missed truths have no
    predicted category, and false alarms have no true one. The counts of a `truth_category` add up to its truths, those
    of a `predicted_category` to its detections. Ignored truths such as crowds count nowhere, nor do detections that are
    matched with them, or that are beyond the most of a frame and category in `x`; the notes (`attrs`) say how
    many. To make the square table, pivot it as in the example; background comes first there.

    Raises
    ------
    InputError: `x` is nothing that `average_precision` returned, or a side has no categories.
    ValueError: `threshold` or `score_threshold` is no number, or `threshold` is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2, 3, 4], "x": [0.0, 30, 60, 90], "y": 0.0})
    >>> truth = truth.assign(w=20.0, h=20.0, category=["cat", "dog", "dog", "dog"])
    >>> found = truth.head(3).assign(category=["cat", "cat", "dog"], score=0.9)
    >>> counts = sf.confusion(sf.average_precision(truth, found))
    >>> counts[counts["count"] > 0]
      truth_category predicted_category  count
    0            cat                cat      1
    3            dog                cat      1
    4            dog                dog      1
    5            dog                NaN      1
    >>> square = counts.pivot(index="truth_category", columns="predicted_category", values="count")
    >>> square.loc["dog"].tolist()
    [1, 1, 1]
    """
    matched = _checked(x, threshold, score_threshold)
    detections, of = matched.detections, _confused(matched, threshold, score_threshold)

    # The last row and the last column are background.
    n_categories = len(detections.categories)
    counts = np.zeros((n_categories + 1, n_categories + 1), np.int64)
    np.add.at(counts, (detections.truth_category[of.found.truth], detections.category[of.found.prediction]), 1)
    counts[:-1, -1] = np.bincount(detections.truth_category[of.is_missed], minlength=n_categories)
    counts[-1, :-1] = np.bincount(detections.category[of.is_wrong], minlength=n_categories)
    return _long(counts, matched, {"threshold": float(threshold), "explained": of.n_explained})


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


def _checked(x: object, threshold: float, score_threshold: float | None) -> Matched:
    """The matches of a result that has categories; raises as `confusion` does."""
    if not isinstance(x, AveragePrecision):
        raise InputError(f"confusion: x is a {type(x).__name__}; give what average_precision() returned")
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


def _long(counts: np.ndarray, matched: Matched, notes: dict[Hashable, Any]) -> pd.DataFrame:
    """A square table of counts, whose last row and column are background, as one with a row a count, with its notes."""
    names = _names(matched)
    positions = np.indices(counts.shape).reshape(2, -1)
    codes = np.where(positions == len(names), -1, positions)
    columns = {column: names.take(of, allow_fill=True) for column, of in zip(COLUMNS, codes, strict=True)}
    table = pd.DataFrame(columns | {"count": counts.ravel()})
    table.attrs = matched.notes | notes
    return table


def _names(matched: Matched) -> Any:
    """The names of categories as an array that can hold nulls."""
    names = pd.Series(matched.detections.categories, copy=False)
    return (names.astype("Int64") if pd.api.types.is_integer_dtype(names.dtype) else names).array
