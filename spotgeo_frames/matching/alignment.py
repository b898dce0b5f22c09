"""Lays truth and predictions side by side: one list of frames, and each side's rows in the order of that list.

This module decides which frames count. If the truth has a frames table, its rows are the frames, and predictions in any
other frame are refused. Otherwise the frames that occur on either side count. `frames="labelled"` leaves out
predictions that lie in no frame of the truth. A frames table of the predictions says which frames the detector has
seen. It must have exactly the truth's frames, as a competition file must: a frame that a detector never saw is not a
frame in which it found nothing.

Each joint of a frame is matched by itself. So in tables of keypoints every (sequence, frame, joint) that occurs becomes
a frame of its own here. A frame without any joint stays, with a null joint. Joints whose visibility is 0 are left out.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ..geometries import labelled_joints
from ..support import arrays
from ..tables import Annotations, Columns, DeferredText, SideColumns, joined, schema, side_columns
from .agreement import Unknown, category_codes, check_coverage, check_sequences, check_types, unknown_sequences

FrameRule = Literal["truth", "union", "labelled"]


class Side(NamedTuple):
    """Truth or predictions, in frame order.

    `table` has the N rows sorted by frame, and in file order within a frame. For each row, `row` is its position in the
    table that was given, `frame` its position in the list of frames, and `category` its
    category as an integer that both sides share (None if a side has no categories). For each frame, `counts` is how
    many rows it has, and `starts`, which is one longer, the position of its first row.
    """

    table: Columns
    row: np.ndarray
    frame: np.ndarray
    counts: np.ndarray
    starts: np.ndarray
    category: np.ndarray | None


class Aligned(NamedTuple):
    """`frames` (`sequence`, `frame`, `joint` for keypoints, attributes), one row a frame, and the two sides.

    `sequences` has attributes of sequences, one row for each that the truth lists, or is None, and `categories` those
    of categories. `unknown` are the
    sequences that have predictions and no truth at all, or None. `notes` count rows that were left out: `unlabelled`,
    the predictions that lie in no frame of the truth, where such frames do not count; `crowds` and `explained`, of
    tracks whose truth has a column `crowd`.
    """

    frames: Columns
    truth: Side
    predictions: Side
    sequences: Columns | None = None
    unknown: Unknown | None = None
    notes: Mapping[Hashable, int] = MappingProxyType({})
    categories: Columns | None = None

    def names_from(self, first: int) -> Callable[[int], str]:
        """A function that gives what messages call a frame, by its position counted from the frame `first` on."""

        def name(position: int) -> str:
            return ", ".join(
                f"{key} {self.frames[key][first + position]}"
                for key in (*schema.FRAME_KEY, "joint")
                if key in self.frames
            )

        return name


def align(
    truth: Annotations | SideColumns,
    predictions: Annotations | SideColumns,
    frames: FrameRule = "truth",
    *,
    may_be_disjoint: bool = False,
) -> Aligned:
    """Aligns two checked sides.

    `frames` says which frames count: "truth", the rows of the truth's frames table if it has one; "union", all frames
    that either side has; "labelled", the frames in which the truth has rows or that its frames table lists, while
    predictions elsewhere are left out. Raises InputError if the key types differ, if the sides share no sequence
    (`may_be_disjoint` allows that, for a part of a dataset), or if predictions lie in other frames or do not cover the
    truth's frames.
    """
    check_frame_rule(frames)
    truth, predictions = side_columns(truth), side_columns(predictions)
    check_types(truth, predictions)
    if not may_be_disjoint:
        check_sequences(truth, predictions)
    given = {
        "truth": truth.objects,
        "predictions": predictions.objects,
        "truth frames": truth.frames,
        "predictions frames": predictions.frames if frames != "labelled" else None,
    }
    tables = {name: table for name, table in given.items() if table is not None}
    keys = dict(zip(tables, arrays.frame_keys(list(tables.values())), strict=True))
    kept = _in_labelled_frames(keys) if frames == "labelled" else None
    if kept is not None:
        tables["predictions"] = tables["predictions"].filter(kept)
        keys["predictions"] = keys["predictions"][kept]
    if frames == "truth":
        check_coverage(tables, keys)
    ruling = ["truth frames"] if frames == "truth" and "truth frames" in tables else list(tables)
    listed, listed_keys = _list_frames([tables[name] for name in ruling], [keys[name] for name in ruling])
    if truth.frames is not None:
        listed = _with_attributes(listed, listed_keys, truth.frames, keys["truth frames"])
    places = {name: arrays.locate(listed_keys, of_rows) for name, of_rows in keys.items()}
    unknown = None if may_be_disjoint else _unknown(listed, places)
    objects = [tables["truth"], tables["predictions"]]
    positions = [places["truth"], places["predictions"]]
    of_predictions = np.arange(len(predictions.objects))
    rows = [np.arange(len(truth.objects)), of_predictions if kept is None else of_predictions[kept]]
    if "joint" in truth.objects:
        labelled = [labelled_joints(table) for table in objects]
        rows = [row[marked] for row, marked in zip(rows, labelled, strict=True)]
        positions = [position[marked] for position, marked in zip(positions, labelled, strict=True)]
        objects = [table.filter(marked) for table, marked in zip(objects, labelled, strict=True)]
        listed, positions = _split_joints(listed, positions, objects[0]["joint"], objects[1]["joint"])
    sides = [
        side_of(*columns, len(listed))
        for columns in zip(objects, rows, positions, category_codes(*objects), strict=True)
    ]
    notes: dict[Hashable, Any] = {} if kept is None else {"unlabelled": int(np.count_nonzero(~kept))}
    if truth.objects.attrs.get(schema.NUMBERED):
        notes[schema.NUMBERED] = True
    return Aligned(listed, sides[0], sides[1], truth.sequences, unknown, notes, truth.categories)


def check_frame_rule(frames: str) -> None:
    """Raises ValueError unless this says which frames count."""
    if frames not in get_args(FrameRule):
        raise ValueError(f"frames is {frames!r}; 'truth', 'union' or 'labelled' is needed")


def labelled_only(truth: Annotations, predictions: Annotations) -> tuple[Annotations, int]:
    """The predictions that `frames="labelled"` keeps, without their frames table, and how many it leaves out.

    Raises InputError if the key types of the sides differ.
    """
    known, found = side_columns(truth), side_columns(predictions)
    check_types(known, found)
    tables = {"truth": known.objects, "predictions": found.objects}
    tables |= {} if known.frames is None else {"truth frames": known.frames}
    kept = _in_labelled_frames(dict(zip(tables, arrays.frame_keys(list(tables.values())), strict=True)))
    left = predictions.objects[kept] if len(kept) else predictions.objects
    return predictions._replace(objects=left.reset_index(drop=True), frames=None), int(np.count_nonzero(~kept))


def _in_labelled_frames(keys: Mapping[str, np.ndarray]) -> np.ndarray:
    """Marks the predictions that lie in a frame in which the truth has rows, or that its frames table lists."""
    known = [keys[name] for name in ("truth", "truth frames") if name in keys]
    return arrays.locate(arrays.distinct(np.concatenate(known))[0], keys["predictions"]) >= 0


def _unknown(listed: Columns, places: Mapping[str, np.ndarray]) -> Unknown | None:
    """The sequences that have predictions and no truth at all, by the positions of each table's rows in the list."""
    has_truth = np.zeros(len(listed), bool)
    for name in ("truth", "truth frames"):
        if name in places:
            has_truth[places[name]] = True
    return unknown_sequences(listed, has_truth, np.bincount(places["predictions"], minlength=len(listed)))


