"""Detections that other libraries hold in memory: the dicts of torchvision, and supervision's `Detections`.

Both give boxes as corners (x1, y1, x2, y2) in pixels, one item for each image; `Detections` of turned boxes, such as
those of Ultralytics' obb models, have their four corners, too. Neither library has to be installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..support import InputError, arrays, check_none, noted_in, pandas_tables
from ..tables import Annotations, Table, TableKind, checks, schema, table_kinds
from .class_names import Names, categories, class_names, without_name
from .documents import MOST_PROBLEMS
from .rectangles import smallest_rectangles

# Columns of objects by the name of the values in torchvision's dicts, and in the data of supervision's Detections.
OF_TARGETS = {"area": "area", "iscrowd": "crowd"}
OF_DATA = OF_TARGETS | {"ignore": "ignore"}

# What messages call columns.
CALLED = {"score": "scores", "object": "identities of tracks"}

# The name under which supervision's own connectors keep names of classes.
CLASS_NAME = "class_name"

# And the four corners of turned boxes.
TURNED = "xyxyxyxy"


class Image(NamedTuple):
    """The objects of an image: corners (N, 4) in px, class (N,) or None, and other columns, (N,) each, by name.

    `turned` has the four corners (N, 4, 2) of turned boxes; it is None of upright ones.
    """

    corners: np.ndarray
    class_id: np.ndarray | None
    columns: dict[str, np.ndarray]
    names: np.ndarray | None = None
    turned: np.ndarray | None = None


def from_torchvision(
    detections: Iterable[Mapping[str, Any]],
    frames: Table | None = None,
    names: Names | None = None,
    *,
    table: TableKind = "pandas",
) -> Annotations:
    """Boxes as torchvision's detection models return them, or as its targets are: a dict for each image.

    Parameters
    ----------
    detections
        A list of dicts: `boxes` (N, 4), corners x1, y1, x2, y2 in px; `labels` (N,), the classes; `scores` (N,) of
        predictions; of targets `area` (px²) and `iscrowd` are taken, too. Other keys are not looked at. Tensors on any
        device, NumPy arrays or lists.
    frames
        A table of frames, a row for each image in the order of the list; by default image number i, from 1, is frame 1
        of the sequence i, since images are independent of each other. Of a video, give its name and the numbers of the
        frames: `pd.DataFrame({"sequence": "plaza", "frame": range(1, len(detections) + 1)})`.
    names
        The names of the classes: a list, a dict from numbers to names, or the path of a text file with a name a line or
        of a data.yaml. torchvision's `weights.meta["categories"]` begins with the background. Classes that share a
        name, such as its N/A, have none. By default the class is the category.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".

    Returns
    -------
    Annotations: `sequence`, `frame`, `object` (numbers from 1 within a frame), `x`, `y` (top left), `w`, `h` (px),
    `score` if there are scores, `category`, `area` and `crowd` if there are such, and the frames.

    Raises
    ------
    InputError: a key is missing, an array has another shape or numbers that are not finite, a tensor has gradients, a
        corner lies left of or above the first, a class has no name, or `frames` has another count of rows. Every
        problem names the item.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> found = sf.from_torchvision(
    ...     [{"boxes": [[10, 10, 30, 20]], "labels": [1], "scores": [0.9]}, {"boxes": [], "labels": []}],
    ...     names=["__background__", "car"])
    >>> found.objects[["sequence", "x", "y", "w", "h", "score", "category"]].to_dict("records")
    [{'sequence': 1, 'x': 10.0, 'y': 10.0, 'w': 20.0, 'h': 10.0, 'score': 0.9, 'category': 'car'}]
    >>> found.frames  # nothing was detected in the second image
       sequence  frame
    0         1      1
    1         2      1
    """
    kind = table_kinds.check_kind(table)
    images = _all_of(detections, _torchvision_image, "from_torchvision: detections")
    answer = _annotations(images, frames, class_names(names, "from_torchvision"), "from_torchvision")
    return table_kinds.as_kind(answer, kind)


def from_supervision(
    detections: Iterable[Any], frames: Table | None = None, names: Names | None = None, *, table: TableKind = "pandas"
) -> Annotations:
    """Boxes of supervision's `Detections`, one for each image.

    Parameters
    ----------
    detections
        A list of `Detections`: `xyxy` (N, 4), corners in px; where they are not None also `confidence`, `class_id` and
        `tracker_id`, each (N,), and in `data`, if there are such, `class_name`, `area` (px²), `iscrowd` and `ignore`,
        which supervision's own mean average precision takes, too. Boxes are turned where `data["xyxyxyxy"]` (N, 4, 2)
        has four corners, px, as that of Ultralytics' obb models. Masks are not read.
    frames
        A table of frames, a row for each image in the order of the list; by default image number i, from 1, is frame 1
        of the sequence i, since images are independent of each other. Tracks need it: of a video, give its name and the
        numbers of the frames: `pd.DataFrame({"sequence": "plaza", "frame": range(1, len(detections) + 1)})`.
    names
        The names of the classes: a list, a dict from numbers to names, or the path of a text file with a name a line or
        of a data.yaml. By default `data["class_name"]` where all images with objects have it, otherwise the class's
        number is the category.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".

    Returns
    -------
    Annotations: `sequence`, `frame`, `object` (the tracker's identity, or numbers from 1 within a frame), `x`, `y` (top
    left), `w`, `h` (px), or `cx`, `cy`, `w`, `h`, `angle` (degrees) of turned boxes, `score`, `area`, `crowd`, `ignore`
    and `category` if there are such, and the frames.

    Raises
    ------
    InputError: an array has another shape or numbers that are not finite, a corner lies left of or above the first, a
        class has no name, some images have identities or turned boxes and others have not, an identity is negative or
        twice in a frame, identities come without `frames`, or `frames` has another count of rows. Every problem names
        the item.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> import spotgeo_frames as sf
    >>> image = SimpleNamespace(  # such as sv.Detections.from_ultralytics(result)
    ...     xyxy=np.array([[10, 10, 30, 20]]), confidence=np.array([0.9]), class_id=np.array([2]), tracker_id=None,
    ...     data={"class_name": np.array(["car"])})
    >>> sf.from_supervision([image]).objects[["x", "y", "w", "h", "score", "category"]].to_dict("records")
    [{'x': 10.0, 'y': 10.0, 'w': 20.0, 'h': 10.0, 'score': 0.9, 'category': 'car'}]
    """
    kind = table_kinds.check_kind(table)
    images = _all_of(detections, _supervision_image, "from_supervision: detections")
    tracked = any("object" in image.columns for image in images)
    if tracked and frames is None:
        what = 'frames= is needed, such as pd.DataFrame({"sequence": "plaza", "frame": range(1, len(detections) + 1)})'
        raise InputError(f"from_supervision: there are identities of tracks; {what}")
    return table_kinds.as_kind(
        _annotations(images, frames, class_names(names, "from_supervision"), "from_supervision"), kind
    )


def _all_of(detections: Iterable[Any], taken_apart: Any, place: str) -> list[Image]:
    """The images of a list; raises InputError with the problems of all, each with the item's position."""
    if isinstance(detections, Mapping | str) or hasattr(detections, "xyxy") or not isinstance(detections, Iterable):
        raise InputError(f"{place} is of type {type(detections).__name__}; a list is needed, an item for each image")
    images: list[Image] = []
    problems: list[str] = []
    for position, item in enumerate(detections):
        with noted_in(problems):
            image = taken_apart(item, f"{place}[{position}]")
            _check_corners(image.corners, f"{place}[{position}]")
            images.append(image)
    kinds = {name for image in images for name in image.columns if len(image.corners)}
    for position, image in enumerate(images if not problems else ()):
        lacking = sorted(kinds - image.columns.keys()) if len(image.corners) else []
        problems += [f"{place}[{position}] has no {CALLED.get(name, name)}, and others have" for name in lacking]
    check_none(problems[:MOST_PROBLEMS])
    return images


