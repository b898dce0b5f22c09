"""Writes boxes in the forms that other tools need back: COCO's results, KITTI's and YOLO's label files.

Numbers are written as short as they can be to be read back as they are.
A form that cannot tell what a table has, such as a crowd in YOLO's lines, is refused and not written without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from ..support import InputError, addresses, check_none, documents, is_file_name, pandas_tables, reading, writing
from ..tables import Annotations, Table, as_annotations, messages, number_checks, schema
from .class_names import Names, class_names
from .coco import Category, category_names
from .documents import Id
from .kitti import DONT_CARE, UNKNOWN
from .writable import marks, unmarkable, untold, without_identities
from .yolo import SIZE_COLUMNS, checked_size, sizes_of
from .yolo_files import NAMES_FILE, Sizes

# The digits of a frame in the name of a file, as pictures of videos mostly have them.
N_DIGITS = 6


class _Image(msgspec.Struct):
    id: Id
    file_name: str | None = None


class _Truth(msgspec.Struct):
    images: list[_Image]
    categories: list[Category]


def write_coco_results(
    predictions: Annotations | Table,
    path: str | Path,
    truth_path: str | Path | None = None,
    *,
    categories: Mapping[str, int] | None = None,
) -> None:
    """Writes boxes with scores as COCO's results, which pycocotools and evaluation servers take.

    Parameters
    ----------
    predictions
        Boxes with `score` and `category`, a sequence an image.
    path
        The file, packed where its name ends in .gz or .zip.
    truth_path
        COCO's annotations of the same images. Categories get the ids that they have there, and a sequence is an image
        by its id, or by its file's name with or without the ending. Without it, sequences have to be the images' ids.
    categories
        The id of each category by its name, where there is no `truth_path`.

    Raises
    ------
    InputError: the table is not right or has no boxes, scores or categories, it has joints, crowds or ignored boxes, a
        sequence has several frames, a category or an image is not known, or nothing can be written there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> _, found = sf.read_coco("data/coco/annotations.json", "data/coco/precise.json", boxes=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.json"
    >>> sf.write_coco_results(found, path, "data/coco/annotations.json")
    >>> again = sf.read_coco("data/coco/annotations.json", path, boxes=True)[1]
    >>> len(again.objects) == len(found.objects)
    True
    """
    objects, _ = _boxes(predictions, "COCO's results")
    number_checks.check_scores(objects, "annotations", "write_coco_results")
    _check_one_frame(objects, "an image of COCO")
    check_none(unmarkable(objects, "which COCO's results cannot tell; leave them out"))
    if truth_path is not None and categories is not None:
        raise InputError("write_coco_results: truth_path tells the categories; leave out categories")
    sequences = objects["sequence"].tolist()
    ids: Sequence[Any] = sequences
    if truth_path is not None:
        truth = _truth(truth_path)
        ids = _image_ids(sequences, truth.images)
        names = category_names(truth.categories)
        categories = {name: one for one, name in names.items()}
    if categories is None or "category" not in objects:
        what = "categories" if "category" in objects else "the column category"
        raise InputError(f"write_coco_results: {what} is missing; give truth_path=, or categories= with their ids")
    numbers = _category_ids(categories)
    check_none(_unknown(objects["category"].tolist(), numbers, "category"))
    rows = zip(
        ids,
        [numbers[one] for one in objects["category"].tolist()],
        objects[schema.BOX].to_numpy().tolist(),
        objects["score"].astype(np.float64).tolist(),
        strict=True,
    )
    results = [dict(zip(("image_id", "category_id", "bbox", "score"), row, strict=True)) for row in rows]
    writing.write_bytes(Path(path), msgspec.json.encode(results))


def _truth(path: str | Path) -> _Truth:
    """The images and categories of COCO's annotations."""
    with addresses.local_copy(path) as copy:
        return documents.decode(reading.read_bytes(copy.path), _Truth, str(copy.path))


def _category_ids(categories: Any) -> dict[Any, int]:
    """The ids of categories as integers of Python, which JSON takes; raises InputError where they are none."""
    place = "write_coco_results: categories"
    if not isinstance(categories, Mapping):
        raise InputError(f"{place} is of type {type(categories).__name__}; a dict from names to ids is needed")
    for name, one in categories.items():
        if isinstance(one, bool) or not isinstance(one, Integral) or abs(int(one)) > schema.LARGEST_EXACT_INTEGER:
            raise InputError(f"{place}: {name!r:.30}: {one!r:.30}: a whole number is needed, the id of the category")
    return {name: int(one) for name, one in categories.items()}


def _image_ids(sequences: Sequence[Any], images: Sequence[_Image]) -> list[Any]:
    """The id of the image of each sequence, which may be that id, or the name of the image's file.

    Raises InputError where some are not known, or where sequences are other images by their ids than by their names.
    """
    by_id = {str(image.id): image.id for image in images}
    named = {image.file_name: image.id for image in images if image.file_name}
    stems = {PurePosixPath(name).with_suffix("").as_posix(): one for name, one in named.items() if name.strip("/. ")}
    given = dict.fromkeys(sequences)
    known = [by_id] if all(isinstance(one, int) for one in given) else [by_id, stems | named]
    found = [{one: ids[str(one)] for one in given} for ids in known if all(str(one) in ids for one in given)]
    if not found:
        check_none(_unknown([*map(str, sequences)], {**known[-1], **by_id}, "image"))
        raise InputError("annotations: some sequences are ids of images and others names of files; make them the same")
    other = next((one for one in given if len({ids[one] for ids in found}) > 1), None)
    if other is not None:
        what = "is the id of one image and the file's name of another; name sequences by the file with its ending"
        raise InputError(f"annotations: sequence {other!r} {what}")
    return [found[0][one] for one in sequences]


def _unknown(values: Sequence[Any], known: Mapping[Any, Any], noun: str) -> list[str]:
    """The problem of values that are not known."""
    missing = [one for one in dict.fromkeys(values) if one not in known]
    there = messages.first_listed(known)
    return [f"annotations: {noun} {messages.first_listed(missing)} is not known; there are {there}"] if missing else []


def _boxes(annotations: Annotations | Table, form: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """The checked objects and frames; raises InputError unless these are whole boxes."""
    objects, frames, *_ = as_annotations(annotations, "annotations")
    problems = [
        f"annotations: column {column} is missing; boxes are needed" for column in "wh" if column not in objects
    ]
    problems += [f"annotations: column joint: {form} have whole objects only here"] if "joint" in objects else []
    check_none(problems)
    return objects, frames


def _check_one_frame(objects: pd.DataFrame, what: str) -> None:
    """Raises InputError where a sequence has several frames."""
    frames = objects.drop_duplicates(schema.FRAME_KEY).groupby("sequence", observed=True).size()
    several = frames.index[frames > 1].tolist()
    if several:
        raise InputError(f"annotations: sequence {several[0]} has several frames, and {what} has one")


def _texts(objects: pd.DataFrame, column: str) -> list[str | None]:
    """A column as text, None where it is null."""
    values = objects[column].tolist()
    return [None if pd.isna(value) else str(value) for value in values]


def _named_frames(
    objects: pd.DataFrame, frames: pd.DataFrame | None, videos: bool
) -> tuple[list[tuple[str, int]], np.ndarray]:
    """The sequences and frames that have a file or a place in one, sorted, and the position of each row's."""
    of_rows = objects[schema.FRAME_KEY].astype({"sequence": pandas_tables.TEXT})
    listed = [] if frames is None else [frames[schema.FRAME_KEY].astype({"sequence": pandas_tables.TEXT})]
    known = pd.concat([of_rows, *listed]).drop_duplicates().sort_values(schema.FRAME_KEY)
    index = pd.MultiIndex.from_frame(known)
    keys: list[tuple[str, int]] = index.to_list()
    problems = ["annotations: there are no frames"] if not keys else []
    problems += [
        f"annotations: sequence {sequence!r} cannot be a file's name"
        for sequence in dict.fromkeys(sequence for sequence, _ in keys)
        if not all(map(is_file_name, sequence.split("/")))
    ]
    if videos and any(frame < 0 for _, frame in keys):
        problems.append("annotations: frames count from 0 or 1; some are negative")
    check_none(problems)
    if not videos:
        _check_one_frame(known, "a file of labels of an image")
    return keys, index.get_indexer(pd.MultiIndex.from_frame(of_rows))


def write_kitti(annotations: Annotations | Table, folder: str | Path, tracking: bool = False) -> None:
    """Writes boxes as KITTI's label files, which `read_kitti` and the benchmark's evaluation read.

    Parameters
    ----------
    annotations
        Boxes with `category`. Columns such as `truncated`, `occluded` and `alpha`, as `read_kitti` gives them, are
        written; columns that are missing get KITTI's values for unknown (-1, -10, -1000). A crowd without a category
        becomes a DontCare region; one with a category is refused, as are ignored objects. Predictions have `score`.
    folder
        The folder, or the .zip if its name ends so.
    tracking
        Whether to write `folder`/SEQUENCE.txt with frames and track ids, instead of a file for each image, called by
        its sequence. Every sequence of the frames table has a file, be it empty.

    Raises
    ------
    InputError: the table is not right or has no boxes, a category is null or has blanks in it, a crowd has a category,
        an object is ignored, track ids are missing or no integers, a sequence has several frames though `tracking` is
        false, or cannot be a file's name, or nothing can be written there.

    Examples
    --------
    >>> import pandas as pd, tempfile
    >>> import spotgeo_frames as sf
    >>> car = {"sequence": ["000007"], "frame": [1], "object": [1], "x": [10.0], "y": [20.0], "w": [30.0], "h": [15.0]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sf.write_kitti(pd.DataFrame(car | {"category": ["Car"], "occluded": [1]}), folder)
    ...     again = sf.read_kitti(folder).objects
    >>> again[["sequence", "x", "y", "w", "h", "category", "occluded"]].to_dict("records")
    [{'sequence': '000007', 'x': 10.0, 'y': 20.0, 'w': 30.0, 'h': 15.0, 'category': 'Car', 'occluded': 1.0}]
    """
    objects, frames = _boxes(annotations, "KITTI's label files")
    keys, position = _named_frames(objects, frames, tracking)
    categories = _kitti_types(objects)
    if tracking:
        check_none(without_identities(objects))
    if tracking and objects["object"].dtype != np.int64:
        raise InputError("annotations: column object is of type str; track ids of KITTI are integers")
    others = [_kitti_values(objects, name, unknown) for name, unknown in UNKNOWN.items()]
    x, y, w, h = objects[schema.BOX].to_numpy().T
    columns: list[Sequence[Any] | np.ndarray] = [categories, *others[:3], x, y, x + w, y + h, *others[3:]]
    if "score" in objects:
        number_checks.check_scores(objects, "annotations", "write_kitti")
        columns.append(objects["score"].to_numpy(np.float64))
    if tracking:
        uncared = np.array([one == DONT_CARE for one in categories], bool)
        identity = np.where(uncared, -1, objects["object"].to_numpy())
        columns = [objects["frame"].to_numpy(), identity, *columns]
    names = [f"{sequence}.txt" for sequence, _ in keys]
    _write_lines(names, position, columns, folder)


def _kitti_types(objects: pd.DataFrame) -> list[str]:
    """The type of each object; of a crowd without a category DontCare."""
    if "category" not in objects:
        raise InputError("annotations: column category is missing; KITTI's label files begin with it")
    is_crowd, is_ignored = marks(objects)
    named = _texts(objects, "category")
    of_category = is_crowd & np.array([name not in (None, DONT_CARE) for name in named], bool)
    what = "a crowd with a category, which KITTI cannot tell; make that null (DontCare), or leave them out"
    problems = untold(objects, of_category, "crowd", what)
    what = "ignored, which KITTI cannot tell; leave them out, or make them crowds without a category"
    check_none(problems + untold(objects, is_ignored, "ignore", what))
    types = [DONT_CARE if name is None and of else name for name, of in zip(named, is_crowd, strict=True)]
    wrong = np.array([name is None or name.split() != [name] for name in types], bool)
    if wrong.any():
        keys = messages.first_keys(objects, wrong, schema.OBJECT_KEY)
        what = f"{messages.counted(int(wrong.sum()), 'row')} null or with blanks, which part KITTI's fields"
        raise InputError(f"annotations: column category: {what}: {keys}")
    return [str(name) for name in types]


def _kitti_values(objects: pd.DataFrame, name: str, unknown: float) -> Sequence[float]:
    """A column of numbers, with KITTI's value for what is not known."""
    if name not in objects:
        return [unknown] * len(objects)
    kind = objects[name].dtype
    if not pd.api.types.is_any_real_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind):
        raise InputError(f"annotations: column {name} is of type {kind}; numbers are needed")
    values = objects[name].to_numpy(np.float64, na_value=np.nan)
    return np.where(np.isfinite(values), values, unknown).tolist()


def _write_lines(
    names: Sequence[str], position: np.ndarray, columns: Sequence[Sequence[Any] | np.ndarray], folder: str | Path
) -> None:
    """Writes a file of each name, with the rows of its positions in their order and blanks between the fields."""
    lines: dict[str, list[str]] = {name: [] for name in names}
    texts = [[_field(value) for value in (of.tolist() if isinstance(of, np.ndarray) else of)] for of in columns]
    order = np.argsort(position, kind="stable").tolist()
    rows = [*zip(*texts, strict=True)]
    for row in order:
        lines[names[position[row]]].append(" ".join(rows[row]))
    contents = {name: "".join(f"{line}\n" for line in of).encode() for name, of in lines.items()}
    writing.write_files(contents, Path(folder))


def _field(value: Any) -> str:
    """A number as short as it can be, without `.0`; text as it is."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def write_yolo(
    annotations: Annotations | Table,
    folder: str | Path,
    names: Names | None = None,
    *,
    image_size: tuple[float, float] | None = None,
    videos: bool = False,
    identities: bool = False,
) -> None:
    """Writes boxes as YOLO's label files, which `read_yolo` and Ultralytics read.

    Parameters
    ----------
    annotations
        Boxes with `category`; predictions have `score`, which follows the box.
    folder
        The folder, or the .zip if its name ends so. Its classes.txt has the names of the classes.
    names
        The names of the classes: a list, a dict from numbers to names, or the path of data.yaml (which needs the extra
        `yolo`) or of a text file with a name a line. By default the categories that occur, in their order; where these
        are whole numbers, they are the numbers of classes, and there is no classes.txt.
    image_size
        The width and height (px) of all images, where the frames table does not tell them by `width` and `height`.
    videos
        Whether to write `folder`/SEQUENCE/000012.txt for frame 12, instead of `folder`/SEQUENCE.txt for an image. Every
        frame of the frames table has a file, be it empty.
    identities
        Whether lines end in the object, as `track` of Ultralytics writes them.

    Raises
    ------
    InputError: the table is not right or has no boxes, the size of an image is not known, a category has no name or is
        null, an object is a crowd or ignored, identities are missing or no integers, a sequence has several frames
        though `videos` is false, or cannot be a file's name, or nothing can be written there.

    Examples
    --------
    >>> import pandas as pd, pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> car = {"sequence": ["a"], "frame": [1], "object": [1], "x": [40.0], "y": [15.0], "w": [20.0], "h": [20.0]}
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> sf.write_yolo(pd.DataFrame(car | {"category": ["car"]}), folder, ["person", "car"], image_size=(100, 50))
    >>> (folder / "a.txt").read_text()
    '1 0.5 0.5 0.2 0.4\\n'
    """
    objects, frames = _boxes(annotations, "YOLO's label files")
    keys, position = _named_frames(objects, frames, videos)
    given = class_names(names, "write_yolo")
    numbered = {} if given else _numbered_classes(objects)
    by_number = given or numbered or _occurring(objects)
    place = "write_yolo: names" if given else "annotations: column category"
    wrong = [name for name in by_number.values() if name.splitlines() != [name] or not name.strip()]
    check_none([f"{place}: {name!r:.40} is no line of text, as the name of a class has to be" for name in wrong[:1]])
    sizes = _sizes(keys, frames, image_size)
    pairs = np.array([size[:2] for size in sizes], np.float64).reshape(-1, 2)[position]
    x, y, w, h = objects[schema.BOX].to_numpy().T
    width, height = pairs.T
    shares = [(x + w / 2) / width, (y + h / 2) / height, w / width, h / height]
    columns: list[Sequence[Any] | np.ndarray] = [_yolo_classes(objects, by_number), *shares]
    if "score" in objects:
        number_checks.check_scores(objects, "annotations", "write_yolo")
        columns.append(objects["score"].to_numpy(np.float64))
    if identities:
        check_none(without_identities(objects))
        if objects["object"].dtype != np.int64 or (objects["object"] < 0).any():
            raise InputError("annotations: column object: integers from 0 on are needed for identities")
        columns.append(objects["object"].to_numpy())
    files = [f"{sequence}/{frame:0{N_DIGITS}}.txt" if videos else f"{sequence}.txt" for sequence, frame in keys]
    if NAMES_FILE in files:
        raise InputError(
            f"annotations: sequence {NAMES_FILE.removesuffix('.txt')!r} would have the name of {NAMES_FILE}"
        )
    _write_lines(files, position, columns, folder)
    if not numbered and [*by_number] == [*range(len(by_number))] and Path(folder).suffix.lower() != ".zip":
        text = "".join(f"{name}\n" for name in by_number.values())
        writing.write_files({NAMES_FILE: text.encode()}, Path(folder))


def _numbered_classes(objects: pd.DataFrame) -> dict[int, str]:
    """The categories by their numbers, where they are numbers; empty where they are text."""
    given = [one for one in objects["category"].unique().tolist() if not pd.isna(one)] if "category" in objects else []
    numbers: list[Any] = [one for one in given if isinstance(one, Real) and not isinstance(one, bool)]
    if not numbers:
        return {}
    wrong = [one for one in given if one not in numbers]
    wrong += [one for one in numbers if one < 0 or one % 1 != 0 or one > schema.LARGEST_EXACT_INTEGER]
    if wrong:
        needed = "text, or whole numbers from 0 on, are needed as classes"
        raise InputError(f"annotations: column category: some are {wrong[0]!r:.40}; {needed}")
    return {int(one): str(one) for one in sorted(numbers)}


def _occurring(objects: pd.DataFrame) -> dict[int, str]:
    """The categories that occur, numbered in their order."""
    if "category" not in objects:
        raise InputError("annotations: column category is missing; YOLO's lines begin with it")
    return dict(enumerate(sorted({name for name in _texts(objects, "category") if name is not None})))


def _yolo_classes(objects: pd.DataFrame, names: Mapping[int, str]) -> list[int]:
    """The number of each object's class."""
    check_none(unmarkable(objects, "which YOLO's lines cannot tell; leave them out"))
    by_name = {name: number for number, name in names.items()}
    named = _texts(objects, "category") if "category" in objects else [None] * len(objects)
    wrong = [name for name in dict.fromkeys(named) if name not in by_name]
    if wrong:
        there = messages.first_listed(by_name)
        raise InputError(f"annotations: category {wrong[0]} has no number; names has {there}")
    return [by_name[str(name)] for name in named]


def _sizes(
    keys: Sequence[tuple[str, int]], frames: pd.DataFrame | None, image_size: tuple[float, float] | None
) -> list[Sizes]:
    """The size of the image of each frame (px)."""
    if image_size is not None:
        return [checked_size(image_size, "write_yolo: image_size")] * len(keys)
    if frames is None or not all(name in frames for name in SIZE_COLUMNS):
        what = "give image_size=(width, height), or a frames table with the columns width and height"
        raise InputError(f"write_yolo: boxes are in shares of their image, whose size is not known; {what}")
    known = sizes_of(frames, None, "write_yolo")
    lacking = [key for key in keys if key not in known]
    if lacking:
        raise InputError(f"annotations: frame {lacking[0][1]} of sequence {lacking[0][0]} is not in the frames table")
    return [known[key] for key in keys]
