"""The frames of batches, and which of them there were before. Text is kept as codes, and so are sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .batch_form import is_text

# The code of a sequence, and the frame. Integers are their own codes.
FrameCode = tuple[int, int]


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
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.dtype == np.uint64:
        return np.zeros(0, np.int64) if not len(values) else None  # the keys of an empty table may have any type
    return values.astype(np.int64)


def distinct_frames(sequence: np.ndarray, frame: np.ndarray) -> set[FrameCode]:
    """The distinct pairs of codes of two arrays (n,)."""
    if not len(frame):
        return set()
    first = np.empty(len(frame), bool)  # neighbours are mostly of one frame
    first[0] = True
    np.not_equal(frame[1:], frame[:-1], out=first[1:])
    first[1:] |= sequence[1:] != sequence[:-1]
    return {*zip(sequence[first].tolist(), frame[first].tolist(), strict=True)}


class SeenFrames:
    """The frames that batches had: the sets of frames by the code of their sequence."""

    def __init__(self) -> None:
        self.of_sequence: dict[int, set[int]] = {}

    def repeated(self, frames: Iterable[FrameCode]) -> list[FrameCode]:
        """Those of the frames that are here already."""
        of_sequence = self.of_sequence
        return [code for code in frames if code[1] in of_sequence.get(code[0], ())]

    def add(self, frames: Iterable[FrameCode]) -> None:
        """Adds frames of any sequences."""
        for sequence, frame in frames:
            try:
                self.of_sequence[sequence].add(frame)
            except KeyError:
                self.of_sequence[sequence] = {frame}

    def __iter__(self) -> Iterator[FrameCode]:
        return ((sequence, frame) for sequence, frames in self.of_sequence.items() for frame in frames)
