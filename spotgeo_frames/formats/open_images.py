"""Open Images' CSV: boxes of images in shares of their width and height, truth or predictions.

Columns of truth are ImageID, Source, LabelName, Confidence, XMin, XMax, YMin, YMax, IsOccluded, IsTruncated, IsGroupOf,
IsDepiction and IsInside, whose marks are 1, 0, and -1 where nobody knows. Predictions have ImageID, LabelName, Score
and the box. The source is the dataset's description of its files (https://storage.googleapis.com/openimages/web/
download_v7.html#df-bounding-boxes).

A box that is a group of more than five instances is a crowd of its category, as in the challenge's evaluation, which
counts no detection within it as a false alarm. Further columns, such as XClick1X, are not read.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..support import InputError, Storage, addresses, check_none, pandas_tables, reading
from ..tables import Annotations, Table, TableKind, checks, messages, provenance, schema, table_kinds
from .box_tables import NUMBER, ONE_FRAME, Problems, checked, image_table, numbered, shown
from .yolo import checked_size, sizes_of
from .yolo_files import Sizes, image_sizes

SIDES = ("xmin", "xmax", "ymin", "ymax")
NEEDED = ("imageid", "labelname", *SIDES)

# The marks, by the columns that they become.
FLAGS = {
    "crowd": "isgroupof",
    "occluded": "isoccluded",
    "truncated": "istruncated",
    "depiction": "isdepiction",
    "inside": "isinside",
}
SCORES = ("score", "conf", "confidence")

# Boxes of predictions may reach beyond the image; what reaches further is in pixels.
LEAST_SHARE, LARGEST_SHARE = -1, 2

# A file of the names of classes has 600 lines.
LARGEST_NAMES = 1 << 24

SIZES_NEEDED = "give image_size=(width, height), frames= with the columns width and height, or images="


def read_open_images(
    path: str | Path,
    names: str | Path | Mapping[str, str] | None = None,
    *,
    image_size: tuple[float, float] | None = None,
    frames: Table | None = None,
    images: str | Path | None = None,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Boxes of images from Open Images' CSV: truth or predictions.

    Parameters
    ----------
    path
        The .csv, plain or packed as .gz or .zip; a path, or an address such as s3://bucket/validation-bbox.csv.
    names
        The names of the classes: the path of class-descriptions-boxable.csv, or a dict from labels such as /m/01g317 to
        names. By default the label is the category.
    image_size
        The width and height (px) of all images.
    frames
        A table of all images, with `sequence` (the image's id), `frame` (1) and, unless `image_size` is given, `width`
        and `height` (px); such as the `frames` of the truth, when these are predictions.
    images
        The folder of the images, called by their ids, which tell the sizes. Needs Pillow, which the extra `yolo`
        installs.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations. Each image is a sequence of its own, called by its id (string), whose frame is 1. `object` numbers the
    boxes from 1 in the order of the file. `x`, `y` (top left), `w`, `h` (px), `category`; predictions have `score`;
    truth has, as far as the file has them, `crowd` (bool: a group), `occluded`, `truncated`, `depiction`, `inside`
    (bool, null where not known) and `source` (text). The frames are those of `frames` or `images`, otherwise None,
    because the file lists no images without boxes.

    Where nothing tells the sizes of the images, a warning says so, and boxes stay shares of their image. Their IoU is
    the same then, but distances, sizes and areas are not px.

    Raises
    ------
    InputError: the file is no such CSV, columns are missing, an image is not known, a class has no name, a number is
        none, not finite or no share of an image, a size is negative, a mark is none of 1, 0 and -1, or `frames` has
        frames other than 1. Every problem of the file names its file and row, counted from 1 below the names of the
        columns.
    ImportError: Pillow is needed and missing.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "validation-annotations-bbox.csv"
    >>> _ = path.write_text("ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsGroupOf\\n"
    ...                     "0001eeaf4aed83f9,xclick,/m/0cmf2,1,0.25,0.75,0.5,1,0,1\\n")
    >>> known = sf.read_open_images(path, {"/m/0cmf2": "Airplane"}, image_size=(200, 100))
    >>> known.objects[["x", "y", "w", "h", "category", "crowd"]].to_dict("records")
    [{'x': 50.0, 'y': 50.0, 'w': 100.0, 'h': 50.0, 'category': 'Airplane', 'crowd': True}]
    """
    kind = table_kinds.check_kind(table)
    given = None if frames is None else checks.check_frames(frames, "read_open_images: frames")
    sizes = _sizes(image_size, given, images)
    by_label = _class_names(names)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        state = provenance.copy_state(copy)
        columns = _columns(reading.read_bytes(copy.path), str(copy.path))
        objects = _objects(columns, sizes, by_label, str(copy.path))
    annotations = checked(objects, _frames(given, sizes), copy.name)
    if sizes is None and len(objects):
        what = "nothing tells the sizes of images, so boxes are in shares of their image and not in px"
        warnings.warn(f"read_open_images: {what}; {SIZES_NEEDED}", stacklevel=2)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


