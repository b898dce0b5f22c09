"""Segmentations of COCO as masks: polygons, run lengths as numbers, and compressed run lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from ..geometries import checked_masks, encoded_mask
from ..support import InputError, check_none, packages, pandas_tables

# The fewest numbers of a polygon, and the longest side of an image whose polygons are drawn (px).
FEWEST_NUMBERS, LONGEST = 6, 1 << 16


class RunLengths(msgspec.Struct):
    """The height and width of an image (px), and the counts of pixels outside and inside in turn."""

    size: tuple[int, int]
    counts: str | list[int]


Segmentation = list[list[float]] | RunLengths


def masks(objects: Sequence[Any], images: Sequence[Any], place: str) -> dict[str, Any]:
    """The columns `mask`, `mask_h` and `mask_w` of annotations or results of these images.

    Raises InputError with the problems of all segmentations, whose places begin with `place`, and ImportError if there
    are polygons and the extra `masks` is not installed.
    """
    import pandas as pd

    sizes = {image.id: (image.height, image.width) for image in images}
    texts, found, problems = [], [], list[str]()
    if any(isinstance(one.segmentation, list) for one in objects):
        packages.check_extra("masks", f"{place}: polygons of segmentations")
    for number, one in enumerate(objects):
        try:
            text, size = _mask(one.segmentation, sizes[one.image_id])
        except InputError as error:
            problems += [f"{place}[{number}].segmentation: {problem}" for problem in error.problems]
            text, size = "", (1, 1)
        texts.append(text)
        found.append(size)
    check_none(problems)
    height, width = np.array(found, np.float64).reshape(-1, 2).T
    column = pd.array(texts, dtype=pandas_tables.TEXT)
    checked_masks(column, height, width, lambda position: f"{place}[{position}].segmentation")
    return {"mask": column, "mask_h": height, "mask_w": width}


def _mask(segmentation: Segmentation | None, of_image: tuple[float | None, float | None]) -> tuple[str, Any]:
    """The compressed run lengths of a segmentation, and the height and width of its image, px."""
    if not segmentation:
        raise InputError("is missing (masks=False reads keypoints, boxes=True boxes)")
    if isinstance(segmentation, RunLengths):
        if None not in of_image and tuple(segmentation.size) != of_image:
            height, width = of_image
            raise InputError(f"size is {list(segmentation.size)}, and the image has {[height, width]}: height, width")
        counts = segmentation.counts
        if isinstance(counts, str):
            return counts, segmentation.size
        if any(not 0 <= count < 1 << 31 for count in counts):
            raise InputError("counts: whole numbers of 0 or more are needed")
        return encoded_mask(counts), segmentation.size
    if None in of_image:
        raise InputError("a polygon needs the height and width of its image, which images has not")
    return _of_polygons(segmentation, of_image), of_image


def _of_polygons(polygons: list[list[float]], of_image: Any) -> str:
    """The mask of polygons as pycocotools makes it; raises InputError if one is damaged."""
    from pycocotools import mask as coder

    height, width = of_image
    # Polygons may reach out of the image; those that reach much farther are damaged, and would take all memory.
    farthest = 2 * max(height, width)
    if not all(1 <= side <= LONGEST and float(side).is_integer() for side in of_image):
        raise InputError(f"the image has {[height, width]}, which are no height and width of an image, px")
    for polygon in polygons:
        if len(polygon) < FEWEST_NUMBERS or len(polygon) % 2:
            raise InputError(f"a polygon has {len(polygon)} numbers; x and y of at least three corners are needed")
        if not all(math.isfinite(value) and abs(value) <= farthest for value in polygon):
            raise InputError("a polygon reaches far out of its image")
    merged = coder.merge(coder.frPyObjects(polygons, int(height), int(width)))
    return str(merged["counts"].decode())
