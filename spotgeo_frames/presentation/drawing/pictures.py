"""Pictures of frames: from a file, from an array, or from a folder, and whether they can be drawn.

The picture of a frame is the file that a column `file_name` of the truth's frames or objects names, or else
SEQUENCE/FRAME.png, .jpg or .jpeg, or where folders of MOTChallenge have it, such as SEQUENCE/img1/000001.jpg. No file
outside of the folder is read. The centre of a picture's first pixel is at 0, 0, so it covers the area from -0.5 to its
width - 0.5, and from -0.5 to its height - 0.5.
"""

import io
import os
import struct
import warnings
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...support import InputError, check_memory, is_file_name, reading
from ...tables import as_numbers, schema

# Pictures with more pixels are refused without decoding.
MOST_PIXELS = 1 << 26

# Longer sides of small pictures are scaled down to this length, px.
LONGEST_SIDE = 1280
QUALITY = 80

FORMATS = ["PNG", "JPEG"]
ENDINGS = (".png", ".jpg", ".jpeg")

# How many digits the numbers of pictures have in folders of MOTChallenge, and in those of DanceTrack.
WIDTHS = (6, 8)

# The columns of a match table that name pictures: of frames, or else of truths.
NAMING = ("frame_file_name", "truth_file_name")

# How far beyond a picture truths may lie, as a share of its size; boxes, for instance, may begin outside.
OUTSIDE = 0.05

# The exceptions that opening or decoding a damaged picture may raise.
DAMAGED = (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error)

Size = tuple[int, int]

# The count of colours of a pixel: grey, or red, green and blue, which may have opacity as a fourth.
COLORS = (3, 4)


class NoPicture(Exception):
    """A frame has no picture that can be drawn; the text says why."""


def picture_names(folder: Path, sequence: Any, frame: Any, file_name: str | None = None) -> list[str]:
    """The names that the picture of a frame may have in its folder, those to prefer first."""
    given = [] if file_name is None else [file_name]
    plain = [f"{sequence}/{frame}{ending}" for ending in ENDINGS]
    return [*given, *plain, *_names_of_motchallenge(folder, str(sequence), int(frame))]


def _names_of_motchallenge(folder: Path, sequence: str, frame: int) -> list[str]:
    """The names that the picture may have in a folder of MOTChallenge, whose seqinfo.ini may tell folder and ending."""
    info = _seqinfo(folder, sequence)
    folders = [name for name in (info.get("imDir", ""), "img1") if all(map(is_file_name, name.split("/")))]
    endings = [ending for ending in (info.get("imExt", ""), *ENDINGS) if is_file_name(f"1{ending}")]
    return [
        f"{sequence}/{name}/{frame:0{width}}{ending}"
        for name in dict.fromkeys(folders)
        for width in WIDTHS
        for ending in dict.fromkeys(endings)
    ]


def _seqinfo(folder: Path, sequence: str) -> Mapping[str, str]:
    """What the seqinfo.ini of a sequence in a folder tells; nothing where it is none, or lies outside of the folder."""
    path = folder / sequence / "seqinfo.ini"
    try:
        if not (path.is_file() and path.resolve().is_relative_to(folder.resolve())):
            return {}
    except (OSError, ValueError, RuntimeError):
        return {}
    return reading.ini_section(path, "Sequence")


def suitable_picture(folder: Path, names: list[str], most_x: float, most_y: float) -> tuple[Path, Size]:
    """The first of these files of a folder that there is, and its size (px); raises NoPicture if none is suitable.

    `most_x` and `most_y` are the greatest x and y (px) of the truths, which lie within the picture.
    """
    for name in names:
        if not all(map(is_file_name, name.split("/"))):
            raise NoPicture(f"{name!r} can be no file of a folder")
        path = folder / name
        try:
            is_inside = path.is_file() and path.resolve().is_relative_to(folder.resolve())
            if path.is_file() and not is_inside:
                raise NoPicture(f"{path}: lies outside of {folder}")
        except (OSError, ValueError, RuntimeError) as error:
            check_memory(error, path)
            raise NoPicture(f"{path}: cannot be read: {error}") from None
        if is_inside:
            size = picture_size(path)
            check_size(str(path), size, most_x, most_y)
            return path, size
    raise NoPicture(f"{folder / names[0]}: there is no such file")


def picture_size(path: Path) -> Size:
    """The width and height of a picture (px); raises NoPicture if it cannot be read."""
    from PIL import Image

    try:
        with warnings.catch_warnings(action="ignore"), _opened(path) as image:
            return image.size
    except FileNotFoundError:
        raise NoPicture(f"{path}: there is no such file") from None
    except (*DAMAGED, Image.DecompressionBombError) as error:
        raise NoPicture(f"{path}: cannot be read: {error}") from None


