"""Label Studio's JSON: rectangles of images, as people labelled them or as models predicted them.

An export is a list of tasks, each an image. A task has `data` and the lists `annotations` and `predictions`, whose
`result` is a list of regions: `type` (rectanglelabels), `value` with x, y, width, height in percent of the image and
the label, `original_width`, `original_height` (px). What else was asked about a region (`choices`, `number`, `rating`,
`textarea`) has its `id`. JSON-MIN has regions by the name of their control. The source is Label Studio's documentation
(https://labelstud.io/guide/task_format, https://labelstud.io/tags/rectanglelabels).

A file is not read where it could give wrong numbers: if rectangles or images are turned, if regions are no rectangles,
or if several people labelled an image and none of them is chosen. Videos are not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..support import Storage, addresses, documents, reading
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
    text_column,
)
from .documents import Integer

SIDES = ("x", "y", "width", "height")
RECTANGLES = ("rectanglelabels", "rectangle")

# What is asked about a region, or about the image; the value has the answer under the same name.
ANSWERS = ("choices", "number", "rating", "textarea", "taxonomy", "datetime", "labels")
NO_REGIONS = (*ANSWERS, "relation", "pairwise", "ranker", "timeserieslabels")


class _Region(msgspec.Struct):
    id: str | None = None
    type: str | None = None
    from_name: str | None = None
    value: dict[str, Any] | None = None
    original_width: float | None = None
    original_height: float | None = None
    image_rotation: float | None = None
    score: float | None = None


class _Answer(msgspec.Struct):
    """What somebody, or a model, said of a task."""

    result: list[_Region] | None = None
    was_cancelled: bool | None = None
    ground_truth: bool | None = None
    completed_by: Any = None
    model_version: str | None = None
    score: float | None = None


class _Task(msgspec.Struct):
    id: Integer | str | None = None
    data: dict[str, Any] | None = None
    annotations: list[_Answer] | None = None
    completions: list[_Answer] | None = None
    predictions: list[_Answer] | None = None


class _Labelled(NamedTuple):
    """A task with the answer that counts, and its place in the file."""

    place: str
    sequence: Integer | str
    data: Mapping[str, Any]
    answer: _Answer


def read_label_studio(
    path: str | Path,
    predictions: bool = False,
    *,
    annotator: int | str | None = None,
    model_version: str | None = None,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Rectangles of images from Label Studio's JSON or JSON-MIN: what people labelled, or what models predicted.

    Parameters
    ----------
    path
        The .json, plain or packed as .gz or .zip; a path, or an address such as s3://bucket/project.json.
    predictions
        Whether to read the predictions of the tasks instead of their annotations.
    annotator
        The id or the e-mail of the person whose annotations are read. By default a task may have one annotation, or one
        that is marked as ground truth.
    model_version
        The version of the model whose predictions are read, where tasks have several.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations. Each task is a sequence of its own, named by its id, whose frame is 1. `object` numbers the rectangles
    from 1 in the order of the file. `x`, `y` (top left), `w`, `h` (px), `category` (the label) if rectangles have one,
    `score` of predictions (the region's, otherwise the whole prediction's) if they have one, `region` (the region's id,
    text), and a column for each question about regions. The frames are the tasks that have such an annotation or
    prediction, with `width`, `height` (px, null where there is no region), `file_name` (the image of the task) and a
    column for each other plain value of the task's data, and for each question about the image.

    Raises
    ------
    InputError: the file is not of this form, a rectangle or an image is turned, a region is no rectangle or has several
        labels, a size of the image or a number is missing or cannot be, only some rectangles have a label or a score,
        or several annotations of a task could be meant. Every problem names its file and place.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> value = {"x": 10, "y": 20, "width": 50, "height": 25, "rotation": 0, "rectanglelabels": ["Car"]}
    >>> region = {"id": "a1", "type": "rectanglelabels", "original_width": 200, "original_height": 100, "value": value}
    >>> task = {"id": 7, "data": {"image": "/data/1.jpg"}, "annotations": [{"result": [region]}]}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "project.json"
    >>> _ = path.write_text(json.dumps([task]))
    >>> sf.read_label_studio(path).objects[["sequence", "x", "y", "w", "h", "category"]].to_dict("records")
    [{'sequence': 7, 'x': 20.0, 'y': 20.0, 'w': 100.0, 'h': 25.0, 'category': 'Car'}]
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        state = provenance.copy_state(copy)
        name = str(copy.path)
        problems = Problems()
        tasks = _tasks(reading.read_bytes(copy.path), name)
        labelled = [
            _Labelled(place, task.id if task.id is not None else position, task.data or {}, answer)
            for position, (place, task) in enumerate(tasks)
            if (answer := _chosen(task, place, predictions, annotator, model_version, problems)) is not None
        ]
        annotations = _annotations(labelled, predictions, problems, name)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def _tasks(content: bytes, name: str) -> list[tuple[str, _Task]]:
    """The tasks of a file, each with its place; those of JSON-MIN in the form of the others."""
    rows = documents.decode(content, list[dict[str, Any]], name)
    if any("data" in row for row in rows):
        tasks = documents.decode(content, list[_Task], name)
    else:
        tasks = documents.convert([_from_min(row) for row in rows], list[_Task], name)
    return [(f"{name}: [{position}]", task) for position, task in enumerate(tasks)]


def _from_min(row: Mapping[str, Any]) -> dict[str, Any]:
    """A task of JSON-MIN, whose regions lie under the name of their control, as one of JSON."""
    regions: list[dict[str, Any]] = []
    for name, values in row.items():
        for value in values if isinstance(values, list) else ():
            if isinstance(value, dict):
                sizes = {size: value.get(size) for size in ("original_width", "original_height")}
                type_ = next((key for key in value if key.endswith("labels")), "rectangle")
                regions.append({"type": type_, "from_name": name, "value": value, **sizes})
    notes = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
    data = {name: value for name, value in row.items() if name not in notes and isinstance(value, str)}
    answer = {"result": regions, "completed_by": row.get("annotator")}
    return {"id": row.get("id"), "data": data, "annotations": [answer]}


def _chosen(
    task: _Task,
    place: str,
    predictions: bool,
    annotator: int | str | None,
    model_version: str | None,
    problems: Problems,
) -> _Answer | None:
    """The annotation or prediction of a task that counts; None where it has none."""
    if predictions:
        told = task.predictions or []
        told = [one for one in told if model_version in (None, one.model_version)]
        kind, advice = "predictions", "model_version= chooses those of one model"
    else:
        told = [one for one in task.annotations or task.completions or [] if not one.was_cancelled]
        told = [one for one in told if annotator is None or str(annotator) in _people(one.completed_by)]
        marked = [one for one in told if one.ground_truth]
        told = marked if len(marked) == 1 else told
        kind, advice = "annotations", "annotator= chooses those of one person, or mark one as ground truth"
    if len(told) > 1:
        problems.add(place, f"has {len(told)} {kind}; {advice}")
    return told[0] if told else None


def _people(completed_by: Any) -> set[str]:
    """The id and the e-mail of the person who made an annotation."""
    if isinstance(completed_by, dict):
        return {str(completed_by.get(name)) for name in ("id", "email")}
    return {str(completed_by)}


def _annotations(tasks: Sequence[_Labelled], predictions: bool, problems: Problems, name: str) -> Annotations:
    """The tables of all tasks; raises InputError with what is wrong with them and these problems."""
    rows: list[int] = []
    boxes: list[tuple[float, ...]] = []
    labels: list[str | None] = []
    scores: list[float | None] = []
    regions: list[str | None] = []
    answers: list[dict[str, Any]] = []
    sizes: list[tuple[float, float]] = []
    of_images: list[dict[str, Any]] = []
    for position, task in enumerate(tasks):
        asked, size = _answers(task.answer), (np.nan, np.nan)
        named = {region.id for region in task.answer.result or [] if region.type in RECTANGLES}
        for at, region in enumerate(task.answer.result or []):
            place = f"{task.place}.result[{at}]"
            alone = region.type == "labels" and "x" in (region.value or {}) and region.id not in named
            if region.type in NO_REGIONS and not alone:
                continue
            box, found = _box(region, place, problems)
            size = found or size
            rows.append(position)
            boxes.append(box)
            labels.append(_label(region, asked, place, problems))
            scores.append(region.score if region.score is not None else task.answer.score)
            regions.append(region.id)
            answers.append(asked.get(region.id or "", {}))
        sizes.append(size)
        about_image = [asked[region] for region in asked if region not in named and "labels" not in asked[region]]
        of_images.append({question: answer for told in about_image for question, answer in told.items()})
    problems.check()
    scored = predictions and any(score is not None for score in scores)
    problems.add_gaps(name, labels, "rectangles have a label")
    if scored:
        problems.add_gaps(name, scores, "rectangles have a score")
    problems.check()
    ids, sequence = _sequences(tasks)
    objects = object_table(
        [str(one) for one in ids],
        sequence[rows],
        np.full(len(rows), ONE_FRAME),
        boxes,
        category=category_column(labels) if any(labels) else None,
        score=np.array(scores, np.float64) if scored else None,
        region=text_column(regions),
        **attribute_columns(
            [{k: v for k, v in asked.items() if k != "labels"} for asked in answers], ("region",), name
        ),
    )
    frames = _frames(tasks, [str(ids[at]) for at in sequence], sizes, of_images, name)
    if all(isinstance(one, int) for one in ids):
        objects, frames = (table.astype({"sequence": np.int64}) for table in (objects, frames))
    return checked(objects, frames, name)


def _sequences(tasks: Sequence[_Labelled]) -> tuple[list[Any], np.ndarray]:
    """The ids of the tasks, each once, and the position of each task among them."""
    ids = list(dict.fromkeys(task.sequence for task in tasks))
    position = {one: at for at, one in enumerate(ids)}
    return ids, np.array([position[task.sequence] for task in tasks], np.int64)


def _answers(answer: _Answer) -> dict[str, dict[str, Any]]:
    """What was asked about each region, by the region's id and the name of the question."""
    asked: dict[str, dict[str, Any]] = {}
    for region in answer.result or []:
        if region.type in ANSWERS and region.id is not None:
            said = (region.value or {}).get(region.type)
            flat = said[0] if isinstance(said, list) and len(said) == 1 else said
            plain = isinstance(flat, str | int | float | bool)
            name = "labels" if region.type == "labels" else region.from_name or region.type
            asked.setdefault(region.id, {})[name] = flat if plain else None if flat is None else str(flat)
    return asked


