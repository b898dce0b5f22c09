"""Pictures of the project's tables, one function a picture, with matplotlib.

Each takes a table and, where it draws one picture, an Axes to draw into (without one, a new figure); where it draws
several, a Figure. Each returns what it drew into, and shows or saves nothing. Axes carry their units. Colours are those
that people with any colour vision tell apart, and lines and markers differ in shape, too, so that the pictures can be
read in grey. Image planes have y downwards, as images do.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from pandas.api.types import is_integer_dtype, is_string_dtype

from .matching.rule import distance_rule
from .presentation.display import words
from .presentation.image_plane import recall_grid
from .presentation.metric_text import title
from .support.errors import InputError
from .support.labels import label
from .tables.arrow import Table, as_pandas
from .tables.match_sides import offsets
from .tables.schema import FN, FP, TP, check_matches, decoded, measure_of

# Okabe and Ito's colours, which differ in lightness, too.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"
LINES = [("-", "o", BLUE), ("--", "s", RED), (":", "^", GREEN), ("-.", "D", ORANGE)]


def recall_map(matches: Table, ax: Axes | None = None, bins: int = 12) -> Axes:
    """Recall over the image plane (px), in `bins` columns and as many rows as make squares; blank without a truth."""
    table = check_matches(matches)
    grid = recall_grid(table, bins)
    ax = _axes(ax)
    if grid is None:
        return _nothing(ax, "no truths")
    mesh = ax.pcolormesh(grid.x_edges, grid.y_edges, grid.recall.T, cmap="cividis", vmin=0, vmax=1)
    ax.figure.colorbar(mesh, ax=ax, label=_axis_label("recall"))
    ax.set(title=f"Recall over the image, {int(grid.n_truth.sum()):,} truths")
    return _image_plane(ax)


def distances(matches: Table, ax: Axes | None = None, bins: int = 40) -> Axes:
    """The distances of the true positives (px), with epsilon and tau marked where the table tells them."""
    table = check_matches(matches)
    measure = measure_of(table)
    values = table[measure].dropna().to_numpy(np.float64)
    ax = _axes(ax)
    if not len(values):
        return _nothing(ax, "no true positives")
    ax.hist(values, bins=bins, color=BLUE, edgecolor="white", linewidth=0.3)
    if measure == "distance":
        for name, style, color in (("epsilon", "--", GREY), ("tau", "-", RED)):
            if name in table.attrs:
                mark = float(table.attrs[name])
                ax.axvline(mark, linestyle=style, color=color, label=f"{name}, {label(mark)} px")
    ax.axvline(values.mean(), linestyle=":", color="black", label=f"mean, {values.mean():.3g}")
    ax.set(xlabel=f"{measure}{', px' if measure == 'distance' else ''}", ylabel="true positives")
    ax.set(title=f"{measure.capitalize()} of {len(values):,} true positives")
    ax.legend()
    return ax


def residuals(matches: Table, ax: Axes | None = None, tau: float | None = None) -> Axes:
    """Predicted less true coordinates of the true positives (px), with their mean, and tau as a circle.

    `tau` (px) is needed where the table does not tell it.
    """
    table = check_matches(matches)
    tau = distance_rule(table, ["tau"], tau).largest_cost
    for side in ("truth", "predicted"):
        _check_columns(table, [f"{side}_{axis}" for axis in "xy"])
    dx, dy = offsets(table)
    some = ~(np.isnan(dx) | np.isnan(dy)) & (table["outcome"].array.codes == TP)
    dx, dy = dx[some], dy[some]
    ax = _axes(ax)
    if not len(dx):
        return _nothing(ax, "no true positives")
    ax.scatter(dx, dy, s=float(np.clip(4000 / len(dx), 1, 20)), color=BLUE, alpha=0.4, linewidths=0)
    ax.add_patch(Circle((0, 0), tau, fill=False, linestyle="-", edgecolor=GREY, label=f"tau, {label(tau)} px"))
    mean = f"mean, {dx.mean():+.2f}, {dy.mean():+.2f} px"
    ax.plot(dx.mean(), dy.mean(), "P", color=RED, markeredgecolor="white", markersize=12, label=mean)
    ax.axhline(0, color=GREY, linewidth=0.5)
    ax.axvline(0, color=GREY, linewidth=0.5)
    ax.set(xlabel="predicted - true x, px", ylabel="predicted - true y, px", title=f"Residuals of {len(dx):,} hits")
    ax.set(xlim=(-1.05 * tau, 1.05 * tau), ylim=(1.05 * tau, -1.05 * tau), aspect="equal")
    ax.legend(loc="upper right")
    return ax


def metric_by_slice(intervals: Table, ax: Axes | None = None, metric: str | None = None) -> Axes:
    """A metric with its intervals by slice: a table of `intervals(matches, by=...)`; its first metric unless told."""
    table = as_pandas(intervals, "intervals")
    _check_columns(table, ["metric", "estimate", "low", "high"])
    metric = metric if metric is not None else (str(table["metric"].iloc[0]) if len(table) else "metric")
    rows = table[table["metric"] == metric]
    by = list(table.columns[: list(table.columns).index("metric")])
    ax = _axes(ax)
    if not len(rows):
        return _nothing(ax, f"no rows of {metric}")
    slices = [", ".join(map(label, values)) for values in zip(*(rows[name] for name in by), strict=True)]
    _points_with_bars(ax, slices if by else ["all"], rows)
    ax.set(
        xlabel=_axis_label(metric),
        ylabel=", ".join(map(str, by)),
        title=f"{_axis_label(metric)}, by slice, with intervals",
    )
    ax.invert_yaxis()
    return ax


def error_costs(costs: Table, ax: Axes | None = None) -> Axes:
    """What mending each kind of error alone would add to F1: a table of `error_costs`."""
    table = as_pandas(costs, "error costs")
    _check_columns(table, ["kind", "n_misses", "n_false_alarms", "f1_gain"])
    rows = table[table["kind"] != "all"].sort_values("f1_gain")
    ax = _axes(ax)
    bars = ax.barh(rows["kind"].map(words), rows["f1_gain"], color=BLUE)
    counts = [
        ", ".join(f"{n:,} {noun}" for n, noun in ((misses, "missed"), (alarms, "false")) if n) or "none"
        for misses, alarms in zip(rows["n_misses"], rows["n_false_alarms"], strict=True)
    ]
    ax.bar_label(bars, counts, padding=4, fontsize="small")
    ax.margins(x=0.35)
    ax.set(xlabel=f"{_axis_label('f1_gain')} if this kind alone were mended", title="What each kind of error costs")
    return ax


def sweep_curves(curve: Table, figure: Figure | None = None) -> Figure:
    """F1 over the score threshold, and precision over recall, for each tau: the curve of `sweep`."""
    table = as_pandas(curve, "sweep")
    _check_columns(table, ["tau", "score_threshold", "precision", "recall", "f1"])
    figure = plt.figure(figsize=(9, 3.8), layout="constrained") if figure is None else figure
    left, right = figure.subplots(1, 2)
    for number, (tau, rows) in enumerate(table.groupby("tau")):
        style, marker, color = LINES[number % len(LINES)]
        best = rows.iloc[len(rows) - 1 - int(rows["f1"][::-1].argmax())] if rows["f1"].notna().any() else None
        name = f"tau {label(tau)} px"
        named = name if best is None else f"{name}, best F1 {best['f1']:.3f}"
        left.plot(rows["score_threshold"], rows["f1"], style, color=color, label=named)
        right.plot(rows["recall"], rows["precision"], style, color=color, label=name)
        if best is not None:
            left.plot(best["score_threshold"], best["f1"], marker, color=color)
            right.plot(best["recall"], best["precision"], marker, color=color)
    f1, recall, precision = map(_axis_label, ("f1", "recall", "precision"))
    left.set(xlabel="score threshold", ylabel=f1, ylim=(0, 1), title=f"{f1} by threshold (best marked)")
    right.set(xlabel=recall, ylabel=precision, xlim=(0, 1), ylim=(0, 1.02), title="Precision and recall")
    left.legend(loc="lower left")
    right.legend(loc="lower left")
    return figure


def frame(matches: Table, sequence: Any, number: int, ax: Axes | None = None) -> Axes:
    """One frame: truths, predictions, and a line between those that are matched."""
    table = check_matches(matches)
    _check_sequence(table, sequence)
    rows = table[(table["sequence"] == sequence) & (table["frame"] == number)]
    if not len(rows):
        raise InputError(f"plots: there is no sequence {sequence}, frame {number} in the match table")
    ax = _axes(ax)
    _draw_frame(ax, rows)
    ax.set_title(f"Sequence {sequence}, frame {number}: {_tally(rows)}")
    ax.legend(handles=_frame_legend(), loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    return _image_plane(ax)


def sequence(matches: Table, name: Any, figure: Figure | None = None, most: int = 5) -> Figure:
    """The first `most` frames of a sequence side by side, on the same axes."""
    table = check_matches(matches)
    _check_sequence(table, name)
    rows = table[table["sequence"] == name]
    if not len(rows):
        raise InputError(f"plots: there is no sequence {name} in the match table")
    numbers = np.sort(rows["frame"].unique())[:most]
    figure = plt.figure(figsize=(3.1 * len(numbers), 3.4), layout="constrained") if figure is None else figure
    axes = figure.subplots(1, len(numbers), sharex=True, sharey=True, squeeze=False)[0]
    for ax, number in zip(axes, numbers, strict=True):
        some = rows[rows["frame"] == number]
        _draw_frame(ax, some)
        whose = f"sequence {name}, " if number == numbers[0] else ""
        ax.set_title(f"{whose}frame {number}\n{_tally(some)}", fontsize="medium")
        ax.set(xlabel="x, px", aspect="equal")
    axes[0].set_ylabel("y, px")
    axes[0].invert_yaxis()
    figure.legend(handles=_frame_legend(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _check_sequence(table: pd.DataFrame, name: Any) -> None:
    """Raises InputError where a sequence is named by text and the table's are integers, or the other way round."""
    values = decoded(table["sequence"])
    kind = "integers" if is_integer_dtype(values.dtype) else "strings"
    if len(table) and isinstance(name, str) != (kind == "strings") and (kind == "integers" or is_string_dtype(values)):
        raise InputError(f"plots: sequence is {name!r}, a {type(name).__name__}; the sequences of the table are {kind}")


