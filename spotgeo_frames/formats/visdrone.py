"""VisDrone's and UAVDT's label files: boxes of drone videos and images, as text with commas between the fields.

VisDrone has a file for each image (DET), or for each video with frame and target id before (VID, MOT):

    [frame, target id,] left, top, width, height, score, category, truncation, occlusion

In truth the score is a mark: 0 says that the box is ignored. Category 0 is a region in which nothing was labelled, and
11 are other vehicles. In results, truncation and occlusion are -1. Frames count from 1. The source is the readme of the
benchmark's toolkits (https://github.com/VisDrone/VisDrone2018-MOT-toolkit, VisDrone2018-DET-toolkit).

UAVDT (https://sites.google.com/view/grli-uavdt) has three files for each video, of which the third lists regions that
are ignored, and the first lacks category, view and occlusion:

    SEQUENCE_gt.txt, SEQUENCE_gt_whole.txt, SEQUENCE_gt_ignore.txt
    frame, target id, left, top, width, height, out of view, occlusion, category

Regions become crowds without a category, which cover predictions of every category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..support import InputError, Storage, addresses
from ..tables import Annotations, TableKind, provenance, table_kinds
from .box_tables import (
    ONE_FRAME,
    Problems,
    category_column,
    checked,
    image_table,
    known_column,
    listed_files,
    object_table,
    size_problem,
    track_ids,
)
from .recognition import UAVDT_NAME
from .sequence_files import File, label_folder
from .text_lines import Form, Lines, read_files

# The categories by their numbers; 0 are the regions in which nothing was labelled.
CATEGORIES = (
    "ignored regions",
    "pedestrian",
    "people",
    "bicycle",
    "car",
    "van",
    "truck",
    "tricycle",
    "awning-tricycle",
    "bus",
    "motor",
    "others",
)
UAVDT_CATEGORIES = ("", "car", "truck", "bus")

N_IMAGE, N_VIDEO, N_UAVDT = 8, 10, 9
NEEDED = "left, top, width, height, score, category, truncation, occlusion are needed, in videos after frame, target id"
LINES = Form(",", (N_IMAGE, N_VIDEO), None, NEEDED)
VIDEO_LINES = LINES._replace(counts=(N_VIDEO,))
UAVDT_LINES = Form(
    ",",
    (N_UAVDT,),
    None,
    "frame, target id, left, top, width, height and three more are needed",
)

# The fields after the box, by their names in the table, and the values that they have in truth; -1 is not known.
STATES = {"truncation": (-1, 0, 1), "occlusion": (-1, 0, 1, 2)}
UAVDT_STATES = {"out_of_view": range(-1, 4), "occlusion": range(-1, 5)}


def read_visdrone(
    path: str | Path,
    is_truth: bool | None = None,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Boxes from VisDrone's label files of images (DET) or videos (VID, MOT): truth or predictions.

    Parameters
    ----------
    path
        A folder of .txt, such as annotations, a .zip of such, one file, or the folder right above them; a path, or an
        address such as s3://bucket/annotations.
    is_truth
        Whether these are annotations, in which the score is a mark. By default the lines tell: truncation and occlusion
        are -1 in all lines of predictions.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations: `sequence` (string, the file's name), `frame` (1, or of videos the file's, from 1), `object` (numbers
    from 1 in the order of the file, or the target's id), `x`, `y` (top left), `w`, `h` (px), `category` (its name).
    Predictions have `score`. Truth has `ignore` (bool: the score is 0), `crowd` (bool: an ignored region, whose
    category is null and whose object in a video is -1, -2 and so on), `truncation` (0 none, 1 up to a half) and
    `occlusion` (0 none, 1 up to a half, 2 more), null where not known. The frames are the images, a file each; of
    videos None, because the files do not tell how long they are.

    Raises
    ------
    InputError: there are no label files, or a line is wrong: a count of fields that is not 8 or 10, numbers that are
        none, not finite or too large, negative sizes, no such category, truncation or occlusion, a mark that is neither
        0 nor 1, a frame or a target id that is no whole number, a target that is twice in a frame. Every problem names
        its file and line.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "0000001_02999_d_0000005.txt"
    >>> _ = path.write_text("684,8,273,116,0,0,0,0\\n406,119,265,70,1,4,0,1\\n")
    >>> sf.read_visdrone(path).objects[["x", "y", "w", "h", "category", "ignore", "crowd"]]
           x      y      w      h category  ignore  crowd
    0  684.0    8.0  273.0  116.0      NaN   False   True
    1  406.0  119.0  265.0   70.0      car   False  False
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        folder = label_folder(copy.path, ".txt")
        state = provenance.copy_state(copy._replace(path=folder), provenance.FLAT_TEXT_FILES)
        files = listed_files(folder, ".txt", "VisDrone has a label file for each image or video")
        read = read_files(files, LINES)
        annotations = _visdrone(files, read, is_truth, copy.name)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def visdrone_tracks(files: Sequence[File], name: str, is_truth: bool) -> Annotations:
    """The objects of label files of videos, which messages call `name` together; no frames."""
    return _visdrone(files, read_files(files, VIDEO_LINES), is_truth, name, is_video=True)


def _joined(files: Sequence[File], read: Sequence[Lines]) -> tuple[np.ndarray, np.ndarray]:
    """The fields of all lines (N, fields), and the position of the file of each (N,)."""
    parts = [lines.values for lines in read if len(lines.values)]
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        first = {lines.values.shape[1]: file.name for file, lines in zip(files, read, strict=True) if len(lines.values)}
        what = "fields, those of other files have another count; are these images and videos?"
        raise InputError([f"{name}: its lines have {width} {what}" for width, name in first.items()])
    values = np.concatenate(parts) if parts else np.zeros((0, N_IMAGE))
    return values, np.repeat(np.arange(len(files)), [len(lines.values) for lines in read])


class _Checks:
    """The lines that are wrong though their fields are numbers, and where they are."""

    def __init__(self, files: Sequence[File], read: Sequence[Lines]):
        self._names = [file.name for file in files]
        self._read = read
        self._starts = np.cumsum([0, *(len(lines.values) for lines in read)])
        self.problems = Problems()

    def place(self, row: int) -> str:
        """The file and the line of a row of all lines."""
        position = int(np.searchsorted(self._starts, row, "right")) - 1
        return f"{self._names[position]}, line {self._read[position].numbers[row - self._starts[position]]}"

    def wrong(self, rows: np.ndarray, values: np.ndarray, text: str) -> None:
        """Notes the rows that are marked, with the value of each in `text`."""
        for row in np.flatnonzero(rows)[: 1 + len(self._names) * 100].tolist():
            self.problems.add(self.place(row), text.format(values[row]))

    def boxes(self, boxes: np.ndarray) -> None:
        """Notes negative sizes."""
        for row in np.flatnonzero((boxes[:, 2:] < 0).any(axis=1)).tolist():
            self.problems.add(self.place(row), str(size_problem(boxes[row].tolist())))

    def keys(self, sequence: np.ndarray, keys: np.ndarray, named: np.ndarray) -> None:
        """Notes frames and ids that are no whole numbers, and ids of `named` rows that are twice in a frame."""
        frame, identity = keys.T
        self.wrong((frame < 0) | (frame != np.floor(frame)), frame, "frame {:g} is no whole number from 0 on")
        broken = named & ((identity < 0) | (identity != np.floor(identity)))
        self.wrong(broken, identity, "target id {:g} is no whole number from 0 on")
        order = np.lexsort([identity, frame, sequence])
        rows = np.column_stack([sequence, keys])[order]
        twice = np.zeros(len(order), bool)
        twice[order[1:]] = (rows[1:] == rows[:-1]).all(axis=1)
        self.wrong(twice & named, identity, "target {:g} is in this frame already")


def _visdrone(
    files: Sequence[File], read: Sequence[Lines], is_truth: bool | None, name: str, is_video: bool = False
) -> Annotations:
    """The tables of VisDrone's lines, which are of videos where any says so or `is_video` does."""
    values, sequence = _joined(files, read)
    is_video = is_video or values.shape[1] == N_VIDEO
    keys, boxes = values[:, :2], values[:, -N_IMAGE : -N_IMAGE + 4]
    mark, category, states = values[:, -4], values[:, -3], values[:, -2:]
    is_truth = bool((states != -1).any()) if is_truth is None else is_truth
    region = (category == 0) & is_truth
    checks = _Checks(files, read)
    checks.boxes(boxes)
    known = np.isin(category, np.arange(len(CATEGORIES)))
    checks.wrong(~known, category, "category {:g}; a whole number from 0 to 11 is needed")
    if is_truth:
        checks.wrong(~np.isin(mark, [0, 1]), mark, "score {:g}; it is a mark in annotations, 0 or 1")
        for place, (state, allowed) in enumerate(STATES.items()):
            found = states[:, place]
            checks.wrong(~np.isin(found, allowed), found, f"{state} {{:g}}; one of {allowed} is needed")
    if is_video:
        checks.keys(sequence, keys, ~region & (is_truth | (keys[:, 1] != -1)))
    checks.problems.check()
    truth_columns = {
        "ignore": (mark == 0) & ~region,
        "crowd": region,
        **{state: known_column(states[:, place], -1) for place, state in enumerate(STATES)},
    }
    objects = object_table(
        [file.sequence for file in files],
        sequence,
        keys[:, 0] if is_video else np.full(len(values), ONE_FRAME),
        boxes,
        track_ids(sequence, keys[:, 0], keys[:, 1], region | (keys[:, 1] == -1)) if is_video else None,
        category=category_column([CATEGORIES[int(code)] if code or not is_truth else None for code in category]),
        **(truth_columns if is_truth else {"score": mark}),
    )
    frames = None if is_video else image_table([file.sequence for file in files])
    return checked(objects, frames, name)


