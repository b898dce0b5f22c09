"""The rows of the table that `intervals` returns, and the warnings about them."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...scoring import FEW_SEQUENCES, LITTLE_KNOWN, OF_FEW, MetricSet, Sums
from ...support import pandas_tables
from ...tables import messages
from .jackknife import Intervals
from .reasons import (
    FEW_COMBINED,
    FEWER_THAN_NEEDED,
    FEWEST_COMBINED,
    NOT_DEFINED_HERE,
    OF_ONE,
    OF_THE_REST,
    UNKNOWN_TAU,
    first_reasons,
)

# What intervals and p-values say something about; a note of every table that has them.
QUESTION = "what many more sequences like these would give, each weighted by its size"

# Below this count of degrees of freedom, as below FEW_SEQUENCES, a warning says that little is known.
FEW_DEGREES = 5
RESTS_ON_FEW = f"{OF_FEW} or {FEW_DEGREES} degrees of freedom: {LITTLE_KNOWN}"

# Of more sequences, the numbers without each of them are not shown: they would be long tables, and no one decides.
MOST_LEFT_OUT = 20


def lost_text(categories: Collection[Any]) -> str:
    """Why the bounds of average precision are null: categories that too few groups of sequences have truths of."""
    named = [name for name in categories if not pd.isna(name)]  # without categories, all objects are of a null one
    of = f" of {messages.first_listed(named)}" if named else ""
    return f"too few sequences have truths{of}, so leaving some out would leave no such truth"


def metric_table(sums: Sums, names: Sequence[str], n_sequences: np.ndarray, found: Intervals) -> pd.DataFrame:
    """One row for each group and metric."""
    return _table(sums, np.arange(sums.n_groups), names, n_sequences, found, {})


def result_table(
    sums: Sums,
    names: Sequence[str],
    n_sequences: np.ndarray,
    found: Intervals,
    means: Intervals | None,
    *,
    without_each: bool = False,
) -> pd.DataFrame:
    """One row for each group, metric and kind of number: combined, macro mean, and combined `without_each` sequence.

    Average precision has no macro `means`: of single frames it is another number, most often 0 or 1.
    """
    n_groups, group = sums.n_groups, sums.group
    n_rows = np.bincount(group, minlength=n_groups)[group]
    shown = np.flatnonzero((n_rows > 1) & (n_rows <= MOST_LEFT_OUT) & without_each)
    of_shown = group[shown]
    without = sums.metrics.numbers(sums.without_each(shown)[1], names)
    nothing = dict.fromkeys(Intervals._fields, np.full_like(without, np.nan))
    kept = Intervals(**nothing | {"estimate": without, "reason": np.full(without.shape, OF_THE_REST, object)})
    aggregates = {"combined": found} | ({"macro": means} if means else {})
    together = Intervals(*(np.concatenate(parts) for parts in zip(*aggregates.values(), kept, strict=True)))
    of_group = np.concatenate([*[np.arange(n_groups)] * len(aggregates), of_shown])
    sequences = np.asarray(sums.sequence, object)[shown]
    labels = [name for name in aggregates for _ in range(n_groups)] + [f"without {name}" for name in sequences]
    in_row = np.bincount(sums.per_sequence.row, minlength=len(group)) if sums.per_sequence else sums.sizes
    n_left = n_sequences[of_shown] - np.asarray(in_row)[shown]
    count = np.concatenate([*[n_sequences] * len(aggregates), n_left])
    order = np.argsort(of_group, kind="stable")
    aggregate = pd.array(labels, dtype=pandas_tables.TEXT).take(order)
    ordered = Intervals(*(values[order] for values in together))
    return _table(sums, of_group[order], names, count[order], ordered, {"aggregate": aggregate})


def _table(
    sums: Sums,
    group: np.ndarray,
    names: Sequence[str],
    n_sequences: np.ndarray,
    found: Intervals,
    aggregate: dict[str, pd.api.extensions.ExtensionArray],
) -> pd.DataFrame:
    """One row for each row of `found`, whose group is `group`, and each metric."""
    n_metrics = len(names)
    columns = {name: sums.labels[name].take(group).repeat(n_metrics) for name in sums.labels}
    columns |= {name: values.repeat(n_metrics) for name, values in aggregate.items()}
    columns |= {"metric": pd.array(list(names) * len(group), dtype=pandas_tables.TEXT)}
    columns |= {name: getattr(found, name).ravel() for name in ("estimate", "low", "high")}
    columns |= {"n_sequences": n_sequences.repeat(n_metrics)}
    rests_on = ("n_effective", "degrees_of_freedom", "largest_share")
    columns |= {name: getattr(found, name).ravel() for name in rests_on}
    return pd.DataFrame(columns | {"reason": pd.array(found.reason.ravel(), dtype=pandas_tables.TEXT)}, copy=False)


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
        (np.isnan(found.low), _why(sums, tau)),
    ]
    reason = first_reasons(found.reason, conditions)
    low, high = (np.where(pd.isna(reason), bound, np.nan) for bound in (found.low, found.high))
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


def _why(sums: Sums, tau: float) -> str:
    """Why bounds of several sequences are null."""
    if sums.metrics.lost:
        return lost_text(sums.metrics.lost)
    of_notes = np.isnan(tau) and not sums.of_result
    lost_notes = f", or {UNKNOWN_TAU}" if of_notes else ""
    return f"fewer than two sequences count, or all agree and nothing tells how others differ{lost_notes}"


def warning_texts(found: Intervals, names: Sequence[str], n_sequences: np.ndarray, tau: float, sums: Sums) -> list[str]:
    """The texts of warnings: why bounds are null, and where little is known; `found` are the combined numbers."""
    n_groups, several = len(n_sequences), n_sequences > 1
    known = ~np.isnan(found.low)
    few = several & ((n_sequences < FEW_SEQUENCES) | (known & (found.degrees_of_freedom < FEW_DEGREES)).any(axis=1))
    unknown = several[:, None] & ~np.isnan(found.estimate) & ~known
    lost = [names[int(metric)] for metric in np.flatnonzero(unknown.any(axis=0))]
    of_one = f"{OF_ONE}, so low and high are null"
    if not sums.of_result:
        of_one += "; method='batch_means' takes its frames"
    of_few = RESTS_ON_FEW
    if sums.of_result:
        of_few += ", and combined numbers, which one large sequence may decide, have no interval"
        of_few += "; macro means have one" if sums.per_sequence else ""
    texts = [
        (int((n_sequences == 1).sum()), of_one),
        (int(few.sum()), of_few),
        (int(unknown.any(axis=1).sum()), f"null low and high of {', '.join(lost)}: {_why(sums, tau)}"),
    ]
    return [text if n_groups == 1 else f"{where} of {n_groups} groups have {text}" for where, text in texts if where]
