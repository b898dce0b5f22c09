"""FiftyOne: detections of a dataset that was exported as FiftyOneDataset, or of one that is open.

An export is a folder with `samples.json`, and for videos `frames.json`. A sample has `filepath`, `metadata` (width,
height) and fields; a field of detections has a list of `label`, `bounding_box` (left, top, width, height in shares of
the image), `confidence`, `index` (of a track) and attributes. An open dataset gives the same of each sample by
`to_dict`. The source is FiftyOne's documentation (https://docs.voxel51.com/user_guide/export_datasets.html,
FiftyOneDataset) and its classes fiftyone.core.labels.

No file that an export names is opened. FiftyOne itself is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..support import InputError, Storage, addresses, check_memory, documents, first_line, reading
from ..tables import Annotations, TableKind, provenance, table_kinds
from .box_tables import (
    ONE_FRAME,
    Problems,
    attribute_columns,
    below_all,
    category_column,
    checked,
    identity_column,
    image_table,
    number,
    object_table,
    shown,
    whole,
)

SAMPLES, FRAMES = "samples.json", "frames.json"
LISTS = {"Detections": "detections", "Detection": None}

# A longer video (eleven hours) is a slip, or meant to fill the memory.
MOST_FRAMES = 1_000_000
MOST_FRAMES_IN_ALL = 10 * MOST_FRAMES

# What of a detection is no attribute.
OWN = ("id", "tags", "label", "bounding_box", "confidence", "index", "mask", "mask_path", "attributes", "iscrowd")


class _Samples(msgspec.Struct):
    samples: list[dict[str, Any]]


class _Frames(msgspec.Struct):
    frames: list[dict[str, Any]]


class _Sample(NamedTuple):
    """A sample: its place, its fields, and of a video its frames by their number."""

    place: str
    fields: Mapping[str, Any]
    frames: Mapping[int, Mapping[str, Any]] | None


class _Rows:
    """The detections so far: the sample and the frame of each, its box (px), and what FiftyOne says of it."""

    def __init__(self) -> None:
        self.sample: list[int] = []
        self.frame: list[int] = []
        self.boxes: list[tuple[float, ...]] = []
        self.given: list[Mapping[str, Any]] = []


def read_fiftyone(
    source: str | Path | Iterable[Any],
    field: str | None = None,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Boxes of a field of detections of a FiftyOne dataset: truth, predictions or tracks.

    Parameters
    ----------
    source
        A dataset or a view of FiftyOne, or the folder (or .zip of it) to which a dataset was exported as
        `fiftyone.types.FiftyOneDataset`; a path, or an address such as s3://bucket/export.
    field
        The field with the detections, such as "ground_truth"; of videos, that of their frames, with or without
        "frames." before it. By default the only one there is.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations: `sequence` (string: the file's path below the folder that holds all, without the ending), `frame` (1,
    or the frame of a video, from 1), `object` (the track's index in a dataset of videos where all detections have one,
    otherwise numbers from 1 within each frame), `x`, `y` (top left), `w`, `h` (px), `category` (the label), `score`
    (the confidence) if detections have one, `crowd` (bool) if any has `iscrowd`, and a column for each other attribute.
    The frames are all samples, of videos all their frames, with `width`, `height` (px), `file_name`, `tags` (text) and
    a column for each other plain field of samples.

    Raises
    ------
    InputError: this is no such export or dataset, several fields have detections, the size of an image is not known, a
        box is no four finite shares, a size is negative, a detection has no label, or only some have a confidence.
        Every problem names its file and place.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> detection = {"_cls": "Detection", "label": "car", "bounding_box": [0.1, 0.2, 0.5, 0.25]}
    >>> sample = {"filepath": "data/a.jpg", "metadata": {"width": 200, "height": 100}}
    >>> sample["ground_truth"] = {"_cls": "Detections", "detections": [detection]}
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "samples.json").write_text(json.dumps({"samples": [sample]}))
    >>> sf.read_fiftyone(folder).objects[["sequence", "x", "y", "w", "h", "category"]].to_dict("records")
    [{'sequence': 'a', 'x': 20.0, 'y': 20.0, 'w': 100.0, 'h': 25.0, 'category': 'car'}]
    """
    kind = table_kinds.check_kind(table)
    if not isinstance(source, str | Path):
        name = f"dataset {getattr(source, 'name', None) or ''}".rstrip()
        return table_kinds.as_kind(_annotations([*_open(source, name)], field, name), kind)
    with addresses.local_copy(source, Storage(storage_options, filesystem)) as copy:
        state = provenance.copy_state(copy, provenance.JSON_FILES)
        name, samples, frames = _contents(copy.path)
        annotations = _annotations([*_exported(name, samples, frames)], field, name)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def _open(source: Any, name: str) -> Iterator[_Sample]:
    """The samples of a dataset of FiftyOne, or of a view, each as a dict."""
    if not hasattr(source, "iter_samples"):
        kind = type(source).__name__
        raise InputError(f"read_fiftyone: source is of type {kind}; a dataset of FiftyOne, or a path, is needed")
    try:
        for position, sample in enumerate(source.iter_samples()):
            given = sample.to_dict(include_frames=True)
            yield _Sample(f"{name}: sample {position}", given, _own_frames(given))
    except Exception as error:  # of its database
        check_memory(error, name)
        raise InputError(f"{name}: cannot be read: {first_line(error)}") from error


