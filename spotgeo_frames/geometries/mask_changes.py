"""Masks that are moved, resized, mirrored or read in another order, by which `check` and `bias` undo mistakes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..support import memory, run_lengths
from ..tables import null_rows, schema
from .facts import Rows, Slip, SlipBesideTruth

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = schema.BUILT_IN_COLUMNS["masks"]

# The memory for each pixel of an image that is laid out.
PIXEL_BYTES = 4
FEWER = run_lengths.FEWER_MASKS


def runs_of_rows(rows: Rows) -> tuple[run_lengths.Runs, np.ndarray]:
    """The runs of the masks of the rows that have one, and the positions of these rows."""
    texts = rows.given("mask")
    known = np.flatnonzero(~null_rows(texts))
    height, width = (rows[name][known] for name in COLUMNS[1:])
    runs = run_lengths.runs_of(texts.take(known), height, width, lambda position: f"column mask: row {known[position]}")
    return runs, known


def image_of_runs(runs: run_lengths.Runs, position: int) -> np.ndarray:
    """A mask as flags (height, width)."""
    height, width = int(runs.height[position]), int(runs.width[position])
    memory.check_at_hand("masks", f"an image of {width:,} x {height:,} px", PIXEL_BYTES * height * width, FEWER)
    changes = np.zeros(height * width + 1, np.int8)
    of_mask = slice(*runs.first[position : position + 2].tolist())
    np.add.at(changes, runs.start[of_mask], 1)
    np.add.at(changes, runs.end[of_mask], -1)
    return np.cumsum(changes[:-1], dtype=np.int8).reshape(width, height).astype(bool).T


def moved(predictions: pd.DataFrame, offset: np.ndarray) -> pd.DataFrame:
    """Masks without an offset of each, (N, 1, 3), rounded to whole pixels; their sizes stay, and what leaves is cut."""

    def back(runs: run_lengths.Runs, known: np.ndarray) -> run_lengths.Runs:
        right, down = (-np.round(offset[known, 0, axis]) for axis in (0, 1))
        return run_lengths.laid_anew(runs, runs.height, runs.width, (1, 1), (right, down))

    return _relaid(predictions, back)


def _relaid(masks: pd.DataFrame, change: Callable[[run_lengths.Runs, np.ndarray], run_lengths.Runs]) -> pd.DataFrame:
    """The masks with all runs changed; the function gets the positions of their rows, too."""
    runs, known = runs_of_rows(Rows(masks))
    changed = change(runs, known)
    return _with(masks, known, changed)


def _each(masks: pd.DataFrame, change: Callable[[np.ndarray], np.ndarray]) -> pd.DataFrame:
    """The masks with the image of each changed."""
    runs, known = runs_of_rows(Rows(masks))
    changed = run_lengths.runs_of_images(change(image_of_runs(runs, at)) for at in range(len(known)))
    return _with(masks, known, changed)


def _with(masks: pd.DataFrame, known: np.ndarray, runs: run_lengths.Runs) -> pd.DataFrame:
    """The table with other masks in the rows that have one."""
    import pandas as pd

    from ..support import pandas_tables

    columns = {"mask": masks["mask"].astype(object).to_numpy(copy=True)}
    columns["mask"][known] = run_lengths.encoded(runs)
    for name, of_known in zip(COLUMNS[1:], runs[3:], strict=True):
        columns[name] = masks[name].to_numpy(np.float64, na_value=np.nan, copy=True)
        columns[name][known] = of_known
    return masks.assign(**columns | {"mask": pd.array(columns["mask"], dtype=pandas_tables.TEXT)})


def _stored_by_row(masks: pd.DataFrame) -> pd.DataFrame:
    return _each(masks, lambda image: image.ravel(order="F").reshape(image.shape))


def _read_by_row(masks: pd.DataFrame) -> pd.DataFrame:
    return _each(masks, lambda image: image.ravel().reshape(image.shape, order="F"))


def _transposed(masks: pd.DataFrame) -> pd.DataFrame:
    return _each(masks, np.transpose)


def _sizes_exchanged(masks: pd.DataFrame) -> pd.DataFrame:
    return masks.assign(mask_h=masks["mask_w"], mask_w=masks["mask_h"])


def _upside_down(masks: pd.DataFrame) -> pd.DataFrame:
    return _relaid(
        masks, lambda runs, _: run_lengths.laid_anew(runs, runs.height, runs.width, (1, -1), (0, runs.height))
    )


def _mirrored(masks: pd.DataFrame) -> pd.DataFrame:
    return _relaid(
        masks, lambda runs, _: run_lengths.laid_anew(runs, runs.height, runs.width, (-1, 1), (runs.width, 0))
    )


def _as_large_as_truth(truth: pd.DataFrame, predictions: pd.DataFrame, *, is_scaled: bool) -> pd.DataFrame | None:
    """Masks in images as large as those of the truth, scaled or else cut and padded; None if all are."""
    sizes = truth.dropna(subset=["mask"]).drop_duplicates(schema.FRAME_KEY)[[*schema.FRAME_KEY, *COLUMNS[1:]]]
    there = predictions[schema.FRAME_KEY].merge(sizes, how="left", on=schema.FRAME_KEY)[list(COLUMNS[1:])]
    own = predictions[list(COLUMNS[1:])].to_numpy(np.float64, na_value=np.nan)
    height, width = np.where(there.isna(), own, there).T
    if np.array_equal(own.T, [height, width], equal_nan=True):
        return None

    def resized(runs: run_lengths.Runs, known: np.ndarray) -> run_lengths.Runs:
        to = height[known], width[known]
        scale = (to[1] / runs.width, to[0] / runs.height) if is_scaled else (1, 1)
        return run_lengths.laid_anew(runs, *to, scale)

    return _relaid(predictions, resized)


SLIPS: tuple[Slip, ...] = (
    (
        "masks are stored row by row",
        "count the pixels down the columns, as COCO does: encode the mask in Fortran's order",
        _stored_by_row,
    ),
    (
        "the columns of masks are taken for their rows",
        "decode masks in Fortran's order: COCO counts the pixels down the columns",
        _read_by_row,
    ),
    ("mask_h and mask_w are swapped", "write the height of the image, then its width", _sizes_exchanged),
    ("masks are transposed", "encode arrays of rows and columns: (height, width)", _transposed),
    ("masks are upside down", "count rows from the top edge of the image", _upside_down),
    ("masks are mirrored", "count columns from the left edge of the image", _mirrored),
)
SLIPS_BESIDE_TRUTH: tuple[SlipBesideTruth, ...] = (
    (
        "masks are of images that are scaled",
        "resize masks to the size of the truth's images (mask_h and mask_w) before they are encoded",
        partial(_as_large_as_truth, is_scaled=True),
    ),
    (
        "masks are of images that are cut or padded",
        "give masks as large as the truth's images (mask_h and mask_w): take off what was padded, add what was cut",
        partial(_as_large_as_truth, is_scaled=False),
    ),
)
