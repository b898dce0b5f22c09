"""The sums of each sequence at every score threshold, by one matching of all of them.

A score threshold takes away the predictions below it. Those that are left are assigned anew, so pairs are chosen in
spans of thresholds, and what a number adds up to at a threshold is what is not lost up to there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...matching import Aligned, Compared, Entries, Pairs, Rule, Spans, crowds, greedy, levels
from ...scoring import NamedSums, point_sets, sequence_sums
from ...support import arrays
from ...tables import as_numbers, schema
from ..certainty import resampling
from .cross_validation import score_thresholds

# Where there are more distinct scores than this, the thresholds are this many scores of evenly spaced ranks.
MOST_THRESHOLDS = 200

# The most cells, a frame at a threshold each, in memory at once.
CELLS_AT_ONCE = 1 << 20


class Scored(NamedTuple):
    """Aligned sides without crowds, their near pairs by the widest rule, the thresholds, and each prediction's level.

    A level is a position in `thresholds`, which rise; -1 for predictions that are kept at none. `sequence` is the
    position of each frame's sequence among `n_sequences`. `covering` are the pairs of a prediction and a crowd that it
    covers, and `counts` marks the truths that are not ignored.
    """

    aligned: Aligned
    pairs: Pairs
    thresholds: np.ndarray
    level: np.ndarray
    sequence: np.ndarray
    n_sequences: int
    covering: Pairs
    counts: np.ndarray


class LevelSums(NamedTuple):
    """The sums of all sequences at each level, (levels,), and `tp`, `fn` and `fp` of each, (sequences, levels).

    `n_truth` counts all truths.
    """

    of_sequences: NamedSums
    totals: NamedSums
    n_truth: int


def score_levels(sides: Compared, widest: Rule, thresholds: Sequence[float] | None) -> Scored:
    """Takes out crowds, and finds the near pairs of all frames by the widest rule and the level of each prediction.

    Without `thresholds`, every score that occurs is one, or `MOST_THRESHOLDS` scores of evenly spaced ranks. Raises
    ValueError where thresholds are not numeric.
    """
    counting = crowds.without_crowds(sides, widest)
    aligned = counting.sides.aligned
    scores = as_numbers(aligned.predictions.table["score"])
    rising = score_thresholds(scores, thresholds, MOST_THRESHOLDS)
    level = np.searchsorted(rising, scores, side="right") - 1
    near, sequences = widest.near_pairs(aligned), resampling.number_sequences(aligned.frames)
    return Scored(aligned, near, rising, level, *sequences, counting.covering, counting.counts)


def level_sums(scored: Scored, rule: Rule) -> LevelSums:
    """The sums at each level by one rule, which may not be wider than that of the near pairs."""
    truth = scored.aligned.truth
    n_levels = len(scored.thresholds)
    near = scored.pairs.take(np.flatnonzero(rule.is_near(scored.pairs.measure)))
    taken = _chosen(scored, near, rule)  # by truths that count, and by others
    spans = taken.take(scored.counts[near.truth[taken.pair]])
    of_frames, measure = _OfFrames(scored, near, taken, spans, _may_be_false(scored, rule)), near.measure[spans.pair]
    of_sequences = of_frames.counts(scored.sequence, scored.n_sequences)
    tp, fn, fp = of_sequences.values()
    totals = {name: counts.sum(axis=0) for name, counts in of_sequences.items()}
    totals["near"] = _left_in_all(spans, measure, n_levels)
    if rule.by_distance:
        sequence = scored.sequence[truth.frame[near.truth[spans.pair]]]
        squared, kelvins = rule.errors(np.full(len(measure), schema.TP), measure)
        of_miss = [float(error[0]) for error in rule.errors(np.array([schema.FN]), np.array([np.nan]))]
        n_missed = totals["fn"] + totals["fp"]
        totals["squared_error"] = _left_in_all(spans, squared, n_levels) + of_miss[0] * n_missed
        errors = _left_at_levels(_lost(spans, kelvins, sequence, (scored.n_sequences, n_levels)))
        errors += of_miss[1] * (fn + fp)
        totals["kelvins_mse"] = sequence_sums.share(errors, tp + fn + fp, nothing=0.0).sum(axis=0)
    if rule.power is not None:
        totals |= _of_point_sets(of_frames, rule)
    return LevelSums(of_sequences, totals, int(scored.counts.sum()))


class _OfFrames(NamedTuple):
    """What counts in groups of frames at each level: near pairs, the spans at which they are chosen, and false alarms.

    `found` are those of the spans whose truth counts, and `may_be_false` marks the predictions that cover no crowd.
    """

    scored: Scored
    near: Pairs
    taken: Spans
    found: Spans
    may_be_false: np.ndarray

    def counts(self, group: np.ndarray, n_groups: int) -> dict[str, np.ndarray]:
        """`tp`, `fn` and `fp` of each group at each level, (groups, levels); `group` is that of each frame, or -1."""
        scored, near = self.scored, self.near
        truth, predictions = scored.aligned.truth, scored.aligned.predictions
        shape = n_groups, len(scored.thresholds)
        of_truth, of_prediction = group[truth.frame], group[predictions.frame]

        def lost(spans: Spans, values: np.ndarray, of: np.ndarray) -> np.ndarray:
            inside = of >= 0
            return _lost(spans.take(inside), values[inside], of[inside], shape)

        found = self.found
        lost_tp = lost(found, np.ones(len(found.pair)), of_truth[near.truth[found.pair]])
        rows = np.flatnonzero((scored.level >= 0) & self.may_be_false)
        kept = Spans(rows, np.zeros_like(rows), scored.level[rows])
        lost_fp = lost(kept, np.ones(len(rows)), of_prediction[rows])
        no_fp = self.may_be_false[near.prediction[self.taken.pair]].astype(np.float64)
        lost_fp -= lost(self.taken, no_fp, of_truth[near.truth[self.taken.pair]])
        tp, fp = map(_left_at_levels, (lost_tp, lost_fp))
        n_truth = arrays.added_at(of_truth[scored.counts & (of_truth >= 0)], None, n_groups)
        return {"tp": tp, "fn": n_truth[:, None] - tp, "fp": fp}


def _of_point_sets(of_frames: _OfFrames, rule: Rule) -> dict[str, np.ndarray]:
    """The sums of GOSPA, OSPA and their parts over all frames at each level."""
    scored, found = of_frames.scored, of_frames.found
    aligned, n_levels = scored.aligned, len(scored.thresholds)
    frame, first = point_sets.frames_of(aligned)
    left_over, power = rule.left_over_cost, rule.power or 1.0
    near = of_frames.near.take(found.pair)
    costs, of_span = rule.cost(near.measure), frame[aligned.truth.frame[near.truth]]
    totals = dict.fromkeys(point_sets.POINT_SETS, np.zeros(n_levels))
    for low, high in arrays.chunks(np.full(len(first), n_levels), CELLS_AT_ONCE):
        counts = of_frames.counts(np.where((frame >= low) & (frame < high), frame - low, -1), high - low)
        inside = np.flatnonzero((of_span >= low) & (of_span < high))
        lost = _lost(found.take(inside), costs[inside], of_span[inside] - low, (high - low, n_levels))
        values = point_sets.frame_values(
            counts["tp"], counts["fn"], counts["fp"], _left_at_levels(lost), left_over, power
        )
        totals = {name: totals[name] + of.sum(axis=0) for name, of in values.items()}
    return totals | {"n_frames": np.full(n_levels, float(len(first)))}


def _chosen(scored: Scored, near: Pairs, rule: Rule) -> Spans:
    """The near pairs that the rule's assignment chooses at each level."""
    truth, predictions = scored.aligned.truth, scored.aligned.predictions
    costs = rule.cost(near.measure)
    if rule.assignment == "score":  # those below a score threshold choose last, and leave the others what they have
        score = as_numbers(predictions.table["score"])
        pairs = np.flatnonzero(greedy.surest_first(near, costs, score, ~scored.counts))
        pairs = pairs[scored.level[near.prediction[pairs]] >= 0]
        return Spans(pairs, np.zeros_like(pairs), scored.level[near.prediction[pairs]])
    starts = predictions.starts, truth.starts
    entries = Entries(near.prediction, near.truth, costs, *starts, scored.aligned.names_from(0))
    return levels.assign_at_levels(entries, scored.level, len(scored.thresholds), rule.far_of)


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
    return arrays.added_at(cell, np.concatenate([values, -values[later]]), shape[0] * shape[1]).reshape(shape)


def _left_at_levels(lost: np.ndarray) -> np.ndarray:
    """How much there is at each level, (..., levels), from how much less there is at the next."""
    left = np.cumsum(lost[..., ::-1], axis=-1)[..., ::-1]
    return np.maximum(left, 0.0)  # what is added and taken off again can leave a rounding error


def _left_in_all(spans: Spans, values: np.ndarray, n_levels: int) -> np.ndarray:
    """The values that there are at each level (levels,), of all sequences together."""
    return _left_at_levels(_lost(spans, values, np.zeros_like(spans.pair), (1, n_levels)))[0]
