"""Plain batches, which wait for others: to match many at once is much faster than to match each alone.

A side of a batch is plain if its keys are whole numbers or text, and everything else that the match needs is numbers or
text without a null. So nothing can be wrong with it once it waits. Text is kept as codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..support.keys import ascend
from ..tables.annotations import SideColumns
from ..tables.columns import Columns
from ..tables.schema import BOX, FRAME_KEY, LARGEST_COORDINATE
from .batch_arrays import BatchSide
from .batch_form import Form, form_of
from .seen_frames import Codes, FrameCode, coded_keys, frame_codes, integers, sequence_and_frame


class PlainSide(NamedTuple):
    """A plain side of n rows: codes of sequences and frames, (n,), and the geometry, (2, n) or (4, n), px.

    `category`, numbers or codes of text, and `crowd` are None if the side has none. `listed` are the frames that it
    lists, or None. `form` is its form.
    """

    sequence: np.ndarray
    frame: np.ndarray
    geometry: np.ndarray
    category: np.ndarray | None
    crowd: np.ndarray | None
    listed: set[FrameCode] | None
    form: Form


def plain_side(side: BatchSide, name: str, sequences: Codes, categories: Codes) -> PlainSide | None:
    """The side if it is plain, else None; texts that are new get codes. `name` is that of the side."""
    columns, geometry = side.columns, side.geometry
    if "joint" in columns or "sequence" not in columns or "frame" not in columns:
        return None
    if not np.vdot(geometry, geometry) <= LARGEST_COORDINATE**2:  # what is not finite or large is looked at closely
        return None
    sequence, frame = coded_keys(columns["sequence"], sequences), integers(columns["frame"])
    category = _coded_categories(columns["category"], categories) if "category" in columns else None
    listed = None if side.frames is None else _listed_frames(side.frames, sequences)
    if sequence is None or frame is None or (side.frames is not None and listed is None):
        return None
    if not _objects_differ(columns, sequence, frame) or not _are_scores(columns):
        return None
    crowd = np.array(columns["crowd"]) if "crowd" in columns and name == "truth" else None
    if ("category" in columns and category is None) or (crowd is not None and not _are_flags(crowd)):
        return None
    form = form_of(name, columns, BOX[2:] if len(geometry) == len(BOX) else [], side.frames)
    return PlainSide(sequence, frame, geometry, category, crowd, listed, form)


def agreed_frames(truth: PlainSide, predictions: PlainSide) -> set[FrameCode] | None:
    """The frames of both sides; None if a side has a row in a frame that should be listed and is not."""
    both = ((truth.sequence, predictions.sequence), (truth.frame, predictions.frame))
    frames = frame_codes(*map(np.concatenate, both))
    lists = [side.listed for side in (truth, predictions) if side.listed is not None]
    if not lists:
        return frames
    return lists[0] if frames <= lists[0] == lists[-1] else None


def _listed_frames(frames: Any, sequences: Codes) -> set[FrameCode] | None:
    """The frames of a table of frames; None if its key is not plain, or if a frame is there twice."""
    if not {*FRAME_KEY} <= {*frames}:
        return None
    sequence, frame = coded_keys(frames["sequence"], sequences), integers(frames["frame"])
    codes = None if sequence is None or frame is None else frame_codes(sequence, frame)
    return codes if codes is not None and len(codes) == len(frames["frame"]) else None


def _coded_categories(values: Any, codes: Codes) -> np.ndarray | None:
    """A copy of a column of numbers or text, text as codes; None if it is neither, or has a null."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and np.isfinite(values).all():
        return np.array(values)
    return coded_keys(values, codes)


def _objects_differ(columns: dict[str, Any], sequence: np.ndarray, frame: np.ndarray) -> bool:
    """Whether each object is named once within its frame; without names, each row is an object."""
    if "object" not in columns:
        return True
    names = columns["object"]
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu" and ascend([sequence, frame, names]):
        return True
    if not isinstance(names, np.ndarray) or names.dtype.kind not in "iuU":
        return False
    rows = zip(sequence.tolist(), frame.tolist(), names.tolist(), strict=True)
    return len({*rows}) == len(names)


def _are_scores(columns: dict[str, Any]) -> bool:
    return "score" not in columns or getattr(columns["score"].dtype, "kind", "O") in "iuf"


def _are_flags(values: np.ndarray) -> bool:
    return values.dtype == bool or (values.dtype.kind in "iuf" and bool(((values == 0) | (values == 1)).all()))


def joined_sides(batches: Sequence[tuple[PlainSide, PlainSide]]) -> tuple[SideColumns, SideColumns]:
    """Truth and predictions of all batches, one after the other; the truth lists the frames that any of them list."""
    listed = [*map(sequence_and_frame, {code for batch in batches for side in batch for code in side.listed or ()})]
    frames = Columns(dict(zip(FRAME_KEY, np.array(listed, np.int64).reshape(-1, 2).T.copy(), strict=True)))
    truth, predictions = (Columns(dict(_joined(sides))) for sides in zip(*batches, strict=True))
    return SideColumns(truth, frames if listed else None), SideColumns(predictions)


def _joined(sides: Sequence[PlainSide]) -> Iterator[tuple[str, np.ndarray]]:
    """The columns of several sides, by name; sides without rows tell nothing."""
    filled = [side for side in sides if len(side.frame)] or sides[:1]
    yield "sequence", np.concatenate([side.sequence for side in filled])
    yield "frame", np.concatenate([side.frame for side in filled])
    yield from zip(BOX, np.concatenate([side.geometry for side in filled], axis=1), strict=False)
    for name in ("category", "crowd"):
        values = [getattr(side, name) for side in filled]
        if values[0] is not None:
            yield name, np.concatenate(values)
