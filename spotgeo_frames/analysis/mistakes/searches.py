"""The search of `check` for a mistake whose correction raises F1: of all sequences, or of those that are far worse.

One mistake at a time is corrected: what a correction gains is no sign of a mistake that gains less. Where F1 of some
sequences is far below that of the others, the same search looks at them alone, because a mistake may be in them only.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ...geometries import centres, geometry_of
from ...tables import Annotations, messages, schema
from .corrections import (
    GAIN,
    Correction,
    Corrections,
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
from .scores import Case, Score, Suspicion, best_correction, by_sequence, gained_objects, highest_f1

# Mistakes that the tables show, and those that are suspected only because correcting them helps: first those without a
# number to choose. Only tracks have frames that begin at any number.
SHOWN: list[Corrections] = [of_names, of_visibility, of_categories, of_frames_beyond]
GUESSED: list[Corrections] = [of_places, of_numbers, of_joints, of_frame_shifts, of_sequences, of_offsets_and_scales]
GUESSED_OF_TRACKS: list[Corrections] = [of_first_frames, *GUESSED]

# The least gain in F1 from a correction, as a share of what is missing to the highest possible one; more than a
# difference of two F1 can be rounded by.
SHARE_OF_MISSING, ROUNDING = 0.25, 1e-9

# F1 of a sequence that is far worse, as a share of that of the upper quarter; the F1 that it has to have after the
# correction, as a share of that of the others; and how many times as high it has to be as before, and as by chance.
FAR_WORSE, AS_GOOD, TIMES = 0.5, 0.7, 2.0

# A correction that loses more than this share of the hits that it gains is one of some sequences.
MOST_LOST = 0.2

# How many times the root of the lost hits a correction has to gain more: nearly four standard deviations of a shuffle.
SHUFFLED = 4.0


def corrected_mistakes(case: Case, told: frozenset[str] = frozenset()) -> Iterator[Suspicion]:
    """The mistakes that the tables show, and then the one whose correction helps most, if it helps enough.

    Each is searched for where those before it, which are `told`, are corrected.
    """
    for correction in (
        found for corrections in SHOWN for found in corrections(case.truth, case.predictions, case.reach)
    ):
        if correction.suspicion in told:
            continue
        without = case.of(correction.truth, correction.predictions)
        if without.now.f1 - case.now.f1 >= correction.least_gain:
            yield case.suspicion(correction.suspicion, correction.advice, without.now.f1)
            yield from corrected_mistakes(without, told | {correction.suspicion})
            return
    guess = _best_guess(case)
    if guess is None:
        yield from _in_some_sequences(case)
        return
    correction, after = guess
    gained = (by_sequence(after)["tp"] - by_sequence(case.now)["tp"]).dropna()
    n_gained, n_lost = gained.clip(lower=0).sum(), -gained.clip(upper=0).sum()
    is_of_some = n_lost > MOST_LOST * n_gained and enough("other sequences", int((gained < 0).sum()))
    if is_of_some and correction.suspicion != EXCHANGED and len(correction.predictions) == len(case.predictions):
        yield _suspicion_of_some(case, correction, gained.index[gained > 0])
    else:
        yield case.suspicion(correction.suspicion, correction.advice, after.f1)


def _suspicion_of_some(case: Case, correction: Correction, mended: pd.Index) -> Suspicion:
    """What is told of a correction that helps in these sequences only; it may have the predictions of some only."""
    predictions, moved = case.predictions, correction.predictions["sequence"].isin(mended)
    both = pd.concat(
        [predictions[~predictions["sequence"].isin(mended)], correction.predictions[moved]], ignore_index=True
    )
    n = pd.concat([case.truth.objects["sequence"], predictions["sequence"]]).nunique()
    in_them = f"in {len(mended):,} of {n:,} sequences"
    advice = f"{correction.advice}; {in_them}: {messages.first_listed(mended)}"
    return case.suspicion(f"{correction.suspicion} {in_them}", advice, case.f1_of(both))


def _best_guess(case: Case, evidence: str = "gained objects") -> tuple[Correction, Score] | None:
    """The correction that helps most, if it helps enough, and its score; `evidence` says what is enough."""
    now, rule = case.now, case.rule
    highest = highest_f1(now, rule)
    needed = max(GAIN, min(SHARE_OF_MISSING * (highest - now.f1), now.f1))
    if highest - now.f1 < needed:
        return None
    searched = GUESSED_OF_TRACKS if case.tracks else GUESSED
    guesses = (guess for corrections in searched for guess in corrections(case.truth, case.predictions, case.reach))
    found = best_correction(guesses, rule, now.f1, now.f1 + needed - ROUNDING)
    if found is None or found[1].f1 - now.f1 < needed:
        return None
    n_gained, n_lost = gained_objects(now, found[1], rule)
    # Near the limit of the rule any correction shuffles hits, and the best of many gains some by chance.
    by_chance = SHUFFLED * np.sqrt(n_lost)
    return found if enough(evidence, n_gained - n_lost - by_chance) else None


def _in_some_sequences(case: Case) -> Iterator[Suspicion]:
    """The mistake that only some sequences have."""
    scores = by_sequence(case.now)
    is_bad = scores["f1"] < FAR_WORSE * scores["f1"].quantile(0.75)
    n_bad, n_others = int(is_bad.sum()), int((~is_bad).sum())
    if not enough("worse sequences", n_bad) or not enough("other sequences", n_others):
        return
    sides = _of_sequences(case, scores.index[is_bad])
    if not len(sides[0].objects) or not len(sides[1]):
        return
    bad = case.of(*sides)
    guess = _best_guess(bad, "gained objects there")
    if guess is None:
        return
    correction, after = guess
    as_good = AS_GOOD * 2 * scores["tp"][~is_bad].sum() / scores["n"][~is_bad].sum()
    if after.f1 < TIMES * bad.now.f1:
        return
    by_chance = TIMES * bad.f1_of(_elsewhere(bad.predictions))
    if correction.suspicion != EXCHANGED and after.f1 < max(as_good, by_chance):
        return
    gained = by_sequence(after)["f1"].sub(by_sequence(bad.now)["f1"], fill_value=0)
    yield _suspicion_of_some(case, correction, gained.index[(gained > 0).to_numpy()])


def _of_sequences(case: Case, names: pd.Index) -> tuple[Annotations, pd.DataFrame]:
    """The sides in these sequences only."""
    truth, predictions = case.truth, case.predictions
    objects, found = (
        side[side["sequence"].isin(names)].reset_index(drop=True) for side in (truth.objects, predictions)
    )
    frames = None if truth.frames is None else truth.frames[truth.frames["sequence"].isin(names)]
    return truth._replace(objects=objects, frames=frames), found


def _elsewhere(predictions: pd.DataFrame) -> pd.DataFrame:
    """The same predictions half an image farther, where only chance makes hits; what leaves it comes in again.

    There are none if nothing tells how they are moved.
    """
    geometry = geometry_of(predictions)
    if not geometry.can_move or geometry.places_in is not None:
        return predictions.head(0)
    back = []
    for along in centres(predictions):
        of_objects = pd.Series(along).groupby([predictions[key].to_numpy() for key in schema.OBJECT_KEY])
        values = of_objects.transform("first").to_numpy()
        width = np.ptp(values) or 1.0
        back.append(np.where(values < values.min() + width / 2, -width / 2, width / 2))
    return geometry.shifted(predictions, *back)
