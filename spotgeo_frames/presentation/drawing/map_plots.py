"""Plots of planes: recall over the image, how far off hits are, and classes that are taken for classes."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...geometries import offsets
from ...matching import noted_rule
from ...tables import Table, schema
from ..theme import LIGHT, SEQUENTIAL
from . import drawn_confusion, drawn_results, drawn_tables, wording
from . import plot_parts as parts
from .frame_plots import image_plane

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def recall_map(
    matches: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    bins: int = 12,
    axes: tuple[str, str] | None = None,
    **mesh: Any,
) -> Axes:
    """Draws a map of recall over the image plane (px).

    Parameters
    ----------
    matches
        A match table with `truth_x` and `truth_y`, or a dict from the name of one submission to it.
    ax
        The Axes to draw into; a new figure without it. A map would cover another plot, so that is refused.
    label
        Name of the submission in the title, like a key of the dict.
    color
        The colour of 100% recall; lower values fade to white. Default: the theme's colour map.
    bins
        The count of columns of the map. There are as many rows as make its cells square.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space; x and y without a word.
    mesh
        Options of Matplotlib for the cells, such as `cmap`.

    Returns
    -------
    The Axes, with a colorbar beside them. Cells without truths are blank.

    Raises
    ------
    InputError: `matches` is no match table or is of several submissions, or `label` is given beside a dict; the
        coordinates of truths are missing; or `bins` is no count.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.plots.recall_map(matches).get_title()
    'Recall over the image, 627 truths'
    """
    table = drawn_tables.places_to_draw(parts.named(matches, label), "plots", 3, axes)
    drawn_tables.check_one_submission(table, "recall_map", "give one, or use charts.recall_map")
    grid = drawn_tables.recall_grid(table, drawn_tables.count_to_draw(bins, "bins", "plots"))
    of = _title_start(table)
    style = parts.options("mesh", mesh)
    parts.check_empty(ax, "recall_map")
    ax, [pen] = parts.axes_and_pens(ax, [of], color)
    if grid is None:
        return parts.nothing_to_draw(ax, "no truths")
    ax.grid(False)
    drawn = ax.pcolormesh(grid.x_edges, grid.y_edges, grid.recall.T, **_colors_of(pen, color, style))
    parts.note(pen, drawn)
    parts.colorbar(ax, drawn, "recall")
    plane = wording.plane_of(table)
    ax.set(title=_titled(of, drawn_results.recall_title(plane, int(grid.n_truth.sum()))))
    return image_plane(ax, plane)


def _title_start(table: pd.DataFrame) -> str:
    """The name of the submission of a table of one; an empty text where it has none."""
    return next(iter(drawn_tables.of_each(table, "plots")), "")


def _titled(name: str, text: str) -> str:
    """A title, after the name of a submission that has one."""
    return f"{parts.plain(name)}: {text}" if name else text


def _colors_of(pen: parts.Pen, color: Any, style: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the colours of shares, with those given: from paper to a colour, or those of the theme."""
    from matplotlib.colors import LinearSegmentedColormap

    shares = LinearSegmentedColormap.from_list("paper to color", [LIGHT.paper, pen.color])
    ends = {} if "norm" in style else {"vmin": 0, "vmax": 1}
    return {"cmap": SEQUENTIAL if color is None else shares} | ends | dict(style)


def residuals(
    matches: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    tau: float | None = None,
    axes: tuple[str, str] | None = None,
    **points: Any,
) -> Axes:
    """Draws predicted minus true coordinates of the true positives (px), with their mean, and tau as a circle.

    Parameters
    ----------
    matches
        A match table by distance, with the coordinates of truths and predictions, or a dict from the names of
        submissions to such tables.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each submission, as a list or by name; those of the theme without it.
    tau
        The largest distance of a true positive (px). Needed only where the match table has lost its own.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space; x and y without a word.
    points
        Options of Matplotlib for the points, such as `alpha` and `s`.

    Returns
    -------
    The Axes, which say so if there are no true positives.

    Raises
    ------
    InputError: `matches` is no match table by distance, or `label` is given beside a dict; coordinates are missing; or
        tau is not known, or differs between the tables of a dict.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.plots.residuals(matches).get_xlabel()
    'predicted − true x, px'
    """
    given = parts.named(matches, label)
    drawn_results.check_one_rule(given, ["tau"] if tau is None else [], "plots")
    table = drawn_tables.places_to_draw(given, "plots", 3, axes)
    rule = noted_rule.distance_rule(table, ["tau"], tau)
    drawn_tables.check_offsets(table, "plots")
    hits = table[table["outcome"].array.codes == schema.TP]
    hits = hits[~np.isnan(offsets(hits)).any(axis=0)]
    style = parts.options("points", points)
    of_each = drawn_tables.of_each(hits, "plots")
    ax, pens = parts.axes_and_pens(ax, list(of_each), color)
    if not len(hits):
        return parts.nothing_to_draw(ax, "no true positives")
    plane = wording.plane_of(table)
    plane = plane._replace(unit="") if rule.named_distance else plane
    form = "+.3g" if rule.named_distance else "+.2f"  # of coordinates in any unit
    own = {"s": float(np.clip(4000 / len(hits), 1, 20)), "alpha": 0.4} | style
    own = own if "marker" in style else {"linewidths": 0} | own  # some markers are lines alone
    for pen, rows in zip(pens, of_each.values(), strict=True):
        _draw_offsets(ax, *offsets(rows), pen, own, plane, form)
    if rule.image_tau is not None:
        from matplotlib.patches import Circle

        text = f"tau, {wording.in_unit(rule.tau, rule.unit)}"
        ax.add_patch(Circle((0, 0), rule.image_tau, fill=False, linestyle="-", edgecolor=LIGHT.ignored, label=text))
    for line in (ax.axhline, ax.axvline):
        line(0, color=LIGHT.ignored, linewidth=0.5)
    image_plane(ax, plane)
    is_first = not pens[0].position  # what earlier calls have drawn is not known, but has to stay in sight
    reach = max(1.05 * drawn_tables.offset_reach(table, rule), 0 if is_first else max(map(abs, ax.get_xlim())))
    titles = {f"{axis}label": plane.offset_title(axis) for axis in "xy"}
    title = drawn_results.residuals_title(len(hits) if is_first else None)
    ax.set(**titles, title=title, xlim=(-reach, reach))
    ax.set_ylim((-reach, reach) if plane.is_up else (reach, -reach))
    parts.legend(ax)
    return ax


