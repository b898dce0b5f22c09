"""The intervals of an evaluation's metrics by the jackknife: combined numbers and macro means, for every group.

Which metrics are shares of what, and how sequences weigh in them, says each metric's entry in the registry.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ...scoring.evaluations import Asked, Evaluation, Family, Singles
from ...scoring.match_sums import NamedSums
from ...scoring.registry import Metric
from ...support.arrays import grouped, row_keys
from ...support.errors import InputError
from ...tables.columns import Columns, array_of
from ...tables.messages import missing
from ...tables.schema import FN, FP
from ...tables.selections import By, number_groups
from ...tracking.families import mean_of_known
from .jackknife import Functions, Intervals, added_rows, jackknife
from .resampling import metrics_of

# Errors per row: a miss or false alarm adds tau², so that where there is none as yet, the next can raise them by that.
OF_ERRORS = 2

# How often cells are divided into halves to see the bias of average precision.
N_SPLITS = 10

# The metric that is 1 where there is no miss and no false alarm.
ACCURACY = "det_a"


def tau_of(matches: pd.DataFrame) -> float:
    """The tau (px) of a match table, from its notes or from the error of a miss or false alarm; null if unknown."""
    if matches.attrs.get("tau") is not None:
        return float(matches.attrs["tau"])
    if "squared_error" not in matches:
        return np.nan
    wrong = np.isin(matches["outcome"].array.codes, [FN, FP])
    errors = matches["squared_error"].to_numpy(np.float64, na_value=np.nan)[wrong]
    return float(np.sqrt(errors[0])) if len(errors) else np.nan


def combined(evaluation: Evaluation, names: Sequence[str], tau: float, confidence: float) -> Intervals:
    """The jackknife intervals of the named metrics of each group, (groups, metrics)."""
    of_errors = np.array([evaluation.family.metrics[name].tau_power == OF_ERRORS for name in names])
    all_names = list(dict.fromkeys([*names, ACCURACY])) if of_errors.any() else names
    functions = functions_of(evaluation, all_names, tau)
    cells = evaluation.sums, evaluation.group, evaluation.n_groups
    if evaluation.in_groups:
        bias = bias_of_halves(evaluation, names)  # halves tell it only roughly, so it is a further standard error, too
        return _without_bias(jackknife(*cells, functions, confidence, np.abs(bias)), bias)
    found = jackknife(*cells, functions, confidence)
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


def bias_of_halves(evaluation: Evaluation, names: Sequence[str]) -> np.ndarray:
    """By how much the named metrics of each group are too high, (groups, metrics), for there are few sequences.

    It is the mean over random halves of what a half has more than the whole: with half as many sequences, the bias is
    about twice as large. Leaving out single cells tells less, as that changes the metric by hardly more than chance.
    """
    cell = pd.factorize(pd.Series(evaluation.sequence))[0]
    n_cells = int(cell.max(initial=-1)) + 1
    random, found = np.random.default_rng(0), []
    for _ in range(N_SPLITS):
        is_first = (random.permutation(n_cells) < n_cells // 2)[cell]
        for half in (np.flatnonzero(is_first), np.flatnonzero(~is_first)):
            group = evaluation.group[half]
            sums = {name: added_rows(rows[half], group, evaluation.n_groups) for name, rows in evaluation.sums.items()}
            found.append(metrics_of(sums, names, evaluation.family))
    whole = {name: added_rows(rows, evaluation.group, evaluation.n_groups) for name, rows in evaluation.sums.items()}
    return mean_of_known(np.stack(found, axis=-1)) - metrics_of(whole, names, evaluation.family)


def _without_bias(found: Intervals, bias: np.ndarray) -> Intervals:
    """Intervals of shares, moved by a bias of their estimates on the scale of the logit."""
    from scipy.special import expit, logit  # imported here, because it is slow to import

    with np.errstate(all="ignore"):
        slope = found.estimate * (1 - found.estimate)
        moved = np.where(slope > 0, bias / slope, 0.0)
        low, high = expit(logit(found.low) - moved), expit(logit(found.high) - moved)
    return found._replace(low=low, high=high)


def functions_of(evaluation: Evaluation, names: Sequence[str], tau: float) -> Functions:
    """The named metrics as functions of sums, with their weights and ranges."""
    family = evaluation.family
    metrics = [family.metrics[name] for name in names]

    def weights(sums: NamedSums) -> np.ndarray:
        return np.stack([(metric.weight or family.counted)(sums) for metric in metrics], axis=-1)

    totals = totals_among(names, evaluation)
    greatest = np.array([_greatest(metric, tau) for metric in metrics])
    return Functions(
        lambda sums: metrics_of(sums, names, family),
        weights,
        np.array([metric.low for metric in metrics]),
        np.where(totals & evaluation.in_clusters, np.inf, greatest),  # a cluster may have any count of sequences
        totals,
    )


def totals_among(names: Sequence[str], evaluation: Evaluation) -> np.ndarray:
    """Whether each metric is a total over sequences, (metrics,); an own metric is one if it doubles with all sums."""
    family = evaluation.family
    of_all = {name: rows.sum(axis=0, keepdims=True) for name, rows in evaluation.sums.items()}
    own = [name for name in names if family.metrics[name].sums is not None]
    doubles = set()
    if own:
        once, twice = (metrics_of({name: k * of for name, of in of_all.items()}, own, family)[0] for k in (1, 2))
        doubles = {name for name, a, b in zip(own, once, twice, strict=True) if a != 0 and np.isclose(b, 2 * a)}
    return np.array([family.metrics[name].is_total or name in doubles for name in names])


def _greatest(metric: Metric, tau: float) -> float:
    """The greatest value of a metric; of a total, of one sequence."""
    with_tau = metric.tau_power and not np.isnan(tau)
    return tau**metric.tau_power if with_tau else metric.high


def macro(evaluation: Evaluation, names: Sequence[str], confidence: float) -> Intervals:
    """The means of the named metrics over the sequences of each group, with intervals; nulls are left out."""
    singles, metrics = singles_of(evaluation), [evaluation.family.metrics[name] for name in names]
    least, greatest = (np.array([getattr(metric, end) for metric in metrics]) for end in ("low", "high"))
    cells = cells_of_means(singles, names, len(evaluation.group))
    return jackknife(cells, evaluation.group, evaluation.n_groups, functions_of_means(least, greatest), confidence)


def cells_of_means(singles: Singles, names: Sequence[str], n_cells: int) -> dict[str, np.ndarray]:
    """The sums of the sequences' own values in each cell, and how many are known, each (cells, metrics)."""
    values = np.stack([np.asarray(singles.values[name], np.float64) for name in names], axis=-1)
    known = ~np.isnan(values)
    sums = {"value": np.where(known, values, 0.0), "n": known.astype(np.float64)}
    return {name: added_rows(rows, singles.cell, n_cells) for name, rows in sums.items()}


