"""The segmentations of COCO's annotations and results as columns of masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from ..support import InputError, check_none, run_lengths, segmentations


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

    from ..support import pandas_tables

    sizes = {image.id: (image.height, image.width) for image in images}
    texts, found, problems = [], [], list[str]()
    for number, one in enumerate(objects):
        text, size = "", (1.0, 1.0)
        try:
            text, size = _mask(one.segmentation, sizes[one.image_id])
        except InputError as error:
            problems += [f"{place}[{number}].segmentation: {problem}" for problem in error.problems]
        texts.append(text)
        found.append(size)
    check_none(problems)
    height, width = np.array(found, np.float64).reshape(-1, 2).T
    column = pd.array(texts, dtype=pandas_tables.TEXT)
    run_lengths.runs_of(column, height, width, lambda position: f"{place}[{position}].segmentation")
    return {"mask": column, "mask_h": height, "mask_w": width}


def _mask(segmentation: Segmentation | None, of_image: tuple[float | None, float | None]) -> Any:
    """The compressed run lengths of a segmentation, and the height and width of its image, px."""
    if not segmentation:
        raise InputError("is missing (masks=False reads keypoints, boxes=True boxes)")
    as_dict = msgspec.structs.asdict(segmentation) if isinstance(segmentation, RunLengths) else segmentation
    return segmentations.compressed(as_dict, of_image)
