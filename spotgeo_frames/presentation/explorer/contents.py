"""What an explorer shows, numbered: its frames, the objects of each frame, and the chunks in which they are sent.

The rows of all match tables are numbered one table after another. Frames are numbered by sequence, then by their own
number. Truths are numbered by frame, each once, whatever tables have it; so are the predictions of each table. A chunk
is a run of frames: several short sequences, one sequence, or a stretch of a long one.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...geometries import pose_columns, pose_joints
from ...matching import noted_rule
from ...support import InputError, arrays
from ...tables import as_numbers, schema
from ..drawing import drawn_tables
from ..viewer import Frames, Rows, Submission, check_truths, frames_of, packing, places, submissions_of, truths_of
from .opening import OBJECTS, Given

# Sequences that have together about this many rows are sent together.
ROWS_TOGETHER = 5000

# A sequence with more rows is shown in stretches, so that none takes long to send.
ROWS_OF_STRETCH = 60_000

# The counts in a match table of the objects of a frame, each with the outcomes that it counts.
COUNTS = {"frame_n_truth": [schema.TP, schema.FN], "frame_n_predicted": [schema.TP, schema.FP]}


class Stretches(NamedTuple):
    """The short sequences, and the stretches into which long ones are cut; the viewer lists each like a sequence.

    Attributes
    ----------
    first
        The first frame of each, and the end, (P + 1,).
    sequence
        The position of the sequence of each, (P,).
    names
        What each is called.
    chunk
        The chunk in which each is sent, (P,).
    """

    first: np.ndarray
    sequence: np.ndarray
    names: list[str]
    chunk: np.ndarray


class Contents(NamedTuple):
    """What an explorer shows of the N rows of S match tables in F frames.

    Attributes
    ----------
    given
        The match tables by name.
    first_row
        The first row of each table, and the end, (S + 1,).
    tau
        The largest distance of a true positive (px); None after matching by similarity, or where it is not known.
    joints
        The type of the names of joints; None where there are none.
    frames, numbers
        The frames, and the number of each, (F,).
    in_order, frame_rows
        The rows in the order of their frames, (N,), and where in it each frame begins, and the end, (F + 1,).
    truths, predictions
        For each table, the row of each truth, -1 where the table does not have its frame, and of each prediction.
    stretches
        The short sequences, and the stretches into which long ones are cut; the viewer lists each like a sequence.
    first_truth, first_prediction
        The first truth of each chunk, and for each table the first prediction, both with the end.
    areas
        The left, right, top and bottom (px) of each sequence.
    errors
        How many rows of each stretch are misses, and how many false alarms, (P, 2).
    filtered_out
        For each table, how many truths and predictions of each frame are lacking although the rows of the frame say
        that there are, (F, 2). Frames of which no row is left are not known.
    """

    given: Mapping[str, Given]
    first_row: np.ndarray
    tau: float | None
    joints: pd.CategoricalDtype | None
    frames: Frames
    numbers: pd.Series
    in_order: np.ndarray
    frame_rows: np.ndarray
    truths: list[np.ndarray]
    predictions: list[np.ndarray]
    stretches: Stretches
    first_truth: np.ndarray
    first_prediction: list[np.ndarray]
    areas: np.ndarray
    errors: np.ndarray
    filtered_out: list[np.ndarray]


def contents_of(given: Mapping[str, Given]) -> Contents:
    """Numbers what an explorer shows of match tables; raises InputError if they have different truths."""
    rows = drawn_tables.together({name: one.matches[_columns(one.matches)] for name, one in given.items()})
    joints = rows["joint"].astype("category") if "joint" in rows else None
    joint = None if joints is None else packing.column_of(joints)
    frames = frames_of(rows)
    submissions = submissions_of(rows, frames, {} if joint is None else {"joint": joint})
    truth = truths_of(submissions.values(), len(frames.first))
    first_row = np.cumsum([0, *(len(one.matches) for one in given.values())])
    filtered_out = [
        _filtered_out(one.matches, frames.of_row[begin:end], len(frames.first))
        for one, begin, end in zip(given.values(), first_row, first_row[1:], strict=False)
    ]
    if len(given) > 1:
        _check_same_truths(rows, truth, submissions, any(counts.any() for counts in filtered_out))
    in_order = np.argsort(frames.of_row, kind="stable")
    frame_rows = np.searchsorted(frames.of_row[in_order], np.arange(len(frames.first) + 1))
    numbers = rows["frame"].take(frames.first)
    stretches = _stretches(frames, frame_rows, numbers.tolist())
    begins = np.append(stretches.first[np.unique(stretches.chunk, return_index=True)[1]], len(frames.first))
    tau = _tau(next(iter(given.values())).matches)
    return Contents(
        given=given,
        first_row=first_row,
        tau=tau,
        joints=None if joints is None else pd.CategoricalDtype(joints.cat.categories),
        frames=frames,
        numbers=numbers,
        in_order=in_order,
        frame_rows=frame_rows,
        truths=[_own_rows(truth, one) for one in submissions.values()],
        predictions=[one.predicted.row for one in submissions.values()],
        stretches=stretches,
        first_truth=np.searchsorted(truth.frame, begins),
        first_prediction=[np.searchsorted(one.predicted.frame, begins) for one in submissions.values()],
        areas=places.extents(rows, frames.sequence[frames.of_row], len(frames.sequences), tau or 0.0),
        errors=_errors(rows, np.searchsorted(stretches.first, frames.of_row, "right") - 1, len(stretches.names)),
        filtered_out=filtered_out,
    )


def _columns(matches: pd.DataFrame) -> list[str]:
    """The columns of a match table by which rows are numbered and areas are measured."""
    geometry = [
        f"{prefix}{name}"
        for prefix in schema.SIDE_PREFIXES
        for name in [*schema.BOX, *pose_columns(pose_joints(matches))]
    ]
    own = [
        *schema.frame_columns(matches),
        "outcome",
        "ignored",
        schema.measure_of(matches),
        schema.FILE_ORDER,
        *OBJECTS,
        *geometry,
    ]
    return [name for name in own if name in matches]


def _tau(matches: pd.DataFrame) -> float | None:
    """The tau (px) in the notes of a match table by the distance of x and y; None if there is none."""
    return noted_rule.distance_rule(matches, needs=()).image_tau if schema.measure_of(matches) == "distance" else None


def _own_rows(truth: Rows, submission: Submission) -> np.ndarray:
    """The submission's own row of each truth; -1 where it does not have the frame."""
    rows = np.full(len(truth.row), -1)
    rows[submission.has_frame[truth.frame]] = submission.truth.row
    return rows