def functions_of_means(least: np.ndarray, greatest: np.ndarray) -> Functions:
    """Means over sequences as functions of what `cells_of_means` returns, with their ranges, (metrics,)."""
    return Functions(
        lambda sums: np.where(sums["n"] > 0, sums["value"], np.nan) / np.maximum(sums["n"], 1),
        lambda sums: sums["n"],
        least,
        greatest,
        np.zeros(len(least), bool),
    )


def linear(evaluation: Evaluation, names: Sequence[str]) -> Evaluation:
    """An evaluation whose named metrics are means of sums: the same if its sums add up already.

    Average precision does not follow from added sums. Its sums become the pseudo-values of the jackknife (Tukey, 1958),
    shifted so that their mean is the estimate: leaving out a cell changes that mean as it changes the metric.
    """
    if not evaluation.in_groups:
        return evaluation
    family, group, n_groups = evaluation.family, evaluation.group, evaluation.n_groups
    totals = {name: added_rows(rows, group, n_groups) for name, rows in evaluation.sums.items()}
    estimate = metrics_of(totals, names, family)
    left = metrics_of({name: totals[name][group] - rows for name, rows in evaluation.sums.items()}, names, family)
    n_cells = np.bincount(group, minlength=n_groups)[:, None]
    mean = added_rows(left, group, n_groups) / n_cells
    values = estimate[group] + (n_cells[group] - 1) * (mean[group] - left)
    sums = {name: values[:, at] for at, name in enumerate(names)}
    return evaluation._replace(family=_of_means(family), sums=sums | {"cells": np.ones(len(group))})


