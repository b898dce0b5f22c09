"""The lines of one label file of YOLO: from bytes to checked numbers.

A line is `class x_center y_center width height`, then a score, an identity, or the score and the identity; the box is
in shares of the image's width and height. Ultralytics writes such lines in `Results.save_txt`, each number with six
digits.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ...support.errors import InputError
from ...support.reading import check_no_nul
from ...tables.schema import LARGEST_EXACT_INTEGER
from ..documents import MOST_PROBLEMS

# The fields of a line without score and identity, and of one with both.
N_BOX, N_ALL = 5, 7

# Boxes may reach so far beyond their image by rounding, as a share of its size.
BEYOND = 0.01

# More detections of an image, and longer files, are meant to fill the memory.
MOST_LINES = 1_000_000
LARGEST_FILE = 1 << 26

# A number as files have it; Python knows others, such as 1_000. Those that are not finite are refused by their value.
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)

OTHER_KINDS = "outlines (segment), keypoints (pose) and turned boxes (obb) are not read"


class Labels(NamedTuple):
    """The lines of a file: class (N,), box (N, 4) in shares, score and identity (N,), NaN where a line has none.

    `extra` has what is in the sixth field of lines of six, (N,), NaN elsewhere; `lines` are their numbers in the file.
    """

    class_id: np.ndarray
    box: np.ndarray
    score: np.ndarray
    identity: np.ndarray
    extra: np.ndarray
    lines: np.ndarray


def read_labels(content: bytes, name: str) -> Labels:
    """The lines of a file; raises InputError with all that is wrong with it. `name` is what messages call it."""
    check_no_nul(content, name)
    rows: list[list[float]] = []
    numbers: list[int] = []
    problems: list[str] = []
    for number, line in enumerate(_text(content, name).splitlines(), 1):
        if line.strip():
            row = _row(line.split(maxsplit=N_ALL))
            if isinstance(row, str):
                problems.append(f"{name}, line {number}: {row}")
            else:
                rows.append(row)
                numbers.append(number)
        if len(problems) >= MOST_PROBLEMS or number > MOST_LINES:
            break
    if len(rows) > MOST_LINES:
        problems.append(f"{name}: has more than {MOST_LINES:,} lines")
    if problems:
        raise InputError(problems)
    values = np.array(rows, np.float64).reshape(-1, N_ALL + 1)
    return Labels(values[:, 0], values[:, 1:5], values[:, 5], values[:, 6], values[:, 7], np.array(numbers, np.int64))


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name}: is no text in UTF-8; a label file of YOLO is needed") from None


def _row(fields: list[str]) -> list[float] | str:
    """A line as class, box, score, identity and the sixth of six fields, NaN where it has none; or what is wrong."""
    needed = f"a box has {N_BOX}: class, x and y of its centre, width, height"
    if len(fields) > N_ALL:
        return f"more than {N_ALL} fields; {needed}; a score and an identity may follow; {OTHER_KINDS}"
    if len(fields) < N_BOX:
        return f"{len(fields)} fields; {needed}"
    bad = next((field for field in fields if not NUMBER.fullmatch(field)), None)
    if bad is not None:
        return f"{bad[:30]!r} is no number; lines such as '0 0.5 0.5 0.1 0.2' are needed"
    values = [float(field) for field in fields]
    problem = _problem(values)
    if problem:
        return problem
    nan = float("nan")
    last = [[nan, nan, nan], [nan, nan, values[-1]], [*values[5:], nan]][len(values) - N_BOX]
    return [*values[:5], *last]


def _problem(values: list[float]) -> str | None:
    """What is wrong with the numbers of a line."""
    if not all(abs(value) <= LARGEST_EXACT_INTEGER for value in values):  # NaN is not, either
        return "a number is not finite, or too large"
    class_id, x, y, w, h, *others = values
    if class_id < 0 or class_id != int(class_id):
        return f"class {class_id:g} is no whole number from 0 on"
    if w < 0 or h < 0:
        return f"width {w:g} and height {h:g}: a size is negative"
    if not all(-BEYOND <= value <= 1 + BEYOND for value in (x, y, w, h)):
        return (
            f"box {x:g} {y:g} {w:g} {h:g} is not in shares of the image, which lie between 0 and 1; are these pixels?"
        )
    if len(others) == 2:
        if not 0 <= others[0] <= 1:
            return f"score {others[0]:g} is not between 0 and 1; the order is score, then identity"
        if others[1] < 0 or others[1] != int(others[1]):
            what = "is no whole number from 0 on; the order is score, then identity"
            return f"identity {others[1]:g} {what}; {OTHER_KINDS}"
    return None
