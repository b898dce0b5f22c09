"""Turns keypoints, one row a joint, into whole poses, one row an object, and compares poses by OKS.

A column of the keypoints becomes a column of the poses. Its value is that of all joints of the pose, or null if they
differ. The columns `x`, `y`, `w`, `h` (px) of a pose are its box: the one in the columns `box_x`, `box_y`, `box_w`,
`box_h` if it is known, and otherwise the smallest box around the joints.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..support.errors import InputError
from ..support.keys import grouped, row_keys
from ..tables.annotations import Annotations
from ..tables.checks import size_problems
from ..tables.inputs import source
from ..tables.joints import COCO_SIGMAS
from ..tables.messages import counted, first_keys
from ..tables.schema import BOX, FRAME_KEY, labelled_joints
from .alignment import Aligned
from .similarity import difference, oks

POSE_KEY = [*FRAME_KEY, "object"]
POSE_BOX = {f"box_{side}": side for side in BOX}

# Columns that belong to a joint, not to its pose.
OF_JOINTS = ["joint", "x", "y", "visibility"]


class WholePoses(NamedTuple):
    """The N poses of one side, with J joints each.

    `annotations.objects` has one row a pose. In the same order, `joints` (N, J, 2) are x and y of the joints in pixels,
    null for missing ones, and `labelled` (N, J) marks the labelled joints.
    """

    annotations: Annotations
    joints: np.ndarray
    labelled: np.ndarray


class PosePairs(NamedTuple):
    """The poses of both sides, and the sigma of each joint (J,)."""

    truth: WholePoses
    predictions: WholePoses
    sigmas: np.ndarray

    def similarity(self, aligned: Aligned, truth_rows: np.ndarray, prediction_rows: np.ndarray) -> np.ndarray:
        """OKS of pairs of rows of the two aligned sides, (N,)."""
        truth = aligned.truth.row[truth_rows]
        predictions = aligned.predictions.row[prediction_rows]
        objects = self.truth.annotations.objects
        boxes = [objects[side].to_numpy()[truth] for side in BOX]
        area = objects["area"].to_numpy(np.float64)[truth]
        joints = self.truth.joints[truth], self.predictions.joints[predictions]
        return oks(joints[0], self.truth.labelled[truth], area, boxes, joints[1], self.sigmas)


def whole_poses(truth: Annotations, predictions: Annotations, sigmas: Mapping[Any, float] | None) -> PosePairs:
    """Both sides as whole poses.

    `sigmas` maps each joint to its sigma; None means those of COCO. Raises InputError if a side has no column `joint`,
    a joint has no sigma, or the truth has no areas; ValueError if a sigma is not above 0.
    """
    if not isinstance(sigmas, Mapping | None):
        raise ValueError(f"sigmas is of type {type(sigmas).__name__}; a dict of joints and their sigmas is needed")
    named = COCO_SIGMAS if sigmas is None else dict(sigmas)
    values = np.array(list(named.values()), np.float64)
    if not np.all((values > 0) & (values < np.inf)):
        raise ValueError("sigmas: numbers above 0 are needed, a joint's deviation as a share of the object's size")
    problems = _problems(truth.objects, predictions.objects, named)
    if problems:
        raise InputError(problems)
    pairs = PosePairs(_poses(truth, list(named)), _poses(predictions, list(named)), values)
    whole = pairs.truth.annotations.objects
    several = whole["area"].isna().to_numpy()
    if several.any():
        problem = f"{counted(int(several.sum()), 'object')} listed with several areas; one for all its rows is needed"
        keys = first_keys(whole, several, POSE_KEY)
        raise InputError(f"{source(truth.objects, 'truth')}: column area: {problem}: {keys}")
    return pairs


def _problems(truth: pd.DataFrame, predictions: pd.DataFrame, named: Mapping[Any, float]) -> list[str]:
    """The problems that keep poses from being compared by OKS; `named` has the sigmas by joint."""
    problems = []
    for name, table in (("truth", truth), ("predictions", predictions)):
        if "joint" not in table:
            problems.append(f"{source(table, name)}: column joint is missing; OKS needs keypoints, one row a joint")
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


def _poses(side: Annotations, names: list[Any]) -> WholePoses:
    """The poses of a side, in the order of their first rows; `names` are the joints in the order of the arrays."""
    objects = side.objects
    pose, first = grouped(row_keys(objects, POSE_KEY))
    # From the order of keys to that of the file, which is the order of first rows.
    order = np.argsort(first)
    pose, first = np.argsort(order)[pose], first[order]
    codes, occurring = pd.factorize(objects["joint"])
    joint = pd.Index(names).get_indexer(occurring)[codes]
    joints = np.full((len(first), len(names), 2), np.nan)
    labelled = np.zeros(joints.shape[:2], bool)
    joints[pose, joint] = objects[["x", "y"]].to_numpy()
    labelled[pose, joint] = labelled_joints(objects)
    table = objects[POSE_KEY].take(first).reset_index(drop=True)
    table = table.assign(**_box(objects, pose, first), **_common(objects, pose, first))
    table.attrs = objects.attrs
    return WholePoses(side._replace(objects=table), joints, labelled)


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
    for column in objects.columns.difference([*POSE_KEY, *OF_JOINTS, *POSE_BOX], sort=False):
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
