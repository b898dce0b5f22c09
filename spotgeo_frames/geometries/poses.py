"""Poses: keypoints, one row a joint in tables, taken together as whole poses, one row an object, and measured by OKS.

The joints become columns: `x_nose` and `y_nose` (px) are the place of the nose, null where the truth has not labelled
it or a prediction lacks it. Any other column of the keypoints becomes a column of the poses. Its value is that of all
joints of the pose, or null if they differ. The columns `x`, `y`, `w`, `h` (px) of a pose are its box: the one in the
columns `box_x`, `box_y`, `box_w`, `box_h` if it is known, and otherwise the smallest box around the joints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..support import InputError, arrays
from ..tables import Columns, SideColumns, array_of, as_numbers, messages, null_rows, provenance, schema
from . import boxes
from .boxes import BOXES, Boxes
from .facts import Geometry, Offsets, Rows, difference
from .joints import COCO_SIGMAS, labelled_joints

POSE_BOX = {f"box_{side}": side for side in schema.BOX}

if TYPE_CHECKING:
    import pandas as pd

# The exponential of the negative of this, and of all beyond, is 0 in float64.
VANISHING = 746.0

# Columns that belong to a joint, not to its pose.
OF_JOINTS = ["joint", "visibility"]


class _Named(NamedTuple):
    """The joint of each row of a side, as a position in the distinct ones."""

    of_row: np.ndarray
    distinct: Any


def whole_poses(truth: SideColumns, predictions: SideColumns, sigmas: Mapping[Any, float]) -> tuple[SideColumns, ...]:
    """Both sides as whole poses; `sigmas` has the sigma of each joint that a pose may have.

    Raises InputError if a side has no column `joint`, a joint has no sigma, or the truth has no areas.
    """
    sides = truth, predictions
    named = [_Named(*side.objects.numbered("joint")) if "joint" in side.objects else None for side in sides]
    problems = _problems(truth.objects, predictions.objects, named, sigmas)
    if problems:
        raise InputError(problems)
    labelled = labelled_joints(truth.objects), None
    poses = tuple(
        _poses(side, list(sigmas), joints, marked)
        for side, joints, marked in zip(sides, named, labelled, strict=True)
        if joints is not None
    )
    several = null_rows(poses[0].objects["area"])
    if several.any():
        listed = messages.counted(int(several.sum()), "object")
        problem = f"{listed} listed with several areas; one for all its rows is needed"
        keys = messages.first_keys(poses[0].objects, several, schema.OBJECT_KEY)
        raise InputError(f"{provenance.source(truth.objects, 'truth')}: column area: {problem}: {keys}")
    return poses


def check_pose_scores(poses: Columns, name: str) -> None:
    """Raises InputError if joints of one pose have different scores, which leaves the pose without any."""
    several = np.isnan(as_numbers(poses["score"]))
    if several.any():
        keys = messages.first_keys(poses, several, schema.OBJECT_KEY)
        listed = messages.counted(int(several.sum()), "pose")
        problem = f"{listed} listed with several scores; one for all its joints is needed"
        raise InputError(f"{name}: column score: {problem}: {keys}")


def _problems(
    truth: Columns, predictions: Columns, joints: Sequence[_Named | None], known: Mapping[Any, float]
) -> list[str]:
    """The problems that keep poses from being compared by OKS; `known` has the sigmas by joint."""
    import pandas as pd

    from ..tables import number_checks

    problems = []
    for name, table, named in (("truth", truth, joints[0]), ("predictions", predictions, joints[1])):
        if named is None:
            why = "OKS needs keypoints, one row a joint"
            problems.append(messages.missing(provenance.source(table, name), "joint", table.columns, why))
            continue
        unknown = [str(joint) for joint in named.distinct if joint not in known]
        if unknown:
            problem = f"column joint: there is no sigma for {', '.join(unknown)}; give sigmas={{joint: sigma}}"
            problems.append(f"{provenance.source(table, name)}: {problem}")
    name = provenance.source(truth, "truth")
    problems += number_checks.size_problems(truth, "area", name, "OKS needs the size of each object, px²")
    return problems + [
        f"{name}: column {column} is of type {truth[column].dtype}; numbers are needed"
        for column in POSE_BOX
        if column in truth and not pd.api.types.is_any_real_numeric_dtype(truth[column].dtype)
    ]


def _poses(side: SideColumns, joints: list[Any], named: _Named, labelled: np.ndarray | None) -> SideColumns:
    """The poses of a side, in the order of their first rows; joints that are not `labelled` are null in them."""
    objects, position = side.objects, {joint: place for place, joint in enumerate(joints)}
    pose, first = arrays.grouped(arrays.row_keys(objects, schema.OBJECT_KEY))
    # From the order of keys to that of the file, which is the order of first rows.
    order = np.argsort(first)
    pose, first = np.argsort(order)[pose], first[order]
    joint = np.array([position[one] for one in named.distinct], np.int64)[named.of_row]
    places = np.full((len(joints), 2, len(first)), np.nan)
    places[joint, 0, pose], places[joint, 1, pose] = objects["x"], objects["y"]
    if labelled is not None:
        places[joint[~labelled], :, pose[~labelled]] = np.nan
    key = {name: objects[name].take(first) for name in schema.OBJECT_KEY}
    of_joints = dict(zip(pose_columns(joints), places.reshape(2 * len(joints), len(first)), strict=True))
    columns = {**key, **_box(objects, pose, first), **_common(objects, pose, first), **of_joints}
    return side._replace(objects=Columns(columns, objects.attrs, len(first)))


def _box(objects: Columns, pose: np.ndarray, first: np.ndarray) -> dict[str, np.ndarray]:
    """The box of each pose: the given one if it is known, and otherwise the smallest around the joints."""
    given, known = None, np.zeros(len(first), bool)
    if all(column in objects for column in POSE_BOX):
        given = np.stack([as_numbers(objects[column].take(first)) for column in POSE_BOX])
        known = np.isfinite(given).all(axis=0)
        if known.all():
            return dict(zip(schema.BOX, given, strict=True))
    around: dict[str, np.ndarray] = {}
    for axis, size in (("x", "w"), ("y", "h")):
        low, high = np.full(len(first), np.inf), np.full(len(first), -np.inf)
        np.minimum.at(low, pose, objects[axis])
        np.maximum.at(high, pose, objects[axis])
        around |= {axis: low, size: difference(high, low)}
    boxes_around = {side: around[side] for side in schema.BOX}
    if given is None:
        return boxes_around
    return {side: np.where(known, of, boxes_around[side]) for side, of in zip(schema.BOX, given, strict=True)}


def _common(objects: Columns, pose: np.ndarray, first: np.ndarray) -> dict[str, Any]:
    """The columns of poses: the value that all rows of a pose share, null if they differ."""
    others = {*schema.OBJECT_KEY, *OF_JOINTS, *schema.BOX, *POSE_BOX}
    columns = {name: values for name, values in objects.arrays.items() if name not in others}
    return {name: _shared(values, pose, first) for name, values in columns.items()}


def _shared(values: Any, pose: np.ndarray, first: np.ndarray) -> Any:
    """The value that all rows of a pose share, null if they differ; flags become nullable."""
    import pandas as pd

    of_first, kind = values.take(first), getattr(values.dtype, "kind", "")
    is_number = isinstance(values, np.ndarray) and kind in "biuf"
    if not is_number and not isinstance(values.dtype, pd.CategoricalDtype):
        return _shared_of_any_type(values, pose, first)
    told, others = (values, of_first) if is_number else (values.codes, of_first.codes)
    others = others.take(pose)
    differ = told != others
    if kind == "f":
        differ &= ~(np.isnan(told) & np.isnan(others))
    same = np.ones(len(first), bool)
    same[pose[differ]] = False
    if kind == "f":
        return np.where(same, of_first, values.dtype.type(np.nan))
    if kind == "b":
        return pd.arrays.BooleanArray(of_first, ~same)
    return of_first if same.all() else _shared_of_any_type(values, pose, first)


def _shared_of_any_type(values: Any, pose: np.ndarray, first: np.ndarray) -> Any:
    """The same of a column of any type, several times slower."""
    import pandas as pd

    column = pd.Series(values, dtype=values.dtype, copy=False)
    column = column.astype("boolean") if pd.api.types.is_bool_dtype(column.dtype) else column
    of_first = column.take(first[pose]).reset_index(drop=True)
    try:
        equal = column.eq(of_first).to_numpy(bool, na_value=False) | (column.isna() & of_first.isna()).to_numpy()
    except (TypeError, ValueError, NotImplementedError):  # arrays and other values that cannot be compared
        equal = first[pose] == np.arange(len(pose))
    same = np.ones(len(first), bool)
    same[pose[~equal]] = False
    return array_of(column.take(first).reset_index(drop=True).where(same))


def pose_columns(joints: Iterable[Any]) -> list[str]:
    """The columns of whole poses that hold the joints: x and y (px) of each joint, null where it is not labelled."""
    return [f"{axis}_{joint}" for joint in joints for axis in "xy"]


def pose_joints(matches: Any) -> list[str]:
    """The joints of a match table of whole poses, those with an x and a y on both sides; none in other tables."""
    if schema.measure_of(matches) == "distance" or matches.attrs.get("rule", "oks") != "oks":
        return []
    x = f"{schema.PREFIXES['truth']}x_"
    named = [column.removeprefix(x) for column in map(str, matches.columns) if column.startswith(x)]
    return [
        joint
        for joint in named
        if all(f"{side}{column}" in matches for side in schema.SIDE_PREFIXES for column in pose_columns([joint]))
    ]


def oks(
    truth: np.ndarray,
    labelled: np.ndarray,
    area: np.ndarray,
    boxes: Boxes,
    predictions: np.ndarray,
    sigmas: np.ndarray,
) -> np.ndarray:
    """Object keypoint similarity of N pairs of poses, (N,): the mean over labelled joints of exp(-d² / (2 s² k²)).

    The formula is that of pycocotools 2.0.11 (cocoeval.py, computeOks): d is the distance of a joint (px), s² the area
    of the truth (px²), and k twice the joint's sigma. If no joint of the truth is labelled, the mean is over all
    joints, and d is how far the predicted joint lies outside the truth's box, enlarged three times about its middle. A
    joint that a prediction lacks counts as infinitely far; pycocotools has no such predictions.

    `truth` and `predictions` are the x and y of the joints, (N, J, 2), in pixels, and null for missing joints.
    `labelled` (N, J) marks the truth's labelled joints. `area` is (N,) in px², `boxes` are four arrays (N,) in pixels
    (left, top, width, height), and `sigmas` (J,) are shares of the object's size.
    """
    left, top, width, height = (side[:, None] for side in boxes)
    (x, y), any_labelled = np.moveaxis(predictions, 2, 0), labelled.any(axis=1, keepdims=True)
    variances = (sigmas * 2) ** 2
    with np.errstate(over="ignore", invalid="ignore"):  # a distance too large to be squared counts as infinite
        dx, dy = (predictions[..., axis] - truth[..., axis] for axis in (0, 1))
        if not any_labelled.all():
            outside = (
                np.maximum(0.0, start - size - here) + np.maximum(0.0, here - (start + size * 2))
                for here, start, size in ((x, left, width), (y, top, height))
            )
            dx, dy = (np.where(any_labelled, *of) for of in zip((dx, dy), outside, strict=True))
        exponents = (dx * dx + dy * dy) / variances / (area[:, None] + np.spacing(1)) / 2
    counted = labelled | ~any_labelled
    # One column of memory after another, whose positions are taken several times faster than marked cells.
    order: Literal["C", "F"] = "C" if exponents.flags.c_contiguous else "F"
    told = np.flatnonzero((counted & (exponents < VANISHING)).ravel(order))  # not where it is null
    near = np.zeros(exponents.size)
    near[told] = arrays.exp(-exponents.ravel(order).take(told))
    return near.reshape(exponents.shape, order=order).sum(axis=1) / np.count_nonzero(counted, axis=1)


class Poses(NamedTuple):
    """Whole poses: the x and y of J joints in turn (2J, N), the boxes (4, N), and the truth's areas (px²)."""

    places: np.ndarray
    boxes: np.ndarray
    area: np.ndarray