def forest(pairs: Table, ax: Axes | None = None, metric: str = "f1") -> Axes:
    """Differences of a metric with their intervals, a row a pair: the pairs of `compare`."""
    table = as_pandas(pairs, "pairs")
    _check_columns(table, ["a", "b", "metric", "estimate", "low", "high", "p_adjusted"])
    rows = table[table["metric"] == metric]
    ax = _axes(ax)
    if not len(rows):
        return _nothing(ax, f"no rows of {metric}")
    adjusted = [f"p = {p:.2g}" if p >= 0.001 else "p < 0.001" for p in rows["p_adjusted"].fillna(1)]
    names = [f"{a} - {b}\n{p}" for a, b, p in zip(rows["a"], rows["b"], adjusted, strict=True)]
    _points_with_bars(ax, names, rows)
    ax.axvline(0, color=GREY, linestyle="--", linewidth=1)
    ax.set(xlabel=f"difference of {_axis_label(metric)}", title=f"Difference of {_axis_label(metric)}")
    ax.invert_yaxis()
    return ax


def hota_curve(curve: Table, ax: Axes | None = None) -> Axes:
    """HOTA, DetA, AssA and LocA over alpha, all sequences combined: the curve of `track` or `pose`."""
    table = as_pandas(curve, "curve")
    names = ["HOTA", "DetA", "AssA", "LocA"]
    _check_columns(table, ["sequence", "alpha", *names])
    rows = table[table["sequence"].isna()]
    rows = rows[rows["joint"].isna()] if "joint" in rows else rows
    ax = _axes(ax)
    for name, (style, marker, color) in zip(names, LINES, strict=True):
        named = f"{name}, mean {rows[name].mean():.2f}"
        ax.plot(rows["alpha"], rows[name], style, marker=marker, markersize=4, color=color, label=named)
    ax.set(xlabel="alpha: least similarity of a match", ylabel="share", ylim=(0, 1.02), title="HOTA by threshold")
    ax.legend(loc="lower left")
    return ax


