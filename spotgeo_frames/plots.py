"""Plots of the tables of this package, made with matplotlib.

Every function draws one table. A plot with a single panel is drawn into the given Axes, and a plot with several panels
into the given Figure; without one, a new figure is made. The function returns what it drew into and neither shows nor
saves it. Axis labels carry units. The colours can be told apart with any kind of colour vision, and lines and markers
also differ in shape, so plots can be read in grey. In image planes y points down, as in images.

They need the extra `plots`; without it, a plot raises an ImportError that says what to install.
"""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .geometries import offsets
from .matching import noted_rule
from .presentation.drawing import (
    BLUE,
    GREY,
    LINES,
    RED,
    axes_or_new,
    axis_label,
    calibration,
    confusion,
    detection_limit,
    drawn_tables,
    error_costs,
    forest,
    frame,
    gallery,
    gospa,
    hota_curve,
    image_plane,
    legend_beside,
    metric_by_slice,
    nothing_to_draw,
    patches,
    plain,
    precision_recall,
    protocols,
    sequence,
    strip,
    sweep_curves,
    wording,
)
from .tables import Table, schema

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "calibration",
    "confusion",
    "detection_limit",
    "distances",
    "error_costs",
    "forest",
    "frame",
    "gallery",
    "gospa",
    "hota_curve",
    "metric_by_slice",
    "patches",
    "precision_recall",
    "protocols",
    "recall_map",
    "residuals",
    "sequence",
    "strip",
    "sweep_curves",
]


def __dir__() -> list[str]:
    """Plots alone, so that completion shows nothing else."""
    return __all__


def recall_map(matches: Table, ax: Axes | None = None, bins: int = 12, axes: tuple[str, str] | None = None) -> Axes:
    """Draws a map of recall over the image plane (px).

    Parameters
    ----------
    matches
        A match table with `truth_x` and `truth_y`.
    ax
        The Axes to draw into; a new figure without it.
    bins
        The count of columns of the map. There are as many rows as make its cells square.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space; x and y without a word.

    Returns
    -------
    The Axes. Cells without truths are blank.

    Raises
    ------
    InputError: `matches` is no match table, the coordinates of truths are missing, or `bins` is no count.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.plots.recall_map(matches).get_title()
    'Recall over the image, 627 truths'
    """
    table = drawn_tables.places_to_draw(matches, "plots", 3, axes)
    drawn_tables.check_one_submission(table, "recall_map", "give one, or use charts.recall_map")
    grid = drawn_tables.recall_grid(table, drawn_tables.count_to_draw(bins, "bins", "plots"))
    ax = axes_or_new(ax)
    if grid is None:
        return nothing_to_draw(ax, "no truths")
    mesh = ax.pcolormesh(grid.x_edges, grid.y_edges, grid.recall.T, cmap="cividis", vmin=0, vmax=1)
    ax.figure.colorbar(mesh, ax=ax, label=axis_label("recall"))
    plane = wording.plane_of(table)
    ax.set(title=f"Recall over {plane.words}, {int(grid.n_truth.sum()):,} truths")
    return image_plane(ax, plane)


def distances(matches: Table | Mapping[str, Table], ax: Axes | None = None, bins: int = 40) -> Axes:
    """Draws a histogram of the distances (px), or of the similarities, of the true positives.

    Parameters
    ----------
    matches
        A match table, or a dict from the names of submissions to match tables, which have an outline each. Where its
        notes have them, epsilon and tau are marked.
    ax
        The Axes to draw into; a new figure without it.
    bins
        The count of bars.

    Returns
    -------
    The Axes, which say so if there are no true positives.

    Raises
    ------
    InputError: `matches` is no match table, or `bins` is no count.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.plots.distances(matches).get_xlabel()
    'distance, px'
    """
    table = drawn_tables.matches_to_draw(matches, "plots", 3)
    bins = drawn_tables.count_to_draw(bins, "bins", "plots")
    measure = schema.measure_of(table)
    values = table[measure].dropna().to_numpy(np.float64)
    ax = axes_or_new(ax)
    if not len(values):
        return nothing_to_draw(ax, "no true positives")
    if "submission" in table:
        _outlines(ax, table, measure, bins)
    else:
        ax.hist(values, bins=bins, color=BLUE, edgecolor="white", linewidth=0.3)
    measure_label = measure
    if measure == "distance":
        rule = noted_rule.distance_rule(table, needs=())
        for name, mark, style, color in (("epsilon", rule.epsilon, "--", GREY), ("tau", rule.tau, "-", RED)):
            if mark is not None:
                text = plain(f"{name}, {wording.in_unit(mark, rule.unit)}")
                ax.axvline(mark, linestyle=style, color=color, label=text)
        measure_label = plain(wording.measure_title(rule))
    if "submission" not in table:  # the outlines of several have their means in their names
        ax.axvline(values.mean(), linestyle=":", color="black", label=f"mean, {values.mean():.3g}")
    ax.set(xlabel=measure_label, ylabel="true positives")
    ax.set(title=f"{measure.capitalize()} of {len(values):,} true positives")
    legend_beside(ax)
    return ax


