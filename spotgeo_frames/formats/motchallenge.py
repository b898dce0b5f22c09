"""MOTChallenge folders: boxes of tracked objects, a text file a sequence.

A line is `frame, identity, left, top, width, height, ...`, frames counted from 1, boxes in pixels. In truth the mark
(0: not to be evaluated), the class and the visibility follow. In a tracker's output a score follows, and then fields
that nobody reads. Every field has to be a number, also those that are not read.

    TRUTH_DIR/SEQUENCE/gt/gt.txt   with TRUTH_DIR/SEQUENCE/seqinfo.ini, which tells its length, where there is one
    TRUTH_DIR/SEQUENCE.txt         the flat layout
    TRACKER_DIR/SEQUENCE.txt       and either flat layout as a .zip

Either may be the folder above, such as trackers/NAME for trackers/NAME/data.

Where a sequence's length is not known, it ends with the last row of either side.

The reader follows trackeval 1.3.0 (datasets/mot_challenge_2d_box.py), which also cuts off the decimals of marks and
classes.

Known differences

    - Frames and identities that are no whole numbers, or only by rounding (1e-400), are refused; trackeval cuts off
      their decimals. Negative identities are names like any other; for trackeval they are positions from the end.
    - Tracker files of other sequences are refused; trackeval does not look at them.
    - In MOT15, which has no classes, the eighth field of a tracker's line is a coordinate; trackeval reads a class.
    - Classes of the truth that do not exist are refused in every frame; trackeval refuses them only in frames with
      predictions.
    - Lines of different lengths are accepted; trackeval refuses them within one frame.
    - Sequences of more than a million frames are refused, and more than ten million frames in all.

What the MOT benchmarks take out before they evaluate.

Only pedestrians are evaluated. First, predictions are matched with all boxes of the truth, whatever their class, at an
IoU of 0.5 or more and with the greatest sum of IoU. Predictions that are matched with a distractor (a person on a
vehicle, a static person, a reflection, ...) are taken out, so they count neither for nor against the tracker. Then
boxes of the truth are taken out that are of another class or marked with 0. MOT15 has no classes: only boxes marked
with 0 are taken out. DanceTrack and SportsMOT follow MOT17's rule.

This follows trackeval 1.3.0 (datasets/mot_challenge_2d_box.py). There is no known difference in what is taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..geometries import ROUNDING
from ..matching import Aligned, Entries, Pairs, Rule, alignment, assignment
from ..support import Copy, InputError, Storage, addresses, check_none, reading, work
from ..tables import (
    Annotations,
    Columns,
    SideColumns,
    TableKind,
    annotations_of,
    provenance,
    schema,
    table_kinds,
)
from .benchmarks import BENCHMARKS, Benchmark
from .motchallenge_lines import CLASSES, MOST_FRAMES, Kind, Rows, read_rows, tracker_kind, truth_kind
from .sequence_files import File, copies_meant, file_of, flat_files, folder_below, holds_files, of_sequences

if TYPE_CHECKING:
    pass

# All sequences together may have as many frames as this; more are meant to fill the memory.
MOST_FRAMES_IN_ALL = 10 * MOST_FRAMES
INTEGERS = ["frame", "object", "considered", "class_id"]  # as such, decimals are cut off


def read_folders(
    truth_dir: Path, tracker_dir: Path | None, has_classes: bool, lengths: Mapping[str, int] | None = None
) -> tuple[SideColumns, SideColumns, list[str]]:
    """All rows of the truth and of the predictions of the sequences in a folder of truth, as the files have them.

    There are no predictions without a folder of theirs. `lengths` are the numbers of frames of sequences; without them,
    those that their seqinfo.ini tell.

    In `sequence` stand numbers, which are much cheaper to work with than names; the last are the names, in that order.

    Truth has, after the box, `considered` (the mark), and where there are classes `class_id` and, if any line has it,
    `visibility`; predictions have `score`. The truth's frames are those from 1 to the length of each sequence. Rows are
    in the order of frames, and within a frame that of the file. Raises InputError where a file is missing, is of a
    sequence that is not known, or holds lines that cannot be used.
    """
    from concurrent.futures import ThreadPoolExecutor  # what else is there does without

    with reading.readable(truth_dir):
        files = truth_files(truth_dir)
        lengths = lengths_of(truth_dir, files) if lengths is None else lengths
    names = [file.sequence for file in files]
    if tracker_dir is None:
        tracker_files = [File(name, name, bytes) for name in names]  # bytes() is empty, as a tracker's file may be
    else:
        with reading.readable(tracker_dir):
            tracker_files = _tracker_files(tracker_dir, names, truth_dir)
    kinds = [truth_kind(has_classes)] * len(files) + [tracker_kind(has_classes)] * len(tracker_files)
    with ThreadPoolExecutor(2) as threads:  # pyarrow parses without holding the interpreter
        waiting = [
            threads.submit(_read, file, kind, lengths.get(file.sequence))
            for file, kind in zip(files + tracker_files, kinds, strict=True)
        ]
        for future in work.progress(waiting, "reading", "file"):
            future.exception()  # waits; problems are gathered below, over all files
    problems = [problem for future in waiting for problem in getattr(future.exception(), "problems", [])]
    check_none(problems)
    rows = [future.result() for future in waiting]
    frames = _frames(files, lengths, rows, truth_dir)
    truth = _table(rows[: len(files)])
    predictions = _table(rows[len(files) :])
    return SideColumns(truth, frames), SideColumns(predictions), names


def tracker_rows(files: Sequence[File]) -> SideColumns:
    """The rows of a tracker's files without classes; raises InputError with all that is wrong with them."""
    from .box_tables import Problems, read_each  # which need pandas; the command does without

    problems = Problems()
    rows = read_each(files, partial(_read, kind=tracker_kind(has_classes=False), length=None), problems)
    problems.check()
    return named(SideColumns(_table(rows)), [file.sequence for file in files])