def check_size(name: str, size: Size, most_x: float, most_y: float) -> None:
    """Raises NoPicture if a picture of this size (px) cannot be drawn behind truths up to this x and y (px)."""
    width, height = size
    if width * height > MOST_PIXELS:
        raise NoPicture(f"{name}: has {width} x {height} pixels, too many to draw")
    if most_x > width * (1 + OUTSIDE) or most_y > height * (1 + OUTSIDE):
        raise NoPicture(f"{name}: is {width} x {height} px, too small for its truths")


def decoded_picture(path: Path) -> Any:
    """Decodes a picture as one of Pillow with 8 bits, grey or coloured; raises NoPicture if that fails."""
    from PIL import Image

    try:
        with warnings.catch_warnings(action="ignore"), _opened(path) as image:
            image.load()
            if image.mode in ("I", "F") or image.mode.startswith("I;"):
                return Image.fromarray(stretched(np.asarray(image, np.float64)))
            return image.convert("L" if image.mode in ("1", "L", "LA") else "RGB")
    except DAMAGED as error:
        raise NoPicture(f"{path}: cannot be read: {error}") from None


def missing_pictures(wrong: list[str], n_frames: int) -> str | None:
    """The text of a warning about the frames that have no picture, from what is wrong with each; None if all do."""
    if not wrong:
        return None
    more = "; ..." if len(wrong) > 1 else ""
    return f"images: {len(wrong)} of {n_frames} frames are drawn without a picture: {wrong[0]}{more}"


def small_picture(path: Path) -> Any:
    """Decodes a picture and scales it down if it is large; raises NoPicture if that fails."""
    picture = decoded_picture(path)
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return picture


def as_webp(picture: Any) -> bytes:
    """A picture of Pillow, encoded as WebP."""
    stream = io.BytesIO()
    picture.save(stream, "WEBP", quality=QUALITY, method=2)
    return stream.getvalue()


def stretched(values: np.ndarray) -> np.ndarray:
    """Maps values of more than eight bits to eight bits, from the 0.5th to the 99.9th percentile of the finite ones."""
    finite = values[np.isfinite(values)]
    low, high = np.percentile(finite, [0.5, 99.9]) if len(finite) else (0.0, 1.0)
    shares = np.clip((values - low) / max(high - low, 1e-9), 0, 1)
    return (255 * np.nan_to_num(shares)).astype(np.uint8)


def _opened(path: Path) -> Any:
    """Opens a PNG or a JPEG."""
    from PIL import Image  # part of the extras `plots` and `report`

    return Image.open(path, formats=FORMATS)


class Crop(NamedTuple):
    """What is cut out of a picture: its pixels, of 8 bits, and its left, right, bottom and top in the picture, px."""

    pixels: np.ndarray
    extent: tuple[float, float, float, float]


class Behind(NamedTuple):
    """A picture: its pixels, of 8 bits, (height, width) or (height, width, colours), and its width and height in px.

    The pixels may be fewer than those of the file.
    """

    pixels: np.ndarray
    size: Size


def extent_of(size: Size) -> tuple[float, float, float, float]:
    """The left, right, bottom and top (px) of a picture of this size; the centre of its first pixel is at 0, 0."""
    width, height = size
    return -0.5, width - 0.5, height - 0.5, -0.5


def picture_behind(picture: Any, rows: pd.DataFrame) -> Behind:
    """The picture that was given for the rows of a frame: a file, or an array of pixels.

    Raises InputError if it is missing, damaged, too large, too small for the truths of the frame, or no picture.
    """
    path = Path(picture) if isinstance(picture, str | os.PathLike) else None
    try:
        size = _size_of_array(picture) if path is None else picture_size(path)
        check_size("the array" if path is None else str(path), size, *_farthest(rows))
    except NoPicture as error:
        problem = f"plots: picture: {error}; give a PNG or JPEG, or an array of pixels, of this frame"
        raise InputError(problem) from None
    try:
        pixels = _eight_bits(np.asarray(picture)) if path is None else np.asarray(decoded_picture(path))
    except NoPicture as error:
        raise InputError(f"plots: picture: {error}") from None
    return Behind(pixels, size)


def pictures_behind(images: Any, frames: list[pd.DataFrame]) -> tuple[list[Behind | None], str | None]:
    """The picture of each frame, by its rows, from a folder, and a warning if some cannot be drawn.

    Raises InputError if `images` is no folder.
    """
    if images is None:
        return [None] * len(frames), None
    folder = picture_folder(images)
    found, wrong = list[Behind | None](), list[str]()
    for rows in frames:
        try:
            picture, size = picture_of_frame(folder, rows)
            found.append(Behind(np.asarray(picture), size))
        except NoPicture as error:
            found.append(None)
            wrong.append(str(error))
    text = missing_pictures(wrong, len(frames))
    return found, None if text is None else f"plots: {text}"


