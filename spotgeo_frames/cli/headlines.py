"""The numbers that matter first, with their intervals: the first lines of the text of `score`, `track`, `ap`, `pose`.

The intervals are those of `intervals`. Of sums they are computed without pandas, which takes longer to load than all
that a command does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..scoring import Sums, registry
from ..support import plain_value, work
from .layout import length, note, sentence
from .printing import one_line
from .terminal import styled

if TYPE_CHECKING:
    from ..scoring import AveragePrecision
    from ..tracking import PoseResult, TrackResult

# How many numbers come first, and the share of intervals that hold the true one.
N_FIRST = 3
CONFIDENCE = 0.95

# Why the numbers of datasets have no intervals.
IN_PARTS = "--dataset keeps sums of several sequences together, and intervals need the sums of each sequence"

# What the bounds are.
IN_BRACKETS = (
    "In brackets: the 95% interval of the value that many more such sequences would give. Large sequences weigh "
)
IN_BRACKETS += "more."

# The decimals of the numbers. Bounds have two, and one more where they are closer together than this, and another where
# ten times closer.
DECIMALS = 4
CLOSE = 0.02


class Headline(NamedTuple):
    """A metric and its value with an interval, whose bounds are None where there is none; the reason then says why."""

    name: str
    estimate: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    @property
    def label(self) -> str:
        """What people call the metric."""
        return registry.METRICS[self.name].label if self.name in registry.METRICS else self.name

    @property
    def formula(self) -> str:
        """The definition of a metric of match tables, as the lines of the others have it."""
        return registry.METRICS[self.name].formula if self.name in registry.METRICS else ""


# They are computed where a text is asked for, and not for JSON.
Headlines = Callable[[], Sequence[Headline]]


def first_of_sums(sums: Sums) -> list[Headline]:
    """The first numbers of sums of sequences, which are in one group."""
    from ..analysis.certainty import combined_with_reasons

    names = list(sums.metrics.default[:N_FIRST])
    found = combined_with_reasons(sums, names, sums.attrs.get("tau") or math.nan, CONFIDENCE)
    columns = (column[0].tolist() for column in (found.estimate, found.low, found.high, found.reason))
    return [Headline(name, *map(plain_value, row)) for name, *row in zip(names, *columns, strict=True)]


def first_of_result(result: TrackResult | PoseResult | AveragePrecision) -> list[Headline]:
    """The first numbers of a result, of all sequences combined."""
    from ..analysis.certainty import interval_table

    with work.step("computing intervals"):
        table, _ = interval_table(result, None, None)  # what its warnings say is among the reasons
    rows = table[table["aggregate"] == "combined"].head(N_FIRST)
    columns = (rows[name].tolist() for name in ("metric", "estimate", "low", "high", "reason"))
    return [Headline(name, *map(plain_value, row)) for name, *row in zip(*columns, strict=True)]


def first_of_parts(numbers: Mapping[str, Any], names: Sequence[str]) -> list[Headline]:
    """The first numbers of a dataset, which have no intervals; `names` are the metrics in their order."""
    return [Headline(name, plain_value(numbers[name]), reason=IN_PARTS) for name in names[:N_FIRST]]


def headline_text(headlines: Sequence[Headline]) -> str:
    """Formats a line for each number, such as `F1  0.8194  [0.78, 0.85]`, and what the brackets are, or why none is."""
    width = max(length(headline.label) for headline in headlines)
    intervals = [_interval(headline) for headline in headlines]
    lines = []
    for headline, interval in zip(headlines, intervals, strict=True):
        value = "-" if headline.estimate is None else f"{headline.estimate:.{DECIMALS}f}"
        label = f"  {headline.label}{' ' * (width - length(headline.label))}  "
        line = sentence(headline.formula, f"{label}{value:>6}  {interval:<{max(map(len, intervals))}}  ").rstrip()
        lines.append(label + line.removeprefix(label).replace(value, styled(value, "bold"), 1))
    notes = [IN_BRACKETS] if any(one.low is not None for one in headlines) else []
    of_reason: dict[str, list[str]] = {}
    for headline in headlines:
        if headline.reason is not None:
            of_reason.setdefault(headline.reason, []).append(headline.label)
    for reason, labels in of_reason.items():
        of = "" if len(labels) == len(headlines) else f" of {', '.join(labels)}"
        notes.append(one_line(f"no interval{of}: {reason}"))
    return "\n".join([*lines, *(note(text, "  ") for text in notes)])


def _interval(headline: Headline) -> str:
    """The bounds with as many decimals as tell them apart, and leave the estimate between them as it is printed."""
    if headline.low is None or headline.high is None or headline.estimate is None:
        return ""
    length_of = headline.high - headline.low
    least = 2 + (length_of < CLOSE) + (length_of < CLOSE / 10)
    estimate = round(headline.estimate, DECIMALS)
    is_within = (round(headline.low, n) <= estimate <= round(headline.high, n) for n in range(least, DECIMALS))
    decimals = next((n for n, fits in enumerate(is_within, least) if fits), DECIMALS)
    return f"[{headline.low:.{decimals}f}, {headline.high:.{decimals}f}]"