def _axes(ax: Axes | None) -> Axes:
    return plt.subplots(figsize=(6.4, 4.4), layout="constrained")[1] if ax is None else ax


def _nothing(ax: Axes, why: str) -> Axes:
    """An empty picture that says why it is one."""
    ax.text(0.5, 0.5, why, ha="center", va="center", transform=ax.transAxes, color=GREY)
    ax.set(xticks=[], yticks=[])
    return ax


def _image_plane(ax: Axes) -> Axes:
    ax.set(xlabel="x, px", ylabel="y, px", aspect="equal")
    if not ax.yaxis_inverted():
        ax.invert_yaxis()
    return ax


def _check_columns(table: pd.DataFrame, names: list[str]) -> None:
    missing = [name for name in names if name not in table]
    if missing:
        raise InputError(
            [f"plots: column {name} is missing; the docstring says which table is needed" for name in missing]
        )


def _column(table: pd.DataFrame, name: str) -> np.ndarray:
    if name not in table:
        raise InputError(f"match table: column {name} is missing")
    return table[name].to_numpy(np.float64, na_value=np.nan)


def _axis_label(metric: str) -> str:
    """The label of a metric with its unit; the name itself of what is no metric."""
    return title(metric) or metric


def _points_with_bars(ax: Axes, names: list[str], rows: pd.DataFrame) -> None:
    """Estimates and their intervals, one below the other; without an interval, only the point."""
    place = np.arange(len(names))
    low, high = rows["low"].fillna(rows["estimate"]), rows["high"].fillna(rows["estimate"])
    ax.hlines(place, low, high, color=BLUE, linewidth=2)
    ax.plot(rows["estimate"], place, "o", color=BLUE, markeredgecolor="white", markersize=8)
    ax.set_yticks(place, names)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    ax.margins(y=0.5 / max(len(names), 1))


