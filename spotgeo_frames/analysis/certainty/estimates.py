"""The intervals of metrics of sums by the jackknife: combined numbers and macro means, for every group.

Which metrics are shares of what, and how sequences weigh in them, says each metric's entry in the registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...scoring import Evaluable, Metric, MetricSet, NamedSums, PerSequence, Sums, sequence_sums, summary_of
from ...support import InputError, arrays, special_functions
from ...tables import By, Columns, array_of, messages, schema, selections
from .jackknife import Functions, Intervals, jackknife
from .reasons import with_reasons

if TYPE_CHECKING:
    import pandas as pd

# Errors per row: a miss or false alarm adds tau², so that where there is none as yet, the next can raise them by that.
OF_ERRORS = 2

# How often rows of sums are divided into halves to see the bias of average precision.
N_SPLITS = 10

# The metric that is 1 where there is no miss and no false alarm.
ACCURACY = "det_a"


def tau_of(matches: pd.DataFrame) -> float:
    """The tau (px) of a match table, from its notes or from the error of a miss or false alarm; null if unknown."""
    if matches.attrs.get("tau") is not None:
        return float(matches.attrs["tau"])
    if "squared_error" not in matches:
        return np.nan
    wrong = np.isin(matches["outcome"].array.codes, [schema.FN, schema.FP])
    errors = matches["squared_error"].to_numpy(np.float64, na_value=np.nan)[wrong]
    return float(np.sqrt(errors[0])) if len(errors) else np.nan


def combined(sums: Sums, names: Sequence[str], tau: float, confidence: float) -> Intervals:
    """The jackknife intervals of the named metrics of each group, (groups, metrics)."""
    of_errors = np.array([sums.metrics.entries[name].tau_power == OF_ERRORS for name in names])
    all_names = list(dict.fromkeys([*names, ACCURACY])) if of_errors.any() else names
    functions = functions_of(sums, all_names, tau)
    rows = sums.values, sums.group, sums.n_groups
    if sums.in_groups:
        bias = bias_of_halves(sums, names)  # halves tell it only roughly, so it is a further standard error, too
        return _without_bias(jackknife(*rows, functions, confidence, np.abs(bias)), bias)
    found = jackknife(*rows, functions, confidence)
    if not of_errors.any():
        return found
    at, n = all_names.index(ACCURACY), len(names)
    # Nothing tells how large the errors are that have not been seen yet, so each is taken for a miss.
    unseen = np.where(found.estimate[:, [at]] >= 1, 1 - found.low[:, [at]], 0.0)
    found = Intervals(*(values[:, :n] for values in found))
    with np.errstate(invalid="ignore"):
        most = functions.greatest[:n] * np.where(functions.totals[:n], found.n_weighted, 1.0)
        added = np.where(unseen > 0, unseen * most, 0.0)
        high = np.where(of_errors, np.minimum(found.high + added, most), found.high)
    unknown = of_errors & (np.isnan(tau) | np.isinf(high))
    return found._replace(low=np.where(unknown, np.nan, found.low), high=np.where(unknown, np.nan, high))


def combined_with_reasons(sums: Sums, names: Sequence[str], tau: float, confidence: float) -> Intervals:
    """The intervals of the named combined metrics of each group, and why bounds are null."""
    return with_reasons(combined(sums, names, tau, confidence), sums, names, tau, sums.n_sequences)


def estimates_of(summary: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
    """The named metrics of a summary, (groups, metrics); null where it has no such column."""
    unknown = np.full(len(summary), np.nan)
    columns = [summary[name].to_numpy(np.float64, na_value=np.nan) if name in summary else unknown for name in names]
    return np.stack(columns, axis=-1)


def bias_of_halves(sums: Sums, names: Sequence[str]) -> np.ndarray:
    """By how much the named metrics of each group are too high, (groups, metrics), for there are few sequences.

    It is the mean over random halves of what a half has more than the whole: with half as many sequences, the bias is
    about twice as large. Leaving out single rows tells less, as that changes the metric by hardly more than chance.
    """
    import pandas as pd  # imported here, as below: match tables of one group need none

    from ...tracking import track_sums

    unit = pd.factorize(pd.Series(sums.sequence))[0]
    n_units = int(unit.max(initial=-1)) + 1
    random, found = np.random.default_rng(0), []
    for _ in range(N_SPLITS):
        is_first = (random.permutation(n_units) < n_units // 2)[unit]
        halves = [sums.take(np.flatnonzero(half)) for half in (is_first, ~is_first)]
        found += [half.metrics.numbers(half.totals(), names) for half in halves]
    return track_sums.mean_of_known(np.stack(found, axis=-1)) - sums.metrics.numbers(sums.totals(), names)


def _without_bias(found: Intervals, bias: np.ndarray) -> Intervals:
    """Intervals of shares, moved by a bias of their estimates on the scale of the logit."""
    special = special_functions()
    with np.errstate(all="ignore"):
        slope = found.estimate * (1 - found.estimate)
        moved = np.where(slope > 0, bias / slope, 0.0)
        low, high = special.expit(special.logit(found.low) - moved), special.expit(special.logit(found.high) - moved)
    return found._replace(low=low, high=high)


def functions_of(sums: Sums, names: Sequence[str], tau: float) -> Functions:
    """The named metrics as functions of sums, with their weights and ranges."""
    metrics = [sums.metrics.entries[name] for name in names]

    def weights(of: NamedSums) -> np.ndarray:
        return np.stack([(metric.weight or sums.metrics.counted)(of) for metric in metrics], axis=-1)

    totals = totals_among(names, sums)
    greatest = np.array([_greatest(metric, tau) for metric in metrics])
    return Functions(
        lambda of: sums.metrics.numbers(of, names),
        weights,
        np.array([metric.low for metric in metrics]),
        np.where(totals & sums.in_clusters, np.inf, greatest),  # a cluster may have any count of sequences
        totals,
    )


def totals_among(names: Sequence[str], sums: Sums) -> np.ndarray:
    """Whether each metric is a total over sequences, (metrics,); an own metric is one if it doubles with all sums."""
    entries = sums.metrics.entries
    of_all = {name: rows.sum(axis=0, keepdims=True) for name, rows in sums.values.items()}
    own = [name for name in names if entries[name].sums is not None]
    doubles = set()
    if own:
        once, twice = (sums.metrics.numbers({name: k * of for name, of in of_all.items()}, own)[0] for k in (1, 2))
        doubles = {name for name, a, b in zip(own, once, twice, strict=True) if a != 0 and np.isclose(b, 2 * a)}
    return np.array([entries[name].is_total or name in doubles for name in names])


def _greatest(metric: Metric, tau: float) -> float:
    """The greatest value of a metric; of a total, of one sequence."""
    with_tau = metric.tau_power and not np.isnan(tau)
    return tau**metric.tau_power if with_tau else metric.high


def macro(sums: Sums, names: Sequence[str], confidence: float) -> Intervals:
    """The means of the named metrics over the sequences of each group, with intervals; nulls are left out."""
    metrics = [sums.metrics.entries[name] for name in names]
    least, greatest = (np.array([getattr(metric, end) for metric in metrics]) for end in ("low", "high"))
    rows = rows_of_means(per_sequence(sums), names, len(sums.group))
    return jackknife(rows, sums.group, sums.n_groups, functions_of_means(least, greatest), confidence)


def rows_of_means(alone: PerSequence, names: Sequence[str], n_rows: int) -> dict[str, np.ndarray]:
    """The sums of the sequences' own values in each row of sums, and how many are known, each (rows, metrics)."""
    values = np.stack([np.asarray(alone.values[name], np.float64) for name in names], axis=-1)
    known = ~np.isnan(values)
    sums = {"value": np.where(known, values, 0.0), "n": known.astype(np.float64)}
    return {name: sequence_sums.added_rows(rows, alone.row, n_rows) for name, rows in sums.items()}