def without_categories(aligned: Aligned) -> Aligned:
    """The same sides, with objects of all categories compared with each other."""
    sides = [side._replace(category=None) for side in (aligned.truth, aligned.predictions)]
    return aligned._replace(truth=sides[0], predictions=sides[1])


def select_rows(aligned: Aligned, truth: np.ndarray, predictions: np.ndarray) -> Aligned:
    """The same frames with only the marked rows of either side."""
    sides = []
    for side, marked in ((aligned.truth, truth), (aligned.predictions, predictions)):
        if marked.all():
            sides.append(side)
            continue
        rows = np.flatnonzero(marked)
        category = None if side.category is None else side.category[rows]
        sides.append(side_of(side.table.take(rows), side.row[rows], side.frame[rows], category, len(aligned.frames)))
    return aligned._replace(truth=sides[0], predictions=sides[1])


def with_truths(aligned: Aligned, rows: np.ndarray, category: Any) -> Aligned:
    """The same sides with the truths at these positions, each in another category; a truth may be there repeatedly."""
    truth = aligned.truth
    objects = truth.table.take(rows).assign({"category": category})
    codes = category_codes(objects, aligned.predictions.table)
    again = side_of(objects, truth.row[rows], truth.frame[rows], codes[0], len(aligned.frames))
    return aligned._replace(truth=again, predictions=aligned.predictions._replace(category=codes[1]))