def _torchvision_image(item: Any, place: str) -> Image:
    """The objects of one of torchvision's dicts."""
    if not isinstance(item, Mapping):
        raise InputError(f"{place} is of type {type(item).__name__}; a dict with boxes and labels is needed")
    lacking = [name for name in ("boxes", "labels") if name not in item]
    if lacking:
        raise InputError(f"{place} has no {' and no '.join(lacking)}")
    _check_form(item["boxes"], f"{place}['boxes']")
    corners = _corners(item["boxes"], f"{place}['boxes']")
    columns = _columns(item, {"scores": "score"} | OF_TARGETS, len(corners), place)
    return Image(corners, _classes(item["labels"], len(corners), f"{place}['labels']"), columns)


def _columns(given: Mapping[str, Any], names: Mapping[str, str], n_rows: int, place: str) -> dict[str, np.ndarray]:
    """The columns (N,) that a mapping has under these names, by the names of columns; marks are true or false."""
    columns = {
        column: _of_rows(given[name], n_rows, f"{place}['{name}']") for name, column in names.items() if name in given
    }
    return columns | {name: columns[name] != 0 for name in ("crowd", "ignore") if name in columns}


def _check_form(boxes: Any, place: str) -> None:
    """Raises InputError for torchvision's BoundingBoxes in another form than corners."""
    form = getattr(getattr(boxes, "format", None), "name", "XYXY")
    if form != "XYXY":
        advice = 'torchvision.ops.box_convert(boxes, in_fmt, "xyxy") makes corners of them'
        raise InputError(f"{place} are in the form {form}; {advice}")