def _draw_frame(ax: Axes, rows: pd.DataFrame) -> None:
    outcome = rows["outcome"].array.codes
    truth, claims = ([_column(rows, f"{side}_{axis}") for axis in "xy"] for side in ("truth", "predicted"))
    ax.plot(
        *([one[outcome == TP], other[outcome == TP]] for one, other in zip(truth, claims, strict=True)), "-", color=GREY
    )
    missed, false = outcome == FN, outcome == FP
    ax.plot(*(side[outcome == TP] for side in truth), "o", markersize=11, fillstyle="none", color=GREEN)
    ax.plot(*(side[missed] for side in truth), "o", markersize=11, fillstyle="none", color=RED, markeredgewidth=2.5)
    ax.plot(*(side[outcome == TP] for side in claims), "+", markersize=9, color=BLUE)
    ax.plot(*(side[false] for side in claims), "x", markersize=8, color=ORANGE, markeredgewidth=2)


def _frame_legend() -> list[Line2D]:
    entries = [("truth, found", "o", GREEN, 1.0), ("truth, missed", "o", RED, 2.5)]
    entries += [("prediction, right", "+", BLUE, 1.0), ("prediction, false", "x", ORANGE, 2.0)]
    return [
        Line2D([], [], linestyle="", marker=marker, color=color, fillstyle="none", markeredgewidth=width, label=label)
        for label, marker, color, width in entries
    ]


def _tally(rows: pd.DataFrame) -> str:
    counts = rows["outcome"].value_counts()
    return f"{counts['TP']} found, {counts['FN']} missed, {counts['FP']} false"
