"""check(): searches a submission for common mistakes, mostly by correcting each one and computing F1 again.

A mistake of coordinates or of numbering is suspected if its correction raises F1 by at least GAIN, and by at least a
quarter of the distance to 1 or to twice its value. Chance does not gain that much. Mistakes that F1 does not show have
signs of their own:

    half a pixel or one off    the mean offset of the true positives is at least 0.35 px, and its interval excludes 0
    exchanged                  only the truth has scores; or nearly every sequence has the same count of predictions in
                               all its frames, as real objects do, while the counts of truths vary
    listed twice               several predictions of a frame lie at the same place
    capped                     most frames with more truths than any frame has predictions have exactly the largest
                               count of predictions
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import align
from ..matching.matcher import match_sides
from ..matching.near_points import all_near_points
from ..matching.rule import Rule, check_by_distance
from ..matching.similarity import Measure
from ..matching.words import asked, rule_of_tables
from ..scoring.match_sums import match_sums
from ..scoring.registry import values_of
from ..support.errors import InputError
from ..support.pandas_versions import TEXT
from ..tables.annotations import Annotations, as_annotations
from ..tables.kinds import same_kind_as
from ..tables.match_tables import match_dataframe
from ..tables.schema import FRAME_KEY, centres
from ..tables.table import Table
from .offsets import bias

# The least gain in F1 from correcting a mistake, and the least gain as a share of 1 - F1.
GAIN, SHARE_OF_MISSING = 0.05, 0.25

# The least mean offset that is reported (px), and the confidence that it is not 0.
LEAST_OFFSET, SURE = 0.35, 0.999

# Predictions closer than this (px) count as one that is listed twice; the least share of such that is reported.
SAME_PLACE, LEAST_TWICE = 0.1, 0.02

# The least share of frames with more truths than any frame has predictions for which a cap is suspected.
LEAST_CAPPED = 0.02

# A cap needs at least this many frames as evidence, and an offset this many sequences.
FEWEST = 20

# The size of the spotGEO challenge's images, px.
CHALLENGE = (640.0, 480.0)


class Suspicion(NamedTuple):
    """One row of the table that `check` returns."""

    suspicion: str
    f1: float
    f1_corrected: float
    advice: str


@same_kind_as("truth")
def check(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    tau: float | None = None,
    epsilon: float | None = None,
    *,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Searches a submission for common mistakes.

    The mistakes are: x and y swapped, an axis counted from the other edge, frames or sequences numbered one too low or
    too high, coordinates halved, doubled or normalised to 0 to 1, truth and predictions exchanged, sequences named
    differently, a mean offset, objects listed twice, and a cap on the count of predictions in a frame. Frames and
    sequences of the two sides need not agree. A mistake that may be the consequence of another one is searched for only
    if the other one is not suspected.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects: `sequence`, `frame`, `object`, `x`, `y` in pixels.
    tau, epsilon
        The largest distance of a true positive (10 by default), and the tolerance up to which its error is 0 (3 by
        default), in pixels. With boxes (`w`, `h`) a `tau` is needed: their centres are matched.
    similarity, threshold
        Every function that matches accepts these. check() needs distances, so a rule by similarity is refused.

    Returns
    -------
    DataFrame of the truth's kind with one row for each suspected mistake, the one with the largest loss of f1 first:
    `suspicion` (text), `f1` as it is, `f1_corrected` after the mistake is corrected (null where that cannot be
    computed), and `advice` (text). No rows where nothing is suspicious.

    Raises
    ------
    InputError: a table lacks a column or has invalid values, it has a column `joint`, matching would be by similarity,
        or `sequence` is of different types on the two sides.
    ValueError: `tau` or `epsilon` is out of range, or `threshold` does not fit.

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
        raise InputError("check: there is a column joint; check() takes objects, not joints of poses")
    rule = check_by_distance(rule_of_tables(words, known, claimed), "check")
    known, claims = known._replace(objects=_as_points(known.objects)), _as_points(claimed.objects)
    if len(known.objects) and len(claims) and known.objects["sequence"].dtype != claims["sequence"].dtype:
        kinds = f"{claims['sequence'].dtype} in the predictions and {known.objects['sequence'].dtype} in the truth"
        raise InputError(f"check: column sequence is {kinds}; make them the same")
    f1_of = partial(_f1, known, rule=rule)
    now = f1_of(claims)
    suspicions = [
        Suspicion(suspicion, now, corrected, advice)
        for suspicion, corrected, advice in _corrections(known.objects, claims, f1_of, rule.largest_cost)
        if corrected - now >= GAIN and corrected - now >= min(SHARE_OF_MISSING * (1 - now), now)
    ]
    # Wrong coordinates, wrong numbering and an exchange also show the signs of the mistakes further down.
    suspicions = suspicions or list(_nothing_shared(known.objects, claims, now))
    suspicions = suspicions or list(_exchanged(known.objects, claims, now))
    suspicions = suspicions or [
        *_offset(known, claims, now, rule),
        *_twice(claims, now, f1_of),
        *_capped(known.objects, claims, now),
    ]
    suspicions.sort(key=lambda row: row.f1 - np.nan_to_num(row.f1_corrected, nan=row.f1))
    answer = pd.DataFrame(suspicions, columns=list(Suspicion._fields))
    answer = answer.astype({"suspicion": TEXT, "f1": "float64", "f1_corrected": "float64", "advice": TEXT})
    answer.attrs = rule.notes
    return answer


def _as_points(objects: pd.DataFrame) -> pd.DataFrame:
    """Converts objects to points; a box becomes its centre."""
    x, y = centres(objects)
    return objects.assign(x=x, y=y).drop(columns=["w", "h"], errors="ignore")


def _f1(truth: Annotations, claims: pd.DataFrame, rule: Rule) -> float:
    """Computes F1 for any frames and sequences; 0 where the sides share no sequence or f1 is null."""
    if not _share_sequences(truth.objects, claims) or not np.isfinite(claims[["x", "y"]].to_numpy()).all():
        return 0.0  # a correction may overflow to infinity
    matches = match_sides(truth, Annotations(claims), rule, "union")
    sums = match_sums(matches, np.zeros(len(matches), np.int64), 1)
    return float(np.nan_to_num(values_of(sums, ["f1"])["f1"][0]))


def _share_sequences(truth: pd.DataFrame, claims: pd.DataFrame) -> bool:
    """Whether any sequence has objects of both sides."""
    return bool(truth["sequence"].isin(claims["sequence"]).any())


def _corrections(
    truth: pd.DataFrame, claims: pd.DataFrame, f1_of: Callable[[pd.DataFrame], float], tau: float
) -> Iterator[tuple[str, float, str]]:
    """Corrects each mistake of coordinates and of numbering; yields its name, F1 after the correction, and advice."""
    yield (
        "x and y are swapped",
        f1_of(claims.assign(x=claims["y"], y=claims["x"])),
        "write the column of the image, then its row: x, y",
    )
    for axis, edge in (("x", "right"), ("y", "bottom")):
        total = _mirror(truth, claims, axis, tau)
        if total is not None:
            advice = f"count {axis} from the other edge: {axis} = {total:g} - {axis}"
            yield (
                f"{axis} is counted from the {edge} edge",
                f1_of(claims.assign(**{axis: total - claims[axis]})),
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
    """The most frequent sum of a true and a predicted coordinate (px) of pairs that agree along the other axis.

    Returns None where there are no such pairs.
    """
    other = "y" if axis == "x" else "x"
    sides = [
        Annotations(side[[*FRAME_KEY, "object"]].assign(x=side[other], y=0.0, value=side[axis]))
        for side in (truth, claims)
    ]
    if not _share_sequences(truth, claims):
        return None
    aligned = align(sides[0], sides[1], "union")
    pairs = all_near_points(aligned, tau)
    if not len(pairs.truth):
        return None
    added = aligned.truth.table["value"][pairs.truth]
    with np.errstate(over="ignore"):
        added = added + aligned.predictions.table["value"][pairs.prediction]
    added = added[np.isfinite(added)]
    if not len(added):
        return None
    low = np.floor(added.min())
    counts = np.bincount(np.minimum((added - low) / tau, 1e6).astype(np.int64))
    peak = low + tau * (int(np.argmax(counts)) + 0.5)
    return float(np.round(np.median(added[np.abs(added - peak) <= tau])))


def _offset(truth: Annotations, claims: pd.DataFrame, now: float, rule: Rule) -> Iterator[Suspicion]:
    """Reports a mean offset whose interval excludes 0."""
    if now < GAIN:
        return
    matches = match_dataframe(match_sides(truth, Annotations(claims), rule, "union"))
    if matches.loc[matches["outcome"] == "TP", "sequence"].nunique() < FEWEST:
        return
    offset = bias(matches, resamples=2000, confidence=SURE).set_index("metric")
    rows = offset.loc[["dx", "dy"]]
    sure = (rows["low"] > 0) | (rows["high"] < 0)
    if not (sure & (rows["estimate"].abs() >= LEAST_OFFSET)).any():
        return
    dx, dy = rows["estimate"]
    half = all(abs(abs(value) - 0.5) < 0.15 or abs(value) < 0.15 for value in (dx, dy))
    whole = all(abs(abs(value) - 1) < 0.2 or abs(value) < 0.2 for value in (dx, dy))
    size = "half a pixel" if half else "a pixel" if whole else f"{np.hypot(dx, dy):.1f} px"
    hint = "in the challenge the centre of the first pixel is at 0, 0" if half or whole else "bias() gives its interval"
    advice = f"predictions lie {dx:+.2f} px in x and {dy:+.2f} px in y from the truth on average; {hint}"
    corrected = offset["estimate"].to_dict()["f1_corrected"]
    yield Suspicion(f"coordinates are {size} off", now, corrected, advice)


def _nothing_shared(truth: pd.DataFrame, claims: pd.DataFrame, now: float) -> Iterator[Suspicion]:
    """Reports that there are no predictions, or that they share no sequence with the truth."""
    if not len(claims) and len(truth):
        yield Suspicion("there are no predictions", now, np.nan, "check that it is the right file")
    elif len(truth) and not _share_sequences(truth, claims):
        names = [", ".join(map(str, side["sequence"].unique()[:3])) for side in (truth, claims)]
        advice = f"name sequences as the truth does: it has {names[0]}, ..., the predictions have {names[1]}, ..."
        yield Suspicion("no sequence is the truth's", now, np.nan, advice)


def _exchanged(truth: pd.DataFrame, claims: pd.DataFrame, now: float) -> Iterator[Suspicion]:
    """Reports signs that truth and predictions are exchanged, which does not change F1."""
    scores = "score" in truth and "score" not in claims
    steady = [_steady_share(side) for side in (truth, claims)]
    if scores or (steady[1] > 0.9 and steady[0] < 0.6):
        advice = "give the truth first, then the predictions; otherwise precision and recall are exchanged"
        yield Suspicion("truth and predictions are exchanged", now, now, advice)


def _steady_share(side: pd.DataFrame) -> float:
    """Among sequences with several frames, the share whose frames all have the same count of objects."""
    counts = side.groupby(FRAME_KEY).size().groupby("sequence").agg(["min", "max", "size"])
    several = counts[counts["size"] > 1]
    return float((several["min"] == several["max"]).mean()) if len(several) else 0.0


def _twice(claims: pd.DataFrame, now: float, f1_of: Callable[[pd.DataFrame], float]) -> Iterator[Suspicion]:
    """Reports predictions of a frame that lie at the same place."""
    columns = [*FRAME_KEY, *(["category"] if "category" in claims else [])]
    places = claims[columns].assign(x=(claims["x"] / SAME_PLACE).round(), y=(claims["y"] / SAME_PLACE).round())
    repeated = places.duplicated().to_numpy()
    if not len(claims) or repeated.mean() < LEAST_TWICE:
        return
    corrected = f1_of(claims[~repeated])
    if corrected - now >= LEAST_TWICE:
        reason = f"{repeated.sum():,} of {len(claims):,} predictions lie where another one of their frame lies"
        yield Suspicion("the same objects are listed twice", now, corrected, f"list each object once: {reason}")


def _capped(truth: pd.DataFrame, claims: pd.DataFrame, now: float) -> Iterator[Suspicion]:
    """Reports signs of a limit to the count of predictions in a frame that is below the count of truths."""
    n_truth, n_claims = (side.groupby(FRAME_KEY).size() for side in (truth, claims))
    most = int(n_claims.max()) if len(n_claims) else 0
    more_there = n_truth.index[n_truth > most]
    full = int((n_claims.reindex(more_there) == most).sum())
    if most and len(more_there) >= max(LEAST_CAPPED * len(n_truth), FEWEST) and full >= len(more_there) / 2:
        reason = (
            f"no frame has more than {most} predictions, and {full:,} of the {len(more_there):,} frames with more "
            f"truths have exactly {most}"
        )
        advice = f"look for a limit in your program: {reason}"
        yield Suspicion("the number of predictions in a frame is capped", now, np.nan, advice)
