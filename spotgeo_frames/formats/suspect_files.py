"""Writes suspects among labels in the forms of tools in which people label: Label Studio's and FiftyOne's JSON.

Both have places in shares of the image, so its size has to be known. Label Studio takes tasks with predictions, which
people see as labels to correct (https://labelstud.io/guide/predictions). FiftyOne takes samples with labels that have
tags (https://docs.voxel51.com/user_guide/import_datasets.html, FiftyOneDataset).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from ..geometries import BOXES, POINTS, geometry_of
from ..support import InputError, check_none, pandas_tables, writing
from ..tables import Annotations, Table, arrow, as_numbers, checks, messages, schema
from .fiftyone import SAMPLES
from .yolo import sizes_of

NAME = "write_suspects: suspects"

# What regions and tasks of Label Studio call the controls of the labelling interface, and who predicts.
LABELS_NAME, IMAGE_NAME, MODEL_VERSION = "label", "image", "label_suspects"

# How large Label Studio draws a point, in percent of the image.
POINT_SIZE = 1.0

# The field of FiftyOne's samples.
FIELD = "suspects"


class _Suspect(NamedTuple):
    """A suspect: its place in shares of the image (x, y and, of a box, width and height), and what is said of it."""

    place: Sequence[float]
    label: str
    suspicion: str
    score: float | None
    look_at: str


class _Image(NamedTuple):
    """An image with its suspects; `size` is its width and height (px)."""

    file_name: str
    size: Sequence[float]
    suspects: Sequence[_Suspect]


def write_suspects(
    suspects: Table,
    path: str | Path,
    frames: Annotations | Table,
    *,
    form: Literal["label_studio", "fiftyone"],
) -> None:
    """Writes suspects among labels for a tool in which people label, as boxes or points that they look at.

    Parameters
    ----------
    suspects
        What `label_suspects` returned, or rows of it, of boxes or points; of poses, their boxes are written. A table of
        anything else goes into a CSV, which spreadsheets and most tools take: `suspects.to_csv(path, index=False)`.
    path
        For Label Studio the .json, packed where its name ends in .gz or .zip; for FiftyOne the folder, or the .zip if
        its name ends so.
    frames
        The frames table of the truth, or the `Annotations` that have one, with the columns `width`, `height` (px) and
        `file_name` of each frame.
    form
        "label_studio": tasks with predictions. A task is a frame that has suspects; its data has `image`, the name of
        the file, and `suspicions`. A region has the category of the detection, or else of the label, as its label, the
        score, and `look_at` as its text. The labelling interface needs `RectangleLabels` (or `KeyPointLabels`) with
        name="label" and toName="image".
        "fiftyone": samples.json in the form of a FiftyOneDataset. A sample is a frame that has suspects; the labels of
        its field `suspects` have the suspicion as their tag, and `suspicion` and `look_at` as attributes.

    Raises
    ------
    InputError: `suspects` lacks columns of such a table, or has another geometry; a frame with suspects is not among
        `frames`, or these lack its size or its file's name; or nothing can be written there.
    ValueError: there is no such form.

    Notes
    -----
    Suspects without a score have a score of 0 there if others have one. Without categories, labels are suspicions.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> truth, found = sf.read_coco("data/coco/annotations.json", "data/coco/precise.json", boxes=True)
    >>> suspects = sf.label_suspects(sf.match(truth, found))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "suspects.json"
    >>> sf.write_suspects(suspects, path, truth, form="label_studio")
    >>> len(sf.read_label_studio(path, predictions=True).objects) == len(suspects)
    True
    """
    forms: dict[Any, Callable[[Sequence[_Image], Path], None]] = {
        "label_studio": _write_label_studio,
        "fiftyone": _write_fiftyone,
    }
    if form not in forms:
        raise ValueError(f"form is {form!r}; {' or '.join(map(repr, forms))} is needed")
    table = arrow.as_pandas(suspects, NAME)
    listed = frames.frames if isinstance(frames, Annotations) else frames
    if listed is None:
        raise InputError("write_suspects: frames: has no frames table; give one with width, height and file_name")
    forms[form](_images(_checked(table), checks.check_frames(listed, "write_suspects: frames")), Path(path))


def _checked(table: pd.DataFrame) -> pd.DataFrame:
    """The table, if it has suspects of boxes or points; raises InputError otherwise."""
    needed = ("suspicion", *schema.FRAME_KEY, "look_at")
    lacking = [column for column in needed if column not in table]
    check_none([messages.missing(NAME, column, table.columns, "label_suspects() makes it") for column in lacking])
    geometry = geometry_of(table)
    if not (geometry is BOXES or geometry is POINTS) or not geometry.is_of(table):
        what = "only boxes and points are written; suspects.to_csv() writes any table"
        raise InputError(f"{NAME}: these are {geometry.name}; {what}")
    return table


def _images(table: pd.DataFrame, frames: pd.DataFrame) -> list[_Image]:
    """The frames that have suspects, in the order in which these come."""
    if "file_name" not in frames:
        why = "the tools find images by it"
        raise InputError(messages.missing("write_suspects: frames", "file_name", frames.columns, why))
    sizes = sizes_of(frames, None, "write_suspects")
    texts = frames["sequence"].astype(pandas_tables.TEXT).tolist()
    names = dict(zip(zip(texts, frames["frame"].tolist(), strict=True), frames["file_name"].tolist(), strict=True))
    keys = [*zip(table["sequence"].astype(pandas_tables.TEXT).tolist(), table["frame"].tolist(), strict=True)]
    for sequence, frame in dict.fromkeys(keys):
        if not isinstance(names.get((sequence, frame)), str):
            what = "has no file_name" if (sequence, frame) in names else "is not in the frames table"
            raise InputError(f"write_suspects: frames: frame {frame} of sequence {sequence} {what}")
    of_rows = np.array([sizes[key][:2] for key in keys], np.float64).reshape(-1, 2)
    of_frames: dict[Any, list[_Suspect]] = {}
    for key, suspect in zip(keys, _suspects(table, of_rows), strict=True):
        of_frames.setdefault(key, []).append(suspect)
    return [_Image(names[key], (sizes[key].width, sizes[key].height), of) for key, of in of_frames.items()]


def _suspects(table: pd.DataFrame, sizes: np.ndarray) -> list[_Suspect]:
    """The suspects, in the order of the table; `sizes` (N, 2) are the widths and heights of their images (px)."""
    columns = geometry_of(table).columns
    shares = np.column_stack([as_numbers(table[name]) / sizes[:, at % 2] for at, name in enumerate(columns)])
    if not np.isfinite(shares).all():
        raise InputError(f"{NAME}: some coordinates are no finite numbers")
    suspicions = table["suspicion"].astype(pandas_tables.TEXT)
    labels = pd.Series(None, table.index, dtype=pandas_tables.TEXT)
    for name in ("predicted_category", "truth_category"):
        if name in table:
            labels = labels.fillna(table[name].astype(pandas_tables.TEXT))
    scores: Sequence[float | None] = [None] * len(table)
    if "score" in table and table["score"].notna().any():
        scores = as_numbers(table["score"].fillna(0.0)).tolist()
    rows = shares.tolist(), labels.fillna(suspicions).tolist(), suspicions.tolist(), scores, table["look_at"].tolist()
    return [_Suspect(*row) for row in zip(*rows, strict=True)]


def _without_null(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _write_label_studio(images: Sequence[_Image], path: Path) -> None:
    """Writes tasks of Label Studio, each with one prediction."""
    tasks = []
    for image in images:
        scores = [one.score for one in image.suspects if one.score is not None]
        prediction = {
            "model_version": MODEL_VERSION,
            "score": max(scores, default=None),
            "result": [_region(one, at, image.size) for at, one in enumerate(image.suspects, 1)],
        }
        suspicions = ", ".join(dict.fromkeys(one.suspicion for one in image.suspects))
        data = {IMAGE_NAME: image.file_name, "suspicions": suspicions}
        tasks.append({"data": data, "predictions": [_without_null(prediction)]})
    writing.write_bytes(path, msgspec.json.encode(tasks))


def _region(one: _Suspect, number: int, size: Sequence[float]) -> dict[str, Any]:
    """A region of Label Studio, in percent of the image."""
    is_box = len(one.place) > 2
    kind = "rectanglelabels" if is_box else "keypointlabels"
    sides = dict(zip(("x", "y", "width", "height"), (100 * share for share in one.place), strict=False))
    extra = {"rotation": 0} if is_box else {"width": POINT_SIZE}
    region = {
        "id": str(number),
        "type": kind,
        "from_name": LABELS_NAME,
        "to_name": IMAGE_NAME,
        "original_width": size[0],
        "original_height": size[1],
        "image_rotation": 0,
        "value": sides | extra | {kind: [one.label]},
        "score": one.score,
        "meta": {"text": [one.look_at]},
    }
    return _without_null(region)


def _write_fiftyone(images: Sequence[_Image], folder: Path) -> None:
    """Writes samples of FiftyOne."""
    samples = []
    for image in images:
        is_box = all(len(one.place) > 2 for one in image.suspects)
        kind, name = ("Detections", "detections") if is_box else ("Keypoints", "keypoints")
        metadata = {"_cls": "ImageMetadata", "width": int(image.size[0]), "height": int(image.size[1])}
        field = {"_cls": kind, name: [_label(one) for one in image.suspects]}
        samples.append({"filepath": image.file_name, "tags": [], "metadata": metadata, FIELD: field})
    writing.write_files({SAMPLES: msgspec.json.encode({"samples": samples})}, folder)


def _label(one: _Suspect) -> dict[str, Any]:
    """A label of FiftyOne, whose keypoints have lists of places and of scores."""
    said = {"label": one.label, "tags": [one.suspicion], "suspicion": one.suspicion, "look_at": one.look_at}
    if len(one.place) > 2:
        return _without_null({"_cls": "Detection", **said, "bounding_box": one.place, "confidence": one.score})
    score = None if one.score is None else [one.score]
    return _without_null({"_cls": "Keypoint", **said, "points": [one.place], "confidence": score})
