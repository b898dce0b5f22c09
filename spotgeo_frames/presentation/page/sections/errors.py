"""The section of the kinds of error and their costs."""

import pandas as pd

from ....analysis.costs import error_costs
from ....tables.schema import BOX, FN, FP, SIDE_PREFIXES, frame_columns
from ...charts.error_charts import error_costs as chart_of_costs
from ...display import words
from ...rule_texts import kind_texts
from ...submissions_together import together
from ..evaluation import Evaluation
from ..html.blocks import Block, Definitions, Figure, Kept, Section, Text
from ..html.cells import having, table_of

ABOUT = (
    "The cost of a kind of error is the gain if this kind alone were corrected: its false alarms removed, its misses "
    "found."
)
COSTS = ["kind", "n_misses", "n_false_alarms", "f1", "f1_gain", "mse", "mse_gain"]
TABLES = {
    "diagnosis": "Each miss and each false alarm with its kind.",
    "error_costs": "The cost of each kind of error: the metrics if this kind alone were corrected.",
}


def section(evaluation: Evaluation) -> Section:
    """Makes the section."""
    matches, names = evaluation.matches, evaluation.names
    costs = together({name: error_costs(matches[matches["submission"] == name]) for name in names})
    blocks: list[Block] = [Text(ABOUT, "note")]
    if spec := chart_of_costs(costs, names):
        blocks.append(Figure("costs", "The cost of each kind of error", spec))
    whose = [] if len(names) == 1 else ["submission"]
    shown = having(costs.assign(kind=costs["kind"].map(words)), [*whose, *COSTS])
    blocks += [table_of("costs", "Kinds of error and their cost", shown, {"submission": "submission", "kind": "kind"})]
    blocks.append(Definitions(_meanings(evaluation, costs)))
    tables = {"diagnosis": _diagnosis(matches), "error_costs": costs}
    kept = {name: Kept(table, TABLES[name]) for name, table in tables.items()}
    return Section("errors", "Errors", "Errors", blocks, kept)


def _meanings(evaluation: Evaluation, costs: pd.DataFrame) -> list[tuple[str, str]]:
    """The kinds of error that the report tells of, in words, with what they mean."""
    notes = evaluation.matches.attrs
    farthest = notes["reach"] if "reach" in notes else notes["least_similarity"]
    kinds = costs["kind"].drop_duplicates().tolist()
    return [(words(kind), text) for kind, text in kind_texts(kinds, evaluation.rule, farthest).items()]


def _diagnosis(matches: pd.DataFrame) -> pd.DataFrame:
    """The errors with their kinds: which, where, and what else there was."""
    wrong = matches[matches["outcome"].cat.codes.isin([FN, FP])]
    measures = [str(column) for column in matches if str(column).startswith("pair_")]
    columns = ["submission", *frame_columns(matches), "outcome", "kind", *measures, "truth_object", "predicted_object"]
    geometry = [f"{side}{name}" for side in SIDE_PREFIXES for name in BOX]
    return wrong[columns + [name for name in geometry if name in wrong]]
