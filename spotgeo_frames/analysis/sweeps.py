"""sweep(): the metrics at every score threshold and every tau.

At each threshold, predictions with a lower score are removed and the others are matched anew, because a prediction that
is removed may leave its truth to another one. Near pairs are searched only once, at the largest tau.

Average precision is the area under precision over recall at these thresholds, after each precision is raised to the
highest one at the same or a higher recall (all-point interpolation, as in PASCAL VOC 2010,
doi:10.1007/s11263-014-0733-5). Evaluators that match only once, in the order of scores, get other values.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import Aligned, FrameRule, align, at_centres
from ..matching.assignment import Entries, assign
from ..matching.near_points import all_near_points
from ..matching.pairs import Pairs
from ..matching.rule import Rule, check_by_distance
from ..matching.similarity import Measure
from ..matching.words import Words, asked, rule_of_tables
from ..scoring.match_sums import share
from ..scoring.registry import METRICS, values_of
from ..support.errors import InputError
from ..support.named_tables import as_html, as_text, headline
from ..support.progress import progress
from ..tables.annotations import Annotations, as_annotations
from ..tables.columns import as_numbers
from ..tables.inputs import source
from ..tables.kinds import same_kind_as
from ..tables.messages import counted, first_keys
from ..tables.schema import FN, FRAME_KEY, TP
from ..tables.table import Table
from .resampling import ALL_SUMS, bounds, check_options, number_sequences, resampled_sums

# Where there are more distinct scores than this, the thresholds are this many scores of evenly spaced ranks.
MOST_THRESHOLDS = 200

# The metrics of the curve, and the sums, the first of ALL_SUMS, that determine the best threshold.
CURVE = ["n_predicted", "tp", "fn", "fp", "precision", "recall", "f1", "mse", "kelvins_mse"]
COUNTS = ["tp", "fn", "fp"]


class Sweep(NamedTuple):
    """The result of `sweep`: two DataFrames.

    Attributes
    ----------
    curve
        One row for each tau and score threshold, with the metrics there.
    best
        One row for each tau, with the average precision and the threshold of the highest f1.
    """

    curve: pd.DataFrame
    best: pd.DataFrame

    def __repr__(self) -> str:
        return as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        return as_html(self, self._headline())

    def _headline(self) -> list[str]:
        return headline(self.best, ["tau", "score_threshold", "f1", "average_precision"])


@same_kind_as("truth")
def sweep(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    score: Sequence[float] | None = None,
    tau: float | Sequence[float] | None = None,
    epsilon: float | None = None,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    frames: FrameRule = "truth",
) -> Sweep:
    """Computes metrics at every score threshold and every tau, matching anew each time.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects: `sequence`, `frame`, `object`, `x`, `y` in pixels; predictions also need a
        `score`, where higher means surer. Boxes (`w`, `h`) need a `tau`: their centres are matched.
    score
        A list of score thresholds. Without it, every score that occurs is a threshold, or 200 scores of evenly spaced
        ranks if more occur.
    tau
        The largest distance of a true positive (px), or a list of such distances; 10 by default.
    epsilon
        The distance up to which the error of a true positive is 0 (px); 3 by default, 0 <= epsilon < tau.
    resamples
        How often sequences are drawn, with replacement, for the intervals; at least 1.
    confidence
        The share of intervals that contain the true value, between 0 and 1.
    seed
        Equal seeds give equal intervals.
    similarity, threshold
        Every function that matches accepts these. sweep() needs distances, so a rule by similarity is refused.
    frames
        "truth": the frames are those of the truth's frames table, and predictions in other frames are refused. Without
        such a table they are the frames in which either side has objects. "union": all frames of either side.

    Returns
    -------
    Sweep of two DataFrames of the truth's kind (polars or pyarrow; otherwise pandas).

    curve: one row for each tau and threshold, in rising order: `tau` (px), `score_threshold`, `n_predicted`, `tp`,
        `fn`, `fp`, `precision`, `recall`, `f1`, `mse` (px²) and `kelvins_mse` of the predictions whose score is at
        least the threshold.
    best: one row for each tau: `tau` (px), `average_precision` (null without truths), `score_threshold`, the one with
        the highest f1 (the highest threshold of several), `score_threshold_low` and `score_threshold_high`, the
        interval of the best threshold over resamples, and `f1`, `f1_low` and `f1_high` at the best threshold. Intervals
        are null if there are fewer than two sequences. Average precision is the area under precision over recall at the
        thresholds, each precision raised to the highest one at the same or a higher recall (PASCAL VOC 2010,
        doi:10.1007/s11263-014-0733-5).

    Raises
    ------
    InputError: a table lacks a column or has invalid values, `score` is missing or null, the sides share no sequence,
        predictions lie in frames that the truth does not have, or matching would be by similarity.
    ValueError: `tau`, `epsilon`, `resamples` or `confidence` is out of range, or thresholds are not numeric.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": 10.0, "y": 5.0})
    >>> predictions = pd.concat([truth.assign(score=0.9), truth.assign(object=2, x=90.0, score=0.4)])
    >>> swept = sf.sweep(truth, predictions, resamples=100)
    >>> swept.curve[["score_threshold", "tp", "fp", "precision", "recall", "f1"]].round(3)
       score_threshold  tp  fp  precision  recall     f1
    0              0.4   2   2        0.5     1.0  0.667
    1              0.9   2   0        1.0     1.0  1.000
    >>> swept.best[["tau", "average_precision", "score_threshold", "f1"]]
        tau  average_precision  score_threshold   f1
    0  10.0                1.0              0.9  1.0
    """
    words = _words(tau, epsilon, similarity, threshold)
    check_options(resamples, confidence)
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    _check_scores(sides[1].objects)
    rules = [check_by_distance(rule_of_tables(at_tau, *sides), "sweep") for at_tau in words]
    aligned = at_centres(align(sides[0], sides[1], frames))
    scores = as_numbers(aligned.predictions.table["score"])
    thresholds = _thresholds(scores, score)
    sequence, n_sequences = number_sequences(aligned.frames)
    near = all_near_points(aligned, rules[-1].largest_cost)
    sums = np.zeros((len(rules), len(thresholds), n_sequences, len(ALL_SUMS)))
    points = [(row, column) for row in range(len(rules)) for column in range(len(thresholds))]
    for row, column in progress(points, "matching", "point"):
        sums[row, column] = _matched(aligned, near, scores >= thresholds[column], rules[row], sequence, n_sequences)
    curve = _curve(sums, [rule.largest_cost for rule in rules], thresholds)
    best = _best(curve, sums, rules, len(aligned.truth.frame) > 0, resamples, confidence, seed)
    notes = {key: value for key, value in rules[0].notes.items() if key != "tau"}
    notes |= {"resamples": resamples, "confidence": confidence, "seed": seed}
    curve.attrs = best.attrs = notes
    return Sweep(curve, best)


def _check_scores(objects: pd.DataFrame) -> None:
    """Raises InputError unless every prediction has a score."""
    name = source(objects, "predictions")
    if "score" not in objects:
        raise InputError(f"{name}: column score is missing; sweep() needs the score of each prediction")
    null = objects["score"].isna().to_numpy()
    if null.any():
        keys = first_keys(objects, null, [*FRAME_KEY, "object"])
        raise InputError(f"{name}: column score: {counted(int(null.sum()), 'row')} null: {keys}")


def _words(
    tau: float | Sequence[float] | None,
    epsilon: float | None,
    similarity: str | Measure | None,
    threshold: float | None,
) -> list[Words]:
    """The caller's words with each tau, rising; raises ValueError as `asked` does, and where a tau is no number."""
    if tau is None:
        return [asked(None, epsilon, similarity, threshold)]
    taus = list(tau) if np.iterable(tau) and not isinstance(tau, str) else [tau]
    if not taus or any(one is None for one in taus):
        raise ValueError(f"tau is {tau!r}; a number or a list of numbers is needed, in pixels")
    by_tau = {words.tau: words for words in (asked(one, epsilon, similarity, threshold) for one in taus)}
    return [words for _, words in sorted(by_tau.items())]


