"""Frames as small panels of one figure, and the area and the picture that a panel of a frame shows."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..viewer.extents import extents
from .frame_marks import draw_frame, frame_legend, tally
from .pictures_behind import Behind, extent_of, noted_size
from .plot_parts import figure_or_new, legend_below, plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

# The room for marks around the area of a panel, as a share of its longer side.
ROOM = 0.03

# The size of markers in panels as a share of that in a single frame.
SMALL = 0.65


def draw_panels(
    figure: Figure | None,
    of_sequences: pd.DataFrame,
    panels: list[pd.DataFrame],
    pictures: list[Behind | None],
    n_columns: int | None = None,
) -> Figure:
    """Draws frames into the panels of a figure, with one legend below them.

    `panels` has the rows of each frame, `pictures` what is behind it, and `of_sequences` all rows of their sequences,
    whose area all frames without a picture share. Without a figure, a new one has the size that fits.
    """
    columns = n_columns or _columns(len(panels))
    areas = _areas(of_sequences, panels, pictures)
    n_rows = -(-len(panels) // columns)
    shapes = [abs(top - bottom) / (right - left) for left, right, bottom, top in areas]
    height = WIDTH * float(np.clip(np.median(shapes), FLATTEST, STEEPEST)) + TITLE
    figure = figure_or_new(figure, (max(WIDTH * columns + 0.3, NARROWEST), height * n_rows + LEGEND))
    grid = figure.subplots(n_rows, columns, squeeze=False).ravel()
    for ax in grid[len(panels) :]:
        ax.remove()
    for place, (rows, behind, area) in enumerate(zip(panels, pictures, areas, strict=True)):
        ax = grid[place]
        _draw_panel(ax, rows, behind, area)
        if place % columns == 0:
            ax.set_ylabel("y, px", fontsize="small")
        if place + columns >= len(panels):
            ax.set_xlabel("x, px", fontsize="small")
    legend_below(figure, frame_legend(of_sequences))
    return figure


def _draw_panel(ax: Axes, rows: pd.DataFrame, behind: Behind | None, area: Area) -> None:
    """Draws a frame into a panel that shows an area."""
    left, right, bottom, top = area
    show_picture(ax, rows, behind)
    draw_frame(ax, rows, scale=SMALL, rim=behind is not None)
    sequence, frame = (rows[column].iloc[0] for column in ("sequence", "frame"))
    ax.set_title(f"{plain(shortened(sequence, 24))}, frame {frame}\n{tally(rows)}", fontsize="small")
    ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    ax.tick_params(labelsize="x-small")
    ax.locator_params(nbins=4)


def show_picture(ax: Axes, rows: pd.DataFrame, behind: Behind | None) -> None:
    """Draws the picture of a frame, if there is one, and shows its area, or that of the frame's noted size."""
    size = noted_size(rows) if behind is None else behind.size
    if behind is not None:
        ax.imshow(behind.pixels, cmap="gray", vmin=0, vmax=255, extent=extent_of(behind.size), zorder=0)
    if size is not None:
        left, right, bottom, top = extent_of(size)
        ax.set(xlim=(left, right), ylim=(bottom, top))


def image_plane(ax: Axes) -> Axes:
    """Labels the Axes in px and makes y point down."""
    ax.set(xlabel="x, px", ylabel="y, px", aspect="equal")
    if not ax.yaxis_inverted():
        ax.invert_yaxis()
    return ax


def _columns(n_panels: int) -> int:
    """The count of columns of a grid, which leaves as few cells empty as it can."""
    if n_panels < MOST_COLUMNS:
        return n_panels
    return min((MOST_COLUMNS, MOST_COLUMNS - 1), key=lambda n_columns: -n_panels % n_columns)


def _areas(of_sequences: pd.DataFrame, panels: list[pd.DataFrame], pictures: list[Behind | None]) -> list[Area]:
    """The left, right, bottom and top (px) of each panel: of its picture, of its noted size, or of all sequences."""
    tau = of_sequences.attrs.get("tau")
    reach = float(tau) if isinstance(tau, int | float) else 0.0
    [[left, right, top, bottom]] = extents(of_sequences, np.zeros(len(of_sequences), np.int64), 1, reach).tolist()
    room = ROOM * max(right - left, bottom - top)
    left, right, top, bottom = left - room, right + room, top - room, bottom + room
    sizes = [noted_size(rows) if behind is None else behind.size for rows, behind in zip(panels, pictures, strict=True)]
    return [(left, right, bottom, top) if size is None else extent_of(size) for size in sizes]
