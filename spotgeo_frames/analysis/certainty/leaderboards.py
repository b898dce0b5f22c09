"""leaderboard(): ranks submissions, with the intervals of the metrics that rank them."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...matching import noted_rule
from ...scoring import MetricSet, Sums, own_metrics, registry, sequence_sums, summary_of
from ...support import InputError, pandas_tables
from ...tables import Table, selections, table_kinds
from .estimates import combined_with_reasons, tau_of
from .jackknife import Intervals

# The share of intervals that hold the true number.
CONFIDENCE = 0.95


@table_kinds.same_kind_as("matches")
def leaderboard(
    matches: Mapping[str, Table | NamedTuple], exclude: Iterable[int] | Iterable[str] | None = None
) -> pd.DataFrame:
    """Ranks submissions: detections by highest f1, then by lowest kelvins_mse, as the spotGEO competition did.

    Results of tracks and of poses are ranked by highest HOTA, those of `average_precision` by highest AP.

    Parameters
    ----------
    matches
        A dict from the name of each submission to its match table, or to what `track`, `pose` or `average_precision`
        returned.
    exclude
        Sequences to leave out, a list of strings or of integers like the table's. The competition's server left
        sequences out, too. A warning names those that no table has.

    Returns
    -------
    DataFrame of the first match table's kind with one row for each submission, best first: `rank`, `name`, the metrics
    that `summarize` computes, and the 95% intervals of those that rank. Among the metrics of match tables are `f1`,
    2 TP / (2 TP + FP + FN), and `kelvins_mse`, the sum over sequences of each sequence's mean of `kelvins_error`. Equal
    submissions share a rank. Submissions whose f1 is null, because they have nothing to count, come last.

    The intervals are those of `intervals`: `f1_low`, `f1_high`, `kelvins_mse_low` and `kelvins_mse_high`, or `HOTA_low`
    and `HOTA_high`. They are null where those are, such as below two sequences, and of HOTA below 20, and `reason` says
    why. Average precision has none here, because it takes several times as long; `compare` has it. A rank does not show
    that two submissions differ, nor do intervals that overlap show that they are equal: `compare` tests that.

    Raises
    ------
    InputError: `matches` is no dict or is empty, one of its values is no match table, the match tables were made with
        different rules, tau, epsilon or thresholds, `exclude` is no list of the sequences' type, or a metric of your
        own fails.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 50.0], "y": [10.0, 50.0]})
    >>> submissions = {"far": truth.assign(x=[14.0, 90.0]), "near": truth.assign(x=[14.0, 52.0])}
    >>> board = sf.leaderboard({name: sf.match(truth, predictions) for name, predictions in submissions.items()})
    >>> board[["rank", "name", "f1", "kelvins_mse"]]
       rank  name   f1  kelvins_mse
    0     1  near  1.0          2.0
    1     2   far  0.5         68.0
    """
    if not isinstance(matches, Mapping):
        needed = "a dict of names and match tables is needed, such as {'mine': matches}"
        raise InputError(f"leaderboard: matches is of type {type(matches).__name__}; {needed}")
    if not matches:
        raise InputError("leaderboard: matches is empty; a dict of names and match tables is needed")
    given = {name: sequence_sums.evaluable(x, f"leaderboard: matches: {name}") for name, x in matches.items()}
    left_out, unknown = selections.excluded_sequences(exclude, [of.table for of in given.values()])
    own = registry.own_metrics()
    sums = {
        name: of.evaluate(selections.without_sequences(of.table, left_out), None, own) for name, of in given.items()
    }
    answer, texts = ranked(sums)
    if not next(iter(sums.values())).in_groups:
        ranking = next(iter(sums.values())).metrics.ranking
        found = {
            name: combined_with_reasons(sums[name], ranking, tau_of(of.matches), CONFIDENCE)
            for name, of in given.items()
        }
        answer = with_bounds(answer, ranking, found)
    lacking = own_metrics.lacking_text(of.lacking for of in sums.values())
    for text in filter(None, (unknown, *texts, lacking)):
        warnings.warn(f"leaderboard: {text}", stacklevel=table_kinds.CALLER)
    return answer


def with_bounds(board: pd.DataFrame, ranking: Sequence[str], several: Mapping[str, Intervals]) -> pd.DataFrame:
    """Adds to a leaderboard the intervals of the ranking metrics, which are the first in `several`, with reasons."""
    columns: dict[str, Any] = {f"{metric}_{end}": [] for metric in ranking for end in ("low", "high")}
    reasons = []
    for name in board["name"].tolist():
        found = several[name]
        for at, metric in enumerate(ranking):
            columns[f"{metric}_low"].append(found.low[0, at])
            columns[f"{metric}_high"].append(found.high[0, at])
        reasons.append(next(filter(None, found.reason[0, : len(ranking)]), None))
    return board.assign(**columns, reason=pd.array(reasons, dtype=pandas_tables.TEXT))  # which keeps the notes in attrs


def ranked(several: Mapping[str, Sums], function: str = "leaderboard") -> tuple[pd.DataFrame, list[str]]:
    """The leaderboard of submissions, each of one group, and the texts of warnings, which name the first of each.

    Raises InputError, which names the function, if they are of different kinds or were made with different rules.
    """
    sets = {name: of.metrics for name, of in several.items()}
    first, metrics = next(iter(sets.items()))
    odd = [name for name, of in sets.items() if of.ranking != metrics.ranking or of.default != metrics.default]
    if odd:
        ways = f"{first} is ranked by {metrics.ranking[0]}, {odd[0]} by {sets[odd[0]].ranking[0]}"
        raise InputError(f"{function}: {ways}; give results of one kind")
    return _ranking({name: summary_of(of) for name, of in several.items()}, metrics, function), sequence_sums.texts_of(
        several
    )


def _ranking(summaries: Mapping[str, pd.DataFrame], metrics: MetricSet, function: str) -> pd.DataFrame:
    """The rows of the leaderboard, from the summary of each submission."""
    # Tables that went through another library may have lost their notes; those are not compared.
    made_with = {name: noted_rule.rule_notes(summary) for name, summary in summaries.items()}
    known = [rule for rule in made_with.values() if rule]
    if any(rule != known[0] for rule in known):
        listed = "; ".join(
            f"{name} with {', '.join(f'{key} {value}' for key, value in rule.items())}"
            for name, rule in made_with.items()
            if rule
        )
        raise InputError(f"{function}: the match tables were not made with the same rule: {listed}")
    rows = pandas_tables.with_text(pd.concat([summary.assign(name=name) for name, summary in summaries.items()]))
    ranking = list(metrics.ranking)
    rising = [not metrics.entries[name].higher_is_better for name in ranking]
    rows = rows.sort_values(ranking, ascending=rising, kind="stable", ignore_index=True)
    score = rows[ranking].fillna(-np.inf)
    new = score.ne(score.shift()).any(axis=1)
    rows.insert(0, "rank", pd.Series(np.arange(1, len(rows) + 1)).where(new).ffill().astype("int64"))
    rows.insert(1, "name", rows.pop("name"))
    rows.attrs = noted_rule.shared_notes(next(iter(summaries.values())))
    return rows
