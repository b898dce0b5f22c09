"""Signs of mistakes that F1 does not show, or that no correction of the tables undoes.

Each function yields the mistake that it finds, with F1 as it is and after a correction, null where that is not known.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import Aligned
from ..matching.left_out import classes_apart
from ..matching.rule import Rule
from ..tables.annotations import Annotations
from ..tables.messages import first_listed
from ..tables.schema import FRAME_KEY, OBJECT_KEY, SIDE_PREFIXES, TP, frame_columns, has_boxes
from .corrections import geometry
from .evidence import enough
from .offset_kinds import sizes_of
from .offsets import bias

# The least mean offset that is reported (px), and the confidence that it is not 0.
LEAST_OFFSET, SURE = 0.35, 0.999

# How many standard deviations of a normal distribution SURE is, and errors (px) that are equal but for rounding.
SURE_DEVIATIONS, EXACT = 3.29, 0.01

# Predictions closer than this (px) count as one that is listed twice; the least share of such that is reported.
SAME_PLACE, LEAST_TWICE = 0.1, 0.02

# The least share of frames with more truths than any frame has predictions for which a cap is suspected.
LEAST_CAPPED = 0.02

# In what share of sequences, at least, the counts of the side that is the truth do not change; and in what share of
# those of the other side, at most.
STEADY, UNSTEADY = 0.9, 0.6


class Suspicion(NamedTuple):
    """One row of the table that `check` returns."""

    suspicion: str
    f1: float
    f1_corrected: float
    advice: str


# Computes F1 of other predictions.
F1Of = Callable[[pd.DataFrame], float]


def nothing_shared(truth: pd.DataFrame, claims: pd.DataFrame, now: float) -> Iterator[Suspicion]:
    """Reports that there are no predictions, or that they share no sequence with the truth."""
    if not len(claims) and len(truth):
        yield Suspicion("there are no predictions", now, np.nan, "check that it is the right file")
        return
    sequences = [side["sequence"].unique() for side in (truth, claims)]
    if len(truth) and not {*sequences[0]} & {*sequences[1]}:
        names = [", ".join(map(str, of_side[:3])) for of_side in sequences]
        advice = f"name sequences as the truth does: it has {names[0]}, ..., the predictions have {names[1]}, ..."
        yield Suspicion("no sequence is the truth's", now, np.nan, advice)


def no_class_shared(aligned: Aligned, now: float) -> Iterator[Suspicion]:
    """Reports that both sides have categories, and none in common."""
    names = classes_apart(aligned)
    if names is not None:
        advice = f"name classes as the truth does: it has {names[0]}, the predictions have {names[1]}"
        yield Suspicion("no class is the truth's", now, np.nan, advice)


def without_truth(truth: Annotations, claims: pd.DataFrame, now: float, f1_of: F1Of) -> Iterator[Suspicion]:
    """Reports sequences that have predictions and neither truths nor frames of the truth."""
    known = [table["sequence"] for table in (truth.objects, truth.frames) if table is not None and len(table)]
    unknown = ~claims["sequence"].isin(pd.concat(known)).to_numpy() if known else np.zeros(0, bool)
    if not unknown.any():
        return
    names = claims["sequence"][unknown].unique()
    reason = f"{unknown.sum():,} of {len(claims):,} predictions are in such a sequence ({first_listed(names)})"
    advice = f'label them, or leave them out with frames="labelled" (--labelled): {reason}, and count as false alarms'
    yield Suspicion("sequences of the predictions have no truth at all", now, f1_of(claims[~unknown]), advice)


def exchanged(truth: pd.DataFrame, claims: pd.DataFrame, now: float) -> Iterator[Suspicion]:
    """Reports signs that truth and predictions are exchanged, which does not change F1."""
    if not enough("sequences", max(side["sequence"].nunique() for side in (truth, claims))):
        return
    scores = "score" in truth and "score" not in claims
    if scores or (_steady_share(truth) < UNSTEADY and _steady_share(claims) > STEADY and _differ(claims)):
        advice = "give the truth first, then the predictions; otherwise precision and recall are exchanged"
        yield Suspicion("truth and predictions are exchanged", now, now, advice)


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
    return (side.drop_duplicates(OBJECT_KEY) if "joint" in side else side).groupby(FRAME_KEY).size()


def larger(matches: pd.DataFrame, claims: pd.DataFrame, now: float, f1_of: F1Of) -> Iterator[Suspicion]:
    """Reports boxes that are surely a pixel wider and higher than the truth, or smaller, whatever their size."""
    # Poses have boxes in the match table only, and boxes may be compared with points.
    if not has_boxes(claims) or not all(has_boxes(matches, prefix) for prefix in SIDE_PREFIXES):
        return
    hits = matches[matches["outcome"].array.codes == TP]
    true, predicted = sizes_of(hits)
    # Errors of one object through a sequence are alike, so an object counts once.
    of_hits = pd.DataFrame(np.column_stack([true, predicted - true]), columns=["w", "h", "dw", "dh"], index=hits.index)
    of_objects = of_hits[(true > 0).all(axis=1)].groupby([hits["sequence"], hits["truth_object"]]).median()
    if not enough("sized objects", len(of_objects)):
        return
    pixels = [_pixel(of_objects[size].to_numpy(), of_objects[f"d{size}"].to_numpy()) for size in "wh"]
    if pixels[0] == 0 or pixels[0] != pixels[1]:
        return
    corrected = f1_of(claims.assign(w=claims["w"] - pixels[0], h=claims["h"] - pixels[0]))
    size, way = ("large", "without") if pixels[0] > 0 else ("small", "with")
    advice = f"count the pixels of a box as the truth does: w = x2 - x, {way} 1 added to it, and h likewise"
    yield Suspicion(f"boxes are a pixel too {size}", now, corrected, advice)


def _pixel(size: np.ndarray, error: np.ndarray) -> int:
    """1 or -1 if sizes (px) are surely too large or too small by a pixel, and not by a share of them; else 0.

    The slope of error / size over 1 / size is the part of the error that is the same for small and large objects; its
    standard error allows for errors that grow with the size.
    """
    pixel = int(np.sign(np.median(error)))
    if np.mean(np.abs(error - pixel) < EXACT) > 0.5:
        return pixel
    if np.ptp(size) < 1:  # boxes of one size cannot tell a pixel from a percent
        return 0
    inverse = 1 / size - np.mean(1 / size)
    spread = np.sum(inverse**2)
    relative = error / size - np.mean(error / size)
    slope = np.sum(inverse * relative) / spread
    deviation = np.sqrt(np.sum((inverse * (relative - slope * inverse)) ** 2)) / spread
    sure = abs(slope) > SURE_DEVIATIONS * deviation and abs(slope - pixel) < 0.5
    return pixel if sure and abs(np.median(error) - pixel) < 0.5 else 0


def offset(matches: pd.DataFrame, now: float, rule: Rule) -> Iterator[Suspicion]:
    """Reports a mean offset whose interval excludes 0."""
    if not enough("sequences", matches.loc[matches["outcome"] == "TP", "sequence"].nunique()):
        return
    found = bias(matches, confidence=SURE, **rule.callers).set_index("metric")
    rows = found.loc[["dx", "dy"]]
    sure = (rows["low"] > 0) | (rows["high"] < 0) | rows["low"].isna()  # null where all these sequences agree
    if not (sure & (rows["estimate"].abs() >= LEAST_OFFSET)).any():
        return
    dx, dy = rows["estimate"]
    half = all(abs(abs(value) - 0.5) < 0.15 or abs(value) < 0.15 for value in (dx, dy))
    whole = all(abs(abs(value) - 1) < 0.2 or abs(value) < 0.2 for value in (dx, dy))
    size = "half a pixel" if half else "a pixel" if whole else f"{np.hypot(dx, dy):.1f} px"
    hint = "in the challenge the centre of the first pixel is at 0, 0" if half or whole else "bias() gives its interval"
    advice = f"predictions lie {dx:+.2f} px in x and {dy:+.2f} px in y from the truth on average; {hint}"
    corrected = found["estimate"].to_dict()["f1_corrected"]
    yield Suspicion(f"coordinates are {size} off", now, corrected, advice)


def twice(claims: pd.DataFrame, now: float, f1_of: F1Of) -> Iterator[Suspicion]:
    """Reports predictions of a frame that lie at the same place."""
    columns = [*frame_columns(claims), *(["category"] if "category" in claims else [])]
    places = {side: (claims[side] / SAME_PLACE).round() for side in geometry(claims)}
    repeated = claims[columns].assign(**places).duplicated().to_numpy()
    n_objects = len(claims[repeated].drop_duplicates(OBJECT_KEY))
    if not enough("repeated objects", n_objects) or repeated.mean() < LEAST_TWICE:
        return
    corrected = f1_of(claims[~repeated])
    if corrected - now >= LEAST_TWICE:
        reason = f"{repeated.sum():,} of {len(claims):,} predictions lie where another one of their frame lies"
        yield Suspicion("the same objects are listed twice", now, corrected, f"list each object once: {reason}")


def capped(truth: pd.DataFrame, claims: pd.DataFrame, now: float) -> Iterator[Suspicion]:
    """Reports signs of a limit to the count of predictions in a frame that is below the count of truths."""
    n_truth, n_claims = _counts(truth), _counts(claims)
    most = int(n_claims.max()) if len(n_claims) else 0
    more_there = n_truth.index[n_truth > most]
    full = int((n_claims.reindex(more_there) == most).sum())
    told = enough("frames", len(more_there)) and len(more_there) >= LEAST_CAPPED * len(n_truth)
    if most and told and full >= len(more_there) / 2:
        reason = (
            f"no frame has more than {most} predictions, and {full:,} of the {len(more_there):,} frames with more "
            f"truths have exactly {most}"
        )
        advice = f"look for a limit in your program: {reason}"
        yield Suspicion("the number of predictions in a frame is capped", now, np.nan, advice)
