"""leaderboard(): submissions in the competition's order."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..support.errors import InputError
from ..tables.arrow import Table
from ..tables.schema import check_matches
from ..tables.selections import excluded_sequences, without_sequences
from .summary import summarize

# What tells match tables apart that cannot be compared.
MADE_WITH = ["rule", "tau", "epsilon", "threshold", "identity"]


def leaderboard(matches: Mapping[str, Table], exclude: Iterable[int] | Iterable[str] | None = None) -> pd.DataFrame:
    """Submissions in the competition's order: highest f1, then lowest kelvins_mse.

    `matches` maps each name to its match table. Returns one row a submission: `rank` (the same for equals; those
    without an f1, having nothing to count, come last), `name`, and the columns of `summarize`. Raises InputError where
    there is no match table, or they were made with different rules, tau, epsilon or thresholds.
    """
    if not matches:
        raise InputError("leaderboard: there are no match tables")
    tables = {name: check_matches(table) for name, table in matches.items()}
    left_out = excluded_sequences(exclude, tables.values())
    summaries = {name: summarize(without_sequences(table, left_out)) for name, table in tables.items()}
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
    rows = rows.sort_values(["f1", "kelvins_mse"], ascending=[False, True], kind="stable", ignore_index=True)
    score = rows[["f1", "kelvins_mse"]].fillna(-np.inf)
    new = score.ne(score.shift()).any(axis=1)
    rows.insert(0, "rank", pd.Series(np.arange(1, len(rows) + 1)).where(new).ffill().astype("int64"))
    rows.insert(1, "name", rows.pop("name"))
    rows.attrs = dict(next(iter(summaries.values())).attrs)
    return rows
