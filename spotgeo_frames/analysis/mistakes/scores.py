"""How high F1 is, of both sides as they are and after a correction, for `check`.

Most corrections make a submission worse. Their matching stops at the frame from which on F1 cannot become high enough,
even if all objects of the frames to come matched.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...geometries import geometry_of
from ...matching import TAU, Pairs, Rule, WithoutCrowds, compared, crowds, join_pairs, matcher
from ...scoring import registry
from ...support import arrays
from ...tables import Annotations, columns_of, dataframe_of, schema
from .corrections import Correction

# By what share of the gain of another correction, at least, one that is fitted has to gain more.
FITTED_MORE = 0.1


class Score(NamedTuple):
    """F1, and the sides and pairs that it is computed from."""

    f1: float
    counting: WithoutCrowds
    pairs: Pairs


class Suspicion(NamedTuple):
    """One row of the table that `check` returns."""

    suspicion: str
    f1: float
    f1_corrected: float
    advice: str


class Case(NamedTuple):
    """What is searched for mistakes: both sides, how they are compared, whether identities count, and their score."""

    truth: Annotations
    predictions: pd.DataFrame
    rule: Rule
    tracks: bool
    now: Score

    @property
    def counted_truth(self) -> pd.DataFrame:
        """The objects of the truth that count: neither crowds nor ignored."""
        objects = self.truth.objects
        marked = [of for of in crowds.marks(columns_of(objects)) if of is not None]
        return objects[~np.any(marked, axis=0)] if marked else objects

    @property
    def reach(self) -> float:
        """The distance within which coordinates agree, in the unit of places: px, or degrees in the sky."""
        tau = TAU if self.rule.image_tau is None else self.rule.image_tau
        return tau * geometry_of(self.predictions).places_per_unit

    def f1_of(self, predictions: pd.DataFrame) -> float:
        """F1 of other predictions."""
        return score(self.truth, predictions, self.rule).f1

    def of(self, truth: Annotations, predictions: pd.DataFrame) -> "Case":
        """The case of other sides."""
        return self._replace(truth=truth, predictions=predictions, now=score(truth, predictions, self.rule))

    def suspicion(self, suspicion: str, advice: str, corrected: float = np.nan) -> Suspicion:
        """The suspicion of a mistake, with F1 as it is and after a correction, null where that is not known."""
        return Suspicion(suspicion, self.now.f1, corrected, advice)


def score(truth: Annotations, predictions: pd.DataFrame, rule: Rule) -> Score:
    """F1 of any frames and sequences; 0 where there is nothing to count."""
    counting = _counting(truth, predictions, rule)
    return _score(counting, matcher.assigned(counting.sides, rule))


def highest_f1(now: Score, rule: Rule) -> float:
    """An F1 that no correction exceeds that leaves both sides as many objects as they have now."""
    aligned = now.counting.sides.aligned
    if not now.counting.all_count or rule.joints:  # how many objects count depends on where they are
        return 1.0
    n_truth, n_predictions = len(aligned.truth.frame), len(aligned.predictions.frame)
    return _f1(min(n_truth, n_predictions), n_truth + n_predictions)


def best_correction(
    corrections: Iterable[Correction], rule: Rule, now: float, least: float
) -> tuple[Correction, Score] | None:
    """The first correction of the highest F1, with its score; None if no F1 reaches `least`. F1 is `now` without any.

    A number that is fitted gains a little more than the mistake that it resembles, so it has to gain much more.
    """
    best = None
    for correction in corrections:
        try:
            counting = _counting(correction.truth, correction.predictions, rule)
            is_easier = best is not None and correction.fitted and not best[0].fitted
            asked = least + FITTED_MORE * (least - now) if is_easier else least
            pairs = _pairs_reaching(counting, rule, asked)
        except Exception:
            if rule.measure is None:
                raise
            continue  # a wrong guess can make coordinates that the caller's function refuses, such as a latitude of 200
        if pairs is None:
            continue
        found = _score(counting, pairs)
        if found.f1 >= asked and (best is None or found.f1 > best[1].f1):
            best, least = (correction, found), found.f1
    return best


def by_sequence(found: Score) -> pd.DataFrame:
    """How many hits (`tp`) each sequence has, and how many rows of both sides (`n`), and its `f1`."""
    aligned, pairs, _ = crowds.without_uncounted(found.counting, found.pairs)
    sequence, first = arrays.grouped(arrays.row_keys(aligned.frames, ["sequence"]))
    rows = arrays.added_at(sequence, (aligned.truth.counts + aligned.predictions.counts).astype(np.float64), len(first))
    hits = arrays.added_at(sequence[aligned.truth.frame[pairs.truth]], np.ones(len(pairs.truth)), len(first))
    names = pd.Index(pd.Series(aligned.frames["sequence"]).iloc[first], name="sequence")
    return pd.DataFrame({"tp": hits, "n": rows, "f1": 2 * hits / np.maximum(rows, 1)}, index=names)


def gained_objects(before: Score, after: Score, rule: Rule) -> tuple[int, int]:
    """How many true objects have more hits after a correction, and how many have fewer.

    The joints of a person lie together, so one person is one piece of evidence.
    """
    n_hits = []
    for found in (before, after):
        matches = matcher.counted_table(found.counting, found.pairs, rule, ["truth_object"])
        hits = dataframe_of(matches)[[*schema.FRAME_KEY, "truth_object"]][matches["outcome"] == schema.TP]
        n_hits.append(hits.groupby([*schema.FRAME_KEY, "truth_object"]).size())
    gain = n_hits[1].sub(n_hits[0], fill_value=0)
    return int((gain > 0).sum()), int((gain < 0).sum())


def _counting(truth: Annotations, predictions: pd.DataFrame, rule: Rule) -> WithoutCrowds:
    """The sides without crowds, and what is ignored."""
    if not np.isfinite(predictions[schema.coordinates_of(predictions)].to_numpy(np.float64)).all():
        predictions = predictions.head(0)  # a correction may overflow
    return crowds.without_crowds(compared(rule, truth, Annotations(predictions), "union", may_be_disjoint=True), rule)


def _score(counting: WithoutCrowds, pairs: Pairs) -> Score:
    """F1 of the pairs of all frames."""
    aligned, counted, _ = crowds.without_uncounted(counting, pairs)
    return Score(_f1(len(counted.truth), len(aligned.truth.frame) + len(aligned.predictions.frame)), counting, pairs)


def _pairs_reaching(counting: WithoutCrowds, rule: Rule, least: float) -> Pairs | None:
    """The pairs of all frames, or None as soon as F1 cannot reach `least` any more."""
    truth, predictions = counting.sides.aligned.truth, counting.sides.aligned.predictions
    most = np.minimum(truth.counts, predictions.counts)
    n_possible = int(most.sum())
    # Predictions that cover a crowd may not count, nor do ignored truths, nor what these take.
    n_ignored = len(truth.frame) - int(counting.counts.sum())
    n_rows = len(truth.frame) + len(predictions.frame) - len(np.unique(counting.covering.prediction)) - 2 * n_ignored
    if _f1(n_possible, max(n_rows, 2 * n_possible)) < least:
        return None
    parts = []
    for first, last, pairs in matcher.assigned_chunks(counting.sides, rule):
        n_possible -= int(most[first:last].sum()) - len(pairs.truth)
        if _f1(n_possible, max(n_rows, 2 * n_possible)) < least:
            return None
        parts.append(pairs)
    return join_pairs(parts)


def _f1(tp: int, n_rows: int) -> float:
    """F1 of two sides with `n_rows` together; 0 where there is nothing to count."""
    counts = {"tp": np.array([tp]), "fn": np.array([n_rows - 2 * tp]), "fp": np.zeros(1)}
    return float(np.nan_to_num(registry.values_of(counts, ["f1"])["f1"][0]))
