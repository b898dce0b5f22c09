"""PoseTrack folders: poses of tracked people, a JSON file a sequence, in the format of PoseTrack18 and PoseTrack21.

    TRUTH_DIR/SEQUENCE.json        `images` (id, is_labeled, ignore_regions_x and _y: polygons, px), `annotations`
                                   (image_id, track_id, keypoints, bbox_head), `categories`
    PREDICTION_DIR/SEQUENCE.json   the same images; annotations have `scores`, one a joint, instead of bbox_head

Either may be a .zip instead of a folder, or the folder above, such as trackers/NAME for trackers/NAME/sequences.
Keypoints are x, y (px) and a third number for each of seventeen joints. The ears are never annotated, so the reader
drops them. A joint is there where x > 0 and y > 0.

Known differences from the evaluation kits (PoseTrack21's datasets/posetrack.py, poseval's convert.py)

    - Both sides must have the same images, by id. The kits pair images by their place in the file.
    - An identity that is twice in a frame is refused, and so are keypoints that are not 51 numbers. This holds for
      frames that are not labelled, too.
    - Files of predictions for other sequences are refused. The kits do not look at them.
    - Joints beyond the left or top border of the image (x <= 0 or y <= 0) are not there, as in PoseTrack21's kit.
      poseval leaves out a joint only where x, y and the third number are all 0, so it counts such predictions.
    - Joints beyond the right or bottom border count here and in both kits: the files do not tell the image's size.

What the PoseTrack evaluations take out before they compare.

Frames whose `is_labeled` is false are not evaluated. In the other frames, joints of truth and predictions that lie
within an ignore region are taken out, and people who have no joint left are taken out with them. A joint on the border
of a region is not within it.

This follows the PoseTrack21 evaluation kit (datasets/posetrack.py) and poseval (eval_helpers.py).

Known differences

    - poseval never looks at `is_labeled`. It evaluates every frame in which the truth lists somebody. Where a frame is
      annotated but not labelled, poseval counts its poses, and here nobody does, as in PoseTrack21's kit.
    - The kits keep people who have no joints at all where a frame has no ignore region. Here nobody is without joints.
      The difference shows only where all people of a frame, on one side, have no joints: the kits' rules for frames
      with nobody do not apply to that frame there, and they do here.
"""

from collections.abc import Container, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from ..geometries import EARS, JOINTS, RAW_JOINTS
from ..support import (
    Storage,
    addresses,
    arrays,
    check_none,
    documents,
    noted_in,
    pandas_tables,
    reading,
    work,
)
from ..tables import Annotations, TableKind, provenance, schema, table_kinds
from .documents import MOST_PROBLEMS, Integer, integers, matrix, repeated_ids
from .posetrack_regions import Regions, polygon_problems, regions_of, within
from .sequence_files import File, copies_meant, flat_files, folder_below, holds_files, of_sequences

# The size of a head (px) as a share of the diagonal of its box.
HEAD_SHARE = 0.6


class _Image(msgspec.Struct, gc=False):
    id: Integer
    is_labeled: bool | int | None = None
    ignore_regions_x: list[list[float]] = []
    ignore_regions_y: list[list[float]] = []


class _Person(msgspec.Struct, gc=False):
    image_id: Integer
    track_id: Integer
    person_id: Integer | None = None
    keypoints: list[float] | None = None
    scores: list[float] | None = None
    bbox_head: list[float] | None = None


class _Category(msgspec.Struct):
    keypoints: list[str] | None = None


class _Document(msgspec.Struct):
    images: list[_Image]
    annotations: list[_Person]
    categories: list[_Category] = []


