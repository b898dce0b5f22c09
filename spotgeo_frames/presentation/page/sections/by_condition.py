"""The section of tracks and poses by condition: how good each submission is where all other truths are distractors."""

import pandas as pd

from ....tracking import conditions
from ...drawing import drawn_tables, wording
from ..evaluation import Evaluation, Ranked, intervals_of
from ..folder import OF_CONDITIONS, OF_TRACKS, kept_slices
from ..html.blocks import Block, Section, Text, having, table_of
from .multiples import METRICS_OF_TRACKS, small_multiples

ABOUT = (
    "Each slice is evaluated by itself. In the slice of a value of truths, all other truths are distractors: they are "
    "matched with the rest, and leave with the predictions that they took, as MOTChallenge's kit has it."
)
SHARED = "Every slice of truths has the same predictions that no truth took, in its frames: {counts}."
SHOWN = [*METRICS_OF_TRACKS, "n_sequences"]


def by_condition(evaluation: Evaluation) -> Section | None:
    """Makes the section of the metrics of tracks by condition; None where no column that was asked for is one."""
    if not evaluation.by_condition and not evaluation.no_condition:
        return None
    blocks, tables = list[Block]([Text(ABOUT, "note")]), dict[tuple[str, ...], pd.DataFrame]()
    counts = dict[str, int]()
    for columns, results in evaluation.by_condition.items():
        intervals = {name: _intervals(result, columns) for name, result in results.items()}
        table = tables[columns] = drawn_tables.together(intervals)
        name = "*".join(columns)
        blocks += small_multiples(f"tracks-{len(tables)}", table, METRICS_OF_TRACKS, evaluation.names, columns)
        wide = table.pivot_table("estimate", ["submission", *columns], "metric", observed=True, dropna=False)
        wide = wide[wide.notna().any(axis=1)].reset_index()
        shown = having(wide, [*evaluation.whose, *columns, *SHOWN])
        blocks.append(table_of(f"tracks-by-{len(tables)}", f"Tracks by {name}", shown, ["submission"]))
        found = {of: result.summary.attrs.get(conditions.NEAR_NO_TRUTH) for of, result in results.items()}
        counts |= {of: count for of, count in found.items() if count is not None}
    if counts:
        told = ", ".join(f"{count:,} of {of}" if len(counts) > 1 else f"{count:,}" for of, count in counts.items())
        blocks.insert(1, Text(SHARED.format(counts=told), "note"))
    blocks += [Text(f"Left out here: {text}.", "note") for text in evaluation.no_condition]
    return Section(
        "conditions", "Tracks by condition", "Conditions", blocks, kept_slices(tables, OF_CONDITIONS, OF_TRACKS)
    )


def _intervals(result: Ranked, columns: tuple[str, ...]) -> pd.DataFrame:
    """The combined headline metrics of each slice with their intervals."""
    metrics = [name for name in wording.RESULT_HEADLINE if name in result.summary]
    metrics = list(dict.fromkeys([*metrics, *(name for name in SHOWN if name in result.summary)]))
    return intervals_of(result, [*columns], metrics)