def _prepared(table: Columns, joints: list[Any]) -> Poses:
    places = np.stack([as_numbers(table[name]) for name in pose_columns(joints)])
    return Poses(places, boxes.prepared(table), as_numbers(table["area"]) if "area" in table else np.zeros(0))


def _measure(truth: Poses, predictions: Poses, rows: np.ndarray, others: np.ndarray, sigmas: np.ndarray) -> np.ndarray:
    """OKS of pairs of rows, (P,)."""
    joints, predicted = (
        side.places.take(of_side, axis=1).reshape(len(sigmas), 2, -1).transpose(2, 0, 1)
        for side, of_side in ((truth, rows), (predictions, others))
    )
    is_null = np.isnan(truth.places)  # of each truth, which are fewer than pairs
    labelled = ~(is_null[::2] | is_null[1::2]).take(rows, axis=1).T
    return oks(joints, labelled, truth.area[rows], [side.take(rows) for side in truth.boxes], predicted, sigmas)


def _offsets(truth: Rows, predictions: Rows, joints: list[Any]) -> np.ndarray:
    """Predicted minus true x and y (px) of each joint, (N, J, 2)."""
    names = pose_columns(joints)
    differences = np.stack([predictions[name] - truth[name] for name in names], axis=1)
    return differences.reshape(-1, len(joints), 2)


