"""The metrics of tracks at every score threshold, for `sweep(tracks=True)`.

Similar pairs are found once, among all predictions. At each threshold the pairs of the predictions that are left are
selected, and all metrics are computed from them anew, because identities are matched over whole sequences.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...matching import (
    PAIRS_AT_ONCE,
    Aligned,
    FrameRule,
    MatchOptions,
    Pairs,
    Rule,
    alignment,
    crowds,
    join_pairs,
    left_out,
)
from ...scoring import MetricSet, NamedSums, Sums, registry
from ...support import arrays, work
from ...tables import Annotations, Columns, SideColumns, as_numbers, schema, side_columns
from ...tracking import (
    ALPHAS,
    HOTA_ALONE,
    HOTA_METRICS,
    check_keypoints,
    counted_in_tracks,
    evaluate_poses,
    evaluate_tracks,
    hota_alone,
    identify_whole,
    near_joints,
    rule_of_sides,
    similar_chunks,
    sums_of_similar,
    track_sums,
    with_predictions,
)
from ..certainty import reasons
from .cross_validation import best_threshold, score_thresholds

# Where there are more distinct scores than this, the thresholds are this many scores of evenly spaced ranks.
MOST_THRESHOLDS = 50

# HOTA as a function of its own sums; sequences weigh by their objects on both sides.
HOTA = HOTA_METRICS["HOTA"]._replace(
    value=lambda sums: hota_alone(sums)["HOTA"].mean(axis=-1),
    weight=lambda sums: (2 * sums["hota_tp"] + sums["hota_fn"] + sums["hota_fp"])[..., 0],
)

COUNTS = ["n_predicted", "tp", "fn", "fp"]


# From marked predictions to what those add up to, and how many matches, misses and false alarms there are.
Evaluate = Callable[[np.ndarray], tuple[Sums, Mapping[str, int]]]


class Way(NamedTuple):
    """How tracks are evaluated, or poses.

    `evaluate` takes the aligned sides, and gives a function from the predictions that are left, which it marks, to what
    they add up to. `columns` are the metrics of the curve, which follow from the added sums by `metrics`.
    """

    rule: Rule
    columns: Sequence[str]
    evaluate: Callable[[Aligned], Evaluate]
    metrics: MetricSet


def way_of_tracks(options: MatchOptions, truth: Annotations, predictions: Annotations, frames: FrameRule) -> Way:
    """How these tables are evaluated: joints as poses, anything else as tracks.

    Raises InputError if the options or the columns do not fit, as `track` and `pose` do.
    """
    rule, sides = rule_with_identities(options, truth, predictions), (side_columns(truth), side_columns(predictions))
    if rule.by_head_sizes:
        return Way(rule, ["HOTA", "mota"], partial(_evaluate_poses, rule, *sides, frames), track_sums.POSES)
    return Way(rule, ["HOTA", "MOTA", "IDF1"], partial(_evaluate_tracks, rule), track_sums.TRACKS)


def rule_with_identities(options: MatchOptions, truth: Annotations, predictions: Annotations) -> Rule:
    """The rule of `pose` for joints, and that of `track` for anything else; raises InputError as `way_of_tracks`."""
    rule = rule_of_sides(truth, predictions, options, tracks=True)
    if rule.by_head_sizes:
        check_keypoints(truth, predictions)
    return replace(rule, identity="object")


def _evaluate_tracks(rule: Rule, aligned: Aligned) -> Evaluate:
    """What `track` adds up; frames that have lost all their objects change nothing of that.

    Which predictions a crowd explains, or an ignored truth takes, depends on which are left, so with such truths all is
    evaluated anew.
    """
    if any(mark in aligned.truth.table for mark in crowds.MARKS):
        return partial(_evaluate_anew, rule, aligned)
    tracks, similar = identify_whole(aligned, rule), list(similar_chunks(aligned, rule))
    tracks = tracks._replace(aligned=_without_other_columns(aligned))

    def evaluate(kept: np.ndarray) -> tuple[Sums, Mapping[str, int]]:
        _, sums = sums_of_similar(with_predictions(tracks, kept), _in_fewer([_left(chunk, kept) for chunk in similar]))
        return _counted(sums)

    return evaluate


def _evaluate_anew(rule: Rule, aligned: Aligned, kept: np.ndarray) -> tuple[Sums, Mapping[str, int]]:
    """What `track` adds up of the predictions that are left, where not every truth may count."""
    left = alignment.select_rows(aligned, np.ones(len(aligned.truth.frame), bool), kept)
    return _counted(evaluate_tracks(counted_in_tracks(left, rule), rule)[2])


def _counted(sums: Sums) -> tuple[Sums, Mapping[str, int]]:
    """Sums of tracks, and the counts of CLEAR."""
    return sums, {name: int(sums.values[name.upper()].sum()) for name in ("tp", "fn", "fp")}


def _without_other_columns(aligned: Aligned) -> Aligned:
    """The sides without the columns of predictions that would be selected at each threshold for nothing."""
    predictions = aligned.predictions
    table = predictions.table.select(schema.coordinates_of(predictions.table))
    return aligned._replace(predictions=predictions._replace(table=table))


def _evaluate_poses(
    rule: Rule, truth: SideColumns, predictions: SideColumns, frames: FrameRule, whole: Aligned
) -> Evaluate:
    """What `pose` adds up, average precision aside.

    Keypoint HOTA also counts frames without any joint, so the sides are aligned anew: unless a table lists them, frames
    that have lost all their joints are gone.
    """
    similar = near_joints(whole)

    def evaluate(kept: np.ndarray) -> tuple[Sums, Mapping[str, int]]:
        rows = np.ones(len(predictions.objects), bool)
        rows[whole.predictions.row[~kept]] = False
        left = predictions._replace(objects=predictions.objects.filter(rows))
        aligned = everybody = alignment.align(truth, left, frames, may_be_disjoint=True)
        if any(mark in truth.objects for mark in crowds.MARKS):  # what they take depends on what is left
            aligned = counted_in_tracks(aligned, rule)
            pairs = near_joints(aligned)
        else:
            pairs = _left(similar, kept)
        found = evaluate_poses(aligned, pairs, "object", everybody=everybody)
        tp = len(found.matched.pairs.truth)
        counts = {"tp": tp, "fn": len(aligned.truth.frame) - tp, "fp": len(aligned.predictions.frame) - tp}
        names = found.keypoints.sequence_names
        values, of_all = found.totals | found.clear, Columns({}, n_rows=1)
        return Sums(track_sums.POSES, of_all, np.zeros(len(names), np.int64), names, values, {}), counts

    return evaluate


def _left(pairs: Pairs, kept: np.ndarray) -> Pairs:
    """The pairs of the marked predictions, as rows of these."""
    left = pairs.take(np.flatnonzero(kept[pairs.prediction]))
    return left._replace(prediction=(np.cumsum(kept) - 1)[left.prediction])


def _in_fewer(parts: list[Pairs]) -> list[Pairs]:
    """The same pairs in fewer parts, which are still small enough for the processor's cache."""
    sizes = np.array([len(part.truth) for part in parts], np.int64)
    return [join_pairs(parts[first:last]) for first, last in arrays.chunks(sizes, PAIRS_AT_ONCE)]


