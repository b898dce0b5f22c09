"""The form of batches: what all of them must have in common to be evaluated as one.

Their frames are kept as codes, which take little memory and are looked up fast. Text is kept as codes, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..matching.rule import Rule
from ..matching.words import Geometry, Words, rule_for
from ..support.errors import check_none
from ..tables.messages import listed
from ..tables.schema import BOX

# The columns of each side that decide how rows are matched; all batches have the same of them.
DECIDING = {
    "truth": frozenset(["joint", "w", "h", "category", "crowd"]),
    "predictions": frozenset(["joint", "w", "h", "category"]),
}


class Form(NamedTuple):
    """The columns of each side that decide how rows are matched, and whether `sequence` and `category` are text.

    What has no rows tells nothing, and is not there.
    """

    columns: Mapping[str, frozenset[str]]
    text: Mapping[str, bool]


NO_FORM = Form({}, {})


def form_of(side: str, columns: Any, others: Sequence[str], frames: Any) -> Form:
    """The form of one side of a batch: of its columns by name, of the names of `others`, and of its frames or None."""
    if not len(columns["sequence"]):
        told = frames is not None and len(frames["sequence"])
        return _form(None, (), is_text(frames["sequence"]), None) if told else NO_FORM
    classes = is_text(columns["category"]) if "category" in columns else None
    return _form(side, (*columns, *others), is_text(columns["sequence"]), classes)


@lru_cache(maxsize=64)
def _form(side: str | None, names: tuple[str, ...], sequences: bool, classes: bool | None) -> Form:
    """The form of these columns, the same object for all batches that have it; `side` is None without rows."""
    text = {"sequence": sequences} | ({} if classes is None else {"category": classes})
    return Form({} if side is None else {side: DECIDING[side].intersection(names)}, text)


def is_text(values: Any) -> bool:
    """Whether a column that holds text or numbers holds text."""
    categories = getattr(values.dtype, "categories", None)
    return (values if categories is None else categories).dtype.kind in "OUM"  # dates become text


def common_form(name: str, known: Form, *others: Form) -> Form:
    """The form that is common to all, the known one itself if there is nothing new in the others.

    Raises InputError if they differ, and calls the others `name`.
    """
    for new in others:
        problems = _differences(name, known, new)
        check_none(problems)
        both = Form({**known.columns, **new.columns}, {**known.text, **new.text})
        known = known if both == known else both
    return known


def _differences(name: str, known: Form, new: Form) -> list[str]:
    """The problems of a form that differs from the known one."""
    problems = [
        f"{name}: column {column} is {_kind(new.text[column])}, and {_kind(text)} elsewhere; make them the same"
        for column, text in known.text.items()
        if new.text.get(column, text) != text
    ]
    for side, columns in known.columns.items():
        others = new.columns.get(side, columns)
        problems += [
            f"{name}: {side}: it {verb} {listed(sorted(differing))}, unlike earlier batches; give all the same columns"
            for verb, differing in (("lacks", columns - others), ("has", others - columns))
            if differing
        ]
    return problems


def _kind(text: bool) -> str:
    return "text" if text else "numbers"


def rule_of_form(words: Words, form: Form) -> Rule:
    """The rule that the words and the form make; raises InputError if they do not fit each other.

    While nothing has rows, a threshold alone is that of boxes.
    """
    unknown = BOX if words.threshold is not None and not form.columns else ()
    sides = (Geometry(side, form.columns.get(side, unknown), side in form.columns) for side in DECIDING)
    return rule_for(words, *sides)


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
