"""Annotations from any file or folder that the project reads, whatever its format: `read()`, and files of the commands.

Other installed packages add readers by entry points of the group `spotgeo_frames.readers`. The name of an entry point
is the ending of the files it reads, without the dot and in small letters, and its object a function that takes a path
and returns a table of objects, or Annotations.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from ..support import InputError, Storage, addresses, check_none, noted_in, packages, reading
from ..tables import (
    Annotations,
    SideColumns,
    TableKind,
    annotations_of,
    as_annotations,
    columns_of,
    provenance,
    schema,
    side_columns,
    table_kinds,
)
from .spotgeo import is_competition_file, spotgeo_columns

if TYPE_CHECKING:
    from ..geometries import Measure
    from .coco import Content

GROUP = "spotgeo_frames.readers"


def read_by_package(path: str | Path, ending: str) -> Annotations | None:
    """The checked Annotations that a package's reader of this ending makes of a file; None if no package has one.

    Raises InputError, naming the package, if its reader fails or returns anything else.
    """
    added = packages.entry_point(GROUP, ending)
    if added is None:
        return None
    if not callable(added.value):
        raise InputError(f"package {added.package}: {GROUP}: {ending} is no function that takes a path")
    with addresses.local_copy(path) as copy:
        state = provenance.copy_state(copy)
        try:
            read = added.value(copy.path)
        except InputError:
            raise  # it names the file, as those of the readers here
        except (Exception, SystemExit) as error:
            raise packages.package_failure(added.package, f"cannot read {copy.name}", error) from error
    answer = as_annotations(read, f"{copy.name} (read by package {added.package})")
    provenance.note_source(answer.objects, copy.name, state)
    return answer


Read = TypeVar("Read")

# The endings of tables that are read here; a folder may be called anything.
TABLES = ("parquet", "csv", "gz", "arrow", "feather")


class Reader(NamedTuple):
    """What people call a format, and the module and function that read it."""

    words: str
    module: str
    function: str


# The formats that one path tells whole, by the names that `recognition` gives them.
READERS = {
    "spotgeo": Reader("the spotGEO challenge's JSON", "spotgeo", "read_spotgeo"),
    "table": Reader("a table of objects", "objects", "read_objects"),
    "cvat": Reader("CVAT for video", "cvat", "read_cvat"),
    "dota": Reader("DOTA's label files or results", "dota", "read_dota"),
    "kitti": Reader("KITTI's label files", "kitti", "read_kitti"),
    "mots": Reader("MOTS' tracks of masks", "mots", "read_mots"),
    "voc": Reader("Pascal VOC", "voc", "read_voc"),
    "visdrone": Reader("VisDrone's label files", "visdrone", "read_visdrone"),
    "uavdt": Reader("UAVDT's label files", "visdrone", "read_uavdt"),
    "bdd100k": Reader("BDD100K's JSON", "bdd100k", "read_bdd100k"),
    "open_images": Reader("Open Images' CSV", "open_images", "read_open_images"),
    "label_studio": Reader("Label Studio's JSON", "label_studio", "read_label_studio"),
    "via": Reader("VIA's regions", "via", "read_via"),
    "fiftyone": Reader("a FiftyOne dataset", "fiftyone", "read_fiftyone"),
}

# What is read of COCO's files, by the similarity that tells them, or by what is asked for.
OF_COCO: dict[str, Content] = {"iou": "boxes", "oks": "keypoints", "masks": "masks"}

# Formats whose truth and predictions are two paths; the truth is read alone.
OF_TWO = {
    "motchallenge": Reader("a folder of MOTChallenge, pedestrians alone", "motchallenge", "read_motchallenge"),
    "posetrack": Reader("a folder of PoseTrack", "posetrack", "read_posetrack"),
}

# Formats that a path does not tell whole, and what does.
NEEDING_MORE = {
    "coco results": "is a list of COCO's results; read_coco(annotations, results, boxes=True) reads them",
    "flat motchallenge": "has a .txt for each sequence, which may be of a truth or of a tracker; "
    "read_motchallenge(truth, tracker) reads both",
    "yolo": "has YOLO's label files, which tell no sizes; read_yolo(labels, images=... or image_size=...) reads them",
    "turned yolo": "has YOLO's label files of turned boxes, which tell no sizes; "
    "read_yolo(labels, images=... or image_size=..., turned=True) reads them",
}

# Formats that the commands read as they did before they could be told by their content.
READ_BY_NAME = ("spotgeo", "table", "cvat")

# The layouts of folders that have a file for each sequence.
Layout = Literal["motchallenge", "posetrack"]


class Needed(NamedTuple):
    """What is needed of tables besides the columns that play a part in an evaluation.

    `named` are the columns that the caller asks for, by their names in a match table, and `carried` says whether the
    others will be shown or kept. `tidy` are arguments of that function for tables in other words, of which tables of
    frames need two; empty for tables that have the names of this package.
    """

    named: Collection[str]
    carried: bool
    tidy: Mapping[str, Any] = MappingProxyType({})


def read_annotations(path: str | Path) -> Annotations:
    """Annotations from a file or folder, told apart by its content, and tables by their name.

    Raises InputError as the reader of its format does.
    """
    return annotations_of(_read_side(path))


def read(
    path: str | Path,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Objects and frames from a file or folder of any format that can be told by its content; prints which it took.

    Parameters
    ----------
    path
        A file or a folder; a path, or an address such as s3://bucket/labels. It is read as the function of its format
        reads it that is called with nothing else, such as `read_kitti(path)`. Of folders of MOTChallenge and PoseTrack
        it is the truth.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of an address, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations, as the reader of the format returns them: `sequence`, `frame`, `object`, the columns of the geometry
    (px), and whatever else the file tells.

    Raises
    ------
    InputError: the path is none, nothing tells the format, the format needs more than one path (YOLO's labels do not
        tell the sizes of images, COCO's results need the annotations), or the reader cannot accept the file.
    ValueError: no such kind of table.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> sides = sf.read("data/sample/truth.json")
    data/sample/truth.json: read as the spotGEO challenge's JSON (read_spotgeo)
    >>> len(sides.objects)
    627
    """
    kind = table_kinds.check_kind(table)
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"read: path is {path!r:.60}; the path or the address of a file or a folder is needed")
    storage = Storage(storage_options, filesystem)
    with addresses.local_copy(path, storage) as copy:
        found = _format_or_problem(copy.path)
        reader = {**READERS, **OF_TWO}.get(found)
        if reader is None and found != "coco":
            raise InputError(f"{copy.path}: {found}")
    options: dict[str, Any] = {"table": kind, "storage_options": storage_options, "filesystem": filesystem}
    if reader is None:
        reader, annotations = _read_coco(path, storage)
        annotations = table_kinds.as_kind(annotations, kind)
    else:
        function = getattr(import_module(f".{reader.module}", __package__), reader.function)
        annotations = function(path, None, **options)[0] if found in OF_TWO else function(path, **options)
    print(f"{copy.name}: read as {reader.words} ({reader.function})")
    return annotations


