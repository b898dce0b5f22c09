"""The pictures behind the frames of the browser: SEQUENCE/FRAME.png of a folder, made small enough for a page.

Every picture is decoded and encoded again, so that only the pixels of a file get into the page, no metadata.
"""

import base64
import io
import struct
import warnings
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...support.names import is_file_name
from ...support.progress import progress
from .frame_browser import Held

# The largest size of all encoded pictures of a page together, in bytes; further pictures are left out.
MOST_BYTES = 12 << 20

# Pictures with more pixels are refused without decoding; longer sides are scaled down to LONGEST_SIDE.
MOST_PIXELS = 1 << 26
LONGEST_SIDE = 1280
QUALITY = 80

# How far beyond a picture truths may lie, as a share of its size; boxes, for instance, may begin outside.
OUTSIDE = 0.05

# The exceptions that opening or decoding a damaged picture may raise.
DAMAGED = (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error)


class Pictures(NamedTuple):
    """The pictures of a page.

    Attributes
    ----------
    uris
        For the position of each sequence in the browser, a dict from frames to data: URIs.
    box
        The sides (px) of the area that every picture covers; None if there are no pictures.
    n_left_out
        The count of suitable pictures that did not fit into the page.
    warning
        The text of a warning about pictures that are missing, damaged or of another size than the others.
    """

    uris: dict[int, dict[int, str]]
    box: dict[str, float] | None
    n_left_out: int
    warning: str | None = None


def pictures(folder: Path, held: Held) -> Pictures:
    """Reads the pictures of the frames that the browser has, the worst sequences first."""
    frames = held.rows[["held", "frame"]].drop_duplicates().sort_values(["held", "frame"])
    paths, wrong = {}, []
    for place, frame in zip(frames["held"].tolist(), frames["frame"].tolist(), strict=True):
        name = str(held.sequences[place])
        if is_file_name(name):
            paths[place, frame] = folder / name / f"{frame}.png"
        else:
            wrong.append(f"sequence {name!r} can be no folder's name")
    sizes = {}
    for key, path in paths.items():
        size = _size(path)
        if isinstance(size, str):
            wrong.append(size)
        else:
            sizes[key] = size
    right = _right_size(list(sizes.values()), held)
    wrong += [
        f"{paths[key]}: is {size[0]} x {size[1]} px, {_instead(right)}" for key, size in sizes.items() if size != right
    ]
    uris, n_left_out, broken = _encoded({key: paths[key] for key, size in sizes.items() if size == right})
    wrong += broken
    warning = None
    if wrong:
        counted = f"{len(wrong)} of {len(frames)} frames are drawn without a picture"
        warning = f"images: {counted}: {wrong[0]}{'; ...' if len(wrong) > 1 else ''}"
    return Pictures(uris, _box(right) if uris and right else None, n_left_out, warning)


def _box(size: tuple[int, int]) -> dict[str, float]:
    """The sides (px) of a picture; the centre of its first pixel is at 0, 0."""
    return {"x": -0.5, "x2": size[0] - 0.5, "y": -0.5, "y2": size[1] - 0.5}


def _instead(right: tuple[int, int] | None) -> str:
    """Says why a size is not suitable."""
    return "too small for its truths" if right is None else f"not {right[0]} x {right[1]}"


def _opened(path: Path) -> Any:
    """Opens a PNG."""
    from PIL import Image

    return Image.open(path, formats=["PNG"])


def _size(path: Path) -> tuple[int, int] | str:
    """The width and height of a picture (px), or a text that says why it cannot be used."""
    from PIL import Image  # part of the extra `report`

    try:
        if not path.is_file():
            return f"{path}: there is no such file"
        with warnings.catch_warnings(action="ignore"), _opened(path) as image:
            width, height = image.size
    except (*DAMAGED, Image.DecompressionBombError) as error:
        return f"{path}: cannot be read: {error}"
    if width * height > MOST_PIXELS:
        return f"{path}: has {width} x {height} pixels, too many for a page"
    return width, height


def _right_size(sizes: list[tuple[int, int]], held: Held) -> tuple[int, int] | None:
    """The most frequent size among the sizes that are large enough for all truths; None if there is none."""
    most_x, most_y = (held.rows[f"truth_{axis}"].max() for axis in "xy")
    counts = Counter(  # without truths the maxima are null, and null is not greater than anything
        (width, height)
        for width, height in sizes
        if not (most_x > width * (1 + OUTSIDE) or most_y > height * (1 + OUTSIDE))
    )
    return counts.most_common(1)[0][0] if counts else None


def _encoded(paths: dict[tuple[int, int], Path]) -> tuple[dict[int, dict[int, str]], int, list[str]]:
    """Encodes pictures as data: URIs; returns these, the count of pictures left out, and texts about damaged ones."""
    uris: dict[int, dict[int, str]] = {}
    broken: list[str] = []
    left, n_left_out = MOST_BYTES, 0
    for place, frame in progress(list(paths), "reading images", "image"):
        if left <= 0:
            n_left_out += 1
            continue
        try:
            content = _webp(paths[place, frame])
        except DAMAGED as error:
            broken.append(f"{paths[place, frame]}: cannot be read: {error}")
            continue
        uri = f"data:image/webp;base64,{base64.b64encode(content).decode()}"
        left -= len(uri)
        uris.setdefault(place, {})[frame] = uri
    return uris, n_left_out, broken


def _webp(path: Path) -> bytes:
    """Decodes a picture, scales it down if it is large, and encodes it as WebP."""
    from PIL import Image

    with warnings.catch_warnings(action="ignore"), _opened(path) as image:
        image.load()
        if image.mode in ("I", "F") or image.mode.startswith("I;"):
            plain = Image.fromarray(_stretched(np.asarray(image, np.float64)))
        else:
            plain = image.convert("L" if image.mode in ("1", "L", "LA") else "RGB")
    plain.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    stream = io.BytesIO()
    plain.save(stream, "WEBP", quality=QUALITY, method=2)
    return stream.getvalue()


def _stretched(values: np.ndarray) -> np.ndarray:
    """Maps values of more than eight bits to eight bits, from the 0.5th to the 99.9th percentile."""
    low, high = np.percentile(values, [0.5, 99.9])
    return (255 * np.clip((values - low) / max(high - low, 1e-9), 0, 1)).astype(np.uint8)
