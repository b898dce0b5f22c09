"""The plot of GOSPA by frame, and what it is made of."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...matching import noted_rule
from ...scoring import match_sums, sequence_sums
from ...support import InputError
from ...tables import Table
from . import drawn_tables, wording
from . import plot_parts as parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The parts, from the lowest layer up, with their colours and names.
LAYERS = (
    ("localisation", parts.BLUE, "places of hits"),
    ("missed", parts.ORANGE, "misses"),
    ("false", parts.RED, "false alarms"),
)


def gospa(matches: Table, ax: Axes | None = None) -> Axes:
    """Draws GOSPA by frame, the mean over sequences, as layers of what it is made of, and OSPA as a line.

    Parameters
    ----------
    matches
        A match table made with `assignment="least"`. For a single sequence, give its rows.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes. Each frame's GOSPA is divided among hits, misses and false alarms as the sum below its root is, so the
    layers add up to GOSPA (px, or the unit of the distance).

    Raises
    ------
    InputError: `matches` is no match table, or was not made with `assignment="least"`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> sides = sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json")
    >>> sf.plots.gospa(sf.match(*sides, assignment="least")).get_title()
    'GOSPA by frame, the mean of 60 sequences'
    """
    table = drawn_tables.matches_to_draw(matches, "plots", 3)
    drawn_tables.check_one_submission(table, "gospa", "give the match table of one")
    frames = _by_frame(table)
    ax = parts.axes_or_new(ax)
    if not len(frames):
        return parts.nothing_to_draw(ax, "no frames")
    names, colors, labels = zip(*LAYERS, strict=True)
    ax.stackplot(frames.index, *(frames[name] for name in names), colors=colors, labels=labels, alpha=0.75)
    ax.plot(frames.index, frames["gospa"], "-", color="black", label="GOSPA")
    ax.plot(frames.index, frames["ospa"], "--", color="black", label="OSPA")
    unit = wording.unit_of_distances(noted_rule.distance_rule(table, needs=()).unit)
    n_sequences = table["sequence"].nunique()
    whose = "the mean of 1 sequence" if n_sequences == 1 else f"the mean of {n_sequences:,} sequences"
    ax.set(xlabel="frame", ylabel=parts.plain(wording.with_unit("GOSPA", unit)), title=f"GOSPA by frame, {whose}")
    ax.set_ylim(bottom=0)
    ax.locator_params(axis="x", integer=True)  # frames have no halves
    parts.legend_beside(ax)
    return ax


def _by_frame(table: pd.DataFrame) -> pd.DataFrame:
    """The means of GOSPA, its layers and OSPA over sequences, a row a frame number."""
    sums = match_sums.summary_sums(table, ["sequence", "frame"])
    if "gospa" not in sums.values:
        raise InputError("plots: the match table has no gospa; make it by match(..., assignment='least')")
    values = {name: sums.values[name] for name in ("gospa", "ospa")}
    total = np.sum([sums.values[name] for name, *_ in LAYERS], axis=0)
    of_layers = {name: values["gospa"] * sequence_sums.share(sums.values[name], total, 0.0) for name, *_ in LAYERS}
    frames = pd.DataFrame(values | of_layers).groupby(np.asarray(sums.labels["frame"])).mean()
    return frames.rename_axis("frame")
