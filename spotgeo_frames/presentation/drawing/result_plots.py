"""Plots of what was computed from match tables: intervals, costs of errors, sweeps, precision over recall, and more."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...analysis import Calibration, DetectionLimit
from ...scoring import OF_FEW, rests_on_few
from ...support import InputError, bins_as_text, label
from ...tables import Table, arrow, schema
from . import drawn_confusion, drawn_tables
from . import plot_parts as parts
from .display import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The units of the columns of objects that have one.
UNITS = {"x": "px", "y": "px", "w": "px", "h": "px", "area": "px²"}

# The count of points of a curve.
POINTS = 200

# The most categories whose lines have colours and names; those with the lowest average precision are the ones to see.
MOST_NAMED = 8

# What tells the bars of submissions apart besides their colours.
HATCHES = ["", "//", "..", "xx"]


def metric_by_slice(intervals: Table | Mapping[str, Table], ax: Axes | None = None, metric: str | None = None) -> Axes:
    """Draws a metric of each slice as a point, with its confidence interval as a bar.

    Slices of fewer than 20 sequences are paler. Of several submissions, the points of a slice stand below each other.

    Parameters
    ----------
    intervals
        The table that `intervals(matches, by=...)` returned, or a dict from the names of submissions to such tables.
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
    rows, by, metric = drawn_tables.intervals_to_draw(intervals, metric, "plots")
    ax = parts.axes_or_new(ax)
    if not len(rows):
        return parts.nothing_to_draw(ax, f"no rows of {metric}")
    by = [name for name in by if name != "submission"]
    names = [*map(parts.plain, drawn_tables.slice_names(rows, by))]
    if "submission" in rows:
        _submissions_with_bars(ax, names, rows)
    else:
        _points_with_bars(ax, names, rows, rests_on_few(rows))
    ax.set(
        xlabel=parts.axis_label(metric, rows.attrs.get("unit")),
        ylabel=", ".join(map(parts.plain, by)),
        title=f"Intervals of {parts.axis_label(metric, rows.attrs.get('unit'))} by slice",
    )
    ax.invert_yaxis()
    return ax


def error_costs(costs: Table | Mapping[str, Table], ax: Axes | None = None) -> Axes:
    """Draws how much F1, HOTA of tracks and poses, or AP would gain if each kind of error alone were corrected.

    Parameters
    ----------
    costs
        The table that `error_costs` returned, or a dict from the names of submissions to such tables.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes, with one bar for each kind; its label has the counts of misses, of false alarms and of breaks. Several
    submissions have a bar each, without counts.

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
    table, metric = drawn_tables.costs_to_draw(costs, "plots")
    gain = f"{metric}_gain"
    ax = parts.axes_or_new(ax)
    ax.set(xlabel=f"{parts.axis_label(gain)} if this kind alone were corrected", title="Cost of each kind of error")
    if "submission" in table:
        return _costs_of_submissions(ax, table, gain)
    rows = table.sort_values(gain, kind="stable")
    bars = ax.barh(rows["kind"].map(words), rows[gain], color=parts.BLUE)
    nouns = {"n_misses": "missed", "n_false_alarms": "false", "n_breaks": "breaks"}
    counted = {noun: rows[column].tolist() for column, noun in nouns.items() if column in rows}
    counts = [
        ", ".join(f"{n:,} {noun}" for noun, n in zip(counted, row, strict=True) if n) or "none"
        for row in zip(*counted.values(), strict=True)
    ]
    ax.bar_label(bars, counts, padding=4, fontsize="small")
    ax.margins(x=0.6 if "n_breaks" in rows else 0.45)  # room for the counts
    return ax


def _costs_of_submissions(ax: Axes, table: pd.DataFrame, gain: str) -> Axes:
    """Draws a bar for each kind and submission, the kind that costs most of all at the top."""
    of = drawn_tables.names_of_rows(table, "plots")
    kinds = table.groupby("kind", observed=True)[gain].max().sort_values(kind="stable").index
    submissions = list(dict.fromkeys(of))
    height = 0.8 / len(submissions)
    for position, name in enumerate(submissions):
        own = table[of == name].set_index("kind")[gain].reindex(kinds)
        place = np.arange(len(kinds)) + 0.4 - (position + 0.5) * height
        _, _, color = parts.LINES[position % len(parts.LINES)]
        ax.barh(place, own, height, color=color, hatch=HATCHES[position % len(HATCHES)], label=parts.plain(name))
    ax.set_yticks(np.arange(len(kinds)), [words(kind) for kind in kinds])
    parts.legend_beside(ax)
    return ax


def sweep_curves(curve: Table | Mapping[str, Table], figure: Figure | None = None) -> Figure:
    """Draws F1 over the score threshold, and precision over recall, with one line for each tau or similarity threshold.

    Of tracks, HOTA over the score threshold is drawn in one line. Several submissions have lines each.

    Parameters
    ----------
    curve
        The table `curve` that `sweep` returned, or a dict from the names of submissions to such tables.
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
    table, metric, limit, unit = drawn_tables.sweep_to_draw(curve, "plots")
    figure = parts.figure_or_new(figure, (9, 4.2))
    left, right = figure.subplots(1, 2)
    for position, (name, rows) in enumerate(_swept_lines(table, limit, unit).items()):
        style, marker, color = parts.LINES[position % len(parts.LINES)]
        best = drawn_tables.best_of(rows, metric)
        named = f"{name}, best {parts.axis_label(metric)} {best[metric].iloc[0]:.3f}" if len(best) else name
        left.plot(rows["score_threshold"], rows[metric], style, color=color, label=named)
        right.plot(rows["recall"], rows["precision"], style, color=color, label=name)
        if len(best):
            left.plot(best["score_threshold"], best[metric], marker, color=color)
            right.plot(best["recall"], best["precision"], marker, color=color)
    height, recall, precision = map(parts.axis_label, (metric, "recall", "precision"))
    left.set(xlabel="score threshold", ylabel=height, ylim=(0, 1), title=f"{height} by threshold (best marked)")
    right.set(xlabel=recall, ylabel=precision, xlim=(0, 1), ylim=(0, 1.02), title="Precision and recall")
    parts.legend_below(figure, left.get_legend_handles_labels()[0])
    return figure


