"""leaderboard(): ranks submissions as the spotGEO competition did, by highest f1, then by lowest kelvins_mse."""

import warnings
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..matching.noted_rule import rule_notes
from ..support.errors import InputError
from ..support.pandas_versions import with_text
from ..tables.checks import check_matches
from ..tables.kinds import CALLER, same_kind_as
from ..tables.selections import excluded_sequences
from ..tables.table import Table
from .group_sums import Groups, group_rows
from .registry import METRICS, RANKING, own_metrics
from .summary import summarized


@same_kind_as("matches")
def leaderboard(matches: Mapping[str, Table], exclude: Iterable[int] | Iterable[str] | None = None) -> pd.DataFrame:
    """Ranks submissions as the spotGEO competition did: by highest f1, then by lowest kelvins_mse.

    Parameters
    ----------
    matches
        A dict from the name of each submission to its match table.
    exclude
        Sequences to leave out, a list of strings or of integers like the table's. The competition's server left
        sequences out, too. A warning names those that no table has.

    Returns
    -------
    DataFrame of the first match table's kind with one row for each submission, best first: `rank`, `name`, and the
    metrics that `summarize` computes, among them `f1`, 2 TP / (2 TP + FP + FN), and `kelvins_mse`, the sum over
    sequences of each sequence's mean of `kelvins_error`. Equal submissions share a rank. Submissions whose f1 is null,
    because they have nothing to count, come last.

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
    tables = {name: check_matches(table, f"leaderboard: matches: {name}") for name, table in matches.items()}
    left_out, unknown = excluded_sequences(exclude, tables.values())
    groups = {name: group_rows(table, None, left_out, own=own_metrics()) for name, table in tables.items()}
    answer, missing = ranked(groups)
    for text in filter(None, (unknown, missing)):
        warnings.warn(f"leaderboard: {text}", stacklevel=CALLER)
    return answer


def ranked(matches: Mapping[str, Groups]) -> tuple[pd.DataFrame, str | None]:
    """The leaderboard of match tables, each as one group, and the text of a warning if one of them lacks rows."""
    summaries = {name: summarized(groups) for name, groups in matches.items()}
    missing = next((f"{name}: {text}" for name, (_, text) in summaries.items() if text), None)
    return _ranking({name: summary for name, (summary, _) in summaries.items()}), missing


def _ranking(summaries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
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
        raise InputError(f"leaderboard: the match tables were not made with the same rule: {listed}")
    rows = with_text(pd.concat([summary.assign(name=name) for name, summary in summaries.items()]))
    rising = [not METRICS[name].higher_is_better for name in RANKING]
    rows = rows.sort_values(RANKING, ascending=rising, kind="stable", ignore_index=True)
    score = rows[RANKING].fillna(-np.inf)
    new = score.ne(score.shift()).any(axis=1)
    rows.insert(0, "rank", pd.Series(np.arange(1, len(rows) + 1)).where(new).ffill().astype("int64"))
    rows.insert(1, "name", rows.pop("name"))
    rows.attrs = next(iter(summaries.values())).attrs
    return rows
