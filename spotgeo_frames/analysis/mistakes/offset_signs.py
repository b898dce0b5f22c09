"""Signs of mistakes of a few pixels in places and sizes, which F1 hardly shows, for `check`.

Each shows as a mean offset, so the one that explains most of the errors of true positives is told: boxes that are a
pixel too large have their centres half a pixel off, frames that are late lie behind what moves, and a scale moves what
is far from the corner. An offset that only some sequences have is the mean of two.
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from ...geometries import centres, geometry_of, offsets
from ...support import arrays
from ...tables import messages, schema
from ..errors import bias
from .corrections import with_frames_shifted
from .evidence import enough, frame_votes, places_of
from .fitted_corrections import scaled_by, told_offset
from .scores import Case, Suspicion
from .signs import SURE

# The least mean offset that is reported (px).
LEAST_OFFSET = 0.35

# In other units: the least mean offset as a share of tau, and its square as a share of the mean squared distance.
LEAST_OF_TAU, SHARE_OF_SQUARED = 0.05, 0.5

# How many standard deviations of a normal distribution SURE is, and the logarithm of a ratio of likelihoods that is as
# sure; errors (px) that are equal but for rounding.
SURE_DEVIATIONS, SURE_RATIO, EXACT = 3.29, 5.4, 0.01

# How far the mean error of sizes is from a pixel, at most (px).
NEAR_PIXEL = 0.35

# In other frames, predictions are as near truths as this share of their distance in their own, at least as many of
# them, and F1 is as high but for this.
NEARER, AS_MANY, AS_HIGH = 0.6, 0.9, 0.002

# The least share of the sequences that are nearer in another frame in which it is the same one, and the least share of
# all that these are.
SAME_SHIFT, LEAST_SEQUENCES = 0.8, 0.2

# The variance of sequences' offsets that two means leave, at most, and the smaller of these as a share of the larger.
LEFT_BY_TWO, NO_OFFSET = 0.15, 0.3


def late(case: Case) -> Iterator[Suspicion]:
    """Reports frames that are numbered too low or too high, where objects move so little that they match anyway."""
    truth, predictions = case.truth, case.predictions
    known, found = (places_of(objects, truth.objects) for objects in (truth.objects, predictions))
    of_all, of_sequences = frame_votes(known, found, case.reach)
    shift, in_them, names = _nearest_later(of_all.assign(sequence=0)), "", None
    if shift.empty:
        shift = _nearest_later(of_sequences)
        same = shift[shift["later"] == shift["later"].mode().iloc[0]] if len(shift) else shift
        n = truth.objects["sequence"].nunique()
        if len(same) < max(SAME_SHIFT * len(shift), LEAST_SEQUENCES * n) or not enough(
            "sequences on a side", len(same)
        ):
            return
        shift, names = same, same["sequence"]
        in_them = f" in {len(names):,} of {n:,} sequences"
    if not enough("late objects", shift["n_objects"].sum()):
        return
    correction = with_frames_shifted(truth, predictions, int(shift["later"].iloc[0]))
    in_place = np.zeros(len(predictions), bool) if names is None else ~predictions["sequence"].isin(names)
    corrected = case.f1_of(
        correction.predictions.assign(frame=correction.predictions["frame"].mask(in_place, predictions["frame"]))
    )
    if corrected >= case.now.f1 - AS_HIGH:
        where = "" if names is None else f",{in_them}: {messages.first_listed(names)}"
        yield case.suspicion(f"{correction.suspicion}{in_them}", f"{correction.advice}{where}", corrected)


def _nearest_later(votes: pd.DataFrame) -> pd.DataFrame:
    """For each sequence, the frame in which its predictions are far nearer to truths than in their own, if any is."""
    of_sequence = votes.groupby("sequence", observed=True)["n_objects"]
    many = votes[votes["n_objects"] >= AS_MANY * of_sequence.transform("max")]
    nearest = many.sort_values("distance", kind="stable").drop_duplicates("sequence")
    own = votes[votes["later"] == 0].set_index("sequence")["distance"].reindex(nearest["sequence"]).to_numpy()
    return nearest[nearest["distance"].to_numpy() < NEARER * own]


def larger(case: Case, matches: pd.DataFrame) -> Iterator[Suspicion]:
    """Reports boxes that are surely a pixel wider and higher than the truth, or smaller, whatever their size."""
    predictions = case.predictions
    # Poses have boxes in the match table only, and boxes may be compared with points.
    if not geometry_of(predictions).sizes or not _have_sizes(matches):
        return
    hits = matches[matches["outcome"].array.codes == schema.TP]
    true, predicted = (
        hits[[f"{prefix}{side}" for side in "wh"]].to_numpy(np.float64, na_value=np.nan)
        for prefix in schema.SIDE_PREFIXES
    )
    # Errors of one object through a sequence are alike, so an object counts once.
    of_hits = pd.DataFrame(np.column_stack([true, predicted - true]), columns=["w", "h", "dw", "dh"], index=hits.index)
    of_objects = of_hits[(true > 0).all(axis=1)].groupby([hits["sequence"], hits["truth_object"]]).median()
    if not enough("sized objects", len(of_objects)):
        return
    found = [_pixels(of_objects[size].to_numpy(), of_objects[f"d{size}"].to_numpy()) for size in "wh"]
    (pixels, of_w), (others, of_h) = found
    if pixels == 0 or pixels != others or of_w + of_h < SURE_RATIO:
        return
    corrected = case.f1_of(predictions.assign(w=predictions["w"] - pixels, h=predictions["h"] - pixels))
    size, way = ("large", "without") if pixels > 0 else ("small", "with")
    advice = f"count the pixels of a box as the truth does: w = x2 - x, {way} 1 added to it, and h likewise"
    yield case.suspicion(f"boxes are a pixel too {size}", advice, corrected)


def _have_sizes(matches: pd.DataFrame) -> bool:
    """Whether both sides of a match table have sizes that may be wrong by a pixel."""
    return all(geometry_of(matches, prefix).sizes for prefix in schema.SIDE_PREFIXES)


def _pixels(size: np.ndarray, error: np.ndarray) -> tuple[int, float]:
    """The pixel (1 or -1) by which sizes (px) are surely off, 0 for none; and how much likelier it is than a percent.

    The second is the logarithm of the ratio of likelihoods. Errors scatter by the same for all, or by a share of the
    size: each explanation has the one that suits it.
    """
    if np.mean(np.abs(error - np.sign(np.median(error))) < EXACT) > 0.5:
        return int(np.sign(np.median(error))), np.inf
    n = len(size)
    fits: dict[str, tuple[float, float, float]] = {}
    for name, explained in (("pixel", np.ones(n)), ("percent", size)):
        for scatter in (np.ones(n), size):
            predictor, value = explained / scatter, error / scatter
            slope = np.sum(predictor * value) / np.sum(predictor**2)
            variance = max(float(np.mean((value - slope * predictor) ** 2)), EXACT**2)
            likelihood = float(-n / 2 * math.log(variance) - np.sum(arrays.log(scatter)))
            deviation = np.sqrt(variance / np.sum(predictor**2))
            fits[name] = max(fits.get(name, (-np.inf, 0.0, 0.0)), (likelihood, slope, deviation))
    likelihood, pixels, deviation = fits["pixel"]
    is_sure = abs(pixels) > SURE_DEVIATIONS * deviation and abs(abs(pixels) - 1) < NEAR_PIXEL
    return int(np.sign(pixels)) if is_sure else 0, float(likelihood - fits["percent"][0])


def offset(case: Case, matches: pd.DataFrame) -> Iterator[Suspicion]:
    """Reports a mean offset whose interval excludes 0, or the scale, or the offset of some sequences, behind it."""
    hits = matches[matches["outcome"].array.codes == schema.TP]
    if not enough("sequences", hits["sequence"].nunique()):
        return
    found = bias(matches, confidence=SURE, **case.rule.callers).set_index("metric")
    rows = found.loc[["dx", "dy"]]
    sure = (rows["low"] > 0) | (rows["high"] < 0) | rows["low"].isna()  # null where all these sequences agree
    is_off = (sure & (rows["estimate"].abs() >= LEAST_OFFSET)).to_numpy()
    if not is_off.any():
        return
    if not case.rule.joints:
        others = [*_scale(case, hits), *_in_some_sequences(case, hits)]
        if others or _is_of_sizes(hits, is_off):
            yield from others[:1]
            return
    dx, dy = rows["estimate"]
    half = all(abs(abs(value) - 0.5) < 0.15 or abs(value) < 0.15 for value in (dx, dy))
    whole = all(abs(abs(value) - 1) < 0.2 or abs(value) < 0.2 for value in (dx, dy))
    size = "half a pixel" if half else "a pixel" if whole else f"{np.hypot(dx, dy):.1f} px"
    hint = "in the challenge the centre of the first pixel is at 0, 0" if half or whole else "bias() gives its interval"
    advice = f"predictions lie {dx:+.2f} px in x and {dy:+.2f} px in y from the truth on average; {hint}"
    corrected = found["estimate"].to_dict()["f1_corrected"]
    yield case.suspicion(f"coordinates are {size} off", advice, corrected)


def offset_in_unit(case: Case, matches: pd.DataFrame) -> Iterator[Suspicion]:
    """Reports a mean offset of places in no image, such as the sky: one that makes most of the squared error."""
    geometry = geometry_of(case.predictions)
    hits = matches[matches["outcome"].array.codes == schema.TP]
    if geometry.offsets is None or not enough("sequences", hits["sequence"].nunique()):
        return
    found = bias(matches, confidence=SURE, **case.rule.callers).set_index("metric")
    rows = found.loc[geometry.offsets.metrics[:2]]
    sure = (rows["low"] > 0) | (rows["high"] < 0) | rows["low"].isna()
    mean = rows["estimate"].where(sure, 0.0).to_numpy()
    squared = float((hits["distance"].to_numpy(np.float64) ** 2).mean())
    least = LEAST_OF_TAU * (case.rule.tau or 0.0)
    if (mean**2).sum() >= max(SHARE_OF_SQUARED * squared, least**2):
        yield case.suspicion(*told_offset(geometry, mean), found["estimate"].to_dict()["f1_corrected"])


def _centres(hits: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The true places of hits (N, 2), of boxes their centres, and how far off the predictions are."""
    return np.stack(centres(hits, schema.SIDE_PREFIXES[0]), axis=1), np.stack(offsets(hits), axis=1)


