"""leaderboard(): submissions in the competition's order."""

import warnings
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..support.errors import InputError
from ..tables.arrow import Table
from ..tables.schema import check_matches
from ..tables.selections import excluded_sequences, without_sequences
from .registry import METRICS, RANKING
from .summary import summarized

# What tells match tables apart that cannot be compared.
MADE_WITH = ["rule", "tau", "epsilon", "threshold", "identity"]


def leaderboard(matches: Mapping[str, Table], exclude: Iterable[int] | Iterable[str] | None = None) -> pd.DataFrame:
    """Submissions in the competition's order: highest f1, then lowest kelvins_mse.

    Parameters
    ----------
    matches
        The match table of each submission, by name.
    exclude
        Sequences to leave out, as the competition's server left some out.

    Returns
    -------
    DataFrame of one row a submission: `rank`, `name`, and the columns of `summarize`, among them `f1`, which is
    2 TP / (2 TP + FP + FN), and `kelvins_mse`, the sum over sequences of each sequence's mean of `kelvins_error`.
    Equals share a rank; submissions without an f1, having nothing to count, come last.

    Raises
    ------
    InputError: no dict, no match table in it, or match tables that were made with different rules, tau, epsilon or
        thresholds.

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
        what = "a dict of names and match tables is needed, such as {'mine': matches}"
        raise InputError(f"leaderboard: matches is a {type(matches).__name__}; {what}")
    if not matches:
        raise InputError("leaderboard: matches is empty; a dict of names and match tables is needed")
    tables = {name: check_matches(table) for name, table in matches.items()}
    left_out, unknown = excluded_sequences(exclude, tables.values())
    answer, missing = ranked({name: without_sequences(table, left_out) for name, table in tables.items()})
    for text in filter(None, (unknown, missing)):
        warnings.warn(f"leaderboard: {text}", stacklevel=2)
    return answer


def ranked(matches: Mapping[str, Table]) -> tuple[pd.DataFrame, str | None]:
    """What `leaderboard` returns, and what to warn of, if anything: the first match table that lacks rows."""
    found = {name: summarized(table) for name, table in matches.items()}
    missing = next((f"{name}: {text}" for name, (_, text) in found.items() if text), None)
    return _ranking({name: summary for name, (summary, _) in found.items()}), missing


def _ranking(summaries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of the leaderboard, from the summary of each submission."""
    # What came back from elsewhere than pandas may no longer say what it was made with.
    made_with = {
        name: {key: summary.attrs[key] for key in MADE_WITH if key in summary.attrs}
        for name, summary in summaries.items()
    }
    said = [rule for rule in made_with.values() if rule]
    if any(rule != said[0] for rule in said):
        listed = "; ".join(
            f"{name} with {', '.join(f'{key} {value}' for key, value in rule.items())}"
            for name, rule in made_with.items()
            if rule
        )
        raise InputError(f"leaderboard: the match tables were not made with the same rule: {listed}")
    rows = pd.concat([summary.assign(name=name) for name, summary in summaries.items()])
    rising = [not METRICS[name].higher_is_better for name in RANKING]
    rows = rows.sort_values(RANKING, ascending=rising, kind="stable", ignore_index=True)
    score = rows[RANKING].fillna(-np.inf)
    new = score.ne(score.shift()).any(axis=1)
    rows.insert(0, "rank", pd.Series(np.arange(1, len(rows) + 1)).where(new).ffill().astype("int64"))
    rows.insert(1, "name", rows.pop("name"))
    rows.attrs = dict(next(iter(summaries.values())).attrs)
    return rows
