"""Labels that may be wrong, those that look most so first."""

import warnings

import pandas as pd

from ....analysis.errors import label_suspects
from ....support import InputError
from ...drawing import display
from ..evaluation import Evaluation, Ranked, matches_of_name
from ..html.blocks import Block, Text, having, table_of

ABOUT_SUSPECTS = (
    "What detectors and labels disagree about is mostly the detectors' fault. These labels are suspect, because the "
    "disagreement is of a kind that wrong labels make: unlabelled (a confident detection where there is no label), "
    "other class (one on a label of another class), twice (two labels on one object), never found (a label with no "
    "detection near it). A cell leads to the frame."
)
CUT = "Suspect labels: {shown:,} of {n:,}, as many of each suspicion as there is room for"
NO_SUSPECTS = "No label is suspect."
TOO_MANY = "Suspect labels are left out, because it takes long for so many objects; label_suspects() lists them."
SHOWN = ["suspicion", "sequence", "frame", "submission", "score", "look_at"]

# The most rows of match tables, of all submissions, in which a page looks for suspects, and how many it lists.
MOST_LOOKED_AT, MOST_SUSPECTS = 200_000, 40


def suspects(evaluation: Evaluation) -> tuple[list[Block], dict[str, pd.DataFrame]]:
    """The table of suspect labels, and all of them for the folder; texts where there are none."""
    if len(evaluation.matches) > MOST_LOOKED_AT:
        return [Text(TOO_MANY, "note")], {}
    asked: dict[str, Ranked] = dict(evaluation.precisions)
    asked = asked or {name: matches_of_name(evaluation, name) for name in evaluation.names}
    rule = {} if evaluation.precisions else evaluation.rule.callers
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = label_suspects(asked, **rule)
        except (InputError, ValueError) as error:  # joints one by one, or a score that is null
            return [Text(f"Suspect labels are not listed: {error}.", "note")], {}
    told: list[Block] = [Text(f"{str(of.message).removeprefix('label_suspects: ')}.", "note") for of in caught]
    tables = {"label_suspects": found}
    if not len(found):
        return [Text(NO_SUSPECTS), *told], tables
    # The first of each suspicion, which come one suspicion after another.
    rank = found.groupby("suspicion", observed=True, sort=False).cumcount()
    shown = found[rank < max(MOST_SUSPECTS // found["suspicion"].nunique(), 1)]
    named = shown.assign(suspicion=shown["suspicion"].astype("str").map(display.words))
    columns = [name for name in SHOWN if name != "submission" or evaluation.whose]
    caption = "Suspect labels" if len(shown) == len(found) else CUT.format(shown=len(shown), n=len(found))
    made = table_of("label-suspects", caption, having(named, columns), ["sequence", "frame"])
    return [Text(ABOUT_SUSPECTS, "note"), *told, made], tables
