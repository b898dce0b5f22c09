"""CVAT for video 1.1: tracks of boxes in the XML that CVAT exports (https://docs.cvat.ai/docs/manual/advanced/xml_format).

A track has a box for each frame from its first to its last, also those that CVAT interpolated; where the object is not
in the picture, `outside` is 1. Corners are in pixels, `xtl`, `ytl`, `xbr`, `ybr`, so a box is xbr - xtl wide. Frames
are those of the video, from 0; a task that skips frames has `frame_filter` in its head.

A file is not read where it could give wrong numbers: if a track lacks frames between two of its boxes, if shapes are no
boxes or are turned, or if it is of several tasks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..support import Element, InputError, Storage, addresses, check_none, documents, pandas_tables, reading
from ..tables import Annotations, TableKind, provenance, schema, table_kinds
from .documents import MOST_PROBLEMS

# A video of more frames (eleven hours) is a slip, or meant to fill the memory.
MOST_FRAMES = 1_000_000

# The attributes of labels become columns, so they are few.
MOST_ATTRIBUTES = 100

CORNERS = ("xtl", "ytl", "xbr", "ybr")
FLAGS = ("outside", "occluded", "keyframe")

# What is read of the head of a task.
SIDES = ("original_size/width", "original_size/height")
HEAD = ("name", "size", "start_frame", "frame_filter", *SIDES)
EXPORT = "export the task from CVAT as 'CVAT for video 1.1'"

# Columns that an attribute of CVAT would collide with.
TAKEN = schema.OWN_COLUMNS | {"occluded", "keyframe"}


class Box(NamedTuple):
    """A box that is not outside: its frame, track and label, `corners` as in CORNERS (px), and its marks."""

    frame: int
    track: int
    label: str
    corners: tuple[float, ...]
    occluded: bool
    keyframe: bool


class Document:
    """What was read of a document so far: the head of the task, and the boxes of the tracks.

    Attributes
    ----------
    name
        What messages call the file.
    head
        What the task or job says of itself, by the paths below it that are in HEAD.
    boxes
        The boxes that are not outside, in the order of the file.
    attributes
        By the name of the column, what the boxes at these positions have.
    """

    def __init__(self, name: str):
        self.name = name
        self.head: dict[str, str] = {}
        self.boxes: list[Box] = []
        self.attributes: dict[str, dict[int, str]] = {}
        self._problems: list[str] = []
        self._tracks: set[int] = set()
        self._track: tuple[int, str] | None = None
        self._before: tuple[int, bool] | None = None  # the frame of the track's last box, and whether it was outside
        self._row: int | None = None  # of the box that is open, unless it is outside
        self._has_head = False

    def opened(self, element: Element) -> None:
        """Takes note of an element that begins."""
        match element.path:
            case (root,) if root != "annotations":
                raise InputError(
                    f"{self._at(element)}: begins with <{root[:30]}>; {EXPORT}, which begins with <annotations>"
                )
            case ("annotations", "image"):
                raise InputError(f"{self._at(element)}: is CVAT for images, which has no tracks; {EXPORT}")
            case ("annotations", "meta", "project"):
                raise InputError(f"{self._at(element)}: is of a project; {EXPORT}, each task by itself")
            case ("annotations", "meta", "task" | "job"):
                if self._has_head:
                    raise InputError(f"{self._at(element)}: is of several tasks; {EXPORT}, each task by itself")
                self._has_head = True
            case ("annotations", "track"):
                self._open_track(element)
            case ("annotations", "track", "box"):
                self._open_box(element)
            case ("annotations", "track", shape):
                self._add(
                    element, f"<{shape[:30]}> is no box; only boxes are read; take it out in CVAT, or make it a box"
                )
            case ("annotations", other) if other not in ("version", "meta"):
                raise InputError(f"{self._at(element)}: <{other[:30]}> is no part of CVAT for video; {EXPORT}")

    def closed(self, element: Element, text: str) -> None:
        """Takes note of an element that ends, and of the text in it."""
        match element.path:
            case ("annotations", "meta", "task" | "job", *below):
                self._note("/".join(below), text)
            case ("annotations", "meta", "original_size", side):
                self._note(f"original_size/{side}", text)
            case ("annotations", "track", "box", "attribute") if self._row is not None:
                self._add_attribute(element, text)
            case ("annotations", "track"):
                self._track = self._before = None

    def _note(self, path: str, text: str) -> None:
        """Notes what the head says, if it is asked for."""
        if path in HEAD:
            self.head.setdefault(path, text.strip())

    def _at(self, element: Element) -> str:
        return f"{self.name}, line {element.line}"

    def _add(self, element: Element, problem: str) -> None:
        """Notes a problem; the first MOST_PROBLEMS are enough."""
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(f"{self._at(element)}: {problem}")

    def _open_track(self, element: Element) -> None:
        identity = _integer(element.attributes.get("id"))
        label = element.attributes.get("label")
        if identity is None or not label:
            self._add(element, "a track needs id, a whole number, and label")
            identity, label = -1, label or ""
        elif identity in self._tracks:
            self._add(element, f"track {identity} is there already")
        self._tracks.add(identity)
        self._track, self._before = (identity, label), None

    def _open_box(self, element: Element) -> None:
        self._row = None
        given = element.attributes
        frame = _integer(given.get("frame"))
        if frame is None or frame < 0:
            return self._add(element, f"frame is {_shown(given, 'frame')}; a whole number from 0 on is needed")
        corners = tuple(_number(given.get(corner)) for corner in CORNERS)
        flags = {flag: given.get(flag, "0") for flag in FLAGS}
        problem = _box_problem(corners, flags, given) or self._order_problem(frame)
        if problem:
            return self._add(element, problem)
        self._before = frame, flags["outside"] == "1"
        if flags["outside"] == "0" and self._track is not None:
            self._row = len(self.boxes)
            marks = flags["occluded"] == "1", flags["keyframe"] == "1"
            self.boxes.append(Box(frame, *self._track, corners, *marks))

    def _order_problem(self, frame: int) -> str | None:
        """What is wrong with the frame of a box, after the one before it in its track."""
        if self._before is None or self._track is None:
            return None
        before, was_outside = self._before
        step = _step(self.head.get("frame_filter", ""))
        if frame <= before:
            what = "is there already" if frame == before else f"comes after frame {before}"
            return f"track {self._track[0]}: frame {frame} {what}; frames have to rise"
        if frame != before + step and not was_outside:
            what = f"frame {frame} comes after frame {before}, and boxes of those between are missing"
            return f"track {self._track[0]}: {what}; {EXPORT}, which has every frame, and restore frames deleted there"
        return None

    def _add_attribute(self, element: Element, text: str) -> None:
        name = element.attributes.get("name")
        if not name:
            return self._add(element, "an attribute has no name")
        column = f"attribute_{name}" if name in TAKEN else name
        if column not in self.attributes and len(self.attributes) == MOST_ATTRIBUTES:
            raise InputError(f"{self._at(element)}: has more than {MOST_ATTRIBUTES} attributes")
        if self._row is not None:
            self.attributes.setdefault(column, {})[self._row] = text

    def check(self) -> None:
        """Raises InputError with all that is wrong with the document, once it was read."""
        problems = [*self._problems]
        for name in ("size", "start_frame"):
            value = self.head.get(name)
            count = _integer(value) if value else 0
            if count is None or not 0 <= count <= MOST_FRAMES:
                what = f"{name} is {_shown(self.head, name)}; a count of up to {MOST_FRAMES:,} is needed"
                problems.append(f"{self.name}: meta: {what}")
        found = np.array([box.frame for box in self.boxes], np.int64)
        wrong = np.setdiff1d(found, self.frame_numbers()) if not problems and self.head.get("size") else found[:0]
        if len(wrong):
            what = f"has {self.head['size']} frames, and boxes are in frame {wrong[0]}, which is none of them"
            problems.append(f"{self.name}: meta: the task {what}")
        if not self._has_head:
            problems.append(f"{self.name}: has no <meta> with a task; {EXPORT}")
        check_none(problems)

    def size(self) -> tuple[float, float] | None:
        """The width and height (px) of the video, if the file tells."""
        width, height = (_number(self.head.get(side)) for side in SIDES)
        return None if math.isnan(width + height) else (width, height)

    def frame_numbers(self) -> np.ndarray:
        """The frames of the task, as numbers of the video."""
        first, step = int(self.head.get("start_frame") or 0), _step(self.head.get("frame_filter", ""))
        return first + step * np.arange(int(self.head["size"]), dtype=np.int64)


def _step(frame_filter: str) -> int:
    """How many frames of the video a task goes on by, which `step=5` tells."""
    found = re.fullmatch(r"\s*step\s*=\s*([1-9][0-9]{0,6})\s*", frame_filter)
    return int(found[1]) if found else 1


def _integer(text: str | None) -> int | None:
    """A whole number that float64 holds exactly; None for everything else."""
    if text is None or not re.fullmatch(r"-?[0-9]{1,16}", text.strip()):
        return None
    value = int(text)
    return value if abs(value) <= schema.LARGEST_EXACT_INTEGER else None


def _number(text: str | None) -> float:
    """A number that is finite and not too large; NaN for everything else."""
    try:
        value = float(text or "nan")
    except ValueError:
        return math.nan
    return value if abs(value) <= schema.LARGEST_EXACT_INTEGER else math.nan


def _shown(given: Mapping[str, str], name: str) -> str:
    """A value as messages have it, cut if it is long."""
    value = given.get(name)
    return repr(value if value is None else value[:30])


def _box_problem(corners: tuple[float, ...], flags: Mapping[str, str], given: Mapping[str, str]) -> str | None:
    """What is wrong with the attributes of a box."""
    for corner, value in zip(CORNERS, corners, strict=True):
        if math.isnan(value):
            return f"{corner} is {_shown(given, corner)}; a finite number is needed, of a size that pictures have"
    if corners[2] < corners[0] or corners[3] < corners[1]:
        return f"box {' '.join(f'{value:g}' for value in corners)}: a size is negative; the top left corner comes first"
    for flag, mark in flags.items():
        if mark not in ("0", "1"):
            return f"{flag} is {_shown(given, flag)}; 0 or 1 is needed"
    if _number(given.get("rotation", "0")) != 0:
        return f"is turned by {_shown(given, 'rotation')} degrees; boxes have to be upright"
    return None


# In an archive with images, the name of the annotations.
IN_ARCHIVE = "annotations.xml"


def read_cvat(
    path: str | Path,
    sequence: str | None = None,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Tracks of boxes from the XML of CVAT for video 1.1, one video.

    Parameters
    ----------
    path
        The .xml, or the .zip that CVAT exports, which holds annotations.xml; a path, or an address such as
        s3://bucket/task.xml.
    sequence
        The name of the sequence; by default that of the task.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations, sorted by frame: `sequence` (string), `frame` (the video's, from 0), `object` (the track's id), `x`,
    `y` (top left), `w`, `h` (px), `category` (the label), `occluded`, `keyframe` (bool), and a column of text for each
    attribute of boxes (called attribute_NAME where the name is taken). Boxes that are outside are no rows. The frames
    are all of the task, with `width` and `height` (px) if the file tells; if it does not tell their count, None.

    Raises
    ------
    InputError: the file cannot be read, is no whole XML, or is of another form, such as CVAT for images; shapes are no
        boxes or turned, a number is none, a size is negative, or a track has a frame twice or lacks frames. Every
        problem names its file and line.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> box = '<box frame="%d" outside="%d" occluded="0" keyframe="1" xtl="1" ytl="2" xbr="11" ybr="22"/>'
    >>> track = f'<track id="0" label="car">{box % (0, 0)}{box % (1, 1)}</track>'
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "task.xml"
    >>> meta = "<meta><task><name>plaza</name><size>2</size></task></meta>"
    >>> _ = path.write_text(f"<annotations><version>1.1</version>{meta}{track}</annotations>")
    >>> known = sf.read_cvat(path)
    >>> known.objects[["sequence", "frame", "object", "x", "y", "w", "h", "category"]].to_dict("records")
    [{'sequence': 'plaza', 'frame': 0, 'object': 0, 'x': 1.0, 'y': 2.0, 'w': 10.0, 'h': 20.0, 'category': 'car'}]
    >>> known.frames
      sequence  frame
    0    plaza      0
    1    plaza      1
    """
    kind = table_kinds.check_kind(table)
    if sequence is not None and not isinstance(sequence, str):
        raise InputError(f"read_cvat: sequence is {sequence!r}; text is needed, the name of the video")
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        state = provenance.copy_state(copy)
        document = Document(str(copy.path))
        content = _content(copy.path)
        documents.read_elements(content, document.name, document.opened, document.closed)
        document.check()
    name = document.head.get("name", "") if sequence is None else sequence
    if not name:
        raise InputError(f"{copy.name}: the task has no name; give sequence=")
    objects = _objects(document, name)
    provenance.note_source(objects, copy.name, state)
    return table_kinds.as_kind(Annotations(objects, _frames(document, name)), kind)


