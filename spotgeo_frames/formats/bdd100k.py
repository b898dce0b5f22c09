"""BDD100K's JSON, which Scalabel writes: boxes of images and of videos, with the attributes of both.

A document is a list of frames, or an object with `frames` and `config`. A frame has `name`, of a video `videoName` and
`frameIndex`, `attributes` (weather, scene, timeofday) and `labels`; a label has `id`, `category`, `attributes`
(occluded, truncated, crowd, ignored, ...), `box2d` (x1, y1, x2, y2, px), and in results `score`. The first release had
a file for each image, whose labels are in `frames[0].objects`. The source is the format's documentation
(https://doc.scalabel.com/format.html, https://doc.bdd100k.com/format.html).

Known differences from other readers

    - Scalabel's own evaluation of boxes counts the last pixel (scalabel/label/transforms.py): its boxes are x2 - x1 + 1
      wide, those of trackeval x2 - x1, as here without a word. See `last_pixel`.
    - trackeval takes crowds, and the classes "other person", "trailer" and "other vehicle", for regions that cover
      predictions of every category. Here crowds keep the category that the file gives them; `read_benchmark` follows
      trackeval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import numpy as np

from ..support import Storage, addresses, documents
from ..tables import Annotations, TableKind, provenance, table_kinds
from .box_tables import (
    ONE_FRAME,
    Problems,
    attribute_columns,
    category_column,
    checked,
    identity_column,
    image_table,
    listed_files,
    number,
    object_table,
    read_each,
    shown,
)
from .documents import Integer, opening
from .sequence_files import File

CORNERS = ("x1", "y1", "x2", "y2")

# The attributes of labels that are columns of their own.
MARKS = ("crowd", "ignored")


class _Box(msgspec.Struct, gc=False):
    x1: float
    y1: float
    x2: float
    y2: float


class _Label(msgspec.Struct):
    id: Integer | str | None = None
    category: str | None = None
    score: float | None = None
    attributes: dict[str, Any] | None = None
    box2d: _Box | None = None


class _Size(msgspec.Struct, gc=False):
    width: float
    height: float


class _Frame(msgspec.Struct):
    name: str | None = None
    video: str | None = msgspec.field(default=None, name="videoName")
    index: Integer | None = None
    frame_index: Integer | None = msgspec.field(default=None, name="frameIndex")
    attributes: dict[str, Any] | None = None
    timestamp: float | None = None
    size: _Size | None = None
    labels: list[_Label] | None = None
    objects: list[_Label] | None = None


class _Config(msgspec.Struct):
    size: _Size | None = msgspec.field(default=None, name="imageSize")


class _Document(msgspec.Struct):
    frames: list[_Frame]
    config: _Config | None = None
    name: str | None = None
    attributes: dict[str, Any] | None = None


class _Entry:
    """A frame with the file that it is in, its place there, its sequence and its number."""

    def __init__(self, file: File, place: str, frame: _Frame, document: _Document):
        self.frame = frame
        self.place = place
        whole = document.config.size if document.config is not None else None
        self.size = frame.size or whole
        self.name = frame.name or document.name
        self.attributes = frame.attributes or document.attributes or {}
        self.labels = frame.labels or frame.objects or []
        number_in_video = frame.index if frame.frame_index is None else frame.frame_index
        if number_in_video is not None:
            self.sequence, self.number = frame.video or file.sequence, number_in_video
        else:
            image = PurePosixPath(self.name or file.sequence)
            self.sequence, self.number = image.with_suffix("").as_posix() if image.name else "", ONE_FRAME


def read_bdd100k(
    path: str | Path,
    last_pixel: bool = False,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Boxes from BDD100K's JSON, and from that of other projects of Scalabel: truth or predictions.

    Parameters
    ----------
    path
        A .json, plain or packed as .gz, or a folder or .zip of such, as BDD100K has one for each video; a path, or an
        address such as s3://bucket/det_val.json.
    last_pixel
        Whether a box holds the pixels x2 and y2, so that it is x2 - x1 + 1 wide, as Scalabel's own evaluation has it.
        By default it is x2 - x1 wide.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations: `sequence` (string: the video, or the image's name without its ending), `frame` (the index in the
    video, or 1), `object` (the label's id, an integer where all are; numbered from 1 within each frame where any has
    none), `x`, `y` (top left), `w`, `h` (px), `category`, `score` if labels have one, `crowd` and `ignore` (bool) if
    labels have these attributes, and a column for each other attribute, such as `occluded`. The frames are those of the
    files, with `width`, `height` (px), `file_name`, `timestamp` (ms) and a column for each attribute, such as
    `weather`, if the files tell. Labels without `box2d`, such as lanes and areas, are left out.

    Raises
    ------
    InputError: a file is not of this form, a box has no category, a number is not finite or too large, a size is
        negative, only some labels have a score, or a frame, or an id in a frame, is there twice. Every problem names
        its file and place.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> label = {"id": "7", "category": "car", "attributes": {"occluded": True},
    ...          "box2d": {"x1": 10, "y1": 5, "x2": 30, "y2": 25}}
    >>> frame = {"name": "a-01.jpg", "videoName": "a", "frameIndex": 1, "attributes": {"weather": "rainy"}}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = path.write_text(json.dumps([frame | {"labels": [label]}]))
    >>> boxes = sf.read_bdd100k(path).objects
    >>> boxes[["sequence", "frame", "object", "x", "w", "category", "occluded"]].to_dict("records")
    [{'sequence': 'a', 'frame': 1, 'object': 7, 'x': 10.0, 'w': 20.0, 'category': 'car', 'occluded': True}]
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        state = provenance.copy_state(copy, provenance.JSON_FILES)
        files = listed_files(copy.path, ".json", "BDD100K has a document for all images, or for each video")
        annotations = labels_of(files, str(copy.path), last_pixel)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def labels_of(files: Sequence[File], name: str, last_pixel: bool = False) -> Annotations:
    """The tables of these documents, which messages call `name` together; raises InputError with all that is wrong."""
    problems = Problems()
    entries = [entry for of_file in read_each(files, _entries, problems) for entry in of_file]
    return _annotations(entries, last_pixel, problems, name)


def _entries(file: File) -> list[_Entry]:
    """The frames of a file."""
    content = file.read()
    if opening(content) == b"[":
        document = _Document(documents.decode(content, list[_Frame], file.name))
        place = f"{file.name}: "
    else:
        document = documents.decode(content, _Document, file.name)
        place = f"{file.name}: frames"
    return [_Entry(file, f"{place}[{position}]", frame, document) for position, frame in enumerate(document.frames)]


def _annotations(entries: Sequence[_Entry], last_pixel: bool, problems: Problems, path: str) -> Annotations:
    """The tables of all frames; raises InputError with what is wrong with them and these problems."""
    labels: list[_Label] = []
    rows: list[int] = []
    boxes: list[tuple[float, ...]] = []
    for position, entry in enumerate(entries):
        if not entry.sequence:
            problems.add(entry.place, "has no name, of which its sequence would follow")
        for number_of_label, label in enumerate(entry.labels):
            if label.box2d is not None:
                labels.append(label)
                rows.append(position)
                boxes.append(_box(label, f"{entry.place}.labels[{number_of_label}]", last_pixel, problems))
    n_scored = problems.add_gaps(path, [label.score for label in labels], "labels have a score")
    problems.check()
    names = list(dict.fromkeys(entry.sequence for entry in entries))
    position_of = {name: position for position, name in enumerate(names)}
    sequence = np.array([position_of[entry.sequence] for entry in entries], np.int64)
    frame = np.array([entry.number for entry in entries], np.int64)
    given = [{_attribute(name): value for name, value in (label.attributes or {}).items()} for label in labels]
    marks = {
        column: np.array([_is_set(row.get(name)) for row in given], bool) if any(name in row for row in given) else None
        for column, name in zip(("crowd", "ignore"), MARKS, strict=True)
    }
    others = [{name: value for name, value in row.items() if name not in MARKS} for row in given]
    objects = object_table(
        names,
        sequence[rows],
        frame[rows],
        boxes,
        identity_column([label.id for label in labels]),
        category=category_column([label.category for label in labels]),
        score=np.array([label.score for label in labels], np.float64) if n_scored else None,
        **marks,
        **attribute_columns(others, (), path),
    )
    return checked(objects, _frames(entries, path), path)


def _attribute(name: str) -> str:
    """The name of an attribute of labels; some of them begin with a capital letter in the labels of tracks."""
    return name.lower() if name.lower() in (*MARKS, "occluded", "truncated") else name


def _is_set(value: Any) -> bool:
    """Whether a mark is true, also where it is written as a number or as text."""
    return value is True or value == 1 or (isinstance(value, str) and value.lower() in ("true", "1"))


def _box(label: _Label, place: str, last_pixel: bool, problems: Problems) -> tuple[float, ...]:
    """Left, top, width and height of a label; notes what is wrong with it."""
    corners = [getattr(label.box2d, corner) for corner in CORNERS]
    for corner, value in zip(CORNERS, corners, strict=True):
        if number(value) is None:
            problems.add(f"{place}.box2d.{corner}", f"{shown(value)} is too large for a picture")
    if not label.category:
        problems.add(place, "has no category")
    box = (*corners[:2], corners[2] - corners[0] + last_pixel, corners[3] - corners[1] + last_pixel)
    problems.add_negative_size(f"{place}.box2d", box)
    return box


def _frames(entries: Sequence[_Entry], path: str) -> Any:
    """The table of frames, in the order of the files."""
    sizes = [entry.size for entry in entries]
    named = [entry.attributes for entry in entries]
    return image_table(
        [entry.sequence for entry in entries],
        [entry.number for entry in entries],
        width=np.array([None if size is None else size.width for size in sizes], np.float64),
        height=np.array([None if size is None else size.height for size in sizes], np.float64),
        file_name=[entry.name for entry in entries],
        timestamp=np.array([entry.frame.timestamp for entry in entries], np.float64),
        **attribute_columns(
            named, ("width", "height", "file_name", "timestamp", "frame", "sequence"), f"{path}: frames"
        ),
    )
