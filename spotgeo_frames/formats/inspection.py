"""The slow road into a competition file: every value is looked at, and every problem named with its place.

Places are positions in the file, from 0: `[12].object_coords[3][0]`. Taken only where the fast road gave up, or where
all that is wrong with a submission is wanted.
"""

import json
from typing import Any, NamedTuple

import numpy as np

from ..tables import schema

Range = tuple[float, float]
Pair = tuple[int, int]
Problem = tuple[str, str]

# No file that somebody meant is wrong in more places; one made to do harm could be in ten million.
MOST_PROBLEMS = 100_000

# How the commands read COCO's files.
_AS_COCO = "on the command line, give both files as JSON, and --similarity iou or oks"


class Limits(NamedTuple):
    """What a coordinate and a list of objects may be."""

    x: Range = (-np.inf, np.inf)
    y: Range = (-np.inf, np.inf)
    n_objects: int | None = None


class _NoNumber(NamedTuple):
    """Stands for what the file has in the place of a number: NaN, 1e999, an integer of 30 digits."""

    text: str
    problem: str


class Rounded(float):
    """A whole number that only rounding made of the file's text, as 0 of 1e-400; it will do as a coordinate."""

    text: str


class Inspection(NamedTuple):
    """What the slow road found: the entries that can be used, the place of each (sequence, frame), the problems."""

    entries: list[tuple[int, int, list[list[float]]]]
    places: dict[Pair, str]
    problems: list[Problem]


def inspect(content: bytes, limits: Limits) -> Inspection:
    """The slow road: every value is looked at, and every problem listed with its place."""
    found = Inspection([], {}, [])
    try:
        document = parsed(content)
    except RecursionError:
        return found._replace(problems=[("", "is nested too deeply; a list of frames is needed")])
    except UnicodeDecodeError as error:
        return found._replace(problems=[(f"byte {error.start}", "is not UTF-8 text")])
    except json.JSONDecodeError as error:
        what = "is empty" if not content.strip() else f"is not JSON: {error.msg}"
        return found._replace(problems=[(f"line {error.lineno}, column {error.colno}", what)])
    known = _other_format(document)
    if known is not None:
        return found._replace(problems=[("", known)])
    if not isinstance(document, list):
        return found._replace(problems=[("", f"is {_kind(document)}; a list of frames is needed")])
    for position, entry in enumerate(document):
        place = f"[{position}]"
        if len(found.problems) >= MOST_PROBLEMS:
            found.problems.append((place, "and what follows was not looked at; that is too much wrong already"))
            return found._replace(places={})
        if not isinstance(entry, dict):
            found.problems.append((place, f"is {_kind(entry)}; an object with sequence_id, frame, ... is needed"))
            continue
        numbers = {key: _integer(entry, key, place, found.problems) for key in ("sequence_id", "frame", "num_objects")}
        points = _points(entry, place, limits, found.problems)
        announced, sequence, frame = numbers["num_objects"], numbers["sequence_id"], numbers["frame"]
        if announced is not None and points is not None and announced != len(points):
            what = f"{announced} objects are announced, and object_coords lists {len(points)}"
            found.problems.append((f"{place}.num_objects", what))
        if sequence is None or frame is None:
            continue
        first = found.places.setdefault((sequence, frame), place)
        if first != place:
            found.problems.append((place, f"{pair_text((sequence, frame))} is there already, at {first}"))
        found.entries.append((sequence, frame, points or []))
    return found


def _other_format(document: Any) -> str | None:
    """What a document of another format is, and what reads it; None where it is of no format that we know."""
    if isinstance(document, dict) and {"images", "annotations"} <= document.keys():
        images, annotations = document["images"], document["annotations"]
        if "is_labeled" in _first(images) or "track_id" in _first(annotations):
            return "is a PoseTrack file; read_posetrack reads folders of such files"
        return f"is a COCO file of annotations; read_coco reads it together with results; {_AS_COCO}"
    if {"image_id", "category_id"} <= _first(document).keys():
        return f"is a COCO file of results; read_coco reads it together with the annotations; {_AS_COCO}"
    return None


