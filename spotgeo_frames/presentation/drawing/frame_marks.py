"""The marks of one frame in plots: truths, predictions, lines between those that are matched, skeletons, identities."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ...analysis.errors.histories import switches
from ...geometries.boxes import has_boxes
from ...geometries.points import centres
from ...geometries.poses import pose_joints
from ...tables.schema import BOX, FN, FP, SIDE_PREFIXES, TP
from .frame_identities import Label, labels_of
from .frame_skeletons import bones_of_joints, bones_of_poses, pose_places
from .plot_parts import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, plain

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

# False alarms may be many; they are drawn first, so that they cover nothing, and misses last.
DRAWN = [MARKS[3], MARKS[2], MARKS[0], MARKS[1]]

# The size of markers as a share of that of points: larger ones would hide small boxes, and joints that lie close.
SHARE_OF_BOXES = 0.5
SHARE_OF_JOINTS = 0.4

SWITCH_MARK: dict[str, Any] = {
    "marker": "D",
    "color": PURPLE,
    "fillstyle": "none",
    "markeredgewidth": 2.0,
    "linestyle": "",
}
SWITCH_SIZE = 14

# The width of a rim, on both sides together, in points.
RIM = 1.6


def draw_frame(ax: Axes, rows: pd.DataFrame, *, scale: float = 1.0, rim: bool = False) -> None:
    """Draws the rows of one frame of a checked match table with coordinates (px).

    `scale` is the size of the marks; where it is less than 1, only identities that are switched are written. `rim`
    draws a white rim around all marks, which makes them visible on any picture.
    """
    outcome = rows["outcome"].array.codes
    found = rows[outcome == TP]
    links = (np.stack(ends) for ends in zip(centres(found, TRUTH), centres(found, PREDICTED), strict=True))
    ax.plot(*links, "-", color=GREY, **_rim(1.5, rim))
    for mark in DRAWN:
        bones = bones_of_joints(rows, mark.side, mark.outcome)
        width = mark.width * scale
        ax.plot(*bones, mark.line, color=mark.color, linewidth=width, **_rim(width, rim))
    for mark in DRAWN:
        _draw_mark(ax, rows, mark, rows[outcome == mark.outcome], scale, rim)
    _draw_identities(ax, rows, scale, rim)


def _draw_mark(ax: Axes, rows: pd.DataFrame, mark: Mark, objects: pd.DataFrame, scale: float, rim: bool) -> None:
    """Draws the objects of one mark: their markers, boxes, joints and skeletons."""
    boxed = has_boxes(rows, mark.side)
    share = SHARE_OF_BOXES if boxed else SHARE_OF_JOINTS if "joint" in rows else 1.0
    width = mark.width * scale
    effects = _rim(width, rim)
    lines: dict[str, Any] = {"color": mark.color, "linewidth": width, **effects}
    if boxed:
        ax.plot(*_outlines(objects, mark.side), mark.line, **lines)
    if pose_joints(objects):
        ax.plot(*bones_of_poses(objects, mark.side), mark.line, **lines)
        x, y = pose_places(objects, mark.side)
        ax.plot(x.ravel(), y.ravel(), ".", color=mark.color, markersize=5 * scale, **effects)
    ax.plot(
        *centres(objects, mark.side),
        mark.marker,
        markersize=mark.size * share * scale,
        color=mark.color,
        markeredgewidth=width,
        fillstyle="none",
        **effects,
    )


def _draw_identities(ax: Axes, rows: pd.DataFrame, scale: float, rim: bool) -> None:
    """Draws the switches of tracks, and the identities beside the objects; nothing in other tables."""
    if not is_tracked(rows):
        return
    x, y = centres(rows[switches(rows)], TRUTH)
    share = 1.0 if "joint" not in rows else 0.5
    ax.plot(x, y, markersize=SWITCH_SIZE * share * scale, **SWITCH_MARK, **_rim(SWITCH_MARK["markeredgewidth"], rim))
    boxed = has_boxes(rows, TRUTH) and has_boxes(rows, PREDICTED)
    offset = (0, 2) if boxed else (0, 6) if "joint" in rows else (9 * scale, 7 * scale)
    for label in sorted(labels_of(rows), key=lambda label: label.is_switch):  # so that others do not cover them
        if scale >= 1 or label.is_switch:
            _write(ax, label, offset)


def _write(ax: Axes, label: Label, offset: tuple[float, float]) -> None:
    """Writes the identities of one object, at an offset in points from its upper left corner."""
    ax.annotate(
        plain(label.text),
        (label.x, label.y),
        offset,
        textcoords="offset points",
        color=PURPLE if label.is_switch else "black",
        weight="bold" if label.is_switch else "normal",
        fontsize="x-small",
        annotation_clip=True,
        **_rim(0, True),
    )


def is_tracked(rows: pd.DataFrame) -> bool:
    """Whether these are rows of a match table of tracks, whose objects keep their names through a sequence."""
    return "event" in rows


def frame_legend(rows: pd.DataFrame) -> list[Any]:
    """The entries of the legend for the marks of a frame of this match table."""
    from matplotlib.lines import Line2D

    lined = "joint" in rows or bool(pose_joints(rows))
    entries = [
        Line2D(
            [],
            [],
            label=mark.label,
            marker=mark.marker,
            color=mark.color,
            fillstyle="none",
            markeredgewidth=mark.width,
            linewidth=mark.width,
            linestyle=mark.line if lined or has_boxes(rows, mark.side) else "",
        )
        for mark in MARKS
    ]
    if is_tracked(rows):
        entries.append(Line2D([], [], label="switch of identity", markersize=9, **SWITCH_MARK))
        entries.append(Line2D([], [], label="truth → prediction", linestyle=""))
    return entries


def tally(rows: pd.DataFrame) -> str:
    """The counts of outcomes as text, of tracks also that of switches."""
    counts = rows["outcome"].value_counts()
    text = f"{counts['TP']} found, {counts['FN']} missed, {counts['FP']} false"
    n_switches = int(switches(rows).sum()) if is_tracked(rows) else 0
    return f"{text}, {n_switches} switched" if n_switches else text


def _rim(width: float, rim: bool) -> dict[str, Any]:
    """The arguments that give lines of a width (points), or text, a white rim; none without a rim."""
    if not rim:
        return {}
    from matplotlib.patheffects import withStroke

    return {"path_effects": [withStroke(linewidth=width + RIM, foreground="white")]}  # opacity would fill the markers


def _outlines(objects: pd.DataFrame, side: str) -> tuple[np.ndarray, np.ndarray]:
    """The x and y (px) of one line around all boxes, from corner to corner and with a gap after each box."""
    x, y, w, h = (objects[f"{side}{column}"].to_numpy(np.float64, na_value=np.nan) for column in BOX)
    gap = np.full(len(x), np.nan)
    return np.column_stack([x, x + w, x + w, x, x, gap]).ravel(), np.column_stack([y, y, y + h, y + h, y, gap]).ravel()
