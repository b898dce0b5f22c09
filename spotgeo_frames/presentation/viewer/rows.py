"""The frames, truths and predictions in match tables of one or several submissions, in the viewer's order.

Frames are in the order of their sequences, then of their numbers. Crowds and the predictions that they explain count
nowhere and are no rows of a match table; they become some, marked by a column `ignored`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...matching import crowds
from ...support import InputError, arrays
from ...tables import columns_of, messages, schema
from .packing import Column, Text, same, taken


class Frames(NamedTuple):
    """The frames of the N rows of match tables.

    Attributes
    ----------
    of_row
        (N,), the position of each row's frame.
    first
        For each frame, the first of its rows.
    sequence
        For each frame, the position of its sequence in `sequences`.
    sequences
        The names of the sequences.
    """

    of_row: np.ndarray
    first: np.ndarray
    sequence: np.ndarray
    sequences: list[Any]


def frames_of(matches: pd.DataFrame, sequences: Sequence[Any] | None = None) -> Frames:
    """The frames of match tables, which all joints of a frame share.

    `sequences` are all their sequences in the order to show them, None for the order of their names.
    """
    keys = matches[schema.FRAME_KEY]
    frame, first = arrays.grouped(arrays.row_keys(keys, schema.FRAME_KEY))
    sequence, first_frame = arrays.grouped(arrays.row_keys(keys.take(first), ["sequence"]))
    names = keys["sequence"].take(first[first_frame]).tolist()
    if sequences is None:
        return Frames(frame, first, sequence, names)
    shown = {name: position for position, name in enumerate(sequences)}
    sequence = np.array([shown[name] for name in names], np.int64)[sequence]
    order = np.argsort(sequence, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return Frames(place[frame], first[order], sequence[order], list(sequences))


def worst_first(matches: pd.DataFrame, frames: Frames) -> np.ndarray:
    """The positions of frames: of every sequence the one with the most errors, then of every sequence the next one.

    The first of all is that of the first sequence.
    """
    outcome = matches["outcome"].array.codes
    errors = arrays.added_at(frames.of_row, (outcome == schema.FN) | (outcome == schema.FP), len(frames.first))
    worst = np.lexsort([-errors, frames.sequence])
    begins = np.searchsorted(frames.sequence, np.arange(len(frames.sequences)))
    rank = np.empty(len(worst), np.int64)
    rank[worst] = np.arange(len(worst)) - begins[frames.sequence[worst]]
    return np.lexsort([frames.sequence, rank])


class Rows(NamedTuple):
    """Truths or predictions: their rows in the match tables, and the positions of their frames, which ascend."""

    row: np.ndarray
    frame: np.ndarray


class Submission(NamedTuple):
    """The truths and the predictions of a submission, and which frames it has (n_frames,)."""

    truth: Rows
    predicted: Rows
    has_frame: np.ndarray


def submissions_of(matches: pd.DataFrame, frames: Frames, columns: Mapping[str, Column]) -> dict[str, Submission]:
    """The submissions by name. Truths are in the order of the match table, predictions in file order.

    `columns` are the columns of `matches`, of which `joint` is needed where there is one.
    """
    outcome = matches["outcome"].array.codes
    code_of_row = matches["submission"].array.codes
    joint = columns.get("joint")
    answer = {}
    for code, name in enumerate(matches["submission"].cat.categories):
        rows = np.flatnonzero(code_of_row == code)
        of_rows = outcome[rows]
        truth = rows[(of_rows == schema.TP) | (of_rows == schema.FN)]
        predicted = rows[(of_rows == schema.TP) | (of_rows == schema.FP)]
        keys = [frames.of_row[predicted]]
        if isinstance(joint, Text):
            keys.append(joint.codes[predicted])
        if schema.FILE_ORDER in matches:  # what is ignored may have none, and comes last
            keys.append(matches[schema.FILE_ORDER].take(predicted).to_numpy(np.int64, na_value=len(matches)))
        has_frame = np.bincount(frames.of_row[rows], minlength=len(frames.first)) > 0
        answer[str(name)] = Submission(
            _ordered(truth, [frames.of_row[truth]], frames), _ordered(predicted, keys, frames), has_frame
        )
    return answer


def truths_of(submissions: Iterable[Submission], n_frames: int) -> Rows:
    """The truths of every frame, those of the first submission that has the frame."""
    parts, known = [Rows(np.zeros(0, np.int64), np.zeros(0, np.int64))], np.zeros(n_frames, bool)
    for submission in submissions:
        rows, frame = submission.truth
        is_new = (submission.has_frame & ~known)[frame]
        parts.append(Rows(rows[is_new], frame[is_new]))
        known |= submission.has_frame
    rows, frame = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.argsort(frame, kind="stable")
    return Rows(rows[order], frame[order])


def check_truths(
    matches: pd.DataFrame, columns: Mapping[str, Column], truth: Rows, submissions: Mapping[str, Submission]
) -> None:
    """Raises InputError if frames of a submission have other truths than `truth`, or the same in another order."""
    compared = [columns[name] for name in _truth_key(matches) if name in columns]
    for name, (mine, _, has_frame) in submissions.items():
        shared = has_frame[truth.frame]
        rows = truth.row[shared]
        if np.array_equal(rows, mine.row):
            continue
        is_same = np.array_equal(truth.frame[shared], mine.frame)
        if not (is_same and all(same(taken(column, rows), taken(column, mine.row)) for column in compared)):
            raise InputError(_difference(matches, rows, mine.row, name))


def _ordered(rows: np.ndarray, keys: Sequence[np.ndarray], frames: Frames) -> Rows:
    """Rows of match tables, sorted by keys of which the first is the frame."""
    packed = arrays.pack(keys, [int(key.max(initial=0)) + 1 for key in keys])
    ordered = rows[np.argsort(packed, kind="stable")]
    return Rows(ordered, frames.of_row[ordered])


def _truth_key(matches: pd.DataFrame) -> list[str]:
    """The columns of a match table that tell whether truths are the same."""
    key = [*schema.frame_columns(matches), *(f"{schema.PREFIXES['truth']}{name}" for name in ("object", *schema.BOX))]
    return [name for name in key if name in matches]


def _difference(matches: pd.DataFrame, rows: np.ndarray, others: np.ndarray, name: str) -> str:
    """The problem of a submission that has truths in the rows `others`, where those before it have those in `rows`."""
    key = _truth_key(matches)
    both = matches[key].take(np.concatenate([rows, others]))
    odd = ~both.duplicated(keep=False).to_numpy()
    advice = "give match tables of the same truth"
    if not odd.any():
        return f"{name}: the truths of a frame are in another order than in the tables before it; {advice}"
    problem = f"{messages.counted(int(odd.sum()), 'truth')} in this table or in those before it, but not in both"
    return f"{name}: {problem}; {advice}: {messages.first_keys(both, odd, key)}"


def with_ignored(matches: pd.DataFrame, truth: pd.DataFrame, predictions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Match tables with rows for truths and predictions that do not count, marked by a column `ignored`.

    `matches` are those of one or several submissions, with a column `submission`. `truth` and the `predictions` of each
    submission are the tables of objects that were matched; whole poses have their joints as columns. Frames that a
    match table does not have stay away. Where every truth counts, the match tables are returned as they are.
    """
    marked = [of for of in crowds.marks(columns_of(truth)) if of is not None]
    uncounted = np.any(marked, axis=0) if marked else np.zeros(len(truth), bool)
    if not uncounted.any():
        return matches
    parts = [matches.assign(ignored=matches.get("ignored", False))]
    for name in matches["submission"].cat.categories:
        mine = matches[(matches["submission"] == name).to_numpy(bool)]
        sides = truth[uncounted], predictions[name]
        for objects, prefix, outcome in zip(sides, schema.SIDE_PREFIXES, (schema.FN, schema.FP), strict=True):
            rows = _rows(_unlisted(objects, mine, prefix), mine, prefix)
            parts.append(rows.assign(submission=name, outcome=schema.OUTCOMES[outcome], ignored=True))
    together = pd.concat([part for part in parts if len(part)], ignore_index=True)
    answer = together[parts[0].columns].astype({name: matches[name].dtype for name in ("submission", "outcome")})
    answer.attrs = matches.attrs
    return answer


def _unlisted(objects: pd.DataFrame, matches: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """The objects that are no rows of a match table, of those in its frames."""
    keys, known = arrays.frame_keys([objects, matches])
    listed = matches[matches[f"{prefix}object"].notna()].rename(columns={f"{prefix}object": "object"})
    columns = [name for name in (*schema.OBJECT_KEY, "joint") if name in objects]
    numbered = [arrays.ordinals([objects[name], listed[name].astype(objects[name].dtype)]) for name in columns]
    spans = [span for _, span in numbered]
    mine, others = (arrays.pack([codes[side] for codes, _ in numbered], spans) for side in (0, 1))
    return objects[np.isin(keys, known) & ~np.isin(mine, others)]


def _rows(objects: pd.DataFrame, matches: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """Objects with the names of columns that a match table has."""
    key = [name for name in (*schema.FRAME_KEY, "joint") if name in objects]
    carried = {name: f"{prefix}{name}" for name in map(str, objects) if f"{prefix}{name}" in matches}
    return objects[[*key, *carried]].rename(columns=carried)
