"""What every geometry knows: its columns, how two rows are measured, where a row lies, and how far off one is.

The engine measures pairs through `measure`, which takes what `prepare` makes of each side once, and the positions of
the rows of P pairs. `reach` gives the boxes in which rows lie, grown so that only pairs whose boxes touch may be near.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..tables import Columns, SideColumns, as_numbers, schema

if TYPE_CHECKING:
    import pandas as pd

# A function from the prepared truth and predictions, and the rows of P pairs in each, to a number for each pair, (P,).
PairMeasure = Callable[[Any, Any, np.ndarray, np.ndarray], np.ndarray]

# x and y (N,) of N rows.
Places = tuple[np.ndarray, np.ndarray]

# The words by which callers ask for a similarity, and the names of all built-in rules.
SIMILARITIES = ("iou", "oks", "point", "boundary_iou")
MEASURES = ("distance", "keypoint", *SIMILARITIES)

# Searches reach farther by this share of the coordinates. It is larger than any rounding error, so they miss no pair.
ROOM = 1e-12


class Extents(NamedTuple):
    """The boxes in which N rows lie: middles (N,), and half the widths and heights, (N,) or one for all rows."""

    x: np.ndarray
    y: np.ndarray
    half_width: np.ndarray | float
    half_height: np.ndarray | float


class Offsets(NamedTuple):
    """How far off predictions are, as `bias` measures it: M numbers of each of the P parts of an object.

    Attributes
    ----------
    metrics
        The names of the M numbers.
    parts
        The names of the P parts: the joints of whole poses; one part without a name else.
    measured
        A function from N true positives, rows of the truth and rows of the predictions, to their offsets (N, P, M),
        null where one is not known.
    moved
        A function from N predictions and an offset of each, (N, P, M), to the predictions without it; None where it
        cannot be undone.
    told
        A function from offsets (..., M) to the numbers that the result has.
    """

    metrics: list[str]
    parts: list[str]
    measured: Callable[[Rows, Rows], np.ndarray]
    moved: Callable[[pd.DataFrame, np.ndarray], pd.DataFrame] | None
    told: Callable[[np.ndarray], np.ndarray]


# A mistake in columns, what to do about it, and a function from a table to the same without it.
Slip = tuple[str, str, Callable[["pd.DataFrame"], "pd.DataFrame"]]

# The same with a function from the truth's objects and the predictions to these; None where there is no such mistake.
SlipBesideTruth = tuple[str, str, Callable[["pd.DataFrame", "pd.DataFrame"], "pd.DataFrame | None"]]


@dataclass(frozen=True)
class Geometry:
    """One geometry: what it knows is a fact or a function here, so that nothing else asks which geometry there is.

    Attributes
    ----------
    name
        What notes call it: "points", "boxes", "joints", "poses", or the name of the caller's function.
    words
        What messages call its rows, where that is not the name: "places in the sky".
    columns
        The columns that rows of both sides have, besides the key.
    columns_of_tables
        The same of the rows that tables have, where they are others: joints that are taken together as poses.
    without
        Columns that tables of this geometry do not have: joints may carry the columns of boxes.
    prepare
        A function from the columns of a side to what `measure` and `reach` take.
    measure
        How pairs of rows are measured; None where the caller's function is lost, as in rules that are read from notes.
    reach
        A function from both prepared sides and the largest distance, or the least similarity, of a near pair to the
        extents of the truths and of the predictions: only pairs whose extents touch may be near. None where any pair
        of a frame may be near.
    is_distance
        Whether `measure` gives distances, and no similarities from 0 to 1.
    unit
        The unit of distances and places; "px" unless it is said.
    places_in
        The unit of middles and outlines, where it is not `unit`: places in the sky are in degrees.
    places_per_unit
        How much of that is one `unit`.
    similarity
        The word by which callers ask for its own measure, which is also the name of the rule; None where that is a
        distance, or has no word.
    title
        What people call its similarity, such as "IoU"; empty where they know it by the name of the rule.
    official_numbers
        Which of COCO's two lists of numbers average precision has: "boxes" or "poses".
    columns_of_truth
        The columns, besides those of both sides, that only the truth needs.
    any_column
        Whether `measure` may read any column of a row.
    covered
        How much of a prediction lies in a crowd, from 0 to 1; None where a prediction covers a crowd that it is near.
    of_truths, of_crowds
        How average precision measures truths and crowds, where its official evaluator computes in another order than
        `measure`; the measure of a crowd is the share of the prediction that lies in it.
    never_found
        Marks the truths of a side that no prediction can find, which average precision ignores; None for none.
    assembled
        Makes rows of this geometry of the rows of both sides, where it has other rows than tables have; None else.
    kit_place
        A function from rows to where the official evaluator of tracks takes them to be, if not at their middles.
    place, outline, size
        Functions from rows to their middles; to their outlines (N, K, 2), with a null row after each of several rings;
        to their areas (N,). None where not known.
    placed_by
        The two columns that say where rows lie along the axes of an image, where they have these.
    third
        The column of a third coordinate, along no axis of an image; empty where there is none.
    same_in_frame
        Columns that all rows of a frame share; rows that differ in them have nothing in common.
    is_filled
        Whether plots and the viewer fill the outlines; of the viewer, those that run lengths tell.
    chart
        A function from the rows of both sides of a match table and their sequences, numbered from 0, to their places in
        a plane of the unit of distances, for pictures; None where middles lie in one themselves.
    axes
        What pictures call the axes of that plane. Those of a chart grow to the left and up.
    sizes
        The columns of sizes in pixels that are measured from edge to edge, and so may be wrong by a pixel.
    drawn_as
        What the viewer draws rows as: "points" or "boxes".
    drawn_box, drawn_angle
        Of what is drawn as boxes: a function from rows to their left, top, width and height, where the columns x, y, w
        and h are not these; the column of the angle by which they are turned about their middle (degrees), if any.
    offsets
        What `bias` measures; None of rows that only a function of the caller's knows.
    slips
        The slips of the pen that `check` looks for in predictions: what each is, what to do about it, and a function
        that corrects a table.
    slips_beside_truth
        Further ones, which need the truth's objects to be corrected.
    forms
        Those of the slips that normalised coordinates may have, too.
    variants
        The same rows under other measures, each with the word of its own as `similarity`.
    given
        What a person registered, with a method `registered`; it makes the geometry again in another process.
    """

    name: str
    columns: tuple[str, ...]
    prepare: Callable[[Columns], Any]
    measure: PairMeasure | None
    reach: Callable[[Any, Any, float], tuple[Extents, Extents]] | None = None
    is_distance: bool = False
    unit: str | None = None
    places_in: str | None = None
    places_per_unit: float = 1.0
    words: str = ""
    similarity: str | None = None
    title: str = ""
    official_numbers: str = "boxes"
    columns_of_tables: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    columns_of_truth: tuple[str, ...] = ()
    any_column: bool = False
    covered: PairMeasure | None = None
    of_truths: PairMeasure | None = None
    of_crowds: PairMeasure | None = None
    never_found: Callable[[Columns], np.ndarray] | None = None
    assembled: Callable[[SideColumns, SideColumns], tuple[SideColumns, ...]] | None = None
    kit_place: Callable[[Rows], Places] | None = None
    place: Callable[[Rows], Places] | None = None
    outline: Callable[[Rows], np.ndarray] | None = None
    size: Callable[[Rows], np.ndarray] | None = None
    chart: Callable[[Rows, Rows, np.ndarray], tuple[Places, Places]] | None = None
    axes: tuple[str, str] = ("x", "y")
    placed_by: tuple[str, str] = ("x", "y")
    third: str = ""
    sizes: tuple[str, ...] = ()
    same_in_frame: tuple[str, ...] = ()
    is_filled: bool = False
    drawn_as: str = "points"
    drawn_box: Callable[[Rows], tuple[np.ndarray, ...]] | None = None
    drawn_angle: str | None = None
    offsets: Offsets | None = None
    slips: tuple[Slip, ...] = ()
    slips_beside_truth: tuple[SlipBesideTruth, ...] = ()
    forms: tuple[Slip, ...] = ()
    variants: tuple[Geometry, ...] = ()
    given: Any = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.given is None:
            return super().__reduce_ex__(protocol)
        return type(self.given).registered, (self.given,)

    @property
    def called(self) -> str:
        """What messages call its rows."""
        return self.words or self.name

    def rule_name(self, by_similarity: bool) -> str:
        """What rules and notes call its measure, where it has columns of its own."""
        if self.given is not None:
            return self.name
        return self.similarity or ("point" if by_similarity else "distance")

    def measured_by(self, word: str) -> Geometry | None:
        """The geometry of the same rows whose measure callers ask for by this word; None if there is none."""
        is_point = word == "point" and self.is_distance and self.given is None
        if is_point or (self.similarity is not None and word == self.similarity):
            return self
        return next((variant for variant in self.variants if variant.similarity == word), None)

    @property
    def in_image(self) -> bool:
        """Whether rows lie in an image by two of their columns, which can be moved, scaled and mirrored."""
        return self.can_move and {*self.placed_by} <= {*self.columns}

    def shifted(self, objects: pd.DataFrame, dx: Any, dy: Any) -> pd.DataFrame:
        """Objects moved back by dx and dy, one number or (N,), in the unit of the geometry's offsets."""
        if self.offsets is None or self.offsets.moved is None:
            raise ValueError(f"nothing tells how {self.called} are moved")
        offset = np.zeros((len(objects), len(self.offsets.parts), len(self.offsets.metrics)))
        offset[..., 0], offset[..., 1] = (np.broadcast_to(along, len(objects))[:, None] for along in (dx, dy))
        return self.offsets.moved(objects, offset)

    @property
    def can_move(self) -> bool:
        """Whether something tells how rows are moved."""
        return self.offsets is not None and self.offsets.moved is not None

    def is_of(self, columns: Any, prefix: str = "") -> bool:
        """Whether columns are those of this geometry; `prefix` is that of a match table's columns."""
        there = all(f"{prefix}{name}" in columns for name in self.columns)
        return there and not any(name in columns for name in self.without)