def _read(file: File, kind: Kind, length: int | None) -> Rows:
    return read_rows(file.read(), file.name, kind, length)


def truth_folder(folder: Path) -> Path:
    """A folder of truth itself, or the one right below it that holds the sequences."""
    # A sequence's own folder has gt.txt one level below, and is no folder of sequences.
    of_sequence = (folder / "gt" / "gt.txt").exists() or (folder / "seqinfo.ini").exists()
    if of_sequence or _nested_files(folder) or holds_files(folder, ".txt"):
        return folder
    return folder_below(folder, _has_nested) or folder_below(folder, partial(holds_files, ending=".txt")) or folder


def _has_nested(folder: Path) -> bool:
    """Whether a folder has any SEQUENCE/gt/gt.txt, which the sequences of a test set lack."""
    return any(path.exists() for path in _nested_files(folder).values())


def sequences_of_truth(folder: Path) -> list[str]:
    """The names of the sequences of a folder of truth."""
    return [file.sequence for file in truth_files(folder)]


def _nested_files(folder: Path) -> dict[str, Path]:
    """The SEQUENCE/gt/gt.txt of a folder that has such folders of sequences, by the sequence."""
    if not folder.is_dir():
        return {}
    return {
        path.name: path / "gt" / "gt.txt"
        for path in folder.iterdir()
        if path.is_dir() and ((path / "gt").is_dir() or (path / "seqinfo.ini").exists())
    }


def truth_files(folder: Path) -> list[File]:
    """The sequences of a folder of truth, in the order of their names."""
    nested = _nested_files(folder)
    if not nested:
        return _flat_files(folder, "neither SEQUENCE/gt/gt.txt nor SEQUENCE.txt")
    return [file_of(path, name) for name, path in sorted(nested.items())]


def _tracker_files(folder: Path, sequences: Sequence[str], truth_dir: Path) -> list[File]:
    """The tracker's files of the sequences; raises InputError where one is missing or is of another sequence."""
    missing = ".txt is missing; a tracker that found nothing there has an empty file"
    return of_sequences(_flat_files(folder, "no SEQUENCE.txt"), sequences, folder, truth_dir, missing)


def _flat_files(folder: Path, wanted: str) -> list[File]:
    hint = f"; is {folder.parent} meant?" if (folder / "gt" / "gt.txt").exists() else ""
    return flat_files(folder, ".txt", wanted, hint, nested=("gt", "gt.txt"))


def lengths_of(truth_dir: Path, files: Sequence[File]) -> dict[str, int]:
    """The number of frames of the sequences that have a seqinfo.ini."""
    lengths, problems = {}, []
    for file in files:
        path = truth_dir / file.sequence / "seqinfo.ini"
        if not path.is_file():
            continue
        length = _length(path)
        if length is None:
            wanted = f"[Sequence] and seqLength=NUMBER, 0 to {MOST_FRAMES}"
            problems.append(f"{path}: does not tell the sequence's length; lines with {wanted}, are needed")
        else:
            lengths[file.sequence] = length
    check_none(problems)
    return lengths


def _length(path: Path) -> int | None:
    """The length that a seqinfo.ini tells, or None where it tells none that can be."""
    try:
        length = int(reading.ini_section(path, "Sequence")["seqLength"])
    except (ValueError, KeyError):
        return None
    return length if 0 <= length <= MOST_FRAMES else None


