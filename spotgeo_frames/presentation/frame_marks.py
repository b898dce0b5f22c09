"""The marks of one frame in plots: its truths, its predictions, and lines between those that are matched."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ..tables.match_sides import check_coordinates
from ..tables.schema import BOX, FN, FP, SIDE_PREFIXES, TP, centres, has_boxes, pose_joints
from .plot_parts import BLUE, GREEN, GREY, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRUTH, PREDICTED = SIDE_PREFIXES


class Mark(NamedTuple):
    """How the objects of one side and outcome are drawn: the marker at their place and the line around their box."""

    label: str
    side: str
    outcome: int
    marker: str
    size: float
    color: str
    width: float
    line: Literal["-", "--"]


MARKS = [
    Mark("truth, found", TRUTH, TP, "o", 11, GREEN, 1.0, "-"),
    Mark("truth, missed", TRUTH, FN, "o", 11, RED, 2.5, "-"),
    Mark("prediction, right", PREDICTED, TP, "+", 9, BLUE, 1.0, "--"),
    Mark("prediction, false", PREDICTED, FP, "x", 8, ORANGE, 2.0, "--"),
]


def draw_frame(ax: Axes, rows: pd.DataFrame) -> None:
    """Draws the rows of one frame of a checked match table (px).

    Raises InputError if the table has no coordinates.
    """
    check_coordinates(rows)
    outcome = rows["outcome"].array.codes
    found = rows[outcome == TP]
    ax.plot(
        *(np.stack(ends) for ends in zip(centres(found, TRUTH), centres(found, PREDICTED), strict=True)),
        "-",
        color=GREY,
    )
    for mark in MARKS:
        objects = rows[outcome == mark.outcome]
        boxed = has_boxes(rows, mark.side)
        size = mark.size / 2 if boxed else mark.size  # a large mark would hide a small box
        ax.plot(
            *centres(objects, mark.side),
            mark.marker,
            markersize=size,
            color=mark.color,
            markeredgewidth=mark.width,
            fillstyle="none",
        )
        if boxed:
            ax.plot(*_outlines(objects, mark.side), mark.line, color=mark.color, linewidth=mark.width)
        ax.plot(*_joints(objects, mark.side), ".", color=mark.color, markersize=5)


def frame_legend(rows: pd.DataFrame) -> list[Any]:
    """The entries of the legend for the marks of a frame of this match table."""
    from matplotlib.lines import Line2D

    return [
        Line2D(
            [],
            [],
            label=mark.label,
            marker=mark.marker,
            color=mark.color,
            fillstyle="none",
            markeredgewidth=mark.width,
            linewidth=mark.width,
            linestyle=mark.line if has_boxes(rows, mark.side) else "",
        )
        for mark in MARKS
    ]


def tally(rows: pd.DataFrame) -> str:
    """The counts of outcomes as text."""
    counts = rows["outcome"].value_counts()
    return f"{counts['TP']} found, {counts['FN']} missed, {counts['FP']} false"


def _outlines(objects: pd.DataFrame, side: str) -> tuple[np.ndarray, np.ndarray]:
    """The x and y (px) of one line around all boxes, from corner to corner and with a gap after each box."""
    x, y, w, h = (objects[f"{side}{column}"].to_numpy(np.float64, na_value=np.nan) for column in BOX)
    gap = np.full(len(x), np.nan)
    return np.column_stack([x, x + w, x + w, x, x, gap]).ravel(), np.column_stack([y, y, y + h, y + h, y, gap]).ravel()


def _joints(objects: pd.DataFrame, side: str) -> list[np.ndarray]:
    """The x and y (px) of all joints of whole poses; empty in other tables."""
    joints = pose_joints(objects)
    return [
        objects[[f"{side}{axis}_{joint}" for joint in joints]].to_numpy(np.float64, na_value=np.nan).ravel()
        for axis in "xy"
    ]
