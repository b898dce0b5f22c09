"""Why numbers are null: the sentences that tables and warnings have in common, and which of several holds."""

from collections.abc import Iterable
from typing import Any

import numpy as np

# There is no number: at all, in this group, of one of two submissions, or without one of the sequences.
NOT_DEFINED = "the metric is not defined"
NOT_DEFINED_HERE = f"{NOT_DEFINED} here"
NOT_DEFINED_FOR_ONE = f"{NOT_DEFINED} for one of the two"
NOT_DEFINED_WITHOUT_ONE = f"{NOT_DEFINED} without one of the sequences"

# There is a number, and nothing tells how sure it is.
OF_ONE = "only one sequence: nothing tells how others differ"
ALL_DIFFER_ALIKE = "all sequences differ by the same amount, so nothing tells how others do"
UNKNOWN_TAU = "tau is unknown because the table lost its notes"

# There is an interval elsewhere: of all sequences, or of two submissions by themselves.
OF_THE_REST = "a look at one sequence, not a test: the row combined has the interval"
NOT_OF_ALL = "what the metric is made of is not known of all submissions; compare these two by themselves"

# Combined numbers of fewer sequences have no intervals: a single large one decides them.
FEWEST_COMBINED = 20
FEW_COMBINED = f"fewer than {FEWEST_COMBINED} sequences, and a single large one may decide the combined number"


# What intervals of some metrics need; docs/uncertainty.md has the simulations.
FEWER_THAN_NEEDED = "fewer than {} sequences, of which simulated intervals of this metric miss the truth too often"


def first_reasons(reasons: np.ndarray, conditions: Iterable[tuple[np.ndarray, Any]]) -> np.ndarray:
    """The reasons, and where there is none the text of the first condition that holds; None where none does.

    A condition is an array of the shape of the reasons that marks where it holds, and its text, or an array of texts.
    """
    answer = reasons.copy()
    for holds, text in conditions:
        answer = np.where(holds & (answer == None), text, answer)  # noqa: E711, element by element
    return answer
