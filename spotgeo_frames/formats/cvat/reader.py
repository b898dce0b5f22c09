"""CVAT for video 1.1: tracks of boxes in the XML that CVAT exports (https://docs.cvat.ai/docs/manual/advanced/xml_format).

A track has a box for each frame from its first to its last, also those that CVAT interpolated; where the object is not
in the picture, `outside` is 1. Corners are in pixels, `xtl`, `ytl`, `xbr`, `ybr`, so a box is xbr - xtl wide. Frames
are those of the video, from 0; a task that skips frames has `frame_filter` in its head.

A file is not read where it could give wrong numbers: if a track lacks frames between two of its boxes, if shapes are no
boxes or are turned, or if it is of several tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...support.addresses import Storage
from ...support.copies import local_copy
from ...support.errors import InputError
from ...support.markup import read_elements
from ...support.pandas_versions import TEXT
from ...support.reading import LARGEST_UNPACKED, check_no_nul, read_archive, read_bytes
from ...tables.annotations import Annotations
from ...tables.inputs import copy_state, note_source
from ...tables.kinds import TableKind, as_kind, check_kind
from ...tables.schema import BOX
from .document import EXPORT, Document

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
    >>> box = '<box frame="%d" outside="%d" occluded="0" keyframe="1" xtl="1" ytl="2" xbr="11" ybr="22"/>'
    >>> track = f'<track id="0" label="car">{box % (0, 0)}{box % (1, 1)}</track>'
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "task.xml"
    >>> meta = "<meta><task><name>plaza</name><size>2</size></task></meta>"
    >>> _ = path.write_text(f"<annotations><version>1.1</version>{meta}{track}</annotations>")
    >>> known = read_cvat(path)
    >>> known.objects[["sequence", "frame", "object", "x", "y", "w", "h", "category"]].to_dict("records")
    [{'sequence': 'plaza', 'frame': 0, 'object': 0, 'x': 1.0, 'y': 2.0, 'w': 10.0, 'h': 20.0, 'category': 'car'}]
    >>> len(known.frames)
    2
    """
    kind = check_kind(table)
    if sequence is not None and not isinstance(sequence, str):
        raise InputError(f"read_cvat: sequence is {sequence!r}; text is needed, the name of the video")
    with local_copy(path, Storage(storage_options, filesystem)) as copy:
        state = copy_state(copy)
        document = Document(str(copy.path))
        content = _content(copy.path)
        read_elements(content, document.name, document.opened, document.closed)
        document.check()
    name = document.head.get("name", "") if sequence is None else sequence
    if not name:
        raise InputError(f"{copy.name}: the task has no name; give sequence=")
    objects = _objects(document, name)
    note_source(objects, copy.name, state)
    return as_kind(Annotations(objects, _frames(document, name)), kind)


def _content(path: Path) -> bytes:
    """The XML in a file or in an archive."""
    if path.suffix.lower() != ".zip":
        content = read_bytes(path, LARGEST_UNPACKED, "export fewer frames at once")
    else:
        found = [xml for name, xml in read_archive(path, ".xml").items() if name.rpartition("/")[2] == IN_ARCHIVE]
        if len(found) != 1:
            raise InputError(f"{path}: holds {len(found)} {IN_ARCHIVE}; exactly one is needed; {EXPORT}")
        [content] = found
    if not content.startswith((b"\xff\xfe", b"\xfe\xff")):  # text in UTF-16, which expat reads
        check_no_nul(content, str(path))
    return content


def _objects(document: Document, sequence: str) -> pd.DataFrame:
    """The boxes as a table, sorted by frame; within a frame they are in the order of the file."""
    boxes = document.boxes
    corners = np.array([box.corners for box in boxes], np.float64).reshape(-1, 4)
    geometry = np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]])
    table = pd.DataFrame(
        {
            "sequence": pd.Series([sequence] * len(boxes), dtype=TEXT),
            "frame": np.array([box.frame for box in boxes], np.int64),
            "object": np.array([box.track for box in boxes], np.int64),
            **dict(zip(BOX, geometry.T.copy(), strict=True)),
            "category": pd.Categorical(pd.Series([box.label for box in boxes], dtype=TEXT)),
            "occluded": np.array([box.occluded for box in boxes], bool),
            "keyframe": np.array([box.keyframe for box in boxes], bool),
            **{
                name: pd.Series([values.get(row) for row in range(len(boxes))], dtype=TEXT)
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
    return pd.DataFrame({"sequence": pd.Series([sequence] * len(numbers), dtype=TEXT), "frame": numbers, **sizes})