class Folders(NamedTuple):
    """All that two folders hold, in the order of sequences, images and people.

    `truth` and `predictions` have one row a joint that is there: `sequence` (its number), `frame` (the image's place in
    the truth's file, from 0), `object`, `joint`, `x`, `y` (px), and `head_size` (px) or `score` (null where there is
    none). `frames` has one row an image: `sequence`, `frame`, `image_id`, `labelled`, and `n_annotated`, how many
    people the truth lists. `names` are those of the sequences.
    """

    truth: pd.DataFrame
    predictions: pd.DataFrame
    frames: pd.DataFrame
    regions: Regions
    names: list[str]


class _People(NamedTuple):
    """The people of a file in the order of its images.

    Of each the image (its place), the identity, the person (who is the same in all sequences, -1 where nothing tells)
    and whether that is told, the joints (N, 15, 2), px, and a number for each joint (N, 15): the size of the head, px,
    or the score.
    """

    image: np.ndarray
    identity: np.ndarray
    person: np.ndarray
    is_told: np.ndarray
    joints: np.ndarray
    number: np.ndarray


def read_folders(truth_dir: Path, prediction_dir: Path | None) -> Folders:
    """Reads truth and predictions of the sequences in a folder of truth; without a folder there are no predictions.

    Raises InputError with every problem, file and place, where a file is missing, is of a sequence that is not known,
    or holds what cannot be used.
    """
    with reading.readable(truth_dir):
        truth_files = flat_files(truth_dir, ".json", "no SEQUENCE.json")
    names = [file.sequence for file in truth_files]
    prediction_files = [None] * len(names) if prediction_dir is None else found_files(prediction_dir, names, truth_dir)
    pairs = list(zip(truth_files, prediction_files, strict=True))
    read: list[tuple[list[_Image], _People, _People]] = []
    problems: list[str] = []
    for files in work.progress(pairs, "reading", "sequence"):
        with noted_in(problems):
            read.append(_sequence(*files))
    check_none(problems)
    images, truth, predictions = zip(*read, strict=True)
    frames, regions = _frames(images, truth)
    tables = _table(truth, "head_size"), _table(predictions, "score")
    return Folders(*tables, frames, regions, names)


def truth_folder(folder: Path) -> Path:
    """A folder of truth itself, or the one right below it that holds the sequences."""
    holds = partial(holds_files, ending=".json")
    return folder if holds(folder) else folder_below(folder, holds) or folder


def sequences_of_truth(folder: Path) -> list[str]:
    """The names of the sequences of a folder of truth."""
    return [file.sequence for file in flat_files(folder, ".json", "no SEQUENCE.json")]


def found_files(folder: Path, sequences: Sequence[str], truth_dir: Path) -> list[File]:
    """The predictions' files of the sequences; raises InputError where one is missing or is of another sequence."""
    missing = ".json is missing; a tracker that found nobody there has a file with its images and no annotations"
    with reading.readable(folder):
        files = flat_files(folder, ".json", "no SEQUENCE.json")
        return of_sequences(files, sequences, folder, truth_dir, missing)


def _sequence(truth_file: File, prediction_file: File | None) -> tuple[list[_Image], _People, _People]:
    """The images of a sequence and the people of both sides in them; without a file nobody was predicted."""
    problems: list[str] = []
    parsed = []
    files = [file for file in (truth_file, prediction_file) if file is not None]
    for file in files:
        with noted_in(problems):
            parsed.append(documents.decode(file.read(), _Document, file.name))
    check_none(problems)
    truth, predictions = parsed if prediction_file else (*parsed, _Document(parsed[0].images, []))
    problems += image_problems(truth.images, truth_file.name)
    problems += repeated_ids([image.id for image in truth.images], f"{truth_file.name}: images")
    if prediction_file is not None:
        problems += repeated_ids([image.id for image in predictions.images], f"{prediction_file.name}: images")
        problems += surplus_images(predictions.images, truth.images, prediction_file.name)
    place = {image.id: number for number, image in enumerate(truth.images)}
    labelled = {image.id for image in truth.images if image.is_labeled}
    for document, file in zip(parsed, files, strict=True):
        problems += _category_problems(document, file.name)
        problems += _person_problems(document.annotations, file.name, place, labelled, document is truth)
    check_none(problems[:MOST_PROBLEMS])
    return truth.images, _people(truth.annotations, place, True), _people(predictions.annotations, place, False)


