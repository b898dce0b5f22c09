"""The intervals of an evaluation's metrics by the jackknife: combined numbers and macro means, for every group.

Which metrics are shares of what, and how sequences weigh in them, says each metric's entry in the registry.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..scoring.evaluations import Asked, Evaluation, Family
from ..scoring.match_sums import NamedSums
from ..scoring.registry import Metric
from ..support.errors import InputError
from ..support.keys import grouped, row_keys
from ..tables.columns import Columns, array_of, null_rows
from ..tables.messages import missing
from ..tables.schema import FN, FP
from ..tables.selections import By, number_groups
from .jackknife import Functions, Intervals, jackknife
from .resampling import metrics_of

# Errors per row: a miss or false alarm adds tau², so that where there is none as yet, the next can raise them by that.
OF_ERRORS = 2


def tau_of(matches: pd.DataFrame) -> float:
    """The tau (px) of a match table, from its notes or from the error of a miss or false alarm; null if unknown."""
    if matches.attrs.get("tau") is not None:
        return float(matches.attrs["tau"])
    wrong = np.isin(matches["outcome"].array.codes, [FN, FP])
    errors = matches["squared_error"].to_numpy(np.float64, na_value=np.nan)[wrong] if "squared_error" in matches else []
    return float(np.sqrt(errors[0])) if len(errors) else np.nan


def combined(evaluation: Evaluation, names: Sequence[str], tau: float, confidence: float) -> Intervals:
    """The jackknife intervals of the named metrics of each group, (groups, metrics)."""
    family = evaluation.family
    metrics = [family.metrics[name] for name in names]
    of_errors = np.array([metric.tau_power == OF_ERRORS for metric in metrics])
    functions = functions_of(family, names, tau)
    found = jackknife(evaluation.sums, evaluation.group, evaluation.n_groups, functions, confidence)
    if not of_errors.any():
        return found
    # Nothing tells how large the errors are that have not been seen yet, so each is taken for a miss.
    accuracy = jackknife(
        evaluation.sums, evaluation.group, evaluation.n_groups, functions_of(family, ["det_a"], tau), confidence
    )
    most = functions.greatest * np.where(functions.totals, found.n_weighted, 1.0)
    unseen = np.where(accuracy.estimate >= 1, 1 - accuracy.low, 0.0) * most
    high = np.where(of_errors, np.minimum(found.high + unseen, most), found.high)
    unknown = of_errors & np.isnan(tau)
    return found._replace(low=np.where(unknown, np.nan, found.low), high=np.where(unknown, np.nan, high))


def functions_of(family: Family, names: Sequence[str], tau: float) -> Functions:
    """The named metrics as functions of sums, with their weights and ranges."""
    metrics = [family.metrics[name] for name in names]

    def weights(sums: NamedSums) -> np.ndarray:
        return np.stack([(metric.weight or family.counted)(sums) for metric in metrics], axis=-1)

    return Functions(
        lambda sums: metrics_of(sums, names, family),
        weights,
        np.array([metric.low for metric in metrics]),
        np.array([_greatest(metric, tau) for metric in metrics]),
        np.array([metric.is_total for metric in metrics]),
    )


def _greatest(metric: Metric, tau: float) -> float:
    """The greatest value of a metric; of a total, of one sequence."""
    with_tau = metric.tau_power and not np.isnan(tau)
    return tau**metric.tau_power if with_tau else metric.high


def macro(
    asked: Asked, by: By | None, names: Sequence[str], cluster: str | None, family: Family, confidence: float
) -> Intervals:
    """The means over the sequences of each group and their t intervals, (groups, metrics)."""
    one_by_one, group = finer(asked, by, "sequence")
    values = one_by_one.summary.reindex(columns=list(names)).to_numpy(np.float64, na_value=np.nan)
    n_groups = int(group.max(initial=0)) + 1
    known = ~np.isnan(values)
    sums = {"value": np.where(known, values, 0.0), "known": known.astype(np.float64)}
    if cluster is not None:
        sums, group = add_clusters(sums, group, clusters_of(asked.table, cluster, one_by_one.labels["sequence"]))
    metrics = [family.metrics[name] for name in names]
    functions = Functions(
        lambda added: np.where(added["known"] > 0, added["value"], np.nan) / np.maximum(added["known"], 1),
        lambda added: added["known"],
        np.array([metric.low for metric in metrics]),
        np.array([metric.high for metric in metrics]),
        np.zeros(len(names), bool),
    )
    return jackknife(sums, group, n_groups, functions, confidence)


def finer(asked: Asked, by: By | None, column: str, own: Sequence[str] = ()) -> tuple[Evaluation, np.ndarray]:
    """The evaluation by groups and by a column of the table, and which of the groups without it each group is of."""
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


def clusters_of(table: pd.DataFrame, cluster: str, sequences: Any) -> np.ndarray:
    """The number of the cluster of each of these sequences, from a column of the table.

    Raises InputError if there is no such column, or if it is null or differs within a sequence.
    """
    if cluster not in table:
        raise InputError(missing("cluster", cluster, table.columns))
    null = np.flatnonzero(null_rows(array_of(table[cluster])))
    if len(null):
        raise InputError(f"cluster: {cluster} is null in sequence {table['sequence'].iloc[null[0]]}; fill it")
    of_row, first = grouped(row_keys(Columns({"sequence": array_of(table["sequence"])}), ["sequence"]))
    number, _ = grouped(row_keys(Columns({"sequence": array_of(table[cluster])}), ["sequence"]))
    differs = np.flatnonzero(number != number[first][of_row])
    if len(differs):
        name = table["sequence"].iloc[differs[0]]
        raise InputError(f"cluster: {cluster} differs within sequence {name}; each sequence needs one cluster")
    known = pd.Index(table["sequence"].iloc[first])
    return number[first][known.get_indexer(pd.Index(sequences))]


def add_clusters(sums: NamedSums, group: np.ndarray, cluster: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The sums of the clusters within each group, from those of its sequences; and the group of each."""
    cell, first = grouped(group * (int(cluster.max(initial=0)) + 1) + cluster)
    added = {}
    for name, rows in sums.items():
        added[name] = np.zeros((len(first), *rows.shape[1:]))
        np.add.at(added[name], cell, rows)
    return added, group[first]
