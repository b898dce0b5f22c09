"""Plots of frames: one frame, and the first frames of a sequence or a gallery of the worst as panels of one figure."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

import warnings
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_string_dtype

from ...geometries import geometry_of, with_places
from ...support import InputError, arrays
from ...tables import Table, arrow, check_coordinates, checks, schema
from ..viewer import places
from . import plot_parts as parts
from .drawn_tables import check_one_submission, count_to_draw
from .frame_marks import Marking, draw_frame, frame_legend, marking_of, tally
from .pictures import Behind, extent_of, noted_size, picture_behind, pictures_behind
from .plot_parts import plain, shortened
from .wording import Plane, plane_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The left, right, bottom and top (px) of what a panel shows.
Area = tuple[float, float, float, float]

MOST_COLUMNS = 4

# The width of a panel, and the height of its title and axis, in inches; the height of its plane follows from its area.
WIDTH = 2.9
TITLE = 0.75
LEGEND = 0.5

# The least width of a figure, in inches, which its legend needs.
NARROWEST = 6.4

# The height of a plane as a share of its width, at least and at most.
FLATTEST, STEEPEST = 0.4, 1.4

# The width of the border of a panel that stands out, in points.
BORDER = 2.5

# The room for marks around the area of a panel, as a share of its longer side.
ROOM = 0.03

# The size of markers in panels as a share of that in a single frame.
SMALL = 0.65


def frame(
    matches: Table,
    sequence: Hashable,
    frame: int,
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    picture: Any = None,
    axes: tuple[str, str] | None = None,
    **lines: Any,
) -> Axes:
    """Draws one frame: its truths, its predictions, and a line between each truth and its matched prediction.

    Boxes are drawn from corner to corner, with the marks of points at their centres. Whole poses, and joints that have
    a row each, are drawn with their skeletons where the joints are those of COCO or PoseTrack. In a table of tracks the
    identities stand beside the objects, and a diamond marks each switch of identity.

    Parameters
    ----------
    matches
        A match table with the coordinates of truths and predictions.
    sequence, frame
        The sequence, of the type that the table's sequences have, and the number of the frame.
    ax
        The Axes to draw into; a new figure without it.
    label
        The name of the submission, before the texts of the legend.
    color
        A colour for all marks, or one for each of the four in the legend, as a list or by name; those of the theme
        without it.
    picture
        The picture to draw behind the frame: the path of a PNG or JPEG, or an array of pixels, (height, width) or
        (height, width, 3 or 4 colours). The centre of its first pixel is at 0, 0.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space, such as ("x", "z"), whose second axis then points up
        unless it is y; x and y without a word.
    lines
        Options of Matplotlib for the marks, such as `linewidth`.

    Returns
    -------
    The Axes, in px, with y pointing down. They show the area of the picture, or else of `frame_width` and
    `frame_height` (px) if the table has these columns, or else everything that is drawn.

    Raises
    ------
    InputError: `matches` is no match table, coordinates are missing, `sequence` is of another type than the table's,
        the table has no such frame, or the picture is missing, damaged, too large, or too small for the truths.

    Examples
    --------
    >>> import numpy as np
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.plots.frame(matches, 1, 1).get_title()
    'Sequence 1, frame 1\\n4 found, 1 missed, 0 false'
    >>> sky = np.random.default_rng(0).normal(100, 5, (480, 640))
    >>> sf.plots.frame(matches, 1, 1, picture=sky).images[0].get_extent()
    [-0.5, 639.5, 479.5, -0.5]
    """
    table = checked(matches, axes)
    if picture is not None:
        check_image(plane_of(table))
    [rows] = _rows_of(table, [(sequence, frame)])
    behind = None if picture is None else picture_behind(picture, rows)
    marking = marking_of(ax, label, color, lines)
    ax = parts.axes_or_new(ax)
    show_picture(ax, rows, behind)
    draw_frame(ax, rows, rim=behind is not None, marking=marking)
    title = f"Sequence {plain(shortened(sequence, 40))}, frame {frame}\n{tally(rows)}"
    ax.set_title(f"{marking.name}: {title}".removeprefix(": "))
    parts.legend(ax, handles=frame_legend(rows, marking))
    return image_plane(ax, plane_of(rows))


@parts.takes_figure
def sequence(
    matches: Table,
    name: Hashable,
    ax: parts.Panels = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    most: int = 5,
    axes: tuple[str, str] | None = None,
    **lines: Any,
) -> np.ndarray:
    """Draws the first frames of a sequence side by side, with equal axes.

    Parameters
    ----------
    matches
        A match table with the coordinates of truths and predictions.
    name
        The sequence, of the type that the table's sequences have.
    ax
        One Axes, whose place the panels take, or as many Axes as there are panels; a new figure without it.
        `figure`, its name before, is deprecated and ends in 0.3.
    label
        The name of the submission, before the texts of the legend.
    color
        A colour for all marks, or one for each of the four in the legend, as a list or by name; those of the theme
        without it.
    most
        The largest count of frames to draw.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space, such as ("x", "z"), whose second axis then points up
        unless it is y; x and y without a word.
    lines
        Options of Matplotlib for the marks, such as `linewidth`.

    Returns
    -------
    The Axes, one for each frame, (frames,), in px, with y pointing down.

    Raises
    ------
    InputError: `matches` is no match table, coordinates are missing, `name` is of another type than the table's
        sequences, or the table has no such sequence.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> len(sf.plots.sequence(matches, 1))
    5
    """
    table = checked(matches, axes)
    check_key(table, "sequence", name)
    rows = table[table["sequence"] == name]
    if not len(rows):
        raise InputError(f"plots: there is no sequence {name} in the match table")
    numbers = np.sort(rows["frame"].unique())[: count_to_draw(most, "most", "plots")].tolist()
    panels = _rows_of(rows, [(name, number) for number in numbers])
    marking = marking_of(parts.first_of(ax), label, color, lines)
    return draw_panels(ax, rows, panels, [None] * len(panels), marking, n_columns=len(panels))


@parts.takes_figure
def strip(
    matches: Table,
    sequence: Hashable,
    frame: int,
    ax: parts.Panels = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    images: str | Path | None = None,
    around: int = 2,
    axes: tuple[str, str] | None = None,
    **lines: Any,
) -> np.ndarray:
    """Draws a frame between those before and after it, side by side: what led to an error, and what followed.

    Parameters
    ----------
    matches
        A match table with the coordinates of truths and predictions.
    sequence, frame
        The sequence, of the type that the table's sequences have, and the number of the frame in the middle.
    ax
        One Axes, whose place the panels take, or as many Axes as there are panels; a new figure without it.
        `figure`, its name before, is deprecated and ends in 0.3.
    label
        The name of the submission, before the texts of the legend.
    color
        A colour for all marks, or one for each of the four in the legend, as a list or by name; those of the theme
        without it.
    images
        A folder of pictures to draw behind the frames, as `gallery` finds them.
    around
        How many frames of the table are drawn before the frame, and how many after it.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space, such as ("x", "z"), whose second axis then points up
        unless it is y; x and y without a word.
    lines
        Options of Matplotlib for the marks, such as `linewidth`.

    Returns
    -------
    The Axes, one for each frame, (frames,), in px, with y pointing down; that of the middle has a thick border. All
    panels without a picture share one area. Of tracks, only identities that are switched are written.

    Raises
    ------
    InputError: `matches` is no match table, coordinates are missing, the table has no such frame, or `images` is no
        folder.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> result = sf.track(*sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker"))
    >>> switch = result.matches[result.matches["event"] == "switch"].iloc[0]
    >>> panels = sf.plots.strip(result.matches, switch["sequence"], switch["frame"], around=1)
    >>> [panel.get_title().splitlines()[0] for panel in panels]
    ['crossing, frame 9', 'crossing, frame 10', 'crossing, frame 11']
    """
    table = checked(matches, axes)
    if images is not None:
        check_image(plane_of(table))
    _rows_of(table, [(sequence, frame)])  # which refuses a frame that is not there
    rows = table[table["sequence"] == sequence]
    numbers = np.sort(rows["frame"].unique())
    at, reach = int(np.searchsorted(numbers, frame)), count_to_draw(around, "around", "plots")
    shown = numbers[max(at - reach, 0) : at + reach + 1].tolist()
    panels = _rows_of(rows, [(sequence, number) for number in shown])
    pictures, warning = pictures_behind(images, panels)
    if warning is not None:
        warnings.warn(warning, stacklevel=3)  # takes_figure lies between
    marking = marking_of(parts.first_of(ax), label, color, lines)
    drawn = draw_panels(ax, rows, panels, pictures, marking, n_columns=len(panels))
    drawn[shown.index(frame)].spines[:].set_linewidth(BORDER)
    return drawn


@parts.takes_figure
def gallery(
    matches: Table,
    frames: Table | Iterable[tuple[Any, int]] | None = None,
    ax: parts.Panels = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    images: str | Path | None = None,
    most: int = 12,
    axes: tuple[str, str] | None = None,
    **lines: Any,
) -> np.ndarray:
    """Draws several frames as a grid of small panels: those with the most misses and false alarms, or given ones.

    Parameters
    ----------
    matches
        A match table with the coordinates of truths and predictions.
    frames
        The frames to draw: a table with `sequence` and `frame`, such as rows of a match table, or pairs of them.
        Without it, the frames with the most misses and false alarms, the worst first.
    ax
        One Axes, whose place the panels take, or as many Axes as there are panels; a new figure without it.
        `figure`, its name before, is deprecated and ends in 0.3.
    label
        The name of the submission, before the texts of the legend.
    color
        A colour for all marks, or one for each of the four in the legend, as a list or by name; those of the theme
        without it.
    images
        A folder of pictures to draw behind the frames. The picture of a frame is SEQUENCE/FRAME.png, .jpg or .jpeg, or
        SEQUENCE/img1/000001.jpg as folders of MOTChallenge have it, or the file that a column `file_name` of the
        truth's frames or objects names. A warning tells of frames whose picture is missing, damaged, or too small for
        the truths.
    most
        The largest count of frames to draw.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space, such as ("x", "z"), whose second axis then points up
        unless it is y; x and y without a word.
    lines
        Options of Matplotlib for the marks, such as `linewidth`.

    Returns
    -------
    The Axes, one for each frame, (frames,), in px, with y pointing down, and one legend. A panel shows the area of its
    picture, or else of `frame_width` and `frame_height` (px) if the table has these columns. All other panels share
    one area, so that they have one scale: it holds all truths of their sequences, and predictions far outside of it are
    not seen. Of tracks, only identities that are switched are written.

    Raises
    ------
    InputError: `matches` is no match table, coordinates are missing, the table has none of a frame, or `images` is no
        folder.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> len(sf.plots.gallery(matches, most=6))
    6
    >>> sf.plots.gallery(matches, [(1, 1), (1, 2)])[1].get_title()
    '1, frame 2\\n4 found, 1 missed, 0 false'
    """
    table = checked(matches, axes)
    if images is not None:
        check_image(plane_of(table))
    chosen = _worst(table) if frames is None else _given(frames)
    panels = _rows_of(table, chosen[: count_to_draw(most, "most", "plots")])
    if not panels:
        drawn = parts.panels_or_new(ax, 1, 1, parts.SIZE)
        parts.nothing_to_draw(drawn[0], "no misses and no false alarms" if frames is None else "no frames")
        return drawn
    pictures, warning = pictures_behind(images, panels)
    if warning is not None:
        warnings.warn(warning, stacklevel=3)  # takes_figure lies between
    of_sequences = table[table["sequence"].isin({rows["sequence"].iloc[0] for rows in panels})]
    title, shown = "", f"{len(panels)} of {len(chosen):,} frames"
    if len(panels) < len(chosen):
        title = f"The worst {shown} with errors" if frames is None else shown
    marking = marking_of(parts.first_of(ax), label, color, lines)
    return draw_panels(ax, of_sequences, panels, pictures, marking, title=title)


def check_image(plane: Plane) -> None:
    """Raises InputError unless a plane is that of images, behind which there can be a picture."""
    if plane.is_chart:
        raise InputError("plots: a picture behind places in the sky needs their pixels; give a table with x and y")
    if not plane.is_image:
        raise InputError(f"plots: a picture shows x and y, and axes is {plane.x}, {plane.y}; give one of them")


def checked(matches: Table, axes: Any = None) -> pd.DataFrame:
    """A match table of one submission with coordinates, of points in space along two `axes`.

    Raises InputError if it is none.
    """
    table = checks.check_matches(matches)
    check_one_submission(table, "a picture of frames", "give the match table of one")
    checks.check_one_slice(table, "plots: matches")
    check_coordinates(table)
    for prefix in schema.SIDE_PREFIXES:
        geometry = geometry_of(table, prefix)
        if geometry.place is None:
            raise InputError(
                f"match table: {geometry.name} have no centre, so nothing can be drawn; geometry() takes one"
            )
    return with_places(table, axes)


def _worst(table: pd.DataFrame) -> list[tuple[Any, int]]:
    """The frames of a match table with errors, those with the most first."""
    frame, first = arrays.grouped(arrays.row_keys(table, schema.FRAME_KEY))
    outcome = table["outcome"].array.codes
    errors = arrays.added_at(frame, (outcome == schema.FN) | (outcome == schema.FP), len(first))
    order = np.argsort(-errors, kind="stable")
    keys = table[schema.FRAME_KEY].take(first[order[errors[order] > 0]])
    return list(keys.itertuples(index=False, name=None))


def _given(frames: Any) -> list[tuple[Any, int]]:
    """The pairs of sequence and frame that were given, each once; raises InputError if they are none."""
    if isinstance(frames, Iterable) and not hasattr(frames, "columns") and not hasattr(frames, "__arrow_c_stream__"):
        pairs = list(frames)
        wrong = [pair for pair in pairs if not isinstance(pair, tuple | list) or len(pair) != 2]
        if wrong:
            raise InputError(f"plots: frames: {wrong[0]!r} is no pair of a sequence and a frame, such as (1, 2)")
        return list(dict.fromkeys(map(tuple, pairs)))
    table = arrow.as_pandas(frames, "plots: frames")
    missing = [name for name in schema.FRAME_KEY if name not in table]
    if missing:
        raise InputError([f"plots: frames: column {name} is missing" for name in missing])
    return list(table[schema.FRAME_KEY].drop_duplicates().itertuples(index=False, name=None))


def _rows_of(table: pd.DataFrame, frames: list[tuple[Any, int]]) -> list[pd.DataFrame]:
    """The rows of each of these frames of a match table; raises InputError if it has none of one of them."""
    found = []
    for sequence, number in frames:
        check_key(table, "sequence", sequence)
        check_key(table, "frame", number)
        rows = table[(table["sequence"] == sequence) & (table["frame"] == number)]
        if not len(rows):
            raise InputError(f"plots: there is no sequence {sequence}, frame {number} in the match table")
        found.append(rows)
    return found


def check_key(table: pd.DataFrame, column: str, value: Any) -> None:
    """Raises InputError if a sequence or frame is given as text and the table has integers, or the other way round."""
    values = checks.decoded(table[column])
    kind = "integers" if is_integer_dtype(values.dtype) else "strings"
    if len(table) and isinstance(value, str) != (kind == "strings") and (kind == "integers" or is_string_dtype(values)):
        raise InputError(
            f"plots: {column} is {value!r}, a {type(value).__name__}; the {column}s of the table are {kind}"
        )


def draw_panels(
    given: Any,
    of_sequences: pd.DataFrame,
    panels: list[pd.DataFrame],
    pictures: list[Behind | None],
    marking: Marking,
    n_columns: int | None = None,
    title: str = "",
) -> np.ndarray:
    """Draws frames into panels, with one legend below them; returns their Axes.

    `panels` has the rows of each frame, `pictures` what is behind it, and `of_sequences` all rows of their sequences,
    whose area all frames without a picture share. Without `given` Axes, a new figure has the size that fits.
    """
    columns = n_columns or _columns(len(panels))
    areas = areas_of(of_sequences, panels, pictures)
    n_rows = -(-len(panels) // columns)
    shapes = [abs(top - bottom) / (right - left) for left, right, bottom, top in areas]
    height = WIDTH * float(np.clip(np.median(shapes), FLATTEST, STEEPEST)) + TITLE
    size = max(WIDTH * columns + 0.3, NARROWEST), height * n_rows + LEGEND
    grid, plane = parts.panels_or_new(given, len(panels), columns, size), plane_of(of_sequences)
    for place, (rows, behind, area) in enumerate(zip(panels, pictures, areas, strict=True)):
        ax = grid[place]
        _draw_panel(ax, rows, behind, area, marking)
        _count_to_the_left_and_up(ax, plane)
        if place % columns == 0:
            ax.set_ylabel(plane.title("y"), fontsize="small")
        if place + columns >= len(panels):
            ax.set_xlabel(plane.title("x"), fontsize="small")
    parts.legend_of_panels(grid, frame_legend(of_sequences, marking), given is None, title)
    return grid


def _draw_panel(ax: Axes, rows: pd.DataFrame, behind: Behind | None, area: Area, marking: Marking) -> None:
    """Draws a frame into a panel that shows an area."""
    left, right, bottom, top = area
    show_picture(ax, rows, behind)
    draw_frame(ax, rows, scale=SMALL, rim=behind is not None, marking=marking)
    sequence, frame = (rows[column].iloc[0] for column in ("sequence", "frame"))
    ax.set_title(f"{plain(shortened(sequence, 24))}, frame {frame}\n{tally(rows)}", fontsize="small")
    ax.set(xlim=(left, right), ylim=(top, bottom) if plane_of(rows).is_up else (bottom, top), aspect="equal")
    ax.tick_params(labelsize="x-small")
    ax.locator_params(nbins=4)


def show_picture(ax: Axes, rows: pd.DataFrame, behind: Behind | None) -> None:
    """Draws the picture of a frame, if there is one, and shows its area, or that of the frame's noted size."""
    size = behind.size if behind is not None else noted_size(rows) if plane_of(rows).is_image else None
    if behind is not None:
        ax.imshow(behind.pixels, cmap="gray", vmin=0, vmax=255, extent=extent_of(behind.size), zorder=0)
    if size is not None:
        left, right, bottom, top = extent_of(size)
        ax.set(xlim=(left, right), ylim=(bottom, top))


def image_plane(ax: Axes, plane: Plane) -> Axes:
    """Labels the Axes of a plane and makes y point down, as in images."""
    ax.set(xlabel=plane.title("x"), ylabel=plane.title("y"), aspect="equal")
    if ax.yaxis_inverted() == plane.is_up:
        ax.invert_yaxis()
    _count_to_the_left_and_up(ax, plane)
    return ax


def _count_to_the_left_and_up(ax: Axes, plane: Plane) -> None:
    """Labels the ticks of a chart, whose axes grow to the left and up, unlike the places that are drawn."""
    if plane.is_chart:
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: f"{-value + 0.0:g}")


def _columns(n_panels: int) -> int:
    """The count of columns of a grid, which leaves as few cells empty as it can."""
    if n_panels < MOST_COLUMNS:
        return n_panels
    return min((MOST_COLUMNS, MOST_COLUMNS - 1), key=lambda n_columns: -n_panels % n_columns)


def areas_of(of_sequences: pd.DataFrame, panels: list[pd.DataFrame], pictures: list[Behind | None]) -> list[Area]:
    """The left, right, bottom and top (px) of each panel: of its picture, of its noted size, or of all sequences."""
    tau = of_sequences.attrs.get("tau")
    reach = float(tau) if isinstance(tau, int | float) else 0.0
    [[left, right, top, bottom]] = places.extents(
        of_sequences, np.zeros(len(of_sequences), np.int64), 1, reach
    ).tolist()
    room = ROOM * max(right - left, bottom - top)
    left, right, top, bottom = left - room, right + room, top - room, bottom + room
    is_image = plane_of(of_sequences).is_image
    sizes = [
        behind.size if behind is not None else noted_size(rows) if is_image else None
        for rows, behind in zip(panels, pictures, strict=True)
    ]
    return [(left, right, bottom, top) if size is None else extent_of(size) for size in sizes]
