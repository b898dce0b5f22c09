"""Reads one batch: as plain sides, which may wait for others, or as checked tables, which are matched by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..matching.words import Header, header_of
from ..tables.annotations import Annotations, SideColumns, as_side_columns
from ..tables.table import Table
from .batch_arrays import BatchSide, arrays_of_columns, as_tables, given_arrays
from .batch_form import Form, form_of
from .plain_batches import PlainSide, agreed_frames, plain_side
from .seen_frames import Codes, FrameCode, coded_keys, frame_codes

# Batches with more coordinates do not wait: nothing is gained by it, and a frame that is too large for the memory is
# refused at once.
LARGE = 1 << 16

SIDES = ("truth", "predictions")

# One side of a batch.
Given = Annotations | Table | Mapping[str, Any]


class Batch(NamedTuple):
    """A batch: the form and all columns of each side, its frames, and either plain sides or checked tables."""

    forms: tuple[Form, Form]
    geometries: tuple[Header, Header]
    frames: set[FrameCode]
    plain: tuple[PlainSide, PlainSide] | None = None
    checked: tuple[SideColumns, SideColumns] | None = None


def read_batch(truth: Given, predictions: Given, sequences: Codes, categories: Codes, *, may_wait: bool) -> Batch:
    """Reads a batch, whose sides are plain only if it `may_wait`; texts that are new get codes.

    Raises InputError if a side is wrong. Whether the sides fit each other is looked at only where they are plain.
    """
    if may_wait:
        arrays = given_arrays(truth, "truth"), given_arrays(predictions, "predictions")
        batch = _plain_batch(*arrays, sequences, categories)
        if batch is not None:
            return batch
    checked = (
        as_side_columns(as_tables(truth, "truth"), "truth"),
        as_side_columns(as_tables(predictions, "predictions"), "predictions"),
    )
    geometries = header_of(checked[0].objects, "truth"), header_of(checked[1].objects, "predictions")
    if may_wait:
        arrays = _arrays_of_checked(checked[0]), _arrays_of_checked(checked[1])
        batch = _plain_batch(*arrays, sequences, categories)
        if batch is not None:
            return batch._replace(geometries=geometries)
    frames: set[FrameCode] = set()
    for table in [table for side in checked for table in side[:2] if table is not None]:
        keys = coded_keys(table["sequence"], sequences)
        assert keys is not None  # as_side_columns() leaves integers and text only
        frames |= frame_codes(keys, table["frame"])
    true, claimed = (form_of(name, side.objects, (), side.frames) for name, side in zip(SIDES, checked, strict=True))
    return Batch((true, claimed), geometries, frames, checked=checked)


def _arrays_of_checked(side: SideColumns) -> BatchSide | None:
    """A checked side as arrays, without the columns that only checks look at."""
    left = [name for name in side.objects if name not in ("object", "score")]
    return arrays_of_columns(side.objects.select(left), side.frames)


def _plain_batch(
    truth: BatchSide | None, predictions: BatchSide | None, sequences: Codes, categories: Codes
) -> Batch | None:
    """The batch of these sides if both are plain, fit each other, and are not large."""
    if truth is None or predictions is None or truth.geometry.size + predictions.geometry.size > LARGE:
        return None
    true = plain_side(truth, "truth", sequences, categories)
    claimed = None if true is None else plain_side(predictions, "predictions", sequences, categories)
    if true is None or claimed is None:
        return None
    frames = agreed_frames(true, claimed)
    if frames is None:
        return None
    geometries = _geometry(truth, "truth"), _geometry(predictions, "predictions")
    return Batch((true.form, claimed.form), geometries, frames, plain=(true, claimed))


def _geometry(side: BatchSide, name: str) -> Header:
    return Header(name, side.names, side.geometry.shape[1])
