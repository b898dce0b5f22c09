"""`read_benchmark()`: the truth and a tracker's output as the benchmark evaluates them.

Known differences from trackeval 1.3.0 (datasets/kitti_2d_box.py, kitti_mots.py, mots_challenge.py, bdd100k.py)

    - Files of a tracker that are of no sequence are refused; trackeval does not look at them.
    - Without a seqmap, KITTI's sequences are the truth's files, and each ends with the last row of either side;
      trackeval needs a seqmap.
    - KITTI's negative track ids are refused but for DontCare; trackeval leaves such lines out. "Person_sitting" is a
      distractor as "Person" is; trackeval stops at it.
    - An id of KITTI or BDD100K that stands for objects of two classes in a frame is refused.
    - Frames of BDD100K are those of the same index; trackeval takes both sides' frames in their order. `crowd` may be
      missing from attributes, where trackeval stops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from ..support import Copy, Storage, addresses, check_none, reading
from ..tables import Annotations, TableKind, dataframe_of, provenance, table_kinds
from .bdd100k import labels_of
from .benchmark_rules import as_evaluated
from .benchmarks import BENCHMARKS
from .box_tables import category_column, checked, listed_files
from .kitti import LABEL_FOLDERS as KITTI_FOLDERS
from .kitti import SEQMAP, frames_of_spans, kitti_tracks, listed_spans
from .motchallenge import lengths_of, read_motchallenge, tracker_rows, truth_files, truth_folder
from .mots import LABEL_FOLDERS as MOTS_FOLDERS
from .mots import mots_tracks
from .posetrack import read_posetrack
from .sequence_files import File, folder_of_tracker, label_folder, of_sequences
from .visdrone import uavdt_files, uavdt_tracks, visdrone_tracks


class _Side(NamedTuple):
    """The files of one side, the names of its sequences, and their frames where something tells them."""

    files: list[File]
    folder: Path
    names: list[str]
    spans: Mapping[str, range] = MappingProxyType({})


class _Format(NamedTuple):
    """A format of files: their ending, what finds those of a truth, and what reads those of the truth or a tracker.

    `first_frame` is that of sequences whose frames nothing tells.
    """

    ending: str
    patterns: tuple[str, ...]
    truth: Callable[[Path], _Side]
    read: Callable[[Sequence[File], str], Annotations]
    read_tracker: Callable[[Sequence[File], str], Annotations]
    first_frame: int = 0


def read_benchmark(
    truth: str | Path,
    tracker: str | Path | None,
    benchmark: str,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> tuple[Annotations, Annotations]:
    """Truth and a tracker's output as a benchmark evaluates them: without what its kit takes out.

    `track(truth, predictions, by="category")` then gives the kit's numbers of each class and the averages of classes.

    Parameters
    ----------
    truth, tracker
        What the benchmark has: folders, or .zip archives, with a file for each sequence. A tracker needs a file for
        each sequence of the truth, empty (of BDD100K: with empty frames) where it found nothing. Either may be the
        folder right above. Without a `tracker`, None, there are no predictions. Paths, or addresses such as
        s3://bucket/truth.

        - "KITTI": label_02 with SEQUENCE.txt, or the folder above it with evaluate_tracking.seqmap.*, or one such
          seqmap. The sequences that seqmaps list are evaluated, or otherwise all files.
        - "KITTI-MOTS": instances_txt or label_02 with SEQUENCE.txt, or the folder above it with
          evaluate_mots.seqmap.*, or one such seqmap.
        - "MOTS": SEQUENCE/gt/gt.txt with SEQUENCE/seqinfo.ini, or SEQUENCE.txt.
        - "BDD100K": SEQUENCE.json. "VisDrone": SEQUENCE.txt, such as annotations; videos end with the last row of
          either side.
        - "UAVDT": GT with SEQUENCE_gt_whole.txt or SEQUENCE_gt.txt, and SEQUENCE_gt_ignore.txt; a tracker's files are
          SEQUENCE.txt in MOTChallenge's form. Videos end with the last row of either side.
        - Those of MOTChallenge: as `read_motchallenge` takes them; "PoseTrack21" as `read_posetrack` takes boxes.
    benchmark
        "KITTI", "KITTI-MOTS", "MOTS", "BDD100K", "VisDrone", "UAVDT", "MOT15", "MOT16", "MOT17", "MOT20", "DanceTrack",
        "SportsMOT" or "PoseTrack21".
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of addresses, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations of truth and of predictions, with the columns of `read_kitti`, `read_mots`, `read_bdd100k` or
    `read_visdrone` but for `crowd` and `ignore`, in pixels. `category` is a class that the benchmark evaluates. The
    truth's `categories` are all classes, so that `track` averages also those that no file has, with `parent` (HUMAN,
    VEHICLE, BIKE) for BDD100K.
    What is taken out:

    - "KITTI" evaluates cars and pedestrians. Vans (for cars), sitting persons (for pedestrians) and objects that are
      truncated or occluded by more than 2 are ignored, and so is a prediction that takes one. Predictions without a
      truth leave if they are at most 25 px high, or if more than half of their area lies in a DontCare region.
    - "KITTI-MOTS" evaluates cars and pedestrians, "MOTS" pedestrians. Predictions without a truth leave if more than
      half of their area lies in regions in which nothing was labelled.
    - "BDD100K" evaluates eight classes. Crowds and other persons, trailers and other vehicles are regions: predictions
      without a truth leave if more than half of their area lies in one. `ignored` plays no part.
    - "VisDrone" evaluates five classes (pedestrian, car, van, truck, bus). Whatever lies at least half in ignored
      regions and others leaves, on both sides. Scores of the truth play no part.
    - "UAVDT" evaluates vehicles of all kinds together. Whatever lies at least half in ignored regions leaves, on both
      sides.

    Raises
    ------
    InputError: a file is missing, is of no sequence of the truth or holds what cannot be used, a class is none that the
        benchmark knows, masks of a side overlap, or predictions lie outside of the frames.
    ValueError: no such benchmark, or no such kind of table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> car, van = "10 20 60 70 1 1 1 1 1 1 1", "200 20 260 70 1 1 1 1 1 1 1"
    >>> lines = {"label_02": f"0 1 Car 0 0 -1 {car}\\n0 2 Van 0 0 -1 {van}\\n",
    ...          "data": f"0 7 Car 0 0 -1 {car} 0.9\\n0 8 Car 0 0 -1 {van} 0.8\\n"}
    >>> for folder, text in lines.items():
    ...     (root / folder).mkdir()
    ...     _ = (root / folder / "0000.txt").write_text(text)
    >>> truth, predictions = sf.read_benchmark(root / "label_02", root / "data", "KITTI")
    >>> truth.objects["category"].tolist(), predictions.objects["object"].tolist()
    (['car'], [7])
    """
    if benchmark not in BENCHMARKS:
        raise ValueError(f"benchmark is {benchmark!r}; one of {', '.join(BENCHMARKS)} is needed")
    rules, kind = BENCHMARKS[benchmark], table_kinds.check_kind(table)
    given: dict[str, Any] = {"table": table, "storage_options": storage_options, "filesystem": filesystem}
    if rules.files == "motchallenge":
        return read_motchallenge(truth, tracker, benchmark, **given)
    if rules.files == "posetrack":
        return read_posetrack(truth, tracker, boxes=True, **given)
    paths = [path for path in (truth, tracker) if path is not None]
    with addresses.local_copies(paths, Storage(storage_options, filesystem)) as copies:
        form = FORMATS[rules.files]
        sides = _files(copies, form)
        states = [
            provenance.copy_state(copy._replace(path=side.folder), form.patterns)
            for copy, side in zip(copies, sides, strict=True)
        ]
        readers = [form.read, form.read_tracker][: len(sides)]
        read = [of(side.files, copy.name) for of, copy, side in zip(readers, copies, sides, strict=True)]
    for side, copy in zip(read, copies, strict=True):
        provenance.name_source(side.objects, copy.name)
    known = _with_frames(read, sides[0], form.first_frame, copies[0].name)
    found = read[1] if tracker is not None else known._replace(objects=known.objects.iloc[:0])
    n_rows = [len(side.objects) for side in read]
    evaluated = as_evaluated(known, found, benchmark, rules)
    for side, copy, state, rows in zip(evaluated, copies, states, n_rows, strict=False):
        provenance.note_source(side.objects, copy.name, state, rows)
    return table_kinds.as_kind(evaluated, kind)


def _files(copies: Sequence[Copy], form: _Format) -> list[_Side]:
    """The files of the truth, and then of the tracker if there is one, in the order of the truth's sequences."""
    check_none([f"{copy.name}: there is no such file or folder" for copy in copies if not copy.path.exists()])
    with reading.readable(copies[0].path):
        sides = [form.truth(copies[0].path)]
    names = sides[0].names
    for copy in copies[1:]:
        with reading.readable(copy.path):
            folder = folder_of_tracker(copy.path, form.ending, names)
            files = listed_files(folder, form.ending, "a tracker has a file for each sequence")
        missing = f"{form.ending} is missing; a tracker that found nothing there has one without objects"
        sides.append(_Side(of_sequences(files, names, folder, copies[0].path, missing), folder, names))
    return sides