def read_uavdt(
    path: str | Path,
    sequence: str | None = None,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Boxes from UAVDT's label files, three for each video: the truth of its detection and tracking.

    Results of trackers have MOTChallenge's form; `read_motchallenge` and `read_objects` read them.

    Parameters
    ----------
    path
        The folder (GT) of SEQUENCE_gt.txt, SEQUENCE_gt_whole.txt and SEQUENCE_gt_ignore.txt, a .zip of such, or one
        file; a path, or an address such as s3://bucket/GT. Where there is SEQUENCE_gt_whole.txt, SEQUENCE_gt.txt, which
        has the same boxes without their categories, is not read.
    sequence
        The only sequence to read; by default all.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations: `sequence` (string), `frame` (from 1), `object` (the target's id), `x`, `y` (top left), `w`, `h` (px),
    `category` (car, truck or bus; null in sequences without SEQUENCE_gt_whole.txt, and left out where none has it),
    `crowd` (bool: an ignored region, whose category is null and whose object is -1, -2 and so on), `out_of_view` (1 no,
    2 medium, 3 small part) and `occlusion` (1 none, 2 large, 3 medium, 4 small), null where not known. No frames,
    because the files do not tell how long videos are.

    Raises
    ------
    InputError: there are no such files or no such sequence, or a line is wrong: a count of fields that is not 9,
        numbers that are none, not finite or too large, negative sizes, no such category, a frame or a target id that is
        no whole number, a target that is twice in a frame. Every problem names its file and line.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "M0101_gt_whole.txt").write_text("1,1,141,147,106,45,1,1,1\\n")
    >>> _ = (folder / "M0101_gt_ignore.txt").write_text("1,1,0,0,300,60,1,1,-1\\n")
    >>> sf.read_uavdt(folder).objects[["sequence", "frame", "object", "x", "y", "w", "h", "category", "crowd"]]
      sequence  frame  object      x      y      w     h category  crowd
    0    M0101      1       1  141.0  147.0  106.0  45.0      car  False
    1    M0101      1      -1    0.0    0.0  300.0  60.0      NaN   True
    """
    kind = table_kinds.check_kind(table)
    if sequence is not None and not isinstance(sequence, str):
        raise InputError(f"read_uavdt: sequence is {sequence!r}; text is needed, the name of a video")
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        folder = label_folder(copy.path, ".txt")
        state = provenance.copy_state(copy._replace(path=folder), provenance.FLAT_TEXT_FILES)
        files = _uavdt_files(folder, sequence)
        annotations = uavdt_tracks(files, copy.name)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def _uavdt_files(path: Path, sequence: str | None) -> list[File]:
    """The files that are read, in the order of sequences; those of regions last."""
    files = listed_files(path, ".txt", "UAVDT has SEQUENCE_gt_whole.txt and SEQUENCE_gt_ignore.txt for each video")
    found = [(UAVDT_NAME.fullmatch(file.sequence), file) for file in files]
    named = {(match["sequence"], match["part"]): file for match, file in found if match is not None}
    kept = {
        key: file
        for key, file in sorted(named.items(), key=lambda item: (item[0][0], item[0][1] == "_ignore"))
        if (key[1] or (key[0], "_whole") not in named) and sequence in (None, key[0])
    }
    if not kept:
        what = "has no SEQUENCE_gt_whole.txt, SEQUENCE_gt.txt or SEQUENCE_gt_ignore.txt"
        raise InputError(f"{path}: {what}{'' if sequence is None else f' of sequence {sequence}'}")
    return [*kept.values()]


def uavdt_files(path: Path) -> tuple[list[File], list[str]]:
    """The files of all videos of a folder of truth, and the names of the videos."""
    files = _uavdt_files(path, None)
    return files, [*dict.fromkeys(_video_and_part(file)[0] for file in files)]


def uavdt_tracks(files: Sequence[File], name: str) -> Annotations:
    """The objects of label files of truth, which messages call `name` together; no frames."""
    return _uavdt(files, read_files(files, UAVDT_LINES), name)


def _video_and_part(file: File) -> tuple[str, str]:
    """The name of a file's video, and what else its own name says: _whole, _ignore or nothing."""
    match = UAVDT_NAME.fullmatch(file.sequence)
    return (match["sequence"], match["part"]) if match else ("", "")


def _uavdt(files: Sequence[File], read: Sequence[Lines], name: str) -> Annotations:
    """The table of UAVDT's lines."""
    values, file = _joined(files, read)
    values = values if len(values) else np.zeros((0, N_UAVDT))
    told = [_video_and_part(one) for one in files]
    names = sorted({sequence for sequence, _ in told})
    sequence = np.array([names.index(one) for one, _ in told], np.int64)[file]
    part = np.array([part for _, part in told])[file]
    region, whole = part == "_ignore", part == "_whole"
    keys, boxes, category = values[:, :2], values[:, 2:6], values[:, 8]
    checks = _Checks(files, read)
    checks.boxes(boxes)
    checks.wrong(
        whole & ~np.isin(category, [1, 2, 3]), category, "category {:g}; 1 (car), 2 (truck), 3 (bus) is needed"
    )
    states = {}
    for place, (state, allowed) in enumerate(UAVDT_STATES.items(), 6):
        found = np.where(whole, values[:, place], -1)
        checks.wrong(~np.isin(found, allowed), found, f"{state} {{:g}}; a whole number up to {allowed[-1]} is needed")
        states[state] = known_column(found, -1)
    checks.keys(sequence, keys, ~region)
    checks.problems.check()
    names_of = [UAVDT_CATEGORIES[int(code)] if known else None for code, known in zip(category, whole, strict=True)]
    objects = object_table(
        names,
        sequence,
        keys[:, 0],
        boxes,
        track_ids(sequence, keys[:, 0], keys[:, 1], region),
        category=category_column(names_of) if any(part == "_whole" for _, part in told) else None,
        crowd=region,
        **states,
    )
    return checked(objects, None, name)
