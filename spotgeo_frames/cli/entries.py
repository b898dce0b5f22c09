"""What the files and folders of the working folder are, told by their names and a few kilobytes of each.

What `spotgeo-frames` alone says has to be there at once, whatever lies in the folder, so only some dozens of entries
are looked at. A damaged file counts as none that can be evaluated; the commands say what is wrong with it.
"""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

# The most names that are listed of a folder, the most entries that are looked into, and the most bytes of each.
MOST_NAMES = 2000
MOST_ENTRIES = 48
MOST_BYTES = 8192

# The most bytes of the footer of a file of Parquet, whose schema comes first.
MOST_OF_FOOTER = 8 * MOST_BYTES

# The most folders that are looked into within a folder.
MOST_FOLDERS = 8

# How people name truths and predictions, as whole words: "playground" and "relabelled" tell nothing.
EXACT = frozenset(["truth", "gt", "groundtruth"])
OF_TRUTH = EXACT | {"truths", "gts", "anno", "annos", "annot", "annots", "annotation", "annotations", "label", "labels"}
OF_TRUTH |= {"reference", "references"}
OF_PREDICTIONS = frozenset(["pred", "preds", "predicted", "prediction", "predictions", "result", "results"])
OF_PREDICTIONS |= {"det", "dets", "dt", "detection", "detections", "detector", "output", "outputs"}
OF_PREDICTIONS |= {"submission", "submissions", "tracker", "trackers"}

# The folders in which kits of tracks and poses put the files of a tracker.
WITHIN = ("data", "sequences")

# A column in the schema of Parquet: its type, whether it may be null, the mark of a name, and the length of that.
PARQUET_COLUMN = re.compile(rb"\x15[\x00-\x0e]\x25[\x00\x02]\x18(.)", re.DOTALL)

# What a table of objects has and a table of frames has not, if only in other words.
OF_OBJECTS = frozenset(["object", "score", "category", "x", "y", "cx", "cy", "ra", "dec", "xmin", "x1", "left", "lon"])
OF_OBJECTS |= {"bbox", "box", "mask", "segmentation"}

# What a folder that `--out` or `save` wrote has.
SAVED = "spotgeo_frames.json"


class Entry(NamedTuple):
    """A file or folder that can be evaluated: its name, its kind, its side if known, whether it may be of tracks."""

    name: str
    kind: str
    side: str = ""
    may_be_tracks: bool = False


def entries_of(folder: str) -> tuple[list[Entry], bool]:
    """What can be evaluated among the entries of a folder that are not hidden; and whether some were not looked at.

    Those with the name of a truth are looked at first.
    """
    found: list[Entry] = []
    with suppress(OSError), os.scandir(folder) as scanned:
        names = [entry.name for entry in islice(scanned, MOST_NAMES + 1)]
        plain = sorted(filter(_is_plain, names[:MOST_NAMES]), key=lambda name: (side_said(name) != "truth", name))
        likely = [name for name in plain if _ending(name) or os.path.isdir(os.path.join(folder, name))]
        for name in likely[:MOST_ENTRIES]:
            with suppress(OSError):
                path = Path(folder, name)
                found += _of_folder(path) if path.is_dir() else _of_file(path)
        return found, len(likely) > MOST_ENTRIES or len(names) > MOST_NAMES
    return found, False


def words_of(name: str) -> frozenset[str]:
    """The words and numbers of a name without its ending, in small letters; each capital may begin a word."""
    stem = re.sub(r"(\.(json|parquet|csv))?(\.gz)?$", "", name, flags=re.IGNORECASE)
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", stem)
    return frozenset(re.findall(r"[^\W\d_]+|\d+", apart.lower()))


def side_said(name: str) -> str:
    """The side that a name says, truth or predictions: that of the file, else of its folder; empty if neither does."""
    for part in reversed(name.split(os.sep)):
        words = words_of(part)
        of_truth, of_predictions = bool(words & OF_TRUTH), bool(words & OF_PREDICTIONS)
        if of_truth or of_predictions:
            return "" if of_truth and of_predictions else "truth" if of_truth else "predictions"
    return ""


def _is_plain(name: str) -> bool:
    """Whether a name is not hidden, and can be pasted as it is shown."""
    return not name.startswith(".") and name.isprintable()


def _ending(name: str) -> str:
    """What the ending of a name says of a file; empty where it says that nothing here reads it."""
    ending = name.lower().removesuffix(".gz").rpartition(".")[2]
    return ending if ending in ("json", "parquet", "csv") else ""


def _of_file(path: Path) -> Iterator[Entry]:
    """A file of objects or frames, by its first bytes, or of Parquet by its footer."""
    ending = _ending(path.name)
    if ending == "json":
        yield from _of_json(path)
    elif ending == "parquet" and path.is_file():  # a pipe would never end
        yield from _of_columns(path, _parquet_columns(path))
    elif ending == "csv":
        header = _bytes(path).decode("utf-8-sig", errors="replace").partition("\n")[0]
        yield from _of_columns(path, [name.strip().strip('"') for name in header.split(",")])


