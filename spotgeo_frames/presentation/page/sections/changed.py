"""The section of what changed between two submissions: the truths that only one found, and their false alarms."""

import pandas as pd

from ....analysis.errors.differences import changes
from ..evaluation import Evaluation, matches_of_name
from ..html.blocks import Block, Kept, Section, Text, table_of

CAPTION = "Changes from {}"
ABOUT = (
    "Two false alarms are the same if they match each other by the rule of the evaluation, as if one of them were a "
    "truth."
)
TABLES = {"changes": "How many truths and false alarms change from the best submission to each other one."}


def section(evaluation: Evaluation) -> Section | None:
    """Makes the section; None with one submission."""
    first, *others = evaluation.names
    if not others:
        return None
    counts = pd.concat([_counts(evaluation, first, other) for other in others], ignore_index=True)
    table = table_of("changes", CAPTION.format(first), counts, {"change": "change"})
    blocks: list[Block] = [table, Text(ABOUT, "note")]
    return Section("changes", "What changed", "Changes", blocks, {"changes": Kept(counts, TABLES["changes"])})


def _counts(evaluation: Evaluation, before: str, after: str) -> pd.DataFrame:
    """How many truths and false alarms change between two submissions, a row for each change."""
    tables = [matches_of_name(evaluation, name) for name in (before, after)]
    changed = changes(*tables, **evaluation.rule.callers)["change"].value_counts()
    outcomes = tables[0]["outcome"].value_counts()
    lost, gained, gone, new = (changed[name] for name in ("lost", "gained", "false alarm gone", "new false alarm"))
    counts = {
        "found → missed": lost,
        "missed → found": gained,
        "found → found": outcomes["TP"] - lost,
        "missed → missed": outcomes["FN"] - gained,
        "false alarm gone": gone,
        "new false alarm": new,
        "same false alarm": outcomes["FP"] - gone,
    }
    # The page's script, match_rows.js, filters changes of truths by the same words.
    named = [f"{before} → {after}: {change}" for change in counts]
    return pd.DataFrame({"change": named, "count": [int(count) for count in counts.values()]})