def _table(parts: Sequence[Rows]) -> Columns:
    """One table of the files' rows, in the order of frames; null where a file does not have a column."""
    lengths = [len(part.columns["frame"]) for part in parts]
    ends = np.cumsum(lengths).tolist()
    joined: dict[str, Any] = {"sequence": np.repeat(np.arange(len(parts)), lengths)}
    filled = [part for part, length in zip(parts, lengths, strict=True) if length] or parts[:1]
    kept = list(dict.fromkeys(name for part in filled for name in part.columns))
    # In one piece, which the system hands out much faster than many small ones.
    block = np.empty((len(kept), ends[-1]))
    for name, whole in zip(kept, block, strict=True):
        whole = whole.view(np.int64) if name in INTEGERS else whole
        for part, end, length in zip(parts, ends, lengths, strict=True):
            if length:
                values = part.columns.get(name, np.full(length, np.nan))
                values = np.trunc(values) != 0 if name == "considered" else values
                whole[end - length : end] = values if part.order is None else values[part.order]
        joined[name] = whole != 0 if name == "considered" else whole
    return Columns(joined)


def _frames(files: Sequence[File], lengths: Mapping[str, int], parts: Sequence[Rows], truth_dir: Path) -> Columns:
    """The frames of each sequence, from 1 to its length, or to the last row of either side."""
    last = [int(part.columns["frame"].max(initial=0)) for part in parts]
    ends = np.maximum(last[: len(files)], last[len(files) :]).tolist()
    known = [lengths.get(file.sequence, end) for file, end in zip(files, ends, strict=True)]
    if sum(known) > MOST_FRAMES_IN_ALL:
        raise InputError(f"{truth_dir}: its sequences have {sum(known)} frames; {MOST_FRAMES_IN_ALL} are possible")
    starts = np.cumsum(known) - known
    return Columns(
        {
            "sequence": np.repeat(np.arange(len(files)), known),
            "frame": np.arange(sum(known)) - np.repeat(starts, known) + 1,
        }
    )


# The IoU from which boxes match.
LEAST_SIMILARITY = 0.5 - ROUNDING


