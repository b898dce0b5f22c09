"""COCO files: keypoints, boxes and masks of annotated images, and a detector's results for them.

Truth is an object with `images`, `annotations` and `categories`; results are a list of `{"image_id", "category_id",
"score", "keypoints", "bbox" or "segmentation"}` (https://cocodataset.org/#format-data). Keypoints are x, y and a third
number for each joint: in truth the visibility (0: not labelled, 1: hidden, 2: visible), in results whatever the
detector gave.

Known differences from pycocotools 2.0.11

    - Results for categories that the truth does not have are refused; pycocotools refuses only unknown images.
    - A category may have any number of keypoints, and objects have to have as many; pycocotools knows only 17.
    - `iscrowd` becomes the column `crowd`; `match` leaves out such annotations and the results that they explain.

Results are objects numbered from 1 in the order of the file, as pycocotools numbers them. Annotations keep their `id`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from ..geometries import COCO_SIGMAS
from ..support import InputError, Storage, addresses, check_none, documents, reading
from ..tables import (
    Annotations,
    Columns,
    DeferredText,
    SideColumns,
    TableKind,
    annotations_of,
    number_checks,
    provenance,
    schema,
    table_kinds,
)
from . import segmentations
from .coco_attributes import attribute_columns
from .coco_boxes import boxes_of, names_of, plain_boxes
from .documents import (
    MOST_PROBLEMS,
    OF_OBJECTS,
    Id,
    Listed,
    check_ids,
    column_of_ids,
    ids_of_pictures,
    opening,
    repeated_ids,
    unknown_id,
)
from .segmentations import Segmentation


class _Image(msgspec.Struct, gc=False):
    id: Id
    width: float | None = None
    height: float | None = None
    file_name: str | None = None
    neg_category_ids: list[Id] | None = None
    not_exhaustive_category_ids: list[Id] | None = None


class _Images(msgspec.Struct):
    images: list[_Image]


# An image with all its values, by name.
Attributes = dict[str, Any]

# The lists of categories that LVIS has in its images, and the columns of frames that they become.
VERIFIED = {"negative_categories": "neg_category_ids", "not_exhaustive_categories": "not_exhaustive_category_ids"}

# Names of columns that a table of frames cannot have as attributes.
TAKEN = ("sequence", "frame", "joint", "n_truth", "n_predicted")


class Category(msgspec.Struct):
    id: Id
    name: str
    keypoints: list[str] | None = None


class _Object(msgspec.Struct, gc=False):
    """An annotation or a result: what both have."""

    image_id: Id
    category_id: Id
    keypoints: list[float] | None = None
    bbox: list[float] | None = None


class _Annotation(_Object, kw_only=True, gc=False):
    id: Id
    area: float | None = None
    iscrowd: bool | float | None = None
    num_keypoints: float | None = None


class _Result(_Object, kw_only=True, gc=False):
    score: float


class _MaskedAnnotation(_Annotation, kw_only=True, gc=False):
    segmentation: Segmentation | None = None


class _MaskedResult(_Result, kw_only=True, gc=False):
    segmentation: Segmentation | None = None


class _Categories(msgspec.Struct):
    categories: list[Category]


class _Truth(msgspec.Struct):
    images: list[Attributes]
    annotations: list[_Annotation]
    categories: list[Attributes]


class _MaskedTruth(msgspec.Struct):
    images: list[Attributes]
    annotations: list[_MaskedAnnotation]
    categories: list[Attributes]


# What is read of objects.
Content = Literal["keypoints", "boxes", "masks"]


def read_coco(
    truth_path: str | Path,
    predictions_path: str | Path,
    boxes: bool = False,
    masks: bool = False,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> tuple[Annotations, Annotations]:
    """Truth and predictions of a COCO file of annotations and one of results (.json, or packed as .gz or .zip).

    Each image is a sequence of its own, named by its id, with one frame, 1: images are independent of each other. Ids
    are integers, also written as 1.0, or text, in both files alike; `iscrowd` may be true or false, too.

    Parameters
    ----------
    truth_path, predictions_path
        The annotations, such as person_keypoints_val2017.json, and the results; paths, or addresses such as
        s3://bucket/results.json.
    boxes, masks
        Whether to read the boxes, or the masks, instead of the keypoints. Polygons become masks as pycocotools has them
        (this needs the extra `masks`); run lengths are taken as they are.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of addresses, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations of truth and of predictions. With keypoints one row an object and joint: `sequence`, `frame`, `object`,
    `joint` (its name), `x`, `y` (px), `category` (its name); truth has `visibility` (0: not labelled, which joint by
    joint is not there; see `match`), and of its object `area` (px²), `crowd` and the box, `box_x`, `box_y`, `box_w`,
    `box_h` (px); predictions have the joint's own `joint_score` and the object's `score`. With `boxes` one row an
    object: `x`, `y` (top left), `w`, `h`, `category`, and `area` and `crowd`, or `score`; with `masks` the same with
    `mask` (COCO's compressed run lengths), `mask_h` and `mask_w` (px) in place of the box. The truth's frames are its
    images, with `width`, `height` (px), `file_name` and other attributes; those of LVIS also have the lists
    `negative_categories` and `not_exhaustive_categories`. Where the file's categories have attributes, such as
    `frequency`, they are the truth's `categories`.

    Raises
    ------
    InputError: a file is not of this form, an image or category is not known, an id is there twice, keypoints are not
        as many as the category has, or the two files are given in the wrong order. Every problem names its file and
        place.
    ValueError: no such kind of table, or both `boxes` and `masks`.
    ImportError: there are polygons, and the extra `masks` is not installed.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> annotation = {"id": 7, "image_id": 1, "category_id": 1, "bbox": [10, 10, 20, 40]}
    >>> category = {"id": 1, "name": "person"}
    >>> truth = {"images": [{"id": 1}], "annotations": [annotation], "categories": [category]}
    >>> result = {"image_id": 1, "category_id": 1, "bbox": [11, 10, 20, 40], "score": 0.9}
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "truth.json").write_text(json.dumps(truth))
    >>> _ = (folder / "results.json").write_text(json.dumps([result]))
    >>> known, found = sf.read_coco(folder / "truth.json", folder / "results.json", boxes=True)
    >>> found.objects[["x", "y", "w", "h", "score", "category"]].to_dict("records")
    [{'x': 11.0, 'y': 10.0, 'w': 20.0, 'h': 40.0, 'score': 0.9, 'category': 'person'}]
    """
    kind = table_kinds.check_kind(table)
    if boxes and masks:
        raise ValueError("boxes and masks are both given; read one of them at a time")
    content: Content = "boxes" if boxes else "masks" if masks else "keypoints"
    return table_kinds.as_kind(
        coco_sides(truth_path, predictions_path, content, Storage(storage_options, filesystem)), kind
    )


def coco_sides(
    truth_path: str | Path, predictions_path: str | Path | None, content: Content, storage: Storage | None = None
) -> tuple[Annotations, Annotations]:
    """What `read_coco` returns, of pandas; without a file of results there are no predictions."""
    *sides, notes = _read(truth_path, predictions_path, content, storage)
    truth, predictions = map(annotations_of, sides)
    for side, note in zip((truth, predictions), notes, strict=True):
        provenance.note_source(side.objects, *note)
    return truth, predictions


def coco_columns(
    truth_path: str | Path, predictions_path: str | Path | None, content: Content
) -> tuple[SideColumns, SideColumns]:
    """The columns of what `coco_sides` returns."""
    truth, predictions, notes = _read(truth_path, predictions_path, content)
    for side, note in zip((truth, predictions), notes, strict=True):
        provenance.note_source(side.objects, *note)
    return truth, predictions


class _Files(NamedTuple):
    """What files have: the annotations' content and document, its images and categories, and the results' content.

    `plain` are the results where they could be read some at a time. `notes` are the name and the state of each file.
    """

    truth: bytes
    document: _Truth | _MaskedTruth
    images: list[_Image]
    categories: list[Category]
    found: bytes
    plain: Columns | None
    notes: tuple[tuple[str, provenance.FileState | None], ...]


def _files(
    truth_path: str | Path, predictions_path: str | Path | None, content: Content, storage: Storage | None
) -> _Files:
    """Reads both files."""
    with addresses.local_copies(
        [path for path in (truth_path, predictions_path) if path is not None], storage
    ) as copies:
        states = [*map(provenance.copy_state, copies), None][:2]
        truth_path, predictions_path = [*(copy.name for copy in copies), ""][:2]
        known, of_results = reading.read_bytes(copies[0].path), [copy.path for copy in copies[1:]]
        if opening(known) == b"[" and [opening(reading.read_bytes(path)) for path in of_results] == [b"{"]:
            what = f"is a list, as results are, and {predictions_path} is an object, as annotations are"
            raise InputError(f"{truth_path}: {what}; give them the other way round: read_coco(annotations, results)")
        document: _Truth | _MaskedTruth
        if content == "masks":
            document = documents.decode(known, _MaskedTruth, str(truth_path))
        else:
            document = documents.decode(known, _Truth, str(truth_path))
        images = documents.convert({"images": document.images}, _Images, str(truth_path)).images
        categories = documents.convert({"categories": document.categories}, _Categories, str(truth_path)).categories
        ids = [image.id for image in images], [category.id for category in categories]
        plain = plain_boxes(of_results[0], ids) if content == "boxes" and of_results else None
        found = reading.read_bytes(of_results[0]) if plain is None and of_results else b"[]"
    notes = tuple(zip((str(truth_path), str(predictions_path)), states, strict=True))
    return _Files(known, document, images, categories, found, plain, notes)


def _read(
    truth_path: str | Path, predictions_path: str | Path | None, content: Content, storage: Storage | None = None
) -> tuple[SideColumns, SideColumns, Sequence[tuple[str, provenance.FileState | None]]]:
    """The columns of both sides, and the name and the state of each file, which are not noted yet."""
    known, document, images, categories, found, plain, notes = _files(truth_path, predictions_path, content, storage)
    [(truth_name, _), (predictions_name, _)] = notes
    results: Sequence[_Result]
    if content == "masks":
        results = documents.decode(found, list[_MaskedResult], predictions_name)
    else:
        results = documents.decode(found, list[_Result], predictions_name)
    place = f"{truth_name}: annotations"
    lists = [Listed("images", images), Listed("categories", categories)]
    lists.append(Listed("annotations", document.annotations, ("id", *OF_OBJECTS)))
    check_ids(known, truth_name, lists)
    check_ids(found, predictions_name, [Listed("", results, OF_OBJECTS)])
    joints, problems = _joints(categories, truth_name, content)
    problems += repeated_ids([image.id for image in images], f"{truth_name}: images")
    problems += repeated_ids([annotation.id for annotation in document.annotations], place)
    problems += _problems_of_lists(images, joints, f"{truth_name}: images")
    problems += _problems(document.annotations, place, images, joints, content)
    problems += _problems(results, f"{predictions_name}: ", images, joints, content)
    check_none(problems)
    names = category_names(categories)
    frames = _frames(images, document.images, names, f"{truth_name}: images")
    image_ids = [image.id for image in images]
    truth = _annotation_table(document.annotations, names, image_ids, content)
    if plain is None:
        predictions = _result_table(results, names, image_ids, content)
    else:
        predictions = plain.assign({"category": names_of(plain["category"], names)})
    if content == "masks":
        truth = truth.assign(segmentations.masks(document.annotations, images, place))
        predictions = predictions.assign(segmentations.masks(results, images, f"{predictions_name}: "))
    if content == "keypoints":
        named = dict(zip([f"box_{side}" for side in schema.BOX], boxes_of(document.annotations), strict=True))
        truth = _with_joints(truth.assign(named), document.annotations, joints, "visibility")
        if results and results[0].bbox is not None:  # then pycocotools takes its size, and not that of the joints
            predictions = predictions.assign({"area": np.multiply(*boxes_of(results)[2:])})
        predictions = _with_joints(predictions, results, joints, "joint_score")
    geometry = {"boxes": schema.BOX, "masks": []}.get(content, schema.BOX[:2])
    far = number_checks.coordinate_problems(truth, geometry, truth_name)
    check_none(far + number_checks.coordinate_problems(predictions, geometry, predictions_name))
    classes = _category_table(categories, document.categories, names, f"{truth_name}: categories")
    return SideColumns(truth, frames, None, classes), SideColumns(predictions), notes


def _joints(categories: Sequence[Category], name: str, content: Content) -> tuple[dict[Any, list[str]], list[str]]:
    """The names of each category's joints; COCO's own where a category does not tell."""
    problems = repeated_ids([category.id for category in categories], f"{name}: categories")
    joints = {
        category.id: list(COCO_SIGMAS) if category.keypoints is None else category.keypoints for category in categories
    }
    for number, category in enumerate(categories):
        if content == "keypoints" and len(set(joints[category.id])) < len(joints[category.id]):
            problems.append(f"{name}: categories[{number}].keypoints: a name is there twice")
    return joints, problems


def _problems(
    objects: Sequence[_Object], place: str, images: Sequence[_Image], joints: dict[Any, list[str]], content: Content
) -> list[str]:
    """What is wrong with annotations or results, each with its place."""
    known, problems = {image.id for image in images}, []
    pictures = ids_of_pictures(images, objects)
    for number, one in enumerate(objects):
        if one.image_id not in known:
            problems.append(
                f"{place}[{number}].image_id: there is no image {unknown_id(one.image_id, known, pictures)}"
            )
        if one.category_id not in joints:
            unknown = unknown_id(one.category_id, joints)
            problems.append(f"{place}[{number}].category_id: there is no category {unknown}")
        elif content == "keypoints":
            wanted = 3 * len(joints[one.category_id])
            if one.keypoints is None:
                how = "boxes=True reads boxes; on the command line --similarity iou, or ap without --keypoints"
                problems.append(f"{place}[{number}]: keypoints is missing ({how})")
            elif len(one.keypoints) != wanted:
                what = f"{len(one.keypoints)} numbers; {wanted} are needed: x, y and a third for each joint"
                problems.append(f"{place}[{number}].keypoints: {what}")
        if one.bbox is None and content == "boxes":
            problems.append(f"{place}[{number}]: bbox is missing (boxes=False reads keypoints)")
        elif one.bbox is not None and len(one.bbox) != 4:
            problems.append(f"{place}[{number}].bbox: {len(one.bbox)} numbers; 4 are needed: left, top, width, height")
    return problems[:MOST_PROBLEMS]


def category_names(categories: Sequence[Category]) -> dict[Any, str]:
    """The name of each category by its id, in their order; if several have one name, they also have their ids in it."""
    categories = sorted(categories, key=lambda category: category.id)
    times = Counter(category.name for category in categories)
    names = [f"{one.name} ({one.id})" if times[one.name] > 1 else one.name for one in categories]
    if len({*names}) < len(names):
        names = [f"{one.name} ({one.id})" for one in categories]
    return dict(zip([category.id for category in categories], names, strict=True))


def _problems_of_lists(images: Sequence[_Image], known: Collection[Any], place: str) -> list[str]:
    """The categories in LVIS's lists of images that there are none of, each with its place."""
    problems = []
    for number, image in enumerate(images):
        for name in VERIFIED.values():
            unknown = [one for one in getattr(image, name) or () if one not in known]
            problems += [f"{place}[{number}].{name}: there is no category {unknown_id(one, known)}" for one in unknown]
    return problems[:MOST_PROBLEMS]


