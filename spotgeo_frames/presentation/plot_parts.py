"""Colours, axes and messages that all plots share."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from ..support.errors import InputError
from .metric_text import title

# The colours of Okabe and Ito, which also differ in lightness.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"
LINES = [("-", "o", BLUE), ("--", "s", RED), (":", "^", GREEN), ("-.", "D", ORANGE)]


def axes_or_new(ax: Axes | None) -> Axes:
    """The given Axes, or those of a new figure."""
    return plt.subplots(figsize=(6.4, 4.4), layout="constrained")[1] if ax is None else ax


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
