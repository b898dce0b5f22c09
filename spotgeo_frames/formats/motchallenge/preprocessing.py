"""What the MOT benchmarks take out before they evaluate.

Only pedestrians are evaluated. First, predictions are matched with all boxes of the truth, whatever their class, at an
IoU of 0.5 or more and with the greatest sum of IoU. Predictions that are matched with a distractor (a person on a
vehicle, a static person, a reflection, ...) are taken out, so they count neither for nor against the tracker. Then
boxes of the truth are taken out that are of another class or marked with 0. MOT15 has no classes: only boxes marked
with 0 are taken out. DanceTrack follows MOT17's rule.

This follows trackeval 1.3.0 (datasets/mot_challenge_2d_box.py). There is no known difference in what is taken out.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from ...matching.alignment import Aligned, align, select_rows
from ...matching.assignment import Entries, heaviest
from ...matching.pairs import SIMILAR_AT_ONCE, Pairs, frame_chunks, join_pairs
from ...matching.similar_pairs import similar_pairs
from ...matching.similarity import ROUNDING
from ...support.errors import InputError
from ...tables.annotations import Annotations
from ...tables.inputs import note_source
from ...tables.kinds import TableKind, as_kind, check_kind
from ...tables.schema import BOX, FRAME_KEY
from .lines import CLASSES
from .reader import read_folders

DISTRACTORS = ["person_on_vehicle", "static_person", "distractor", "reflection"]
BENCHMARKS = {
    "MOT15": [],
    "MOT16": DISTRACTORS,
    "MOT17": DISTRACTORS,
    "MOT20": [*DISTRACTORS, "non_mot_vehicle"],
    "DanceTrack": DISTRACTORS,
}

# The IoU from which boxes match.
LEAST_SIMILARITY = 0.5 - ROUNDING


def read_motchallenge(
    truth_dir: str | Path,
    tracker_dir: str | Path,
    benchmark: str = "MOT17",
    preprocess: bool = True,
    *,
    table: TableKind = "pandas",
) -> tuple[Annotations, Annotations]:
    """Truth and predictions of all sequences of a folder of truth.

    Parameters
    ----------
    truth_dir, tracker_dir
        Folders laid out as `truth_dir`/SEQUENCE/gt/gt.txt (with SEQUENCE/seqinfo.ini where the length is known) or
        `truth_dir`/SEQUENCE.txt, and `tracker_dir`/SEQUENCE.txt; the flat layouts also as a .zip archive.
    benchmark
        "MOT15", "MOT16", "MOT17", "MOT20" or "DanceTrack": whether there are classes, and which distract.
    preprocess
        Whether to take out what is not evaluated: predictions that are matched with a distractor, and truth that is of
        another class than pedestrians or marked with 0. Otherwise all rows of the truth are there, with `considered`
        (bool: the mark) and `class_id` (int64).
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".

    Returns
    -------
    Annotations of truth and of predictions: `sequence` (string), `frame`, `object` (int64), `x`, `y`, `w`, `h`
    (pixels), the truth's `visibility` where there is one, the predictions' `score`. The truth's frames are those from
    1 to the length of each sequence. Rows are in the order of frames, and within a frame that of the file.

    Raises
    ------
    InputError: a file is missing, is of a sequence that is not known, or holds lines that cannot be used.
    ValueError: no such benchmark, or no such kind of table.

    Examples
    --------
    >>> truth, predictions = read_motchallenge("data/tracks/truth", "data/tracks/tracker", benchmark="MOT17")
    >>> list(predictions.objects.columns)
    ['sequence', 'frame', 'object', 'x', 'y', 'w', 'h', 'score']
    """
    kind = check_kind(table)
    _check_benchmark(benchmark)
    truth, predictions, names = read_folders(Path(truth_dir), Path(tracker_dir), has_classes=benchmark != "MOT15")
    n_rows = len(truth.objects), len(predictions.objects)
    if preprocess:
        truth, predictions = preprocess_tracks(truth, predictions, benchmark)
    sequences = pd.Series(names, dtype="str").array
    tables = truth.objects, truth.frames, predictions.objects
    for rows in tables:
        if rows is not None:
            rows["sequence"] = sequences.take(rows["sequence"].to_numpy())
    note_source(truth.objects, truth_dir, n_rows[0])
    note_source(predictions.objects, tracker_dir, n_rows[1])
    return as_kind((truth, predictions), kind)


def preprocess_tracks(truth: Annotations, predictions: Annotations, benchmark: str) -> tuple[Annotations, Annotations]:
    """Takes out what `benchmark` does not evaluate.

    `truth.objects` has `considered` (bool: the mark) and, but for MOT15, `class_id` (int64), as
    `read_motchallenge(..., preprocess=False)` gives them; they are not in the answer. Raises ValueError for an unknown
    benchmark, InputError where a column is missing.
    """
    _check_benchmark(benchmark)
    objects = truth.objects
    needed = ["considered"] if benchmark == "MOT15" else ["considered", "class_id"]
    missing = [column for column in needed if column not in objects]
    if missing:
        raise InputError([f"truth: column {column} is missing" for column in missing])
    kept = objects["considered"].to_numpy(bool)
    if benchmark != "MOT15":
        class_id = objects["class_id"].to_numpy()
        kept = kept & (class_id == CLASSES["pedestrian"])
        distracts = np.isin(class_id, [CLASSES[name] for name in BENCHMARKS[benchmark]])
        predictions = predictions._replace(objects=_without_distracted(truth, predictions, distracts))
    columns = [column for column in objects.columns if column not in ("considered", "class_id")]
    return truth._replace(objects=_rows(objects[columns], kept)), predictions


def _without_distracted(truth: Annotations, predictions: Annotations, distracts: np.ndarray) -> pd.DataFrame:
    """The predictions that are not matched with a distractor; only frames where one overlaps with any are matched."""
    columns = [*FRAME_KEY, *BOX]
    truth_boxes, boxes = (side.objects[columns] for side in (truth, predictions))
    aligned = align(Annotations(truth_boxes, truth.frames), Annotations(boxes), "union")
    distracting = distracts[aligned.truth.row]
    frames = np.zeros(len(aligned.frames), bool)
    frames[aligned.truth.frame[distracting]] = True
    some = select_rows(aligned, distracting, frames[aligned.predictions.frame])
    frames[:] = False
    frames[some.truth.frame[_matching(some).truth]] = True
    aligned = select_rows(aligned, frames[aligned.truth.frame], frames[aligned.predictions.frame])
    near = _matching(aligned)
    distracting = distracts[aligned.truth.row[near.truth]]
    starts = aligned.truth.starts, aligned.predictions.starts
    chosen = heaviest(Entries(near.truth, near.prediction, near.measure, *starts), counts=distracting)
    kept = np.ones(len(predictions.objects), bool)
    kept[aligned.predictions.row[near.prediction[chosen & distracting]]] = False
    return _rows(predictions.objects, kept)


def _matching(aligned: Aligned) -> Pairs:
    """The pairs of boxes that overlap enough to match."""
    matching = similar_pairs(aligned, "iou", least=LEAST_SIMILARITY)
    chunks = frame_chunks(aligned.truth, aligned.predictions, SIMILAR_AT_ONCE)
    return join_pairs([matching(*chunk) for chunk in chunks])


def _rows(objects: pd.DataFrame, kept: np.ndarray) -> pd.DataFrame:
    """The marked rows, numbered anew."""
    return objects if kept.all() else objects[kept].reset_index(drop=True)


def _check_benchmark(benchmark: str) -> None:
    if benchmark not in BENCHMARKS:
        raise ValueError(f"benchmark is {benchmark!r}; one of {', '.join(BENCHMARKS)} is needed")