def _moved(predictions: pd.DataFrame, offset: np.ndarray, joints: list[Any]) -> pd.DataFrame:
    """Poses without an offset of each joint, (N, J, 2)."""
    columns = pose_columns(joints)
    places = predictions[columns].to_numpy(np.float64, na_value=np.nan) - offset.reshape(len(predictions), len(columns))
    return predictions.assign(**dict(zip(columns, places.T, strict=True)))


def _never_found(truth: Columns, joints: list[Any]) -> np.ndarray:
    """Marks poses without a labelled joint, by the column `num_keypoints` where it tells, or else by their joints."""
    counts = np.sum([~np.isnan(as_numbers(truth[x])) for x in pose_columns(joints)[::2]], axis=0)
    if "num_keypoints" not in truth:
        return counts == 0
    told = as_numbers(truth["num_keypoints"])
    return np.where(np.isnan(told), counts, told) == 0


def _size(rows: Rows, joints: list[Any]) -> np.ndarray:
    """The areas (px²) of the convex hulls of the joints, (N,); 0 if these lie on a line."""
    places = np.stack([rows[name] for name in pose_columns(joints)], axis=1)
    poses = places.reshape(len(places), len(joints), 2)
    return np.array([_hull_area(pose[~np.isnan(pose).any(axis=1)]) for pose in poses])


