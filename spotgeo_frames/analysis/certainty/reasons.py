"""Why numbers are null: the sentences that tables and warnings have in common, and which of several holds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...support import plain_value
from ...tables import messages

if TYPE_CHECKING:  # the command line makes intervals of arrays, and pandas would take longer than all the rest
    from ...scoring import MetricSet, Sums
    from .jackknife import Intervals

# There is no number: at all, in this group, of one of two submissions, or without one of the sequences.
NOT_DEFINED = "the metric is not defined"
NOT_DEFINED_HERE = f"{NOT_DEFINED} here"
NOT_DEFINED_FOR_ONE = f"{NOT_DEFINED} for one of the two"
NOT_DEFINED_WITHOUT_ONE = f"{NOT_DEFINED} without one of the sequences"

# There is a number, and nothing tells how sure it is.
OF_ONE = "only one sequence: nothing tells how others differ"
ALL_DIFFER_ALIKE = "all sequences differ by the same amount, so nothing tells how others do"
UNKNOWN_TAU = "tau is unknown because the table lost its notes"

# There is an interval elsewhere: of all sequences, or of two submissions by themselves.
OF_THE_REST = "a look at one sequence, not a test: the row combined has the interval"
NOT_OF_ALL = "what the metric is made of is not known of all submissions; compare these two by themselves"

# Combined numbers of fewer sequences have no intervals: a single large one decides them.
FEWEST_COMBINED = 20
FEW_COMBINED = f"fewer than {FEWEST_COMBINED} sequences, and a single large one may decide the combined number"


# What intervals of some metrics need; docs/uncertainty.md has the simulations.
FEWER_THAN_NEEDED = "fewer than {} sequences, of which simulated intervals of this metric miss the truth too often"


def first_reasons(reasons: np.ndarray, conditions: Iterable[tuple[np.ndarray, Any]]) -> np.ndarray:
    """The reasons, and where there is none the text of the first condition that holds; None where none does.

    A condition is an array of the shape of the reasons that marks where it holds, and its text, or an array of texts.
    """
    answer = reasons.copy()
    for holds, text in conditions:
        answer = np.where(holds & (answer == None), text, answer)  # noqa: E711, element by element
    return answer


def with_reasons(
    found: Intervals,
    sums: Sums,
    names: Sequence[str],
    tau: float,
    n_sequences: np.ndarray,
    *,
    are_means: bool = False,
) -> Intervals:
    """Intervals that say why bounds are null, and combined numbers of results without those that few sequences decide.

    `names` are the metrics, and `n_sequences` (G,) says how many sequences each group has. Reasons that are there
    already stay.
    """
    n = np.broadcast_to(n_sequences[:, None], found.estimate.shape)
    few = (n < FEWEST_COMBINED) & sums.of_result & (not are_means)
    conditions = [
        (np.isnan(found.estimate), NOT_DEFINED_HERE),
        (n == 1, OF_ONE),
        (few, FEW_COMBINED),
        *((of_metric, text) for text, of_metric in without_interval(sums.metrics, names)),
        *of_too_few(sums.metrics, names, n),
        (np.isnan(found.low), why_null(sums, tau)),
    ]
    reason = first_reasons(found.reason, conditions)
    low, high = (np.where(reason == None, bound, np.nan) for bound in (found.low, found.high))  # noqa: E711, as above
    return found._replace(low=low, high=high, reason=reason)


def without_interval(metrics: MetricSet, names: Sequence[str]) -> list[tuple[str, np.ndarray]]:
    """The reasons why some of the named metrics have no interval, each with the metrics (metrics,) that it marks."""
    reasons = [metrics.entries[name].no_interval for name in names]
    return [(text, np.array([reason == text for reason in reasons])) for text in dict.fromkeys(reasons) if text]


def of_too_few(metrics: MetricSet, names: Sequence[str], n_sequences: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """Where numbers (..., metrics) have too few sequences for an interval, with the reason, for each count needed."""
    fewest = np.array([metrics.entries[name].fewest for name in names])
    return [
        ((fewest == count) & (n_sequences < count), FEWER_THAN_NEEDED.format(count))
        for count in {*fewest.tolist()} - {0}
    ]


def why_null(sums: Sums, tau: float) -> str:
    """Why bounds of several sequences are null."""
    if sums.metrics.lost:
        return lost_text(sums.metrics.lost)
    of_notes = np.isnan(tau) and not sums.of_result
    lost_notes = f", or {UNKNOWN_TAU}" if of_notes else ""
    return f"fewer than two sequences count, or all agree and nothing tells how others differ{lost_notes}"


def lost_text(categories: Collection[Any]) -> str:
    """Why the bounds of average precision are null: categories that too few groups of sequences have truths of."""
    named = [
        name for name in categories if plain_value(name) is not None
    ]  # without categories, all objects are of a null one
    of = f" of {messages.first_listed(named)}" if named else ""
    return f"too few sequences have truths{of}, so leaving some out would leave no such truth"
