"""Colours, axes and messages that all plots share."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING, Any

from ...support import InputError, label, packages
from .drawn_tables import described
from .wording import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The colours of Okabe and Ito, which also differ in lightness.
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#A3447C", "#777777"
PALE_BLUE = "#8FC1DD"
LINES = [("-", "o", BLUE), ("--", "s", RED), (":", "^", GREEN), ("-.", "D", ORANGE)]


def axes_or_new(ax: Axes | None) -> Axes:
    """The given Axes, or those of a new figure; raises InputError if something else is given."""
    if ax is None:
        return new_figure((6.4, 4.4)).add_subplot()
    packages.check_extra("plots", "plots")
    from matplotlib.axes import Axes as KnownAxes

    if not isinstance(ax, KnownAxes):
        needed = "give one Axes of matplotlib, as plt.subplots() makes it, or none"
        raise InputError(f"plots: ax is {described(ax)}; {needed}")
    return ax


def figure_or_new(figure: Figure | None, size: tuple[float, float]) -> Figure:
    """The given Figure, or a new one of a size in inches; raises InputError if something else is given."""
    if figure is None:
        return new_figure(size)
    packages.check_extra("plots", "plots")
    from matplotlib.figure import FigureBase

    if not isinstance(figure, FigureBase):
        problem = (
            f"plots: figure is {described(figure)}; give a Figure of matplotlib, as plt.figure() makes it, or none"
        )
        raise InputError(problem)
    return figure


def new_figure(size: tuple[float, float]) -> Figure:
    """A new figure of a size in inches; raises ImportError if the extra `plots` is not installed."""
    packages.check_extra("plots", "plots")
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="compressed")  # planes of equal axes lie close to their legends


def nothing_to_draw(ax: Axes, why: str) -> Axes:
    """Writes into empty Axes why they are empty."""
    ax.text(0.5, 0.5, plain(why), ha="center", va="center", transform=ax.transAxes, color=GREY)
    ax.set(xticks=[], yticks=[])
    return ax


def legend_beside(ax: Axes, **options: Any) -> None:
    """Draws the legend on the right, outside of the data."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, **options)


def legend_below(figure: Figure, handles: list[Any]) -> None:
    """Draws one legend for all panels of a figure, below them."""
    most = 4 if len(handles) <= 4 else 3
    figure.legend(handles=handles, loc="outside lower center", ncols=most, frameon=False)


def axis_label(metric: str, unit: str | None = None) -> str:
    """The label of a metric with its unit, where that of distances is `unit`, or px; other names stay as they are."""
    return plain(title(metric, unit) or metric)


def plain(text: Any) -> str:
    """A value as text in which no $ begins a formula, whatever the names of the user's."""
    return label(text).replace("$", r"\$")


def shortened(name: Any, most: int) -> str:
    """A name as text of at most so many characters, without its middle if it is longer."""
    text = label(name)
    half = most // 2
    return text if len(text) <= most else f"{text[: most - half - 1]}…{text[-half:]}"
