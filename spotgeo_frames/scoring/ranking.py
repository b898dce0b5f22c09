"""leaderboard(): ranks submissions: detections as the spotGEO competition did, tracks and poses by HOTA, AP by AP."""

import warnings
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..matching.noted_rule import rule_notes, shared_notes
from ..support.errors import InputError
from ..support.pandas_versions import with_text
from ..tables.kinds import CALLER, same_kind_as
from ..tables.selections import excluded_sequences, without_sequences
from ..tables.table import Table
from .evaluations import Evaluation, Family, asked_table, texts_of
from .own_metrics import lacking_text
from .registry import own_metrics


@same_kind_as("matches")
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
    DataFrame of the first match table's kind with one row for each submission, best first: `rank`, `name`, and the
    metrics that `summarize` computes. Among those of match tables are `f1`, 2 TP / (2 TP + FP + FN), and `kelvins_mse`,
    the sum over sequences of each sequence's mean of `kelvins_error`. Equal submissions share a rank. Submissions whose
    f1 is null, because they have nothing to count, come last.

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
    asked = {name: asked_table(x, f"leaderboard: matches: {name}") for name, x in matches.items()}
    left_out, unknown = excluded_sequences(exclude, [of.table for of in asked.values()])
    own = own_metrics()
    evaluations = {name: of.evaluate(without_sequences(of.table, left_out), None, own) for name, of in asked.items()}
    answer, texts = ranked(evaluations)
    lacking = lacking_text(of.lacking for of in evaluations.values())
    for text in filter(None, (unknown, *texts, lacking)):
        warnings.warn(f"leaderboard: {text}", stacklevel=CALLER)
    return answer


def ranked(evaluations: Mapping[str, Evaluation], function: str = "leaderboard") -> tuple[pd.DataFrame, list[str]]:
    """The leaderboard of evaluations, each of one group, and the texts of warnings, which name the first of each.

    Raises InputError, which names the function, if they are of different kinds or were made with different rules.
    """
    families = {name: of.family for name, of in evaluations.items()}
    first, family = next(iter(families.items()))
    odd = [name for name, of in families.items() if of.ranking != family.ranking or of.asked != family.asked]
    if odd:
        kinds = f"{first} is ranked by {family.ranking[0]}, {odd[0]} by {families[odd[0]].ranking[0]}"
        raise InputError(f"{function}: {kinds}; give results of one kind")
    return _ranking({name: of.summary for name, of in evaluations.items()}, family, function), texts_of(evaluations)


def _ranking(summaries: Mapping[str, pd.DataFrame], family: Family, function: str) -> pd.DataFrame:
    """The rows of the leaderboard, from the summary of each submission."""
    # Tables that went through another library may have lost their notes; those are not compared.
    made_with = {name: rule_notes(summary) for name, summary in summaries.items()}
    known = [rule for rule in made_with.values() if rule]
    if any(rule != known[0] for rule in known):
        listed = "; ".join(
            f"{name} with {', '.join(f'{key} {value}' for key, value in rule.items())}"
            for name, rule in made_with.items()
            if rule
        )
        raise InputError(f"{function}: the match tables were not made with the same rule: {listed}")
    rows = with_text(pd.concat([summary.assign(name=name) for name, summary in summaries.items()]))
    ranking = list(family.ranking)
    rising = [not family.metrics[name].higher_is_better for name in ranking]
    rows = rows.sort_values(ranking, ascending=rising, kind="stable", ignore_index=True)
    score = rows[ranking].fillna(-np.inf)
    new = score.ne(score.shift()).any(axis=1)
    rows.insert(0, "rank", pd.Series(np.arange(1, len(rows) + 1)).where(new).ffill().astype("int64"))
    rows.insert(1, "name", rows.pop("name"))
    rows.attrs = shared_notes(next(iter(summaries.values())))
    return rows
