"""The pictures behind the frames of plots: from a file, from an array, or for each frame from a folder."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...support.errors import InputError
from ...tables.columns import as_numbers
from ...tables.schema import PREFIXES
from .picture_files import (
    DAMAGED,
    NAMING,
    Size,
    decoded_picture,
    missing_pictures,
    picture_names,
    picture_size,
    size_problem,
    small_picture,
    stretched,
    suitable_picture,
)

# The count of colours of a pixel: grey, or red, green and blue, which may have opacity as a fourth.
COLORS = (3, 4)


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
    if isinstance(picture, str | os.PathLike):
        path = Path(picture)
        name, size = str(path), picture_size(path)
    else:
        name = "the array"
        size = _size_of_array(picture)
    problem = f"plots: picture: {size}" if isinstance(size, str) else None
    if isinstance(size, tuple) and (wrong := size_problem(size, *_farthest(rows))):
        problem = f"plots: picture: {name}: {wrong}"
    if problem or isinstance(size, str):
        raise InputError(f"{problem}; give a PNG or JPEG, or an array of pixels, of this frame")
    if not isinstance(picture, str | os.PathLike):
        return Behind(_eight_bits(np.asarray(picture)), size)
    try:
        return Behind(np.asarray(decoded_picture(path)), size)
    except DAMAGED as error:
        raise InputError(f"plots: picture: {name}: cannot be read: {error}") from None


def pictures_behind(images: Any, frames: list[pd.DataFrame]) -> tuple[list[Behind | None], str | None]:
    """The picture of each frame, by its rows, from a folder, and a warning if some cannot be drawn.

    Raises InputError if `images` is no folder.
    """
    if images is None:
        return [None] * len(frames), None
    folder = Path(images) if isinstance(images, str | os.PathLike) else None
    if folder is None or not folder.is_dir():
        raise InputError(f"plots: images: {images!r} is no folder of pictures; give one that has SEQUENCE/FRAME.png")
    found = [_from_folder(folder, rows) for rows in frames]
    text = missing_pictures([problem for problem in found if isinstance(problem, str)], len(frames))
    warning = None if text is None else f"plots: {text}"
    return [None if isinstance(picture, str) else picture for picture in found], warning


def noted_size(rows: pd.DataFrame) -> Size | None:
    """The width and height (px) of a frame that its columns `frame_width` and `frame_height` have, if they do."""
    names = [f"{PREFIXES['frames']}{name}" for name in ("width", "height")]
    if not {*names} <= {*rows.columns} or not all(pd.api.types.is_numeric_dtype(rows[name]) for name in names):
        return None
    width, height = (as_numbers(rows[name])[0] for name in names)
    return (int(width), int(height)) if 1 <= width < np.inf and 1 <= height < np.inf else None


def picture_of_frame(folder: Path, rows: pd.DataFrame) -> tuple[Any, Size] | str:
    """The picture of the frame of these rows, made small, with the size (px) of its file; or why there is none."""
    names = pd.concat([rows[column] for column in NAMING if column in rows] or [pd.Series(dtype=object)]).dropna()
    file_name = str(names.iloc[0]) if len(names) else None
    sequence, frame = (rows[column].iloc[0] for column in ("sequence", "frame"))
    found = suitable_picture(folder, picture_names(folder, sequence, frame, file_name), *_farthest(rows))
    if isinstance(found, str):
        return found
    path, size = found
    try:
        return small_picture(path), size
    except DAMAGED as error:
        return f"{path}: cannot be read: {error}"


def _from_folder(folder: Path, rows: pd.DataFrame) -> Behind | str:
    """The picture of a frame from a folder; or a text that says why there is none."""
    found = picture_of_frame(folder, rows)
    return found if isinstance(found, str) else Behind(np.asarray(found[0]), found[1])


def _farthest(rows: pd.DataFrame) -> tuple[float, float]:
    """The greatest x and y (px) of the truths of a frame."""
    x, y = (np.fmax.reduce(as_numbers(rows[f"{PREFIXES['truth']}{axis}"]), initial=-np.inf) for axis in "xy")
    return float(x), float(y)


def _size_of_array(given: Any) -> Size | str:
    """The width and height of an array of pixels, or a text that says why it is none."""
    try:
        pixels = np.asarray(given)
    except (ValueError, TypeError) as error:
        return f"cannot be read as an array: {error}"
    if pixels.ndim == 0:
        return f"is of type {type(given).__name__}"
    if not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in COLORS)) or not pixels.size:
        return f"has the shape {pixels.shape}; (height, width), or with 3 or 4 colours as a third number, is needed"
    if pixels.dtype.kind not in "buif":
        return f"is of type {pixels.dtype}; numbers are needed"
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