def _swept_lines(table: pd.DataFrame, limit: str | None, unit: str) -> dict[str, pd.DataFrame]:
    """The rows of each line of a sweep by its name: of submissions, and of what matches had to be near to."""
    parts_of = {"": table}
    if "submission" in table:
        of = drawn_tables.names_of_rows(table, "plots")
        parts_of = {parts.plain(name): table[of == name] for name in dict.fromkeys(of)}
    if not limit:
        return {name or "tracks": rows for name, rows in parts_of.items()}
    return {
        f"{name}, {limit} {label(value)}{unit}".removeprefix(", "): rows
        for name, of_name in parts_of.items()
        for value, rows in of_name.groupby(limit)
    }


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
    rows, metric = drawn_tables.pairs_to_draw(pairs, metric, "plots")
    ax = parts.axes_or_new(ax)
    if not len(rows):
        return parts.nothing_to_draw(ax, f"no rows of {metric}")
    adjusted = [f"p = {p:.2g}" if p >= 0.001 else "p < 0.001" for p in rows["p_adjusted"].fillna(1)]
    firsts, seconds = (map(parts.plain, rows[side]) for side in "ab")
    names = [
        f"{a} - {b}{of}\n{p}"
        for a, b, of, p in zip(firsts, seconds, drawn_tables.mean_names(rows), adjusted, strict=True)
    ]
    _points_with_bars(ax, names, rows, np.zeros(len(rows), bool))
    ax.axvline(0, color=parts.GREY, linestyle="--", linewidth=1)
    name = parts.axis_label(metric, rows.attrs.get("unit"))
    ax.set(xlabel=f"difference of {name}", title=f"Difference of {name}")
    ax.invert_yaxis()
    return ax


