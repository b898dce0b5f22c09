"""What all plots share: the axes that they are drawn into, pens, options of Matplotlib, legends and messages.

Plots compose: several calls may draw into the same Axes. So each plot remembers which of its artists are of which
submission, and the next call takes the next pens of the theme.
"""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ...support import Deprecation, InputError, label, packages, renamed
from ..theme import LIGHT, Look, look
from .drawn_tables import described
from .wording import is_share, title

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

    # What plots of several panels draw into: as many Axes, or one whose place they divide.
    Panels = Axes | Sequence[Axes] | np.ndarray | None

# One colour, or one for each submission: in their order, or by their names.
Colors = Any

# The size of a new figure with one Axes, in inches.
SIZE = (6.4, 4.4)


class Drawn(NamedTuple):
    """Of which submission on its Axes an artist is, by its position, and what its plot has to know of it later."""

    position: int
    of: Any


DRAWN: WeakKeyDictionary[Artist, Drawn] = WeakKeyDictionary()

# What the options of a plot are for: the main artists that it draws.
Main = Literal["lines", "bars", "points", "layers", "mesh", "image"]

# Options that functions of Axes know, besides those of the artists that they make.
BESIDES = {"points": ("s", "marker"), "mesh": ("vmin", "vmax"), "image": ("vmin", "vmax")}


# Texts that say why there is nothing to draw, with the locators of the ticks of x and y that were there before.
SAID: WeakKeyDictionary[Artist, tuple[Locator, Locator]] = WeakKeyDictionary()


# What artists have options for, and plots decide.
OF_PLOTS = {"bars": ("x", "y", "xy", "width", "height", "bounds")}


class Pen(NamedTuple):
    """How a submission is drawn: its name, which may be empty, its position on the Axes, its colour and its look."""

    name: str
    position: int
    color: Any
    look: Look


def _axes_in(figure: Any) -> Any:
    """Axes that fill a figure; what is none comes back as it is."""
    return figure.add_subplot() if hasattr(figure, "add_subplot") else figure


# For plots of several panels, which took a figure before they took Axes.
takes_figure = renamed(Deprecation("figure", "ax", since="0.1", until="0.3", not_before="2027-06-01"), _axes_in)


def axes_or_new(ax: Axes | None) -> Axes:
    """The given Axes, or those of a new figure; raises InputError if something else is given."""
    if ax is None:
        return new_figure(SIZE).add_subplot()
    check_axes(ax)
    return _emptied(ax)


def axes_and_pens(ax: Axes | None, names: Sequence[str], color: Colors = None) -> tuple[Axes, list[Pen]]:
    """The Axes to draw into, as `axes_or_new` has them, and a pen for each name, as `pens` has them.

    Raises InputError as both do; of a colour that is none before a figure is made.
    """
    made = pens(ax, names, color)
    return axes_or_new(ax), made


def check_axes(ax: Any, needed: str = "one Axes of matplotlib, as plt.subplots() makes it, or none") -> None:
    """Raises InputError, saying what is needed, unless this is an Axes."""
    packages.check_extra("plots", "plots")
    from matplotlib.axes import Axes as KnownAxes

    if not isinstance(ax, KnownAxes):
        raise InputError(f"plots: ax is {described(ax)}; give {needed}")
    if ax.figure is None:
        raise InputError(
            "plots: ax is no longer in a figure, as panels took its place; give the Axes that they returned"
        )


