"""Which frame each label file and each image of a folder is of, and how large the images are."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from ...support.errors import InputError, check_memory, first_line
from ...support.extras import check_extra
from ...support.names import is_text
from ...support.progress import progress
from ...support.reading import check_regular, files_below, readable
from ...tables.schema import LARGEST_EXACT_INTEGER

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
    with readable(folder):
        if not folder.is_dir():
            raise InputError(
                f"{folder}: is no folder of label files, a .txt for each image"
                if folder.exists()
                else f"{folder}: there is no such folder"
            )
        paths = [path for path in files_below(folder, ".txt") if path.parent != folder or path.name != NAMES_FILE]
    if not paths:
        raise InputError(f"{folder}: has no .txt; a label file for each image is needed")
    return _by_key(paths, folder, videos)


def image_sizes(folder: Path, videos: bool) -> dict[Key, Sizes]:
    """The sizes of the images below a folder by sequence and frame; no picture is decoded.

    Raises InputError where there are none, or two of a frame, or one cannot be read.
    """
    check_extra("yolo", "read_yolo: images", "PIL")
    with readable(folder):
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder of images")
        found = files_below(folder, *IMAGE_ENDINGS)
    if not found:
        raise InputError(f"{folder}: has no images ({', '.join(IMAGE_ENDINGS)})")
    files = _by_key(found, folder, videos)
    sizes: dict[Key, Sizes] = {}
    problems = []
    for key, path in progress([*files.items()], "looking at images", "image"):
        try:
            sizes[key] = Sizes(*_size(path), path.relative_to(folder).as_posix())
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return sizes


def _size(path: Path) -> tuple[int, int]:
    """The width and height (px) of an image as it is shown: one that lies on its side is turned, as in Ultralytics."""
    from PIL import Image

    check_regular(path)
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
    if problems:
        raise InputError(problems)
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
    if numbered is None or int(numbered["digits"]) > LARGEST_EXACT_INTEGER:
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
    if problems:
        raise InputError(problems)