def _content(path: Path) -> bytes:
    """The XML in a file or in an archive."""
    if path.suffix.lower() != ".zip":
        content = reading.read_bytes(path, reading.LARGEST_UNPACKED, "export fewer frames at once")
    else:
        found = [
            xml for name, xml in reading.read_archive(path, ".xml").items() if name.rpartition("/")[2] == IN_ARCHIVE
        ]
        if len(found) != 1:
            raise InputError(f"{path}: holds {len(found)} {IN_ARCHIVE}; exactly one is needed; {EXPORT}")
        [content] = found
    return content


def _objects(document: Document, sequence: str) -> pd.DataFrame:
    """The boxes as a table, sorted by frame; within a frame they are in the order of the file."""
    boxes = document.boxes
    corners = np.array([box.corners for box in boxes], np.float64).reshape(-1, 4)
    geometry = np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]])
    table = pd.DataFrame(
        {
            "sequence": pd.Series([sequence] * len(boxes), dtype=pandas_tables.TEXT),
            "frame": np.array([box.frame for box in boxes], np.int64),
            "object": np.array([box.track for box in boxes], np.int64),
            **dict(zip(schema.BOX, geometry.T.copy(), strict=True)),
            "category": pd.Categorical(pd.Series([box.label for box in boxes], dtype=pandas_tables.TEXT)),
            "occluded": np.array([box.occluded for box in boxes], bool),
            "keyframe": np.array([box.keyframe for box in boxes], bool),
            **{
                name: pd.Series([values.get(row) for row in range(len(boxes))], dtype=pandas_tables.TEXT)
                for name, values in document.attributes.items()
            },
        }
    )
    return table.sort_values("frame", kind="stable", ignore_index=True)


def _frames(document: Document, sequence: str) -> pd.DataFrame | None:
    """The frames of the task with the size of the video; None if the file does not tell how many there are."""
    if not document.head.get("size"):
        return None
    numbers, size = document.frame_numbers(), document.size()
    sizes = {} if size is None else {"width": size[0], "height": size[1]}
    return pd.DataFrame(
        {"sequence": pd.Series([sequence] * len(numbers), dtype=pandas_tables.TEXT), "frame": numbers, **sizes}
    )