def _of_json(path: Path) -> Iterator[Entry]:
    """JSON of the challenge or of COCO, whose results are a list with scores."""
    start = _bytes(path)
    if b'"sequence_id"' in start and b'"object_coords"' in start:
        yield Entry(path.name, "spotgeo")
    elif start.lstrip()[:1] == b"[" and b'"image_id"' in start and b'"score"' in start:
        of = next((of for of in ("keypoints", "segmentation", "bbox") if f'"{of}"'.encode() in start), "bbox")
        kinds = {"keypoints": "coco keypoints", "segmentation": "coco masks", "bbox": "coco"}
        yield Entry(path.name, kinds[of], "predictions")
    elif b'"images"' in start or (b'"annotations"' in start and b'"image_id"' in start):
        is_posed = b'"keypoints"' in start or b'"keypoints"' in _bytes(path, from_end=True)
        yield Entry(path.name, "coco keypoints" if is_posed else "coco", "truth")


def _of_columns(path: Path, columns: Collection[str]) -> Iterator[Entry]:
    """A table of objects or of frames, by its columns."""
    if {"sequence", "frame"}.issubset(columns):
        kind = _geometry(frozenset(columns))
        if kind:
            # Detections have scores, and their objects are seldom the same from frame to frame.
            yield Entry(path.name, kind, may_be_tracks="object" in columns and "score" not in columns)
        elif OF_OBJECTS.isdisjoint(columns):
            yield Entry(path.name, "frames")


def _geometry(columns: frozenset[str]) -> str:
    """What the rows of a table with these columns are; empty where they are no objects, or some in other words."""
    needed = {
        "joints": {"x", "y", "joint"},
        "oriented boxes": {"cx", "cy", "w", "h", "angle"},
        "boxes": {"x", "y", "w", "h"},
        "masks": {"mask", "mask_h", "mask_w"},
        "points in space": {"x", "y", "z"},
        "points with places in the sky": {"x", "y", "ra", "dec"},
        "points": {"x", "y"},
        "boxes by corners": {"xmin", "ymin", "xmax", "ymax"},
        "sky": {"ra", "dec"},
    }
    return next((kind for kind, names in needed.items() if names <= columns), "")


def _of_folder(path: Path) -> Iterator[Entry]:
    """A folder with a file for each sequence, or what is in it: such folders, and predictions if its name says so."""
    names = _names_in(path)
    if SAVED in names:
        return
    found = _of_sequences(path)
    if found is not None:
        yield found._replace(name=path.name)
        return
    for name in names[:MOST_FOLDERS]:
        inner = path / name
        if side_said(path.name) == "predictions":
            yield from (file._replace(name=os.path.join(path.name, name)) for file in _of_file(inner))
        found = _of_sequences(inner)
        if found is not None:
            yield found._replace(name=os.path.join(path.name, name))


def _names_in(folder: Path) -> list[str]:
    """The first names in a folder; none where it is no folder, or cannot be read."""
    with suppress(OSError), os.scandir(folder) as scanned:
        return sorted(entry.name for entry in islice(scanned, MOST_ENTRIES) if _is_plain(entry.name))
    return []


def _of_sequences(folder: Path) -> Entry | None:
    """What a folder is that has files of sequences, itself or in the folder where kits put them."""
    inside = (_of_files(within, _names_in(within)) for within in (folder, *(folder / name for name in WITHIN)))
    return next((found for found in inside if found is not None), None)


def _of_files(folder: Path, names: Sequence[str]) -> Entry | None:
    """What a folder is that has SEQUENCE/gt/gt.txt, SEQUENCE.txt or SEQUENCE.json; its first such file tells it."""
    for name in names:
        inside = folder / name
        if (inside / "gt" / "gt.txt").is_file():
            return Entry("", "motchallenge", "truth")
        if name.endswith(".txt"):
            is_line = re.match(rb"\s*\d+\s*,\s*-?\d+(\.\d*)?\s*,", _bytes(inside)) is not None
            return Entry("", "motchallenge") if is_line else None
        if name.endswith(".json"):
            start = _bytes(inside)
            is_posed = b'"images"' in start and (b'"is_labeled"' in start or b'"frame_id"' in start)
            return Entry("", "posetrack") if is_posed else None
    return None


def _parquet_columns(path: Path) -> list[str]:
    """The names of the columns of a file of Parquet, by the schema in its footer; none where it has no footer.

    The schema is read without pyarrow, which takes longer to load than all the rest.
    """
    with path.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        end = file.read(8)
        if end[4:] != b"PAR1":
            return []
        length = int.from_bytes(end[:4], "little")
        file.seek(-8 - length, os.SEEK_END)
        footer = file.read(min(length, MOST_OF_FOOTER))
    return [
        footer[found.end() : found.end() + found[1][0]].decode(errors="replace")
        for found in PARQUET_COLUMN.finditer(footer)
    ]


def _bytes(path: Path, *, from_end: bool = False) -> bytes:
    """The first bytes of a file, or the last ones; of a compressed file the first that it holds, if it is whole."""
    if not path.is_file():  # a pipe would never end
        return b""
    if path.name.endswith(".gz"):
        import gzip
        import zlib

        with suppress(EOFError, zlib.error), gzip.open(path) as packed:
            return packed.read(MOST_BYTES)
        return b""
    with path.open("rb") as file:
        if from_end:
            file.seek(max(path.stat().st_size - 8 * MOST_BYTES, 0))
        return file.read(MOST_BYTES * (8 if from_end else 1))
