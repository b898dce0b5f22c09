"""Plots of tables that were computed from match tables: intervals, costs of errors, sweeps, comparisons and HOTA."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...scoring.summary import OF_FEW, rests_on_few
from ...support.labels import label
from ...tables.table import Table
from .display import words
from .drawn_tables import (
    best_of,
    costs_to_draw,
    hota_to_draw,
    intervals_to_draw,
    mean_names,
    pairs_to_draw,
    slice_names,
    sweep_to_draw,
)
from .plot_parts import (
    BLUE,
    GREY,
    LINES,
    PALE_BLUE,
    axes_or_new,
    axis_label,
    figure_or_new,
    legend_below,
    legend_beside,
    nothing_to_draw,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def metric_by_slice(intervals: Table, ax: Axes | None = None, metric: str | None = None) -> Axes:
    """Draws a metric of each slice as a point, with its confidence interval as a bar.

    Slices of fewer than 20 sequences are paler.

    Parameters
    ----------
    intervals
        The table that `intervals(matches, by=...)` returned.
    ax
        The Axes to draw into; a new figure without it.
    metric
        The name of the metric to draw; the first one of the table without it.

    Returns
    -------
    The Axes, which say so if the table has no rows of the metric. Of tracks, poses and average precision the combined
    number and the mean over sequences (macro) are drawn.

    Raises
    ------
    InputError: the table lacks `metric`, `estimate`, `low` or `high`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> slices = sf.intervals(matches, by="frame", metrics=["recall"], resamples=100)
    >>> sf.plots.metric_by_slice(slices).get_title()
    'Intervals of recall by slice'
    """
    rows, by, metric = intervals_to_draw(intervals, metric, "plots")
    ax = axes_or_new(ax)
    if not len(rows):
        return nothing_to_draw(ax, f"no rows of {metric}")
    _points_with_bars(ax, [*map(plain, slice_names(rows, by))], rows, rests_on_few(rows))
    ax.set(
        xlabel=axis_label(metric, rows.attrs.get("unit")),
        ylabel=", ".join(map(plain, by)),
        title=f"Intervals of {axis_label(metric, rows.attrs.get('unit'))} by slice",
    )
    ax.invert_yaxis()
    return ax


def error_costs(costs: Table, ax: Axes | None = None) -> Axes:
    """Draws how much F1, HOTA of tracks and poses, or AP would gain if each kind of error alone were corrected.

    Parameters
    ----------
    costs
        The table that `error_costs` returned.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes, with one bar for each kind; its label has the counts of misses, of false alarms and of breaks.

    Raises
    ------
    InputError: the table lacks `kind`, `n_misses`, `n_false_alarms`, or `f1_gain`, `HOTA_gain` and `AP_gain`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.plots.error_costs(sf.error_costs(sf.diagnose(matches))).get_title()
    'Cost of each kind of error'
    """
    table, metric = costs_to_draw(costs, "plots")
    gain = f"{metric}_gain"
    rows = table.sort_values(gain, kind="stable")
    ax = axes_or_new(ax)
    bars = ax.barh(rows["kind"].map(words), rows[gain], color=BLUE)
    nouns = {"n_misses": "missed", "n_false_alarms": "false", "n_breaks": "breaks"}
    counted = {noun: rows[column].tolist() for column, noun in nouns.items() if column in rows}
    counts = [
        ", ".join(f"{n:,} {noun}" for noun, n in zip(counted, row, strict=True) if n) or "none"
        for row in zip(*counted.values(), strict=True)
    ]
    ax.bar_label(bars, counts, padding=4, fontsize="small")
    ax.margins(x=0.6 if "n_breaks" in rows else 0.45)  # room for the counts
    ax.set(xlabel=f"{axis_label(gain)} if this kind alone were corrected", title="Cost of each kind of error")
    return ax


def sweep_curves(curve: Table, figure: Figure | None = None) -> Figure:
    """Draws F1 over the score threshold, and precision over recall, with one line for each tau or similarity threshold.

    Of tracks, HOTA over the score threshold is drawn in one line.

    Parameters
    ----------
    curve
        The table `curve` that `sweep` returned.
    figure
        The Figure to draw the two panels into; a new one without it.

    Returns
    -------
    The Figure. The highest F1, or HOTA, is marked; of several equal ones, the one at the highest threshold.

    Raises
    ------
    InputError: the table lacks `score_threshold`, `precision`, `recall` or `f1`; or `tau`, `threshold` and `HOTA`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> swept = sf.sweep(truth, sf.read_objects("data/sample/eager.parquet"), score=[0.2, 0.5, 0.8])
    >>> [panel.get_title() for panel in sf.plots.sweep_curves(swept.curve).axes]
    ['F1 by threshold (best marked)', 'Precision and recall']
    """
    table, metric, limit, unit = sweep_to_draw(curve, "plots")
    figure = figure_or_new(figure, (9, 4.2))
    left, right = figure.subplots(1, 2)
    for position, (value, rows) in enumerate(table.groupby(limit) if limit else [("", table)]):
        style, marker, color = LINES[position % len(LINES)]
        best = best_of(rows, metric)
        name = f"{limit} {label(value)}{unit}" if limit else "tracks"
        named = f"{name}, best {axis_label(metric)} {best[metric].iloc[0]:.3f}" if len(best) else name
        left.plot(rows["score_threshold"], rows[metric], style, color=color, label=named)
        right.plot(rows["recall"], rows["precision"], style, color=color, label=name)
        if len(best):
            left.plot(best["score_threshold"], best[metric], marker, color=color)
            right.plot(best["recall"], best["precision"], marker, color=color)
    height, recall, precision = map(axis_label, (metric, "recall", "precision"))
    left.set(xlabel="score threshold", ylabel=height, ylim=(0, 1), title=f"{height} by threshold (best marked)")
    right.set(xlabel=recall, ylabel=precision, xlim=(0, 1), ylim=(0, 1.02), title="Precision and recall")
    legend_below(figure, left.get_legend_handles_labels()[0])
    return figure


def forest(pairs: Table, ax: Axes | None = None, metric: str | None = None) -> Axes:
    """Draws the difference of a metric for each pair of submissions, with its interval and its adjusted p-value.

    Parameters
    ----------
    pairs
        The table `pairs` that `compare` returned.
    ax
        The Axes to draw into; a new figure without it.
    metric
        The name of the metric to draw; the first one of the table without it.

    Returns
    -------
    The Axes, which say so if the table has no rows of the metric. Of tracks and poses the combined number and the mean
    over sequences (macro) are drawn.

    Raises
    ------
    InputError: the table lacks `a`, `b`, `metric`, `estimate`, `low`, `high` or `p_adjusted`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json")
    >>> names = ["eager", "cautious"]
    >>> matches = {name: sf.match(truth, sf.read_spotgeo(f"data/sample/{name}.json")) for name in names}
    >>> sf.plots.forest(sf.compare(matches, resamples=100).pairs).get_title()
    'Difference of F1'
    """
    rows, metric = pairs_to_draw(pairs, metric, "plots")
    ax = axes_or_new(ax)
    if not len(rows):
        return nothing_to_draw(ax, f"no rows of {metric}")
    adjusted = [f"p = {p:.2g}" if p >= 0.001 else "p < 0.001" for p in rows["p_adjusted"].fillna(1)]
    firsts, seconds = (map(plain, rows[side]) for side in "ab")
    names = [f"{a} - {b}{of}\n{p}" for a, b, of, p in zip(firsts, seconds, mean_names(rows), adjusted, strict=True)]
    _points_with_bars(ax, names, rows, np.zeros(len(rows), bool))
    ax.axvline(0, color=GREY, linestyle="--", linewidth=1)
    name = axis_label(metric, rows.attrs.get("unit"))
    ax.set(xlabel=f"difference of {name}", title=f"Difference of {name}")
    ax.invert_yaxis()
    return ax


def hota_curve(curve: Table, ax: Axes | None = None) -> Axes:
    """Draws HOTA, DetA, AssA and LocA over alpha, for all sequences combined, and all classes if there are any.

    Parameters
    ----------
    curve
        The table `curve` that `track` or `pose` returned; of `track(by="category")` also its rows of one class.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes, with one line for each metric; its label has the mean over alpha.

    Raises
    ------
    InputError: the table lacks `sequence`, `alpha` or one of the metrics.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> boxes = sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker")
    >>> sf.plots.hota_curve(sf.track(*boxes).curve).get_title()
    'HOTA by threshold'
    """
    names = ["HOTA", "DetA", "AssA", "LocA"]
    rows = hota_to_draw(curve, names, "plots")
    ax = axes_or_new(ax)
    for name, (style, marker, color) in zip(names, LINES, strict=True):
        named = f"{name}, mean {rows[name].mean():.2f}"
        ax.plot(rows["alpha"], rows[name], style, marker=marker, markersize=4, color=color, label=named)
    ax.set(xlabel="alpha: least similarity of a match", ylabel="share", ylim=(0, 1.02), title="HOTA by threshold")
    legend_beside(ax)
    return ax


def _points_with_bars(ax: Axes, names: list[str], rows: pd.DataFrame, few: np.ndarray) -> None:
    """Draws estimates with their intervals below each other, paler where few; a null interval leaves only the point."""
    place = np.arange(len(names))
    low, high = rows["low"].fillna(rows["estimate"]), rows["high"].fillna(rows["estimate"])
    for shown, color, text in ((~few, BLUE, None), (few, PALE_BLUE, OF_FEW)):
        if shown.any():
            ax.hlines(place[shown], low[shown], high[shown], color=color, linewidth=2)
            points = rows["estimate"][shown]
            ax.plot(points, place[shown], "o", color=color, markeredgecolor="white", markersize=8, label=text)
    if few.any():
        legend_beside(ax)
    ax.set_yticks(place, names)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    ax.margins(y=0.5 / max(len(names), 1))
