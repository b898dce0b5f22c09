"""Colours, axes and messages that all plots share."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING

import pandas as pd

from ..support.errors import InputError
from ..support.extras import check_extra
from .metric_text import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The colours of Okabe and Ito, which also differ in lightness.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"
PALE_BLUE = "#8FC1DD"
LINES = [("-", "o", BLUE), ("--", "s", RED), (":", "^", GREEN), ("-.", "D", ORANGE)]


def axes_or_new(ax: Axes | None) -> Axes:
    """The given Axes, or those of a new figure."""
    return new_figure((6.4, 4.4)).add_subplot() if ax is None else ax


def new_figure(size: tuple[float, float]) -> Figure:
    """A new figure of a size in inches; raises ImportError if the extra `plots` is not installed."""
    check_extra("plots", "plots")
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="constrained")


def nothing_to_draw(ax: Axes, why: str) -> Axes:
    """Writes into empty Axes why they are empty."""
    ax.text(0.5, 0.5, why, ha="center", va="center", transform=ax.transAxes, color=GREY)
    ax.set(xticks=[], yticks=[])
    return ax


def check_columns(table: pd.DataFrame, names: list[str], needed: str) -> None:
    """Raises InputError, saying which table is needed, if columns are missing."""
    missing = [name for name in names if name not in table]
    if missing:
        raise InputError([f"plots: column {name} is missing; pass {needed}" for name in missing])


def axis_label(metric: str) -> str:
    """The label of a metric with its unit; other names stay as they are."""
    return title(metric) or metric