def read_motchallenge(
    truth_dir: str | Path,
    tracker_dir: str | Path | None,
    benchmark: str = "MOT17",
    preprocess: bool = True,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> tuple[Annotations, Annotations]:
    """Truth and predictions of all sequences of a folder of truth.

    Parameters
    ----------
    truth_dir, tracker_dir
        Folders laid out as `truth_dir`/SEQUENCE/gt/gt.txt (with SEQUENCE/seqinfo.ini where the length is known) or
        `truth_dir`/SEQUENCE.txt, and `tracker_dir`/SEQUENCE.txt; the flat layouts also as a .zip archive. Either may be
        the folder right above, such as trackers/NAME for trackers/NAME/data. They may be addresses such as
        s3://bucket/truth, of which only files of text are fetched. Without a `tracker_dir`, None, there are no
        predictions.
    benchmark
        "MOT15", "MOT16", "MOT17", "MOT20", "DanceTrack" or "SportsMOT": whether there are classes, and which distract.
    preprocess
        Whether to take out what is not evaluated: predictions that are matched with a distractor, and truth that is of
        another class than pedestrians or marked with 0. Otherwise all rows of the truth are there, with `considered`
        (bool: the mark) and `class_id` (int64).
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of addresses, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations of truth and of predictions: `sequence` (string), `frame`, `object` (int64), `x`, `y`, `w`, `h`
    (pixels), the truth's `visibility` where there is one, the predictions' `score`. The truth's frames are those from
    1 to the length of each sequence. Rows are in the order of frames, and within a frame that of the file.

    Raises
    ------
    InputError: a file is missing, is of a sequence that is not known, or holds lines that cannot be used; or several
        folders right below the given one hold sequences.
    ValueError: no such benchmark, or no such kind of table.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth, predictions = sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker", benchmark="MOT17")
    >>> list(predictions.objects.columns)
    ['sequence', 'frame', 'object', 'x', 'y', 'w', 'h', 'score']
    """
    kind = table_kinds.check_kind(table)
    folders = [folder for folder in (truth_dir, tracker_dir) if folder is not None]
    with addresses.local_copies(folders, Storage(storage_options, filesystem)) as given:
        copies = _meant(given)
        states = [provenance.copy_state(copy, provenance.MOTCHALLENGE_FILES) for copy in copies]
        *sides, names, n_rows = _numbered(copies, benchmark, preprocess)
    truth, predictions = (annotations_of(named(side, names)) for side in sides)
    for side, copy, state, rows in zip((truth, predictions), copies, states, n_rows, strict=False):
        provenance.note_source(side.objects, copy.name, state, rows)
    return table_kinds.as_kind((truth, predictions), kind)


# Truth and predictions as columns in which `sequence` holds positions among names; these names; and how many rows the
# files of both sides have.
Numbered = tuple[SideColumns, SideColumns, list[str], tuple[int, int]]


def read_numbered(truth_dir: str | Path, tracker_dir: str | Path | None, benchmark: str = "MOT17") -> Numbered:
    """Reads folders as `read_motchallenge` does, whose arguments these are, and raises what it raises."""
    with addresses.local_copies([folder for folder in (truth_dir, tracker_dir) if folder is not None]) as copies:
        return _numbered(_meant(copies), benchmark, preprocess=True)


def _meant(copies: Sequence[Copy]) -> list[Copy]:
    """The folders of the truth and the tracker, where those above them are given, too."""
    return copies_meant(copies, truth_folder, sequences_of_truth, ".txt")


def _numbered(copies: Sequence[Copy], benchmark: str, preprocess: bool) -> Numbered:
    """What `read_numbered` returns, of the truth's folder and the tracker's if there is one."""
    known = {name: rules for name, rules in BENCHMARKS.items() if rules.files == "motchallenge"}
    if benchmark not in known:
        raise ValueError(f"benchmark is {benchmark!r}; one of {', '.join(known)} is needed")
    rules = known[benchmark]
    paths = [copy.path for copy in copies]
    truth, predictions, names = read_folders(paths[0], [*paths, None][1], has_classes=bool(rules.classes))
    n_rows = len(truth.objects), len(predictions.objects)
    provenance.name_source(truth.objects, copies[0].name)
    provenance.name_source(predictions.objects, [*(copy.name for copy in copies), "predictions"][1])
    if preprocess:
        truth, predictions = _preprocessed(truth, predictions, rules)
    return truth, predictions, names, n_rows


def named(side: SideColumns, names: list[str]) -> SideColumns:
    """A side with the names of sequences in place of their positions in `names`."""
    import pandas as pd

    from ..support import pandas_tables

    sequences = pd.Series(names, dtype=pandas_tables.TEXT).array

    def named(table: Columns) -> Columns:
        return table.assign({"sequence": sequences.take(table["sequence"])})

    return SideColumns(named(side.objects), None if side.frames is None else named(side.frames))


def _preprocessed(truth: SideColumns, predictions: SideColumns, rules: Benchmark) -> tuple[SideColumns, SideColumns]:
    """Takes out what the benchmark does not evaluate, and the columns `considered` and `class_id` of the truth."""
    objects = truth.objects
    kept = objects["considered"]
    if rules.classes:
        class_id = objects["class_id"]
        kept = kept & np.isin(class_id, [CLASSES[name] for name in rules.classes])
        distracts = np.isin(class_id, [CLASSES[name] for name in rules.distractors])
        predictions = predictions._replace(objects=_without_distracted(truth, predictions, distracts))
    columns = [column for column in objects if column not in ("considered", "class_id")]
    return truth._replace(objects=objects.select(columns).filter(kept)), predictions


def _without_distracted(truth: SideColumns, predictions: SideColumns, distracts: np.ndarray) -> Columns:
    """The predictions that are not matched with a distractor; only frames where one overlaps with any are matched."""
    columns = [*schema.FRAME_KEY, *schema.BOX]
    truth_boxes, boxes = (side.objects.select(columns) for side in (truth, predictions))
    aligned = alignment.align(SideColumns(truth_boxes, truth.frames), SideColumns(boxes), "union")
    distracting = distracts[aligned.truth.row]
    frames = np.zeros(len(aligned.frames), bool)
    frames[aligned.truth.frame[distracting]] = True
    some = alignment.select_rows(aligned, distracting, frames[aligned.predictions.frame])
    frames[:] = False
    frames[some.truth.frame[_matching(some).truth]] = True
    aligned = alignment.select_rows(aligned, frames[aligned.truth.frame], frames[aligned.predictions.frame])
    near = _matching(aligned)
    distracting = distracts[aligned.truth.row[near.truth]]
    starts = aligned.truth.starts, aligned.predictions.starts
    entries = Entries(near.truth, near.prediction, near.measure, *starts, aligned.names_from(0))
    chosen = assignment.heaviest(entries, counts=distracting)
    kept = np.ones(len(predictions.objects), bool)
    kept[aligned.predictions.row[near.prediction[chosen & distracting]]] = False
    return predictions.objects.filter(kept)


def _matching(aligned: Aligned) -> Pairs:
    """The pairs of boxes that overlap enough to match."""
    return Rule("iou").near_pairs(aligned, LEAST_SIMILARITY)