class Rows:
    """The columns of one side of a table or a match table as float64 arrays by name, without their prefix."""

    def __init__(self, table: Any, prefix: str = ""):
        self.table, self.prefix = table, prefix

    def __getitem__(self, name: str) -> np.ndarray:
        return as_numbers(self.table[f"{self.prefix}{name}"])

    def given(self, name: str) -> Any:
        """A column as it is, such as one of text."""
        return self.table[f"{self.prefix}{name}"]

    def __contains__(self, name: object) -> bool:
        return f"{self.prefix}{name}" in self.table


def sides_of_matches(matches: Any) -> tuple[Rows, Rows]:
    """The columns of the truths and of the predictions of a match table, without their prefixes."""
    truth, predictions = (Rows(matches, prefix) for prefix in schema.SIDE_PREFIXES)
    return truth, predictions


def difference(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left - right; infinite, without a warning, if the difference is too large for float64."""
    with np.errstate(over="ignore"):
        return left - right


def swapped(objects: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
    """The objects with two columns in each other's place."""
    return objects.assign(**{one: objects[other], other: objects[one]})


def swap_of(one: str, other: str) -> Slip:
    """Two columns that stand for each other."""
    advice = f"write each into its own column: {one}, {other}"
    return f"{one} and {other} are swapped", advice, partial(swapped, one=one, other=other)


SWAP: Slip = (
    "x and y are swapped",
    "write the column of the image, then its row: x, y",
    partial(swapped, one="x", other="y"),
)
