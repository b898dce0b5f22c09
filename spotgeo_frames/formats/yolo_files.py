"""The files of a folder of YOLO's labels: which frame each is of, how large the images are, and the lines of one file.

A line is `class x_center y_center width height`, then a score, an identity, or the score and the identity; the box is
in shares of the image's width and height. Ultralytics writes such lines in `Results.save_txt`, each number with six
digits. Lines of turned boxes (obb) have x and y of four corners in place of the box.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

import numpy as np

from ..support import InputError, check_memory, check_none, first_line, is_text, noted_in, packages, reading, work
from ..tables import schema
from .box_tables import NUMBER
from .documents import MOST_PROBLEMS

# The sequence and the frame of a file.
Key = tuple[str, int]

# The names of images, of which Ultralytics reads more, and what Pillow calls their formats. It knows others, some of
# which run programs.
IMAGE_ENDINGS = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
IMAGE_FORMATS = ("BMP", "JPEG", "PNG", "TIFF", "WEBP")

# LabelImg writes the names of classes beside the labels.
NAMES_FILE = "classes.txt"

# The sequence of frames that are named by digits alone and lie in no folder of their own.
ONE_VIDEO = "video"

# The digits at the end of a name, and the marks before them that belong to neither the name nor the digits.
FRAME_NUMBER = re.compile(r"(?P<name>.*?)[ _-]*(?P<digits>[0-9]+)", re.DOTALL)

# The tag of EXIF for how an image is turned, and its values for images whose width and height change places.
ORIENTATION, ON_ITS_SIDE = 274, (5, 6, 7, 8)

# The tags of TIFF for the size of an image before it is turned.
WIDTH, HEIGHT = 256, 257


class Sizes(NamedTuple):
    """The width and height (px) of an image, and its file's path below the folder."""

    width: float
    height: float
    file_name: str | None = None


def label_files(folder: Path, videos: bool) -> dict[Key, Path]:
    """The label files below a folder by sequence and frame; raises InputError for none, and for two of a frame."""
    with reading.readable(folder):
        if not folder.is_dir():
            raise InputError(
                f"{folder}: is no folder of label files, a .txt for each image"
                if folder.exists()
                else f"{folder}: there is no such folder"
            )
        paths = [
            path for path in reading.files_below(folder, ".txt") if path.parent != folder or path.name != NAMES_FILE
        ]
    if not paths:
        raise InputError(f"{folder}: has no .txt; a label file for each image is needed")
    return _by_key(paths, folder, videos)


def image_sizes(folder: Path, videos: bool, reader: str = "read_yolo") -> dict[Key, Sizes]:
    """The sizes of the images below a folder by sequence and frame; no picture is decoded.

    Raises InputError where there are none, or two of a frame, or one cannot be read; messages name the `reader`.
    """
    packages.check_extra("yolo", f"{reader}: images", "PIL")
    with reading.readable(folder):
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder of images")
        found = reading.files_below(folder, *IMAGE_ENDINGS)
    if not found:
        raise InputError(f"{folder}: has no images ({', '.join(IMAGE_ENDINGS)})")
    files = _by_key(found, folder, videos)
    sizes: dict[Key, Sizes] = {}
    problems: list[str] = []
    for key, path in work.progress([*files.items()], "looking at images", "image"):
        with noted_in(problems):
            sizes[key] = Sizes(*_size(path), path.relative_to(folder).as_posix())
    check_none(problems)
    return sizes