def _supervision_image(item: Any, place: str) -> Image:
    """The objects of one of supervision's Detections."""
    if not hasattr(item, "xyxy"):
        raise InputError(f"{place} is of type {type(item).__name__}; supervision's Detections are needed")
    corners = _corners(item.xyxy, f"{place}.xyxy")
    n_rows = len(corners)
    columns = {}
    if getattr(item, "confidence", None) is not None:
        columns["score"] = _of_rows(item.confidence, n_rows, f"{place}.confidence")
    if getattr(item, "tracker_id", None) is not None and n_rows:
        columns["object"] = _identities(item.tracker_id, n_rows, f"{place}.tracker_id")
    data = getattr(item, "data", None) or {}
    columns |= _columns(data, OF_DATA, n_rows, f"{place}.data")
    class_id = getattr(item, "class_id", None)
    names, turned = data.get(CLASS_NAME), data.get(TURNED)
    return Image(
        corners,
        None if class_id is None else _classes(class_id, n_rows, f"{place}.class_id"),
        columns,
        None if names is None else _texts(names, n_rows, f"{place}.data['{CLASS_NAME}']"),
        None if turned is None else _four_corners(turned, n_rows, f"{place}.data['{TURNED}']"),
    )


def _corners(values: Any, name: str) -> np.ndarray:
    """Boxes (N, 4) as float64; an empty array of any shape is none."""
    array = arrays.number_array(values, name)
    if array.size == 0:
        return np.zeros((0, 4))
    if array.ndim != 2 or array.shape[1] != 4:
        raise InputError(f"{name} has the shape {array.shape}; (N, 4) is needed: x1, y1, x2, y2")
    return array.astype(np.float64)


def _four_corners(values: Any, n_rows: int, name: str) -> np.ndarray:
    """The corners (N, 4, 2) of turned boxes, as float64."""
    array = arrays.number_array(values, name)
    if array.shape != (n_rows, 4, 2) and array.size + n_rows > 0:
        raise InputError(f"{name} has the shape {array.shape}; ({n_rows}, 4, 2) is needed, four corners of each box")
    corners = array.astype(np.float64).reshape(n_rows, 4, 2)
    wrong = ~(np.abs(corners) <= schema.LARGEST_EXACT_INTEGER).all(axis=(1, 2))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"{name}: box {row} is {corners[row].tolist()}: a corner is not finite, or too large")
    return corners


