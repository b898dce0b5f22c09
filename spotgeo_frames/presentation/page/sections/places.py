"""The section of where objects are found, and of how near to their truths."""

from ...drawing.charts.of_places import measures, recall_map, residuals
from ...drawing.charts.parts import short_names
from ...drawing.wording import measure_name
from ..evaluation import Evaluation
from ..html.blocks import Block, Figure, Figures, Section, Text


def section(evaluation: Evaluation) -> Section:
    """Makes the section."""
    matches, names, rule = evaluation.matches, evaluation.names, evaluation.rule
    figures = []
    if drawing := recall_map(matches, names):
        note = "in cells that have truths; other cells are grey"
        figures.append(Figure("recall_map", "Recall by place,", drawing, note))
    hits = measures(matches, names, rule)
    if hits:
        figures.append(Figure("measures", f"True positives by their {measure_name(rule)}", hits))
    if hits and rule.by_distance and (drawing := residuals(matches, names, rule)):
        note = f"with the mean as a cross{'' if rule.own_distance else ' and tau as a circle'}"
        figures.append(Figure("residuals", "Where predictions lie around their truths,", drawing, note))
    picks = short_names(names) if hits and len(names) > 1 else []
    blocks: list[Block] = [Figures(figures, picks)]
    if not hits:
        blocks.append(Text("There are no true positives to measure."))
    return Section("places", f"Places and {measure_name(rule)}", "Places", blocks)
