"""Charts for notebooks of match tables, counted in bins."""

from typing import Any

import numpy as np
import pandas as pd

from ....matching.noted_rule import distance_rule
from ....matching.rule import Rule
from ....support.errors import InputError
from ....tables.schema import measure_of
from ....tables.table import Table
from ..drawn_tables import check_offsets, count_to_draw, matches_to_draw
from .in_notebooks import MOST_ROWS, notebook_chart, nothing_to_draw, of_submissions
from .place_charts import RESIDUAL_BINS, measures
from .place_charts import recall_map as drawing_of_recall
from .place_charts import residuals as drawing_of_residuals


def recall_map(matches: Table, bins: int) -> Any:
    """The map of recall of a match table."""
    bins = count_to_draw(bins, "bins", "charts")
    drawing = drawing_of_recall(*of_submissions(matches_to_draw(matches, "charts", 4)), bins)
    return notebook_chart(drawing) if drawing else nothing_to_draw("no truths")


def distances(matches: Table, bins: int) -> Any:
    """The histogram of the distances, or of the similarities, of a match table."""
    bins = count_to_draw(bins, "bins", "charts")
    table, names = of_submissions(matches_to_draw(matches, "charts", 4))
    has_any = table[measure_of(table)].notna().any()
    drawing = measures(table, names, _rule(table), bins) if has_any else None
    return notebook_chart(drawing) if drawing else nothing_to_draw("no true positives")


def residuals(matches: Table, tau: float | None) -> Any:
    """The map of predicted minus true coordinates of a match table."""
    table = matches_to_draw(matches, "charts", 4)
    rule = distance_rule(table, ["tau"], tau)
    check_offsets(table, "charts")
    tau, farthest = rule.largest_cost, table["distance"].max()
    if farthest > tau * (1 + 1e-9):  # they would have no bin
        problem = f"tau is {tau:g}, but there are true positives at distances up to {farthest:.4g}"
        raise InputError(f"charts: {problem}; give the tau that the table was matched with")
    table, names = of_submissions(table)
    bins = min(RESIDUAL_BINS, int((MOST_ROWS / (len(names) + 1)) ** 0.5))
    drawing = drawing_of_residuals(table, names, rule, bins - 1 + bins % 2)  # an odd count has a bin around 0
    return notebook_chart(drawing) if drawing else nothing_to_draw("no true positives")


def _rule(table: pd.DataFrame) -> Rule:
    """The rule as far as the notes of a table tell it."""
    if measure_of(table) == "distance":
        return distance_rule(table, needs=())
    notes = table.attrs
    # Where the threshold was lost, the pairs show from where on to draw.
    threshold = notes.get("threshold", float(np.floor(table["similarity"].min() * 20) / 20))
    name, own_distance = str(notes.get("rule", "similarity")), "unit" in notes
    return Rule(name, threshold=threshold, head_sizes=notes.get("head_sizes"), own_distance=own_distance)
