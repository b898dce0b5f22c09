"""The boxes of PoseTrack21, for its task of tracking people by their boxes: `read_posetrack(boxes=True)`.

The kit has a layout like MOTChallenge's for this task, and the documents of poses have the same boxes. Both are read.

    TRUTH_DIR/SEQUENCE/gt/gt.txt       a box a line: frame (from 1), identity, left, top, width, height, mark, ...
    TRUTH_DIR/SEQUENCE/image_info.json a list: `frame_index` (from 1), ignore_regions_x and _y (polygons, px)
    PREDICTION_DIR/SEQUENCE.txt        frame, identity, left, top, width, height, score, ...

    TRUTH_DIR/SEQUENCE.json            `images` (id, is_labeled, has_labeled_person, ignore_regions_x and _y),
                                       `annotations` (image_id, track_id, bbox: left, top, width, height)
    PREDICTION_DIR/SEQUENCE.json       the same images, and annotations

Every frame of image_info.json counts. Of documents, those images count that are labelled or have a labelled person.

What is taken out: where a frame has truth, predictions and regions, both sides are matched at an IoU of 0.5 or more
with the greatest sum of IoU. A prediction without a truth leaves if its IoU with a region of the frame is more than
0.1. All boxes of the truth stay.

This follows the PoseTrack21 evaluation kit (datasets/posetrack_mot.py), whose own copy of trackeval then computes HOTA.

Known differences

    - Regions belong to the frame of their `frame_index`; the kit goes by their place in the list.
    - The eighth field of lines, -1 in the truth, is not read; the kit refuses other values there.
    - Tracker files of other sequences are refused. Files called SEQUENCE, without .txt, are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ..matching import Aligned, Entries, Rule, alignment, assignment
from ..support import Copy, check_none, documents, noted_in, reading, work
from ..tables import Annotations, Columns, SideColumns, annotations_of, provenance, schema
from . import motchallenge, posetrack
from .box_tables import size_problem
from .documents import MOST_PROBLEMS, Integer, integers, matrix, repeated_ids
from .posetrack_regions import Regions, overlapping, polygon_problems, regions_of
from .sequence_files import File, copies_meant, flat_files

# A prediction without a truth leaves from this IoU with a region on, which itself is not enough.
LEAST_OF_REGIONS = 0.1

Polygons = tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]]


class _Image(msgspec.Struct, gc=False):
    id: Integer
    is_labeled: bool | int | None = None
    has_labeled_person: bool | int | None = None
    ignore_regions_x: list[list[float]] = []
    ignore_regions_y: list[list[float]] = []

    @property
    def counts(self) -> bool:
        return bool(self.is_labeled or self.has_labeled_person)


class _Person(msgspec.Struct, gc=False):
    image_id: Integer
    track_id: Integer
    bbox: list[float] | None = None


class _Document(msgspec.Struct):
    images: list[_Image]
    annotations: list[_Person]


class _Info(msgspec.Struct, gc=False):
    """A frame of image_info.json; a single polygon may stand there without a list around it."""

    frame_index: Integer
    ignore_regions_x: list[list[float] | float] = []
    ignore_regions_y: list[list[float] | float] = []


class _Boxes(NamedTuple):
    """Both sides of folders, in which `sequence` holds positions among the `names`; and the regions of the frames.

    `n_rows` is how many boxes the files of each side have, those in frames that do not count among them.
    """

    truth: SideColumns
    predictions: SideColumns
    regions: Regions
    names: list[str]
    n_rows: list[int]


def read_boxes(given: Sequence[Copy]) -> tuple[Annotations, Annotations]:
    """The boxes of a folder of truth and, if there is one, of predictions, without what the kit takes out.

    Raises InputError with every problem, file and place, where a file is missing, is of a sequence that is not known,
    or holds what cannot be used.
    """
    with reading.readable(given[0].path):
        of_lines = _has_lines(given[0].path)
    how = motchallenge if of_lines else posetrack
    copies = copies_meant(given, how.truth_folder, how.sequences_of_truth, ".txt" if of_lines else ".json")
    patterns = provenance.MOTCHALLENGE_FILES if of_lines else provenance.POSETRACK_FILES
    states = [provenance.copy_state(copy, patterns) for copy in copies]
    read: Callable[[Path, Path | None], _Boxes] = _of_lines if of_lines else _of_documents
    boxes = read(copies[0].path, copies[1].path if len(copies) > 1 else None)
    kept = boxes.predictions.objects.filter(~_ignored(boxes))
    sides = boxes.truth, boxes.predictions._replace(objects=kept)
    truth, predictions = (annotations_of(motchallenge.named(side, boxes.names)) for side in sides)
    for side, copy, state, rows in zip((truth, predictions), copies, states, boxes.n_rows, strict=False):
        provenance.note_source(side.objects, copy.name, state, rows)
    return truth, predictions


def _has_lines(folder: Path) -> bool:
    """Whether a folder of truth has the layout of MOTChallenge."""
    meant = motchallenge.truth_folder(folder)
    return meant.is_dir() and ((meant / "gt").is_dir() or any(path.is_dir() for path in meant.glob("*/gt")))


def _of_lines(truth_dir: Path, tracker_dir: Path | None) -> _Boxes:
    """What folders in the layout of MOTChallenge hold."""
    infos, problems = dict[str, list[_Info]](), list[str]()
    for name in motchallenge.sequences_of_truth(truth_dir):
        path = truth_dir / name / "image_info.json"
        with noted_in(problems):
            infos[name] = documents.decode(reading.read_bytes(path), list[_Info], str(path))
            problems += _info_problems(infos[name], str(path))
    check_none(problems)
    lengths = {name: len(of_frames) for name, of_frames in infos.items()}
    truth, predictions, names = motchallenge.read_folders(truth_dir, tracker_dir, False, lengths)
    ordered = [info for name in names for info in sorted(infos[name], key=lambda info: info.frame_index)]
    objects = truth.objects.select([name for name in truth.objects if name != "considered"])
    regions = regions_of([_polygons(info) for info in ordered])
    n_rows = [len(objects), len(predictions.objects)]
    return _Boxes(truth._replace(objects=objects), predictions, regions, names, n_rows)


def _info_problems(infos: Sequence[_Info], name: str) -> list[str]:
    """What is wrong with the frames of a sequence."""
    if sorted(info.frame_index for info in infos) != list(range(1, len(infos) + 1)):
        return [f"{name}: frame_index: {len(infos)} frames have to be numbered from 1 to {len(infos)}"]
    return [
        problem
        for number, info in enumerate(infos)
        for problem in polygon_problems(*_polygons(info), f"{name}: [{number}]")
    ]


def _polygons(info: _Info) -> Polygons:
    """The x and the y of each polygon of a frame."""
    x, y = (
        sides if any(isinstance(side, list) for side in sides) else [sides] if sides else []
        for sides in (info.ignore_regions_x, info.ignore_regions_y)
    )
    return x, y  # type: ignore[return-value]


def _of_documents(truth_dir: Path, prediction_dir: Path | None) -> _Boxes:
    """What folders of documents hold."""
    with reading.readable(truth_dir):
        files = flat_files(truth_dir, ".json", "neither SEQUENCE/gt/gt.txt nor SEQUENCE.json")
    names = [file.sequence for file in files]
    others = [None] * len(names) if prediction_dir is None else posetrack.found_files(prediction_dir, names, truth_dir)
    read, problems = list[tuple[_Document, _Document]](), list[str]()
    for pair in work.progress([*zip(files, others, strict=True)], "reading", "sequence"):
        with noted_in(problems):
            read.append(_sequence(*pair))
    check_none(problems)
    images = [truth.images for truth, _ in read]
    counted = [[image for image in of_sequence if image.counts] for of_sequence in images]
    flat = list(chain.from_iterable(counted))
    frames = {
        "sequence": np.repeat(np.arange(len(counted)), [len(of_sequence) for of_sequence in counted]),
        "frame": integers(n for of_sequence in images for n, image in enumerate(of_sequence) if image.counts),
        "image_id": integers(image.id for image in flat),
    }
    regions = regions_of([(image.ignore_regions_x, image.ignore_regions_y) for image in flat])
    truth, predictions = (_objects(images, [pair[side].annotations for pair in read]) for side in (0, 1))
    n_rows = [sum(len(pair[side].annotations) for pair in read) for side in (0, 1)]
    return _Boxes(SideColumns(truth, Columns(frames)), SideColumns(predictions), regions, names, n_rows)


def _sequence(truth_file: File, prediction_file: File | None) -> tuple[_Document, _Document]:
    """The documents of both sides of a sequence, checked; without a file nobody was predicted."""
    files = [file for file in (truth_file, prediction_file) if file is not None]
    problems, parsed = list[str](), list[_Document]()
    for file in files:
        with noted_in(problems):
            parsed.append(documents.decode(file.read(), _Document, file.name))
    check_none(problems)
    truth = parsed[0]
    problems += posetrack.image_problems(truth.images, truth_file.name)
    for document, file in zip(parsed, files, strict=True):
        problems += repeated_ids([image.id for image in document.images], f"{file.name}: images")
    for document, file in zip(parsed[1:], files[1:], strict=True):
        problems += posetrack.surplus_images(document.images, truth.images, file.name)
    counts = {image.id: image.counts for image in truth.images}
    for document, file in zip(parsed, files, strict=True):
        problems += _person_problems(document.annotations, file.name, counts)
    check_none(problems[:MOST_PROBLEMS])
    return truth, [*parsed, _Document([], [])][1]


def _person_problems(people: Sequence[_Person], name: str, counts: Mapping[int, bool]) -> list[str]:
    """What is wrong with the annotations of a file; `counts` says of each image whether it counts."""
    problems, of_identities = list[str](), posetrack.identity_problems(people, name, counts)
    for number, person in enumerate(people):
        problems += of_identities.get(number, [])
        if not counts.get(person.image_id):
            continue
        box, place = person.bbox, f"{name}: annotations[{number}].bbox"
        if box is None or len(box) != 4:
            what = "is missing" if box is None else f"{len(box)} numbers; 4 are needed"
            problems.append(f"{place}: {what}: left, top, width, height")
        elif max(map(abs, box)) > schema.LARGEST_COORDINATE:
            problems.append(f"{place}: {max(box, key=abs)} is too large for pixels")
        elif min(box[2:]) < 0:
            problems.append(f"{place}: {size_problem(box)}")
    return problems


def _objects(images: Sequence[Sequence[_Image]], people: Sequence[Sequence[_Person]]) -> Columns:
    """The boxes of the images that count, in the order of sequences and images."""
    keys, boxes = list[tuple[int, int, int]](), list[list[float]]()
    for number, (of_sequence, of_people) in enumerate(zip(images, people, strict=True)):
        place = {image.id: frame for frame, image in enumerate(of_sequence) if image.counts}
        kept = [(place[person.image_id], person) for person in of_people if person.image_id in place]
        for frame, person in sorted(kept, key=lambda of: of[0]):  # stable
            keys.append((number, frame, person.track_id))
            boxes.append(person.bbox or [])
    named = {name: integers(key[position] for key in keys) for position, name in enumerate(schema.OBJECT_KEY)}
    return Columns({**named, **dict(zip(schema.BOX, matrix(boxes, 4, "F").T, strict=True))})


def _ignored(boxes: _Boxes) -> np.ndarray:
    """Marks the predictions that have no truth, and overlap with a region of a frame in which there is a truth."""
    truth, predictions = boxes.truth, boxes.predictions
    gone = np.zeros(len(predictions.objects), bool)
    if not (boxes.regions.frame and len(gone) and len(truth.objects)):
        return gone
    columns = [*schema.FRAME_KEY, *schema.BOX]
    truths, claims = (side.objects.select(columns) for side in (truth, predictions))
    aligned = alignment.align(SideColumns(truths, truth.frames), SideColumns(claims))
    frames = np.zeros(len(aligned.frames), bool)
    frames[boxes.regions.frame] = True
    has_truth = np.zeros(len(frames), bool)
    has_truth[aligned.truth.frame] = True
    frames &= has_truth
    some = alignment.select_rows(aligned, frames[aligned.truth.frame], frames[aligned.predictions.frame])
    left = alignment.select_rows(some, np.ones(len(some.truth.frame), bool), ~_matched(some)).predictions
    corners = np.column_stack([left.table[name] for name in schema.BOX])
    gone[left.row[overlapping(corners, left.frame, boxes.regions, LEAST_OF_REGIONS)]] = True
    return gone


def _matched(aligned: Aligned) -> np.ndarray:
    """Marks the predictions that the best assignment matches with a truth."""
    near = Rule("iou").near_pairs(aligned, motchallenge.LEAST_SIMILARITY)
    starts = aligned.truth.starts, aligned.predictions.starts
    entries = Entries(near.truth, near.prediction, near.measure, *starts, aligned.names_from(0))
    matched = np.zeros(len(aligned.predictions.frame), bool)
    matched[near.prediction[assignment.heaviest(entries)]] = True
    return matched
