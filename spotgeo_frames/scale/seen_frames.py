"""The frames of batches as codes, which take little memory and are looked up fast. Text is kept as codes, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .batch_form import is_text

# A frame: its sequence and its number, packed into one integer where they are small enough, as nearly all are.
FrameCode = int | tuple[int, int]
FRAME_BITS = 32
LIMITS = 1 << 31, 1 << FRAME_BITS


class Codes:
    """Text as integers from 0 on, in the order in which the texts come first."""

    def __init__(self) -> None:
        self.of_text: dict[str, int] = {}

    @property
    def names(self) -> dict[int, str]:
        """The text of each code."""
        return {code: text for text, code in self.of_text.items()}

    def coded(self, texts: Sequence[Any]) -> np.ndarray | None:
        """The code of each text, (n,); None if one of them is no text."""
        of_text = self.of_text
        try:
            return np.fromiter(map(of_text.__getitem__, texts), np.int64, len(texts))
        except (KeyError, TypeError):  # of a text that is new, or of what cannot be a key
            if not all(isinstance(text, str) for text in texts):
                return None
        for text in texts:
            of_text.setdefault(str(text), len(of_text))
        return self.coded(texts)


def coded_keys(values: Any, codes: Codes) -> np.ndarray | None:
    """A copy of a column of integers or text as int64, text as codes; None if it is neither, or has a null."""
    return codes.coded(values.tolist()) if is_text(values) else integers(values)


def integers(values: Any) -> np.ndarray | None:
    """A copy of a column of integers as int64; None if it is something else."""
    kind = values.dtype.kind if isinstance(values, np.ndarray) else ""
    if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
        return values.astype(np.int64)
    return None if len(values) else np.zeros(0, np.int64)  # the keys of an empty table may have any type


def frame_codes(sequence: np.ndarray, frame: np.ndarray) -> set[FrameCode]:
    """The distinct frames of the rows of two arrays (n,), a code each.

    Packed into one integer, they are found several times as fast as pairs.
    """
    if not len(frame):
        return set()
    # If no bit above these is set in any of them, then no value is out of range.
    if 0 <= int(np.bitwise_or.reduce(sequence)) < LIMITS[0] and 0 <= int(np.bitwise_or.reduce(frame)) < LIMITS[1]:
        codes = sequence << FRAME_BITS | frame
        last = codes[:-1][codes[1:] != codes[:-1]]  # of each run of neighbours, since those are mostly of one frame
        return {*last.tolist(), codes[-1].item()}
    return {frame_code(*pair) for pair in zip(sequence.tolist(), frame.tolist(), strict=True)}


def frame_code(sequence: int, frame: int) -> FrameCode:
    """The code of a frame, whose sequence is a code or an integer."""
    packs = 0 <= sequence < LIMITS[0] and 0 <= frame < LIMITS[1]
    return sequence << FRAME_BITS | frame if packs else (sequence, frame)


def sequence_and_frame(code: FrameCode) -> tuple[int, int]:
    """The sequence, as its code or an integer, and the frame."""
    return code if isinstance(code, tuple) else (code >> FRAME_BITS, code & (1 << FRAME_BITS) - 1)
