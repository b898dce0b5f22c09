"""Plots with a row for each slice, pair, kind of error or protocol: points with intervals, and bars."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import rests_on_few
from ...tables import Table
from ..theme import LIGHT
from . import drawn_results, drawn_tables, wording
from . import plot_parts as parts
from .display import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How much of a row the points of all submissions take together.
SPREAD = 0.5

# How much of a row its bars take together.
OF_ROW = 0.8

# The p-value of a pair, below its name.
P_VALUE = re.compile(r"\np (= \S+|< 0\.001)$")


class InRows(NamedTuple):
    """The rows of points and of their intervals, from 0 on, and the bounds of these; all (points,)."""

    row: np.ndarray
    low: np.ndarray
    high: np.ndarray


def metric_by_slice(
    intervals: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    metric: str | None = None,
    **points: Any,
) -> Axes:
    """Draws a metric of each slice as a point, with its confidence interval as a bar.

    Points of slices of fewer than 20 sequences are hollow. Of several submissions, the points of a slice stand below
    each other.

    Parameters
    ----------
    intervals
        The table that `intervals(matches, by=...)` returned, or a dict from the names of submissions to such tables.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each submission, as a list or by name; those of the theme without it.
    metric
        The name of the metric to draw; the first one of the table without it.
    points
        Options of Matplotlib for the points, such as `markersize`.

    Returns
    -------
    The Axes, which say so if the table has no rows of the metric. Of tracks, poses and average precision the combined
    number and the mean over sequences (macro) are drawn.

    Raises
    ------
    InputError: the table lacks `metric`, `estimate`, `low` or `high`, or `label` is given beside a dict.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> slices = sf.intervals(matches, by="frame", metrics=["recall"], resamples=100)
    >>> sf.plots.metric_by_slice(slices).get_title()
    'Recall by slice, with intervals'
    """
    rows, by, metric = drawn_tables.intervals_to_draw(parts.named(intervals, label), metric, "plots")
    style = parts.options("lines", points)
    of_each = drawn_tables.of_each(rows, "plots")
    ax, pens = parts.axes_and_pens(ax, list(of_each), color)
    if not len(rows):
        return parts.nothing_to_draw(ax, f"no rows of {metric}")
    by = [name for name in by if name != "submission"]
    for pen, own in zip(pens, of_each.values(), strict=True):
        names = [*map(parts.plain, drawn_tables.slice_names(own, by))]
        _points_with_bars(ax, names, own, pen, rests_on_few(own), style)
    name = parts.axis_label(metric, rows.attrs.get("unit"))
    has_bars = bool(rows[["low", "high"]].notna().any(axis=None))
    named = parts.plain(wording.label_of(metric) or metric)
    ax.set(
        xlabel=name,
        ylabel=", ".join(map(parts.plain, by)),
        title=drawn_results.slices_title(named, has_bars, bool(rests_on_few(rows).any())),
    )
    parts.in_percent(ax.xaxis, metric)
    parts.legend(ax)
    return ax


def forest(
    pairs: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    metric: str | None = None,
    **points: Any,
) -> Axes:
    """Draws the difference of a metric for each pair of submissions, with its interval and its adjusted p-value.

    Parameters
    ----------
    pairs
        The table `pairs` that `compare` returned, or a dict from names to such tables, such as one of each rule.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the table in the legend, like a key of the dict.
    color
        A colour, or one for each table, as a list or by name; those of the theme without it.
    metric
        The name of the metric to draw; the first one of the table without it.
    points
        Options of Matplotlib for the points, such as `markersize`.

    Returns
    -------
    The Axes, which say so if the table has no rows of the metric. Of tracks and poses the combined number and the mean
    over sequences (macro) are drawn.

    Raises
    ------
    InputError: the table lacks `a`, `b`, `metric`, `estimate`, `low`, `high` or `p_adjusted`, or `label` is given
        beside a dict.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json")
    >>> names = ["eager", "cautious"]
    >>> matches = {name: sf.match(truth, sf.read_spotgeo(f"data/sample/{name}.json")) for name in names}
    >>> sf.plots.forest(sf.compare(matches, resamples=100).pairs).get_title()
    'Differences of F1 between submissions'
    """
    rows, metric = drawn_tables.pairs_to_draw(parts.named(pairs, label), metric, "plots")
    style = parts.options("lines", points)
    of_each = drawn_tables.of_each(rows, "plots")
    ax, pens = parts.axes_and_pens(ax, list(of_each), color)
    if not len(rows):
        return parts.nothing_to_draw(ax, f"no rows of {metric}")
    if pens[0].position:  # of several, a pair has several p-values
        rows_there = [P_VALUE.sub("", tick.get_text()) for tick in ax.get_yticklabels()]
        ax.set_yticks(np.arange(len(rows_there)), rows_there)
    for pen, own in zip(pens, of_each.values(), strict=True):
        names = [*map(parts.plain, drawn_tables.pair_names(own))]
        if not pen.name and not pen.position:
            adjusted = [f"p = {p:.2g}" if p >= 0.001 else "p < 0.001" for p in own["p_adjusted"].fillna(1)]
            names = [f"{name}\n{p}" for name, p in zip(names, adjusted, strict=True)]
        _points_with_bars(ax, names, own, pen, np.zeros(len(own), bool), style)
    name = parts.axis_label(metric, rows.attrs.get("unit"))
    ax.axvline(0, color=LIGHT.faint, linestyle="--", linewidth=1)
    title = drawn_results.differences_title(parts.plain(wording.label_of(metric) or metric))
    ax.set(xlabel=wording.difference(name, metric), title=title)
    parts.in_percent(ax.xaxis, metric, "+")
    parts.legend(ax)
    return ax


def error_costs(
    costs: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    **bars: Any,
) -> Axes:
    """Draws how much F1, HOTA of tracks and poses, or AP would gain if each kind of error alone were corrected.

    Parameters
    ----------
    costs
        The table that `error_costs` returned, or a dict from the names of submissions to such tables.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each submission, as a list or by name; those of the theme without it.
    bars
        Options of Matplotlib for the bars, such as `alpha`, but for their places and sizes.

    Returns
    -------
    The Axes, with one bar for each kind; its label has the counts of misses, of false alarms and of breaks. Submissions
    with names have a bar each, without counts. The Axes say so if no gain is known.

    Raises
    ------
    InputError: the table lacks `kind`, `n_misses`, `n_false_alarms`, or `f1_gain`, `HOTA_gain` and `AP_gain`;
        `label` is given beside a dict; or `ax` shows another plot already.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.plots.error_costs(sf.error_costs(sf.diagnose(matches))).get_xlabel()
    'F1 gained if this kind alone were corrected, points'
    """
    table, metric = drawn_tables.costs_to_draw(parts.named(costs, label), "plots")
    style = parts.options("bars", bars)
    gain, name = f"{metric}_gain", "error_costs"
    parts.check_bars(ax, name)
    order = table.groupby("kind", observed=True)[gain].max().sort_values(kind="stable", ascending=False).dropna().index
    of_each = drawn_tables.of_each(table, "plots")
    ax, pens = parts.axes_and_pens(ax, list(of_each), color)
    if not len(order):
        return parts.nothing_to_draw(ax, f"no gain in {parts.axis_label(metric)} is known")
    for pen, own in zip(pens, of_each.values(), strict=True):
        own = own[own[gain].notna()].set_index("kind")
        own = own.loc[[kind for kind in order if kind in own.index]]
        drawn = _bars(ax, [*map(words, own.index)], own[gain].to_numpy(np.float64), pen, style, name)
        if not pen.name and not pen.position:
            parts.note(pen, *ax.bar_label(drawn, _counts_of(own), padding=4, fontsize="small"), of=name)
            ax.margins(x=0.6 if "n_breaks" in own else 0.45)  # room for the counts
    ax.set(
        xlabel=wording.in_points(f"{parts.axis_label(gain)} if this kind alone were corrected", metric),
        title=drawn_results.costs_title(str(wording.label_of(metric))),
    )
    parts.in_percent(ax.xaxis, metric, "+")
    ax.locator_params(axis="x", nbins=5)
    parts.legend(ax)
    return ax


def _counts_of(costs: pd.DataFrame) -> list[str]:
    """How many errors of each kind there are, in words."""
    nouns = {"n_misses": "missed", "n_false_alarms": "false", "n_breaks": "breaks"}
    counted = {noun: costs[column].tolist() for column, noun in nouns.items() if column in costs}
    return [
        ", ".join(f"{n:,} {noun}" for noun, n in zip(counted, row, strict=True) if n) or "none"
        for row in zip(*counted.values(), strict=True)
    ]


def protocols(
    table: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    **bars: Any,
) -> Axes:
    """Draws the average precision of the same predictions by each protocol.

    Parameters
    ----------
    table
        The table that `protocols` returned, or a dict from the names of submissions to such tables.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each submission, as a list or by name; those of the theme without it.
    bars
        Options of Matplotlib for the bars, such as `alpha`, but for their places and sizes.

    Returns
    -------
    The Axes, with a bar of AP for each protocol. Of one submission without a name there are markers of AP50 and AP75
    where it has them. A protocol that does not apply has the text "does not apply" instead of a bar.

    Raises
    ------
    InputError: the table lacks `protocol`, `AP`, `AP50` or `AP75`; `label` is given beside a dict; or `ax` shows
        another plot already.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> table = sf.protocols(truth, sf.read_objects("data/boxes/v1.parquet"), names=["coco", "voc2007"])
    >>> sf.plots.protocols(table).get_title()
    'The same predictions by each protocol'
    """
    rows, name = drawn_results.protocols_to_draw(parts.named(table, label), "plots"), "protocols"
    parts.check_bars(ax, name)
    style = parts.options("bars", bars)
    of_each = drawn_tables.of_each(rows, "plots")
    ax, pens = parts.axes_and_pens(ax, list(of_each), color)
    if not len(rows):
        return parts.nothing_to_draw(ax, "no protocols")
    for pen, own in zip(pens, of_each.values(), strict=True):
        value = own["AP"].to_numpy(np.float64)
        is_alone = not pen.name and not pen.position
        pen = pen if pen.name else pen._replace(name=f"AP, {pen.position + 1}" if pen.position else "AP")
        drawn = _bars(ax, [*map(parts.plain, own["protocol"])], value, pen, style, name)
        if is_alone:
            parts.note(pen, *ax.bar_label(drawn, [f"{one:.2%}" for one in value], padding=4), of=name)
            _markers(ax, own, pen)
    _tell_what_does_not_apply(ax, pens[-1], name)
    ax.set(xlabel="average precision", xlim=(0, 1), title="The same predictions by each protocol")
    parts.in_percent(ax.xaxis, "AP")
    parts.legend(ax)
    return ax


def _tell_what_does_not_apply(ax: Axes, pen: parts.Pen, plot: str) -> None:
    """Writes where bars of any submission in the Axes would be, had their protocols a number."""
    from matplotlib.patches import Rectangle

    for _, bar in parts.noted(ax):
        if isinstance(bar, Rectangle) and np.isnan(bar.get_width()):
            place = 0, bar.get_y() + bar.get_height() / 2
            told = ax.annotate("does not apply", place, (4, 0), textcoords="offset points", va="center", size="small")
            parts.note(pen, told, of=plot)


def _markers(ax: Axes, rows: pd.DataFrame, pen: parts.Pen) -> None:
    """Marks AP50 and AP75 of each protocol that has them."""
    for name, marker in drawn_results.MARKERS.items():
        of = rows[name].to_numpy(np.float64)
        if np.isfinite(of).any():
            style: dict[str, Any] = {"color": LIGHT.ignored, "markeredgecolor": LIGHT.paper, "markersize": 7}
            parts.note(pen, *ax.plot(of, np.arange(len(rows)), marker, label=name, **style), of="protocols")


def _points_with_bars(
    ax: Axes,
    names: Sequence[str],
    rows: pd.DataFrame,
    pen: parts.Pen,
    few: np.ndarray,
    style: Mapping[str, Any],
) -> None:
    """Draws estimates with their intervals, hollow where few; a null interval leaves only the point."""
    place = _places(ax, names)
    low, high = (rows[end].fillna(rows["estimate"]).to_numpy(np.float64) for end in ("low", "high"))
    of_point: dict[str, Any] = {"color": pen.color, "marker": pen.look.marker, "markersize": 8, "linestyle": ""}
    of_point |= {"markeredgecolor": LIGHT.paper} | dict(style)
    hollow = {"markerfacecolor": LIGHT.paper, "markeredgecolor": of_point["color"], "markeredgewidth": 1.8}
    for shown, more in ((~few, {}), (few, hollow)):
        if shown.any():
            bar = ax.hlines(place[shown], low[shown], high[shown], color=of_point["color"], linewidth=2)
            own = {"label": pen.name or None} | of_point | more
            drawn = bar, *ax.plot(rows["estimate"][shown], place[shown], **own)
            parts.note(pen, *drawn, of=InRows(place[shown], low[shown], high[shown]))
    ax.grid(axis="x", color=LIGHT.line)
    ax.set_axisbelow(True)
    ax.set_ylim(len(ax.get_yticks()) - 0.5, -0.5)
    _spread(ax)


def _spread(ax: Axes) -> None:
    """Moves the points of all submissions in the Axes beside each other within their rows."""
    there: list[tuple[parts.Drawn, Any]] = [of for of in parts.noted(ax) if isinstance(of[0].of, InRows)]
    positions = sorted({drawn.position for drawn, _ in there})
    for (position, of), artist in there:
        y = of.row + SPREAD * ((positions.index(position) + 0.5) / len(positions) - 0.5)
        if hasattr(artist, "set_ydata"):
            artist.set_ydata(y)
        else:
            ends = [np.column_stack([end, y]) for end in (of.low, of.high)]
            artist.set_segments(np.stack(ends, axis=1))


def _places(ax: Axes, names: Sequence[str]) -> np.ndarray:
    """The places of rows with these names, from top to bottom; those of names that the Axes have already stay."""
    rows = [tick.get_text() for tick in ax.get_yticklabels()] if parts.n_drawn(ax) else []
    there, places = pd.Series(rows, dtype=object), []
    seen: dict[str, int] = {}
    for name in names:  # a name may be there several times
        seen[name] = seen.get(name, 0) + 1
        same = np.flatnonzero(there == name)
        places.append(same[seen[name] - 1] if len(same) >= seen[name] else len(rows))
        rows += [name] if places[-1] == len(rows) else []
    ax.set_yticks(np.arange(len(rows)), rows)
    if not ax.yaxis_inverted():
        ax.invert_yaxis()
    return np.array(places, np.float64)


def _bars(
    ax: Axes, names: Sequence[str], values: np.ndarray, pen: parts.Pen, style: Mapping[str, Any], plot: str
) -> Any:
    """Draws a bar for each name; all submissions in the Axes share the rows, and have no texts beside their bars."""
    from matplotlib.patches import Rectangle

    place = _places(ax, names)
    for _, artist in parts.noted(ax):
        if not isinstance(artist, Rectangle):
            artist.remove()
    ax.update_datalim([(0, -OF_ROW / 2), (0, len(ax.get_yticks()) - 1 + OF_ROW / 2)])  # rows may have no number
    own = {"color": pen.color, "hatch": pen.look.hatch, "edgecolor": LIGHT.paper, "linewidth": 0} | dict(style)
    drawn = ax.barh(place, values, OF_ROW, label=pen.name, **own)
    parts.note(pen, *drawn, of=plot)
    there = [(drawn_as.position, bar) for drawn_as, bar in parts.noted(ax) if isinstance(bar, Rectangle)]
    positions = sorted({position for position, _ in there})
    height = OF_ROW / len(positions)
    for position, bar in there:
        row = np.rint(bar.get_y() + bar.get_height() / 2)
        bar.set(y=row - OF_ROW / 2 + positions.index(position) * height, height=height)
    if len(positions) > 1:
        ax.margins(x=0.05)
    return drawn
