"""Plots of single rows: a grid of patches, each the neighbourhood of one object in its frame."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

import textwrap
import warnings
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...matching import Rule
from ...tables import Table, schema
from ..viewer import places
from . import plot_parts as parts
from .display import words
from .drawn_tables import count_to_draw
from .frame_marks import Marking, draw_frame, frame_legend, marking_of
from .frame_plots import Area, check_image, checked
from .pictures import Crop, crops_behind
from .plot_parts import plain, shortened
from .wording import in_unit, measure_name, plane_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 6

# The width of a patch and the height of its texts, in inches; the least width of a figure, which its legend needs.
WIDTH, TEXTS, NARROWEST = 1.7, 0.75, 6.4
LEGEND = 0.5

# How many times as wide as the object a patch is.
ROOM = 2.0

# The size of markers as a share of that in a single frame.
SMALL = 0.8

# What a row is, in words.
WORDS = {"TP": "found", "FN": "missed", "FP": "false"}

# The longest name in a text above a patch, and the longest line there, in characters.
LONGEST = 14
LINE = 26


@parts.takes_figure
def patches(
    rows: Table,
    ax: parts.Panels = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    images: str | Path | None = None,
    most: int = 24,
    axes: tuple[str, str] | None = None,
    **lines: Any,
) -> np.ndarray:
    """Draws rows of a match table as a grid of patches: each object with what lies around it.

    Take the rows that you want to look at, in the order in which you want to see them: the surest false alarms, the
    misses of a slice, one cell of a confusion.

    Parameters
    ----------
    rows
        Rows of a match table with the coordinates of truths and predictions. Rows of empty frames are left out.
    ax
        One Axes, whose place the patches take, or as many Axes as there are patches; a new figure without it.
        `figure`, its name before, is deprecated and ends in 0.3.
    label
        The name of the submission, before the texts of the legend.
    color
        A colour for all marks, or one for each of the four in the legend, as a list or by name; those of the theme
        without it.
    images
        A folder of pictures, from which the patches are cut, as `gallery` finds them. A warning tells of frames whose
        picture is missing, damaged, or too small for the truths.
    most
        The largest count of patches; the first rows are drawn.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space, such as ("x", "z"); x and y without a word.
    lines
        Options of Matplotlib for the marks, such as `linewidth`.

    Returns
    -------
    The Axes, one for each row, (rows,), in the order of the rows, and one legend. Above a patch stand the outcome,
    the score, the similarity or the distance, the category and the frame; below it, its width. Patches are twice as
    wide as their objects; those of points reach as far as tau beyond the points, and have the same width. Other rows
    of `rows` that lie in the same patch are drawn, too.

    Raises
    ------
    InputError: `rows` are of no match table, coordinates are missing, or `images` is no folder.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(*sf.read_coco("data/coco/annotations.json", "data/coco/precise.json", boxes=True))
    >>> false_alarms = matches[matches["outcome"] == "FP"].sort_values("predicted_score", ascending=False)
    >>> print(sf.plots.patches(false_alarms, most=6)[0].get_title())
    false, score 0.986, person
    street_029.jpg
    """
    table = checked(rows, axes)
    if images is not None:
        check_image(plane_of(table))
    table = table[table["outcome"] != "empty"]
    shown = table.iloc[: count_to_draw(most, "most", "plots")]
    if not len(shown):
        grid = parts.panels_or_new(ax, 1, 1, parts.SIZE)
        parts.nothing_to_draw(grid[0], "no rows")
        return grid
    areas = _areas(shown)
    crops, warning = crops_behind(images, shown, areas)
    if warning is not None:
        warnings.warn(warning, stacklevel=3)  # takes_figure lies between
    n_rows = -(-len(shown) // COLUMNS)
    columns = min(COLUMNS, len(shown))
    size = max(WIDTH * columns + 0.3, NARROWEST), (WIDTH + TEXTS) * n_rows + LEGEND
    marking = marking_of(parts.first_of(ax), label, color, lines)
    grid = parts.panels_or_new(ax, len(shown), columns, size)
    by_frame = dict(tuple(table.groupby(schema.FRAME_KEY, sort=False, observed=True)))
    for patch, position, area, crop in zip(grid, range(len(shown)), areas, crops, strict=False):
        row = shown.iloc[position]
        _draw_patch(patch, row, by_frame[row["sequence"], row["frame"]], area, crop, marking)
    title = f"{len(shown)} of {len(table):,} rows" if len(shown) < len(table) else ""
    parts.legend_of_panels(grid, frame_legend(table, marking), ax is None, title)
    return grid


def _draw_patch(ax: Axes, row: pd.Series, rows: pd.DataFrame, area: Area, crop: Crop | None, marking: Marking) -> None:
    """Draws the rows of a frame into Axes that show an area, with the texts of one row."""
    plane = plane_of(rows)
    left, right, bottom, top = area
    if crop is not None:
        ax.imshow(crop.pixels, cmap="gray", vmin=0, vmax=255, extent=crop.extent, zorder=0)
    draw_frame(ax, rows, scale=SMALL, rim=crop is not None, marking=marking)
    ax.set(
        xlim=(left, right), ylim=(top, bottom) if plane.is_up else (bottom, top), aspect="equal", xticks=[], yticks=[]
    )
    lines = [*textwrap.wrap(words_of(row, rows.attrs), LINE), name_of_frame(row)]
    ax.set_title("\n".join(map(plain, lines)), fontsize="x-small")
    ax.set_xlabel(plain(f"{in_unit(float(f'{right - left:.3g}'), plane.unit)} wide"), fontsize="x-small", labelpad=2)


def _areas(rows: pd.DataFrame) -> list[Area]:
    """The left, right, bottom and top of the patch of each row: squares around the objects of both sides."""
    edges = np.stack([[places.reach(rows, prefix, axis) for prefix in schema.SIDE_PREFIXES] for axis in "xy"])
    edges = edges.reshape(2, -1, len(rows))
    low, high = np.fmin.reduce(edges, axis=1), np.fmax.reduce(edges, axis=1)
    half, tau = ROOM * (high - low).max(axis=0) / 2, rows.attrs.get("tau")
    half = np.maximum(half, 2 * float(tau)) if isinstance(tau, int | float) else half
    half = np.where(half > 0, half, half.max() or 1.0)  # points by a similarity have no size
    x, y = (low + high) / 2
    return list(zip(*(edge.tolist() for edge in (x - half, x + half, y + half, y - half)), strict=True))


def words_of(row: pd.Series, notes: Mapping[Hashable, Any]) -> str:
    """What a row of a match table with these notes is: "found, score 0.43, IoU 0.71, car as van"."""
    kind = f" ({words(row['kind'])})" if isinstance(row.get("kind"), str) else ""
    texts = [f"{WORDS[row['outcome']]}{kind}"]
    if not pd.isna(row.get("predicted_score")):
        texts.append(f"score {row['predicted_score']:.3g}")
    if not pd.isna(row.get("similarity")):
        texts.append(f"{measure_name(Rule(str(notes.get('rule', 'similarity'))))} {row['similarity']:.3g}")
    elif not pd.isna(row.get("distance")):
        texts.append(f"distance {in_unit(float(format(row['distance'], '.3g')), notes.get('unit'))}")
    names = [row.get(f"{prefix}category") for prefix in schema.SIDE_PREFIXES]
    known = list(dict.fromkeys(shortened(name, LONGEST) for name in names if not pd.isna(name)))
    return ", ".join([*texts, *([" as ".join(known)] if known else [])])


def name_of_frame(row: pd.Series) -> str:
    """What a frame is called: the name of its picture's file, or else its sequence and frame."""
    name = row.get("frame_file_name")
    if isinstance(name, str):
        return shortened(name, 2 * LONGEST)
    return f"{shortened(row['sequence'], LONGEST)}, frame {row['frame']}"