def _box(region: _Region, place: str, problems: Problems) -> tuple[tuple[float, ...], tuple[float, float] | None]:
    """Left, top, width and height (px) of a region, and the size of its image; notes what is wrong with it."""
    value, nothing = region.value or {}, (0.0, 0.0, 0.0, 0.0)
    if region.type not in (*RECTANGLES, "labels") or not {*SIDES} <= {*value}:
        problems.add(place, f"{shown(region.type)} is no rectangle; only rectangles of images are read")
        return nothing, None
    width, height = number(region.original_width), number(region.original_height)
    if width is None or height is None or min(width, height) <= 0:
        found = f"{shown(region.original_width)} and {shown(region.original_height)}"
        problems.add(place, f"original_width and original_height are {found}; the size of the image (px) is needed")
        return nothing, None
    for what, turned in (("rotation", value.get("rotation")), ("image_rotation", region.image_rotation)):
        if turned is not None and number(turned) != 0:
            problems.add(f"{place}.{what}", f"is {shown(turned)}; turned rectangles and images are not read")
            return nothing, (width, height)
    percent = [number(value[side]) for side in SIDES]
    for side, share in zip(SIDES, percent, strict=True):
        if share is None:
            problems.add(f"{place}.value.{side}", f"is {shown(value[side])}; a finite number is needed, in percent")
            return nothing, (width, height)
    x, y, w, h = (share or 0.0 for share in percent)
    box = (x * width / 100, y * height / 100, w * width / 100, h * height / 100)
    problems.add_negative_size(f"{place}.value", box)
    return box, (width, height)


