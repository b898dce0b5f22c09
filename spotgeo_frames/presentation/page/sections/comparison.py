"""The section that compares submissions: the leaderboard, and the differences between each two."""

import pandas as pd

from ...drawing.charts.comparison_charts import MOST_PAIRED, differences
from ...drawing.metric_text import title
from ..evaluation import COMBINED, CONFIDENCE, MACRO, RESAMPLES, Evaluation, rows_of
from ..html.blocks import Block, Figure, Kept, Section, Text
from ..html.cells import having, table_of

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
TABLES = {
    "leaderboard": "The submissions in the competition's order, or by AP or HOTA.",
    "pairs": "Differences between submissions (`a` minus `b`), with intervals and p-values.",
}


def section(evaluation: Evaluation) -> Section | None:
    """Makes the section; None with one submission."""
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
    tables = {"leaderboard": board.rename(columns={"name": "submission"}), "pairs": pairs}
    kept = {name: Kept(table, TABLES[name]) for name, table in tables.items()}
    return Section("comparison", "Comparison", "Comparison", blocks, kept)
