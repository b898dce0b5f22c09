"""What the MOT benchmarks take out before they evaluate.

Only pedestrians are evaluated. First, predictions are matched with all boxes of the truth, whatever their class, at an
IoU of 0.5 or more and with the greatest sum of IoU. Predictions that are matched with a distractor (a person on a
vehicle, a static person, a reflection, ...) are taken out, so they count neither for nor against the tracker. Then
boxes of the truth are taken out that are of another class or marked with 0. MOT15 has no classes: only boxes marked
with 0 are taken out. DanceTrack follows MOT17's rule.

This follows trackeval 1.3.0 (datasets/mot_challenge_2d_box.py). There is no known difference in what is taken out.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...geometries.boxes import ROUNDING
from ...matching.alignment import Aligned, align, select_rows
from ...matching.assignment import Entries, heaviest
from ...matching.pairs import Pairs
from ...matching.rule import Rule
from ...support.addresses import Storage
from ...support.copies import Copy, local_copies
from ...tables.annotations import Annotations, SideColumns, annotations_of
from ...tables.columns import Columns
from ...tables.inputs import MOTCHALLENGE_FILES, copy_state, name_source, note_source
from ...tables.kinds import TableKind, as_kind, check_kind
from ...tables.schema import BOX, FRAME_KEY
from ..sequence_files import copies_meant
from .benchmarks import BENCHMARKS
from .lines import CLASSES
from .reader import read_folders, sequences_of_truth, truth_folder

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
        "MOT15", "MOT16", "MOT17", "MOT20" or "DanceTrack": whether there are classes, and which distract.
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
    >>> truth, predictions = read_motchallenge("data/tracks/truth", "data/tracks/tracker", benchmark="MOT17")
    >>> list(predictions.objects.columns)
    ['sequence', 'frame', 'object', 'x', 'y', 'w', 'h', 'score']
    """
    kind = check_kind(table)
    folders = [folder for folder in (truth_dir, tracker_dir) if folder is not None]
    with local_copies(folders, Storage(storage_options, filesystem)) as given:
        copies = _meant(given)
        states = [copy_state(copy, MOTCHALLENGE_FILES) for copy in copies]
        *sides, names, n_rows = _numbered(copies, benchmark, preprocess)
    truth, predictions = (annotations_of(_named(side, names)) for side in sides)
    for side, copy, state, rows in zip((truth, predictions), copies, states, n_rows, strict=False):
        note_source(side.objects, copy.name, state, rows)
    return as_kind((truth, predictions), kind)


class Numbered(NamedTuple):
    """What `read_motchallenge` returns, as columns in which `sequence` holds positions in `names`.

    `n_rows` are how many rows the files of the truth and of the predictions have.
    """

    truth: SideColumns
    predictions: SideColumns
    names: list[str]
    n_rows: tuple[int, int]


def read_numbered(
    truth_dir: str | Path, tracker_dir: str | Path | None, benchmark: str = "MOT17", preprocess: bool = True
) -> Numbered:
    """Reads the folders as `read_motchallenge` does, whose arguments these are, and raises what it raises."""
    with local_copies([folder for folder in (truth_dir, tracker_dir) if folder is not None]) as copies:
        return _numbered(_meant(copies), benchmark, preprocess)


def _meant(copies: Sequence[Copy]) -> list[Copy]:
    """The folders of the truth and the tracker, where those above them are given, too."""
    return copies_meant(copies, truth_folder, sequences_of_truth, ".txt")


def _numbered(copies: Sequence[Copy], benchmark: str, preprocess: bool) -> Numbered:
    """What `read_numbered` returns, of the truth's folder and the tracker's if there is one."""
    _check_benchmark(benchmark)
    paths = [copy.path for copy in copies]
    truth, predictions, names = read_folders(paths[0], [*paths, None][1], has_classes=benchmark != "MOT15")
    n_rows = len(truth.objects), len(predictions.objects)
    name_source(truth.objects, copies[0].name)
    name_source(predictions.objects, [*(copy.name for copy in copies), "predictions"][1])
    if preprocess:
        truth, predictions = _preprocessed(truth, predictions, benchmark)
    return Numbered(truth, predictions, names, n_rows)


def _named(side: SideColumns, names: list[str]) -> SideColumns:
    """A side with the names of sequences in place of their positions in `names`."""
    import pandas as pd

    from ...support.pandas_versions import TEXT

    sequences = pd.Series(names, dtype=TEXT).array

    def named(table: Columns) -> Columns:
        return table.assign({"sequence": sequences.take(table["sequence"])})

    return SideColumns(named(side.objects), None if side.frames is None else named(side.frames))


def _preprocessed(truth: SideColumns, predictions: SideColumns, benchmark: str) -> tuple[SideColumns, SideColumns]:
    """Takes out what `benchmark` does not evaluate, and the columns `considered` and `class_id` of the truth."""
    objects = truth.objects
    kept = objects["considered"]
    if benchmark != "MOT15":
        class_id = objects["class_id"]
        kept = kept & (class_id == CLASSES["pedestrian"])
        distracts = np.isin(class_id, [CLASSES[name] for name in BENCHMARKS[benchmark]])
        predictions = predictions._replace(objects=_without_distracted(truth, predictions, distracts))
    columns = [column for column in objects if column not in ("considered", "class_id")]
    return truth._replace(objects=objects.select(columns).filter(kept)), predictions


def _without_distracted(truth: SideColumns, predictions: SideColumns, distracts: np.ndarray) -> Columns:
    """The predictions that are not matched with a distractor; only frames where one overlaps with any are matched."""
    columns = [*FRAME_KEY, *BOX]
    truth_boxes, boxes = (side.objects.select(columns) for side in (truth, predictions))
    aligned = align(SideColumns(truth_boxes, truth.frames), SideColumns(boxes), "union")
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
    entries = Entries(near.truth, near.prediction, near.measure, *starts, aligned.names_from(0))
    chosen = heaviest(entries, counts=distracting)
    kept = np.ones(len(predictions.objects), bool)
    kept[aligned.predictions.row[near.prediction[chosen & distracting]]] = False
    return predictions.objects.filter(kept)


def _matching(aligned: Aligned) -> Pairs:
    """The pairs of boxes that overlap enough to match."""
    return Rule("iou").near_pairs(aligned, LEAST_SIMILARITY)


def _check_benchmark(benchmark: str) -> None:
    if benchmark not in BENCHMARKS:
        raise ValueError(f"benchmark is {benchmark!r}; one of {', '.join(BENCHMARKS)} is needed")
