"""The marks of one frame in plots: truths, predictions, lines between those that are matched, skeletons, identities.

Skeletons are lines along the bones of whole poses, and of joints that have a row each. The identities of tracks are
labels beside the objects: `3 → 7` is truth 3, found as 7.
"""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ...analysis.errors import identity_columns, switches
from ...geometries import BONES, Rows, centres, geometry_of, pose_joints
from ...support import DASH
from ...tables import as_numbers, schema
from ..theme import LIGHT
from . import plot_parts as parts
from .plot_parts import plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRUTH, PREDICTED = schema.SIDE_PREFIXES


# The longest identity that is written whole, in characters.
LONGEST = 12


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


OF_OUTCOME = LIGHT.outcomes
MARKS = (
    Mark("truth, found", TRUTH, schema.TP, "o", 11, OF_OUTCOME["found"], 1.0, "-"),
    Mark("truth, missed", TRUTH, schema.FN, "o", 11, OF_OUTCOME["missed"], 2.5, "-"),
    Mark("prediction, right", PREDICTED, schema.TP, "+", 9, OF_OUTCOME["right"], 1.0, "--"),
    Mark("prediction, false", PREDICTED, schema.FP, "x", 8, OF_OUTCOME["false"], 2.0, "--"),
)

# The colour of switches of identity, which are no outcomes.
OF_SWITCH = LIGHT.series[len(MARKS)]

# The size of markers as a share of that of points: larger ones would hide small boxes, and joints that lie close.
SHARE_OF_BOXES = 0.5
SHARE_OF_JOINTS = 0.4

SWITCH_MARK: dict[str, Any] = {
    "marker": "D",
    "color": OF_SWITCH,
    "fillstyle": "none",
    "markeredgewidth": 2.0,
    "linestyle": "",
}
SWITCH_SIZE = 14

# The opacity of what is filled.
FILLED = 0.2

# The width of a rim, on both sides together, in points.
RIM = 1.6


class Marking(NamedTuple):
    """How frames are drawn: the name before the texts of the legend, the marks, and options of Matplotlib for these."""

    name: str = ""
    marks: Sequence[Mark] = MARKS
    style: Mapping[str, Any] = {}


USUAL = Marking()


def marking_of(ax: Any, name: str | None, color: parts.Colors, lines: Mapping[str, Any]) -> Marking:
    """How a frame is drawn into Axes: a further one on them in one colour, if it has no colours of its own."""
    position = parts.pens(ax, [""])[0].position
    if color is None and position:
        color = LIGHT.of(len(MARKS) + position)  # those before are of marks and of switches
    pens = parts.pens(None, [mark.label for mark in MARKS], color)
    given = zip(MARKS, pens, strict=True) if color is not None else ()
    marks = [mark._replace(color=pen.color) for mark, pen in given]
    parts.named(None, name)
    name = f"{position + 1}" if name is None and position else name  # marks of two calls would have equal texts
    return Marking(parts.in_legend(name or ""), marks or MARKS, parts.options("lines", lines))


def draw_frame(
    ax: Axes, rows: pd.DataFrame, *, scale: float = 1.0, rim: bool = False, marking: Marking = USUAL
) -> None:
    """Draws the rows of one frame of a checked match table with coordinates (px).

    `scale` is the size of the marks; where it is less than 1, only identities that are switched are written. `rim`
    draws a white rim around all marks, which makes them visible on any picture.
    """
    before, pen = {*ax.get_children()}, parts.pens(ax, [""])[0]
    outcome = rows["outcome"].array.codes
    found = rows[outcome == schema.TP]
    links = (np.stack(ends) for ends in zip(centres(found, TRUTH), centres(found, PREDICTED), strict=True))
    ax.plot(*links, "-", color=LIGHT.faint, **_rim(1.5, rim))
    found, missed, right, false = marking.marks
    drawn = (false, right, found, missed)  # false alarms may be many, so they are first and cover nothing
    for mark in drawn:
        bones = bones_of_joints(rows, mark.side, mark.outcome)
        width = mark.width * scale
        own: dict[str, Any] = {"linestyle": mark.line, "color": mark.color, "linewidth": width} | dict(marking.style)
        ax.plot(*bones, **own, **_rim(width, rim))
    for mark in drawn:
        _draw_mark(ax, rows, mark, rows[outcome == mark.outcome], scale, rim, marking.style)
    _draw_identities(ax, rows, scale, rim)
    parts.note(pen, *({*ax.get_children()} - before))


def _draw_mark(
    ax: Axes,
    rows: pd.DataFrame,
    mark: Mark,
    objects: pd.DataFrame,
    scale: float,
    rim: bool,
    style: Mapping[str, Any],
) -> None:
    """Draws the objects of one mark: their markers, boxes, joints and skeletons."""
    boxed = geometry_of(rows, mark.side).outline is not None
    share = SHARE_OF_BOXES if boxed else SHARE_OF_JOINTS if "joint" in rows else 1.0
    width = mark.width * scale
    effects = _rim(width, rim)
    lines: dict[str, Any] = {"linestyle": mark.line, "color": mark.color, "linewidth": width, **effects} | dict(style)
    if boxed:
        around = _outlines(objects, mark.side)
        ax.plot(*around, **lines)
        if geometry_of(rows, mark.side).is_filled:
            _fill(ax, np.stack(around, axis=1), mark.color)
    if pose_joints(objects):
        ax.plot(*bones_of_poses(objects, mark.side), **lines)
        x, y = pose_places(objects, mark.side)
        ax.plot(x.ravel(), y.ravel(), ".", color=mark.color, markersize=5 * scale, **effects)
    own: dict[str, Any] = {"marker": mark.marker, "markersize": mark.size * share * scale, "color": mark.color}
    own |= {"markeredgewidth": width, "fillstyle": "none", **effects} | dict(style) | {"linestyle": ""}
    ax.plot(*centres(objects, mark.side), **own)


