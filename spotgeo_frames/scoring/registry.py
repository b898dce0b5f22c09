"""The registry of metrics: every fact about each metric of a match table, in one place.

Summaries, intervals, comparisons, leaderboards, the display of tables, the report, plots and the command line read
labels, formulas, units and directions here, so adding a metric takes one entry in METRICS. The metrics of tracks and
poses are entries of the same kind in `tracking/registry.py`. `metric()` adds the user's own entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..tables import schema
from .sequence_sums import NamedSums, assignment_of, share

if TYPE_CHECKING:
    import pandas as pd

# A function from sums to an array of their shape.
Function = Callable[[NamedSums], np.ndarray]


class Metric(NamedTuple):
    """One metric.

    Attributes
    ----------
    name, label
        The name in tables and in JSON, and the name that people read.
    formula, note
        The definition in words, and a remark for readers, such as when the metric is null.
    value
        A function from sums (arrays of one shape, by name) to the metric (an array of that shape). None where the
        metric does not follow from sums of match tables.
    unit
        "px", "px²", "%", or "" for counts and for shares of 1.
    higher_is_better
        Whether a higher value is better. None for counts, which also grow with the data.
    low, high
        The least and the greatest possible value.
    written
        How values are displayed: a "share" of 1 in percent, a "count" as an integer, a "decimal" with its unit.
    needs
        The outcomes (TP, FN, FP) that the metric is computed from. In a slice in which one of them is unknown, the
        metric is null.
    by_distance, by_similarity
        Whether the metric is defined after matching by distance, and after matching by similarity. Where it is not
        defined, it is null.
    by_assignment
        The assignment after which alone the metric is defined; None for any.
    weight
        A function from sums to the denominator of the metric, by which sequences weigh in it. None: by how much there
        is to count.
    tau_power
        The power of tau that is the greatest value a row can add to the metric, for errors in px or px²; 0 for others.
    is_total
        Whether the metric is a sum over sequences, not a mean over rows.
    headline
        Whether the metric is among the first numbers that people see of a result: in its text and on leaderboards.
    no_interval
        Why the metric has no interval; empty where it has one.
    fewest
        The fewest sequences of which the metric has an interval: with fewer, simulated intervals miss too often.
    sums
        Of an own metric, a function from the rows of a match table to what each row adds to the metric's own sums,
        arrays (rows,) by METRIC.SUM. None for built-in metrics.
    """

    name: str
    label: str
    formula: str
    value: Function | None = None
    note: str = ""
    unit: str = ""
    higher_is_better: bool | None = None
    low: float = 0.0
    high: float = np.inf
    written: Literal["share", "count", "decimal"] = "decimal"
    needs: tuple[int, ...] = ()
    by_distance: bool = True
    by_similarity: bool = True
    by_assignment: str | None = None
    weight: Function | None = None
    tau_power: int = 0
    is_total: bool = False
    headline: bool = False
    no_interval: str = ""
    fewest: int = 0
    sums: Callable[[pd.DataFrame], dict[str, np.ndarray]] | None = None

    def is_defined(self, by_similarity: bool, assignment: str = "most") -> bool:
        """Whether the metric is defined after this kind of matching."""
        if self.by_assignment not in (None, assignment):
            return False
        return self.by_similarity if by_similarity else self.by_distance

    def unit_in(self, unit: str | None) -> str:
        """The unit of the metric where distances are in this unit, as rules and notes have it; None for px."""
        # Metrics of one's own have units of their own.
        if unit is None or self.sums is not None or "px" not in self.unit:
            return self.unit
        return self.unit.replace("px", unit) if unit else ""


def by_name(*metrics: Metric) -> dict[str, Metric]:
    """Returns the metrics in a dict by name, in the order given."""
    return {metric.name: metric for metric in metrics}


def count(name: str, label: str, formula: str, value: Function | None, *needs: int) -> Metric:
    """Makes the entry of a count."""
    return Metric(name, label, formula, value, written="count", needs=needs, is_total=True)


def share_of(name: str, label: str, formula: str, value: Function | None = None, **facts: Any) -> Metric:
    """Makes the entry of a share of 1, where higher is better; the facts are other fields of the entry."""
    return Metric(name, label, formula, value, written="share", **{"high": 1.0, "higher_is_better": True} | facts)


def _counted(sums: NamedSums) -> np.ndarray:
    """The count of all outcomes, TP + FN + FP."""
    return sums["tp"] + sums["fn"] + sums["fp"]


def _f1_weight(sums: NamedSums) -> np.ndarray:
    return 2 * sums["tp"] + sums["fp"] + sums["fn"]


def _f1(sums: NamedSums) -> np.ndarray:
    return share(2 * sums["tp"], _f1_weight(sums))


def _of_frames(name: str, label: str, formula: str, *needs: int, **facts: Any) -> Metric:
    """Makes the entry of a mean over frames of GOSPA, OSPA or a part of them; `facts` are other fields of the entry."""
    return Metric(
        name,
        label,
        formula,
        lambda sums: share(sums[name], sums["n_frames"]),
        note='only after matching with assignment="least"; a frame without objects is 0 and counts',
        higher_is_better=False,
        needs=needs,
        by_similarity=False,
        by_assignment="least",
        weight=lambda sums: sums["n_frames"],
        **facts,
    )


# The fewest sequences of which LRP and the means of sums over the objects of a frame have intervals. In simulations of
# 5 to 20 sequences, as few as 88% of their 95% intervals hold the truth; docs/uncertainty.md has them.
FEWEST_SIMULATED = 60

# In the order of the columns of `summarize`.
METRICS = by_name(
    count("tp", "TP", "truths matched with a prediction (found)", lambda sums: sums["tp"], schema.TP),
    count("fn", "FN", "truths without a match (missed)", lambda sums: sums["fn"], schema.FN),
    count("fp", "FP", "predictions without a match (false alarms)", lambda sums: sums["fp"], schema.FP),
    share_of(
        "precision",
        "precision",
        "TP / (TP + FP)",
        lambda sums: share(sums["tp"], sums["tp"] + sums["fp"]),
        note="the share of predictions that are right; null without predictions",
        needs=(schema.TP, schema.FP),
        weight=lambda sums: sums["tp"] + sums["fp"],
    ),
    share_of(
        "recall",
        "recall",
        "TP / (TP + FN)",
        lambda sums: share(sums["tp"], sums["tp"] + sums["fn"]),
        note="the share of truths that are found; null without truths",
        needs=(schema.TP, schema.FN),
        weight=lambda sums: sums["tp"] + sums["fn"],
    ),
    share_of(
        "f1",
        "F1",
        "2 TP / (2 TP + FP + FN)",
        _f1,
        note="ranks detectors first; null where there is nothing to count",
        needs=(schema.TP, schema.FN, schema.FP),
        weight=_f1_weight,
        headline=True,
    ),
    Metric(
        "mse",
        "mse",
        "mean of squared_error over TP, FN and FP, by the metric document",
        lambda sums: share(sums["squared_error"], _counted(sums), nothing=0.0),
        note="squared_error is distance² for a TP (0 up to epsilon) and tau² for an FN or FP; 0 where there is nothing "
        "to count",
        unit="px²",
        higher_is_better=False,
        needs=(schema.TP, schema.FN, schema.FP),
        by_similarity=False,
        tau_power=2,
    ),
    Metric(
        "kelvins_mse",
        "kelvins mse",
        "sum over sequences of each sequence's mean of kelvins_error, by the competition's server",
        lambda sums: sums["kelvins_mse"],
        note="kelvins_error is the distance for a TP from epsilon up to tau, else 0, and tau² for an FN or FP; ranks "
        "submissions second; it grows with the number of sequences, so it compares submissions, never slices",
        higher_is_better=False,
        needs=(schema.TP, schema.FN, schema.FP),
        by_similarity=False,
        tau_power=2,
        is_total=True,
        headline=True,
    ),
    share_of(
        "det_a",
        "Jaccard index",  # not DetA, which of tracks is the mean of such indices over alpha
        "TP / (TP + FN + FP)",
        lambda sums: share(sums["tp"], _counted(sums)),
        note="null where there is nothing to count",
        needs=(schema.TP, schema.FN, schema.FP),
    ),
    Metric(
        "mean_distance",
        "mean distance",
        "mean distance of the TP",
        lambda sums: share(sums["near"], sums["tp"]),
        note="null without TP",
        unit="px",
        higher_is_better=False,
        needs=(schema.TP,),
        by_similarity=False,
        weight=lambda sums: sums["tp"],
        tau_power=1,
    ),
    Metric(
        "rmse",
        "rmse",
        "root of the mean squared distance of the TP",
        lambda sums: np.sqrt(share(sums["near_squared"], sums["tp"])),
        note="null without TP",
        unit="px",
        higher_is_better=False,
        needs=(schema.TP,),
        by_similarity=False,
        weight=lambda sums: sums["tp"],
        tau_power=1,
    ),
    count("n_sequences", "sequences", "all sequences, also those without objects", lambda sums: sums["n_sequences"]),
    count("n_frames", "frames", "all frames, also those without objects", lambda sums: sums["n_frames"]),
    count("n_truth", "truths", "TP + FN", lambda sums: sums["tp"] + sums["fn"], schema.TP, schema.FN),
    count("n_predicted", "predictions", "TP + FP", lambda sums: sums["tp"] + sums["fp"], schema.TP, schema.FP),
    share_of(
        "loc_a",
        "localisation",
        "mean similarity of the TP",
        lambda sums: share(sums["near"], sums["tp"]),
        note="null without TP",
        needs=(schema.TP,),
        by_distance=False,
        weight=lambda sums: sums["tp"],
    ),
    _of_frames(
        "gospa",
        "GOSPA",
        "mean over frames of (localisation + missed + false)^(1 / power)",
        schema.TP,
        schema.FN,
        schema.FP,
        unit="px",
    ),
    _of_frames(
        "ospa",
        "OSPA",
        "mean over frames of (mean of min(distance, tau)^power over the objects of the larger side)^(1 / power)",
        schema.TP,
        schema.FN,
        schema.FP,
        unit="px",
        tau_power=1,
    ),
    _of_frames(
        "localisation",
        "localisation cost",
        "mean over frames of the sum of distance^power of the TP",
        schema.TP,
        fewest=FEWEST_SIMULATED,
    ),
    _of_frames(
        "missed",
        "cost of misses",
        "mean over frames of tau^power / 2 for each FN",
        schema.FN,
        fewest=FEWEST_SIMULATED,
    ),
    _of_frames(
        "false",
        "cost of false alarms",
        "mean over frames of tau^power / 2 for each FP",
        schema.FP,
        fewest=FEWEST_SIMULATED,
    ),
)

# Metrics of a curve over score thresholds; the sums of a single match table do not determine them.
CURVE_METRICS = by_name(
    share_of(
        "average_precision",
        "area under the curve",  # not AP, which interpolates, of each category by itself
        "area under the curve of precision over recall, precision made non-increasing",
        note="null without truths",
        needs=(schema.TP, schema.FN, schema.FP),
    )
)

# The metrics that order a leaderboard: the first one, and the second one between submissions that are equal in it.
RANKING = ["f1", "kelvins_mse"]

# The metrics that intervals and comparisons have by default.
DEFAULT = ("f1", "precision", "recall", "mse", "det_a", "rmse")

# The metrics that a report shows first, and those that it shows for each slice, in this order.
HEADLINE = [
    "f1",
    "precision",
    "recall",
    "mse",
    "kelvins_mse",
    "det_a",
    "mean_distance",
    "rmse",
    "loc_a",
    "gospa",
    "ospa",
]
SLICED = [
    "tp",
    "fn",
    "fp",
    "precision",
    "recall",
    "f1",
    "mse",
    "mean_distance",
    "loc_a",
    "gospa",
    "ospa",
    "n_sequences",
    "n_frames",
]


def defined(names: Iterable[str], by_similarity: bool, assignment: str = "most") -> list[str]:
    """Those of the named metrics that are defined after matching by similarity, or otherwise by distance."""
    return [name for name in names if METRICS[name].is_defined(by_similarity, assignment)]


def summary_columns(by_similarity: bool, assignment: str = "most") -> list[str]:
    """The metrics that a summary has as columns.

    Metrics of similarities are there only after matching by similarity, and those of an assignment only after that.
    """
    names = [name for name, metric in METRICS.items() if metric.by_distance or by_similarity]
    return [name for name in names if METRICS[name].by_assignment in (None, assignment)]


def own_metrics() -> list[str]:
    """The metrics that the user added, in the order in which they were added."""
    return [name for name, metric in METRICS.items() if metric.sums is not None]


def values_of(sums: NamedSums, names: Iterable[str], by_similarity: bool = False) -> dict[str, np.ndarray]:
    """Computes the named metrics from sums.

    `sums` maps names to arrays of one shape, (...): `tp`, `fn`, `fp`, `squared_error` (px²), `near` (the summed
    distances, px, or similarities of the true positives), `near_squared`, `kelvins_mse`, `n_sequences` and `n_frames`.
    Only the sums that the named metrics use are needed. Each metric is an array of the same shape; it is null where the
    metric is not defined for the kind of matching, or where its denominator is 0.

    >>> sums = {"tp": np.array([2.0, 0.0]), "fn": np.array([1.0, 0.0]), "fp": np.array([2.0, 3.0])}
    >>> values_of(sums, ["precision", "recall"])
    {'precision': array([0.5, 0. ]), 'recall': array([0.66666667,        nan])}
    """
    return {name: _value(METRICS[name], sums, by_similarity) for name in names}


def _value(metric: Metric, sums: NamedSums, by_similarity: bool) -> np.ndarray:
    """The metric of sums; null throughout where it is not defined for the kind of matching."""
    if metric.value is None or not metric.is_defined(by_similarity, assignment_of(sums)):
        return np.full(np.shape(next(iter(sums.values()))), np.nan)
    return metric.value(sums)
