"""The lines of one file of a MOTChallenge folder: from bytes to checked columns.

pyarrow parses a sound file at once. A file that is in any way unusual is read again line by line, which accepts a
little more (blanks around and instead of commas, lines of different lengths) and says what is wrong where.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..support import InputError, arrays, check_none, reading
from ..tables import schema
from .inspection import MOST_PROBLEMS, is_exact

if TYPE_CHECKING:
    import pyarrow as pa

CLASSES = {
    "pedestrian": 1,
    "person_on_vehicle": 2,
    "car": 3,
    "bicycle": 4,
    "motorbike": 5,
    "non_mot_vehicle": 6,
    "static_person": 7,
    "distractor": 8,
    "occluder": 9,
    "occluder_on_ground": 10,
    "occluder_full": 11,
    "reflection": 12,
    "crowd": 13,
}

# A frame number beyond this (eleven hours of video) is a slip, or meant to fill the memory.
MOST_FRAMES = 1_000_000
LARGEST_FLOAT = float(np.finfo(np.float64).max)
FIELDS = ["frame", "object", *schema.BOX]

# The first fields, frame and identity, have to be integers.
N_KEYS = 2

# Label files of YOLO are .txt in a folder, too, and have as many fields.
YOLO_HINT = " (read_yolo reads YOLO's label files; save its tables for the commands)"

# Texts of at most fifteen digits that count. Where the float64 of one is a whole number, so is the text.
EXACT = r"^[+-]?(\d{1,15}(\.0*)?|\d(\.\d{0,14}0*)?[eE][+-]?\d{1,2})$"


class Kind(NamedTuple):
    """The fields of a side after FIELDS: those every line must have, and those it may have."""

    is_truth: bool
    needed: list[str]
    optional: list[str]


class Rows(NamedTuple):
    """The columns of one file as float64, checked, and the rows in the order of frames, or None if they are."""

    columns: dict[str, np.ndarray]
    order: np.ndarray | None


class Requirement(NamedTuple):
    """The values of a column lie between `low` and `high`, and are whole; `problem` says of one that it is not so.

    NaN keeps the rule only where it `may_lack`: then it stands for a line without that field.
    """

    column: str
    low: float
    high: float
    whole: bool
    problem: str
    may_lack: bool = False


def truth_kind(has_classes: bool) -> Kind:
    return Kind(True, ["considered", "class_id"], ["visibility"]) if has_classes else Kind(True, ["considered"], [])


def tracker_kind(has_classes: bool) -> Kind:
    return Kind(False, ["score"], ["class_id"] if has_classes else [])


def read_rows(content: bytes, name: str, kind: Kind, length: int | None) -> Rows:
    """The rows of a file; raises InputError with all that is wrong with it. `name` is what messages call it."""
    columns, lines = _parsed(content, kind), None
    if columns is None:
        columns, lines = _parsed_slowly(content, name, kind)
    problems = _problems(columns, _requirements(kind, length))
    if problems:
        numbers = lines or [number for number, line in enumerate(content.splitlines(), 1) if line.strip()]
        raise InputError([f"{name}, line {numbers[row]}: {what}" for row, what in problems])
    if not kind.is_truth:
        columns.pop("class_id", None)  # all are pedestrians
    frame = columns["frame"]
    if np.all(np.diff(frame) >= 0):
        return Rows(columns, None)
    return Rows(columns, arrays.stable_order(frame.astype(np.int64), int(frame.max()) + 1))


def _parsed(content: bytes, kind: Kind) -> dict[str, np.ndarray] | None:
    """The columns of a file as float64, or None where something in it is unusual.

    Columns that nobody reads are converted as well, since the official evaluator refuses a line with anything else than
    numbers. Only the empty field after a comma at the end of the lines is no number.
    """
    first = content[: content.find(b"\n") + 1 or None].strip()
    n_fields = first.count(b",") + (not first.endswith(b","))
    names = [*FIELDS, *kind.needed, *kind.optional][:n_fields]
    if not first or len(names) < len(FIELDS) + len(kind.needed):
        return None
    if b"x" in content or b"X" in content:  # pyarrow takes 0x1 for an integer
        return None
    table = _table(content, "int64", n_fields, first) or _table(content, "string", n_fields, first)
    if table is None or (first.endswith(b",") and table.columns[-1].unique().to_pylist() != [""]):
        return None
    keys = table.columns[:N_KEYS]
    if table.schema.field(0).type == "string":
        keys = [_exact_numbers(column) for column in keys]
    if any(column is None for column in keys):
        return None
    columns = [*keys, *table.columns[N_KEYS : len(names)]]
    return {name: _values(column) for name, column in zip(names, columns, strict=True)}


def _table(content: bytes, key: str, n_fields: int, first: bytes) -> pa.Table | None:
    """The fields of a file, frame and identity as `key`, the others as float64; None where one is something else."""
    import pyarrow as pa  # imported only here: it takes a while
    from pyarrow import csv

    types = {f"f{position}": key if position < N_KEYS else "float64" for position in range(n_fields)}
    types |= {f"f{n_fields}": "string"} if first.endswith(b",") else {}
    try:
        return csv.read_csv(
            pa.BufferReader(content),
            csv.ReadOptions(use_threads=False, autogenerate_column_names=True),
            csv.ParseOptions(quote_char=False),
            csv.ConvertOptions(column_types=types, null_values=[], check_utf8=False),
        )
    except (pa.ArrowException, ValueError):
        return None


def _exact_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Texts of numbers as float64; None where one may lose a digit, so that it needs a closer look."""
    from pyarrow import compute  # imported only here: it takes a while, and few files write keys like 1.0

    all_exact = compute.all(compute.match_substring_regex(column, EXACT)).as_py()
    return compute.cast(column, "float64") if all_exact else None