def hota_curve(curve: Table | Mapping[str, Table], ax: Axes | None = None) -> Axes:
    """Draws HOTA, DetA, AssA and LocA over alpha, for all sequences combined, and all classes if there are any.

    Parameters
    ----------
    curve
        The table `curve` that `track` or `pose` returned; of `track(by="category")` also its rows of one class. Or a
        dict from the names of submissions to such tables.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes, with one line for each metric; its label has the mean over alpha. Where the table has slices by condition,
    or is of several submissions, there is one line of HOTA for each.

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
    rows = drawn_tables.hota_to_draw(curve, "plots")
    ax = parts.axes_or_new(ax)
    lines = [(name, rows, name) for name in drawn_tables.HOTA_PARTS]
    if "submission" in rows:
        of = drawn_tables.names_of_rows(rows, "plots")
        lines = [(name, rows[of == name], "HOTA") for name in dict.fromkeys(of)]
    for position, (name, of_line, metric) in enumerate(lines):
        style, marker, color = parts.LINES[position % len(parts.LINES)]
        named = parts.plain(f"{name}, mean {of_line[metric].mean():.2f}")
        ax.plot(of_line["alpha"], of_line[metric], style, marker=marker, markersize=4, color=color, label=named)
    share = "HOTA" if "submission" in rows else "share"
    ax.set(xlabel="alpha: least similarity of a match", ylabel=share, ylim=(0, 1.02), title="HOTA by threshold")
    parts.legend_beside(ax)
    return ax


def _points_with_bars(ax: Axes, names: list[str], rows: pd.DataFrame, few: np.ndarray) -> None:
    """Draws estimates with their intervals below each other, paler where few; a null interval leaves only the point."""
    place = np.arange(len(names))
    low, high = rows["low"].fillna(rows["estimate"]), rows["high"].fillna(rows["estimate"])
    for shown, color, text in ((~few, parts.BLUE, None), (few, parts.PALE_BLUE, OF_FEW)):
        if shown.any():
            ax.hlines(place[shown], low[shown], high[shown], color=color, linewidth=2)
            points = rows["estimate"][shown]
            ax.plot(points, place[shown], "o", color=color, markeredgecolor="white", markersize=8, label=text)
    if few.any():
        parts.legend_beside(ax)
    ax.set_yticks(place, names)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    ax.margins(y=0.5 / max(len(names), 1))


def _submissions_with_bars(ax: Axes, names: list[str], rows: pd.DataFrame) -> None:
    """Draws estimates with their intervals, one colour and marker a submission, those of a slice close together."""
    slices, of = list(dict.fromkeys(names)), drawn_tables.names_of_rows(rows, "plots")
    submissions = list(dict.fromkeys(of))
    place, few = np.array([slices.index(name) for name in names], float), rests_on_few(rows)
    low, high = rows["low"].fillna(rows["estimate"]), rows["high"].fillna(rows["estimate"])
    for position, name in enumerate(submissions):
        _, marker, color = parts.LINES[position % len(parts.LINES)]
        shift = 0.5 * ((position + 0.5) / len(submissions) - 0.5)
        own = (of == name).to_numpy()
        for shown, alpha, text in ((own & ~few, 1.0, parts.plain(name)), (own & few, 0.45, f"{name}, {OF_FEW}")):
            if shown.any():
                ax.hlines(place[shown] + shift, low[shown], high[shown], color=color, linewidth=2, alpha=alpha)
                style: dict[str, Any] = {"color": color, "markeredgecolor": "white", "markersize": 8, "alpha": alpha}
                ax.plot(rows["estimate"][shown], place[shown] + shift, marker, label=parts.plain(text), **style)
    parts.legend_beside(ax)
    ax.set_yticks(np.arange(len(slices)), slices)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    ax.margins(y=0.5 / max(len(slices), 1))


def detection_limit(found: DetectionLimit, ax: Axes | None = None) -> Axes:
    """Draws recall in bins of a column, the logistic curve, and the values where it is 50% and 90%.

    Parameters
    ----------
    found
        What `detection_limit` returned.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes, which say so if there are no truths. Points are recall in bins, at the mean value of each, with intervals;
    each group has a curve over its bins, and at heights of 50% and 90% a bar from `low` to `high`. Where a bound is
    null, the bar goes on to the end of the curve.

    Raises
    ------
    InputError: `found` is not what `detection_limit` returned.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/cautious.parquet"))
    >>> found = sf.detection_limit(matches.assign(magnitude=-np.log(matches["truth_brightness"])), "magnitude")
    >>> sf.plots.detection_limit(found).get_title()
    'Recall by magnitude, and where it is 50% and 90%'
    """
    if not isinstance(found, DetectionLimit):
        problem = f"plots: found is of type {type(found).__name__}; pass what detection_limit() returned"
        raise InputError(problem)
    limits, bins = (bins_as_text(arrow.as_pandas(table, "found")) for table in found)
    by = list(limits.columns[: list(limits.columns).index("recall")])
    column = str(bins.columns[len(by)])
    named = parts.plain(column)
    ax = parts.axes_or_new(ax)
    if not len(bins):
        return parts.nothing_to_draw(ax, f"no truth has a value of {column}")
    of_bins, of_limits = (_groups(table, by) for table in (bins, limits))
    for position, (values, rows) in enumerate(of_bins.items()):
        name = ", ".join(map(parts.plain, values)) or "recall"
        _draw(ax, rows, of_limits[values], name, parts.LINES[position % len(parts.LINES)])
    heights = " and ".join(f"{recall:.0%}" for recall in limits["recall"].unique())
    unit = UNITS.get(column.removeprefix(schema.PREFIXES["truth"]))
    xlabel = f"{named}, {unit}" if unit else named
    ax.set(xlabel=xlabel, ylabel="recall", ylim=(0, 1.02), title=f"Recall by {named}, and where it is {heights}")
    parts.legend_beside(ax, fontsize="small")
    return ax


def _groups(table: pd.DataFrame, by: list[str]) -> dict[tuple[Any, ...], pd.DataFrame]:
    """The rows of each group, by its values in the columns `by`; one group without columns."""
    if not by:
        return {(): table}
    return dict(list(table.groupby(by, observed=True, sort=False)))


def _draw(ax: Axes, bins: pd.DataFrame, limits: pd.DataFrame, name: str, line: tuple[str, str, str]) -> None:
    """Draws one group: the points of its bins, its curve, and a bar at each height."""
    style, marker, color = line
    low, high = (bins[bound].fillna(bins["recall"]) for bound in ("recall_low", "recall_high"))
    ax.vlines(bins["mean"], low, high, color=color, linewidth=1, alpha=0.6)
    ax.plot(bins["mean"], bins["recall"], marker, color=color, markersize=5, label=f"{name}, in bins")
    told = limits[limits["estimate"].notna()]
    ends = pd.concat([bins["mean"], *(told[bound] for bound in ("estimate", "low", "high"))])
    value = np.linspace(ends.min(), ends.max(), POINTS)
    logit = limits["intercept"].iloc[0] + limits["slope"].iloc[0] * value
    with np.errstate(over="ignore"):  # far below the limit, where recall is 0
        recall = 1 / (1 + np.exp(-logit))
    ax.plot(value, recall, style, color=color, label=f"{name}, logistic curve")
    ax.hlines(told["recall"], told["low"].fillna(value[0]), told["high"].fillna(value[-1]), color=color, linewidth=3)
    ax.plot(told["estimate"], told["recall"], marker, color=color, markeredgecolor="white", markersize=9)


def precision_recall(
    curve: Table | Mapping[str, Table], ax: Axes | None = None, threshold: float | None = None
) -> Axes:
    """Draws precision over recall as the mean over categories, or at one threshold for each category.

    Parameters
    ----------
    curve
        The table `curve` of what `average_precision` returned, or a dict from the names of submissions to such tables.
    ax
        The Axes to draw into; a new figure without it.
    threshold
        One of the table's thresholds, to draw a line for each category; of several submissions, their means. Without
        it, the lines are means over categories: at the thresholds 0.50 and 0.75, as far as the table has them, and the
        mean of all its thresholds; of several submissions, the last of these.

    Returns
    -------
    The Axes, which say so if there are no truths. The average precision of each line is in the legend, where the
    protocol has it as the mean of the line's points. Of more than eight categories, the eight with the lowest have
    names, and the others are grey.

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
    rows = drawn_tables.precision_to_draw(curve, "plots")
    ax = parts.axes_or_new(ax)
    if not len(rows):
        return parts.nothing_to_draw(ax, "no truths")
    if "submission" in rows:
        lines = _mean_of_each(rows, threshold)
    elif threshold is None:
        lines = drawn_tables.mean_lines(rows)
    else:
        lines = drawn_tables.category_lines(rows, threshold, "plots")
    for position, (name, line) in enumerate(lines.items()):
        is_named = position < MOST_NAMED
        style, marker, color = parts.LINES[position % len(parts.LINES)] if is_named else ("-", "", "0.8")
        marker = (
            marker if position >= len(parts.LINES) else ""
        )  # the second four lines differ from the first by markers
        area = f", AP {line.mean():.2f}" if drawn_tables.averages_points(rows.attrs) else ""
        text = f"{parts.plain(name)}{area}" if is_named else None
        [drawn] = ax.plot(line.index, line, style, marker=marker, markevery=10, markersize=4, color=color, label=text)
        drawn.set_zorder(2 if is_named else 1)
    of = "mean over categories" if threshold is None or "submission" in rows else "by category"
    at = "" if threshold is None else f" at {threshold:.2f}"
    ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02), title=f"Precision and recall{at}, {of}")
    parts.legend_beside(ax)
    return ax


