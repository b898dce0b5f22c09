"""The sections that compare submissions: the leaderboard and differences, and what changed between two."""

import pandas as pd

from ....analysis.errors.differences import changes
from ...drawing.charts.of_tables import MOST_PAIRED, differences
from ...drawing.wording import title
from ..evaluation import COMBINED, CONFIDENCE, MACRO, RESAMPLES, Evaluation, matches_of_name, rows_of
from ..folder import kept
from ..html.blocks import Block, Figure, Section, Text, having, table_of

BOARD = ["rank", "name", "AP", "AP_low", "AP_high", "AP50", "AP75"]
BOARD += ["HOTA", "HOTA_low", "HOTA_high", "MOTA", "IDF1", "mota"]
BOARD += ["f1", "f1_low", "f1_high", "kelvins_mse", "mse", "loc_a"]
BOARD += ["apart_from_next"]
BOUNDS = [name for name in BOARD if name.endswith(("_low", "_high"))]  # left out where there are no intervals
OF_ALL = "first minus second, with the 95% interval of each pair by itself"
OF_NEIGHBOURS = "each submission minus the next one on the leaderboard, with the 95% interval of each pair by itself"
ABOUT = (
    "A difference is the value of the first submission minus that of the second; differences of shares are in "
    "percentage points. Intervals and p-values come from two tests, of which the more careful one counts: one swaps "
    "whole sequences between the two ({resamples:,} times, or in all ways if those are fewer), the other leaves out "
    "one sequence at a time. Adjusted p-values are over all pairs and metrics together. “Differs from the next” is yes "
    "where the adjusted p-value of {metric} is below 0.05; otherwise the two are not shown to differ."
)
ABOUT_MACRO = " “Macro” is the mean over sequences, by leaving out one at a time."
ABOUT_CHANGES = (
    "Two false alarms are the same if they match each other by the rule of the evaluation, as if one of them were a "
    "truth."
)


def comparison(evaluation: Evaluation) -> Section | None:
    """Makes the section of the leaderboard and of differences; None with one submission."""
    if evaluation.compared is None:
        return None
    metric = evaluation.headline[0]
    board, pairs = evaluation.compared
    known = board.drop(columns=[name for name in BOUNDS if name in board and board[name].isna().all()])
    blocks: list[Block] = [table_of("leaderboard", "Leaderboard", having(known, BOARD))]
    blocks += [Text(f"No interval in the leaderboard: {text}.", "note") for text in board["reason"].dropna().unique()]
    if drawing := differences(rows_of(pairs, COMBINED), evaluation.names, metric, CONFIDENCE):
        note = OF_ALL if len(evaluation.names) <= MOST_PAIRED else OF_NEIGHBOURS
        blocks.append(Figure("differences", f"Differences of {title(metric)},", drawing, note))
    shown = pd.concat([rows_of(pairs, of) for of in (COMBINED, MACRO)])
    shown = shown.drop(columns="reason") if shown["reason"].isna().all() else shown
    blocks.append(table_of("pairs", "Differences between submissions", shown))
    blocks += [Text(f"Caution: {text}.", "note") for text in evaluation.about_pairs]
    about = ABOUT.format(resamples=RESAMPLES, metric=title(metric)) + (ABOUT_MACRO if "aggregate" in shown else "")
    blocks.append(Text(about, "note"))
    tables = kept({"leaderboard": board.rename(columns={"name": "submission"}), "pairs": pairs})
    return Section("comparison", "Comparison", "Comparison", blocks, tables)


def changed(evaluation: Evaluation) -> Section | None:
    """Makes the section of the truths that only one found, and of their false alarms; None with one submission."""
    first, *others = evaluation.names
    if not others:
        return None
    counts = pd.concat([_counts(evaluation, first, other) for other in others], ignore_index=True)
    table = table_of("changes", f"Changes from {first}", counts, ["change"])
    blocks: list[Block] = [table, Text(ABOUT_CHANGES, "note")]
    return Section("changes", "What changed", "Changes", blocks, kept({"changes": counts}))


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
