"""MOTS' text: tracks of masks, as KITTI MOTS and MOTSChallenge have them, an object a line.

    frame id class height width mask       the mask as COCO's compressed run lengths

Source: the page of the benchmarks (https://www.vision.rwth-aachen.de/page/mots). Classes are 1 (cars), 2 (pedestrians)
and 10: regions in which nothing was labelled. These become crowds without a category, which cover predictions of every
category. Frames are as the files have them: from 0 in KITTI MOTS, from 1 in MOTSChallenge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from ..support import Storage, addresses, pandas_tables, run_lengths
from ..tables import Annotations, TableKind, provenance, table_kinds
from .box_tables import Problems, category_column, checked, listed_files, text_column, track_ids
from .sequence_files import File, label_folder
from .text_lines import Form, Lines, read_files

FORM = Form(None, (6,), 5, "an object has frame, id, class, height, width and mask")
CLASSES = {1: "car", 2: "pedestrian"}
REGION = 10

# The folders of labels, and what each sequence has in MOTSChallenge's.
LABEL_FOLDERS = ("instances_txt", "label_02")
IN_SEQUENCES = ("gt", "gt.txt")


def read_mots(
    path: str | Path,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Tracks of masks from MOTS' text files: truth or predictions, of KITTI MOTS or of MOTSChallenge.

    Parameters
    ----------
    path
        A folder with a .txt for each sequence, or with SEQUENCE/gt/gt.txt, as MOTSChallenge has the truth; a .zip of
        such; one file; or the folder right above instances_txt or label_02. A path, or an address such as
        s3://bucket/instances_txt.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations: `sequence` (string), `frame`, `object` (the file's id), `mask` (COCO's compressed run lengths),
    `mask_h`, `mask_w` (px), `category` ("car", "pedestrian"), and `crowd` (bool), which is true for regions in which
    nothing was labelled; their category is null, and as objects they are -1, -2 and so on. The files do not tell how
    long sequences are, so there are no frames.

    Raises
    ------
    InputError: there are no such files, or a line is wrong: its count of fields, numbers that are none, another class
        than 1, 2 and 10, a track that is twice in a frame, a mask that is none. Every problem names its file and line.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "0002.txt"
    >>> _ = path.write_text("0 2001 2 2 3 123\\n0 10000 10 2 3 06\\n")
    >>> sf.read_mots(path).objects[["frame", "object", "category", "mask", "mask_h", "mask_w", "crowd"]]
       frame  object    category mask  mask_h  mask_w  crowd
    0      0    2001  pedestrian  123     2.0     3.0  False
    1      0      -1         NaN   06     2.0     3.0   True
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        folder = label_folder(copy.path, ".txt", LABEL_FOLDERS)
        state = provenance.copy_state(copy._replace(path=folder), provenance.FLAT_TEXT_FILES)
        files = listed_files(folder, ".txt", "MOTS has a .txt for each sequence", below=True)
        files = [file._replace(sequence=_sequence(file)) for file in files]
        annotations = mots_tracks(files, copy.name)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def mots_tracks(files: Sequence[File], name: str) -> Annotations:
    """The objects of these files, which messages call `name` together; raises InputError with what is wrong."""
    return checked(_objects(files, read_files(files, FORM)), None, name)


def _sequence(file: File) -> str:
    """The name of a file's sequence: that of the file, or in MOTSChallenge's layout of the folder above its own."""
    *_, above, folder, name = ("", "", *PurePosixPath(file.name.replace("\\", "/").rpartition(", ")[2]).parts)
    return above if (folder, name) == IN_SEQUENCES else file.sequence


def _objects(files: Sequence[File], read: Sequence[Lines]) -> pd.DataFrame:
    """The table of all lines, by sequence and frame; raises InputError with what is wrong with them."""
    values = np.concatenate([np.zeros((0, 6)), *(lines.values for lines in read if len(lines.values))])
    sequence = np.repeat(np.arange(len(files)), [len(lines.values) for lines in read])
    places = [f"{file.name}, line {n}" for file, lines in zip(files, read, strict=True) for n in lines.numbers]
    frame, identity, of_class, height, width = values[:, :5].T
    _check(places, frame, identity, of_class)
    masks = pd.array([text for lines in read for text in lines.texts], dtype=pandas_tables.TEXT)
    run_lengths.runs_of(masks, height, width, places.__getitem__)
    is_region = of_class == REGION
    objects = pd.DataFrame(
        {
            "sequence": text_column([file.sequence for file in files]).take(sequence),
            "frame": frame.astype(np.int64),
            "object": track_ids(sequence, frame, identity, is_region),
            "mask": masks,
            "mask_h": height,
            "mask_w": width,
            "category": category_column([CLASSES.get(int(of)) for of in of_class]),
            "crowd": is_region,
        }
    )
    return objects.take(np.lexsort([frame, sequence])).reset_index(drop=True)


def _check(places: Sequence[str], frame: np.ndarray, identity: np.ndarray, of_class: np.ndarray) -> None:
    """Raises InputError with the lines whose frame, id or class is none."""
    problems = Problems()
    known = ", ".join(map(str, (*CLASSES, REGION)))
    for name, values, is_right, needed in (
        ("frame", frame, (frame >= 0) & (np.floor(frame) == frame), "a whole number from 0 on"),
        ("id", identity, (identity >= 0) & (np.floor(identity) == identity), "a whole number from 0 on"),
        ("class", of_class, np.isin(of_class, [*CLASSES, REGION]), f"one of {known}"),
    ):
        for row in np.flatnonzero(~is_right).tolist():
            problems.add(places[row], f"{name} {values[row]:g}: {needed} is needed")
    problems.check()
