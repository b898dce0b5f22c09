"""The skeletons in frames of whole poses, and of joints that have a row each, as lines along bones."""

import numpy as np
import pandas as pd

from ...geometries.joints import BONES
from ...geometries.poses import pose_joints
from ...tables.schema import FN, FP, PREFIXES, TP

PREDICTED = PREFIXES["predictions"]


def bones_of_poses(poses: pd.DataFrame, side: str) -> tuple[np.ndarray, np.ndarray]:
    """The x and y (px) of one line along the bones of whole poses, with a gap after each bone.

    `side` is the prefix of the columns of truths or of predictions.
    """
    joints = pose_joints(poses)
    x, y = pose_places(poses, side)
    return _along(x, y, _pairs(joints), np.ones((len(x), len(_pairs(joints))), bool))


def pose_places(poses: pd.DataFrame, side: str) -> tuple[np.ndarray, np.ndarray]:
    """The x and y (px) of all joints of whole poses, (poses, joints), null where there is none."""
    x, y = (
        poses[[f"{side}{axis}_{joint}" for joint in pose_joints(poses)]].to_numpy(np.float64, na_value=np.nan)
        for axis in "xy"
    )
    return x, y


def bones_of_joints(rows: pd.DataFrame, side: str, outcome: int) -> tuple[np.ndarray, np.ndarray]:
    """The x and y (px) of one line along the bones of all objects of a side, whose joints have a row each.

    With the outcome TP those are the bones of which at least one end is right, otherwise those with two wrong ends.
    Other tables have no bones.
    """
    name = f"{side}object"
    if not {name, "joint"} <= {*rows.columns}:
        return np.zeros(0), np.zeros(0)
    codes = rows["outcome"].array.codes
    of_side = np.isin(codes, [TP, FP if side == PREDICTED else FN])
    known = rows[[name, "joint", f"{side}x", f"{side}y"]].assign(right=(codes == TP).astype(float))[of_side].dropna()
    x, y, right = (
        known.pivot_table(column, index=name, columns="joint", aggfunc="first", observed=True)
        for column in (f"{side}x", f"{side}y", "right")
    )
    pairs = _pairs(list(map(str, x.columns)))
    is_right = (right.to_numpy(np.float64)[:, pairs] == 1).any(axis=2)
    shown = is_right if outcome == TP else ~is_right
    return _along(x.to_numpy(np.float64), y.to_numpy(np.float64), pairs, shown)


def _pairs(joints: list[str]) -> np.ndarray:
    """The bones among these joints, (bones, 2), as positions of their ends."""
    place = {joint: position for position, joint in enumerate(joints)}
    ends = [[place[one], place[other]] for one, other in BONES if one in place and other in place]
    return np.array(ends, np.int64).reshape(-1, 2)


def _along(x: np.ndarray, y: np.ndarray, pairs: np.ndarray, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The x and y (px) of one line along the bones that are shown, (poses, bones), with a gap after each bone.

    `x` and `y` are those of the joints, (poses, joints), and `pairs` the positions of the ends of each bone.
    """
    gap = np.full((int(shown.sum()), 1), np.nan)
    along_x, along_y = (np.concatenate([places[:, pairs][shown], gap], axis=1).ravel() for places in (x, y))
    return along_x, along_y
