"""KITTI's label files: objects of images, and tracks of videos, as text with fields between blanks.

    type truncated occluded alpha left top right bottom height width length x y z rotation_y [score]
    frame track_id type ...                                    a video a file, frames from 0, in the tracking benchmark

Corners are in pixels, the first pixel at 0, and a box is right - left wide, as the benchmark's own overlap has it. The
sources are the readme files of KITTI's development kits for objects and for tracking
(https://www.cvlibs.net/datasets/kitti).

DontCare regions are places where nothing was labelled. They become crowds without a category, which cover predictions
of every category.

Known differences from the benchmark's evaluation

    - The benchmark of objects leaves out objects by their height, truncation and occlusion (easy, moderate, hard), and
      classes that are alike, such as Van for Car. These follow from the columns, so set `ignore` yourself: see
      `read_kitti`. For the benchmark of tracking, `read_benchmark` takes out what its kit does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support import InputError, Storage, addresses, reading
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
from .sequence_files import File, label_folder
from .text_lines import Form, Lines, first_fields, read_files

if TYPE_CHECKING:
    import pandas as pd

N_OBJECT, N_TRACKED = 15, 17
OBJECTS = Form(
    None, (N_OBJECT, N_OBJECT + 1), 0, "an object has type, 14 numbers (truncated to rotation_y), and a score or none"
)
TRACKS = Form(
    None,
    (N_TRACKED, N_TRACKED + 1),
    2,
    "an object of a video has frame, track id, type, 14 numbers (truncated to rotation_y), and a score or none",
)

# The regions in which nothing was labelled.
DONT_CARE = "DontCare"

# The numbers after the type, but for the box, and what stands in them where nothing is known.
UNKNOWN = {
    "truncated": -1,
    "occluded": -1,
    "alpha": -10,
    "height_3d": -1,
    "width_3d": -1,
    "length_3d": -1,
    "location_x": -1000,
    "location_y": -1000,
    "location_z": -1000,
    "rotation_y": -10,
}
PLACES = dict(zip(UNKNOWN, [0, 1, 2, 7, 8, 9, 10, 11, 12, 13], strict=True))
CORNERS, SCORE = slice(3, 7), 14

# A file beside the folder of labels whose lines are a sequence's name, a word, its first frame and the frame after its
# last; longer sequences (eleven hours) are a slip.
SEQMAP = "evaluate_tracking.seqmap*"
MOST_FRAMES = 1_000_000
MOST_FRAMES_IN_ALL = 10 * MOST_FRAMES

# The folders of labels, which lie beside others of text files in a download.
LABEL_FOLDERS = ("label_2", "label_02")


def read_kitti(
    path: str | Path,
    tracking: bool | None = None,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Boxes from KITTI's label files: truth or predictions, of images or of videos.

    Parameters
    ----------
    path
        A folder of .txt, such as label_2, a .zip of such, one file, or the folder right above label_2 or label_02; a
        path, or an address such as s3://bucket/label_2.
    tracking
        Whether files are videos, whose lines begin with frame and track id. By default the first line tells.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations: `sequence` (string, the file's name), `frame` (1, or of videos the file's, from 0), `object` (numbers
    from 1 in the order of the file, or the track's id), `x`, `y` (top left), `w`, `h` (px), `category` (the type),
    `truncated` (a share, or of videos 0 to 2), `occluded` (0 to 3), `alpha`, `rotation_y` (rad), `height_3d`,
    `width_3d`, `length_3d` (m), `location_x`, `location_y`, `location_z` (m, in the camera's coordinates), `score` if
    lines have one. Where the file says that a value is not known, such as -1, it is null, and so are the values of
    DontCare regions but for their boxes; columns without any value are left out. Without a score there is `crowd`
    (bool), which is true for DontCare regions; their category is null, and as objects of videos they are -1, -2 and so
    on. The frames are the images, a file each. Label files of videos do not tell how long these are; where the folder
    right above label_02 is given and has evaluate_tracking.seqmap.*, as the benchmark has it, the frames are those
    listed there, otherwise None.

    The benchmark also ignores objects by their size and state, for example at its level "moderate"
    `ignore = (h < 25) | (occluded > 1) | (truncated > 0.3)`.

    Raises
    ------
    InputError: there are no label files, or a line is wrong: a count of fields that is not 15 or 16 (17 or 18 of
        videos), numbers that are none, not finite or too large, negative sizes, a frame or a track id that is no whole
        number, a track that is twice in a frame. Every problem names its file and line.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "000007.txt"
    >>> _ = path.write_text("Car 0.00 1 -1.57 10 20 40 35 1.5 1.6 3.9 1.8 1.5 8.4 -1.56\\n"
    ...                     "DontCare -1 -1 -10 50 20 90 30 -1 -1 -1 -1000 -1000 -1000 -10\\n")
    >>> sf.read_kitti(path).objects[["sequence", "x", "y", "w", "h", "category", "occluded", "crowd"]]
      sequence     x     y     w     h category  occluded  crowd
    0   000007  10.0  20.0  30.0  15.0      Car       1.0  False
    1   000007  50.0  20.0  40.0  10.0      NaN       NaN   True
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(path, Storage(storage_options, filesystem)) as copy:
        folder = label_folder(copy.path, ".txt", LABEL_FOLDERS)
        state = provenance.copy_state(copy._replace(path=folder), provenance.FLAT_TEXT_FILES)
        files = listed_files(folder, ".txt", "KITTI has a label file for each image or video")
        contents = [file._replace(read=_kept(file)) for file in files]
        is_video = _is_video(contents) if tracking is None else tracking
        form = TRACKS if is_video else OBJECTS
        read = read_files(contents, form)
        frames = _frames(files, copy.path if is_video and folder != copy.path else None, is_video)
        annotations = _annotations(files, read, is_video, copy.name)._replace(frames=frames)
    provenance.note_source(annotations.objects, copy.name, state)
    return table_kinds.as_kind(annotations, kind)


def kitti_tracks(files: Sequence[File], name: str, is_truth: bool) -> Annotations:
    """The objects of label files of videos, which messages call `name` together; no frames.

    Truth has regions also where its lines have scores.
    """
    return _annotations(files, read_files(files, TRACKS), True, name, is_truth)


def _kept(file: File) -> Any:
    """What reads a file only once; label files are small."""
    content: list[bytes] = []

    def read() -> bytes:
        content.extend([] if content else [file.read()])
        return content[0]

    return read


def _is_video(files: Sequence[File]) -> bool:
    """Whether the first line that there is has a frame and a track id; files without any line are images."""
    for file in files:
        fields = first_fields(file.read(), None)
        if fields:
            return len(fields) in TRACKS.counts
    return False


def _annotations(
    files: Sequence[File], read: Sequence[Lines], is_video: bool, name: str, is_truth: bool = False
) -> Annotations:
    """The tables of all lines; lines without a score are of the truth, whatever is said."""
    names = [file.sequence for file in files]
    n_rows = [len(lines.values) for lines in read]
    shift = 3 if is_video else 1
    n_fields = max((lines.values.shape[1] for lines in read), default=0)
    _check(files, read, is_video, n_fields)
    parts = [lines.values if len(lines.values) else np.zeros((0, n_fields)) for lines in read]
    values = np.concatenate([np.zeros((0, n_fields or N_TRACKED)), *parts]) if n_fields else np.zeros((0, N_TRACKED))
    types = [text for lines in read for text in lines.texts]
    sequence = np.repeat(np.arange(len(files)), n_rows)
    numbers = values[:, shift:]
    uncared = np.array([text == DONT_CARE for text in types], bool)
    has_score = n_fields > (N_TRACKED if is_video else N_OBJECT)
    corners = numbers[:, CORNERS]
    # Nothing is known of regions; files of videos end them in -1000 -1000 -1000 -10 -1 -1 -1, in no order of columns.
    told = np.where(uncared[:, None], np.nan, numbers)
    others = {column: known_column(told[:, place], UNKNOWN[column]) for column, place in PLACES.items()}
    objects = object_table(
        names,
        sequence,
        values[:, 0] if is_video else np.full(len(values), ONE_FRAME),
        np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]),
        # Regions share one id in the files.
        track_ids(sequence, values[:, 0], values[:, 1], uncared) if is_video else None,
        category=category_column([None if text == DONT_CARE else text for text in types]),
        score=numbers[:, SCORE] if has_score else None,
        **others,
        crowd=uncared if is_truth or not has_score else None,
    )
    return checked(objects, None, name)


def _frames(files: Sequence[File], above: Path | None, is_video: bool) -> Any:
    """The table of frames: the images, or the frames of videos that a seqmap in the folder `above` lists; or None."""
    names = [file.sequence for file in files]
    if not is_video:
        return image_table(names)
    spans = {} if above is None else listed_spans(sorted(above.glob(SEQMAP)))
    if above is None or not spans.keys() >= {*names}:  # a sequence of unknown length
        return None
    return frames_of_spans({name: spans[name] for name in names}, str(above))


def listed_spans(paths: Sequence[Path], last_counts: bool = False) -> dict[str, range]:
    """The frames of each sequence that seqmaps list; `last_counts` says whether they end with the number that is given.

    Raises InputError with the line that is none of a seqmap.
    """
    spans: dict[str, range] = {}
    for path in paths:
        text = reading.utf8_text(reading.read_bytes(path, 1 << 20), str(path), "a seqmap of KITTI")
        for line, row in enumerate(text.splitlines(), 1):
            found = re.fullmatch(r"\s*(\S+)\s+\S+\s+([0-9]{1,7})\s+([0-9]{1,7})\s*", row)
            if row.strip() and (found is None or int(found[3]) > MOST_FRAMES):
                raise InputError(f"{path}, line {line}: is no sequence, word, first frame and count of frames")
            if found is not None:
                spans[found[1]] = range(int(found[2]), int(found[3]) + last_counts)
    return spans


def frames_of_spans(spans: Mapping[str, range], place: str) -> pd.DataFrame:
    """The table of the frames of each sequence; raises InputError, which begins with `place`, for too many."""
    if sum(map(len, spans.values())) > MOST_FRAMES_IN_ALL:
        raise InputError(f"{place}: its sequences have more than {MOST_FRAMES_IN_ALL:,} frames")
    return image_table(
        [name for name, span in spans.items() for _ in span],
        np.concatenate([np.zeros(0, np.int64), *(np.array(span, np.int64) for span in spans.values())]),
    )


def _check(files: Sequence[File], read: Sequence[Lines], is_video: bool, n_fields: int) -> None:
    """Raises InputError with the lines that are wrong though their fields are numbers."""
    problems = Problems()
    shift = 3 if is_video else 1
    for file, lines in zip(files, read, strict=True):
        if len(lines.values) and lines.values.shape[1] != n_fields:
            problems.add(file.name, f"its lines have no score, and those of other files have {n_fields} fields")
        boxes = lines.values[:, shift + 3 : shift + 7]
        sizes = boxes[:, 2:] - boxes[:, :2]
        for row in np.flatnonzero((sizes < 0).any(axis=1)).tolist():
            problem = size_problem([*boxes[row, :2], *sizes[row]])
            problems.add(f"{file.name}, line {lines.numbers[row]}", f"{problem}; left, top, right, bottom are needed")
        if is_video:
            _check_keys(file, lines, problems)
    problems.check()


def _check_keys(file: File, lines: Lines, problems: Problems) -> None:
    """Notes frames and track ids that are no whole numbers, or that another line has as well."""
    first: dict[tuple[float, float], int] = {}
    for row, (frame, identity) in enumerate(lines.values[:, :2].tolist()):
        place = f"{file.name}, line {lines.numbers[row]}"
        if frame != int(frame) or frame < 0:
            problems.add(place, f"frame {frame:g} is no whole number from 0 on")
        elif lines.texts[row] == DONT_CARE:
            continue
        elif identity != int(identity) or identity < 0:
            problems.add(place, f"track id {identity:g} is no whole number from 0 on")
        elif (frame, identity) in first:
            line = lines.numbers[first[frame, identity]]
            problems.add(place, f"track {identity:g} is in frame {frame:g} already, in line {line}")
        else:
            first[frame, identity] = row