def image_problems(images: Sequence[Any], name: str) -> list[str]:
    """What is wrong with the images of a truth."""
    problems = []
    for number, image in enumerate(images):
        place = f"{name}: images[{number}]"
        if image.is_labeled is None:
            problems.append(f"{place}: is_labeled is missing")
        problems += polygon_problems(image.ignore_regions_x, image.ignore_regions_y, place)
    return problems


def surplus_images(images: Sequence[Any], of_truth: Sequence[Any], name: str) -> list[str]:
    """Where the images of predictions are not the truth's."""
    wanted, listed = {image.id for image in of_truth}, {image.id for image in images}
    problems = [
        f"{name}: images[{number}].id: the truth has no image {image.id}"
        for number, image in enumerate(images)
        if image.id not in wanted
    ]
    missing = [image.id for image in of_truth if image.id not in listed]
    if missing:
        shown = ", ".join(map(str, missing[:3])) + (", ..." if len(missing) > 3 else "")
        problems.append(f"{name}: images: {len(missing)} of the truth's {len(of_truth)} missing: {shown}")
    return problems


def _category_problems(document: _Document, name: str) -> list[str]:
    """Joints of other names, or in another order, would be taken for one another."""
    return [
        f"{name}: categories[{number}].keypoints: are not PoseTrack's seventeen: {', '.join(RAW_JOINTS)}"
        for number, category in enumerate(document.categories)
        if category.keypoints is not None and category.keypoints != RAW_JOINTS
    ]


def identity_problems(people: Sequence[Any], name: str, images: Container[int]) -> dict[int, list[str]]:
    """Where annotations are of an image that is not known, or name an identity twice in one: by the annotation."""
    problems, first = dict[int, list[str]](), dict[tuple[int, int], int]()
    for number, person in enumerate(people):
        image = person.image_id
        if image not in images:
            problems[number] = [f"{name}: annotations[{number}].image_id: there is no image {image}"]
        if first.setdefault((image, person.track_id), number) != number:
            what = f"{person.track_id} is in image {image} already, at annotations[{first[image, person.track_id]}]"
            problems.setdefault(number, []).append(f"{name}: annotations[{number}].track_id: {what}")
    return problems


def _person_problems(
    people: Sequence[_Person], name: str, images: Container[int], labelled: Container[int], is_truth: bool
) -> list[str]:
    """What is wrong with the annotations of a file."""
    problems, of_identities = [], identity_problems(people, name, images)
    for number, person in enumerate(people):
        problems += of_identities.get(number, [])
        image, keypoints, head, scores = person.image_id, person.keypoints, person.bbox_head, person.scores
        if keypoints is None:
            if image in labelled:
                problems.append(f"{name}: annotations[{number}]: keypoints is missing")
        elif max(map(abs, keypoints), default=0.0) > schema.LARGEST_COORDINATE:
            what = f"{max(keypoints, key=abs)} is too large for pixels"
            problems.append(f"{name}: annotations[{number}].keypoints: {what}")
        elif len(keypoints) != 3 * len(RAW_JOINTS):
            what = f"{len(keypoints)} numbers; 51 are needed: x, y and a third for each of seventeen joints"
            problems.append(f"{name}: annotations[{number}].keypoints: {what}")
        if head is not None and max(map(abs, head), default=0.0) > schema.LARGEST_COORDINATE:
            problems.append(f"{name}: annotations[{number}].bbox_head: {max(head, key=abs)} is too large for pixels")
        if is_truth and (head is None or len(head) != 4) and image in labelled:
            what = "is missing" if head is None else f"{len(head)} numbers; 4 are needed"
            problems.append(f"{name}: annotations[{number}].bbox_head: {what}: left, top, width, height of the head")
        if scores and len(scores) != len(RAW_JOINTS):
            problems.append(f"{name}: annotations[{number}].scores: {len(scores)} numbers; 17 are needed, one a joint")
    return problems


