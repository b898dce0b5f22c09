"""Plots of average precision and of scores: precision over recall, calibration, and confused categories."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...analysis import Calibration
from ...support.errors import InputError
from ...tables.arrow import as_pandas
from ...tables.table import Table
from .drawn_tables import category_lines, mean_lines, precision_to_draw, table_to_draw
from .plot_parts import BLUE, GREY, LINES, axes_or_new, legend_beside, nothing_to_draw, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The most categories whose lines have colours and names; those with the lowest average precision are the ones to see.
MOST_NAMED = 8

# The most categories whose counts are written into the cells of a confusion table.
MOST_WRITTEN = 20

BACKGROUND = "background"


def precision_recall(curve: Table, ax: Axes | None = None, threshold: float | None = None) -> Axes:
    """Draws precision over recall as the mean over categories, or at one threshold for each category.

    Parameters
    ----------
    curve
        The table `curve` of what `average_precision` returned.
    ax
        The Axes to draw into; a new figure without it.
    threshold
        One of the table's thresholds, to draw a line for each category. Without it, the lines are means over
        categories: at the thresholds 0.50 and 0.75, as far as the table has them, and the mean of all its thresholds.

    Returns
    -------
    The Axes, which say so if there are no truths. The area under each line, its average precision, is in the legend. Of
    more than eight categories, the eight with the lowest have names, and the others are grey.

    Raises
    ------
    InputError: the table lacks `category`, `area`, `threshold`, `recall` or `precision`, or has no such threshold.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> sf.plots.precision_recall(result.curve).get_title()
    'Precision and recall, mean over categories'
    >>> sf.plots.precision_recall(result.curve, threshold=0.75).get_title()
    'Precision and recall at 0.75, by category'
    """
    rows = precision_to_draw(curve, "plots")
    ax = axes_or_new(ax)
    if not len(rows):
        return nothing_to_draw(ax, "no truths")
    lines = mean_lines(rows) if threshold is None else category_lines(rows, threshold, "plots")
    for position, (name, line) in enumerate(lines.items()):
        is_named = position < MOST_NAMED
        style, marker, color = LINES[position % len(LINES)] if is_named else ("-", "", "0.8")
        marker = marker if position >= len(LINES) else ""  # the second four lines differ from the first by markers
        text = f"{plain(name)}, AP {line.mean():.2f}" if is_named else None
        [drawn] = ax.plot(line.index, line, style, marker=marker, markevery=10, markersize=4, color=color, label=text)
        drawn.set_zorder(2 if is_named else 1)
    of = "mean over categories" if threshold is None else "by category"
    at = "" if threshold is None else f" at {threshold:.2f}"
    ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02), title=f"Precision and recall{at}, {of}")
    legend_beside(ax)
    return ax


def calibration(found: Calibration, ax: Axes | None = None) -> Axes:
    """Draws precision over the mean score of each bin, with intervals, and the line of a calibrated detector.

    Parameters
    ----------
    found
        What `calibration` returned.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes, which say so if there are no detections. Points below the dashed line are of scores that are too sure. The
    title has the expected calibration error and its interval.

    Raises
    ------
    InputError: `found` is not what `calibration` returned.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> found = sf.calibration(sf.match(truth, sf.read_objects("data/boxes/v1.parquet")))
    >>> sf.plots.calibration(found).get_xlabel()
    'mean score'
    """
    if not isinstance(found, Calibration):
        raise InputError(f"plots: found is of type {type(found).__name__}; pass what calibration() returned")
    bins, [summary] = as_pandas(found.bins, "bins"), as_pandas(found.summary, "summary").to_dict("records")
    ax = axes_or_new(ax)
    if not len(bins):
        return nothing_to_draw(ax, "no detections")
    low, high = (bins[bound].fillna(bins["precision"]) for bound in ("precision_low", "precision_high"))
    ax.plot([0, 1], [0, 1], "--", color=GREY, label="calibrated")
    ax.vlines(bins["mean_score"], low, high, color=BLUE, linewidth=2)
    ax.plot(
        bins["mean_score"], bins["precision"], "-o", color=BLUE, markeredgecolor="white", label="detections, in bins"
    )
    error, between = summary["expected_calibration_error"], ""
    if not pd.isna(summary["low"]):
        between = f" ({summary['low']:.3f} to {summary['high']:.3f})"
    title = f"Calibration of {summary['n_predicted']:,} detections\nexpected calibration error {error:.3f}{between}"
    ax.set(xlabel="mean score", ylabel="precision", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", title=title)
    legend_beside(ax)
    return ax


def confusion(counts: Table, ax: Axes | None = None) -> Axes:
    """Draws which category of truths is detected as which.

    Parameters
    ----------
    counts
        The table that `confusion` returned.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes, which say so if nothing is counted. Each row is a category of truths, and its colours are shares of that
    row. The last column are missed truths, and the last row are false alarms. Counts are written into the cells of up
    to 20 categories.

    Raises
    ------
    InputError: the table lacks `truth_category`, `predicted_category` or `count`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> sf.plots.confusion(sf.confusion(result)).get_ylabel()
    'true category'
    """
    sides = ["truth_category", "predicted_category"]
    table = table_to_draw(counts, "counts", [*sides, "count"], "the table that confusion() returned")
    ax = axes_or_new(ax)
    if not table["count"].sum():
        return nothing_to_draw(ax, "no truths and no detections")
    named = table.assign(**{side: table[side].map(plain, na_action="ignore").astype(object) for side in sides})
    named = named.fillna(dict.fromkeys(sides, BACKGROUND))
    names = [name for name in dict.fromkeys([*named[sides[0]], *named[sides[1]]]) if name != BACKGROUND]
    square = named.pivot_table("count", index=sides[0], columns=sides[1], aggfunc="sum", fill_value=0)
    square = square.reindex(index=[*names, BACKGROUND], columns=[*names, BACKGROUND], fill_value=0)
    n = square.to_numpy()
    shares = n / np.maximum(n.sum(axis=1, keepdims=True), 1)
    mesh = ax.imshow(shares, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    ax.figure.colorbar(mesh, ax=ax, label="share of the row")
    if len(names) <= MOST_WRITTEN:
        for row, column in zip(*np.nonzero(n), strict=True):
            color = "black" if shares[row, column] > 0.5 else "white"
            ax.text(column, row, f"{n[row, column]:,}", ha="center", va="center", color=color, fontsize="small")
    ax.set_xticks(range(len(n)), square.columns, rotation=45, ha="right")
    ax.set_yticks(range(len(n)), square.index)
    ax.set(xlabel="predicted category", ylabel="true category", title="What each category is detected as")
    return ax