def _is_of_sizes(hits: pd.DataFrame, is_off: np.ndarray) -> bool:
    """Whether it is only that boxes are too large or too small: their top left corners are where they should be."""
    if not _have_sizes(hits):
        return False
    corner = (hits[["predicted_x", "predicted_y"]].to_numpy() - hits[["truth_x", "truth_y"]].to_numpy()).mean(axis=0)
    return bool((np.abs(corner) < np.abs(_centres(hits)[1].mean(axis=0)) / 2)[is_off].all())


def _scale(case: Case, hits: pd.DataFrame) -> Iterator[Suspicion]:
    """The scale that explains the errors better than an offset does."""
    if not geometry_of(case.predictions).in_image:
        return
    place, error = _centres(hits)
    squares = (place**2).sum(axis=0)
    if not (squares > 0).all():
        return
    slope = (place * error).sum(axis=0) / squares
    of_offset = np.sum((error - error.mean(axis=0)) ** 2)
    of_scale = np.sum((error - slope * place) ** 2)
    if of_offset > 0 and len(hits) * math.log(of_offset / max(of_scale, 1e-9 * of_offset)) > SURE_RATIO:
        correction = scaled_by(case.truth, case.predictions, 1 + slope)
        yield case.suspicion(correction.suspicion, correction.advice, case.f1_of(correction.predictions))