def _category_table(
    categories: Sequence[Category], attributes: Sequence[Attributes], names: Mapping[Any, str], place: str
) -> Columns | None:
    """One row a category with all its attributes but lists and objects; None where no category has any."""
    others = attribute_columns(attributes, ("id", "name", "category"), place)
    return Columns({"category": names_of([one.id for one in categories], names)} | others) if others else None


def _frames(
    images: Sequence[_Image], attributes: Sequence[Attributes], names: Mapping[Any, str], place: str
) -> Columns:
    """One frame an image, with all its attributes but lists and objects, and LVIS's lists of categories."""
    key = {"sequence": column_of_ids([image.id for image in images]), "frame": np.ones(len(images), np.int64)}
    sizes = {name: np.array([getattr(image, name) for image in images], np.float64) for name in ("width", "height")}
    files = DeferredText.of([image.file_name for image in images])
    others = attribute_columns(attributes, ("id", *sizes, "file_name"), place)
    named = {f"image_{name}" if name in TAKEN else name: values for name, values in others.items()}
    lists = {
        column: _lists([[names[one] for one in getattr(image, name) or ()] for image in images])
        for column, name in VERIFIED.items()
        if any(getattr(image, name) is not None for image in images)
    }
    return Columns({**key, **sizes, "file_name": files, **named, **lists})


