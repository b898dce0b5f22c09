"""How pairs are chosen from the near ones: the words, and what a match table tells of them.

"most" chooses as many pairs as possible, and among those the least sum of distances. "least" chooses the least sum of
min(distance, tau)^power, where an object without a partner costs tau^power / 2, as GOSPA and OSPA define it. With
"score", predictions choose in the order of their scores, each the nearest truth that is left.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..tables import Columns, as_numbers, match_columns, schema

if TYPE_CHECKING:
    import pandas as pd

Assignment = Literal["most", "least", "score"]
ASSIGNMENTS: tuple[Assignment, ...] = ("most", "least", "score")

# The power of distances in the sum that "least" makes small.
POWER = 2.0

# What notes do not say: rules without a word have this assignment.
UNSAID = ("assignment", "most")


def check_assignment(assignment: Any, power: Any, similarity: Any, threshold: float | None) -> None:
    """Raises ValueError unless these are an assignment and the power of "least", which needs distances, or None."""
    if assignment is not None and assignment not in ASSIGNMENTS:
        raise ValueError(f"assignment is {assignment!r}; {', '.join(map(repr, ASSIGNMENTS))} is needed")
    for name, value in (("similarity", similarity), ("threshold", threshold)):
        if assignment == "least" and value is not None:
            raise ValueError(f"{name} does not go with assignment='least', which adds distances; give tau instead")
    if power is None:
        return
    if assignment != "least":
        raise ValueError("power belongs to assignment='least'; give that, too, or leave out power")
    if not isinstance(power, Real) or isinstance(power, bool) or not 1 <= float(power) < np.inf:
        raise ValueError(f"power is {power!r}; a number of 1 or more is needed, that of distances in GOSPA and OSPA")


def power_of(table: pd.DataFrame | Columns) -> float | None:
    """The power of the distances in the column `gospa_error` of a checked match table; None where nothing tells it.

    Where the notes were lost, as in polars, the errors tell whether it is 2.
    """
    noted = table.attrs.get("power")
    if isinstance(noted, Real) or not {"gospa_error", "distance", "squared_error"} <= {*table.columns}:
        return float(noted) if isinstance(noted, Real) else None
    of = match_columns(table)
    error, distance, squared = (as_numbers(of[name]) for name in ("gospa_error", "distance", "squared_error"))
    matched, left_over = of["outcome"] == schema.TP, np.isin(of["outcome"], [schema.FN, schema.FP])
    alike = (error[matched], distance[matched] ** 2), (2 * error[left_over], squared[left_over])
    return POWER if all(np.allclose(one, other, rtol=1e-9, atol=0) for one, other in alike) else None
