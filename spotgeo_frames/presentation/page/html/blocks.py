"""What sections of the page are made of: texts, tables and charts. The template writes each form of block as HTML."""

from __future__ import annotations  # Altair is an extra, so its types cannot be looked up when this is imported

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

if TYPE_CHECKING:
    from ...drawing.charts.parts import Drawing


class Text(NamedTuple):
    """A paragraph; `style` is "plain" or "note" (smaller)."""

    text: str
    style: str = "plain"


class Items(NamedTuple):
    """A list of warnings, each with the words that stand out and the text that follows them."""

    items: Sequence[tuple[str, str]]


class Definitions(NamedTuple):
    """Terms with what they mean."""

    pairs: Sequence[tuple[str, str]]


class Numbers(NamedTuple):
    """The table of headline numbers.

    Attributes
    ----------
    caption, names
        Its caption, and the names of the submissions.
    rows
        For each metric its `label`, its `meaning`, which way is `better`, and a cell for each submission: `estimate`,
        `exact` (all digits), and `interval`, as texts.
    counts
        Labels, with a text for each submission.
    """

    caption: str
    names: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    counts: Sequence[tuple[str, Sequence[str]]]


class Table(NamedTuple):
    """A table that sorts by a click on a heading.

    Attributes
    ----------
    name, caption, titles, rows
        The name in the page's script, the caption, the titles of columns, and the texts of the cells.
    kinds
        How each column sorts: as "number", as "text", or by the "position" of each row in the column's `positions`.
    sorted_by
        The position of the column by which the rows are sorted, the largest first; None if they are not.
    n_left_out
        The count of rows that the page has no room for.
    note
        A note below the table, or an empty text.
    filters
        By the position of a column, the column of the match table whose values its cells are. A click on such a cell
        shows the frames that have all of these values of its row.
    """

    name: str
    caption: str
    titles: list[str]
    kinds: list[str]
    rows: list[list[str]]
    sorted_by: int | None = None
    positions: Mapping[int, list[int]] = {}
    n_left_out: int = 0
    note: str = ""
    filters: Mapping[int, str] = {}


class Figure(NamedTuple):
    """A chart with its heading, and a note that continues the heading."""

    name: str
    heading: str
    drawing: Drawing
    note: str = ""


class Figures(NamedTuple):
    """Charts side by side; with `picks`, the reader picks the submission that they show from these short names."""

    figures: Sequence[Figure]
    picks: Sequence[str] = ()


class Viewer(NamedTuple):
    """The viewer of frames, with its filter and its gallery.

    Attributes
    ----------
    about, content
        What the viewer shows: what it is and where which column lies, and the compressed columns as base64.
    pictures
        The pictures of frames, by the positions of these.
    short_names
        The names by which charts call the submissions.
    """

    about: Mapping[str, Any]
    content: str
    pictures: Mapping[int, Mapping[str, Any]]
    short_names: Sequence[str]


Block = Text | Items | Definitions | Numbers | Table | Figure | Figures | Viewer


class Kept(NamedTuple):
    """A table for the folder of Parquet, and what a row of it is."""

    table: pd.DataFrame
    meaning: str


class Section(NamedTuple):
    """A section of the page.

    Attributes
    ----------
    name, title, short
        The anchor, the heading, and the title in the list of sections at the top.
    blocks
        What it is made of, from top to bottom.
    tables
        The tables behind it, by the names of their files without the suffix.
    warnings
        Texts of warnings that `report` raises.
    """

    name: str
    title: str
    short: str
    blocks: Sequence[Block]
    tables: Mapping[str, Kept] = {}
    warnings: Sequence[str] = ()
