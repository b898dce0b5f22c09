"""VIA, the VGG Image Annotator: rectangles of images, from its JSON and CSV of version 2 and its projects of version 3.

In version 2 a document has an entry for each image, `filename`, `regions` and `file_attributes`, by itself or under
`_via_img_metadata` of a project; a region has `shape_attributes` (name "rect", x, y, width, height, px) and
`region_attributes`. The CSV has a row for each region, with both as JSON. In version 3 `metadata` has the regions, `xy`
with a 2 for a rectangle before x, y, width, height, and `av` with the values of `attribute`. The source is VIA's
documentation (https://www.robots.ox.ac.uk/~vgg/software/via, and the description of its formats in
https://gitlab.com/vgg/via).

Nothing in a file tells which attribute is the category: it is the only one, or what `category` says. Regions that are
no rectangles, and videos, whose regions have times and no frames, are refused.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..support import InputError, Storage, addresses, documents, reading
from ..tables import Annotations, TableKind, provenance, table_kinds
from .box_tables import (
    ONE_FRAME,
    Problems,
    as_text,
    attribute_columns,
    category_column,
    checked,
    image_table,
    number,
    object_table,
    shown,
)
from .documents import opening

SIDES = ("x", "y", "width", "height")

# The shape of version 3 that is a rectangle, and the types of its attributes whose values are ids of options.
RECTANGLE, BY_OPTION, CHECKBOX = 2, (2, 3, 4, 5), 2

# What an attribute is called that is meant as the category, where there are several.
CATEGORIES = ("category", "class", "label", "type", "name")

COLUMNS = ("filename", "file_attributes", "region_shape_attributes", "region_attributes")


class _Region(NamedTuple):
    """A region: its place in the file, its shape as VIA 2 has it, and its attributes."""

    place: str
    shape: Mapping[str, Any]
    attributes: Mapping[str, Any]


class _Image(NamedTuple):
    """An image: its place in the file, its name, its attributes and its regions."""

    place: str
    name: str
    attributes: Mapping[str, Any]
    regions: list[_Region]


class _Region2(msgspec.Struct):
    shape_attributes: dict[str, Any]
    region_attributes: dict[str, Any] | None = None


class _Image2(msgspec.Struct):
    filename: str
    regions: list[_Region2] | dict[str, _Region2] | None = None
    file_attributes: dict[str, Any] | None = None


class _Project2(msgspec.Struct):
    images: dict[str, _Image2] = msgspec.field(name="_via_img_metadata")


class _Attribute3(msgspec.Struct):
    name: str = msgspec.field(name="aname")
    type: int = 1
    options: dict[str, str] | None = None


class _File3(msgspec.Struct):
    name: str = msgspec.field(name="fname")


class _View3(msgspec.Struct):
    files: list[int | str] = msgspec.field(name="fid_list")


class _Entry3(msgspec.Struct):
    view: int | str = msgspec.field(name="vid")
    times: list[float] = msgspec.field(default_factory=list, name="z")
    shape: list[float] = msgspec.field(default_factory=list, name="xy")
    values: dict[str, Any] = msgspec.field(default_factory=dict, name="av")


class _Project3(msgspec.Struct):
    attribute: dict[str, _Attribute3]
    file: dict[str, _File3]
    view: dict[str, _View3]
    metadata: dict[str, _Entry3]


def read_via(
    path: str | Path,
    category: str | None = None,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Rectangles of images from VIA: the JSON or CSV of version 2, or a project of version 3.

    Parameters
    ----------
    path
        The .json or .csv, plain or packed as .gz or .zip; a path, or an address such as s3://bucket/project.json.
    category
        The attribute of regions that is their category. By default the only one there is, or of several the one that is
        called category, class, label, type or name.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations. Each image is a sequence of its own, called by its file's name without the ending, whose frame is 1.
    `object` numbers the regions from 1 in the order of the file. `x`, `y` (top left), `w`, `h` (px), `category` if
    regions have attributes, and a column for each other attribute of regions. The frames are all images, with
    `file_name` and a column for each attribute of images. Several options of a checkbox are one text, such as
    "car, red".

    Raises
    ------
    InputError: the file is not of this form, a region is no rectangle, a number is missing, not finite or too large, a
        size is negative, only some regions have the category, several attributes may be the category, two images have
        one name, or the project is of a video. Every problem names its file and place.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> shape = {"name": "rect", "x": 10, "y": 5, "width": 20, "height": 30}
    >>> region = {"shape_attributes": shape, "region_attributes": {"class": "car"}}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "via_export_json.json"
    >>> _ = path.write_text(json.dumps({"a.jpg1024": {"filename": "a.jpg", "size": 1024, "regions": [region]}}))
    >>> sf.read_via(path).objects[["sequence", "x", "y", "w", "h", "category"]].to_dict("records")
    [{'sequence': 'a', 'x': 10.0, 'y': 5.0, 'w': 20.0, 'h': 30.0, 'category': 'car'}]
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        state = provenance.copy_state(copy)
        name = str(copy.path)
        annotations = _annotations([*_images(reading.read_bytes(copy.path), name)], category, name)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def _images(content: bytes, name: str) -> Iterator[_Image]:
    """The images of a file of any form."""
    if opening(content) != b"{":
        return _of_csv(content, name)
    keys = documents.decode(content, dict[str, Any], name)
    if {"metadata", "attribute", "file", "view"} <= {*keys}:
        return _of_project(documents.decode(content, _Project3, name), name)
    if "_via_img_metadata" in keys:
        return _of_images(documents.decode(content, _Project2, name).images, f"{name}: _via_img_metadata")
    return _of_images(documents.decode(content, dict[str, _Image2], name), name)


def _of_images(images: Mapping[str, _Image2], name: str) -> Iterator[_Image]:
    """The images of version 2; older versions number the regions by keys."""
    for key, image in images.items():
        place = f"{name}: {shown(key)}"
        given = image.regions or []
        regions = [*given.items()] if isinstance(given, dict) else [*enumerate(given)]
        yield _Image(
            place,
            image.filename,
            image.file_attributes or {},
            [_Region(f"{place}.regions[{at}]", of.shape_attributes, of.region_attributes or {}) for at, of in regions],
        )


def _of_csv(content: bytes, name: str) -> Iterator[_Image]:
    """The images of the CSV of version 2, which has a row for each region, and one for an image without any."""
    text = reading.utf8_text(content, name, "JSON or CSV of VIA")
    reader = csv.reader(io.StringIO(text, newline=""))
    images: dict[str, _Image] = {}
    try:
        names = [column.strip().removeprefix("#") for column in next(reader, [])]
        lacking = [column for column in COLUMNS if column not in names]
        if lacking:
            raise InputError(f"{name}: column {lacking[0]} is missing; the JSON or CSV that VIA exports is needed")
        for row in reader:
            place = f"{name}, line {reader.line_num}"
            if not row:
                continue
            if len(row) != len(names):
                raise InputError(f"{place}: {len(row)} fields; the first line names {len(names)}")
            given = dict(zip(names, row, strict=True))
            file_attributes, shape, attributes = (
                documents.decode(given[column].encode() or b"{}", dict[str, Any], f"{place}: {column}")
                for column in COLUMNS[1:]
            )
            image = images.setdefault(given["filename"], _Image(place, given["filename"], file_attributes, []))
            if shape:
                image.regions.append(_Region(place, shape, attributes))
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}: is no CSV: {error}") from None
    yield from images.values()


def _of_project(project: _Project3, name: str) -> Iterator[_Image]:
    """The images of a project of version 3: a view each."""
    regions: dict[str, list[_Region]] = {}
    attributes: dict[str, dict[str, Any]] = {}
    for key, entry in project.metadata.items():
        place = f"{name}: metadata.{key[:30]}"
        if entry.times:
            raise InputError(f"{place}: is at a time of a video, which tells no frame; only images are read")
        values = {project.attribute[one].name if one in project.attribute else one: _value(
            project.attribute.get(one), value) for one, value in entry.values.items()}  # fmt: skip
        if entry.shape:
            code, *sides = entry.shape
            is_rectangle = code == RECTANGLE and len(sides) == len(SIDES)
            shape = {"name": "rect" if is_rectangle else f"shape {code:g}", **dict(zip(SIDES, sides, strict=False))}
            regions.setdefault(str(entry.view), []).append(_Region(place, shape, values))
        else:
            attributes.setdefault(str(entry.view), {}).update(values)
    for key, view in project.view.items():
        place = f"{name}: view.{key[:30]}"
        file = project.file.get(str(view.files[0])) if len(view.files) == 1 else None
        if file is None:
            raise InputError(f"{place}: shows {len(view.files)} files, one that is listed is needed")
        yield _Image(place, file.name, attributes.get(key, {}), regions.pop(key, []))
    for of_view in regions.values():
        raise InputError(f"{of_view[0].place}: its view is not there")


def _value(attribute: _Attribute3 | None, value: Any) -> Any:
    """A value of version 3 as people see it: the names of its options."""
    if attribute is None or attribute.type not in BY_OPTION or not isinstance(value, str):
        return value
    options = attribute.options or {}
    ids = value.split(",") if attribute.type == CHECKBOX else [value]
    return ", ".join(options.get(one, one) for one in ids)


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes whose values are plain; a checkbox of version 2 has its options as keys. Empty text is no value."""
    said = {
        name: ", ".join(key for key, chosen in value.items() if chosen) if isinstance(value, dict) else value
        for name, value in values.items()
    }
    return {name: value for name, value in said.items() if value not in ("", None)}


