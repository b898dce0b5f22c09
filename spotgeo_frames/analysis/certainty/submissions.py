"""The submissions that `compare` is given: of one truth, and taken apart into evaluations and their groups."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring.ap.result import AveragePrecision
from ...scoring.evaluations import Asked, Evaluation, asked_table, group_of, leaving_out
from ...support.errors import InputError
from ...tables.bins import CheckedBins
from ...tables.messages import counted
from ...tables.schema import SIDE_PREFIXES
from ...tables.selections import By, binned_together, check_column, column_bins, excluded_sequences
from ...tables.table import Table
from .estimates import clustered, tau_of, units_of
from .same_truth import truth_differences


def submissions(
    matches: Mapping[str, Table | NamedTuple | AveragePrecision],
    baseline: str | None,
    exclude: Iterable[int] | Iterable[str] | None,
    by: By | None,
    cluster: str | None,
    own: Sequence[str],
    function: str = "compare",
) -> tuple[dict[str, Evaluation], dict[str, float], str | None]:
    """The evaluations of submissions to the same truth, without excluded sequences, their tau, and a warning's text.

    `own` names the own metrics that are needed. Raises InputError if they are not comparable, or if `by` or `exclude`
    does not fit them; it names the function.
    """
    asked, unknown = _checked(matches, baseline, exclude, function)
    columns = column_bins(by)
    cuts: Mapping[str, Any] = dict.fromkeys(asked, columns)
    if next(iter(asked.values())).in_groups:
        asked = _in_same_groups(asked, cluster)
    else:
        cuts = _cuts(asked, columns)
    evaluated = {
        name: clustered(of.evaluate(of.table, cuts[name] or None, own), of, cluster) for name, of in asked.items()
    }
    return evaluated, {name: tau_of(of.matches) for name, of in asked.items()}, unknown


def _checked(
    matches: Mapping[str, Table | NamedTuple | AveragePrecision],
    baseline: str | None,
    exclude: Iterable[int] | Iterable[str] | None,
    function: str,
) -> tuple[dict[str, Asked], str | None]:
    """Checks that all have the same truth; returns them without excluded sequences, and a warning's text."""
    if not isinstance(matches, Mapping):
        needed = "a dict of names and match tables is needed, such as {'a': matches, 'b': others}"
        raise InputError(f"{function}: matches is of type {type(matches).__name__}; {needed}")
    if len(matches) < 2:
        raise InputError(f"{function}: {counted(len(matches), 'match table')} given; two or more are needed")
    if baseline is not None and baseline not in matches:
        known = ", ".join(map(str, matches))
        raise InputError(f"{function}: baseline: no match table has the name {baseline!r}; the names are {known}")
    asked = {name: asked_table(x, f"{function}: matches: {name}") for name, x in matches.items()}
    alone = [name for name, of in asked.items() if of.in_groups]
    if 0 < len(alone) < len(asked):
        odd = next(name for name in asked if name not in alone)
        raise InputError(f"{function}: {alone[0]} is of average precision, and {odd} is not; give results of one kind")
    left_out, unknown = excluded_sequences(exclude, [of.table for of in asked.values()])
    asked = {name: leaving_out(of, left_out) for name, of in asked.items()}
    first, *others = asked
    if not len(asked[first].table):
        raise InputError(f"{function}: the match table of {first} has no rows")
    problems = [
        problem
        for name in others
        for problem in truth_differences(function, {first: asked[first].matches, name: asked[name].matches})
    ]
    if problems:
        raise InputError(problems)
    return asked, unknown


def _in_same_groups(asked: Mapping[str, Asked], cluster: str | None) -> dict[str, Asked]:
    """The same, with the sequences of all in the same groups, also those that only some of them have."""
    units = pd.concat([units_of(of.table, cluster) for of in asked.values()])
    units = units[~units.index.duplicated()].sort_index()
    return {name: of._replace(evaluate=partial(of.evaluate, units=units)) for name, of in asked.items()}


def _cuts(asked: Mapping[str, Asked], columns: Mapping[str, CheckedBins]) -> dict[str, list[pd.Series]]:
    """The values to group the table of each submission by; all submissions share their bins.

    Raises InputError for columns of the predictions, by which the submissions have different groups.
    """
    of_predictions = [name for name in columns if name.startswith(SIDE_PREFIXES[1]) or name == "frame_n_predicted"]
    if of_predictions:
        problem = "differs between submissions; give a column of the truth, the frames or the sequences"
        raise InputError(f"compare: by: {of_predictions[0]} {problem}")
    for of in asked.values():
        for column in columns:
            check_column(of.table[of.columns], column, of.called)
    return binned_together({name: of.table for name, of in asked.items()}, columns)


def groups_of(evaluations: Mapping[str, Evaluation]) -> Iterator[tuple[dict[str, Any], dict[str, Evaluation]]]:
    """The labels of each group that all have, each in an array of one value, and the evaluations of this group."""
    keys = {
        name: list(zip(*of.labels.values(), strict=True)) if of.labels else [()] for name, of in evaluations.items()
    }
    first = next(iter(evaluations.values()))
    positions = {name: {key: position for position, key in enumerate(of)} for name, of in keys.items()}
    shared = [key for key in next(iter(keys.values())) if all(key in of for of in positions.values())]
    if not shared:
        raise InputError("compare: by: no group has rows in every match table")
    for key in shared:
        at = {name: of[key] for name, of in positions.items()}
        labels = {name: values.take([next(iter(at.values()))]) for name, values in first.labels.items()}
        yield labels, {name: group_of(of, at[name]) for name, of in evaluations.items()}


def labelled(table: pd.DataFrame, labels: Mapping[str, Any]) -> pd.DataFrame:
    """The table with the labels of its group as first columns; each label is an array of one value."""
    answer = table.assign(
        **{name: pd.Series(value).array.take(np.zeros(len(table), np.int64)) for name, value in labels.items()}
    )
    return answer[[*labels, *table]]