def _own_frames(sample: Mapping[str, Any]) -> dict[int, Mapping[str, Any]] | None:
    """The frames of a sample by their number; None if it is no video."""
    frames = sample.get("frames")
    if not isinstance(frames, Mapping):
        return None
    numbered = {whole(str(key)): frame for key, frame in frames.items()}
    return {key: frame for key, frame in numbered.items() if key is not None and isinstance(frame, Mapping)}


def _contents(path: Path) -> tuple[str, bytes, bytes | None]:
    """What messages call the samples, and the content of both files of an export."""
    if path.is_dir():
        with reading.readable(path):
            inside = path if (path / SAMPLES).exists() else None
            below = [one for one in sorted(path.iterdir()) if (one / SAMPLES).is_file()] if inside is None else []
        folder = inside or (below[0] if len(below) == 1 else None)
        if folder is None:
            raise InputError(f"{path}: has no {SAMPLES}; export the dataset as fiftyone.types.FiftyOneDataset")
        frames = folder / FRAMES
        content = reading.read_bytes(frames) if frames.exists() else None
        return str(folder / SAMPLES), reading.read_bytes(folder / SAMPLES), content
    packed = reading.read_archive(path, ".json") if path.suffix.lower() == ".zip" else {}
    named = [name for name in packed if name.rpartition("/")[2] == SAMPLES]
    if len(named) == 1:
        folder_name = named[0].removesuffix(SAMPLES)
        return f"{path}, {named[0]}", packed[named[0]], packed.get(f"{folder_name}{FRAMES}")
    return str(path), reading.read_bytes(path), None


def _exported(name: str, content: bytes, frames: bytes | None) -> Iterator[_Sample]:
    """The samples of an export."""
    if b'"samples"' not in content:
        raise InputError(f"{name}: has no samples; export the dataset as fiftyone.types.FiftyOneDataset")
    samples = documents.decode(content, _Samples, name).samples
    of_sample: dict[str, dict[int, Mapping[str, Any]]] = {}
    frames_name = f"{name.removesuffix(SAMPLES)}{FRAMES}"
    for position, frame in enumerate([] if frames is None else documents.decode(frames, _Frames, frames_name).frames):
        at = whole(frame.get("frame_number"))
        if at is None:
            found = shown(frame.get("frame_number"))
            raise InputError(f"{frames_name}: frames[{position}].frame_number: is {found}; a whole number is needed")
        of_sample.setdefault(_id(frame.get("_sample_id")), {})[at] = frame
    for position, sample in enumerate(samples):
        place = f"{name}: samples[{position}]"
        if isinstance(sample.get("frames"), str):
            raise InputError(f"{place}: has its frames in another file; export it with a newer FiftyOne")
        is_video = sample.get("_media_type") == "video"
        yield _Sample(place, sample, of_sample.get(_id(sample.get("_id")), {}) if is_video else _own_frames(sample))