def _annotations(images: Sequence[_Image], category: str | None, name: str) -> Annotations:
    """The tables of all images; raises InputError with all that is wrong."""
    problems = Problems()
    regions = [region for image in images for region in image.regions]
    boxes = [_box(region, problems) for region in regions]
    sequences = [_sequence(image, problems) for image in images]
    first: dict[str, _Image] = {}
    for image, sequence in zip(images, sequences, strict=True):
        if first.setdefault(sequence, image) is not image:
            problems.add(image.place, f"{shown(image.name)} has the name of {shown(first[sequence].name)}")
    attributes = [_plain(region.attributes) for region in regions]
    chosen = _category({key: None for row in attributes for key in row}, category, name)
    labels = [None if chosen is None or chosen not in row else as_text(row[chosen]) for row in attributes]
    for region, label in zip(regions, labels, strict=True):
        if chosen is not None and label is None:
            problems.add(region.place, f"has no {shown(chosen)}, its category")
    problems.check()
    rows = np.repeat(np.arange(len(images)), [len(image.regions) for image in images])
    others = [{key: value for key, value in row.items() if key != chosen} for row in attributes]
    objects = object_table(
        sequences,
        rows,
        np.full(len(rows), ONE_FRAME),
        boxes,
        category=None if chosen is None else category_column(labels),
        **attribute_columns(others, (), name),
    )
    frames = image_table(
        sequences,
        file_name=[image.name for image in images],
        **attribute_columns([_plain(image.attributes) for image in images], ("file_name",), name),
    )
    return checked(objects, frames, name)


