"""Turns keypoints, one row a joint, into whole poses, one row an object.

The joints become columns: `x_nose` and `y_nose` (px) are the place of the nose, null where the truth has not labelled
it or a prediction lacks it. Any other column of the keypoints becomes a column of the poses. Its value is that of all
joints of the pose, or null if they differ. The columns `x`, `y`, `w`, `h` (px) of a pose are its box: the one in the
columns `box_x`, `box_y`, `box_w`, `box_h` if it is known, and otherwise the smallest box around the joints.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..support.arrays import grouped, row_keys
from ..support.errors import InputError
from ..tables.annotations import Annotations
from ..tables.checks import size_problems
from ..tables.columns import as_numbers
from ..tables.inputs import source
from ..tables.messages import counted, first_keys, missing
from ..tables.schema import BOX, OBJECT_KEY, labelled_joints, pose_columns
from .alignment import Aligned
from .similarity import difference

POSE_BOX = {f"box_{side}": side for side in BOX}

# Columns that belong to a joint, not to its pose.
OF_JOINTS = ["joint", "visibility"]


def whole_poses(
    truth: Annotations, predictions: Annotations, sigmas: Mapping[Any, float]
) -> tuple[Annotations, Annotations]:
    """Both sides as whole poses; `sigmas` has the sigma of each joint that a pose may have.

    Raises InputError if a side has no column `joint`, a joint has no sigma, or the truth has no areas.
    """
    problems = _problems(truth.objects, predictions.objects, sigmas)
    if problems:
        raise InputError(problems)
    poses = _poses(truth, list(sigmas), labelled_joints(truth.objects)), _poses(predictions, list(sigmas))
    several = poses[0].objects["area"].isna().to_numpy()
    if several.any():
        problem = f"{counted(int(several.sum()), 'object')} listed with several areas; one for all its rows is needed"
        keys = first_keys(poses[0].objects, several, OBJECT_KEY)
        raise InputError(f"{source(truth.objects, 'truth')}: column area: {problem}: {keys}")
    return poses


def check_pose_scores(aligned: Aligned, name: str) -> None:
    """Raises InputError if joints of one pose have different scores, which leaves the pose without any."""
    poses = aligned.predictions.table
    several = np.isnan(as_numbers(poses["score"]))
    if several.any():
        keys = first_keys(poses, several, OBJECT_KEY)
        problem = f"{counted(int(several.sum()), 'pose')} listed with several scores; one for all its joints is needed"
        raise InputError(f"{name}: column score: {problem}: {keys}")


def _problems(truth: pd.DataFrame, predictions: pd.DataFrame, named: Mapping[Any, float]) -> list[str]:
    """The problems that keep poses from being compared by OKS; `named` has the sigmas by joint."""
    problems = []
    for name, table in (("truth", truth), ("predictions", predictions)):
        if "joint" not in table:
            why = "OKS needs keypoints, one row a joint"
            problems.append(missing(source(table, name), "joint", table.columns, why))
            continue
        unknown = [str(joint) for joint in table["joint"].unique() if joint not in named]
        if unknown:
            problem = f"column joint: there is no sigma for {', '.join(unknown)}; give sigmas={{joint: sigma}}"
            problems.append(f"{source(table, name)}: {problem}")
    name = source(truth, "truth")
    problems += size_problems(truth, "area", name, "OKS needs the size of each object, px²")
    return problems + [
        f"{name}: column {column} is of type {truth[column].dtype}; numbers are needed"
        for column in POSE_BOX
        if column in truth and not pd.api.types.is_any_real_numeric_dtype(truth[column].dtype)
    ]


def _poses(side: Annotations, joints: list[Any], labelled: np.ndarray | None = None) -> Annotations:
    """The poses of a side, in the order of their first rows; joints that are not `labelled` are null in them."""
    objects = side.objects
    pose, first = grouped(row_keys(objects, OBJECT_KEY))
    # From the order of keys to that of the file, which is the order of first rows.
    order = np.argsort(first)
    pose, first = np.argsort(order)[pose], first[order]
    codes, occurring = pd.factorize(objects["joint"])
    joint = pd.Index(joints).get_indexer(occurring)[codes]
    places = np.full((len(joints), 2, len(first)), np.nan)
    places[joint, :, pose] = objects[["x", "y"]].to_numpy()
    if labelled is not None:
        places[joint[~labelled], :, pose[~labelled]] = np.nan
    table = objects[OBJECT_KEY].take(first).reset_index(drop=True)
    named = dict(zip(pose_columns(joints), places.reshape(2 * len(joints), len(first)), strict=True))
    table = table.assign(**_box(objects, pose, first), **_common(objects, pose, first), **named)
    table.attrs = objects.attrs
    return side._replace(objects=table)


def _box(objects: pd.DataFrame, pose: np.ndarray, first: np.ndarray) -> dict[str, np.ndarray]:
    """The box of each pose: the given one if it is known, and otherwise the smallest around the joints."""
    corners = []
    for axis in ("x", "y"):
        low, high = np.full(len(first), np.inf), np.full(len(first), -np.inf)
        np.minimum.at(low, pose, objects[axis].to_numpy())
        np.maximum.at(high, pose, objects[axis].to_numpy())
        corners.append((low, difference(high, low)))
    around = {"x": corners[0][0], "y": corners[1][0], "w": corners[0][1], "h": corners[1][1]}
    if not all(column in objects for column in POSE_BOX):
        return around
    given = objects[list(POSE_BOX)].take(first).to_numpy(np.float64, na_value=np.nan)
    known = np.isfinite(given).all(axis=1)
    return {side: np.where(known, values, around[side]) for side, values in zip(BOX, given.T, strict=True)}


def _common(objects: pd.DataFrame, pose: np.ndarray, first: np.ndarray) -> dict[str, pd.Series]:
    """The columns of poses: the value that all rows of a pose share, null if they differ."""
    columns = {}
    for column in objects.columns.difference([*OBJECT_KEY, *OF_JOINTS, *BOX, *POSE_BOX], sort=False):
        values = objects[column].reset_index(drop=True)
        values = values.astype("boolean") if pd.api.types.is_bool_dtype(values.dtype) else values
        of_first = values.take(first[pose]).reset_index(drop=True)
        try:
            equal = values.eq(of_first).to_numpy(bool, na_value=False) | (values.isna() & of_first.isna()).to_numpy()
        except (TypeError, ValueError, NotImplementedError):  # arrays and other values that cannot be compared
            equal = first[pose] == np.arange(len(pose))
        same = np.ones(len(first), bool)
        same[pose[~equal]] = False
        columns[column] = values.take(first).reset_index(drop=True).where(same)
    return columns