def _first(entries: Any) -> dict[str, Any]:
    """The first entry of a list of objects; an empty one where there is none."""
    return entries[0] if isinstance(entries, list) and entries and isinstance(entries[0], dict) else {}


def parsed(content: bytes) -> Any:
    """The JSON with what is no number marked instead of refused, so that its place can be told."""

    def integer(text: str) -> int | _NoNumber:
        # The length comes first: Python refuses to convert thousands of digits.
        if len(text) < 21 and -(1 << 63) <= int(text) < 1 << 63:
            return int(text)
        return _NoNumber(text, "is an integer of more than 64 bits")

    def real(text: str) -> float | _NoNumber:
        number = float(text)
        if not abs(number) <= schema.LARGEST_COORDINATE:
            return _NoNumber(text, "is too large for a number")
        if number.is_integer() and not is_exact(text, number):
            number = Rounded(number)
            number.text = text
        return number

    def constant(text: str) -> _NoNumber:
        return _NoNumber(text, "is not a number that JSON knows")

    return json.loads(content.decode("utf-8"), parse_int=integer, parse_float=real, parse_constant=constant)


def is_exact(text: str, number: float) -> bool:
    """Whether a number is exactly what its text says, with no digit lost."""
    from decimal import Decimal, InvalidOperation  # imported only here: few files have such numbers

    try:
        return Decimal(text) == number
    except InvalidOperation:  # an exponent of nineteen digits
        return False


def _integer(entry: dict[str, Any], key: str, place: str, problems: list[Problem]) -> int | None:
    """The integer under `key`, or None and a problem. JSON does not tell 1.0 from 1, so neither do we."""
    if key not in entry:
        problems.append((place, f"{key} is missing"))
        return None
    value = entry[key]
    if isinstance(value, Rounded):
        problems.append(
            (f"{place}.{key}", f"{_shortened(value.text)} is not exactly {value:.15g}; an integer is needed")
        )
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 63:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        problems.append((f"{place}.{key}", _not_a_number(value, "an integer")))
        return None
    return value


def _points(entry: dict[str, Any], place: str, limits: Limits, problems: list[Problem]) -> list[Any] | None:
    """The list under `object_coords`, or None where there is none; its problems are added."""
    if "object_coords" not in entry:
        problems.append((place, "object_coords is missing"))
        return None
    place = f"{place}.object_coords"
    points = entry["object_coords"]
    if not isinstance(points, list):
        problems.append((place, f"is {_kind(points)}; a list of [x, y] is needed"))
        return None
    if limits.n_objects is not None and len(points) > limits.n_objects:
        problems.append((place, f"{len(points)} objects are more than {limits.n_objects}"))
    for number, point in enumerate(points):
        if not isinstance(point, list) or len(point) != 2:
            what = f"is a list of {len(point)}" if isinstance(point, list) else f"is {_kind(point)}"
            problems.append((f"{place}[{number}]", f"{what}; [x, y] is needed"))
            continue
        for axis, (value, (low, high)) in enumerate(zip(point, (limits.x, limits.y), strict=True)):
            if not isinstance(value, int | float) or isinstance(value, bool):
                problems.append((f"{place}[{number}][{axis}]", _not_a_number(value, "a number")))
            elif not low <= value <= high:
                problems.append((f"{place}[{number}][{axis}]", out_of_range(value, low, high)))
    return points


def _not_a_number(value: Any, needed: str) -> str:
    if isinstance(value, _NoNumber):
        return f"{_shortened(value.text)} {value.problem}"
    return f"is {_kind(value)}; {needed} is needed"


def _kind(value: Any) -> str:
    """What a JSON value is, in words."""
    if isinstance(value, str):
        return f"the string {_shortened(value)!r}"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, _NoNumber):
        return _shortened(value.text)
    return json.dumps(value)  # null, true, false or a number


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:30]}... ({len(text)} characters)"


def pair_text(pair: Pair) -> str:
    return f"sequence {pair[0]}, frame {pair[1]}"


def out_of_range(value: float, low: float, high: float) -> str:
    return f"{value} is under {low}" if value < low else f"{value} is over {high}"