def sweep_tracks(
    options: Sequence[MatchOptions],
    by_tau: bool,
    truth: Annotations,
    predictions: Annotations,
    score: Sequence[float] | None,
    frames: FrameRule,
    confidence: float,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[Hashable, Any], str | None]:
    """The tables `curve` and `best` of a Sweep of tracks, the notes of the rule, and a warning or None.

    The tables have the rows of each of the options in turn, and `by_tau` a column with that of each.
    """
    ways = [way_of_tracks(of_limit, truth, predictions, frames) for of_limit in options]
    aligned = alignment.align(truth, predictions, frames)
    scores = as_numbers(aligned.predictions.table["score"])
    thresholds = score_thresholds(scores, score, MOST_THRESHOLDS)
    curves, rows = [], []
    for way in ways:
        curve, sums = _swept(way, aligned, scores, thresholds)
        best = best_threshold(curve, HOTA, sums, reasons.FEWEST_COMBINED, confidence, seed)
        if by_tau:
            assert way.rule.tau is not None  # options with a tau are those of a distance
            curve.insert(0, "tau", way.rule.tau)
            best = {"tau": way.rule.tau} | best
        curves.append(curve)
        rows.append(best)
    notes = {**ways[0].rule.notes, **aligned.notes}
    notes = {key: value for key, value in notes.items() if key != "tau" or len(ways) == 1}
    warning = left_out.left_out(aligned, ways[0].rule)
    return pd.concat(curves, ignore_index=True), pd.DataFrame(rows, dtype=np.float64), notes, warning


def _swept(way: Way, aligned: Aligned, scores: np.ndarray, thresholds: np.ndarray) -> tuple[pd.DataFrame, NamedSums]:
    """The rows of `curve` at each score threshold, and what HOTA adds up to there, (sequences, thresholds, alphas)."""
    evaluate = way.evaluate(aligned)
    names = pd.unique(pd.Series(aligned.frames["sequence"], copy=False))
    rows, sums = [], np.zeros((len(names), len(thresholds), len(HOTA_ALONE), len(ALPHAS)))
    for position, threshold in enumerate(work.progress(thresholds.tolist(), "evaluating", "threshold")):
        found, counts = evaluate(scores >= threshold)
        totals = {name: values.sum(axis=0) for name, values in found.values.items()}
        rows.append({**counts, **way.metrics.compute(totals, way.columns)})
        of_sequence = pd.Index(names).get_indexer(pd.Index(found.sequence))
        sums[of_sequence, position] = np.stack([found.values[name] for name in HOTA_ALONE], axis=1)
    by_name = dict(zip(HOTA_ALONE, np.moveaxis(sums, 2, 0), strict=True))
    return _curve(thresholds, rows, way.columns), by_name


def _curve(thresholds: np.ndarray, rows: list[dict[str, Any]], metrics: Sequence[str]) -> pd.DataFrame:
    """The table `curve`, from the counts and metrics at each threshold."""
    table = pd.DataFrame(rows, columns=["tp", "fn", "fp", *metrics], dtype=np.float64)
    counts = {name: table[name].to_numpy() for name in ("tp", "fn", "fp")}
    shares = registry.values_of(counts, ["precision", "recall", "f1"])
    columns = {"score_threshold": thresholds, "n_predicted": counts["tp"] + counts["fp"]} | counts | shares
    curve = pd.DataFrame(columns | {name: table[name] for name in metrics})
    return curve.astype(dict.fromkeys(COUNTS, np.int64))