def _mean_of_each(rows: pd.DataFrame, threshold: float | None) -> dict[str, pd.Series]:
    """Precision by recall of each submission: the mean over its categories and thresholds, or at one threshold."""
    of = drawn_tables.names_of_rows(rows, "plots")
    lines = {}
    for name in dict.fromkeys(of):
        own = rows[of == name]
        if threshold is None:
            lines[name] = [*drawn_tables.mean_lines(own).values()][-1]
        else:
            lines[name] = pd.concat(drawn_tables.category_lines(own, threshold, "plots")).groupby("recall").mean()
    return lines


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
    bins, [summary] = arrow.as_pandas(found.bins, "bins"), arrow.as_pandas(found.summary, "summary").to_dict("records")
    ax = parts.axes_or_new(ax)
    if not len(bins):
        return parts.nothing_to_draw(ax, "no detections")
    low, high = (bins[bound].fillna(bins["precision"]) for bound in ("precision_low", "precision_high"))
    ax.plot([0, 1], [0, 1], "--", color=parts.GREY, label="calibrated")
    ax.vlines(bins["mean_score"], low, high, color=parts.BLUE, linewidth=2)
    ax.plot(
        bins["mean_score"],
        bins["precision"],
        "-o",
        color=parts.BLUE,
        markeredgecolor="white",
        label="detections, in bins",
    )
    error, between = summary["expected_calibration_error"], ""
    if not pd.isna(summary["low"]):
        between = f" ({summary['low']:.3f} to {summary['high']:.3f})"
    title = f"Calibration of {summary['n_predicted']:,} detections\nexpected calibration error {error:.3f}{between}"
    ax.set(xlabel="mean score", ylabel="precision", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", title=title)
    parts.legend_beside(ax)
    return ax


def confusion(counts: Table | Mapping[str, Table], ax: Axes | None = None) -> Axes:
    """Draws which category of truths is detected as which.

    Parameters
    ----------
    counts
        The table that `confusion` returned, wide or long, of one submission.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes, which say so if nothing is counted. Each row is a category of truths, and its colours are shares of that
    row. The last column are missed truths, and the last row are false alarms. Counts are written into the cells of up
    to 20 categories.

    Raises
    ------
    InputError: the table is none that `confusion` returned, or of several submissions.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> sf.plots.confusion(sf.confusion(result)).get_ylabel()
    'true category'
    """
    squares = drawn_confusion.squares_to_draw(counts, "plots")
    if len(squares) != 1:
        raise InputError(f"plots: counts are of {len(squares)} submissions; give those of one, or use charts.confusion")
    [square] = squares.values()
    ax = parts.axes_or_new(ax)
    n, shares = square.to_numpy(), drawn_confusion.shares_of_rows(square)
    if not n.sum():
        return parts.nothing_to_draw(ax, "no truths and no detections")
    mesh = ax.imshow(shares, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    ax.figure.colorbar(mesh, ax=ax, label="share of the row")
    if len(n) - 1 <= drawn_confusion.MOST_WRITTEN:
        for row, column in zip(*np.nonzero(n), strict=True):
            color = "black" if shares[row, column] > 0.5 else "white"
            ax.text(column, row, f"{n[row, column]:,}", ha="center", va="center", color=color, fontsize="small")
    names = [parts.plain(name) for name in square.index]
    ax.set_xticks(range(len(n)), names, rotation=45, ha="right")
    ax.set_yticks(range(len(n)), names)
    ax.set(xlabel="predicted category", ylabel="true category", title="What each category is detected as")
    return ax
