"""Signs of mistakes that F1 does not show, or that no correction of the tables undoes.

Each function yields the mistake that it finds, with F1 as it is and after a correction, null where that is not known.

Signs of objects that are listed several times, for `check`: at the same place, or near it, as without suppression.

Where each object is found several times, predictions have others closer by than an image full of objects has: within a
radius there are far more than within the ring around it, for the same area. Of crowded truths, this is so as well.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...geometries import Rows, geometry_of
from ...matching import left_out
from ...support import special_functions
from ...tables import columns_of, messages, schema
from .corrections import GAIN
from .evidence import enough, near, of_one_joint, places_of
from .scores import Case, Suspicion

# The confidence that a sign is not chance.
SURE = 0.999

# How rare so many sequences without predictions have to be.
RARE = 1e-4

# What share of the usual count each sequence with predictions has, at least, where others have none, if several are
# expected in a frame; and the least variance of what sequences share, as a share of the squared mean.
LEAST_OF_USUAL, EXPECTED, LEAST_SCATTER = 0.2, 3.0, 0.03

# How often the usual count is mended.
STEPS = 50

# The least share of frames with more truths than any frame has predictions for which a cap is suspected.
LEAST_CAPPED = 0.02

# In what share of such frames, at least, there are as many predictions as a cap allows; and where it allows fewer than
# so many, which chance often reaches.
FULL, NEARLY_ALL_FULL, FEW_IN_FRAME = 0.5, 0.8, 4

# In what share of sequences, at least, the counts of the side that is the truth do not change; and in what share of
# those of the other side, at most.
STEADY, UNSTEADY = 0.9, 0.6


def nothing_shared(case: Case) -> Iterator[Suspicion]:
    """Reports that there are no predictions, or that they share no sequence or no frame with the truth."""
    truth, predictions = case.truth.objects, case.predictions
    if not len(predictions) and len(truth):
        yield case.suspicion("there are no predictions", "check that it is the right file")
        return
    sequences = [side["sequence"].unique() for side in (truth, predictions)]
    if len(truth) and not {*sequences[0]} & {*sequences[1]}:
        names = [", ".join(map(str, of_side[:3])) for of_side in sequences]
        advice = f"name sequences as the truth does: it has {names[0]}, ..., the predictions have {names[1]}, ..."
        yield case.suspicion("no sequence is the truth's", advice)
    elif len(truth) and not len(truth[schema.FRAME_KEY].drop_duplicates().merge(predictions[schema.FRAME_KEY])):
        frames = [", ".join(map(str, side["frame"].unique()[:3])) for side in (truth, predictions)]
        which = f"the truth has {frames[0]}, ..., the predictions have {frames[1]}, ..."
        advice = f"number frames as the truth does: {which}; align_times() pairs frames that are times"
        yield case.suspicion("no frame has both truths and predictions", advice)


def no_class_shared(case: Case) -> Iterator[Suspicion]:
    """Reports that both sides have categories, and none in common."""
    names = left_out.classes_apart(case.now.counting.sides.aligned)
    if names is not None:
        advice = f"name classes as the truth does: it has {names[0]}, the predictions have {names[1]}"
        yield case.suspicion("no class is the truth's", advice)


def marked(case: Case) -> Iterator[Suspicion]:
    """Reports predictions that are marked as crowds or as ignored, which only truths can be."""
    found = left_out.marked(columns_of(case.predictions))
    text = left_out.marked_text(found)
    if text is not None:
        counting = np.ones(len(case.predictions), bool)
        for marks in found.values():
            counting &= True if marks is None else ~marks
        corrected = case.f1_of(case.predictions[counting])
        yield case.suspicion("predictions are marked, as only truths can be", text, corrected)


def without_truth(case: Case) -> Iterator[Suspicion]:
    """Reports sequences that have predictions and neither truths nor frames of the truth."""
    truth, predictions = case.truth, case.predictions
    sides = [table["sequence"] for table in (truth.objects, truth.frames) if table is not None and len(table)]
    known = [names.drop_duplicates() for names in sides]  # searching all rows takes longer than all else
    unknown = ~predictions["sequence"].isin(pd.concat(known)).to_numpy() if known else np.zeros(0, bool)
    if not unknown.any():
        return
    names = predictions["sequence"][unknown].unique()
    reason = (
        f"{unknown.sum():,} of {len(predictions):,} predictions are in such a sequence ({messages.first_listed(names)})"
    )
    advice = f'label them, or leave them out with frames="labelled" (--labelled): {reason}, and count as false alarms'
    corrected = case.f1_of(predictions[~unknown])
    yield case.suspicion("sequences of the predictions have no truth at all", advice, corrected)


def exchanged(case: Case) -> Iterator[Suspicion]:
    """Reports signs that truth and predictions are exchanged, which does not change F1."""
    truth, predictions = case.truth.objects, case.predictions
    if not enough("sequences", max(side["sequence"].nunique() for side in (truth, predictions))):
        return
    scores = "score" in truth and "score" not in predictions
    if scores or (_steady_share(truth) < UNSTEADY and _steady_share(predictions) > STEADY and _differ(predictions)):
        advice = "give the truth first, then the predictions; otherwise precision and recall are exchanged"
        yield case.suspicion("truth and predictions are exchanged", advice, case.now.f1)


def _steady_share(side: pd.DataFrame) -> float:
    """The share of sequences whose frames all have the same count of objects, of those with several frames.

    Null where there are too few of them to tell.
    """
    counts = _counts(side).groupby("sequence").agg(["min", "max", "size"])
    several = counts[counts["size"] > 1]
    return float((several["min"] == several["max"]).mean()) if enough("sequences", len(several)) else np.nan


def _differ(side: pd.DataFrame) -> bool:
    """Whether sequences have different counts of objects, unlike those of a detector that always gives its best few."""
    most = _counts(side).groupby("sequence").max()
    return bool(most.value_counts(normalize=True).iloc[0] < STEADY)


def _counts(side: pd.DataFrame) -> pd.Series:
    """How many objects, not joints, each frame has."""
    return (side.drop_duplicates(schema.OBJECT_KEY) if "joint" in side else side).groupby(schema.FRAME_KEY).size()


def lacking(case: Case) -> Iterator[Suspicion]:
    """Reports sequences of the truth that the predictions lack, where that is no chance.

    Either so many sequences would hardly be empty if the counts of all scattered as those of the others do, of which
    none is far below the usual; or they are the first or the last sequences.
    """
    truth, predictions = case.truth.objects, case.predictions
    known = _counts(case.counted_truth).groupby("sequence")
    counts = pd.DataFrame({"truth": known.mean()})
    counts["found"] = _counts(predictions).groupby("sequence").sum() / known.size()
    is_lacking = counts["found"].isna().to_numpy()
    n, n_lacking = len(counts), int(is_lacking.sum())
    if not is_lacking.any() or not enough("sequences there", n - n_lacking):
        return
    at_an_end = is_lacking[:n_lacking].all() or is_lacking[-n_lacking:].all()
    rare_end = at_an_end and 2 / math.comb(n, n_lacking) < 1 - SURE
    if not rare_end and _chance_of_empty(counts, is_lacking) >= RARE:
        return
    names = counts.index[is_lacking]
    left = case.truth._replace(objects=truth[~truth["sequence"].isin(names)])
    reason = f"{n_lacking:,} of {n:,} sequences with truths have no predictions ({messages.first_listed(names)})"
    advice = f"check that the file is complete: {reason}, and all their objects count as missed"
    yield case.suspicion("predictions lack sequences of the truth", advice, case.of(left, predictions).now.f1)


def _chance_of_empty(counts: pd.DataFrame, is_lacking: np.ndarray) -> float:
    """How likely so many sequences are empty, if counts are negative binomial about a share of the truth's.

    Objects stay through the frames of a sequence, so its mean count per frame is all that it tells.
    """
    special = special_functions()
    there = counts[~is_lacking]
    ratio = there["found"] / there["truth"]
    usual = float(ratio.mean())
    for _ in range(STEPS):  # those that are not empty have more than usual
        expected = usual * there["truth"]
        usual *= float(there["found"].sum() / (expected / -np.expm1(-expected)).sum())
    scatter = ratio.var() / usual**2 - (1 / (usual * there["truth"])).mean()
    if (ratio[usual * there["truth"] >= EXPECTED] < LEAST_OF_USUAL * usual).any():
        return 1.0
    shape = 1 / max(float(scatter), LEAST_SCATTER)
    empty = (1 + usual * counts["truth"] / shape) ** -shape
    return float(special.pdtrc(is_lacking.sum() - 1, empty.sum()))


def capped(case: Case) -> Iterator[Suspicion]:
    """Reports signs of a limit to the count of predictions in a frame that is below the count of truths."""
    n_truth, n_predictions = _counts(case.counted_truth), _counts(case.predictions)
    most = int(n_predictions.max()) if len(n_predictions) else 0
    more_there = n_truth.index[n_truth > most]
    is_full = n_predictions.reindex(more_there) == most
    full, of_sequences = int(is_full.sum()), is_full.groupby("sequence").mean()  # frames of a sequence are alike
    told = enough("frames", len(more_there)) and enough("capped sequences", len(of_sequences))
    told &= len(more_there) >= LEAST_CAPPED * len(n_truth)
    if most and told and of_sequences.mean() >= (FULL if most >= FEW_IN_FRAME else NEARLY_ALL_FULL):
        reason = (
            f"no frame has more than {most} predictions, and {full:,} of the {len(more_there):,} frames with more "
            f"truths have exactly {most}"
        )
        advice = f"look for a limit in your program: {reason}"
        yield case.suspicion("the number of predictions in a frame is capped", advice)


# Predictions closer than this (px) count as one that is listed twice; the least share of such that is reported.
SAME_PLACE, LEAST_TWICE = 0.1, 0.02

# The largest radius, as a share of where predictions lie: beyond it there is nothing to compare with.
SHARE_OF_IMAGE = 0.1

# The radius of one object, as a share of the size of a box; how many more predictions than chance has, as a share of
# those that are left, are too many; and how many truths have another one as near, at most.
OF_BOX, TOO_MANY, MOST_CROWDED = 0.35, 0.5, 0.1


def twice(case: Case) -> Iterator[Suspicion]:
    """Reports predictions of a frame that lie at the same place."""
    predictions = case.predictions
    columns = [*schema.frame_columns(predictions), *(["category"] if "category" in predictions else [])]
    places = {side: (predictions[side] / SAME_PLACE).round() for side in schema.coordinates_of(predictions)}
    columns += [name for name in geometry_of(predictions).columns if name not in places]
    repeated = predictions[columns].assign(**places).duplicated().to_numpy()
    n_objects = len(predictions[repeated].drop_duplicates(schema.OBJECT_KEY))
    if not enough("repeated objects", n_objects) or repeated.mean() < LEAST_TWICE:
        return
    corrected = case.f1_of(predictions[~repeated])
    if corrected - case.now.f1 >= LEAST_TWICE:
        reason = f"{repeated.sum():,} of {len(predictions):,} predictions lie where another one of their frame lies"
        yield case.suspicion("the same objects are listed twice", f"list each object once: {reason}", corrected)


def several_times(case: Case) -> Iterator[Suspicion]:
    """Reports predictions that have another one of their frame and category near them, far more often than truths."""
    truth, predictions, reach = case.truth.objects, case.predictions, case.reach
    found = neighbours(predictions, truth, reach)
    n_left = len(found.is_first) - found.n_more
    if not enough("repeated objects", found.n_pieces) or found.n_more < TOO_MANY * max(n_left, found.n_pairs):
        return
    known = neighbours(truth, truth, reach)
    if known.n_more > MOST_CROWDED * len(known.is_first):
        return
    kept = pd.MultiIndex.from_frame(found.keys[found.is_first])
    corrected = case.f1_of(predictions[pd.MultiIndex.from_frame(predictions[schema.OBJECT_KEY]).isin(kept)])
    if corrected - case.now.f1 >= GAIN:
        reason = f"{np.count_nonzero(~found.is_first):,} of {len(found.is_first):,} predictions lie near a better one"
        advice = f"keep the best of predictions that overlap (non-maximum suppression): {reason}"
        yield case.suspicion("objects are found several times", advice, corrected)


class Neighbours(NamedTuple):
    """How many objects of a side have another one near them.

    `keys` are the keys of the N objects, and `is_first` (N,) marks those without a better one near them. `n_pairs` is
    how many pairs there are, `n_more` how many more than chance has, and `n_pieces` the same with each sequence counted
    as one frame.
    """

    keys: pd.DataFrame
    is_first: np.ndarray
    n_pairs: float
    n_more: float
    n_pieces: float


def neighbours(objects: pd.DataFrame, truth: pd.DataFrame, reach: float) -> Neighbours:
    """Compares objects with the others of their frame and category; of equal scores the first one is the better."""
    one = of_one_joint(objects, truth).reset_index(drop=True)
    places = places_of(objects, truth)
    radius = np.full(len(one), reach)
    size = geometry_of(one).size
    if size is not None:
        radius = OF_BOX * np.sqrt(np.abs(size(Rows(one))))
    image = np.ptp(places[["x", "y"]].to_numpy(), axis=0).min() if len(places) else 0.0
    radius = np.maximum(np.minimum(radius, SHARE_OF_IMAGE * image), SAME_PLACE)
    first, second = near(places, places, 2 * float(radius.max(initial=0.0)))
    apart = first != second
    if "category" in one:
        category = pd.factorize(one["category"])[0]
        apart &= category[first] == category[second]
    first, second = first[apart], second[apart]
    far = np.hypot(*(places[axis].to_numpy()[first] - places[axis].to_numpy()[second] for axis in "xy"))
    far /= np.sqrt(radius[first] * radius[second])
    inner, outer = far <= 1, (far > 1) & (far <= 2)
    n_frames = places.groupby("sequence")["frame"].nunique()
    weight = (1 / n_frames.reindex(places["sequence"])).to_numpy()[first]
    more = (inner - outer / 3) / 2  # the ring has three times the area, and each pair counts twice
    score = one["score"].to_numpy(np.float64, na_value=0) if "score" in one else np.zeros(len(one))
    worse = (score[first] < score[second]) | ((score[first] == score[second]) & (first > second))
    is_first = np.ones(len(one), bool)
    is_first[first[inner & worse]] = False
    return Neighbours(
        one[schema.OBJECT_KEY], is_first, inner.sum() / 2, float(more.sum()), float((more * weight).sum())
    )
