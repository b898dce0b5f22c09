"""The pictures behind the frames: PNG and JPEG files of a folder, made small enough for a page.

Every picture is decoded and encoded again, so that only the pixels of a file get into the page, no metadata.
"""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...support.keys import added_at
from ...support.progress import progress
from ...tables.columns import as_numbers
from ...tables.schema import FN, FP
from ..drawing.pictures import (
    DAMAGED,
    NAMING,
    Size,
    as_webp,
    missing_pictures,
    picture_names,
    small_picture,
    suitable_picture,
)
from ..viewer.rows import Frames, frames_of
from .chosen_frames import ChosenFrames

# The largest size of all encoded pictures of a page together, in bytes; further pictures are left out.
MOST_BYTES = 12 << 20


class Pictures(NamedTuple):
    """The pictures of a page.

    Attributes
    ----------
    of_frames
        For the position of a frame in the viewer, its picture: the `url`, and the `left`, `right`, `top` and `bottom`
        (px) of the area that it covers. The centre of its first pixel is at 0, 0.
    n_left_out
        The count of suitable pictures that did not fit into the page.
    warning
        The text of a warning about pictures that are missing, damaged or too small.
    """

    of_frames: dict[int, dict[str, str | float]]
    n_left_out: int
    warning: str | None = None


def pictures(folder: Path, chosen: ChosenFrames) -> Pictures:
    """Reads the pictures of the frames that the page shows; of each sequence the worst frame first, then the next."""
    frames = frames_of(chosen.rows, chosen.sequences)
    suitable: dict[int, tuple[Path, Size]] = {}
    wrong = []
    for position, names, most_x, most_y in _wanted(folder, chosen.rows, frames):
        found = suitable_picture(folder, names, most_x, most_y)
        if isinstance(found, str):
            wrong.append(found)
        else:
            suitable[position] = found
    of_frames, n_left_out, broken = _encoded(suitable)
    return Pictures(of_frames, n_left_out, missing_pictures(wrong + broken, len(frames.first)))


def _wanted(folder: Path, rows: pd.DataFrame, frames: Frames) -> Iterator[tuple[int, list[str], float, float]]:
    """The position of each frame, the names its picture may have, and the greatest x and y (px) of its truths.

    The frames with the most errors of every sequence come first, the worst sequence's first of all.
    """
    n_frames = len(frames.first)
    outcome = rows["outcome"].array.codes
    errors = added_at(frames.of_row, (outcome == FN) | (outcome == FP), n_frames)
    worst = np.lexsort([-errors, frames.sequence])
    begins = np.searchsorted(frames.sequence, np.arange(len(frames.sequences)))
    rank = np.empty(n_frames, np.int64)
    rank[worst] = np.arange(n_frames) - begins[frames.sequence[worst]]
    farthest = []
    for axis in "xy":
        most = np.full(n_frames, -np.inf)
        np.fmax.at(most, frames.of_row, as_numbers(rows[f"truth_{axis}"]))
        farthest.append(most.tolist())
    named = _named(rows, frames)
    numbers = rows["frame"].take(frames.first).tolist()
    for position in np.lexsort([frames.sequence, rank]).tolist():
        sequence = frames.sequences[frames.sequence[position]]
        names = picture_names(folder, sequence, numbers[position], named.get(position))
        yield position, names, farthest[0][position], farthest[1][position]


def _named(rows: pd.DataFrame, frames: Frames) -> dict[int, str]:
    """The names of pictures that columns have, by the position of the frame; of several in a frame the first."""
    named: dict[int, str] = {}
    for column in NAMING:
        if column in rows:
            known = np.flatnonzero(rows[column].notna())[::-1]  # the last to be written is the first row
            names = map(str, rows[column].take(known).tolist())
            named = dict(zip(frames.of_row[known].tolist(), names, strict=True)) | named
    return named


def _encoded(suitable: dict[int, tuple[Path, Size]]) -> tuple[dict[int, dict[str, str | float]], int, list[str]]:
    """Encodes pictures as data: URLs; returns these, the count of pictures left out, and texts about damaged ones."""
    answer: dict[int, dict[str, str | float]] = {}
    broken: list[str] = []
    left, n_left_out = MOST_BYTES, 0
    for position in progress(list(suitable), "reading images", "image"):
        if left <= 0:
            n_left_out += 1
            continue
        path, (width, height) = suitable[position]
        try:
            content = as_webp(small_picture(path))
        except DAMAGED as error:
            broken.append(f"{path}: cannot be read: {error}")
            continue
        url = f"data:image/webp;base64,{base64.b64encode(content).decode()}"
        left -= len(url)
        answer[position] = {"url": url, "left": -0.5, "right": width - 0.5, "top": -0.5, "bottom": height - 0.5}
    return answer, n_left_out, broken
