"""The plot of a detection limit: recall over a column, its logistic curve, and where that is 50% and 90%."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...analysis import DetectionLimit
from ...support.errors import InputError
from ...support.texts import bins_as_text
from ...tables.arrow import as_pandas
from ...tables.schema import PREFIXES
from .plot_parts import LINES, axes_or_new, legend_beside, nothing_to_draw, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The units of the columns of objects that have one.
UNITS = {"x": "px", "y": "px", "w": "px", "h": "px", "area": "px²"}

# The count of points of a curve.
POINTS = 200


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
    limits, bins = (bins_as_text(as_pandas(table, "found")) for table in found)
    by = list(limits.columns[: list(limits.columns).index("recall")])
    column = str(bins.columns[len(by)])
    named = plain(column)
    ax = axes_or_new(ax)
    if not len(bins):
        return nothing_to_draw(ax, f"no truth has a value of {column}")
    of_bins, of_limits = (_groups(table, by) for table in (bins, limits))
    for position, (values, rows) in enumerate(of_bins.items()):
        name = ", ".join(map(plain, values)) or "recall"
        _draw(ax, rows, of_limits[values], name, LINES[position % len(LINES)])
    heights = " and ".join(f"{recall:.0%}" for recall in limits["recall"].unique())
    unit = UNITS.get(column.removeprefix(PREFIXES["truth"]))
    xlabel = f"{named}, {unit}" if unit else named
    ax.set(xlabel=xlabel, ylabel="recall", ylim=(0, 1.02), title=f"Recall by {named}, and where it is {heights}")
    legend_beside(ax, fontsize="small")
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