def _hull_area(points: np.ndarray) -> float:
    """The area (px²) of the convex hull of points (N, 2); 0 if they lie on a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return float(ConvexHull(points).volume) if len(points) > 2 else 0.0
    except QhullError:
        return 0.0


def poses_of(sigmas: Mapping[Any, float] = COCO_SIGMAS) -> Geometry:
    """Whole poses of these joints, whose `sigmas` are shares of the object's size."""
    return _poses_of(tuple((joint, type(joint), sigma) for joint, sigma in sigmas.items()))


@lru_cache(maxsize=16)
def _poses_of(of_joints: tuple[tuple[Any, type, float], ...]) -> Geometry:
    """The same; kept, since a rule is asked for its geometry again and again. Types tell 1 from 1.0 and True."""
    sigmas = {joint: sigma for joint, _, sigma in of_joints}
    joints = list(sigmas)
    measured, moved = partial(_offsets, joints=joints), partial(_moved, joints=joints)
    return Geometry(
        "poses",
        (*schema.BOX, *pose_columns(joints)),
        partial(_prepared, joints=joints),
        partial(_measure, sigmas=np.array([*sigmas.values()])),
        columns_of_tables=("x", "y", "joint"),
        columns_of_truth=("area",),
        similarity="oks",
        title="OKS",
        official_numbers="poses",
        any_column=True,
        never_found=partial(_never_found, joints=joints),
        assembled=partial(whole_poses, sigmas=sigmas),
        place=BOXES.place,
        outline=BOXES.outline,
        size=partial(_size, joints=joints),
        drawn_as=BOXES.drawn_as,
        offsets=Offsets(["dx", "dy"], [str(joint) for joint in joints], measured, moved, np.asarray),
    )