def functions_of_means(least: np.ndarray, greatest: np.ndarray) -> Functions:
    """Means over sequences as functions of what `rows_of_means` returns, with their ranges, (metrics,)."""
    return Functions(
        lambda sums: np.where(sums["n"] > 0, sums["value"], np.nan) / np.maximum(sums["n"], 1),
        lambda sums: sums["n"],
        least,
        greatest,
        np.zeros(len(least), bool),
    )


def linear(sums: Sums, names: Sequence[str]) -> Sums:
    """Sums whose named metrics are means of them: the same if they add up already.

    Average precision does not follow from added sums. Its sums become the pseudo-values of the jackknife (Tukey, 1958),
    shifted so that their mean is the estimate: leaving out a row changes that mean as it changes the metric.
    """
    if not sums.in_groups:
        return sums
    group, n_groups = sums.group, sums.n_groups
    estimate, left = (sums.metrics.numbers(of, names) for of in sums.without_each())
    n_rows = np.bincount(group, minlength=n_groups)[:, None]
    mean = sequence_sums.added_rows(left, group, n_groups) / n_rows
    values = estimate[group] + (n_rows[group] - 1) * (mean[group] - left)
    by_name = {name: values[:, at] for at, name in enumerate(names)}
    return sums._replace(metrics=_of_means(sums.metrics), values=by_name | {"rows": np.ones(len(group))})


