"""The masks that the viewer draws: their run lengths, of as many frames as there is room for.

Run lengths are much longer than anything else that is known of a row. Masks that do not fit are drawn as the boxes
around them, and the viewer says so.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ...geometries import geometry_of
from ...tables import schema
from .packing import packed_masks
from .rows import Frames, Rows, worst_first

# The most characters of all masks together, and of those of a frame: longer ones would take a browser seconds to draw.
MOST_OF_PAGE, MOST_OF_FRAME = 1 << 20, 200_000


class Masks(NamedTuple):
    """The masks of the rows of match tables.

    Attributes
    ----------
    texts
        The run lengths of each row, by the prefix of the sides that have any; null where a row has none.
    has_room
        For each frame, whether its masks are drawn as such, and no boxes.
    n_frames
        The count of frames that have masks.
    """

    texts: dict[str, pa.LargeStringArray]
    has_room: np.ndarray
    n_frames: int

    @property
    def n_boxed(self) -> int:
        """The count of frames whose masks are drawn as boxes."""
        return int(np.count_nonzero(~self.has_room))


def masks_of(matches: pd.DataFrame, frames: Frames, listed: Iterable[tuple[str, Rows]], most: int) -> Masks:
    """The masks of match tables, and the frames that have room: the worst of every sequence first.

    `listed` are the rows of each table of the viewer, with the prefix of their side, and `most` is the greatest count
    of characters.
    """
    texts = {prefix: _texts(matches[name]) for prefix, name in _columns(matches).items()}
    lengths = {prefix: _lengths(of_side) for prefix, of_side in texts.items()}
    sizes = np.zeros(len(frames.first), np.int64)
    for prefix, rows in listed:
        if prefix in lengths:
            np.add.at(sizes, rows.frame, lengths[prefix][rows.row])
    order = worst_first(matches, frames)
    wanted = np.where(sizes <= MOST_OF_FRAME, sizes, 0)[order]
    has_room = np.empty(len(sizes), bool)
    has_room[order] = np.cumsum(wanted) <= most
    return Masks(texts, (has_room & (sizes <= MOST_OF_FRAME)) | (sizes == 0), int(np.count_nonzero(sizes)))


def packed_side(masks: Masks, prefix: str, rows: Rows, content: bytearray) -> dict[str, Any]:
    """Appends the masks of rows of a side to `content`; returns what JavaScript needs to read them, if any."""
    if prefix not in masks.texts:
        return {}
    texts = masks.texts[prefix].take(pa.array(rows.row))
    lengths, has_room = _lengths(texts), masks.has_room[rows.frame]
    kept = texts.filter(pa.array(has_room)).drop_null()
    text = "".join(kept.to_pylist()).encode()
    return {"masks": packed_masks(np.where(has_room | (lengths == 0), lengths, -1), text, content)}


def _columns(matches: pd.DataFrame) -> dict[str, str]:
    """The columns of run lengths, by the prefix of their side."""
    return {
        prefix: f"{prefix}{name}"
        for prefix in schema.SIDE_PREFIXES
        if (geometry := geometry_of(matches, prefix)).is_filled
        for name in geometry.columns
        if name in schema.TEXT_OF_GEOMETRIES
    }


def _texts(values: pd.Series) -> pa.LargeStringArray:
    """A column as text of Arrow."""
    given = pa.array(values, from_pandas=True).cast(pa.large_string())
    return given.combine_chunks() if isinstance(given, pa.ChunkedArray) else given


def _lengths(texts: pa.LargeStringArray) -> np.ndarray:
    """How many characters each row has; 0 for null."""
    return pc.fill_null(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False)