def panels_or_new(ax: Any, count: int, n_columns: int, size: tuple[float, float]) -> np.ndarray:
    """So many Axes in rows, (count,): new ones, or in the place of the given Axes, or the given ones.

    Raises InputError if something else is given, or a wrong count of Axes.
    """
    if ax is None:
        made = new_figure(size).subplots(-(-count // n_columns), n_columns, squeeze=False).ravel()
        for one in made[count:]:
            one.remove()
        return made[:count]
    if not isinstance(ax, list | tuple | np.ndarray):
        return _divided(ax, count, n_columns)
    given = np.empty(np.size(np.array(ax, object)), object)
    given[:] = np.ravel(np.array(ax, object))
    for one in given:
        check_axes(one, f"{count} Axes of matplotlib, or one, whose place is divided")
        _emptied(one)
    if len(given) != count:
        raise InputError(f"plots: ax has {len(given)} Axes, and {count} panels are drawn; give as many, or one Axes")
    return given


def first_of(ax: Any) -> Any:
    """The first of several Axes, or what is given instead; None without any."""
    return next(iter(np.ravel(np.array(ax, object))), None) if isinstance(ax, list | tuple | np.ndarray) else ax


def _divided(ax: Any, count: int, n_columns: int) -> np.ndarray:
    """So many Axes in the place of one, which is removed."""
    check_axes(ax, f"one Axes of matplotlib, whose place is divided, {count} Axes, or none")
    place = ax.get_subplotspec()
    if place is None:
        raise InputError("plots: ax has no place in a grid that panels could divide; make it by plt.subplots()")
    figure, room = ax.figure, dict[str, float]()
    if not makes_room(ax):
        room = {"wspace": 0.35, "hspace": 0.5}
    grid = place.subgridspec(-(-count // n_columns), n_columns, **room)
    ax.remove()
    panels = np.empty(count, object)
    panels[:] = [figure.add_subplot(grid[divmod(position, n_columns)]) for position in range(count)]
    return panels


def new_figure(size: tuple[float, float]) -> Figure:
    """A new figure of a size in inches; raises ImportError if the extra `plots` is not installed."""
    packages.check_extra("plots", "plots")
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="compressed")  # planes of equal axes lie close to their legends


def named(given: Any, name: str | None) -> Any:
    """What is drawn as a dict from its name, if it has one; raises InputError if it has names already."""
    if name is None:
        return given
    if isinstance(given, Mapping):
        raise InputError("plots: label is for a single table; this dict names its tables already, so leave label out")
    if not isinstance(name, str):
        raise InputError(f"plots: label is {described(name)}; give a name as text")
    return {name: given}


def pens(ax: Axes | None, names: Sequence[str], color: Colors = None) -> list[Pen]:
    """A pen for each name, those next after what plots have drawn into the Axes already.

    Raises InputError if the colours are none, or not as many as the names.
    """
    start = 0 if ax is None else n_drawn(ax)
    colors = _colors(names, color, start)
    return [
        Pen(in_legend(name), start + i, of, look(start + i))
        for i, (name, of) in enumerate(zip(names, colors, strict=True))
    ]


def _colors(names: Sequence[str], color: Colors, start: int) -> list[Any]:
    """The colour of each name; those of the theme, from a position on, where none is given."""
    if color is None:
        return [LIGHT.of(start + i) for i in range(len(names))]
    packages.check_extra("plots", "plots")
    from matplotlib.colors import is_color_like

    if isinstance(color, Mapping):
        given = {str(name): of for name, of in color.items()}
        found = {name: _of_name(given, name) for name in names}
        if lacking := [name or "a table without a name" for name, of in found.items() if of is None]:
            raise InputError(f"plots: color has no entry for {', '.join(lacking)}; give each line a colour")
        colors = [found[name] for name in names]
    elif is_color_like(color):
        colors = [color] * len(names)
    else:
        colors = list(color) if isinstance(color, Iterable) and not isinstance(color, str) else [color]
        if not isinstance(color, str) and len(colors) < len(names):
            raise InputError(
                f"plots: color has {len(colors)} colours, and {len(names)} are drawn; give one each, or one"
            )
    for one in colors:
        if not is_color_like(one):
            raise InputError(f"plots: color is {one!r}, which is no colour; give one of Matplotlib, such as 'teal'")
    return colors[: len(names)]


def _of_name(given: Mapping[str, Any], name: str) -> Any:
    """The colour of a line by its name, or else by that of its submission, which the name begins with; None without."""
    begins = [of for of in given if name == of or name.startswith(f"{of}, ")]
    return given[max(begins, key=len)] if begins else None


def note(pen: Pen, *artists: Artist, of: Any = None) -> None:
    """Remembers that artists are of a submission, so that the next one has another pen, and what they are besides."""
    DRAWN.update(dict.fromkeys(artists, Drawn(pen.position, of)))


def noted(ax: Axes) -> list[tuple[Drawn, Artist]]:
    """What plots have drawn into the Axes and is still there, with what is remembered of it.

    Raises InputError if it is no Axes.
    """
    check_axes(ax)
    return [(DRAWN[artist], artist) for artist in ax.get_children() if artist in DRAWN]


def n_drawn(ax: Axes) -> int:
    """How many submissions plots have drawn into the Axes."""
    return max((drawn.position for drawn, _ in noted(ax)), default=-1) + 1


def check_empty(ax: Axes | None, name: str) -> None:
    """Raises InputError if it is no Axes, or a plot that covers its Axes, called `name`, would cover what is there."""
    if ax is not None and n_drawn(ax):
        raise InputError(f"plots: {name} fills its Axes, and these already show a plot; give it empty Axes")


def check_bars(ax: Axes | None, name: str) -> None:
    """Raises InputError if a plot that moves its bars, called `name`, would do so in Axes with something else."""
    if ax is not None and any(drawn.of != name for drawn, _ in noted(ax)):
        raise InputError(
            f"plots: {name} moves its bars, and these Axes already show another plot; give Axes of its own"
        )


def ink() -> Any:
    """The colour of lines as dark as text, which is light where a style of Matplotlib has dark paper."""
    import matplotlib as mpl

    return mpl.rcParams["text.color"]


def options(main: Main, given: Mapping[str, Any]) -> dict[str, Any]:
    """Options for the main artists of a plot, by the long ones of their names, such as linewidth for lw.

    Raises what Matplotlib raises, before anything is drawn, if it does not know one.
    """
    if not given:
        return {}
    packages.check_extra("plots", "plots")
    from matplotlib import cbook, collections, image, lines, patches

    for name in given:
        if name in OF_PLOTS.get(main, ()):
            raise InputError(f"plots: {name} of {main} follows from what is drawn; leave it out")
    besides = {name: given[name] for name in BESIDES.get(main, ()) if name in given}
    own = {name: value for name, value in given.items() if name not in besides}
    kind: Any = {
        "lines": lines.Line2D,
        "bars": patches.Rectangle,
        "points": collections.PathCollection,
        "layers": collections.PolyCollection,
        "mesh": collections.QuadMesh,
        "image": image.AxesImage,
    }[main]
    own = cbook.normalize_kwargs(own, kind)
    needed: Any = {"lines": ([], []), "bars": ((0, 0), 0, 0), "mesh": (np.zeros((2, 2, 2)),), "image": (None,)}
    kind(*needed.get(main, ([],)), **own)
    return own | besides


def nothing_to_draw(ax: Axes, why: str) -> Axes:
    """Writes into empty Axes why they are empty."""
    if n_drawn(ax):
        return ax
    told = ax.text(0.5, 0.5, plain(why), ha="center", va="center", transform=ax.transAxes, color=LIGHT.muted)
    SAID[told] = ax.xaxis.get_major_locator(), ax.yaxis.get_major_locator()
    ax.set(xticks=[], yticks=[])
    return ax


def _emptied(ax: Axes) -> Axes:
    """The Axes without what an earlier call said of having nothing to draw, and with their ticks."""
    for told in [text for text in ax.texts if text in SAID]:
        for axis, locator in zip((ax.xaxis, ax.yaxis), SAID[told], strict=True):
            axis.set_major_locator(locator)
        told.remove()
    return ax


def makes_room(ax: Axes) -> bool:
    """Whether the figure of an Axes has a layout, which makes room for what lies beside the Axes."""
    return ax.figure.get_layout_engine() is not None


def colorbar(ax: Axes, drawn: Any, text: str) -> None:
    """Adds a colorbar of shares, in percent, beside the Axes, or within their place if nothing makes room for it."""
    place: dict[str, Any] = {"cax": ax.inset_axes((1.03, 0, 0.05, 1))} if makes_room(ax) else {"ax": ax}
    bar = ax.figure.colorbar(drawn, label=text, **place)
    in_percent(bar.ax.yaxis, "recall")


def legend(ax: Axes, of: Axes | None = None, **known: Any) -> Any:
    """Draws the legend of all that is drawn, each name once: on the right, outside of the data.

    In Axes of a figure without a layout, which would not make room for it, it is inside. `of` are other Axes, whose
    legend it is, and `handles` may be given.
    """
    handles = known.pop("handles", None)
    if handles is None:
        handles = (of or ax).get_legend_handles_labels()[0]
    elif (before := ax.get_legend()) is not None:
        handles = [*before.legend_handles, *handles]
    once = {entry.get_label(): entry for entry in reversed(handles)}
    handles = [once[name] for name in dict.fromkeys(entry.get_label() for entry in handles)]
    if not handles:
        return None
    has_layout = makes_room(ax)
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "frameon": False}
    return ax.legend(handles=handles, **(place if has_layout else {"loc": "best"}), **known)


def legend_of_panels(panels: np.ndarray, handles: list[Any], is_own: bool, title: str = "") -> None:
    """Draws one legend and a title for all panels: below and above them in a figure of their own, or at the last."""
    if not is_own:
        legend(panels[-1], handles=handles, title=title or None)
        return
    figure, most = panels[0].figure, 4 if len(handles) <= 4 else 3
    figure.legend(handles=handles, loc="outside lower center", ncols=most, frameon=False)
    if title:
        figure.suptitle(title)


def in_percent(axis: Axis, metric: str, sign: str = "") -> None:
    """Writes the ticks of an axis in percent, if it has shares; with `sign` "+", those of differences."""
    if is_share(metric):
        axis.set_major_formatter(lambda value, _: f"{100 * value:{sign}.4g}%" if abs(value) > 1e-9 else "0%")


def axis_label(metric: str, unit: str | None = None) -> str:
    """The label of a metric with its unit, where that of distances is `unit`, or px; other names stay as they are."""
    return plain(title(metric, unit) or metric)


def plain(text: Any) -> str:
    """A value as text in which no $ begins a formula, whatever the names of the user's."""
    return label(text).replace("$", r"\$")


def in_legend(name: str) -> str:
    """A name as text in a legend; Matplotlib would leave out one that begins with _, so a space of no width does."""
    text = plain(name)
    return f"\u200b{text}" if text.startswith("_") else text


def shortened(name: Any, most: int) -> str:
    """A name as text of at most so many characters, without its middle if it is longer."""
    text = label(name)
    half = most // 2
    return text if len(text) <= most else f"{text[: most - half - 1]}…{text[-half:]}"
