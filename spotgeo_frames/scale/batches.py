"""Reads one batch: as plain sides, which may wait for others, or as checked tables, which are matched by themselves.

To match many batches at once is much faster than to match each alone. A side of a batch is plain if its keys are whole
numbers or text, and everything else that the match needs is numbers or text without a null. So nothing can be wrong
with it once it waits. Text is kept as codes, and so are frames: codes take little memory and are looked up fast.

All batches have the same form, to be evaluated as one. A single batch may lack the truth of a sequence, or the
categories of the other side; only all of them tell how the two sides fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..matching import Header, MatchOptions, Rule, Unknown, crowds, header_of, left_out, rule_for
from ..support import arrays, check_none
from ..tables import Annotations, Columns, SideColumns, Table, as_side_columns, messages, schema
from .batch_arrays import BatchSide, arrays_of_columns, as_tables, given_arrays

# The columns of each side that decide how rows are matched; all batches have the same of them.
DECIDING = {
    "truth": frozenset(["joint", *schema.BOX, "category", "crowd", "ignore"]),
    "predictions": frozenset(["joint", *schema.BOX, "category"]),
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
        return _form(None, (), is_text(frames["sequence"]), None, ()) if told else NO_FORM
    classes = is_text(columns["category"]) if "category" in columns else None
    own = tuple(name for columns_of in schema.GEOMETRY_COLUMNS.values() for name in columns_of)
    return _form(side, (*columns, *others), is_text(columns["sequence"]), classes, own)


@lru_cache(maxsize=64)
def _form(
    side: str | None, names: tuple[str, ...], sequences: bool, classes: bool | None, own: tuple[str, ...]
) -> Form:
    """The form of these columns, the same object for all batches that have it; `side` is None without rows.

    `own` are the columns of geometries that have their own.
    """
    text = {"sequence": sequences} | ({} if classes is None else {"category": classes})
    return Form({} if side is None else {side: DECIDING[side].union(own).intersection(names)}, text)


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
        advice = "unlike earlier batches; give all the same columns"
        problems += [
            f"{name}: {side}: it {verb} {messages.listed(sorted(odd))}, {advice}"
            for verb, odd in (("lacks", columns - others), ("has", others - columns))
            if odd
        ]
    return problems


def _kind(text: bool) -> str:
    return "text" if text else "numbers"


def rule_of_form(options: MatchOptions, form: Form) -> Rule:
    """The rule that the options and the form make; raises InputError if they do not fit each other.

    While nothing has rows, a threshold alone is that of boxes.
    """
    unknown = schema.BOX if options.threshold is not None and not form.columns else ()
    sides = (
        Header(side, form.columns.get(side, {*schema.BOX[:2], *unknown}), side in form.columns) for side in DECIDING
    )
    return rule_for(options, *sides)


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


class PlainSide(NamedTuple):
    """A plain side of n rows: codes of sequences and frames, (n,), and the geometry, (2, n) or (4, n), px.

    `category`, numbers or codes of text, `crowd` and `ignore` are None if the side has none. `listed` are the frames
    that it lists, or None. `form` is its form.
    """

    sequence: np.ndarray
    frame: np.ndarray
    geometry: np.ndarray
    category: np.ndarray | None
    crowd: np.ndarray | None
    ignore: np.ndarray | None
    listed: set[FrameCode] | None
    form: Form


def plain_side(side: BatchSide, name: str, sequences: Codes, categories: Codes) -> PlainSide | None:
    """The side if it is plain, else None; texts that are new get codes. `name` is that of the side."""
    columns, geometry = side.columns, side.geometry
    if "joint" in columns or "sequence" not in columns or "frame" not in columns:
        return None
    if (
        not np.vdot(geometry, geometry) <= schema.LARGEST_COORDINATE**2
    ):  # what is not finite or large is looked at closely
        return None
    sequence, frame = coded_keys(columns["sequence"], sequences), integers(columns["frame"])
    category = _coded_categories(columns["category"], categories) if "category" in columns else None
    listed = None if side.frames is None else _listed_frames(side.frames, sequences)
    if sequence is None or frame is None or (side.frames is not None and listed is None):
        return None
    if not _objects_differ(columns, sequence, frame) or not _are_scores(columns):
        return None
    crowd, ignore = (np.array(columns[mark]) if mark in columns and name == "truth" else None for mark in crowds.MARKS)
    if "category" in columns and category is None:
        return None
    if name != "truth" and any(np.any(columns[mark]) for mark in crowds.MARKS if mark in columns):
        return None  # which is warned about
    if not all(_are_flags(marked) for marked in (crowd, ignore) if marked is not None):
        return None
    form = form_of(name, columns, schema.BOX[: len(geometry)], side.frames)
    return PlainSide(sequence, frame, geometry, category, crowd, ignore, listed, form)


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
    if not {*schema.FRAME_KEY} <= {*frames}:
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
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu" and arrays.ascend([sequence, frame, names]):
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
    frames = Columns(dict(zip(schema.FRAME_KEY, np.array(listed, np.int64).reshape(-1, 2).T.copy(), strict=True)))
    truth, predictions = (Columns(dict(_joined(sides))) for sides in zip(*batches, strict=True))
    return SideColumns(truth, frames if listed else None), SideColumns(predictions)


def _joined(sides: Sequence[PlainSide]) -> Iterator[tuple[str, np.ndarray]]:
    """The columns of several sides, by name; sides without rows tell nothing."""
    filled = [side for side in sides if len(side.frame)] or sides[:1]
    yield "sequence", np.concatenate([side.sequence for side in filled])
    yield "frame", np.concatenate([side.frame for side in filled])
    yield from zip(schema.BOX, np.concatenate([side.geometry for side in filled], axis=1), strict=False)
    for name in ("category", *crowds.MARKS):
        values = [getattr(side, name) for side in filled]
        if values[0] is not None:
            yield name, np.concatenate(values)


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


class SeenSides:
    """The sequences that have truths or frames of the truth, by their codes, and the categories of each side.

    `classes` is None once a category is on both sides; what comes later is then of no interest.
    """

    def __init__(self) -> None:
        self.with_truth: set[int] = set()
        self.classes: tuple[set[Any], set[Any]] | None = set(), set()

    def add_plain(self, truth: PlainSide, predictions: PlainSide, categories: Codes) -> None:
        """Adds the sides of a plain batch, whose categories are numbers, or codes of text."""
        self.with_truth.update(truth.sequence.tolist())
        if truth.listed is not None:
            self.with_truth.update(sequence_and_frame(frame)[0] for frame in truth.listed)
        if self.classes is not None and truth.category is not None and predictions.category is not None:
            codes = [np.unique(side.category).tolist() for side in (truth, predictions) if side.category is not None]
            is_text = truth.form.text.get("category", False) or predictions.form.text.get("category", False)
            names = categories.names if is_text else {}
            self._add_classes(*([names.get(code, code) for code in of_side] for of_side in codes))

    def add_checked(self, truth: SideColumns, predictions: SideColumns, sequences: Codes) -> None:
        """Adds the sides of a batch of checked tables."""
        for table in (truth.objects, truth.frames):
            codes = None if table is None else coded_keys(table["sequence"], sequences)
            self.with_truth.update([] if codes is None else codes.tolist())
        if self.classes is not None and "category" in truth.objects and "category" in predictions.objects:
            self._add_classes(*([*side.objects["category"]] for side in (truth, predictions)))

    def add(self, other: SeenSides, code: Mapping[int, int]) -> None:
        """Adds what another has seen, whose sequences have these codes here."""
        self.with_truth.update(code.get(sequence, sequence) for sequence in other.with_truth)
        if other.classes is None:
            self.classes = None
        else:
            self._add_classes(*other.classes)

    def _add_classes(self, truth: Any, predictions: Any) -> None:
        if self.classes is None:
            return
        self.classes[0].update(truth)
        self.classes[1].update(predictions)
        if not self.classes[0].isdisjoint(self.classes[1]):
            self.classes = None

    def warning(self, sequences: Sequence[int], n_predicted: np.ndarray, names: Mapping[int, Any]) -> str | None:
        """A warning of sequences without truth, and of sides that have no category in common; or None.

        `n_predicted` is how many predictions each of the sequences has; `names` are those of sequences that have codes.
        """
        texts = [None if self.classes is None else left_out.apart_of_parts(*self.classes)]
        alone = [place for place, code in enumerate(sequences) if n_predicted[place] and code not in self.with_truth]
        if alone:
            first = [str(names.get(sequences[place], sequences[place])) for place in alone[: messages.MOST_NAMED + 1]]
            texts.append(
                left_out.unknown_text(Unknown(len(alone), first, int(n_predicted[alone].sum())), labelled=False)
            )
        return "; ".join(filter(None, texts)) or None