def _label(region: _Region, asked: Mapping[str, Mapping[str, Any]], place: str, problems: Problems) -> str | None:
    """The label of a region, which may be an answer of its own; None where it has none."""
    value = region.value or {}
    labels = value.get("rectanglelabels") or value.get("labels") or []
    if not isinstance(labels, list) or len(labels) > 1:
        problems.add(place, f"its labels are {shown(labels)}; one is needed")
        return None
    said = labels[0] if labels else asked.get(region.id or "", {}).get("labels")
    return None if said is None else as_text(said)


def _frames(
    tasks: Sequence[_Labelled],
    names: Sequence[str],
    sizes: Sequence[tuple[float, float]],
    asked: Sequence[Mapping[str, Any]],
    name: str,
) -> Any:
    """The table of tasks, with what was asked about each image."""
    width, height = np.array(sizes, np.float64).reshape(-1, 2).T
    data = [
        {key: value for key, value in task.data.items() if key != _image_key(task.data)} | {**answers}
        for task, answers in zip(tasks, asked, strict=True)
    ]
    images = [task.data.get(_image_key(task.data)) for task in tasks]
    return image_table(
        names,
        width=width,
        height=height,
        file_name=[image if isinstance(image, str) else None for image in images],
        **attribute_columns(data, ("width", "height", "file_name"), f"{name}: data"),
    )


def _image_key(data: Mapping[str, Any]) -> str:
    """The key under which the data of a task has its image: `image`, or the first that is text."""
    return "image" if "image" in data else next((key for key, value in data.items() if isinstance(value, str)), "image")