def select_frames(aligned: Aligned, marked: np.ndarray) -> Aligned:
    """The marked frames alone, with all their rows; no row may lie in another frame."""
    if marked.all():
        return aligned
    place = np.cumsum(marked) - 1
    frames = aligned.frames.filter(marked)
    sides = [
        side_of(side.table, side.row, place[side.frame], side.category, len(frames))
        for side in (aligned.truth, aligned.predictions)
    ]
    return aligned._replace(frames=frames, truth=sides[0], predictions=sides[1])


def drop_empty_joints(aligned: Aligned) -> Aligned:
    """The same sides without the joints of frames that no row has; of a frame without any, a null joint stays."""
    counts = aligned.truth.counts + aligned.predictions.counts
    if "joint" not in aligned.frames or counts.all():
        return aligned
    import pandas as pd

    frame, first = arrays.grouped(arrays.row_keys(aligned.frames, schema.FRAME_KEY))
    kept = counts > 0
    kept[first[arrays.added_at(frame, counts, len(first)) == 0]] = True
    joint = pd.Series(aligned.frames["joint"], copy=False).where(counts > 0).array
    return select_frames(aligned._replace(frames=aligned.frames.assign({"joint": joint})), kept)


def sequence_attributes(aligned: Aligned, sequences: Any) -> dict[str, Any]:
    """The attributes of each of these sequences, by name; null where the truth's table of sequences lacks one."""
    return _attributes_of(aligned.sequences, "sequence", sequences)


def category_attributes(aligned: Aligned, categories: Any) -> dict[str, Any]:
    """The attributes of each of these categories, by name; null where the truth's table of categories lacks one."""
    return _attributes_of(aligned.categories, "category", categories)


def _attributes_of(table: Columns | None, key: str, wanted: Any) -> dict[str, Any]:
    """The columns of a table but for its key, with a value for each wanted key; none without a table."""
    if table is None or len(table.columns) == 1:
        return {}
    (keys, known), _ = arrays.ordinals([wanted, table[key]])
    return _attributes(table, [key], known, keys)


def _list_frames(tables: Sequence[Columns], keys: Sequence[np.ndarray]) -> tuple[Columns, np.ndarray]:
    """The distinct (sequence, frame) of the tables in order, and their keys."""
    firsts = [arrays.distinct(key) for key in keys]
    # Usually the first table has all frames of the others.
    if len(firsts[0][0]) and all(np.all(arrays.locate(firsts[0][0], values) >= 0) for values, _ in firsts[1:]):
        tables, firsts = tables[:1], firsts[:1]
    parts = [
        Columns({column: table[column].take(rows) for column in schema.FRAME_KEY})
        for table, (_, rows) in zip(tables, firsts, strict=True)
    ]
    if len(parts) == 1:
        return parts[0], firsts[0][0]
    listed_keys, rows = arrays.distinct(np.concatenate([values for values, _ in firsts]))
    filled = [part for part in parts if len(part)] or parts[:1]
    return Columns({name: joined([part[name] for part in filled]) for name in schema.FRAME_KEY}).take(rows), listed_keys


