"""What sections of the page are made of: texts, tables as texts, and charts. The template writes each form as HTML."""

from __future__ import annotations  # Altair is an extra, so its types cannot be looked up when this is imported

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

import pandas as pd

from ....support import without_direction_marks
from ...drawing import display, wording
from .matrices import Curve, Matrix

if TYPE_CHECKING:
    from ...drawing.charts import Drawing


def view_address(words: Mapping[str, str]) -> str:
    """The part of an address that shows a view, of words that links.js reads, with names as the page has them."""
    return f"#view?{urlencode({word: without_direction_marks(value) for word, value in words.items()})}"


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


class Metrics(NamedTuple):
    """What metrics are: for each its name, to which headings of tables refer, its title, and a text."""

    rows: Sequence[tuple[str, str, str]]


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
    meanings
        By the position of a column that is about a metric, the name of the metric, and what the column is.
    links
        By the position of a column, for each row the address of the view that its cell leads to.
    curves, curve_of_row
        Curves that rows unfold, and the position of each row's curve, or -1; empty where no row has one.
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
    meanings: Mapping[int, tuple[str, str]] = {}
    links: Mapping[int, Sequence[str]] = {}
    curves: Sequence[Curve] = ()
    curve_of_row: Sequence[int] = ()


class Figure(NamedTuple):
    """A chart with its heading, and a note that continues the heading."""

    name: str
    heading: str
    drawing: Drawing
    note: str = ""


class Figures(NamedTuple):
    """Charts side by side; with `picks`, the reader picks the submission that they show from these short names.

    `are_small` says that they are small, so that more of them stand in a row.
    """

    figures: Sequence[Figure]
    picks: Sequence[str] = ()
    are_small: bool = False


class Look(NamedTuple):
    """A frame worth looking at: its names, the submission that errs there, and what was counted, in words."""

    sequence: str
    frame: str
    submission: str
    tally: str

    @property
    def address(self) -> str:
        """The part of an address that shows it in the viewer."""
        return view_address({name: getattr(self, name) for name in ("sequence", "frame", "submission")})


class Viewer(NamedTuple):
    """The viewer of frames, with its filter, its patches and its gallery.

    Attributes
    ----------
    about, content
        What the viewer shows: what it is and where which column lies, and the compressed columns as base64.
    pictures
        The pictures of frames, by the positions of these.
    looks
        The frames to look at first.
    """

    about: Mapping[str, Any]
    content: str
    pictures: Mapping[int, Mapping[str, Any]]
    looks: Sequence[Look] = ()


Block = Text | Items | Definitions | Metrics | Numbers | Table | Matrix | Figure | Figures | Viewer


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


def table_of(name: str, caption: str, table: pd.DataFrame, filters: Collection[str] = ()) -> Table:
    """Makes a table of the page from all columns of a DataFrame.

    `filters` are the columns whose cells are values of the match table's column of the same name.
    """
    by_position = {place: str(name) for place, name in enumerate(table) if name in filters}
    unit = table.attrs.get("unit")
    titles = [column_title(str(column), unit) for column in table]
    cells = display.texts(table)
    if "metric" in table:  # only now, since the names of metrics tell which numbers are shares
        cells["metric"] = [column_title(metric, unit) for metric in table["metric"]]
    meanings, rows = meanings_of(list(map(str, table)), unit), cells.to_numpy().tolist()
    return Table(name, caption, titles, sorting(table), rows, filters=by_position, meanings=meanings)


def meanings_of(columns: Sequence[str], unit: str | None) -> dict[int, tuple[str, str]]:
    """The metric that each column is about and what the column is, by its position; `unit` is that of distances."""
    known = ((place, wording.reading(column), wording.meaning(column, unit)) for place, column in enumerate(columns))
    return {place: (of.metric.name, text) for place, of, text in known if of is not None and text is not None}


def having(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The columns of a table that it has, of those named."""
    return table[[column for column in columns if column in table]]


def column_title(column: str, unit: str | None = None) -> str:
    """The title of a column; `unit` is that of distances in the notes of its table, None for px."""
    if column == "tau":
        return wording.with_unit("tau", wording.unit_of_distances(unit))
    return wording.TITLES.get(column) or wording.title(column, unit) or display.words(column.removeprefix("n_"))


def sorting(table: pd.DataFrame) -> list[str]:
    """How each column sorts: as number or as text."""
    return ["number" if pd.api.types.is_any_real_numeric_dtype(table[column].dtype) else "text" for column in table]