def _format_or_problem(path: Path) -> str:
    """The name of the format of a file or folder, or why it cannot be read by `read`."""
    from .recognition import format_of

    found = format_of(path)
    if found is not None:
        return NEEDING_MORE.get(found, found)
    return f"its format cannot be told by its content; {', '.join(sorted(_functions()))} read a format each"


def _functions() -> set[str]:
    """The names of all readers of a format."""
    return {reader.function for reader in (*READERS.values(), *OF_TWO.values())} | {"read_coco", "read_yolo"}


def _read_coco(path: str | Path, storage: Storage) -> tuple[Reader, Annotations]:
    """COCO's annotations: keypoints where objects have them, otherwise boxes."""
    from .coco import coco_sides

    with addresses.local_copy(path, storage) as copy:
        boxes = b'"num_keypoints"' not in reading.read_bytes(copy.path)
    words = "COCO's annotations, boxes" if boxes else "COCO's annotations, keypoints"
    return Reader(words, "coco", "read_coco"), coco_sides(path, None, "boxes" if boxes else "keypoints", storage)[0]


def known_format(path: str | Path) -> str | None:
    """The format of a path that only its content tells, such as KITTI's; None for all that its name tells.

    A path that cannot be looked at is of none; what reads it says what is wrong.
    """
    from .recognition import format_of, is_plainly_told

    if _ending(path) in ("parquet", "arrow", "feather"):
        return None
    try:
        with addresses.local_copy(path) as copy:
            found = None if is_plainly_told(copy.path) else format_of(copy.path)
    except InputError:
        return None
    return found if found in READERS and found not in READ_BY_NAME else None


