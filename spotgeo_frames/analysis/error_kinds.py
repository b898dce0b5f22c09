"""Kinds of error: why each miss and each false alarm is one, and what each kind costs.

Every FN and FP of a match table by distance gets exactly one kind, the first that holds:

    FN  taken               a prediction lies within tau, but was matched with another truth
        mislocated          paired with a leftover FP, see below
        lost                nothing is near
    FP  no_truth_in_frame   there was nothing to find
        duplicate           a truth lies within tau, but is matched with another prediction
        mislocated          paired with a leftover FN
        background          nothing is near

Leftover are the misses that are not taken and the false alarms that are no duplicates. Those of a frame that lie
within reach * tau of each other are paired one to one, as many as possible and then by the least sum of distances, as
matching does. So there are as many mislocated misses as false alarms, and a pair is one object that was seen, but
elsewhere.

The models are TIDE (Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33) and its error costs: what the numbers would
be if one kind of error alone were mended, all else being the same.
"""

import numpy as np
import pandas as pd

from ..matching.alignment import align, at_centres
from ..matching.assignment import Entries, assign
from ..matching.near_points import all_near_points
from ..matching.rule import distance_rule
from ..scoring.match_sums import match_sums
from ..scoring.registry import values_of
from ..support.errors import InputError
from ..tables.arrow import Table
from ..tables.match_sides import sides_of
from ..tables.schema import FN, FP, TP, check_matches

KINDS = ["taken", "lost", "mislocated", "duplicate", "background", "no_truth_in_frame"]
KIND_TYPE = pd.CategoricalDtype(KINDS)
TAKEN, LOST, MISLOCATED, DUPLICATE, BACKGROUND, NO_TRUTH = range(len(KINDS))


def diagnose(matches: Table, reach: float = 3.0, tau: float | None = None) -> pd.DataFrame:
    """The match table with the kind of each error.

    Parameters
    ----------
    matches
        A match table by distance.
    reach
        How far a leftover miss and false alarm may lie apart to be one mislocated object, in multiples of tau; at
        least 1.
    tau
        Distance (px) up to which a prediction is near; the match table's own where it tells.

    Returns
    -------
    The match table and two columns: `kind`, categorical (null for true positives and empty frames; the module says what
    the kinds are), and `pair_distance` (px), how far a mislocated miss and its false alarm lie apart (null elsewhere).

    Raises
    ------
    InputError: not a match table by distance, or tau is not known.
    ValueError: reach below 1.
    """
    if not 1 <= reach < np.inf:
        raise ValueError(f"reach is {reach}; 1 or more is needed, in multiples of tau")
    table = check_matches(matches)
    tau = distance_rule(table, ["tau"], tau).largest_cost
    aligned = at_centres(align(*sides_of(table)))
    truth_rows, predicted_rows = (side.table["object"].to_numpy() for side in (aligned.truth, aligned.predictions))
    outcome = table["outcome"].array.codes
    near = all_near_points(aligned, reach * tau)
    truth_row, predicted_row = truth_rows[near.truth], predicted_rows[near.prediction]
    close = near.measure <= tau
    kind = np.full(len(table), -1)
    kind[outcome == FN], kind[outcome == FP] = LOST, BACKGROUND
    kind[truth_row[close & (outcome[truth_row] == FN) & (outcome[predicted_row] == TP)]] = TAKEN
    kind[predicted_row[close & (outcome[predicted_row] == FP) & (outcome[truth_row] == TP)]] = DUPLICATE
    kind[predicted_rows[(aligned.truth.counts == 0)[aligned.predictions.frame]]] = NO_TRUTH
    leftover = near.take(np.flatnonzero((kind[truth_row] == LOST) & (kind[predicted_row] == BACKGROUND)))
    starts = aligned.predictions.starts, aligned.truth.starts
    entries = Entries(leftover.prediction, leftover.truth, leftover.measure, *starts)
    paired = leftover.take(assign(entries, reach * tau))
    distance = np.full(len(table), np.nan)
    for rows in (truth_rows[paired.truth], predicted_rows[paired.prediction]):
        kind[rows] = MISLOCATED
        distance[rows] = paired.measure
    answer = table.assign(kind=pd.Categorical.from_codes(kind, dtype=KIND_TYPE), pair_distance=distance)
    answer.attrs = dict(table.attrs) | {"reach": reach, "tau": tau}
    return answer


def error_costs(diagnosed: Table) -> pd.DataFrame:
    """What each kind of error costs: the numbers if that kind alone were mended.

    A false alarm that is mended is gone, a miss is found with error 0, and a mislocated pair becomes one true positive
    with error 0. `diagnosed` is a table that `diagnose` made. Returns one row a kind, those that do not occur included,
    and a last one of all kinds together: `kind`, `n_misses`, `n_false_alarms`, `f1`, `f1_gain` (more than now), `mse`
    (px²) and `mse_gain` (less than now). Raises InputError where the table has no kinds.
    """
    table = check_matches(diagnosed)
    if "kind" not in table or not table["kind"].dropna().isin(KINDS).all():
        what = "is missing" if "kind" not in table else f"holds others than {', '.join(KINDS)}"
        raise InputError(f"error_costs: column kind {what}; diagnose() makes such tables")
    sums = match_sums(table, np.zeros(len(table), np.int64), 1)
    now = {name: float(values[0]) for name, values in sums.items()}
    outcome, kind = table["outcome"].array.codes, table["kind"].astype(KIND_TYPE).array.codes
    error = table["squared_error"].to_numpy(np.float64)
    rows = []
    for name, some in [*((name, kind == code) for code, name in enumerate(KINDS)), ("all", kind >= 0)]:
        n_misses, n_alarms = int((outcome[some] == FN).sum()), int((outcome[some] == FP).sum())
        mended = now | {
            "tp": now["tp"] + n_misses,
            "fn": now["fn"] - n_misses,
            "fp": now["fp"] - n_alarms,
            "squared_error": now["squared_error"] - float(error[some].sum()),
        }
        rows.append((name, n_misses, n_alarms, *_f1_and_mse(mended)))
    answer = pd.DataFrame(rows, columns=["kind", "n_misses", "n_false_alarms", "f1", "mse"])
    f1, mse = _f1_and_mse(now)
    answer.insert(4, "f1_gain", answer["f1"] - f1)
    answer["mse_gain"] = mse - answer["mse"]
    answer.attrs = dict(table.attrs)
    return answer.astype({"kind": "str"})


def _f1_and_mse(sums: dict[str, float]) -> tuple[float, float]:
    f1, mse = values_of({name: np.array([value]) for name, value in sums.items()}, ["f1", "mse"]).values()
    return float(f1[0]), float(mse[0])