def _of_means(family: Family) -> Family:
    """The family with metrics that are the means of sums of their names over cells."""

    def values(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return {name: sums[name] / sums["cells"] for name in names}

    return family._replace(values=values, counted=lambda sums: sums["cells"])


def singles_of(evaluation: Evaluation) -> Singles:
    """The metrics of each sequence by itself; raises ValueError if it is no evaluation of tracks or poses."""
    if evaluation.singles is None:
        raise ValueError("only results of tracks and poses know the metrics of their sequences")
    return evaluation.singles


def finer(asked: Asked, by: By | None, column: str, own: Sequence[str] = ()) -> tuple[Evaluation, np.ndarray]:
    """The evaluation by groups and by a column of the table, and which of the groups without it each group is of."""
    columns: Any
    if isinstance(by, Mapping):
        is_there, columns = column in by, {**by, column: None}
    else:
        keys: list[Any] = [] if by is None else list(by) if isinstance(by, list | tuple) else [by]
        is_there = any(isinstance(key, str) and key == column for key in keys)
        columns = keys if is_there else [*keys, column]
    evaluation = asked.evaluate(asked.table, columns, own)
    labels = {name: of for name, of in evaluation.labels.items() if is_there or name != column}
    group, _ = number_groups(labels, evaluation.n_groups)
    return evaluation, group


def with_units(asked: Asked, cluster: str | None) -> Asked:
    """The same, but where cells are groups of sequences, those of a cluster are in one group."""
    if not asked.in_groups:
        return asked
    return asked._replace(evaluate=partial(asked.evaluate, units=units_of(asked.table, cluster)))


def units_of(table: pd.DataFrame, cluster: str | None) -> pd.Series:
    """The cluster of each sequence of a table, by its name; without a column `cluster`, each is one of its own."""
    if cluster is not None:
        return _clusters(table, cluster)
    names = table["sequence"].drop_duplicates()
    return names.set_axis(pd.Index(names))


def clustered(evaluation: Evaluation, asked: Asked, cluster: str | None) -> Evaluation:
    """The evaluation with groups of sequences as cells, from a column of the table; the same for None.

    It is the same, too, if cells are groups already, which keep clusters together. Raises InputError if there is no
    such column, or if it is null or differs within a sequence.
    """
    if cluster is None or asked.in_groups:
        return evaluation
    labels = _clusters(asked.table, cluster).reindex(pd.Index(evaluation.sequence)).array
    number, _ = grouped(row_keys(Columns({"cluster": array_of(labels)}), ["cluster"]))
    cell, first = grouped(evaluation.group * (int(number.max(initial=0)) + 1) + number)
    singles = evaluation.singles and evaluation.singles._replace(cell=cell[evaluation.singles.cell])
    sums = {name: added_rows(rows, cell, len(first)) for name, rows in evaluation.sums.items()}
    return evaluation._replace(
        group=evaluation.group[first],
        sequence=array_of(labels.take(first)),
        sums=sums,
        singles=singles,
        in_clusters=True,
    )


def _clusters(table: pd.DataFrame, cluster: str) -> pd.Series:
    """The cluster of each sequence of a table, by its name."""
    if cluster not in table:
        raise InputError(missing("cluster", cluster, table.columns))
    pairs = table[["sequence", cluster]].drop_duplicates()
    null = pairs[cluster].isna()
    if null.any():
        raise InputError(f"cluster: {cluster} is null in sequence {pairs['sequence'][null].iloc[0]}; fill it")
    several = pairs["sequence"].duplicated()
    if several.any():
        name = pairs["sequence"][several].iloc[0]
        raise InputError(f"cluster: {cluster} differs within sequence {name}; each sequence needs one cluster")
    return pairs.set_index("sequence")[cluster]