def _sequence(image: _Image, problems: Problems) -> str:
    """The name of the sequence of an image."""
    path = PurePosixPath(image.name)
    if not path.name or "\0" in image.name:
        problems.add(image.place, f"filename is {shown(image.name)}; the name of an image is needed")
        return image.place
    return path.with_suffix("").as_posix()


def _category(there: Mapping[str, None], category: str | None, name: str) -> str | None:
    """The attribute that is the category; None where regions have no attributes."""
    known = ", ".join(shown(one) for one in [*there][:10])
    if category is not None:
        if there and category not in there:
            raise InputError(f"{name}: no region has the attribute {shown(category)}; there are {known}")
        return category if there else None
    if len(there) > 1:
        called = [one for one in there if one.lower() in CATEGORIES]
        if len(called) != 1:
            raise InputError(f"{name}: regions have the attributes {known}; say by category= which is the category")
        return called[0]
    return next(iter(there), None)


def _box(region: _Region, problems: Problems) -> tuple[float, ...]:
    """Left, top, width and height of a region; notes what is wrong with it."""
    kind = region.shape.get("name")
    if kind != "rect":
        problems.add(region.place, f"{shown(kind)} is no rectangle; only rectangles are read")
        return (0.0, 0.0, 0.0, 0.0)
    sides = [number(region.shape.get(side)) for side in SIDES]
    for side, value in zip(SIDES, sides, strict=True):
        if value is None:
            problems.add(region.place, f"{side} is {shown(region.shape.get(side))}; a finite number is needed, in px")
    box = tuple(value or 0.0 for value in sides)
    problems.add_negative_size(region.place, box)
    return box
