"""Explorer: the widget that `explore()` returns. It answers what the browser asks, and gives marked rows back.

The browser asks by custom messages, `{"ask": ..., "id": ...}`, and each answer has the same id. Each view asks for the
`outline` once, and for a `chunk` of frames or a `picture` when they are looked at. When it is ready it asks for `news`;
clicks `mark` objects or `choose` the rows of a cell or a lasso, and the form gives marked rows a `tag` or filters by
them (`only`). These have no answer. Charts ask for `counts` and `points`, patches for `patches`. All views of the
widget are told what holds now: `{"tell": "filter", ...}` and `{"tell": "marked", ...}`. Whatever asks for nothing that
there is has an answer with `error`, and changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import pandas as pd

from ...support import InputError
from ...tables import Table, messages, table_kinds
from ..theme import viewer_rule
from ..viewer import scripts
from . import charts
from .contents import Contents, objects_of_rows, positions_by_table, row_of_object
from .messages import (
    LONGEST_SHOWN,
    Message,
    cell_in,
    chunk,
    corners_in,
    counts,
    flag_in,
    identity_of,
    message_of,
    number_in,
    object_in,
    outline,
    passing,
    patches,
    picture,
    points,
    position_in,
    text_in,
)
from .rows import Tags, filter_text, passing_rows, tags_in, tags_table

# The modules of the widget's script, each after those that it imports, and its style sheet.
MODULES = [
    *scripts.VIEWER,
    *(f"explorer/assets/{name}.js" for name in ("kernel", "marking", "counts", "scatter", "patch_list", "widget")),
]
STYLE = "explorer/assets/explorer.css"

# The most patches that are shown, and the most marked rows whose objects have an outline in the view.
MOST_PATCHES, MOST_OUTLINED = 120, 10_000

CLOSED = "explore: the widget is closed; open another one by sf.explore(...)"


def _styles() -> str:
    """The styles, with the colours of JupyterLab's theme before those of the system."""
    viewer, own = scripts.viewer_style(), resources.files(scripts.PRESENTATION).joinpath(STYLE).read_text("utf-8")
    themes = [
        viewer_rule(f'[data-jp-theme-light="{is_light}"] .viewer', scheme)
        for is_light, scheme in (("true", "light"), ("false", "dark"))
    ]
    return "".join([viewer, *themes, own])


