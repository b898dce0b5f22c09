"""The first screen of the page: what to know at a glance, before anything is scrolled.

A sentence says who is better, at what, by how much and how sure; pictures show the numbers with their intervals, the
trade between the two sides of the metric that ranks, what each kind of error costs, and where objects are found; and
three frames lead to what went wrong. Its numbers are those of the sections below.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ....scoring import registry
from ...drawing import display, shortened, wording
from ..evaluation import Evaluation
from ..html.blocks import Look, Section, Viewer
from ..html.marks import MOST_SERIES, Dot, Picture
from .first_pictures import costs, numbers, trade, where
from .verdict import Sentence, evidence_of, more, sentence

# The longest name of a submission in the legend, in characters.
LONGEST_NAME = 40


class FirstScreen(NamedTuple):
    """The first screen.

    Attributes
    ----------
    about
        What was evaluated, and how.
    sentence, more
        Who is better, with the position of each submission that is named; and what that leaves open.
    names
        The submissions whose colours and shapes the pictures have, where there are several.
    pictures
        The pictures, from left to right.
    looks
        The frames to look at first.
    """

    about: str
    sentence: Sentence
    more: str
    names: Sequence[tuple[str, str]]
    pictures: Sequence[Picture]
    looks: Sequence[Look]


def first_screen(evaluation: Evaluation, sections: Sequence[Section]) -> FirstScreen:
    """Makes the first screen, of the tables and frames that the sections have."""
    tables = {name: table for section in sections for name, table in section.tables.items()}
    evidence = evidence_of(evaluation)
    names = evaluation.names[:MOST_SERIES]
    made = [
        numbers(evidence, names),
        trade(evidence, names, tables),
        costs(evaluation, names, tables),
        where(evaluation, names),
    ]
    shown = [shortened(name, LONGEST_NAME) for name in names] if len(names) > 1 else []
    legend = [(name, Dot(7, 7, position).d) for position, name in enumerate(shown)]
    return FirstScreen(
        about(evaluation),
        sentence(evaluation, evidence),
        more(evaluation, evidence),
        legend,
        [picture for picture in made if picture is not None],
        [look for section in sections for block in section.blocks if isinstance(block, Viewer) for look in block.looks],
    )


def about(evaluation: Evaluation) -> str:
    """On how much data submissions were evaluated, and by which rule."""
    shown = display.texts(evaluation.summary).to_dict("records")[0]
    counts = ("n_sequences", "n_frames", "n_truth")
    labels = {name: registry.METRICS[name].label for name in counts}
    data = ", ".join(
        f"{shown[of]} {name.removesuffix('s') if shown[of] == '1' else name}" for of, name in labels.items()
    )
    cut = f"; pictures show the best {MOST_SERIES}" if len(evaluation.names) > MOST_SERIES else ""
    return f"{data}; {wording.rule_text(evaluation.rule)}{cut}"
