"""The plot of the average precision of the same predictions by several protocols."""

from __future__ import annotations  # matplotlib is an extra, so its types cannot be looked up when plots are imported

from typing import TYPE_CHECKING

import numpy as np

from ...tables import Table
from . import drawn_tables
from . import plot_parts as parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The marker of each number besides AP, which is a bar.
MARKERS = {"AP50": "o", "AP75": "D"}


def protocols(table: Table, ax: Axes | None = None) -> Axes:
    """Draws the average precision of the same predictions by each protocol.

    Parameters
    ----------
    table
        The table that `protocols` returned.
    ax
        The Axes to draw into; a new figure without it.

    Returns
    -------
    The Axes, with a bar of AP for each protocol, and markers of AP50 and AP75 where it has them. A protocol that says
    nothing of the data has no bar, and says so.

    Raises
    ------
    InputError: the table lacks `protocol`, `AP`, `AP50` or `AP75`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> table = sf.protocols(truth, sf.read_objects("data/boxes/v1.parquet"), names=["coco", "voc2007"])
    >>> sf.plots.protocols(table).get_title()
    'The same predictions by each protocol'
    """
    needed = "the table that protocols() returned"
    rows = drawn_tables.table_to_draw(table, "table", ["protocol", "AP", *MARKERS], needed)
    ax = parts.axes_or_new(ax)
    if not len(rows):
        return parts.nothing_to_draw(ax, "no protocols")
    place, value = np.arange(len(rows)), rows["AP"].to_numpy(np.float64)
    bars = ax.barh(place, np.nan_to_num(value), color=parts.BLUE, label="AP")
    ax.bar_label(bars, [f"{one:.3f}" if np.isfinite(one) else "does not apply" for one in value], padding=4)
    for name, marker in MARKERS.items():
        of = rows[name].to_numpy(np.float64)
        if np.isfinite(of).any():
            ax.plot(of, place, marker, color=parts.GREY, markeredgecolor="white", markersize=7, label=name)
    ax.set_yticks(place, [*map(parts.plain, rows["protocol"])])
    ax.invert_yaxis()
    ax.set(xlabel="average precision", xlim=(0, 1), title="The same predictions by each protocol")
    parts.legend_beside(ax)
    return ax