def _people(people: Sequence[_Person], place: dict[int, int], is_truth: bool) -> _People:
    """The people of a file whose problems have been looked for."""
    n_raw = len(RAW_JOINTS)
    nowhere, nothing = [0.0] * (3 * n_raw), [np.nan] * n_raw
    keypoints = matrix([person.keypoints or nowhere for person in people], 3 * n_raw).reshape(-1, n_raw, 3)
    if is_truth:
        left, top, width, height = matrix([_head(person) for person in people], 4).T
        # From corner to corner, as the kits compute it, and in their order of operations.
        size = HEAD_SHARE * np.sqrt(((left + width) - left) ** 2 + ((top + height) - top) ** 2)
        number = np.repeat(size[:, None], len(JOINTS), axis=1)
    else:
        number = np.delete(matrix([person.scores or nothing for person in people], n_raw), EARS, axis=1)
    image = integers(place[person.image_id] for person in people)
    order = np.argsort(image, kind="stable")
    identity = integers(person.track_id for person in people)
    told = np.array([person.person_id is not None for person in people], bool)
    persons = integers(-1 if person.person_id is None else person.person_id for person in people)
    joints = np.delete(keypoints[..., :2], EARS, axis=1)
    columns = image, identity, persons, told, joints, number
    return _People(*(column[order] for column in columns))


def _head(person: _Person) -> list[float]:
    head = person.bbox_head
    return head if head is not None and len(head) == 4 else [np.nan] * 4


def _frames(images: Sequence[Sequence[_Image]], truth: Sequence[_People]) -> tuple[pd.DataFrame, Regions]:
    """The frames of all sequences, and the polygons in them."""
    counts = [len(some) for some in images]
    flat = list(chain.from_iterable(images))
    frames = pd.DataFrame(
        {
            "sequence": np.repeat(np.arange(len(counts)), counts),
            "frame": np.concatenate([np.arange(count) for count in counts] or [np.zeros(0, np.int64)]),
            "image_id": integers(image.id for image in flat),
            "labelled": np.array([image.is_labeled for image in flat], bool),
            "n_annotated": np.concatenate(
                [np.bincount(people.image, minlength=count) for people, count in zip(truth, counts, strict=True)]
            ),
        }
    )
    return frames, regions_of([(image.ignore_regions_x, image.ignore_regions_y) for image in flat])


