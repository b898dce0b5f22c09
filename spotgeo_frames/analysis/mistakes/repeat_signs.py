"""Signs of objects that are listed several times, for `check`: at the same place, or near it, as without suppression.

Where each object is found several times, predictions have others closer by than an image full of objects has: within a
radius there are far more than within the ring around it, for the same area. Of crowded truths, this is so as well.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...geometries.boxes import has_boxes
from ...tables.schema import OBJECT_KEY, frame_columns
from .corrections import GAIN, geometry
from .evidence import enough
from .signs import F1Of, Suspicion
from .votes import near, of_one_joint, places_of

# Predictions closer than this (px) count as one that is listed twice; the least share of such that is reported.
SAME_PLACE, LEAST_TWICE = 0.1, 0.02

# The largest radius, as a share of where predictions lie: beyond it there is nothing to compare with.
SHARE_OF_IMAGE = 0.1

# The radius of one object, as a share of the size of a box; how many more predictions than chance has, as a share of
# those that are left, are too many; and how many truths have another one as near, at most.
OF_BOX, TOO_MANY, MOST_CROWDED = 0.35, 0.5, 0.1


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


def several_times(
    truth: pd.DataFrame, claims: pd.DataFrame, now: float, reach: float, f1_of: F1Of
) -> Iterator[Suspicion]:
    """Reports predictions that have another one of their frame and category near them, far more often than truths."""
    found = neighbours(claims, truth, reach)
    n_left = len(found.is_first) - found.n_more
    if not enough("repeated objects", found.n_pieces) or found.n_more < TOO_MANY * max(n_left, found.n_pairs):
        return
    known = neighbours(truth, truth, reach)
    if known.n_more > MOST_CROWDED * len(known.is_first):
        return
    kept = pd.MultiIndex.from_frame(found.keys[found.is_first])
    corrected = f1_of(claims[pd.MultiIndex.from_frame(claims[OBJECT_KEY]).isin(kept)])
    if corrected - now >= GAIN:
        reason = f"{np.count_nonzero(~found.is_first):,} of {len(found.is_first):,} predictions lie near a better one"
        advice = f"keep the best of predictions that overlap (non-maximum suppression): {reason}"
        yield Suspicion("objects are found several times", now, corrected, advice)


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
    if has_boxes(one):
        radius = OF_BOX * np.sqrt(one["w"].abs().to_numpy() * one["h"].abs().to_numpy())
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
    return Neighbours(one[OBJECT_KEY], is_first, inner.sum() / 2, float(more.sum()), float((more * weight).sum()))
