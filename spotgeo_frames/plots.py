"""Plots of the tables of this package, made with matplotlib, which people put together as they like.

A plot takes a table, or a dict from the names of submissions to tables, and draws it: `plots.hota_curve(curve)`. All
take the same words besides:

- `ax`, the Axes to draw into, such as one of `plt.subplots(2, 2)`; without it, a new figure is made. Plots with several
  panels take as many Axes, or one, whose place they divide.
- `label`, the name of what is drawn in the legend. `plots.hota_curve(curve, label="eager")` draws what
  `plots.hota_curve({"eager": curve})` draws.
- `color`, one colour, or one for each submission, as a list or as a dict by name.
- Options of Matplotlib for the main artists, such as `linewidth=3`; the docstring of a plot says which artists those
  are.

Several calls may draw into the same Axes: each takes the next colour, marker and kind of line of the theme, and the
legend has all of them. A map, which would cover what is there, is refused instead. Legends lie beside the Axes if the
figure has a layout that makes room for them (`plt.subplots(layout="constrained")`), otherwise inside.

A plot returns the Axes that it drew into, those with several panels an array of them. It neither shows nor saves, and
changes no settings of Matplotlib. Axis labels carry units. The colours can be told apart with any kind of colour
vision, and lines and markers also differ in shape, so plots can be read in grey. In image planes y points down, as in
images.

They need the extra `plots`; without it, a plot raises an ImportError that says what to install.
"""

from .presentation.drawing import (
    calibration,
    confusion,
    detection_limit,
    distances,
    error_costs,
    forest,
    frame,
    gallery,
    gospa,
    hota_curve,
    metric_by_slice,
    patches,
    precision_recall,
    protocols,
    recall_map,
    residuals,
    sequence,
    strip,
    sweep_curves,
)

__all__ = [
    "calibration",
    "confusion",
    "detection_limit",
    "distances",
    "error_costs",
    "forest",
    "frame",
    "gallery",
    "gospa",
    "hota_curve",
    "metric_by_slice",
    "patches",
    "precision_recall",
    "protocols",
    "recall_map",
    "residuals",
    "sequence",
    "strip",
    "sweep_curves",
]


def __dir__() -> list[str]:
    """Plots alone, so that completion shows nothing else."""
    return __all__
