"""One segmentation as COCO has it, polygons or run lengths, as compressed run lengths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import InputError
from .packages import check_extra
from .run_lengths import encoded_mask

# The fewest numbers of a polygon, and the longest side of an image whose polygons are drawn (px).
FEWEST_NUMBERS, LONGEST = 6, 1 << 16

# pycocotools writes counts of this many pixels, or more, beyond the end of its memory.
MOST_DRAWN = 1 << 29

# Counts of pixels are below this.
TOO_MANY = 1 << 31

Size = tuple[float, float]


def compressed(segmentation: Any, of_image: tuple[float | None, float | None]) -> tuple[str, Size]:
    """The compressed run lengths of a segmentation, and the height and width of its image, px.

    A segmentation is a list of polygons, or a dict (`size`, `counts`) of run lengths as numbers or compressed.
    `of_image` is the height and width that are known of the image. Raises InputError, whose message begins as one about
    a field does, if the segmentation is damaged or does not fit the image, and ImportError if it is of polygons and the
    extra `masks` is not installed.
    """
    if isinstance(segmentation, Mapping):
        return _of_run_lengths(segmentation.get("counts"), segmentation.get("size"), of_image)
    if not isinstance(segmentation, Sequence) or isinstance(segmentation, str) or not len(segmentation):
        raise InputError("polygons, or a dict of size and counts, are needed")
    height, width = of_image
    if height is None or width is None:
        raise InputError("a polygon needs the height and width of its image, which are not known")
    return _of_polygons(segmentation, height, width), (height, width)


def _of_run_lengths(counts: Any, size: Any, of_image: tuple[float | None, float | None]) -> tuple[str, Size]:
    """Run lengths as compressed text, with the size of their image."""
    if size is None or len(size) != 2:
        raise InputError("size: the height and width of the image are needed")
    height, width = size
    if None not in of_image and (height, width) != of_image:
        raise InputError(f"size is {list(size)}, and the image has {list(of_image)}: height, width")
    if isinstance(counts, bytes):
        counts = counts.decode("ascii", "replace")
    if isinstance(counts, str):
        return counts, (height, width)
    numbers = [] if counts is None else [int(count) for count in counts]
    if not numbers or not all(0 <= count < TOO_MANY for count in numbers):
        raise InputError("counts: whole numbers of 0 or more are needed")
    return encoded_mask(numbers), (height, width)


def _of_polygons(polygons: Sequence[Any], height: float, width: float) -> str:
    """The mask of polygons as pycocotools makes it; raises InputError if one is damaged."""
    check_extra("masks", "polygons of masks")
    from pycocotools import mask as coder

    is_size = all(1 <= side <= LONGEST and float(side).is_integer() for side in (height, width))
    if not is_size or height * width >= MOST_DRAWN:
        raise InputError(f"the image has {[height, width]}, which are no height and width of an image, px")
    # Polygons may reach out of the image; those that reach much farther are damaged, and would take all memory.
    farthest = 2 * max(height, width)
    corners = []
    for polygon in polygons:
        numbers = [float(value) for value in polygon]
        if len(numbers) < FEWEST_NUMBERS or len(numbers) % 2:
            raise InputError(f"a polygon has {len(numbers)} numbers; x and y of at least three corners are needed")
        if not all(math.isfinite(value) and abs(value) <= farthest for value in numbers):
            raise InputError("a polygon reaches far out of its image")
        corners.append(numbers)
    merged = coder.merge(coder.frPyObjects(corners, int(height), int(width)))
    return str(merged["counts"].decode())