def _of_means(metrics: MetricSet) -> MetricSet:
    """The same metrics as means of sums of their names over rows."""

    def compute(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return {name: sums[name] / sums["rows"] for name in names}

    return metrics._replace(compute=compute, counted=lambda sums: sums["rows"])


def per_sequence(sums: Sums) -> PerSequence:
    """The metrics of each sequence by itself; raises ValueError if these are not sums of tracks or poses."""
    if sums.per_sequence is None:
        raise ValueError("only results of tracks and poses know the metrics of their sequences")
    return sums.per_sequence


def finer(of: Evaluable, by: By | None, column: str, own: Sequence[str] = ()) -> tuple[Sums, np.ndarray]:
    """The sums by groups and by a column of the table, and which of the groups without it each group is of."""
    columns: Any
    if isinstance(by, Mapping):
        is_there, columns = column in by, {**by, column: None}
    else:
        keys: list[Any] = [] if by is None else list(by) if isinstance(by, list | tuple) else [by]
        is_there = any(isinstance(key, str) and key == column for key in keys)
        columns = keys if is_there else [*keys, column]
    sums = of.evaluate(of.table, columns, own)
    labels = {name: values for name, values in sums.labels.arrays.items() if is_there or name != column}
    group, _ = selections.number_groups(labels, sums.n_groups)
    return sums, group


def with_units(of: Evaluable, cluster: str | None) -> Evaluable:
    """The same, but where rows of sums are groups of sequences, those of a cluster are in one group."""
    if not of.in_groups:
        return of
    return of._replace(evaluate=partial(of.evaluate, units=units_of(of.table, cluster)))


def units_of(table: pd.DataFrame, cluster: str | None) -> pd.Series:
    """The cluster of each sequence of a table, by its name; without a column `cluster`, each is one of its own."""
    if cluster is not None:
        return _clusters(table, cluster)
    import pandas as pd

    names = table["sequence"].drop_duplicates()
    return names.set_axis(pd.Index(names))


def clustered(sums: Sums, of: Evaluable, cluster: str | None) -> Sums:
    """The sums with a row for each group of sequences, from a column of the table; the same for None.

    They are the same, too, if rows are groups already, which keep clusters together. Raises InputError if there is no
    such column, or if it is null or differs within a sequence.
    """
    if cluster is None or of.in_groups:
        return sums
    import pandas as pd

    labels = _clusters(of.table, cluster).reindex(pd.Index(sums.sequence)).array
    number, _ = arrays.grouped(arrays.row_keys(Columns({"cluster": array_of(labels)}), ["cluster"]))
    row, first = arrays.grouped(sums.group * (int(number.max(initial=0)) + 1) + number)
    whole = sums._replace(summary=summary_of(sums), in_clusters=True)  # before rows are added in another order
    return whole.joined(row, first, array_of(labels.take(first)))


def _clusters(table: pd.DataFrame, cluster: str) -> pd.Series:
    """The cluster of each sequence of a table, by its name."""
    if cluster not in table:
        raise InputError(messages.missing("cluster", cluster, table.columns))
    pairs = table[["sequence", cluster]].drop_duplicates()
    null = pairs[cluster].isna()
    if null.any():
        raise InputError(f"cluster: {cluster} is null in sequence {pairs['sequence'][null].iloc[0]}; fill it")
    several = pairs["sequence"].duplicated()
    if several.any():
        name = pairs["sequence"][several].iloc[0]
        raise InputError(f"cluster: {cluster} differs within sequence {name}; each sequence needs one cluster")
    return pairs.set_index("sequence")[cluster]
