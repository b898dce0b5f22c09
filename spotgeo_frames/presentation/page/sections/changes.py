"""The section of what changed between two submissions: the truths that only one found, and their false alarms."""

import pandas as pd

from ....analysis.differences import changes
from ..evaluation import Evaluation, matches_of_name
from ..html.blocks import Block, Kept, Section, Text
from ..html.cells import table_of

ABOUT = (
    "Two false alarms are the same if they match each other by the rule of the evaluation, as if one of them were a "
    "truth."
)
TABLES = {
    "changed_truths": "How many truths two submissions found or missed, the best submission and each other one.",
    "changed_false_alarms": "How many false alarms two submissions share, the best submission and each other one.",
}


def section(evaluation: Evaluation) -> Section | None:
    """Makes the section; None with one submission."""
    first, *others = evaluation.names
    if not others:
        return None
    found = [_counts(evaluation, first, other) for other in others]
    truths, alarms = (pd.concat(tables, ignore_index=True) for tables in zip(*found, strict=True))
    blocks: list[Block] = [
        table_of("changed-truths", "Truths, from the first submission to another", truths, {"change": "change"}),
        table_of("changed-alarms", "False alarms, from the first submission to another", alarms),
        Text(ABOUT, "note"),
    ]
    kept = {"changed_truths": truths, "changed_false_alarms": alarms}
    tables = {name: Kept(table, TABLES[name]) for name, table in kept.items()}
    return Section("changes", f"What changes from {first}", "Changes", blocks, tables)


def _counts(evaluation: Evaluation, before: str, after: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How the truths and the false alarms of two submissions differ, a row each change."""
    tables = [matches_of_name(evaluation, name) for name in (before, after)]
    changed = changes(*tables, similarity=evaluation.rule.measure)["change"].value_counts()
    before_all = tables[0]["outcome"].value_counts()
    lost, gained, gone = (changed[name] for name in ("lost", "gained", "false alarm gone"))
    truths = {
        "found → missed": lost,
        "missed → found": gained,
        "found → found": before_all["TP"] - lost,
        "missed → missed": before_all["FN"] - gained,
    }
    false = {"gone": gone, "new": changed["new false alarm"], "the same": before_all["FP"] - gone}
    return _rows(before, after, truths, "n_truth"), _rows(before, after, false, "n_false_alarms")


def _rows(before: str, after: str, counts: dict[str, int], name: str) -> pd.DataFrame:
    """A row for each change, named as the viewer names it, with its count in a column of this name."""
    changed = [f"{before} → {after}: {change}" for change in counts]
    return pd.DataFrame({"change": changed, name: [int(count) for count in counts.values()]})
