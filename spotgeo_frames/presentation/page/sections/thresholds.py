"""The section of thresholds of the score: the metrics at each, and the best."""

import warnings

import numpy as np

from ....analysis.thresholds.sweeps import Sweep, sweep
from ....support.progress import progress
from ...drawing.charts.of_tables import by_recall, by_threshold
from ...drawing.drawn_tables import together
from ...drawing.wording import title
from ..evaluation import Evaluation, has_scores, matches_of_name
from ..html.blocks import Block, Figure, Figures, Kept, Section, Text, table_of

# The count of score thresholds, and of those of tracks, which take longer at each; more would look the same and take
# longer than the rest of the report.
THRESHOLDS, TRACK_THRESHOLDS = 60, 20

ABOUT = (
    "The best threshold was chosen on the same data that its {metric} is computed from, so that one is too good. On "
    "new data expect the cross-validated {metric}: there, other sequences chose the threshold of each sequence. Up to "
    "{n_thresholds} thresholds are tried."
)
TABLES = {
    "sweep": "The metrics at score thresholds, matched anew at each.",
    "sweep_best": "The best score threshold, and what to expect of it on new sequences, with its interval.",
}


def section(evaluation: Evaluation) -> Section | None:
    """Makes the section; None if no submission has a score for each prediction, or all its scores are the same."""
    swept = _swept(evaluation)
    if swept is None:
        return None
    curve, best = swept
    metric, names = "HOTA" if evaluation.tracks else "f1", evaluation.names
    figures = Figures(
        [
            Figure(
                "by_threshold",
                f"{title(metric)} by threshold,",
                by_threshold(curve, best, names, metric),
                "matched anew at each; a dot marks the best",
            ),
            Figure("precision_by_recall", "Precision by recall", by_recall(curve, names)),
        ]
    )
    shown = best if len(names) > 1 else best.drop(columns="submission")
    n_thresholds = int(curve["submission"].value_counts().max())
    about = Text(ABOUT.format(metric=title(metric), n_thresholds=n_thresholds), "note")
    kept = {name: Kept(table, TABLES[name]) for name, table in (("sweep", curve), ("sweep_best", best))}
    blocks: list[Block] = [figures, table_of("sweep", "The best threshold of the score", shown), about]
    return Section("thresholds", "Score thresholds", "Thresholds", blocks, kept)


def _swept(evaluation: Evaluation) -> Sweep | None:
    """Sweeps the submissions that have scores; None if there is none."""
    found, most = {}, TRACK_THRESHOLDS if evaluation.tracks else THRESHOLDS
    scored = {
        name: side
        for name, side in evaluation.submissions.items()
        if has_scores(side, matches_of_name(evaluation, name)) and side.objects["score"].nunique() > 1
    }
    for name in progress(list(scored), "sweeping", "submission"):
        scores = np.sort(scored[name].objects["score"].to_numpy(np.float64))
        ranks = np.linspace(0, len(scores) - 1, most).astype(np.int64)
        chosen = np.unique(scores[ranks]).tolist()
        with warnings.catch_warnings(action="ignore"):  # those of few sequences, as the intervals have them
            words = evaluation.words._asdict()
            found[name] = sweep(evaluation.truth, scored[name], chosen, **words, tracks=evaluation.tracks)
    if not found:
        return None
    curves, best = (together({name: tables[part] for name, tables in found.items()}) for part in (0, 1))
    return Sweep(curves, best)
