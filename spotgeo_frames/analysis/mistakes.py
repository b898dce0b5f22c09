"""check(): the common mistakes of a submission, each tested by what correcting it would do.

A mistake of coordinates or numbering is suspected where undoing it raises F1 by GAIN, and by a quarter of what is
missing to 1 or to twice what it was: far more than chance does. What F1 cannot tell has signs of its own:

    half a pixel or one off    the mean offset of the true positives is surely not 0 and at least 0.35 px
    exchanged                  truth has scores and predictions have none; or predictions are as many in all frames of
                               nearly every sequence, as objects that are there are, and those of the truth are not
    listed twice               predictions of a frame at the same place
    capped                     where truths are more than the most predictions that any frame has, most frames have
                               exactly that many
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import align
from ..matching.matcher import match_annotations
from ..matching.near_points import all_near_points
from ..matching.rule import Rule, check_by_distance
from ..matching.similarity import Measure
from ..matching.words import asked, rule_of_tables
from ..scoring.summary import summarize
from ..support.errors import InputError
from ..tables.annotations import Annotations, as_annotations
from ..tables.arrow import Table
from ..tables.schema import FRAME_KEY, centres
from .offsets import bias

# The least that undoing a mistake has to gain, in F1, and as a share of what is missing to 1.
GAIN, SHARE_OF_MISSING = 0.05, 0.25

# The least offset that is worth a word (px), and how sure it has to be.
LEAST_OFFSET, SURE = 0.35, 0.999

# Predictions closer than this (px) are the same one listed twice; what share of all it takes to be told.
SAME_PLACE, LEAST_TWICE = 0.1, 0.02

# The share of frames with more truths than any has predictions from which a limit is suspected.
LEAST_CAPPED = 0.02

# Fewer frames, or sequences, than this tell too little of a cap, or of an offset.
FEWEST = 20

# The size of the spotGEO challenge's images, px.
CHALLENGE = (640.0, 480.0)


class Suspicion(NamedTuple):
    """One row of the answer."""

    suspicion: str
    f1: float
    f1_corrected: float
    advice: str


def check(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    tau: float | None = None,
    epsilon: float | None = None,
    *,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Looks for the common mistakes of a submission.

    Frames and sequences of the two sides need not agree, since numbering them otherwise is one of the mistakes. What
    may follow from another mistake is looked for only where that one is not suspected.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects: `sequence`, `frame`, `object`, `x`, `y` in pixels.
    tau, epsilon
        The largest distance of a true positive (10 by default), and the tolerance up to which its error is 0 (3 by
        default), in pixels. With boxes (`w`, `h`) a `tau` is needed: their centres are matched.
    similarity, threshold
        Words of other functions that match. Only matching by distance can be checked, so they are refused.

    Returns
    -------
    DataFrame with one row a suspicion, the one that costs most first: `suspicion`, `f1` (now), `f1_corrected` (null
    where that cannot be told), and `advice`. No rows where nothing is suspicious.

    Raises
    ------
    InputError: a table is not right, it has joints or is matched by similarity, or keys are of different types.
    ValueError: tau or epsilon out of range.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json")
    >>> swapped = truth.objects.rename(columns={"x": "y", "y": "x"})
    >>> sf.check(truth, swapped)["suspicion"].tolist()
    ['x and y are swapped']
    """
    words = asked(tau, epsilon, similarity, threshold)
    known, claimed = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    if "joint" in known.objects or "joint" in claimed.objects:
        raise InputError("check: there is a column joint; it is for objects, not for joints")
    rule = check_by_distance(rule_of_tables(words, known, claimed), "check")
    known, claims = known._replace(objects=_as_points(known.objects)), _as_points(claimed.objects)
    if len(known.objects) and len(claims) and known.objects["sequence"].dtype != claims["sequence"].dtype:
        kinds = f"{claims['sequence'].dtype} in the predictions and {known.objects['sequence'].dtype} in the truth"
        raise InputError(f"check: column sequence is {kinds}; make them the same")
    f1_of = partial(_f1, known, rule=rule)
    now = f1_of(claims)
    found = [
        Suspicion(suspicion, now, corrected, advice)
        for suspicion, corrected, advice in _undone(known.objects, claims, f1_of, rule.largest_cost)
        if corrected - now >= GAIN and corrected - now >= min(SHARE_OF_MISSING * (1 - now), now)
    ]
    found = found or list(_nothing_shared(known.objects, claims, now))
    # What coordinates and numbering bring about looks like other mistakes, and so does what an exchange does.
    found = found or list(_exchanged(known.objects, claims, now))
    found = found or [
        *_offset(known, claims, now, rule),
        *_twice(claims, now, f1_of),
        *_capped(known.objects, claims, now),
    ]
    found.sort(key=lambda one: one.f1 - np.nan_to_num(one.f1_corrected, nan=one.f1))
    answer = pd.DataFrame(found, columns=list(Suspicion._fields))
    answer = answer.astype({"suspicion": "str", "f1": "float64", "f1_corrected": "float64", "advice": "str"})
    answer.attrs = rule.notes
    return answer