def _read_side(
    path: str | Path, frames: str | Path | None = None, side: str = "truth", needed: Needed | None = None
) -> SideColumns:
    """The columns of what `read_annotations` returns; `frames` is the path of a table of their frames."""
    read = _reader_of(path)
    if read is None:
        return _with_frames(side_columns(_read_table(path, side, needed)), frames, needed)
    columns = read(path)
    _tell_of_words(path, needed)
    return _with_frames(columns, frames, needed)


def _reader_of(path: str | Path) -> Callable[[str | Path], SideColumns] | None:
    """What reads the columns of a path; None of a table."""
    told = known_format(path)
    if told is not None:
        reader = READERS[told]
        function = getattr(import_module(f".{reader.module}", __package__), reader.function)
        return lambda given: side_columns(function(given))
    if _is_cvat(path):
        from .cvat import read_cvat

        return lambda given: side_columns(read_cvat(given))
    return spotgeo_columns if is_competition_file(path) else None


def is_table(path: str | Path) -> bool:
    """Whether a path is read as a table, whose columns may have other names."""
    return _reader_of(path) is None


def _tell_of_words(path: str | Path, needed: Needed | None) -> None:
    """Says on standard error that a file has no columns that could have other names, where some are given."""
    if needed is not None and needed.tidy:
        print(f"{addresses.shown(path)}: is no table, so --columns plays no part in it", file=sys.stderr)


def _ending(path: str | Path) -> str:
    """What a file's name ends in, in small letters and without the dot."""
    return Path(addresses.base_name(path)).suffix.lower().removeprefix(".")


def _is_cvat(path: str | Path) -> bool:
    """Whether a path names CVAT's XML, or an archive that holds it under the name that CVAT gives it."""
    if _ending(path) != "zip":
        return _ending(path) == "xml"
    with addresses.local_copy(path) as copy:
        return _packs(copy.path, "annotations.xml")


def _read_table(path: str | Path, side: str, needed: Needed | None) -> Annotations:
    """A table of objects; a file of an ending that is not known here is left to the reader of another package."""
    ending = _ending(path)
    if ending and ending not in TABLES:
        read = read_by_package(path, ending)
        if read is not None:
            _tell_of_words(path, needed)
            return read
    from .objects import read_needed

    return Annotations(read_needed(path, side, needed))


def _with_frames(side: SideColumns, path: str | Path | None, needed: Needed | None) -> SideColumns:
    """A side with the table of frames in a file; the side itself where the path is None."""
    if path is None:
        return side
    from .objects import read_needed

    return side._replace(frames=columns_of(read_needed(path, "frames", needed)))


def read_sides(
    truth: str | Path,
    submissions: Sequence[str | Path],
    frames: str | Path | None = None,
    similarity: str | Measure | None = None,
    benchmark: str | None = None,
    needed: Needed | None = None,
) -> list[Annotations]:
    """The truth, then each submission: folders by their layout, and files as `read_side_columns` reads them.

    Where a `benchmark` is given, they are its files, read by its rules; MOT17's are those of folders of MOTChallenge.
    """
    layout = sequence_layout(truth) if benchmark is None else None
    if layout is None and benchmark is None:
        return [annotations_of(side) for side in read_side_columns(truth, submissions, frames, similarity, needed)]
    import pandas as pd

    trackers: Sequence[str | Path | None] = submissions or [None]
    if layout == "posetrack":
        from .posetrack import read_posetrack

        pairs = _all_of([partial(read_posetrack, truth, path) for path in trackers])
    else:
        from .benchmark_files import read_benchmark

        pairs = _all_of([partial(read_benchmark, truth, path, benchmark or "MOT17") for path in trackers])
    # Sequences of unknown length end with the last row of either side, so each submission may know more frames.
    known = pd.concat([side.frames for side, _ in pairs if side.frames is not None], ignore_index=True)
    known = known.drop_duplicates(schema.FRAME_KEY).sort_values(schema.FRAME_KEY, ignore_index=True)
    first = _with_frames(side_columns(pairs[0][0]._replace(frames=known)), frames, None)
    return [annotations_of(first), *(found for _, found in pairs[: len(submissions)])]