class Explorer(anywidget.AnyWidget):
    """The viewer as a widget; `explore` says what its attributes mean."""

    _esm = scripts.module_of(MODULES)
    _css = _styles()

    def __init__(self, contents: Contents, images: Path | None):
        super().__init__()
        self._contents = contents
        self._images = images
        self._filter: Any = None
        self._passes: list[np.ndarray] | None = None
        self._marked: list[int] = []  # rows in all tables, in the order in which they were marked
        self._tags = Tags({})
        self.on_msg(self._answer)

    @property
    def selection(self) -> pd.DataFrame:
        """The rows that are marked in the view, in the order of the match table."""
        given = self._contents.given
        positions = positions_by_table(self._contents, np.array(sorted(self._marked), np.int64))
        rows = {name: one.table.iloc[at] for (name, one), at in zip(given.items(), positions, strict=True)}
        return table_kinds.as_kind(_of_submissions(rows), next(iter(given.values())).kind)

    @property
    def filter(self) -> Any:
        """What the view is filtered by; None where it is not."""
        return self._filter

    @filter.setter
    def filter(self, given: Any) -> None:
        self._check_open()
        self._passes = None if given is None else passing_rows(self._contents, given)
        self._filter = given
        self._tell_filter()

    @property
    def tags(self) -> pd.DataFrame:
        """The keys of tagged rows with their tags."""
        return table_kinds.as_kind(
            tags_table(self._contents, self._tags), next(iter(self._contents.given.values())).kind
        )

    @tags.setter
    def tags(self, given: Table | None) -> None:
        self._check_open()
        self._tags = Tags({}) if given is None else tags_in(self._contents, given)
        self._tell_marked()

    def __repr__(self) -> str:
        names = ", ".join(self._contents.given)
        n_rows, n_frames = self._contents.first_row[-1], len(self._contents.frames.first)
        return f"Explorer of {names}: {n_rows:,} rows in {n_frames:,} frames"

    def _check_open(self) -> None:
        """Raises InputError if the widget is closed."""
        if self.comm is None:
            raise InputError(CLOSED)

    def _answer(self, _: object, content: Any, __: object) -> None:
        """Answers a message of the browser, whatever it is."""
        answers = self._answers()
        try:
            asked = message_of(content)
            what = text_in(asked, "ask")
            if what not in answers:
                raise InputError(
                    f"explore: nothing answers ask = {what[:LONGEST_SHOWN]!r}; there are {messages.listed(answers)}"
                )
            message = answers[what](asked)
        except (InputError, MemoryError) as error:
            message = Message({"error": str(error)}, [])
        if message is not None:
            self.send({"id": identity_of(content)} | message.content, message.buffers)

    def _answers(self) -> dict[str, Callable[[Mapping[str, Any]], Message | None]]:
        """What is done for each thing that the browser asks."""
        return {
            "outline": lambda asked: self._outline(),
            "news": lambda asked: self._news(),
            "chunk": self._chunk,
            "picture": self._picture,
            "mark": lambda asked: self._mark(object_in(asked, self._contents), flag_in(asked, "more")),
            "choose": self._choose,
            "only": lambda asked: self._only(flag_in(asked, "on")),
            "tag": lambda asked: self._tag(text_in(asked, "tag").strip()),
            "counts": lambda asked: counts(self._counts(asked)),
            "points": self._points,
            "patches": self._patches,
        }

    def _chunk(self, asked: Mapping[str, Any]) -> Message:
        """The view of a chunk of frames."""
        n_chunks = int(self._contents.stretches.chunk.max(initial=-1)) + 1
        return chunk(self._contents, position_in(asked, "chunk", n_chunks))

    def _picture(self, asked: Mapping[str, Any]) -> Message:
        """The picture of a frame."""
        if self._images is None:
            raise InputError("explore: there are no pictures; open the widget with images=")
        return picture(self._contents, self._images, position_in(asked, "frame", len(self._contents.numbers)))

    def _outline(self) -> Message:
        """All frames, and whether there may be pictures."""
        message = outline(self._contents)
        more = {"pictures": self._images is not None, "columns": self._columns}
        return message._replace(content=message.content | more)

    def _news(self) -> None:
        """Tells a view that was opened what is filtered and marked."""
        self._tell_filter()
        self._tell_marked()

    def _mark(self, named: tuple[str, int, int] | None, more: bool) -> None:
        """Marks the row of an object (side, position of the table, position among all of its side).

        `more` adds it to the marked ones, or takes it away again.
        """
        row = -1 if named is None else row_of_object(self._contents, *named)
        before = self._marked
        if not more:
            self._marked = [row] if row >= 0 else []
        elif row >= 0:
            self._marked = [one for one in before if one != row] if row in before else [*before, row]
        self._tell_marked()

    def _choose(self, asked: Mapping[str, Any]) -> None:
        """Marks the rows that a cell of a table of counts has, or a lasso; `more` adds them to the marked ones."""
        if "corners" in asked:
            places = charts.places_of(self._contents, self._columns, text_in(asked, "x"), text_in(asked, "y"))
            rows = np.flatnonzero(self._keeps() & charts.within(places, corners_in(asked)))
        else:
            counted = self._counts(asked)
            rows = counted.of_cell(*cell_in(asked, counted))
        before = self._marked if flag_in(asked, "more") else []
        self._marked = list(dict.fromkeys([*before, *rows.tolist()]))
        self._tell_marked()

    def _only(self, on: bool) -> None:
        """Filters by the marked rows; or not any more."""
        self.filter = self._by_table(self._marked) if on else None

    @cached_property
    def _columns(self) -> dict[str, list[str]]:
        """What can be counted, drawn and sorted by, which takes a look at every value."""
        return charts.column_names(self._contents)

    def _keeps(self) -> np.ndarray:
        """Which rows count and pass the filter."""
        return charts.counted_rows(self._contents, self._passes)

    def _counts(self, asked: Mapping[str, Any]) -> charts.Counts:
        return charts.counts_of(self._contents, self._columns, text_in(asked, "by"), self._keeps())

    def _points(self, asked: Mapping[str, Any]) -> Message:
        places = charts.places_of(self._contents, self._columns, text_in(asked, "x"), text_in(asked, "y"))
        return points(charts.drawn_points(self._contents, places, self._keeps()), self._marked)

    def _patches(self, asked: Mapping[str, Any]) -> Message:
        """The first rows, in an order, of the errors, of what passes the filter, or of the marked rows."""
        of = text_in(asked, "of")
        if of not in charts.LISTS:
            raise InputError(f"explore: of is {of[:LONGEST_SHOWN]!r}; there are {messages.listed(charts.LISTS)}")
        keeps = self._keeps()
        if of == "marked":
            keeps = np.isin(np.arange(len(keeps)), self._marked)
        elif of == "errors":
            keeps &= charts.are_errors(self._contents)
        rows = charts.listed_rows(self._contents, self._columns, keeps, text_in(asked, "by"), flag_in(asked, "rising"))
        return patches(self._contents, rows[: number_in(asked, "n", MOST_PATCHES)], len(rows))

    def _by_table(self, rows: Sequence[int]) -> dict[str, np.ndarray]:
        """For each match table by its name, which of its rows are among these."""
        is_one = np.zeros(self._contents.first_row[-1], bool)
        is_one[list(rows)] = True
        return dict(zip(self._contents.given, np.split(is_one, self._contents.first_row[1:-1]), strict=True))

    def _tag(self, text: str) -> None:
        """Gives the marked rows a tag instead of the one that they have; an empty one takes it away."""
        kept = {row: tag for row, tag in self._tags.of_rows.items() if row not in self._marked}
        self._tags = self._tags._replace(of_rows=kept | (dict.fromkeys(self._marked, text) if text else {}))
        self._tell_marked()

    def _tell_filter(self) -> None:
        """Tells all views what passes the filter."""
        message = Message({}, []) if self._passes is None else passing(self._contents, self._passes)
        text = None if self._filter is None else filter_text(self._filter)
        self.send({"tell": "filter", "text": text} | message.content, message.buffers)

    def _tell_marked(self) -> None:
        """Tells all views which rows are marked, their tags, and how many rows have which tag."""
        few = self._marked if len(self._marked) <= MOST_OUTLINED else []
        objects = objects_of_rows(self._contents, few) if few else []
        of_marked = Counter(self._tags.of_rows.get(row) for row in self._marked)
        told = {
            "n_rows": len(self._marked),
            "objects": objects,
            "tagged": [[tag, count] for tag, count in of_marked.items() if tag is not None],
            "tags": [list(pair) for pair in Counter(self._tags.of_rows.values()).most_common()],
        }
        self.send({"tell": "marked"} | told)


def _of_submissions(rows: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of one table as they are; of several one after another, with `submission` as the first column."""
    if len(rows) == 1:
        return next(iter(rows.values()))
    names = pd.CategoricalDtype(list(rows))
    return pd.concat(
        [
            pd.concat([pd.Series(name, of_table.index, names, name="submission"), of_table], axis="columns")
            for name, of_table in rows.items()
        ]
    )