def _draw_identities(ax: Axes, rows: pd.DataFrame, scale: float, rim: bool) -> None:
    """Draws the switches of tracks, and the identities beside the objects; nothing in other tables."""
    if not is_tracked(rows):
        return
    x, y = centres(rows[switches(rows)], TRUTH)
    share = 1.0 if "joint" not in rows else 0.5
    ax.plot(x, y, markersize=SWITCH_SIZE * share * scale, **SWITCH_MARK, **_rim(SWITCH_MARK["markeredgewidth"], rim))
    boxed = all(geometry_of(rows, side).outline is not None for side in schema.SIDE_PREFIXES)
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
        color=OF_SWITCH if label.is_switch else "black",
        weight="bold" if label.is_switch else "normal",
        fontsize="x-small",
        annotation_clip=True,
        **_rim(0, True),
    )


def is_tracked(rows: pd.DataFrame) -> bool:
    """Whether these are rows of a match table of tracks, whose objects keep their names through a sequence."""
    return "event" in rows


def frame_legend(rows: pd.DataFrame, marking: Marking = USUAL) -> list[Any]:
    """The entries of the legend for the marks of a frame of this match table."""
    from matplotlib.lines import Line2D

    lined = "joint" in rows or bool(pose_joints(rows))
    entries = [
        Line2D(
            [],
            [],
            label=f"{marking.name}: {mark.label}".removeprefix(": "),
            marker=mark.marker,
            color=mark.color,
            fillstyle="none",
            markeredgewidth=mark.width,
            linewidth=mark.width,
            linestyle=mark.line if lined or geometry_of(rows, mark.side).outline else "",
        )
        for mark in marking.marks
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
    """The x and y (px) of one line around all objects, from corner to corner and with a gap after each."""
    outline = geometry_of(objects, side).outline
    corners = np.zeros((0, 1, 2)) if outline is None else outline(Rows(objects, side))
    closed = np.concatenate([corners, corners[:, :1], np.full((len(corners), 1, 2), np.nan)], axis=1)
    return closed[..., 0].ravel(), closed[..., 1].ravel()


def _fill(ax: Axes, places: np.ndarray, color: str) -> None:
    """Fills closed lines of places (N, 2), with a gap after each; a line within another one is a hole."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    is_gap = np.isnan(places).any(axis=1)
    begins = ~is_gap & np.concatenate([[True], is_gap[:-1]])
    if begins.any():
        codes = np.where(begins, Path.MOVETO, Path.LINETO)[~is_gap]
        ax.add_patch(PathPatch(Path(places[~is_gap], codes), facecolor=color, alpha=FILLED, linewidth=0))


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
    of_side = np.isin(codes, [schema.TP, schema.FP if side == PREDICTED else schema.FN])
    known = (
        rows[[name, "joint", f"{side}x", f"{side}y"]].assign(right=(codes == schema.TP).astype(float))[of_side].dropna()
    )
    x, y, right = (
        known.pivot_table(column, index=name, columns="joint", aggfunc="first", observed=True)
        for column in (f"{side}x", f"{side}y", "right")
    )
    pairs = _pairs(list(map(str, x.columns)))
    is_right = (right.to_numpy(np.float64)[:, pairs] == 1).any(axis=2)
    shown = is_right if outcome == schema.TP else ~is_right
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


class Label(NamedTuple):
    """The identities of one object, the place of its upper left corner (px), and whether its identity is switched."""

    x: float
    y: float
    text: str
    is_switch: bool


def labels_of(rows: pd.DataFrame) -> list[Label]:
    """The labels of a frame of tracks, one for each truth, and one for each prediction that is matched with none.

    Of joints that have a row each, the label is at the topmost joint of an object.
    """
    columns = identity_columns(rows, None, "plots")
    if not {*columns} <= {*rows.columns}:
        return []
    truth, predicted = ([None if pd.isna(name) else name for name in rows[column]] for column in columns)
    x, y = (np.fmin(*(as_numbers(rows[f"{prefix}{axis}"]) for prefix in schema.SIDE_PREFIXES)) for axis in "xy")
    is_switch = switches(rows)
    matched = {None, *(other for name, other in zip(truth, predicted, strict=True) if name is not None)}
    objects: dict[tuple[Any, Any], list[int]] = {}
    for row, (name, other) in enumerate(zip(truth, predicted, strict=True)):
        if name is not None or other not in matched:
            objects.setdefault((name, None if name is not None else other), []).append(row)
    labels = []
    for (name, _), of_object in objects.items():
        top = of_object[int(np.argmin(y[of_object]))]
        found_as = dict.fromkeys(_written(predicted[row]) for row in of_object if predicted[row] is not None)
        text = f"{_written(name)} → {', '.join(found_as) or DASH}"
        labels.append(Label(float(x[top]), float(y[top]), text, bool(is_switch[of_object].any())))
    return labels


def _written(name: Any) -> str:
    """An identity as text, shortened if it is long; None as a dash."""
    return shortened(name, LONGEST)
