"""What each sequence adds up to at every score threshold, by one rule.

Predictions are kept at the thresholds up to their score, so each has a level: the position of the highest threshold at
which it is kept. What vanishes at a level is added up there, and sums from the highest level down give every level.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...matching.alignment import Aligned
from ...matching.assignment import Entries
from ...matching.crowds import without_crowds
from ...matching.levels import Spans, assign_at_levels
from ...matching.pairs import Pairs
from ...matching.rule import Compared, Rule
from ...scoring.match_sums import NamedSums, share
from ...support.arrays import added_at
from ...tables.columns import as_numbers
from ...tables.schema import FN, TP
from ..certainty.resampling import number_sequences

# Where there are more distinct scores than this, the thresholds are this many scores of evenly spaced ranks.
MOST_THRESHOLDS = 200


class Scored(NamedTuple):
    """Aligned sides without crowds, their near pairs by the widest rule, the thresholds, and each prediction's level.

    A level is a position in `thresholds`, which rise; -1 for predictions that are kept at none. `sequence` is the
    position of each frame's sequence among `n_sequences`. `covering` are the pairs of a prediction and a crowd that it
    covers.
    """

    aligned: Aligned
    pairs: Pairs
    thresholds: np.ndarray
    level: np.ndarray
    sequence: np.ndarray
    n_sequences: int
    covering: Pairs


class LevelSums(NamedTuple):
    """The sums of all sequences at each level, (levels,), and `tp`, `fn` and `fp` of each, (sequences, levels).

    `n_truth` counts all truths.
    """

    of_sequences: NamedSums
    totals: NamedSums
    n_truth: int


def score_levels(sides: Compared, widest: Rule, thresholds: Sequence[float] | None) -> Scored:
    """Takes out crowds, finds the near pairs of all frames by the widest rule, and the level of each prediction.

    Without `thresholds`, every score that occurs is one, or `MOST_THRESHOLDS` scores of evenly spaced ranks. Raises
    ValueError where thresholds are not numeric.
    """
    counting = without_crowds(sides, widest)
    aligned = counting.sides.aligned
    scores = as_numbers(aligned.predictions.table["score"])
    rising = score_thresholds(scores, thresholds, MOST_THRESHOLDS)
    level = np.searchsorted(rising, scores, side="right") - 1
    near, sequences = widest.near_pairs(aligned), number_sequences(aligned.frames)
    return Scored(aligned, near, rising, level, *sequences, counting.covering)


def score_thresholds(scores: np.ndarray, given: Sequence[float] | None, most: int) -> np.ndarray:
    """The score thresholds in rising order; without those given, the scores that occur, at most `most` of them.

    Raises ValueError where those given are not numeric.
    """
    if given is not None:
        thresholds = np.asarray(given)
        numeric = thresholds.ndim == 1 and thresholds.size and thresholds.dtype.kind in "iuf"
        if not numeric or np.isnan(thresholds).any():
            raise ValueError(f"score is {given!r}; a list of thresholds is needed, such as [0.25, 0.5]")
        return np.unique(thresholds.astype(np.float64))
    occurring = np.unique(scores)
    if len(occurring) <= most:
        return occurring
    ranked = np.sort(scores)
    return np.unique(ranked[np.linspace(0, len(ranked) - 1, most).astype(np.int64)])


def level_sums(scored: Scored, rule: Rule) -> LevelSums:
    """The sums at each level by one rule, which may not be wider than that of the near pairs."""
    truth, predictions = scored.aligned.truth, scored.aligned.predictions
    n_levels, n_sequences = len(scored.thresholds), scored.n_sequences
    near = scored.pairs.take(np.flatnonzero(rule.is_near(scored.pairs.measure)))
    costs = rule.cost(near.measure)
    starts = predictions.starts, truth.starts
    entries = Entries(near.prediction, near.truth, costs, *starts, scored.aligned.names_from(0))
    spans = assign_at_levels(entries, scored.level, n_levels, rule.largest_cost)
    measure, sequence = near.measure[spans.pair], scored.sequence[truth.frame[near.truth[spans.pair]]]
    lost_tp = _lost(spans, np.ones(len(measure)), sequence, (n_sequences, n_levels))
    may_be_false = _may_be_false(scored, rule)
    claims = np.flatnonzero((scored.level >= 0) & may_be_false)
    kept = Spans(claims, np.zeros_like(claims), scored.level[claims])
    lost_fp = _lost(kept, np.ones(len(claims)), scored.sequence[predictions.frame[claims]], (n_sequences, n_levels))
    no_fp = may_be_false[near.prediction[spans.pair]].astype(np.float64)
    lost_fp -= _lost(spans, no_fp, sequence, (n_sequences, n_levels))
    tp, fp = map(_left_at_levels, (lost_tp, lost_fp))
    n_truth = added_at(scored.sequence, truth.counts, n_sequences)
    fn = n_truth[:, None] - tp
    of_sequences = {"tp": tp, "fn": fn, "fp": fp}
    totals = {name: counts.sum(axis=0) for name, counts in of_sequences.items()}
    totals["near"] = _left_in_all(spans, measure, n_levels)
    if rule.by_distance:
        squared, kelvins = rule.errors(np.full(len(measure), TP), measure)
        of_miss = [float(error[0]) for error in rule.errors(np.array([FN]), np.array([np.nan]))]
        n_missed = totals["fn"] + totals["fp"]
        totals["squared_error"] = _left_in_all(spans, squared, n_levels) + of_miss[0] * n_missed
        errors = _left_at_levels(_lost(spans, kelvins, sequence, (n_sequences, n_levels))) + of_miss[1] * (fn + fp)
        totals["kelvins_mse"] = share(errors, tp + fn + fp, nothing=0.0).sum(axis=0)
    return LevelSums(of_sequences, totals, int(n_truth.sum()))


def _may_be_false(scored: Scored, rule: Rule) -> np.ndarray:
    """Marks the predictions that cover no crowd; the crowd explains the others where they have no pair."""
    marked = np.ones(len(scored.level), bool)
    marked[scored.covering.prediction[rule.is_near(scored.covering.measure)]] = False
    return marked


def _lost(spans: Spans, values: np.ndarray, sequence: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """How much less there is at the next level: the values of the spans that end at a level (sequences, levels).

    The values of spans that begin at the next level are taken off. `sequence` is that of each span.
    """
    later = np.flatnonzero(spans.first)
    cell = np.concatenate([sequence * shape[1] + spans.last, (sequence * shape[1] + spans.first)[later] - 1])
    return added_at(cell, np.concatenate([values, -values[later]]), shape[0] * shape[1]).reshape(shape)


def _left_at_levels(lost: np.ndarray) -> np.ndarray:
    """How much there is at each level, (..., levels), from how much less there is at the next."""
    left = np.cumsum(lost[..., ::-1], axis=-1)[..., ::-1]
    return np.maximum(left, 0.0)  # what is added and taken off again can leave a rounding error


def _left_in_all(spans: Spans, values: np.ndarray, n_levels: int) -> np.ndarray:
    """The values that there are at each level (levels,), of all sequences together."""
    return _left_at_levels(_lost(spans, values, np.zeros_like(spans.pair), (1, n_levels)))[0]


def highest(values: np.ndarray) -> np.ndarray:
    """The position of the highest value in each row of (N, thresholds); the last position where several are equal."""
    if not values.shape[1]:
        return np.zeros(len(values), np.int64)
    return values.shape[1] - 1 - np.argmax(np.nan_to_num(values[:, ::-1], nan=-1.0), axis=1)