def _table(parts: Sequence[_People], number: str) -> pd.DataFrame:
    """One row a joint that is there; `number` names the number of each joint."""
    people = _People(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    sequence = np.repeat(np.arange(len(parts)), [len(part.image) for part in parts])
    there = (people.joints > 0).all(axis=2)
    person, joint = np.nonzero(there)
    persons = people.person if people.is_told.all() else pd.arrays.IntegerArray(people.person, ~people.is_told)
    return pd.DataFrame(
        {
            "sequence": sequence[person],
            "frame": people.image[person],
            "object": people.identity[person],
            "joint": pd.Series(JOINTS, dtype=pandas_tables.TEXT).array.take(joint),
            "x": people.joints[..., 0][there],
            "y": people.joints[..., 1][there],
            number: people.number[there],
            **({"person_id": persons[person]} if people.is_told.any() else {}),
        },
        copy=False,
    )


def read_posetrack(
    truth_dir: str | Path,
    prediction_dir: str | Path | None,
    boxes: bool = False,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> tuple[Annotations, Annotations]:
    """Truth and predictions of all sequences of a folder of truth, as they are evaluated: people's joints, or boxes.

    Parameters
    ----------
    truth_dir, prediction_dir
        Folders, or .zip archives, of SEQUENCE.json in the format of PoseTrack18 and PoseTrack21, or the folder right
        above, such as trackers/NAME for trackers/NAME/sequences. Without a `prediction_dir`, None, there are no
        predictions.
    boxes
        Reads the boxes of people in place of their joints, for PoseTrack21's task of tracking by boxes. The folders may
        then also be those of this task: `truth_dir`/SEQUENCE/gt/gt.txt with SEQUENCE/image_info.json, and
        `prediction_dir`/SEQUENCE.txt. Predictions that have no truth and lie in a region to be ignored (an IoU of more
        than 0.1 with it) are taken out, as the PoseTrack21 kit does, in frames in which there is a truth.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of addresses, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations of truth and of predictions, one row a joint: `sequence` (string), `frame` (the image's place in its
    file, from 0), `object` (the identity), `joint` (its name), `x`, `y` (px), and the truth's `head_size` (px: 0.6
    times the diagonal of the head's box) or the predictions' `score`, null where there is none. Where anybody of a side
    has one, `person_id` says who is the same in all sequences. The truth's frames are those that are labelled, with
    `image_id` and `n_annotated`: how many people the truth lists there before any are taken out.

    With `boxes`, one row a box: `x`, `y`, `w`, `h` (px, from the left top corner) in place of the joint's columns, for
    `track`. The truth's frames are all of image_info.json, counted from 1, and predictions have a `score`. Of
    SEQUENCE.json they are the images that are labelled or have a labelled person, with `image_id`.

    Raises
    ------
    InputError: a file is missing, is of a sequence that the truth does not have, or holds what cannot be used. Every
        problem is listed with its file and place.
    ImportError: the files have regions to ignore, and the extra `posetrack` is not installed.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth, predictions = sf.read_posetrack("data/poses/truth", "data/poses/tracker")
    >>> sorted(set(truth.objects.columns) - set(predictions.objects.columns))
    ['head_size']
    >>> people, found = sf.read_posetrack("data/poses/truth", "data/poses/tracker", boxes=True)
    >>> list(found.objects)
    ['sequence', 'frame', 'object', 'x', 'y', 'w', 'h']
    """
    kind = table_kinds.check_kind(table)
    given = [folder for folder in (truth_dir, prediction_dir) if folder is not None]
    with addresses.local_copies(given, Storage(storage_options, filesystem)) as above:
        if boxes:
            from .posetrack_boxes import read_boxes  # stands on this module, and on matching

            return table_kinds.as_kind(read_boxes(above), kind)
        copies = copies_meant(above, truth_folder, sequences_of_truth, ".json")
        states = [provenance.copy_state(copy, provenance.POSETRACK_FILES) for copy in copies]
        folders = read_folders(copies[0].path, copies[1].path if len(copies) > 1 else None)
    labelled = folders.frames["labelled"].to_numpy()
    keys = arrays.frame_keys([folders.frames, folders.truth, folders.predictions])
    sequences = pd.Series(folders.names, dtype=pandas_tables.TEXT).array
    sides = []
    for joints, key in zip((folders.truth, folders.predictions), keys[1:], strict=True):
        row = arrays.locate(keys[0], key)
        x, y = (joints[axis].to_numpy() for axis in ("x", "y"))
        kept = labelled[row] & ~within(x, y, row, folders.regions)
        sides.append(joints if kept.all() else joints[kept].reset_index(drop=True))
    frames = folders.frames[labelled].drop(columns="labelled").reset_index(drop=True)
    for rows in (*sides, frames):
        rows["sequence"] = sequences.take(rows["sequence"].to_numpy())
    n_rows = len(folders.truth), len(folders.predictions)
    for side, copy, state, rows in zip(sides, copies, states, n_rows, strict=False):
        provenance.note_source(side, copy.name, state, rows)
    return table_kinds.as_kind((Annotations(sides[0], frames), Annotations(sides[1])), kind)