def _lists(rows: Sequence[list[str]]) -> np.ndarray:
    """A column of lists."""
    column = np.empty(len(rows), object)
    for position, row in enumerate(rows):  # at once, lists of one length would be rows of a matrix
        column[position] = row
    return column


def _annotation_table(
    annotations: Sequence[_Annotation], names: Mapping[Any, str], image_ids: Sequence[Any], content: Content
) -> Columns:
    """One row an annotation, without keypoints; `area` and `num_keypoints` only if any annotation tells them."""
    columns = _columns(annotations, column_of_ids([one.id for one in annotations]), image_ids, content)
    columns["category"] = names_of([one.category_id for one in annotations], names)
    columns["crowd"] = np.array([bool(one.iscrowd) for one in annotations], bool)
    for name in ("area", "num_keypoints"):
        values = np.array([getattr(one, name) for one in annotations], np.float64)
        columns |= {} if np.isnan(values).all() else {name: values}
    return Columns(columns)


def _result_table(
    results: Sequence[_Result], names: Mapping[Any, str], image_ids: Sequence[Any], content: Content
) -> Columns:
    """One row a result, without keypoints."""
    columns = _columns(results, np.arange(1, len(results) + 1), image_ids, content)
    columns["score"] = np.array([one.score for one in results], np.float64)
    columns["category"] = names_of([one.category_id for one in results], names)
    return Columns(columns)


