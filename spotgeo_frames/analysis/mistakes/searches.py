"""The search of `check` for a mistake whose correction raises F1: of all sequences, or of those that are far worse.

One mistake at a time is corrected: what a correction gains is no sign of a mistake that gains less. Where F1 of some
sequences is far below that of the others, the same search looks at them alone, because a mistake may be in them only.

How high F1 is after a correction, for `check`.

Most corrections make a submission worse. Their matching stops at the frame from which on F1 cannot become high enough,
even if all objects of the frames to come matched.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...matching.crowds import WithoutCrowds, without_crowds, without_explained
from ...matching.matcher import assigned, assigned_chunks, counted_table
from ...matching.pairs import Pairs, join_pairs
from ...matching.rule import TAU, Rule, compared
from ...scoring.registry import values_of
from ...support.arrays import added_at, grouped, row_keys
from ...tables.annotations import Annotations
from ...tables.columns import dataframe_of
from ...tables.messages import first_listed
from ...tables.schema import FRAME_KEY, OBJECT_KEY, TP
from .corrections import (
    GAIN,
    Correction,
    Corrections,
    geometry,
    of_first_frames,
    of_frames_beyond,
    of_joints,
    of_names,
    of_numbers,
    of_places,
    of_visibility,
)
from .evidence import enough
from .fitted_corrections import EXCHANGED, of_categories, of_frame_shifts, of_offsets_and_scales, of_sequences
from .signs import Suspicion

# By what share of the gain of another correction, at least, one that is fitted has to gain more.
FITTED_MORE = 0.1


class Score(NamedTuple):
    """F1, and the sides and pairs that it is computed from."""

    f1: float
    counting: WithoutCrowds
    pairs: Pairs


def score(truth: Annotations, claims: pd.DataFrame, rule: Rule) -> Score:
    """F1 of any frames and sequences; 0 where there is nothing to count."""
    counting = _counting(truth, claims, rule)
    return _score(counting, assigned(counting.sides, rule))


def highest_f1(now: Score, rule: Rule) -> float:
    """An F1 that no correction exceeds that leaves both sides as many objects as they have now."""
    aligned = now.counting.sides.aligned
    if now.counting.n_crowds or rule.of_whole_poses:  # how many objects count depends on where they are
        return 1.0
    n_truth, n_claims = len(aligned.truth.frame), len(aligned.predictions.frame)
    return _f1(min(n_truth, n_claims), n_truth + n_claims)


def best_correction(
    corrections: Iterable[Correction], rule: Rule, now: float, least: float
) -> tuple[Correction, Score] | None:
    """The first correction of the highest F1, with its score; None if no F1 reaches `least`. F1 is `now` without any.

    A number that is fitted gains a little more than the mistake that it resembles, so it has to gain much more.
    """
    best = None
    for correction in corrections:
        try:
            counting = _counting(correction.truth, correction.claims, rule)
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
    aligned = found.counting.sides.aligned
    sequence, first = grouped(row_keys(aligned.frames, ["sequence"]))
    rows = added_at(sequence, (aligned.truth.counts + aligned.predictions.counts).astype(np.float64), len(first))
    hits = added_at(sequence[aligned.truth.frame[found.pairs.truth]], np.ones(len(found.pairs.truth)), len(first))
    names = pd.Index(pd.Series(aligned.frames["sequence"]).iloc[first], name="sequence")
    return pd.DataFrame({"tp": hits, "n": rows, "f1": 2 * hits / np.maximum(rows, 1)}, index=names)


def gained_objects(before: Score, after: Score, rule: Rule) -> tuple[int, int]:
    """How many true objects have more hits after a correction, and how many have fewer.

    The joints of a person lie together, so one person is one piece of evidence.
    """
    n_hits = []
    for found in (before, after):
        matches = counted_table(found.counting, found.pairs, rule, ["truth_object"])
        hits = dataframe_of(matches)[[*FRAME_KEY, "truth_object"]][matches["outcome"] == TP]
        n_hits.append(hits.groupby([*FRAME_KEY, "truth_object"]).size())
    gain = n_hits[1].sub(n_hits[0], fill_value=0)
    return int((gain > 0).sum()), int((gain < 0).sum())


def _counting(truth: Annotations, claims: pd.DataFrame, rule: Rule) -> WithoutCrowds:
    """The sides without crowds."""
    if not np.isfinite(claims[geometry(claims)].to_numpy()).all():
        claims = claims.head(0)  # a correction may overflow
    return without_crowds(compared(rule, truth, Annotations(claims), "union", may_be_disjoint=True), rule)


def _score(counting: WithoutCrowds, pairs: Pairs) -> Score:
    """F1 of the pairs of all frames."""
    aligned, _, _ = without_explained(counting, pairs)
    return Score(_f1(len(pairs.truth), len(aligned.truth.frame) + len(aligned.predictions.frame)), counting, pairs)


def _pairs_reaching(counting: WithoutCrowds, rule: Rule, least: float) -> Pairs | None:
    """The pairs of all frames, or None as soon as F1 cannot reach `least` any more."""
    truth, predictions = counting.sides.aligned.truth, counting.sides.aligned.predictions
    most = np.minimum(truth.counts, predictions.counts)
    n_possible = int(most.sum())
    # Predictions that cover a crowd may not count.
    n_rows = len(truth.frame) + len(predictions.frame) - len(np.unique(counting.covering.prediction))
    if _f1(n_possible, n_rows) < least:
        return None
    parts = []
    for first, last, pairs in assigned_chunks(counting.sides, rule):
        n_possible -= int(most[first:last].sum()) - len(pairs.truth)
        if _f1(n_possible, n_rows) < least:
            return None
        parts.append(pairs)
    return join_pairs(parts)


def _f1(tp: int, n_rows: int) -> float:
    """F1 of two sides with `n_rows` together; 0 where there is nothing to count."""
    counts = {"tp": np.array([tp]), "fn": np.array([n_rows - 2 * tp]), "fp": np.zeros(1)}
    return float(np.nan_to_num(values_of(counts, ["f1"])["f1"][0]))


# Mistakes that the tables show, and those that are suspected only because correcting them helps: first those without a
# number to choose. Only tracks have frames that begin at any number.
SHOWN: list[Corrections] = [of_names, of_visibility, of_categories, of_frames_beyond]
GUESSED: list[Corrections] = [of_places, of_numbers, of_joints, of_frame_shifts, of_sequences, of_offsets_and_scales]
GUESSED_OF_TRACKS: list[Corrections] = [of_first_frames, *GUESSED]

# The least gain in F1 from a correction, as a share of 1 - F1; more than a difference of two F1 can be rounded by.
SHARE_OF_MISSING, ROUNDING = 0.25, 1e-9

# F1 of a sequence that is far worse, as a share of that of the upper quarter; the F1 that it has to have after the
# correction, as a share of that of the others; and how many times as high it has to be as before, and as by chance.
FAR_WORSE, AS_GOOD, TIMES = 0.5, 0.7, 2.0

# A correction that loses more than this share of the hits that it gains is one of some sequences.
MOST_LOST = 0.2

# How many times the root of the lost hits a correction has to gain more: nearly four standard deviations of a shuffle.
SHUFFLED = 4.0


def reach_of(rule: Rule) -> float:
    """The distance (px) within which coordinates agree."""
    return TAU if rule.image_tau is None else rule.image_tau


def corrected_mistakes(
    truth: Annotations, claims: pd.DataFrame, now: Score, rule: Rule, tracks: bool, told: frozenset[str] = frozenset()
) -> Iterator[Suspicion]:
    """The mistakes that the tables show, and then the one whose correction helps most, if it helps enough.

    Each is searched for where those before it, which are `told`, are corrected.
    """
    for correction in (found for corrections in SHOWN for found in corrections(truth, claims, reach_of(rule))):
        if correction.suspicion in told:
            continue
        after = score(correction.truth, correction.claims, rule)
        if after.f1 - now.f1 >= correction.least_gain:
            yield Suspicion(correction.suspicion, now.f1, after.f1, correction.advice)
            sides, told = (correction.truth, correction.claims), told | {correction.suspicion}
            yield from corrected_mistakes(*sides, after, rule, tracks, told)
            return
    guess = _best_guess(truth, claims, now, rule, tracks)
    if guess is None:
        yield from _in_some_sequences(truth, claims, now, rule, tracks)
        return
    correction, after = guess
    gained = (by_sequence(after)["tp"] - by_sequence(now)["tp"]).dropna()
    n_gained, n_lost = gained.clip(lower=0).sum(), -gained.clip(upper=0).sum()
    is_of_some = n_lost > MOST_LOST * n_gained and enough("other sequences", int((gained < 0).sum()))
    if is_of_some and correction.suspicion != EXCHANGED and len(correction.claims) == len(claims):
        yield _suspicion_of_some(truth, claims, now, rule, correction, gained.index[gained > 0])
    else:
        yield Suspicion(correction.suspicion, now.f1, after.f1, correction.advice)


def _suspicion_of_some(
    truth: Annotations, claims: pd.DataFrame, now: Score, rule: Rule, correction: Correction, mended: pd.Index
) -> Suspicion:
    """What is told of a correction that helps in these sequences only; its claims may be those of some sequences."""
    moved = correction.claims["sequence"].isin(mended)
    both = pd.concat([claims[~claims["sequence"].isin(mended)], correction.claims[moved]], ignore_index=True)
    n = pd.concat([truth.objects["sequence"], claims["sequence"]]).nunique()
    in_them = f"in {len(mended):,} of {n:,} sequences"
    advice = f"{correction.advice}; {in_them}: {first_listed(mended)}"
    return Suspicion(f"{correction.suspicion} {in_them}", now.f1, score(truth, both, rule).f1, advice)


def _best_guess(
    truth: Annotations, claims: pd.DataFrame, now: Score, rule: Rule, tracks: bool, evidence: str = "gained objects"
) -> tuple[Correction, Score] | None:
    """The correction that helps most, if it helps enough, and its score; `evidence` says what is enough."""
    needed = max(GAIN, min(SHARE_OF_MISSING * (1 - now.f1), now.f1))
    if highest_f1(now, rule) - now.f1 < needed:
        return None
    searched = GUESSED_OF_TRACKS if tracks else GUESSED
    guesses = (guess for corrections in searched for guess in corrections(truth, claims, reach_of(rule)))
    found = best_correction(guesses, rule, now.f1, now.f1 + needed - ROUNDING)
    if found is None or found[1].f1 - now.f1 < needed:
        return None
    n_gained, n_lost = gained_objects(now, found[1], rule)
    # Near the limit of the rule any correction shuffles hits, and the best of many gains some by chance.
    by_chance = SHUFFLED * np.sqrt(n_lost)
    return found if enough(evidence, n_gained - n_lost - by_chance) else None


def _in_some_sequences(
    truth: Annotations, claims: pd.DataFrame, now: Score, rule: Rule, tracks: bool
) -> Iterator[Suspicion]:
    """The mistake that only some sequences have."""
    scores = by_sequence(now)
    is_bad = scores["f1"] < FAR_WORSE * scores["f1"].quantile(0.75)
    n_bad, n_others = int(is_bad.sum()), int((~is_bad).sum())
    if not enough("worse sequences", n_bad) or not enough("other sequences", n_others):
        return
    bad = _of_sequences(truth, claims, scores.index[is_bad])
    if not len(bad[0].objects) or not len(bad[1]):
        return
    before = score(*bad, rule)
    guess = _best_guess(*bad, before, rule, tracks, "gained objects there")
    if guess is None:
        return
    correction, after = guess
    as_good = AS_GOOD * 2 * scores["tp"][~is_bad].sum() / scores["n"][~is_bad].sum()
    if after.f1 < TIMES * before.f1:
        return
    by_chance = TIMES * score(bad[0], _elsewhere(bad[1]), rule).f1
    if correction.suspicion != EXCHANGED and after.f1 < max(as_good, by_chance):
        return
    gained = by_sequence(after)["f1"].sub(by_sequence(before)["f1"], fill_value=0)
    yield _suspicion_of_some(truth, claims, now, rule, correction, gained.index[(gained > 0).to_numpy()])


def _of_sequences(truth: Annotations, claims: pd.DataFrame, names: pd.Index) -> tuple[Annotations, pd.DataFrame]:
    """The sides in these sequences only."""
    objects, found = (side[side["sequence"].isin(names)].reset_index(drop=True) for side in (truth.objects, claims))
    frames = None if truth.frames is None else truth.frames[truth.frames["sequence"].isin(names)]
    return truth._replace(objects=objects, frames=frames), found


def _elsewhere(claims: pd.DataFrame) -> pd.DataFrame:
    """The same predictions half an image farther, where only chance makes hits; what leaves it comes in again."""
    moved = {}
    for axis in "xy":
        values = claims[axis].groupby([claims[key] for key in OBJECT_KEY]).transform("first")
        width = np.ptp(values) or 1.0
        moved[axis] = claims[axis] + np.where(values < values.min() + width / 2, width / 2, -width / 2)
    return claims.assign(**moved)