def _in_some_sequences(case: Case, hits: pd.DataFrame) -> Iterator[Suspicion]:
    """The offset that only some sequences have: their offsets lie about two places, one of them about 0."""
    _, error = _centres(hits)
    of_hit, first = arrays.grouped(arrays.row_keys(hits, ["sequence"]))
    n = np.bincount(of_hit)
    means = np.stack([arrays.added_at(of_hit, values, len(n)) / n for values in error.T], axis=1)
    along = means @ error.mean(axis=0)
    order = np.argsort(along)
    ends = np.arange(1, len(n))
    total, squares = np.cumsum(means[order], axis=0), np.cumsum((means[order] ** 2).sum(axis=1))
    between = (total[:-1] ** 2).sum(axis=1) / ends + ((total[-1] - total[:-1]) ** 2).sum(axis=1) / (len(n) - ends)
    split = int(np.argmax(between))
    spread = squares[-1] - (total[-1] ** 2).sum() / len(n)
    low, high = means[order[: split + 1]].mean(axis=0), means[order[split + 1 :]].mean(axis=0)
    if not enough("sequences on a side", min(split + 1, len(n) - split - 1)):
        return
    if squares[-1] - between[split] > LEFT_BY_TWO * spread or np.hypot(*low) > NO_OFFSET * np.hypot(*high):
        return
    names = hits["sequence"].iloc[first[order[split + 1 :]]]
    predictions, moved = case.predictions, case.predictions["sequence"].isin(names)
    corrected = case.f1_of(geometry_of(predictions).shifted(predictions, high[0] * moved, high[1] * moved))
    in_them = f"in {len(names):,} of {len(n):,} sequences"
    advice = f"predictions lie {high[0]:+.2f} px in x and {high[1]:+.2f} px in y from the truth {in_them}"
    suspicion = f"coordinates are {np.hypot(*high):.1f} px off {in_them}"
    yield case.suspicion(suspicion, f"{advice}: {messages.first_listed(names)}", corrected)
