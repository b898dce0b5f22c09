"""The sections of charts: places of objects, and metrics over recall, over alpha and over thresholds of the score."""

import warnings

import numpy as np
import pandas as pd

from ....analysis.thresholds import Sweep, sweep
from ....support import work
from ....tracking import PoseResult
from ...drawing import drawn_tables, wording
from ...drawing.charts import of_places, of_tables, short_names
from ..evaluation import Evaluation, has_scores, matches_of_name
from ..folder import kept
from ..html.blocks import Block, Figure, Figures, Section, Text, table_of

ABOUT_PRECISION = (
    "As COCO has it: in each category, detections are taken by their score, the highest first, and each takes the most "
    "similar truth that is free. AP is the mean precision at 101 points of recall, over similarities from 0.50 to 0.95 "
    "and all categories. The frames and the other sections show each frame's best assignment instead. "
    "The interval of AP, among the numbers, says how sure the curve is."
)
ABOUT_HOTA = (
    "Alpha is the least similarity of a pair, and HOTA is the mean over 19 values of alpha. DetA says how well objects "
    "are found, AssA how well they keep their identity. Where a curve falls at a low alpha already, predictions lie "
    "far from their truths. The interval of HOTA, among the numbers, says how sure the curves are."
)
ABOUT_THRESHOLDS = (
    "The best threshold was chosen on the same data that its {metric} is computed from, so that one is too good. On "
    "new data expect the cross-validated {metric}: there, other sequences chose the threshold of each sequence. Up to "
    "{n_thresholds} thresholds are tried."
)

# The count of score thresholds, and of those of tracks, which take longer at each; more would look the same and take
# longer than the rest of the report.
THRESHOLDS, TRACK_THRESHOLDS = 60, 20


def precision(evaluation: Evaluation) -> Section | None:
    """Makes the section of average precision, with its curve; None without average precision."""
    results = evaluation.precisions
    if not results:
        return None
    curve = drawn_tables.together({name: _mean_curve(result.curve) for name, result in results.items()})
    by_category = drawn_tables.together({name: result.categories for name, result in results.items()})
    tables = {"precision_curve": curve, "precision_by_category": by_category}
    blocks: list[Block] = [Text(ABOUT_PRECISION, "note")]
    if drawing := of_tables.precision_curve(curve, evaluation.names):
        note = "the mean over categories, from a similarity of 0.50 and of 0.75 on"
        blocks.append(Figure("precision_curve", "Precision over recall,", drawing, note))
    return Section("precision", "Average precision", "Precision", blocks, kept(tables))


def _mean_curve(curve: pd.DataFrame) -> pd.DataFrame:
    """Precision by threshold and recall, of objects of any area, as the mean over the categories that have truths."""
    of_all = curve[curve["area"] == "all"]
    return of_all.groupby(["threshold", "recall"])["precision"].mean().reset_index()


def hota(evaluation: Evaluation) -> Section | None:
    """Makes the section of HOTA, DetA and AssA over alpha; None where identities do not count."""
    results = evaluation.tracked
    if not results:
        return None
    curve = drawn_tables.together({name: _combined(result.curve) for name, result in results.items()})
    blocks: list[Block] = [Text("There is nothing to track.")]
    if curve["HOTA"].notna().any():
        charts = {metric: of_tables.hota_curve(curve, evaluation.names, metric) for metric in of_tables.METRICS}
        whole, *parts = (
            Figure(f"curve_{metric}", f"{wording.title(metric)} by alpha", drawing)
            for metric, drawing in charts.items()
        )
        blocks = [Text(ABOUT_HOTA, "note"), whole, Figures(parts)]
    joints = " and joints" if any(isinstance(x, PoseResult) for x in results.values()) else ""
    return Section("hota", "HOTA by alpha", "HOTA", blocks, kept({"hota_curve": curve}, joints))


def _combined(curve: pd.DataFrame) -> pd.DataFrame:
    """The rows of a curve with the combined numbers: those of all sequences, and of poses of all joints."""
    keys = [name for name in ("sequence", "joint") if name in curve]
    return curve[curve[keys].isna().all(axis=1)].drop(columns=keys)


def places(evaluation: Evaluation) -> Section:
    """Makes the section of where objects are found, and of how near to their truths."""
    matches, names, rule = evaluation.matches, evaluation.names, evaluation.rule
    figures = []
    if drawing := of_places.recall_map(matches, names):
        note = "in cells that have truths; other cells are grey"
        figures.append(Figure("recall_map", "Recall by place,", drawing, note))
    hits = of_places.measures(matches, names, rule)
    if hits:
        figures.append(Figure("measures", f"True positives by their {wording.measure_name(rule)}", hits))
    if hits and rule.by_distance and (drawing := of_places.residuals(matches, names, rule)):
        note = f"with the mean as a cross{'' if rule.image_tau is None else ' and tau as a circle'}"
        figures.append(Figure("residuals", "Where predictions lie around their truths,", drawing, note))
    picks = short_names(names) if hits and len(names) > 1 else []
    blocks: list[Block] = [Figures(figures, picks)]
    if not hits:
        blocks.append(Text("There are no true positives to measure."))
    return Section("places", f"Places and {wording.measure_name(rule)}", "Places", blocks)


def thresholds(evaluation: Evaluation) -> Section | None:
    """Makes the section of the metrics at each threshold of the score, and of the best one.

    None if no submission has a score for each prediction, or all its scores are the same.
    """
    swept = _swept(evaluation)
    if swept is None:
        return None
    curve, best = swept
    metric, names = "HOTA" if evaluation.tracks else "f1", evaluation.names
    name, note = wording.title(metric), "matched anew at each; a dot marks the best"
    drawing = of_tables.by_threshold(curve, best, names, metric)
    figures = [
        Figure("by_threshold", f"{name} by threshold,", drawing, note),
        Figure("precision_by_recall", "Precision by recall", of_tables.by_recall(curve, names)),
    ]
    shown = best if len(names) > 1 else best.drop(columns="submission")
    n_thresholds = int(curve["submission"].value_counts().max())
    about = Text(ABOUT_THRESHOLDS.format(metric=name, n_thresholds=n_thresholds), "note")
    blocks: list[Block] = [Figures(figures), table_of("sweep", "The best threshold of the score", shown), about]
    return Section("thresholds", "Score thresholds", "Thresholds", blocks, kept({"sweep": curve, "sweep_best": best}))


def _swept(evaluation: Evaluation) -> Sweep | None:
    """Sweeps the submissions that have scores; None if there is none."""
    found, most = {}, TRACK_THRESHOLDS if evaluation.tracks else THRESHOLDS
    scored = {
        name: side
        for name, side in evaluation.submissions.items()
        if has_scores(side, matches_of_name(evaluation, name)) and len(side.objects["score"].unique()) > 1
    }
    for name in work.progress(list(scored), "sweeping", "submission"):
        scores = np.sort(scored[name].objects["score"].to_numpy(np.float64))
        ranks = np.linspace(0, len(scores) - 1, most).astype(np.int64)
        chosen = np.unique(scores[ranks]).tolist()
        with warnings.catch_warnings(action="ignore"):  # those of few sequences, as the intervals have them
            options = evaluation.options._asdict()
            found[name] = sweep(evaluation.truth, scored[name], chosen, **options, tracks=evaluation.tracks)
    if not found:
        return None
    curves, best = (drawn_tables.together({name: tables[part] for name, tables in found.items()}) for part in (0, 1))
    return Sweep(curves, best)