def _names(files: Sequence[File]) -> list[str]:
    """The names of the sequences of which each has a file."""
    return [file.sequence for file in files]


def _vehicles(files: Sequence[File], name: str) -> Annotations:
    """The truth of UAVDT, whose tracks are of no kind; its regions are of none, too."""
    truth = uavdt_tracks(files, name)
    kinds = [None if is_region else "vehicle" for is_region in truth.objects["crowd"]]
    return truth._replace(objects=truth.objects.assign(category=category_column(kinds)))


def _found_vehicles(files: Sequence[File], name: str) -> Annotations:
    """A tracker's output in MOTChallenge's form, of vehicles."""
    objects = dataframe_of(tracker_rows(files).objects)
    return checked(objects.assign(category=category_column(["vehicle"] * len(objects))), None, name)


def _files_of_kitti(path: Path, seqmaps: str, names: Sequence[str], last_counts: bool = False) -> _Side:
    """The files of truth in the layout of KITTI: those that a seqmap lists, if there is one.

    `seqmaps` is the pattern of their names, and `names` are those of the folders of labels. `last_counts` says whether
    a sequence ends with the number that the seqmap gives.
    """
    is_seqmap = path.is_file() and ".seqmap" in path.name
    above = path.parent if is_seqmap else path
    folder = label_folder(above, ".txt", names)
    files = listed_files(folder, ".txt", "there is a label file for each video")
    spans = listed_spans([path] if is_seqmap else sorted(above.glob(seqmaps)), last_counts)
    if spans:
        of_names = {file.sequence: file for file in files}
        spans = {name if name in of_names else name.zfill(4): span for name, span in spans.items()}
        check_none(
            [f"{folder}: {name}.txt is missing, which the seqmap lists" for name in spans if name not in of_names]
        )
        files = [of_names[name] for name in sorted(spans)]
    return _Side(files, folder, _names(files), spans)