def sequence_layout(path: str | Path) -> Layout | None:
    """The layout of a folder that has a file for each sequence, or of a .zip of .txt; None for everything else."""
    with addresses.local_copy(path) as copy, reading.readable(copy.path):
        folder = copy.path
        layout = _layout(folder)
        if layout is not None or not folder.is_dir() or known_format(folder) is not None:
            return layout
        return _layout_below(folder)


def _layout_below(folder: Path) -> Layout | None:
    """The layout of what is right below a folder, which is one level too high then; None for folders of Parquet."""
    entries = sorted(folder.iterdir())
    if any(entry.suffix == ".parquet" or "=" in entry.name for entry in entries):  # hive partitions
        return None
    below = {entry: _layout(entry) for entry in entries if not entry.name.startswith((".", "_"))}
    found = {layout: entry for entry, layout in below.items() if layout is not None}
    if len(found) > 1:
        named = " and ".join(map(str, found.values()))
        raise InputError(f"{folder}: holds no sequences itself, and {named} hold some of different kinds; give one")
    return next(iter(found), None)


def _layout(path: Path) -> Layout | None:
    """The layout of a folder or a file, by what is right in it."""
    if not path.is_dir():
        packs_lines = path.suffix.lower() == ".zip" and _packs(path, ".txt")
        return "motchallenge" if packs_lines and known_format(path) is None else None
    entries = list(path.iterdir())
    endings = Counter(entry.suffix for entry in entries)
    if endings[".parquet"]:
        return None
    if known_format(path) is not None:
        return None
    if any((entry / "gt").is_dir() for entry in entries):
        return "motchallenge"
    if endings[".txt"] > endings[".json"]:
        return "motchallenge"
    return "posetrack" if endings[".json"] else None


def _packs(path: Path, ending: str) -> bool:
    """Whether a file is an archive with a file of this ending, such as .txt, which competition files do not have."""
    return any(name.endswith(ending) for name in reading.archive_names(path))


def read_side_columns(
    truth: str | Path,
    submissions: Sequence[str | Path],
    frames: str | Path | None = None,
    similarity: str | Measure | None = None,
    needed: Needed | None = None,
) -> list[SideColumns]:
    """The columns of the truth, then of each submission; with the similarity "iou", "oks" or "masks" JSON is COCO's.

    Of wide tables only what is `needed` is read; without it, all. Raises InputError with the problems of all files.
    """
    paths = (truth, *submissions)
    content = None if callable(similarity) else OF_COCO.get(str(similarity))
    if content is not None and all(map(_may_be_coco, paths)):
        from .coco import coco_columns

        results: list[str | Path | None] = [*submissions] or [None]
        read = _all_of([partial(coco_columns, truth, path, content) for path in results])
        sides = [read[0][0], *(predictions for _, predictions in read)]
        return [_with_frames(sides[0], frames, needed), *sides[1 : 1 + len(submissions)]]
    readers = [partial(_read_side, truth, frames, "truth", needed)]
    readers += [partial(_read_side, path, None, "predictions", needed) for path in submissions]
    return _all_of(readers)


def _may_be_coco(path: str | Path) -> bool:
    """Whether a path names JSON of no other format than COCO's or the challenge's."""
    return is_competition_file(path) and _reader_of(path) is spotgeo_columns


def _all_of(readers: Sequence[Callable[[], Read]]) -> list[Read]:
    """What the readers return; raises InputError with the problems of all of them where any fails."""
    read: list[Read] = []
    problems: list[str] = []
    for reader in readers:
        with noted_in(problems):
            read.append(reader())
    check_none(dict.fromkeys(problems))
    return read