def _with_attributes(listed: Columns, listed_keys: np.ndarray, frames: Columns, keys: np.ndarray) -> Columns:
    """Adds the attributes of the frames table; they are null for frames that it does not list."""
    return listed.assign(_attributes(frames, schema.FRAME_KEY, keys, listed_keys))


def _attributes(table: Columns, key: Sequence[str], keys: np.ndarray, wanted: np.ndarray) -> dict[str, Any]:
    """The columns of a table but for its key, with a value for each wanted key; null for those that are not listed.

    `keys` are those of the table's rows.
    """
    attributes = [column for column in table if column not in key]
    if not attributes:
        return {}
    values, rows = arrays.distinct(keys)
    position = arrays.locate(values, wanted)
    index = np.where(position < 0, -1, rows[position]) if len(rows) else position
    # The keys of most tables are those that are wanted, of which pandas need not be asked.
    return {name: _taken(table, name, index, complete=index.min(initial=0) >= 0) for name in attributes}


def _taken(table: Columns, name: str, index: np.ndarray, *, complete: bool) -> Any:
    """The values of a column at these positions, null at -1; there is none if they are `complete`."""
    stored = table.stored[name]
    is_plain = isinstance(stored, np.ndarray) and stored.dtype.kind in "iuf"
    if complete and (is_plain or isinstance(stored, DeferredText)):
        return stored.take(index)
    import pandas as pd

    values = table[name]
    attribute = pd.Series(values, copy=False)
    # A flag becomes nullable whether or not it has nulls, so that tables of parts have the same types.
    attribute = attribute.astype("boolean") if pd.api.types.is_bool_dtype(attribute.dtype) else attribute
    return attribute.array.take(index) if complete else attribute.reindex(index).array


def _split_joints(
    listed: Columns, positions: list[np.ndarray], truth_joints: Any, predicted_joints: Any
) -> tuple[Columns, list[np.ndarray]]:
    """The (frame, joint) pairs that occur, with frames without joints; and each row's position in that list."""
    import pandas as pd

    codes, span = arrays.ordinals([truth_joints, predicted_joints])
    without = np.setdiff1d(np.arange(len(listed)), np.concatenate(positions))
    keys = [position * (span + 1) + code for position, code in zip(positions, codes, strict=True)]
    all_keys = np.concatenate([*keys, without * (span + 1) + span])
    units, rows = arrays.distinct(all_keys)
    filled = [joints for joints in (truth_joints, predicted_joints) if len(joints)] or [truth_joints]
    joints = pd.Series(joined(filled), copy=False)
    joints = joints.astype("Int64") if joints.dtype == np.int64 else joints
    split = listed.take(units // (span + 1))
    of_unit = joints.reindex(np.where(rows < len(joints), rows, -1)).array
    attributes = {name: split[name] for name in split if name not in schema.FRAME_KEY}
    split = split.select(schema.FRAME_KEY).assign({"joint": of_unit} | attributes)
    return split, [arrays.locate(units, key) for key in keys]


def side_of(table: Columns, row: np.ndarray, position: np.ndarray, category: np.ndarray | None, n_frames: int) -> Side:
    """Makes a side of rows and their frames, sorted by frame; `row` is each row's position in the given table."""
    if not arrays.in_order(position):
        order = arrays.stable_order(position, n_frames)
        table, row, position = table.take(order), row[order], position[order]
        category = category if category is None else category[order]
    counts = np.bincount(position, minlength=n_frames)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Side(table, row, position, counts, starts, category)
