"""The rows of the table that `intervals` returns, and the warnings about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...scoring import FEW_SEQUENCES, LITTLE_KNOWN, OF_FEW, Sums
from .jackknife import Intervals
from .reasons import OF_ONE, OF_THE_REST, why_null

if TYPE_CHECKING:
    import pandas as pd

# What intervals and p-values say something about; a note of every table that has them.
QUESTION = "what many more sequences like these would give, each weighted by its size"

# Below this count of degrees of freedom, as below FEW_SEQUENCES, a warning says that little is known.
FEW_DEGREES = 5
RESTS_ON_FEW = f"{OF_FEW} or {FEW_DEGREES} degrees of freedom: {LITTLE_KNOWN}"

# Of more sequences, the numbers without each of them are not shown: they would be long tables, and no one decides.
MOST_LEFT_OUT = 20


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
    import pandas as pd  # imported here, as below: texts of commands need nothing else of this module

    from ...support import pandas_tables

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
    import pandas as pd

    from ...support import pandas_tables

    n_metrics = len(names)
    columns = {name: sums.labels[name].take(group).repeat(n_metrics) for name in sums.labels}
    columns |= {name: values.repeat(n_metrics) for name, values in aggregate.items()}
    columns |= {"metric": pd.array(list(names) * len(group), dtype=pandas_tables.TEXT)}
    columns |= {name: getattr(found, name).ravel() for name in ("estimate", "low", "high")}
    columns |= {"n_sequences": n_sequences.repeat(n_metrics)}
    rests_on = ("n_effective", "degrees_of_freedom", "largest_share")
    columns |= {name: getattr(found, name).ravel() for name in rests_on}
    return pd.DataFrame(columns | {"reason": pd.array(found.reason.ravel(), dtype=pandas_tables.TEXT)}, copy=False)


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
        (int(unknown.any(axis=1).sum()), f"null low and high of {', '.join(lost)}: {why_null(sums, tau)}"),
    ]
    return [text if n_groups == 1 else f"{where} of {n_groups} groups have {text}" for where, text in texts if where]
