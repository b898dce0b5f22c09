"""What submissions look like once a common mistake is corrected.

Each function yields the sides with one mistake corrected, for every mistake of its kind that the columns do not rule
out. `check` then computes how much F1 gains.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import COCO_SIGMAS, JOINTS, RAW_JOINTS, centres, geometry_of, labelled_joints
from ...matching import Rule, alignment
from ...support import arrays
from ...tables import Annotations, checks, schema

# The least gain in F1 from correcting a mistake, and a gain for those that the tables show whatever they cost.
GAIN, ANY_GAIN = 0.05, -1.0

# Coordinates up to this are taken for normalised ones: objects may reach beyond the image.
MOST_NORMALISED = 2.0

# The scale of normalised coordinates follows from this many predictions, compared with all truths of their frames; the
# logarithms of the ratios that follow from pairs of the same object differ by no more than SAME_SCALE.
SCALED_BY, SAME_SCALE = 2000, 0.02

# The least share of joints whose visibility is misread, and the least gain in F1 where it may be as intended.
LEAST_MISREAD = 0.02

# How the two sides of a body are told apart in the names of joints.
BODY_SIDES = [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R")]

PLURALS = {"frame": "frames", "sequence": "sequences", "category": "categories", "joint": "joints"}


class Correction(NamedTuple):
    """A mistake, what to do about it, and both sides as they would be without it.

    The mistake is suspected only if F1 gains at least `least_gain`. A correction that is `fitted` to these data has to
    gain more than one that has no number to choose.
    """

    suspicion: str
    advice: str
    truth: Annotations
    predictions: pd.DataFrame
    least_gain: float = GAIN
    fitted: bool = False


# What each function below is: from the truth, the predictions and a distance (px) within which coordinates agree.
Corrections = Callable[[Annotations, pd.DataFrame, float], Iterator[Correction]]


def of_places(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Coordinates and sizes that mean something else than pixels from the top left."""
    geometry = geometry_of(predictions)
    for suspicion, advice, corrected in geometry.slips:
        yield Correction(suspicion, advice, truth, corrected(predictions))
    beside = geometry.slips_beside_truth if geometry_of(truth.objects) is geometry else ()
    for suspicion, advice, with_truth in beside:
        mended = with_truth(truth.objects, predictions)
        if mended is not None:
            yield Correction(suspicion, advice, truth, mended)
    if not geometry.in_image:
        return
    yield from _mirrored(truth, predictions, reach)
    for factor, suspicion in ((2.0, "coordinates are halved"), (0.5, "coordinates are doubled")):
        axes = f"x, y and {geometry.third}" if geometry.third else "x and y"
        advice = f"give pixels of the full image: multiply {axes} by {factor:g}"
        yield Correction(suspicion, advice, truth, scaled(predictions, factor, factor))
    if np.abs(predictions[[*geometry.placed_by]].to_numpy()).max() <= MOST_NORMALISED:
        yield from _normalised(truth, predictions)


