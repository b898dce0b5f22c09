"""Plots of how far off predictions are: the distances of hits, and GOSPA by frame with what it is made of."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...matching import Rule
from ...tables import Table, schema
from ..theme import LIGHT
from . import drawn_results, drawn_tables, wording
from . import plot_parts as parts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Bins(NamedTuple):
    """Where the bins of a histogram begin, and how wide they are."""

    start: float
    width: float


def distances(
    matches: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    *,
    bins: int = 40,
    **bars: Any,
) -> Axes:
    """Draws a histogram of the distances (px), or of the similarities, of the true positives.

    Parameters
    ----------
    matches
        A match table, or a dict from the names of submissions to match tables, which have an outline each. Where its
        notes have them, epsilon and tau are marked.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour, or one for each submission, as a list or by name; those of the theme without it.
    bins
        The count of bars up to tau, or from the threshold of the similarity to 1. Further calls have bars as wide as
        those of the first.
    bars
        Options of Matplotlib for the bars or outlines, such as `alpha`, but for their places and sizes; those of
        `Axes.hist` itself, such as `density`, are none.

    Returns
    -------
    The Axes, which say so if there are no true positives.

    Raises
    ------
    InputError: `matches` is no match table, or `label` is given beside a dict; the tables of a dict differ in tau,
        epsilon or threshold; or `bins` is no count.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.plots.distances(matches).get_xlabel()
    'distance, px'
    """
    given = parts.named(matches, label)
    drawn_results.check_one_rule(given, drawn_results.OF_MEASURES, "plots")
    table = drawn_tables.matches_to_draw(given, "plots", 3)
    bins = drawn_tables.count_to_draw(bins, "bins", "plots")
    style, measure = parts.options("bars", bars), schema.measure_of(table)
    of_each = {name: rows[measure].dropna() for name, rows in drawn_tables.of_each(table, "plots").items()}
    ax, pens = parts.axes_and_pens(ax, list(of_each), color)
    values = table[measure].dropna().to_numpy(np.float64)
    if not len(values):
        return parts.nothing_to_draw(ax, "no true positives")
    rule = drawn_results.rule_to_draw(table)
    edges = _edges(ax, drawn_results.measure_ends(rule, table[measure]), bins)
    for pen, own in zip(pens, of_each.values(), strict=True):
        _draw_histogram(ax, own.to_numpy(np.float64), edges, pen, style)
    _mark_limits(ax, rule)
    if not pens[-1].name and not pens[-1].position:  # outlines have their means in their names
        ax.axvline(values.mean(), linestyle=":", color=parts.ink(), label=f"mean, {values.mean():.3g}")
    n_hits = None if pens[0].position else len(values)  # those of earlier calls are not known
    title = drawn_results.measures_title(wording.measure_name(rule), n_hits)
    ax.set(xlabel=parts.plain(wording.measure_title(rule)), ylabel="true positives", title=parts.plain(title))
    parts.legend(ax)
    return ax


def _edges(ax: Axes, ends: tuple[float, float], bins: int) -> list[float]:
    """The edges of so many bins, or of bins as wide as those of an earlier call, which can then be compared."""
    of_earlier = [drawn.of for drawn, _ in parts.noted(ax) if isinstance(drawn.of, Bins)]
    if not of_earlier:
        return np.linspace(*ends, bins + 1).tolist()
    start, width = of_earlier[0]
    first, last = np.floor((ends[0] - start) / width + 1e-9), np.ceil((ends[1] - start) / width - 1e-9)
    return (start + width * np.arange(first, max(last, first + 1) + 1)).tolist()


def _draw_histogram(ax: Axes, values: np.ndarray, edges: list[float], pen: parts.Pen, style: Mapping[str, Any]) -> None:
    """Draws bars of one submission; of a further one, or of one with a name, an outline."""
    drawn: Any
    if pen.name or pen.position:
        own = {"histtype": "step", "edgecolor": pen.color, "linestyle": pen.look.line, "linewidth": 1.8} | dict(style)
        mean = f"mean {values.mean():.3g}" if len(values) else "none"
        *_, drawn = ax.hist(values, bins=edges, label=f"{pen.name}, {mean}".removeprefix(", "), **own)
    else:
        own = {"color": pen.color, "edgecolor": LIGHT.paper, "linewidth": 0.3} | dict(style)
        *_, drawn = ax.hist(values, bins=edges, **own)
    parts.note(pen, *drawn, of=Bins(edges[0], edges[1] - edges[0]))


def _mark_limits(ax: Axes, rule: Rule) -> None:
    """Marks epsilon and tau, as far as they are known and the rule is by distance."""
    if not rule.by_distance:
        return
    colors = LIGHT.ignored, LIGHT.outcomes["missed"]
    for name, mark, style, color in zip(("epsilon", "tau"), (rule.epsilon, rule.tau), ("--", "-"), colors, strict=True):
        if mark is not None:
            ax.axvline(
                mark, linestyle=style, color=color, label=parts.plain(f"{name}, {wording.in_unit(mark, rule.unit)}")
            )


def gospa(
    matches: Table | Mapping[str, Table],
    ax: Axes | None = None,
    label: str | None = None,
    color: parts.Colors = None,
    **layers: Any,
) -> Axes:
    """Draws GOSPA by frame, the mean over sequences, as layers of what it is made of, and OSPA as a line.

    Parameters
    ----------
    matches
        A match table made with `assignment="least"`, or a dict from the names of submissions to such tables. For a
        single sequence, give its rows.
    ax
        The Axes to draw into; a new figure without it.
    label
        Name of the submission in the legend, like a key of the dict.
    color
        A colour for each layer, from the lowest up, as a list or by name; of submissions with names, one, or one for
        each; those of the theme without it.
    layers
        Options of Matplotlib for the layers, such as `alpha`; of submissions with names, for the lines.

    Returns
    -------
    The Axes. Each frame's GOSPA is divided among hits, misses and false alarms as the sum below its root is, so the
    layers add up to GOSPA (px, or the unit of the distance). Submissions with names, and those of further calls, have a
    line of GOSPA each.

    Raises
    ------
    InputError: `matches` is no match table or was not made with `assignment="least"`; the tables of a dict differ in
        tau or power; or `label` is given beside a dict.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> sides = sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json")
    >>> sf.plots.gospa(sf.match(*sides, assignment="least")).get_title()
    'GOSPA by frame, the mean of 60 sequences'
    """
    drawn = drawn_results.gospa_to_draw(parts.named(matches, label), "plots", 3)
    in_layers = "" in drawn.of_each and (ax is None or not parts.n_drawn(ax))
    style = parts.options("layers" if in_layers else "lines", layers)
    names = [words for words, _ in drawn_results.LAYERS.values()] if in_layers else list(drawn.of_each)
    if in_layers and color is None:
        color = [LIGHT.outcomes[of] for _, of in drawn_results.LAYERS.values()]
    ax, pens = parts.axes_and_pens(ax, names, color)
    if not any(map(len, drawn.of_each.values())):
        return parts.nothing_to_draw(ax, "no frames")
    if in_layers:
        _draw_layers(ax, drawn.of_each[""], pens, style)
    for pen, frames in () if in_layers else zip(pens, drawn.of_each.values(), strict=True):
        own = {"color": pen.color, "linestyle": pen.look.line, "marker": pen.look.marker, "markersize": 4} | style
        name = f"{pen.name or 'GOSPA'}, mean {frames['gospa'].mean():.3g}"
        parts.note(pen, *ax.plot(frames.index, frames["gospa"], label=name, **own))
    ax.set(xlabel="frame", ylabel=parts.plain(wording.with_unit("GOSPA", drawn.unit)), title=drawn.title)
    top = max(ax.get_ylim()[1], *(1.05 * rows["gospa"].max() for rows in drawn.of_each.values()))
    ax.set_ylim(0, top)
    ax.locator_params(axis="x", integer=True)  # frames have no halves
    parts.legend(ax)
    return ax


def _draw_layers(ax: Axes, frames: pd.DataFrame, pens: list[parts.Pen], style: Mapping[str, Any]) -> None:
    """Draws the layers of GOSPA of one submission, told apart by hatches too, and lines of GOSPA and OSPA."""
    own = {"alpha": 0.75, "linewidth": 0} | dict(style)
    layers = [frames[name] for name in drawn_results.LAYERS]
    colors, names = [pen.color for pen in pens], [pen.name for pen in pens]
    drawn: list[Any] = ax.stackplot(frames.index, *layers, colors=colors, labels=names)
    for pen, layer in zip(pens, drawn, strict=True):
        layer.set(**{"hatch": pen.look.hatch, "edgecolor": LIGHT.paper} | own)
    for name, line in (("GOSPA", "-"), ("OSPA", "--")):
        drawn += ax.plot(frames.index, frames[name.lower()], line, color=parts.ink(), label=name)
    # The next colours of the theme are those of the layers, so further calls have the ones after these.
    parts.note(pens[0]._replace(position=len(LIGHT.outcomes) - 1), *drawn)
