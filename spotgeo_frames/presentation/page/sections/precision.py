"""The section of average precision: precision over recall, the numbers by category, and what errors cost in AP."""

import pandas as pd

from ....analysis.errors.costs import error_costs
from ...drawing.charts.of_tables import precision_curve
from ...drawing.display import words
from ...drawing.drawn_tables import together
from ..evaluation import Evaluation
from ..html.blocks import Block, Figure, Kept, Section, Text, having, table_of

ABOUT = (
    "As COCO has it: in each category, detections are taken by their score, the highest first, and each takes the most "
    "similar truth that is free. AP is the mean precision at 101 points of recall, over similarities from 0.50 to 0.95 "
    "and all categories. The frames and the other sections show each frame's best assignment instead. "
    "The interval of AP, among the numbers, says how sure the curve is."
)
ABOUT_COSTS = (
    "The gain of a kind of error is that of AP if this kind alone were corrected, at each of the ten similarities. "
    "Kinds and counts are those of TIDE, at a similarity of 0.5: they follow from how AP takes detections, so they "
    "differ from those of the section on errors."
)
NO_COSTS = (
    "What each kind of error costs in AP is left out, because it takes long for so many objects; error_costs() "
    "computes it from what average_precision() returned."
)
NUMBERS = ["AP", "AP50", "AP75", "APs", "APm", "APl", "AR100", "AR", "n_truth", "n_predicted"]
COSTS = ["kind", "n_misses", "n_false_alarms", "AP", "AP_gain", "AP50_gain"]
TABLES = {
    "precision_curve": "Precision over recall: the mean over categories, at each threshold of the similarity.",
    "precision_by_category": "The numbers of average precision of each category.",
    "precision_costs": "What each kind of error of TIDE costs in average precision, if this kind alone were corrected.",
}

# The most rows of match tables, of all submissions, up to which costs in AP are computed: they would double the time of
# a report of COCO's 5,000 images.
MOST_COSTED = 100_000


def section(evaluation: Evaluation) -> Section | None:
    """Makes the section; None without average precision."""
    results, names = evaluation.precisions, evaluation.names
    if not results:
        return None
    whose = [] if len(names) == 1 else ["submission"]
    curve = together({name: _mean_curve(result.curve) for name, result in results.items()})
    tables = {
        "precision_curve": curve,
        "precision_by_category": together({name: result.categories for name, result in results.items()}),
    }
    blocks: list[Block] = [Text(ABOUT, "note")]
    if drawing := precision_curve(curve, names):
        note = "the mean over categories, from a similarity of 0.50 and of 0.75 on"
        blocks.append(Figure("precision_curve", "Precision over recall,", drawing, note))
    by_category = tables["precision_by_category"]
    if by_category["category"].notna().any():
        filters = {"submission": "submission", "category": "category"}
        shown = having(by_category, [*whose, "category", *NUMBERS])
        blocks.append(table_of("precision-categories", "Average precision by category", shown, filters))
    if len(evaluation.matches) > MOST_COSTED:
        blocks.append(Text(NO_COSTS, "note"))
    else:
        costs = tables["precision_costs"] = together({name: error_costs(result) for name, result in results.items()})
        shown = having(costs.assign(kind=costs["kind"].map(words)), [*whose, *COSTS])
        blocks += [Text(ABOUT_COSTS, "note"), table_of("precision-costs", "Kinds of error and their cost in AP", shown)]
    kept = {name: Kept(table, TABLES[name]) for name, table in tables.items()}
    return Section("precision", "Average precision", "Precision", blocks, kept)


def _mean_curve(curve: pd.DataFrame) -> pd.DataFrame:
    """Precision by threshold and recall, of objects of any area, as the mean over the categories that have truths."""
    of_all = curve[curve["area"] == "all"]
    return of_all.groupby(["threshold", "recall"])["precision"].mean().reset_index()