# The size of each image by its id; one for all; or None where nothing tells.
KnownSizes = Mapping[str, Sizes] | Sizes | None


def _sizes(
    image_size: tuple[float, float] | None, frames: pd.DataFrame | None, images: str | Path | None
) -> KnownSizes:
    """The sizes of the images (px)."""
    if images is not None:
        if image_size is not None or frames is not None:
            raise InputError("read_open_images: images tell sizes and frames; leave out image_size and frames")
        found = image_sizes(Path(images).expanduser(), False, "read_open_images")
        return {name: size for (name, _), size in found.items()}
    if frames is not None:
        check_none(_other_frames(frames))
    size = None if image_size is None else checked_size(image_size, "read_open_images: image_size")
    if frames is None:
        return size
    return {name: of for (name, _), of in sizes_of(frames, size, "read_open_images").items()}


def _other_frames(frames: pd.DataFrame) -> list[str]:
    """The problem of frames other than the one that each image has."""
    other = frames["frame"].to_numpy() != ONE_FRAME
    if not other.any():
        return []
    keys = messages.first_keys(frames, other, schema.FRAME_KEY)
    counted = messages.counted(int(other.sum()), "row")
    return [f"read_open_images: frames: {counted} of other frames than {ONE_FRAME}, and an image has only that: {keys}"]


def _class_names(names: str | Path | Mapping[str, str] | None) -> Mapping[str, str] | None:
    """The name of each label."""
    if names is None:
        return None
    if isinstance(names, str | Path):
        with addresses.local_copy(names) as copy:
            what = "a file of labels and names"
            content = reading.read_bytes(copy.path, LARGEST_NAMES, f"{what} is needed")
            text = reading.utf8_text(content, str(copy.path), what)
        rows = [row for row in _rows(text, str(names)) if row]
        wrong = next((line for line, row in enumerate(rows, 1) if len(row) != 2), None)
        if wrong is not None or not rows:
            raise InputError(f"{names}, row {wrong or 1}: a label and its name are needed")
        return dict(rows)
    if not isinstance(names, Mapping) or not all(isinstance(one, str) for pair in names.items() for one in pair):
        raise InputError("read_open_images: names: a dict from labels to names, or the path of a CSV, is needed")
    return names


def _rows(text: str, name: str) -> Iterator[list[str]]:
    """The rows of a CSV; raises InputError if it is none."""
    try:
        yield from csv.reader(io.StringIO(text, newline=""))
    except csv.Error as error:
        raise InputError(f"{name}: is no CSV: {error}") from None


