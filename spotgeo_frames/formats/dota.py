"""DOTA's text: labels of oriented boxes, an image a file, and results of a detector, a class a file.

    x1 y1 x2 y2 x3 y3 x4 y4 category [difficult]       labels, after lines such as imagesource:GoogleEarth and gsd:0.14
    image score x1 y1 x2 y2 x3 y3 x4 y4                results, in files called Task1_CATEGORY.txt

Sources: the dataset's page (https://captain-whu.github.io/DOTA/dataset.html) and that of its tasks. The four corners
are those of a quadrilateral. Where it is no rectangle, as people often draw it, the rectangle of the least area around
it stands for it. The benchmark itself measures the quadrilaterals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..support import InputError, Storage, addresses
from ..tables import Annotations, TableKind, provenance, table_kinds
from .box_tables import ONE_FRAME, Problems, category_column, checked, image_table, listed_files, object_table
from .recognition import DOTA_HEADS, DOTA_RESULTS
from .rectangles import smallest_rectangles
from .sequence_files import File, label_folder
from .text_lines import Form, Lines, read_files

N_NUMBERS = 8
LABELS = Form(
    None,
    (N_NUMBERS + 1, N_NUMBERS + 2),
    N_NUMBERS,
    "a label has x and y of four corners, category, and difficult or not",
)
RESULTS = Form(None, (N_NUMBERS + 2,), 0, "a result has image, score, and x and y of four corners")

# What lines at the head of a file of labels begin with.
HEADS = tuple(head.encode() for head in DOTA_HEADS)

# The folders of labels, which lie beside the images in a download.
LABEL_FOLDERS = ("labelTxt", "labelTxt-v1.5", "labelTxt-v2.0")


def read_dota(
    path: str | Path,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Oriented boxes from DOTA's label files, or from a detector's results for the benchmark's first task.

    Parameters
    ----------
    path
        A folder of .txt, such as labelTxt, a .zip of such, one file, or the folder right above labelTxt; a path, or an
        address such as s3://bucket/labelTxt. Files called Task1_CATEGORY.txt are results.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations: `sequence` (string, the image's name), `frame` (1), `object` (numbers from 1 in the order of the file),
    `cx`, `cy`, `w`, `h` (px), `angle` (degrees from the x axis towards the y axis), `category`, and `ignore` (bool, the
    file's `difficult`) or `score`. The frames of labels are the images, a file each; results have none.

    Raises
    ------
    InputError: there are no such files, or a line is wrong: its count of fields, numbers that are none, not finite or
        too large, a difficult that is not 0 to 2. Every problem names its file and line.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "P0003.txt"
    >>> _ = path.write_text("imagesource:GoogleEarth\\ngsd:0.1\\n10 20 50 20 50 30 10 30 ship 0\\n")
    >>> sf.read_dota(path).objects[["sequence", "cx", "cy", "w", "h", "angle", "category", "ignore"]]
      sequence    cx    cy     w     h  angle category  ignore
    0    P0003  30.0  25.0  40.0  10.0    0.0     ship   False
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        folder = label_folder(copy.path, ".txt", LABEL_FOLDERS)
        state = provenance.copy_state(copy._replace(path=folder), provenance.FLAT_TEXT_FILES)
        files = listed_files(folder, ".txt", "DOTA has a label file for each image, or one of results for each class")
        of_results = [file.sequence.startswith(DOTA_RESULTS) for file in files]
        if any(of_results) and not all(of_results):
            raise InputError(
                f"{copy.name}: has labels and results ({DOTA_RESULTS}CATEGORY.txt); give one folder of each"
            )
        annotations = (_results if all(of_results) else _labels)(files, copy.name)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def _labels(files: Sequence[File], name: str) -> Annotations:
    """The labels of images, a file each."""
    read = read_files([file._replace(read=_without_head(file)) for file in files], LABELS)
    names = [file.sequence for file in files]
    values, texts = _joined(read, N_NUMBERS + 2)
    difficult = np.nan_to_num(values[:, N_NUMBERS + 1])
    _check_difficult(files, read)
    sequence = np.repeat(np.arange(len(files)), [len(lines.values) for lines in read])
    objects = _table(names, sequence, values[:, :N_NUMBERS], category=category_column(texts), ignore=difficult > 0)
    return checked(objects, image_table(names), name)


def _results(files: Sequence[File], name: str) -> Annotations:
    """The results of classes, a file each."""
    read = read_files(files, RESULTS)
    values, images = _joined(read, N_NUMBERS + 2)
    names = sorted({*images})
    places = {image: place for place, image in enumerate(names)}
    categories = [
        file.sequence.removeprefix(DOTA_RESULTS) for file, lines in zip(files, read, strict=True) for _ in lines.values
    ]
    sequence = np.array([places[image] for image in images], np.int64)
    corners, score = values[:, 2:], values[:, 1]
    return checked(
        _table(names, sequence, corners, category=category_column(categories), score=score.copy()), None, name
    )


def _without_head(file: File) -> Any:
    """What reads a file of labels, with blank lines in place of those that tell of the image."""

    def read() -> bytes:
        lines = file.read().removeprefix(b"\xef\xbb\xbf").split(b"\n")
        return b"\n".join(b"" if line.lower().lstrip().startswith(HEADS) else line for line in lines)

    return read


def _joined(read: Sequence[Lines], n_fields: int) -> tuple[np.ndarray, list[str]]:
    """The fields of all lines, null where a file has fewer of them, and their text."""
    parts = [np.zeros((0, n_fields))]
    for lines in read:
        part = np.full((len(lines.values), n_fields), np.nan)
        part[:, : lines.values.shape[1]] = lines.values
        parts.append(part)
    return np.concatenate(parts), [text for lines in read for text in lines.texts]


def _check_difficult(files: Sequence[File], read: Sequence[Lines]) -> None:
    """Raises InputError with the lines whose `difficult` is no flag; some files have 2 for what is hard to see."""
    problems = Problems()
    for file, lines in zip(files, read, strict=True):
        if lines.values.shape[1] > N_NUMBERS + 1:
            flags = lines.values[:, N_NUMBERS + 1]
            for row in np.flatnonzero(~np.isin(flags, (0, 1, 2))).tolist():
                problems.add(
                    f"{file.name}, line {lines.numbers[row]}", f"difficult is {flags[row]:g}; 0 or 1 is needed"
                )
    problems.check()


def _table(names: Sequence[str], sequence: np.ndarray, corners: np.ndarray, **columns: Any) -> Any:
    """A table of oriented boxes of their corners (N, 8)."""
    boxes = smallest_rectangles(corners.reshape(-1, 4, 2))
    frame = np.full(len(boxes), ONE_FRAME)
    named = object_table(names, sequence, frame, boxes[:, :4], None, angle=boxes[:, 4], **columns)
    return named.rename(columns={"x": "cx", "y": "cy"})