def _size(path: Path) -> tuple[int, int]:
    """The width and height (px) of an image as it is shown: one that lies on its side is turned, as in Ultralytics."""
    from PIL import Image

    reading.check_regular(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a picture with many pixels, none of which is decoded
            with Image.open(path, formats=IMAGE_FORMATS) as image:
                # Some versions of Pillow have turned the size of a TIFF already, but not its tags.
                tags = getattr(image, "tag_v2", None)
                width, height = image.size if tags is None else (tags[WIDTH], tags[HEIGHT])
                # Pillow would decode any PNG for EXIF, which may lie behind the picture.
                early = image.format != "PNG" or "exif" in image.info or not _has_exif(path)
                exif = Image.Image.getexif(image) if early else image.getexif()
                turned = exif.get(ORIENTATION) in ON_ITS_SIDE
    except Exception as error:  # a hostile file may raise anything
        check_memory(error, path)
        what = f"is no image whose size can be read: {first_line(error)}"
        raise InputError(f"{path}: {what}; image_size= and frames= tell sizes without images") from None
    return (height, width) if turned else (width, height)


def _has_exif(path: Path) -> bool:
    """Whether a PNG has EXIF anywhere; of each of its chunks the length and the name are read."""
    with path.open("rb") as stream:
        stream.seek(8)
        while len(header := stream.read(8)) == 8:
            if header[4:] == b"eXIf":
                return True
            stream.seek(int.from_bytes(header[:4], "big") + 4, 1)
    return False


def _by_key(paths: Sequence[Path], folder: Path, videos: bool) -> dict[Key, Path]:
    """Files by sequence and frame, in the order of these; raises InputError for names that give none, or the same."""
    by_key: dict[Key, Path] = {}
    problems = []
    for path in paths:
        key = frame_key(path.relative_to(folder), videos)
        if isinstance(key, str):
            problems.append(f"{path}: {key}")
        elif key in by_key:
            problems.append(f"{path}: is of the same frame as {by_key[key]}: {shown(key)}")
        else:
            by_key[key] = path
    check_none(problems)
    return dict(sorted(by_key.items()))


def frame_key(file: PurePath, videos: bool) -> Key | str:
    """The sequence and frame that the path of a file below its folder stands for, or what is wrong with it.

    >>> frame_key(PurePath("street/a.jpg"), False), frame_key(PurePath("plaza_000012.txt"), True)
    (('street/a', 1), ('plaza', 12))
    >>> frame_key(PurePath("plaza/frame_000012.txt"), True), frame_key(PurePath("000012.txt"), True)
    (('plaza', 12), ('video', 12))
    """
    if not is_text(str(file)):
        return "its name is no text in UTF-8"
    if not videos:
        return file.with_suffix("").as_posix(), 1
    numbered = FRAME_NUMBER.fullmatch(file.stem)
    if numbered is None or int(numbered["digits"]) > schema.LARGEST_EXACT_INTEGER:
        needed = "up to 9,007,199,254,740,992, as plaza_000012.txt does; videos=False takes any name"
        return f"its name does not end in the number of a frame {needed}"
    folder = file.parent.as_posix()
    return (folder if folder != "." else numbered["name"] or ONE_VIDEO), int(numbered["digits"])


def shown(key: Key) -> str:
    """How messages name a frame."""
    return f"sequence {key[0]}, frame {key[1]}"


def check_known(labels: Mapping[Key, Path], known: Mapping[Key, Sizes], where: str) -> None:
    """Raises InputError for label files of frames that are not known; `where` says what was looked through."""
    problems = [f"{path}: {where} has no {shown(key)}" for key, path in labels.items() if key not in known]
    check_none(problems)


# The fields of a line without score and identity, of upright and of turned boxes; and how many of the others there are.
N_UPRIGHT, N_TURNED, N_OTHERS = 5, 9, 2

# Boxes may reach so far beyond their image by rounding, as a share of its size; corners of turned ones lie beyond it.
BEYOND, BEYOND_OF_TURNED = 0.01, 1.0

# More detections of an image, and longer files, are meant to fill the memory.
MOST_LINES = 1_000_000
LARGEST_FILE = 1 << 26

OTHER_KINDS = "turned=True reads turned boxes (obb); outlines (segment) and keypoints (pose) are not read"


class Labels(NamedTuple):
    """The lines of a file: class (N,), box (N, 4) in shares, or corners (N, 8), score and identity (N,), NaN for none.

    `extra` has what is behind the box where only one field is, (N,), NaN elsewhere; `lines` are the numbers of the
    lines in the file.
    """

    class_id: np.ndarray
    box: np.ndarray
    score: np.ndarray
    identity: np.ndarray
    extra: np.ndarray
    lines: np.ndarray


def read_labels(content: bytes, name: str, turned: bool = False) -> Labels:
    """The lines of a file; raises InputError with all that is wrong with it. `name` is what messages call it."""
    n_box = N_TURNED if turned else N_UPRIGHT
    rows: list[list[float]] = []
    numbers: list[int] = []
    problems: list[str] = []
    for number, line in enumerate(reading.utf8_text(content, name, "a label file of YOLO").splitlines(), 1):
        if line.strip():
            row = _row(line.split(maxsplit=n_box + N_OTHERS), n_box)
            if isinstance(row, str):
                problems.append(f"{name}, line {number}: {row}")
            else:
                rows.append(row)
                numbers.append(number)
        if len(problems) >= MOST_PROBLEMS or number > MOST_LINES:
            break
    if len(rows) > MOST_LINES:
        problems.append(f"{name}: has more than {MOST_LINES:,} lines")
    check_none(problems)
    values = np.array(rows, np.float64).reshape(-1, n_box + N_OTHERS + 1)
    score, identity, extra = values[:, n_box:].T
    return Labels(values[:, 0], values[:, 1:n_box], score, identity, extra, np.array(numbers, np.int64))


def _row(fields: list[str], n_box: int) -> list[float] | str:
    """A line as class, box, score, identity and the only field behind the box, NaN for none; or what is wrong."""
    has = "x and y of its centre, width, height" if n_box == N_UPRIGHT else "x and y of four corners"
    needed = f"a box has {n_box}: class, {has}"
    if len(fields) > n_box + N_OTHERS:
        return f"more than {n_box + N_OTHERS} fields; {needed}; a score and an identity may follow; {OTHER_KINDS}"
    if len(fields) < n_box:
        return f"{len(fields)} fields; {needed}"
    bad = next((field for field in fields if not NUMBER.fullmatch(field)), None)
    if bad is not None:
        return f"{bad[:30]!r} is no number; lines such as '0 0.5 0.5 0.1 0.2' are needed"
    values = [float(field) for field in fields]
    problem = _problem(values, n_box)
    if problem:
        return problem
    nan = float("nan")
    last = [[nan, nan, nan], [nan, nan, values[-1]], [*values[n_box:], nan]][len(values) - n_box]
    return [*values[:n_box], *last]


def _problem(values: list[float], n_box: int) -> str | None:
    """What is wrong with the numbers of a line."""
    if not all(abs(value) <= schema.LARGEST_EXACT_INTEGER for value in values):  # NaN is not, either
        return "a number is not finite, or too large"
    class_id, box, others = values[0], values[1:n_box], values[n_box:]
    if class_id < 0 or class_id != int(class_id):
        return f"class {class_id:g} is no whole number from 0 on"
    if n_box == N_UPRIGHT and min(box[2:]) < 0:
        return f"width {box[2]:g} and height {box[3]:g}: a size is negative"
    beyond = BEYOND if n_box == N_UPRIGHT else BEYOND_OF_TURNED
    if not all(-beyond <= value <= 1 + beyond for value in box):
        told = " ".join(f"{value:g}" for value in box)
        return f"box {told} is not in shares of the image, which lie between 0 and 1; are these pixels?"
    if len(others) == 2:
        if not 0 <= others[0] <= 1:
            return f"score {others[0]:g} is not between 0 and 1; the order is score, then identity"
        if others[1] < 0 or others[1] != int(others[1]):
            what = "is no whole number from 0 on; the order is score, then identity"
            return f"identity {others[1]:g} {what}; {OTHER_KINDS}"
    return None
