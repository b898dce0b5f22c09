"""Pictures that Python draws for the page: marks at places in px, which the template writes as SVG.

Only the template writes texts of marks, so it escapes them as all others. Colours are those of submissions, by their
position, so that a picture is right on light and on dark paper.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...theme import LIGHT, look

# The colours of submissions that there are.
MOST_SERIES = len(LIGHT.series)


class Line(NamedTuple):
    """A straight line; `style` is "grid" or "bar", the thick line of an interval."""

    x1: float
    y1: float
    x2: float
    y2: float
    style: str = "grid"
    series: int | None = None


class Path(NamedTuple):
    """A line through points (x, y); `style` is "thin" or "dashed"."""

    points: Sequence[tuple[float, float]]
    style: str = "thin"
    series: int | None = None

    @property
    def d(self) -> str:
        """The points as SVG has them."""
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)


class Dot(NamedTuple):
    """The value of a submission, in its shape; `title` is what a pointer over it is told."""

    x: float
    y: float
    series: int
    title: str = ""
    r: float = 5.0

    @property
    def d(self) -> str:
        """The outline of the shape as SVG has it."""
        x, y, r = (round(value, 1) for value in (self.x, self.y, self.r))
        around = {"left": round(x - r, 1), "top": round(y - r, 1), "bottom": round(y + r, 1), "size": 2 * r}
        return look(self.series).outline.format(y=y, r=r, **around)


class Bar(NamedTuple):
    """A bar from the left; `title` is what a pointer over it is told."""

    x: float
    y: float
    width: float
    height: float
    series: int
    title: str = ""


class Label(NamedTuple):
    """A text; `anchor` is "start", "middle" or "end", `style` is "plain", "faint" or "strong"."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    style: str = "plain"
    series: int | None = None


Mark = Line | Path | Dot | Bar | Label


class Picture(NamedTuple):
    """A picture with its title, size (px) and marks; `description` tells its numbers to who cannot see it."""

    name: str
    title: str
    width: int
    height: int
    marks: Sequence[Mark]
    description: str
    note: str = ""


class Axis(NamedTuple):
    """An axis whose values from `low` to `high` lie from `start` to `end`, in px; `ticks` are round values."""

    low: float
    high: float
    start: float
    end: float
    ticks: Sequence[float]

    def at(self, value: float) -> float:
        """The place of a value, in px."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def text(self, value: float) -> str:
        """A value of the axis in percent, with as many decimals as its ticks need."""
        step = 100 * (self.ticks[1] - self.ticks[0]) if len(self.ticks) > 1 else 1.0
        return f"{value:.{0 if step > 0.99 else 1}%}"


def axis(values: Sequence[float], start: float, end: float, least: float = 0.2, n_ticks: int = 4) -> Axis:
    """The axis that holds all of these shares, up to 1, and `least` at least; about `n_ticks` ticks."""
    known = np.array(values, np.float64)
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    wider = max(least - (high - low), 0.0)
    high = min(high + wider / 2, max(high, 1.0))
    low = min(low, max(high - least, 0.0))  # below 0 only where a value is
    room = high - low
    steps = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1e4, 1e8])
    step = float(steps[np.searchsorted(steps, room / n_ticks).clip(max=len(steps) - 1)])
    low, high = step * np.floor(low / step + 1e-9), step * np.ceil(high / step - 1e-9)
    high = max(min(high, 1.0), low + step)
    ticks = np.arange(round((high - low) / step) + 1) * step + low
    return Axis(low, high, start, end, [tick for tick in ticks.tolist() if tick <= high + 1e-9])
