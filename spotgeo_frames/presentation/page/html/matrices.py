"""Square tables whose cells lead to the frames that they count, and curves that a row of a table unfolds."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode


class Cell(NamedTuple):
    """A cell of a matrix.

    Attributes
    ----------
    counted, share
        How much it counts, and the share of the row, as texts.
    tint
        How strong its colour is, in percent.
    name
        What it counts in words, for who cannot see where it stands.
    address
        The part of an address that shows its rows; empty where there is nothing to show.
    is_right
        Whether it counts what is right.
    """

    counted: str
    share: str
    tint: int
    name: str
    address: str = ""
    is_right: bool = False


class Matrix(NamedTuple):
    """A square table: its caption, what its rows and columns are, their names, and the cells of each row."""

    caption: str
    rows_are: str
    columns_are: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[Cell]]


class CurveLine(NamedTuple):
    """A line over recall from 0 to 1: precisions in thousandths, in the colour of a submission, dashed or not."""

    series: int
    dashed: bool
    precisions: Sequence[int]


class Curve(NamedTuple):
    """The lines of a class, with a text about each submission; `name` is what its picture is called."""

    name: str
    texts: Sequence[tuple[int, str]]
    lines: Sequence[CurveLine]


def address_of(submission: str, conditions: Mapping[str, str]) -> str:
    """The part of an address that shows the rows of a submission that have these values, as links.js reads it."""
    filters = [{"column": column, "is": [value]} for column, value in conditions.items()]
    return f"#view?{urlencode({'submission': submission, 'filter': json.dumps(filters)})}"
