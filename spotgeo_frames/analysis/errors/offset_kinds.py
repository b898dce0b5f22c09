"""What `bias` measures of points, boxes and whole poses, and how predictions are moved back by it.

Every measurement of a true positive is a difference, so that the mean of many is their offset, and subtracting it
undoes it. Of places it is predicted minus true x and y (px): those of points, of the centres of boxes, or of each joint
of a whole pose. Of the width and height of a box it is the difference of their logarithms, so the offset stands for the
geometric mean of the ratios of predicted to true size: boxes twice and half as wide as the truth are right on average.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...matching.rule import Rule
from ...support.arrays import exp, log
from ...tables.match_sides import offsets
from ...tables.schema import LARGEST_COORDINATE, SIDE_PREFIXES, has_boxes, pose_columns

# What an OffsetKind has, see there.
Measured = Callable[[pd.DataFrame, Rule], np.ndarray]
Moved = Callable[[pd.DataFrame, Rule, np.ndarray], pd.DataFrame]


class OffsetKind(NamedTuple):
    """How the offset of one kind of objects is measured, undone and told.

    Attributes
    ----------
    metrics
        The names of the M numbers that are measured of each part of an object.
    parts
        A function from the rule to the names of the P parts: the joints of whole poses; one part without a name else.
    measured
        A function from N true positives and the rule to their measurements, (N, P, M), null where one is not known.
    moved
        A function from N predictions, the rule and an offset of each, (N, P, M), to the predictions without it.
    told
        A function from offsets (..., M) to the numbers that the result has.
    """

    metrics: list[str]
    parts: Callable[[Rule], list[str]]
    measured: Measured
    moved: Moved
    told: Callable[[np.ndarray], np.ndarray]


def offset_kind(table: pd.DataFrame, rule: Rule) -> OffsetKind:
    """The kind of objects that a match table by this rule has."""
    if not rule.of_whole_poses:
        return BOXES if all(has_boxes(table, prefix) for prefix in SIDE_PREFIXES) else POINTS
    return POSES


def sizes_of(hits: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The true and the predicted width and height (px) of N true positives, (N, 2) each."""
    true, predicted = (
        hits[[f"{prefix}{side}" for side in "wh"]].to_numpy(np.float64, na_value=np.nan) for prefix in SIDE_PREFIXES
    )
    return true, predicted


def _one_part(rule: Rule) -> list[str]:
    return [""]


def _joints(rule: Rule) -> list[str]:
    return [str(joint) for joint in rule.joint_sigmas]


def _point_offsets(hits: pd.DataFrame, rule: Rule) -> np.ndarray:
    return np.stack(offsets(hits), axis=-1)[:, None]


def _box_offsets(hits: pd.DataFrame, rule: Rule) -> np.ndarray:
    true, predicted = sizes_of(hits)
    known = (true > 0) & (predicted > 0)  # after matching by distance, a box may be flat
    logarithms = np.where(known, log(np.where(known, predicted, 1)) - log(np.where(known, true, 1)), np.nan)
    return np.concatenate([_point_offsets(hits, rule), logarithms[:, None]], axis=2)


def _joint_offsets(hits: pd.DataFrame, rule: Rule) -> np.ndarray:
    true, predicted = (
        hits[[f"{prefix}{name}" for name in pose_columns(rule.joint_sigmas)]].to_numpy(np.float64, na_value=np.nan)
        for prefix in SIDE_PREFIXES
    )
    return (predicted - true).reshape(len(hits), len(rule.joint_sigmas), 2)


def _moved_points(predictions: pd.DataFrame, rule: Rule, offset: np.ndarray) -> pd.DataFrame:
    dx, dy = offset[:, 0].T
    return predictions.assign(x=predictions["x"] - dx, y=predictions["y"] - dy)


def _moved_boxes(predictions: pd.DataFrame, rule: Rule, offset: np.ndarray) -> pd.DataFrame:
    dx, dy, *logarithms = offset[:, 0].T
    w, h = (_shrunk(predictions[side].to_numpy(), size) for side, size in zip("wh", logarithms, strict=True))
    # The centre moves by the offset and stays where it is when the size changes; an offset of 0 changes no bit.
    x = predictions["x"] - dx - (w - predictions["w"]) / 2
    y = predictions["y"] - dy - (h - predictions["h"]) / 2
    return predictions.assign(x=x, y=y, w=w, h=h)


def _shrunk(sizes: np.ndarray, logarithms: np.ndarray) -> np.ndarray:
    """Sizes (px) without the ratios of these logarithms, none larger than sizes may be."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        shrunk = sizes / exp(logarithms)
    return np.clip(np.nan_to_num(shrunk), -LARGEST_COORDINATE, LARGEST_COORDINATE)


def _moved_joints(predictions: pd.DataFrame, rule: Rule, offset: np.ndarray) -> pd.DataFrame:
    columns = pose_columns(rule.joint_sigmas)
    places = predictions[columns].to_numpy(np.float64, na_value=np.nan) - offset.reshape(len(predictions), len(columns))
    return predictions.assign(**dict(zip(columns, places.T, strict=True)))


def _as_they_are(offset: np.ndarray) -> np.ndarray:
    return offset


def _with_ratios(offset: np.ndarray) -> np.ndarray:
    return np.concatenate([offset[..., :2], exp(offset[..., 2:])], axis=-1)


PLACE = ["dx", "dy"]
POINTS = OffsetKind(PLACE, _one_part, _point_offsets, _moved_points, _as_they_are)
BOXES = OffsetKind([*PLACE, "width_ratio", "height_ratio"], _one_part, _box_offsets, _moved_boxes, _with_ratios)
POSES = OffsetKind(PLACE, _joints, _joint_offsets, _moved_joints, _as_they_are)
