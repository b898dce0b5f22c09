"""What each sequence contributes to the difference of two submissions in a metric, for gates and plans.

Leaving out sequence i changes the difference D by d_i. Its contribution is c_i = -(n - 1) d_i (the jackknife's
pseudo-value minus D; Tukey, 1958), so D is nearly the true difference plus the mean of n independent contributions, and
its variance is the sum of c² divided by n (n - 1).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...scoring import Metric, sequence_sums
from ...support import InputError
from .estimates import functions_of, linear, totals_among
from .jackknife import degrees_of_freedom, without_each
from .pair_tables import Group
from .resampling import BLUR, aligned_sums, check_metrics, own_among
from .submissions import submissions

# Where fewer sequences differ, or are worse, chance alone decides what they show of others: simulated in
# benchmarks/gates.py.
FEWEST_DIFFERING = 4


class Pair(NamedTuple):
    """A submission `x` and its baseline as a group of one pair, the metric's entry, tau, and the texts of warnings."""

    group: Group
    metric: str
    entry: Metric
    tau: float
    texts: list[str]


class Contributions(NamedTuple):
    """What n sequences contribute to the difference of `x` minus the baseline.

    Attributes
    ----------
    estimate
        The difference of all sequences together.
    of_sides
        The contributions to the metric of each, (n, 2).
    alone
        The metric of each in each sequence by itself, (n, 2); null where there is nothing to count.
    differ
        Whether the sums of a sequence differ between both, (n,).
    worst
        The least contribution of a sequence to the difference, counted so that more is better, that the range of the
        metric allows for: `x` is as bad as can be where the baseline is as usual. Infinite where no range is known.
    degrees_of_freedom
        Those of the standard error (Bell and McCaffrey, 2002), from 1 to n - 1.
    """

    estimate: float
    of_sides: np.ndarray
    alone: np.ndarray
    differ: np.ndarray
    worst: float
    degrees_of_freedom: float

    @property
    def values(self) -> np.ndarray:
        """The contributions to the difference, (n,)."""
        return self.of_sides[:, 0] - self.of_sides[:, 1]


def pair_of(x: Any, baseline: Any, metric: str, function: str, exclude: Any = None) -> Pair:
    """A submission and its baseline, without the sequences of `exclude`.

    Raises InputError if they cannot be compared, and ValueError if the metric is unknown or has no better direction;
    messages name the `function`.
    """
    sides: Mapping[str, Any] = {"x": x, "baseline": baseline}
    sums, taus, unknown = submissions(sides, None, exclude, None, None, own_among([metric]), function)
    [name] = check_metrics([metric], [*sums.values()])
    entry = sums["x"].metrics.entries[name]
    if entry.higher_is_better is None:
        raise ValueError(f"metric is {metric!r}, of which neither more nor less is better")
    if entry.no_interval:
        raise InputError(f"{function}: {metric} has no interval, and so no bound: {entry.no_interval}")
    texts = [*filter(None, [unknown]), *sequence_sums.texts_of(sums)]
    return Pair(Group({}, sums, [("x", "baseline")], taus["x"]), metric, entry, taus["x"], texts)


def contributions_of(pair: Pair) -> Contributions:
    """The contributions of each sequence that either side has."""
    both = {name: linear(of, [pair.metric]) for name, of in pair.group.sums.items()}
    x, names = both["x"], [pair.metric]
    functions, [is_total] = functions_of(x, names, pair.tau), totals_among(names, x)
    sums = aligned_sums(both)
    sides = [sums.named(sums.values[:, at]) for at in (0, 1)]
    n = len(sums.values)
    one_group = np.zeros(n, np.int64)
    with np.errstate(all="ignore"):
        found = [without_each(side, one_group, 1, functions) for side in sides]
        together, changes, weights = (np.concatenate(of_sides, axis=-1) for of_sides in zip(*found, strict=True))
        shares = (weights / weights.sum(axis=0)).sum(axis=1, keepdims=True)
        freedom = degrees_of_freedom(shares, one_group, 1)[0, 0]
        estimate, of_baseline = together[0, 0] - together[0, 1], together[0, 1]
        end, scale = functions.least if pair.entry.higher_is_better else functions.greatest, n if is_total else 1
        worst = -abs(end[0] * scale - of_baseline) - pair_sign(pair) * estimate
        alone = np.concatenate([functions.values(side) for side in sides], axis=-1)
    return Contributions(
        float(estimate),
        -(n - 1) * changes,
        alone,
        (sums.values[:, 0] != sums.values[:, 1]).any(axis=1),
        float(worst),
        float(np.nan_to_num(freedom, nan=1.0)),
    )


def pair_sign(pair: Pair) -> float:
    """1 where more of the metric is better, otherwise -1."""
    return 1.0 if pair.entry.higher_is_better else -1.0


def is_worse(pair: Pair, alone: np.ndarray) -> np.ndarray:
    """Whether `x` is worse than the baseline in each sequence by itself, (n,), from the metrics (n, 2) of both."""
    apart = pair_sign(pair) * (alone[:, 0] - alone[:, 1])
    with np.errstate(invalid="ignore"):
        return apart < -BLUR * np.abs(alone).max(axis=1)