def _draw_offsets(
    ax: Axes,
    dx: np.ndarray,
    dy: np.ndarray,
    pen: parts.Pen,
    style: Mapping[str, Any],
    plane: wording.Plane,
    form: str,
) -> None:
    """Draws the offsets of one submission, and their mean, in its marker where it has a name."""
    several = bool(pen.name or pen.position)
    own = {"color": pen.color} | ({"marker": pen.look.marker} if several else {}) | dict(style)
    sign = -1 if plane.is_chart else 1
    text = f"mean, {sign * dx.mean():{form}}, {sign * dy.mean():{form}} {plane.unit}".rstrip()
    of_mean: dict[str, Any] = {"marker": pen.look.marker if several else "P", "markersize": 12, "linestyle": ""}
    of_mean |= {"color": pen.color if several else LIGHT.outcomes["missed"], "markeredgecolor": LIGHT.paper}
    drawn = ax.plot(dx.mean(), dy.mean(), label=f"{pen.name}, {text}".removeprefix(", "), **of_mean)
    parts.note(pen, ax.scatter(dx, dy, **own), *drawn)


def confusion(
    counts: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    **image: Any,
) -> Axes:
    """Draws which category of truths is detected as which.

    Parameters
    ----------
    counts
        The table that `confusion` returned, wide or long, of one submission, or a dict from its name to that.
    ax
        The Axes to draw into; a new figure without it. A map would cover another plot, so that is refused.
    label
        Name of the submission in the title, like a key of the dict.
    color
        The colour of a share of 100%; lower values fade to white. Default: the theme's colour map.
    image
        Options of Matplotlib for the image of shares, such as `cmap`.

    Returns
    -------
    The Axes, which say so if nothing is counted, with a colorbar beside them. Each row is a category of truths, and its
    colours are shares of that row. The last column are missed truths, and the last row are false alarms. Counts are
    written into the cells of up to 20 categories.

    Raises
    ------
    InputError: the table is none that `confusion` returned or is of several submissions, or `label` is given beside a
        dict.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> sf.plots.confusion(sf.confusion(result)).get_ylabel()
    'true category'
    """
    squares = drawn_confusion.squares_to_draw(parts.named(counts, label), "plots")
    drawn_confusion.check_one(squares)
    [(of, square)] = squares.items()
    style = parts.options("image", image)
    parts.check_empty(ax, "confusion")
    ax, [pen] = parts.axes_and_pens(ax, [of], color)
    if not square.to_numpy().sum():
        return parts.nothing_to_draw(ax, "no truths and no detections")
    shares = drawn_confusion.shares_of_rows(square)
    ax.grid(False)
    drawn = ax.imshow(shares, **{"aspect": "auto"} | _colors_of(pen, color, style))
    parts.note(pen, drawn)
    parts.colorbar(ax, drawn, "share of the row")
    _write_counts(ax, square.to_numpy(), drawn.to_rgba(shares))
    names = [parts.plain(name) for name in square.index]
    ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    ax.set_yticks(range(len(names)), names)
    title = _titled(of, "What each category is detected as")
    ax.set(xlabel="predicted category", ylabel="true category", title=title)
    return ax


def _write_counts(ax: Axes, counts: np.ndarray, colors: np.ndarray) -> None:
    """Writes counts into the cells of few categories, in white where these colours (C, C, 4) are dark."""
    if len(counts) - 1 > drawn_confusion.MOST_WRITTEN:
        return
    light = colors[..., :3] @ [0.299, 0.587, 0.114] > 0.5
    for row, column in zip(*np.nonzero(counts), strict=True):
        color = "black" if light[row, column] else "white"
        ax.text(column, row, f"{counts[row, column]:,}", ha="center", va="center", color=color, fontsize="small")
