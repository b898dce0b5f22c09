"""The ranks of submissions: detections as the spotGEO competition did, tracks and poses by HOTA, AP by AP."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..matching.noted_rule import rule_notes, shared_notes
from ..support.errors import InputError
from ..support.pandas_tables import with_text
from .evaluations import Evaluation, Family, texts_of


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
