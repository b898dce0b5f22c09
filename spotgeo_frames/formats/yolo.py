"""read_yolo(): folders of YOLO's label files, as people label them and as Ultralytics writes predictions and tracks.

A line is `class x_center y_center width height`, in shares of the image, with a score, an identity or both behind.
That is what `save_txt` of Ultralytics 8 writes (engine/results.py): the score with `save_conf=True`, the identity by
`track`.

Known differences from Ultralytics

    - Ultralytics drops lines of labels that are there twice (data/utils.py); here each is an object.
    - Outlines of segmentation are refused; Ultralytics takes the boxes around them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..support import Copy, InputError, Storage, addresses, check_none, noted_in, pandas_tables, reading, work
from ..tables import Annotations, Table, TableKind, checks, provenance, schema, table_kinds
from .class_names import Names, categories, class_names, without_name
from .documents import MOST_PROBLEMS
from .rectangles import smallest_rectangles
from .yolo_files import LARGEST_FILE, NAMES_FILE, Key, Labels, Sizes, check_known, image_sizes, label_files, read_labels

SIZE_COLUMNS = ["width", "height"]

# What a problem with the size of images advises.
SIZES_NEEDED = "give images=, image_size=(width, height), or frames= with the columns width and height"

NO_TRACKS = "identities=True reads what `track` of Ultralytics writes"


def read_yolo(
    labels: str | Path,
    images: str | Path | None = None,
    names: Names | None = None,
    *,
    image_size: tuple[float, float] | None = None,
    frames: Table | None = None,
    videos: bool = False,
    identities: bool = False,
    turned: bool = False,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Boxes from a folder of YOLO's label files, one .txt for each image: truth, predictions or tracks.

    Parameters
    ----------
    labels
        The folder; files in folders below it are read, too. A path, or an address such as s3://bucket/labels.
    images
        The folder of the images, which have the names of the label files and lie in the same folders. They tell the
        sizes, and an image without a label file is an empty frame. Needs Pillow, which the extra `yolo` installs.
    names
        The names of the classes: a list, a dict from numbers to names, or the path of data.yaml (which needs the extra
        `yolo`) or of a text file with a name a line. By default those in classes.txt beside the labels, if it is there,
        otherwise the class's number is the category.
    image_size
        The width and height (px) of all images, where neither `images` nor `frames` tells them.
    frames
        A table of all frames, with `width` and `height` (px) unless `image_size` is given; such as the `frames` of the
        truth, when these are predictions. A frame without a label file is empty.
    videos
        Whether the images are frames of videos. Then the digits at the end of a name are the frame: plaza_000012.txt is
        frame 12 of the sequence plaza, plaza/000012.txt (or plaza/anything_000012.txt) as well, and 000012.txt is one
        of the sequence "video". Otherwise each image is a sequence of its own, called by its path without the ending,
        and its frame is 1: images are independent of each other.
    identities
        Whether lines end in an identity, as `track` of Ultralytics writes them; such images are frames of videos.
        Lines without one are detections that the tracker did not take up. They are left out, with a warning.
    turned
        Whether lines have x and y of the four corners of turned boxes, as those of Ultralytics' obb models. Corners of
        no rectangle become the smallest rectangle around them.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations: `sequence` (string), `frame`, `object` (the identity, or numbers from 1 in the order of the file), `x`,
    `y` (top left), `w`, `h` (px), or `cx`, `cy`, `w`, `h`, `angle` (degrees) of turned boxes, `score` if lines have
    one, `category`. The frames are those of the images or of
    `frames`, otherwise those of the label files, with `width`, `height` (px) and of images `file_name`.

    Raises
    ------
    InputError: a folder has no label files or a file is none, sizes are not known, there is no image or frame of a
        label file, or a line is wrong: fields other than 5 to 7, or 9 to 11 of turned boxes (outlines and keypoints
        have others), numbers that are not finite or no shares of the image, negative sizes, a class without a name, a
        score that only other lines have, an identity that is twice in a frame. Every problem names its file and line.
    ImportError: Pillow or PyYAML is needed and missing.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("0 0.5 0.5 0.2 0.4\\n")
    >>> sf.read_yolo(folder, names=["car"], image_size=(100, 50)).objects.to_dict("records")
    [{'sequence': 'a', 'frame': 1, 'object': 1, 'x': 40.0, 'y': 15.0, 'w': 20.0, 'h': 20.0, 'category': 'car'}]
    """
    kind = table_kinds.check_kind(table)
    with addresses.local_copy(labels, Storage(storage_options, filesystem)) as copy:
        state = provenance.copy_state(copy, provenance.YOLO_FILES)
        files = label_files(copy.path, videos or identities)
        known = _known_frames(files, images, image_size, frames, videos or identities)
        by_class = class_names(_names_beside(copy) if names is None else names, "read_yolo")
        read = _read(files, turned)
    problems = _problems(files, read, by_class, identities)
    check_none(problems)
    objects = _objects(known, read, by_class, identities, turned)
    provenance.note_source(objects, copy.name, state, sum(len(of_file.box) for of_file in read.values()))
    return table_kinds.as_kind(Annotations(objects, _frames(known, frames)), kind)