def _thresholds(scores: np.ndarray, given: Sequence[float] | None) -> np.ndarray:
    """The score thresholds in rising order; raises ValueError where those given are not numeric."""
    if given is not None:
        thresholds = np.asarray(given)
        if thresholds.dtype.kind not in "iuf" or not thresholds.size or np.isnan(thresholds).any():
            raise ValueError(f"score is {given!r}; a list of thresholds is needed, such as [0.25, 0.5]")
        return np.unique(thresholds.astype(np.float64))
    occurring = np.unique(scores)
    if len(occurring) <= MOST_THRESHOLDS:
        return occurring
    ranked = np.sort(scores)
    return np.unique(ranked[np.linspace(0, len(ranked) - 1, MOST_THRESHOLDS).astype(np.int64)])


def _matched(
    aligned: Aligned, near: Pairs, kept: np.ndarray, rule: Rule, sequence: np.ndarray, n_sequences: int
) -> np.ndarray:
    """Matches the predictions that `kept` marks; returns ALL_SUMS of each sequence, (sequences, sums)."""
    place = np.concatenate([[0], np.cumsum(kept)])  # the position of each kept prediction among those kept
    pairs = near.take(np.flatnonzero(kept[near.prediction] & (near.measure <= rule.largest_cost)))
    starts = place[aligned.predictions.starts], aligned.truth.starts
    entries = Entries(place[pairs.prediction], pairs.truth, pairs.measure, *starts, aligned.names_from(0))
    matched = pairs.take(assign(entries, rule.largest_cost))
    of_match = sequence[aligned.truth.frame[matched.truth]]
    squared, kelvins = rule.errors(np.full(len(of_match), TP), matched.measure)
    missed_squared, missed_kelvins = (float(error[0]) for error in rule.errors(np.array([FN]), np.array([np.nan])))
    tp = np.bincount(of_match, minlength=n_sequences)
    fn = np.bincount(sequence, aligned.truth.counts, n_sequences) - tp
    fp = np.bincount(sequence, np.diff(starts[0]), n_sequences) - tp
    n_missed = fn + fp
    of_matches = (squared, matched.measure, matched.measure * matched.measure, kelvins)
    squared, measured, measured_squared, kelvins = (np.bincount(of_match, values, n_sequences) for values in of_matches)
    kelvins_mse = share(kelvins + missed_kelvins * n_missed, tp + n_missed, nothing=0.0)
    return np.column_stack([tp, fn, fp, squared + missed_squared * n_missed, measured, measured_squared, kelvins_mse])


