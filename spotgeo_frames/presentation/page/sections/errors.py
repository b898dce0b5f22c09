"""The section of the kinds of error and their costs."""

from typing import Any

import pandas as pd

from ....analysis.errors.costs import error_costs
from ....tables.schema import BOX, FN, FP, SIDE_PREFIXES, frame_columns
from ...drawing.charts.of_tables import error_costs as chart_of_costs
from ...drawing.display import words
from ...drawing.drawn_tables import together
from ...drawing.wording import kind_texts, title
from ..evaluation import Evaluation
from ..html.blocks import Block, Definitions, Figure, Kept, Section, Text, having, table_of

ABOUT = (
    "The cost of a kind of error is the gain if this kind alone were corrected: its false alarms removed, its misses "
    "found."
)
ABOUT_TRACKS = " A corrected switch or gap keeps the identity from before; tracks are evaluated again for each kind."
NO_TRACK_COSTS = (
    " What the kinds cost in {metric} is left out, because evaluating so many objects again for each kind takes longer "
    "than the rest of this page; error_costs() computes it from what track() or pose() returned."
)
COSTS = ["kind", "n_misses", "n_false_alarms", "f1", "f1_gain", "mse", "mse_gain"]
TRACK_COSTS = [
    "kind",
    "n_misses",
    "n_false_alarms",
    "n_breaks",
    "HOTA",
    "HOTA_gain",
    "MOTA_gain",
    "IDF1_gain",
    "f1_gain",
]
TABLES = {
    "diagnosis": "Each miss and each false alarm with its kind.",
    "error_costs": "The cost of each kind of error: the metrics if this kind alone were corrected.",
}

# The most rows of match tables, of all submissions, up to which tracks are evaluated again for each kind.
MOST_EVALUATED = 100_000


def section(evaluation: Evaluation) -> Section:
    """Makes the section."""
    names, metric = evaluation.names, evaluation.headline[0]
    costs = _costs(evaluation)
    of_tracks = "n_breaks" in costs
    left_out = NO_TRACK_COSTS.format(metric=title(metric)) if evaluation.tracks else ""
    blocks: list[Block] = [Text(ABOUT + (ABOUT_TRACKS if of_tracks else left_out), "note")]
    if drawing := chart_of_costs(costs, names, metric if of_tracks else "f1"):
        blocks.append(Figure("costs", "The cost of each kind of error", drawing))
    whose = [] if len(names) == 1 else ["submission"]
    columns = [name for name in TRACK_COSTS if name != "IDF1_gain" or "IDF1" in evaluation.headline]  # poses have none
    shown = having(costs.assign(kind=costs["kind"].map(words)), [*whose, *(columns if of_tracks else COSTS)])
    blocks += [table_of("costs", "Kinds of error and their cost", shown, {"submission": "submission", "kind": "kind"})]
    blocks.append(Definitions(_meanings(evaluation, costs)))
    tables = {"diagnosis": _diagnosis(evaluation.matches), "error_costs": costs}
    kept = {name: Kept(table, TABLES[name]) for name, table in tables.items()}
    return Section("errors", "Errors", "Errors", blocks, kept)


def _costs(evaluation: Evaluation) -> pd.DataFrame:
    """The costs of the kinds of error of each submission; those of many tracks in F1 only."""
    matches, given = evaluation.matches, evaluation.words
    if evaluation.tracks and len(matches) <= MOST_EVALUATED:
        results = evaluation.results.items()
        of_rule: dict[str, Any] = {"similarity": given.similarity, "distance": given.distance, "tau": given.tau}
        return together({name: error_costs(x, **of_rule) for name, x in results})
    return together({name: error_costs(matches[matches["submission"] == name]) for name in evaluation.names})


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
