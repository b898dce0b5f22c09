"""Which format a file or a folder has, told by what is in it.

Of a table the ending of its name tells, of everything else the content: the keys of a document of JSON, the first
element of one of XML, the columns of a CSV, the fields of the first lines of label files. A file that tells nothing is
of no known format; its reader would say what is wrong with it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..support import InputError, documents, reading

# What is looked at of a file of text.
OPENING = 1 << 16

# How the challenge's JSON, COCO's annotations and its results begin.
PLAINLY = re.compile(
    rb"""(\xef\xbb\xbf)?\s*
    (\[\s*\{[^{}]*"(sequence_id|image_id)" | \{\s*"(info|licenses|images|annotations|categories)"\s*:)""",
    re.VERBOSE,
)

# The most lines and files that are looked at.
MOST_LINES, MOST_FILES = 100, 100

TABLES = (".parquet", ".arrow", ".feather")

# Text files that tell nothing else may be sequences of MOTChallenge, of a truth or of a tracker.
FLAT = "flat motchallenge"

# The first element of a document of XML, after its declaration and comments.
FIRST_ELEMENT = re.compile(rb"<([A-Za-z_][\w.-]*)")

# Keys that a document of JSON, an object, has in each format: all of them.
OF_OBJECTS: Mapping[str, Sequence[set[str]]] = {
    "coco": [{"images", "categories"}, {"images", "annotations"}],
    "via": [{"_via_img_metadata"}, {"project", "metadata", "attribute"}],
    "fiftyone": [{"samples"}, {"classes", "labels"}, {"name", "media_type", "sample_fields"}],
    "bdd100k": [{"frames"}],
}

# Keys that the first entry of a list has.
OF_ENTRIES: Mapping[str, Sequence[set[str]]] = {
    "spotgeo": [{"sequence_id"}, {"object_coords"}],
    "coco results": [{"image_id", "category_id"}],
    "label_studio": [{"data", "annotations"}, {"data", "predictions"}, {"annotation_id", "annotator"}],
    "bdd100k": [{"name", "labels"}, {"name", "videoName"}, {"name", "attributes"}, {"name", "frameIndex"}],
}

# The names of UAVDT's files, without their ending.
UAVDT_NAME = re.compile(r"(?P<sequence>.+)_gt(?P<part>|_whole|_ignore)")

# What lines at the head of DOTA's labels begin with, and how its files of results are called, a class each.
DOTA_HEADS, DOTA_RESULTS = ("imagesource", "gsd"), "Task1_"

# What lines of MOTS have before the mask, and its classes.
MOTS_FIELDS, MOTS_CLASSES = ("frame", "id", "class", "height", "width"), (1, 2, 10)

# How many numbers four corners are.
CORNERS = 8

# Columns of a CSV.
OPEN_IMAGES, OF_VIA = {"imageid", "labelname", "xmin", "ymax"}, {"region_shape_attributes", "region_attributes"}


def format_of(path: Path) -> str | None:
    """The name of the format of a file or folder: a key of READERS in `any_file`, or None where nothing tells.

    Raises InputError if there is no such file, or it cannot be read.
    """
    with reading.readable(path):
        if path.is_dir():
            return _of_folder(path)
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder")
        return _of_file(path)


def is_plainly_told(path: Path) -> bool:
    """Whether the first characters of a file, plain or packed as .gz, are those of the challenge's JSON or of COCO's.

    The commands read these by their names, so a large file need not be looked through.
    """
    if path.suffix.lower() not in (".json", ".gz") or not path.is_file():
        return False
    try:
        return PLAINLY.match(_opening(path) or b"") is not None
    except (InputError, OSError, EOFError, ValueError, zlib.error):
        return False


def _of_file(path: Path) -> str | None:
    """The format of a file."""
    name = path.name.lower()
    if name.endswith(TABLES):
        return "table"
    if name.endswith(".zip") and len(packed := reading.archive_names(path)) != 1:
        return _of_archive(path, packed)
    content = _opening(path)
    if content is None or content.removeprefix(documents.BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"["):
        content = reading.read_bytes(path)
    return _of_content(content, name.removesuffix(".gz").removesuffix(".zip"), path)


def _opening(path: Path) -> bytes | None:
    """The first characters of a file, plain or packed as .gz; None of an archive."""
    import gzip

    reading.check_regular(path)
    match path.suffix.lower():
        case ".zip":
            return None
        case ".gz":
            with gzip.open(path) as packed:
                return packed.read(OPENING)
        case _:
            with path.open("rb") as stream:
                return stream.read(OPENING)


def _of_content(content: bytes, name: str, path: Path) -> str | None:
    """The format of what a file called `name` holds."""
    opening = content[:OPENING].removeprefix(documents.BYTE_ORDER_MARK).lstrip()
    if opening[:1] in (b"{", b"["):
        return of_json(content)
    if opening[:1] == b"<" or content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _of_xml(content)
    if name.endswith(".csv") or (b"," in opening.partition(b"\n")[0] and _of_header(opening) != "table"):
        return _of_header(opening)
    return of_lines(opening, path.name)


def of_json(content: bytes) -> str | None:
    """The format of a document of JSON; None where it is damaged or of none that is known."""
    content = content.removeprefix(documents.BYTE_ORDER_MARK)
    try:
        with documents.collector_paused():
            document = msgspec.json.decode(content, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
            if isinstance(document, dict):
                return _of_keys(document)
            first = msgspec.json.decode(document[0], type=dict[str, msgspec.Raw]) if document else {}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return next((name for name, sets in OF_ENTRIES.items() if any(keys <= {*first} for keys in sets)), None)


def _of_keys(document: Mapping[str, Any]) -> str | None:
    """The format of an object of JSON; in one of VIA, each key names an image that has regions."""
    found = next((name for name, sets in OF_OBJECTS.items() if any(keys <= {*document} for keys in sets)), None)
    if found is None and document:
        try:
            entry = msgspec.json.decode(next(iter(document.values())), type=dict[str, msgspec.Raw])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        return "via" if {"filename", "regions"} <= {*entry} else None
    return found


def _of_xml(content: bytes) -> str | None:
    """The format of a document of XML."""
    opening = content[:OPENING].replace(b"\0", b"")
    found = FIRST_ELEMENT.search(re.sub(rb"(?s)<!--.*?-->|<\?.*?\?>", b"", opening))
    return {b"annotations": "cvat", b"annotation": "voc"}.get(found[1]) if found else None


def _of_header(opening: bytes) -> str:
    """The format of a CSV."""
    line = opening.partition(b"\n")[0].decode("utf-8", "replace").lower()
    names = {name.strip(' "\r') for name in line.split(",")}
    return "open_images" if names >= OPEN_IMAGES else "via" if names >= OF_VIA else "table"


def of_lines(opening: bytes, name: str) -> str | None:
    """The format of a file of label lines; `name` is the file's."""
    texts = [*_lines(opening)]
    if not texts:
        return None
    if UAVDT_NAME.fullmatch(Path(name).stem) and all(line.rstrip(",\r ").count(",") == 8 for line in texts):
        return "uavdt"
    if all(_is_of_visdrone(line.strip().rstrip(",").split(",")) for line in texts):
        return "visdrone"
    lines = [line.split() for line in texts]
    if all(map(_is_of_kitti, lines)):
        return "kitti"
    if all(map(_is_of_dota, lines)) or (Path(name).name.startswith(DOTA_RESULTS) and all(map(_is_result, lines))):
        return "dota"
    if all(map(_is_of_mots, lines)):
        return "mots"
    if all(map(_is_of_turned_yolo, lines)):
        return "turned yolo"
    return "yolo" if all(5 <= len(fields) <= 7 and "," not in fields[0] for fields in lines) else None


def _is_of_kitti(fields: Sequence[str]) -> bool:
    """Whether a line is one of KITTI: the type, which is text, and numbers."""
    place = {15: 0, 16: 0, 17: 2, 18: 2}.get(len(fields))
    if place is None or _numbers(fields[place : place + 1]) is not None:
        return False
    return _numbers([*fields[:place], *fields[place + 1 :]]) is not None


def _is_of_dota(fields: Sequence[str]) -> bool:
    """Whether a line is a label of DOTA, four corners and then text, or tells of the image."""
    if fields[0].lower().startswith(DOTA_HEADS):
        return True
    is_label = len(fields) in (CORNERS + 1, CORNERS + 2) and _numbers(fields[CORNERS : CORNERS + 1]) is None
    return is_label and _numbers([*fields[:CORNERS], *fields[CORNERS + 1 :]]) is not None


def _is_result(fields: Sequence[str]) -> bool:
    """Whether a line is a result for DOTA: an image, which may be a number, score and four corners."""
    return len(fields) == CORNERS + 2 and _numbers(fields[1:]) is not None


def _is_of_mots(fields: Sequence[str]) -> bool:
    """Whether a line is one of MOTS: frame, id, class, height and width as whole numbers, and a mask as run lengths."""
    if len(fields) != len(MOTS_FIELDS) + 1 or not all(field.isdecimal() for field in fields[:-1]):
        return False
    known = dict(zip(MOTS_FIELDS, map(int, fields), strict=False))
    is_mask = all("0" <= letter <= "o" for letter in fields[-1])
    return is_mask and known["class"] in MOTS_CLASSES and min(known["height"], known["width"]) > 1


def _is_of_turned_yolo(fields: Sequence[str]) -> bool:
    """Whether a line is one of YOLO for turned boxes: a class and four corners, then up to two numbers."""
    numbers = _numbers(fields)
    return numbers is not None and CORNERS < len(numbers) <= CORNERS + 3


def _is_of_visdrone(fields: Sequence[str]) -> bool:
    """Whether a line is one of VisDrone; category, truncation and occlusion of other formats are hardly like these."""
    numbers = _numbers(fields)
    if numbers is None or len(numbers) not in (8, 10):
        return False
    category, truncation, occlusion = numbers[-3:]
    return category in range(12) and truncation in (-1, 0, 1) and occlusion in (-1, 0, 1, 2)


def _numbers(fields: Sequence[str]) -> list[float] | None:
    """Fields as numbers; None where one is none."""
    try:
        return [float(field) for field in fields]
    except ValueError:
        return None


def _lines(opening: bytes) -> Iterator[str]:
    """The first lines that are not blank, but for one that may be cut."""
    whole = opening if len(opening) < OPENING else opening[: opening.rfind(b"\n") + 1]
    lines = [line for line in whole.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    yield from lines[:MOST_LINES]


def _of_archive(path: Path, names: Sequence[str]) -> str | None:
    """The format of an archive of several files."""
    if any(name.rpartition("/")[2] == "annotations.xml" for name in names):
        return "cvat"
    for ending in (".xml", ".txt", ".json"):
        inside = [name for name in names if name.endswith(ending)]
        if inside:
            contents = reading.read_archive(path, ending)
            found = (_of_content(contents[name], name, Path(name)) for name in sorted(inside)[:MOST_FILES])
            told = next((one for one in found if one is not None), None)
            return told or (FLAT if ending == ".txt" else None)
    return None


def _of_folder(folder: Path) -> str | None:
    """The format of a folder by what is in it or in a folder right below it, the first that tells."""
    below = [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith((".", "_"))]
    found = (_of_entries(path) for path in (folder, *below))
    told = [one for one in found if one is not None]
    return next((one for one in told if one != FLAT), next(iter(told), None))


def _of_entries(folder: Path) -> str | None:
    """The format of a folder, by what is right in it."""
    entries = sorted(folder.iterdir())
    names = {entry.name for entry in entries}
    if {"samples.json", "metadata.json"} <= names:
        return "fiftyone"
    if any(name.endswith(".parquet") or "=" in name for name in names):
        return "table"
    truths = [entry / "gt" / "gt.txt" for entry in entries if (entry / "gt").is_dir()]
    if truths:
        return "mots" if truths[0].is_file() and _of_opening(truths[0]) == "mots" else "motchallenge"
    for ending in (".xml", ".txt", ".json"):
        files = [entry for entry in entries if entry.name.lower().endswith(ending) and entry.is_file()]
        told = next((one for file in files[:MOST_FILES] if (one := _of_opening(file)) is not None), None)
        if files and (told is not None or ending == ".txt"):
            return told or FLAT
    return None


def _of_opening(path: Path) -> str | None:
    """The format of a file of a folder, of which only the opening is read unless it is JSON."""
    if path.suffix.lower() == ".json":
        found = of_json(reading.read_bytes(path))
        return "posetrack" if found == "coco" else found
    return _of_content(_opening(path) or b"", path.name.lower(), path)