def _curve(sums: np.ndarray, taus: Sequence[float], thresholds: np.ndarray) -> pd.DataFrame:
    """Makes the table `curve` of a Sweep from sums (taus, thresholds, sequences, sums)."""
    added = dict(zip(ALL_SUMS, sums.sum(axis=2).reshape(-1, len(ALL_SUMS)).T, strict=True))
    key = {"tau": np.repeat(taus, len(thresholds)), "score_threshold": np.tile(thresholds, len(taus))}
    curve = pd.DataFrame(key | values_of(added, CURVE))
    return curve.astype(dict.fromkeys((name for name in CURVE if METRICS[name].written == "count"), np.int64))


def _best(
    curve: pd.DataFrame,
    sums: np.ndarray,
    rules: Sequence[Rule],
    any_truth: bool,
    resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Makes the table `best` of a Sweep from sums (taus, thresholds, sequences, sums)."""
    rows = []
    n_thresholds = sums.shape[1]
    for position, (rule, of_tau) in enumerate(zip(rules, sums, strict=True)):
        points = curve.iloc[position * n_thresholds : (position + 1) * n_thresholds]
        thresholds = points["score_threshold"].to_numpy()
        counts = resampled_sums(of_tau[..., : len(COUNTS)].swapaxes(0, 1), resamples, seed)
        f1 = values_of(dict(zip(COUNTS, np.moveaxis(counts, -1, 0), strict=True)), ["f1"])["f1"]
        best = _highest(points["f1"].to_numpy()[None])[0]
        in_resamples = thresholds[_highest(f1)] if n_thresholds else np.full(resamples, np.nan)
        low_high = np.full((2, 2), np.nan)
        if sums.shape[2] > 1 and n_thresholds:
            low_high = bounds(np.column_stack([in_resamples, f1[:, best]]), confidence)
        at_best = (thresholds[best], points["f1"].iloc[best]) if n_thresholds else (np.nan, np.nan)
        area = average_precision(points) if any_truth else np.nan
        rows.append((rule.tau, area, at_best[0], *low_high[:, 0], at_best[1], *low_high[:, 1]))
    names = [
        "tau",
        "average_precision",
        "score_threshold",
        "score_threshold_low",
        "score_threshold_high",
        "f1",
        "f1_low",
        "f1_high",
    ]
    return pd.DataFrame(rows, columns=names, dtype=np.float64)


def _highest(f1: np.ndarray) -> np.ndarray:
    """The position of the highest f1 in each row of (N, thresholds); the last position where several are equal."""
    if not f1.shape[1]:
        return np.zeros(len(f1), np.int64)
    return f1.shape[1] - 1 - np.argmax(np.nan_to_num(f1[:, ::-1], nan=-1.0), axis=1)


def average_precision(points: pd.DataFrame) -> float:
    """The area under precision over recall, interpolated at all points; null where recall is null.

    `points` is a table with `precision` and `recall` at rising score thresholds.
    """
    recall = points["recall"].to_numpy()[::-1]
    if np.isnan(recall).any():
        return float("nan")
    precision = np.nan_to_num(points["precision"].to_numpy()[::-1])
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(np.diff(recall, prepend=0.0) * highest))