def _check_corners(corners: np.ndarray, place: str) -> None:
    """Raises InputError for boxes that are not finite, or whose size is negative."""
    for wrong, what in (
        (~(np.abs(corners) <= schema.LARGEST_EXACT_INTEGER).all(axis=1), "a corner is not finite, or too large"),
        ((corners[:, 2:] < corners[:, :2]).any(axis=1), "a size is negative; x1, y1, x2, y2 are needed"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(f"{place}: box {row} is {corners[row].tolist()}: {what}")


def _of_rows(values: Any, n_rows: int, name: str) -> np.ndarray:
    """An array (N,) of finite numbers, as float64."""
    array = arrays.number_array(values, name)
    if array.shape != (n_rows,) and array.size + n_rows > 0:
        raise InputError(f"{name} has the shape {array.shape}; ({n_rows},) is needed, one for each box")
    array = array.astype(np.float64).reshape(n_rows)
    if not np.isfinite(array).all():
        raise InputError(f"{name}: row {int(np.argmin(np.isfinite(array)))} is not finite")
    return array


def _classes(values: Any, n_rows: int, name: str) -> np.ndarray:
    """Classes (N,) as int64."""
    array = _of_rows(values, n_rows, name)
    for wrong, what in (
        (array != np.floor(array), "is no whole number"),
        (np.abs(array) > schema.LARGEST_EXACT_INTEGER, "is too large for a float64 to tell it from the next number"),
    ):
        if wrong.any():
            raise InputError(f"{name}: row {int(np.argmax(wrong))} {what}")
    return array.astype(np.int64)


def _identities(values: Any, n_rows: int, name: str) -> np.ndarray:
    """The identities (N,) of tracks as int64; each is there once."""
    array = _classes(values, n_rows, name)
    if (array < 0).any():
        row = int(np.argmax(array < 0))
        raise InputError(f"{name}: row {row} is {array[row]}, so it is in no track; leave such out before")
    values, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"{name}: identity {values[np.argmax(counts > 1)]} is there more than once")
    return array


def _texts(values: Any, n_rows: int, name: str) -> np.ndarray:
    """Names (N,) of classes."""
    array = np.asarray(values, dtype=object)
    if array.shape != (n_rows,):
        raise InputError(f"{name} has the shape {array.shape}; ({n_rows},) is needed, one for each box")
    return np.array([str(value) for value in array], object)


def _annotations(
    images: Sequence[Image], frames: Table | None, names: Mapping[int, str] | None, place: str
) -> Annotations:
    """The objects of all images, in the frames of a table or each in a sequence of its own."""
    if frames is None:
        numbers = np.arange(1, len(images) + 1)
        known = pd.DataFrame({"sequence": numbers, "frame": np.ones(len(images), np.int64)})
    else:
        known = checks.check_frames(frames, f"{place}: frames")
    if len(known) != len(images):
        raise InputError(f"{place}: frames has {len(known):,} rows, and there are {len(images):,} images; one for each")
    n_rows = [len(image.corners) for image in images]
    objects = np.concatenate([np.zeros(0, np.int64), *(np.arange(1, count + 1) for count in n_rows)])
    with_rows = [image for image in images if len(image.corners)]
    columns = dict.fromkeys(name for image in with_rows for name in image.columns)
    table = known[schema.FRAME_KEY].take(np.repeat(np.arange(len(images)), n_rows)).reset_index(drop=True)
    table = table.assign(object=objects, **_boxes(images, place))
    table = table.assign(**{name: np.concatenate([image.columns[name] for image in with_rows]) for name in columns})
    category = _category(with_rows, names, place)
    return Annotations(table if category is None else table.assign(category=category), known)


def _boxes(images: Sequence[Image], place: str) -> dict[str, np.ndarray]:
    """The columns of the boxes, turned where images have four corners; raises InputError where only some have."""
    if all(image.turned is None for image in images):
        corners = np.concatenate([np.zeros((0, 4)), *(image.corners for image in images)])
        box = np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]])
        return dict(zip(schema.BOX, box.T.copy(), strict=True))
    check_none(
        [
            f"{place}: detections[{position}] has no four corners of turned boxes, and others have"
            for position, image in enumerate(images)
            if image.turned is None and len(image.corners)
        ][:MOST_PROBLEMS]
    )
    boxes = smallest_rectangles(np.concatenate([image.turned for image in images if image.turned is not None]))
    return dict(zip(schema.BUILT_IN_COLUMNS["oriented boxes"], boxes.T.copy(), strict=True))


def _category(images: Sequence[Image], names: Mapping[int, str] | None, place: str) -> Any:
    """The category of each object: the name of its class, or its number; None where there are no classes."""
    if names is None and images and all(image.names is not None for image in images):
        return pd.Categorical(
            pd.Series(np.concatenate([image.names for image in images if image.names is not None])).astype(
                pandas_tables.TEXT
            )
        )
    known = [image.class_id for image in images if image.class_id is not None]
    if len(known) < len(images):
        if known:
            raise InputError(f"{place}: some images have classes, and others have not")
        return None
    class_id = np.concatenate([np.zeros(0, np.int64), *known])
    if names is not None and not np.isin(class_id, [*names]).all():
        raise InputError(f"{place}: {without_name(class_id[~np.isin(class_id, [*names])][0], names)}")
    return categories(class_id, names)