def _names_beside(copy: Copy) -> Path | None:
    """The file of names in the folder of labels, if there is one."""
    path = copy.path / NAMES_FILE
    return path if path.is_file() else None


def _known_frames(
    files: Mapping[Key, Path],
    images: str | Path | None,
    image_size: tuple[float, float] | None,
    frames: Table | None,
    videos: bool,
) -> dict[Key, Sizes]:
    """All frames with their sizes, sorted."""
    if images is not None:
        if image_size is not None or frames is not None:
            raise InputError("read_yolo: images tell sizes and frames; leave out image_size and frames")
        known = image_sizes(Path(images).expanduser(), videos)
        check_known(files, known, f"images {images}")
        return known
    size = None if image_size is None else checked_size(image_size, "read_yolo: image_size")
    if frames is None:
        if size is None:
            raise InputError(f"read_yolo: boxes are in shares of their image, whose size is not known; {SIZES_NEEDED}")
        return dict.fromkeys(files, size)
    known = sizes_of(checks.check_frames(frames, "read_yolo: frames"), size, "read_yolo")
    check_known(files, known, "frames")
    return known


def sizes_of(frames: pd.DataFrame, size: Sizes | None, reader: str) -> dict[Key, Sizes]:
    """The frames of a table with their sizes; `size` is that of all, None where the table tells.

    Raises InputError, which the name of the reader begins, if a size is missing or cannot be.
    """
    keys = [(str(sequence), frame) for sequence, frame in frames[schema.FRAME_KEY].itertuples(index=False)]
    if size is not None:
        return dict.fromkeys(sorted(keys), size)
    if not all(name in frames for name in SIZE_COLUMNS):
        raise InputError(f"{reader}: frames: columns width and height are needed; {SIZES_NEEDED}")
    pairs = frames[SIZE_COLUMNS].itertuples(index=False)
    sizes = (checked_size(pair, f"{reader}: frames, row {row}") for row, pair in enumerate(pairs))
    return dict(sorted(zip(keys, sizes, strict=True)))


def checked_size(size: Any, place: str) -> Sizes:
    """A width and height (px); raises InputError unless both are finite and above 0."""
    try:
        width, height = map(float, size)
    except (TypeError, ValueError):
        raise InputError(f"{place} is {size!r}; (width, height) in px is needed") from None
    if not (0 < width < np.inf and 0 < height < np.inf):
        raise InputError(f"{place}: width {width:g} and height {height:g}; both have to be above 0")
    return Sizes(width, height)


def _read(files: Mapping[Key, Path], turned: bool) -> dict[Key, Labels]:
    """The lines of all files; raises InputError with the problems of all."""
    read: dict[Key, Labels] = {}
    problems: list[str] = []
    for key, path in work.progress([*files.items()], "reading", "file"):
        with noted_in(problems):
            read[key] = read_labels(reading.read_bytes(path, LARGEST_FILE), str(path), turned)
        if len(problems) >= MOST_PROBLEMS:
            break
    check_none(problems)
    return read


def _problems(
    files: Mapping[Key, Path], read: Mapping[Key, Labels], names: Mapping[int, str] | None, identities: bool
) -> list[str]:
    """What is wrong with lines that are right by themselves, each with its file and line."""
    both = any(_has(labels.identity) for labels in read.values())
    first = next((key for key, labels in read.items() if len(labels.box)), None)
    if identities and first is not None and not both and not any(_has(labels.extra) for labels in read.values()):
        return [f"{files[first].parent}: no line has an identity; leave out identities=True, or write files by `track`"]
    found: dict[Key, dict[int, str]] = {}
    for key, labels in read.items():
        found[key] = {} if names is None else _without_name(labels, names)
        found[key] |= _identity_problems(labels, both) if identities else _score_problems(labels)
    scored = (both or not identities) and any(_has(labels.score) or _has(labels.extra) for labels in read.values())
    if scored and not any(found.values()):
        found = {key: _without_score(labels) for key, labels in read.items()}
    told = (f"{files[key]}, line {read[key].lines[row]}: {of[row]}" for key, of in found.items() for row in sorted(of))
    return [*islice(told, MOST_PROBLEMS)]


def _has(values: np.ndarray) -> bool:
    return not np.isnan(values).all()


def _without_name(labels: Labels, names: Mapping[int, str]) -> dict[int, str]:
    """The lines of classes without a name."""
    return {
        row: without_name(class_id, names)
        for row, class_id in enumerate(labels.class_id.tolist())
        if class_id not in names
    }


def _without_score(labels: Labels) -> dict[int, str]:
    """The lines without a score, where others have one."""
    lacking = np.isnan(labels.score) & np.isnan(labels.extra)
    return dict.fromkeys(np.flatnonzero(lacking).tolist(), "has no score, and other lines have")


