"""All tables of a report, from truth and submissions: what the page shows and the folder of Parquet holds.

Each table that tells submissions apart has a column `submission`, categorical, best first.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...analysis.comparison import Comparison, compare
from ...analysis.error_kinds import diagnose, error_costs
from ...analysis.mistakes import check
from ...analysis.sweeps import Sweep, sweep
from ...analysis.uncertainty import interval_table
from ...matching.matcher import match_annotations
from ...matching.rule import Rule
from ...scoring.group_sums import summary_sums
from ...scoring.registry import HEADLINE
from ...scoring.summary import summary_of
from ...support.errors import InputError, SliceError
from ...support.progress import progress
from ...tables.annotations import Annotations
from ...tables.selections import binned, check_column

# Score thresholds of the sweep; more are no other picture, and take longer than all the rest.
THRESHOLDS = 60


class Evaluation(NamedTuple):
    """The tables of a report.

    `matches` is the match tables below each other, with the `kind` of each error; `summary` and `intervals` have the
    headline's numbers; `slices` a summary for each column; `costs`, `suspicions`, `sweep` and `compared` are what
    `error_costs`, `check`, `sweep` and `compare` give. `suspicions` is None where the tables are of joints, which
    `check` does not know, `sweep` where no submission has a score for each prediction, and `compared` where there is
    only one submission. `warnings` are texts for `report` to warn of.
    """

    matches: pd.DataFrame
    summary: pd.DataFrame
    intervals: pd.DataFrame
    slices: dict[str, pd.DataFrame]
    costs: pd.DataFrame
    suspicions: pd.DataFrame | None
    sweep: Sweep | None
    compared: Comparison | None
    warnings: list[str]

    @property
    def names(self) -> list[str]:
        """The submissions, best first."""
        return [str(name) for name in self.matches["submission"].cat.categories]


def evaluate(
    truth: Annotations,
    submissions: Mapping[str, Annotations],
    by: Mapping[str, int | None],
    rule: Rule,
) -> Evaluation:
    """The tables of a report on checked Annotations; `by` has columns of the match table, with a number of bins.

    Raises InputError as `match` does, and where there is nothing to evaluate or a column is in no match table.
    """
    matched = {
        name: match_annotations(truth, submission, rule)
        for name, submission in progress(list(submissions.items()), "matching", "submission")
    }
    empty = [name for name, table in matched.items() if not len(table)]
    if empty:
        raise InputError(f"report: {empty[0]}: there is neither a frame nor an object to report on")
    cuts = _cuts(matched, by)
    compared = compare(matched, metrics=HEADLINE) if len(matched) > 1 else None
    names = list(matched) if compared is None else compared.leaderboard["name"].tolist()
    matches = _together({name: diagnose(matched[name]) for name in names})
    suspected = (
        None
        if "joint" in matches
        else _together({name: check(truth, submissions[name], rule.tau, rule.epsilon) for name in names})
    )
    headline, texts = interval_table(matches, "submission", HEADLINE)
    return Evaluation(
        matches=matches,
        summary=summary_of(summary_sums(matches, "submission")),
        intervals=headline,
        slices={
            column: _together(
                {name: summary_of(summary_sums(matched[name], of_name[name])) for name in names if name in of_name}
            )
            for column, of_name in cuts.items()
        },
        costs=_together({name: error_costs(matches[matches["submission"] == name]) for name in names}),
        suspicions=suspected,
        sweep=_swept(truth, {name: submissions[name] for name in names}, rule),
        compared=compared,
        warnings=texts,
    )


def _cuts(matched: Mapping[str, pd.DataFrame], by: Mapping[str, int | None]) -> dict[str, dict[str, pd.Series]]:
    """What to slice the match table of each submission by, for each column; bins are the same for all submissions.

    A submission whose match table has no such column has no slices by it.
    """
    if "submission" in by:
        raise SliceError("submission: every slice is one of a submission already")
    cuts = {}
    for column, bins in by.items():
        having = {name: table[column] for name, table in matched.items() if column in table}
        if not having:
            check_column(next(iter(matched.values())), column)
        values = binned(pd.concat(having).to_frame(column), column, bins)
        cuts[column] = {name: values.loc[name] for name in having}
    return cuts


def _swept(truth: Annotations, submissions: Mapping[str, Annotations], rule: Rule) -> Sweep | None:
    """The sweeps of those submissions whose predictions all have a score, together; None where none is such."""
    scored = {
        name: side
        for name, side in submissions.items()
        if "score" in side.objects and len(side.objects) and side.objects["score"].notna().all()
    }
    found = {}
    for name in progress(list(scored), "sweeping", "submission"):
        scores = np.sort(scored[name].objects["score"].to_numpy(np.float64))
        ranks = np.linspace(0, len(scores) - 1, THRESHOLDS).astype(np.int64)
        found[name] = sweep(truth, scored[name], np.unique(scores[ranks]).tolist(), rule.tau, rule.epsilon)
    if not found:
        return None
    return Sweep(*(_together({name: one[part] for name, one in found.items()}) for part in range(2)))


def _together(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The tables below each other, with the submission as their first column."""
    names = list(tables)
    # Identities may be numbers in one submission and text in another.
    mixed = [
        column
        for column in dict.fromkeys(str(column) for table in tables.values() for column in table)
        if len({table[column].dtype for table in tables.values() if column in table}) > 1
    ]
    parts = [
        table.assign(**{column: table[column].astype("str") for column in mixed if column in table})
        for table in tables.values()
    ]
    answer = pd.concat(parts, ignore_index=True)
    codes = np.arange(len(names)).repeat([len(part) for part in parts])
    named = pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype="str"))
    answer.insert(0, "submission", pd.Series(named, index=answer.index))
    answer.attrs = dict(next(iter(tables.values())).attrs)
    return answer
