"""sweep(): the official numbers at every score threshold and every tau.

At each threshold only predictions with that score or more are there, and they are matched anew: a prediction that is
left out may leave its truth to another. What is near is looked for once, at the largest tau.

Average precision is the area under the curve of precision over recall through these re-matched points, precision made
non-increasing (all-point interpolation). It is not that of evaluators that match once, in the order of scores.
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
from ..tables.arrow import Table
from ..tables.inputs import source
from ..tables.messages import counted, key_text
from ..tables.schema import FN, FRAME_KEY, TP
from .resampling import ALL_SUMS, bounds, check_options, number_sequences, resampled_sums

# Of more distinct scores than this, so many of evenly spaced ranks are taken.
MOST_THRESHOLDS = 200

# The metrics of the curve, and the sums, the first of ALL_SUMS, that the best threshold follows from.
CURVE = ["n_predicted", "tp", "fn", "fp", "precision", "recall", "f1", "mse", "kelvins_mse"]
COUNTS = ["tp", "fn", "fp"]


class Sweep(NamedTuple):
    """What `sweep` returns: two plain tables; its docstring says what they hold."""

    curve: pd.DataFrame
    best: pd.DataFrame

    def __repr__(self) -> str:
        return as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        return as_html(self, self._headline())

    def _headline(self) -> list[str]:
        return headline(self.best, ["tau", "threshold", "f1", "average_precision"])


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
    """Matches at every score threshold and every tau.

    Parameters
    ----------
    truth, predictions, frames
        As for `match`, by distance; predictions have a `score`.
    score
        The thresholds; without it every score that occurs, or 200 of evenly spaced ranks where there are more.
    tau, epsilon
        One distance or several, and the tolerance, px; 0 <= epsilon < tau.
    resamples, confidence, seed
        As for `intervals`: whole sequences are resampled.

    Returns
    -------
    Sweep of two DataFrames.

    curve: one row a tau and threshold, both rising: `tau` (px), `threshold`, `n_predicted`, `tp`, `fn`, `fp`,
        `precision`, `recall`, `f1`, `mse` (px²) and `kelvins_mse`, as `summarize` has them of the predictions with that
        score or more.
    best: one row a tau: `tau`, `average_precision` (null without a truth), `threshold` with the highest f1 (the highest
        such threshold), `threshold_low`, `threshold_high` (where it lies in resamples), `f1`, `f1_low`, `f1_high`.

    Raises
    ------
    InputError: as for `match`; no column `score`, or nulls in it.
    ValueError: tau or epsilon out of range, thresholds that are no numbers.
    """
    words = _words(tau, epsilon, similarity, threshold)
    check_options(["f1"], resamples, confidence)
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    _check_scores(sides[1].objects)
    rules = [check_by_distance(rule_of_tables(one, *sides), "sweep") for one in words]
    aligned = at_centres(align(sides[0], sides[1], frames))
    scores = aligned.predictions.table["score"].to_numpy(np.float64)
    thresholds = _thresholds(scores, score)
    sequence, n_sequences = number_sequences(aligned.frames)
    near = all_near_points(aligned, rules[-1].largest_cost)
    sums = np.zeros((len(rules), len(thresholds), n_sequences, len(ALL_SUMS)))
    points = [(row, column) for row in range(len(rules)) for column in range(len(thresholds))]
    for row, column in progress(points, "matching", "point"):
        kept = scores >= thresholds[column]
        sums[row, column] = _matched(aligned, near, kept, rules[row], sequence, n_sequences)
    curve = _curve(sums, [rule.largest_cost for rule in rules], thresholds)
    best = _best(curve, sums, rules, len(aligned.truth.frame) > 0, resamples, confidence, seed)
    notes = {key: value for key, value in rules[0].notes.items() if key != "tau"}
    notes |= {"resamples": resamples, "confidence": confidence, "seed": seed}
    curve.attrs, best.attrs = notes, dict(notes)
    return Sweep(curve, best)


def _check_scores(objects: pd.DataFrame) -> None:
    name = source(objects, "predictions")
    if "score" not in objects:
        raise InputError(f"{name}: column score is missing; a sweep goes through its thresholds")
    null = objects["score"].isna().to_numpy()
    if null.any():
        keys = key_text(objects.loc[null, [*FRAME_KEY, "object"]])
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
    """The thresholds, rising."""
    if given is not None:
        thresholds = np.asarray(given)
        if thresholds.dtype.kind not in "iuf" or not thresholds.size or np.isnan(thresholds).any():
            raise ValueError("score: a list of thresholds is needed, numbers")
        return np.unique(thresholds.astype(np.float64))
    occurring = np.unique(scores)
    if len(occurring) <= MOST_THRESHOLDS:
        return occurring
    ranked = np.sort(scores)
    return np.unique(ranked[np.linspace(0, len(ranked) - 1, MOST_THRESHOLDS).astype(np.int64)])


def _matched(
    aligned: Aligned, near: Pairs, kept: np.ndarray, rule: Rule, sequence: np.ndarray, n_sequences: int
) -> np.ndarray:
    """ALL_SUMS of each sequence, (sequences, sums), with only the marked predictions."""
    number = np.concatenate([[0], np.cumsum(kept)])
    pairs = near.take(np.flatnonzero(kept[near.prediction] & (near.measure <= rule.largest_cost)))
    starts = number[aligned.predictions.starts], aligned.truth.starts
    entries = Entries(number[pairs.prediction], pairs.truth, pairs.measure, *starts)
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
    """The numbers at each tau and threshold, from sums (taus, thresholds, sequences, sums)."""
    added = dict(zip(ALL_SUMS, sums.sum(axis=2).reshape(-1, len(ALL_SUMS)).T, strict=True))
    key = {"tau": np.repeat(taus, len(thresholds)), "threshold": np.tile(thresholds, len(taus))}
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
    """Average precision, and the threshold with the best f1 and how sure it is, of each tau."""
    rows = []
    n_thresholds = sums.shape[1]
    for position, (rule, of_tau) in enumerate(zip(rules, sums, strict=True)):
        points = curve.iloc[position * n_thresholds : (position + 1) * n_thresholds]
        thresholds = points["threshold"].to_numpy()
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
    names = ["tau", "average_precision", "threshold", "threshold_low", "threshold_high", "f1", "f1_low", "f1_high"]
    return pd.DataFrame(rows, columns=names, dtype=np.float64)


def _highest(f1: np.ndarray) -> np.ndarray:
    """The position of the highest f1 of each row, the last of equals."""
    if not f1.shape[1]:
        return np.zeros(len(f1), np.int64)
    return f1.shape[1] - 1 - np.argmax(np.nan_to_num(f1[:, ::-1], nan=-1.0), axis=1)


def average_precision(points: pd.DataFrame) -> float:
    """The area under precision over recall, of points with rising thresholds; null where recall is."""
    recall = points["recall"].to_numpy()[::-1]
    if np.isnan(recall).any():
        return float("nan")
    precision = np.nan_to_num(points["precision"].to_numpy()[::-1])
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(np.diff(recall, prepend=0.0) * highest))
