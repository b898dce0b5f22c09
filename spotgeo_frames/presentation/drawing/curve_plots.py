"""Plots of curves: sweeps, HOTA over alpha, precision over recall, limits of detection, calibrations."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...analysis import Calibration, DetectionLimit
from ...support import label as text_of
from ...tables import Table
from ..theme import LIGHT, look
from . import drawn_results, drawn_tables, wording
from . import plot_parts as parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The most categories whose lines have colours and names; those with the lowest average precision are the ones to see.
MOST_NAMED = 8

# The axes of shares: a little more than all of it, so that lines at the end are seen.
SHARES = (0, 1.02)


@parts.takes_figure
def sweep_curves(
    curve: Table | Mapping[str, Table],
    ax: parts.Panels = None,
    label: str | None = None,
    color: parts.Colors = None,
    **lines: Any,
) -> np.ndarray:
    """Draws F1 over the score threshold, and precision over recall, with one line for each tau or similarity threshold.

    Of tracks, HOTA over the score threshold is drawn in one line. Several submissions have lines each.

    Parameters
    ----------
    curve
        The table `curve` that `sweep` returned, or a dict from the names of submissions to such tables.
    ax
        The two Axes to draw into, or one, whose place the two take; a new figure without it.
        `figure`, its name before, is deprecated and ends in 0.3.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each line, as a list or by name; those of the theme without it.
    lines
        Options of Matplotlib for the lines, such as `linewidth`.

    Returns
    -------
    The two Axes (2,). The highest F1, or HOTA, is marked; of several equal ones, the one at the highest threshold.

    Raises
    ------
    InputError: the table lacks `score_threshold`, `precision`, `recall` or `f1`; or `tau`, `threshold` and `HOTA`; or
        `label` is given beside a dict.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> swept = sf.sweep(truth, sf.read_objects("data/sample/eager.parquet"), score=[0.2, 0.5, 0.8])
    >>> [panel.get_title() for panel in sf.plots.sweep_curves(swept.curve)]
    ['F1 by score threshold', 'Precision over recall']
    """
    table, metric, limit, unit = drawn_tables.sweep_to_draw(parts.named(curve, label), "plots")
    style, of_each = parts.options("lines", lines), _swept_lines(table, limit, unit)
    pens = parts.pens(parts.first_of(ax), list(of_each), color)
    left, right = parts.panels_or_new(ax, 2, 2, (10, 4.2))
    for pen, rows in zip(pens, of_each.values(), strict=True):
        best = drawn_tables.best_of(rows, metric)
        named = f"{pen.name}, best {parts.axis_label(metric)} {best[metric].iloc[0]:.3f}" if len(best) else pen.name
        of_line = {"linestyle": pen.look.line, "color": pen.color} | style
        of_best = {"linestyle": "", "marker": pen.look.marker, "color": of_line["color"]}
        for panel, x, y in ((left, "score_threshold", metric), (right, "recall", "precision")):
            parts.note(pen, *panel.plot(rows[x], rows[y], label=named if panel is left else pen.name, **of_line))
            parts.note(pen, *panel.plot(best[x], best[y], **of_best))
    height, titles = parts.axis_label(metric), drawn_results.sweep_titles(str(wording.label_of(metric)))
    left.set(xlabel="score threshold", ylabel=height, ylim=SHARES, title=titles[0])
    _set_precision_over_recall(right, titles[1])
    parts.in_percent(left.yaxis, metric)
    parts.legend(right, of=left)
    return np.array([left, right], object)


def _swept_lines(table: pd.DataFrame, limit: str | None, unit: str) -> dict[str, pd.DataFrame]:
    """The rows of each line of a sweep by its name: of submissions, and of what matches had to be near to."""
    parts_of = drawn_tables.of_each(table, "plots")
    if not limit:
        return {name or "tracks": rows for name, rows in parts_of.items()}
    return {
        f"{name}, {limit} {text_of(value)}{unit}".removeprefix(", "): rows
        for name, of_name in parts_of.items()
        for value, rows in of_name.groupby(limit)
    }


def _set_precision_over_recall(ax: Axes, title: str) -> None:
    """Labels the Axes of precision over recall."""
    ax.set(xlabel="recall", ylabel="precision", xlim=SHARES, ylim=SHARES, title=title)
    parts.in_percent(ax.xaxis, "recall")
    parts.in_percent(ax.yaxis, "precision")


def hota_curve(
    curve: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    **lines: Any,
) -> Axes:
    """Draws HOTA, DetA, AssA and LocA over alpha, for all sequences combined, and all classes if there are any.

    Parameters
    ----------
    curve
        The table `curve` that `track` or `pose` returned; of `track(by="category")` also its rows of one class. Or a
        dict from the names of submissions to such tables.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each line, as a list or by name, such as that of a metric; those of the theme without it.
    lines
        Options of Matplotlib for the lines, such as `linewidth`.

    Returns
    -------
    The Axes, with one line for each metric; its label has the mean over alpha. Where the table has slices by condition,
    or is of submissions with names, there is one line of HOTA for each.

    Raises
    ------
    InputError: the table lacks `sequence`, `alpha` or one of the metrics, or `label` is given beside a dict.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> boxes = sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker")
    >>> sf.plots.hota_curve(sf.track(*boxes).curve).get_title()
    'HOTA and its parts by alpha'
    """
    rows = drawn_tables.hota_to_draw(parts.named(curve, label), "plots")
    style = parts.options("lines", lines)
    of_names = "submission" in rows
    of_each = [(name, of, "HOTA") for name, of in drawn_tables.of_each(rows, "plots").items()]
    drawn = of_each if of_names else [(name, rows, name) for name in drawn_tables.HOTA_PARTS]
    ax, pens = parts.axes_and_pens(ax, [name for name, *_ in drawn], color)
    for pen, (_, of_line, metric) in zip(pens, drawn, strict=True):
        own = {"linestyle": pen.look.line, "marker": pen.look.marker, "markersize": 4, "color": pen.color} | style
        named = f"{pen.name}, mean {of_line[metric].mean():.2f}"
        parts.note(pen, *ax.plot(of_line["alpha"], of_line[metric], label=named, **own))
    share, about = ("HOTA", "HOTA by alpha") if of_names else ("share", "HOTA and its parts by alpha")
    ax.set(xlabel="alpha: least similarity of a match", ylabel=share, ylim=SHARES, title=about)
    parts.in_percent(ax.yaxis, "HOTA")
    parts.legend(ax)
    return ax


def detection_limit(
    found: DetectionLimit | Mapping[str, DetectionLimit],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    **lines: Any,
) -> Axes:
    """Draws recall in bins of a column, the logistic curve, and the values where it is 50% and 90%.

    Parameters
    ----------
    found
        What `detection_limit` returned, or a dict from the names of submissions to such results of one column.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each curve, as a list or by name; those of the theme without it.
    lines
        Options of Matplotlib for the curves, such as `linewidth`.

    Returns
    -------
    The Axes, which say so if there are no truths. Points are recall in bins, at the mean value of each, with intervals;
    each group has a curve over its bins, and at heights of 50% and 90% a bar from `low` to `high`. Where a bound is
    null, the bar goes on to the end of the curve.

    Raises
    ------
    InputError: `found` is not what `detection_limit` returned, or `label` is given beside a dict.

    Examples
    --------
    >>> import numpy as np
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/cautious.parquet"))
    >>> found = sf.detection_limit(matches.assign(magnitude=-np.log(matches["truth_brightness"])), "magnitude")
    >>> sf.plots.detection_limit(found).get_title()
    'Recall by magnitude, and where it is 50% and 90%'
    """
    drawn = drawn_results.limits_to_draw(parts.named(found, label), "plots")
    style = parts.options("lines", lines)
    ax, pens = parts.axes_and_pens(ax, list(drawn.bins), color)
    if not any(map(len, drawn.bins.values())):
        return parts.nothing_to_draw(ax, f"no truth has a value of {drawn.column}")
    for pen, bins, limits in zip(pens, drawn.bins.values(), drawn.limits.values(), strict=True):
        _draw_limit(ax, bins, limits, pen, style)
    title = parts.plain(f"Recall by {drawn.column}, and where it is {drawn.heights}")
    ax.set(xlabel=parts.plain(drawn.title), ylabel="recall", ylim=SHARES, title=title)
    parts.in_percent(ax.yaxis, "recall")
    parts.legend(ax, fontsize="small")
    return ax


def _draw_limit(ax: Axes, bins: pd.DataFrame, limits: pd.DataFrame, pen: parts.Pen, style: Mapping[str, Any]) -> None:
    """Draws one group: the points of its bins, its curve, and a bar at each height."""
    name, marker = pen.name or "recall", pen.look.marker
    own = {"linestyle": pen.look.line, "color": pen.color} | dict(style)
    color = own["color"]
    low, high = (bins[bound].fillna(bins["recall"]) for bound in ("recall_low", "recall_high"))
    parts.note(pen, ax.vlines(bins["mean"], low, high, color=color, linewidth=1, alpha=0.6))
    of_bins = {"linestyle": "", "marker": marker, "color": color, "markersize": 5, "label": f"{name}, in bins"}
    parts.note(pen, *ax.plot(bins["mean"], bins["recall"], **of_bins))
    value, recall = drawn_results.logistic(bins, limits)
    parts.note(pen, *ax.plot(value, recall, label=f"{name}, logistic curve", **own))
    told = drawn_results.told(limits)
    ends = told["low"].fillna(value[0]), told["high"].fillna(value[-1])
    parts.note(pen, ax.hlines(told["recall"], *ends, color=color, linewidth=3))
    of_marks = {"linestyle": "", "marker": marker, "color": color, "markeredgecolor": LIGHT.paper, "markersize": 9}
    parts.note(pen, *ax.plot(told["estimate"], told["recall"], **of_marks))


def precision_recall(
    curve: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    threshold: float | None = None,
    **lines: Any,
) -> Axes:
    """Draws precision over recall as the mean over categories, or at one threshold for each category.

    Parameters
    ----------
    curve
        The table `curve` of what `average_precision` returned, or a dict from the names of submissions to such tables.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each line with a name, as a list or by name; those of the theme without it.
    threshold
        One of the table's thresholds, to draw a line for each category; of submissions with names, their means. Without
        it, the lines are means over categories: at the thresholds 0.50 and 0.75, as far as the table has them, and the
        mean of all its thresholds; of submissions with names, the last of these.
    lines
        Options of Matplotlib for the lines, such as `linewidth`.

    Returns
    -------
    The Axes, which say so if there are no truths. The legend gives each line's AP if the protocol computes AP as the
    mean of the curve's points. Of more than eight categories, the eight with the lowest have names, and the others are
    grey.

    Raises
    ------
    InputError: the table lacks `category`, `area`, `threshold`, `recall` or `precision`, or has no such threshold, or
        `label` is given beside a dict.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> sf.plots.precision_recall(result.curve).get_title()
    'Precision over recall, the mean over categories'
    >>> sf.plots.precision_recall(result.curve, threshold=0.75).get_title()
    'Precision over recall at 0.75, by category'
    """
    rows = drawn_tables.precision_to_draw(parts.named(curve, label), "plots")
    style = parts.options("lines", lines)
    of_each = _precision_lines(rows, threshold)
    ax, pens = parts.axes_and_pens(ax, list(of_each)[:MOST_NAMED], color)
    if not len(rows):
        return parts.nothing_to_draw(ax, "no truths")
    others = parts.Pen("", max((pen.position for pen in pens), default=0), LIGHT.line, look(0))
    for position, line in enumerate(of_each.values()):
        pen = pens[position] if position < len(pens) else others
        area = f", AP {line.mean():.2f}" if drawn_tables.averages_points(rows.attrs) else ""
        own = {"linestyle": pen.look.line, "color": pen.color, "zorder": 1 if pen is others else 2} | style
        text = None if pen is others else f"{pen.name}{area}"
        parts.note(pen, *ax.plot(line.index, line, label=text, **own))
    by_category = threshold is not None and "submission" not in rows
    _set_precision_over_recall(ax, drawn_results.precision_title(threshold, by_category))
    parts.legend(ax)
    return ax


def _precision_lines(rows: pd.DataFrame, threshold: float | None) -> dict[str, pd.Series]:
    """Precision by recall of each line by its name: of submissions, of thresholds, or of categories at one."""
    if not len(rows):
        return {}
    if "submission" not in rows:
        of_one = drawn_tables.category_lines
        return drawn_tables.mean_lines(rows) if threshold is None else of_one(rows, threshold, "plots")
    lines = {}
    for name, own in drawn_tables.of_each(rows, "plots").items():
        if threshold is None:
            lines[name] = [*drawn_tables.mean_lines(own).values()][-1]
        else:
            lines[name] = pd.concat(drawn_tables.category_lines(own, threshold, "plots")).groupby("recall").mean()
    return lines


def calibration(
    found: Calibration | Mapping[str, Calibration],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    **lines: Any,
) -> Axes:
    """Draws precision over the mean score of each bin, with intervals, and the line of a calibrated detector.

    Parameters
    ----------
    found
        What `calibration` returned, or a dict from the names of submissions to such results.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each submission, as a list or by name; those of the theme without it.
    lines
        Options of Matplotlib for the lines, such as `linewidth`.

    Returns
    -------
    The Axes, which say so if there are no detections. Points below the dashed line are of scores that are too sure. The
    title has the expected calibration error and its interval; of submissions with names, the legend has the errors.

    Raises
    ------
    InputError: `found` is not what `calibration` returned, or `label` is given beside a dict.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> found = sf.calibration(sf.match(truth, sf.read_objects("data/boxes/v1.parquet")))
    >>> sf.plots.calibration(found).get_xlabel()
    'mean score'
    """
    of_each = drawn_results.calibrations_to_draw(parts.named(found, label), "plots")
    style = parts.options("lines", lines)
    ax, pens = parts.axes_and_pens(ax, list(of_each), color)
    if not any(len(bins) for bins, _ in of_each.values()):
        return parts.nothing_to_draw(ax, "no detections")
    ax.plot([0, 1], [0, 1], "--", color=LIGHT.faint, label="calibrated")
    for pen, (bins, summary) in zip(pens, of_each.values(), strict=True):
        low, high = (bins[bound].fillna(bins["precision"]) for bound in ("precision_low", "precision_high"))
        own = {"color": pen.color, "linestyle": pen.look.line, "marker": pen.look.marker}
        own |= {"markeredgecolor": LIGHT.paper} | style
        error = f"{pen.name}, error {summary['expected_calibration_error']:.3f}"
        named = error if pen.name else "detections, in bins"
        parts.note(pen, ax.vlines(bins["mean_score"], low, high, color=own["color"], linewidth=2))
        parts.note(pen, *ax.plot(bins["mean_score"], bins["precision"], label=named, **own))
    title = drawn_results.calibration_title(of_each).replace(": ", "\n")
    ends = (-0.01, 1.01)
    ax.set(xlabel="mean score", ylabel="precision", xlim=ends, ylim=ends, aspect="equal", title=title)
    parts.in_percent(ax.yaxis, "precision")
    parts.legend(ax)
    return ax