def _id(value: Any) -> str:
    """An id, which MongoDB writes as an object."""
    return str(value.get("$oid")) if isinstance(value, dict) else str(value)


def _annotations(samples: Sequence[_Sample], field: str | None, name: str) -> Annotations:
    """The tables of all samples; raises InputError with all that is wrong."""
    problems = Problems()
    for sample in samples:
        if not isinstance(sample.fields.get("filepath"), str) or not sample.fields["filepath"].strip("/\\. "):
            problems.add(sample.place, "has no filepath")
        for frame in sample.frames or ():
            if not 1 <= frame <= MOST_FRAMES:
                problems.add(sample.place, f"has a frame {frame}; frames from 1 to {MOST_FRAMES:,} are possible")
    problems.check()
    paths = [sample.fields["filepath"].replace("\\", "/").lstrip("/") for sample in samples]
    names = list(map(below_all([*paths]).get, paths)) if paths else []
    chosen = _field(samples, field, name)
    rows = _Rows()
    for position, sample in enumerate(samples):
        size = _size(sample)
        for frame, fields in [(ONE_FRAME, sample.fields)] if sample.frames is None else sorted(sample.frames.items()):
            place = sample.place if sample.frames is None else f"{sample.place}, frame {frame}"
            for at, detection in enumerate(_detections(fields.get(chosen), f"{place}.{chosen}", problems)):
                rows.sample.append(position)
                rows.frame.append(frame)
                rows.given.append(detection)
                rows.boxes.append(_box(detection, size, f"{place}.{chosen}[{at}]", problems))
    scores = [number(given.get("confidence")) for given in rows.given]
    n_scored = problems.add_gaps(name, scores, "detections have a confidence")
    problems.check()
    crowds = [given.get("iscrowd", _attributes(given).get("iscrowd")) for given in rows.given]
    is_video = any(sample.frames is not None for sample in samples)
    objects = object_table(
        [str(one) for one in names],
        rows.sample,
        rows.frame,
        rows.boxes,
        identity_column([whole(given.get("index")) for given in rows.given]) if is_video else None,
        category=category_column([given["label"] for given in rows.given]),
        score=np.array(scores, np.float64) if n_scored else None,
        crowd=None if all(one is None for one in crowds) else np.array([one in (True, 1) for one in crowds], bool),
        **attribute_columns([_attributes(given) for given in rows.given], ("iscrowd",), name),
    )
    objects = objects.drop(columns="attribute_iscrowd", errors="ignore")
    return checked(objects, _frame_table(samples, [str(one) for one in names], name), name)


def _field(samples: Sequence[_Sample], field: str | None, name: str) -> str:
    """The field with the detections."""
    there = dict.fromkeys(
        key
        for sample in samples
        for fields in ([sample.fields] if sample.frames is None else sample.frames.values())
        for key, value in fields.items()
        if isinstance(value, Mapping) and str(value.get("_cls")) in LISTS
    )
    known = ", ".join(there) or "none"
    if field is not None and field not in there and any(sample.frames is not None for sample in samples):
        field = field.removeprefix("frames.")  # FiftyOne's name of what the frames of videos have
    if field is not None:
        if samples and there and field not in there:
            raise InputError(f"{name}: no field {field!r} has detections; there are {known}")
        return field
    if len(there) > 1:
        raise InputError(f"{name}: the fields {known} have detections; say by field= which to read")
    return next(iter(there), "ground_truth")


def _detections(value: Any, place: str, problems: Problems) -> Sequence[Mapping[str, Any]]:
    """The detections of a field."""
    if value is None:
        return ()
    kind = str(value.get("_cls")) if isinstance(value, Mapping) else None
    if kind not in LISTS:
        problems.add(place, f"is {shown(kind or value)}; detections are needed")
        return ()
    found = [value] if LISTS[kind] is None else value.get(LISTS[kind])
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        problems.add(place, "has no list of detections")
        return ()
    return found


