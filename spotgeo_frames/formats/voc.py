"""Pascal VOC: boxes of images, a file of XML each, as the VOC challenges and many tools of annotation write them.

`<annotation>` has `filename`, `size` (width, height) and an `<object>` for each box: `name`, `pose`, `truncated`,
`occluded`, `difficult` and `<bndbox>` with xmin, ymin, xmax, ymax (px). The source is the documentation of the VOC
development kit (http://host.robots.ox.ac.uk/pascal/VOC/voc2012, VOCdevkit_doc.pdf).

xmax and ymax are the last pixels inside the box: one from 10 to 19 is 10 px wide. The challenge numbers pixels from 1,
other tools from 0; coordinates stay as they are. Objects that are `difficult` are ignored by the challenge's
evaluation.

Parts of objects (`<part>`: heads, hands, feet), actions and points are not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..support import Element, InputError, Storage, addresses, documents
from ..tables import Annotations, TableKind, provenance, table_kinds
from .box_tables import (
    ONE_FRAME,
    Problems,
    attribute_columns,
    category_column,
    checked,
    image_table,
    listed_files,
    number,
    object_table,
    read_each,
    shown,
    size_problem,
)

CORNERS = ("xmin", "ymin", "xmax", "ymax")
FLAGS = {"0": False, "1": True, "false": False, "true": True}

# What an object has instead of <bndbox> where it is no upright box.
OTHER_SHAPES = ("robndbox", "polygon", "mask", "cuboid")

# The marks of an object, which tools also write as attributes.
MARKS = ("difficult", "truncated", "occluded")

# What of an object is no attribute.
OWN = ("name", *MARKS, "bndbox", *OTHER_SHAPES, *CORNERS)

# By how much CVAT says that a box is turned, in degrees; all that it writes have it.
TURN = "rotation"


class Document:
    """What was read of a file so far.

    Attributes
    ----------
    name
        What messages call the file.
    head
        The texts of `filename`, `width` and `height`, if the file has them.
    objects
        The texts right in each object, by the names of their elements.
    corners
        Those of each object's <bndbox>.
    attributes
        The attributes that CVAT writes for each object, by their names.
    """

    def __init__(self, name: str, problems: Problems):
        self.name = name
        self.head: dict[str, str] = {}
        self.objects: list[dict[str, str]] = []
        self.corners: list[dict[str, str]] = []
        self.attributes: list[dict[str, str]] = []
        self.lines: list[int] = []
        self._problems = problems
        self._attribute = ""

    def opened(self, element: Element) -> None:
        """Takes note of an element that begins."""
        match element.path:
            case (root,) if root != "annotation":
                what = f"begins with <{root[:30]}>; XML of Pascal VOC begins with <annotation>"
                raise InputError(f"{self.name}, line {element.line}: {what}")
            case ("annotation", "object"):
                for texts in (self.objects, self.corners, self.attributes):
                    texts.append({})
                self.lines.append(element.line)
            case ("annotation", "object", shape) if shape in OTHER_SHAPES:
                what = f"<{shape}> is no upright box; only <bndbox> is read"
                self._problems.add(f"{self.name}, line {element.line}", what)

    def closed(self, element: Element, text: str) -> None:
        """Takes note of an element that ends, and of the text in it."""
        match element.path:
            case ("annotation", "filename"):
                self.head["file_name"] = text.strip()
            case ("annotation", "size", ("width" | "height") as side):
                self.head[side] = text
            case ("annotation", "object", "bndbox", corner) if corner in CORNERS:
                self.corners[-1].setdefault(corner, text)
            case ("annotation", "object", "attributes", "attribute", "name"):
                self._attribute = text.strip()
            case ("annotation", "object", "attributes", "attribute", "value") if self._attribute:
                self.attributes[-1].setdefault(self._attribute, text.strip())
            case ("annotation", "object", name) if text.strip():
                self.objects[-1].setdefault(name, text.strip())

    def boxes(self, last_pixel: bool) -> list[tuple[float, ...]]:
        """Left, top, width and height of each object; notes what is wrong with the objects."""
        boxes: list[tuple[float, ...]] = []
        for given, texts, line in zip(self.objects, self.corners, self.lines, strict=True):
            place = f"{self.name}, line {line}"
            if not given.get("name"):
                self._problems.add(place, "an object has no <name>, its category")
            corners = [number(texts.get(corner)) for corner in CORNERS]
            wrong = [corner for corner, value in zip(CORNERS, corners, strict=True) if value is None]
            if wrong and not any(shape in given for shape in OTHER_SHAPES):
                found = shown(texts.get(wrong[0]))
                self._problems.add(place, f"{wrong[0]} is {found}; a finite number is needed, of a size of pictures")
            left, top, right, bottom = (value or 0.0 for value in corners)
            box = (left, top, right - left + last_pixel, bottom - top + last_pixel)
            problem = None if wrong else size_problem(box)
            if problem:
                self._problems.add(place, f"{problem}; xmin, ymin, xmax, ymax are needed")
            boxes.append(box)
        return boxes

    def flags(self, name: str) -> list[bool | None]:
        """A mark of each object; None where it has none, or says that it is not specified."""
        given = zip(self.objects, self.attributes, strict=True)
        values = [(own.get(name) or added.get(name, "")).lower() for own, added in given]
        for value, line in zip(values, self.lines, strict=True):
            if value not in FLAGS and value not in ("", "unspecified", "-1"):
                self._problems.add(f"{self.name}, line {line}", f"{name} is {shown(value)}; 0 or 1 is needed")
        return [FLAGS.get(value) for value in values]

    def others(self) -> list[dict[str, str]]:
        """All else that is told of each object; notes boxes that are turned."""
        others = []
        for given, added, line in zip(self.objects, self.attributes, self.lines, strict=True):
            texts = {name: text for name, text in added.items() if name not in MARKS}
            texts |= {name: text for name, text in given.items() if name not in OWN}
            turn = texts.pop(TURN, "")
            if turn and number(turn) != 0:
                self._problems.add(f"{self.name}, line {line}", f"{TURN} is {shown(turn)}; turned boxes are not read")
            others.append(texts)
        return others


def read_voc(
    path: str | Path,
    last_pixel: bool = True,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Boxes from Pascal VOC's XML, a file for each image.

    Parameters
    ----------
    path
        A folder of .xml, such as Annotations; files in folders below it are read, too. Or a .zip of them, or one file.
        A path, or an address such as s3://bucket/Annotations.
    last_pixel
        Whether a box holds the pixels xmax and ymax, so that it is xmax - xmin + 1 wide, as the VOC challenges have it.
        Give False for files of tools that write corners as edges, such as CVAT, whose boxes are xmax - xmin wide.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations. Each image is a sequence of its own, called by its file's path below the folder that holds them all,
    without the ending; its frame is 1. `object` numbers the objects from 1 in the order of the file. `x`, `y` (top
    left, as in the file), `w`, `h` (px), `category` (the name), `ignore` (bool: difficult), `truncated` and `occluded`
    (bool, null where the file does not tell) if any object has them, and a column for each other attribute, such as
    `pose` (text), but for `rotation`, which CVAT writes and has to be 0. The frames are the images, with `width`,
    `height` (px) and `file_name` if the files tell.

    The challenge's own files count pixels from 1, and most detectors have the left edge of the first pixel at 0. To
    compare these, subtract 1 from `x` and `y`, as Detectron2 and supervision do when they read such files. Nothing is
    subtracted here: a file does not tell how it counts, and results in the challenge's own form count as it does.

    Raises
    ------
    InputError: there are no files, one is no whole XML or is of another form, an object has no name or is no upright
        box or a turned one, a number is none, is not finite or too large, a size is negative, or a mark is neither 0
        nor 1. Every problem names its file and line.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> box = "<bndbox><xmin>10</xmin><ymin>5</ymin><xmax>19</xmax><ymax>24</ymax></bndbox>"
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "000005.xml"
    >>> chair = f"<object><name>chair</name><difficult>1</difficult>{box}</object>"
    >>> _ = path.write_text(f"<annotation>{chair}</annotation>")
    >>> sf.read_voc(path).objects[["sequence", "x", "y", "w", "h", "category", "ignore"]].to_dict("records")
    [{'sequence': '000005', 'x': 10.0, 'y': 5.0, 'w': 10.0, 'h': 20.0, 'category': 'chair', 'ignore': True}]
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        state = provenance.copy_state(copy, provenance.XML_FILES)
        files = listed_files(copy.path, ".xml", "Pascal VOC has an XML for each image", below=True)
        problems = Problems()
        read = read_each(files, lambda file: _document(file.read(), file.name, problems), problems)
        annotations = _annotations([file.sequence for file in files], read, last_pixel, problems, str(copy.path))
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def _document(content: bytes, name: str, problems: Problems) -> Document:
    """One file."""
    document = Document(name, problems)
    documents.read_elements(content, name, document.opened, document.closed)
    return document


def _annotations(
    names: Sequence[str], read: Sequence[Document], last_pixel: bool, problems: Problems, path: str
) -> Annotations:
    """The tables of all files; raises InputError with the problems of all."""
    boxes = [box for document in read for box in document.boxes(last_pixel)]
    flags = {name: [value for document in read for value in document.flags(name)] for name in MARKS}
    others = [texts for document in read for texts in document.others()]
    sizes = {side: [_size(document, side, problems) for document in read] for side in ("width", "height")}
    problems.check()
    objects = [given for document in read for given in document.objects]
    marks = [
        {name: flags[name][row] for name in ("truncated", "occluded") if flags[name][row] is not None}
        for row in range(len(objects))
    ]
    table = object_table(
        names,
        np.repeat(np.arange(len(read)), [len(document.objects) for document in read]),
        np.full(len(objects), ONE_FRAME),
        boxes,
        category=category_column([given["name"] for given in objects]),
        ignore=np.array([bool(value) for value in flags["difficult"]], bool),
        **attribute_columns(marks, (), path),
        **attribute_columns(others, OWN, path),
    )
    file_names = [document.head.get("file_name") or None for document in read]
    frames = image_table(names, **{side: np.array(of, np.float64) for side, of in sizes.items()}, file_name=file_names)
    return checked(table, frames, path)


def _size(document: Document, side: str, problems: Problems) -> float | None:
    """The width or height (px) of an image; None where the file does not tell, or says 0 as some tools do."""
    text = document.head.get(side)
    value = None if text is None else number(text)
    if text is not None and (value is None or value < 0):
        problems.add(document.name, f"size: {side} is {shown(text)}; a number from 0 on is needed")
    return value or None
