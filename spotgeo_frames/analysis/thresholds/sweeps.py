"""sweep(): the metrics at every score threshold, for one tau or similarity threshold or several.

At each score threshold, predictions with a lower score are removed and the others are matched anew, because a
prediction that is removed may leave its truth to another one. Near pairs are searched only once, by the widest rule,
and `matching/levels.py` assigns them at all score thresholds together.

Average precision is the area under precision over recall at these thresholds, after each precision is raised to the
highest one at the same or a higher recall (all-point interpolation, as in PASCAL VOC 2010,
doi:10.1007/s11263-014-0733-5). Evaluators that match only once, in the order of scores, get other values.

Each sequence adds up to something at every score threshold. Predictions are kept at the thresholds up to their score,
so each has a level: the position of the highest threshold at which it is kept. What vanishes at a level is added up
there, and sums from the highest level down give every level.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import Measure, check_pose_scores
from ...matching import (
    Assignment,
    FrameRule,
    MatchOptions,
    Rule,
    compared,
    crowds,
    left_out,
    match_options,
    options_with_tracks,
    rule_of_tables,
)
from ...scoring import point_sets, registry
from ...support import result_views, work
from ...tables import Annotations, Table, as_annotations, number_checks, provenance, table_kinds
from ...tracking import known_metric
from ..certainty import resampling
from .cross_validation import best_threshold, null_texts
from .level_sums import LevelSums, level_sums, score_levels
from .track_sweeps import sweep_tracks

# The metrics of the curve, as far as the rule has them.
CURVE = ["n_predicted", "tp", "fn", "fp", "precision", "recall", "f1", "mse", "kelvins_mse", "loc_a"]
CURVE += point_sets.POINT_SETS


class Sweep(NamedTuple):
    """The result of `sweep`: two DataFrames.

    Attributes
    ----------
    curve
        One row for each tau, or similarity threshold, and each score threshold, with the metrics there.
    best
        One row for each tau, or similarity threshold, with the average precision, the score threshold of the highest
        f1, and the f1 to expect there on new data.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> swept = sf.sweep(truth, sf.read_objects("data/sample/eager.parquet"), score=[0.2, 0.5, 0.8])
    >>> swept.curve[["score_threshold", "precision", "recall", "f1"]].round(2)
       score_threshold  precision  recall    f1
    0              0.2       0.76    0.89  0.82
    1              0.5       0.92    0.79  0.85
    2              0.8       1.00    0.49  0.66
    >>> swept.best[["score_threshold", "f1"]].round(2)
       score_threshold    f1
    0              0.5  0.85
    """

    curve: pd.DataFrame
    best: pd.DataFrame

    def __repr__(self) -> str:
        return result_views.result_as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        fronts = [result_views.Front("best", known=lambda name: known_metric(name.removesuffix("_cross_validated")))]
        return result_views.result_as_html(self, self._headline(), fronts)

    def _headline(self) -> list[str]:
        metrics = [f"{name}{end}" for name in ("HOTA", "f1") for end in ("", "_cross_validated")]
        return result_views.headline(self.best, ["tau", "threshold", "score_threshold", *metrics, "average_precision"])


@table_kinds.same_kind_as("truth")
def sweep(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    score: Sequence[float] | None = None,
    tau: float | Sequence[float] | None = None,
    epsilon: float | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    similarity: str | Measure | None = None,
    threshold: float | Sequence[float] | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
    unit: str | None = None,
    assignment: Assignment | None = None,
    power: float | None = None,
    frames: FrameRule = "truth",
    tracks: bool = False,
) -> Sweep:
    """Computes metrics at every score threshold, matching anew each time, for one or several tau or threshold.

    The rule is that of `match`: without a word, boxes match by IoU, and points and joints by distance. With
    `tracks=True`, `object` is an identity, and the tables are evaluated as `track` does, those of joints as `pose`
    does.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects: `sequence`, `frame`, `object`, `x`, `y` in pixels, `w`, `h` for boxes and
        `joint` for keypoints; predictions also need a `score`, where higher means surer. Truths whose `crowd` is true
        count nowhere, as in `match`.
    score
        A list of score thresholds. Without it, every score that occurs is a threshold, or if more than 200 (of tracks
        50) occur, that many scores of evenly spaced ranks.
    tau
        Match by distance: the largest distance of a true positive (px), or a list of such distances; 10 by default.
    epsilon
        The distance up to which the error of a true positive is 0 (px), 0 <= epsilon < tau. By default it is 3, and 0
        for each tau up to 3 or where `unit` is not "px".
    confidence
        The share of intervals that contain the true value, between 0 and 1.
    seed
        Of the folds of cross-validation; equal seeds give equal folds.
    similarity
        Match by similarity: "iou" for boxes, "oks" for whole poses, "point", or a function, as in `match`.
    threshold
        The least similarity of a true positive, above 0 and at most 1, or a list of such similarities; 0.5 by default.
    sigmas
        For "oks", which they mean alone, too: a dict from joint to its sigma; by default those of COCO's seventeen
        joints.
    distance, unit
        A function that measures distances instead of pixels: it gets two DataFrames of equal length, whose rows k are a
        truth and a prediction, and returns a distance of 0 or more for each row. `tau`, which it needs, and `epsilon`
        are then in its unit, and `unit` is the word for that in texts and plots, such as "arcsec".
    assignment, power
        How pairs are chosen: "most" (the default), as many as possible; "least", the least sum of distances to the
        `power` (1 or more, 2 by default), where an object without a partner costs tau^power / 2, as GOSPA and OSPA
        define it; or "score", each prediction the nearest truth that is left, in the order of their scores.
    frames
        "truth": the frames are those of the truth's frames table, and predictions in other frames are refused. Without
        such a table they are the frames in which either side has objects. "union": all frames of either side.
        "labelled": the frames in which the truth has objects or that its frames table lists; other predictions leave.
    tracks
        Whether identities count. Then `similarity` ("iou", "point" or a function) or `distance`, and `tau`, are all
        that apply, as in `track`; of poses none does.

    Returns
    -------
    Sweep of two DataFrames of the truth's kind (polars or pyarrow; otherwise pandas).

    curve: one row for each tau (or similarity threshold) and score threshold, in rising order: `tau` (px) or, by
        similarity, `threshold`; `score_threshold`; then `n_predicted`, `tp`, `fn`, `fp`, `precision`, `recall` and `f1`
        of the predictions whose score is at least the score threshold; then `mse` (px²) and `kelvins_mse` by distance,
        or `loc_a`, the mean similarity of true positives, by similarity; and with `assignment="least"` also `gospa`,
        `ospa`, `localisation`, `missed` and `false`, as `summarize` has them.
    best: one row for each tau (or similarity threshold): `tau` (px) or `threshold`; `average_precision` (null without
        truths); `score_threshold`, the one with the highest f1 (the highest threshold of several); `f1`, the apparent
        one there, which is too good for new data, because the threshold was chosen on the same data; and
        `f1_cross_validated`, the f1 to expect of that threshold on new sequences like these, with its interval from
        `f1_cross_validated_low` to `f1_cross_validated_high`. Average precision is the area under precision over recall
        at the thresholds, each precision raised to the highest one at the same or a higher recall (PASCAL VOC 2010,
        doi:10.1007/s11263-014-0733-5).

    With `tracks=True`, the columns of curve are `score_threshold`; `n_predicted`, `tp`, `fn`, `fp`, `precision`,
        `recall` and `f1` of the matches of CLEAR or, for poses, of poseval; then `HOTA`, `MOTA` and `IDF1` as in the
        combined row of `track`, or `HOTA` and `mota` (percent) as in that of `pose`, which has no IDF1. best is one row
        with the score threshold of the highest HOTA: `score_threshold`, `HOTA` and `HOTA_cross_validated` with its
        interval. Where `tau` is a list, both have these rows for each, and a first column `tau`.

    Cross-validation puts the sequences into ten folds, or below ten sequences each into one of its own. The sequences
    of a fold get the threshold that is best in all other folds, and what they add up to there is added. One sequence
    has no cross-validated value, and HOTA of fewer than 20 has no interval, because a single large sequence may decide
    it; a warning says so.

    Raises
    ------
    InputError: a table lacks a column or has invalid values, `score` is missing or null or differs within a pose, the
        sides share no sequence, predictions lie in frames that the truth does not have, or the rule does not fit the
        tables.
    ValueError: `tau`, `epsilon`, `similarity`, `threshold`, `sigmas`, `distance`, `unit`, `confidence` or `seed` is out
        of range or does not fit another argument, does not apply to tracks, or thresholds are not numeric.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": 10.0, "y": 5.0})
    >>> predictions = pd.concat([truth.assign(score=0.9), truth.assign(object=2, x=90.0, score=0.4)])
    >>> swept = sf.sweep(truth, predictions)
    >>> swept.curve[["score_threshold", "tp", "fp", "precision", "recall", "f1"]].round(3)
       score_threshold  tp  fp  precision  recall     f1
    0              0.4   2   2        0.5     1.0  0.667
    1              0.9   2   0        1.0     1.0  1.000
    >>> swept.best[["tau", "average_precision", "score_threshold", "f1"]]
        tau  average_precision  score_threshold   f1
    0  10.0                1.0              0.9  1.0

    Squares of 8 pixels that are 2 apart have an IoU of 0.6:

    >>> squares = truth.assign(w=8.0, h=8.0)
    >>> swept = sf.sweep(squares, squares.assign(x=12.0, score=0.9), threshold=[0.5, 0.7])
    >>> swept.curve[["threshold", "score_threshold", "tp", "fn", "fp", "loc_a"]]
       threshold  score_threshold  tp  fn  fp  loc_a
    0        0.5              0.9   2   0   0    0.6
    1        0.7              0.9   0   2   2    NaN

    With identities:

    >>> walk = truth.assign(sequence=1, frame=[1, 2])
    >>> swept = sf.sweep(walk, walk.assign(score=[0.4, 0.9]), tracks=True)
    >>> swept.curve[["score_threshold", "tp", "HOTA", "MOTA", "IDF1"]].round(3)
       score_threshold  tp  HOTA  MOTA   IDF1
    0              0.4   2   1.0   1.0  1.000
    1              0.9   1   0.5   0.5  0.667
    """
    resampling.check_confidence(confidence)
    resampling.check_seed(seed)
    settings = {"confidence": confidence, "seed": seed}
    given = tau, epsilon, similarity, threshold, sigmas, distance, unit, assignment, power
    swept = (
        partial(sweep_tracks, _track_options(*given), np.iterable(tau))
        if tracks
        else partial(_sweep_detections, _options(*given))
    )
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    number_checks.check_scores(sides[1].objects, provenance.source(sides[1].objects, "predictions"), "sweep")
    curve, best, notes, warning = swept(*sides, score, frames, **settings)
    curve.attrs = best.attrs = notes | settings
    for text in filter(None, [warning, *null_texts(best)]):
        warnings.warn(f"sweep: {text}", stacklevel=table_kinds.CALLER)
    return Sweep(curve, best)


def _sweep_detections(
    options: list[MatchOptions],
    truth: Annotations,
    predictions: Annotations,
    score: Sequence[float] | None,
    frames: FrameRule,
    confidence: float,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[Hashable, Any], str | None]:
    """The tables `curve` and `best` of a Sweep, the notes of the rule, and a warning or None."""
    rules = [rule_of_tables(of_limit, truth, predictions) for of_limit in options]
    widest = rules[-1 if rules[0].by_distance else 0]
    both = compared(widest, truth, predictions, frames)
    check_pose_scores(both.aligned.predictions.table, provenance.source(predictions.objects, "predictions"))
    by_level = score_levels(both, widest, score)
    curves, rows = [], []
    for rule in work.progress(rules, "matching", rules[0].limit):
        sums = level_sums(by_level, rule)
        curves.append(_curve(sums, rule, by_level.thresholds))
        rows.append(_best(curves[-1], sums, rule, confidence, seed))
    shared = [key for key, value in rules[0].notes.items() if all(rule.notes.get(key) == value for rule in rules)]
    notes = {key: rules[0].notes[key] for key in shared if key != rules[0].limit}
    notes.update(both.aligned.notes)
    marked = crowds.marks(both.aligned.truth.table)
    notes.update(
        {note: int(of.sum()) for note, of in zip(("crowds", "ignored"), marked, strict=True) if of is not None}
    )
    best = pd.DataFrame(rows, dtype=np.float64)
    return pd.concat(curves, ignore_index=True), best, notes, left_out.left_out(both.aligned, widest)


def _options(
    tau: float | Sequence[float] | None,
    epsilon: float | None,
    similarity: str | Measure | None,
    threshold: float | Sequence[float] | None,
    *others: Any,
) -> list[MatchOptions]:
    """The caller's options with each tau or threshold, rising; `others` are those that `match_options` takes after.

    Raises ValueError as `match_options` does, for an empty list, and for several values of tau with similarity="point".
    """
    taus, thresholds = _listed("tau", tau), _listed("threshold", threshold)
    if len(taus) > 1 and similarity == "point":
        raise ValueError("tau is a list, and similarity='point' takes one tau; give a list of thresholds instead")
    options = [match_options(limit, epsilon, similarity, least, *others) for limit in taus for least in thresholds]
    distinct = {(of_limit.tau, of_limit.threshold): of_limit for of_limit in options}
    return [distinct[limits] for limits in sorted(distinct)]


def _track_options(tau: float | Sequence[float] | None, *others: Any) -> list[MatchOptions]:
    """The options of tracks with each tau, rising.

    Raises ValueError as `options_with_tracks` does, and for an empty list.
    """
    options = [options_with_tracks(limit, *others) for limit in _listed("tau", tau)]
    distinct = {of_limit.tau: of_limit for of_limit in options}
    return [distinct[limit] for limit in sorted(distinct, key=lambda limit: limit or 0.0)]


def _listed(name: str, given: float | Sequence[float] | None) -> list[float | None]:
    """The numbers of a word that may be a list; raises ValueError where there are none."""
    if not np.iterable(given) or isinstance(given, str):
        return [given]
    numbers: list[float | None] = list(given)
    if not numbers or any(value is None for value in numbers):
        raise ValueError(f"{name} is {given!r}; a number or a list of numbers is needed")
    return numbers


def _curve(sums: LevelSums, rule: Rule, thresholds: np.ndarray) -> pd.DataFrame:
    """Makes the rows of the table `curve` of a Sweep."""
    by_similarity = not rule.by_distance
    names = registry.defined(CURVE, by_similarity, rule.assignment)
    metrics = registry.values_of(sums.totals, names, by_similarity)
    curve = pd.DataFrame({"score_threshold": thresholds} | metrics)
    curve.insert(0, rule.limit, getattr(rule, rule.limit))
    return curve.astype(dict.fromkeys((name for name in names if registry.METRICS[name].written == "count"), np.int64))


def _best(curve: pd.DataFrame, sums: LevelSums, rule: Rule, confidence: float, seed: int) -> dict[str, float]:
    """Makes the row of the table `best` of a Sweep from the rows of its curve."""
    area = area_under_precision_recall(curve) if sums.n_truth else np.nan
    row = {rule.limit: getattr(rule, rule.limit), "average_precision": area}
    return row | best_threshold(curve, registry.METRICS["f1"], sums.of_sequences, 2, confidence, seed)


def area_under_precision_recall(points: pd.DataFrame) -> float:
    """The area under precision over recall, interpolated at all points; null where recall is null.

    `points` is a table with `precision` and `recall` at rising score thresholds.
    """
    recall = points["recall"].to_numpy()[::-1]
    if np.isnan(recall).any():
        return float("nan")
    precision = np.nan_to_num(points["precision"].to_numpy()[::-1])
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(np.diff(recall, prepend=0.0) * highest))
