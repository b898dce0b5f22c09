"""diagnose() and error_costs(): the kind of each miss and each false alarm, and the cost of each kind.

Every FN and FP of a match table by distance gets exactly one kind, the first in this list that applies:

    FN  taken               a prediction lies within tau, but was matched with another truth
        mislocated          paired with a remaining FP, see below
        lost                no prediction is near
    FP  no_truth_in_frame   the frame has no truth
        duplicate           a truth lies within tau, but was matched with another prediction
        mislocated          paired with a remaining FN, see below
        background          no truth is near

The misses that are not taken and the false alarms that are neither duplicates nor in a frame without truth remain.
Within each frame, remaining misses and false alarms at most reach * tau apart are paired one to one: as many pairs as
possible, and among those the least sum of distances. Each pair is taken for one object that was detected in the wrong
place, so there are as many mislocated misses as mislocated false alarms.

The kinds and their costs follow TIDE (Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33): the cost of a kind is the
change of a metric if all errors of this kind were corrected and everything else stayed the same.
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
from ..support.pandas_versions import TEXT
from ..tables.checks import check_matches
from ..tables.kinds import same_kind_as
from ..tables.match_sides import sides_of
from ..tables.schema import FN, FP, TP
from ..tables.table import Table

KINDS = ["taken", "lost", "mislocated", "duplicate", "background", "no_truth_in_frame"]
KIND_TYPE = pd.CategoricalDtype(KINDS)
TAKEN, LOST, MISLOCATED, DUPLICATE, BACKGROUND, NO_TRUTH = range(len(KINDS))


@same_kind_as("matches")
def diagnose(matches: Table, reach: float = 3.0, tau: float | None = None) -> pd.DataFrame:
    """Adds the kind of each error to a match table: why it is a miss or a false alarm.

    Parameters
    ----------
    matches
        A match table by distance, with the coordinates of truths and predictions.
    reach
        The largest distance between a miss and a false alarm that are taken for one mislocated object, in multiples of
        tau; at least 1.
    tau
        The largest distance (px) at which a prediction is near a truth. Needed only where the match table has lost its
        own tau, as a table of polars has.

    Returns
    -------
    DataFrame of the same kind, the match table with two more columns. `pair_distance` (px) is the distance between a
    mislocated miss and its false alarm, and null elsewhere. `kind` is categorical, null for true positives and empty
    frames. The kinds of misses are

    taken: a prediction lies within tau, but was matched with another truth.
    mislocated: a false alarm that no other truth explains lies within reach * tau; the two are one object that was
        detected in the wrong place.
    lost: no prediction is near.

    and those of false alarms are

    no_truth_in_frame: the frame has no truth.
    duplicate: a truth lies within tau, but was matched with another prediction.
    mislocated: the false alarm of a mislocated miss.
    background: no truth is near.

    Source: TIDE (Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33), here with distances instead of overlaps.

    Raises
    ------
    InputError: `matches` is no match table by distance, it has no coordinates, or tau is not known.
    ValueError: `reach` is below 1, or `tau` is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 90.0], "y": 5.0})
    >>> predictions = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [12.0, 75.0], "y": 5.0})
    >>> sf.diagnose(sf.match(truth, predictions))[["outcome", "kind", "pair_distance"]]
      outcome        kind  pair_distance
    0      TP         NaN            NaN
    1      FN  mislocated           15.0
    2      FP  mislocated           15.0
    """
    if not 1 <= reach < np.inf:
        raise ValueError(f"reach is {reach}; 1 or more is needed, in multiples of tau")
    table = check_matches(matches)
    tau = distance_rule(table, ["tau"], tau).largest_cost
    aligned = at_centres(align(*sides_of(table)))
    truth_rows, predicted_rows = (side.table["object"] for side in (aligned.truth, aligned.predictions))
    outcome = table["outcome"].array.codes
    near = all_near_points(aligned, reach * tau)
    truth_row, predicted_row = truth_rows[near.truth], predicted_rows[near.prediction]
    close = near.measure <= tau
    kind = np.full(len(table), -1)
    kind[outcome == FN], kind[outcome == FP] = LOST, BACKGROUND
    kind[truth_row[close & (outcome[truth_row] == FN) & (outcome[predicted_row] == TP)]] = TAKEN
    kind[predicted_row[close & (outcome[predicted_row] == FP) & (outcome[truth_row] == TP)]] = DUPLICATE
    kind[predicted_rows[(aligned.truth.counts == 0)[aligned.predictions.frame]]] = NO_TRUTH
    remaining = near.take(np.flatnonzero((kind[truth_row] == LOST) & (kind[predicted_row] == BACKGROUND)))
    starts = aligned.predictions.starts, aligned.truth.starts
    entries = Entries(remaining.prediction, remaining.truth, remaining.measure, *starts)
    paired = remaining.take(assign(entries, reach * tau))
    distance = np.full(len(table), np.nan)
    for rows in (truth_rows[paired.truth], predicted_rows[paired.prediction]):
        kind[rows] = MISLOCATED
        distance[rows] = paired.measure
    answer = table.assign(kind=pd.Categorical.from_codes(kind, dtype=KIND_TYPE), pair_distance=distance)
    answer.attrs = table.attrs | {"reach": reach, "tau": tau}
    return answer


@same_kind_as("diagnosed")
def error_costs(diagnosed: Table) -> pd.DataFrame:
    """Computes the cost of each kind of error: f1 and mse if all errors of this kind, and no others, were corrected.

    A corrected false alarm is removed, a corrected miss becomes a true positive with error 0, and a corrected pair of a
    mislocated miss and its false alarm becomes one true positive with error 0.

    Parameters
    ----------
    diagnosed
        The table that `diagnose` returned, or rows of it.

    Returns
    -------
    DataFrame (of pandas, polars or pyarrow, as `diagnosed` is) with one row for each kind of error, also for those that
    do not occur, and a last row `all` for all kinds together: `kind`, `n_misses`, `n_false_alarms`, `f1` after the
    correction, `f1_gain` (its increase), `mse` (px²) after the correction and `mse_gain` (px², its decrease). Source:
    TIDE (Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33), whose costs are in average precision instead.

    Raises
    ------
    InputError: `diagnosed` is no match table, its column `kind` is missing, or it holds other values than the kinds.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 90.0], "y": 5.0})
    >>> predictions = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [12.0, 75.0], "y": 5.0})
    >>> costs = sf.error_costs(sf.diagnose(sf.match(truth, predictions)))
    >>> costs.loc[costs["kind"].isin(["lost", "mislocated"]), ["kind", "n_misses", "n_false_alarms", "f1", "f1_gain"]]
             kind  n_misses  n_false_alarms   f1  f1_gain
    1        lost         0               0  0.5      0.0
    2  mislocated         1               1  1.0      0.5
    """
    table = check_matches(diagnosed)
    if "kind" not in table or not table["kind"].dropna().isin(KINDS).all():
        problem = "is missing" if "kind" not in table else f"holds others than {', '.join(KINDS)}"
        raise InputError(f"error_costs: column kind {problem}; pass a table that diagnose() returned")
    sums = match_sums(table, np.zeros(len(table), np.int64), 1)
    now = {name: float(values[0]) for name, values in sums.items()}
    outcome, kind = table["outcome"].array.codes, table["kind"].astype(KIND_TYPE).array.codes
    error = table["squared_error"].to_numpy(np.float64)
    rows = []
    for name, of_kind in [*((name, kind == code) for code, name in enumerate(KINDS)), ("all", kind >= 0)]:
        n_misses, n_alarms = int((outcome[of_kind] == FN).sum()), int((outcome[of_kind] == FP).sum())
        corrected = now | {
            "tp": now["tp"] + n_misses,
            "fn": now["fn"] - n_misses,
            "fp": now["fp"] - n_alarms,
            "squared_error": now["squared_error"] - float(error[of_kind].sum()),
        }
        rows.append((name, n_misses, n_alarms, *_f1_and_mse(corrected)))
    answer = pd.DataFrame(rows, columns=["kind", "n_misses", "n_false_alarms", "f1", "mse"])
    f1, mse = _f1_and_mse(now)
    answer.insert(4, "f1_gain", answer["f1"] - f1)
    answer["mse_gain"] = mse - answer["mse"]
    answer.attrs = table.attrs
    return answer.astype({"kind": TEXT})


def _f1_and_mse(sums: dict[str, float]) -> tuple[float, float]:
    """Computes f1 and mse from sums."""
    f1, mse = values_of({name: np.array([value]) for name, value in sums.items()}, ["f1", "mse"]).values()
    return float(f1[0]), float(mse[0])