def crops_behind(
    images: Any, rows: pd.DataFrame, areas: Sequence[tuple[float, float, float, float]]
) -> tuple[list[Crop | None], str | None]:
    """What each row's area (left, right, bottom, top) shows of the picture of its frame, with all of its pixels.

    The second value is a warning if pictures cannot be drawn. Raises InputError if `images` is no folder.
    """
    found: list[Crop | None] = [None] * len(rows)
    if images is None:
        return found, None
    folder, wrong = picture_folder(images), list[str]()
    frames = rows.groupby(schema.FRAME_KEY, sort=False, observed=True).indices
    for positions in frames.values():
        try:
            path, _ = _file_of_frame(folder, rows.iloc[positions])
            picture = decoded_picture(path)
        except NoPicture as error:
            wrong.append(str(error))
            continue
        for position in positions:
            found[position] = _crop(picture, areas[position])
    text = missing_pictures(wrong, len(frames))
    return found, None if text is None else f"plots: {text}"


def _crop(picture: Any, area: tuple[float, float, float, float]) -> Crop | None:
    """The pixels of a picture that an area touches; None where it lies outside."""
    left, right, bottom, top = area
    width, height = picture.size
    first_x, first_y = (int(np.clip(np.floor(edge + 0.5), 0, size)) for edge, size in ((left, width), (top, height)))
    last_x, last_y = (int(np.clip(np.ceil(edge + 0.5), 0, size)) for edge, size in ((right, width), (bottom, height)))
    if first_x >= last_x or first_y >= last_y:
        return None
    part = picture.crop((first_x, first_y, last_x, last_y))
    part.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return Crop(np.asarray(part), (first_x - 0.5, last_x - 0.5, last_y - 0.5, first_y - 0.5))


def picture_folder(images: Any, who: str = "plots") -> Path:
    """The folder of pictures that was given; raises InputError, which begins with `who`, if it is none."""
    folder = Path(images) if isinstance(images, str | os.PathLike) else None
    if folder is None or not folder.is_dir():
        raise InputError(f"{who}: images: {images!r} is no folder of pictures; give one that has SEQUENCE/FRAME.png")
    return folder


def noted_size(rows: pd.DataFrame) -> Size | None:
    """The width and height (px) of a frame that its columns `frame_width` and `frame_height` have, if they do."""
    names = [f"{schema.PREFIXES['frames']}{name}" for name in ("width", "height")]
    if not {*names} <= {*rows.columns} or not all(pd.api.types.is_numeric_dtype(rows[name]) for name in names):
        return None
    width, height = (as_numbers(rows[name])[0] for name in names)
    return (int(width), int(height)) if 1 <= width < np.inf and 1 <= height < np.inf else None


def picture_of_frame(folder: Path, rows: pd.DataFrame) -> tuple[Any, Size]:
    """The picture of the frame of these rows, made small, with the size (px) of its file; raises NoPicture."""
    path, size = _file_of_frame(folder, rows)
    return small_picture(path), size


def _file_of_frame(folder: Path, rows: pd.DataFrame) -> tuple[Path, Size]:
    """The file of the picture of the frame of these rows, and its size (px); raises NoPicture."""
    names = pd.concat([rows[column] for column in NAMING if column in rows] or [pd.Series(dtype=object)]).dropna()
    file_name = str(names.iloc[0]) if len(names) else None
    sequence, frame = (rows[column].iloc[0] for column in ("sequence", "frame"))
    return suitable_picture(folder, picture_names(folder, sequence, frame, file_name), *_farthest(rows))


def _farthest(rows: pd.DataFrame) -> tuple[float, float]:
    """The greatest x and y (px) of the truths of a frame."""
    x, y = (np.fmax.reduce(as_numbers(rows[f"{schema.PREFIXES['truth']}{axis}"]), initial=-np.inf) for axis in "xy")
    return float(x), float(y)


def _size_of_array(given: Any) -> Size:
    """The width and height of an array of pixels; raises NoPicture if it is none."""
    try:
        pixels = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise NoPicture(f"cannot be read as an array: {error}") from None
    if pixels.ndim == 0:
        raise NoPicture(f"is of type {type(given).__name__}")
    if not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in COLORS)) or not pixels.size:
        needed = "(height, width), or with 3 or 4 colours as a third number, is needed"
        raise NoPicture(f"has the shape {pixels.shape}; {needed}")
    if pixels.dtype.kind not in "buif":
        raise NoPicture(f"is of type {pixels.dtype}; numbers are needed")
    return pixels.shape[1], pixels.shape[0]


def _eight_bits(pixels: np.ndarray) -> np.ndarray:
    """Pixels as 8 bits.

    As in matplotlib, colours go from 0 to 1 where they are floats, and to 255 where they are integers; grey values of
    other types than uint8 are stretched.
    """
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.ndim == 3 or pixels.dtype == bool:
        most = 255 if pixels.dtype.kind in "iu" else 1
        return (np.clip(np.nan_to_num(pixels.astype(np.float64)), 0, most) * (255 / most)).astype(np.uint8)
    return stretched(pixels.astype(np.float64))