def _values(column: pa.ChunkedArray) -> np.ndarray:
    """The numbers of a column without nulls as float64, which rounds only integers that are too large and refused.

    pyarrow's own `to_numpy` would import pandas, which takes long.
    """
    chunks = [np.from_dlpack(chunk) for chunk in column.chunks]
    return (chunks[0] if len(chunks) == 1 else np.concatenate(chunks)).astype(np.float64, copy=False)


def _parsed_slowly(content: bytes, name: str, kind: Kind) -> tuple[dict[str, np.ndarray], list[int]]:
    """The same, a line at a time: the columns, and the number of each row's line. Raises InputError.

    Where a line has no class or visibility, that is NaN.
    """
    reading.check_no_nul(content, name)
    names = [*FIELDS, *kind.needed, *kind.optional]
    rows: list[list[float]] = []
    lines: list[int] = []
    problems: list[str] = []
    text = content.decode("utf-8-sig", "replace")
    first = text[:10_000].lstrip().partition("\n")[0]
    separator = next((mark for mark in ",;\t" if mark in first), None)
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        if len(problems) >= MOST_PROBLEMS:
            problems.append(f"{name}, line {number}: and what follows was not looked at")
            break
        fields = [field.strip() for field in line.split(separator)]
        try:
            if any(fields):
                rows.append(_numbers(fields, names, len(FIELDS) + len(kind.needed)))
                lines.append(number)
        except ValueError as error:
            problems.append(f"{name}, line {number}: {error}")
    check_none(problems)
    width = max((len(row) for row in rows), default=len(names))
    padded = [row + [np.nan] * (width - len(row)) for row in rows]
    return dict(zip(names, np.array(padded, np.float64).reshape(-1, width).T, strict=False)), lines


def _numbers(fields: list[str], names: list[str], n_needed: int) -> list[float]:
    """The fields of a line that are read, as numbers; the message of the ValueError says what is wrong with the line.

    The fields after them have to be numbers, too.
    """
    if fields[-1] == "":  # a comma at the end
        fields = fields[:-1]
    if len(fields) < n_needed:
        wanted = f"{len(fields)} fields; at least {n_needed} are needed: {', '.join(names[:n_needed])}"
        raise ValueError(wanted + (YOLO_HINT if 5 <= len(fields) <= 7 else ""))
    numbers = []
    for position, field in enumerate(fields):
        called = names[position] if position < len(names) else f"field {position + 1}"
        try:
            numbers.append(float(field))
        except ValueError:
            raise ValueError(f"{called} is {field[:40]!r}, which is not a number") from None
        if position < N_KEYS and numbers[-1].is_integer() and not is_exact(field, numbers[-1]):
            raise ValueError(f"{called} is {field[:40]!r}, which is not exactly {numbers[-1]:.15g}")
    return numbers[: len(names)]


def _requirements(kind: Kind, length: int | None) -> list[Requirement]:
    """What the values of a file have to be."""
    last = MOST_FRAMES if length is None else length
    wanted = f"whole numbers from 1 to {last}" + ("" if length is None else ", the seqLength in seqinfo.ini")
    largest = schema.LARGEST_EXACT_INTEGER - 1  # beyond, two identities may be the same float64
    finite, pixels = ((-most, most, False) for most in (LARGEST_FLOAT, schema.LARGEST_COORDINATE))
    requirements = [
        Requirement("frame", 1, last, True, f"frame {{:.15g}} is out of range; frames are {wanted}"),
        Requirement("object", -largest, largest, True, "identity {:.15g} is no whole number below 2**53"),
        *(
            Requirement(name, *pixels, f"{name} is {{}}, which is not finite, or too large for pixels")
            for name in schema.BOX
        ),
    ]
    if not kind.is_truth:
        # Decimals are cut off, so a class is what lies below the next one; where there is none, it is a pedestrian.
        wanted = "class {:.15g} is not evaluated; only pedestrians (1) are"
        requirements.append(Requirement("class_id", -LARGEST_FLOAT, np.nextafter(2, 0), False, wanted, may_lack=True))
        return requirements
    requirements.append(Requirement("considered", *finite, "the mark in field 7 is {}; 0 or 1 is needed"))
    wanted = f"class {{:.15g}} is unknown; classes are 1 to {len(CLASSES)}"
    return [*requirements, Requirement("class_id", 1, np.nextafter(len(CLASSES) + 1, 0), False, wanted)]


def _problems(columns: Mapping[str, np.ndarray], requirements: Sequence[Requirement]) -> list[tuple[int, str]]:
    """What is wrong with the values of a file: row and problem, in the order of the rows."""
    found: list[tuple[int, str]] = []
    for requirement in requirements:
        values = columns.get(requirement.column, np.zeros(0))
        right = (values >= requirement.low) & (values <= requirement.high)  # NaN is neither
        if requirement.whole:
            right &= values == np.floor(values)
        if requirement.may_lack:
            right |= np.isnan(values)
        rows = np.flatnonzero(~right)[:MOST_PROBLEMS].tolist()
        found += [(row, requirement.problem.format(values[row])) for row in rows]
    if found:
        return sorted(found)[:MOST_PROBLEMS]
    keys = arrays.row_keys({name: columns[name].astype(np.int64) for name in ("frame", "object")}, FIELDS[:2])
    named = (columns["object"], columns["frame"])
    return [
        (row, "identity {:.0f} is in frame {:.0f} more than once".format(*(column[row] for column in named)))
        for row in np.flatnonzero(arrays.repeated(keys))[:MOST_PROBLEMS].tolist()
    ]