def _as_points(objects: pd.DataFrame) -> pd.DataFrame:
    """Objects as points: boxes at their centres."""
    x, y = centres(objects)
    return objects.assign(x=x, y=y).drop(columns=["w", "h"], errors="ignore")


def _f1(truth: Annotations, claims: pd.DataFrame, rule: Rule) -> float:
    """F1, whatever frames and sequences there are; 0 where nothing is there at all."""
    if not {*truth.objects["sequence"]} & {*claims["sequence"]} or not np.isfinite(claims[["x", "y"]].to_numpy()).all():
        return 0.0  # what is undone may leave the range of numbers
    f1 = summarize(match_annotations(truth, Annotations(claims), rule, "union"))["f1"].iloc[0]
    return float(np.nan_to_num(f1))


def _undone(
    truth: pd.DataFrame, claims: pd.DataFrame, f1_of: Callable[[pd.DataFrame], float], tau: float
) -> Iterator[tuple[str, float, str]]:
    """Mistakes of coordinates and of numbering, with the F1 without each."""
    yield (
        "x and y are swapped",
        f1_of(claims.assign(x=claims["y"], y=claims["x"])),
        "write the column of the image, then its row: x, y",
    )
    for axis, edge in (("x", "right"), ("y", "bottom")):
        whole = _mirror(truth, claims, axis, tau)
        if whole is not None:
            advice = f"count {axis} from the other edge: {axis} = {whole:g} - {axis}"
            yield (
                f"{axis} is counted from the {edge} edge",
                f1_of(claims.assign(**{axis: whole - claims[axis]})),
                advice,
            )
    for column in ("frame", "sequence"):
        if claims[column].dtype == np.int64:
            for step in (1, -1):
                suspicion = f"{column}s are numbered {'too low' if step > 0 else 'too high'} by 1"
                advice = f"count {column}s as the truth does: {column} = {column} {'+' if step > 0 else '-'} 1"
                yield suspicion, f1_of(claims.assign(**{column: claims[column] + step})), advice
    for factor, suspicion in ((2.0, "coordinates are halved"), (0.5, "coordinates are doubled")):
        scaled = claims.assign(x=claims["x"] * factor, y=claims["y"] * factor)
        yield suspicion, f1_of(scaled), f"give pixels of the full image: multiply x and y by {factor:g}"
    if len(truth) and len(claims) and np.abs(claims[["x", "y"]].to_numpy()).max() <= 2:
        sizes = [CHALLENGE, (truth["x"].max() + 0.5, truth["y"].max() + 0.5)]
        best = max((f1_of(claims.assign(x=claims["x"] * w, y=claims["y"] * h)), w, h) for w, h in sizes)
        advice = f"give pixels: multiply x by the image's width ({best[1]:g}) and y by its height ({best[2]:g})"
        yield "coordinates are normalised to 0 to 1", best[0], advice


def _mirror(truth: pd.DataFrame, claims: pd.DataFrame, axis: str, tau: float) -> float | None:
    """What true and predicted coordinates most often add up to, where they agree along the other axis."""
    other = "y" if axis == "x" else "x"
    sides = [
        Annotations(side[[*FRAME_KEY, "object"]].assign(x=side[other], y=0.0, value=side[axis]))
        for side in (truth, claims)
    ]
    if not {*truth["sequence"]} & {*claims["sequence"]}:
        return None
    aligned = align(sides[0], sides[1], "union")
    pairs = all_near_points(aligned, tau)
    if not len(pairs.truth):
        return None
    added = aligned.truth.table["value"].to_numpy()[pairs.truth]
    with np.errstate(over="ignore"):
        added = added + aligned.predictions.table["value"].to_numpy()[pairs.prediction]
    added = added[np.isfinite(added)]
    if not len(added):
        return None
    low = np.floor(added.min())
    counts = np.bincount(np.minimum((added - low) / tau, 1e6).astype(np.int64))
    peak = low + tau * (int(np.argmax(counts)) + 0.5)
    return float(np.round(np.median(added[np.abs(added - peak) <= tau])))