def _score_problems(labels: Labels) -> dict[int, str]:
    """The lines that have identities, though none are wanted."""
    tracked = np.flatnonzero(~np.isnan(labels.identity)).tolist()
    wrong = dict.fromkeys(tracked, f"has an identity behind the score; {NO_TRACKS}")
    for row in np.flatnonzero((labels.extra < 0) | (labels.extra > 1)).tolist():
        wrong[row] = f"score {labels.extra[row]:g} is not between 0 and 1; if it is an identity, {NO_TRACKS}"
    return wrong


def _identity_problems(labels: Labels, both: bool) -> dict[int, str]:
    """The lines whose identity is no whole number, or is there twice; with `both`, lines have score and identity."""
    wrong: dict[int, str] = {}
    first: dict[float, int] = {}
    identity = labels.identity if both else labels.extra
    for row in np.flatnonzero(~np.isnan(identity)).tolist():
        value = identity[row]
        if value < 0 or value != int(value):
            wrong[row] = f"identity {value:g} is no whole number from 0 on; if it is a score, leave out identities=True"
        elif value in first:
            wrong[row] = f"identity {value:g} is there already, in line {labels.lines[first[value]]}"
        first.setdefault(value, row)
    return wrong


def _objects(
    known: Mapping[Key, Sizes],
    read: Mapping[Key, Labels],
    names: Mapping[int, str] | None,
    identities: bool,
    turned: bool,
) -> pd.DataFrame:
    """The table of objects, in the order of frames and within each in that of the file."""
    keys = [key for key in known if key in read]
    parts = [read[key] for key in keys]
    n_rows = [len(part.box) for part in parts]
    class_id, score, identity, extra = (
        np.concatenate([np.zeros(0), *(getattr(part, name) for part in parts)])
        for name in ("class_id", "score", "identity", "extra")
    )
    if identities and np.isnan(identity).all():  # written without scores, so the sixth field is the identity
        identity = extra
    else:
        score = np.where(np.isnan(extra), score, extra)
    sizes = np.repeat(np.array([known[key][:2] for key in keys], np.float64).reshape(-1, 2), n_rows, axis=0)
    shares = np.concatenate([np.zeros((0, 8 if turned else 4)), *(part.box for part in parts)])
    box = (
        _turned_boxes(shares, sizes) if turned else dict(zip(schema.BOX, _pixels(shares, sizes).T.copy(), strict=True))
    )
    objects = np.concatenate([np.zeros(0, np.int64), *(np.arange(1, count + 1) for count in n_rows)])
    table = pd.DataFrame(
        {
            "sequence": pd.Series([key[0] for key in keys], dtype=pandas_tables.TEXT)
            .repeat(n_rows)
            .reset_index(drop=True),
            "frame": np.repeat(np.array([key[1] for key in keys], np.int64), n_rows),
            "object": np.nan_to_num(identity).astype(np.int64) if identities else objects,
            **box,
            **({} if np.isnan(score).all() else {"score": score}),
            "category": categories(class_id.astype(np.int64), names),
        }
    )
    return _tracked(table, ~np.isnan(identity)) if identities else table


def _pixels(shares: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Boxes (N, 4) as left, top, width and height (px), from centre and size in shares of images of `sizes` (N, 2)."""
    size = shares[:, 2:] * sizes
    return np.hstack([shares[:, :2] * sizes - size / 2, size])


def _turned_boxes(shares: np.ndarray, sizes: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of oriented boxes (px) of corners (N, 8) in shares of images of `sizes` (N, 2)."""
    boxes = smallest_rectangles(shares.reshape(-1, 4, 2) * sizes[:, None])
    return dict(zip(schema.BUILT_IN_COLUMNS["oriented boxes"], boxes.T.copy(), strict=True))


def _tracked(table: pd.DataFrame, has_identity: np.ndarray) -> pd.DataFrame:
    """The rows that have an identity; warns of the others."""
    n_left_out = int((~has_identity).sum())
    if n_left_out:
        text = f"read_yolo: {n_left_out:,} detections have no identity, so they are in no track, and are left out"
        warnings.warn(text, stacklevel=4)
    return table[has_identity].reset_index(drop=True)


def _frames(known: Mapping[Key, Sizes], given: Table | None) -> pd.DataFrame:
    """The table of frames: the caller's, or one with the sizes and names of the images."""
    if given is not None:
        frames = checks.check_frames(given, "read_yolo: frames")
        return frames.assign(sequence=frames["sequence"].astype(pandas_tables.TEXT))
    table = pd.DataFrame(
        {
            "sequence": pd.Series([sequence for sequence, _ in known], dtype=pandas_tables.TEXT),
            "frame": np.array([frame for _, frame in known], np.int64),
            **{name: np.array([getattr(size, name) for size in known.values()], np.float64) for name in SIZE_COLUMNS},
        }
    )
    file_names = [size.file_name for size in known.values()]
    return table if None in file_names else table.assign(file_name=pd.Series(file_names, dtype=pandas_tables.TEXT))