def _columns(objects: Sequence[_Object], identity: Any, image_ids: Sequence[Any], content: Content) -> dict[str, Any]:
    """The key of each object, and its box where boxes are read."""
    sequence = column_of_ids([one.image_id for one in objects], image_ids)
    key = {"sequence": sequence, "frame": np.ones(len(objects), np.int64), "object": identity}
    return key | (dict(zip(schema.BOX, boxes_of(objects), strict=True)) if content == "boxes" else {})


def _with_joints(table: Columns, objects: Sequence[_Object], joints: dict[Any, list[str]], third: str) -> Columns:
    """One row an object and joint, in the order of the file; `third` names the joint's third number."""
    import pandas as pd  # files without keypoints need none

    from ..support import pandas_tables

    names = pd.Index(sorted({*chain.from_iterable(joints.values())}), dtype=pandas_tables.TEXT)
    codes = {category: names.get_indexer(pd.Index(of_category)) for category, of_category in joints.items()}
    joint = np.concatenate([np.zeros(0, np.int64), *(codes[one.category_id] for one in objects)])
    object_row = np.repeat(np.arange(len(table)), [len(joints[one.category_id]) for one in objects])
    long = table.take(object_row)
    flat = chain.from_iterable(one.keypoints or [] for one in objects)
    numbers = np.fromiter(flat, np.float64, 3 * len(long)).reshape(-1, 3)
    added = {"joint": names.array.take(joint)}
    added |= {name: numbers[:, position].copy() for position, name in enumerate(("x", "y", third))}
    return Columns({name: long.stored[name] for name in schema.OBJECT_KEY} | added | long.stored)