def _offset(truth: Annotations, claims: pd.DataFrame, now: float, rule: Rule) -> Iterator[Suspicion]:
    """A mean offset that is surely not 0."""
    if now < GAIN:
        return
    matches = match_annotations(truth, Annotations(claims), rule, "union")
    if matches.loc[matches["outcome"] == "TP", "sequence"].nunique() < FEWEST:
        return
    offset = bias(matches, resamples=2000, confidence=SURE).set_index("metric")
    rows = offset.loc[["dx", "dy"]]
    sure = (rows["low"] > 0) | (rows["high"] < 0)
    if not (sure & (rows["estimate"].abs() >= LEAST_OFFSET)).any():
        return
    dx, dy = rows["estimate"]
    half = all(abs(abs(value) - 0.5) < 0.15 or abs(value) < 0.15 for value in (dx, dy))
    one = all(abs(abs(value) - 1) < 0.2 or abs(value) < 0.2 for value in (dx, dy))
    what = "half a pixel" if half else "a pixel" if one else f"{np.hypot(dx, dy):.1f} px"
    where = "the centre of the first pixel is at 0 in the challenge" if half or one else "see bias()"
    advice = f"predictions lie {dx:+.2f} px in x and {dy:+.2f} px in y of the truth; {where}"
    corrected = offset["estimate"].to_dict()["f1_corrected"]
    yield Suspicion(f"coordinates are {what} off", now, corrected, advice)


def _nothing_shared(truth: pd.DataFrame, claims: pd.DataFrame, now: float) -> Iterator[Suspicion]:
    """Predictions that are none, or of other sequences."""
    if not len(claims) and len(truth):
        yield Suspicion("there are no predictions", now, np.nan, "is it the right file?")
    elif len(truth) and not {*truth["sequence"]} & {*claims["sequence"]}:
        names = [", ".join(map(str, side["sequence"].unique()[:3])) for side in (truth, claims)]
        advice = f"name sequences as the truth does: it has {names[0]}, ..., the predictions {names[1]}, ..."
        yield Suspicion("no sequence is the truth's", now, np.nan, advice)


def _exchanged(truth: pd.DataFrame, claims: pd.DataFrame, now: float) -> Iterator[Suspicion]:
    """Signs that the files are exchanged, which leaves F1 as it is."""
    scores = "score" in truth and "score" not in claims
    steady = [_steady_share(side) for side in (truth, claims)]
    if scores or (steady[1] > 0.9 and steady[0] < 0.6):
        advice = "give the truth first, then the predictions: precision and recall are exchanged otherwise"
        yield Suspicion("truth and predictions are exchanged", now, now, advice)


def _steady_share(side: pd.DataFrame) -> float:
    """The share of sequences with several frames in which all of these have as many objects."""
    counts = side.groupby(FRAME_KEY).size().groupby("sequence").agg(["min", "max", "size"])
    several = counts[counts["size"] > 1]
    return float((several["min"] == several["max"]).mean()) if len(several) else 0.0


def _twice(claims: pd.DataFrame, now: float, f1_of: Callable[[pd.DataFrame], float]) -> Iterator[Suspicion]:
    """Predictions that lie at the same place."""
    columns = [*FRAME_KEY, *(["category"] if "category" in claims else [])]
    places = claims[columns].assign(x=(claims["x"] / SAME_PLACE).round(), y=(claims["y"] / SAME_PLACE).round())
    again = places.duplicated().to_numpy()
    if not len(claims) or again.mean() < LEAST_TWICE:
        return
    corrected = f1_of(claims[~again])
    if corrected - now >= LEAST_TWICE:
        what = f"{again.sum():,} of {len(claims):,} predictions lie where another of their frame does"
        yield Suspicion("the same objects are listed twice", now, corrected, f"list each object once: {what}")


def _capped(truth: pd.DataFrame, claims: pd.DataFrame, now: float) -> Iterator[Suspicion]:
    """A limit to the number of predictions in a frame, below that of truths."""
    n_truth, n_claims = (side.groupby(FRAME_KEY).size() for side in (truth, claims))
    most = int(n_claims.max()) if len(n_claims) else 0
    more_there = n_truth.index[n_truth > most]
    full = int((n_claims.reindex(more_there) == most).sum())
    if most and len(more_there) >= max(LEAST_CAPPED * len(n_truth), FEWEST) and full >= len(more_there) / 2:
        what = f"no frame has more than {most}, and {full:,} of the {len(more_there):,} with more truths have {most}"
        yield Suspicion("the number of predictions in a frame is capped", now, np.nan, f"look for a limit: {what}")