def _mirrored(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Coordinates that are counted from the other edge of the image; what is turned then turns the other way."""
    geometry = geometry_of(predictions)
    sizes = dict(zip("xy", geometry.sizes, strict=False))
    for (axis, edge), name in zip((("x", "right"), ("y", "bottom")), geometry.placed_by, strict=True):
        total = _mirror(truth.objects, predictions, axis, reach)
        if total is not None:
            size = predictions[sizes[axis]] if sizes else 0.0
            advice = f"count {name} from the other edge: {name} = {total:g} - {name}" + (" - its size" if sizes else "")
            mirrored = predictions.assign(**{name: total - predictions[name] - size})
            if geometry.drawn_angle is not None:
                mirrored[geometry.drawn_angle] *= -1
                advice += f", and {geometry.drawn_angle} = -{geometry.drawn_angle}"
            yield Correction(f"{name} is counted from the {edge} edge", advice, truth, mirrored)


def _normalised(truth: Annotations, predictions: pd.DataFrame) -> Iterator[Correction]:
    """Coordinates from 0 to 1, alone or together with another form of boxes, such as that of YOLO."""
    forms = [(f", and {suspicion}", form(predictions)) for suspicion, _, form in geometry_of(predictions).forms]
    for also, corrected in [("", predictions), *forms]:
        sizes = _image_sizes(truth, corrected)
        if sizes is not None:
            by = (f" ({size:g})" if isinstance(size, float) else "" for size in sizes)
            advice = "give pixels: multiply x by the image's width{} and y by its height{}".format(*by)
            yield Correction(f"coordinates are normalised to 0 to 1{also}", advice, truth, scaled(corrected, *sizes))


def scaled(predictions: pd.DataFrame, width: Any, height: Any) -> pd.DataFrame:
    """The objects with x and w multiplied by one factor, y and h by another; what is third by one that both share."""
    geometry = geometry_of(predictions)
    factors = dict(zip(geometry.columns, (width, height) * 2, strict=False))
    if not np.array_equal(width, height):
        factors.pop(geometry.third, None)
    return predictions.assign(**{column: predictions[column] * factor for column, factor in factors.items()})


def _image_sizes(truth: Annotations, predictions: pd.DataFrame) -> tuple[Any, Any] | None:
    """The width and height (px) of the images: those of the frames, or else what maps most predictions onto truths."""
    if truth.frames is not None and {"width", "height"} <= {*truth.frames}:
        frames = truth.frames[[*schema.FRAME_KEY, "width", "height"]]
        of_predictions = (
            predictions[schema.FRAME_KEY]
            .merge(frames, how="left", on=schema.FRAME_KEY)[["width", "height"]]
            .to_numpy(np.float64)
        )
        if not np.isnan(of_predictions).any():
            return of_predictions[:, 0], of_predictions[:, 1]
    scales = []
    for true, claimed in zip(*_all_pairs(truth.objects, predictions.head(SCALED_BY)), strict=True):
        positive = (true > 0) & (claimed > 0)
        logarithm = _most_frequent(arrays.log(true[positive]) - arrays.log(claimed[positive]), SAME_SCALE)
        if logarithm is None or logarithm > math.log(schema.LARGEST_COORDINATE):  # no picture is as large
            return None
        scales.append(float(np.round(np.exp(logarithm))))
    return scales[0], scales[1]


def _all_pairs(truth: pd.DataFrame, predictions: pd.DataFrame) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The x and y of the truth, and those of the prediction, of all pairs of a frame (or of its joint)."""
    aligned = alignment.align(Annotations(truth), Annotations(predictions), "union", may_be_disjoint=True)
    pairs = Rule("distance", np.inf).near_pairs(aligned)
    true, claimed = ([*centres(side.table)] for side in (aligned.truth, aligned.predictions))
    return [values[pairs.truth] for values in true], [values[pairs.prediction] for values in claimed]


def _mirror(truth: pd.DataFrame, predictions: pd.DataFrame, axis: str, reach: float) -> float | None:
    """The most frequent sum of a true and a predicted coordinate (px) of pairs that agree along the other axis.

    Returns None where there are no such pairs.
    """
    here, other = (0, 1) if axis == "x" else (1, 0)
    sides = []
    for side in (truth, predictions):
        places = centres(side)
        columns = [*schema.frame_columns(side), "object"]
        sides.append(Annotations(side[columns].assign(x=places[other], y=0.0, value=places[here])))
    aligned = alignment.align(sides[0], sides[1], "union", may_be_disjoint=True)
    pairs = Rule("distance", reach).near_pairs(aligned)
    with np.errstate(over="ignore"):
        added = aligned.truth.table["value"][pairs.truth] + aligned.predictions.table["value"][pairs.prediction]
    total = _most_frequent(added, reach)
    return None if total is None else float(np.round(total))


def _most_frequent(values: np.ndarray, width: float) -> float | None:
    """The median of the values about the fullest of bins of this width; None if no value is finite."""
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    low = np.floor(values.min())
    bins = np.minimum((values - low) / width, 1e6).astype(np.int64)  # whatever is farther off shares the last bin
    fullest = int(np.argmax(np.bincount(bins)))
    near = np.abs(values - (low + width * (fullest + 0.5))) <= width
    return float(np.median(values[near if near.any() else bins == fullest]))


def of_numbers(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Frames, sequences or categories that are numbered from 0 instead of 1, or the other way round."""
    for column in ("frame", "sequence", "category"):
        if column not in truth.objects or column not in predictions:
            continue
        numbers = checks.decoded(predictions[column])
        if pd.api.types.is_any_real_numeric_dtype(numbers.dtype):
            for step, wrong in ((1, "low"), (-1, "high")):
                suspicion = f"{PLURALS[column]} are numbered too {wrong} by 1"
                advice = f"count {PLURALS[column]} as the truth does: {column} = {column} {'+' if step > 0 else '-'} 1"
                yield Correction(suspicion, advice, truth, predictions.assign(**{column: numbers + step}))


def of_first_frames(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Frames that begin at another number than the truth's, by more than 1."""
    for shift in _frame_shifts(truth.objects, predictions) - {-1, 0, 1}:
        yield with_frames_shifted(truth, predictions, shift)


def of_frames_beyond(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Predictions in frames that the truth's frames table does not have, while a shift brings all into its frames.

    Objects may move so little from frame to frame that F1 hardly tells, but nobody sees a frame that does not exist.
    """
    if truth.frames is None:
        return
    listed = truth.frames.groupby("sequence")["frame"].agg(["min", "max"])
    of_predictions = (
        predictions[predictions["sequence"].isin(listed.index)].groupby("sequence")["frame"].agg(["min", "max"])
    )
    listed = listed.reindex(of_predictions.index)

    def inside(shift: int) -> bool:
        moved = of_predictions + shift
        return bool((moved["min"] >= listed["min"]).all() and (moved["max"] <= listed["max"]).all())

    if not inside(0):
        for shift in sorted(
            _frame_shifts(truth.objects, predictions) | {-1, 1}, key=lambda shift: (abs(shift), -shift)
        ):
            if inside(shift):
                yield with_frames_shifted(truth, predictions, shift)._replace(least_gain=0.0)
                return


def _frame_shifts(truth: pd.DataFrame, predictions: pd.DataFrame) -> set[int]:
    """How much later the truth's frames begin, and end, in the median sequence that both sides have, and in all."""
    ends = [side.groupby("sequence")["frame"].agg(["min", "max"]) for side in (truth, predictions)]
    later = (ends[0] - ends[1]).dropna()
    firsts, lasts = ([of_side[end] for of_side in ends] for end in ("min", "max"))
    in_all = firsts[0].min() - firsts[1].min(), lasts[0].max() - lasts[1].max()
    return {int(value) for value in (*later.median(), *in_all)} if len(later) else set()


def with_frames_shifted(truth: Annotations, predictions: pd.DataFrame, shift: int) -> Correction:
    """The predictions with all frames numbered later by `shift`."""
    suspicion = f"frames are numbered too {'low' if shift > 0 else 'high'} by {abs(shift):,}"
    advice = f"count frames as the truth does: frame = frame {'+' if shift > 0 else '-'} {abs(shift)}"
    return Correction(suspicion, advice, truth, predictions.assign(frame=predictions["frame"] + shift))


def of_joints(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Joints that go by the name of another one: of the other side of the body, or of the next in the order."""
    if "joint" not in truth.objects or "joint" not in predictions:
        return
    names = pd.unique(pd.concat([truth.objects["joint"], predictions["joint"]])).tolist()
    for suspicion, renamed in (
        ("left and right joints are swapped", _other_sides(names)),
        *(("the order of joints is shifted by 1", shifted) for shifted in _shifted(names)),
    ):
        changed = [name for name in names if renamed[name] != name]
        if changed:
            advice = f"name joints as the truth does: what is called {changed[0]} is {renamed[changed[0]]}, and so on"
            yield Correction(suspicion, advice, truth, with_names(predictions, "joint", renamed))


def _other_sides(names: list[Any]) -> dict[Any, Any]:
    """For each joint, that of the other side of the body; itself where there is none."""
    text = [name for name in names if isinstance(name, str)]
    pairs = [(name, name.replace(*sides, 1)) for sides in BODY_SIDES for name in text]
    swapped = {left: right for left, right in pairs if right != left and right in text}
    swapped |= {right: left for left, right in swapped.items()}
    return {name: swapped.get(name, name) for name in names}


def _shifted(names: list[Any]) -> Iterator[dict[Any, Any]]:
    """For each order in which the joints may have been listed, the next of each joint, and the one before it."""
    known = [[name for name in order if name in names] for order in (list(COCO_SIGMAS), RAW_JOINTS, JOINTS)]
    orders = [names if isinstance(names[0], str) else sorted(names)] if names else []
    orders += [order for order in known if len(order) == len(names)]
    for order in {tuple(order): order for order in orders}.values():
        following = dict(zip(order, [*order[1:], order[0]], strict=True))
        yield following
        yield {name: before for before, name in following.items()}


def of_visibility(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Absent joints that count because they are written as 0, 0; joints with a place that count as absent.

    True joints at 0, 0 and a visibility below 0 are mistakes whatever they cost. Otherwise it may be as intended.
    """
    for side, objects in (("truth", truth.objects), ("predictions", predictions)):
        if "joint" not in objects:
            return
        labelled = labelled_joints(objects)
        nowhere = ((objects["x"] == 0) & (objects["y"] == 0)).to_numpy()
        negative = "visibility" in objects and bool((objects["visibility"] < 0).any())
        for problem, wrong, sure, advice in (
            ("joints at 0, 0 count", labelled & nowhere, side == "truth", "leave them out, or give them visibility 0"),
            ("joints with a place do not count", ~labelled & ~nowhere, negative, "give them a visibility above 0"),
        ):
            if wrong.sum() >= LEAST_MISREAD * len(objects) and wrong.any():
                told = f"{advice}: this is so for {wrong.sum():,} of {len(objects):,} joints of the {side}"
                anew = objects.assign(visibility=np.where(labelled ^ wrong, 1, 0))
                sides = (truth._replace(objects=anew), predictions) if side == "truth" else (truth, anew)
                suspicion = f"visibility is misread in the {side}: {problem}"
                yield Correction(suspicion, told, *sides, ANY_GAIN if sure else LEAST_MISREAD)


def of_names(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Categories and joints that the truth has in other case or without the spaces around them."""
    for column in ("category", "joint"):
        if column not in truth.objects or column not in predictions:
            continue
        known, claimed = (pd.unique(checks.decoded(side[column])).tolist() for side in (truth.objects, predictions))
        if not all(isinstance(name, str) for name in known):
            continue
        plain = {name.strip().casefold(): name for name in known}
        renamed = {name: plain.get(name.strip().casefold(), name) for name in claimed if isinstance(name, str)}
        wrong = [name for name in claimed if name not in known and renamed.get(name, name) != name]
        if wrong and len(plain) == len(known):
            advice = f"write names as the truth does: {wrong[0]!r} is {renamed[wrong[0]]!r} there"
            suspicion = f"{PLURALS[column]} are named with other case or spaces"
            corrected = with_names(predictions, column, {name: renamed[name] for name in wrong})
            yield Correction(suspicion, advice, truth, corrected, ANY_GAIN)


def with_names(predictions: pd.DataFrame, column: str, names: Mapping[Any, Any]) -> pd.DataFrame:
    """The predictions with other names in a column."""
    values = checks.decoded(predictions[column])
    return predictions.assign(**{column: values.map(lambda name: names.get(name, name)).astype(values.dtype)})
