"""The section of suspected mistakes in a submission, such as swapped axes."""

from ....analysis.mistakes.checking import check
from ....support.labels import DASH
from ...drawing.display import texts
from ...drawing.drawn_tables import together
from ..evaluation import Evaluation
from ..html.blocks import Items, Kept, Section, Text

NOTHING = (
    "Nothing is suspicious. Axes, numbering, scale, offset, repetitions, caps, and the forms of boxes and the names of "
    "joints and classes were checked."
)
TABLES = {"suspicions": "Common mistakes that a submission seems to have; no rows where nothing is suspicious."}


def section(evaluation: Evaluation) -> Section:
    """Makes the section."""
    words = evaluation.words._asdict()
    found = together(
        {
            name: check(evaluation.truth, side, **words, tracks=evaluation.tracks)
            for name, side in evaluation.submissions.items()
        }
    )
    items = []
    for row in texts(found).to_dict("records"):
        whose = f"{row['submission']}: " if len(evaluation.names) > 1 else ""
        corrected = "" if row["f1_corrected"] == DASH else f", {row['f1_corrected']} if corrected"
        items.append((f"{whose}{row['suspicion']}", f" (F1 {row['f1']}{corrected}): {row['advice']}"))
    block = Items(items) if items else Text(NOTHING)
    return Section("suspicions", "Suspicions", "Suspicions", [block], {"suspicions": Kept(found, TABLES["suspicions"])})