def _check_same_truths(
    rows: pd.DataFrame, truth: Rows, submissions: Mapping[str, Submission], is_filtered: bool
) -> None:
    """Raises InputError if match tables have different truths in a frame that several of them have."""
    columns = {
        name: packing.column_of(rows[name]) for name in map(str, rows) if name.startswith(schema.SIDE_PREFIXES[0])
    }
    known = {name: column for name, column in columns.items() if column is not None}
    try:
        check_truths(rows, known, truth, submissions)
    except InputError as error:
        hint = "; rows were filtered out: give the whole tables, and set widget.filter" if is_filtered else ""
        raise InputError([f"explore: {problem}{hint}" for problem in error.problems]) from None


def _filtered_out(matches: pd.DataFrame, frame: np.ndarray, n_frames: int) -> np.ndarray:
    """How many truths and predictions of each frame (F, 2) a match table lacks; `frame` is that of each of its rows."""
    lacking = np.zeros((n_frames, len(COUNTS)), np.int64)
    counts = [name for name in COUNTS if name in matches and pd.api.types.is_numeric_dtype(matches[name].dtype)]
    if not counts or not len(matches):
        return lacking
    key = schema.frame_columns(matches)
    group, first = arrays.grouped(arrays.row_keys(matches, key))  # joints have counts of their own
    outcome, counted = matches["outcome"].array.codes, are_counted(matches)
    for name in counts:
        present = arrays.added_at(group, np.isin(outcome, COUNTS[name]) & counted, len(first))
        expected = np.nan_to_num(as_numbers(matches[name])[first])
        of_frames = arrays.added_at(frame[first], np.maximum(expected - present, 0), n_frames)
        lacking[:, list(COUNTS).index(name)] = of_frames
    return lacking


def _stretches(frames: Frames, frame_rows: np.ndarray, numbers: list[int]) -> Stretches:
    """Cuts sequences with many rows into stretches, and says which are sent together."""
    n_sequences = len(frames.sequences)
    begins = np.searchsorted(frames.sequence, np.arange(n_sequences + 1))
    rows_before = frame_rows[:-1] - frame_rows[begins[frames.sequence]]
    stretch_of_sequence = rows_before // ROWS_OF_STRETCH
    is_new = np.ones(len(rows_before), bool)
    is_new[1:] = (np.diff(frames.sequence) > 0) | (np.diff(stretch_of_sequence) > 0)
    first = np.flatnonzero(is_new)
    sequence = frames.sequence[first]
    ends = np.append(first[1:], len(is_new))
    is_cut = np.bincount(sequence, minlength=n_sequences)[sequence] > 1
    texts = [str(name) for name in frames.sequences]
    names = [
        f"{texts[place]}, frames {numbers[begin]} to {numbers[end - 1]}" if is_cut[stretch] else texts[place]
        for stretch, (place, begin, end) in enumerate(zip(sequence, first, ends, strict=True))
    ]
    _, chunk = np.unique(frame_rows[first] // ROWS_TOGETHER, return_inverse=True)
    return Stretches(np.append(first, len(is_new)), sequence, names, chunk)


def _errors(rows: pd.DataFrame, stretch: np.ndarray, n_stretches: int) -> np.ndarray:
    """How many rows of each stretch are misses, and how many false alarms, (P, 2)."""
    outcome, counted = rows["outcome"].array.codes, are_counted(rows)
    counts = [arrays.added_at(stretch, (outcome == wrong) & counted, n_stretches) for wrong in (schema.FN, schema.FP)]
    return np.stack(counts, axis=1).astype(np.int64)


def are_counted(matches: pd.DataFrame) -> np.ndarray:
    """Which rows count; those that average precision ignores do not."""
    return ~matches["ignored"].to_numpy(bool) if "ignored" in matches else np.ones(len(matches), bool)


def positions_by_table(contents: Contents, rows: np.ndarray) -> list[np.ndarray]:
    """For each match table, which of these rows (of all tables) it has, as positions in the table, in their order."""
    bounds = zip(contents.first_row, contents.first_row[1:], strict=False)
    return [rows[(rows >= begin) & (rows < end)] - begin for begin, end in bounds]


def row_of_object(contents: Contents, side: str, submission: int, position: int) -> int:
    """The row of a truth or a prediction of a match table by its position among all; -1 if there is none."""
    rows = contents.truths if side == "truth" else contents.predictions
    return int(rows[submission][position])


def objects_of_rows(contents: Contents, rows: Sequence[int]) -> list[tuple[str, int, int]]:
    """The side, the position of the match table and the own position of each truth and prediction in these rows."""
    answer = []
    for side, tables in (("truth", contents.truths), ("predicted", contents.predictions)):
        for submission, numbered in enumerate(tables):
            places = np.flatnonzero(np.isin(numbered, rows))
            answer += [(side, submission, int(place)) for place in places]
    return answer
