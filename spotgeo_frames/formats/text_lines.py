"""Label files with an object a line, as KITTI, VisDrone and UAVDT have: fields that are numbers, and one that is text.

Large files of numbers alone are parsed by pyarrow at once, and small ones by Python's own float. Whatever these do not
take is read field by field, which says what is wrong where.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..support import InputError, check_none, reading
from ..tables import schema
from .box_tables import NUMBER, Problems, read_each, shown
from .documents import MOST_PROBLEMS
from .sequence_files import File

# From this size on (bytes) the start of pyarrow's parser pays.
LARGE = 1 << 16

# Longer files are meant to fill the memory.
MOST_LINES = 10_000_000


class Form(NamedTuple):
    """What a line is: `separator` (None: blanks), how many fields there may be, and the position of the one with text.

    `needed` is what messages say of a right line. The lines of a file have equally many fields.
    """

    separator: str | None
    counts: Sequence[int]
    text: int | None
    needed: str


class Lines(NamedTuple):
    """The lines of a file: their fields as numbers (N, fields), NaN for text; the text and the number of each."""

    values: np.ndarray
    texts: list[str]
    numbers: Sequence[int]


def read_files(files: Sequence[File], form: Form) -> list[Lines]:
    """The lines of each file; raises InputError with the problems of all files."""
    problems = Problems()
    read = read_each(files, lambda file: _lines(file.read(), file.name, form), problems)
    problems.check()
    return read


def first_fields(content: bytes, separator: str | None) -> list[str]:
    """The fields of the first line that is not blank; none where there is no such line, or it is no text."""
    lines = content.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)
    return fields_of(lines[0].decode("utf-8", "replace"), separator) if lines[0].strip() else []


def fields_of(line: str, separator: str | None) -> list[str]:
    """The fields of a line; a separator at its end begins no other field."""
    if separator is None:
        return line.split()
    fields = [field.strip() for field in line.strip().split(separator)]
    return fields[:-1] if len(fields) > 1 and not fields[-1] else fields


def _lines(content: bytes, name: str, form: Form) -> Lines:
    """The lines of a file; raises InputError with all that is wrong with it."""
    first = first_fields(content, form.separator)
    if not first:
        reading.utf8_text(content, name, "a label file")
        return Lines(np.zeros((0, 0)), [], [])
    large = len(content) >= LARGE and form.text is None
    parsed = (_parsed if large else _read_plainly)(content, form, len(first))
    return _read_slowly(content, name, form) if parsed is None else parsed


def _parsed(content: bytes, form: Form, n_fields: int) -> Lines | None:
    """The lines of a large file of numbers; None where there is anything unusual in it."""
    import pyarrow as pa
    from pyarrow import csv

    if n_fields not in form.counts or not content.isascii() or b"x" in content.lower() or form.separator is None:
        return None
    lines = content.splitlines()
    if not all(lines):
        return None
    extra = lines[0].rstrip().endswith(form.separator.encode())
    names = [str(position) for position in range(n_fields + extra)]
    try:
        table = csv.read_csv(
            pa.BufferReader(reading.arrow_buffer(content)),
            csv.ReadOptions(column_names=names),
            csv.ParseOptions(delimiter=form.separator, quote_char=False),
            csv.ConvertOptions(column_types=dict.fromkeys(names[:n_fields], pa.float64()), null_values=[""]),
        )
    except pa.ArrowException:
        return None
    columns = [table.column(position) for position in range(n_fields)]
    if len(table) != len(lines) or any(column.null_count for column in columns):
        return None
    values = np.column_stack([column.to_numpy() for column in columns])
    if not (np.abs(values) <= schema.LARGEST_EXACT_INTEGER).all():
        return None
    return Lines(values, [""] * len(lines), range(1, len(lines) + 1))


def _read_plainly(content: bytes, form: Form, n_fields: int) -> Lines | None:
    """The lines of a small file; None where there is anything unusual in it."""
    if n_fields not in form.counts or not content.isascii() or b"_" in content or b"\0" in content:
        return None  # Python's own numbers may have an underscore
    rows: list[list[float]] = []
    texts: list[str] = []
    numbers: list[int] = []
    for position, line in enumerate(content.decode().splitlines(), 1):
        fields = fields_of(line, form.separator)
        if not any(fields):
            continue
        if len(fields) != n_fields:
            return None
        texts.append("" if form.text is None else fields[form.text])
        if form.text is not None:
            fields[form.text] = "nan"
        try:
            rows.append([*map(float, fields)])
        except ValueError:
            return None
        numbers.append(position)
    values = np.array(rows, np.float64).reshape(len(rows), n_fields)
    given = np.delete(values, [] if form.text is None else form.text, axis=1)
    known = bool((np.abs(given) <= schema.LARGEST_EXACT_INTEGER).all())
    return Lines(values, texts, numbers) if known and len(rows) <= MOST_LINES else None


def _read_slowly(content: bytes, name: str, form: Form) -> Lines:
    """The lines of a file, each field looked at."""
    rows: list[list[float]] = []
    texts: list[str] = []
    numbers: list[int] = []
    problems: list[str] = []
    for position, line in enumerate(reading.utf8_text(content, name, "a label file").splitlines(), 1):
        fields = fields_of(line, form.separator)
        if not any(fields):
            continue
        problem = _problem(fields, form, len(rows[0]) if rows else len(fields))
        if problem is None:
            texts.append("" if form.text is None else fields[form.text])
            rows.append([np.nan if place == form.text else float(field) for place, field in enumerate(fields)])
            numbers.append(position)
        else:
            problems.append(f"{name}, line {position}: {problem}")
        if len(problems) >= MOST_PROBLEMS or len(rows) > MOST_LINES:
            break
    if len(rows) > MOST_LINES:
        raise InputError(f"{name}: has more than {MOST_LINES:,} lines")
    check_none(problems)
    return Lines(np.array(rows, np.float64).reshape(len(rows), -1 if rows else 0), texts, numbers)


def _problem(fields: list[str], form: Form, n_fields: int) -> str | None:
    """What is wrong with the fields of a line, of a file whose lines have so many."""
    if len(fields) not in form.counts:
        return f"{len(fields)} fields; {form.needed}"
    if len(fields) != n_fields:
        return f"{len(fields)} fields, and lines before have {n_fields}; all lines need the same"
    for place, field in enumerate(fields):
        if place == form.text:
            continue
        if not NUMBER.fullmatch(field):
            return f"field {place + 1} is {shown(field)}, which is no number; {form.needed}"
        if not abs(float(field)) <= schema.LARGEST_EXACT_INTEGER:
            return f"field {place + 1} is {shown(field)}: a number is not finite, or too large"
    return None