def _files_of_mots(path: Path) -> _Side:
    """The files of truth in the layout of MOTChallenge."""
    folder = truth_folder(path)
    files = truth_files(folder)
    lengths = lengths_of(folder, files)
    return _Side(files, folder, _names(files), {name: range(1, length + 1) for name, length in lengths.items()})


def _files_of_folder(path: Path, ending: str, wanted: str) -> _Side:
    """The files of a folder, which tell their frames themselves, or of which nothing does."""
    folder = label_folder(path, ending)
    files = listed_files(folder, ending, wanted)
    return _Side(files, folder, _names(files))


def _files_of_uavdt(path: Path) -> _Side:
    """The files of truth of UAVDT, up to three for each video."""
    folder = label_folder(path, ".txt", ["GT"])
    files, names = uavdt_files(folder)
    return _Side(files, folder, names)


def _with_frames(read: Sequence[Annotations], side: _Side, first: int, place: str) -> Annotations:
    """The truth with all frames of its sequences; one of unknown length ends with the last row of either side."""
    truth = read[0]
    if truth.frames is not None:
        return truth
    rows = pd.concat([of.objects[["sequence", "frame"]] for of in read])
    ends = rows.groupby("sequence", observed=True)["frame"].max() + 1
    spans = {name: side.spans.get(name, range(first, int(ends.get(name, first)))) for name in side.names}
    return truth._replace(frames=frames_of_spans(spans, place))


FORMATS = {
    "kitti": _Format(
        ".txt",
        provenance.FLAT_TEXT_FILES,
        partial(_files_of_kitti, seqmaps=SEQMAP, names=KITTI_FOLDERS),
        partial(kitti_tracks, is_truth=True),
        partial(kitti_tracks, is_truth=False),
    ),
    "kitti_mots": _Format(
        ".txt",
        provenance.FLAT_TEXT_FILES,
        partial(_files_of_kitti, seqmaps="evaluate_mots.seqmap*", names=MOTS_FOLDERS, last_counts=True),
        mots_tracks,
        mots_tracks,
    ),
    "mots": _Format(".txt", provenance.MOTCHALLENGE_FILES, _files_of_mots, mots_tracks, mots_tracks, first_frame=1),
    "bdd100k": _Format(
        ".json",
        provenance.JSON_FILES,
        partial(_files_of_folder, ending=".json", wanted="BDD100K has a document for each video"),
        labels_of,
        labels_of,
    ),
    "visdrone": _Format(
        ".txt",
        provenance.FLAT_TEXT_FILES,
        partial(_files_of_folder, ending=".txt", wanted="VisDrone has a label file for each video"),
        partial(visdrone_tracks, is_truth=True),
        partial(visdrone_tracks, is_truth=False),
        first_frame=1,
    ),
    "uavdt": _Format(".txt", provenance.FLAT_TEXT_FILES, _files_of_uavdt, _vehicles, _found_vehicles, first_frame=1),
}