def _size(sample: _Sample) -> tuple[float, float] | None:
    """The width and height (px) of a sample; None where it does not tell."""
    metadata = sample.fields.get("metadata")
    if not isinstance(metadata, Mapping):
        return None
    prefix = "" if sample.frames is None else "frame_"
    width, height = (number(metadata.get(f"{prefix}{side}")) for side in ("width", "height"))
    return None if width is None or height is None or min(width, height) <= 0 else (width, height)


def _box(
    detection: Mapping[str, Any], size: tuple[float, float] | None, place: str, problems: Problems
) -> tuple[float, ...]:
    """Left, top, width and height (px) of a detection; notes what is wrong with it."""
    given = detection.get("bounding_box")
    shares = [number(share) for share in given] if isinstance(given, list | tuple) else []
    if len(shares) != 4 or None in shares:
        problems.add(place, f"bounding_box is {shown(given)}; four finite shares of the image are needed")
        return (0.0, 0.0, 0.0, 0.0)
    if not isinstance(detection.get("label"), str) or not detection["label"]:
        problems.add(place, f"label is {shown(detection.get('label'))}; text is needed")
    if size is None:
        problems.add(place, "the size of its image is not known; call compute_metadata() of the dataset before")
        return (0.0, 0.0, 0.0, 0.0)
    x, y, w, h = (share or 0.0 for share in shares)
    box = (x * size[0], y * size[1], w * size[0], h * size[1])
    problems.add_negative_size(place, box)
    return box


def _attributes(detection: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a detection, those of its own fields and those of older versions, which are objects."""
    older = detection.get("attributes")
    own = {name: value for name, value in detection.items() if name not in OWN and not name.startswith("_")}
    if isinstance(older, Mapping):
        own |= {
            name: value.get("value") if isinstance(value, Mapping) else value
            for name, value in older.items()
            if name not in own
        }
    return own


def _frame_table(samples: Sequence[_Sample], names: Sequence[str], path: str) -> Any:
    """The table of frames: samples, and all frames of videos."""
    numbers: list[list[int]] = []
    n_frames = 0
    for sample in samples:
        metadata = sample.fields.get("metadata")
        total = whole(metadata.get("total_frame_count")) if isinstance(metadata, Mapping) else None
        listed = [ONE_FRAME] if sample.frames is None else [*sample.frames]
        if sample.frames is not None and total is not None and 0 <= total <= MOST_FRAMES:
            listed = [*range(1, max([total, *listed]) + 1)]
        numbers.append(sorted(listed))
        n_frames += len(listed)
        if n_frames > MOST_FRAMES_IN_ALL:
            raise InputError(f"{sample.place}: videos have more than {MOST_FRAMES_IN_ALL:,} frames up to here")
    taken = ("width", "height", "file_name", "tags", "filepath", "id", "metadata", "frames")
    plain = [
        {key: value for key, value in sample.fields.items() if key not in taken and not key.startswith("_")}
        for sample in samples
    ]
    tags = [sample.fields.get("tags") for sample in samples]
    columns = {
        "width": np.array([(_size(sample) or (np.nan, np.nan))[0] for sample in samples], np.float64),
        "height": np.array([(_size(sample) or (np.nan, np.nan))[1] for sample in samples], np.float64),
        "file_name": [sample.fields["filepath"] for sample in samples],
        "tags": [", ".join(map(str, of)) or None if isinstance(of, list) else None for of in tags],
        **attribute_columns(plain, taken, f"{path}: samples"),
    }
    table = image_table(names, **columns)
    rows = np.repeat(np.arange(len(samples)), [len(listed) for listed in numbers])
    frames = np.array([frame for listed in numbers for frame in listed], np.int64)
    return table.take(rows).reset_index(drop=True).assign(frame=frames)
