"""Keypoints that a column holds as lists, as a table with a row for each joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..support import InputError, pandas_tables
from .box_forms import sizes_of
from .lists_of_numbers import as_matrix, inner_length
from .schema import BOX

# COCO's joints, in the order in which its files list them.
COCO_JOINTS = ["nose", "left_eye", "right_eye", "left_ear", "right_ear"]
COCO_JOINTS += [
    f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle") for side in ("left", "right")
]


def by_joint(
    given: pd.DataFrame, tidied: pd.DataFrame, keypoints: str, joints: Sequence[Any] | None, size: Any
) -> pd.DataFrame:
    """The table with a row for each joint of its lists of keypoints, which are shares of images with a `size`.

    Lists of pairs have no visibility. Raises InputError if the lists are no keypoints, and ValueError if `joints` has
    another number of names than they have joints.
    """
    numbers = as_matrix(given, keypoints)
    in_each = 2 if inner_length(given[keypoints]) == 2 else 3
    n_joints, rest = divmod(numbers.shape[1], in_each)
    if rest or (len(given) and not n_joints):
        problem = f"lists of {numbers.shape[1]} numbers, which are no x, y and visibility of joints"
        how = (
            "; make them lists of pairs, [[x, y], ...], if they have no visibility" if not numbers.shape[1] % 2 else ""
        )
        raise InputError(f"tidy: table: column {keypoints} has {problem}{how if numbers.shape[1] else ''}")
    named = joints if joints is not None else COCO_JOINTS if n_joints == len(COCO_JOINTS) else range(n_joints)
    if len(named) != n_joints and len(given):
        raise ValueError(f"tidy: joints has {len(named)} names, and column {keypoints} has {n_joints} joints")
    boxes = {name: f"box_{name}" for name in BOX if name in tidied}
    rows = tidied.drop(columns=keypoints).rename(columns=boxes)
    rows = rows.take(np.repeat(np.arange(len(rows)), n_joints)).reset_index(drop=True)
    x, y, *others = numbers.reshape(-1, in_each).T
    if size is not None:
        x, y = (
            values * np.repeat(of, n_joints) if isinstance(of, pd.Series) else values * of
            for values, of in zip((x, y), sizes_of(given, size), strict=True)
        )
    names = pd.Series(list(named), dtype=pandas_tables.TEXT if all(isinstance(of, str) for of in named) else None)
    made: dict[str, Any] = {
        "joint": names.take(np.tile(np.arange(n_joints), len(given))).array,
        "x": np.asarray(x).copy(),
    }
    made |= {"y": np.asarray(y).copy(), **({"visibility": others[0].copy()} if others else {})}
    return rows.assign(**made)