def _outlines(ax: Axes, table: pd.DataFrame, measure: str, bins: int) -> None:
    """Draws the outline of the histogram of each submission, all in the same bins."""
    of, values = drawn_tables.names_of_rows(table, "plots").to_numpy(), table[measure].to_numpy(np.float64)
    edges = np.histogram_bin_edges(values[~np.isnan(values)], bins).tolist()
    for position, name in enumerate(dict.fromkeys(of)):
        style, _, color = LINES[position % len(LINES)]
        own = values[(of == name) & ~np.isnan(values)]
        named = f"{plain(name)}, mean {own.mean():.3g}" if len(own) else plain(name)
        ax.hist(own, bins=edges, histtype="step", color=color, linestyle=style, linewidth=1.8, label=named)


def residuals(
    matches: Table, ax: Axes | None = None, tau: float | None = None, axes: tuple[str, str] | None = None
) -> Axes:
    """Draws predicted minus true coordinates of the true positives (px), with their mean, and tau as a circle.

    Parameters
    ----------
    matches
        A match table by distance, with the coordinates of truths and predictions.
    ax
        The Axes to draw into; a new figure without it.
    tau
        The largest distance of a true positive (px). Needed only where the match table has lost its own.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space; x and y without a word.

    Returns
    -------
    The Axes, which say so if there are no true positives.

    Raises
    ------
    InputError: `matches` is no match table by distance, coordinates are missing, or tau is not known.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.plots.residuals(matches).get_xlabel()
    'predicted - true x, px'
    """
    table = drawn_tables.places_to_draw(matches, "plots", 3, axes)
    drawn_tables.check_one_submission(table, "residuals", "give one, or use charts.residuals")
    rule = noted_rule.distance_rule(table, ["tau"], tau)
    drawn_tables.check_offsets(table, "plots")
    dx, dy = offsets(table)
    hits = ~(np.isnan(dx) | np.isnan(dy)) & (table["outcome"].array.codes == schema.TP)
    dx, dy = dx[hits], dy[hits]
    ax = axes_or_new(ax)
    if not len(dx):
        return nothing_to_draw(ax, "no true positives")
    from matplotlib.patches import Circle

    ax.scatter(dx, dy, s=float(np.clip(4000 / len(dx), 1, 20)), color=BLUE, alpha=0.4, linewidths=0)
    reach, plane = 1.05 * drawn_tables.offset_reach(table, rule), wording.plane_of(table)
    plane = plane._replace(unit="") if rule.named_distance else plane
    if rule.image_tau is not None:
        text = f"tau, {wording.in_unit(rule.tau, rule.unit)}"
        ax.add_patch(Circle((0, 0), rule.image_tau, fill=False, linestyle="-", edgecolor=GREY, label=text))
    form = "+.3g" if rule.named_distance else "+.2f"  # of coordinates in any unit
    sign = -1 if plane.is_chart else 1
    mean = f"mean, {sign * dx.mean():{form}}, {sign * dy.mean():{form}} {plane.unit}".rstrip()
    ax.plot(dx.mean(), dy.mean(), "P", color=RED, markeredgecolor="white", markersize=12, label=mean)
    ax.axhline(0, color=GREY, linewidth=0.5)
    ax.axvline(0, color=GREY, linewidth=0.5)
    image_plane(ax, plane)
    titles = {f"{axis}label": plane.offset_title(axis) for axis in "xy"}
    ax.set(**titles, title=f"Residuals of {len(dx):,} hits", xlim=(-reach, reach))
    ax.set_ylim((-reach, reach) if plane.is_up else (reach, -reach))
    legend_beside(ax)
    return ax
