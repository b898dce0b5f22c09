"""Annotations from any file or folder that the project reads, whatever its format.

Other installed packages add readers by entry points of the group `spotgeo_frames.readers`. The name of an entry point
is the ending of the files it reads, without the dot and in small letters, and its object a function that takes a path
and returns a table of objects, or Annotations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from ..support import InputError, addresses, check_none, noted_in, packages, reading
from ..tables import (
    Annotations,
    SideColumns,
    annotations_of,
    as_annotations,
    columns_of,
    provenance,
    schema,
    side_columns,
)
from .spotgeo import is_competition_file, spotgeo_columns

if TYPE_CHECKING:
    from ..geometries import Measure

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

# The layouts of folders that have a file for each sequence.
Layout = Literal["motchallenge", "posetrack"]


class Needed(NamedTuple):
    """What is needed of tables besides the columns that play a part in an evaluation.

    `named` are the columns that the caller asks for, by their names in a match table, and `carried` says whether the
    others will be shown or kept. `tidy` are arguments of that function for tables of objects in other words; empty for
    tables that have the names of this package.
    """

    named: Collection[str]
    carried: bool
    tidy: Mapping[str, Any] = MappingProxyType({})


def read_annotations(path: str | Path) -> Annotations:
    """Annotations from the challenge's JSON, CVAT's XML or a table, told apart by the file's name.

    Raises InputError as `read_spotgeo`, `read_cvat` and `read_objects` do.
    """
    return annotations_of(_read_side(path))


def _read_side(
    path: str | Path, frames: str | Path | None = None, side: str = "truth", needed: Needed | None = None
) -> SideColumns:
    """The columns of what `read_annotations` returns; `frames` is the path of a table of their frames."""
    if _is_cvat(path):
        from .cvat import read_cvat

        read = side_columns(read_cvat(path))
    elif is_competition_file(path):
        read = spotgeo_columns(path)
    else:
        read = side_columns(_read_table(path, side, needed))
    return _with_frames(read, frames, needed)


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

    `benchmark` says what a folder of MOTChallenge leaves out; MOT17 by default.
    """
    layout = sequence_layout(truth)
    if layout is None:
        return [annotations_of(side) for side in read_side_columns(truth, submissions, frames, similarity, needed)]
    import pandas as pd

    trackers: Sequence[str | Path | None] = submissions or [None]
    if layout == "posetrack":
        from .posetrack import read_posetrack

        pairs = _all_of([partial(read_posetrack, truth, path) for path in trackers])
    else:
        from .motchallenge import read_motchallenge

        pairs = _all_of([partial(read_motchallenge, truth, path, benchmark or "MOT17") for path in trackers])
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
        return _layout_below(folder) if layout is None and folder.is_dir() else layout


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
        return "motchallenge" if path.suffix.lower() == ".zip" and _packs(path, ".txt") else None
    entries = list(path.iterdir())
    endings = Counter(entry.suffix for entry in entries)
    if endings[".parquet"]:
        return None
    if any((entry / "gt").is_dir() for entry in entries) or endings[".txt"] > endings[".json"]:
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
    """The columns of the truth, then of each submission; with the similarity "iou" or "oks" JSON is COCO's.

    Of wide tables only what is `needed` is read; without it, all. Raises InputError with the problems of all files.
    """
    paths = (truth, *submissions)
    if similarity in ("iou", "oks") and all(is_competition_file(path) and not _is_cvat(path) for path in paths):
        from .coco import coco_sides

        results: list[str | Path | None] = [*submissions] or [None]
        read = _all_of([partial(coco_sides, truth, path, similarity == "iou") for path in results])
        sides = [side_columns(side) for side in (read[0][0], *(predictions for _, predictions in read))]
        return [_with_frames(sides[0], frames, needed), *sides[1 : 1 + len(submissions)]]
    readers = [partial(_read_side, truth, frames, "truth", needed)]
    readers += [partial(_read_side, path, None, "predictions", needed) for path in submissions]
    return _all_of(readers)


def _all_of(readers: Sequence[Callable[[], Read]]) -> list[Read]:
    """What the readers return; raises InputError with the problems of all of them where any fails."""
    read: list[Read] = []
    problems: list[str] = []
    for reader in readers:
        with noted_in(problems):
            read.append(reader())
    check_none(dict.fromkeys(problems))
    return read
