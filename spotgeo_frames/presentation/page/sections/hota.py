"""The section of HOTA, DetA and AssA of tracks and poses over alpha."""

import pandas as pd

from ....tracking.poses import PoseResult
from ...drawing.charts.of_tables import METRICS, hota_curve
from ...drawing.drawn_tables import together
from ...drawing.wording import title
from ..evaluation import Evaluation
from ..html.blocks import Block, Figure, Figures, Kept, Section, Text

ABOUT = (
    "Alpha is the least similarity of a pair, and HOTA is the mean over 19 values of alpha. DetA says how well objects "
    "are found, AssA how well they keep their identity. Where a curve falls at a low alpha already, predictions lie "
    "far from their truths. The interval of HOTA, among the numbers, says how sure the curves are."
)
MEANING = "HOTA and its parts at each alpha, of all sequences{} together."


def section(evaluation: Evaluation) -> Section | None:
    """Makes the section; None where identities do not count."""
    results = evaluation.tracked
    if not results:
        return None
    curve = together({name: _combined(result.curve) for name, result in results.items()})
    blocks: list[Block] = [Text("There is nothing to track.")]
    if curve["HOTA"].notna().any():
        charts = {metric: hota_curve(curve, evaluation.names, metric) for metric in METRICS}
        whole, *parts = (
            Figure(f"curve_{metric}", f"{title(metric)} by alpha", drawing) for metric, drawing in charts.items()
        )
        blocks = [Text(ABOUT, "note"), whole, Figures(parts)]
    meaning = MEANING.format(" and joints" if any(isinstance(x, PoseResult) for x in results.values()) else "")
    return Section("hota", "HOTA by alpha", "HOTA", blocks, {"hota_curve": Kept(curve, meaning)})


def _combined(curve: pd.DataFrame) -> pd.DataFrame:
    """The rows of a curve with the combined numbers: those of all sequences, and of poses of all joints."""
    keys = [name for name in ("sequence", "joint") if name in curve]
    return curve[curve[keys].isna().all(axis=1)].drop(columns=keys)