def _columns(content: bytes, name: str) -> dict[str, Any]:
    """The columns that are read, by their names in small letters: labels and ids as text, all others as float64."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    reading.check_no_nul(content, name)
    reading.check_utf8(content, name)
    header = next(_rows(content.partition(b"\n")[0].decode("utf-8-sig"), name), [])
    given = {column.strip().lower(): column for column in header}
    lacking = [column for column in NEEDED if column not in given]
    if lacking:
        columns = "ImageID, LabelName, XMin, XMax, YMin, YMax"
        raise InputError(f"{name}: column {lacking[0]} is missing; a CSV of Open Images with {columns} is needed")
    wanted = [column for column in (*NEEDED, "source", *FLAGS.values(), *SCORES) if column in given]
    texts = ("imageid", "labelname", "source")
    kinds = {given[column]: pa.string() if column in texts else pa.float64() for column in wanted}
    buffer = reading.arrow_buffer(content)

    def parsed(types: Mapping[str, Any]) -> Any:
        options = arrow_csv.ConvertOptions(include_columns=[*kinds], column_types=types, null_values=[""])
        return arrow_csv.read_csv(pa.BufferReader(buffer), convert_options=options)

    with reading.readable(name):
        try:
            read = parsed(kinds)
        except pa.ArrowInvalid:
            _check_numbers(parsed(dict.fromkeys(kinds, pa.string())), kinds, name)
            raise
    return {
        column: read[given[column]].to_pandas().astype(pandas_tables.TEXT if column in texts else np.float64)
        for column in wanted
    }


def _check_numbers(read: Any, kinds: Mapping[str, Any], name: str) -> None:
    """Raises InputError with the fields that are no numbers, of a table that was read as text."""
    import pyarrow as pa

    problems = Problems()
    for column, kind in kinds.items():
        if kind == pa.string():
            continue
        for row, text in enumerate(read[column].to_pylist(), 1):
            if text is not None and not NUMBER.fullmatch(text.strip()):
                problems.add(f"{name}, row {row}", f"{column} is {shown(text)}; a number is needed")
    problems.check()


def _objects(
    columns: Mapping[str, Any], sizes: KnownSizes, by_label: Mapping[str, str] | None, name: str
) -> pd.DataFrame:
    """The table of boxes; raises InputError with what is wrong with the columns."""
    images, labels = pd.Categorical(columns["imageid"]), pd.Categorical(columns["labelname"])
    corners = np.column_stack([columns[side].to_numpy() for side in SIDES])
    problems = Problems()
    _check_rows(columns, corners, problems, name)
    width, height = _pixels(images, sizes, problems, name)
    categories = list(labels.categories)
    if by_label is not None:
        for label in [label for label in categories if label not in by_label]:
            problems.add(name, f"class {shown(label)} has no name; names has {len(by_label):,}")
        categories = [by_label.get(label, label) for label in categories]
    problems.check()
    names = sorted({*categories})
    codes = np.array([names.index(category) for category in categories], np.int64)[labels.codes]
    left, right, top, bottom = corners.T
    kind = pd.CategoricalDtype(pd.Index(names, dtype=pandas_tables.TEXT))
    score = next((columns[one] for one in SCORES if one in columns), None) if "isgroupof" not in columns else None
    frame = np.full(len(images), ONE_FRAME, np.int64)
    return pd.DataFrame(
        {
            "sequence": columns["imageid"].array,
            "frame": frame,
            "object": numbered(images.codes.astype(np.int64), frame),
            "x": left * width,
            "y": top * height,
            "w": (right - left) * width,
            "h": (bottom - top) * height,
            "category": pd.Categorical.from_codes(codes, dtype=kind),
            **({} if score is None else {"score": score.to_numpy()}),
            **{flag: _flags(columns[of], flag) for flag, of in FLAGS.items() if of in columns},
            **({"source": columns["source"].array} if "source" in columns else {}),
        }
    )


def _check_rows(columns: Mapping[str, Any], corners: np.ndarray, problems: Problems, name: str) -> None:
    """Notes the rows that are wrong."""

    def wrong(rows: Any, what: str, values: Any = None) -> None:
        for row in np.flatnonzero(np.asarray(rows, bool)).tolist():
            problems.add(f"{name}, row {row + 1}", what if values is None else what.format(values[row]))

    for column in ("imageid", "labelname"):
        wrong(columns[column].isna() | (columns[column] == ""), f"has no {column}")
    for side, values in zip(SIDES, corners.T, strict=True):
        share = (values >= LEAST_SHARE) & (values <= LARGEST_SHARE)  # NaN is none
        wrong(~share, f"{side} is {{:g}}; a share of the image is needed, from 0 to 1; are these pixels?", values)
    left, right, top, bottom = corners.T
    wrong((right < left) | (bottom < top), "a size is negative; XMin and YMin have to be the smaller ones")
    for flag in (flag for flag in FLAGS.values() if flag in columns):
        values = columns[flag].to_numpy()
        wrong(~np.isin(values, [-1, 0, 1]) & ~np.isnan(values), f"{flag} is {{:g}}; 1, 0 or -1 is needed", values)
    for score in (score for score in SCORES if score in columns):
        values = columns[score].to_numpy()
        wrong(~np.isfinite(values), f"{score} is {{:g}}; a finite number is needed", values)


def _pixels(images: pd.Categorical, sizes: KnownSizes, problems: Problems, name: str) -> tuple[Any, Any]:
    """The width and height (px) of the image of each row, or 1 where nothing tells; notes images that are unknown."""
    if sizes is None:
        return 1.0, 1.0
    if isinstance(sizes, Sizes):
        return sizes.width, sizes.height
    for image in [image for image in images.categories if image not in sizes]:
        problems.add(name, f"image {shown(image)} is none of the {len(sizes):,} that frames or images have")
    known = [sizes.get(image, Sizes(1, 1)) for image in images.categories]
    pairs = np.array([size[:2] for size in known], np.float64).reshape(-1, 2)
    return tuple((pairs[images.codes] if len(pairs) else np.zeros((0, 2))).T)


def _flags(values: pd.Series, name: str) -> Any:
    """Marks as bool, null where nobody knows; of groups false."""
    marks = values.to_numpy()
    lacking = ~(marks >= 0)
    flags = marks == 1
    return flags if name == "crowd" or not lacking.any() else pd.arrays.BooleanArray(flags, lacking)


def _frames(given: pd.DataFrame | None, sizes: KnownSizes) -> pd.DataFrame | None:
    """The table of frames: the caller's, or one of the images that were looked at."""
    if given is not None:
        return given.assign(sequence=given["sequence"].astype(pandas_tables.TEXT))
    if not isinstance(sizes, Mapping):
        return None
    found = [*sizes.values()]
    return image_table(
        [*sizes],
        width=np.array([size.width for size in found], np.float64),
        height=np.array([size.height for size in found], np.float64),
        file_name=[size.file_name for size in found],
    )
